//! Handles that are dropped, in every order: each message is delivered or dropped exactly once.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use super::LONG;
use crate::support::executor::{Task, poll_once};
use crate::support::{Random, Tally, guarded};
use ysuite::oneshot;
use ysuite::{RecvError, TryRecvError};

#[test]
fn a_message_goes_with_the_receiver_that_has_not_taken_it() {
    let tally = Tally::of(1);
    let (sender, receiver) = oneshot::channel();
    sender.send(tally.next()).unwrap();
    assert_eq!(tally.ended(), 0);
    drop(receiver);
    tally.assert_all_ended();
}

#[test]
fn a_message_without_a_receiver_comes_back() {
    let tally = Tally::of(2);
    for close in [false, true] {
        let (sender, mut receiver) = oneshot::channel();
        let _kept = if close {
            assert!(receiver.close());
            Some(receiver)
        } else {
            drop(receiver);
            None
        };
        assert!(sender.is_disconnected());
        let message = sender.send(tally.next()).unwrap_err().into_inner();
        assert_eq!((message.number, tally.ended()), (usize::from(close), usize::from(close)));
    }
    tally.assert_all_ended();
}

#[test]
fn what_was_sent_before_the_close_is_received_behind_it() {
    let (sender, mut receiver) = oneshot::channel();
    sender.send(1).unwrap();
    assert!(!receiver.close());
    assert_eq!(receiver.try_recv(), Ok(1));
    let (sender, mut receiver) = oneshot::channel();
    assert!(receiver.close());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!(sender.send(2).unwrap_err().into_inner(), 2);
    assert_eq!(receiver.recv(), Err(RecvError));
}

/// Claim: A oneshot close wakes the task that waits on either handle.
#[test]
fn a_close_ends_what_the_task_of_either_end_waits_for() {
    let (mut sender, mut receiver) = oneshot::channel::<u8>();
    let (receiving, closing) = (Task::default(), Task::default());
    assert!(poll_once(&mut receiver, &receiving).is_pending());
    let mut closed = Box::pin(sender.closed());
    assert!(poll_once(&mut closed, &closing).is_pending());
    assert!(receiver.close());
    // The closing thread need not be the waiting one.
    assert_eq!((receiving.woken(), receiving.held(), closing.woken(), closing.held()), (1, 0, 1, 0));
    assert!(poll_once(&mut closed, &closing).is_ready());
    drop(closed);
    assert!(sender.is_disconnected());
}

#[test]
fn ends_go_in_any_order_on_any_threads() {
    guarded(|| {
        const ROUNDS: usize = 1_500;
        let tally = Tally::of(ROUNDS);
        for round in 0..ROUNDS {
            let (mut sender, mut receiver) = oneshot::channel();
            let message = tally.next();
            let thread = thread::spawn(move || {
                let mut random = Random::new(round as u64 * 2);
                if round % 3 == 0 {
                    let _ = poll_once(&mut Box::pin(sender.closed()), &Task::default());
                }
                random.pause();
                if round % 7 == 0 { drop(sender) } else { drop(sender.send(message)) }
            });
            let mut random = Random::new(round as u64 * 2 + 1);
            if round % 2 == 0 {
                let _ = poll_once(&mut receiver, &Task::default());
            }
            random.pause();
            match round % 5 {
                0 => {}
                1 => {
                    receiver.close();
                    drop(receiver.try_recv());
                }
                2 => drop(receiver.try_recv()),
                3 => drop(receiver.recv_timeout(LONG)),
                _ => drop(receiver.recv_timeout(Duration::from_micros(5))),
            }
            drop(receiver);
            thread.join().unwrap();
            assert_eq!(tally.ended(), round + 1);
        }
        tally.assert_all_ended();
    });
}

#[test]
fn a_message_that_panics_as_it_goes_ends_the_channel_all_the_same() {
    let tally = Tally::of(1);
    tally.explode(0);
    let (sender, receiver) = oneshot::channel();
    sender.send(tally.next()).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| drop(receiver))).is_err());
    tally.assert_all_ended();
}

#[test]
fn a_leaked_future_leaves_its_waker_to_the_last_handle() {
    for sent in [false, true] {
        let (mut sender, receiver) = oneshot::channel();
        let task = Task::default();
        let mut closed = Box::pin(sender.closed());
        assert!(poll_once(&mut closed, &task).is_pending());
        mem::forget(closed);
        assert_eq!(task.held(), 1);
        if sent {
            sender.send(1).unwrap();
            assert_eq!(receiver.recv(), Ok(1));
        } else {
            drop(sender);
            assert_eq!(task.held(), 0);
            drop(receiver);
        }
        assert_eq!((task.held(), task.woken()), (0, 0));
    }
}

/// Notices: flume#89, a sender inside its own channel keeps it open for ever.
#[test]
fn an_end_in_its_own_channel_does_no_harm() {
    // It keeps nothing alive but itself: the message is the receiver, which goes with the message that comes back.
    let (sender, receiver) = oneshot::channel::<Box<dyn Send>>();
    sender.send(Box::new(receiver)).unwrap();
    // And a sender in the message of another channel that is dropped.
    let (sender, receiver) = oneshot::channel();
    let (inner, answer) = oneshot::channel::<u8>();
    sender.send(inner).unwrap();
    drop(receiver);
    assert_eq!(answer.recv(), Err(RecvError));
}
