//! Disconnecting an mpmc channel under the model checker: explicit close, waiting for the disconnect, weak handles.
//!
//! A receiver that waits on for a message that will never be sent shows as a deadlock; one that is disconnected too
//! early, as a message that is sent and not received.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use loom::future::block_on;
use loom::thread;
use ysuite::mpmc::{self, Receiver, Sender};
use ysuite::signal::{Wait, YPollset};

use crate::{Counted, model_up_to};

fn send_one(sender: Sender<u32>) -> thread::JoinHandle<usize> {
    thread::spawn(move || usize::from(sender.send(1).is_ok()))
}

fn count(receiver: Receiver<u32>) -> thread::JoinHandle<usize> {
    thread::spawn(move || receiver.iter().count())
}

/// The sender may have claimed its cell when the channel is closed: then its message is received.
///
/// Claim: A receiver of a closed channel waits for a message that was claimed, and learns of the disconnection when
/// there is none.
#[test]
fn a_close_against_a_sender_in_the_middle_and_a_receiver_going_to_sleep() {
    model_up_to(3, || {
        let (sender, receiver) = mpmc::bounded(2);
        let sending = send_one(sender.clone());
        let receiving = count(receiver);
        assert!(sender.close());
        assert_eq!(sending.join().unwrap(), receiving.join().unwrap());
    });
}

/// One of them gets the message that comes late, if one does; the other is still disconnected.
#[test]
fn a_close_against_a_sender_in_the_middle_and_two_receivers_going_to_sleep() {
    model_up_to(1, || {
        let (sender, receiver) = mpmc::bounded(2);
        let sending = send_one(sender.clone());
        let other = count(receiver.clone());
        let closing = thread::spawn(move || {
            // First: where the sender is in the middle, both wait for it.
            assert!(sender.close());
            (receiver.iter().count(), sender)
        });
        let sent = sending.join().unwrap();
        let (mine, _sender) = closing.join().unwrap();
        assert_eq!(sent, mine + other.join().unwrap());
    });
}

/// In a stream no publication is fenced.
///
/// Claim: Messages claimed before an `mpmc` close are received, and all later ones return. Of several closes, one comes
/// first.
/// Also: suite mpmc::linear::a_channel_that_is_closed_is_linearizable,
/// stress exchange::histories_of_channels_that_are_closed_are_linearizable.
#[test]
fn a_close_against_a_stream() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(4);
        // From here on no publisher promises fences.
        sender.send(0).unwrap();
        assert_eq!(receiver.recv(), Ok(0));
        let second = sender.clone();
        let sending = thread::spawn(move || (1..3).filter(|&message| second.send(message).is_ok()).count());
        let receiving = count(receiver);
        assert!(sender.close());
        assert_eq!(sending.join().unwrap(), receiving.join().unwrap());
    });
}

#[test]
fn a_close_against_an_attached_receiver_and_a_sender_in_the_middle() {
    model_up_to(1, || {
        let (sender, mut receiver) = mpmc::bounded(2);
        let sending = send_one(sender.clone());
        let receiving = thread::spawn(move || {
            let (mut set, mut received) = (YPollset::new(), 0);
            set.attach(&mut receiver, 0).unwrap();
            loop {
                set.wait();
                match receiver.try_recv() {
                    Ok(_) => received += 1,
                    Err(error) if error.is_disconnected() => return received,
                    Err(_) => {}
                }
            }
        });
        assert!(sender.close());
        assert_eq!(sending.join().unwrap(), receiving.join().unwrap());
    });
}

#[test]
fn a_close_against_a_sender_without_room() {
    model_up_to(3, || {
        let (sender, receiver) = mpmc::bounded(1);
        sender.send(0).unwrap();
        let sending = send_one(sender);
        assert!(receiver.close());
        assert_eq!(receiver.iter().count(), 1 + sending.join().unwrap());
    });
}

#[test]
fn two_closes_of_which_one_comes_first() {
    model_up_to(3, || {
        let (sender, receiver) = mpmc::bounded::<u32>(1);
        let second = sender.clone();
        let closing = thread::spawn(move || second.close());
        let receiving = count(receiver.clone());
        let mine = sender.close();
        // The second call finds it closed, however far the first has got.
        assert!(sender.is_disconnected() && receiver.is_disconnected());
        assert!(mine != closing.join().unwrap());
        assert_eq!(receiving.join().unwrap(), 0);
    });
}

#[test]
fn the_last_receivers_end_against_one_that_waits_for_it() {
    model_up_to(3, || {
        let (sender, receiver) = mpmc::bounded::<u32>(1);
        let (other, second) = (receiver.clone(), sender.clone());
        let waiting = thread::spawn(move || sender.wait_closed());
        let dropping = thread::spawn(move || drop(other));
        drop(receiver);
        waiting.join().unwrap();
        dropping.join().unwrap();
        assert!(second.is_disconnected());
    });
}

#[test]
fn a_close_against_a_task_and_one_whose_time_is_up() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded::<u32>(1);
        let second = sender.clone();
        let task = thread::spawn(move || block_on(sender.closed()));
        let limited = thread::spawn(move || second.wait_closed_timeout(Duration::from_secs(1)));
        receiver.close();
        task.join().unwrap();
        limited.join().unwrap();
    });
}

/// A thread that gets a sender can send, and what it sends is received.
#[test]
fn an_upgrade_against_the_last_senders_drop() {
    model_up_to(3, || {
        let (sender, receiver) = mpmc::bounded(1);
        let weak = sender.downgrade();
        let upgrading = thread::spawn(move || weak.upgrade().map_or(0, |sender| usize::from(sender.send(1).is_ok())));
        let receiving = count(receiver);
        drop(sender);
        assert_eq!(upgrading.join().unwrap(), receiving.join().unwrap());
    });
}

/// Either the message is still there for the new receiver, or it has been dropped and there is none.
#[test]
fn an_upgrade_against_the_last_receivers_drop() {
    model_up_to(3, || {
        let ended = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = mpmc::bounded(1);
        assert!(sender.send(Counted(ended.clone())).is_ok());
        let weak = receiver.downgrade();
        let upgrading = thread::spawn(move || weak.upgrade().map(|receiver| receiver.try_recv().is_ok()));
        drop(receiver);
        assert!(upgrading.join().unwrap().is_none_or(|received| received));
        assert_eq!(ended.load(Ordering::Relaxed), 1);
        assert!(sender.is_disconnected());
    });
}
