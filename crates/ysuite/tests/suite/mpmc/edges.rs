//! Edge cases: capacities, shapes of messages, user code that panics, forks, and what a steady stream costs.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::thread;

use ysuite::mpmc;
use ysuite::{Spin, TryRecvError, TrySendError};

use crate::mpmc::of;
use crate::support::executor::{Explosive, Task, block_on, poll_once};
use crate::support::samples::Sample;
use crate::support::{Tally, calls, guarded, panics};

with_and_without_a_bound!(
    one_end_may_be_used_by_many_threads_at_once,
    messages_may_borrow,
    the_last_of_each_side_is_the_end,
    many_drops_that_panic_are_one_panic_and_no_loss,
    a_waker_that_panics_when_all_are_woken_keeps_no_thread_asleep,
    a_batch_larger_than_the_channel_goes_through,
    futures_of_one_receiver_do_not_disturb_each_other,
    a_batch_for_which_there_is_no_memory_stays_in_the_channel,
);

/// Claim: A capacity beyond the available memory is a documented panic.
#[test]
fn a_capacity_beyond_memory_is_a_documented_panic() {
    for capacity in [usize::MAX, isize::MAX as usize, usize::MAX / 4 + 1] {
        assert!(panics(move || drop(mpmc::bounded::<[u64; 9]>(capacity))).contains("does not fit into memory"));
        assert!(panics(move || drop(mpmc::bounded::<()>(capacity))).contains("does not fit into memory"));
    }
}

/// Claim: The bound of an `mpmc` channel is exact at every capacity, over many laps.
/// Also: model exchange::a_full_ring_against_a_sender_going_to_sleep, suite mpmc::bounded_3::capacity_is_exact.
#[test]
fn any_capacity_is_exact_over_many_laps() {
    for capacity in (1..40).chain([63, 64, 65, 1_000, 4_096]) {
        let (sender, receiver) = mpmc::bounded(capacity);
        assert_eq!((sender.capacity(), receiver.capacity()), (Some(capacity), Some(capacity)));
        let (mut sent, mut received) = (0, 0);
        for round in 0..20 {
            while sender.try_send(sent).is_ok() {
                sent += 1;
            }
            assert_eq!((sent - received, sender.is_full(), receiver.len()), (capacity, true, capacity));
            let mut batch = Vec::new();
            let most = capacity / 2 + round % 3 + 1;
            assert_eq!(receiver.try_recv_batch(&mut batch, most), Ok(most.min(capacity)));
            assert!(batch.iter().copied().eq(received..received + batch.len()));
            received += batch.len();
            assert_eq!((sender.len(), sender.is_full()), (sent - received, false));
            while let Ok(message) = receiver.try_recv() {
                assert_eq!(message, received);
                received += 1;
            }
            assert!(receiver.is_empty());
        }
    }
}

fn every_shape<T: Sample>(batch: bool, capacity: usize) {
    let (sender, receiver) = of::<T>(capacity);
    for lap in 0..4 {
        let numbers = lap * 5..lap * 5 + 5;
        if batch {
            assert!(sender.send_batch(numbers.clone().map(T::make)).is_ok_and(|sent| sent == 5));
        } else {
            numbers.clone().for_each(|number| assert!(sender.send(T::make(number)).is_ok()));
        }
        numbers.for_each(|number| receiver.try_recv().unwrap_or_else(|_| panic!("it is there")).check(number));
    }
}

#[test]
fn every_shape_arrives_whole_one_by_one_and_in_batches() {
    guarded(|| {
        crate::for_every_shape!(every_shape(false, 5));
        crate::for_every_shape!(every_shape(true, 5));
        crate::for_every_shape!(every_shape(false, 0));
        crate::for_every_shape!(every_shape(true, 0));
    });
}

#[test]
fn ends_cross_threads_and_are_shared() {
    fn crosses<T: Send + Sync + Clone + Unpin>() {}
    crosses::<mpmc::Sender<u8>>();
    crosses::<mpmc::Receiver<u8>>();
    // `Cell` is Send and not Sync: messages are handed over, never shared.
    crosses::<mpmc::Sender<Cell<u8>>>();
    crosses::<mpmc::Receiver<Cell<u8>>>();
}

/// Claim: Several threads can use one `mpmc` handle at once through a shared reference.
fn one_end_may_be_used_by_many_threads_at_once(bounded: bool) {
    let (sender, receiver) = of(if bounded { 4 } else { 0 });
    let sum = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..1_000).for_each(|number| sender.send(number).unwrap()));
            scope.spawn(|| {
                for _ in 0..1_000 {
                    sum.fetch_add(receiver.recv().unwrap(), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(sum.into_inner(), 3 * 999 * 500);
}

fn messages_may_borrow(bounded: bool) {
    let text = String::from("borrowed");
    let (sender, receiver) = of(if bounded { 2 } else { 0 });
    thread::scope(|scope| {
        scope.spawn(|| (0..10).for_each(|_| sender.send(text.as_str()).unwrap()));
        (0..10).for_each(|_| assert_eq!(receiver.recv(), Ok("borrowed")));
    });
}

#[test]
fn ends_and_iterators_say_what_they_are() {
    let (sender, receiver) = mpmc::bounded(8);
    sender.send(1).unwrap();
    let shown = (format!("{sender:?}"), format!("{receiver:?}"));
    assert_eq!(shown.0, "Sender { len: 1, capacity: Some(8) }");
    assert_eq!(shown.1, "Receiver { len: 1, capacity: Some(8), .. }");
    assert!(format!("{:?}", receiver.iter()).starts_with("Iter"));
    assert!(format!("{:?}", receiver.try_iter()).starts_with("TryIter"));
    assert_eq!((&receiver).into_iter().next(), Some(1));
    drop(sender);
    assert_eq!(receiver.into_iter().next(), None);
}

fn the_last_of_each_side_is_the_end(bounded: bool) {
    let (sender, receiver) = of(if bounded { 2 } else { 0 });
    let (second, other) = (sender.clone(), receiver.clone());
    drop(sender);
    second.send(1).unwrap();
    assert!(!receiver.is_disconnected());
    drop(second);
    assert!(receiver.is_disconnected());
    assert_eq!((other.recv(), other.try_recv()), (Ok(1), Err(TryRecvError::Disconnected)));

    let (sender, receiver) = of(if bounded { 2 } else { 0 });
    let other = receiver.clone();
    drop(receiver);
    sender.send(1).unwrap();
    drop(other);
    assert_eq!(sender.try_send(2), Err(TrySendError::Disconnected(2)));
    assert!(sender.is_disconnected() && sender.is_empty());
}

fn many_drops_that_panic_are_one_panic_and_no_loss(bounded: bool) {
    let tally = Tally::of(10);
    let (sender, receiver) = of(if bounded { 10 } else { 0 });
    tally.some(10).for_each(|message| sender.send(message).unwrap());
    tally.explode(4);
    assert_eq!(panics(|| drop(receiver)), "the end of message 4");
    // Also those after it, and while the sender is alive.
    tally.assert_all_ended();
    assert!(sender.is_disconnected());
}

fn a_waker_that_panics_when_all_are_woken_keeps_no_thread_asleep(bounded: bool) {
    let (sender, receiver) = of::<u8>(if bounded { 1 } else { 0 });
    let explosive = Explosive::waker();
    let task = Task::default();
    let mut first = Box::pin(receiver.recv_async());
    let mut bad = Box::pin(receiver.recv_async());
    let mut last = Box::pin(receiver.recv_async());
    assert!(poll_once(&mut first, &task).is_pending());
    assert!(std::future::Future::poll(bad.as_mut(), &mut Context::from_waker(&explosive)).is_pending());
    assert!(poll_once(&mut last, &task).is_pending());
    assert_eq!(panics(|| drop(sender)), "this waker panics");
    assert_eq!(task.woken(), 2);
    assert!(matches!(poll_once(&mut last, &task), Poll::Ready(Err(_))));
}

/// A vector of units has no memory, and a length that goes no further.
fn a_batch_for_which_there_is_no_memory_stays_in_the_channel(bounded: bool) {
    let (sender, receiver) = of(if bounded { 2 } else { 0 });
    assert_eq!(sender.send_batch([(), ()]), Ok(2));
    let mut longest = Vec::from([(); usize::MAX]);
    assert_eq!(panics(|| _ = receiver.try_recv_batch(&mut longest, 2)), "capacity overflow");
    assert_eq!((longest.len(), receiver.len()), (usize::MAX, 2));
    assert_eq!(receiver.try_iter().count(), 2);
}

#[test]
fn an_iterator_that_panics_beyond_the_room_drops_what_does_not_fit() {
    let tally = Tally::of(20);
    let (sender, receiver) = mpmc::bounded(3);
    let source = tally.clone();
    let messages = (0..).map(move |index| {
        assert!(index < 8, "the iterator panics");
        source.next()
    });
    let outcome = catch_unwind(AssertUnwindSafe(|| sender.send_batch(messages)));
    assert!(outcome.is_err());
    // No receiver would have made room for the rest: it is dropped, not waited for.
    assert_eq!((receiver.len(), tally.ended()), (3, 5));
    assert!(receiver.try_iter().map(|message| message.number).eq(0..3));
    tally.assert_all_ended();
}

/// Claim: A batch larger than the capacity of an `mpmc` channel is sent completely.
fn a_batch_larger_than_the_channel_goes_through(bounded: bool) {
    guarded(move || {
        let (sender, receiver) = of(if bounded { 3 } else { 0 });
        let thread = thread::spawn(move || sender.send_batch(0..1_000));
        assert!(receiver.iter().eq(0..1_000));
        assert_eq!(thread.join().unwrap(), Ok(1_000));
    });
}

#[test]
fn receivers_gone_in_mid_batch_give_the_rest_back() {
    guarded(|| {
        let tally = Tally::of(200);
        let (sender, receiver) = mpmc::bounded(3);
        let (source, alive) = (tally.clone(), Arc::new(()));
        let watched = alive.clone();
        let thread = thread::spawn(move || {
            let back = sender.send_batch(source.some(200)).unwrap_err().into_inner();
            drop(watched);
            assert!(back.is_sorted_by_key(|message| message.number));
            (sender, back)
        });
        (0..20).for_each(|_| drop(receiver.recv()));
        // The sender is notified first, and then what is in the ring is dropped.
        drop(receiver);
        let (sender, back) = thread.join().unwrap();
        let unaccounted = tally.made() - tally.ended() - back.len();
        assert_eq!((unaccounted, Arc::strong_count(&alive)), (0, 1));
        drop(back);
        tally.assert_all_ended();
        drop(sender);
    });
}

/// Many tasks may wait through one receiver, each with a future of its own.
fn futures_of_one_receiver_do_not_disturb_each_other(bounded: bool) {
    let (sender, mut receiver) = of(if bounded { 4 } else { 0 });
    let (one, two, polled) = (Task::default(), Task::default(), Task::default());
    let mut first = Box::pin(receiver.recv_async());
    let mut second = Box::pin(receiver.recv_async());
    assert!(poll_once(&mut first, &one).is_pending());
    assert!(poll_once(&mut second, &two).is_pending());
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    assert_eq!((one.woken(), two.woken()), (1, 1));
    assert_eq!(poll_once(&mut second, &two), Poll::Ready(Ok(1)));
    assert_eq!(poll_once(&mut first, &one), Poll::Ready(Ok(2)));
    drop((first, second));
    assert!(receiver.poll_recv(&mut Context::from_waker(&polled.waker())).is_pending());
    sender.send(3).unwrap();
    assert_eq!(polled.woken(), 1);
    assert_eq!(block_on(receiver.recv_async()), Ok(3));
}

/// Claim: A steady stream between many `mpmc` handles makes no system call.
#[test]
fn a_steady_stream_between_many_makes_no_system_call() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded(256);
        sender.set_spin(Spin::Forever);
        receiver.set_spin(Spin::Forever);
        // The process asks once whether there is a barrier for others.
        (0..200).for_each(|message| sender.send(message).unwrap());
        assert!(receiver.try_iter().eq(0..200));
        let threads: Vec<_> = (0..2)
            .flat_map(|_| {
                let (sender, receiver) = (sender.clone(), receiver.clone());
                let sending = thread::spawn(move || {
                    let before = calls();
                    (0..20_000).for_each(|message| sender.send(message).unwrap());
                    (calls() - before, sender).0
                });
                let receiving = thread::spawn(move || {
                    let before = calls();
                    (0..20_000).for_each(|_| assert!(receiver.recv().is_ok()));
                    calls() - before
                });
                [sending, receiving]
            })
            .collect();
        assert_eq!(threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>(), 0);
    });
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn a_forked_child_does_not_disturb_the_parent() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded(8);
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let receiver = receiver.clone();
                thread::spawn(move || receiver.iter().count())
            })
            .collect();
        drop(receiver);
        for round in 0..4 {
            // Asleep, or on the way: the child inherits the list of waiters, and none of the threads in it.
            thread::sleep(std::time::Duration::from_millis(round));
            // SAFETY: sending allocates and locks nothing here, and does not unwind.
            let sent = unsafe { crate::support::process::forked_child_can(|| sender.try_send(round).is_ok()) };
            assert!(sent, "the child could not send to its own copy");
            sender.send(round).unwrap();
        }
        drop(sender);
        assert_eq!(threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>(), 4);
    });
}
