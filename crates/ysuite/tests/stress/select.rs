//! The stress test for wake-ups lost by a select: threads that receive from several kinds of channels at once, or send
//! to several, against plain senders and receivers, and against each other. After each burst the senders are silent
//! until all of it has arrived.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use ysuite::{mpmc, mpsc, select, spsc};

use super::{Account, Bursts, Entry, Gaps, Limits, Progress, guard, rounds_with_sleeps, wait_until};

/// The long form too begins no round later than this.
const LIMITS: Limits = Limits { short: 0, time: Duration::from_secs(15) };
const BURSTS: u64 = 400;
/// The last message.
const STOP: u64 = u64::MAX;

/// Two senders, each to two channels: bursts, and silence until all of both has arrived.
fn burst_by_burst(who: u64, progress: &Progress, bursts: &Bursts, gaps: &mut Gaps, mut send: impl FnMut(bool)) {
    for burst in 1..=BURSTS {
        let messages = 1 + gaps.random.below(60) as u64;
        for _ in 0..messages {
            send(gaps.random.below(2) == 0);
            if who == 0 { gaps.breathe() } else { gaps.pass() }
        }
        bursts.end(burst, messages, 1, progress, gaps);
    }
}

fn receiving(name: &'static str, bound: usize, seed: u64, account: &Arc<Account>) {
    let progress = Arc::new(Progress::default());
    guard(name, progress.clone());
    let (mut pipe, mut pipe_in) = spsc::bounded(bound);
    let (mut funnel, mut funnel_in) = mpsc::bounded(bound);
    let (exchange, exchange_in) = mpmc::bounded(bound);
    let (meeting, meeting_in) = mpmc::bounded(0);
    let (mut stop, mut stop_in) = spsc::unbounded();
    let bursts = Bursts::of(2);
    thread::scope(|scope| {
        let (bursts, progress) = (&bursts, &*progress);
        let (exchange_of_one, meeting_of_one) = (exchange_in.clone(), meeting_in.clone());
        scope.spawn(move || {
            let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed * 100));
            loop {
                let message = select()
                    .recv(&mut pipe_in, |message| message)
                    .recv(&mut funnel_in, |message| message)
                    .recv(&exchange_of_one, |message| message)
                    .recv(&meeting_of_one, |message| message)
                    .wait();
                if message == Ok(STOP) {
                    break;
                }
                assert_eq!(message, Ok(1));
                progress.arrived.fetch_add(1, Ordering::AcqRel);
                gaps.pass();
            }
            entry.end(&gaps, account);
        });
        scope.spawn(move || {
            let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed * 100 + 1));
            loop {
                let one = select()
                    .recv(&exchange_in, |message| message)
                    .recv(&meeting_in, |message| message)
                    .recv(&mut stop_in, |message| message);
                // Leaves now and then without a message.
                let message = match gaps.random.below(4) {
                    0 => one.wait_timeout(Duration::from_micros(gaps.random.next() % 60)),
                    1 => one.try_now(),
                    _ => Some(one.wait()),
                };
                match message {
                    Some(Ok(STOP)) => break,
                    Some(message) => {
                        assert_eq!(message, Ok(1));
                        progress.arrived.fetch_add(1, Ordering::AcqRel);
                    }
                    None => {}
                }
                gaps.pass();
            }
            entry.end(&gaps, account);
        });
        scope.spawn(move || {
            let mut gaps = Gaps::new(seed * 100 + 50);
            burst_by_burst(0, progress, bursts, &mut gaps, |pipes| {
                if pipes { pipe.send(1).expect("a receiver") } else { meeting.send(1).expect("a receiver") }
            });
            pipe.send(STOP).expect("a receiver");
            // Its disconnect would be received again and again.
            wait_until(|| meeting.is_disconnected());
        });
        scope.spawn(move || {
            let mut gaps = Gaps::new(seed * 100 + 51);
            burst_by_burst(1, progress, bursts, &mut gaps, |pipes| {
                if pipes { funnel.send(1).expect("a receiver") } else { exchange.send(1).expect("a receiver") }
            });
            stop.send(STOP).expect("a receiver");
            wait_until(|| exchange.is_disconnected());
        });
    });
    progress.end();
    assert_eq!(progress.arrived.load(Ordering::Acquire), bursts.sent());
}

fn sending(name: &'static str, seed: u64, account: &Arc<Account>) {
    let progress = Arc::new(Progress::default());
    guard(name, progress.clone());
    let (mut pipe, mut pipe_in) = spsc::bounded(1);
    let (mut funnel, mut funnel_in) = mpsc::bounded(1);
    let (exchange, exchange_in) = mpmc::bounded(1);
    let (meeting, meeting_in) = mpmc::bounded(0);
    thread::scope(|scope| {
        let progress = &*progress;
        let count = move |gaps: &mut Gaps, arrived: bool| {
            if arrived {
                progress.arrived.fetch_add(1, Ordering::AcqRel);
                gaps.pass();
            }
            arrived
        };
        scope.spawn(move || {
            let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed * 100));
            while count(&mut gaps, pipe_in.recv().is_ok()) {}
            entry.end(&gaps, account);
        });
        scope.spawn(move || {
            let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed * 100 + 1));
            while count(&mut gaps, funnel_in.recv().is_ok()) {}
            entry.end(&gaps, account);
        });
        scope.spawn(move || {
            let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed * 100 + 2));
            while select()
                .recv(&exchange_in, |message| count(&mut gaps, message.is_ok()))
                .recv(&meeting_in, |message| message.is_ok())
                .wait()
            {}
            entry.end(&gaps, account);
        });
        let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed * 100 + 50));
        let mut sent = 0;
        for _ in 0..BURSTS {
            for _ in 0..=gaps.random.below(60) {
                let counts = select()
                    .send(&mut pipe, (), |outcome| outcome.map(|()| true))
                    .send(&mut funnel, (), |outcome| outcome.map(|()| true))
                    .send(&exchange, (), |outcome| outcome.map(|()| true))
                    // The receiver does not count these.
                    .send(&meeting, (), |outcome| outcome.map(|()| false))
                    .wait();
                sent += u64::from(counts.expect("a receiver"));
                gaps.breathe();
            }
            progress.wait_for(sent);
        }
        drop((pipe, funnel, exchange, meeting));
        entry.end(&gaps, account);
    });
    progress.end();
}

/// Two threads: each sends to the other or receives from it, whichever is possible first. Each operation of one is one
/// of the other.
fn facing(name: &'static str, seed: u64, account: &Arc<Account>) {
    let progress = Arc::new(Progress::default());
    guard(name, progress.clone());
    let ((there, there_in), (back, back_in)) = (mpmc::bounded::<u8>(0), mpmc::bounded::<u8>(0));
    thread::scope(|scope| {
        let progress = &*progress;
        for (who, sender, receiver) in [(0, there, back_in), (1, back, there_in)] {
            scope.spawn(move || {
                let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed * 100 + who));
                for _ in 0..20_000 {
                    let done = select()
                        .send(&sender, 1, |outcome| outcome.is_ok())
                        .recv(&receiver, |message| message.is_ok())
                        .wait();
                    assert!(done);
                    progress.arrived.fetch_add(1, Ordering::AcqRel);
                    gaps.pass();
                }
                entry.end(&gaps, account);
                // The disconnect would be an operation too.
                progress.wait_for(40_000);
                drop((sender, receiver));
            });
        }
    });
    progress.end();
}

#[test]
fn several_kinds_are_received() {
    let name = "select, receiving";
    rounds_with_sleeps(name, LIMITS, |seed, account| receiving(name, 2, seed, account));
}

#[test]
fn several_kinds_with_much_room_are_received() {
    let name = "select, receiving, with much room";
    rounds_with_sleeps(name, LIMITS, |seed, account| receiving(name, 1000, seed, account));
}

#[test]
fn several_kinds_are_sent_to() {
    let name = "select, sending";
    rounds_with_sleeps(name, LIMITS, |seed, account| sending(name, seed, account));
}

#[test]
fn selects_face_each_other() {
    let name = "select, facing";
    rounds_with_sleeps(name, LIMITS, |seed, account| facing(name, seed, account));
}
