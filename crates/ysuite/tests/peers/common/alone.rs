//! One thread with both handles: what is there, how much of it, what is refused.

use std::time::{Duration, Instant};

use ysuite::{RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError};

use crate::ends::{Bound, Kind, Rx, Tx};
use crate::tools::{LONG, SHORT};

/// Messages go in and come out one by one, by every method.
pub(crate) fn one_by_one(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    tx.send(7).unwrap();
    assert_eq!(rx.try_recv(), Ok(7));
    tx.try_send(8).unwrap();
    assert_eq!(rx.recv(), Ok(8));
    tx.send_timeout(9, LONG).unwrap();
    assert_eq!(rx.recv_timeout(LONG), Ok(9));
    tx.send_deadline(10, Instant::now() + LONG).unwrap();
    assert_eq!(rx.recv_deadline(Instant::now() + LONG), Ok(10));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(rx.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
}

/// One message, sent and received, of a channel of its own: boxed, so that it is missed where it is lost.
pub(crate) fn one_box(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    tx.send(Box::new(10)).unwrap();
    assert_eq!(rx.recv(), Ok(Box::new(10)));
}

/// A message by the first sender, and one by its clone.
pub(crate) fn by_a_clone(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    tx.send(1).unwrap();
    assert_eq!(rx.recv(), Ok(1));
    tx.another().send(2).unwrap();
    assert_eq!(rx.recv(), Ok(2));
}

/// Both handles know the bound, or that there is none.
pub(crate) fn the_bound_is_known(kind: Kind, bounds: &[Bound]) {
    for &bound in bounds {
        let (tx, rx) = kind.open::<()>(bound);
        assert_eq!((tx.capacity(), rx.capacity()), (bound, bound));
    }
}

/// What both handles report of how full the channel is.
#[track_caller]
fn says<T>(tx: &Tx<T>, rx: &Rx<T>, len: usize, is_full: bool) {
    assert_eq!((tx.len(), tx.is_empty(), tx.is_full()), (len, len == 0, is_full));
    assert_eq!((rx.len(), rx.is_empty()), (len, len == 0));
}

/// Empty, half full, full, and back again.
pub(crate) fn empty_and_full(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    let most = bound.unwrap_or(2);
    says(&tx, &rx, 0, false);
    for sent in 1..=most {
        tx.send(()).unwrap();
        says(&tx, &rx, sent, bound == Some(sent));
    }
    for left in (0..most).rev() {
        rx.recv().unwrap();
        says(&tx, &rx, left, false);
    }
}

/// The length after each of many messages, in waves.
pub(crate) fn the_length_follows(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    for wave in 0..20 {
        let messages = 10 + wave;
        for sent in 0..messages {
            tx.send(sent).unwrap();
            assert_eq!(tx.len(), sent + 1);
        }
        for received in 0..messages {
            assert_eq!(rx.recv(), Ok(received));
            assert_eq!(rx.len(), messages - received - 1);
        }
    }
    says(&tx, &rx, 0, false);
}

/// Messages up to the room, and one that is refused and comes back; room again for each that is taken.
pub(crate) fn one_too_many(kind: Kind, bound: usize) {
    let (mut tx, mut rx) = kind.open(Some(bound));
    (0..bound).for_each(|message| tx.try_send(message).unwrap());
    assert_eq!(tx.try_send(100), Err(TrySendError::Full(100)));
    assert_eq!(tx.send_timeout(101, SHORT), Err(SendTimeoutError::Timeout(101)));
    assert_eq!(rx.recv(), Ok(0));
    tx.try_send(bound).unwrap();
    assert_eq!(tx.try_send(102), Err(TrySendError::Full(102)));
    assert!((1..=bound).all(|message| rx.try_recv() == Ok(message)));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
}

/// Filled, emptied a little, filled again: what comes out is what went in, in order.
pub(crate) fn filled_again_and_again(kind: Kind, bound: usize) {
    let (mut tx, mut rx) = kind.open(Some(bound));
    let (mut sent, mut received) = (0, 0);
    for take in [bound, 1, bound / 2, bound, bound - 1] {
        while tx.try_send(sent).is_ok() {
            sent += 1;
        }
        assert_eq!(sent - received, bound);
        for _ in 0..take {
            assert_eq!(rx.try_recv(), Ok(received));
            received += 1;
        }
    }
    drop(tx);
    assert!((received..sent).all(|message| rx.try_recv() == Ok(message)));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
}

/// A limit that is over already is none where nothing has to be waited for.
pub(crate) fn too_late_is_early_enough_where_nothing_waits(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    let past = Instant::now();
    tx.send_timeout(1, Duration::ZERO).unwrap();
    assert_eq!(rx.recv_timeout(Duration::ZERO), Ok(1));
    tx.send_deadline(2, past).unwrap();
    assert_eq!(rx.recv_deadline(past), Ok(2));
    assert_eq!(rx.recv_deadline(past), Err(RecvTimeoutError::Timeout));
    assert_eq!(rx.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
}

/// Without a bound sending never fails while there is a receiver, by no method.
pub(crate) fn never_full(kind: Kind, messages: usize) {
    let (mut tx, rx) = kind.open(None);
    for message in 0..messages {
        match message % 3 {
            0 => tx.send(message).unwrap(),
            1 => tx.try_send(message).unwrap(),
            _ => tx.send_timeout(message, Duration::ZERO).unwrap(),
        }
    }
    assert_eq!((rx.len(), tx.is_full()), (messages, false));
    drop(rx);
    assert_eq!(tx.try_send(1), Err(TrySendError::Disconnected(1)));
    assert_eq!(tx.send_timeout(2, LONG), Err(SendTimeoutError::Disconnected(2)));
    assert_eq!(tx.send(3).unwrap_err().0, 3);
}

/// A channel of messages without a size, and one of arrays of nothing.
pub(crate) fn messages_of_no_size(kind: Kind, bound: Bound) {
    #[derive(Debug, PartialEq)]
    struct Nothing;
    let (mut tx, mut rx) = kind.open(bound);
    tx.send(Nothing).unwrap();
    assert_eq!((rx.len(), rx.recv()), (1, Ok(Nothing)));
    let (mut tx, mut rx) = kind.open::<[u64; 0]>(bound);
    tx.send([]).unwrap();
    assert_eq!(rx.recv(), Ok([]));
}

/// Nothing, then something, then the disconnect; nothing after that.
pub(crate) fn nothing_something_the_end(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    assert!(!rx.is_disconnected() && !tx.is_disconnected());
    tx.send(20).unwrap();
    assert_eq!((rx.try_recv(), rx.try_recv()), (Ok(20), Err(TryRecvError::Empty)));
    drop(tx);
    assert!(rx.is_disconnected());
    for _ in 0..2 {
        assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
        assert!(rx.recv().is_err());
        assert_eq!(rx.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
    }
}

/// An own struct as an integrity check: all of a message arrives, of any shape, all zeros or all ones.
pub(crate) fn whole<T: Copy + PartialEq + std::fmt::Debug + Send + 'static>(
    kind: Kind,
    bound: Bound,
    zeros: T,
    ones: T,
) {
    const ROUNDS: usize = 2_000;
    let (mut tx, mut rx) = kind.open(bound);
    let send =
        move || (0..ROUNDS).for_each(|_| [zeros, ones].into_iter().for_each(|message| tx.send(message).unwrap()));
    crate::tools::both(send, || {
        (0..ROUNDS).for_each(|_| assert_eq!([rx.recv(), rx.recv()], [Ok(zeros), Ok(ones)]));
        assert!(rx.recv().is_err());
    });
}

/// Nothing is there to be received, and a message that finds no place is refused: in a full channel, or in a rendezvous
/// without a receiver.
pub(crate) fn refused_where_nothing_can_be(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    (0..bound.unwrap_or(0)).for_each(|_| tx.send(1).unwrap());
    assert_eq!(tx.try_send(10), Err(TrySendError::Full(10)));
}

/// A number of messages and the disconnect, for numbers from none upwards: nothing is left over, and nothing is
/// missing.
pub(crate) fn so_many_and_the_end(kind: Kind, bound: Bound) {
    for messages in 0..=bound.unwrap_or(100) {
        let (mut tx, mut rx) = kind.open(bound);
        (0..messages).for_each(|message| tx.send(message).unwrap());
        assert_eq!((rx.len(), rx.is_empty()), (messages, messages == 0));
        assert!((0..messages).all(|message| rx.try_recv() == Ok(message)));
        assert_eq!((rx.try_recv(), rx.is_empty()), (Err(TryRecvError::Empty), true));
        drop(tx);
        assert_eq!((rx.try_recv(), rx.is_empty()), (Err(TryRecvError::Disconnected), true));
    }
}

/// A receiver knows that the senders are gone when the last of them is, whether or not messages are left.
pub(crate) fn the_receiver_knows(kind: Kind, bound: Bound, messages: usize) {
    let (tx, rx) = kind.open(bound);
    let mut senders = tx.split(kind.senders(3));
    (0..messages).for_each(|message| senders[0].send(message).unwrap());
    while !senders.is_empty() {
        assert!(!rx.is_disconnected());
        drop(senders.remove(0));
    }
    assert!(rx.is_disconnected());
    assert_eq!(rx.len(), messages);
}

/// The length while messages are taken, the last sender being gone or not.
pub(crate) fn the_length_while_emptied(kind: Kind, bound: Bound, messages: usize, sender_gone: bool) {
    let (mut tx, mut rx) = kind.open(bound);
    assert_eq!((rx.len(), rx.is_empty()), (0, true));
    (0..messages).for_each(|message| tx.send(message).unwrap());
    let _tx = (!sender_gone).then_some(tx);
    for left in (0..messages).rev() {
        assert!(!rx.is_empty());
        rx.recv().unwrap();
        assert_eq!((rx.len(), rx.is_empty()), (left, left == 0));
    }
}

/// Handles are printed, cloned and sent for any message; a message need not be anything but `Send`.
pub(crate) fn messages_that_can_do_nothing(kind: Kind, bound: Bound) {
    struct Plain;
    fn printed(end: &impl std::fmt::Debug) -> bool {
        !format!("{end:?}").is_empty()
    }
    let (tx, mut rx) = kind.open(bound);
    assert!(printed(&tx) && printed(&rx));
    let mut senders = tx.split(kind.senders(2));
    assert!(senders[0].try_send(Plain).is_ok() && rx.recv().is_ok());
    assert!(printed(&senders[0].send_timeout(Plain, LONG)) && printed(&rx.try_recv().err()));
}
