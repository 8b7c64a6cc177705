//! Suite: tokio tests/sync_broadcast.rs; upstream 43, carried over here 41, excluded 2.
//!
//! tokio's receivers lose what they are too slow for: `lossy` here. If no receiver is slow, `bounded` does the same. A
//! receiver's length there includes what it has lost and does not know of yet; here it is what the receiver can still
//! get.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use ysuite::SendError;
use ysuite::broadcast::{self, Receiver, RecvError, Sender, TryRecvError};

use crate::common::tasks::poll;
use crate::support::executor::{Task, block_on};
use crate::support::{Random, Tally, panics};
use crate::tools::{both, each};

carried! {
    send_try_recv_bounded => one_message_for_all(1);
    send_two_recv => one_message_for_all(2);
    send_recv_bounded => woken_by_the_message;
    send_two_recv_bounded => one_message_for_all(9);
    change_tasks => the_last_task_to_ask;
    send_slow_rx => one_is_slow;
    drop_rx_while_values_remain => a_receiver_that_leaves_some;
    lagging_rx => too_slow_and_told;
    send_no_rx => without_receivers;
    zero_capacity => refused_bounds;
    capacity_too_big => refused_bounds;
    panic_in_clone => a_clone_that_panics;
    dropping_tx_notifies_rx => the_last_sender_goes;
    unconsumed_messages_are_dropped => dropped_with_the_channel;
    single_capacity_recvs => room_for_one(0);
    single_capacity_recvs_after_drop_1 => room_for_one(1);
    single_capacity_recvs_after_drop_2 => room_for_one(2);
    dropping_sender_does_not_overwrite => the_sender_takes_nothing_along;
    lagging_receiver_recovers_after_wrap_closed_1 => behind_by(1, true);
    lagging_receiver_recovers_after_wrap_closed_2 => behind_by(2, true);
    lagging_receiver_recovers_after_wrap_open => behind_by(1, false);
    receiver_len_with_lagged => the_length_of_what_is_left;
    resubscribe_points_to_tail => from_now_on;
    resubscribe_lagged => from_now_on_though_behind;
    resubscribe_to_closed_channel => from_now_on_is_nothing;
    sender_len => the_length_for_the_slowest;
    sender_len_random => the_length_at_random;
    send_in_waker_drop => a_waker_that_sends_when_it_is_dropped;
    broadcast_sender_closed => waiting_for_the_last_receiver;
    broadcast_sender_closed_with_extra_subscribe => a_receiver_subscribes_in_between;
    broadcast_sender_closed_in_waker => a_waker_that_asks;
    broadcast_sender_new_must_be_closed => closed_as_long_as_no_receiver_is_there;
    slow_receiver_within_capacity_does_not_lag => behind_by(0, false);
    capacity_overflow_reports_lagged_then_oldest_retained => behind_by(3, false);
    lagged_count_matches_number_of_overwritten_messages => behind_by(17, false);
    async_recv_lagged_then_resumes_from_oldest_retained => too_slow_and_told;
    lag_catch_up_then_lag_again => behind_again_and_again;
    lag_is_per_receiver => one_is_slow;
    lag_again_before_reading_retained_messages => behind_again_and_again;
    single_slot_capacity_lag_semantics => room_for_one(3);
    receiver_len_after_lag_error_advances_cursor => the_length_of_what_is_left;
}

type Ends<T> = (Sender<T>, Receiver<T>);

/// A channel whose receivers lose messages, and one whose senders wait: if no receiver is slow there is no difference.
fn either<T>(capacity: usize) -> [Ends<T>; 2] {
    [broadcast::lossy(capacity), broadcast::bounded(capacity)]
}

fn one_message_for_all(receivers: usize) {
    for (tx, rx) in either(16) {
        let mut all: Vec<_> = (1..receivers).map(|_| tx.subscribe()).collect();
        all.push(rx);
        for message in ["hello", "again"] {
            assert!(all.iter_mut().all(|rx| rx.try_recv() == Err(TryRecvError::Empty)));
            tx.send(message).unwrap();
            assert!(all.iter_mut().all(|rx| rx.try_recv() == Ok(message)));
        }
    }
}

fn woken_by_the_message() {
    for (tx, mut rx) in either(16) {
        let mut other = tx.subscribe();
        let tasks = [Task::default(), Task::default()];
        {
            let (mut one, mut two) = (pin!(rx.recv_async()), pin!(other.recv_async()));
            assert!(poll(one.as_mut(), &tasks[0]).is_pending() && poll(two.as_mut(), &tasks[1]).is_pending());
            tx.send("hello").unwrap();
            assert_eq!(tasks.each_ref().map(Task::woken), [1, 1]);
            assert_eq!(poll(one.as_mut(), &tasks[0]), Poll::Ready(Ok("hello")));
            assert_eq!(poll(two.as_mut(), &tasks[1]), Poll::Ready(Ok("hello")));
        }
        assert_eq!((rx.try_recv(), other.try_recv()), (Err(TryRecvError::Empty), Err(TryRecvError::Empty)));
    }
}

fn the_last_task_to_ask() {
    for (tx, mut rx) in either(1) {
        let tasks = [Task::default(), Task::default()];
        let mut receives = pin!(rx.recv_async());
        assert!(tasks.iter().all(|task| poll(receives.as_mut(), task).is_pending()));
        tx.send("hello").unwrap();
        assert_eq!(tasks[1].woken(), 1);
    }
}

fn one_is_slow() {
    let (tx, mut quick) = broadcast::lossy(16);
    let mut slow = tx.subscribe();
    for message in 0..25 {
        tx.send(message).unwrap();
        assert_eq!(quick.try_recv(), Ok(message));
    }
    assert_eq!(slow.try_recv(), Err(TryRecvError::Lagged(9)));
    assert!((9..25).all(|message| slow.try_recv() == Ok(message)));
    assert_eq!((slow.try_recv(), slow.missed(), quick.missed()), (Err(TryRecvError::Empty), 9, 0));
}

fn a_receiver_that_leaves_some() {
    for (tx, rx) in either(16) {
        let mut other = tx.subscribe();
        tx.send("hello").unwrap();
        tx.send("world").unwrap();
        drop(rx);
        assert_eq!((other.try_recv(), other.try_recv()), (Ok("hello"), Ok("world")));
    }
}

fn too_slow_and_told() {
    let (tx, mut rx) = broadcast::lossy(2);
    (1..=5).for_each(|message| tx.send(message).unwrap());
    assert_eq!(block_on(rx.recv_async()), Err(RecvError::Lagged(3)));
    assert_eq!((rx.recv(), block_on(rx.recv_async())), (Ok(4), Ok(5)));
    (6..=8).for_each(|message| tx.send(message).unwrap());
    drop(tx);
    assert_eq!((rx.recv(), rx.recv(), rx.recv()), (Err(RecvError::Lagged(1)), Ok(7), Ok(8)));
    assert_eq!(rx.recv(), Err(RecvError::Disconnected));
}

fn without_receivers() {
    for (tx, rx) in either(16) {
        drop(rx);
        assert_eq!(tx.send("hello"), Err(SendError("hello")));
    }
}

fn refused_bounds() {
    for make in [broadcast::lossy::<u64>, broadcast::bounded::<u64>] {
        for capacity in [0, usize::MAX, usize::MAX / 2 + 1] {
            assert!(!panics(|| drop(make(capacity))).is_empty());
        }
    }
}

fn a_clone_that_panics() {
    #[derive(Debug, PartialEq)]
    struct Delicate(usize);
    impl Clone for Delicate {
        fn clone(&self) -> Self {
            assert_ne!(self.0, 0, "this one cannot be cloned");
            Self(self.0)
        }
    }
    for (tx, mut rx) in either(16) {
        // With several receivers: one alone takes messages out, without a clone.
        let _other = tx.subscribe();
        tx.send(Delicate(0)).unwrap();
        tx.send(Delicate(1)).unwrap();
        assert!(panics(|| drop(rx.try_recv())).contains("this one cannot be cloned"));
        assert_eq!(rx.try_recv(), Ok(Delicate(1)));
    }
}

fn the_last_sender_goes() {
    for (tx, mut rx) in either::<i32>(16) {
        let another = tx.clone();
        let task = Task::default();
        {
            let mut receives = pin!(rx.recv_async());
            assert!(poll(receives.as_mut(), &task).is_pending());
            drop(tx);
            assert_eq!(task.woken(), 0);
            drop(another);
            assert_eq!((task.woken(), poll(receives, &task)), (1, Poll::Ready(Err(RecvError::Disconnected))));
        }
        assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    }
}

fn dropped_with_the_channel() {
    for (tx, rx) in either(16) {
        let message = Arc::new(());
        tx.send(message.clone()).unwrap();
        drop((tx, rx));
        assert_eq!(Arc::strong_count(&message), 1);
    }
    let tally = Tally::of(60);
    let (tx, rx) = broadcast::lossy(4);
    let _other = tx.subscribe();
    tally.some(60).for_each(|message| tx.send(Arc::new(message)).unwrap());
    drop((rx, _other, tx));
    tally.assert_all_ended();
}

/// Room for one, several messages at once, and the disconnect.
fn room_for_one(messages: u64) {
    let (tx, mut rx) = broadcast::lossy(1);
    for message in 0..4 {
        tx.send(message).unwrap();
        assert_eq!(rx.try_recv(), Ok(message));
    }
    (0..messages).for_each(|message| tx.send(message).unwrap());
    drop(tx);
    if messages > 1 {
        assert_eq!(rx.try_recv(), Err(TryRecvError::Lagged(messages - 1)));
    }
    if messages > 0 {
        assert_eq!(rx.try_recv(), Ok(messages - 1));
    }
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
}

fn the_sender_takes_nothing_along() {
    for (tx, mut rx) in either(2) {
        tx.send(1).unwrap();
        tx.send(2).unwrap();
        drop(tx);
        assert_eq!((rx.try_recv(), rx.try_recv()), (Ok(1), Ok(2)));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    }
}

/// `missed` messages more than there is room for: it gets that number, then the oldest message that is left.
fn behind_by(missed: u64, closed: bool) {
    for capacity in [2, 4, 8] {
        let (tx, mut rx) = broadcast::lossy(capacity);
        let last = capacity as u64 + missed;
        (0..last).for_each(|message| tx.send(message).unwrap());
        let tx = (!closed).then_some(tx);
        if missed > 0 {
            assert_eq!(rx.try_recv(), Err(TryRecvError::Lagged(missed)));
        }
        assert!((missed..last).all(|message| rx.try_recv() == Ok(message)));
        let end = if closed { TryRecvError::Disconnected } else { TryRecvError::Empty };
        assert_eq!((rx.try_recv(), rx.missed()), (Err(end), missed));
        drop(tx);
    }
}

fn behind_again_and_again() {
    let (tx, mut rx) = broadcast::lossy(2);
    (1..=3).for_each(|message| tx.send(message).unwrap());
    assert_eq!(rx.try_recv(), Err(TryRecvError::Lagged(1)));
    // Before it has received what was left, that is gone as well.
    (4..=6).for_each(|message| tx.send(message).unwrap());
    assert_eq!(rx.try_recv(), Err(TryRecvError::Lagged(3)));
    assert_eq!((rx.try_recv(), rx.try_recv()), (Ok(5), Ok(6)));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    (7..=10).for_each(|message| tx.send(message).unwrap());
    assert_eq!(rx.try_recv(), Err(TryRecvError::Lagged(2)));
    assert_eq!((rx.try_recv(), rx.try_recv(), rx.missed()), (Ok(9), Ok(10), 6));
}

fn the_length_of_what_is_left() {
    let (tx, mut rx) = broadcast::lossy(4);
    (0..4).for_each(|message| tx.send(message).unwrap());
    assert_eq!((rx.len(), rx.is_full(), rx.try_recv(), rx.len()), (4, true, Ok(0), 3));
    (4..8).for_each(|message| tx.send(message).unwrap());
    assert_eq!(rx.len(), 4);
    assert_eq!((rx.try_recv(), rx.len()), (Err(TryRecvError::Lagged(3)), 4));
    for left in (0..4).rev() {
        assert!(rx.try_recv().is_ok());
        assert_eq!((rx.len(), rx.is_empty()), (left, left == 0));
    }
}

fn from_now_on() {
    for (tx, mut rx) in either(3) {
        tx.send(1).unwrap();
        let mut late = rx.resubscribe();
        assert_eq!(late.try_recv(), Err(TryRecvError::Empty));
        tx.send(2).unwrap();
        assert_eq!((rx.try_recv(), rx.try_recv(), late.try_recv()), (Ok(1), Ok(2), Ok(2)));
    }
}

fn from_now_on_though_behind() {
    let (tx, mut rx) = broadcast::lossy(1);
    tx.send(1).unwrap();
    tx.send(2).unwrap();
    let mut late = rx.resubscribe();
    assert_eq!((rx.try_recv(), late.try_recv()), (Err(TryRecvError::Lagged(1)), Err(TryRecvError::Empty)));
    assert_eq!(
        (rx.try_recv(), rx.try_recv(), late.try_recv()),
        (Ok(2), Err(TryRecvError::Empty), Err(TryRecvError::Empty))
    );
}

fn from_now_on_is_nothing() {
    for (tx, rx) in either::<u32>(2) {
        drop(tx);
        assert_eq!(rx.resubscribe().try_recv(), Err(TryRecvError::Disconnected));
    }
}

fn the_length_for_the_slowest() {
    let (tx, mut one) = broadcast::lossy(4);
    let mut two = tx.subscribe();
    assert_eq!((tx.len(), tx.is_empty()), (0, true));
    (1..=3).for_each(|message| tx.send(message).unwrap());
    assert_eq!((tx.len(), tx.is_empty()), (3, false));
    assert_eq!((one.try_recv(), one.try_recv(), tx.len()), (Ok(1), Ok(2), 3));
    assert_eq!((two.try_recv(), tx.len()), (Ok(1), 2));
    (4..=6).for_each(|message| tx.send(message).unwrap());
    assert_eq!((tx.len(), tx.is_full()), (4, true));
}

fn the_length_at_random() {
    let (tx, mut one) = broadcast::lossy(16);
    let mut two = tx.subscribe();
    let mut random = Random::new(5);
    for _ in 0..1_000 {
        match random.below(4) {
            0 => drop(one.try_recv()),
            1 => drop(two.try_recv()),
            _ => tx.send(0).unwrap(),
        }
        assert_eq!(tx.len(), one.len().max(two.len()).min(16));
    }
}

/// A waker that sends into its own channel as it is dropped: where another replaces it, and where it is used.
fn a_waker_that_sends_when_it_is_dropped() {
    struct Sends(Sender<()>);
    impl Wake for Sends {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Sends {
        fn drop(&mut self) {
            let _ = self.0.try_send(());
        }
    }
    for replaced in [true, false] {
        for (tx, mut rx) in either(16) {
            let mut receives = Box::pin(rx.recv_async());
            let waker = Waker::from(Arc::new(Sends(tx.clone())));
            assert!(receives.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            drop(waker);
            if replaced {
                let _ = receives.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            } else {
                tx.send(()).unwrap();
            }
        }
    }
}

fn waiting_for_the_last_receiver() {
    for (tx, rx) in either::<()>(16) {
        let task = Task::default();
        {
            let mut closed = pin!(tx.closed());
            assert!(poll(closed.as_mut(), &task).is_pending());
            drop(rx);
            assert_eq!((task.woken(), poll(closed, &task)), (1, Poll::Ready(())));
        }
        assert!(tx.is_disconnected());
        let rx = tx.subscribe();
        both(|| drop(rx), || tx.wait_closed());
    }
}

fn a_receiver_subscribes_in_between() {
    for (tx, rx) in either::<()>(1) {
        let other = tx.subscribe();
        let task = Task::default();
        let mut closed = pin!(tx.closed());
        assert!(poll(closed.as_mut(), &task).is_pending());
        drop(rx);
        assert_eq!((task.woken(), poll(closed.as_mut(), &task)), (0, Poll::Pending));
        drop(other);
        assert!(task.woken() >= 1);
        let late = tx.subscribe();
        assert!(poll(closed.as_mut(), &task).is_pending());
        let before = task.woken();
        drop(late);
        assert!(task.woken() > before);
        assert!(poll(closed.as_mut(), &task).is_ready());
        assert!(poll(pin!(tx.closed()), &task).is_ready());
    }
}

/// A waker that calls all of the channel's queries when it is woken.
fn a_waker_that_asks() {
    struct Asks(Sender<()>, AtomicUsize);
    impl Wake for Asks {
        fn wake(self: Arc<Self>) {
            assert_eq!((self.0.receiver_count(), self.0.is_disconnected()), (0, true));
            assert!(self.0.send(()).is_err());
            self.1.fetch_add(1, Ordering::SeqCst);
        }
    }
    for (tx, rx) in either(1) {
        tx.send(()).unwrap();
        let asks = Arc::new(Asks(tx.clone(), AtomicUsize::new(0)));
        let waker = Waker::from(asks.clone());
        let mut closed = pin!(tx.closed());
        assert!(closed.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(rx);
        assert_eq!(asks.1.load(Ordering::SeqCst), 1);
        assert!(closed.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
    }
}

fn closed_as_long_as_no_receiver_is_there() {
    for (tx, rx) in either::<()>(1) {
        drop(rx);
        assert!(poll(pin!(tx.closed()), &Task::default()).is_ready());
        let rx = tx.subscribe();
        assert!(poll(pin!(tx.closed()), &Task::default()).is_pending());
        // And every receiver that is there gets everything.
        let listeners: Vec<_> = (0..3).map(|_| rx.clone()).collect();
        drop(rx);
        both(|| each(listeners, |mut rx| assert_eq!(rx.recv(), Ok(()))), || tx.send(()).unwrap());
    }
}
