//! Batches that tasks send and receive, and sends that any future limits.

use std::future::Future;
use std::task::Poll;

use ysuite::{RecvError, SendError, SendTimeoutError};

use super::{Batching, Peeking, Piping, Receiving, Sending};
use crate::support::executor::{Task, block_on, poll_once};
use crate::support::{Tally, guarded, panics};

pub(crate) fn a_task_receives_batches<K: Batching>(kind: K) {
    let (mut sender, mut receiver) = kind.batching();
    let (task, mut to) = (Task::default(), Vec::new());
    assert_eq!(block_on(receiver.recv_batch_async(&mut to, 0)), Ok(0));
    let mut future = receiver.recv_batch_async(&mut to, 4);
    assert!(poll_once(&mut future, &task).is_pending());
    // Dropped: nothing is taken, and no waiter is woken.
    drop(future);
    let messages = kind.some(6);
    (0..messages).for_each(|message| sender.send(message).unwrap());
    assert_eq!((task.woken(), task.held(), to.len()), (0, 0, 0));
    assert_eq!(block_on(receiver.recv_batch_async(&mut to, 4)), Ok(messages.min(4)));
    receiver.try_iter().for_each(drop);
    let mut future = receiver.recv_batch_async(&mut to, 4);
    assert!(poll_once(&mut future, &task).is_pending());
    sender.send(9).unwrap();
    assert_eq!(task.woken(), 1);
    assert_eq!(poll_once(&mut future, &task), Poll::Ready(Ok(1)));
    drop(future);
    assert_eq!((to.len(), to.last()), (messages.min(4) + 1, Some(&9)));
    // No more than was asked for, however many have come meanwhile.
    let mut future = receiver.recv_batch_async(&mut to, 2);
    assert!(poll_once(&mut future, &task).is_pending());
    (0..kind.some(5)).for_each(|message| sender.send(message).unwrap());
    assert_eq!(poll_once(&mut future, &task), Poll::Ready(Ok(kind.some(2))));
    drop(future);
    assert_eq!(receiver.try_iter().count(), kind.some(5) - kind.some(2));
    drop(sender);
    assert_eq!(block_on(receiver.recv_batch_async(&mut to, 4)), Err(RecvError));
}

pub(crate) fn a_task_sends_more_than_there_is_room_for<K: Batching>(kind: K) {
    guarded(move || {
        const MESSAGES: usize = 3_000;
        let (mut sender, mut receiver) = kind.batching();
        let thread = std::thread::spawn(move || {
            let sent = block_on(sender.send_batch_async(&mut (0..MESSAGES)));
            assert_eq!(sent, Ok(MESSAGES));
            assert_eq!(block_on(sender.send_batch_async(&mut std::iter::empty())), Ok(0));
        });
        let mut all = Vec::new();
        while block_on(receiver.recv_batch_async(&mut all, 100)).is_ok() {}
        assert!(all.into_iter().eq(0..MESSAGES));
        thread.join().unwrap();
    });
}

pub(crate) fn great_batches_of_tasks_arrive_whole<K: Batching>(kind: K) {
    const MESSAGES: usize = 10_000;
    let (mut sender, mut receiver) = kind.batching();
    let (task, mut received, mut messages) = (Task::default(), Vec::new(), 0..MESSAGES);
    let mut sending = sender.send_batch_async(&mut messages);
    let mut told = 0;
    while received.len() < MESSAGES {
        // Up to the room each time.
        let left = MESSAGES - received.len();
        let sent = if kind.some(left) == left { Poll::Ready(Ok(MESSAGES)) } else { Poll::Pending };
        assert_eq!(poll_once(&mut sending, &task), sent, "with {left} messages left");
        assert_eq!(block_on(receiver.recv_batch_async(&mut received, MESSAGES)), Ok(kind.some(left)));
        assert!(sent.is_ready() || task.woken() > told, "there is room again");
        told = task.woken();
    }
    assert!(received.into_iter().eq(0..MESSAGES));
}

/// Claim: A dropped batch future leaves the unsent messages in its iterator.
pub(crate) fn an_iterator_keeps_what_was_not_sent<K: Batching>(kind: K) {
    let Some(capacity) = kind.capacity() else { return };
    let (mut sender, mut receiver) = kind.batching();
    let (task, mut messages) = (Task::default(), 0..10 * capacity);
    let mut sent = 0;
    for round in 0..5 {
        let mut future = sender.send_batch_async(&mut messages);
        assert!(poll_once(&mut future, &task).is_pending());
        drop(future);
        sent += if round == 0 { capacity } else { capacity.min(2) };
        assert_eq!((messages.start, task.held()), (sent, 0));
        (0..capacity.min(2)).for_each(|_| assert!(receiver.recv().is_ok()));
    }
    assert_eq!(receiver.try_iter().last(), Some(sent - 1).filter(|_| capacity > 2));
}

pub(crate) fn a_batch_of_a_task_whose_receiver_closes<K: Batching>(kind: K) {
    let tally = Tally::of(10_000);
    let (mut sender, mut receiver) = kind.batching();
    receiver.close();
    let mut messages = tally.some(10);
    assert!(block_on(sender.send_batch_async(&mut messages)).is_err_and(|SendError(back)| back.is_empty()));
    assert_eq!(tally.made(), 0, "nothing was taken");
    let Some(capacity) = kind.capacity() else { return };
    let (mut sender, mut receiver) = kind.batching();
    let task = Task::default();
    let mut messages = tally.some(capacity + 5);
    let mut future = sender.send_batch_async(&mut messages);
    assert!(poll_once(&mut future, &task).is_pending());
    receiver.close();
    assert_eq!(task.woken(), 1);
    let Poll::Ready(Err(SendError(back))) = poll_once(&mut future, &task) else { panic!("closed") };
    drop(future);
    assert_eq!((back.len(), tally.made(), messages.count(), receiver.iter().count()), (0, capacity, 5, capacity));
    tally.assert_all_ended();
}

/// Claim: A task's send with a limit returns the message when the limit is reached.
/// Also: suite mpmc::tasks::a_send_ends_when_its_stop_does,
/// suite integrations::tokio::a_send_with_a_time_limit_gives_the_message_back.
pub(crate) fn any_future_is_a_limit<K: Batching>(kind: K) {
    let (mut sender, mut receiver) = kind.batching();
    // With room, or without a receiver, it is not asked.
    let never = || std::future::poll_fn(|_| -> Poll<()> { panic!("asked") });
    assert_eq!(block_on(sender.send_async_until(0, never())), Ok(()));
    assert_eq!(receiver.recv(), Ok(0));
    if let Some(capacity) = kind.capacity() {
        (0..capacity).for_each(|message| sender.send(message).unwrap());
        let full = block_on(sender.send_async_until(7, std::future::ready("now")));
        assert_eq!(full, Err(SendTimeoutError::Timeout(7)));
        let task = Task::default();
        // Room comes first, and then the limit.
        let mut future = sender.send_async_until(capacity, std::future::pending::<()>());
        assert!(poll_once(&mut future, &task).is_pending());
        assert_eq!(receiver.recv(), Ok(0));
        assert_eq!(task.woken(), 1);
        assert_eq!(poll_once(&mut future, &task), Poll::Ready(Ok(())));
        drop(future);
        let (mut stop, stopped) = ysuite::spsc::unbounded();
        let mut stopped = stopped;
        let mut future = sender.send_async_until(8, stopped.recv_async());
        assert!(poll_once(&mut future, &task).is_pending());
        stop.send(()).unwrap();
        assert_eq!(task.woken(), 2);
        assert_eq!(poll_once(&mut future, &task), Poll::Ready(Err(SendTimeoutError::Timeout(8))));
        drop(future);
        assert_eq!(task.held(), 0);
        assert!(receiver.try_iter().eq(1..=capacity));
    }
    receiver.close();
    assert_eq!(block_on(sender.send_async_until(9, never())), Err(SendTimeoutError::Disconnected(9)));
}

pub(crate) fn a_limit_whose_end_panics_takes_the_message_along<K: Batching>(kind: K) {
    /// A limit that is reached already; its `Drop` panics.
    fn limit(tally: &Tally) -> impl Future<Output = ()> + use<> {
        tally.explode(tally.made());
        let held = tally.next();
        std::future::poll_fn(move |_| {
            let _whole = &held;
            Poll::Ready(())
        })
    }
    let tally = Tally::of(10_000);
    let (mut sender, mut receiver) = kind.batching();
    if let Some(capacity) = kind.capacity() {
        tally.some(capacity).for_each(|message| assert!(sender.send(message).is_ok()));
        let (stop, message) = (limit(&tally), tally.next());
        panics(|| drop(block_on(sender.send_async_until(message, stop))));
        assert_eq!(tally.ended(), 2);
    }
    let before = tally.ended();
    receiver.close();
    let (stop, message) = (limit(&tally), tally.next());
    panics(|| drop(block_on(sender.send_async_until(message, stop))));
    assert_eq!(tally.ended() - before, 2);
    drop((sender, receiver));
    tally.assert_all_ended();
}

pub(crate) fn an_iterator_that_panics_in_a_task<K: Batching>(kind: K) {
    let messages = kind.some(5);
    let (mut sender, mut receiver) = kind.batching();
    let mut source = (0..messages).inspect(|&message| assert!(message + 1 < messages, "the iterator"));
    assert!(panics(|| drop(block_on(sender.send_batch_async(&mut source)))).contains("the iterator"));
    assert!(receiver.try_iter().eq(0..messages - 1));
    sender.send(1).unwrap();
    assert_eq!(receiver.recv(), Ok(1));
}
