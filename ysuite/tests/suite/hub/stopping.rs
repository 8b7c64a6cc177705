//! A hub that is stopped by its handlers, again and again.

use std::time::Duration;

use ysuite::hub::{Hub, Interest, TURN};
use ysuite::spsc;

use crate::hub::Notes;
use crate::hub::descriptors::pair;
use crate::support::guarded;

#[test]
fn whoever_stops_the_hub_in_every_call_does_not_keep_it_from_the_others() {
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
        // The poller is asked once for about so many calls.
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
            assert!(called <= 4 * TURN, "a ready descriptor waits behind {called} calls");
        }
    });
}
