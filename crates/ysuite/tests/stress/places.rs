//! The stress test for wake-ups lost when room is reserved or taken by force: senders with permits, some of them
//! returned, senders that send plainly, and senders that displace the oldest message, in a channel with little room.
//! After each burst silence, until every message has arrived, or was displaced.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use ysuite::mpmc::{self, Sender};

use super::support::executor::{Task, poll_once};
use super::{Account, Bursts, Entry, Gaps, Limits, Progress, block_on, guard, rounds_with_sleeps};

/// The long form too begins no round later than this.
const LIMITS: Limits = Limits { short: 0, time: Duration::from_secs(15) };
const BURSTS: u64 = 400;
/// How many places the channel has.
const PLACES: usize = 3;

/// One way of sending a message. Returns how many messages it displaced.
type Send = fn(&Sender<()>, &mut Gaps) -> u64;

fn plainly(sender: &Sender<()>, _: &mut Gaps) -> u64 {
    sender.send(()).expect("a receiver");
    0
}

fn with_permits(sender: &Sender<()>, gaps: &mut Gaps) -> u64 {
    let many = 1 + gaps.random.below(PLACES);
    match gaps.random.below(6) {
        // Given back.
        0 => drop(sender.reserve().expect("a receiver")),
        1 => drop(sender.reserve_many(many).expect("a receiver")),
        2 => drop(poll_once(&mut Box::pin(sender.reserve_many_async(many)), &Task::default())),
        _ => {}
    }
    match gaps.random.below(4) {
        0 => {
            let mut permits = sender.reserve_many(many).expect("a receiver");
            gaps.breathe();
            permits.send(()).expect("a receiver");
        }
        1 => block_on(sender.reserve_async()).expect("a receiver").send(()).expect("a receiver"),
        2 => loop {
            if let Ok(permit) = sender.try_reserve() {
                break permit.send(()).expect("a receiver");
            }
            gaps.breathe();
        },
        _ => sender.reserve().expect("a receiver").send(()).expect("a receiver"),
    }
    0
}

fn by_force(sender: &Sender<()>, _: &mut Gaps) -> u64 {
    u64::from(sender.force_send(()).expect("a receiver").is_some())
}

fn round(name: &'static str, ways: [Send; 2], seed: u64, account: &Arc<Account>) {
    let progress = Arc::new(Progress::default());
    guard(name, progress.clone());
    let (sender, receiver) = mpmc::bounded(PLACES);
    let bursts = Bursts::of(2);
    thread::scope(|scope| {
        let (bursts, progress) = (&bursts, &*progress);
        for (who, receiver) in (0..).zip([receiver.clone(), receiver]) {
            scope.spawn(move || {
                let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed * 100 + who));
                while receiver.recv().is_ok() {
                    progress.arrived.fetch_add(1, Ordering::AcqRel);
                    gaps.pass();
                }
                entry.end(&gaps, account);
            });
        }
        for (who, (sender, send)) in (50..).zip([sender.clone(), sender].into_iter().zip(ways)) {
            scope.spawn(move || {
                let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed * 100 + who));
                for burst in 1..=BURSTS {
                    let messages = 1 + gaps.random.below(40) as u64;
                    for _ in 0..messages {
                        let displaced = send(&sender, &mut gaps);
                        progress.arrived.fetch_add(displaced, Ordering::AcqRel);
                        gaps.breathe();
                    }
                    bursts.end(burst, messages, 1, progress, &mut gaps);
                }
                entry.end(&gaps, account);
            });
        }
    });
    progress.end();
    assert_eq!(progress.arrived.load(Ordering::Acquire), bursts.sent());
}

#[test]
fn permits_beside_plain_sends() {
    let name = "places, permits and plain sends";
    rounds_with_sleeps(name, LIMITS, |seed, account| round(name, [with_permits, plainly], seed, account));
}

#[test]
fn permits_on_both_sides() {
    let name = "places, permits";
    rounds_with_sleeps(name, LIMITS, |seed, account| round(name, [with_permits, with_permits], seed, account));
}

#[test]
fn permits_beside_force() {
    let name = "places, permits and force";
    rounds_with_sleeps(name, LIMITS, |seed, account| round(name, [with_permits, by_force], seed, account));
}

#[test]
fn force_beside_plain_sends() {
    let name = "places, force and plain sends";
    rounds_with_sleeps(name, LIMITS, |seed, account| round(name, [by_force, plainly], seed, account));
}
