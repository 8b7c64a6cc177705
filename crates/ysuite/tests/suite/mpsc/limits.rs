//! An mpsc channel with a limit of senders: the bound of the whole.

use ysuite::mpsc;
use ysuite::{TryRecvError, TrySendError};

use crate::support::panics;

#[test]
fn an_mpsc_channel_with_a_senders_limit_has_no_more_lanes() {
    let (sender, mut receiver) = mpsc::bounded_for(2, 3);
    let mut senders = vec![sender.clone(), sender.try_clone().unwrap(), sender];
    assert!(senders[0].try_clone().is_err());
    let text = panics(|| drop(senders[0].clone()));
    assert!(text.contains("maximal number of senders"), "{text}");
    for sender in &mut senders {
        assert_eq!(sender.capacity(), Some(2));
        sender.send(1).unwrap();
        sender.send(1).unwrap();
        assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
    }
    assert_eq!((receiver.len(), receiver.sender_count()), (6, 3));
    // A sender that is gone leaves its lane to another, with what is in it.
    drop(senders.pop());
    senders.push(senders[0].try_clone().unwrap());
    assert!(senders[0].try_clone().is_err());
    assert_eq!(senders[2].try_send(1), Err(TrySendError::Full(1)));
    drop(senders.pop());
    assert_eq!(receiver.try_iter().sum::<i32>(), 6);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    let again = senders[0].try_clone().unwrap();
    assert!(senders[0].try_clone().is_err());
    // One that is closed counts until its lane is drained, and the receiver has polled once more.
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    senders[1].close();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    senders.push(senders[0].clone());
    drop((again, senders));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

#[test]
fn senders_come_and_go_within_the_limit() {
    let (sender, mut receiver) = mpsc::bounded_for(1, 2);
    for round in 0..1_000 {
        let mut other = sender.try_clone().unwrap();
        assert!(sender.try_clone().is_err());
        other.send(round).unwrap();
        drop(other);
        assert_eq!((receiver.recv(), receiver.try_recv()), (Ok(round), Err(TryRecvError::Empty)));
    }
    receiver.close();
    // A closed channel has no lanes, and any number of senders.
    assert!((0..10).all(|_| sender.try_clone().is_ok_and(|sender| sender.is_disconnected())));
}

#[test]
fn limits_of_nothing_are_a_documented_panic() {
    assert!(panics(|| drop(mpsc::bounded_for::<u8>(0, 1))).contains("capacity of at least 1"));
    assert!(panics(|| drop(mpsc::bounded_for::<u8>(1, 0))).contains("needs 1 sender"));
    assert!(panics(|| drop(mpsc::bounded_for::<u8>(1, mpsc::MAX_SENDERS + 1))).contains("at most"));
    assert!(mpsc::bounded_for::<u8>(1, mpsc::MAX_SENDERS).0.try_clone().is_ok());
}
