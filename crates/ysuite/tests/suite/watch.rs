//! The watch: the newest value for every receiver, and every way of waiting for it.

mod attached;
mod foreign;
mod values;
mod waiting;

use std::collections::HashSet;
use std::task::Context;
use std::thread;
use std::time::{Duration, Instant};

use ysuite::watch;
use ysuite::{RecvError, RecvTimeoutError, SendError};

use crate::support::executor::Task;
use crate::support::{calls, guarded};

#[test]
fn only_the_newest_value_is_seen() {
    let (sender, mut receiver) = watch::channel(0);
    for value in 1..=3 {
        sender.send(value).unwrap();
    }
    assert_eq!(receiver.has_changed(), Ok(true));
    assert!(receiver.borrow().has_changed() && *receiver.borrow() == 3, "a look that does not count");
    receiver.changed().unwrap();
    assert_eq!(receiver.has_changed(), Ok(false));
    let value = receiver.borrow_and_update();
    assert_eq!((*value, value.has_changed()), (3, false));
}

#[test]
fn what_is_there_at_the_beginning_has_been_seen() {
    let (sender, first) = watch::channel("a");
    assert_eq!((first.has_changed(), *first.borrow()), (Ok(false), "a"));
    sender.send("b").unwrap();
    let (mut behind, mut later) = (first.clone(), sender.subscribe());
    assert_eq!((behind.has_changed(), later.has_changed()), (Ok(true), Ok(false)));
    behind.mark_unchanged();
    later.mark_changed();
    assert_eq!((behind.has_changed(), later.has_changed()), (Ok(false), Ok(true)));
    let value = later.borrow_and_update();
    assert_eq!((*value, value.has_changed()), ("b", true));
    drop(value);
    assert_eq!((later.has_changed(), first.has_changed()), (Ok(false), Ok(true)));
    assert!(!sender.borrow().has_changed());
}

#[test]
fn the_last_value_is_seen_before_the_end_is() {
    let (sender, mut receiver) = watch::channel(0);
    let other = sender.clone();
    sender.send(1).unwrap();
    drop(sender);
    assert!(!receiver.is_disconnected());
    other.send(2).unwrap();
    drop(other);
    assert!(receiver.is_disconnected());
    assert_eq!((receiver.has_changed(), receiver.changed()), (Ok(true), Ok(())));
    assert_eq!(*receiver.borrow_and_update(), 2);
    assert_eq!((receiver.has_changed(), receiver.changed()), (Err(RecvError), Err(RecvError)));
    assert_eq!(receiver.changed_timeout(Duration::MAX), Err(RecvTimeoutError::Disconnected));
    assert_eq!(receiver.wait_for(|value| *value > 2).map(|value| *value).unwrap_err(), RecvError);
    assert_eq!(*receiver.wait_for(|value| *value == 2).unwrap(), 2);
    // It may always be read, also by a receiver that has marked nothing as seen.
    receiver.mark_changed();
    assert_eq!((receiver.has_changed(), receiver.changed(), receiver.changed()), (Ok(true), Ok(()), Err(RecvError)));
}

#[test]
fn without_receivers_a_value_comes_back_or_waits_for_the_next() {
    let (sender, receiver) = watch::channel(vec![0]);
    drop(receiver);
    assert!(sender.is_disconnected());
    assert_eq!(sender.send(vec![1]), Err(SendError(vec![1])));
    assert_eq!(*sender.borrow(), [0]);
    assert_eq!(sender.send_replace(vec![2]), [0]);
    sender.send_modify(|value| value.push(3));
    let mut receiver = sender.subscribe();
    assert!(!sender.is_disconnected());
    assert_eq!((receiver.has_changed(), &**receiver.borrow()), (Ok(false), &[2, 3][..]));
    sender.send(vec![4]).unwrap();
    assert_eq!((receiver.changed(), &**receiver.borrow()), (Ok(()), &[4][..]));
}

/// Claim: A modification that changes nothing notifies no receiver.
#[test]
fn no_change_notifies_no_receiver() {
    let (sender, mut receiver) = watch::channel(5);
    let (mut waiting, task) = (sender.subscribe(), Task::default());
    assert!(waiting.poll_changed(&mut Context::from_waker(&task.waker())).is_pending());
    let raise_to = |to: i32| {
        sender.send_if_modified(|value| {
            let higher = to > *value;
            *value = to.max(*value);
            higher
        })
    };
    assert!(!raise_to(4) && !raise_to(5));
    assert_eq!((receiver.has_changed(), task.woken()), (Ok(false), 0));
    assert!(raise_to(6));
    assert_eq!((receiver.changed(), *receiver.borrow_and_update(), task.woken()), (Ok(()), 6, 1));
}

#[test]
fn ends_are_counted_and_known_by_their_channel() {
    let (sender, receiver) = watch::channel(());
    let (others, (strange, _)) = ((sender.clone(), receiver.clone(), sender.subscribe()), watch::channel(()));
    assert_eq!((sender.sender_count(), sender.receiver_count()), (2, 3));
    assert_eq!((receiver.sender_count(), receiver.receiver_count()), (2, 3));
    assert!(sender == others.0 && sender != strange && receiver == others.2 && receiver.same_channel(&others.1));
    assert_eq!(HashSet::from([&sender, &others.0, &strange]).len(), 2);
    assert_eq!(HashSet::from([&receiver, &others.1, &others.2]).len(), 1);
    drop(others);
    assert_eq!((sender.sender_count(), sender.receiver_count()), (1, 1));
    assert_eq!(format!("{sender:?}"), "Sender { senders: 1, receivers: 1, .. }");
    assert_eq!(format!("{:?} {}", watch::channel(7).1.borrow(), *watch::channel("x").1.borrow()), "7 x");
}

#[test]
fn without_waiters_nothing_is_called() {
    let (sender, mut receiver) = watch::channel(0);
    let mut before = 0;
    for value in 0..1_000 {
        if value == 100 {
            // The process has asked the kernel once what barriers there are.
            before = calls();
        }
        sender.send(value).unwrap();
        sender.send_modify(|value| *value += 1);
        assert_eq!((receiver.has_changed(), receiver.changed(), *receiver.borrow()), (Ok(true), Ok(()), value + 1));
        assert_eq!(receiver.changed_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.changed_deadline(Instant::now()), Err(RecvTimeoutError::Timeout));
    }
    assert_eq!(calls(), before);
}

#[test]
fn changes_of_several_senders_are_all_there() {
    guarded(|| {
        const EACH: usize = 20_000;
        let (sender, mut receiver) = watch::channel(0);
        let threads = [sender.clone(), sender]
            .map(|sender| thread::spawn(move || (0..EACH).for_each(|_| sender.send_modify(|value| *value += 1))));
        let (mut seen, mut looks) = (0, 0);
        while receiver.changed().is_ok() {
            let value = *receiver.borrow_and_update();
            // A change between the wait and the read is seen by the read, and ends no other wait.
            assert!(value > seen, "{value} behind {seen}");
            (seen, looks) = (value, looks + 1);
        }
        assert_eq!(seen, 2 * EACH);
        assert!((1..=2 * EACH).contains(&looks));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}
