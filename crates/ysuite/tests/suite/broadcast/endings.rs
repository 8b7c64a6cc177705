//! Handles that are dropped and channels that are closed, in every order.

use std::thread;
use std::time::Duration;

use ysuite::broadcast::{RecvError, TryRecvError};
use ysuite::{SendError, TrySendError};

use super::{Census, pair};
use crate::support::guarded;

#[test]
fn what_was_sent_is_received_when_all_senders_are_gone() {
    for is_lossy in [false, true] {
        let (sender, mut receiver) = pair(is_lossy, 4);
        let other = sender.clone();
        let mut late = receiver.clone();
        sender.send(1).unwrap();
        drop(sender);
        assert!(!receiver.is_disconnected());
        other.send(2).unwrap();
        drop(other);
        assert!(receiver.is_disconnected());
        for receiver in [&mut receiver, &mut late] {
            assert_eq!((receiver.recv(), receiver.try_recv()), (Ok(1), Ok(2)));
            assert_eq!(receiver.recv(), Err(RecvError::Disconnected));
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
            assert_eq!(receiver.try_recv_batch(&mut Vec::new(), 2), Err(TryRecvError::Disconnected));
            assert_eq!(receiver.recv_batch(&mut Vec::new(), 2), Err(RecvError::Disconnected));
        }
        assert_eq!(receiver.resubscribe().recv(), Err(RecvError::Disconnected));
    }
}

#[test]
fn sending_fails_without_receivers() {
    for is_lossy in [false, true] {
        let (sender, receiver) = pair(is_lossy, 2);
        sender.send(1).unwrap();
        drop(receiver);
        assert!(sender.is_disconnected() && !sender.is_closed());
        assert_eq!(sender.receiver_count(), 0);
        assert_eq!(sender.send(2), Err(SendError(2)));
        assert_eq!(sender.try_send(2), Err(TrySendError::Disconnected(2)));
        assert_eq!(sender.send_batch([2, 3]), Err(SendError(vec![2, 3])));
        // What was sent to those before is not for this one.
        let mut receiver = sender.subscribe();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        sender.send_batch([4, 5]).unwrap();
        assert!(receiver.try_iter().eq([4, 5]));
    }
}

#[test]
fn a_closed_channel_gives_what_was_sent_and_takes_nothing_more() {
    for is_lossy in [false, true] {
        for by_receiver in [false, true] {
            let (sender, mut receiver) = pair(is_lossy, 4);
            let mut other = sender.subscribe();
            sender.send(1).unwrap();
            assert!(!sender.is_closed());
            assert!(if by_receiver { receiver.close() } else { sender.close() });
            assert!(!sender.close() && !receiver.close() && !other.close());
            assert!(sender.is_closed() && sender.is_disconnected() && receiver.is_disconnected());
            assert_eq!(sender.send(2), Err(SendError(2)));
            assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Err(RecvError::Disconnected)));
            assert!(other.try_iter().eq([1]));
            let mut late = sender.subscribe();
            assert_eq!(late.try_recv(), Err(TryRecvError::Disconnected));
            assert_eq!(sender.clone().send(2), Err(SendError(2)));
        }
    }
}

#[test]
fn waiters_are_woken_by_a_close_or_a_drop() {
    for closed in [false, true] {
        guarded(move || {
            let (sender, receiver) = pair(false, 1);
            let mut waiting = receiver.clone();
            let thread = thread::spawn(move || (waiting.recv(), waiting.recv()));
            thread::sleep(Duration::from_millis(1));
            sender.send(1).unwrap();
            // `receiver` has not had it: there is no room.
            let second = sender.clone();
            let sending = thread::spawn(move || second.send(2));
            thread::sleep(Duration::from_millis(1));
            if closed {
                assert!(sender.close());
                assert_eq!(sending.join().unwrap(), Err(SendError(2)));
                assert_eq!(thread.join().unwrap(), (Ok(1), Err(RecvError::Disconnected)));
            } else {
                drop(receiver);
                assert_eq!(sending.join().unwrap(), Ok(()));
                assert_eq!(thread.join().unwrap(), (Ok(1), Ok(2)));
                assert!(sender.is_disconnected());
            }
        });
    }
}

#[test]
fn the_last_receiver_releases_the_senders_that_wait() {
    guarded(|| {
        let census = Census::default();
        let (sender, receiver) = pair(false, 1);
        sender.send(census.message(0)).unwrap();
        let threads: Vec<_> = (1..4)
            .map(|number| {
                let (sender, message) = (sender.clone(), census.message(number));
                thread::spawn(move || sender.send(message).unwrap_err().into_inner().number)
            })
            .collect();
        thread::sleep(Duration::from_millis(1));
        drop(receiver);
        assert_eq!(threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>(), 6);
        drop(sender);
        assert_eq!(census.alive(), 0);
    });
}

#[test]
fn ends_go_in_every_order() {
    for is_lossy in [false, true] {
        // Two senders and two receivers, in the order of their digits.
        for order in 0..24_usize {
            let census = Census::default();
            let (sender, receiver) = pair(is_lossy, 4);
            let mut second = receiver.clone();
            let mut senders = [Some(sender.clone()), Some(sender)];
            sender_of(&mut senders).send_batch((0..3).map(|number| census.message(number))).unwrap();
            assert_eq!(second.recv().unwrap().number, 0);
            let mut receivers = [Some(receiver), Some(second)];
            let mut left: Vec<_> = (0..4).collect();
            let mut code = order;
            for choices in (1..=4).rev() {
                match left.remove(code % choices) {
                    who @ 0..2 => drop(senders[who].take()),
                    who => drop(receivers[who - 2].take()),
                }
                code /= choices;
            }
            assert_eq!(census.alive(), 0);
        }
    }
}

fn sender_of<T>(senders: &mut [Option<T>; 2]) -> &T {
    senders[0].as_ref().expect("not gone yet")
}

#[test]
fn a_thread_that_panics_drops_its_handle_and_holds_up_no_other() {
    guarded(|| {
        let (sender, mut receiver) = pair(false, 1);
        let mut slow = receiver.clone();
        let thread = thread::spawn(move || {
            slow.recv().unwrap();
            panic!("as the test wants it");
        });
        for number in 0..10 {
            sender.send(number).unwrap();
            assert_eq!(receiver.recv(), Ok(number));
        }
        assert!(thread.join().is_err());
    });
}
