//! The cases of a broadcast: a receiver that has joined receives all that was sent until the sender's death, and the death
//! of a receiver, for which the sender may wait just then, holds nobody up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

#[cfg(target_arch = "x86_64")]
use ysuite_shm::connect;
use ysuite_shm::{BroadcastError, Error, Options};

use crate::cases::{MESSAGES, Outcome, Part, Peer};
use crate::casts::{Cast, Numbers};
#[cfg(target_arch = "x86_64")]
use crate::injected::{Failure, in_a_crowd};
use crate::process::{Child, Point, Shared, here};
use crate::watch::{connected, name};

/// Fewer than are sent.
const CAPACITY: usize = 8;

fn options(is_lossy: bool) -> Options {
    if is_lossy { Options::new().lossy() } else { Options::new() }
}

fn join<C: Cast>(name: &str, is_over: &AtomicBool) -> Option<C::Receiver> {
    connected(name, is_over).and_then(|socket| C::join(socket).ok())
}

fn sender_of_part<C: Cast>(name: &str, is_lossy: bool, part: Part, joined: &Shared, sent: &Shared) {
    if part == Part::Hello {
        here();
    }
    let mut sender = C::bind(&options(is_lossy), name, CAPACITY).unwrap();
    C::set_spin(&mut sender, 0);
    // It says hello, and then that it has.
    while part != Part::Hello && joined.get() == 0 {
        C::serve(&mut sender, Duration::from_millis(1));
    }
    C::serve(&mut sender, Duration::ZERO);
    if matches!(part, Part::Messages(_)) {
        here();
    }
    for message in 0..MESSAGES {
        C::send(&mut sender, message);
        sent.set(message + 1);
    }
    part.leave(sender);
}

pub(crate) fn sender_dies<C: Cast>(is_lossy: bool, part: Part, point: Point) -> Outcome {
    let (name, sent, joined) = (name(), Shared::new(), Arc::new(Shared::new()));
    let child = Child::traced(|| sender_of_part::<C>(&name, is_lossy, part, &joined, &sent));
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let reader = thread::spawn(move || {
        let mut receiver = join::<C>(&name, &over)?;
        C::set_receiver_spin(&mut receiver, if let Part::Messages(Peer::Spins) = part { u32::MAX } else { 0 });
        joined.set(1);
        let mut next = None;
        loop {
            match C::recv(&mut receiver) {
                Ok(message) => {
                    assert!(next.is_none_or(|next| message == next), "{message} behind {next:?}");
                    next = Some(message + 1);
                }
                // What it is told of is not lost without a word.
                Err(BroadcastError::Lagged(lost)) if is_lossy => next = Some(next.unwrap_or(0) + lost),
                Err(BroadcastError::Ended(error)) => return Some((next.unwrap_or(0), error)),
                Err(other) => panic!("{other:?}"),
            }
        }
    });
    let child = child.stopped();
    let reached = child.step(point);
    child.kill();
    // ORDERING: Relaxed; a test.
    is_over.store(true, Ordering::Relaxed);
    let Some((received, error)) = reader.join().unwrap() else { return Outcome { reached, lost: 0, doubled: 0 } };
    assert!(error == Error::Died || part == Part::Drop && error == Error::Closed, "{error:?}");
    let lost = if part == Part::Hello { 0 } else { sent.get().saturating_sub(received) };
    Outcome { reached, lost, doubled: received.saturating_sub(sent.get() + 1) }
}

fn receiver_of_part<C: Cast>(name: &str, part: Part) {
    if part == Part::Hello {
        here();
    }
    let mut receiver = join::<C>(name, &AtomicBool::new(false)).unwrap();
    C::set_receiver_spin(&mut receiver, 0);
    let _ = C::recv(&mut receiver);
    if matches!(part, Part::Messages(_)) {
        here();
    }
    (0..MESSAGES).for_each(|_| _ = C::recv(&mut receiver));
    part.leave(receiver);
}

/// Sends until it is over, beside a receiver that receives each message; then forgets all others.
fn sending<C: Cast>(name: &str, is_lossy: bool, spin: u32, is_over: Arc<AtomicBool>) -> thread::JoinHandle<()> {
    let mut sender = C::bind(&options(is_lossy), name, CAPACITY).unwrap();
    C::set_spin(&mut sender, spin);
    thread::spawn(move || {
        let mut innocent = C::join(C::seat(&mut sender)).unwrap();
        C::serve(&mut sender, Duration::ZERO);
        let mut message = 0;
        // ORDERING: Relaxed; a test.
        while !is_over.load(Ordering::Relaxed) {
            // For ever, but for a receiver that dies.
            C::send(&mut sender, message);
            assert_eq!(C::recv(&mut innocent), Ok(message));
            message += 1;
            thread::sleep(Duration::from_micros(20));
        }
        while C::receivers(&sender) > 1 {
            C::serve(&mut sender, Duration::from_millis(1));
        }
        C::send(&mut sender, message);
        assert_eq!(C::recv(&mut innocent), Ok(message));
    })
}

pub(crate) fn receiver_dies<C: Cast>(is_lossy: bool, part: Part, point: Point) -> Outcome {
    let name = name();
    let child = Child::traced(|| receiver_of_part::<C>(&name, part));
    let is_over = Arc::new(AtomicBool::new(false));
    let spin = if part == Part::Messages(Peer::Spins) { 1_000 } else { 0 };
    let writer = sending::<C>(&name, is_lossy, spin, Arc::clone(&is_over));
    let child = child.stopped();
    let reached = child.step(point);
    child.kill();
    // ORDERING: Relaxed; a test.
    is_over.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    Outcome { reached, lost: 0, doubled: 0 }
}

#[cfg(target_arch = "x86_64")]
fn send_all(name: &str, received: &Shared) -> Result<(), Error> {
    let mut sender = Options::new().broadcast::<u64>(name, CAPACITY)?;
    sender.set_spin(0);
    // A receiver that was refused comes again.
    let mut message = 0;
    while received.get() < MESSAGES {
        sender.send(message);
        message += 1;
        sender.serve_timeout(Duration::from_micros(100));
    }
    Ok(())
}

/// A sender of which this call fails with this one of its errors: each receiver that comes has its messages, or is refused.
#[cfg(target_arch = "x86_64")]
pub(crate) fn sender_fails(call: u64, error: usize) -> Failure {
    let (name, received) = (name(), Arc::new(Shared::new()));
    let count = Arc::clone(&received);
    let beside = |is_over: Arc<AtomicBool>| {
        let name = name.clone();
        thread::spawn(move || {
            while let Some(mut receiver) = join::<Numbers>(&name, &is_over) {
                receiver.set_spin(0);
                let mut next = None;
                receiver.iter().for_each(|message| {
                    assert!(next.is_none_or(|next| message == next), "{message} behind {next:?}");
                    next = Some(message + 1);
                    count.set(count.get() + 1);
                });
            }
        })
    };
    in_a_crowd(|| send_all(&name, &received), beside, call, error)
}

#[cfg(target_arch = "x86_64")]
fn receive_all(name: &str) -> Result<(), Error> {
    let mut receiver = Numbers::join(connect(name)?)?;
    receiver.set_spin(0);
    for _ in 0..MESSAGES {
        match receiver.recv() {
            Ok(_) => {}
            Err(BroadcastError::Ended(error)) => return Err(error),
            Err(other) => panic!("{other:?}"),
        }
    }
    Ok(())
}

/// As [`sender_fails`], of a receiver.
#[cfg(target_arch = "x86_64")]
pub(crate) fn receiver_fails(call: u64, error: usize) -> Failure {
    let name = name();
    in_a_crowd(|| receive_all(&name), |is_over| sending::<Numbers>(&name, false, 0, is_over), call, error)
}

/// A stream of messages costs no system call for each: neither the sender, nor a receiver that has messages.
pub(crate) fn messages_without_calls() {
    const STREAM: u64 = 4_000;
    let (name, joined) = (name(), Shared::new());
    let child = Child::traced(|| {
        let mut sender = Options::new().broadcast::<u64>(&name, 4_096).unwrap();
        while joined.get() == 0 {
            sender.serve_timeout(Duration::from_millis(1));
        }
        sender.serve();
        here();
        (0..STREAM).for_each(|message| sender.send(message));
        here();
    });
    let mut receiver = join::<Numbers>(&name, &AtomicBool::new(false)).unwrap();
    joined.set(1);
    let calls = child.stopped().tap_kill(Child::count_calls);
    // One in a millisecond, to see who comes.
    assert!(calls < STREAM / 10, "{calls}");
    assert!(receiver.iter().eq(0..STREAM));
    assert_eq!(receiver.recv(), Err(BroadcastError::Ended(Error::Died)));
}
