//! The stress test for wake-ups lost by a rendezvous: two threads on each side, which use every way of sending or
//! receiving in turn, and give up now and then without a partner. After each burst the senders are silent until all of
//! it has arrived.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use ysuite::TrySendError;
use ysuite::signal::{Wait, YPollset};
use ysuite::{mpmc, mpsc, spsc};

use super::support::executor::{Task, poll_once};
use super::{Account, Bursts, Entry, Gaps, Limits, Progress, block_on, guard, rounds_with_sleeps};

/// The long form too begins no round later than this.
const LIMITS: Limits = Limits { short: 0, time: Duration::from_secs(15) };
const BURSTS: u64 = 400;

/// Sends in one of the ways, and again until the message has been taken.
macro_rules! send_somehow {
    ($sender:expr, $gaps:expr) => {
        loop {
            let sent = match $gaps.random.below(5) {
                0 => $sender.send_timeout(1, Duration::from_micros($gaps.random.next() % 60)).is_ok(),
                1 => match $sender.try_send(1) {
                    Ok(()) => true,
                    Err(TrySendError::Full(_)) => false,
                    Err(TrySendError::Disconnected(_)) => panic!("no receiver"),
                },
                // A message may be taken just before its future is dropped, which is not reported: it does not count.
                2 => {
                    let _ = poll_once(&mut Box::pin($sender.send_async(0)), &Task::default());
                    false
                }
                3 => block_on($sender.send_async(1)).is_ok(),
                _ => $sender.send(1).is_ok(),
            };
            if sent {
                break;
            }
            $gaps.breathe();
        }
    };
}

/// Receives in one of the ways: how many have come, or that nothing will come any more. `$attached` is true while the receiver
/// is in the set.
macro_rules! receive_somehow {
    ($receiver:expr, $set:expr, $gaps:expr) => {
        match $gaps.random.below(6) {
            0 => match $receiver.recv_timeout(Duration::from_micros($gaps.random.next() % 60)) {
                Ok(message) => Some(message),
                Err(ysuite::RecvTimeoutError::Timeout) => Some(0),
                Err(ysuite::RecvTimeoutError::Disconnected) => None,
            },
            // A future that is dropped gives back what it was given.
            1 => {
                let mut receiving = Box::pin($receiver.recv_async());
                match poll_once(&mut receiving, &Task::default()) {
                    std::task::Poll::Ready(message) => message.ok(),
                    std::task::Poll::Pending => Some(0),
                }
            }
            2 => block_on($receiver.recv_async()).ok(),
            3 => {
                $set.attach(&mut $receiver, 3).expect("a free id");
                let message = loop {
                    match $receiver.try_recv() {
                        Ok(message) => break Some(message),
                        Err(ysuite::TryRecvError::Disconnected) => break None,
                        Err(ysuite::TryRecvError::Empty) => _ = $set.wait(),
                    }
                };
                assert!($receiver.detach());
                message
            }
            _ => $receiver.recv().ok(),
        }
    };
}

/// One round, with handles of any kind.
macro_rules! round {
    ($name:expr, $seed:expr, $account:expr, [$($sender:ident),*], [$($receiver:ident),*]) => {{
        let progress = Arc::new(Progress::default());
        guard($name, progress.clone());
        let bursts = Bursts::of([$(stringify!($sender)),*].len() as u64);
        thread::scope(|scope| {
            let (bursts, progress, account) = (&bursts, &*progress, $account);
            let mut who = 0;
            $({
                who += 1;
                let seed = $seed * 100 + who;
                scope.spawn(move || {
                    let (entry, mut gaps, mut set) = (Entry::begin(), Gaps::new(seed), YPollset::new());
                    let mut receiver = $receiver;
                    while let Some(messages) = receive_somehow!(receiver, set, gaps) {
                        progress.arrived.fetch_add(messages, Ordering::AcqRel);
                        gaps.pass();
                        receiver.set_spin(gaps.spin());
                    }
                    entry.end(&gaps, account);
                });
            })*
            $({
                who += 1;
                let seed = $seed * 100 + who;
                scope.spawn(move || {
                    let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed));
                    #[allow(unused_mut, reason = "an mpmc sender sends by a shared reference")]
                    let mut sender = $sender;
                    for burst in 1..=BURSTS {
                        let messages = 1 + gaps.random.below(40) as u64;
                        for _ in 0..messages {
                            send_somehow!(sender, gaps);
                            gaps.breathe();
                        }
                        bursts.end(burst, messages, 1, progress, &mut gaps);
                    }
                    entry.end(&gaps, account);
                });
            })*
        });
        progress.end();
        assert_eq!(progress.arrived.load(Ordering::Acquire), bursts.sent());
    }};
}

fn one_to_one(name: &'static str, seed: u64, account: &Arc<Account>) {
    let (sender, receiver) = spsc::bounded::<u64>(0);
    round!(name, seed, account, [sender], [receiver]);
}

fn two_to_one(name: &'static str, seed: u64, account: &Arc<Account>) {
    let (one, receiver) = mpsc::bounded::<u64>(0);
    let other = one.clone();
    round!(name, seed, account, [one, other], [receiver]);
}

fn two_to_two(name: &'static str, seed: u64, account: &Arc<Account>) {
    let (one, receiver) = mpmc::bounded::<u64>(0);
    let (other, second) = (one.clone(), receiver.clone());
    round!(name, seed, account, [one, other], [receiver, second]);
}

#[test]
fn one_meets_one() {
    let name = "rendezvous, one to one";
    rounds_with_sleeps(name, LIMITS, |seed, account| one_to_one(name, seed, account));
}

#[test]
fn two_meet_one() {
    let name = "rendezvous, two to one";
    rounds_with_sleeps(name, LIMITS, |seed, account| two_to_one(name, seed, account));
}

#[test]
fn two_meet_two() {
    let name = "rendezvous, two to two";
    rounds_with_sleeps(name, LIMITS, |seed, account| two_to_two(name, seed, account));
}
