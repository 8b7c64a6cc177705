//! Many messages, many threads: nothing is lost, nothing comes twice, what has an order keeps it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ysuite::TryRecvError;

use crate::ends::{Bound, Kind};
use crate::support::Tally;
use crate::tools::{SHORT, both, each, pause};

/// How often each number has come.
struct Count(Vec<AtomicUsize>);

impl Count {
    fn of(numbers: usize) -> Self {
        Self((0..numbers).map(|_| AtomicUsize::new(0)).collect())
    }

    fn came(&self, number: usize) {
        self.0[number].fetch_add(1, Ordering::Relaxed);
    }

    #[track_caller]
    fn assert_each_came(&self, times: usize) {
        assert!(self.0.iter().all(|came| came.load(Ordering::Relaxed) == times));
    }
}

/// One sends, one receives: in order, until the disconnect.
pub(crate) fn a_stream(kind: Kind, bound: Bound, messages: usize) {
    let (mut tx, mut rx) = kind.open(bound);
    both(
        move || (0..messages).for_each(|message| tx.send(message).unwrap()),
        move || {
            assert!((0..messages).all(|message| rx.recv() == Ok(message)));
            assert!(rx.recv().is_err());
        },
    );
}

/// All messages first, all receiving afterwards, on one thread.
pub(crate) fn all_then_all(kind: Kind, bound: Bound, messages: usize) {
    let (mut tx, mut rx) = kind.open(bound);
    (0..messages).for_each(|message| tx.send(Box::new(message)).unwrap());
    assert!((0..messages).all(|message| rx.recv().is_ok_and(|received| *received == message)));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
}

/// Several send the same numbers, several receive (one where there can be only one): each number comes once from each.
pub(crate) fn all_threads_at_once(kind: Kind, bound: Bound, many: usize) {
    const NUMBERS: usize = 2_000;
    let (tx, rx) = kind.open(bound);
    let (senders, receivers) = (tx.split(kind.senders(many)), rx.split(kind.receivers(many)));
    let threads = senders.len();
    let count = Count::of(NUMBERS);
    both(
        || each(senders, |mut tx| (0..NUMBERS).for_each(|number| tx.send(number).unwrap())),
        || each(receivers, |mut rx| rx.iter().for_each(|number| count.came(number))),
    );
    count.assert_each_came(threads);
}

/// The same number of messages for each receiver as from each sender: no receiver sees the disconnect, and nothing is
/// left.
pub(crate) fn an_equal_share_for_all(kind: Kind, bound: Bound, many: usize) {
    const NUMBERS: usize = 1_000;
    let (tx, rx) = kind.open(bound);
    let (senders, receivers) = (tx.split(kind.senders(many)), rx.split(kind.receivers(many)));
    let tally = Tally::of(senders.len() * NUMBERS);
    let share = senders.len() * NUMBERS / receivers.len();
    both(
        || each(senders, |mut tx| tally.some(NUMBERS).for_each(|message| tx.send(message).unwrap())),
        || each(receivers, |mut rx| (0..share).for_each(|_| drop(rx.recv().unwrap()))),
    );
    tally.assert_all_ended();
}

/// Each sender's messages come in its order, whatever the others do.
pub(crate) fn each_senders_order(kind: Kind, bound: Bound, many: usize) {
    const NUMBERS: usize = 1_000;
    let (tx, mut rx) = kind.open(bound);
    let senders = tx.split(kind.senders(many));
    let mut next = vec![0; senders.len()];
    both(
        || {
            each(senders.into_iter().enumerate(), |(sender, mut tx)| {
                (0..NUMBERS).for_each(|number| tx.send((sender, number)).unwrap());
            });
        },
        || {
            for (sender, number) in rx.iter() {
                assert_eq!(number, next[sender]);
                next[sender] += 1;
            }
        },
    );
    assert!(next.into_iter().all(|next| next == NUMBERS));
}

/// A thread for each message, or each few.
pub(crate) fn a_thread_for_each(kind: Kind, bound: Bound, threads: usize, messages: usize) {
    let (tx, mut rx) = kind.open(bound);
    let senders = tx.split(kind.senders(threads));
    let expected = senders.len() * messages;
    let ((), received) = both(
        || each(senders, |mut tx| (0..messages).for_each(|_| tx.send(1).unwrap())),
        || rx.iter().inspect(|&one| assert_eq!(one, 1)).count(),
    );
    assert_eq!(received, expected);
}

/// A receiver with short limits, several senders that pause: it gets them all, and times out in between as often as it likes.
pub(crate) fn a_receiver_with_short_limits(kind: Kind, bound: Bound, threads: usize) {
    const MESSAGES: usize = 5;
    let (tx, mut rx) = kind.open(bound);
    let senders = tx.split(kind.senders(threads));
    let expected = senders.len() * MESSAGES;
    let ((), received) = both(
        || {
            each(senders, |mut tx| {
                for _ in 0..MESSAGES {
                    pause();
                    tx.send(1).unwrap();
                }
            });
        },
        || {
            let mut received = 0;
            loop {
                match rx.recv_timeout(SHORT) {
                    Ok(one) => received += one,
                    Err(error) if error.is_timeout() => {}
                    Err(_) => break received,
                }
            }
        },
    );
    assert_eq!(received, expected);
}

/// Channels for a few messages each, used by all threads at once, one after the other.
pub(crate) fn many_short_lives(kind: Kind, bound: Bound) {
    for round in 0..100 {
        let (tx, rx) = kind.open(bound);
        let (senders, receivers) = (tx.split(kind.senders(2)), rx.split(kind.receivers(2)));
        let expected = senders.len();
        let received = AtomicUsize::new(0);
        both(
            || each(senders, |mut tx| tx.send(round).unwrap()),
            || {
                each(receivers, |mut rx| {
                    received.fetch_add(rx.iter().inspect(|&got| assert_eq!(got, round)).count(), Ordering::Relaxed);
                });
            },
        );
        assert_eq!(received.into_inner(), expected);
    }
}

/// Threads that pass on what they receive: out to many, back from many.
pub(crate) fn out_to_many_and_back(kind: Kind, threads: usize) {
    const MESSAGES: usize = 100;
    let (back, mut rx) = kind.endless();
    let (mut out, heads): (Vec<_>, Vec<_>) = (0..threads).map(|_| kind.endless()).unzip();
    let workers: Vec<_> = heads.into_iter().zip(back.split(threads)).collect();
    both(
        || each(workers, |(mut from, mut to)| from.iter().for_each(|message| to.send(message).unwrap())),
        || {
            for _ in 0..10 {
                out.iter_mut().for_each(|tx| (0..MESSAGES).for_each(|_| tx.send(()).unwrap()));
                (0..threads * MESSAGES).for_each(|_| rx.recv().unwrap());
            }
            drop(out);
            assert!(rx.recv().is_err());
        },
    );
}

/// Threads in a row, each passing on to the next: what goes into the first comes out of the last.
pub(crate) fn through_a_row(kind: Kind, bound: Bound, threads: usize) {
    const MESSAGES: usize = 200;
    let (mut first, mut last) = kind.open(bound);
    let mut row = Vec::new();
    for _ in 0..threads {
        let (tx, rx) = kind.open(bound);
        row.push((std::mem::replace(&mut last, rx), tx));
    }
    both(
        || each(row, |(mut from, mut to)| from.iter().for_each(|message| to.send(message).unwrap())),
        || {
            both(
                move || (0..MESSAGES).for_each(|message| first.send(message).unwrap()),
                || assert!((0..MESSAGES).all(|message| last.recv() == Ok(message)) && last.recv().is_err()),
            )
        },
    );
}

/// The message and the receiver go from thread to thread: the thread with the receiver takes the next message.
pub(crate) fn the_receiver_travels(kind: Kind, bound: Bound) {
    const MESSAGES: usize = 30;
    let (mut tx, mut rx) = kind.open(bound);
    thread::scope(|scope| {
        scope.spawn(move || (0..MESSAGES).for_each(|message| tx.send(Box::new(message)).unwrap()));
        for message in 0..MESSAGES {
            rx = scope
                .spawn(move || {
                    assert_eq!(rx.recv(), Ok(Box::new(message)));
                    rx
                })
                .join()
                .unwrap();
        }
    });
}
