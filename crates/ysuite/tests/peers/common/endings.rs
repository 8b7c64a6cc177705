//! A handle is dropped: what is left is received or dropped, once; waiting threads are woken; later calls report it.

use std::any::Any;
use std::sync::Arc;
use std::thread;

use ysuite::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};

use crate::ends::{Bound, Kind, Rx};
use crate::support::{Random, Tally, panics};
use crate::tools::{LONG, both, each, pause};

/// Messages come back from a channel whose receiver is gone, whether or not others had been sent before.
pub(crate) fn sent_to_no_receiver(kind: Kind, bound: Bound) {
    for before in [0, 3.min(bound.unwrap_or(3))] {
        let (mut tx, rx) = kind.open(bound);
        (0..before).for_each(|message| tx.send(message).unwrap());
        drop(rx);
        assert!(tx.is_disconnected());
        assert_eq!(tx.send(4), Err(SendError(4)));
        assert_eq!(tx.try_send(5), Err(TrySendError::Disconnected(5)));
        assert_eq!(tx.send_timeout(6, LONG), Err(SendTimeoutError::Disconnected(6)));
    }
}

/// What was sent before the sender went is received; then the receiver learns that it is gone, again and again.
pub(crate) fn received_after_the_end(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    let messages = 3.min(bound.unwrap_or(3));
    (0..messages).for_each(|message| tx.send(message).unwrap());
    drop(tx);
    assert!((0..messages).all(|message| rx.recv() == Ok(message)));
    assert_eq!((rx.recv(), rx.try_recv()), (Err(RecvError), Err(TryRecvError::Disconnected)));
    assert_eq!(rx.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
}

/// A sender that waits for room is notified when the receiver goes.
pub(crate) fn a_waiting_sender_is_told(kind: Kind, bound: usize) {
    let (mut tx, rx) = kind.open(Some(bound));
    (0..bound).for_each(|_| tx.send(()).unwrap());
    both(
        move || assert_eq!(tx.send(()), Err(SendError(()))),
        || {
            pause();
            drop(rx);
        },
    );
}

/// A receiver that waits is notified when the last sender goes.
pub(crate) fn a_waiting_receiver_is_told(kind: Kind, bound: Bound) {
    let (tx, mut rx) = kind.open::<()>(bound);
    let senders = tx.split(kind.senders(3));
    both(
        move || assert_eq!(rx.recv(), Err(RecvError)),
        || {
            for sender in senders {
                pause();
                drop(sender);
            }
        },
    );
}

/// A thread sends until there is no receiver any more.
pub(crate) fn sending_until_disconnected(kind: Kind, bound: Bound, senders: usize) {
    let (tx, mut rx) = kind.open(bound);
    let senders = tx.split(kind.senders(senders));
    both(
        || each(senders, |mut tx| while tx.send(1).is_ok() {}),
        || {
            assert_eq!(rx.recv(), Ok(1));
            drop(rx);
        },
    );
}

/// A thread receives until there is no sender any more.
pub(crate) fn receiving_until_disconnected(kind: Kind, bound: Bound, senders: usize) {
    let (tx, mut rx) = kind.open(bound);
    let senders = tx.split(kind.senders(senders));
    let threads = senders.len();
    let ((), received) = both(
        || each(senders, |mut tx| (0..10).for_each(|_| tx.send(1).unwrap())),
        || std::iter::from_fn(|| rx.recv().ok()).count(),
    );
    assert_eq!(received, 10 * threads);
}

/// All clones go, one after the other: that is the disconnect, and not before.
pub(crate) fn all_clones_go(kind: Kind, bound: Bound) {
    let (tx, mut rx) = kind.open::<()>(bound);
    for sender in tx.split(3) {
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        drop(sender);
    }
    assert_eq!(rx.recv(), Err(RecvError));
}

/// A clone that is made when the receiver has gone reports it as the others do.
pub(crate) fn a_clone_made_for_no_receiver(kind: Kind, bound: Bound) {
    let (tx, rx) = kind.open(bound);
    drop(rx);
    let mut another = tx.another();
    drop(tx);
    assert_eq!(another.send(1), Err(SendError(1)));
}

/// Clones that come and go before the only message, which is left.
pub(crate) fn left_behind_after_clones(kind: Kind, bound: Bound) {
    let message = Arc::new(());
    let (mut tx, rx) = kind.open(bound);
    (0..2).for_each(|_| drop(tx.another()));
    tx.send(message.clone()).unwrap();
    drop((tx, rx));
    assert_eq!(Arc::strong_count(&message), 1);
}

/// Handles that are dropped without ever having been used.
pub(crate) fn never_used(kind: Kind, bound: Bound, receiver_first: bool) {
    let (tx, mut rx) = kind.open::<Box<i32>>(bound);
    if receiver_first {
        drop(rx);
        assert!(tx.is_disconnected());
    } else {
        drop(tx);
        assert!(rx.is_disconnected() && rx.recv().is_err());
    }
}

/// A thread that panics because nothing will come: its handle of the channel goes with it.
pub(crate) fn a_thread_that_expected_more(kind: Kind, bound: Bound) {
    let (tx, mut rx) = kind.open::<i32>(bound);
    let (mut back, mut came) = kind.endless::<i32>();
    drop(tx);
    let thread = thread::spawn(move || {
        let expected = rx.recv().expect("a message");
        back.send(expected).unwrap();
    });
    assert!(thread.join().is_err());
    assert_eq!(came.recv(), Err(RecvError));
}

/// A clone sends to a receiver that sleeps, the first sender being gone; the receiver goes as soon as it has the message.
pub(crate) fn a_clone_sends_to_one_that_sleeps(kind: Kind, bound: Bound) {
    for _ in 0..20 {
        let (tx, mut rx) = kind.open(bound);
        let (mut done, mut is_done) = kind.open(bound);
        both(
            move || {
                rx.recv().unwrap();
                drop(rx);
                done.send(()).unwrap();
            },
            || {
                (0..200).for_each(|_| thread::yield_now());
                let mut another = tx.another();
                drop(tx);
                another.send(()).unwrap();
                assert_eq!(is_done.recv(), Ok(()));
            },
        );
    }
}

/// Senders that wait on several threads are all notified when the receiver goes.
pub(crate) fn several_waiting_senders_are_told(kind: Kind, bound: usize) {
    let (tx, rx) = kind.open(Some(bound));
    both(
        || {
            each(tx.split(kind.senders(3)), |mut tx| {
                // Each until it is disconnected: in a channel of several senders it may be this one that fills it, or
                // another.
                while tx.send(1).is_ok() {}
                assert_eq!(tx.send(2), Err(SendError(2)));
            });
        },
        || {
            pause();
            drop(rx);
        },
    );
}

/// Messages that were not received are dropped with the channel, whichever handle goes first, and only then.
pub(crate) fn unreceived_messages_are_dropped(kind: Kind, bound: Bound) {
    for receiver_first in [true, false] {
        let message = Arc::new(());
        let (mut tx, rx) = kind.open(bound);
        let messages = 5.min(bound.unwrap_or(5));
        (0..messages).for_each(|_| tx.send(message.clone()).unwrap());
        assert_eq!(Arc::strong_count(&message), 1 + messages);
        if receiver_first {
            drop(rx);
            assert_eq!(Arc::strong_count(&message), 1, "they go with the receiver");
            drop(tx);
        } else {
            drop(tx);
            assert_eq!(Arc::strong_count(&message), 1 + messages, "they can still be received");
            drop(rx);
        }
        assert_eq!(Arc::strong_count(&message), 1);
    }
}

/// A message is dropped by whom it came back to, and not before.
pub(crate) fn a_refused_message_is_its_senders(kind: Kind, bound: Bound) {
    let (mut tx, rx) = kind.open(bound);
    drop(rx);
    let tally = Tally::of(10);
    for sent in 0..10 {
        let back = tx.send(tally.next());
        assert_eq!(tally.ended(), sent);
        drop(back);
    }
    tally.assert_all_ended();
}

/// Some messages are received, others are left: each is dropped once.
pub(crate) fn each_is_dropped_once(kind: Kind, bound: Bound) {
    let mut random = Random::new(7);
    for _ in 0..20 {
        let (through, left) = (random.below(1_000), random.below(bound.unwrap_or(1_000) + 1));
        let tally = Tally::of(through + left);
        let (mut tx, mut rx) = kind.open(bound);
        let (mut tx, rx) = both(
            || {
                tally.some(through).for_each(|message| tx.send(message).unwrap());
                tx
            },
            || {
                (0..through).for_each(|_| drop(rx.recv().unwrap()));
                rx
            },
        );
        tally.some(left).for_each(|message| tx.send(message).unwrap());
        assert_eq!(tally.ended(), through);
        drop((tx, rx));
        tally.assert_all_ended();
    }
}

/// Where a message panics as it is dropped with the channel, all others are dropped all the same, and it is one panic.
pub(crate) fn a_drop_that_panics_takes_no_other_with_it(kind: Kind, bound: Bound) {
    for explosive in 0..3 {
        let tally = Tally::of(3);
        tally.explode(explosive);
        let (mut tx, rx) = kind.open(bound);
        tally.some(3).for_each(|message| tx.send(message).unwrap());
        let text = panics(move || drop(rx));
        assert_eq!(text, format!("the end of message {explosive}"));
        tally.assert_all_ended();
        assert!(tx.is_disconnected());
    }
}

/// Channels sent through channels, each through the one before.
pub(crate) fn channels_through_channels(kind: Kind, bound: Bound) {
    const LINKS: usize = 500;
    type Parcel = Box<dyn Any + Send>;
    let (mut tx, mut rx) = kind.open::<Parcel>(bound);
    both(
        move || {
            for _ in 0..LINKS {
                let (next_tx, next_rx) = kind.open::<Parcel>(bound);
                tx.send(Box::new(next_rx)).unwrap();
                tx = next_tx;
            }
        },
        move || {
            for _ in 0..LINKS {
                rx = *rx.recv().unwrap().downcast::<Rx<Parcel>>().unwrap();
            }
            assert!(rx.recv().is_err());
        },
    );
}

/// Both handles are dropped at the same moment, with or without a message, on two threads.
pub(crate) fn both_ends_go_at_once(kind: Kind, bound: Bound) {
    let tally = Tally::of(300);
    for round in 0..300 {
        let (mut tx, mut rx) = kind.open(bound);
        let message = tally.next();
        both(
            move || match round % 3 {
                0 => drop(tx),
                1 => drop(tx.send(message)),
                _ => drop((tx.try_send(message), tx)),
            },
            move || match round % 2 {
                0 => drop(rx),
                _ => drop(rx.try_recv()),
            },
        );
    }
    tally.assert_all_ended();
}

/// A receiver that waits while its sender goes, each on a thread of its own, many times.
pub(crate) fn the_sender_goes_at_any_moment(kind: Kind, bound: Bound) {
    for round in 0..200 {
        let (tx, mut rx) = kind.open::<i32>(bound);
        both(
            move || assert_eq!(rx.recv(), Err(RecvError)),
            || {
                if round % 2 == 0 {
                    thread::yield_now();
                }
                drop(tx);
            },
        );
    }
}

/// The only receiver goes while a thread is sending: it has sent, or has its message back.
pub(crate) fn the_receiver_goes_at_any_moment(kind: Kind, bound: Bound) {
    let tally = Tally::of(400);
    for _ in 0..200 {
        let (mut tx, rx) = kind.open(bound);
        let messages: Vec<_> = tally.some(2).collect();
        both(move || messages.into_iter().for_each(|message| drop(tx.send(message))), || drop(rx));
    }
    tally.assert_all_ended();
}
