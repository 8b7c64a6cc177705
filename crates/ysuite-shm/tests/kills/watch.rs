//! The cases of a watch, whose receivers need not receive each value: the last one is what must not be lost, nobody holds
//! up the sender, and a receiver that is gone is forgotten.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use ysuite_shm::{Error, WatchReceiver, WatchSender, connect};

use crate::cases::{MESSAGES, Outcome, Part, Peer};
#[cfg(target_arch = "x86_64")]
use crate::injected::{Failure, in_a_crowd};
use crate::process::{Child, Point, Shared, here};

pub(crate) fn name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // ORDERING: Relaxed; the number guards nothing.
    format!("kills-{}-crowd-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A socket, as soon as somebody listens; `None`: nobody has until it was over.
pub(crate) fn connected(name: &str, is_over: &AtomicBool) -> Option<OwnedFd> {
    loop {
        // ORDERING: Relaxed; a test.
        match connect(name) {
            Ok(socket) => return Some(socket),
            Err(_) if is_over.load(Ordering::Relaxed) => return None,
            Err(_) => thread::sleep(Duration::from_micros(200)),
        }
    }
}

fn join(name: &str, is_over: &AtomicBool) -> Option<WatchReceiver<u64>> {
    connected(name, is_over).and_then(|socket| WatchReceiver::from_fd(socket).ok())
}

fn sender_of_part(name: &str, part: Part, sent: &Shared) {
    if part == Part::Hello {
        here();
    }
    let mut sender = WatchSender::bind(name, 0_u64).unwrap();
    while part != Part::Hello && sender.receivers() == 0 {
        sender.serve_timeout(Duration::from_millis(1));
    }
    if matches!(part, Part::Messages(_)) {
        here();
    }
    for value in 1..=MESSAGES {
        sender.send(value);
        sent.set(value);
    }
    part.leave(sender);
}

pub(crate) fn sender_dies(part: Part, point: Point) -> Outcome {
    let (name, sent) = (name(), Shared::new());
    let child = Child::traced(|| sender_of_part(&name, part, &sent));
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let reader = thread::spawn(move || {
        let mut receiver = join(&name, &over)?;
        receiver.set_spin(if let Part::Messages(Peer::Spins) = part { u32::MAX } else { 0 });
        let mut last = 0;
        loop {
            match receiver.recv() {
                Ok(value) => {
                    assert!(value > last || value == 0, "{value} behind {last}");
                    last = value;
                }
                Err(error) => return Some((last, error, receiver.latest().unwrap_or(last))),
            }
        }
    });
    let child = child.stopped();
    let reached = child.step(point);
    child.kill();
    // ORDERING: Relaxed; a test.
    is_over.store(true, Ordering::Relaxed);
    let Some((last, error, latest)) = reader.join().unwrap() else { return Outcome { reached, lost: 0, doubled: 0 } };
    assert!(error == Error::Died || part == Part::Drop && error == Error::Closed, "{error:?}");
    assert_eq!(last, latest, "it stays");
    // In its hello it may not have been met.
    let lost = if part == Part::Hello { 0 } else { sent.get().saturating_sub(last) };
    Outcome { reached, lost, doubled: last.saturating_sub(sent.get() + 1) }
}

fn receiver_of_part(name: &str, part: Part, received: &Shared) {
    if part == Part::Hello {
        here();
    }
    let mut receiver = join(name, &AtomicBool::new(false)).unwrap();
    receiver.set_spin(0);
    receiver.recv().unwrap();
    if matches!(part, Part::Messages(_)) {
        here();
    }
    for _ in 0..MESSAGES {
        received.set(receiver.recv().unwrap());
    }
    part.leave(receiver);
}

/// Sends until it is over, beside a receiver that receives each value; then forgets all others.
fn sending(name: &str, pause: Duration, is_over: Arc<AtomicBool>) -> thread::JoinHandle<()> {
    let mut sender = WatchSender::bind(name, 0_u64).unwrap();
    thread::spawn(move || {
        let mut innocent = WatchReceiver::<u64>::from_fd(sender.seat().unwrap()).unwrap();
        let mut value = 0;
        // ORDERING: Relaxed; a test.
        while !is_over.load(Ordering::Relaxed) {
            value += 1;
            sender.send(value);
            assert_eq!(innocent.recv(), Ok(value));
            thread::sleep(pause);
        }
        while sender.receivers() > 1 {
            sender.serve_timeout(Duration::from_millis(1));
        }
        sender.send(0);
        assert_eq!(innocent.recv(), Ok(0));
    })
}

pub(crate) fn receiver_dies(part: Part, point: Point) -> Outcome {
    let (name, received) = (name(), Shared::new());
    let child = Child::traced(|| receiver_of_part(&name, part, &received));
    let is_over = Arc::new(AtomicBool::new(false));
    let pause = Duration::from_micros(if part == Part::Messages(Peer::Spins) { 0 } else { 50 });
    let writer = sending(&name, pause, Arc::clone(&is_over));
    let child = child.stopped();
    let reached = child.step(point);
    child.kill();
    // ORDERING: Relaxed; a test.
    is_over.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    Outcome { reached, lost: 0, doubled: 0 }
}

/// A stream of values costs no system call for each: neither the sender, nor a receiver that has not slept.
pub(crate) fn values_without_calls() {
    const STREAM: u64 = 4_000;
    let name = name();
    let child = Child::traced(|| {
        let mut sender = WatchSender::bind(&name, 0_u64).unwrap();
        while sender.receivers() == 0 {
            sender.serve_timeout(Duration::from_millis(1));
        }
        here();
        (1..=STREAM).for_each(|value| sender.send(value));
        here();
    });
    let mut receiver = join(&name, &AtomicBool::new(false)).unwrap();
    assert_eq!(receiver.recv(), Ok(0));
    let calls = child.stopped().tap_kill(Child::count_calls);
    // One in a millisecond, to see who comes.
    assert!(calls < STREAM / 10, "{calls}");
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(STREAM), Err(Error::Died)));
}

#[cfg(target_arch = "x86_64")]
fn send_all(name: &str, received: &Shared) -> Result<(), Error> {
    let mut sender = WatchSender::bind(name, 0_u64)?;
    (1..=MESSAGES).for_each(|value| sender.send(value));
    // A receiver that was refused comes again.
    while received.get() != MESSAGES {
        sender.serve_timeout(Duration::from_millis(1));
    }
    Ok(())
}

/// A sender of which this call fails with this one of its errors: each receiver that comes has its value, or is refused.
#[cfg(target_arch = "x86_64")]
pub(crate) fn sender_fails(call: u64, error: usize) -> Failure {
    let (name, received) = (name(), Arc::new(Shared::new()));
    let reached = Arc::clone(&received);
    let beside = |is_over: Arc<AtomicBool>| {
        let name = name.clone();
        thread::spawn(move || {
            while let Some(mut receiver) = join(&name, &is_over) {
                receiver.set_spin(0);
                receiver.iter().for_each(|value| reached.set(value));
            }
        })
    };
    in_a_crowd(|| send_all(&name, &received), beside, call, error)
}

#[cfg(target_arch = "x86_64")]
fn receive_all(name: &str) -> Result<(), Error> {
    let mut receiver = WatchReceiver::<u64>::from_fd(connect(name)?)?;
    receiver.set_spin(0);
    let mut last = 0;
    while last < MESSAGES {
        last = receiver.recv()?;
    }
    Ok(())
}

/// As [`sender_fails`], of a receiver.
#[cfg(target_arch = "x86_64")]
pub(crate) fn receiver_fails(call: u64, error: usize) -> Failure {
    let name = name();
    in_a_crowd(|| receive_all(&name), |is_over| sending(&name, Duration::from_micros(50), is_over), call, error)
}
