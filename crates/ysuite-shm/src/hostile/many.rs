//! Senders of bytes for many receivers that lie.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::{lies, peers, scribble, stays, twin};
use crate::os::{Own, PAGE};
use crate::page::{BEGUN, FROM, FROM_NUMBER, NEWEST, PUBLISHED, RING};
use crate::sync::Ordering;
use crate::{
    BroadcastError, BroadcastReceiver, Bytes, BytesBroadcastSender, BytesWatchSender, Error, Options, RecvTimeoutError,
    TryRecvError, WatchReceiver,
};

/// A broadcast of 128 bytes, that is of eight messages of eight, of which the receiver has received 0 to 8, and not 9 and 10.
fn broadcasting_bytes(is_lossy: bool) -> (BytesBroadcastSender, BroadcastReceiver<Bytes>) {
    let options = if is_lossy { Options::new().lossy() } else { Options::new() };
    let mut sender = options.broadcast_bytes_without_name(128).unwrap();
    let mut receiver = BroadcastReceiver::from_fd(sender.seat().unwrap()).unwrap();
    sender.serve();
    for message in 0..11_u64 {
        sender.try_send(&message.to_ne_bytes()).unwrap();
        assert!(message > 8 || receiver.recv() == Ok(Bytes(message.to_ne_bytes().into())));
    }
    (sender, receiver)
}

/// Claim: A receiver of a broadcast of bytes whose sender lies receives nothing that is not in the ring, breaks the channel or
/// goes on; for every word of the memory that all receivers map, and where it is said to have joined.
#[test]
fn a_sender_of_a_broadcast_of_bytes_that_lies_word_by_word() {
    let mut broken = 0;
    for is_lossy in [false, true] {
        for word in [PUBLISHED, BEGUN, NEWEST].into_iter().chain((RING..RING + 128).step_by(8)) {
            for lie in lies(11 * 16, 9 * 16).chain([8, 3 << 32 | 8, 10 << 32 | 8, 10 << 32 | 24]) {
                let (sender, mut receiver) = broadcasting_bytes(is_lossy);
                sender.memory().word(word).store(lie, Ordering::Relaxed);
                for _ in 0..12 {
                    match receiver.try_recv() {
                        Ok(message) => assert!(message.0.len() <= 120, "{message:?} by {lie:#x} at {word}"),
                        Err(BroadcastError::Ended(Error::Broken)) => broken += 1,
                        Err(BroadcastError::Lagged(_) | BroadcastError::Empty) => {}
                        Err(other) => panic!("{other:?} by {lie:#x} at {word}"),
                    }
                }
            }
        }
        for word in [FROM, FROM_NUMBER] {
            for lie in lies(1, 12 * 16) {
                let mut sender = broadcasting_bytes(is_lossy).0;
                let mut receiver = BroadcastReceiver::<Bytes>::from_fd(sender.seat().unwrap()).unwrap();
                sender.serve();
                sender.crowd_page(1).word(word).store(lie, Ordering::Relaxed);
                (0..20).for_each(|_| _ = receiver.try_recv());
            }
        }
    }
    assert!(broken > 500, "{broken}");
}

/// As for pipes: a sender that changes its words and its ring all the time.
#[test]
fn senders_of_bytes_for_many_that_scribble_all_the_time() {
    for seed in 1..=peers() {
        let (sender, mut receiver) = broadcasting_bytes(seed % 2 == 0);
        let mut watch = BytesWatchSender::without_name(100, b"first").unwrap();
        let mut watching = WatchReceiver::<Bytes>::from_fd(watch.seat().unwrap()).unwrap();
        watch.serve();
        let is_over = Arc::new(AtomicBool::new(false));
        let regions = [sender.memory(), watch.memory()].map(|memory| twin(memory.start(), 2 * PAGE));
        let scribbling = regions.map(|region| {
            let is_over = Arc::clone(&is_over);
            std::thread::spawn(move || {
                scribble(region, 2 * PAGE, &is_over, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            })
        });
        receiver.set_spin(3);
        watching.set_spin(3);
        let limit = Duration::from_millis(1);
        for _ in 0..100 {
            let received = receiver.recv_timeout(limit);
            assert!(received.as_ref().is_ok_and(|message| message.0.len() <= 120) || received.is_err());
            let value = watching.recv_timeout(limit);
            assert!(value.as_ref().is_ok_and(|value| value.0.len() <= 104) || value.is_err());
            if matches!(received, Err(BroadcastError::Ended(_))) && matches!(value, Err(RecvTimeoutError::Ended(_))) {
                break;
            }
        }
        is_over.store(true, Ordering::Relaxed);
        scribbling.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

/// Claim: A receiver of a watch of bytes whose sender lies about a length receives no more than has room, or breaks the channel.
#[test]
fn a_sender_of_a_watch_of_bytes_that_lies_word_by_word() {
    let (mut broken, mut whole) = (0, 0);
    for word in [BEGUN, PUBLISHED, RING, RING + 128, RING + 256, RING + 384, RING + 512] {
        for lie in lies(100, 4).chain(90..120) {
            let mut sender = BytesWatchSender::without_name(100, b"first").unwrap();
            let mut receiver = WatchReceiver::<Bytes>::from_fd(sender.seat().unwrap()).unwrap();
            sender.serve();
            (0..3).for_each(|value| sender.send(&[value; 100]));
            sender.memory().word(word).store(lie, Ordering::Relaxed);
            match receiver.try_recv() {
                Ok(value) => {
                    assert!(value.0.len() <= 104, "{value:?} by {lie:#x} at {word}");
                    whole += 1;
                }
                Err(TryRecvError::Ended(Error::Broken)) => broken += 1,
                Err(TryRecvError::Empty) => {}
                Err(other) => panic!("{other:?} by {lie:#x} at {word}"),
            }
        }
    }
    assert!(broken > 50 && whole > 50, "{broken} {whole}");
}

/// Claim: A receiver of bytes for many that has found a lie believes nothing any more.
#[test]
fn an_error_stays() {
    let swap = |own: &Own, word, value| own.word(word).swap(value, Ordering::Relaxed);
    for is_lossy in [false, true] {
        let (sender, mut receiver) = broadcasting_bytes(is_lossy);
        let honest = swap(sender.memory(), PUBLISHED, 7);
        let broken = Err(BroadcastError::Ended(Error::Broken));
        stays(|| receiver.try_recv(), &broken, || _ = swap(sender.memory(), PUBLISHED, honest));
    }
    let mut sender = BytesWatchSender::without_name(100, b"first").unwrap();
    let mut receiver = WatchReceiver::<Bytes>::from_fd(sender.seat().unwrap()).unwrap();
    sender.serve();
    assert_eq!(receiver.try_recv(), Ok(Bytes(b"first".into())));
    let honest = swap(sender.memory(), PUBLISHED, 0);
    let broken = Err(TryRecvError::Ended(Error::Broken));
    stays(|| receiver.try_recv(), &broken, || _ = swap(sender.memory(), PUBLISHED, honest));
    assert_eq!(receiver.latest(), None);
}
