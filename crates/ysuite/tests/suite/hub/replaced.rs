//! A handler that puts another hub in the place of its own. The old one is gone, and the other as it was.

use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use ysuite::hub::{Hub, Interest};
use ysuite::spsc;

use crate::hub::Notes;
use crate::hub::descriptors::pair;
use crate::support::guarded;

/// A hub that is to note so, and whether it still counts as any hub does.
fn other(notes: &Notes<u32>) -> Hub {
    let mut hub = Hub::new().unwrap();
    // Keys as the first hub's.
    let (mut sender, receiver) = spsc::unbounded();
    sender.send(2).unwrap();
    let noting = notes.clone();
    let _ = hub.receive(receiver, move |_, message: Result<u32, _>| {
        noting.note(message.unwrap_or(3));
    });
    let noting = notes.clone();
    hub.after(Duration::ZERO, move |_| noting.note(4));
    let (mut near, far) = pair();
    std::io::Write::write_all(&mut near, b"5").unwrap();
    let noting = notes.clone();
    let watching = hub.watch(far, Interest::READABLE, move |hub, _, ready| {
        let _near = &near;
        assert!(!ready.is_error());
        noting.note(5);
        let this = hub.current().unwrap();
        assert!(hub.remove(this));
    });
    watching.map_err(drop).unwrap();
    hub
}

/// What the other hub does when it runs until it returns.
fn assert_as_ever(mut hub: Hub, notes: &Notes<u32>) {
    assert!(hub.current().is_none() && hub.current_timer().is_none());
    hub.stop();
    hub.run().unwrap();
    assert!(!hub.is_stopped(), "it counts no turn under way");
    hub.run().unwrap();
    let mut noted = notes.taken();
    noted.sort_unstable();
    assert_eq!(noted, [2, 3, 4, 5]);
}

#[test]
fn a_hub_may_be_replaced_by_any_of_its_handlers() {
    for who in 0..5 {
        for panics in [false, true] {
            guarded(move || {
                let notes = Notes::new();
                let mut hub = Hub::new().unwrap();
                let making = notes.clone();
                let mut made = Some(move || other(&making));
                let mut replaces = move |hub: &mut Hub| {
                    *hub = made.take().expect("called once")();
                    assert!(!panics, "as the test wants it");
                };
                let (mut near, far) = pair();
                let (mut sender, receiver) = spsc::unbounded();
                match who {
                    0 => drop(hub.handle().post(replaces)),
                    1 => drop(hub.every(Duration::from_nanos(1), replaces)),
                    2 => {
                        // The others go with the hub.
                        (0..3).for_each(|message| sender.send(message).unwrap());
                        hub.receive(receiver, move |hub, _: Result<u32, _>| replaces(hub)).unwrap();
                    }
                    3 => {
                        std::io::Write::write_all(&mut near, b"1").unwrap();
                        hub.watch(far, Interest::READABLE, move |hub, _, _| replaces(hub)).map_err(drop).unwrap();
                    }
                    _ => {
                        // In its last call, for it has closed the descriptor that is watched.
                        std::io::Write::write_all(&mut near, b"1").unwrap();
                        let watching = hub.watch(far, Interest::READABLE, move |hub, far, ready| {
                            if ready.is_readable() { *far = pair().0 } else { replaces(hub) }
                        });
                        watching.map_err(drop).unwrap();
                    }
                }
                let ended = catch_unwind(AssertUnwindSafe(|| hub.run_once(None)));
                assert_eq!(ended.is_err(), panics);
                assert_as_ever(hub, &notes);
            });
        }
    }
}

/// There the key is that of a descriptor which has been closed, and that hub has not found out.
#[test]
fn a_hub_in_the_place_of_another_is_asked_for_none_of_its_descriptors() {
    let (mut hub, notes) = (Hub::new().unwrap(), Notes::new());
    let (mut other, noted) = (Hub::new().unwrap(), notes.clone());
    let ((_first, first_far), (_second, second_far)) = (pair(), pair());
    let source =
        other.watch(first_far, Interest::READABLE, move |_, _, ready| noted.note(ready.is_error())).map_err(drop);
    *other.source_mut::<UnixStream>(source.unwrap()).unwrap() = second_far;
    let ((mut near, far), mut other) = (pair(), Some(other));
    std::io::Write::write_all(&mut near, b"1").unwrap();
    let watching = hub.watch(far, Interest::READABLE, move |hub, _, _| *hub = other.take().expect("called once"));
    watching.map_err(drop).unwrap();
    assert_eq!((hub.run_once(Duration::ZERO).unwrap(), notes.len()), (1, 0));
}
