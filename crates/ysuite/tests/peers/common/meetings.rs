//! The rendezvous: what only a channel that holds nothing does.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use ysuite::{TryRecvError, TrySendError};

use crate::ends::Kind;
use crate::tools::{LONG, both, each, pause};

/// Empty and full at once, at any moment.
pub(crate) fn always_empty_always_full(kind: Kind) {
    let (mut tx, mut rx) = kind.open(Some(0));
    for _ in 0..3 {
        assert_eq!((tx.len(), tx.is_empty(), tx.is_full()), (0, true, true));
        assert_eq!((rx.len(), rx.is_empty()), (0, true));
        both(|| tx.send(()).unwrap(), || rx.recv().unwrap());
    }
}

/// A try to receive gets what a waiting sender has; a try to send needs a waiting receiver.
pub(crate) fn one_asks_the_other_waits(kind: Kind) {
    let (mut tx, mut rx) = kind.open(Some(0));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(tx.try_send(1), Err(TrySendError::Full(1)));
    both(
        || tx.send(7).unwrap(),
        || {
            let asked = std::iter::repeat_with(|| rx.try_recv()).inspect(|_| thread::yield_now()).find(Result::is_ok);
            assert_eq!(asked, Some(Ok(7)));
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        },
    );
    both(
        || assert_eq!(rx.recv(), Ok(8)),
        || {
            let mut offer = 8;
            while let Err(TrySendError::Full(back)) = tx.try_send(offer) {
                offer = back;
                thread::yield_now();
            }
        },
    );
    drop(rx);
    assert_eq!(tx.try_send(9), Err(TrySendError::Disconnected(9)));
}

/// A send returns when its message has been received, and not before.
pub(crate) fn a_send_ends_with_its_receive(kind: Kind) {
    for _ in 0..10 {
        let (mut tx, mut rx) = kind.open(Some(0));
        let sent = AtomicBool::new(false);
        assert!(tx.try_send(()).unwrap_err().is_full());
        both(
            || {
                tx.send(()).unwrap();
                sent.store(true, Ordering::SeqCst);
            },
            || {
                pause();
                assert!(!sent.load(Ordering::SeqCst));
                rx.recv().unwrap();
            },
        );
        assert!(sent.into_inner());
    }
}

/// Never more messages on their way than there are threads that hand them over.
pub(crate) fn nothing_lies_in_between(kind: Kind) {
    const MESSAGES: usize = 500;
    let (tx, mut rx) = kind.open(Some(0));
    let senders = tx.split(kind.senders(3));
    let (threads, sent) = (senders.len(), AtomicUsize::new(0));
    both(
        || {
            each(senders, |mut tx| {
                for _ in 0..MESSAGES {
                    tx.send(()).unwrap();
                    sent.fetch_add(1, Ordering::SeqCst);
                }
            });
        },
        || {
            for received in 0..threads * MESSAGES {
                // Counted by their senders when they have been received, and so never more than that.
                assert!(sent.load(Ordering::SeqCst) <= received);
                rx.recv_timeout(LONG).unwrap();
            }
        },
    );
}
