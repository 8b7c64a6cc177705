//! A request comes with a sender of its own, which is dropped with it; one handle stays.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::life::{Steps, live};
use ysuite::mpsc::{self, TURN};

/// Messages that are always in the channel, each of a sender of its own: a receiver that lags a little never finds nothing.
const BACKLOG: u64 = 10;

/// The most messages between two turns of a lane, by the module's documentation, where this many others have messages at once.
const fn most_before_a_turn(lanes: u64) -> u64 {
    2 * lanes * TURN as u64
}

#[test]
fn a_clone_for_each_request() {
    live("requests::a_clone_for_each_request", Steps::Calls, |life| {
        let (mut stays, mut receiver) = mpsc::unbounded::<u64>();
        let mut batch = Vec::with_capacity(1);
        // Those that were received since the sender that stays has sent.
        let mut others = None;
        while life.step() {
            let number = life.number();
            let mut sender = if number % 2 == 0 { stays.clone() } else { stays.try_clone().expect("few are alive") };
            sender.send(number).unwrap();
            drop(sender);
            if number <= BACKLOG {
                continue;
            }
            if others.is_none() && number % 10 == 0 {
                stays.send(0).unwrap();
                others = Some(0);
            }
            // One message for each that was sent, in every way.
            loop {
                let received = match number % 4 {
                    0 => receiver.recv().unwrap(),
                    1 => receiver.try_recv().unwrap(),
                    2 => receiver.recv_timeout(Duration::ZERO).unwrap(),
                    _ => {
                        assert_eq!(receiver.recv_batch(&mut batch, 1), Ok(1));
                        batch.pop().unwrap()
                    }
                };
                if received != 0 {
                    break;
                }
                others = None;
            }
            if let Some(others) = &mut others {
                *others += 1;
                assert!(*others <= most_before_a_turn(BACKLOG + 1), "the sender that stays is starved, step {number}");
            }
            if number % 100 == 0 {
                assert!(receiver.len() as u64 <= BACKLOG + 2);
                assert_eq!(stays.sender_count(), 1);
            }
        }
    });
}

/// As above, but the receiver never lags, and never polls when there is nothing.
#[test]
fn a_clone_whose_message_is_received_at_once() {
    live("requests::a_clone_whose_message_is_received_at_once", Steps::Calls, |life| {
        let (stays, mut receiver) = mpsc::unbounded();
        while life.step() {
            let mut sender = stays.clone();
            sender.send(life.number()).unwrap();
            drop(sender);
            assert_eq!(receiver.recv(), Ok(life.number()));
        }
    });
}

/// A sender that is dropped when its message has been received, as when it waits for the answer.
#[test]
fn a_clone_that_waits_for_its_answer() {
    live("requests::a_clone_that_waits_for_its_answer", Steps::Calls, |life| {
        let (stays, mut receiver) = mpsc::bounded(4);
        let mut before = None;
        while life.step() {
            let mut sender = stays.clone();
            sender.write(0).unwrap();
            assert_eq!(sender.unwrite(), Some(0));
            sender.write(life.number()).unwrap();
            assert!(sender.flush() || life.number() > 0);
            assert_eq!(receiver.peek(), Some(&life.number()));
            assert_eq!(receiver.recv(), Ok(life.number()));
            // One request overlaps with the next.
            before = Some(sender);
        }
        drop(before);
    });
}

#[test]
fn an_upgrade_for_each_request() {
    live("requests::an_upgrade_for_each_request", Steps::Calls, |life| {
        let (stays, mut receiver) = mpsc::unbounded();
        let weak = stays.downgrade();
        while life.step() {
            let own = weak.clone();
            let mut sender = own.upgrade().expect("a sender stays");
            assert!(sender.same_channel(&stays));
            sender.send(life.number()).unwrap();
            drop((sender, own));
            assert_eq!(receiver.recv(), Ok(life.number()));
            assert_eq!(weak.sender_count(), 1);
        }
    });
}

/// Four messages of each of eight senders: two are alive at most.
#[test]
fn a_clone_under_a_bound_for_senders() {
    live("requests::a_clone_under_a_bound_for_senders", Steps::Calls, |life| {
        let (stays, mut receiver) = mpsc::bounded_for(4, 8);
        while life.step() {
            let mut sender = stays.try_clone().unwrap_or_else(|_| panic!("two are alive, step {}", life.number()));
            for message in 0..=life.number() % 4 {
                sender.try_send(message).unwrap();
            }
            drop(sender);
            for message in 0..=life.number() % 4 {
                assert_eq!(receiver.recv(), Ok(message));
            }
        }
    });
}

/// A permit of each sender, one sent and one given up; and each way to drop the sender in its turn.
#[test]
fn permits_of_each_clone() {
    live("requests::permits_of_each_clone", Steps::Calls, |life| {
        let (stays, mut receiver) = mpsc::bounded(8);
        while life.step() {
            let mut sender = stays.clone();
            drop(sender.reserve().unwrap());
            sender.try_reserve().unwrap().send(1).unwrap();
            drop(sender.reserve_many(2).unwrap());
            drop(sender.try_reserve_many(3).unwrap());
            let mut permit = sender.reserve().unwrap();
            permit.slot().write(2);
            // SAFETY: the message has been written.
            unsafe { permit.commit() }.unwrap();
            if life.number() % 2 == 0 {
                assert!(sender.close());
            }
            drop(sender);
            assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
        }
    });
}

#[test]
fn a_shared_sender_for_each_request() {
    live("requests::a_shared_sender_for_each_request", Steps::Calls, |life| {
        let (stays, mut receiver) = mpsc::unbounded();
        let shared = stays.share();
        while life.step() {
            let (own, another) = (shared.clone(), stays.share());
            own.send(life.number()).unwrap();
            another.try_send(life.number()).unwrap();
            let mut sender = shared.sender().expect("few are alive");
            sender.send(life.number()).unwrap();
            let weak = another.downgrade();
            assert!(weak.upgrade().is_some());
            drop((own, another, weak, sender));
            for _ in 0..3 {
                assert_eq!(receiver.recv(), Ok(life.number()));
            }
        }
    });
}

/// A thread has a lane in each channel that it sends to.
#[test]
fn a_shared_sender_in_short_lived_threads() {
    live("requests::a_shared_sender_in_short_lived_threads", Steps::Threads, |life| {
        let (sender, mut receiver) = mpsc::unbounded();
        let shared = Arc::new(sender.share());
        while life.step() {
            let (here, number) = (shared.clone(), life.number());
            thread::spawn(move || here.send(number).unwrap()).join().unwrap();
            assert_eq!(receiver.recv(), Ok(number));
        }
    });
}

#[test]
fn a_clone_in_short_lived_threads() {
    live("requests::a_clone_in_short_lived_threads", Steps::Threads, |life| {
        let (stays, mut receiver) = mpsc::unbounded();
        while life.step() {
            let (mut here, number) = (stays.clone(), life.number());
            let thread = thread::spawn(move || here.send(number).unwrap());
            assert_eq!(receiver.recv(), Ok(number));
            thread.join().unwrap();
        }
    });
}

/// A sender that has nothing to send after all, in every way to get one; the receiver never polls.
#[test]
fn a_clone_that_sends_nothing() {
    live("requests::a_clone_that_sends_nothing", Steps::Calls, |life| {
        let (stays, receiver) = mpsc::unbounded::<u64>();
        let (weak, shared) = (stays.downgrade(), stays.share());
        while life.step() {
            let sender = match life.number() % 3 {
                0 => stays.clone(),
                1 => weak.upgrade().expect("a sender stays"),
                _ => shared.sender().expect("few are alive"),
            };
            assert_eq!(sender.sender_count(), 3);
        }
        drop(receiver);
    });
}
