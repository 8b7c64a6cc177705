//! The stress test of the mpsc channel: several lanes, each silent after each burst until all of the burst has arrived.
//! So lanes are armed one by one while others flow, and all at once before a sleep, some with a promise of fences and
//! some without; and senders go and come again in between. In half of the stress tests one thread writes all lanes:
//! with no more threads than CPUs, the sender and the receiver meet within the few nanoseconds that matter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::mpsc::{self, Receiver, Sender};
use ysuite::signal::{Wait, YPollset, YSocketpair};
use ysuite::{RecvTimeoutError, SendTimeoutError};

use super::{Account, Entry, Gaps, Limits, Message, Progress, block_on, guard, rounds_with_sleeps, wait_until};

const SENDERS: usize = 3;

/// The sender's id, and a message.
type Letter = (usize, Message);
/// Which threads send.
#[derive(Clone, Copy, PartialEq)]
enum Crew {
    /// One thread for all lanes.
    One,
    /// A thread for each lane.
    Each,
}

/// One way of receiving all messages; calls the function for each.
type Receive = fn(Receiver<Letter>, &mut Gaps, &mut dyn FnMut(Letter));
/// One way of sending one message.
type Send = fn(&mut Sender<Letter>, Letter, &mut Gaps);

/// How many messages have arrived from each sender, and in all.
#[derive(Default)]
struct Arrivals {
    each: [AtomicU64; SENDERS],
    all: Arc<Progress>,
}

/// Rounds of random bursts.
fn stress(name: &'static str, crew: Crew, capacity: Option<usize>, send: Send, receive: Receive) {
    rounds_with_sleeps(name, Limits::ONE_ROUND, |number, account| {
        round(name, crew, capacity, send, receive, number * 10, account)
    });
}

fn round(
    name: &'static str,
    crew: Crew,
    capacity: Option<usize>,
    send: Send,
    receive: Receive,
    seed: u64,
    account: &Arc<Account>,
) {
    let arrivals = Arc::new(Arrivals::default());
    guard(name, arrivals.all.clone());
    let (sender, receiver) = capacity.map_or_else(mpsc::unbounded, mpsc::bounded);
    let mut lanes: Vec<_> = (0..SENDERS).map(|id| Lane { id, sender: sender.clone(), sent: 0 }).collect();
    let crews = if crew == Crew::One { vec![lanes] } else { lanes.drain(..).map(|lane| vec![lane]).collect() };
    let senders: Vec<_> = crews
        .into_iter()
        .zip(seed..)
        .map(|(lanes, seed)| {
            let (arrivals, account) = (arrivals.clone(), account.clone());
            thread::spawn(move || send_bursts(lanes, send, Gaps::new(seed), &arrivals, &account))
        })
        .collect();
    drop(sender);
    let (counted, account) = (arrivals.clone(), account.clone());
    let thread = thread::spawn(move || {
        let (entry, mut gaps, mut expected) = (Entry::begin(), Gaps::new(seed + 9), [0; SENDERS]);
        receive(receiver, &mut gaps, &mut |(id, message)| {
            assert_eq!(message.number, expected[id], "of sender {id}");
            expected[id] += 1;
            counted.each[id].store(expected[id], Ordering::Release);
            counted.all.arrived.fetch_add(1, Ordering::Release);
        });
        entry.end(&gaps, &account);
    });
    senders.into_iter().for_each(|sender| assert!(sender.join().is_ok(), "{name}: a sending thread has failed"));
    assert!(thread.join().is_ok(), "{name}: the receiving thread has failed");
    arrivals.all.end();
}

/// A sender, and how many messages it has sent.
struct Lane {
    id: usize,
    sender: Sender<Letter>,
    sent: u64,
}

fn send_bursts(mut lanes: Vec<Lane>, send: Send, mut gaps: Gaps, arrivals: &Arrivals, account: &Account) {
    let entry = Entry::begin();
    for _ in 0..500 * lanes.len() {
        let at = gaps.random.below(lanes.len());
        let Lane { id, sender, sent } = &mut lanes[at];
        sender.set_spin(gaps.spin());
        let chase = gaps.random.below(2) == 0;
        let burst = 1 + if chase { 70 + gaps.random.below(60) } else { gaps.random.below(60) } as u64;
        for number in *sent..*sent + burst {
            let behind = if chase { *sent + burst - 1 - number } else { 0 };
            if behind > 0 {
                wait_until(|| !sender.is_full());
            }
            send(sender, (*id, Message { number, behind }), &mut gaps);
            if chase { gaps.breathe() } else { gaps.pass() }
        }
        *sent += burst;
        if gaps.random.below(8) == 0 {
            // The lane's sender is dropped, which publishes its hidden messages; another begins.
            *sender = sender.clone();
        }
        sender.flush();
        wait_until(|| arrivals.each[*id].load(Ordering::Acquire) >= *sent);
        // Long enough for the receiver to fall asleep, or almost, or to arm this lane meanwhile.
        (0..gaps.random.below(400)).for_each(|_| std::hint::spin_loop());
    }
    drop(lanes);
    entry.end(&gaps, account);
}

/// Rounds of single steps: each message is sent when the one before has arrived, or a moment later, to a receiver that
/// goes back to sleep at once. So a sender that stops in the middle of its send meets the receiver's next sleep.
fn steps(name: &'static str, lanes: usize, capacity: Option<usize>, receive: Receive) {
    rounds_with_sleeps(name, Limits::ONE_ROUND, |number, account| {
        round_of_steps(name, lanes, capacity, receive, number * 10, account)
    });
}

fn round_of_steps(
    name: &'static str,
    lanes: usize,
    capacity: Option<usize>,
    receive: Receive,
    seed: u64,
    account: &Arc<Account>,
) {
    const STEPS: u64 = 20_000;
    let progress = Arc::new(Progress::default());
    guard(name, progress.clone());
    let (sender, receiver) = capacity.map_or_else(mpsc::unbounded, mpsc::bounded);
    let mut senders: Vec<_> = (0..lanes).map(|_| sender.clone()).collect();
    drop(sender);
    let (counted, receiving) = (progress.clone(), account.clone());
    let thread = thread::spawn(move || {
        let (entry, mut gaps, mut expected) = (Entry::begin(), Gaps::at_once(seed + 9), 0);
        receive(receiver, &mut gaps, &mut |(_, message)| {
            assert_eq!(message.number, expected);
            expected += 1;
            counted.arrived.store(expected, Ordering::Release);
        });
        entry.end(&gaps, &receiving);
    });
    let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed));
    for number in 0..STEPS {
        let lane = gaps.random.below(lanes);
        senders[lane].send((lane, Message { number, behind: 0 })).expect("a receiver");
        progress.wait_for(number + 1);
        gaps.breathe();
    }
    drop(senders);
    entry.end(&gaps, account);
    assert!(thread.join().is_ok(), "{name}: the receiving thread has failed");
    progress.end();
}

fn plain(sender: &mut Sender<Letter>, letter: Letter, _gaps: &mut Gaps) {
    sender.send(letter).expect("a receiver");
}

fn in_batches(sender: &mut Sender<Letter>, letter: Letter, gaps: &mut Gaps) {
    sender.write(letter).expect("a receiver");
    if letter.1.behind > 0 || gaps.random.below(10) == 0 {
        sender.flush();
    }
}

fn with_timeouts(sender: &mut Sender<Letter>, mut letter: Letter, gaps: &mut Gaps) {
    loop {
        match sender.send_timeout(letter, Duration::from_micros(gaps.random.next() % 100)) {
            Ok(()) => return,
            Err(SendTimeoutError::Timeout(back)) => letter = back,
            Err(SendTimeoutError::Disconnected(_)) => panic!("no receiver"),
        }
    }
}

fn blocking(mut receiver: Receiver<Letter>, gaps: &mut Gaps, note: &mut dyn FnMut(Letter)) {
    receiver.set_spin(gaps.spin());
    while let Ok(letter) = receiver.recv() {
        note(letter);
        gaps.follow(letter.1, || receiver.is_empty());
        receiver.set_spin(gaps.spin());
    }
}

fn blocking_in_batches(mut receiver: Receiver<Letter>, gaps: &mut Gaps, note: &mut dyn FnMut(Letter)) {
    let mut batch = Vec::new();
    while receiver.recv_batch(&mut batch, 1 + gaps.random.below(40)).is_ok() {
        batch.drain(..).for_each(&mut *note);
        gaps.pass();
        receiver.set_spin(gaps.spin());
    }
}

fn timing_out(mut receiver: Receiver<Letter>, gaps: &mut Gaps, note: &mut dyn FnMut(Letter)) {
    loop {
        let timeout = if gaps.random.below(2) == 0 { gaps.random.next() % 60 } else { u64::MAX };
        match receiver.recv_timeout(Duration::from_micros(timeout)) {
            Ok(letter) => {
                note(letter);
                gaps.follow(letter.1, || receiver.is_empty());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn tasks(mut receiver: Receiver<Letter>, gaps: &mut Gaps, note: &mut dyn FnMut(Letter)) {
    while let Ok(letter) = block_on(receiver.recv_async()) {
        note(letter);
        gaps.follow(letter.1, || receiver.is_empty());
    }
}

/// Receives from a set, stopping half way through now and then.
fn attached(mut set: impl Wait, mut receiver: Receiver<Letter>, gaps: &mut Gaps, note: &mut dyn FnMut(Letter)) {
    loop {
        assert!(set.wait().eq([3]));
        for _ in 0..1 + gaps.random.below(30) {
            match receiver.try_recv() {
                Ok(letter) => {
                    note(letter);
                    gaps.follow(letter.1, || receiver.is_empty());
                }
                Err(error) if error.is_empty() => break,
                Err(_) => return,
            }
        }
    }
}

fn in_a_pollset(mut receiver: Receiver<Letter>, gaps: &mut Gaps, note: &mut dyn FnMut(Letter)) {
    let mut set = YPollset::new();
    set.attach(&mut receiver, 3).expect("a free id");
    attached(set, receiver, gaps, note);
}

fn in_a_socketpair(mut receiver: Receiver<Letter>, gaps: &mut Gaps, note: &mut dyn FnMut(Letter)) {
    let mut set = YSocketpair::new().expect("descriptors");
    set.attach(&mut receiver, 3).expect("a free id");
    attached(set, receiver, gaps, note);
}

#[test]
fn blocking_receives() {
    stress("mpsc, blocking receives", Crew::One, None, plain, blocking);
}

#[test]
fn batches_on_both_sides() {
    stress("mpsc, batches on both sides", Crew::Each, Some(64), in_batches, blocking_in_batches);
}

#[test]
fn few_places_and_timeouts_both_ways() {
    stress("mpsc, little room, timeouts both ways", Crew::One, Some(5), with_timeouts, timing_out);
}

#[test]
fn tasks_receive() {
    stress("mpsc, tasks", Crew::One, None, plain, tasks);
}

#[test]
fn attached_to_a_pollset() {
    stress("mpsc, attached to a pollset", Crew::One, None, plain, in_a_pollset);
}

#[test]
fn attached_to_a_socketpair() {
    stress("mpsc, attached to a socketpair", Crew::Each, Some(20), plain, in_a_socketpair);
}

#[test]
fn blocking_receives_from_threads() {
    stress("mpsc, blocking receives from threads", Crew::Each, None, plain, blocking);
}

#[test]
fn step_by_step() {
    steps("mpsc, step by step", 1, None, blocking);
}

#[test]
fn step_by_step_with_few_places() {
    steps("mpsc, step by step with little room", 2, Some(2), blocking);
}

#[test]
fn step_by_step_to_a_task() {
    steps("mpsc, step by step to a task", 1, None, tasks);
}

#[test]
fn step_by_step_in_a_pollset() {
    steps("mpsc, step by step in a pollset", 2, None, in_a_pollset);
}
