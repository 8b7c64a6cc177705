//! Waiting for the receiver's disconnect, and the close of an mpsc channel: against senders that send, connect and
//! wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use loom::future::block_on;
use loom::thread;
use ysuite::TryReserveError;
use ysuite::{mpsc, spsc};

use crate::runner::model_with;
use crate::{Counted, model, model_up_to};

#[test]
fn a_thread_that_waits_for_the_end_against_a_receiver_that_closes() {
    model(|| {
        let (sender, mut receiver) = spsc::unbounded::<u8>();
        let thread = thread::spawn(move || {
            sender.wait_closed();
            assert!(sender.is_disconnected());
        });
        receiver.close();
        thread.join().unwrap();
    });
}

/// Claim: A waiter for the receivers' disconnection is notified by a drop and by a close, as a thread or a task, also
/// if several wait.
/// Also: model exchange_close::the_last_receivers_end_against_one_that_waits_for_it,
/// suite mpmc::close::senders_wait_for_the_end_of_the_receivers.
#[test]
fn a_thread_that_waits_for_the_end_against_a_receiver_that_goes() {
    model(|| {
        let (sender, receiver) = spsc::unbounded::<u8>();
        let thread = thread::spawn(move || {
            // A timed wait in a model ends at any point that the explorer chooses.
            if !sender.wait_closed_timeout(Duration::from_secs(1)) {
                sender.wait_closed();
            }
        });
        drop(receiver);
        thread.join().unwrap();
    });
}

/// The receiver's mark may be in the sender's hands as it goes; then it is the sender that drops what is left, though it is kept.
///
/// Claim: A sender that is closed but kept strands no message, whenever the receiver is dropped.
#[test]
fn a_sender_that_closes_and_is_kept_against_a_receiver_that_goes() {
    model(|| {
        let ended = Arc::new(AtomicUsize::new(0));
        let (mut sender, receiver) = spsc::unbounded();
        assert!(sender.send(Counted(ended.clone())).is_ok());
        let thread = thread::spawn(move || {
            sender.close();
            sender
        });
        drop(receiver);
        let sender = thread.join().unwrap();
        assert_eq!(ended.load(Ordering::Relaxed), 1);
        drop(sender);
    });
}

#[test]
fn a_task_that_waits_for_the_end_against_a_receiver_that_goes() {
    model_up_to(2, || {
        let (sender, receiver) = mpsc::unbounded::<u8>();
        let thread = thread::spawn(move || drop(receiver));
        block_on(sender.closed());
        assert!(sender.is_disconnected());
        thread.join().unwrap();
    });
}

#[test]
fn two_that_wait_for_the_end_are_both_told() {
    model_up_to(1, || {
        let (sender, mut receiver) = mpsc::bounded::<u8>(1);
        let other = sender.clone();
        let first = thread::spawn(move || sender.wait_closed());
        let second = thread::spawn(move || other.wait_closed());
        receiver.close();
        first.join().unwrap();
        second.join().unwrap();
    });
}

/// As `cut::close_against_the_senders_end_beyond_the_cut`, in a lane that the receiver has not read.
///
/// Claim: Closing an `mpsc` channel, lane by lane, loses no message, also while a sender is dropped beyond the cut.
#[test]
fn an_mpsc_close_against_a_senders_drop_beyond_the_cut() {
    model_with(3, || {
        let (mut sender, mut receiver) = mpsc::unbounded();
        (0..2).for_each(|number| sender.send(number).unwrap());
        let thread = thread::spawn(move || {
            let accepted = 2 + usize::from(sender.send(2).is_ok());
            // The last place of a chunk, and the first of the next.
            (3..5).for_each(|number| sender.write(number).unwrap());
            drop(sender);
            accepted
        });
        receiver.close();
        let received: Vec<_> = std::iter::from_fn(|| receiver.recv().ok()).collect();
        assert!(received.len() >= thread.join().unwrap());
        assert!(received.into_iter().enumerate().all(|(index, number)| index == number));
    });
}

/// Claim: A close cuts every lane in any state. A sender that connects later belongs to a closed channel.
/// Also: suite mpsc::closing::a_close_cuts_every_lane_however_it_stands,
/// stress closing::mpsc_channels_that_their_receiver_closes.
#[test]
fn an_mpsc_close_against_sending_in_two_lanes() {
    model_up_to(2, || {
        let ended = Arc::new(AtomicUsize::new(0));
        let (mut active, mut receiver) = mpsc::unbounded();
        let mut fresh = active.clone();
        assert!(active.send(Counted(ended.clone())).is_ok());
        drop(receiver.recv());
        let count = ended.clone();
        let thread = thread::spawn(move || {
            let mut sent = usize::from(fresh.send(Counted(count.clone())).is_ok());
            for _ in 0..2 {
                sent += usize::from(active.send(Counted(count.clone())).is_ok());
            }
            (fresh, active, sent)
        });
        assert!(receiver.close() && !receiver.close());
        let length = receiver.len();
        let received = std::iter::from_fn(|| receiver.recv().ok()).count();
        let (fresh, active, sent) = thread.join().unwrap();
        assert_eq!((received, length, ended.load(Ordering::Relaxed)), (sent, sent, 4));
        drop((fresh, active));
        assert!(receiver.recv().is_err());
    });
}

#[test]
fn an_mpsc_close_then_its_drop_against_sending_in_two_lanes() {
    model_up_to(2, || {
        let ended = Arc::new(AtomicUsize::new(0));
        let (mut active, mut receiver) = mpsc::unbounded();
        let mut fresh = active.clone();
        (0..2).for_each(|_| assert!(active.send(Counted(ended.clone())).is_ok()));
        drop(receiver.recv());
        let count = ended.clone();
        let thread = thread::spawn(move || {
            drop(fresh.send(Counted(count.clone())));
            drop(active.send(Counted(count.clone())));
            (fresh, active)
        });
        receiver.close();
        drop(receiver);
        let senders = thread.join().unwrap();
        assert_eq!(ended.load(Ordering::Relaxed), 4);
        drop(senders);
        assert_eq!(ended.load(Ordering::Relaxed), 4);
    });
}

#[test]
fn an_mpsc_close_against_a_new_sender() {
    model(|| {
        let ended = Arc::new(AtomicUsize::new(0));
        let (sender, mut receiver) = mpsc::unbounded();
        let count = ended.clone();
        let thread = thread::spawn(move || {
            let mut clone = sender.clone();
            let sent = (0..2).filter(|_| clone.send(Counted(count.clone())).is_ok()).count();
            (clone, sent)
        });
        receiver.close();
        let received = std::iter::from_fn(|| receiver.recv().ok()).count();
        let (mut clone, sent) = thread.join().unwrap();
        assert_eq!(received, sent);
        assert!(clone.is_disconnected() && clone.send(Counted(ended.clone())).is_err());
        assert_eq!(ended.load(Ordering::Relaxed), 3);
    });
}

/// A sender that has sent nothing has no lane as yet, and gets none of a channel that is closed by then.
#[test]
fn an_mpsc_close_against_a_try_to_reserve_is_no_lack_of_room() {
    model(|| {
        let (mut sender, mut receiver) = mpsc::unbounded::<u8>();
        let thread = thread::spawn(move || {
            assert_ne!(sender.try_reserve().map(drop), Err(TryReserveError::Full));
        });
        receiver.close();
        thread.join().unwrap();
    });
}

#[test]
fn an_mpsc_close_against_a_sender_without_room() {
    model_up_to(2, || {
        let (mut sender, mut receiver) = mpsc::bounded(1);
        sender.send(1).unwrap();
        let thread = thread::spawn(move || sender.send(2).is_ok());
        receiver.close();
        let received = std::iter::from_fn(|| receiver.recv().ok()).count();
        assert_eq!(received, 1 + usize::from(thread.join().unwrap()));
    });
}

/// Claim: After a sender closes, the receiver still gets everything that was sent before.
/// Also: suite spsc::unbounded::the_senders_close_racing_with_receiving.
#[test]
fn a_senders_close_against_a_receiver_going_to_sleep() {
    model(|| {
        let (mut sender, mut receiver) = mpsc::unbounded();
        let thread = thread::spawn(move || {
            sender.write(1).unwrap();
            assert!(sender.close());
            let mut clone = sender.clone();
            assert!(sender.send(2).is_err() && clone.send(2).is_err());
            (sender, clone)
        });
        assert_eq!(receiver.recv(), Ok(1));
        assert!(receiver.recv().is_err() && receiver.sender_count() == 0);
        thread.join().unwrap();
    });
}
