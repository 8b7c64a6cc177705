//! The stress test for messages and wake-ups lost at a close: channels with little room, whose receivers close them at
//! any moment while senders send, wait for room, or wait for the close. Every send that has succeeded is received,
//! every one that has failed is not, and every thread is woken.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::{mpmc, mpsc, spsc};

use super::{Account, Entry, Gaps, Limits, Progress, block_on, guard, rounds_with_sleeps};

/// The long form too begins no round later than this.
const LIMITS: Limits = Limits { short: 0, time: Duration::from_secs(15) };
/// Channels in a round.
const CHANNELS: u64 = 300;

/// One channel: its senders send until they are disconnected, and one of them waits for that.
macro_rules! channel {
    ($gaps:expr, $account:expr, $progress:expr, [$($sender:ident),*], [$($receiver:ident),*]) => {{
        let (accepted, received) = (AtomicU64::new(0), AtomicU64::new(0));
        let seeds = $gaps.random.next();
        thread::scope(|scope| {
            let (accepted, received, account) = (&accepted, &received, $account);
            let mut who = 0;
            $({
                who += 1;
                let seed = seeds.wrapping_add(who);
                scope.spawn(move || {
                    let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed));
                    #[allow(unused_mut, reason = "an mpmc receiver receives by a shared reference")]
                    let mut receiver = $receiver;
                    for _ in 0..gaps.random.below(60) {
                        // All senders may wait for the close.
                        match receiver.recv_timeout(Duration::from_micros(200)) {
                            Ok(()) => _ = received.fetch_add(1, Ordering::Relaxed),
                            Err(_) => break,
                        }
                        gaps.breathe();
                    }
                    gaps.pass();
                    receiver.close();
                    while receiver.recv().is_ok() {
                        received.fetch_add(1, Ordering::Relaxed);
                    }
                    entry.end(&gaps, account);
                });
            })*
            $({
                who += 1;
                let seed = seeds.wrapping_add(who);
                scope.spawn(move || {
                    let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed));
                    #[allow(unused_mut, reason = "an mpmc sender sends by a shared reference")]
                    let mut sender = $sender;
                    let until = gaps.random.below(100);
                    let mut sent = 0;
                    let is_open = loop {
                        let outcome = match gaps.random.below(3) {
                            0 => block_on(sender.send_async(())).is_ok(),
                            1 => match sender.send_timeout((), Duration::from_micros(50)) {
                                Ok(()) => true,
                                Err(error) => {
                                    if matches!(error, ysuite::SendTimeoutError::Timeout(())) {
                                        continue;
                                    }
                                    false
                                }
                            },
                            _ => sender.send(()).is_ok(),
                        };
                        if !outcome {
                            break false;
                        }
                        accepted.fetch_add(1, Ordering::Relaxed);
                        sent += 1;
                        if sent == until {
                            break true;
                        }
                    };
                    if is_open {
                        match gaps.random.below(3) {
                            0 => block_on(sender.closed()),
                            1 => sender.wait_closed(),
                            _ => while !sender.wait_closed_timeout(Duration::from_micros(50)) {},
                        }
                    }
                    assert!(sender.send(()).is_err());
                    entry.end(&gaps, account);
                });
            })*
        });
        assert_eq!(accepted.load(Ordering::Relaxed), received.load(Ordering::Relaxed));
        $progress.arrived.fetch_add(1, Ordering::AcqRel);
    }};
}

/// A round of a stress test: channel after channel.
fn round(name: &'static str, seed: u64, mut channel: impl FnMut(&mut Gaps, &Progress)) {
    let progress = Arc::new(Progress::default());
    guard(name, progress.clone());
    let mut gaps = Gaps::new(seed);
    (0..CHANNELS).for_each(|_| channel(&mut gaps, &progress));
    progress.end();
}

fn pipes(name: &'static str, seed: u64, account: &Arc<Account>) {
    round(name, seed, |gaps, progress| {
        let (sender, receiver) = match gaps.random.below(3) {
            0 => spsc::unbounded(),
            1 => spsc::bounded(1 + gaps.random.below(4)),
            _ => spsc::bounded(0),
        };
        channel!(gaps, account, progress, [sender], [receiver]);
    });
}

fn funnels(name: &'static str, seed: u64, account: &Arc<Account>) {
    round(name, seed, |gaps, progress| {
        let (one, receiver) = match gaps.random.below(3) {
            0 => mpsc::unbounded(),
            1 => mpsc::bounded(1 + gaps.random.below(4)),
            _ => mpsc::bounded(0),
        };
        let other = one.clone();
        channel!(gaps, account, progress, [one, other], [receiver]);
    });
}

fn exchanges(name: &'static str, seed: u64, account: &Arc<Account>) {
    round(name, seed, |gaps, progress| {
        let (one, receiver) = match gaps.random.below(3) {
            0 => mpmc::unbounded(),
            1 => mpmc::bounded(1 + gaps.random.below(4)),
            _ => mpmc::bounded(0),
        };
        let (other, second) = (one.clone(), receiver.clone());
        channel!(gaps, account, progress, [one, other], [receiver, second]);
    });
}

#[test]
fn spsc_channels_that_their_receiver_closes() {
    let name = "closing, spsc";
    rounds_with_sleeps(name, LIMITS, |seed, account| pipes(name, seed, account));
}

#[test]
fn mpsc_channels_that_their_receiver_closes() {
    let name = "closing, mpsc";
    rounds_with_sleeps(name, LIMITS, |seed, account| funnels(name, seed, account));
}

#[test]
fn mpmc_channels_that_a_receiver_closes() {
    let name = "closing, mpmc";
    rounds_with_sleeps(name, LIMITS, |seed, account| exchanges(name, seed, account));
}
