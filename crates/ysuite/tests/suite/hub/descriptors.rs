//! Descriptors and their handlers: real sockets.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use ysuite::hub::{Hub, Interest, Source, TURN};
use ysuite::spsc;

use crate::hub::Notes;
use crate::hub::hosting::{readable, rest};
use crate::support::process::alone;
use crate::support::{calls, guarded};

/// Two connected sockets that do not block.
pub(crate) fn pair() -> (UnixStream, UnixStream) {
    let (one, other) = UnixStream::pair().unwrap();
    one.set_nonblocking(true).unwrap();
    other.set_nonblocking(true).unwrap();
    (one, other)
}

/// Waits until nobody has the other one any more: a child that another test has forked has it too, until it ends.
pub(crate) fn is_left_alone(one: &UnixStream) -> bool {
    let mut one = one.try_clone().unwrap();
    guarded(move || {
        while one.write(b"x").map_err(|error| error.kind()) != Err(ErrorKind::BrokenPipe) {
            thread::yield_now();
        }
    });
    true
}

/// Claim: The hub reports a descriptor as long as it is ready (level-triggered).
#[test]
fn a_descriptor_is_level_triggered() {
    let mut hub = Hub::new().unwrap();
    let (mut near, far) = pair();
    let notes = Notes::new();
    let noted = notes.clone();
    hub.watch(far, Interest::READABLE, move |_, socket, ready| {
        assert!(ready.is_readable() && !ready.is_writable() && !ready.is_error());
        let mut byte = [0];
        noted.note(socket.read(&mut byte).map(|_| byte[0]).unwrap());
    })
    .unwrap();
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 0);
    near.write_all(b"abc").unwrap();
    // One byte of it in each call; what is left calls again.
    for expected in [1, 2, 3] {
        assert_eq!(hub.run_once(None).unwrap(), 1);
        assert_eq!(notes.len(), expected);
    }
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 0);
    assert_eq!(notes.taken(), *b"abc");
    drop(near);
    // The end of it can be read for ever.
    (0..3).for_each(|_| assert_eq!(hub.run_once(None).unwrap(), 1));
    assert_eq!(notes.taken(), [0, 0, 0]);
}

#[test]
fn to_watch_a_descriptor_is_a_system_call_and_to_remove_it_is_another() {
    let (mut hub, (_near, far)) = (Hub::new().unwrap(), pair());
    let before = calls();
    let source = hub.watch(far, Interest::READABLE, |_, _, _| {}).unwrap();
    assert_eq!(calls() - before, 1);
    assert!(hub.remove(source));
    assert_eq!(calls() - before, 2);
}

#[test]
fn interest_may_change_inside_the_handler_and_outside() {
    let mut hub = Hub::new().unwrap();
    let (mut near, far) = pair();
    let notes = Notes::new();
    let noted = notes.clone();
    let source = hub
        .watch(far, Interest::READABLE | Interest::WRITABLE, move |hub, _, ready| {
            noted.note((ready.is_readable(), ready.is_writable()));
            if ready.is_writable() {
                let source = hub.current().unwrap();
                assert!(hub.set_interest(source, Interest::READABLE).unwrap());
                assert!(hub.source_mut::<UnixStream>(source).is_none(), "its handler is running");
            }
        })
        .unwrap();
    assert_eq!(hub.run_once(None).unwrap(), 1);
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 0);
    near.write_all(b"x").unwrap();
    assert_eq!(hub.run_once(None).unwrap(), 1);
    hub.source_mut::<UnixStream>(source).unwrap().read_exact(&mut [0]).unwrap();
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 0);
    assert!(hub.set_interest(source, Interest::WRITABLE).unwrap());
    assert_eq!(hub.run_once(None).unwrap(), 1);
    assert_eq!(notes.taken(), [(false, true), (true, false), (false, true)]);
    assert!(hub.source_mut::<u8>(source).is_none() && hub.take::<u8>(source).is_none(), "of another type");
    let mut far = hub.take::<UnixStream>(source).unwrap();
    assert!(!hub.set_interest(source, Interest::READABLE).unwrap());
    far.write_all(b"y").unwrap();
    near.read_exact(&mut [0]).unwrap();
}

#[test]
fn handlers_remove_themselves_and_others_of_the_same_batch() {
    for victim in 0..2 {
        let mut hub = Hub::new().unwrap();
        let sources = Arc::new(Mutex::new(Vec::<Source>::new()));
        let (notes, mut near) = (Notes::new(), Vec::new());
        for number in 0..2 {
            let (mut one, other) = pair();
            one.write_all(b"x").unwrap();
            near.push(one);
            let (all, notes) = (sources.clone(), notes.clone());
            let source = hub.watch(other, Interest::READABLE, move |hub, _, _| {
                notes.note(number);
                let source = all.lock().unwrap()[if victim == 0 { number } else { 1 - number }];
                if notes.len() == 1 {
                    assert!(hub.remove(source) && !hub.remove(source));
                    // In its place, if it has one already: not to be taken for it.
                    let (one, other) = pair();
                    let added = hub.watch(other, Interest::READABLE, |_, _, _| panic!("nothing has come")).unwrap();
                    assert_ne!(added, source);
                    std::mem::forget(one);
                }
            });
            sources.lock().unwrap().push(source.unwrap());
        }
        for _ in 0..3 {
            hub.run_once(Duration::ZERO).unwrap();
        }
        let notes = notes.taken();
        let gone = if victim == 0 { notes[0] } else { 1 - notes[0] };
        assert_eq!(notes.iter().filter(|number| **number == gone).count(), usize::from(victim == 0));
        assert!(notes.iter().filter(|number| **number != gone).count() >= 2, "level-triggered");
        assert!(is_left_alone(&near[gone]));
    }
}

/// Claim: No function, message, timer or descriptor waits longer than one turn for the others.
/// Also: suite hub::receivers::a_flood_of_messages_leaves_turns_to_others,
/// suite hub::timers::a_flood_of_timers_leaves_turns_to_others.
#[test]
fn everything_is_served_beside_a_stream_of_functions() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let handle = hub.handle();
        let (mut near, far) = pair();
        let (mut sender, receiver) = spsc::unbounded();
        let notes = Notes::new();
        let (socket, channel, timer) = (notes.clone(), notes.clone(), notes.clone());
        hub.watch(far, Interest::READABLE, move |_, far, _| {
            if far.read(&mut [0; 8]).is_ok_and(|read| read > 0) {
                socket.note("socket");
            }
        })
        .unwrap();
        hub.receive(receiver, move |_, message: Result<(), _>| message.iter().for_each(|()| channel.note("channel")))
            .unwrap();
        for turn in 0..100 {
            (0..TURN + 1).for_each(|_| handle.post(|_| {}).unwrap());
            near.write_all(b"x").unwrap();
            sender.send(()).unwrap();
            let timer = timer.clone();
            hub.after(Duration::ZERO, move |_| timer.note("timer"));
            assert_eq!(hub.run_once(None).unwrap(), TURN + 3, "in turn {turn}");
            let mut served = notes.taken();
            served.sort_unstable();
            assert_eq!(served, ["channel", "socket", "timer"]);
        }
    });
}

#[test]
fn a_handler_that_panics_takes_its_descriptor_down_and_nothing_else() {
    let mut hub = Hub::new().unwrap();
    let ((mut bad, bad_far), (mut good, good_far)) = (pair(), pair());
    bad.write_all(b"x").unwrap();
    good.write_all(b"x").unwrap();
    let notes = Notes::new();
    let noted = notes.clone();
    let bad_source = hub.watch(bad_far, Interest::READABLE, |_, _, _| panic!("as the test wants it")).unwrap();
    hub.watch(good_far, Interest::READABLE, move |_, socket, _| {
        socket.read_exact(&mut [0]).unwrap();
        noted.note(());
    })
    .unwrap();
    let caught = (0..2).filter(|_| catch_unwind(AssertUnwindSafe(|| hub.run_once(Duration::ZERO))).is_err()).count();
    assert_eq!(caught, 1);
    assert_eq!(notes.len(), 1, "reported before the panic, and served after it");
    assert!(!hub.remove(bad_source));
    assert!(is_left_alone(&bad));
}

/// Claim: A hub that sleeps in its poller loses no wake-up of a real descriptor.
/// Also: suite hub::posting::many_threads_post_to_a_hub_that_sleeps_in_between,
/// suite hub::idle::waking_costs_each_side_what_it_must.
#[test]
fn echoes_between_threads() {
    guarded(|| {
        const CLIENTS: usize = 20;
        let mut hub = Hub::new().unwrap();
        let mut threads = Vec::new();
        for client in 0..CLIENTS {
            let (near, far) = UnixStream::pair().unwrap();
            far.set_nonblocking(true).unwrap();
            hub.watch(far, Interest::READABLE, move |hub, socket, _| {
                let mut bytes = [0; 3];
                match socket.read(&mut bytes) {
                    Ok(0) => assert!(hub.current().is_some_and(|this| hub.remove(this))),
                    Ok(read) => socket.write_all(&bytes[..read]).unwrap(),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
                }
            })
            .unwrap();
            threads.push(thread::spawn(move || {
                let mut near = near;
                for round in 0..50u8 {
                    let said = [round, client as u8, 3, 4, 5];
                    let mut heard = [0; 5];
                    near.write_all(&said).unwrap();
                    near.read_exact(&mut heard).unwrap();
                    assert_eq!(said, heard);
                }
            }));
        }
        hub.run().unwrap();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn an_error_is_news_of_what_a_descriptor_is_watched_for() {
    let mut hub = Hub::new().unwrap();
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    let notes = Notes::new();
    let noted = notes.clone();
    // A pipe without a reader has failed, and reports nothing else to a watcher for something to read.
    hub.watch(writer, Interest::READABLE, move |hub, _, ready| {
        noted.note((ready.is_readable(), ready.is_writable(), ready.is_error()));
        let this = hub.current().unwrap();
        hub.remove(this);
    })
    .unwrap();
    drop(reader);
    assert_eq!(hub.run_once(None).unwrap(), 1);
    assert_eq!(notes.taken(), [(true, false, true)]);
}

#[test]
fn the_end_of_a_pipe_notifies_its_reader() {
    let (mut hub, notes) = (Hub::new().unwrap(), Notes::new());
    let ((reader, writer), noted) = (rustix::pipe::pipe().unwrap(), notes.clone());
    hub.watch(reader, Interest::READABLE, move |hub, _, ready| {
        noted.note((ready.is_readable(), ready.is_writable(), ready.is_error()));
        let this = hub.current().unwrap();
        hub.remove(this);
    })
    .unwrap();
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 0);
    // It is at its end without ever having had anything to read.
    drop(writer);
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 1);
    assert_eq!(notes.taken(), [(true, false, false)]);
}

#[test]
fn a_full_socket_that_is_shut_down_notifies_its_writer() {
    let (mut hub, notes) = (Hub::new().unwrap(), Notes::new());
    let ((_near, mut far), noted) = (pair(), notes.clone());
    // Until there is no room.
    while far.write(&[0; 4_096]).is_ok() {}
    let source = hub
        .watch(far, Interest::WRITABLE, move |hub, _, ready| {
            noted.note((ready.is_readable(), ready.is_writable()));
            let this = hub.current().unwrap();
            hub.remove(this);
        })
        .unwrap();
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 0);
    // There is still none, and there will be none.
    hub.source_mut::<UnixStream>(source).unwrap().shutdown(Shutdown::Both).unwrap();
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 1);
    assert_eq!(notes.taken(), [(false, true)]);
}

#[test]
fn what_a_descriptor_is_no_longer_watched_for_is_not_told() {
    let mut hub = Hub::new().unwrap();
    let ((near, far), (mut other_near, other), notes) = (pair(), pair(), Notes::new());
    let noted = notes.clone();
    // Notified of both, the hub is stopped after the first.
    other_near.write_all(b"x").unwrap();
    let sources = Arc::new(Mutex::new(Vec::<Source>::new()));
    let all = sources.clone();
    hub.watch(other, Interest::READABLE, move |hub, other, _| {
        other.read_exact(&mut [0]).unwrap();
        assert!(hub.set_interest(all.lock().unwrap()[0], Interest::READABLE).unwrap());
    })
    .unwrap();
    let source = hub.watch(far, Interest::WRITABLE, move |_, _, ready| noted.note(ready)).unwrap();
    sources.lock().unwrap().push(source);
    assert_eq!(hub.run_once(None).unwrap(), 1);
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 0);
    assert_eq!(notes.len(), 0, "it was reported, and not called before it was watched for something else");
    drop(near);
    assert_eq!(hub.run_once(None).unwrap(), 1);
    assert!(notes.taken()[0].is_readable());
}

/// Claim: A Unix signal handler does not end a wait.
/// Also: suite spsc::unbounded::a_spurious_futex_wake_is_harmless,
/// suite signal::semaphore::signal_handlers_do_not_end_a_poll.
#[test]
fn a_signal_handler_does_not_end_a_sleep() {
    guarded(|| {
        let interruptions = crate::support::interrupt::Interruptions::new();
        let mut hub = Hub::new().unwrap();
        let handle = hub.handle();
        let thread = thread::spawn(move || {
            let served = hub.run_once(None);
            (served.map_err(|error| error.kind()), hub)
        });
        while interruptions.count() == 0 {
            interruptions.pester(&thread, 20);
        }
        handle.post(|_| {}).unwrap();
        assert_eq!(thread.join().unwrap().0, Ok(1));
    });
}

#[test]
fn of_both_interests_what_is_there_is_told_and_a_handler_that_changes_them_costs_no_call_more() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        // The first time it polls before it sleeps it asks for the number of CPUs.
        while hub.run_once(Duration::from_millis(1)).unwrap() != 0 {}
        let ((mut near, mut far), notes) = (pair(), Notes::new());
        // Until there is no room.
        while far.write(&[0; 4_096]).is_ok() {}
        near.write_all(b"x").unwrap();
        let noted = notes.clone();
        hub.watch(far, Interest::READABLE | Interest::WRITABLE, move |hub, far, ready| {
            noted.note((ready.is_readable(), ready.is_writable()));
            far.read_exact(&mut [0]).unwrap();
            let this = hub.current().unwrap();
            assert!(hub.set_interest(this, Interest::READABLE).unwrap());
        })
        .unwrap();
        let before = calls();
        assert_eq!(hub.run_once(None).unwrap(), 1);
        assert_eq!(calls() - before, 2, "asked, and registered anew once");
        assert_eq!(notes.taken(), [(true, false)]);
    });
}

#[test]
fn a_descriptor_has_its_turn_beside_an_end_that_is_found_as_the_hub_comes_to_rest() {
    let mut hub = Hub::new().unwrap();
    let ((mut near, far), (sender, receiver), notes) = (pair(), spsc::unbounded::<u8>(), Notes::new());
    let (socket, channel) = (notes.clone(), notes.clone());
    hub.watch(far, Interest::READABLE, move |_, far, _| {
        far.read_exact(&mut [0]).unwrap();
        socket.note("socket");
    })
    .unwrap();
    hub.receive(receiver, move |_, message| channel.note(if message.is_ok() { "message" } else { "end" })).unwrap();
    near.write_all(b"x").unwrap();
    drop(sender);
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 2);
    assert_eq!(notes.taken(), ["end", "socket"]);
}

/// Claim: A source that is replaced by its handler, or whose descriptor is closed, gets a last call, also if the
/// descriptor is open elsewhere.
#[test]
fn a_source_that_is_replaced_while_its_descriptor_stays_open_elsewhere_is_removed() {
    guarded(|| {
        let (mut hub, notes) = (Hub::new().unwrap(), Notes::new());
        let ((mut near, far), (_other_near, other)) = (pair(), pair());
        let (far, other, noted) = (Arc::new(far), Arc::new(other), notes.clone());
        let (kept, weak) = (Arc::clone(&far), Arc::downgrade(&other));
        near.write_all(b"a").unwrap();
        hub.watch(far, Interest::READABLE, move |_, source, ready| {
            noted.note((ready.is_readable(), ready.is_error()));
            *source = Arc::clone(&other);
        })
        .unwrap();
        // To its end, for it is the only source.
        hub.run().unwrap();
        assert_eq!(notes.taken(), [(true, false), (false, true)]);
        assert!(weak.upgrade().is_none() && Arc::strong_count(&kept) == 1);
        // The descriptor can be watched again.
        let noted = notes.clone();
        hub.watch(kept, Interest::READABLE, move |_, _, ready| noted.note((ready.is_readable(), ready.is_error())))
            .unwrap();
        assert_eq!((hub.run_once(None).unwrap(), notes.taken()), (1, vec![(true, false)]));
    });
}

#[test]
fn a_change_of_interest_that_finds_the_descriptor_gone_is_its_end() {
    guarded(|| {
        let (mut hub, notes) = (Hub::new().unwrap(), Notes::new());
        let ((_near, far), (_other_near, other)) = (pair(), pair());
        let noted = notes.clone();
        let source = hub.watch(far, Interest::READABLE, move |_, _, ready| noted.note(ready.is_error())).unwrap();
        rest(&mut hub);
        *hub.source_mut::<UnixStream>(source).unwrap() = other;
        assert!(hub.set_interest(source, Interest::WRITABLE).is_err());
        assert!(hub.set_interest(source, Interest::READABLE).is_err());
        // A loop that hosts the hub is notified as well.
        assert!(readable(&hub, Some(Duration::ZERO)));
        hub.run().unwrap();
        assert_eq!((notes.taken(), hub.set_interest(source, Interest::WRITABLE).unwrap()), (vec![true], false));
    });
}

/// More than one call of the poller reports.
#[test]
fn hundreds_of_descriptors_are_served_whole() {
    const SOCKETS: usize = 300;
    // In a process of its own: they are many numbers, and more than some systems give without being asked.
    if !alone("hub::descriptors::hundreds_of_descriptors_are_served_whole") {
        return;
    }
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(1_024), ..limit }).unwrap();
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let sources = Arc::new(Mutex::new(Vec::<Source>::new()));
        let (notes, mut near) = (Notes::new(), Vec::new());
        for number in 0..SOCKETS {
            let (one, other) = pair();
            near.push(one);
            let (all, notes) = (sources.clone(), notes.clone());
            let source = hub.watch(other, Interest::READABLE, move |hub, socket, _| {
                let mut byte = [0];
                socket.read_exact(&mut byte).unwrap();
                notes.note((number, byte[0]));
                if byte[0] == b'r' && notes.len() == 100 {
                    // Most of them reported in the same call.
                    let all = all.lock().unwrap();
                    assert!((0..SOCKETS).step_by(3).filter(|at| *at != number).all(|at| hub.remove(all[at])));
                }
            });
            sources.lock().unwrap().push(source.unwrap());
        }
        let serve = |hub: &mut Hub| while hub.run_once(Duration::ZERO).unwrap() != 0 {};
        serve(&mut hub);
        for byte in [b'a', b'b'] {
            near.iter_mut().for_each(|socket| socket.write_all(&[byte, byte + 2]).unwrap());
            serve(&mut hub);
            let mut noted = notes.taken();
            noted.sort_unstable();
            let expected = (0..SOCKETS).flat_map(|number| [(number, byte), (number, byte + 2)]);
            assert!(noted.into_iter().eq(expected), "each is notified of each byte, once");
        }
        // Some of them, each by itself.
        for number in [0, 63, 64, 255, 256, 257, 299] {
            near[number].write_all(b"e").unwrap();
            assert_eq!(hub.run_once(None).unwrap(), 1);
            assert_eq!(notes.taken(), [(number, b'e')]);
        }
        near.iter_mut().for_each(|socket| socket.write_all(b"r").unwrap());
        serve(&mut hub);
        let noted: Vec<_> = notes.taken().into_iter().map(|(number, _)| number).collect();
        assert!(noted[100..].iter().all(|number| number % 3 != 0), "one was removed before its turn");
        // Those that are left were served, and are served on.
        let left: Vec<_> = (0..SOCKETS).filter(|&number| near[number].write_all(b"s").is_ok()).collect();
        assert!((200..=201).contains(&left.len()) && left.iter().all(|number| noted.contains(number)));
        serve(&mut hub);
        let mut noted: Vec<_> = notes.taken().into_iter().map(|(number, _)| number).collect();
        noted.sort_unstable();
        assert_eq!(noted, left);
    });
}
