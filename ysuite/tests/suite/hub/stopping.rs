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
