//! The stress test of oneshots: a thread makes one after the other, gives one handle away, and waits for the result, in
//! every way of waiting. The thread with that handle uses or drops it some nanoseconds or microseconds later.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use ysuite::oneshot::{self, Receiver, Sender};
use ysuite::signal::{AttachError, Wait, YPollset, YSocketpair};
use ysuite::spsc;
use ysuite::{RecvError, RecvTimeoutError, TryRecvError};

use super::{Account, Entry, Gaps, Limits, Progress, block_on, guard, rounds_with_sleeps};

/// What a stress test does with the two handles of each channel.
struct Ways<Kept, Given, State> {
    split: fn() -> (Kept, Given),
    /// What the waiting thread has all the time.
    state: fn() -> State,
    /// Waits until the given handle is gone.
    wait: fn(&mut State, Kept, u64, &mut Gaps),
    end: fn(Given, u64, &mut Gaps),
}

fn stress<Kept: 'static, Given: Send + 'static, State: 'static>(name: &'static str, ways: &Ways<Kept, Given, State>) {
    rounds_with_sleeps(name, Limits::ONE_ROUND, |seed, account| round(name, ways, seed * 2, account));
}

fn round<Kept: 'static, Given: Send + 'static, State: 'static>(
    name: &'static str,
    &Ways { split, state, wait, end }: &Ways<Kept, Given, State>,
    seed: u64,
    account: &Arc<Account>,
) {
    const CHANNELS: u64 = 20_000;
    let progress = Arc::new(Progress::default());
    guard(name, progress.clone());
    let (mut giving, mut given) = spsc::unbounded::<Given>();
    let (counted, account) = (progress.clone(), account.clone());
    let waiting = thread::spawn(move || {
        let (entry, mut gaps, mut state) = (Entry::begin(), Gaps::new(seed), state());
        for number in 0..CHANNELS {
            let (kept, other) = split();
            assert!(giving.send(other).is_ok(), "the other thread");
            // Now and then so long that the other handle is gone before.
            if gaps.random.below(4) == 0 {
                gaps.breathe();
            }
            wait(&mut state, kept, number, &mut gaps);
            counted.arrived.fetch_add(1, Ordering::Release);
        }
        entry.end(&gaps, &account);
    });
    let (mut gaps, mut number) = (Gaps::new(seed + 1), 0);
    // Never sleeps, so that it can hit the moment in which the other falls asleep.
    loop {
        match given.try_recv() {
            Ok(one) => {
                pause(&mut gaps);
                end(one, number, &mut gaps);
                number += 1;
            }
            Err(error) if error.is_empty() => std::hint::spin_loop(),
            Err(_) => break,
        }
    }
    assert!(waiting.join().is_ok(), "{name}: the waiting thread has failed");
    progress.end();
    assert_eq!((number, progress.arrived.load(Ordering::Acquire)), (CHANNELS, CHANNELS));
}

/// As long as the other takes to poll, to fall asleep, or to sleep.
fn pause(gaps: &mut Gaps) {
    match gaps.random.below(8) {
        0 => {}
        1..=3 => gaps.breathe(),
        4 | 5 => (0..gaps.random.below(400)).for_each(|_| std::hint::spin_loop()),
        _ => (0..gaps.random.below(4_000)).for_each(|_| std::hint::spin_loop()),
    }
}

fn receiver_kept() -> (Receiver<u64>, Sender<u64>) {
    let (sender, receiver) = oneshot::channel();
    (receiver, sender)
}

/// Each sixteenth sender goes without a message.
fn is_sent(number: u64) -> bool {
    number % 16 != 15
}

fn answer(sender: Sender<u64>, number: u64, _gaps: &mut Gaps) {
    if is_sent(number) {
        sender.send(number).expect("a receiver");
    }
}

fn check(answer: Result<u64, RecvError>, number: u64) {
    assert_eq!(answer.ok(), is_sent(number).then_some(number));
}

fn stress_answers<State: 'static>(
    name: &'static str,
    state: fn() -> State,
    wait: fn(&mut State, Receiver<u64>, u64, &mut Gaps),
) {
    stress(name, &Ways { split: receiver_kept, state, wait, end: answer });
}

fn in_a_set<S: Wait>(
    set: &mut S,
    mut receiver: Receiver<u64>,
    number: u64,
    attach: impl Fn(&mut S, &mut Receiver<u64>, usize) -> Result<(), AttachError>,
) {
    attach(set, &mut receiver, 3).expect("a free id");
    let answer = loop {
        assert!(set.wait().eq([3]));
        match receiver.try_recv() {
            Ok(message) => break Ok(message),
            Err(TryRecvError::Disconnected) => break Err(RecvError),
            Err(TryRecvError::Empty) => {}
        }
    };
    check(answer, number);
    assert!(receiver.detach());
}

#[test]
fn threads_that_receive() {
    stress_answers("oneshot, threads", || (), |(), receiver, number, _| check(receiver.recv(), number));
}

#[test]
fn threads_with_timeouts() {
    stress_answers(
        "oneshot, with a limit",
        || (),
        |(), mut receiver, number, gaps| {
            let answer = loop {
                let limit = if gaps.random.below(2) == 0 { gaps.random.next() % 60 } else { 100_000 };
                match receiver.recv_timeout(Duration::from_micros(limit)) {
                    Ok(message) => break Ok(message),
                    Err(RecvTimeoutError::Disconnected) => break Err(RecvError),
                    Err(RecvTimeoutError::Timeout) => {}
                }
            };
            check(answer, number);
        },
    );
}

#[test]
fn tasks_that_receive() {
    stress_answers("oneshot, tasks", || (), |(), receiver, number, _| check(block_on(receiver), number));
}

#[test]
fn attached_to_a_pollset() {
    stress_answers("oneshot, in a pollset", YPollset::new, |set, receiver, number, _| {
        in_a_set(set, receiver, number, YPollset::attach);
    });
}

#[test]
fn attached_to_a_socketpair() {
    let set = || YSocketpair::new().expect("descriptors");
    stress_answers("oneshot, in a socketpair", set, |set, receiver, number, _| {
        in_a_set(set, receiver, number, YSocketpair::attach);
    });
}

#[test]
fn senders_that_wait_for_the_end() {
    stress(
        "oneshot, senders that wait",
        &Ways {
            split: oneshot::channel,
            state: || (),
            wait: |(), mut sender: Sender<u64>, _, gaps| match gaps.random.below(3) {
                0 => sender.wait_closed(),
                1 => while !sender.wait_closed_timeout(Duration::from_micros(gaps.random.next() % 100)) {},
                _ => block_on(sender.closed()),
            },
            end: |mut receiver: Receiver<u64>, _, gaps| {
                if gaps.random.below(2) == 0 {
                    receiver.close();
                    gaps.breathe();
                }
            },
        },
    );
}
