//! Numbers of descriptors are reused: each handler hears of its own source alone.

use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use ysuite::hub::{Hub, Interest};

use crate::hub::Notes;
use crate::hub::descriptors::pair;
use crate::hub::hosting::{readable, rest};
use crate::support::calls;
use crate::support::process::alone;

/// Claim: Descriptor numbers, slots and keys of the hub are reused, and no handler is called for another source.
/// Also: suite hub::receivers::receivers_come_and_go_by_the_thousand.
#[test]
fn a_number_that_has_a_new_owner_has_a_new_handler() {
    if !alone("hub::numbers::a_number_that_has_a_new_owner_has_a_new_handler") {
        return;
    }
    let mut hub = Hub::new().unwrap();
    let ((mut near, far), notes) = (pair(), Notes::new());
    let (old, new) = (notes.clone(), notes.clone());
    near.write_all(b"x").unwrap();
    let source = hub
        .watch(far, Interest::READABLE, move |hub, far, ready| {
            old.note(("old", ready.is_readable(), ready.is_error()));
            if !ready.is_readable() {
                return;
            }
            // Its source is another one from now on, and a second one gets the number that is free.
            let number = far.as_raw_fd();
            let (other, mut second_near) = pair();
            *far = other;
            let second = far.try_clone().unwrap();
            assert_eq!(second.as_raw_fd(), number);
            let new = new.clone();
            hub.watch(second, Interest::READABLE, move |_, second, _| {
                second.read_exact(&mut [0]).unwrap();
                new.note(("new", true, false));
            })
            .unwrap();
            second_near.write_all(b"y").unwrap();
            std::mem::forget(second_near);
        })
        .unwrap();
    for _ in 0..5 {
        hub.run_once(Duration::ZERO).unwrap();
    }
    assert_eq!(notes.taken(), [("old", true, false), ("old", false, true), ("new", true, false)]);
    assert!(!hub.remove(source) && !hub.set_interest(source, Interest::WRITABLE).unwrap());
    drop(near);
}

#[test]
fn a_source_that_another_handler_replaces_goes_with_a_last_call() {
    if !alone("hub::numbers::a_source_that_another_handler_replaces_goes_with_a_last_call") {
        return;
    }
    let mut hub = Hub::new().unwrap();
    let ((_near, far), notes) = (pair(), Notes::new());
    let number = far.as_raw_fd();
    let noted = notes.clone();
    let source = hub
        .watch(far, Interest::READABLE, move |_, _, ready| noted.note(("old", ready.is_readable(), ready.is_error())))
        .unwrap();
    rest(&mut hub);
    let (other, mut other_near) = pair();
    *hub.source_mut::<UnixStream>(source).unwrap() = other;
    let (second, mut second_near) = pair();
    assert_eq!(second.as_raw_fd(), number);
    let noted = notes.clone();
    let new = hub
        .watch(second, Interest::READABLE, move |_, second, _| {
            second.read_exact(&mut [0]).unwrap();
            noted.note(("new", true, false));
        })
        .unwrap();
    assert!(readable(&hub, Some(Duration::ZERO)), "a loop that hosts the hub is notified of the last call");
    assert!(!hub.set_interest(source, Interest::WRITABLE).unwrap(), "it must not touch the new one");
    other_near.write_all(b"x").unwrap();
    second_near.write_all(b"yy").unwrap();
    for _ in 0..5 {
        hub.run_once(Duration::ZERO).unwrap();
    }
    let mut heard = notes.taken();
    heard.sort_unstable();
    assert_eq!(heard, [("new", true, false), ("new", true, false), ("old", false, true)]);
    assert!(!hub.remove(source));
    assert!(hub.take::<UnixStream>(new).is_some());
}

#[test]
fn a_source_replaced_before_a_turn_within_has_its_last_call_behind_that() {
    if !alone("hub::numbers::a_source_replaced_before_a_turn_within_has_its_last_call_behind_that") {
        return;
    }
    let mut hub = Hub::new().unwrap();
    let ((mut near, far), notes) = (pair(), Notes::new());
    let noted = notes.clone();
    near.write_all(b"x").unwrap();
    hub.watch(far, Interest::READABLE, move |hub, far, ready| {
        noted.note((ready.is_readable(), ready.is_error()));
        if !ready.is_readable() {
            return;
        }
        let number = far.as_raw_fd();
        let (other, second_near) = pair();
        *far = other;
        let second = far.try_clone().unwrap();
        assert_eq!(second.as_raw_fd(), number);
        hub.watch(second, Interest::READABLE, |_, _, _| panic!("nothing has come")).unwrap();
        std::mem::forget(second_near);
        // It is reported, and running.
        assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 0);
    })
    .unwrap();
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 2);
    assert_eq!(notes.taken(), [(true, false), (false, true)]);
}

#[test]
fn a_stale_event_of_a_reused_number_calls_no_handler() {
    if !alone("hub::numbers::a_stale_event_of_a_reused_number_calls_no_handler") {
        return;
    }
    let (mut hub, notes) = (Hub::new().unwrap(), Notes::new());
    let (mut watched, mut peers) = (Vec::new(), Vec::new());
    for who in 0..2 {
        let ((mut near, far), noted) = (pair(), notes.clone());
        near.write_all(b"x").unwrap();
        peers.push(near);
        let number = far.as_raw_fd();
        let source = hub.watch(far, Interest::READABLE, move |hub, far, ready| {
            noted.note((who, ready.is_readable(), ready.is_error()));
            if ready.is_readable() {
                far.read_exact(&mut [0]).unwrap();
            }
            hub.stop();
        });
        watched.push((source.unwrap(), number));
    }
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 1);
    // The other has been reported as well, and waits for its turn.
    let waiting = 1 - notes.taken()[0].0;
    let (source, number) = watched[waiting];
    let (other, _other_near) = pair();
    *hub.source_mut::<UnixStream>(source).unwrap() = other;
    let (second, _second_near) = pair();
    assert_eq!(second.as_raw_fd(), number);
    hub.watch(second, Interest::READABLE, |_, _, _| panic!("nothing has come")).unwrap();
    while hub.run_once(Duration::ZERO).unwrap() != 0 {}
    assert_eq!(notes.taken(), [(waiting, false, true)]);
}

#[test]
fn what_a_duplicate_keeps_in_the_poller_calls_no_handler() {
    let mut hub = Hub::new().unwrap();
    let (mut near, far) = pair();
    let _duplicate = far.try_clone().unwrap();
    let source = hub.watch(far, Interest::READABLE, |_, _, _| panic!("it is gone")).unwrap();
    // Closed without the hub: the duplicate keeps it in the poller, where it has no number by which to remove it.
    let (other, _other_near) = pair();
    *hub.source_mut::<UnixStream>(source).unwrap() = other;
    assert!(hub.remove(source));
    let (_new_near, new) = pair();
    hub.watch(new, Interest::READABLE, |_, _, _| panic!("nothing has come")).unwrap();
    near.write_all(b"x").unwrap();
    for _ in 0..3 {
        assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 0);
    }
}

#[test]
fn what_is_taken_or_removed_can_be_watched_again() {
    let mut hub = Hub::new().unwrap();
    let ((mut near, mut far), notes) = (pair(), Notes::new());
    near.write_all(b"x").unwrap();
    for round in 0..3 {
        let noted = notes.clone();
        let source = hub.watch(far, Interest::READABLE, move |_, _, _| noted.note(round)).unwrap();
        assert_eq!(hub.run_once(None).unwrap(), 1);
        far = hub.take(source).unwrap();
        assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 0, "out of the poller, though open");
    }
    // The same from inside its handler, where it stays open under another number.
    let duplicate = far.try_clone().unwrap();
    let source = hub
        .watch(far, Interest::READABLE, |hub, _, _| {
            let this = hub.current().unwrap();
            assert!(hub.remove(this));
        })
        .unwrap();
    let before = calls();
    assert_eq!(hub.run_once(None).unwrap(), 1);
    assert!(!hub.remove(source));
    assert_eq!(calls() - before, 2, "asked, and taken out: once, and not registered anew");
    hub.watch(duplicate, Interest::READABLE, |_, _, _| {}).unwrap();
    assert_eq!(hub.run_once(None).unwrap(), 1);
    hub.run_once(Duration::ZERO).unwrap();
}
