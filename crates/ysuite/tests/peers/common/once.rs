//! The channel for one message: what the suites of several peers have in common.

use std::task::{Context, Poll};
use std::thread;

use ysuite::oneshot::{self, Receiver, Sender};
use ysuite::{RecvError, RecvTimeoutError, SendError, TryRecvError};

use crate::support::Tally;
use crate::support::executor::{Task, block_on, poll_once};
use crate::tools::{LONG, SHORT, both, pause};

/// Polls a sender for the receiver's disconnect.
pub(crate) fn poll_closed<T>(tx: &mut Sender<T>, task: &Task) -> Poll<()> {
    tx.poll_closed(&mut Context::from_waker(&task.waker()))
}

/// Sent and received, for messages of no size, of one word, and of thousands of bytes; asked for, waited for, and awaited.
pub(crate) fn sent_and_received() {
    fn by_every_method<T: Clone + PartialEq + std::fmt::Debug>(message: T) {
        let ways: [fn(Receiver<T>) -> Option<T>; 5] = [
            |rx| rx.recv().ok(),
            |mut rx| rx.try_recv().ok(),
            |mut rx| rx.recv_timeout(SHORT).ok(),
            |mut rx| rx.recv_deadline(std::time::Instant::now()).ok(),
            |rx| block_on(rx).ok(),
        ];
        for receive in ways {
            let (tx, rx) = oneshot::channel();
            tx.send(message.clone()).unwrap();
            assert_eq!(receive(rx), Some(message.clone()));
        }
    }
    by_every_method(());
    by_every_method(42_u64);
    by_every_method(19_i128);
    by_every_method(String::from("hello"));
    by_every_method([0xAA_u8; 4096]);
}

/// One thread waits, or awaits, while the other sends; either is late.
pub(crate) fn between_threads(awaited: bool, late_sender: bool) {
    for round in 0..30_usize {
        let (tx, rx) = oneshot::channel();
        both(
            move || {
                if late_sender {
                    pause();
                }
                tx.send(Box::new(round)).unwrap();
            },
            move || {
                if !late_sender {
                    pause();
                }
                let message = if awaited { block_on(rx) } else { rx.recv() };
                assert_eq!(message, Ok(Box::new(round)));
            },
        );
    }
}

/// The sender goes without a message, before or while the receiver waits: every way of receiving says so.
pub(crate) fn the_sender_goes() {
    let gone = || {
        let (tx, rx) = oneshot::channel::<i32>();
        drop(tx);
        rx
    };
    assert_eq!(gone().recv(), Err(RecvError));
    assert_eq!(gone().try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!(gone().recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
    assert_eq!(gone().recv_deadline(std::time::Instant::now()), Err(RecvTimeoutError::Disconnected));
    assert_eq!(block_on(gone()), Err(RecvError));
    for awaited in [true, false] {
        let (tx, rx) = oneshot::channel::<i32>();
        both(
            || {
                pause();
                drop(tx);
            },
            || assert_eq!(if awaited { block_on(rx) } else { rx.recv() }, Err(RecvError)),
        );
    }
}

/// The receiver goes: the message comes back, and a sender that waits for the disconnect is woken.
pub(crate) fn the_receiver_goes() {
    let (tx, rx) = oneshot::channel();
    drop(rx);
    assert!(tx.is_disconnected());
    assert_eq!(tx.send(32_u128), Err(SendError(32)));
    let (mut tx, rx) = oneshot::channel();
    let task = Task::default();
    assert!(poll_closed(&mut tx, &task).is_pending());
    drop(rx);
    assert_eq!((task.woken(), tx.is_disconnected()), (1, true));
    assert!(poll_closed(&mut tx, &task).is_ready());
    assert_eq!(tx.send(1), Err(SendError(1)));
}

/// Both handles are dropped at once, with or without a message: it is dropped once.
pub(crate) fn both_go_at_once(awaited: bool) {
    let tally = Tally::of(300);
    for round in 0..300 {
        let (tx, rx) = oneshot::channel();
        let message = tally.next();
        both(
            move || if round % 3 == 0 { drop((tx, message)) } else { drop(tx.send(message)) },
            move || match round % 2 {
                0 => drop(rx),
                _ if awaited => drop(block_on(rx)),
                _ => drop(rx.recv()),
            },
        );
    }
    tally.assert_all_ended();
}

/// A sender that awaits the receiver's disconnect, many times over, each with a receiver that goes at once.
pub(crate) fn waiting_for_the_receivers_end() {
    let (work, jobs) = std::sync::mpsc::channel::<(Sender<u32>, std::sync::mpsc::Sender<()>)>();
    let thread = thread::spawn(move || {
        for (round, (mut tx, done)) in jobs.into_iter().enumerate() {
            if round % 2 == 0 {
                block_on(tx.closed())
            } else {
                tx.wait_closed()
            };
            done.send(()).unwrap();
        }
    });
    for _ in 0..1_000 {
        let (tx, rx) = oneshot::channel();
        let (done, is_done) = std::sync::mpsc::channel();
        work.send((tx, done)).unwrap();
        drop(rx);
        is_done.recv().unwrap();
    }
    drop(work);
    thread.join().unwrap();
}

/// A receiver that is closed while, before and after its sender sends: a message that was sent is there, else none comes.
pub(crate) fn closed_while_sent_to() {
    let (work, jobs) = std::sync::mpsc::channel::<Sender<u32>>();
    let thread = thread::spawn(move || jobs.into_iter().map(|tx| tx.send(42).is_ok()).collect::<Vec<_>>());
    let mut received = Vec::new();
    for _ in 0..1_000 {
        let (tx, mut rx) = oneshot::channel();
        work.send(tx).unwrap();
        rx.close();
        received.push(block_on(rx) == Ok(42));
    }
    drop(work);
    assert_eq!(thread.join().unwrap(), received, "a send that succeeded is received");
}

/// Asked too early, asked in time, asked too late.
pub(crate) fn asked_too_early_and_too_late() {
    let (tx, mut rx) = oneshot::channel();
    assert_eq!((rx.try_recv(), rx.is_empty()), (Err(TryRecvError::Empty), true));
    assert_eq!(rx.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    assert_eq!(rx.recv_deadline(std::time::Instant::now()), Err(RecvTimeoutError::Timeout));
    tx.send(17).unwrap();
    assert!(!rx.is_empty());
    assert_eq!((rx.try_recv(), rx.is_empty()), (Ok(17), true));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!(poll_once(&mut rx, &Task::default()), Poll::Ready(Err(RecvError)));
    assert!(!rx.close());
}

/// A message is dropped with its channel, or by whom it came back to.
pub(crate) fn dropped_once() {
    let tally = Tally::of(2);
    let (tx, rx) = oneshot::channel();
    tx.send(tally.next()).unwrap();
    assert_eq!(tally.ended(), 0);
    drop(rx);
    assert_eq!(tally.ended(), 1);
    let (tx, rx) = oneshot::channel();
    drop(rx);
    let back = tx.send(tally.next()).unwrap_err();
    assert_eq!(tally.ended(), 1);
    let message = back.into_inner();
    assert_eq!(tally.ended(), 1);
    drop(message);
    tally.assert_all_ended();
}
