//! A hub that is run inside its own handlers.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ysuite::hub::{Hub, Interest, TURN};
use ysuite::spsc;

use crate::hub::Notes;
use crate::hub::descriptors::pair;
use crate::support::guarded;

#[test]
fn a_stop_before_a_turn_within_ends_the_turn_around_it() {
    let mut hub = Hub::new().unwrap();
    let (handle, run) = (hub.handle(), Arc::new(AtomicUsize::new(0)));
    handle
        .post(|hub| {
            hub.stop();
            assert_eq!(hub.run_once(Duration::ZERO).unwrap(), TURN, "a turn as any other");
            hub.run().unwrap();
            assert!(hub.is_stopped(), "asked of the run around this function");
        })
        .unwrap();
    for _ in 0..TURN * 4 {
        let run = run.clone();
        handle
            .post(move |_| {
                run.fetch_add(1, Ordering::Relaxed);
            })
            .unwrap();
    }
    hub.run().unwrap();
    assert_eq!(run.load(Ordering::Relaxed), TURN, "none after the stop");
    assert!(!hub.is_stopped());
}

#[test]
fn a_turn_within_that_panics_leaves_the_stop_as_it_was() {
    let mut hub = Hub::new().unwrap();
    let (handle, notes) = (hub.handle(), Notes::new());
    let (within, noted) = (hub.handle(), notes.clone());
    handle
        .post(move |hub| {
            hub.stop();
            within.post(|_| panic!("as the test wants it")).unwrap();
            let turn = std::panic::AssertUnwindSafe(|| while hub.run_once(Duration::ZERO).is_ok() {});
            assert!(std::panic::catch_unwind(turn).is_err());
            within.post(move |_| noted.note(())).unwrap();
        })
        .unwrap();
    hub.run().unwrap();
    assert_eq!(notes.len(), 0, "stopped");
    hub.run_once(None).unwrap();
    assert_eq!(notes.len(), 1);
}

#[test]
fn a_turn_within_a_handler_never_waits_whatever_runs_in_between() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let (mut sender, receiver) = spsc::unbounded();
        let notes = Notes::new();
        let (once, every) = (notes.clone(), notes.clone());
        let handle = hub.handle();
        let posted = notes.clone();
        hub.receive(receiver, move |hub, _: Result<u8, _>| {
            let this = hub.current();
            assert!(this.is_some());
            let (once, every, posted) = (once.clone(), every.clone(), posted.clone());
            handle
                .post(move |hub| {
                    assert_eq!(hub.current(), None, "no handler, though an outer one is running");
                    assert_eq!(hub.run_once(None).unwrap(), 0);
                    posted.note("posted");
                })
                .unwrap();
            hub.run_once(None).unwrap();
            hub.after(Duration::ZERO, move |hub| {
                assert_eq!(hub.run_once(None).unwrap(), 0);
                hub.run().unwrap();
                once.note("once");
            });
            hub.run_once(None).unwrap();
            let timer = hub.every(Duration::ZERO, move |hub| {
                assert!(hub.current().is_none() && hub.current_timer().is_some());
                assert_eq!(hub.run_once(None).unwrap(), 0, "its own moment is nothing to wait for");
                every.note("every");
            });
            hub.run_once(None).unwrap();
            assert!(hub.cancel(timer));
            assert_eq!(hub.current(), this);
        })
        .unwrap();
        // More than it is given: its signal stays up.
        sender.send_batch([1, 2]).unwrap();
        hub.run_once(None).unwrap();
        assert_eq!(notes.taken(), ["posted", "once", "every"].repeat(2));
    });
}

/// Claim: A handler may run a nested turn of its hub.
#[test]
fn a_turn_within_a_handler_serves_descriptors() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let ((mut near, far), (mut sender, receiver), notes) = (pair(), spsc::unbounded(), Notes::new());
        let (noted, seen) = (notes.clone(), notes.clone());
        hub.watch(far, Interest::READABLE, move |_, far, _| {
            far.read_exact(&mut [0]).unwrap();
            noted.note(());
        })
        .unwrap();
        hub.receive(receiver, move |hub, _: Result<u8, _>| {
            near.write_all(b"x").unwrap();
            // Its own signal is up all the while.
            assert_eq!(hub.run_once(None).unwrap(), 1);
            assert_eq!(seen.taken().len(), 1);
        })
        .unwrap();
        sender.send_batch(0..5).unwrap();
        while hub.run_once(Duration::ZERO).unwrap() != 0 {}
    });
}

#[test]
fn what_a_turn_sets_for_the_past_is_for_the_next() {
    fn again(hub: &mut Hub, notes: Notes<()>) {
        notes.note(());
        let past = Instant::now().checked_sub(Duration::from_millis(5)).unwrap();
        hub.at(past, move |hub| again(hub, notes));
    }
    let mut hub = Hub::new().unwrap();
    let notes = Notes::new();
    let first = notes.clone();
    hub.after(Duration::ZERO, move |hub| again(hub, first));
    for turns in 1..5 {
        assert_eq!(hub.run_once(None).unwrap(), 1);
        assert_eq!(notes.len(), turns, "once in each turn");
    }
}

#[test]
fn what_a_function_or_a_message_sets_for_now_is_for_the_next_turn() {
    let mut hub = Hub::new().unwrap();
    let ((mut sender, receiver), handle, notes) = (spsc::unbounded(), hub.handle(), Notes::new());
    // Another timer has the clock read.
    hub.after(Duration::from_secs(3_600), |_| {});
    let (noted, other) = (notes.clone(), notes.clone());
    hub.receive(receiver, move |hub, _: Result<u8, _>| {
        let noted = noted.clone();
        hub.after(Duration::ZERO, move |_| noted.note("message"));
    })
    .unwrap();
    sender.send(1).unwrap();
    handle
        .post(move |hub| {
            hub.after(Duration::ZERO, move |_| other.note("function"));
        })
        .unwrap();
    assert_eq!(hub.run_once(None).unwrap(), 2);
    assert_eq!(notes.len(), 0);
    assert_eq!(hub.run_once(None).unwrap(), 2);
    assert_eq!(notes.taken(), ["function", "message"]);
}

#[test]
fn a_run_within_a_function_lasts_until_it_is_stopped_and_clears_that_stop() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let (handle, notes) = (hub.handle(), Notes::new());
        let (inner, within, behind) = (hub.handle(), notes.clone(), notes.clone());
        handle
            .post(move |hub| {
                inner
                    .post(move |hub| {
                        within.note("within");
                        hub.stop();
                    })
                    .unwrap();
                hub.run().unwrap();
                assert!(!hub.is_stopped());
                behind.note("behind");
            })
            .unwrap();
        assert_eq!(hub.run_once(None).unwrap(), 1);
        assert_eq!(notes.taken(), ["within", "behind"]);
    });
}

#[test]
fn a_function_that_has_run_its_hub_and_stops_it_is_followed_by_what_comes_behind_functions() {
    let mut hub = Hub::new().unwrap();
    let ((mut sender, receiver), handle, notes) = (spsc::unbounded(), hub.handle(), Notes::new());
    let (message, function) = (notes.clone(), notes.clone());
    hub.receive(receiver, move |_, _: Result<u8, _>| message.note("message")).unwrap();
    handle
        .post(|hub| {
            assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 0);
            hub.stop();
        })
        .unwrap();
    assert_eq!(hub.run_once(None).unwrap(), 1);
    // The receiver has come to rest within.
    sender.send(1).unwrap();
    handle.post(move |_| function.note("function")).unwrap();
    assert_eq!(hub.run_once(None).unwrap(), 2);
    assert_eq!(notes.taken(), ["message", "function"]);
}
