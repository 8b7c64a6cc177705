//! Two threads; one waits for the other: for a message, for room, for a time.

use std::time::Duration;

use ysuite::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};

use crate::ends::{Bound, Kind};
use crate::tools::{LONG, SHORT, both, pause};

/// `try_recv` says what there is: nothing yet, something, nothing any more.
pub(crate) fn try_recv_says_what_there_is(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    let ((mut go, mut went), (mut back, mut came)) = (kind.endless(), kind.endless());
    both(
        move || {
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
            go.send(()).unwrap();
            assert!(came.recv().is_ok());
            assert_eq!((rx.try_recv(), rx.try_recv()), (Ok(7), Err(TryRecvError::Empty)));
            go.send(()).unwrap();
            assert!(came.recv().is_err());
            assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
        },
        move || {
            went.recv().unwrap();
            tx.send(7).unwrap();
            back.send(()).unwrap();
            went.recv().unwrap();
            drop(tx);
            drop(back);
        },
    );
}

/// A receiver waits for each message, finds the next ones there already, and is notified of the disconnect.
pub(crate) fn recv_waits(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    both(
        move || {
            assert_eq!(rx.recv(), Ok(7));
            pause();
            assert_eq!((rx.recv(), rx.recv(), rx.recv()), (Ok(8), Ok(9), Err(RecvError)));
        },
        move || {
            pause();
            [7, 8, 9].into_iter().for_each(|message| tx.send(message).unwrap());
        },
    );
}

/// A receiver's time runs out; the next wait gets the message; the last learns that the sender is gone.
pub(crate) fn recv_timeout_says_why(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    let (mut out, mut ran_out) = kind.endless();
    both(
        move || {
            assert_eq!(rx.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
            out.send(()).unwrap();
            assert_eq!(rx.recv_timeout(LONG), Ok(7));
            assert_eq!(rx.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
        },
        move || {
            ran_out.recv().unwrap();
            pause();
            tx.send(7).unwrap();
        },
    );
}

/// `try_send` into a channel of one: there is room, there is none, there is again, there is no receiver.
pub(crate) fn try_send_says_why(kind: Kind) {
    let (mut tx, mut rx) = kind.open(Some(1));
    let (mut go, mut went) = kind.endless();
    let (mut back, mut came) = kind.endless();
    both(
        move || {
            tx.try_send(1).unwrap();
            assert_eq!(tx.try_send(2), Err(TrySendError::Full(2)));
            go.send(()).unwrap();
            came.recv().unwrap();
            tx.try_send(3).unwrap();
            assert!(came.recv().is_err());
            assert_eq!(tx.try_send(4), Err(TrySendError::Disconnected(4)));
        },
        move || {
            went.recv().unwrap();
            assert_eq!((rx.try_recv(), rx.try_recv()), (Ok(1), Err(TryRecvError::Empty)));
            back.send(()).unwrap();
            assert_eq!(rx.recv(), Ok(3));
            drop(rx);
            drop(back);
        },
    );
}

/// Messages for which there is room go at once; the next waits until one is taken.
pub(crate) fn send_waits(kind: Kind, bound: usize) {
    let (mut tx, mut rx) = kind.open(Some(bound));
    both(
        move || (0..bound + 3).for_each(|message| tx.send(message).unwrap()),
        move || {
            pause();
            assert!((0..bound + 3).all(|message| rx.recv() == Ok(message)));
            assert_eq!(rx.recv(), Err(RecvError));
        },
    );
}

/// A sender's time runs out, and it has its message back; then there is room in time; then there is no receiver.
pub(crate) fn send_timeout_says_why(kind: Kind, bound: usize) {
    let (mut tx, mut rx) = kind.open(Some(bound));
    let (mut out, mut ran_out) = kind.endless();
    both(
        move || {
            (0..bound).for_each(|message| tx.send_timeout(message, LONG).unwrap());
            assert_eq!(tx.send_timeout(90, SHORT), Err(SendTimeoutError::Timeout(90)));
            out.send(()).unwrap();
            tx.send_timeout(bound, LONG).unwrap();
            out.send(()).unwrap();
            assert_eq!(tx.send_timeout(91, LONG), Err(SendTimeoutError::Disconnected(91)));
            assert_eq!(tx.send(92), Err(SendError(92)));
        },
        move || {
            ran_out.recv().unwrap();
            pause();
            assert_eq!(rx.recv(), Ok(0));
            ran_out.recv().unwrap();
            pause();
            drop(rx);
        },
    );
}

/// Sender and receiver pause in turn and wait with short limits, over and over: every message arrives, once, in order.
pub(crate) fn short_limits_on_both_sides(kind: Kind, bound: Bound) {
    const MESSAGES: usize = 60;
    let (mut tx, mut rx) = kind.open(bound);
    both(
        move || {
            for message in 0..MESSAGES {
                if message % 2 == 0 {
                    pause();
                }
                let mut back = message;
                while let Err(error) = tx.send_timeout(back, SHORT) {
                    back = error.into_inner();
                }
            }
        },
        move || {
            for expected in 0..MESSAGES {
                if expected % 3 == 0 {
                    pause();
                }
                let received = std::iter::repeat_with(|| rx.recv_timeout(SHORT)).find(Result::is_ok);
                assert_eq!(received, Some(Ok(expected)));
            }
            assert_eq!(rx.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
        },
    );
}

/// A sender and a receiver that are at it with waits of no length at all, or of the whole of time.
pub(crate) fn limits_of_nothing_and_of_all_time(kind: Kind, bound: Bound) {
    const MESSAGES: usize = 300;
    let (mut tx, mut rx) = kind.open(bound);
    both(
        move || (0..MESSAGES).for_each(|message| tx.send_timeout(message, Duration::MAX).unwrap()),
        move || {
            for expected in 0..MESSAGES {
                let received = match rx.recv_timeout(Duration::ZERO) {
                    Err(RecvTimeoutError::Timeout) => rx.recv_timeout(Duration::MAX),
                    other => other,
                };
                assert_eq!(received, Ok(expected));
            }
            assert_eq!(rx.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Disconnected));
        },
    );
}

/// A wait that has timed out leaves nothing: the message that comes later is for the next.
pub(crate) fn a_wait_that_ran_out_is_forgotten(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    for round in 0..20 {
        assert_eq!(rx.recv_timeout(Duration::from_micros(100)), Err(RecvTimeoutError::Timeout));
        tx.send(round).unwrap();
        assert_eq!(rx.recv_timeout(LONG), Ok(round));
    }
    drop(tx);
    assert_eq!(rx.recv_timeout(SHORT), Err(RecvTimeoutError::Disconnected));
}

/// A channel for each message, the handles on two threads: one message and the disconnect.
pub(crate) fn one_message_each(kind: Kind, bound: Bound) {
    for round in 0..500 {
        let (mut tx, mut rx) = kind.open(bound);
        both(move || tx.send(round).unwrap(), move || assert_eq!((rx.recv(), rx.recv()), (Ok(round), Err(RecvError))));
    }
}

/// A receiver that waits gets the message that is sent after it began; in boxes, so that each is missed or freed.
pub(crate) fn sent_while_one_waits(kind: Kind, bound: Bound) {
    for message in 0..5 {
        let (mut tx, mut rx) = kind.open(bound);
        both(
            move || assert_eq!(rx.recv(), Ok(Box::new(message))),
            || {
                pause();
                tx.send(Box::new(message)).unwrap();
            },
        );
    }
}

/// A sender sends late, a receiver receives late: the other one waits.
pub(crate) fn one_of_them_is_late(kind: Kind, bound: Bound, late_sender: bool) {
    let (mut tx, mut rx) = kind.open(bound);
    both(
        move || {
            for message in 0..10 {
                if late_sender {
                    pause();
                }
                tx.send(Box::new(message)).unwrap();
            }
        },
        move || {
            for message in 0..10 {
                if !late_sender {
                    pause();
                }
                assert_eq!(rx.recv(), Ok(Box::new(message)));
            }
        },
    );
}

/// Two threads that begin when both are there; one streams to the other.
pub(crate) fn ready_steady_go(kind: Kind, bound: Bound) {
    let ((mut tx, mut rx), (mut ready, mut is_ready)) = (kind.open(bound), kind.open(bound));
    both(
        move || {
            ready.send(()).unwrap();
            (0..40).for_each(|_| assert_eq!(rx.recv(), Ok(1)));
        },
        move || {
            is_ready.recv().unwrap();
            (0..40).for_each(|_| tx.send(1).unwrap());
        },
    );
}

/// Question and answer between two threads.
pub(crate) fn question_and_answer(kind: Kind, bound: Bound) {
    for _ in 0..100 {
        let ((mut ask, mut asked), (mut answer, mut answered)) = (kind.open(bound), kind.open(bound));
        both(
            move || {
                assert_eq!(asked.recv(), Ok(1));
                answer.send(2).unwrap();
            },
            move || {
                ask.send(1).unwrap();
                assert_eq!(answered.recv(), Ok(2));
            },
        );
    }
}

/// A clone that stays keeps the receiver waiting until its time is up: that is no disconnect.
pub(crate) fn a_clone_that_stays_is_no_end(kind: Kind, bound: Bound) {
    let (tx, mut rx) = kind.open::<()>(bound);
    let _another = tx.another();
    drop(tx);
    assert_eq!(rx.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
}

/// After a crowd of threads with a message each the time runs out; then the one that stayed sends one more.
pub(crate) fn one_more_after_a_crowd(kind: Kind, bound: Bound) {
    let (tx, mut rx) = kind.open(bound);
    let mut senders = tx.split(6);
    let mut last = senders.pop().expect("six");
    both(|| crate::tools::each(senders, |mut tx| tx.send(()).unwrap()), || (0..5).for_each(|_| rx.recv().unwrap()));
    assert_eq!(rx.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    last.send(()).unwrap();
    assert_eq!(rx.recv_timeout(LONG), Ok(()));
}

/// A clone that is made and dropped while the receiver waits with a limit, the first sender staying: time runs out, twice.
pub(crate) fn a_clone_that_goes_ends_no_wait(kind: Kind, bound: Bound) {
    let (tx, mut rx) = kind.open::<()>(bound);
    let (tx, ()) = both(
        move || {
            pause();
            drop(tx.another());
            tx
        },
        || assert_eq!(rx.recv_timeout(SHORT * 10), Err(RecvTimeoutError::Timeout)),
    );
    assert_eq!(rx.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    drop(tx);
    assert_eq!(rx.recv_timeout(SHORT), Err(RecvTimeoutError::Disconnected));
}
