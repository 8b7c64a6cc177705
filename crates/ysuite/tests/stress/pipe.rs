//! Stress tests of the spsc channel: one sender and one receiver, every way of waiting on both sides.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

#[cfg(unix)]
use ysuite::signal::Backend;
use ysuite::signal::{Wait, YPollset, YSocketpair};
use ysuite::spsc::{self, Receiver, Sender};
use ysuite::{RecvError, RecvTimeoutError, SendTimeoutError};

use super::{Account, Entry, Gaps, Limits, Message, Progress, block_on, guard, rounds_with_sleeps, wait_until};

/// One way of receiving all messages; calls the function for each.
type Receive = fn(Receiver<Message>, &mut Gaps, &mut dyn FnMut(Message));
/// One way of sending one message.
type Send = fn(&mut Sender<Message>, Message, &mut Gaps);

/// Rounds of random bursts.
fn stress(name: &'static str, capacity: Option<usize>, send: Send, receive: Receive) {
    rounds_with_sleeps(name, Limits::ONE_ROUND, |seed, account| round(name, capacity, send, receive, seed, account));
}

fn round(name: &'static str, capacity: Option<usize>, send: Send, receive: Receive, seed: u64, account: &Arc<Account>) {
    const BURSTS: u64 = 500;
    let progress = Arc::new(Progress::default());
    guard(name, progress.clone());
    let (mut sender, receiver) = capacity.map_or_else(spsc::unbounded, spsc::bounded);
    let (counted, receiving) = (progress.clone(), account.clone());
    let thread = thread::spawn(move || {
        let (entry, mut gaps, mut expected) = (Entry::begin(), Gaps::new(seed * 2), 0);
        receive(receiver, &mut gaps, &mut |message| {
            assert_eq!(message.number, expected);
            expected += 1;
            counted.arrived.store(expected, Ordering::Release);
        });
        entry.end(&gaps, &receiving);
    });
    let (entry, mut gaps, mut sent) = (Entry::begin(), Gaps::new(seed * 2 + 1), 0);
    for _ in 0..BURSTS {
        sender.set_spin(gaps.spin());
        let chase = gaps.random.below(2) == 0;
        let burst = 1 + if chase { 70 + gaps.random.below(60) } else { gaps.random.below(60) } as u64;
        for message in sent..sent + burst {
            let behind = if chase { sent + burst - 1 - message } else { 0 };
            if behind > 0 {
                wait_until(|| !sender.is_full());
            }
            send(&mut sender, Message { number: message, behind }, &mut gaps);
            if chase { gaps.breathe() } else { gaps.pass() }
        }
        sender.flush();
        sent += burst;
        progress.wait_for(sent);
        // Long enough for the receiver to fall asleep, or almost.
        (0..gaps.random.below(400)).for_each(|_| std::hint::spin_loop());
    }
    drop(sender);
    entry.end(&gaps, account);
    progress.end();
    assert!(thread.join().is_ok(), "{name}: the receiving thread has failed");
    assert_eq!(progress.arrived.load(Ordering::Acquire), sent);
}

fn plain(sender: &mut Sender<Message>, message: Message, _gaps: &mut Gaps) {
    sender.send(message).expect("a receiver");
}

fn in_batches(sender: &mut Sender<Message>, message: Message, gaps: &mut Gaps) {
    sender.write(message).expect("a receiver");
    if message.behind > 0 || gaps.random.below(10) == 0 {
        sender.flush();
    }
}

fn with_timeouts(sender: &mut Sender<Message>, mut message: Message, gaps: &mut Gaps) {
    loop {
        match sender.send_timeout(message, Duration::from_micros(gaps.random.next() % 100)) {
            Ok(()) => return,
            Err(SendTimeoutError::Timeout(back)) => message = back,
            Err(SendTimeoutError::Disconnected(_)) => panic!("no receiver"),
        }
    }
}

fn as_a_task(sender: &mut Sender<Message>, message: Message, _gaps: &mut Gaps) {
    block_on(sender.send_async(message)).expect("a receiver");
}

fn blocking(mut receiver: Receiver<Message>, gaps: &mut Gaps, note: &mut dyn FnMut(Message)) {
    while let Ok(message) = receiver.recv() {
        note(message);
        gaps.follow(message, || receiver.is_empty());
        receiver.set_spin(gaps.spin());
    }
}

fn blocking_in_batches(mut receiver: Receiver<Message>, gaps: &mut Gaps, note: &mut dyn FnMut(Message)) {
    let mut batch = Vec::new();
    while receiver.recv_batch(&mut batch, 1 + gaps.random.below(40)).is_ok() {
        let last = *batch.last().expect("at least one");
        batch.drain(..).for_each(&mut *note);
        gaps.follow(last, || receiver.is_empty());
        receiver.set_spin(gaps.spin());
    }
}

fn timing_out(mut receiver: Receiver<Message>, gaps: &mut Gaps, note: &mut dyn FnMut(Message)) {
    loop {
        let timeout = if gaps.random.below(2) == 0 { gaps.random.next() % 60 } else { u64::MAX };
        match receiver.recv_timeout(Duration::from_micros(timeout)) {
            Ok(message) => {
                note(message);
                gaps.follow(message, || receiver.is_empty());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        receiver.set_spin(gaps.spin());
    }
}

fn tasks(mut receiver: Receiver<Message>, gaps: &mut Gaps, note: &mut dyn FnMut(Message)) {
    while let Ok(message) = block_on(receiver.recv_async()) {
        note(message);
        gaps.follow(message, || receiver.is_empty());
    }
}

/// Receives in a set, and now and then polls it again before all messages are received.
fn attached(mut set: impl Wait, mut receiver: Receiver<Message>, gaps: &mut Gaps, note: &mut dyn FnMut(Message)) {
    loop {
        assert!(set.wait().eq([3]));
        for _ in 0..1 + gaps.random.below(30) {
            match receiver.try_recv() {
                Ok(message) => {
                    note(message);
                    gaps.follow(message, || receiver.is_empty());
                }
                Err(error) if error.is_empty() => break,
                Err(_) => return,
            }
        }
    }
}

fn in_a_pollset(mut receiver: Receiver<Message>, gaps: &mut Gaps, note: &mut dyn FnMut(Message)) {
    let mut set = YPollset::new();
    set.attach(&mut receiver, 3).expect("a free id");
    attached(set, receiver, gaps, note);
}

fn in_a_socketpair(mut receiver: Receiver<Message>, gaps: &mut Gaps, note: &mut dyn FnMut(Message)) {
    #[cfg(unix)]
    let set = YSocketpair::with_backend(256, [Backend::Eventfd, Backend::Socketpair][gaps.random.below(2)]);
    #[cfg(windows)]
    let set = YSocketpair::new();
    let mut set = set.expect("descriptors");
    set.attach(&mut receiver, 3).expect("a free id");
    attached(set, receiver, gaps, note);
}

fn in_every_way(mut receiver: Receiver<Message>, gaps: &mut Gaps, note: &mut dyn FnMut(Message)) {
    let mut set = YPollset::new();
    set.attach(&mut receiver, 3).expect("a free id");
    loop {
        let received = match gaps.random.below(4) {
            0 => receiver.recv(),
            1 => block_on(receiver.recv_async()),
            2 => match receiver.recv_timeout(Duration::from_micros(gaps.random.next() % 50)) {
                Err(RecvTimeoutError::Timeout) => continue,
                received => received.map_err(|_| RecvError),
            },
            _ => {
                assert!(set.wait().eq([3]));
                match receiver.try_recv() {
                    Err(error) if error.is_empty() => continue,
                    received => received.map_err(|_| RecvError),
                }
            }
        };
        match received {
            Ok(message) => {
                note(message);
                gaps.follow(message, || receiver.is_empty());
            }
            Err(RecvError) => return,
        }
    }
}

#[test]
fn blocking_receives() {
    stress("blocking receives", None, plain, blocking);
}

#[test]
fn batches_on_both_sides() {
    stress("batches on both sides", Some(64), in_batches, blocking_in_batches);
}

#[test]
fn timeouts() {
    stress("timeouts", None, plain, timing_out);
}

#[test]
fn one_place_both_ways() {
    stress("room for one, both ways", Some(1), plain, blocking);
}

#[test]
fn few_places_and_timeouts_both_ways() {
    stress("little room, timeouts both ways", Some(5), with_timeouts, timing_out);
}

#[test]
fn tasks_receive() {
    stress("tasks", None, plain, tasks);
}

#[test]
fn tasks_on_both_sides_of_few_places() {
    stress("tasks on both sides with little room", Some(3), as_a_task, tasks);
}

#[test]
fn attached_to_a_pollset() {
    stress("attached to a pollset", None, plain, in_a_pollset);
}

#[test]
fn attached_to_a_socketpair() {
    stress("attached to a socketpair", Some(20), plain, in_a_socketpair);
}

#[test]
fn every_way_of_waiting_in_turn() {
    stress("every way of waiting in turn", Some(100), in_batches, in_every_way);
}
