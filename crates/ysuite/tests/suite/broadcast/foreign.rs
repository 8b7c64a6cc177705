//! User code: copies, drops and wakers that panic or re-enter, and iterators that do.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use ysuite::broadcast::{self, Receiver, RecvError, Sender, TryRecvError};

use super::{Census, Citizen, pair};
use crate::support::executor::{Clinging, Explosive, Task, cloning, cloning_for, poll_once};
use crate::support::{calls, panics};

/// A message whose copy panics where its number is odd.
#[derive(Debug)]
struct Odd(Citizen);

impl Clone for Odd {
    fn clone(&self) -> Self {
        assert!(self.0.number % 2 == 0, "as the test wants it");
        Self(self.0.clone())
    }
}

/// Claim: A broadcast message whose copy panics counts as received.
#[test]
fn a_message_whose_copy_panics_has_been_had() {
    for is_lossy in [false, true] {
        let census = Census::default();
        let (sender, mut receiver) = pair(is_lossy, 4);
        let mut other = receiver.clone();
        for number in 0..4 {
            sender.send(Odd(census.message(number))).unwrap();
        }
        let task = Task::default();
        let mut sending = Box::pin(sender.send_async(Odd(census.message(4))));
        if !is_lossy {
            assert!(poll_once(&mut sending, &task).is_pending());
        }
        for receiver in [&mut receiver, &mut other] {
            assert_eq!(receiver.recv().unwrap().0.number, 0);
            assert!(catch_unwind(AssertUnwindSafe(|| receiver.recv())).is_err());
            assert_eq!(receiver.recv().unwrap().0.number, 2);
            assert_eq!(receiver.len(), 1);
        }
        assert_eq!(task.woken(), usize::from(!is_lossy));
        assert!(poll_once(&mut sending, &task).is_ready());
        drop(sending);
        let mut batch = Vec::new();
        assert!(catch_unwind(AssertUnwindSafe(|| receiver.recv_batch(&mut batch, 9))).is_err());
        assert_eq!((batch.len(), receiver.recv_batch(&mut batch, 9)), (0, Ok(1)));
        assert_eq!(batch[0].0.number, 4);
        drop((sender, receiver, other, batch));
        assert_eq!(census.alive(), 0);
    }
}

/// Claim: Room freed by a panicking copy is notified.
#[test]
fn room_made_by_a_copy_that_panics_is_told() {
    let census = Census::default();
    let (sender, mut receiver) = broadcast::bounded(1);
    let mut other = receiver.clone();
    sender.send(Odd(census.message(1))).unwrap();
    let task = Task::default();
    let mut sending = Box::pin(sender.send_async(Odd(census.message(2))));
    assert!(poll_once(&mut sending, &task).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| other.recv())).is_err());
    assert_eq!(task.woken(), 0);
    assert!(catch_unwind(AssertUnwindSafe(|| receiver.recv())).is_err());
    assert_eq!(task.woken(), 1);
    assert!(poll_once(&mut sending, &task).is_ready());
}

/// A message whose copy runs a function.
struct Acting(Arc<dyn Fn() + Send + Sync>);

impl Clone for Acting {
    fn clone(&self) -> Self {
        (self.0)();
        Self(self.0.clone())
    }
}

#[test]
fn a_copy_may_come_back_into_its_channel() {
    for is_lossy in [false, true] {
        let (sender, mut receiver) = pair::<Acting>(is_lossy, 8);
        let kept: Arc<Mutex<Vec<Receiver<Acting>>>> = Arc::default();
        let _other = receiver.clone();
        let (back, list) = (sender.clone(), kept.clone());
        let action = move || {
            let joined = back.subscribe();
            assert!(back.try_send(Acting(Arc::new(|| {}))).is_ok());
            drop(joined.clone());
            let mut list = list.lock().unwrap();
            list.push(joined);
            if list.len() > 1 {
                list.remove(0);
            }
        };
        sender.send(Acting(Arc::new(action))).unwrap_or_else(|_| panic!("no receiver"));
        for left in [1, 0] {
            assert!(receiver.try_recv().is_ok());
            assert_eq!(receiver.len(), left);
        }
        assert_eq!(kept.lock().unwrap().len(), 1);
        assert_eq!(kept.lock().unwrap()[0].try_iter().count(), 1);
    }
}

#[test]
fn a_copy_in_a_lossy_channel_keeps_its_place_until_it_is_made() {
    // The copy sends messages up to the room; those after it are refused, not written over it.
    let (sender, mut receiver) = broadcast::lossy::<Acting>(4);
    let _other = receiver.clone();
    let (back, sent) = (sender.clone(), Arc::new(Mutex::new(0)));
    let count = sent.clone();
    let action = move || {
        while back.try_send(Acting(Arc::new(|| {}))).is_ok() {
            *count.lock().unwrap() += 1;
            assert!(*count.lock().unwrap() < 100, "the message in the middle of its copy was written over");
        }
    };
    sender.send(Acting(Arc::new(action))).unwrap_or_else(|_| panic!("no receiver"));
    assert!(receiver.try_recv().is_ok());
    let sent = *sent.lock().unwrap();
    assert!(sent >= 4);
    assert_eq!(receiver.try_recv().err(), (sent > 4).then_some(TryRecvError::Lagged(sent - 4)));
}

#[test]
fn a_send_that_a_copy_holds_up_gives_it_a_moment() {
    let (sender, mut receiver) = broadcast::lossy::<Acting>(4);
    let _other = receiver.clone();
    let (back, yielded) = (sender.clone(), Arc::new(Mutex::new(0_u64)));
    let count = yielded.clone();
    let action = move || {
        let mut before = calls();
        while back.try_send(Acting(Arc::new(|| {}))).is_ok() {
            before = calls();
        }
        *count.lock().unwrap() += calls() - before;
    };
    sender.send(Acting(Arc::new(action))).unwrap_or_else(|_| panic!("no receiver"));
    assert!(receiver.try_recv().is_ok());
    assert!(*yielded.lock().unwrap() > 0, "the thread that copies may be preempted");
}

/// A message whose drop panics.
#[derive(Clone)]
struct Bomb(Arc<Citizen>, bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.1 && !std::thread::panicking() {
            panic!("as the test wants it");
        }
    }
}

fn bomb(census: &Census, number: u64, is_armed: bool) -> Bomb {
    Bomb(Arc::new(census.message(number)), is_armed)
}

#[test]
fn the_drop_of_an_old_message_panics_when_the_new_one_is_sent() {
    let census = Census::default();
    let (sender, receiver) = broadcast::lossy(1);
    let _quiet = receiver.clone();
    let task = Task::default();
    sender.send(bomb(&census, 0, true)).unwrap_or_else(|_| panic!("no receiver"));
    sender.send(bomb(&census, 1, false)).unwrap_or_else(|_| panic!("no receiver"));
    let mut joined = sender.subscribe();
    assert!(joined.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| sender.send(bomb(&census, 2, false)))).is_err());
    assert_eq!(task.woken(), 1);
    assert_eq!(joined.recv().unwrap().0.number, 2);
    assert!(sender.send(bomb(&census, 3, false)).is_ok());
    assert_eq!(joined.recv().unwrap().0.number, 3);
    drop((sender, receiver, joined, _quiet));
    assert_eq!(census.alive(), 0);
}

#[test]
fn old_messages_of_a_batch_are_all_dropped_though_some_panic() {
    let census = Census::default();
    let (sender, mut receiver) = broadcast::lossy(8);
    let mut other = receiver.clone();
    sender.send_batch((0..16).map(|number| bomb(&census, number, number % 3 == 0))).unwrap_or_else(|_| panic!("sent"));
    let sending = catch_unwind(AssertUnwindSafe(|| sender.send_batch((16..24).map(|n| bomb(&census, n, false)))));
    assert!(sending.is_err());
    for receiver in [&mut receiver, &mut other] {
        assert_eq!(receiver.recv().err(), Some(RecvError::Lagged(16)));
        assert!(receiver.try_iter().map(|message| message.0.number).eq(16..24));
    }
    // The ring still has bombs.
    assert!(catch_unwind(AssertUnwindSafe(|| drop((sender, receiver, other)))).is_err());
    assert_eq!(census.alive(), 0);
}

#[test]
fn one_waker_that_panics_keeps_no_thread_asleep_and_no_message_back() {
    let census = Census::default();
    let (sender, receiver) = broadcast::bounded(4);
    let mut receivers: Vec<_> = (0..3).map(|_| receiver.clone()).collect();
    drop(receiver);
    let tasks = [Task::default(), Task::default()];
    let wakers = [tasks[0].waker(), Explosive::waker(), tasks[1].waker()];
    for (receiver, waker) in receivers.iter_mut().zip(&wakers) {
        assert!(receiver.poll_recv(&mut Context::from_waker(waker)).is_pending());
    }
    assert!(catch_unwind(AssertUnwindSafe(|| sender.send(census.message(1)))).is_err());
    assert_eq!([tasks[0].woken(), tasks[1].woken()], [1, 1]);
    for receiver in &mut receivers {
        assert_eq!(receiver.try_recv().unwrap().number, 1);
    }
    drop((sender, receivers));
    assert_eq!(census.alive(), 0);
}

#[test]
fn wakers_that_panic_on_disconnect_keep_no_thread_asleep() {
    let (sender, receiver) = broadcast::bounded::<u8>(4);
    let mut receivers: Vec<_> = (0..3).map(|_| receiver.clone()).collect();
    let tasks = [Task::default(), Task::default()];
    let wakers = [tasks[0].waker(), Explosive::waker(), tasks[1].waker()];
    for (receiver, waker) in receivers.iter_mut().zip(&wakers) {
        assert!(receiver.poll_recv(&mut Context::from_waker(waker)).is_pending());
    }
    assert!(catch_unwind(AssertUnwindSafe(|| drop(sender))).is_err());
    assert_eq!([tasks[0].woken(), tasks[1].woken()], [1, 1]);
    assert!(receivers.iter_mut().all(|receiver| receiver.try_recv() == Err(TryRecvError::Disconnected)));
}

#[test]
fn a_receiver_whose_wakers_drop_panics_holds_up_no_other() {
    let (sender, mut receiver) = broadcast::bounded(1);
    let mut other = receiver.clone();
    let waker = Clinging::waker();
    assert!(receiver.poll_recv(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(receiver))).is_err());
    assert_eq!(sender.receiver_count(), 1);
    for number in 0..3 {
        sender.send(number).unwrap();
        assert_eq!(other.recv(), Ok(number));
    }
}

/// Claim: If an iterator panics in a broadcast batch, the messages before that are sent as far as there is room.
#[test]
fn an_iterator_that_panics_has_sent_what_it_had_given_as_far_as_there_was_room() {
    let census = Census::default();
    let (sender, mut receiver) = broadcast::bounded(4);
    let mut other = receiver.clone();
    let give = |sender: &Sender<Citizen>, most: u64| {
        let messages = (0..).map(|number| {
            assert!(number < most, "as the test wants it");
            census.message(number)
        });
        assert!(catch_unwind(AssertUnwindSafe(|| sender.send_batch(messages))).is_err());
    };
    give(&sender, 3);
    assert_eq!(sender.len(), 3);
    give(&sender, 3);
    assert_eq!(sender.len(), 4);
    let numbers =
        |receiver: &mut Receiver<Citizen>| receiver.try_iter().map(|message| message.number).collect::<Vec<_>>();
    assert_eq!(numbers(&mut receiver), [0, 1, 2, 0]);
    assert_eq!(numbers(&mut other), [0, 1, 2, 0]);
    // All have been received: there is room for each of these, at any position in the ring.
    for _ in 0..4 {
        give(&sender, 3);
        assert_eq!((numbers(&mut receiver), numbers(&mut other)), (vec![0, 1, 2], vec![0, 1, 2]));
    }
    drop((sender, receiver, other));
    assert_eq!(census.alive(), 0);
}

#[test]
fn a_batch_without_room_wakes_no_thread() {
    let (sender, mut receiver) = broadcast::bounded(1);
    let _slow = receiver.clone();
    sender.send(1).unwrap();
    assert_eq!(receiver.recv(), Ok(1));
    let task = Task::default();
    assert!(receiver.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
    // An iterator that panics has the batch tried once, without a wait.
    let messages = (0..).inspect(|&number| assert!(number < 1, "as the test wants it"));
    assert!(catch_unwind(AssertUnwindSafe(|| sender.send_batch(messages))).is_err());
    assert_eq!((task.woken(), sender.len()), (0, 1));
}

#[test]
fn a_message_that_comes_as_the_waker_is_cloned_is_found_by_that_poll() {
    let (sender, mut receiver) = broadcast::bounded(4);
    let waker = cloning(move || sender.send(1).unwrap());
    assert_eq!(receiver.poll_recv(&mut Context::from_waker(&waker)), Poll::Ready(Ok(1)));
}

#[test]
fn a_task_that_has_its_message_by_the_poll_is_not_woken_for_the_next() {
    let (sender, mut receiver) = broadcast::bounded(4);
    let (task, sending) = (Task::default(), sender.clone());
    let waker = cloning_for(&task, move || sending.send(1).unwrap());
    assert_eq!(receiver.poll_recv(&mut Context::from_waker(&waker)), Poll::Ready(Ok(1)));
    sender.send(2).unwrap();
    assert_eq!(task.woken(), 0);
}

/// A task that makes a receiver when it is woken, and drops it.
struct Subscribing(Box<dyn Fn() -> Receiver<u32> + Send + Sync>);

impl Wake for Subscribing {
    fn wake(self: Arc<Self>) {
        drop((self.0)());
    }
}

/// Claim: A broadcast receiver that is not returned because of a panic blocks no sender.
#[test]
fn a_receiver_that_is_not_returned_for_a_panic_holds_up_no_other() {
    for again in [false, true] {
        let (sender, mut receiver) = broadcast::bounded(1);
        let mut other = receiver.clone();
        sender.send(0).unwrap();
        assert_eq!(other.recv(), Ok(0));
        let (subscribing, other) = (sender.clone(), Mutex::new(other));
        let subscribe = move || if again { other.lock().unwrap().resubscribe() } else { subscribing.subscribe() };
        let mut first = Box::pin(sender.send_async(1));
        let mut second = Box::pin(sender.send_async(2));
        // The first is notified of the room and makes a receiver, which notifies the second, for the room is still
        // there.
        let wakers = [Waker::from(Arc::new(Subscribing(Box::new(subscribe)))), Explosive::waker()];
        for (future, waker) in [&mut first, &mut second].into_iter().zip(wakers) {
            assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        assert_eq!(panics(|| assert!(receiver.try_recv().is_err())), "this waker panics");
        // With the first goes the receiver that is in its waker.
        drop((first, second));
        assert_eq!(sender.receiver_count(), 1);
        for number in 3..6 {
            assert_eq!((sender.try_send(number), receiver.try_recv()), (Ok(()), Ok(number)));
        }
    }
}

/// A message whose copy panics where it is armed, and whose drop panics, also while unwinding.
struct Wild(bool, bool);

impl Clone for Wild {
    fn clone(&self) -> Self {
        assert!(!self.0, "in a copy");
        Self(self.0, self.1)
    }
}

impl Drop for Wild {
    fn drop(&mut self) {
        assert!(!self.1, "in a drop");
    }
}

#[test]
fn a_waker_that_panics_behind_a_message_or_its_copy_is_one_panic() {
    for (in_copy, in_drop) in [(false, true), (true, false)] {
        for is_batch in [false, true] {
            let (sender, mut receiver) = broadcast::bounded(1);
            let mut other = receiver.clone();
            assert!(sender.send(Wild(in_copy, in_drop)).is_ok());
            if in_copy {
                assert_eq!(panics(|| drop(other.recv())), "in a copy");
            } else {
                std::mem::forget(other.recv());
            }
            let mut sending = Box::pin(sender.send_async(Wild(false, false)));
            assert!(sending.as_mut().poll(&mut Context::from_waker(&Explosive::waker())).is_pending());
            let mut batch = Vec::new();
            let text = panics(|| {
                if is_batch {
                    _ = receiver.recv_batch(&mut batch, 1);
                } else {
                    std::mem::forget(receiver.recv());
                }
            });
            assert_eq!(text, if in_copy { "in a copy" } else { "this waker panics" });
            batch.into_iter().for_each(std::mem::forget);
            assert!(receiver.is_empty() && other.is_empty());
            // The original of these copies is dropped with the ring.
            drop(sending);
            assert_eq!(catch_unwind(AssertUnwindSafe(|| drop((sender, receiver, other)))).is_err(), in_drop);
        }
    }
}

#[test]
fn a_waker_that_panics_before_the_drop_of_an_old_message_is_one_panic() {
    for is_batch in [false, true] {
        let (sender, _quiet) = broadcast::lossy(1);
        assert!(sender.send(Wild(false, true)).is_ok());
        // Until the next comes, every cell of the ring has a message.
        assert!(sender.send(Wild(false, false)).is_ok());
        let mut joined = sender.subscribe();
        assert!(joined.poll_recv(&mut Context::from_waker(&Explosive::waker())).is_pending());
        let text = panics(|| {
            if is_batch {
                _ = sender.send_batch([Wild(false, false)]);
            } else {
                _ = sender.send(Wild(false, false));
            }
        });
        assert_eq!(text, "this waker panics");
        assert!(joined.recv().is_ok());
    }
}

/// Claim: The count of missed messages of a lossy broadcast stays right when user code panics.
#[test]
fn what_is_missed_is_counted_though_a_waker_panics() {
    for is_batch in [false, true] {
        let (sender, mut receiver) = broadcast::lossy::<Acting>(2);
        let mut busy = receiver.clone();
        // In the midst of a copy the ring is filled, and more senders wait for room than there will be.
        let (back, sent, waiting) = (sender.clone(), Arc::new(AtomicU64::new(1)), Arc::new(Mutex::new(Vec::new())));
        let (count, kept) = (sent.clone(), waiting.clone());
        let fill = move || {
            while back.try_send(Acting(Arc::new(|| {}))).is_ok() {
                count.fetch_add(1, Ordering::Relaxed);
            }
            for _ in 0..8 {
                let back = back.clone();
                let mut sending = Box::pin(async move { back.send_async(Acting(Arc::new(|| {}))).await.is_ok() });
                assert!(sending.as_mut().poll(&mut Context::from_waker(&Explosive::waker())).is_pending());
                kept.lock().unwrap().push(sending);
            }
        };
        sender.send(Acting(Arc::new(fill))).unwrap_or_else(|_| panic!("no receiver"));
        let waker = "this waker panics";
        assert_eq!(panics(|| drop(busy.try_recv())), waker);
        let text = panics(|| {
            if is_batch {
                _ = receiver.try_recv_batch(&mut Vec::new(), 9);
            } else {
                _ = receiver.try_recv();
            }
        });
        assert_eq!(text, waker);
        assert_eq!(receiver.missed() + receiver.len() as u64, sent.load(Ordering::Relaxed));
        waiting.lock().unwrap().drain(..).for_each(|sending| drop(catch_unwind(AssertUnwindSafe(|| drop(sending)))));
    }
}
