//! The cases of loans: what a receiver was lent is whole, and stays when the sender has died; and a receiver that dies holds
//! nothing, whatever it had, so that all slots come back and the sender, which may wait for them just then, goes on.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ysuite_shm::{Borrowed, Error, LoanError, LoanReceiver, LoanSender, Why, connect};

use crate::attacks;
use crate::cases::{MESSAGES, Outcome, Part, Peer};
#[cfg(target_arch = "x86_64")]
use crate::injected::{Failure, in_a_crowd};
use crate::process::{Child, Point, Shared, here};
use crate::watch::{connected, name};

/// Fewer than are sent, and than both receivers could hold.
const SLOTS: usize = 3;
const WORDS: usize = 12;

fn join(name: &str, is_over: &AtomicBool) -> Option<LoanReceiver> {
    connected(name, is_over).and_then(|socket| LoanReceiver::from_fd(socket).ok())
}

/// Each fourth message has memory of its own.
fn lend(sender: &mut LoanSender, message: u64) -> Result<(), Error> {
    let loan = if message % 4 == 3 { sender.large(8 * WORDS) } else { sender.loan(8 * WORDS) };
    let mut loan = loan.map_err(|error| match error {
        LoanError::Ended(error) => error,
        LoanError::Dry => panic!("it waits"),
    })?;
    loan.write(0, &[message; WORDS]);
    loan.send()
}

fn whole(borrowed: &Borrowed) -> u64 {
    let words = borrowed.read::<[u64; WORDS]>(0).unwrap();
    assert!(words == [words[0]; WORDS] && borrowed.len() == 8 * WORDS, "{words:?}");
    assert_eq!(borrowed.as_slice().is_some(), words[0] % 4 == 3);
    words[0]
}

fn sender_of_part(name: &str, part: Part, joined: &Shared, sent: &Shared) {
    if part == Part::Hello {
        here();
    }
    let mut sender = LoanSender::bind(name, SLOTS, 8 * WORDS).unwrap();
    sender.set_spin(0);
    // It says hello, and then that it has.
    while part != Part::Hello && joined.get() == 0 {
        sender.serve_timeout(Duration::from_millis(1));
    }
    sender.serve();
    if matches!(part, Part::Messages(_)) {
        here();
    }
    for message in 0..MESSAGES {
        lend(&mut sender, message).unwrap();
        sent.set(message + 1);
    }
    part.leave(sender);
}

pub(crate) fn sender_dies(part: Part, point: Point) -> Outcome {
    let (name, sent, joined) = (name(), Shared::new(), Arc::new(Shared::new()));
    let child = Child::traced(|| sender_of_part(&name, part, &joined, &sent));
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let reader = thread::spawn(move || {
        let mut receiver = join(&name, &over)?;
        receiver.set_spin(if let Part::Messages(Peer::Spins) = part { u32::MAX } else { 0 });
        joined.set(1);
        let (mut next, mut held) = (None, VecDeque::new());
        loop {
            match receiver.recv() {
                Ok(borrowed) => {
                    let message = whole(&borrowed);
                    assert!(next.is_none_or(|next| message == next), "{message} behind {next:?}");
                    next = Some(message + 1);
                    held.push_back((message, borrowed));
                    held.drain(..held.len().saturating_sub(2));
                }
                Err(error) => {
                    drop(receiver);
                    assert!(held.iter().all(|(message, borrowed)| whole(borrowed) == *message), "it stays");
                    return Some((next.unwrap_or(0), error));
                }
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

/// It holds two at a time. In its drop something is still lent to it.
fn receiver_of_part(name: &str, part: Part) {
    if part == Part::Hello {
        here();
    }
    let mut receiver = join(name, &AtomicBool::new(false)).unwrap();
    receiver.set_spin(0);
    let mut held = VecDeque::from([receiver.recv().unwrap()]);
    if matches!(part, Part::Messages(_)) {
        here();
    }
    for _ in 0..MESSAGES {
        held.push_back(receiver.recv().unwrap());
        whole(&held[1]);
        held.pop_front();
    }
    part.leave((receiver, held));
}

/// Lends until it is over, beside a receiver that receives each message; then all slots are free, and all others forgotten.
fn lending(name: &str, spin: u32, is_over: Arc<AtomicBool>) -> thread::JoinHandle<()> {
    let mut sender = LoanSender::bind(name, SLOTS, 8 * WORDS).unwrap();
    sender.set_spin(spin);
    thread::spawn(move || {
        let mut innocent = LoanReceiver::from_fd(sender.seat().unwrap()).unwrap();
        sender.serve();
        let mut message = 0;
        // ORDERING: Relaxed; a test.
        while !is_over.load(Ordering::Relaxed) {
            // For ever, but for a receiver that dies.
            lend(&mut sender, message).unwrap();
            assert_eq!(whole(&innocent.recv().unwrap()), message);
            message += 1;
            thread::sleep(Duration::from_micros(20));
        }
        while sender.receivers() > 1 {
            sender.serve_timeout(Duration::from_millis(1));
        }
        assert_eq!((sender.free(), sender.held()), (SLOTS, 0));
        lend(&mut sender, message).unwrap();
        assert_eq!(whole(&innocent.recv().unwrap()), message);
    })
}

pub(crate) fn receiver_dies(part: Part, point: Point) -> Outcome {
    let name = name();
    let child = Child::traced(|| receiver_of_part(&name, part));
    let is_over = Arc::new(AtomicBool::new(false));
    let spin = if part == Part::Messages(Peer::Spins) { 1_000 } else { 0 };
    let writer = lending(&name, spin, Arc::clone(&is_over));
    let child = child.stopped();
    let reached = child.step(point);
    child.kill();
    // ORDERING: Relaxed; a test.
    is_over.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    Outcome { reached, lost: 0, doubled: 0 }
}

/// A receiver that is killed while it holds all slots gives them back; one that lives holds them for as long as it likes.
pub(crate) fn killed_with_all_slots() {
    let name = name();
    let mut sender = LoanSender::bind(&name, SLOTS, 8 * WORDS).unwrap();
    let child = Child::traced(|| {
        let mut receiver = join(&name, &AtomicBool::new(false)).unwrap();
        let held: Vec<_> = (0..SLOTS).map(|_| receiver.recv().unwrap()).collect();
        here();
        drop(held);
    });
    while sender.receivers() == 0 {
        sender.serve_timeout(Duration::from_millis(1));
    }
    // None of memory of its own.
    (0..SLOTS as u64).for_each(|message| lend(&mut sender, message).unwrap());
    let child = child.stopped();
    assert_eq!((sender.free(), sender.held()), (0, SLOTS));
    assert_eq!(sender.loan_timeout(8, Duration::from_millis(3)).unwrap_err(), LoanError::Dry);
    let waiting = thread::spawn(move || {
        drop(sender.loan(8).unwrap());
        (sender.free(), sender.receivers())
    });
    child.kill();
    assert_eq!(waiting.join().unwrap(), (SLOTS, 0));
}

/// A receiver that has no descriptor for memory of its own is told so, and not that its sender lies; what it has stays.
pub(crate) fn no_descriptors() {
    let (name, joined) = (name(), Shared::new());
    let child = Child::run(|| {
        let mut receiver = join(&name, &AtomicBool::new(false)).unwrap();
        let held = receiver.recv().unwrap();
        attacks::limit(libc::RLIMIT_NOFILE, 0);
        joined.set(1);
        assert_eq!(receiver.recv().unwrap_err(), Error::Refused(Why::System(libc::EMFILE)));
        assert_eq!(whole(&held), 2);
    });
    let mut sender = LoanSender::bind(&name, SLOTS, 8 * WORDS).unwrap();
    while sender.receivers() == 0 {
        sender.serve_timeout(Duration::from_millis(1));
    }
    lend(&mut sender, 2).unwrap();
    while joined.get() == 0 {
        thread::yield_now();
    }
    lend(&mut sender, 3).unwrap();
    child.join();
}

/// A forked child that drops its copies of what was lent, and of the receiver, gives nothing back.
pub(crate) fn forked_loan() {
    let mut sender = LoanSender::without_name(SLOTS, 8 * WORDS).unwrap();
    let mut receiver = Some(LoanReceiver::from_fd(sender.seat().unwrap()).unwrap());
    sender.serve();
    lend(&mut sender, 0).unwrap();
    let mut held = receiver.as_mut().map(|receiver| receiver.recv().unwrap());
    Child::run(|| drop((held.take(), receiver.take()))).join();
    Child::run(|| drop((receiver.take(), held.take()))).join();
    assert_eq!((sender.held(), sender.receivers()), (1, 1));
    lend(&mut sender, 1).unwrap();
    assert_eq!((whole(&receiver.unwrap().recv().unwrap()), whole(&held.unwrap())), (1, 0));
}

#[cfg(target_arch = "x86_64")]
fn lend_all(name: &str, received: &Shared) -> Result<(), Error> {
    let mut sender = LoanSender::bind(name, SLOTS, 8 * WORDS)?;
    sender.set_spin(0);
    // A receiver that was refused comes again.
    let mut message = 0;
    while received.get() < MESSAGES {
        lend(&mut sender, message)?;
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
            while let Some(mut receiver) = join(&name, &is_over) {
                receiver.set_spin(0);
                let mut next = None;
                receiver.iter().for_each(|borrowed| {
                    let message = whole(&borrowed);
                    assert!(next.is_none_or(|next| message == next), "{message} behind {next:?}");
                    next = Some(message + 1);
                    count.set(count.get() + 1);
                });
            }
        })
    };
    in_a_crowd(|| lend_all(&name, &received), beside, call, error)
}

#[cfg(target_arch = "x86_64")]
fn receive_all(name: &str) -> Result<(), Error> {
    let mut receiver = LoanReceiver::from_fd(connect(name)?)?;
    receiver.set_spin(0);
    let mut held = VecDeque::new();
    for _ in 0..MESSAGES {
        held.push_back(receiver.recv()?);
        held.drain(..held.len().saturating_sub(2));
    }
    Ok(())
}

/// As [`sender_fails`], of a receiver.
#[cfg(target_arch = "x86_64")]
pub(crate) fn receiver_fails(call: u64, error: usize) -> Failure {
    let name = name();
    in_a_crowd(|| receive_all(&name), |is_over| lending(&name, 0, is_over), call, error)
}

/// Loans cost no system call for each: neither the sender, nor a receiver that has messages.
pub(crate) fn loans_without_calls() {
    const STREAM: u64 = 4_000;
    let (name, joined) = (name(), Shared::new());
    let child = Child::traced(|| {
        let mut sender = LoanSender::bind(&name, 4_096, 8).unwrap();
        while joined.get() == 0 {
            sender.serve_timeout(Duration::from_millis(1));
        }
        sender.serve();
        here();
        for message in 0..STREAM {
            let mut loan = sender.loan(8).unwrap();
            loan.write(0, &message);
            loan.send().unwrap();
        }
        here();
    });
    let receiver = Child::traced(|| {
        let mut receiver = join(&name, &AtomicBool::new(false)).unwrap();
        joined.set(1);
        here();
        (0..STREAM).for_each(|message| assert_eq!(receiver.recv().unwrap().read(0), Some(message)));
        here();
    });
    let receiver = receiver.stopped();
    let (child, calls) = (child.stopped(), |child: &Child| child.count_calls());
    // One in a millisecond, to see who comes.
    let sent = calls(&child);
    let received = calls(&receiver);
    assert!(sent < STREAM / 10 && received < STREAM / 10, "{sent} {received}");
}
