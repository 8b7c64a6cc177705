//! Channels that are closed without a dropped handle.

use std::task::{Context, Poll};

use ysuite::{RecvError, SendError, SendTimeoutError, TryRecvError, TrySendError};

use crate::ends::{Bound, Kind, Rx, Tx};
use crate::support::Tally;
use crate::support::executor::{Task, block_on};
use crate::tools::{LONG, both, each, pause};

impl<T> Tx<T> {
    pub(crate) fn close(&mut self) -> bool {
        match self {
            Self::Exchange(end) => end.close(),
            Self::Funnel(end) => end.close(),
            Self::Pipe(end) => end.close(),
        }
    }
}

impl<T> Rx<T> {
    pub(crate) fn recv_batch(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, RecvError> {
        match self {
            Self::Exchange(end) => end.recv_batch(to, max),
            Self::Funnel(end) => end.recv_batch(to, max),
            Self::Pipe(end) => end.recv_batch(to, max),
        }
    }

    pub(crate) fn try_recv_batch(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, TryRecvError> {
        match self {
            Self::Exchange(end) => end.try_recv_batch(to, max),
            Self::Funnel(end) => end.try_recv_batch(to, max),
            Self::Pipe(end) => end.try_recv_batch(to, max),
        }
    }

    pub(crate) fn close(&mut self) -> bool {
        match self {
            Self::Exchange(end) => end.close(),
            Self::Funnel(end) => end.close(),
            Self::Pipe(end) => end.close(),
        }
    }
}

/// Closed by its receiver while nothing is there: nothing comes, by any method, and nothing can be sent.
pub(crate) fn while_empty(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    assert!(rx.close() && !rx.close());
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!((rx.recv(), block_on(rx.recv_async())), (Err(RecvError), Err(RecvError)));
    let mut kept = vec![1];
    assert_eq!(rx.recv_batch(&mut kept, 4), Err(RecvError));
    assert_eq!(rx.try_recv_batch(&mut kept, 4), Err(TryRecvError::Disconnected));
    assert_eq!(kept, [1]);
    assert!(rx.is_disconnected() && tx.is_disconnected());
    assert_eq!(tx.send(2), Err(SendError(2)));
    assert_eq!(tx.try_send(3), Err(TrySendError::Disconnected(3)));
    assert_eq!(tx.send_timeout(4, LONG), Err(SendTimeoutError::Disconnected(4)));
    assert_eq!(block_on(tx.send_async(5)), Err(SendError(5)));
}

/// Closed by its receiver after some messages: those are received, and none after them.
pub(crate) fn behind_messages(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    let messages = bound.unwrap_or(10).min(10);
    (0..messages).for_each(|message| tx.send(message).unwrap());
    assert!(rx.close());
    // That the senders can send no more is known at once; that it is over, when nothing is left.
    assert!(tx.is_disconnected());
    assert_eq!(tx.try_send(99), Err(TrySendError::Disconnected(99)));
    for left in (0..messages).rev() {
        assert_eq!(rx.recv(), Ok(messages - left - 1));
        assert_eq!(rx.len(), left);
    }
    assert_eq!((rx.recv(), rx.try_recv()), (Err(RecvError), Err(TryRecvError::Disconnected)));
}

/// How many messages there are does not change by closing, nor by the sender's going before or after it.
pub(crate) fn the_length_stays(kind: Kind, bound: Bound) {
    for sender_goes in [None, Some(true), Some(false)] {
        let (mut tx, mut rx) = kind.open(bound);
        (0..10).for_each(|message| tx.send(message).unwrap());
        let mut tx = Some(tx);
        if sender_goes == Some(true) {
            tx = None;
        }
        rx.close();
        if sender_goes == Some(false) {
            tx = None;
        }
        assert_eq!((rx.len(), rx.is_empty()), (10, false));
        assert!((0..10).all(|message| rx.recv() == Ok(message)));
        assert_eq!((rx.len(), rx.is_empty()), (0, true));
        assert!(rx.recv().is_err());
        drop(tx);
    }
}

/// Closed by a sender: what was sent is received, its own sends fail; the others' only where a sender closes for all.
pub(crate) fn by_a_sender(kind: Kind, bound: Bound) {
    let (tx, mut rx) = kind.open(bound);
    let mut senders = tx.split(kind.senders(2));
    senders[0].send(1).unwrap();
    assert!(senders[0].close() && !senders[0].close());
    assert!(senders[0].is_disconnected());
    assert_eq!(senders[0].send(2), Err(SendError(2)));
    if kind == Kind::Funnel {
        // Each sender of an mpsc channel closes for itself.
        assert!(!rx.is_disconnected());
        senders[1].send(3).unwrap();
        // Of different senders, so in either order.
        assert_eq!(rx.recv().unwrap() + rx.recv().unwrap(), 1 + 3);
        assert!(senders[1].close());
    } else {
        assert!(senders.iter_mut().all(|tx| tx.send(3).is_err()));
        assert_eq!(rx.recv(), Ok(1));
    }
    assert!(rx.is_disconnected());
    assert_eq!(rx.recv(), Err(RecvError));
}

/// Closed by its receiver while senders wait for room, as threads or as tasks: they have their messages back.
pub(crate) fn under_waiting_senders(kind: Kind, bound: usize, awaited: bool) {
    let tally = Tally::of(4 * (bound + 1));
    let (tx, mut rx) = kind.open(Some(bound));
    let senders = tx.split(kind.senders(4));
    both(
        || {
            each(senders, |mut tx| {
                loop {
                    // A tally that is used up would be a sender that goes on sending.
                    let message = tally.next();
                    if if awaited { block_on(tx.send_async(message)) } else { tx.send(message) }.is_err() {
                        break;
                    }
                }
            });
        },
        || {
            pause();
            assert!(rx.close());
            while rx.try_recv().is_ok() {}
            assert!(matches!(rx.recv(), Err(RecvError)));
        },
    );
    tally.assert_all_ended();
}

/// Closed while a receiver waits, by a sender: it is woken, and notified.
pub(crate) fn under_a_waiting_receiver(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open::<i32>(bound);
    both(
        || {
            pause();
            assert!(tx.close());
        },
        || assert_eq!(rx.recv(), Err(RecvError)),
    );
    let (mut tx, mut rx) = kind.open::<i32>(bound);
    let task = Task::default();
    assert!(rx.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
    assert!(tx.close());
    assert_eq!(task.woken(), 1);
    assert_eq!(rx.poll_recv(&mut Context::from_waker(&task.waker())), Poll::Ready(Err(RecvError)));
}

/// Closed with messages in it, and dropped: each message is dropped once, whether it was received, left or refused.
pub(crate) fn each_message_ends_once(kind: Kind, bound: usize) {
    let tally = Tally::of(bound + 10);
    let (mut tx, mut rx) = kind.open(Some(bound));
    tally.some(bound).for_each(|message| tx.send(message).unwrap());
    assert!(rx.close());
    tally.some(10).for_each(|message| assert!(tx.send(message).is_err()));
    assert_eq!(tally.ended(), 10);
    drop(rx.try_recv());
    assert_eq!(tally.ended(), 11);
    drop((tx, rx));
    tally.assert_all_ended();
}

/// Closed by its receiver in the middle of a stream: what was sent with success is received, in order, to the last; the first
/// message that is not received came back.
pub(crate) fn in_the_middle_of_a_stream(kind: Kind, bound: Bound) {
    for round in 0..100_u32 {
        let (mut tx, mut rx) = kind.open(bound);
        let (refused, expected) = both(
            move || (1_u32..).find_map(|message| tx.send(message).err()).map(SendError::into_inner),
            || {
                assert_eq!(rx.recv(), Ok(1));
                (0..round * 10).for_each(|_| std::hint::spin_loop());
                rx.close();
                let mut expected = 2;
                while let Ok(message) = rx.recv() {
                    assert_eq!(message, expected);
                    expected += 1;
                }
                expected
            },
        );
        assert_eq!(refused, Some(expected));
    }
}
