//! Either handle is dropped, at any moment: every message is received, given back or dropped, exactly once, and no
//! thread waits for one that is gone.

use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use ysuite::{RecvError, RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError};

use super::{Kind, Receiving, Sending};
use crate::support::executor::block_on;
use crate::support::{Counted, Random, Tally, guarded};

pub(crate) fn what_was_sent_is_received_after_the_sender_is_gone<K: Kind>(kind: K) {
    let (mut sender, mut receiver) = kind.pair();
    let messages = kind.some(2_000);
    (0..messages).for_each(|message| sender.send(message).unwrap());
    assert!(!receiver.is_disconnected());
    drop(sender);
    assert!(receiver.is_disconnected());
    for message in 0..messages {
        let received = match message % 5 {
            0 => receiver.recv().ok(),
            1 => receiver.try_recv().ok(),
            2 => receiver.recv_timeout(Duration::ZERO).ok(),
            3 => block_on(receiver.recv_async()).ok(),
            _ => receiver.iter().next(),
        };
        assert_eq!(received, Some(message));
    }
    for _ in 0..2 {
        assert_eq!(receiver.recv(), Err(RecvError));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(receiver.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Disconnected));
        assert_eq!(block_on(receiver.recv_async()), Err(RecvError));
    }
}

pub(crate) fn a_receiver_that_goes_drops_what_is_there<K: Kind>(kind: K) {
    for messages in [0, 1, 2, 7, 8, 500, 3_000] {
        let messages = kind.some(messages);
        let tally = Tally::of(messages);
        let (mut sender, mut receiver) = kind.pair();
        tally.some(messages).for_each(|message| sender.send(message).unwrap());
        let read = messages / 3;
        assert_eq!(receiver.try_iter().take(read).count(), read);
        drop(receiver);
        tally.assert_all_ended();
        drop(sender);
        tally.assert_all_ended();
    }
}

/// Notices: futures-rs#1241, rust#107466, a message stays in the channel undropped when the receiver is dropped.
pub(crate) fn a_value_is_not_stranded_while_the_sender_is_alive_and_idle<K: Kind>(kind: K) {
    // The sender does nothing any more, and yet the message is dropped: with the receiver.
    let value = Arc::new(());
    let (mut sender, receiver) = kind.pair();
    sender.send(value.clone()).unwrap();
    drop(receiver);
    assert_eq!(Arc::strong_count(&value), 1);
    assert!(sender.is_disconnected() && sender.is_empty() && sender.len() == 0);
    drop(sender);
}

pub(crate) fn sending_after_the_receiver_is_gone_gives_the_message_back<K: Kind>(kind: K) {
    let tally = Tally::of(100);
    let (mut sender, receiver) = kind.pair();
    assert!(!sender.is_disconnected());
    drop(receiver);
    assert!(sender.is_disconnected());
    give_back_all(&mut sender, &tally);
    drop(sender);
    tally.assert_all_ended();
}

/// Every way of sending gives its message back, twice.
fn give_back_all(sender: &mut impl Sending<Counted>, tally: &Tally) {
    let is_last = |message: Counted| assert_eq!(message.number, tally.made() - 1);
    for _ in 0..2 {
        is_last(sender.send(tally.next()).unwrap_err().into_inner());
        match sender.try_send(tally.next()) {
            Err(TrySendError::Disconnected(message)) => is_last(message),
            other => panic!("{other:?}"),
        }
        match sender.send_timeout(tally.next(), Duration::MAX) {
            Err(SendTimeoutError::Disconnected(message)) => is_last(message),
            other => panic!("{other:?}"),
        }
        match sender.send_deadline(tally.next(), std::time::Instant::now()) {
            Err(SendTimeoutError::Disconnected(message)) => is_last(message),
            other => panic!("{other:?}"),
        }
        is_last(block_on(sender.send_async(tally.next())).unwrap_err().into_inner());
    }
}

/// Claim: After the receiver is dropped, every send fails and returns its message, also in a full channel.
/// Also: model pipe::the_receivers_end_against_sending.
pub(crate) fn sending_after_the_receiver_of_a_full_channel_is_gone_does_not_block<K: Kind>(kind: K) {
    guarded(move || {
        let messages = kind.some(1_000);
        let tally = Tally::of(messages + 100);
        let (mut sender, receiver) = kind.pair();
        tally.some(messages).for_each(|message| sender.send(message).unwrap());
        drop(receiver);
        give_back_all(&mut sender, &tally);
        assert!(!sender.is_full());
        drop(sender);
        tally.assert_all_ended();
    });
}

pub(crate) fn a_batch_after_the_receiver_is_gone_comes_back<K: Kind>(kind: K) {
    guarded(move || {
        for messages in [1, 7, 100, 2_000] {
            let tally = Tally::of(messages);
            let (mut sender, receiver) = kind.pair();
            drop(receiver);
            let back = sender.send_batch(&mut tally.some(messages)).unwrap_err().into_inner();
            assert!(!back.is_empty());
            // With a bound it may stop early: then the rest was never taken from the iterator.
            assert_eq!((back.len(), tally.ended()), (tally.made(), 0), "taken, and neither received nor given back");
            assert!(kind.capacity().is_some() || K::STOPS_EARLY || back.len() == messages);
            let first = back[0].number;
            assert!(back.iter().enumerate().all(|(index, message)| message.number == first + index));
            drop((back, sender));
            tally.assert_all_ended();
        }
    });
}

pub(crate) fn a_channel_that_was_never_used<K: Kind>(kind: K) {
    drop(kind.pair::<String>());
    let (sender, receiver) = kind.pair::<String>();
    drop(sender);
    drop(receiver);
    let (sender, receiver) = kind.pair::<String>();
    drop(receiver);
    drop(sender);
}

pub(crate) fn the_receiver_goes_while_a_sender_waits_for_room<K: Kind>(kind: K) {
    let Some(capacity) = kind.capacity() else { return };
    guarded(move || {
        let mut random = Random::new(5);
        for round in 0..60 {
            let tally = Tally::of(capacity + 1);
            let (mut sender, receiver) = kind.pair();
            tally.some(capacity).for_each(|message| sender.send(message).unwrap());
            let message = tally.next();
            let thread = thread::spawn(move || {
                let refused = match round % 4 {
                    0 => sender.send(message).is_err(),
                    1 => sender.send_timeout(message, Duration::MAX).is_err(),
                    2 => block_on(sender.send_async(message)).is_err(),
                    _ => sender.send_batch(&mut std::iter::once(message)).is_err(),
                };
                // A message accepted while the receiver was going is dropped all the same.
                (sender, refused)
            });
            (0..random.below(5)).for_each(|_| thread::yield_now());
            if round % 8 > 5 {
                thread::sleep(Duration::from_millis(2));
            }
            drop(receiver);
            let (sender, _) = thread.join().unwrap();
            tally.assert_all_ended();
            drop(sender);
            tally.assert_all_ended();
        }
    });
}

pub(crate) fn the_sender_goes_while_a_receiver_waits<K: Kind>(kind: K) {
    guarded(move || {
        let mut random = Random::new(6);
        for round in 0..60 {
            let (sender, mut receiver) = kind.pair::<u32>();
            let thread = thread::spawn(move || match round % 4 {
                0 => assert_eq!(receiver.recv(), Err(RecvError)),
                1 => assert_eq!(receiver.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Disconnected)),
                2 => assert_eq!(block_on(receiver.recv_async()), Err(RecvError)),
                _ => assert_eq!(receiver.recv_batch(&mut Vec::new(), 9), Err(RecvError)),
            });
            (0..random.below(5)).for_each(|_| thread::yield_now());
            if round % 8 > 5 {
                thread::sleep(Duration::from_millis(2));
            }
            drop(sender);
            thread.join().unwrap();
        }
    });
}

/// Notices: crossbeam#971, the receiver is dropped while the first block is made, and the block and its message leak.
pub(crate) fn receiver_dropped_while_the_first_chunk_is_made<K: Kind>(kind: K) {
    race(kind, 3, |sender, tally| drop(sender.send(tally.next())));
}

pub(crate) fn close_racing_with_send<K: Kind>(kind: K) {
    race(kind, 300, |sender, tally| {
        for round in 0..100 {
            let refused = match round % 3 {
                0 => sender.send(tally.next()).is_err(),
                1 => sender.try_send(tally.next()).is_err_and(|error| error.is_disconnected()),
                _ => sender.send_batch(&mut tally.some(2)).is_err(),
            };
            if refused {
                return;
            }
        }
    });
}

/// Drops the receiver, after a few messages or none, while the sender does something on another thread. What the sender
/// is not given back is dropped while it is still alive, however the race ends.
fn race<K: Kind>(kind: K, messages: usize, send: impl Fn(&mut K::Sender<Counted>, &Tally) + Clone + Send + 'static) {
    guarded(move || {
        let mut random = Random::new(7);
        for round in 0..300 {
            let tally = Tally::of(messages);
            let (mut sender, mut receiver) = kind.pair();
            let start = Arc::new(Barrier::new(2));
            let (at_start, tallied, send) = (start.clone(), tally.clone(), send.clone());
            let thread = thread::spawn(move || {
                at_start.wait();
                send(&mut sender, &tallied);
                sender
            });
            start.wait();
            (0..random.below(300)).for_each(|_| std::hint::spin_loop());
            if round % 2 == 0 {
                drop(receiver.try_recv());
            }
            drop(receiver);
            let sender = thread.join().unwrap();
            tally.assert_all_ended();
            drop(sender);
            tally.assert_all_ended();
        }
    });
}

pub(crate) fn both_ends_go_at_once<K: Kind>(kind: K) {
    guarded(move || {
        for round in 0..300 {
            let messages = kind.some(round % 40);
            let tally = Tally::of(messages);
            let (mut sender, receiver) = kind.pair();
            tally.some(messages).for_each(|message| sender.send(message).unwrap());
            let start = Arc::new(Barrier::new(2));
            let at_start = start.clone();
            let thread = thread::spawn(move || {
                at_start.wait();
                drop(sender);
            });
            start.wait();
            drop(receiver);
            thread.join().unwrap();
            tally.assert_all_ended();
        }
    });
}

/// Claim: `len` and `is_empty` stay plausible and do not wrap while the channel is being closed.
pub(crate) fn lengths_stay_sane_while_closing<K: Kind>(kind: K) {
    guarded(move || {
        const MESSAGES: usize = 700;
        let (mut sender, mut receiver) = kind.pair();
        let thread = thread::spawn(move || {
            for message in 0..MESSAGES {
                sender.send(message).unwrap();
                let length = sender.len();
                assert!(length <= kind.capacity().unwrap_or(message + 1), "{length} messages");
            }
        });
        let mut received = 0;
        while !receiver.is_disconnected() || !receiver.is_empty() {
            // No other receiver takes any away, so what was there is still there.
            let length = receiver.len();
            assert!(length <= kind.capacity().unwrap_or(MESSAGES - received), "{length} messages");
            assert!(length == 0 || !receiver.is_empty());
            for _ in 0..length {
                let mut message = receiver.try_recv();
                while !K::LENGTH_IS_THERE && message == Err(TryRecvError::Empty) {
                    thread::yield_now();
                    message = receiver.try_recv();
                }
                assert_eq!(message, Ok(received));
                received += 1;
            }
        }
        assert_eq!((received, receiver.len()), (MESSAGES, 0));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        thread.join().unwrap();
    });
}

/// Notices: rust#39364, a receive with a time limit panics or ends too early while a sender is cloned.
pub(crate) fn a_timed_out_receive_and_the_senders_end<K: Kind>(kind: K) {
    for _ in 0..20 {
        let (sender, mut receiver) = kind.pair::<u8>();
        assert_eq!(receiver.recv_timeout(Duration::from_micros(1)), Err(RecvTimeoutError::Timeout));
        drop(sender);
        assert_eq!(receiver.recv_timeout(Duration::from_micros(1)), Err(RecvTimeoutError::Disconnected));
    }
}

/// A message that may hold the very sender it was sent with.
struct Letter<K: Kind>(Arc<Envelope<K>>);

type Envelope<K> = Mutex<Option<<K as Kind>::Sender<Letter<K>>>>;

/// Claim: A handle inside a message of its own channel is dropped with the message.
/// Also: suite oneshot::endings::an_end_in_its_own_channel_does_no_harm.
pub(crate) fn ends_within_their_own_channel_are_dropped_with_it<K: Kind>(kind: K) {
    let (sender, receiver) = kind.pair::<Letter<K>>();
    let sender = Arc::new(Mutex::new(Some(sender)));
    let letter = Letter(sender.clone());
    assert!(sender.lock().unwrap().as_mut().unwrap().send(letter).is_ok());
    let watched = Arc::downgrade(&sender);
    drop(sender);
    // The sender now lives in its own channel only.
    assert_eq!(watched.strong_count(), 1);
    drop(receiver);
    assert_eq!(watched.strong_count(), 0);
    // Taken out, it is an ordinary sender.
    let (sender, mut receiver) = kind.pair::<Letter<K>>();
    let sender = Arc::new(Mutex::new(Some(sender)));
    let letter = Letter(sender.clone());
    assert!(sender.lock().unwrap().as_mut().unwrap().send(letter).is_ok());
    drop(sender);
    let Letter(sender) = receiver.recv().unwrap();
    assert!(!receiver.is_disconnected());
    drop(sender);
    assert!(receiver.recv().is_err() && receiver.is_disconnected());
}
