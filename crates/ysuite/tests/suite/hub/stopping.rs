//! A hub that is stopped by its handlers, again and again.
//!
//! Claim: Handlers that stop the hub in every call starve no other source, also in nested turns.

use std::time::Duration;

use ysuite::hub::{Hub, Interest, TURN};
use ysuite::spsc;

use crate::hub::Notes;
use crate::hub::descriptors::pair;
use crate::hub::receivers::Asked;
use crate::support::{calls, guarded};

#[test]
fn a_handler_that_stops_the_hub_in_every_call_does_not_keep_it_from_the_others() {
    guarded(|| {
        /// What each source notes of itself.
        const SOURCES: [&str; 6] = ["function", "first", "second", "timer", "socket", "other socket"];
        fn note(hub: &mut Hub, notes: &Notes<&'static str>, source: usize) {
            notes.note(SOURCES[source]);
            hub.stop();
        }
        fn again(hub: &mut Hub, notes: Notes<&'static str>) {
            note(hub, &notes, 0);
            hub.handle().post(move |hub| again(hub, notes)).unwrap();
        }
        let (mut hub, notes) = (Hub::new().unwrap(), Notes::new());
        // Each has always something.
        let noted = notes.clone();
        hub.handle().post(move |hub| again(hub, noted)).unwrap();
        let mut senders = Vec::new();
        for source in [1, 2] {
            let ((mut sender, receiver), noted) = (spsc::unbounded(), notes.clone());
            sender.send_batch(0..40 * TURN).unwrap();
            senders.push(sender);
            hub.receive(receiver, move |hub, _: Result<usize, _>| note(hub, &noted, source)).unwrap();
        }
        let noted = notes.clone();
        hub.every(Duration::ZERO, move |hub| note(hub, &noted, 3));
        let mut peers = Vec::new();
        for source in [4, 5] {
            let ((near, far), noted) = (pair(), notes.clone());
            peers.push(near);
            hub.watch(far, Interest::WRITABLE, move |hub, _, _| note(hub, &noted, source)).unwrap();
        }
        // The poller is called once for about this many calls.
        for _ in 0..40 * TURN {
            hub.run().unwrap();
        }
        let notes = notes.taken();
        for (at, source) in SOURCES.iter().enumerate() {
            let calls = notes.iter().filter(|noted| *noted == source).count();
            assert!(calls >= 10, "{at}, the {source}: {calls} calls of {}", notes.len());
        }
    });
}

#[test]
fn a_stop_in_a_turn_within_keeps_no_receiver_from_its_own() {
    guarded(|| {
        let (mut hub, notes) = (Hub::new().unwrap(), Notes::new());
        let mut senders = Vec::new();
        // The first runs the hub, the second stops it.
        for who in 0..3 {
            let ((mut sender, receiver), noted) = (spsc::unbounded(), notes.clone());
            sender.send_batch(0..1_000).unwrap();
            senders.push(sender);
            let handler = move |hub: &mut Hub, _: Result<i32, _>| {
                noted.note(who);
                match who {
                    0 => _ = hub.run_once(Duration::ZERO).unwrap(),
                    1 => hub.stop(),
                    _ => {}
                }
            };
            hub.receive(receiver, handler).unwrap();
        }
        for _ in 0..10 {
            hub.run().unwrap();
        }
        let notes = notes.taken();
        assert!(notes.contains(&2), "the third of {} calls", notes.len());
    });
}

#[test]
fn calls_of_turns_that_are_stopped_count_as_any() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let (handle, (_near, far)) = (hub.handle(), pair());
        let read = Notes::new();
        let noted = read.clone();
        hub.watch(far, Interest::WRITABLE, move |_, _, _| noted.note(())).unwrap();
        let mut called = 0;
        while read.len() == 0 {
            for _ in 1..TURN {
                handle.post(|_| {}).unwrap();
            }
            handle.post(Hub::stop).unwrap();
            hub.run().unwrap();
            called += TURN;
            assert!(called <= 4 * TURN, "a ready descriptor waits for {called} calls");
        }
    });
}

#[test]
fn a_stop_between_two_runs_is_for_the_next_alone() {
    let mut hub = Hub::new().unwrap();
    let (handle, notes) = (hub.handle(), Notes::new());
    handle.stop().unwrap();
    hub.run().unwrap();
    hub.stop();
    let noted = notes.clone();
    handle.post(move |_| noted.note(())).unwrap();
    hub.run().unwrap();
    assert_eq!((notes.len(), hub.is_stopped()), (0, false));
    handle.stop().unwrap();
    hub.run().unwrap();
    assert_eq!((notes.len(), hub.is_stopped()), (1, false));
}

#[test]
fn one_that_stops_the_hub_in_every_call_does_not_keep_it_from_the_others() {
    /// A function, a receiver, a timer, and a socket: which of them it is that stops the hub.
    fn note(hub: &mut Hub, notes: &Notes<usize>, source: usize, stops: usize) {
        notes.note(source);
        if source == stops {
            hub.stop();
        }
    }
    fn again(hub: &mut Hub, notes: Notes<usize>, stops: usize) {
        note(hub, &notes, 0, stops);
        hub.handle().post(move |hub| again(hub, notes, stops)).unwrap();
    }
    for stops in 0..4 {
        guarded(move || {
            let (mut hub, notes) = (Hub::new().unwrap(), Notes::new());
            let handle = hub.handle();
            // Each has always something.
            let noted = notes.clone();
            handle.post(move |hub| again(hub, noted, stops)).unwrap();
            let ((mut sender, receiver), noted) = (spsc::unbounded(), notes.clone());
            sender.send_batch(0..20 * TURN).unwrap();
            hub.receive(receiver, move |hub, _: Result<usize, _>| note(hub, &noted, 1, stops)).unwrap();
            let noted = notes.clone();
            hub.every(Duration::ZERO, move |hub| note(hub, &noted, 2, stops));
            let ((_near, far), noted) = (pair(), notes.clone());
            hub.watch(far, Interest::WRITABLE, move |hub, _, _| note(hub, &noted, 3, stops)).unwrap();
            for _ in 0..8 {
                assert_ne!(hub.run_once(Duration::ZERO).unwrap(), 0);
            }
            let notes = notes.taken();
            let calls = [0, 1, 2, 3].map(|source| notes.iter().filter(|noted| **noted == source).count());
            assert!(calls.iter().all(|&calls| calls >= 2), "{stops} stops the hub: {calls:?} calls");
        });
    }
}

#[test]
fn a_turn_behind_one_that_was_stopped_gives_none_more_than_a_turn() {
    let mut hub = Hub::new().unwrap();
    let ((mut sender, receiver), handle) = (spsc::unbounded(), hub.handle());
    hub.receive(receiver, |hub, message: Result<bool, _>| {
        if message == Ok(true) {
            hub.stop();
        }
    })
    .unwrap();
    // A function stops it: the next begins with the receiver.
    handle.stop().unwrap();
    sender.send_batch([false; 3 * TURN]).unwrap();
    assert_eq!(hub.run_once(None).unwrap(), 1);
    (0..3).for_each(|_| assert_eq!(hub.run_once(None).unwrap(), TURN));
    // The receiver stops it: the next begins with the timers.
    sender.send(true).unwrap();
    (0..3 * TURN).for_each(|_| _ = hub.after(Duration::ZERO, |_| {}));
    assert_eq!(hub.run_once(None).unwrap(), 1);
    (0..3).for_each(|_| assert_eq!(hub.run_once(None).unwrap(), TURN));
}

#[test]
fn runs_that_are_stopped_ask_the_poller_once_for_a_turn_of_calls() {
    let mut hub = Hub::new().unwrap();
    let (handle, (_near, far)) = (hub.handle(), pair());
    hub.watch(far, Interest::READABLE, |_, _, _| {}).unwrap();
    let before = calls();
    for _ in 0..10 * TURN {
        handle.stop().unwrap();
        hub.run().unwrap();
    }
    let made = calls() - before;
    assert!((5..=14).contains(&made), "{made} calls of the poller in {} runs", 10 * TURN);
}

#[test]
fn a_turn_that_is_stopped_before_it_comes_to_the_poller_does_not_ask_it() {
    let mut hub = Hub::new().unwrap();
    let (handle, (_near, far), (mut sender, receiver)) = (hub.handle(), pair(), spsc::unbounded());
    hub.watch(far, Interest::READABLE, |_, _, _| {}).unwrap();
    hub.receive(receiver, |hub, _: Result<u8, _>| hub.stop()).unwrap();
    for _ in 0..3 {
        // A function stops it, so that the next turn begins with the receiver.
        handle.stop().unwrap();
        assert_eq!(hub.run_once(None).unwrap(), 1);
        sender.send(1).unwrap();
        let before = calls();
        assert_eq!(hub.run_once(None).unwrap(), 1);
        assert_eq!(calls() - before, 0);
    }
}

#[test]
fn a_function_that_is_found_as_the_hub_comes_to_rest_may_stop_it() {
    let mut hub = Hub::new().unwrap();
    let ((mut sender, receiver), handle, notes) = (spsc::unbounded(), hub.handle(), Notes::new());
    let mut stopping = Some(hub.handle());
    // Posted after the poll of the functions, which comes before that of the receivers.
    let when_looked = Box::new(move || {
        if let Some(handle) = stopping.take() {
            handle.stop().unwrap();
        }
    });
    let (message, function) = (notes.clone(), notes.clone());
    let asked = Asked { receiver, when_asked: Box::new(|| {}), when_looked };
    hub.receive(asked, move |_, _| message.note("message")).unwrap();
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 1);
    // The next begins after the functions.
    sender.send(1).unwrap();
    handle.post(move |_| function.note("function")).unwrap();
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 2);
    assert_eq!(notes.taken(), ["message", "function"]);
}

#[test]
fn an_end_that_is_found_as_the_hub_comes_to_rest_may_stop_it() {
    let mut hub = Hub::new().unwrap();
    let ((sender, receiver), handle, notes) = (spsc::unbounded::<u8>(), hub.handle(), Notes::new());
    hub.receive(receiver, |hub, _| hub.stop()).unwrap();
    drop(sender);
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 1);
    // The next begins after the receivers.
    let (function, timer) = (notes.clone(), notes.clone());
    handle.post(move |_| function.note("function")).unwrap();
    hub.after(Duration::ZERO, move |_| timer.note("timer"));
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 2);
    assert_eq!(notes.taken(), ["timer", "function"]);
}
