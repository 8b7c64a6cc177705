//! Many senders and many receivers: every message once, in one total order, for every way of waiting.

use std::thread;
use std::time::Duration;

use ysuite::mpmc::{Receiver, Sender};
use ysuite::{Spin, TrySendError};

use crate::mpmc::of;
use crate::support::executor::block_on;
#[cfg(target_os = "linux")]
use crate::support::process::{cpus, pin};
use crate::support::{Random, Tally, guarded};

with_and_without_a_bound!(
    a_single_receiver_sees_the_order_in_which_sends_followed_each_other,
    ends_come_and_go_while_messages_flow,
    a_receiver_thread_that_panics_with_messages_in_hand_stops_no_other,
    the_last_receiver_goes_while_senders_are_at_it,
    a_receiver_of_batches_gets_its_turn_beside_receivers_of_one,
);

/// Sends numbers that contain their sender, in one of the ways there are.
fn send(sender: &Sender<u64>, who: u64, messages: u64, random: &mut Random) {
    let mut next = 0;
    while next < messages {
        let number = who << 32 | next;
        next += 1;
        match random.below(6) {
            0 => block_on(sender.send_async(number)).unwrap(),
            1 => while sender.send_timeout(number, Duration::from_micros(20)).is_err() {},
            2 => {
                let batch = (random.below(90) as u64).min(messages - next);
                assert_eq!(sender.send_batch((0..=batch).map(|index| number + index)), Ok(batch as usize + 1));
                next += batch;
            }
            3 => match sender.try_send(number) {
                Ok(()) => {}
                Err(TrySendError::Full(number)) => sender.send(number).unwrap(),
                Err(TrySendError::Disconnected(_)) => panic!("there are receivers"),
            },
            _ => sender.send(number).unwrap(),
        }
    }
}

/// Receives until all senders are gone, in one of the ways there are.
fn receive(receiver: &Receiver<u64>, random: &mut Random) -> Vec<u64> {
    let mut received = Vec::new();
    loop {
        let over = match random.below(6) {
            0 => block_on(receiver.recv_async()).map(|number| received.push(number)).is_err(),
            1 => receiver
                .recv_timeout(Duration::from_micros(20))
                .map(|number| received.push(number))
                .is_err_and(|error| !error.is_timeout()),
            2 => receiver.recv_batch(&mut received, random.below(90) + 1).is_err(),
            3 => {
                received.extend(receiver.try_iter());
                false
            }
            _ => receiver.recv().map(|number| received.push(number)).is_err(),
        };
        if over {
            return received;
        }
    }
}

fn every_message_once(senders: u64, receivers: u64, capacity: usize, messages: u64, spin: Spin) {
    let (sender, receiver) = of(capacity);
    sender.set_spin(spin);
    receiver.set_spin(spin);
    let sending: Vec<_> = (0..senders)
        .map(|who| {
            let sender = sender.clone();
            thread::spawn(move || send(&sender, who, messages, &mut Random::new(who + 1)))
        })
        .collect();
    let receiving: Vec<_> = (0..receivers)
        .map(|who| {
            let receiver = receiver.clone();
            thread::spawn(move || receive(&receiver, &mut Random::new(who + 100)))
        })
        .collect();
    drop((sender, receiver));
    sending.into_iter().for_each(|thread| thread.join().unwrap());
    let mut all = Vec::new();
    for thread in receiving {
        let received = thread.join().unwrap();
        // Each receiver sees a part of the one order, in that order: so each sender's numbers ascend.
        for who in 0..senders {
            assert!(received.iter().filter(|&&number| number >> 32 == who).is_sorted(), "out of order");
        }
        all.extend(received);
    }
    all.sort_unstable();
    let expected: Vec<_> = (0..senders).flat_map(|who| (0..messages).map(move |index| who << 32 | index)).collect();
    assert_eq!(all.len(), expected.len(), "lost or doubled");
    assert!(all == expected, "lost and doubled");
}

/// Claim: Each `mpmc` message is received by one receiver, once.
/// Also: model exchange::publishing_against_two_receivers_going_to_sleep,
/// stress exchange::three_by_three_with_few_places.
#[test]
fn every_message_is_received_once_and_in_order() {
    guarded(|| {
        for (senders, receivers) in [(1, 3), (3, 1), (2, 2), (3, 3)] {
            for capacity in [0, 1, 2, 3, 100] {
                every_message_once(senders, receivers, capacity, 2_000, Spin::Adaptive);
                every_message_once(senders, receivers, capacity, 500, Spin::None);
            }
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn eight_by_eight_on_two_cpus_ends() {
    guarded(|| {
        let cpus = cpus();
        pin(&cpus[..cpus.len().min(2)]);
        for capacity in [0, 1, 16, 1024] {
            every_message_once(8, 8, capacity, 2_000, Spin::Adaptive);
        }
    });
}

/// Claim: A waiter yields its CPU to other threads before it parks.
#[cfg(target_os = "linux")]
#[test]
fn three_by_three_on_one_cpu_ends() {
    guarded(|| {
        pin(&cpus()[..1]);
        for capacity in [0, 1, 16] {
            every_message_once(3, 3, capacity, 2_000, Spin::Adaptive);
        }
    });
}

/// One order for all: what was in before something else was sent comes out first, at any receiver.
fn a_single_receiver_sees_the_order_in_which_sends_followed_each_other(bounded: bool) {
    guarded(move || {
        let (sender, receiver) = of(if bounded { 8 } else { 0 });
        // A turn that goes round: each thread sends when it is its turn, so the sends follow each other.
        let turn = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
        let threads: Vec<_> = (0..3)
            .map(|who| {
                let (sender, turn) = (sender.clone(), turn.clone());
                thread::spawn(move || {
                    for number in (who..3_000).step_by(3) {
                        while turn.load(std::sync::atomic::Ordering::Acquire) != number {
                            thread::yield_now();
                        }
                        sender.send(number).unwrap();
                        turn.store(number + 1, std::sync::atomic::Ordering::Release);
                    }
                })
            })
            .collect();
        drop(sender);
        assert!(receiver.iter().eq(0..3_000));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Claim: `mpmc` handles can be cloned and dropped while messages flow.
/// Also: stress exchange::receivers_that_leave.
fn ends_come_and_go_while_messages_flow(bounded: bool) {
    guarded(move || {
        const ROUNDS: usize = 200;
        let tally = Tally::of(4 * ROUNDS);
        let (sender, receiver) = of(if bounded { 3 } else { 0 });
        let sending: Vec<_> = (0..4)
            .map(|_| {
                let (sender, tally) = (sender.clone(), tally.clone());
                thread::spawn(move || (0..ROUNDS).for_each(|_| sender.clone().send(tally.next()).unwrap()))
            })
            .collect();
        let receiving: Vec<_> = (0..4)
            .map(|_| {
                let receiver = receiver.clone();
                thread::spawn(move || while receiver.clone().recv().is_ok() {})
            })
            .collect();
        drop((sender, receiver));
        sending.into_iter().chain(receiving).for_each(|thread| thread.join().unwrap());
        tally.assert_all_ended();
    });
}

fn a_receiver_thread_that_panics_with_messages_in_hand_stops_no_other(bounded: bool) {
    guarded(move || {
        let tally = Tally::of(400);
        let (sender, receiver) = of(if bounded { 4 } else { 0 });
        let threads: Vec<_> = (0..4)
            .map(|who| {
                let receiver = receiver.clone();
                thread::spawn(move || {
                    let mut hand = Vec::new();
                    while receiver.recv_batch(&mut hand, 3).is_ok() {
                        assert!(who == 0 || hand.len() < 20, "it panics with messages in hand");
                    }
                })
            })
            .collect();
        drop(receiver);
        tally.some(400).for_each(|message| sender.send(message).unwrap());
        drop(sender);
        let panicked = threads.into_iter().filter_map(|thread| thread.join().err()).count();
        assert!(panicked <= 3);
        tally.assert_all_ended();
    });
}

fn the_last_receiver_goes_while_senders_are_at_it(bounded: bool) {
    guarded(move || {
        for round in 0..200 {
            let tally = Tally::of(300);
            let (sender, receiver) = of(if bounded { round % 5 + 1 } else { 0 });
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    let (sender, tally) = (sender.clone(), tally.clone());
                    thread::spawn(move || {
                        for _ in 0..33 {
                            let sent = if round % 2 == 0 {
                                sender.send(tally.next()).is_ok()
                            } else {
                                sender.send_batch(tally.some(3)).is_ok()
                            };
                            if !sent {
                                return;
                            }
                        }
                    })
                })
                .collect();
            let other = receiver.clone();
            let thread = thread::spawn(move || drop(other.try_recv()));
            (0..round % 50).for_each(|_| drop(receiver.try_recv()));
            drop(receiver);
            thread.join().unwrap();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            // While a sender is still alive.
            tally.assert_all_ended();
            drop(sender);
        }
    });
}

/// A batch looks at many messages before its claim, in which a receiver of one may come first. It asks for fewer then.
fn a_receiver_of_batches_gets_its_turn_beside_receivers_of_one(bounded: bool) {
    guarded(move || {
        let (sender, receiver) = of(if bounded { 1024 } else { 0 });
        let others: Vec<_> =
            (0..2).map(|_| receiver.clone()).map(|receiver| thread::spawn(move || receiver.iter().count())).collect();
        let sending = thread::spawn(move || {
            let mut sent = 0;
            while sender.send(sent).is_ok() {
                sent += 1;
                // Without a bound the queue does not grow for ever.
                while sender.len() > 10_000 {
                    thread::yield_now();
                }
            }
            sent as usize
        });
        let (mut taken, mut batches, mut messages) = (Vec::new(), 0, 0);
        while batches < 200 {
            if receiver.try_recv_batch(&mut taken, 256).is_ok() {
                batches += 1;
                messages += taken.drain(..).len();
            }
        }
        receiver.close();
        let sent = sending.join().unwrap();
        let others: usize = others.into_iter().map(|other| other.join().unwrap()).sum();
        messages += receiver.try_iter().count();
        assert_eq!(messages + others, sent);
    });
}
