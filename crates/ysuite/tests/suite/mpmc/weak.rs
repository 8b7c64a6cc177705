//! Handles that are counted, compared, and weak.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ysuite::Spin;
use ysuite::mpmc;
use ysuite::{RecvError, SendError, TryRecvError};

use crate::support::{Tally, guarded};

/// Claim: The counts of senders and receivers are exact.
#[test]
fn ends_are_counted_on_both_sides() {
    let (sender, receiver) = mpmc::bounded::<u8>(1);
    assert_eq!((sender.sender_count(), sender.receiver_count()), (1, 1));
    let (others, more) = ([(); 3].map(|()| sender.clone()), receiver.clone());
    assert_eq!((receiver.sender_count(), receiver.receiver_count()), (4, 2));
    let weak = (sender.downgrade(), receiver.downgrade());
    assert_eq!((sender.sender_count(), sender.receiver_count()), (4, 2));
    drop(others);
    drop(more);
    assert_eq!((sender.sender_count(), receiver.receiver_count()), (1, 1));
    let permit = sender.clone().try_reserve_owned().unwrap();
    assert_eq!(sender.sender_count(), 2);
    drop((permit, sender));
    assert_eq!((receiver.sender_count(), receiver.receiver_count()), (0, 1));
    drop(weak);
}

// The hash is that of the channel's address, which nothing changes.
/// Claim: `mpmc` handles compare equal exactly if they belong to the same channel.
#[allow(clippy::mutable_key_type)]
#[test]
fn ends_are_equal_where_they_belong_to_the_same_channel() {
    let (sender, receiver) = mpmc::bounded::<f32>(1);
    let (other, another) = mpmc::bounded::<f32>(1);
    assert!(sender == sender.clone() && sender.same_channel(&sender.clone()) && sender != other);
    assert!(receiver == receiver.clone() && receiver.same_channel(&receiver.clone()) && receiver != another);
    let senders: HashSet<_> = [sender.clone(), other.clone(), sender.clone()].into();
    assert!(senders.len() == 2 && senders.contains(&sender));
    assert_eq!(HashSet::from([receiver.clone(), receiver.clone(), another]).len(), 2);
    let weak = (sender.downgrade(), receiver.downgrade());
    assert!(weak.0 == sender.downgrade() && weak.0 != other.downgrade());
    assert!(weak.1 == weak.1.clone() && weak.1.same_channel(&receiver.downgrade()));
}

#[test]
fn a_weak_sender_does_not_keep_receivers_waiting() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded(2);
        let weak = sender.downgrade();
        let waiting = thread::spawn(move || (receiver.recv(), receiver.recv()));
        weak.upgrade().expect("there is a sender").send(1).unwrap();
        drop(sender);
        assert_eq!(waiting.join().unwrap(), (Ok(1), Err(RecvError)));
        assert!(weak.upgrade().is_none() && weak.clone().upgrade().is_none());
    });
}

#[test]
fn an_upgraded_end_keeps_the_channel_open_and_has_the_settings() {
    let (sender, receiver) = mpmc::bounded(2);
    sender.set_spin(Spin::None);
    let (weak, weak_receiver) = (sender.downgrade(), receiver.downgrade());
    let (again, other) = (weak.upgrade().unwrap(), weak_receiver.upgrade().unwrap());
    drop((sender, receiver));
    again.send(1).unwrap();
    assert_eq!((other.recv(), other.try_recv()), (Ok(1), Err(TryRecvError::Empty)));
    drop(again);
    assert_eq!(other.try_recv(), Err(TryRecvError::Disconnected));
    assert!(weak.upgrade().is_none());
    // The other side is still there; but nothing can come any more.
    assert!(weak_receiver.upgrade().is_none());
}

#[test]
fn a_weak_receiver_keeps_no_message() {
    let tally = Tally::of(4);
    let (sender, receiver) = mpmc::bounded(3);
    let weak = receiver.downgrade();
    tally.some(3).for_each(|message| sender.send(message).unwrap());
    drop(receiver);
    assert_eq!(tally.ended(), 3);
    assert!(weak.upgrade().is_none());
    assert!(sender.send(tally.next()).is_err());
    drop(sender);
    assert!(weak.upgrade().is_none());
    tally.assert_all_ended();
}

#[test]
fn a_closed_channel_gives_no_ends() {
    let (sender, receiver) = mpmc::bounded::<u8>(1);
    let weak = (sender.downgrade(), receiver.downgrade());
    assert!(weak.0.upgrade().is_some() && weak.1.upgrade().is_some());
    sender.close();
    assert!(weak.0.upgrade().is_none() && weak.1.upgrade().is_none());
}

/// Upgrades race with the last drop: a thread that gets a sender can send, and what it sends is received.
///
/// Claim: An upgrade of a weak handle that races with the last drop succeeds completely or fails, on both sides.
/// Also: model exchange_close::an_upgrade_against_the_last_senders_drop.
#[test]
fn an_upgrade_against_the_last_drop_is_all_or_nothing() {
    guarded(|| {
        let mut upgraded = [0, 0];
        for _ in 0..if cfg!(miri) { 20 } else { 2_000 } {
            let (sender, receiver) = mpmc::bounded(4);
            let sent = Arc::new(AtomicUsize::new(0));
            let threads = [0, 1].map(|_| {
                let (weak, sent) = (sender.downgrade(), sent.clone());
                thread::spawn(move || {
                    let Some(sender) = weak.upgrade() else { return false };
                    sender.send(7).unwrap();
                    sent.fetch_add(1, Ordering::Relaxed);
                    true
                })
            });
            drop(sender);
            let received = receiver.iter().count();
            let got = threads.map(|thread| thread.join().unwrap());
            assert_eq!(received, sent.load(Ordering::Relaxed));
            assert!(receiver.is_disconnected() && receiver.sender_count() == 0);
            got.iter().for_each(|&got| upgraded[usize::from(got)] += 1);
        }
        assert!(upgraded.iter().sum::<usize>() > 0);
    });
}

#[test]
fn a_weak_receiver_that_is_upgraded_in_time_keeps_the_messages() {
    guarded(|| {
        for _ in 0..if cfg!(miri) { 20 } else { 2_000 } {
            let tally = Tally::of(2);
            let (sender, receiver) = mpmc::bounded(2);
            sender.send(tally.next()).unwrap();
            let weak = receiver.downgrade();
            let thread = thread::spawn(move || weak.upgrade());
            drop(receiver);
            match thread.join().unwrap() {
                Some(receiver) => assert_eq!(receiver.recv().map(|message| message.number), Ok(0)),
                None => assert!(matches!(sender.send(tally.next()), Err(SendError(_)))),
            }
            tally.assert_all_ended();
        }
    });
}

#[test]
fn hundreds_of_weak_ends_are_all_of_the_channel() {
    const ENDS: usize = 300;
    let (sender, receiver) = mpmc::unbounded();
    let weak: Vec<_> = (0..ENDS).map(|_| (sender.downgrade(), receiver.downgrade())).collect();
    let ends: Vec<_> =
        weak.iter().map(|(sender, receiver)| (sender.upgrade().unwrap(), receiver.upgrade().unwrap())).collect();
    assert_eq!((sender.sender_count(), sender.receiver_count()), (ENDS + 1, ENDS + 1));
    drop((sender, receiver));
    (0..).zip(&ends).for_each(|(number, (sender, _))| sender.send(number).unwrap());
    assert!((0..).zip(&ends).all(|(number, (_, receiver))| receiver.try_recv() == Ok(number)));
    let (senders, receivers): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
    drop(senders);
    assert!(receivers.iter().all(|receiver| receiver.recv() == Err(RecvError)));
    assert!(weak.iter().all(|(sender, _)| sender.upgrade().is_none()));
}
