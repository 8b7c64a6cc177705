//! Sleeps, wake-ups, and a channel that is full: in every way of waiting.
//!
//! Claim: Sleeps, wake-ups and times full are each counted once.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use super::{flow, for_every_kind, until, waits};
use crate::support::guarded;
use ysuite::Spin;
use ysuite::select;
use ysuite::signal::{Wait, YPollset};

#[test]
fn a_receiver_that_slept_was_woken() {
    for_every_kind!(|sender, receiver| {
        let observer = sender.observer();
        guarded(move || {
            let thread = thread::spawn(move || {
                receiver.set_spin(Spin::None);
                receiver.recv()
            });
            until(&observer, |seen| seen.sleeps >= 1);
            sender.send(1).unwrap();
            assert_eq!(thread.join().unwrap(), Ok(1));
            let (sleeps, wakes, full) = waits(&observer);
            assert!(sleeps >= 1 && full == 0);
            assert_eq!((wakes, flow(&observer)), (1, (1, 1, 1)));
        });
    });
}

#[test]
fn a_sleep_that_ends_by_its_deadline_has_no_wake_up() {
    for_every_kind!(|sender, receiver| {
        receiver.set_spin(Spin::None);
        assert!(receiver.recv_timeout(Duration::from_micros(200)).is_err());
        let (sleeps, wakes, full) = waits(&sender.observer());
        assert!(sleeps >= 1);
        assert_eq!((wakes, full), (0, 0));
        sender.send(1).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(waits(&sender.observer()), (sleeps, 0, 0));
    });
}

#[test]
fn a_sender_that_waits_for_room_has_found_the_channel_full() {
    for_every_kind!(bounded 2, |sender, receiver| {
        let observer = receiver.observer();
        guarded(move || {
            assert_eq!(sender.send_batch([1, 2]), Ok(2));
            assert_eq!(waits(&observer), (0, 0, 0));
            let thread = thread::spawn(move || {
                sender.set_spin(Spin::None);
                sender.send(3).unwrap();
            });
            until(&observer, |seen| seen.sleeps >= 1);
            assert_eq!((waits(&observer).1, waits(&observer).2), (0, 1));
            assert_eq!(receiver.recv(), Ok(1));
            thread.join().unwrap();
            assert_eq!((waits(&observer).1, waits(&observer).2), (1, 1));
            assert_eq!(flow(&observer), (3, 1, 2));
        });
    });
}

#[test]
fn each_refusal_is_counted_once() {
    for_every_kind!(bounded 2, |sender, receiver| {
        let observer = receiver.observer();
        assert_eq!(sender.send_batch([1, 2]), Ok(2));
        assert!((0..3).all(|_| sender.try_send(3).is_err_and(|error| error.is_full())));
        assert_eq!((waits(&observer), flow(&observer)), ((0, 0, 3), (2, 0, 2)));
        assert!(sender.try_reserve().is_err());
        assert_eq!(waits(&observer), (0, 0, 4));
        // A wait is one time, however it ends.
        assert!(sender.send_timeout(3, Duration::from_micros(200)).is_err());
        assert_eq!((waits(&observer).1, waits(&observer).2), (0, 5));
        drop(receiver);
        assert!(sender.try_send(3).is_err_and(|error| error.is_disconnected()));
        assert_eq!(waits(&observer).2, 5);
    });
}

/// It is always full.
#[test]
fn a_rendezvous_is_never_counted_as_full() {
    for_every_kind!(bounded 0, |sender, receiver| {
        assert!((0..3).all(|_| sender.try_send(1).is_err_and(|error| error.is_full())));
        assert!(sender.send_timeout(2, Duration::from_micros(200)).is_err());
        assert_eq!((receiver.try_recv().is_err(), waits(&receiver.observer()).2), (true, 0));
    });
}

#[test]
fn tasks_that_are_left_pending_sleep() {
    for_every_kind!(bounded 1, |sender, receiver| {
        let (observer, mut context) = (receiver.observer(), Context::from_waker(Waker::noop()));
        {
            let mut future = pin!(receiver.recv_async());
            assert!(future.as_mut().poll(&mut context).is_pending());
            assert_eq!(waits(&observer), (1, 0, 0));
            sender.send(1).unwrap();
            assert_eq!(waits(&observer), (1, 1, 0));
            assert!(future.poll(&mut context).is_ready());
        }
        assert!(receiver.poll_recv(&mut context).is_pending());
        assert_eq!(waits(&observer), (2, 1, 0));
        sender.send(2).unwrap();
        assert_eq!(waits(&observer), (2, 2, 0));
        {
            let mut future = pin!(sender.send_async(3));
            assert!(future.as_mut().poll(&mut context).is_pending());
            assert_eq!(waits(&observer), (3, 2, 1));
            assert!(receiver.poll_recv(&mut context).is_ready());
            assert_eq!(waits(&observer), (3, 3, 1));
            assert!(future.poll(&mut context).is_ready());
        }
        assert_eq!((flow(&observer), waits(&observer)), ((3, 2, 1), (3, 3, 1)));
    });
}

/// Whichever side came first.
#[test]
fn the_partner_in_a_rendezvous_was_woken() {
    for_every_kind!(bounded 0, |sender, receiver| {
        let (observer, mut context) = (receiver.observer(), Context::from_waker(Waker::noop()));
        {
            let mut future = pin!(receiver.recv_async());
            assert!(future.as_mut().poll(&mut context).is_pending());
            assert_eq!(waits(&observer).1, 0);
            assert!(sender.try_send(1).is_ok());
            assert_eq!(waits(&observer).1, 1);
            assert!(future.poll(&mut context).is_ready());
        }
        {
            let mut future = pin!(sender.send_async(2));
            assert!(future.as_mut().poll(&mut context).is_pending());
            assert_eq!(receiver.try_recv(), Ok(2));
            assert_eq!(waits(&observer).1, 2);
            assert!(future.poll(&mut context).is_ready());
        }
        assert_eq!(flow(&observer), (2, 2, 0));
    });
}

#[test]
fn a_receiver_in_a_set_sleeps_when_it_takes_its_id_down() {
    for_every_kind!(|sender, receiver| {
        let mut set = YPollset::new();
        let observer = sender.observer();
        set.attach(&mut receiver, 3).unwrap();
        for round in 1..10 {
            assert!((0..3).all(|_| receiver.try_recv().is_err()));
            assert_eq!((waits(&observer).0, waits(&observer).1), (round, round - 1));
            (0..5).for_each(|number| sender.send(number).unwrap());
            assert_eq!((waits(&observer).0, waits(&observer).1), (round, round));
            assert!(set.wait().eq([3]));
            assert_eq!(receiver.try_iter().count(), 5);
        }
    });
}

#[test]
fn the_end_of_a_channel_wakes() {
    for_every_kind!(|sender, receiver| {
        sender.send(Arc::new(())).unwrap();
        drop(receiver.recv());
        let observer = receiver.observer();
        guarded(move || {
            let thread = thread::spawn(move || receiver.recv().is_err());
            until(&observer, |seen| seen.sleeps >= 1);
            drop(sender);
            assert!(thread.join().unwrap());
            assert_eq!((waits(&observer).1, flow(&observer)), (1, (1, 1, 1)));
        });
    });
}

#[test]
fn a_drop_without_sleepers_wakes_no_thread() {
    for_every_kind!(|sender, receiver| {
        let observer = receiver.observer();
        sender.send(1).unwrap();
        drop(sender);
        assert_eq!(receiver.recv(), Ok(1));
        assert!(receiver.recv().is_err());
        drop(receiver);
        assert_eq!(waits(&observer).1, 0);
    });
}

#[test]
fn a_sender_that_waits_for_many_places_sleeps() {
    for_every_kind!(bounded 2, |sender, receiver| {
        let observer = receiver.observer();
        guarded(move || {
            assert_eq!(sender.send_batch([1, 2]), Ok(2));
            let thread = thread::spawn(move || {
                sender.set_spin(Spin::None);
                sender.reserve_many(2).is_ok()
            });
            until(&observer, |seen| seen.sleeps >= 1);
            assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
            assert!(thread.join().unwrap());
        });
    });
}

#[test]
fn a_task_that_stands_in_line_sleeps() {
    for_every_kind!(bounded 0, |sender, receiver| {
        let (observer, mut context) = (receiver.observer(), Context::from_waker(Waker::noop()));
        let mut future = pin!(sender.send_async(1));
        assert!(future.as_mut().poll(&mut context).is_pending());
        assert_eq!(waits(&observer), (1, 0, 0));
        assert_eq!(receiver.try_recv(), Ok(1));
        assert_eq!(waits(&observer), (1, 1, 0));
        assert!(future.poll(&mut context).is_ready());
    });
}

#[test]
fn a_select_that_has_given_up_is_not_woken() {
    for_every_kind!(bounded 1, |sender, receiver| {
        let (observer, soon) = (receiver.observer(), Duration::from_micros(200));
        assert!(select().recv(&mut receiver, drop).wait_timeout(soon).is_none());
        sender.send(1).unwrap();
        assert!(select().send(&mut sender, 2, drop).wait_timeout(soon).is_none());
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(waits(&observer).1, 0);
    });
}

#[test]
fn a_thread_that_is_met_while_it_spins_has_not_slept() {
    for_every_kind!(bounded 0, |sender, receiver| {
        let observer = sender.observer();
        guarded(move || {
            let thread = thread::spawn(move || {
                receiver.set_spin(Spin::Forever);
                receiver.recv()
            });
            while sender.try_send(1).is_err() {
                thread::yield_now();
            }
            assert_eq!((thread.join().unwrap(), waits(&observer).0), (Ok(1), 0));
        });
    });
}

#[test]
fn a_receiver_that_is_met_in_line_was_woken() {
    for_every_kind!(bounded 0, |sender, receiver| {
        let (observer, mut context) = (sender.observer(), Context::from_waker(Waker::noop()));
        let mut future = pin!(receiver.recv_async());
        assert!(future.as_mut().poll(&mut context).is_pending());
        assert_eq!(waits(&observer), (1, 0, 0));
        sender.try_send(1).unwrap();
        assert_eq!((waits(&observer), flow(&observer)), ((1, 1, 0), (1, 1, 0)));
        assert!(future.poll(&mut context).is_ready());
    });
}

#[test]
fn a_thread_that_sleeps_in_line_is_counted() {
    for_every_kind!(bounded 0, |sender, receiver| {
        let observer = sender.observer();
        receiver.set_spin(Spin::None);
        // One that is held up until its time is over does not sleep.
        let slept = (0..100).any(|_| {
            assert!(receiver.recv_timeout(Duration::from_micros(200)).is_err());
            waits(&observer).0 != 0
        });
        assert!(slept);
        assert_eq!(waits(&observer), (1, 0, 0));
        assert!(sender.try_send(1).is_err());
    });
}
