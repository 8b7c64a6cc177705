//! A weak sender that is upgraded, against the drop of the last sender and of the receiver.

use loom::thread;
use ysuite::mpsc;

use crate::{model, model_up_to};

#[test]
fn an_upgrade_against_the_last_senders_end() {
    model(|| {
        let (mut sender, mut receiver) = mpsc::unbounded();
        let weak = sender.downgrade();
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            drop(sender);
        });
        let mut expected = 1;
        if let Some(mut sender) = weak.upgrade() {
            sender.send(2).unwrap();
            expected += 2;
        }
        // The last sender has woken the receiver.
        let received: u32 = std::iter::from_fn(|| receiver.recv().ok()).sum();
        assert_eq!((received, receiver.sender_count()), (expected, 0));
        assert!(weak.upgrade().is_none());
        thread.join().unwrap();
    });
}

#[test]
fn an_upgrade_elsewhere_against_a_receiver_going_to_sleep() {
    model_up_to(2, || {
        let (sender, mut receiver) = mpsc::unbounded();
        let weak = sender.downgrade();
        let thread = thread::spawn(move || weak.upgrade().map(|mut sender| sender.send(1).unwrap()).is_some());
        drop(sender);
        let received = receiver.recv().is_ok();
        assert_eq!(received, thread.join().unwrap());
        assert!(receiver.recv().is_err());
    });
}

#[test]
fn an_upgrade_against_a_receiver_that_closes() {
    model(|| {
        let (sender, mut receiver) = mpsc::unbounded();
        let weak = sender.downgrade();
        let thread = thread::spawn(move || weak.upgrade().is_some_and(|mut sender| sender.send(1).is_ok()));
        receiver.close();
        let received = receiver.recv().is_ok();
        assert_eq!(received, thread.join().unwrap());
        drop(sender);
    });
}

#[test]
fn an_upgrade_that_finds_no_lane_against_the_last_senders_end() {
    model_up_to(2, || {
        let (sender, mut receiver) = mpsc::bounded_for::<u32>(1, 1);
        let weak = sender.downgrade();
        let thread = thread::spawn(move || drop(weak.upgrade()));
        drop(sender);
        // Counted for a moment, the upgrade may be the last: then it wakes the receiver.
        assert!(receiver.recv().is_err());
        thread.join().unwrap();
    });
}
