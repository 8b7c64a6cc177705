//! Every receiver gets every message, all in one order.

use std::thread;

use ysuite::broadcast::{self, Receiver, RecvError, TryRecvError};

use super::{Census, pair};
use crate::support::{Random, guarded};

#[test]
fn every_receiver_gets_every_message() {
    for capacity in [1, 2, 3, 7, 64, 1000] {
        guarded(move || {
            let (sender, receiver) = broadcast::bounded(capacity);
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    let receiver = receiver.clone();
                    thread::spawn(move || assert!(receiver.into_iter().eq(0..5_000)))
                })
                .collect();
            drop(receiver);
            (0..5_000).for_each(|number| sender.send(number).unwrap());
            drop(sender);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
    }
}

/// Claim: Every broadcast receiver gets all messages sent during its life, in the same order as the others.
/// Also: model broadcast::all_receivers_see_one_order, stress broadcast::two_to_two.
#[test]
fn all_receivers_see_the_messages_of_all_senders_in_one_order() {
    const SENDERS: usize = 3;
    const EACH: usize = 3_000;
    for capacity in [1, 5, 100] {
        guarded(move || {
            let (sender, receiver) = broadcast::bounded(capacity);
            let sending: Vec<_> = (0..SENDERS)
                .map(|who| {
                    let sender = sender.clone();
                    thread::spawn(move || {
                        let mut random = Random::new(who as u64);
                        let mut next = 0;
                        while next < EACH {
                            if random.below(3) == 0 {
                                let to = EACH.min(next + random.below(90));
                                assert_eq!(sender.send_batch((next..to).map(|number| (who, number))), Ok(to - next));
                                next = to;
                            } else {
                                sender.send((who, next)).unwrap();
                                next += 1;
                            }
                        }
                    })
                })
                .collect();
            drop(sender);
            let receiving: Vec<_> = (0..3)
                .map(|who| {
                    let mut receiver = receiver.clone();
                    thread::spawn(move || collect(&mut receiver, &mut Random::new(10 + who)))
                })
                .collect();
            drop(receiver);
            sending.into_iter().for_each(|thread| thread.join().unwrap());
            let seen: Vec<_> = receiving.into_iter().map(|thread| thread.join().unwrap()).collect();
            assert!(seen.iter().all(|one| *one == seen[0]), "two receivers saw two orders");
            for who in 0..SENDERS {
                let of_one = seen[0].iter().filter(|(sender, _)| *sender == who).map(|(_, number)| *number);
                assert!(of_one.eq(0..EACH), "the messages of one sender are out of order");
            }
        });
    }
}

/// Receives everything, one by one or in batches.
fn collect<T: Clone>(receiver: &mut Receiver<T>, random: &mut Random) -> Vec<T> {
    let mut seen = Vec::new();
    loop {
        if random.below(4) == 0 {
            if receiver.recv_batch(&mut seen, 1 + random.below(40)).is_err() {
                return seen;
            }
        } else {
            match receiver.recv() {
                Ok(message) => seen.push(message),
                Err(_) => return seen,
            }
        }
    }
}

#[test]
fn receivers_of_a_lossy_channel_see_parts_of_one_order() {
    for capacity in [1, 2, 10, 64, 100] {
        guarded(move || {
            let (sender, receiver) = broadcast::lossy(capacity);
            let receiving: Vec<_> = (0..3)
                .map(|who| {
                    let mut receiver = receiver.clone();
                    thread::spawn(move || {
                        let (mut random, mut next) = (Random::new(who), 0);
                        loop {
                            match receiver.recv() {
                                Ok((number, text)) => {
                                    assert_eq!((number, text), (next, format!("message {next}")));
                                    next += 1;
                                }
                                Err(RecvError::Lagged(missed)) => next += missed,
                                Err(RecvError::Disconnected) => return (next, receiver.missed()),
                            }
                            if random.below(50) == 0 {
                                thread::yield_now();
                            }
                        }
                    })
                })
                .collect();
            drop(receiver);
            for number in 0..20_000 {
                sender.send((number, format!("message {number}"))).unwrap();
            }
            drop(sender);
            for thread in receiving {
                let (seen, missed) = thread.join().unwrap();
                assert!(seen == 20_000 && missed <= 20_000 - capacity as u64);
            }
        });
    }
}

/// Claim: Each broadcast message and each copy is dropped once.
/// Also: model broadcast::a_lossy_ring_against_a_receiver_that_joins, suite broadcast::endings::ends_go_in_every_order.
#[test]
fn each_message_and_each_copy_is_dropped_once() {
    for is_lossy in [false, true] {
        for receivers in 1..4 {
            let census = Census::default();
            let (sender, receiver) = pair(is_lossy, 8);
            let mut receivers: Vec<_> = (1..receivers).map(|_| receiver.clone()).chain([receiver.clone()]).collect();
            drop(receiver);
            for round in 0..20 {
                for number in 0..5 {
                    sender.send(census.message(round * 5 + number)).unwrap();
                }
                for receiver in &mut receivers {
                    let numbers: Vec<_> = receiver.try_iter().map(|message| message.number).collect();
                    assert!(numbers.into_iter().eq(round * 5..round * 5 + 5));
                }
                // A message that all have received stays in its cell until another comes; an only receiver takes it
                // out.
                assert_eq!(census.alive() == 0, receivers.len() == 1);
                assert!(census.alive() <= 16);
            }
            assert_eq!(census.copies(), if receivers.len() == 1 { 0 } else { 100 * receivers.len() });
            sender.send_batch((0..3).map(|number| census.message(number))).unwrap();
            drop((sender, receivers));
            assert_eq!(census.alive(), 0);
        }
    }
}

#[test]
fn great_batches_reach_every_receiver_whole() {
    for is_lossy in [false, true] {
        let (sender, receiver) = pair(is_lossy, 10_000);
        let mut receivers = vec![receiver; 3];
        for messages in [4_095, 4_096, 4_097, 10_000_u64] {
            for most in [4_095, 4_096, 4_097, usize::MAX] {
                assert_eq!(sender.send_batch(0..messages), Ok(messages as usize));
                for receiver in &mut receivers {
                    let mut received = Vec::new();
                    while received.len() < messages as usize {
                        let left = messages as usize - received.len();
                        assert_eq!(receiver.recv_batch(&mut received, most), Ok(left.min(most)));
                    }
                    assert_eq!(receiver.try_recv_batch(&mut received, most), Err(TryRecvError::Empty));
                    assert!(received.into_iter().eq(0..messages));
                }
            }
        }
    }
}
