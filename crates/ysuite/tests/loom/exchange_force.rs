//! Sending in the oldest message's place, under the model checker: against receivers, others that do the same, a close, and
//! places that are held. A cell that two threads use at once shows as a race on it.

use loom::thread;
use ysuite::mpmc::{self, Receiver, Sender};
use ysuite::signal::{Wait, YPollset};

use crate::model_up_to;

/// Sends by force; returns what made way, or what came back.
fn force(sender: &Sender<u32>, message: u32) -> Option<u32> {
    sender.force_send(message).unwrap_or_else(|error| Some(error.into_inner()))
}

/// What is left, and what these threads had: sorted.
fn all(receiver: &Receiver<u32>, threads: impl IntoIterator<Item = Option<u32>>) -> Vec<u32> {
    let mut all: Vec<_> = receiver.try_iter().chain(threads.into_iter().flatten()).collect();
    all.sort_unstable();
    all
}

#[test]
fn a_force_against_a_receiver() {
    for capacity in [1, 2] {
        model_up_to(3, move || {
            let (sender, receiver) = mpmc::bounded(capacity);
            (0..capacity as u32).for_each(|number| sender.send(number).unwrap());
            let forcing = thread::spawn(move || (force(&sender, 7), sender));
            let received = receiver.try_recv().ok();
            let (displaced, sender) = forcing.join().unwrap();
            let expected: Vec<_> = (0..capacity as u32).chain([7]).collect();
            assert_eq!(all(&receiver, [received, displaced]), expected);
            assert!((0..capacity).all(|_| sender.try_send(1).is_ok()) && sender.try_send(1).is_err());
        });
    }
}

#[test]
fn two_forces_at_once() {
    for capacity in [1, 2] {
        model_up_to(2, move || {
            let (sender, receiver) = mpmc::bounded(capacity);
            (0..capacity as u32).for_each(|number| sender.send(number).unwrap());
            let second = sender.clone();
            let forcing = thread::spawn(move || force(&second, 7));
            let mine = force(&sender, 8);
            let displaced = forcing.join().unwrap();
            assert!(mine.is_some() && displaced.is_some() && receiver.len() == capacity);
            let expected: Vec<_> = (0..capacity as u32).chain([7, 8]).collect();
            assert_eq!(all(&receiver, [mine, displaced]), expected);
        });
    }
}

#[test]
fn two_forces_and_a_receiver() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(1);
        sender.send(0).unwrap();
        let (second, other) = (sender.clone(), receiver.clone());
        let forcing = thread::spawn(move || force(&second, 7));
        let receiving = thread::spawn(move || other.try_recv().ok());
        let mine = force(&sender, 8);
        let threads = [mine, forcing.join().unwrap(), receiving.join().unwrap()];
        assert_eq!(all(&receiver, threads), [0, 7, 8]);
    });
}

/// Claim: `force_send` wakes a sleeping receiver, and no waiting sender.
/// Also: suite mpmc::force::a_receiver_that_sleeps_is_woken_and_a_sender_that_waits_is_not.
#[test]
fn a_force_against_a_sender_and_a_receiver_going_to_sleep() {
    model_up_to(1, || {
        let (sender, receiver) = mpmc::bounded(1);
        let second = sender.clone();
        let sending = thread::spawn(move || second.send(1).unwrap());
        let receiving = thread::spawn(move || {
            let mut last = None;
            for message in &receiver {
                last = Some(message);
                if message == 7 {
                    break;
                }
            }
            (last, receiver)
        });
        let displaced = force(&sender, 7);
        assert!(displaced.is_none_or(|message| message == 1));
        let (last, receiver) = receiving.join().unwrap();
        assert_eq!(last, Some(7));
        sending.join().unwrap();
        drop(receiver);
    });
}

/// It is sent before the close, or comes back; nothing else gets lost.
///
/// Claim: `force_send` against a close sends its message before the close or returns it.
/// Also: suite mpmc::force::every_message_ends_once_whenever_the_channel_is_closed.
#[test]
fn a_force_against_a_close() {
    model_up_to(3, || {
        let (sender, receiver) = mpmc::bounded(1);
        sender.send(0).unwrap();
        let second = sender.clone();
        let forcing = thread::spawn(move || force(&second, 7));
        let closing = thread::spawn(move || sender.close());
        let first = receiver.recv().ok();
        let displaced = forcing.join().unwrap();
        assert!(closing.join().unwrap());
        assert!(first.is_some());
        let mut all: Vec<_> = receiver.iter().chain(first).chain(displaced).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 7]);
    });
}

/// Claim: `force_send` alongside permits leaves the freed cell to a sender.
#[test]
fn a_force_beside_a_permit_and_a_receiver() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(2);
        sender.send(0).unwrap();
        let permit = sender.clone().reserve_owned().unwrap();
        let forcing = thread::spawn(move || force(&sender, 7));
        let using = thread::spawn(move || permit.send(8).unwrap());
        let received = receiver.try_recv().ok();
        let displaced = forcing.join().unwrap();
        let sender = using.join().unwrap();
        assert_eq!(all(&receiver, [received, displaced]), [0, 7, 8]);
        assert!(sender.try_reserve_many(2).is_ok());
    });
}

/// A waiting sender sees the cell that a force leaves free next to a permit.
#[test]
fn a_force_beside_a_permit_against_a_sender_going_to_sleep() {
    model_up_to(1, || {
        let (sender, receiver) = mpmc::bounded(2);
        sender.send(0).unwrap();
        let permit = sender.clone().reserve_owned().unwrap();
        let second = sender.clone();
        let forcing = thread::spawn(move || (force(&second, 7), second));
        let sending = thread::spawn(move || sender.send(9).unwrap());
        let sender = permit.send(8).unwrap();
        let received = [receiver.recv().ok(), receiver.recv().ok()];
        sending.join().unwrap();
        let (displaced, _second) = forcing.join().unwrap();
        assert_eq!(all(&receiver, received.into_iter().chain([displaced])), [0, 7, 8, 9]);
        drop(sender);
    });
}

/// A sender is notified of the room that a receiver makes while the oldest message still blocks it, finds none, and is
/// notified once more.
#[test]
fn a_force_beside_a_permit_that_is_kept_against_an_attached_sender() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(2);
        sender.send(0).unwrap();
        let _permit = sender.clone().reserve_owned().unwrap();
        let (mut attached, mut set) = (sender.clone(), YPollset::new());
        set.attach(&mut attached, 0).unwrap();
        assert!(attached.try_send(9).is_err());
        let forcing = thread::spawn(move || force(&sender, 7));
        let _received = receiver.try_recv();
        let mut is_sent = set.check().next().is_some() && attached.try_send(9).is_ok();
        forcing.join().unwrap();
        is_sent = is_sent || set.check().next().is_some() && attached.try_send(9).is_ok();
        assert!(is_sent || attached.is_full(), "a sender in a set is not notified of room");
    });
}

/// Claim: If permits hold all room, `force_send` waits until one of them ends.
#[test]
fn a_force_where_all_places_are_held_against_a_permits_end() {
    for used in [true, false] {
        model_up_to(3, move || {
            let (sender, receiver) = mpmc::bounded(1);
            let permit = sender.clone().reserve_owned().unwrap();
            let forcing = thread::spawn(move || force(&sender, 7));
            let sender = if used { permit.send(8).unwrap() } else { permit.release() };
            assert_eq!(forcing.join().unwrap(), used.then_some(8));
            assert_eq!(receiver.try_recv(), Ok(7));
            drop(sender);
        });
    }
}
