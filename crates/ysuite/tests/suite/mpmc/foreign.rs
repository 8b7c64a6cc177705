//! Wakers are user code: what happens to the others if one panics, and what a poll that must not wait does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use ysuite::Spin;
use ysuite::mpmc;
use ysuite::signal::{Wait, YPollset};
use ysuite::{RecvTimeoutError, TryRecvError, TrySendError};

use crate::mpmc::of;
use crate::support::executor::{Clinging, Explosive, Task, cloning, poll_once};
use crate::support::{Tally, calls, guarded, panics};

with_and_without_a_bound!(
    a_receiver_whose_wakers_drop_panics_leaves_both_its_places,
    a_receiver_whose_detach_wakes_a_waker_that_panics_has_left_its_set,
    a_future_whose_wakers_drop_panics_passes_on_what_it_was_told,
    a_wait_that_ends_between_two_wakers_that_panic_is_one_panic,
    a_receiver_that_goes_between_two_wakers_that_panic_is_one_panic,
    a_batch_wakes_a_receiver_that_polls_and_futures_alike,
    one_waker_that_panics_does_not_keep_those_behind_it_asleep,
    a_message_that_comes_as_the_waker_is_cloned_is_found_by_that_poll,
);

/// Its last waker explodes when it is dropped, once it is lit.
#[derive(Default)]
struct ExplosiveDrop {
    lit: AtomicBool,
}

impl Wake for ExplosiveDrop {
    fn wake(self: Arc<Self>) {}
}

impl Drop for ExplosiveDrop {
    fn drop(&mut self) {
        assert!(!self.lit.load(Ordering::Relaxed), "as the test wants it");
    }
}

fn explosive_drop() -> Waker {
    Waker::from(Arc::new(ExplosiveDrop { lit: AtomicBool::new(true) }))
}

fn a_receiver_whose_wakers_drop_panics_leaves_both_its_places(bounded: bool) {
    let (sender, mut receiver) = of(if bounded { 8 } else { 0 });
    let other = receiver.clone();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 3).unwrap();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    let waker = explosive_drop();
    assert_eq!(receiver.poll_recv(&mut Context::from_waker(&waker)), Poll::Pending);
    drop(waker);
    let task = Task::default();
    let mut future = Box::pin(other.recv_async());
    assert!(poll_once(&mut future, &task).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(receiver))).is_err());
    // The only waiter is notified, not a slot without a waiter.
    sender.send(7).unwrap();
    assert_eq!(task.woken(), 1);
    assert_eq!(poll_once(&mut future, &task), Poll::Ready(Ok(7)));
    assert!(set.wait_timeout(Duration::ZERO).next().is_none(), "its id is up");
}

fn a_receiver_whose_detach_wakes_a_waker_that_panics_has_left_its_set(bounded: bool) {
    let (sender, mut receiver) = of(if bounded { 4 } else { 0 });
    let mut set = YPollset::new();
    set.attach(&mut receiver, 3).unwrap();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    // Another waits as a task; the first is notified of a message, and passes that on when it leaves its set.
    let mut other = receiver.clone();
    let waker = Explosive::waker();
    assert!(other.poll_recv(&mut Context::from_waker(&waker)).is_pending());
    sender.send(1).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| set.detach(&mut receiver))).is_err());
    assert!(set.check().is_empty() && !receiver.detach());
    set.attach(&mut receiver, 3).unwrap();
    assert!(set.check().eq([3]));
    assert_eq!(receiver.try_recv(), Ok(1));
}

fn a_future_whose_wakers_drop_panics_passes_on_what_it_was_told(bounded: bool) {
    let (sender, receiver) = of(if bounded { 8 } else { 0 });
    // Woken and its slot taken again: it is polled with another waker before it is notified, and dropped afterwards.
    let mut first = Box::pin(receiver.recv_async());
    let waker = explosive_drop();
    assert!(first.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    let tasks = [Task::default(), Task::default()];
    let mut futures = [0, 1].map(|_| Box::pin(receiver.recv_async()));
    for (future, task) in futures.iter_mut().zip(&tasks) {
        assert!(poll_once(future, task).is_pending());
    }
    assert!(catch_unwind(AssertUnwindSafe(|| drop(first))).is_err());
    for message in 0..2 {
        sender.send(message).unwrap();
    }
    assert_eq!([tasks[0].woken(), tasks[1].woken()], [1, 1], "a slot without a waiter was notified");
}

/// Its notification goes to a task whose waking panics, and its own waker's drop panics after that: one panic, not two.
fn a_wait_that_ends_between_two_wakers_that_panic_is_one_panic(bounded: bool) {
    let (sender, receiver) = of(if bounded { 8 } else { 0 });
    let [mut first, mut told] = [0, 1].map(|_| Box::pin(receiver.recv_async()));
    let task = Task::default();
    assert!(poll_once(&mut first, &task).is_pending() && poll_once(&mut told, &task).is_pending());
    // The first is notified of a message that another takes. It waits again, and still has to pass on its notification.
    sender.send(0).unwrap();
    assert_eq!((receiver.try_recv(), task.woken()), (Ok(0), 1));
    let clinging = Clinging::waker();
    assert!(first.as_mut().poll(&mut Context::from_waker(&clinging)).is_pending());
    drop(clinging);
    let mut last = Box::pin(receiver.recv_async());
    assert!(last.as_mut().poll(&mut Context::from_waker(&Explosive::waker())).is_pending());
    sender.send(1).unwrap();
    assert_eq!(task.woken(), 2);
    assert_eq!(panics(|| drop(first)), "this waker panics");
    assert_eq!(receiver.try_recv(), Ok(1));
}

/// Its set is notified of a message while its task waits. Another's waking panics, and the drop of its task's waker
/// after that.
fn a_receiver_that_goes_between_two_wakers_that_panic_is_one_panic(bounded: bool) {
    let (sender, mut receiver) = of(if bounded { 8 } else { 0 });
    let mut other = receiver.clone();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 3).unwrap();
    let clinging = Clinging::waker();
    assert!(receiver.poll_recv(&mut Context::from_waker(&clinging)).is_pending());
    drop(clinging);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert!(set.check().is_empty());
    assert!(other.poll_recv(&mut Context::from_waker(&Explosive::waker())).is_pending());
    sender.send(1).unwrap();
    assert!(set.check().eq([3]), "it is the first in turn");
    assert_eq!(panics(|| drop(receiver)), "this waker panics");
    assert_eq!(other.try_recv(), Ok(1));
}

fn a_batch_wakes_a_receiver_that_polls_and_futures_alike(bounded: bool) {
    let (sender, receiver) = of(if bounded { 8 } else { 0 });
    let mut first = receiver.clone();
    let task = Task::default();
    assert_eq!(first.poll_recv(&mut Context::from_waker(&task.waker())), Poll::Pending);
    let others = [Task::default(), Task::default()];
    let mut futures = [0, 1].map(|_| Box::pin(receiver.recv_async()));
    for (future, task) in futures.iter_mut().zip(&others) {
        assert!(poll_once(future, task).is_pending());
    }
    sender.send_batch(0..2).unwrap();
    assert_eq!(task.woken() + others[0].woken() + others[1].woken(), 2);
    assert_eq!(receiver.try_iter().count(), 2);
}

fn one_waker_that_panics_does_not_keep_those_behind_it_asleep(bounded: bool) {
    let (sender, receiver) = of(if bounded { 8 } else { 0 });
    let waker = Explosive::waker();
    let mut explosive = Box::pin(receiver.recv_async());
    assert!(explosive.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let tasks = [Task::default(), Task::default()];
    let mut futures = [0, 1].map(|_| Box::pin(receiver.recv_async()));
    for (future, task) in futures.iter_mut().zip(&tasks) {
        assert!(poll_once(future, task).is_pending());
    }
    assert!(catch_unwind(AssertUnwindSafe(|| sender.send_batch(0..3))).is_err());
    assert_eq!([tasks[0].woken(), tasks[1].woken()], [1, 1]);
    assert_eq!(receiver.len(), 3, "they were sent before any receiver was notified");
}

fn a_message_that_comes_as_the_waker_is_cloned_is_found_by_that_poll(bounded: bool) {
    let (sender, mut receiver) = of(if bounded { 8 } else { 0 });
    let (other, cloned) = (receiver.clone(), sender.clone());
    let waker = cloning(move || cloned.send(1).unwrap());
    assert_eq!(receiver.poll_recv(&mut Context::from_waker(&waker)), Poll::Ready(Ok(1)));
    // That is no waiter: the next message notifies one that is.
    let task = Task::default();
    let mut future = Box::pin(other.recv_async());
    assert!(poll_once(&mut future, &task).is_pending());
    sender.send(2).unwrap();
    assert_eq!(task.woken(), 1);
    assert_eq!(poll_once(&mut future, &task), Poll::Ready(Ok(2)));
}

/// Claim: A wait with a time of zero polls once and makes no system call.
/// Also: suite broadcast::waiting::a_wait_without_time_looks_once_and_does_not_call_the_kernel.
#[test]
fn a_wait_without_time_looks_once_and_neither_calls_the_kernel_nor_arms() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded(1);
        for _ in 0..200 {
            let before = calls();
            assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
            assert_eq!(calls(), before);
        }
        sender.send(1).unwrap();
        for _ in 0..200 {
            let before = calls();
            assert!(sender.send_timeout(2, Duration::ZERO).is_err());
            assert!(matches!(sender.try_send(2), Err(TrySendError::Full(2))));
            assert_eq!(calls(), before);
        }
    });
}

#[test]
fn a_message_ends_with_the_thread_that_passes_on_to_a_waker_that_panics() {
    guarded(|| {
        let tally = Tally::of(2);
        let (sender, receiver) = mpmc::bounded(2);
        let other = receiver.clone();
        let thread = thread::spawn(move || {
            other.set_spin(Spin::None);
            other.recv().map(drop)
        });
        // Should it not sleep by then, the sender meets the panic.
        thread::sleep(Duration::from_millis(10));
        let waker = Explosive::waker();
        let mut future = Box::pin(receiver.recv_async());
        assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let _ = catch_unwind(AssertUnwindSafe(|| sender.send_batch(tally.some(2)).is_ok()));
        let _ = thread.join();
        drop(future);
        drop((sender, receiver));
        tally.assert_all_ended();
    });
}
