//! The stress test for wake-ups lost by the watch: bursts of changes by several senders, and after each burst silence
//! until every receiver has seen the last value. Bursts are long enough for the senders to give up their fences.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use ysuite::RecvTimeoutError;
use ysuite::signal::{AttachError, Wait, YPollset, YSocketpair};
use ysuite::watch::{self, Receiver};

use super::support::executor::{Task, poll_once};
use super::{Account, Bursts, Entry, Gaps, Limits, Progress, block_on, guard, rounds_with_sleeps};

/// One way of following all changes; calls the function with each value it sees.
type Follow = fn(Receiver<u64>, &mut Gaps, &mut dyn FnMut(u64));

const SENDERS: u64 = 2;

fn stress(name: &'static str, receivers: u64, follow: Follow) {
    rounds_with_sleeps(name, Limits::ONE_ROUND, |seed, account| round(name, receivers, follow, seed, account));
}

fn round(name: &'static str, receivers: u64, follow: Follow, seed: u64, account: &Arc<Account>) {
    let progress = Arc::new(Progress::default());
    guard(name, progress.clone());
    let (sender, receiver) = watch::channel(0);
    let receiving: Vec<_> = (0..receivers)
        .map(|who| {
            let (receiver, counted, account) = (receiver.clone(), progress.clone(), account.clone());
            thread::spawn(move || {
                let (entry, mut gaps, mut seen) = (Entry::begin(), Gaps::new(seed * 100 + who), 0);
                follow(receiver, &mut gaps, &mut |value| {
                    counted.arrived.fetch_add(value.checked_sub(seen).expect("no older value"), Ordering::AcqRel);
                    seen = value;
                });
                entry.end(&gaps, &account);
            })
        })
        .collect();
    drop(receiver);
    let bursts = Arc::new(Bursts::of(SENDERS));
    let sending: Vec<_> = (0..SENDERS)
        .map(|who| {
            let (sender, counted) = (sender.clone(), progress.clone());
            let bursts = bursts.clone();
            thread::spawn(move || {
                let mut gaps = Gaps::new(seed * 100 + 50 + who);
                for burst in 1..=400 {
                    let changes = 1 + gaps.random.below(130) as u64;
                    for _ in 0..changes {
                        sender.send_modify(|value| *value += 1);
                        gaps.breathe();
                    }
                    bursts.end(burst, changes, receivers, &counted, &mut gaps);
                }
            })
        })
        .collect();
    drop(sender);
    let ended = sending.into_iter().chain(receiving).all(|thread| thread.join().is_ok());
    progress.end();
    assert!(ended, "{name}: a thread has failed");
    assert_eq!(progress.arrived.load(Ordering::Acquire), receivers * bursts.sent());
}

fn blocking(mut receiver: Receiver<u64>, gaps: &mut Gaps, note: &mut dyn FnMut(u64)) {
    while receiver.changed().is_ok() {
        note(*receiver.borrow_and_update());
        gaps.pass();
        receiver.set_spin(gaps.spin());
    }
}

/// Some waits are over before anything comes, most are not.
fn with_a_limit(mut receiver: Receiver<u64>, gaps: &mut Gaps, note: &mut dyn FnMut(u64)) {
    loop {
        let limit = if gaps.random.below(8) == 0 { gaps.random.next() % 60 } else { 100_000 };
        match receiver.changed_timeout(Duration::from_micros(limit)) {
            Ok(()) => note(*receiver.borrow_and_update()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        gaps.pass();
        receiver.set_spin(gaps.spin());
    }
}

fn choosing(mut receiver: Receiver<u64>, gaps: &mut Gaps, note: &mut dyn FnMut(u64)) {
    let mut seen = 0;
    while let Ok(value) = receiver.wait_for(|value| *value > seen).map(|value| *value) {
        seen = value;
        note(value);
        gaps.pass();
        receiver.set_spin(gaps.spin());
    }
}

/// Leaves again and again: by time-outs, by dropped futures, by dropped receivers whose task or set waits.
fn leaving(mut receiver: Receiver<u64>, gaps: &mut Gaps, note: &mut dyn FnMut(u64)) {
    loop {
        let outcome = match gaps.random.below(4) {
            0 => match poll_once(&mut Box::pin(receiver.changed_async()), &Task::default()) {
                Poll::Ready(outcome) => outcome.map_err(|_| RecvTimeoutError::Disconnected),
                Poll::Pending => Err(RecvTimeoutError::Timeout),
            },
            1 => {
                let mut clone = receiver.clone();
                let mut set = YPollset::new();
                set.attach(&mut clone, 5).expect("a free id");
                let _ = clone.has_changed();
                gaps.pass();
                Err(RecvTimeoutError::Timeout)
            }
            2 => {
                let again = receiver.clone();
                drop(std::mem::replace(&mut receiver, again));
                match receiver.poll_changed(&mut Context::from_waker(&Task::default().waker())) {
                    Poll::Ready(outcome) => outcome.map_err(|_| RecvTimeoutError::Disconnected),
                    Poll::Pending => Err(RecvTimeoutError::Timeout),
                }
            }
            _ => {
                receiver.set_spin(gaps.spin());
                receiver.changed_timeout(Duration::from_micros(gaps.random.next() % 60))
            }
        };
        match outcome {
            Ok(()) => note(*receiver.borrow_and_update()),
            Err(RecvTimeoutError::Timeout) => gaps.pass(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn tasks(mut receiver: Receiver<u64>, gaps: &mut Gaps, note: &mut dyn FnMut(u64)) {
    while block_on(receiver.changed_async()).is_ok() {
        note(*receiver.borrow_and_update());
        gaps.pass();
    }
}

/// Each receiver is in a set of its own; some sets have a descriptor.
fn attached(receiver: Receiver<u64>, gaps: &mut Gaps, note: &mut dyn FnMut(u64)) {
    if gaps.random.below(2) == 0 {
        let mut set = YPollset::new();
        set_of(receiver, gaps, note, &mut set, YPollset::attach);
    } else {
        in_a_socketpair(receiver, gaps, note);
    }
}

fn in_a_socketpair(receiver: Receiver<u64>, gaps: &mut Gaps, note: &mut dyn FnMut(u64)) {
    let mut set = YSocketpair::new().expect("descriptors");
    set_of(receiver, gaps, note, &mut set, YSocketpair::attach);
}

fn set_of<S: Wait>(
    mut receiver: Receiver<u64>,
    gaps: &mut Gaps,
    note: &mut dyn FnMut(u64),
    set: &mut S,
    attach: impl Fn(&mut S, &mut Receiver<u64>, usize) -> Result<(), AttachError>,
) {
    attach(set, &mut receiver, 3).expect("a free id");
    loop {
        assert!(set.wait().eq([3]));
        note(*receiver.borrow_and_update());
        gaps.pass();
        if receiver.has_changed().is_err() {
            return;
        }
    }
}

#[test]
fn threads_that_follow() {
    stress("watch, threads", 2, blocking);
}

#[test]
fn threads_with_timeouts() {
    stress("watch, threads with a limit", 2, with_a_limit);
}

#[test]
fn threads_that_choose() {
    stress("watch, a choice", 2, choosing);
}

#[test]
fn receivers_that_leave() {
    stress("watch, receivers that leave", 3, leaving);
}

#[test]
fn tasks_that_follow() {
    stress("watch, tasks", 3, tasks);
}

#[test]
fn sets_that_follow() {
    stress("watch, sets", 3, attached);
}

#[test]
fn attached_to_a_socketpair() {
    stress("watch, in a socketpair", 3, in_a_socketpair);
}
