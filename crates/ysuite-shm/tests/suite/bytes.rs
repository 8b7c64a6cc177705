//! Messages of any length.

use std::mem::MaybeUninit;
use std::thread;
use std::time::Duration;

use ysuite_shm::{Error, RecvTimeoutError, TryRecvError, TrySendError, pipe_bytes};

#[test]
fn messages_of_all_lengths_go_round() {
    let (mut sender, mut receiver) = pipe_bytes(256).unwrap();
    for length in (0..=sender.largest()).chain((0..=sender.largest()).rev()) {
        let message: Vec<u8> = (0..length).map(|at| (at * 7 + length) as u8).collect();
        sender.try_send(&message).unwrap();
        assert_eq!(receiver.try_recv(), Ok(message));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }
}

/// Claim: A message that is longer than the buffer of `try_recv_slice` stays whole, and its length is told.
#[test]
fn a_message_that_does_not_fit_stays() {
    let (mut sender, mut receiver) = pipe_bytes(64).unwrap();
    let mut to = [MaybeUninit::new(0_u8); 8];
    assert_eq!(receiver.try_recv_slice(&mut to), Err(TryRecvError::Empty));
    // Also round the end of the ring.
    for length in (0..=56).cycle().take(200) {
        let message: Vec<u8> = (0..length).map(|at| at as u8 ^ length as u8).collect();
        sender.send(&message).unwrap();
        assert_eq!(receiver.try_recv_slice(&mut to[..length.min(8)]), Ok(length));
        if length > 8 {
            assert_eq!(receiver.try_recv_slice(&mut []), Ok(length));
            assert_eq!(receiver.recv().unwrap(), message);
        } else {
            // SAFETY: initialised above.
            assert!((0..length).all(|at| unsafe { to[at].assume_init() } == message[at]));
        }
        assert_eq!(receiver.try_recv_slice(&mut to), Err(TryRecvError::Empty));
    }
    drop(sender);
    assert_eq!(receiver.try_recv_slice(&mut to), Err(TryRecvError::Ended(Error::Closed)));
}

#[test]
fn a_receiver_waits_for_a_message_that_does_not_fit() {
    let (mut sender, mut receiver) = pipe_bytes(64).unwrap();
    let mut to = [MaybeUninit::new(0_u8); 8];
    assert_eq!(receiver.recv_slice_timeout(&mut to, Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    let sending = thread::spawn(move || {
        sender.send(&[7; 9]).unwrap();
        sender.send(&[8; 8]).unwrap();
    });
    assert_eq!((receiver.recv_slice(&mut to), receiver.recv_slice_timeout(&mut to, Duration::ZERO)), (Ok(9), Ok(9)));
    assert_eq!(receiver.recv().unwrap(), [7; 9]);
    assert_eq!(receiver.recv_slice_timeout(&mut to, Duration::MAX), Ok(8));
    // SAFETY: initialised above.
    assert!(to.iter().all(|byte| unsafe { byte.assume_init() } == 8));
    sending.join().unwrap();
    assert_eq!(receiver.recv_slice(&mut to), Err(Error::Closed));
    let ended = RecvTimeoutError::Ended(Error::Closed);
    assert_eq!(receiver.recv_slice_timeout(&mut to, Duration::MAX), Err(ended));
}

#[test]
fn a_full_channel_says_so() {
    let (mut sender, mut receiver) = pipe_bytes(64).unwrap();
    assert_eq!(sender.largest(), 56);
    sender.try_send(&[1; 24]).unwrap();
    sender.try_send(&[2; 24]).unwrap();
    assert_eq!(sender.try_send(&[]), Err(TrySendError::Full(())));
    assert_eq!(receiver.recv().unwrap(), [1; 24]);
    sender.try_send(&[3; 24]).unwrap();
    assert_eq!((receiver.recv().unwrap(), receiver.recv().unwrap()), (vec![2; 24], vec![3; 24]));
}

#[test]
#[should_panic(expected = "a message of more bytes than the channel has")]
fn a_message_that_never_has_room_panics() {
    let (mut sender, _receiver) = pipe_bytes(64).unwrap();
    let _ = sender.send(&[0; 57]);
}

#[test]
fn a_stream_of_bytes_arrives_in_order() {
    let (mut sender, mut receiver) = pipe_bytes(1000).unwrap();
    let reading = thread::spawn(move || {
        let mut message = Vec::new();
        for number in 0..20_000_usize {
            message.clear();
            assert_eq!(receiver.recv_into(&mut message), Ok(number % 300));
            assert!(message.iter().all(|byte| *byte == number as u8));
        }
        assert_eq!(receiver.recv(), Err(Error::Closed));
    });
    for number in 0..20_000_usize {
        sender.send(&vec![number as u8; number % 300]).unwrap();
    }
    drop(sender);
    reading.join().unwrap();
}

#[test]
fn unread_bytes_come_back() {
    let (mut sender, mut receiver) = pipe_bytes(64).unwrap();
    for message in [&b"one"[..], b"two", b"three"] {
        sender.send(message).unwrap();
    }
    assert_eq!(receiver.recv().unwrap(), b"one");
    sender.send(b"fourfourfour").unwrap();
    drop(receiver);
    assert_eq!(sender.into_unread().unwrap(), [&b"two"[..], b"three", b"fourfourfour"]);
}
