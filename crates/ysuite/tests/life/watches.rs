//! A watched value, and handlers that read it and go.

use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use crate::life::{Steps, live};
use crate::support::executor::{Task, block_on, poll_once};
use ysuite::watch;

#[test]
fn handlers_that_come_and_go() {
    live("watches::handlers_that_come_and_go", Steps::Calls, |life| {
        let (sender, mut stays) = watch::channel(0_u64);
        let task = Task::default();
        while life.step() {
            let number = life.number();
            let (out, mut receiver) = (sender.clone(), sender.subscribe());
            let mut another = receiver.clone();
            assert!(receiver.changed_timeout(Duration::ZERO).is_err());
            // A handler that goes while it waits.
            let waker = task.waker();
            assert!(another.poll_changed(&mut std::task::Context::from_waker(&waker)).is_pending());
            let mut waiting = Box::pin(another.clone().changed_owned_async());
            assert!(poll_once(&mut waiting, &task).is_pending());
            drop(waiting);
            assert!(!out.wait_closed_timeout(Duration::ZERO));
            match number % 3 {
                0 => out.send(number).unwrap(),
                1 => out.send_modify(|value| *value = number),
                _ => assert_eq!(out.send_replace(number), number - 1),
            }
            receiver.changed().unwrap();
            assert_eq!(*receiver.borrow_and_update(), number);
            assert_eq!(*out.borrow(), number);
            if number % 2 == 0 {
                assert_eq!(poll_once(&mut another.changed_async(), &Task::default()), Poll::Ready(Ok(())));
                assert_eq!(*another.borrow(), number);
            }
            match number % 4 {
                0 => assert_eq!(
                    receiver.wait_for_deadline(Instant::now(), |value| *value == number).map(|value| *value),
                    Ok(number)
                ),
                1 => assert_eq!(receiver.wait_for(|value| *value == number).map(|value| *value), Ok(number)),
                2 => assert_eq!(
                    block_on(receiver.wait_for_async(|value| *value == number)).map(|value| *value),
                    Ok(number)
                ),
                _ => {
                    receiver.mark_changed();
                    assert_eq!(receiver.iter().next(), Some(number));
                }
            }
            // The one that stays misses none of them.
            stays.changed().unwrap();
            assert_eq!(*stays.borrow_and_update(), number);
            drop((out, receiver, another));
            assert_eq!((sender.sender_count(), sender.receiver_count()), (1, 1));
        }
        assert!(task.held() == 0, "wakers of handlers that are gone");
    });
}

/// More handlers at once than ever again: what they waited in costs those that come later nothing.
#[test]
fn a_crowd_of_handlers_that_has_gone() {
    live("watches::a_crowd_of_handlers_that_has_gone", Steps::Calls, |life| {
        let (sender, mut stays) = watch::channel(0_u64);
        let task = Task::default();
        let waker = task.waker();
        // Lists of waiters: 3 KiB for each 64.
        life.may_keep(4_000 / 64 * 4096);
        while life.step() {
            if life.is_past_the_half_once() {
                let mut crowd: Vec<_> = (0..4_000).map(|_| stays.clone()).collect();
                for receiver in &mut crowd {
                    assert!(receiver.poll_changed(&mut std::task::Context::from_waker(&waker)).is_pending());
                }
            }
            let mut receiver = stays.clone();
            assert!(receiver.poll_changed(&mut std::task::Context::from_waker(&waker)).is_pending());
            sender.send(life.number()).unwrap();
            stays.changed().unwrap();
            assert_eq!(receiver.into_iter().next(), Some(life.number()));
        }
    });
}

#[test]
fn a_channel_for_each_value() {
    live("watches::a_channel_for_each_value", Steps::Calls, |life| {
        while life.step() {
            let (sender, mut receiver) = watch::channel(0_u64);
            let mut other = receiver.clone();
            assert!(other.changed_deadline(Instant::now()).is_err());
            assert!(sender.send_if_modified(|value| {
                *value += 1;
                true
            }));
            assert!(receiver.has_changed().unwrap());
            receiver.mark_unchanged();
            match life.number() % 3 {
                0 => drop(sender),
                1 => {
                    drop((receiver, other));
                    sender.wait_closed();
                }
                _ => {
                    assert!(other.wait_for_timeout(Duration::ZERO, |value| *value == 1).is_ok());
                    receiver.mark_changed();
                    assert_eq!(receiver.into_iter().next(), Some(1));
                }
            }
        }
    });
}

#[test]
fn handlers_in_short_lived_threads() {
    live("watches::handlers_in_short_lived_threads", Steps::Threads, |life| {
        let (sender, stays) = watch::channel(0_u64);
        while life.step() {
            let (mut receiver, number) = (stays.clone(), life.number());
            let thread = thread::spawn(move || *receiver.wait_for(|value| *value == number).unwrap());
            sender.send(number).unwrap();
            assert_eq!(thread.join().unwrap(), number);
        }
    });
}
