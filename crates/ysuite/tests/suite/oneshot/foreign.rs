//! Wakers are user code: they panic when they are cloned, woken or dropped, and they re-enter.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};

use crate::support::Tally;
use crate::support::executor::{Clinging, Explosive, Task, acting, cloning, poll_once};
use ysuite::oneshot;
use ysuite::signal::{Wait, YPollset};
use ysuite::{RecvError, TryRecvError};

/// Polls the receiver once with this waker, which is dropped then except for its clones.
fn poll<T>(receiver: &mut oneshot::Receiver<T>, waker: Waker) -> Poll<Result<T, RecvError>> {
    let polled = Pin::new(receiver).poll(&mut Context::from_waker(&waker));
    // The clone in the channel is the last: it is the one that panics.
    drop(waker);
    polled
}

fn panics<R>(f: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(f)).is_err()
}

/// A waker whose clone panics.
fn unclonable() -> Waker {
    const FUNCTIONS: RawWakerVTable =
        RawWakerVTable::new(|_| panic!("this waker is not to be cloned"), |_| (), |_| (), |_| ());
    // SAFETY: the functions keep to the contract of a raw waker; there is no data.
    unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &FUNCTIONS)) }
}

#[test]
fn a_waker_that_panics_when_it_is_woken_loses_no_message() {
    let (sender, mut receiver) = oneshot::channel();
    assert!(poll(&mut receiver, Explosive::waker()).is_pending());
    assert!(panics(|| sender.send(1)));
    assert_eq!(receiver.try_recv(), Ok(1));
    // Nor the disconnect.
    let (sender, mut receiver) = oneshot::channel::<u8>();
    assert!(poll(&mut receiver, Explosive::waker()).is_pending());
    assert!(panics(|| drop(sender)));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    // The receiver may be gone by then.
    let tally = Tally::of(1);
    let (sender, mut receiver) = oneshot::channel();
    assert!(poll(&mut receiver, Clinging::waker()).is_pending());
    assert!(panics(|| sender.send(tally.next())));
    drop(receiver);
    tally.assert_all_ended();
}

#[test]
fn a_waker_that_panics_when_it_is_cloned_leaves_the_one_before_it() {
    let (mut sender, mut receiver) = oneshot::channel();
    let task = Task::default();
    assert!(poll_once(&mut receiver, &task).is_pending());
    assert!(panics(|| poll(&mut receiver, unclonable())));
    assert_eq!(task.held(), 1);
    assert!(panics(|| sender.poll_closed(&mut Context::from_waker(&unclonable()))));
    sender.send(1).unwrap();
    assert_eq!((task.woken(), receiver.recv()), (1, Ok(1)));
}

#[test]
fn a_waker_that_panics_when_it_is_dropped_leaves_the_receiver_as_it_should_be() {
    // As another takes its place.
    let (sender, mut receiver) = oneshot::channel();
    let task = Task::default();
    assert!(poll(&mut receiver, Clinging::waker()).is_pending());
    assert!(panics(|| poll_once(&mut receiver, &task)));
    sender.send(1).unwrap();
    assert_eq!((task.woken(), receiver.try_recv()), (1, Ok(1)));
    // As the receiver goes, and as it closes the channel.
    for close in [false, true] {
        let (mut sender, mut receiver) = oneshot::channel::<u8>();
        let mut closed = Box::pin(sender.closed());
        assert!(poll_once(&mut closed, &task).is_pending());
        assert!(poll(&mut receiver, Clinging::waker()).is_pending());
        let woken = task.woken();
        assert!(panics(|| {
            // One way or the other, it is notified.
            if close {
                receiver.close();
            }
            drop(receiver);
        }));
        // The task of the sender has been notified.
        assert_eq!((task.woken(), poll_once(&mut closed, &task)), (woken + 1, Poll::Ready(())));
    }
}

#[test]
fn two_wakers_that_panic_as_the_receiver_goes_are_one_panic() {
    let (mut sender, mut receiver) = oneshot::channel::<u8>();
    let waker = Explosive::waker();
    assert!(sender.poll_closed(&mut Context::from_waker(&waker)).is_pending());
    assert!(poll(&mut receiver, Clinging::waker()).is_pending());
    assert!(panics(|| drop(receiver)));
    assert!(sender.is_disconnected() && sender.send(1).is_err());
}

#[test]
fn two_wakers_that_panic_as_the_sender_goes_are_one_panic() {
    let (mut sender, mut receiver) = oneshot::channel::<u8>();
    let waker = Clinging::waker();
    assert!(sender.poll_closed(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    assert!(poll(&mut receiver, Explosive::waker()).is_pending());
    assert!(panics(|| drop(sender)));
    assert!(receiver.try_recv().is_err());
}

#[test]
fn a_senders_waker_that_panics_when_it_is_dropped_costs_no_message() {
    let (mut sender, mut receiver) = oneshot::channel();
    let waker = Clinging::waker();
    assert!(sender.poll_closed(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    sender.send(7).unwrap();
    // It is the receiver's to drop now, before it takes the message.
    assert!(panics(|| receiver.try_recv()));
    assert_eq!(receiver.try_recv(), Ok(7));
    // As the future goes, the sender is as before.
    let (mut sender, receiver) = oneshot::channel();
    let mut closed = Box::pin(sender.closed());
    let waker = Clinging::waker();
    assert!(closed.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    assert!(panics(|| drop(closed)));
    sender.send(8).unwrap();
    assert_eq!(receiver.recv(), Ok(8));
    // As the sender goes.
    let (mut sender, receiver) = oneshot::channel::<u8>();
    let waker = Clinging::waker();
    assert!(sender.poll_closed(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    assert!(panics(|| drop(sender)));
    assert_eq!(receiver.recv(), Err(RecvError));
}

#[test]
fn an_attached_receiver_with_a_task_whose_waker_panics() {
    let (sender, mut receiver) = oneshot::channel();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 1).unwrap();
    assert!(receiver.try_recv().is_err());
    assert!(poll(&mut receiver, Explosive::waker()).is_pending());
    assert!(panics(|| sender.send(1)));
    assert!(set.check().eq([1]));
    assert_eq!(receiver.recv(), Ok(1));
    // As it leaves.
    let (sender, mut receiver) = oneshot::channel();
    set.attach(&mut receiver, 2).unwrap();
    assert!(poll(&mut receiver, Clinging::waker()).is_pending());
    let task = Task::default();
    assert!(panics(|| poll_once(&mut receiver, &task)));
    assert!(receiver.detach());
    sender.send(2).unwrap();
    assert_eq!((set.check().count(), receiver.recv()), (0, Ok(2)));
}

#[test]
fn a_message_and_a_waker_that_panic_as_the_receiver_goes_are_one_panic() {
    let tally = Tally::of(1);
    tally.explode(0);
    let (mut sender, receiver) = oneshot::channel();
    let waker = Clinging::waker();
    assert!(sender.poll_closed(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    assert!(sender.send(tally.next()).is_ok());
    // The first of the two goes on.
    assert_eq!(crate::support::panics(|| drop(receiver)), "the end of message 0");
    tally.assert_all_ended();
}

/// Drops what it has, as it is woken or dropped.
struct Holder(Mutex<Option<Box<dyn Send>>>);

impl Wake for Holder {
    fn wake(self: Arc<Self>) {
        self.0.lock().unwrap().take();
    }
}

#[test]
fn a_waker_may_drop_either_end() {
    // The receiver, as it is woken for a message: that is not received.
    let tally = Tally::of(1);
    let (sender, mut receiver) = oneshot::channel();
    let holder = Arc::new(Holder(Mutex::new(None)));
    assert!(poll(&mut receiver, Waker::from(holder.clone())).is_pending());
    *holder.0.lock().unwrap() = Some(Box::new(receiver));
    assert!(sender.send(tally.next()).is_ok());
    tally.assert_all_ended();
    // The sender, as the receiver's old waker is dropped in the middle of a poll.
    let (sender, mut receiver) = oneshot::channel::<u8>();
    let holder = Arc::new(Holder(Mutex::new(Some(Box::new(sender)))));
    assert!(poll(&mut receiver, Waker::from(holder)).is_pending());
    let task = Task::default();
    assert!(poll_once(&mut receiver, &task).is_pending());
    assert_eq!((task.woken(), poll_once(&mut receiver, &task)), (1, Poll::Ready(Err(RecvError))));
    // The sender, as it is notified that the receiver is dropped.
    let (mut sender, receiver) = oneshot::channel::<u8>();
    let holder = Arc::new(Holder(Mutex::new(None)));
    let waker = Waker::from(holder.clone());
    assert!(sender.poll_closed(&mut Context::from_waker(&waker)).is_pending());
    *holder.0.lock().unwrap() = Some(Box::new(sender));
    drop(receiver);
    assert!(holder.0.lock().unwrap().is_none());
}

#[test]
fn a_receiver_that_holds_the_waker_which_holds_it_goes_when_the_sender_does() {
    // A task owns its future, and the future's channel owns the task's waker.
    let (sender, mut receiver) = oneshot::channel::<u8>();
    let holder = Arc::new(Holder(Mutex::new(None)));
    assert!(poll(&mut receiver, Waker::from(holder.clone())).is_pending());
    *holder.0.lock().unwrap() = Some(Box::new(receiver));
    let weak = Arc::downgrade(&holder);
    drop(holder);
    drop(sender);
    assert!(weak.upgrade().is_none());
}

/// A waker that sends the message as it is cloned.
fn sending(sender: oneshot::Sender<u8>) -> Waker {
    let sender = Mutex::new(Some(sender));
    cloning(move || {
        let sender = sender.lock().unwrap().take();
        sender.into_iter().for_each(|sender| sender.send(7).unwrap());
    })
}

#[test]
fn a_waker_that_sends_as_it_is_cloned_leaves_no_task_waiting() {
    let mut set = YPollset::new();
    for case in 0..4 {
        let (attached, polled) = (case & 1 != 0, case & 2 != 0);
        let (sender, mut receiver) = oneshot::channel();
        if attached {
            set.attach(&mut receiver, 1).unwrap();
        }
        let before = Task::default();
        if polled {
            assert!(poll_once(&mut receiver, &before).is_pending());
        }
        // The sender finds no waiter, or the task before this one.
        let waker = sending(sender);
        let polled_again = Pin::new(&mut receiver).poll(&mut Context::from_waker(&waker));
        assert_eq!(polled_again, Poll::Ready(Ok(7)), "case {case}");
        assert_eq!((before.woken(), before.held()), (usize::from(polled), 0), "case {case}");
    }
}

#[test]
fn a_task_whose_waker_sends_as_the_receiver_joins_a_set_is_woken() {
    let (sender, mut receiver) = oneshot::channel();
    let (sender, wakers) = (Mutex::new(Some(sender)), Arc::new(AtomicUsize::new(1)));
    let (more, fewer) = (wakers.clone(), wakers.clone());
    let cloned = move || {
        // The first clone is the poll's, the second the set's.
        if more.fetch_add(1, Ordering::Relaxed) == 2 {
            let sender = sender.lock().unwrap().take();
            sender.into_iter().for_each(|sender| sender.send(7).unwrap());
        }
    };
    let waker = acting(cloned, move || _ = fewer.fetch_sub(1, Ordering::Relaxed), || ());
    assert!(Pin::new(&mut receiver).poll(&mut Context::from_waker(&waker)).is_pending());
    let mut set = YPollset::new();
    set.attach(&mut receiver, 1).unwrap();
    // To be woken is to be used up.
    assert_eq!(wakers.load(Ordering::Relaxed), 1, "ours");
    assert!(set.check().eq([1]));
    assert_eq!(receiver.try_recv(), Ok(7));
}

#[test]
fn a_senders_waker_that_drops_the_receiver_as_it_is_cloned_leaves_no_task_waiting() {
    let (mut sender, receiver) = oneshot::channel::<u8>();
    let receiver = Mutex::new(Some(receiver));
    let waker = cloning(move || drop(receiver.lock().unwrap().take()));
    assert!(sender.poll_closed(&mut Context::from_waker(&waker)).is_ready());
}

#[test]
fn the_old_and_the_new_waker_of_a_sender_whose_receiver_has_gone_meanwhile_are_one_panic() {
    let (mut sender, receiver) = oneshot::channel::<u8>();
    let old = Clinging::waker();
    assert!(sender.poll_closed(&mut Context::from_waker(&old)).is_pending());
    drop(old);
    let (receiver, drops) = (Mutex::new(Some(receiver)), AtomicUsize::new(0));
    let new = acting(
        move || drop(receiver.lock().unwrap().take()),
        move || assert_ne!(drops.fetch_add(1, Ordering::Relaxed), 0, "the clone goes"),
        || (),
    );
    let text = crate::support::panics(|| _ = sender.poll_closed(&mut Context::from_waker(&new)));
    assert_eq!(text, "this waker clings");
    assert!(sender.is_disconnected());
}

#[test]
fn without_a_wait_no_waker_is_cloned() {
    let waker = unclonable();
    let mut context = Context::from_waker(&waker);
    let mut set = YPollset::new();
    for (attached, sent) in [(false, false), (false, true), (true, false), (true, true)] {
        let (sender, mut receiver) = oneshot::channel();
        if attached {
            set.attach(&mut receiver, 1).unwrap();
        }
        if sent {
            sender.send(1).unwrap();
        } else {
            drop(sender);
        }
        let answer = if sent { Ok(1) } else { Err(RecvError) };
        assert_eq!(Pin::new(&mut receiver).poll(&mut context), Poll::Ready(answer));
    }
    let (mut sender, receiver) = oneshot::channel::<u8>();
    drop(receiver);
    assert!(sender.poll_closed(&mut context).is_ready());
}

#[test]
fn what_an_attached_receiver_drops_behind_a_panic_goes_no_further() {
    let mut set = YPollset::new();
    // A message.
    let tally = Tally::of(1);
    tally.explode(0);
    let (sender, mut receiver) = oneshot::channel();
    set.attach(&mut receiver, 1).unwrap();
    assert!(sender.send(tally.next()).is_ok());
    let ends = || {
        let _receiver = receiver;
        panic!("first");
    };
    assert_eq!(crate::support::panics(ends), "first");
    tally.assert_all_ended();
    // The waker of a task.
    let (sender, mut receiver) = oneshot::channel::<u8>();
    set.attach(&mut receiver, 1).unwrap();
    assert!(poll(&mut receiver, Clinging::waker()).is_pending());
    let ends = || {
        let _receiver = receiver;
        panic!("first");
    };
    assert_eq!(crate::support::panics(ends), "first");
    assert!(sender.is_disconnected() && set.check().is_empty());
}

/// Lets its receiver go as it is woken, and attaches another with the same id.
struct Successor(Mutex<Option<(oneshot::Receiver<u8>, YPollset)>>, AtomicUsize);

impl Wake for Successor {
    fn wake(self: Arc<Self>) {
        let (mut receiver, mut set) = self.0.lock().unwrap().take().expect("woken once");
        let received = receiver.try_recv();
        drop(receiver);
        let (_sender, mut other) = oneshot::channel::<u8>();
        assert_eq!(set.attach(&mut other, 1), Ok(()));
        self.1.store(received.unwrap().into(), Ordering::Relaxed);
    }
}

#[test]
fn the_id_of_a_spent_receiver_that_goes_is_free_while_the_sender_still_calls() {
    let (sender, mut receiver) = oneshot::channel();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 1).unwrap();
    let successor = Arc::new(Successor(Mutex::new(None), AtomicUsize::new(0)));
    assert!(poll(&mut receiver, Waker::from(successor.clone())).is_pending());
    *successor.0.lock().unwrap() = Some((receiver, set));
    // The sender has the receiver's place in its hands until the task has been woken.
    sender.send(7).unwrap();
    assert_eq!(successor.1.load(Ordering::Relaxed), 7);
}
