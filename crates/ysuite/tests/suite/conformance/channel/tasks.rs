//! Tasks that wait, without a runtime: each woken for what it waits for, none for nothing, and none forgotten.

use std::task::{Context, Poll};
use std::thread;

use super::{Kind, Receiving, Sending};
use crate::support::executor::{Explosive, Task, block_on, poll_once};
use crate::support::{Random, Tally, guarded, panics};

/// Asks for a message on behalf of a task.
fn ask<T>(receiver: &mut impl Receiving<T>, task: &Task) -> Option<Option<T>> {
    match receiver.poll_recv(&mut Context::from_waker(&task.waker())) {
        Poll::Pending => None,
        Poll::Ready(received) => Some(received.ok()),
    }
}

pub(crate) fn a_message_that_is_there_is_received_at_once<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    let task = Task::default();
    sender.send(1).unwrap();
    assert_eq!(ask(&mut receiver, &task), Some(Some(1)));
    sender.send(2).unwrap();
    assert_eq!(block_on(receiver.recv_async()), Ok(2));
    assert_eq!(block_on(sender.send_async(3)), Ok(()));
    assert_eq!(block_on(receiver.recv_async()), Ok(3));
    assert_eq!((task.woken(), task.held()), (0, 0), "there was no waiter");
}

/// Notices: async-channel#45, a task that was polled once and is kept is not woken, or keeps others from being woken.
pub(crate) fn a_task_polled_once_and_kept_is_woken<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    let task = Task::default();
    let mut future = receiver.recv_async();
    assert!(poll_once(&mut future, &task).is_pending());
    assert_eq!(task.woken(), 0);
    sender.send(1).unwrap();
    assert_eq!(task.woken(), 1);
    sender.try_send(2).ok();
    assert_eq!(task.woken(), 1, "a task that is awake need not be woken");
    assert_eq!(poll_once(&mut future, &task), Poll::Ready(Ok(1)));
}

pub(crate) fn the_last_task_to_ask_is_woken<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    let (first, last) = (Task::default(), Task::default());
    for round in 1..4 {
        assert_eq!(ask(&mut receiver, &first), None);
        assert_eq!(ask(&mut receiver, &first), None);
        assert_eq!(ask(&mut receiver, &last), None);
        sender.send(round).unwrap();
        assert_eq!((first.woken(), last.woken()), (0, round));
        assert_eq!(ask(&mut receiver, &first), Some(Some(round)));
    }
}

/// Claim: A receiving future that is dropped has taken no message.
pub(crate) fn a_dropped_future_has_taken_nothing<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    let task = Task::default();
    for message in 0..3 {
        let mut future = receiver.recv_async();
        assert!(poll_once(&mut future, &task).is_pending());
        sender.send(message).unwrap();
        // It has been woken, and is dropped instead of being polled.
        drop(future);
        assert_eq!(task.woken(), message + 1);
        assert_eq!(receiver.try_recv(), Ok(message));
    }
}

pub(crate) fn a_dropped_future_does_not_eat_the_wake<K: Kind>(kind: K) {
    guarded(move || {
        let (mut sender, mut receiver) = kind.pair();
        for message in 0..50 {
            let task = Task::default();
            assert!(poll_once(&mut receiver.recv_async(), &task).is_pending());
            // The next waiter, of any kind, is the one to be woken.
            let thread = thread::spawn(move || {
                let received = if message % 2 == 0 { receiver.recv() } else { block_on(receiver.recv_async()) };
                assert_eq!(received, Ok(message));
                receiver
            });
            if message % 3 == 0 {
                thread::yield_now();
            }
            sender.send(message).unwrap();
            receiver = thread.join().unwrap();
        }
    });
}

pub(crate) fn a_task_learns_that_the_sender_is_gone<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    let task = Task::default();
    assert_eq!(ask(&mut receiver, &task), None);
    sender.send(1).unwrap();
    assert_eq!(task.woken(), 1);
    assert_eq!(ask(&mut receiver, &task), Some(Some(1)));
    assert_eq!(ask(&mut receiver, &task), None);
    drop(sender);
    assert_eq!(task.woken(), 2);
    assert_eq!(ask(&mut receiver, &task), Some(None));
    assert_eq!(ask(&mut receiver, &task), Some(None));
}

pub(crate) fn a_task_waits_for_room<K: Kind>(kind: K) {
    let Some(capacity) = kind.capacity() else { return };
    let tally = Tally::of(capacity + 1);
    let (mut sender, mut receiver) = kind.pair();
    tally.some(capacity).for_each(|message| sender.send(message).unwrap());
    let task = Task::default();
    let mut future = sender.send_async(tally.next());
    assert!(poll_once(&mut future, &task).is_pending());
    assert!(poll_once(&mut future, &task).is_pending());
    assert_eq!(receiver.len(), capacity);
    assert_eq!(receiver.recv().unwrap().number, 0);
    assert_eq!(task.woken(), 1);
    assert!(poll_once(&mut future, &task).is_ready());
    drop(future);
    assert!(sender.is_full());
    assert!(receiver.try_iter().map(|message| message.number).eq(1..=capacity));
    tally.assert_all_ended();
}

pub(crate) fn a_sending_task_learns_that_the_receiver_is_gone<K: Kind>(kind: K) {
    let Some(capacity) = kind.capacity() else { return };
    let tally = Tally::of(capacity + 1);
    let (mut sender, receiver) = kind.pair();
    tally.some(capacity).for_each(|message| sender.send(message).unwrap());
    let task = Task::default();
    let mut future = sender.send_async(tally.next());
    assert!(poll_once(&mut future, &task).is_pending());
    drop(receiver);
    assert_eq!(task.woken(), 1);
    match poll_once(&mut future, &task) {
        Poll::Ready(Err(error)) => assert_eq!(error.into_inner().number, capacity),
        other => panic!("{other:?}"),
    }
    tally.assert_all_ended();
}

/// Claim: A sending future that is dropped has sent nothing.
pub(crate) fn a_dropped_sending_future_has_sent_nothing<K: Kind>(kind: K) {
    let Some(capacity) = kind.capacity() else { return };
    let tally = Tally::of(capacity + 3);
    let (mut sender, mut receiver) = kind.pair();
    tally.some(capacity).for_each(|message| sender.send(message).unwrap());
    let task = Task::default();
    // Before it was polled, and while it waits.
    drop(sender.send_async(tally.next()));
    let mut future = sender.send_async(tally.next());
    assert!(poll_once(&mut future, &task).is_pending());
    drop(future);
    assert_eq!((tally.ended(), receiver.len()), (2, capacity));
    drop(receiver.recv());
    sender.send(tally.next()).unwrap();
    assert_eq!(receiver.try_iter().last().unwrap().number, capacity + 2);
    tally.assert_all_ended();
}

/// Claim: A waker that panics leaves no waiter asleep and loses no message.
/// Also: suite mpmc::foreign::with_a_bound::one_waker_that_panics_does_not_keep_those_behind_it_asleep,
/// suite mpsc::endings::a_waker_that_panics_does_not_keep_the_others_from_being_woken.
pub(crate) fn a_waker_that_panics_loses_nothing<K: Kind>(kind: K) {
    let tally = Tally::of(10);
    let (mut sender, mut receiver) = kind.pair();
    let waker = Explosive::waker();
    let mut context = Context::from_waker(&waker);
    for number in 0..3 {
        assert!(receiver.poll_recv(&mut context).is_pending());
        // The panic is the sending thread's; the message has been sent before.
        assert_eq!(panics(|| drop(sender.send(tally.next()))), "this waker panics");
        assert_eq!(receiver.try_recv().unwrap().number, number);
    }
    assert!(receiver.poll_recv(&mut context).is_pending());
    assert_eq!(panics(|| drop(sender.send_batch(&mut tally.some(1)))), "this waker panics");
    assert_eq!(receiver.try_recv().unwrap().number, 3);
    assert!(receiver.poll_recv(&mut context).is_pending());
    assert_eq!(panics(|| drop(sender)), "this waker panics");
    assert!(receiver.recv().is_err());
    tally.assert_all_ended();
    a_panicking_waker_of_a_sender(kind);
}

fn a_panicking_waker_of_a_sender<K: Kind>(kind: K) {
    let Some(capacity) = kind.capacity() else { return };
    let tally = Tally::of(capacity + 2);
    let waker = Explosive::waker();
    let mut context = Context::from_waker(&waker);
    let (mut sender, mut receiver) = kind.pair();
    tally.some(capacity).for_each(|message| sender.send(message).unwrap());
    let mut future = sender.send_async(tally.next());
    assert!(future.as_mut().poll(&mut context).is_pending());
    // It panics in the thread that makes room. The message taken for that is lost with the panic, but it is dropped.
    assert_eq!(panics(|| drop(receiver.recv())), "this waker panics");
    drop(future);
    assert_eq!(tally.ended(), 2);
    sender.send(tally.next()).unwrap();
    let mut future = sender.send_async(tally_less());
    assert!(future.as_mut().poll(&mut context).is_pending());
    assert_eq!(panics(|| drop(receiver)), "this waker panics");
    drop(future);
    tally.assert_all_ended();
    drop(sender);
}

/// A message of another tally, which is not counted.
fn tally_less() -> crate::support::Counted {
    Tally::of(1).next()
}

/// Claim: Threads and tasks can use the same channel in any order.
pub(crate) fn tasks_and_threads_take_turns<K: Kind>(kind: K) {
    guarded(move || {
        const MESSAGES: usize = 3_000;
        let (mut sender, mut receiver) = kind.pair();
        let thread = thread::spawn(move || {
            let mut random = Random::new(1);
            for message in 0..MESSAGES {
                match random.below(2) {
                    0 => sender.send(message).unwrap(),
                    _ => block_on(sender.send_async(message)).unwrap(),
                }
                random.pause();
            }
        });
        let mut random = Random::new(2);
        for expected in 0..MESSAGES {
            let received = match random.below(3) {
                0 => receiver.recv(),
                1 => block_on(receiver.recv_async()),
                _ => {
                    // Asked once, and then something else waits.
                    match ask(&mut receiver, &Task::default()) {
                        Some(received) => Ok(received.unwrap()),
                        None => receiver.recv(),
                    }
                }
            };
            assert_eq!(received, Ok(expected));
            random.pause();
        }
        thread.join().unwrap();
    });
}

pub(crate) fn wakers_are_dropped_with_the_channel<K: Kind>(kind: K) {
    for sender_first in [false, true] {
        let (mut sender, mut receiver) = kind.pair();
        let (receiving, sending) = (Task::default(), Task::default());
        assert_eq!(ask(&mut receiver, &receiving), None);
        (0..kind.some(3)).for_each(|message| sender.send(message).unwrap());
        let _ = poll_once(&mut sender.send_async(9), &sending);
        if sender_first {
            drop(sender);
            drop(receiver);
        } else {
            drop(receiver);
            drop(sender);
        }
        assert_eq!((receiving.held(), sending.held()), (0, 0));
    }
}

pub(crate) fn a_receiver_that_goes_lets_go_of_its_task<K: Kind>(kind: K) {
    // The sender may live for ever; a task that has ended must not.
    let (sender, mut receiver) = kind.pair::<u8>();
    let task = Task::default();
    assert_eq!(ask(&mut receiver, &task), None);
    drop(receiver);
    assert_eq!((task.held(), task.woken()), (0, 0));
    drop(sender);
}

pub(crate) fn a_dropped_future_lets_go_of_its_task<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    let task = Task::default();
    let mut future = receiver.recv_async();
    assert!(poll_once(&mut future, &task).is_pending());
    assert_eq!(task.held(), 1);
    drop(future);
    assert_eq!(task.held(), 0, "there is no waiter any more");
    (0..kind.capacity().unwrap_or(1)).for_each(|message| sender.send(message).unwrap());
    if kind.capacity().is_some() {
        let mut future = sender.send_async(7);
        assert!(poll_once(&mut future, &task).is_pending());
        assert_eq!(task.held(), 1);
        drop(future);
        assert_eq!(task.held(), 0, "there is no waiter any more");
    }
    // One that is ready keeps nothing, either.
    assert_eq!(poll_once(&mut receiver.recv_async(), &task), Poll::Ready(Ok(0)));
    assert_eq!((task.held(), task.woken()), (0, 0));
}

pub(crate) fn tasks_stream_both_ways<K: Kind>(kind: K) {
    guarded(move || {
        const MESSAGES: usize = 5_000;
        let (mut sender, mut receiver) = kind.pair();
        let (mut back, mut answers) = kind.pair();
        let thread = thread::spawn(move || {
            block_on(async move {
                while let Ok(message) = receiver.recv_async().await {
                    if back.send_async(message).await.is_err() {
                        break;
                    }
                }
            });
        });
        block_on(async move {
            // With a bound, no more on the way than both channels hold.
            let window = kind.some(50);
            for first in (0..MESSAGES).step_by(window) {
                for message in first..first + window {
                    sender.send_async(message).await.unwrap();
                }
                for message in first..first + window {
                    assert_eq!(answers.recv_async().await, Ok(message));
                }
            }
        });
        thread.join().unwrap();
    });
}
