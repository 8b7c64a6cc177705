//! Streams with a record of every message. A thread that has sent receives at once: in an mpsc channel and in a mailbox
//! it must find a message, whatever the other senders do. In an mpmc channel it may find none, but only while the
//! channel reports that it is not empty. In the form of crossbeam's `linearizable`, which demands it of an mpmc channel
//! too.
//!
//! Only the sender and the number of a message are recorded, so that a hundred million take no memory: the messages of
//! one sender (of one priority, in a mailbox) come in their order at each receiver, all of them, and none twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ysuite::mailbox::{Address, Builder, Crowding, Mailbox, ReceiveError};
use ysuite::{mpmc, mpsc};

use super::{Gaps, Progress, goes_on, guard, is_long, time};

/// The senders besides the receiver's own thread.
const OTHERS: usize = 2;

/// How many messages each thread sends in a round: the six long stress tests have more than a hundred million together,
/// in one.
fn messages(threads: usize) -> u64 {
    (if is_long() && time().is_none() { 22_000_000 } else { 60_000 }) / threads as u64
}

/// One round, or if a time was given, as many as there is time for.
fn rounds(round: impl Fn()) {
    let (start, mut rounds) = (Instant::now(), 0);
    while goes_on(rounds, 1, 1, start) {
        round();
        rounds += 1;
    }
}

/// What has come from each sender: the numbers ascend by one.
struct Orders<const SENDERS: usize>([u64; SENDERS]);

impl<const SENDERS: usize> Orders<SENDERS> {
    fn take(&mut self, sender: usize, number: u64) {
        assert_eq!(number, self.0[sender], "of sender {sender}");
        self.0[sender] += 1;
    }
}

/// The receiver's thread sends and receives, turn by turn. Its own message is there, so the result is never empty.
fn funnel(name: &'static str, capacity: Option<usize>) {
    let progress = Arc::new(Progress::default());
    guard(name, progress.clone());
    let (mut own, mut receiver) = capacity.map_or_else(mpsc::unbounded, mpsc::bounded);
    let most = messages(OTHERS + 1);
    let others: Vec<_> = (0..OTHERS)
        .map(|id| {
            let (mut sender, mut gaps) = (own.clone(), Gaps::new(id as u64));
            thread::spawn(move || {
                for number in 0..most {
                    sender.send((id, number)).expect("a receiver");
                    if number % 64 == 0 {
                        gaps.pass();
                    }
                }
            })
        })
        .collect();
    let mut orders = Orders([0; OTHERS + 1]);
    for number in 0..most {
        own.try_send((OTHERS, number)).expect("room");
        while orders.0[OTHERS] <= number {
            let (id, number) = receiver.try_recv().expect("the thread's own message has been sent");
            orders.take(id, number);
        }
        progress.arrived.store(number + 1, Ordering::Release);
    }
    drop(own);
    while let Ok((id, number)) = receiver.recv() {
        orders.take(id, number);
        progress.arrived.fetch_add(1, Ordering::Release);
    }
    progress.end();
    assert_eq!(orders.0, [most; OTHERS + 1]);
    others.into_iter().for_each(|other| assert!(other.join().is_ok(), "{name}: a sending thread has failed"));
    println!("{name}: {} messages in order", most * (OTHERS as u64 + 1));
}

#[test]
fn an_mpsc_channel_has_what_its_own_thread_has_sent() {
    rounds(|| funnel("own messages, mpsc", None));
}

#[test]
fn a_bounded_mpsc_channel_has_what_its_own_thread_has_sent() {
    rounds(|| funnel("own messages, mpsc with a bound", Some(8)));
}

/// The sender and the priority; the number among these.
type Letter = (usize, u64);

fn post(address: &Address, id: usize, numbers: &mut [u64; 2], urgent: bool) {
    let letter: Letter = (2 * id + usize::from(urgent), numbers[usize::from(urgent)]);
    numbers[usize::from(urgent)] += 1;
    if urgent { address.send_priority(letter) } else { address.send(letter) }.expect("a mailbox");
}

/// As the mpsc channel, with urgent messages among the others. With a bound, ordinary messages go through an mpmc
/// channel: there the thread waits for its own.
fn mailbox(name: &'static str, bound: Option<usize>) {
    const QUEUES: usize = 2 * (OTHERS + 1);
    let progress = Arc::new(Progress::default());
    guard(name, progress.clone());
    let mut mailbox: Mailbox =
        bound.map_or_else(Builder::new, |bound| Builder::new().bounded(bound, Crowding::Block)).build();
    let most = messages(OTHERS + 1);
    let others: Vec<_> = (0..OTHERS)
        .map(|id| {
            let (address, mut gaps) = (mailbox.address(), Gaps::new(id as u64));
            thread::spawn(move || {
                let mut numbers = [0; 2];
                for number in 0..most {
                    post(&address, id, &mut numbers, gaps.random.below(4) == 0);
                    if number % 64 == 0 {
                        gaps.pass();
                    }
                }
                numbers
            })
        })
        .collect();
    let (own, mut random) = (mailbox.address(), Gaps::new(9).random);
    let (mut orders, mut numbers) = (Orders([0_u64; QUEUES]), [0; 2]);
    for _ in 0..most {
        // A bounded mailbox may have no room for a thread that alone could make it.
        let urgent = bound.is_some() || random.below(4) == 0;
        post(&own, OTHERS, &mut numbers, urgent);
        let queue = 2 * OTHERS + usize::from(urgent);
        while orders.0[queue] < numbers[usize::from(urgent)] {
            let (queue, number) =
                mailbox.receive_timeout(Duration::ZERO).expect("the thread's own message has been sent");
            orders.take(queue, number);
            progress.arrived.fetch_add(1, Ordering::Release);
        }
    }
    drop(own);
    loop {
        match mailbox.receive_only() {
            Ok((queue, number)) => orders.take(queue, number),
            Err(ReceiveError::Disconnected) => break,
            Err(error) => panic!("{error}"),
        }
        progress.arrived.fetch_add(1, Ordering::Release);
    }
    progress.end();
    let mut sent = [0; QUEUES];
    sent[2 * OTHERS..].copy_from_slice(&numbers);
    for (id, other) in others.into_iter().enumerate() {
        sent[2 * id..2 * id + 2].copy_from_slice(&other.join().expect("a sending thread has failed"));
    }
    assert_eq!(orders.0, sent);
    println!("{name}: {} messages in order", sent.iter().sum::<u64>());
}

#[test]
fn a_mailbox_has_what_its_own_thread_has_sent() {
    rounds(|| mailbox("own messages, mailbox", None));
}

#[test]
fn a_mailbox_with_a_bound_has_what_its_own_thread_has_sent() {
    rounds(|| mailbox("own messages, mailbox with a bound", Some(8)));
}

/// Each thread sends one message and asks for one, again and again: fewer are taken than sent, by one for each thread that is
/// about to ask.
fn exchange(name: &'static str, capacity: Option<usize>) {
    const THREADS: usize = 3;
    let progress = Arc::new(Progress::default());
    guard(name, progress.clone());
    let (sender, receiver) = capacity.map_or_else(mpmc::unbounded, mpmc::bounded);
    let (most, empties) = (messages(THREADS), Arc::new(AtomicU64::new(0)));
    let threads: Vec<_> = (0..THREADS)
        .map(|id| {
            let (sender, receiver) = (sender.clone(), receiver.clone());
            let (progress, empties) = (progress.clone(), empties.clone());
            thread::spawn(move || {
                // Of each sender: the next number that may come, how many have come, and the sum of their squares.
                let mut came = [(0_u64, 0_u64, 0_u64); THREADS];
                for number in 0..most {
                    sender.send((id, number)).expect("a receiver");
                    let (from, number) = receiver.try_recv().unwrap_or_else(|_| {
                        empties.fetch_add(1, Ordering::Relaxed);
                        assert!(!receiver.is_empty(), "{name}: its own message, or another's, is there");
                        receiver.recv().expect("a message, as it has sent one")
                    });
                    let (next, count, squares) = &mut came[from];
                    assert!(number >= *next, "{name}: {number} after {next}, of sender {from}");
                    *next = number + 1;
                    *count += 1;
                    *squares = squares.wrapping_add(number.wrapping_mul(number));
                    if number % 1024 == 0 {
                        progress.arrived.fetch_add(1, Ordering::Release);
                    }
                }
                came
            })
        })
        .collect();
    let all: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("a thread has failed")).collect();
    progress.end();
    let squares = (0..most).fold(0_u64, |sum, number| sum.wrapping_add(number.wrapping_mul(number)));
    for from in 0..THREADS {
        assert_eq!(all.iter().map(|came| came[from].1).sum::<u64>(), most, "{name}: of sender {from}");
        assert_eq!(
            all.iter().fold(0_u64, |sum, came| sum.wrapping_add(came[from].2)),
            squares,
            "{name}: of sender {from}"
        );
    }
    let empties = empties.load(Ordering::Relaxed);
    println!(
        "{name}: {} messages in order, {empties} times empty after a sender that was stopped",
        most * THREADS as u64
    );
}

#[test]
fn an_mpmc_channel_is_empty_only_if_a_sender_is_stopped() {
    rounds(|| exchange("own messages, mpmc", Some(4)));
}

#[test]
fn an_unbounded_mpmc_channel_is_empty_only_if_a_sender_is_stopped() {
    rounds(|| exchange("own messages, mpmc without a bound", None));
}
