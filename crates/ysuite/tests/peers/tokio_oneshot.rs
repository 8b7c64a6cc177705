//! Suite: tokio tests/sync_oneshot.rs; upstream 22, carried over here 22, excluded 0.

use std::task::Poll;

use futures_util::future::FusedFuture;
use ysuite::oneshot::{self, Receiver};
use ysuite::{RecvError, SendError, TryRecvError};

use crate::common::once::{self, poll_closed};
use crate::support::executor::{Task, block_on, poll_once};

carried! {
    send_recv => woken_by_the_message;
    async_send_recv => once::between_threads(true, true);
    close_tx => woken_by_the_senders_end;
    close_rx => once::the_receiver_goes;
    async_rx_closed => once::waiting_for_the_receivers_end;
    explicit_close_poll => closed_and_polled;
    explicit_close_try_recv => closed_and_asked;
    close_try_recv_poll => asked_again_and_again;
    close_after_recv => once::asked_too_early_and_too_late;
    try_recv_after_completion => once::asked_too_early_and_too_late;
    try_recv_after_completion_await => asked_after_it_was_awaited;
    drops_tasks => both_let_go_of_their_tasks;
    receiver_changes_task => the_receiver_changes_its_task;
    sender_changes_task => the_sender_changes_its_task;
    receiver_is_terminated_send => terminated_with_the_message(false);
    receiver_is_terminated_try_recv => terminated_with_the_message(true);
    receiver_is_terminated_drop => terminated_without_a_message(false);
    receiver_is_terminated_rx_close => terminated_without_a_message(true);
    receiver_is_empty_send => empty_before_and_after(false);
    receiver_is_empty_try_recv => empty_before_and_after(true);
    receiver_is_empty_drop => empty_without_a_message(false);
    receiver_is_empty_rx_close => empty_without_a_message(true);
}

fn woken_by_the_message() {
    let (tx, mut rx) = oneshot::channel();
    let task = Task::default();
    assert!(poll_once(&mut rx, &task).is_pending());
    tx.send(1).unwrap();
    assert_eq!((task.woken(), poll_once(&mut rx, &task)), (1, Poll::Ready(Ok(1))));
}

fn woken_by_the_senders_end() {
    let (tx, mut rx) = oneshot::channel::<i32>();
    let task = Task::default();
    assert!(poll_once(&mut rx, &task).is_pending());
    drop(tx);
    assert_eq!((task.woken(), poll_once(&mut rx, &task)), (1, Poll::Ready(Err(RecvError))));
}

/// Closed by its receiver after a message, which is still there; and before one, which comes back.
fn closed_by(receive: impl Fn(&mut Receiver<i32>) -> Result<i32, TryRecvError>) {
    let (tx, mut rx) = oneshot::channel();
    tx.send(1).unwrap();
    assert!(!rx.close());
    assert_eq!(receive(&mut rx), Ok(1));
    let (mut tx, mut rx) = oneshot::channel();
    let task = Task::default();
    assert!(poll_closed(&mut tx, &task).is_pending());
    assert!(rx.close() && !rx.close());
    assert_eq!((task.woken(), tx.is_disconnected()), (1, true));
    assert!(poll_closed(&mut tx, &task).is_ready());
    assert_eq!(tx.send(1), Err(SendError(1)));
    assert_eq!(receive(&mut rx), Err(TryRecvError::Disconnected));
}

fn closed_and_polled() {
    closed_by(|rx| match poll_once(rx, &Task::default()) {
        Poll::Ready(answer) => answer.map_err(TryRecvError::from),
        Poll::Pending => Err(TryRecvError::Empty),
    });
}

fn closed_and_asked() {
    closed_by(Receiver::try_recv);
}

/// tokio panics where a receiver that has said that nothing comes is polled. Here it says so again.
fn asked_again_and_again() {
    let (_tx, mut rx) = oneshot::channel::<i32>();
    rx.close();
    for _ in 0..2 {
        assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(poll_once(&mut rx, &Task::default()), Poll::Ready(Err(RecvError)));
    }
}

fn asked_after_it_was_awaited() {
    let (tx, mut rx) = oneshot::channel();
    tx.send(17).unwrap();
    assert_eq!(block_on(&mut rx), Ok(17));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    rx.close();
}

fn both_let_go_of_their_tasks() {
    let (mut tx, mut rx) = oneshot::channel::<i32>();
    let (of_tx, of_rx) = (Task::default(), Task::default());
    assert!(poll_closed(&mut tx, &of_tx).is_pending() && poll_once(&mut rx, &of_rx).is_pending());
    drop((tx, rx));
    assert_eq!((of_tx.held(), of_rx.held()), (0, 0));
}

fn the_receiver_changes_its_task() {
    let (tx, mut rx) = oneshot::channel();
    let (first, last) = (Task::default(), Task::default());
    assert!(poll_once(&mut rx, &first).is_pending());
    assert_eq!((first.held(), last.held()), (1, 0));
    assert!(poll_once(&mut rx, &last).is_pending());
    assert_eq!((first.held(), last.held()), (0, 1));
    tx.send(1).unwrap();
    assert_eq!((first.woken(), last.woken()), (0, 1));
    assert_eq!(poll_once(&mut rx, &last), Poll::Ready(Ok(1)));
}

fn the_sender_changes_its_task() {
    let (mut tx, rx) = oneshot::channel::<i32>();
    let (first, last) = (Task::default(), Task::default());
    assert!(poll_closed(&mut tx, &first).is_pending());
    assert_eq!((first.held(), last.held()), (1, 0));
    assert!(poll_closed(&mut tx, &last).is_pending());
    assert_eq!((first.held(), last.held()), (0, 1));
    drop(rx);
    assert_eq!((first.woken(), last.woken()), (0, 1));
    assert!(poll_closed(&mut tx, &last).is_ready());
}

/// Receives by asking, or by polling.
fn receive(rx: &mut Receiver<i32>, asks: bool) -> Option<i32> {
    if asks { rx.try_recv().ok() } else { block_on(rx).ok() }
}

fn terminated_with_the_message(asks: bool) {
    let (tx, mut rx) = oneshot::channel();
    assert!(!rx.is_terminated());
    tx.send(17).unwrap();
    assert!(!rx.is_terminated());
    assert_eq!(receive(&mut rx, asks), Some(17));
    assert!(rx.is_terminated());
}

fn terminated_without_a_message(closes: bool) {
    let (tx, mut rx) = oneshot::channel();
    assert!(!rx.is_terminated());
    if closes {
        rx.close();
    } else {
        drop(tx);
    }
    assert!(!rx.is_terminated());
    assert_eq!(receive(&mut rx, false), None);
    assert!(rx.is_terminated());
}

fn empty_before_and_after(asks: bool) {
    let (tx, mut rx) = oneshot::channel();
    assert!(rx.is_empty());
    tx.send(17).unwrap();
    assert!(!rx.is_empty());
    assert_eq!(receive(&mut rx, asks), Some(17));
    assert!(rx.is_empty());
}

fn empty_without_a_message(closes: bool) {
    let (tx, mut rx) = oneshot::channel();
    assert!(rx.is_empty());
    if closes {
        rx.close();
    } else {
        drop(tx);
    }
    assert!(rx.is_empty());
    assert_eq!((receive(&mut rx, false), rx.is_empty()), (None, true));
}
