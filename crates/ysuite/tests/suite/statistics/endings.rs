//! Messages that do not arrive: given back, taken back, dropped with the receiver; and user code that panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread;

use super::{flow, for_every_kind, waits};
use crate::support::{Tally, guarded};
use ysuite::{mpmc, mpsc, spsc};

#[test]
fn what_an_error_gives_back_was_not_sent() {
    for_every_kind!(|sender, receiver| {
        let observer = sender.observer();
        assert_eq!(sender.send_batch(0..10), Ok(10));
        assert_eq!((flow(&observer), receiver.recv()), ((10, 0, 10), Ok(0)));
        drop(receiver);
        assert!(sender.send(10).is_err() && sender.try_send(11).is_err());
        assert!(sender.send_batch(0..5).is_err_and(|error| !error.0.is_empty()));
        // Nine were dropped with the receiver.
        assert_eq!((flow(&observer), waits(&observer).2), ((10, 1, 10), 0));
        drop(sender);
        assert_eq!(flow(&observer), (10, 1, 10));
    });
}

#[test]
fn what_is_there_when_the_last_receiver_goes_is_seen_by_the_mark() {
    for_every_kind!(|sender, receiver| {
        let observer = sender.observer();
        (0..10).for_each(|number| sender.send(number).unwrap());
        drop(receiver);
        assert_eq!(flow(&observer), (10, 0, 10));
    });
}

#[test]
fn what_lies_beyond_the_end_of_a_closed_channel_was_not_sent() {
    for_every_kind!(|sender, receiver| {
        let observer = sender.observer();
        assert_eq!(sender.send_batch(0..10), Ok(10));
        assert!(receiver.close());
        assert!(sender.send(10).is_err());
        assert!(sender.send_batch(0..20).is_err());
        assert_eq!(flow(&observer), (10, 0, 10));
        assert_eq!(receiver.try_iter().count(), 10);
        assert_eq!(flow(&observer), (10, 10, 10));
        drop((sender, receiver));
        assert_eq!(flow(&observer), (10, 10, 10));
    });
}

#[test]
fn hidden_messages_of_a_closed_channel_were_not_sent() {
    let (mut sender, mut receiver) = spsc::unbounded();
    let observer = sender.observer();
    sender.send(1).unwrap();
    (0..100).for_each(|number| sender.write(number).unwrap());
    assert!(receiver.close());
    sender.flush();
    assert_eq!(flow(&observer).0, 1);
    (0..100).for_each(|number| _ = sender.write(number));
    drop(sender);
    assert_eq!((flow(&observer).0, receiver.try_iter().count(), flow(&observer).1), (1, 1, 1));
}

#[test]
fn a_sender_that_goes_publishes_what_was_hidden() {
    let (mut sender, mut receiver) = mpsc::unbounded();
    let observer = sender.observer();
    (0..10).for_each(|number| sender.write(number).unwrap());
    let mut clone = sender.clone();
    assert_eq!(flow(&observer), (0, 0, 0));
    sender.close();
    assert_eq!(flow(&observer), (10, 0, 10));
    clone.write(0).unwrap();
    drop((sender, clone));
    assert_eq!((receiver.try_iter().count(), flow(&observer)), (11, (11, 11, 10)));
}

#[test]
fn a_race_between_sends_and_the_receivers_end_is_counted_by_its_answers() {
    const MESSAGES: usize = if cfg!(miri) { 50 } else { 2_000 };
    for round in 0..20 {
        for closes in [false, true] {
            for_every_kind!(bounded 2 * MESSAGES, |sender, receiver| {
                let observer = sender.observer();
                guarded(move || {
                    let thread = thread::spawn(move || (0..MESSAGES).filter(|number| sender.send(*number).is_ok()).count());
                    let mut taken = (0..round * 10).filter(|_| receiver.try_recv().is_ok()).count();
                    if closes {
                        receiver.close();
                        taken += receiver.try_iter().count();
                    }
                    drop(receiver);
                    let sent = thread.join().unwrap();
                    let (counted, received, _) = flow(&observer);
                    assert_eq!((counted, received), (sent as u64, taken as u64));
                });
            });
        }
    }
}

#[test]
fn messages_that_panic_as_they_are_dropped_change_nothing() {
    for_every_kind!(|sender, receiver| {
        let tally = Tally::of(5);
        let observer = sender.observer();
        (0..5).for_each(|_| assert!(sender.send(tally.next()).is_ok()));
        assert_eq!(flow(&observer), (5, 0, 5));
        drop(receiver.recv());
        tally.explode(2);
        assert!(catch_unwind(AssertUnwindSafe(|| drop(receiver))).is_err());
        assert_eq!(flow(&observer), (5, 1, 5));
        drop(sender);
        assert_eq!(flow(&observer), (5, 1, 5));
    });
}

struct Explosive(AtomicUsize);

impl Wake for Explosive {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic!("a waker");
    }
}

#[test]
fn a_waker_that_panics_has_been_called_for_a_message_that_was_sent() {
    for_every_kind!(|sender, receiver| {
        let (calls, observer) = (Arc::new(Explosive(AtomicUsize::new(0))), sender.observer());
        let waker = Waker::from(calls.clone());
        assert!(receiver.poll_recv(&mut Context::from_waker(&waker)).is_pending());
        assert!(catch_unwind(AssertUnwindSafe(|| sender.send(1))).is_err());
        assert_eq!(calls.0.load(Ordering::Relaxed), 1);
        assert_eq!((flow(&observer), waits(&observer)), ((1, 0, 1), (1, 1, 0)));
        assert_eq!((receiver.try_recv(), flow(&observer).1), (Ok(1), 1));
    });
}

#[test]
fn messages_that_lose_a_swap_are_given_back_and_not_counted() {
    let (sender, receiver) = mpmc::bounded(3);
    let observer = sender.observer();
    let permit = sender.reserve().unwrap();
    sender.send(1).unwrap();
    assert!(sender.close());
    assert!(permit.send(2).is_err() && sender.force_send(3).is_err());
    assert_eq!((flow(&observer), receiver.recv()), ((1, 0, 1), Ok(1)));
    assert_eq!(flow(&observer), (1, 1, 1));
}
