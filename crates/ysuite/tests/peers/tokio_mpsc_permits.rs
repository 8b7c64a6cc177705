//! Suite: tokio tests/sync_mpsc.rs; upstream 107, carried over here 36, excluded 3.
//!
//! Permits. If several senders share the bound they are those of the mpmc channel.
//!
//! There a permit keeps a closed channel open: its message is received, and the receiver waits for it. Here it does
//! not: its send gives the message back, and the receiver is disconnected at once. The purpose of those tests, that no
//! receiver is left waiting for a permit, is tested here.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use ysuite::mpmc::{self, OwnedPermit, Receiver, Sender};
use ysuite::{RecvError, SendError, TryRecvError, TryReserveError, TrySendError};

use crate::common::room;
use crate::common::tasks::poll;
use crate::support::executor::{Explosive, Task, block_on};
use crate::support::panics;

carried! {
    send_recv_with_buffer => by_a_permit_and_without;
    reserve_disarm => four_senders_and_two_places;
    start_send_past_cap => a_reservation_that_is_given_up;
    send_recv_buffer_limited => woken_when_there_is_room;
    recv_close_gets_none_reserved => closed_with_permits_out(Out::Send);
    failed_reserve_many_wakes_closed_receiver => closed_with_one_waiting_for(2);
    cancelled_reserve_many_wakes_closed_receiver => closed_with_one_waiting_for(2);
    failed_reserve_wakes_closed_receiver => closed_with_one_waiting_for(1);
    cancelled_reserve_wakes_closed_receiver => closed_with_one_waiting_for(1);
    reserve_many_above_cap => room::more_than_there_can_be: Exchange Funnel Pipe;
    try_reserve_many_zero => room::room_for_nothing: Exchange Funnel Pipe;
    reserve_many_zero => room::room_for_nothing: Exchange Funnel Pipe;
    try_reserve_many_edge_cases => room::more_than_there_can_be: Exchange Funnel Pipe;
    try_reserve_fails => one_place;
    reserve_many_and_send => room::reserved_and_used(true): Exchange Funnel Pipe;
    try_reserve_many_and_send => room::reserved_and_used(false): Exchange Funnel Pipe;
    reserve_many_on_closed_channel => room::nobody_receives: Exchange Funnel Pipe;
    try_reserve_many_on_closed_channel => room::nobody_receives: Exchange Funnel Pipe;
    try_reserve_many_full => room::used_in_part: Exchange Funnel Pipe;
    drop_permit_releases_permit => given_back(1);
    drop_permit_iterator_releases_permits => given_back(40);
    dropping_last_permit_wakes_closed_receiver => closed_with_permits_out(Out::Drop);
    dropping_last_owned_permit_wakes_closed_receiver => closed_with_owned_permits_out(Out::Drop);
    dropping_last_permit_iterator_wakes_closed_receiver => closed_with_permits_out(Out::Drop);
    sending_last_permit_wakes_closed_receiver => closed_with_permits_out(Out::Send);
    sending_last_owned_permit_wakes_closed_receiver => closed_with_owned_permits_out(Out::Send);
    releasing_last_owned_permit_wakes_closed_receiver => closed_with_owned_permits_out(Out::Release);
    dropping_rx_closes_channel => the_receiver_goes;
    dropping_rx_closes_channel_for_try => the_receiver_goes;
    dropping_rx_drops_sender_wakers_outside_lock => a_waker_that_holds_a_permit;
    ready_close_cancel_bounded => closed_with_permits_out(Out::Drop);
    permit_available_not_acquired_close => closed_with_one_waiting_for(1);
    try_recv_after_receiver_close_with_permit => closed_with_permits_out(Out::Drop);
    test_tx_capacity => places_held_and_filled;
    test_rx_is_not_closed_when_there_are_permits_but_not_senders => a_permit_with_its_sender;
    permit_send_panicking_rx_waker => a_receiver_whose_waker_panics;
}

/// What becomes of a permit.
#[derive(Clone, Copy, PartialEq)]
enum Out {
    Drop,
    Send,
    Release,
}

fn by_a_permit_and_without() {
    let (tx, rx) = mpmc::bounded(16);
    block_on(async {
        tx.reserve_async().await.unwrap().send(1).unwrap();
        tx.try_send(2).unwrap();
        drop(tx);
        assert_eq!((rx.recv_async().await, rx.recv_async().await), (Ok(1), Ok(2)));
        assert_eq!(rx.recv_async().await, Err(RecvError));
    });
}

fn four_senders_and_two_places() {
    let (tx, rx) = mpmc::bounded(2);
    let senders: Vec<_> = (0..4).map(|_| tx.clone()).collect();
    let (one, two) = (senders[0].reserve().unwrap(), senders[1].reserve().unwrap());
    let tasks = [Task::default(), Task::default()];
    let (mut three, mut four) = (pin!(senders[2].reserve_async()), pin!(senders[3].reserve_async()));
    assert!(poll(three.as_mut(), &tasks[0]).is_pending() && poll(four.as_mut(), &tasks[1]).is_pending());
    // A message that is sent still has its place; one that is received gives it to the one that has waited longest.
    one.send(1).unwrap();
    assert_eq!(tasks[0].woken() + tasks[1].woken(), 0);
    assert_eq!(rx.recv(), Ok(1));
    assert_eq!(tasks[0].woken() + tasks[1].woken(), 1);
    drop(two);
    assert_eq!([tasks[0].woken(), tasks[1].woken()], [1, 1]);
    let _three = ready(poll(three.as_mut(), &tasks[0])).unwrap();
    let _four = ready(poll(four.as_mut(), &tasks[1])).unwrap();
    assert!(poll(pin!(tx.reserve_async()), &tasks[0]).is_pending());
}

#[track_caller]
fn ready<T>(polled: Poll<T>) -> T {
    match polled {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("it should be ready"),
    }
}

fn a_reservation_that_is_given_up() {
    let (tx, rx) = mpmc::bounded(1);
    let another = tx.clone();
    tx.try_send(()).unwrap();
    let (given_up, waits) = (Task::default(), Task::default());
    let mut first = Box::pin(tx.reserve_async());
    assert!(poll(first.as_mut(), &given_up).is_pending());
    let mut second = Box::pin(another.reserve_async());
    assert!(poll(second.as_mut(), &waits).is_pending());
    drop(first);
    rx.recv().unwrap();
    assert_eq!((given_up.woken(), waits.woken()), (0, 1));
    drop(second);
    drop((tx, another));
    assert_eq!(rx.recv(), Err(RecvError));
}

fn woken_when_there_is_room() {
    let (tx, rx) = mpmc::bounded(1);
    tx.reserve().unwrap().send(1).unwrap();
    let task = Task::default();
    let mut waits = pin!(tx.reserve_async());
    assert!(poll(waits.as_mut(), &task).is_pending());
    assert_eq!((rx.recv(), task.woken()), (Ok(1), 1));
    ready(poll(waits.as_mut(), &task)).unwrap().send(2).unwrap();
    assert_eq!(rx.recv(), Ok(2));
}

/// A channel whose receiver awaits a message and is then closed by a clone of it: the task is woken.
fn close_under_a_receiver<T>(rx: &Receiver<T>) {
    let (mut waits, task) = (rx.clone(), Task::default());
    let mut context = Context::from_waker(std::task::Waker::noop());
    assert!(waits.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
    assert!(rx.close() && !rx.close());
    assert!(task.woken() >= 1);
    assert!(matches!(waits.poll_recv(&mut context), Poll::Ready(Err(RecvError))));
    assert!(matches!(rx.try_recv(), Err(TryRecvError::Disconnected)));
}

fn closed_with_permits_out(out: Out) {
    let (tx, rx) = mpmc::bounded::<u8>(100);
    let permit = tx.reserve().unwrap();
    let several = tx.reserve_many(3).unwrap();
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    close_under_a_receiver(&rx);
    if out == Out::Send {
        assert_eq!(permit.send(123), Err(SendError(123)));
        several.for_each(|permit| assert_eq!(permit.send(1), Err(SendError(1))));
    } else {
        drop((permit, several));
    }
    assert_eq!((rx.try_recv(), tx.send(1)), (Err(TryRecvError::Disconnected), Err(SendError(1))));
}

fn closed_with_owned_permits_out(out: Out) {
    let (tx, rx) = mpmc::bounded::<u8>(100);
    let permit: OwnedPermit<u8> = tx.try_reserve_owned().map_err(drop).unwrap();
    close_under_a_receiver(&rx);
    match out {
        Out::Send => assert_eq!(permit.send(7).map(drop), Err(SendError(7))),
        Out::Drop => drop(permit),
        Out::Release => {
            let tx: Sender<u8> = permit.release();
            assert!(tx.is_disconnected());
        }
    }
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
}

/// A sender waits for room while the channel is closed: that fails, whether it is polled again or dropped, and no
/// sender is left waiting.
fn closed_with_one_waiting_for(places: usize) {
    for gives_up in [true, false] {
        let (tx, rx) = mpmc::bounded::<u8>(places);
        let permit = tx.try_reserve().unwrap();
        let task = Task::default();
        let mut reserve = Box::pin(tx.reserve_many_async(places));
        assert!(poll(reserve.as_mut(), &task).is_pending());
        close_under_a_receiver(&rx);
        assert!(task.woken() >= 1);
        drop(permit);
        if gives_up {
            drop(reserve);
        } else {
            assert!(ready(poll(reserve.as_mut(), &task)).unwrap_err().is_disconnected());
        }
        assert_eq!(rx.recv(), Err(RecvError));
    }
}

fn one_place() {
    let (tx, rx) = mpmc::bounded(1);
    let permit = tx.try_reserve().unwrap();
    assert_eq!(tx.try_reserve().map(drop), Err(TryReserveError::Full));
    permit.send("foo").unwrap();
    assert_eq!(rx.recv(), Ok("foo"));
    drop(tx.try_reserve().unwrap());
    let _permit = tx.try_reserve().unwrap();
}

/// Room that is returned unused goes to another sender that waits for it.
fn given_back(most: usize) {
    for places in 1..=most {
        let (tx, _rx) = mpmc::bounded::<u8>(places);
        let permits = tx.reserve_many(places).unwrap();
        let task = Task::default();
        let mut reserve = pin!(tx.reserve_many_async(places));
        assert!(poll(reserve.as_mut(), &task).is_pending());
        drop(permits);
        assert!(task.woken() >= 1);
        drop(ready(poll(reserve.as_mut(), &task)).unwrap());
        assert_eq!(tx.try_reserve_many(places).unwrap().len(), places);
    }
}

fn the_receiver_goes() {
    let message = Arc::new(());
    let (tx, rx) = mpmc::bounded(100);
    tx.try_send(message.clone()).unwrap();
    drop(rx);
    assert_eq!(Arc::strong_count(&message), 1);
    assert!(tx.reserve().is_err() && tx.reserve_many(10).is_err());
    assert_eq!(tx.try_reserve().map(drop), Err(TryReserveError::Disconnected));
    assert!(tx.try_send(message.clone()).unwrap_err().is_disconnected());
    assert!(matches!(tx.try_reserve_owned(), Err(TrySendError::Disconnected(_))));
    assert_eq!(Arc::strong_count(&message), 1);
}

/// A waker that is dropped when the receiver goes, and gives a place of the same channel back then.
fn a_waker_that_holds_a_permit() {
    struct Holds(#[allow(dead_code, reason = "dropped with the waker")] Mutex<OwnedPermit<i32>>);
    impl Wake for Holds {
        fn wake(self: Arc<Self>) {}
    }
    let (tx, rx) = mpmc::bounded(2);
    let permit = tx.clone().try_reserve_owned().map_err(drop).unwrap();
    tx.try_send(1).unwrap();
    let mut reserve = Box::pin(tx.reserve_async());
    let waker = Waker::from(Arc::new(Holds(Mutex::new(permit))));
    assert!(reserve.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    drop(rx);
    assert!(ready(reserve.as_mut().poll(&mut Context::from_waker(Waker::noop()))).is_err());
}

fn places_held_and_filled() {
    let (tx, _rx) = mpmc::bounded::<u8>(10);
    let free = |tx: &Sender<u8>| (0..=10).rev().find(|&places| tx.try_reserve_many(places).is_ok());
    assert_eq!((free(&tx), tx.capacity(), tx.is_full()), (Some(10), Some(10), false));
    let _permit = tx.reserve().unwrap();
    assert_eq!((free(&tx), tx.capacity()), (Some(9), Some(10)));
    tx.send(1).unwrap();
    assert_eq!((free(&tx), tx.capacity()), (Some(8), Some(10)));
    let _rest = tx.try_reserve_many(8).unwrap();
    assert!(tx.is_full() && tx.len() == 1);
}

fn a_permit_with_its_sender() {
    let (tx, rx) = mpmc::bounded::<u8>(10);
    let permit = tx.reserve_owned().map_err(drop).unwrap();
    assert!(!rx.is_disconnected());
    let tx = permit.send(1).unwrap();
    assert!(!rx.is_disconnected());
    drop(tx);
    assert!(rx.is_disconnected());
    assert_eq!((rx.recv(), rx.recv()), (Ok(1), Err(RecvError)));
}

fn a_receiver_whose_waker_panics() {
    let (tx, mut rx) = mpmc::bounded(1);
    assert!(rx.poll_recv(&mut Context::from_waker(&Explosive::waker())).is_pending());
    let permit = tx.try_reserve().unwrap();
    assert_eq!(panics(|| _ = permit.send(7)), "this waker panics");
    // The message has been sent, and its place is one place.
    assert_eq!((tx.is_full(), rx.len()), (true, 1));
    assert_eq!(rx.try_recv(), Ok(7));
    assert_eq!(tx.try_reserve_many(1).unwrap().len(), 1);
    rx.close();
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
}
