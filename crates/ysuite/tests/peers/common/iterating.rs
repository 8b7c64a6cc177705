//! Receivers as iterators: waiting, not waiting, owning.

use crate::ends::{Bound, Kind};
use crate::tools::both;

/// A loop over a receiver in another thread's loop over a receiver.
pub(crate) fn a_loop_to_the_end(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    let (mut sum_tx, mut sum_rx) = kind.open(Some(1));
    both(
        move || sum_tx.send(rx.iter().sum::<i32>()).unwrap(),
        || {
            [3, 1, 2].into_iter().for_each(|message| tx.send(message).unwrap());
            drop(tx);
            assert_eq!(sum_rx.recv(), Ok(6));
        },
    );
}

/// A loop that is left early, and its receiver that goes then.
pub(crate) fn a_loop_that_is_left(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    let (mut count_tx, mut count_rx) = kind.endless();
    both(
        move || {
            let before_three = rx.iter().take_while(|&message| message < 3).count();
            drop(rx);
            count_tx.send(before_three).unwrap();
        },
        || {
            [2, 2, 3].into_iter().for_each(|message| tx.send(message).unwrap());
            // Where it fails the receiver has gone already.
            let _ = tx.try_send(2);
            assert_eq!(count_rx.recv(), Ok(2));
            drop(tx);
        },
    );
}

/// A loop over what is there goes on only when there is more, and another thread sees to that.
pub(crate) fn loops_over_what_is_there(kind: Kind, bound: Bound) {
    let (mut request, mut requests) = kind.open(bound);
    let (mut response, mut responses) = kind.open(bound);
    both(
        move || {
            let mut count = 0;
            loop {
                count += responses.try_iter().map(|message: usize| message).sum::<usize>();
                if count >= 6 {
                    break assert_eq!(count, 6);
                }
                // Left unanswered if the other thread has sent all that it had.
                let _ = request.try_send(());
                std::thread::yield_now();
            }
        },
        || {
            for _ in 0..3 {
                requests.recv().unwrap();
                response.send(2).unwrap();
            }
        },
    );
}

/// An iterator that owns its receiver: what is there, then the disconnect; dropping the iterator disconnects the
/// sender.
pub(crate) fn an_iterator_that_owns(kind: Kind, bound: Bound) {
    let (mut tx, rx) = kind.open(bound);
    let mut all = {
        tx.send(1).unwrap();
        tx.send(2).unwrap();
        rx.into_iter()
    };
    assert_eq!((all.next(), all.next()), (Some(1), Some(2)));
    drop(all);
    assert!(tx.send(3).is_err());
}

/// An iterator that borrows: the receiver is there afterwards, for later messages.
pub(crate) fn an_iterator_that_borrows(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    tx.send(1).unwrap();
    tx.send(2).unwrap();
    assert!(rx.iter().take(2).eq([1, 2]));
    tx.send(3).unwrap();
    drop(tx);
    assert!(rx.iter().eq([3]));
    assert_eq!(rx.iter().next(), None);
}

/// All that is there, at once; and again; and what comes meanwhile.
pub(crate) fn drained_again_and_again(kind: Kind) {
    let (mut tx, mut rx) = kind.endless();
    (0..100).for_each(|message| tx.send(message).unwrap());
    assert!(rx.try_iter().eq(0..100));
    assert_eq!(rx.try_iter().count(), 0);
    (0..100).chain(0..100).for_each(|message| tx.send(message).unwrap());
    assert_eq!(rx.recv(), Ok(0));
    drop(tx);
    assert!(rx.into_iter().eq((1..100).chain(0..100)));
}

/// A whole channel summed up: after the sender has gone, and while many threads are sending.
pub(crate) fn summed_up(kind: Kind) {
    let (mut tx, mut rx) = kind.endless();
    (0..1_000).for_each(|message| tx.send(message).unwrap());
    assert_eq!(rx.try_iter().sum::<u64>(), 499_500);
    (0..1_000).for_each(|message| tx.send(message).unwrap());
    drop(tx);
    assert_eq!(rx.iter().sum::<u64>(), 499_500);
}

/// Iterators while the other side streams: many short loops over what is there, then one until the disconnect.
pub(crate) fn iterating_under_a_stream(kind: Kind, bound: Bound) {
    const MESSAGES: usize = 5_000;
    let (mut tx, mut rx) = kind.open(bound);
    both(
        move || (0..MESSAGES).for_each(|message| tx.send(message).unwrap()),
        || {
            let mut expected = 0;
            while expected < MESSAGES / 2 {
                for message in rx.try_iter() {
                    assert_eq!(message, expected);
                    expected += 1;
                }
                std::thread::yield_now();
            }
            assert!(rx.iter().eq(expected..MESSAGES));
        },
    );
}
