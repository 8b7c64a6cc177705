//! The futures that have names: kept in structs, moved while they wait, dropped, and not polled again.

use std::mem::size_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use ysuite::future::{ClosedFuture, ReserveFuture};
use ysuite::mpmc::{self, Permit, RecvFuture, SendFuture};
use ysuite::{RecvError, ReserveError, SendError};

use crate::support::executor::{Task, block_on, poll_once};

/// As a task of a server keeps them, without a box and without a pin.
struct Waiting<'a> {
    sending: Option<SendFuture<'a, u32>>,
    receiving: Option<RecvFuture<'a, u32>>,
    reserving: Option<ReserveFuture<'a, mpmc::Sender<u32>, Permit<'a, u32>>>,
}

/// Every way of waiting: with a bound, without, from hand to hand.
fn channels() -> [(mpmc::Sender<u32>, mpmc::Receiver<u32>); 3] {
    [mpmc::bounded(1), mpmc::unbounded(), mpmc::bounded(0)]
}

#[test]
fn a_receive_that_waits_may_be_moved() {
    for (sender, receiver) in channels() {
        let task = Task::default();
        let mut kept = Vec::new();
        let mut waiting = Waiting { sending: None, receiving: Some(receiver.recv_async()), reserving: None };
        assert!(poll_once(waiting.receiving.as_mut().unwrap(), &task).is_pending());
        kept.push(waiting);
        kept.reserve(100);
        assert_eq!(sender.send(7), Ok(()));
        assert_eq!(task.woken(), 1);
        let mut moved = Box::new(kept.pop().unwrap());
        assert_eq!(poll_once(moved.receiving.as_mut().unwrap(), &task), Poll::Ready(Ok(7)));
    }
}

#[test]
fn a_send_that_waits_may_be_moved() {
    for capacity in [0, 1] {
        let (sender, receiver) = mpmc::bounded(capacity);
        (0..capacity).for_each(|_| sender.send(6).unwrap());
        let task = Task::default();
        let mut kept = Vec::new();
        let mut waiting = Waiting { sending: Some(sender.send_async(7)), receiving: None, reserving: None };
        assert!(poll_once(waiting.sending.as_mut().unwrap(), &task).is_pending());
        kept.push(waiting);
        kept.reserve(100);
        assert_eq!(receiver.recv(), Ok(if capacity == 0 { 7 } else { 6 }));
        assert_eq!(task.woken(), 1);
        let mut moved = Box::new(kept.pop().unwrap());
        assert_eq!(poll_once(moved.sending.as_mut().unwrap(), &task), Poll::Ready(Ok(())));
        assert_eq!(receiver.try_recv().ok(), (capacity == 1).then_some(7));
    }
}

#[test]
fn a_reservation_that_waits_may_be_moved_and_one_that_is_dropped_holds_nothing() {
    let (sender, receiver) = mpmc::bounded(1);
    sender.send(6).unwrap();
    let tasks = [Task::default(), Task::default()];
    let [mut first, second] = [(); 2].map(|()| sender.reserve_async());
    let mut second = Waiting { sending: None, receiving: None, reserving: Some(second) };
    assert!(poll_once(&mut first, &tasks[0]).is_pending());
    assert!(poll_once(second.reserving.as_mut().unwrap(), &tasks[1]).is_pending());
    let mut moved = Box::new(second);
    assert_eq!(receiver.recv(), Ok(6));
    assert_eq!((tasks[0].woken(), tasks[1].woken()), (1, 0));
    drop(first);
    assert_eq!(tasks[1].woken(), 1, "the notification is passed on");
    let Poll::Ready(Ok(permit)) = poll_once(moved.reserving.as_mut().unwrap(), &tasks[1]) else {
        panic!("there is room");
    };
    drop(moved);
    assert!(sender.is_full(), "the room is the permit's");
    drop::<Permit<'_, u32>>(permit);
    assert_eq!(sender.try_send(8), Ok(()));
}

#[test]
fn a_wait_for_the_disconnection_may_be_moved_and_is_woken_once() {
    for (sender, receiver) in channels() {
        let task = Task::default();
        let mut kept: Vec<ClosedFuture<'_, mpmc::Sender<u32>>> = vec![sender.closed()];
        assert!(poll_once(&mut kept[0], &task).is_pending());
        kept.reserve(100);
        drop(receiver);
        assert_eq!(task.woken(), 1);
        let mut moved = Box::new(kept.remove(0));
        assert!(poll_once(&mut *moved, &task).is_ready());
        assert_eq!(task.held(), 0, "no waker is kept");
    }
}

/// It passes on the message that it was notified of.
#[test]
fn a_receive_that_is_dropped_leaves_its_message_to_the_next() {
    for (sender, receiver) in channels() {
        let tasks = [Task::default(), Task::default()];
        let mut first = receiver.recv_async();
        let mut second = receiver.recv_async();
        assert!(poll_once(&mut first, &tasks[0]).is_pending());
        assert!(poll_once(&mut second, &tasks[1]).is_pending());
        assert_eq!(sender.send(7), Ok(()));
        assert_eq!((tasks[0].woken(), tasks[1].woken()), (1, 0));
        drop(first);
        assert_eq!(tasks[1].woken(), 1);
        assert_eq!(poll_once(&mut second, &tasks[1]), Poll::Ready(Ok(7)));
        assert_eq!((tasks[0].held(), tasks[1].held()), (0, 0), "no waker is kept");
    }
}

#[test]
fn a_send_that_is_dropped_drops_its_message_once_and_leaves_its_room_to_the_next() {
    for capacity in [0, 1] {
        let (sender, receiver) = mpmc::bounded(capacity);
        let message = Arc::new(());
        (0..capacity).for_each(|_| sender.send(message.clone()).unwrap());
        let tasks = [Task::default(), Task::default()];
        let mut first = sender.send_async(message.clone());
        let mut second = sender.send_async(message.clone());
        assert!(poll_once(&mut first, &tasks[0]).is_pending());
        assert!(poll_once(&mut second, &tasks[1]).is_pending());
        assert_eq!(Arc::strong_count(&message), 3 + capacity);
        drop(first);
        assert_eq!(Arc::strong_count(&message), 2 + capacity);
        drop(receiver.recv().unwrap());
        assert_eq!(tasks.each_ref().map(Task::woken), [0, 1]);
        assert_eq!(poll_once(&mut second, &tasks[1]), Poll::Ready(Ok(())));
        drop(second);
        drop(receiver);
        assert_eq!(Arc::strong_count(&message), 1);
    }
}

#[test]
fn one_that_was_never_polled_has_done_nothing() {
    for (sender, receiver) in channels() {
        drop((sender.send_async(1), receiver.recv_async(), sender.reserve_async()));
        assert_eq!((receiver.len(), receiver.try_recv().is_err()), (0, true));
        assert!(sender.try_reserve().is_ok() || sender.capacity() == Some(0));
    }
}

#[test]
fn one_that_has_been_ready_is_not_polled_again() {
    fn refuses<F: Future + Unpin>(mut future: F) -> F::Output {
        let output = block_on(&mut future);
        assert!(catch_unwind(AssertUnwindSafe(|| block_on(Pin::new(&mut future)))).is_err());
        output
    }
    let (sender, receiver) = mpmc::bounded(1);
    assert_eq!(refuses(sender.send_async(1)), Ok(()));
    assert_eq!(refuses(receiver.recv_async()), Ok(1));
    drop(refuses(sender.reserve_async()).unwrap());
    // Also where it has waited.
    let task = Task::default();
    let mut waiting = receiver.recv_async();
    assert!(poll_once(&mut waiting, &task).is_pending());
    sender.send(2).unwrap();
    assert_eq!(refuses(waiting), Ok(2));
    assert!(sender.close());
    assert_eq!(refuses(receiver.recv_async()), Err(RecvError));
    // Except for one that stays so.
    let mut closed = sender.closed();
    (0..2).for_each(|_| block_on(&mut closed));
}

#[test]
fn one_that_waits_ends_with_the_other_side_and_gives_its_message_back() {
    for (sender, receiver) in channels() {
        let tasks = [Task::default(), Task::default()];
        let mut receiving = receiver.recv_async();
        assert!(poll_once(&mut receiving, &tasks[0]).is_pending());
        assert!(sender.close());
        assert_eq!(tasks[0].woken(), 1);
        assert_eq!(poll_once(&mut receiving, &tasks[0]), Poll::Ready(Err(RecvError)));
    }
    for capacity in [0, 1] {
        let (sender, receiver) = mpmc::bounded(capacity);
        (0..capacity).for_each(|_| sender.send(6).unwrap());
        let tasks = [Task::default(), Task::default()];
        let (mut sending, mut reserving) = (sender.send_async(7), sender.reserve_async());
        assert!(poll_once(&mut sending, &tasks[0]).is_pending());
        let reserved = poll_once(&mut reserving, &tasks[1]);
        assert_eq!(matches!(reserved, Poll::Ready(Err(ReserveError::TooMany))), capacity == 0);
        drop(receiver);
        assert_eq!(poll_once(&mut sending, &tasks[0]), Poll::Ready(Err(SendError(7))));
        if capacity == 1 {
            let reserved = poll_once(&mut reserving, &tasks[1]);
            assert!(matches!(reserved, Poll::Ready(Err(ReserveError::Disconnected))));
        }
    }
}

/// A hundred thousand tasks may wait for messages of any size.
#[test]
fn a_receive_is_as_small_whatever_it_receives() {
    let [small, large] = [size_of::<RecvFuture<'_, u8>>(), size_of::<RecvFuture<'_, [u64; 1_000]>>()];
    assert_eq!(small, large);
    assert!(small <= 96, "{small}");
}
