//! What a task sends and receives: with a limit, in batches, and whatever becomes of its future.

use std::future::{poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};

use ysuite::broadcast::{self, RecvError};
use ysuite::{SendError, SendTimeoutError};

use crate::support::executor::{Task, block_on, poll_once};
use crate::support::guarded;

#[test]
fn a_send_that_is_stopped_gives_its_message_back() {
    let (sender, mut receiver) = broadcast::bounded(1);
    for is_panic in [false, true] {
        sender.send(0).unwrap();
        let tasks = [Task::default(), Task::default()];
        let mut asked = 0;
        let stop = poll_fn(|_: &mut Context<'_>| {
            asked += 1;
            assert!(!is_panic || asked < 2, "the stop panics");
            if asked < 2 { Poll::Pending } else { Poll::Ready(()) }
        });
        let mut first = Box::pin(sender.send_async_until(1, stop));
        let mut second = Box::pin(sender.send_async(2));
        assert!(poll_once(&mut first, &tasks[0]).is_pending());
        assert!(poll_once(&mut second, &tasks[1]).is_pending());
        assert_eq!(receiver.recv(), Ok(0));
        assert_eq!((tasks[0].woken(), tasks[1].woken()), (1, 0));
        // Another takes the room.
        sender.send(3).unwrap();
        match catch_unwind(AssertUnwindSafe(|| poll_once(&mut first, &tasks[0]))) {
            Ok(outcome) => assert_eq!((outcome, is_panic), (Poll::Ready(Err(SendTimeoutError::Timeout(1))), false)),
            Err(_) => assert!(is_panic),
        }
        drop(first);
        assert_eq!(receiver.recv(), Ok(3));
        assert_eq!(tasks[1].woken(), 1, "the notification is passed on");
        assert_eq!(poll_once(&mut second, &tasks[1]), Poll::Ready(Ok(())));
        assert_eq!(receiver.recv(), Ok(2));
    }
}

#[test]
fn a_send_with_a_limit_asks_it_only_without_room() {
    let (sender, mut receiver) = broadcast::bounded(1);
    let asked = poll_fn(|_: &mut Context<'_>| -> Poll<()> { panic!("there is room") });
    assert_eq!(block_on(sender.send_async_until(1, asked)), Ok(()));
    assert_eq!(block_on(sender.send_async_until(2, ready(()))), Err(SendTimeoutError::Timeout(2)));
    assert_eq!(receiver.recv(), Ok(1));
    drop(receiver);
    assert_eq!(block_on(sender.send_async_until(3, ready(()))), Err(SendTimeoutError::Disconnected(3)));
}

#[test]
fn a_batch_is_received_by_a_task_in_parts_as_it_comes() {
    let (sender, mut receiver) = broadcast::bounded(8);
    let (task, mut to) = (Task::default(), Vec::new());
    {
        let mut receiving = Box::pin(receiver.recv_batch_async(&mut to, 3));
        assert!(poll_once(&mut receiving, &task).is_pending());
        sender.send_batch(0..5).unwrap();
        assert_eq!(task.woken(), 1);
        assert_eq!(poll_once(&mut receiving, &task), Poll::Ready(Ok(3)));
    }
    assert_eq!(block_on(receiver.recv_batch_async(&mut to, 0)), Ok(0));
    assert_eq!(block_on(receiver.recv_batch_async(&mut to, 9)), Ok(2));
    assert_eq!(to, [0, 1, 2, 3, 4]);
    drop(sender);
    assert_eq!(block_on(receiver.recv_batch_async(&mut to, 9)), Err(RecvError::Disconnected));
    assert_eq!(block_on(receiver.recv_batch_async(&mut to, 0)), Err(RecvError::Disconnected));
}

#[test]
fn a_batch_of_a_task_that_lags_says_how_much_it_has_missed() {
    let (sender, mut receiver) = broadcast::lossy(4);
    let mut to = Vec::new();
    sender.send_batch(0..10).unwrap();
    assert_eq!(block_on(receiver.recv_batch_async(&mut to, 9)), Err(RecvError::Lagged(6)));
    assert_eq!(block_on(receiver.recv_batch_async(&mut to, 9)), Ok(4));
    assert_eq!((to, receiver.missed()), (vec![6, 7, 8, 9], 6));
}

/// More than there is room for, to two receivers in threads of their own.
#[test]
fn a_batch_is_sent_by_a_task_that_waits_for_the_slowest() {
    guarded(|| {
        let (sender, receiver) = broadcast::bounded(4);
        let receivers: Vec<_> = [receiver.clone(), receiver]
            .into_iter()
            .map(|mut receiver| std::thread::spawn(move || receiver.iter().collect::<Vec<_>>()))
            .collect();
        let mut messages = (0..1_000).map(Arc::new);
        assert_eq!(block_on(sender.send_batch_async(&mut messages)), Ok(1_000));
        assert_eq!(block_on(sender.send_batch_async(&mut messages)), Ok(0));
        drop(sender);
        for receiver in receivers {
            assert!(receiver.join().unwrap().into_iter().map(|number| *number).eq(0..1_000));
        }
    });
}

#[test]
fn a_batch_of_a_task_takes_nothing_that_it_has_no_room_for() {
    let (sender, mut receiver) = broadcast::bounded(2);
    let (task, mut messages) = (Task::default(), 0..6);
    {
        let mut sending = Box::pin(sender.send_batch_async(&mut messages));
        assert!(poll_once(&mut sending, &task).is_pending());
        assert_eq!(receiver.recv(), Ok(0));
        assert_eq!(task.woken(), 1);
        assert!(poll_once(&mut sending, &task).is_pending());
    }
    assert_eq!(messages, 3..6, "what is not sent is still in the iterator");
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
    drop(receiver);
    assert_eq!(block_on(sender.send_batch_async(&mut messages)), Err(SendError(vec![])));
    assert_eq!(messages, 3..6);
}

/// The numbers up to `last`, of which nothing says how many there are. With the first of them another sender sends 10 and
/// 11.
fn while_another_sends(other: broadcast::Sender<i32>, last: i32) -> impl Iterator<Item = i32> {
    let mut given = 0;
    std::iter::from_fn(move || {
        given += 1;
        if given == 1 {
            other.send(10).unwrap();
            other.send(11).unwrap();
        }
        (given <= last).then_some(given)
    })
}

/// Between the look for room and the send another sender takes it.
#[test]
fn a_batch_of_a_task_keeps_what_another_has_taken_the_room_of() {
    let (sender, mut receiver) = broadcast::bounded(2);
    let (other, task) = (sender.clone(), Task::default());
    let mut messages = while_another_sends(other, 2);
    let mut sending = Box::pin(sender.send_batch_async(&mut messages));
    assert!(poll_once(&mut sending, &task).is_pending());
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(10), Ok(11)));
    assert!(poll_once(&mut sending, &task).is_pending(), "without room it does not ask whether there is more");
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
    assert_eq!(poll_once(&mut sending, &task), Poll::Ready(Ok(2)));
}

#[test]
fn what_came_back_from_a_batch_of_a_task_is_in_its_error() {
    let (sender, receiver) = broadcast::bounded(2);
    let (other, task) = (sender.clone(), Task::default());
    let mut messages = while_another_sends(other, 4);
    let mut sending = Box::pin(sender.send_batch_async(&mut messages));
    assert!(poll_once(&mut sending, &task).is_pending());
    drop(receiver);
    assert_eq!(poll_once(&mut sending, &task), Poll::Ready(Err(SendError(vec![1, 2]))));
}

#[test]
fn a_future_that_has_been_ready_is_not_polled_again() {
    let (sender, mut receiver) = broadcast::bounded(2);
    let mut sending = sender.send_async(1);
    assert_eq!(block_on(&mut sending), Ok(()));
    assert!(catch_unwind(AssertUnwindSafe(|| block_on(&mut sending))).is_err());
    let mut receiving = receiver.recv_async();
    assert_eq!(block_on(&mut receiving), Ok(1));
    assert!(catch_unwind(AssertUnwindSafe(|| block_on(&mut receiving))).is_err());
}
