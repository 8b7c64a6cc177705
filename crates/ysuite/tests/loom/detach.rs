//! Receivers that leave a set, and join another, while a sender sends: no receiver is forgotten, and nothing is freed
//! too early.

use loom::thread;
use ysuite::signal::{Attach, Wait, YPollset};
use ysuite::{mpmc, mpsc, spsc};

use crate::{model, model_up_to};

/// Leaves one set for another while messages come, and waits for them there.
fn moves<R: Attach>(mut receiver: R, mut take: impl FnMut(&mut R) -> Option<u32>, messages: u32) {
    let (mut one, mut other) = (YPollset::new(), YPollset::new());
    one.attach(&mut receiver, 0).unwrap();
    let mut expected = 0;
    let mut look = |receiver: &mut R| {
        let message = take(receiver);
        if let Some(message) = message {
            assert_eq!(message, expected);
            expected += 1;
        }
        (message, expected)
    };
    // The receiver is armed if no message has come.
    look(&mut receiver);
    assert_eq!(one.detach(&mut receiver), Some(0));
    other.attach(&mut receiver, 1).unwrap();
    loop {
        let (message, received) = look(&mut receiver);
        if received == messages {
            break;
        }
        if message.is_none() {
            other.wait();
        }
    }
}

/// Claim: A receiver can leave a set and join another while senders send. No signal is lost, and nothing is freed too
/// early.
/// Also: suite attached::pollset::pipe::it_moves_between_sets_under_a_stream.
#[test]
fn detach_against_signal_of_a_pipe() {
    model(|| {
        let (mut sender, receiver) = spsc::unbounded();
        let thread = thread::spawn(move || {
            sender.send(0).unwrap();
            sender.send(1).unwrap();
            sender
        });
        moves(receiver, |receiver| receiver.try_recv().ok(), 2);
        thread.join().unwrap();
    });
}

#[test]
fn detach_against_an_mpsc_signal() {
    model_up_to(2, || {
        let (mut sender, receiver) = mpsc::unbounded();
        let thread = thread::spawn(move || {
            sender.send(0).unwrap();
            sender.send(1).unwrap();
            sender
        });
        moves(receiver, |receiver| receiver.try_recv().ok(), 2);
        thread.join().unwrap();
    });
}

#[test]
fn detach_against_two_mpsc_senders() {
    // Three threads: with two preemptions the model had not ended after five minutes.
    model_up_to(1, || {
        let (mut one, mut receiver) = mpsc::unbounded();
        let mut two = one.clone();
        let mut set = YPollset::new();
        set.attach(&mut receiver, 0).unwrap();
        assert!(receiver.try_recv().is_err());
        let first = thread::spawn(move || one.send(1).unwrap());
        let second = thread::spawn(move || two.send(2).unwrap());
        assert!(receiver.detach());
        // A late signal raises no id in a set that the receiver has left.
        set.attach(&mut receiver, 1).unwrap();
        let mut sum = 0;
        while sum < 3 {
            match receiver.try_recv() {
                Ok(message) => sum += message,
                Err(_) => drop(set.wait()),
            }
        }
        first.join().unwrap();
        second.join().unwrap();
    });
}

#[test]
fn detach_against_an_mpmc_signal() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(2);
        let thread = thread::spawn(move || {
            sender.send(0).unwrap();
            sender
        });
        moves(receiver, |receiver| receiver.try_recv().ok(), 1);
        thread.join().unwrap();
    });
}

#[test]
fn detach_against_the_senders_end() {
    model(|| {
        let (sender, mut receiver) = spsc::unbounded::<u32>();
        let mut set = YPollset::new();
        set.attach(&mut receiver, 0).unwrap();
        assert!(receiver.try_recv().is_err());
        let thread = thread::spawn(move || drop(sender));
        assert!(receiver.detach());
        set.attach(&mut receiver, 0).unwrap();
        while !receiver.try_recv().unwrap_err().is_disconnected() {
            set.wait();
        }
        thread.join().unwrap();
    });
}
