//! The watch under the model checker: changes and disconnects against receivers that are going to sleep, in every way,
//! and values against their versions.
//!
//! A lost wake-up shows as a deadlock. If a model is about values a sender stays alive: its drop would wake all
//! receivers, and hide a lost wake-up.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use loom::future::block_on;
use loom::thread;
use ysuite::RecvTimeoutError;
use ysuite::signal::{Wait, YPollset};
use ysuite::watch::{self, Receiver};

use crate::model_up_to;

/// Another thread sends 1, then 2, while this one waits until it has seen the 2.
fn two_values_against(preemptions: usize, wait: impl Fn(Receiver<u32>) + Sync + Send + 'static) {
    model_up_to(preemptions, move || {
        let (sender, receiver) = watch::channel(0);
        let alive = sender.clone();
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            // The second may find that senders no longer promise fences.
            sender.send(2).unwrap();
        });
        wait(receiver.clone());
        thread.join().unwrap();
        drop((alive, receiver));
    });
}

/// Claim: A waiting watch receiver is notified of each value that it has not seen, as a thread, a task, by polling or
/// attached.
/// Also: stress watch::threads_that_follow.
#[test]
fn sending_against_a_thread_going_to_sleep() {
    two_values_against(3, |mut receiver| {
        while *receiver.borrow_and_update() != 2 {
            receiver.changed().unwrap();
        }
    });
}

#[test]
fn sending_against_a_task_going_to_sleep() {
    two_values_against(2, |mut receiver| {
        block_on(async move {
            while *receiver.borrow_and_update() != 2 {
                receiver.changed_async().await.unwrap();
            }
        });
    });
}

#[test]
fn sending_against_a_poll() {
    two_values_against(2, |mut receiver| {
        block_on(async move {
            while *receiver.borrow() != 2 {
                std::future::poll_fn(|context| receiver.poll_changed(context)).await.unwrap();
            }
        });
    });
}

/// The id is up whenever there is something to see, at whatever point the value comes while the receiver takes the id
/// down.
#[test]
fn sending_against_an_attached_receiver_going_to_rest() {
    two_values_against(2, |mut receiver| {
        let mut set = YPollset::new();
        set.attach(&mut receiver, 0).unwrap();
        while *receiver.borrow_and_update() != 2 {
            set.wait();
        }
    });
}

/// Claim: A wait for a value that matches a predicate returns a value for which the predicate holds.
/// Also: suite watch::waiting::a_value_of_ones_choice, stress watch::threads_that_choose.
#[test]
fn sending_against_a_choice() {
    two_values_against(2, |mut receiver| assert_eq!(*receiver.wait_for(|value| *value == 2).unwrap(), 2));
}

#[test]
fn the_free_barrier_against_a_thread_going_to_sleep() {
    model_up_to(2, || {
        let (sender, mut receiver) = watch::channel(0);
        // From here on senders promise no fences.
        sender.send(1).unwrap();
        receiver.changed().unwrap();
        let alive = sender.clone();
        let thread = thread::spawn(move || sender.send(2).unwrap());
        receiver.changed().unwrap();
        assert_eq!(*receiver.borrow(), 2);
        thread.join().unwrap();
        drop(alive);
    });
}

#[test]
fn two_senders_against_a_thread_going_to_sleep() {
    model_up_to(2, || {
        let (sender, mut receiver) = watch::channel(0);
        let threads = [sender.clone(), sender.clone()]
            .map(|sender| thread::spawn(move || sender.send_modify(|value| *value += 1)));
        while *receiver.borrow_and_update() != 2 {
            receiver.changed().unwrap();
        }
        assert_eq!(receiver.has_changed(), Ok(false));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        drop(sender);
    });
}

/// Claim: One new value wakes all watch receivers that wait, each once.
/// Also: suite watch::waiting::one_value_wakes_all_threads_that_wait.
#[test]
fn one_value_wakes_both_receivers() {
    model_up_to(2, || {
        let (sender, mut receiver) = watch::channel(0);
        let mut other = receiver.clone();
        let thread = thread::spawn(move || other.changed().unwrap());
        let alive = sender.clone();
        let sending = thread::spawn(move || sender.send(1).unwrap());
        receiver.changed().unwrap();
        thread.join().unwrap();
        sending.join().unwrap();
        drop(alive);
    });
}

#[test]
fn a_receiver_whose_time_is_up_takes_no_wake_from_another() {
    model_up_to(1, || {
        let (sender, mut receiver) = watch::channel(0);
        let mut other = receiver.clone();
        let leaving = thread::spawn(move || match other.changed_timeout(Duration::from_secs(1)) {
            Ok(()) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => panic!("there is a sender"),
        });
        let alive = sender.clone();
        let sending = thread::spawn(move || sender.send(1).unwrap());
        receiver.changed().unwrap();
        leaving.join().unwrap();
        sending.join().unwrap();
        drop(alive);
    });
}

/// A waker that does nothing.
struct Inert;

impl Wake for Inert {
    fn wake(self: Arc<Self>) {}
}

/// Claim: A watch wait that is dropped or times out takes no wake-up from another receiver.
/// Also: suite watch::waiting::a_dropped_future_has_seen_nothing, stress watch::receivers_that_leave.
#[test]
fn a_future_that_is_dropped_takes_no_wake_from_another() {
    model_up_to(2, || {
        let (sender, mut receiver) = watch::channel(0);
        let mut other = receiver.clone();
        let waker = Waker::from(Arc::new(Inert));
        let mut future = Box::pin(async move { other.changed_async().await });
        assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let alive = sender.clone();
        let sending = thread::spawn(move || sender.send(1).unwrap());
        drop(future);
        receiver.changed().unwrap();
        sending.join().unwrap();
        drop(alive);
    });
}

/// What is borrowed and the version that counts as seen belong together.
///
/// Claim: A watched value and its version belong together: a receiver that has seen a version has seen no older value.
/// Also: suite watch::only_the_newest_value_is_seen.
#[test]
fn a_look_that_counts_against_sending() {
    model_up_to(3, || {
        let (sender, mut receiver) = watch::channel(0);
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
            sender
        });
        let seen = *receiver.borrow_and_update();
        let again = *receiver.borrow();
        assert!(again >= seen);
        // Before the other is waited for: a read finds a value as new as the notification.
        if receiver.has_changed().unwrap() {
            assert!(*receiver.borrow() > seen);
        }
        let sender = thread.join().unwrap();
        assert_eq!((receiver.has_changed(), *receiver.borrow()), (Ok(seen != 2), 2));
        drop(sender);
    });
}

/// Another thread sends 1 and drops its sender, while this thread waits in one way: it sees the value, and then the
/// disconnect.
fn the_last_end_against(wait: impl Fn(Receiver<u32>) -> Receiver<u32> + Sync + Send + 'static) {
    model_up_to(2, move || {
        let (sender, receiver) = watch::channel(0);
        let other = sender.clone();
        let threads = [thread::spawn(move || drop(other)), thread::spawn(move || sender.send(1).unwrap())];
        let receiver = wait(receiver);
        assert_eq!((*receiver.borrow(), receiver.is_disconnected()), (1, true));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Claim: A watch receiver sees the last value before the disconnection, and the disconnection wakes it.
/// Also: suite watch::the_last_value_is_seen_before_the_end_is.
#[test]
fn the_last_senders_end_against_a_thread_going_to_sleep() {
    the_last_end_against(|mut receiver| {
        receiver.changed().unwrap();
        receiver.changed().unwrap_err();
        receiver
    });
}

#[test]
fn the_last_senders_end_against_a_task_going_to_sleep() {
    the_last_end_against(|mut receiver| {
        block_on(async move {
            receiver.changed_async().await.unwrap();
            receiver.changed_async().await.unwrap_err();
            receiver
        })
    });
}

#[test]
fn the_last_senders_end_against_an_attached_receiver_going_to_rest() {
    the_last_end_against(|mut receiver| {
        let mut set = YPollset::new();
        set.attach(&mut receiver, 0).unwrap();
        loop {
            set.wait();
            match receiver.has_changed() {
                Ok(true) => receiver.mark_unchanged(),
                Ok(false) => {}
                Err(_) => break,
            }
        }
        receiver.detach();
        receiver
    });
}

/// Claim: Watch senders learn that no receiver is left.
/// Also: suite watch::waiting::senders_learn_that_no_receiver_is_left.
#[test]
fn the_last_receivers_end_against_senders_going_to_sleep() {
    model_up_to(2, || {
        let (sender, receiver) = watch::channel(0);
        let (second, other) = (receiver.clone(), sender.clone());
        let threads = [
            thread::spawn(move || drop(second)),
            thread::spawn(move || {
                other.wait_closed();
                assert_eq!(other.receiver_count(), 0);
            }),
        ];
        drop(receiver);
        block_on(sender.closed());
        assert!(sender.send(1).is_err());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// A new receiver sees what is sent from then on, and has seen what was there.
///
/// Claim: A new watch subscriber counts the present value as seen and is notified of later ones.
/// Also: suite watch::what_is_there_at_the_beginning_has_been_seen.
#[test]
fn subscribing_against_sending() {
    model_up_to(3, || {
        let (sender, receiver) = watch::channel(0);
        let other = sender.clone();
        let thread = thread::spawn(move || {
            let mut late = other.subscribe();
            while *late.borrow_and_update() != 2 {
                late.changed().unwrap();
            }
        });
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        thread.join().unwrap();
        drop((sender, receiver));
    });
}
