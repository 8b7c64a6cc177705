//! Messages to all: receivers that subscribe and go, alongside one that stays.

use std::task::Context;
use std::thread;
use std::time::Duration;

use futures_util::StreamExt;

use crate::life::{Steps, live};
use crate::support::executor::{Task, block_on, poll_once};
use ysuite::broadcast;

fn listen(life: &mut crate::life::Life, (sender, mut stays): (broadcast::Sender<u64>, broadcast::Receiver<u64>)) {
    while life.step() {
        let number = life.number();
        let (weak, mut heard) = (sender.clone().downgrade(), sender.subscribe());
        let out = weak.clone().upgrade().unwrap();
        let (mut again, clone) = (heard.resubscribe(), stays.clone());
        assert!(again.recv_timeout(Duration::ZERO).is_err());
        assert!(!out.wait_closed_timeout(Duration::ZERO));
        out.send(number).unwrap();
        assert_eq!(
            (heard.recv(), again.try_iter().next(), clone.into_iter().next()),
            (Ok(number), Some(number), Some(number))
        );
        assert_eq!(stays.iter().next(), Some(number));
        drop((out, heard, again));
        assert_eq!((sender.sender_count(), sender.receiver_count()), (1, 1));
    }
}

#[test]
fn receivers_that_come_and_go() {
    live("broadcasts::receivers_that_come_and_go", Steps::Calls, |life| listen(life, broadcast::bounded(16)));
}

#[test]
fn receivers_of_what_may_be_missed_that_come_and_go() {
    live("broadcasts::receivers_of_what_may_be_missed_that_come_and_go", Steps::Calls, |life| {
        listen(life, broadcast::lossy(16));
    });
}

/// A permit of each kind, used and given up.
#[test]
fn permits_that_come_and_go() {
    live("broadcasts::permits_that_come_and_go", Steps::Calls, |life| {
        let (mut sender, mut receiver) = broadcast::bounded(4);
        while life.step() {
            let number = life.number();
            drop(sender.reserve().unwrap());
            sender.try_reserve().unwrap().send(number).unwrap();
            drop(sender.reserve_many(3).unwrap());
            let mut several = sender.try_reserve_many(3).unwrap();
            several.next().unwrap().send(number + 1).unwrap();
            drop(several);
            let again = sender.clone().reserve_owned().unwrap().send(number + 2).unwrap();
            sender = again.try_reserve_owned().unwrap().release();
            assert!(receiver.try_iter().eq(number..number + 3));
        }
    });
}

/// Receivers that never receive hold up no sender for long, and leave nothing.
#[test]
fn receivers_that_are_evicted() {
    live("broadcasts::receivers_that_are_evicted", Steps::Calls, |life| {
        let (sender, mut stays) = broadcast::bounded(1);
        while life.step() {
            let stuck = sender.subscribe();
            sender.send(life.number()).unwrap();
            assert_eq!(stays.recv(), Ok(life.number()));
            assert!(sender.try_send(0).is_err() && sender.evict(stuck.id()));
            assert_eq!((sender.receiver_count(), stuck.is_evicted()), (1, true));
        }
    });
}

/// A large crowd of receivers once: it costs later ones nothing.
#[test]
fn a_crowd_that_has_gone() {
    live("broadcasts::a_crowd_that_has_gone", Steps::Calls, |life| {
        let (sender, mut stays) = broadcast::bounded(16);
        // What each receiver of the crowd has had a place in.
        life.may_keep(1_000 * 1_024);
        while life.step() {
            if life.is_past_the_half_once() {
                let crowd: Vec<_> = (0..1_000).map(|_| sender.subscribe()).collect();
                drop(crowd);
            }
            sender.send(life.number()).unwrap();
            assert_eq!(stays.recv(), Ok(life.number()));
        }
    });
}

#[test]
fn tasks_that_give_up() {
    live("broadcasts::tasks_that_give_up", Steps::Calls, |life| {
        let (sender, mut stays) = broadcast::bounded(1);
        let task = Task::default();
        while life.step() {
            let (out, mut heard) = (sender.clone(), sender.subscribe());
            let mut waiting = Box::pin(heard.recv_async());
            assert!(poll_once(&mut waiting, &task).is_pending());
            drop(waiting);
            let waker = task.waker();
            let mut context = Context::from_waker(&waker);
            assert!(heard.poll_recv(&mut context).is_pending() && stays.poll_next_unpin(&mut context).is_pending());
            block_on(out.send_async(1)).unwrap();
            let mut waiting = (Box::pin(out.send_async(2)), Box::pin(out.closed()));
            assert!(poll_once(&mut waiting.0, &task).is_pending() && poll_once(&mut waiting.1, &task).is_pending());
            drop(waiting);
            let mut waiting = (Box::pin(out.reserve_async()), Box::pin(out.clone().reserve_owned_async()));
            assert!(poll_once(&mut waiting.0, &task).is_pending() && poll_once(&mut waiting.1, &task).is_pending());
            drop(waiting);
            let mut waiting = (Box::pin(out.reserve_many_async(1)), Box::pin(out.clone().send_owned_async(2)));
            assert!(poll_once(&mut waiting.0, &task).is_pending() && poll_once(&mut waiting.1, &task).is_pending());
            drop(waiting);
            assert_eq!(block_on(heard.clone().recv_owned_async()).0, Ok(1));
            let mut batch = [2].into_iter();
            let mut waiting = (
                Box::pin(out.send_async_until(2, std::future::pending::<()>())),
                Box::pin(out.send_batch_async(&mut batch)),
            );
            assert!(poll_once(&mut waiting.0, &task).is_pending() && poll_once(&mut waiting.1, &task).is_pending());
            drop(waiting);
            assert_eq!((block_on(heard.recv_async()), block_on(stays.recv_async())), (Ok(1), Ok(1)));
            let mut got = Vec::new();
            let mut waiting = Box::pin(heard.recv_batch_async(&mut got, 8));
            assert!(poll_once(&mut waiting, &task).is_pending());
            drop(waiting);
            assert_eq!(block_on(out.send_batch_async(&mut batch)), Ok(1));
            assert_eq!((block_on(heard.recv_batch_async(&mut got, 8)), stays.recv()), (Ok(1), Ok(2)));
        }
        drop((sender, stays));
        assert_eq!(task.held(), 0, "wakers of tasks that have given up");
    });
}

#[test]
fn a_channel_for_each_topic() {
    live("broadcasts::a_channel_for_each_topic", Steps::Calls, |life| {
        while life.step() {
            let (sender, mut receiver) =
                if life.number() % 2 == 0 { broadcast::bounded(4) } else { broadcast::lossy(4) };
            let mut other = receiver.clone();
            sender.send(life.number()).unwrap();
            assert_eq!((receiver.recv(), other.recv()), (Ok(life.number()), Ok(life.number())));
            match life.number() % 3 {
                0 => assert!(sender.close()),
                1 => {
                    assert!(receiver.close() || life.number() > 0);
                    drop(other);
                    drop(receiver);
                    sender.wait_closed();
                }
                _ => drop(sender),
            }
        }
    });
}

#[test]
fn receivers_in_short_lived_threads() {
    live("broadcasts::receivers_in_short_lived_threads", Steps::Threads, |life| {
        let (sender, mut stays) = broadcast::bounded(2);
        while life.step() {
            let (mut heard, number) = (sender.subscribe(), life.number());
            let thread = thread::spawn(move || assert_eq!((heard.recv(), heard.recv()), (Ok(number), Ok(number))));
            sender.send(number).unwrap();
            sender.send(number).unwrap();
            assert_eq!((stays.recv(), stays.recv()), (Ok(number), Ok(number)));
            thread.join().unwrap();
        }
    });
}
