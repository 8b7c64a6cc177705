//! The hub inside another event loop: its descriptor reports when there is something to dispatch.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ysuite::hub::{Hub, Interest, Ready, TURN};
use ysuite::spsc;

use crate::hub::Notes;
use crate::hub::descriptors::pair;
use crate::support::{Random, calls, guarded};

/// Waits for the hub's descriptor as a host would.
pub(crate) fn readable(hub: &Hub, timeout: Option<Duration>) -> bool {
    let timeout = timeout.map(|timeout| Timespec::try_from(timeout).unwrap());
    let fd = hub.as_fd();
    poll(&mut [PollFd::new(&fd, PollFlags::IN)], timeout.as_ref()).unwrap() != 0
}

/// Dispatches in vain until the hub's descriptor is not readable. It is at first: there may be something already.
pub(crate) fn rest(hub: &mut Hub) {
    while readable(hub, Some(Duration::ZERO)) {
        assert_eq!(hub.dispatch().unwrap(), 0);
    }
}

/// Claim: A hub inside another event loop is readable while there is something to do.
/// Also: stress hub::hosted_by_a_loop.
#[test]
fn the_descriptor_is_readable_while_there_is_something_to_do() {
    let mut hub = Hub::new().unwrap();
    let handle = hub.handle();
    rest(&mut hub);
    let (mut near, far) = pair();
    let (mut sender, receiver) = spsc::unbounded();
    let notes = Notes::new();
    let (socket, channel) = (notes.clone(), notes.clone());
    hub.watch(far, Interest::READABLE, move |_, far, _| {
        far.read_exact(&mut [0]).unwrap();
        socket.note("socket");
    })
    .unwrap();
    hub.receive(receiver, move |_, message: Result<usize, _>| message.iter().for_each(|_| channel.note("channel")))
        .unwrap();
    let settle = |hub: &mut Hub| {
        let mut done = 0;
        for _ in 0..100 {
            if !readable(hub, Some(Duration::ZERO)) {
                return done;
            }
            done += hub.dispatch().unwrap();
        }
        panic!("readable for ever");
    };
    assert_eq!(settle(&mut hub), 0);
    handle.post(|_| {}).unwrap();
    assert_eq!(settle(&mut hub), 1);
    // More than one turn has room for: it stays readable.
    (0..TURN * 3 + 5).for_each(|_| handle.post(|_| {}).unwrap());
    assert_eq!(settle(&mut hub), TURN * 3 + 5);
    sender.send_batch(0..TURN * 2 + 1).unwrap();
    assert_eq!(settle(&mut hub), TURN * 2 + 1);
    assert_eq!(notes.taken(), ["channel"; TURN * 2 + 1]);
    near.write_all(b"abc").unwrap();
    assert_eq!(settle(&mut hub), 3);
    assert_eq!(notes.taken(), ["socket"; 3]);
    // A stop ends the turn, and what is left stays visible.
    near.write_all(b"d").unwrap();
    handle.post(Hub::stop).unwrap();
    assert_eq!(hub.dispatch().unwrap(), 1);
    assert!(hub.is_stopped());
    assert_eq!(settle(&mut hub), 1);
}

#[test]
fn a_host_sleeps_no_longer_than_the_next_timer() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        assert_eq!(hub.timeout(), None);
        let notes = Notes::new();
        let noted = notes.clone();
        let start = Instant::now();
        hub.after(Duration::from_millis(3), move |_| noted.note(start.elapsed()));
        assert!(hub.timeout().unwrap() <= Duration::from_millis(3));
        while notes.len() == 0 {
            readable(&hub, hub.timeout());
            hub.dispatch().unwrap();
        }
        assert!(notes.taken()[0] >= Duration::from_millis(3));
        assert_eq!(hub.timeout(), None);
    });
}

#[test]
fn a_stream_through_a_host() {
    guarded(|| {
        const POSTS: usize = 10_000;
        let mut hub = Hub::new().unwrap();
        let (handle, notes) = (hub.handle(), Notes::new());
        let noted = notes.clone();
        let thread = thread::spawn(move || {
            let mut random = Random::new(9);
            for number in 0..POSTS {
                let noted = noted.clone();
                handle.post(move |_| noted.note(number)).unwrap();
                random.pause();
            }
            handle
        });
        while notes.len() < POSTS {
            readable(&hub, None);
            hub.dispatch().unwrap();
        }
        assert_eq!(notes.taken(), (0..POSTS).collect::<Vec<_>>());
        drop(thread.join().unwrap());
    });
}

/// Two sockets of a hub, with something to read for both; the first to be called stops the hub, having done as `first` says.
fn two(
    hub: &mut Hub,
    first: impl FnMut(&mut Hub, &mut UnixStream) + Send + Clone + 'static,
) -> (Notes<bool>, [UnixStream; 2]) {
    let notes = Notes::new();
    let near = [(); 2].map(|()| {
        let ((mut near, far), notes, mut first) = (pair(), notes.clone(), first.clone());
        hub.watch(far, Interest::READABLE, move |hub, far, ready| {
            notes.note(ready.is_readable());
            if notes.len() == 1 {
                far.read_exact(&mut [0]).unwrap();
                hub.stop();
                first(hub, far);
            } else if ready.is_readable() {
                far.read_exact(&mut [0]).unwrap();
            }
        })
        .unwrap();
        near.write_all(b"x").unwrap();
        near
    });
    (notes, near)
}

#[test]
fn what_a_stopped_turn_leaves_is_visible() {
    let mut hub = Hub::new().unwrap();
    let (notes, _near) = two(&mut hub, |_, _| {});
    assert_eq!(hub.dispatch().unwrap(), 1);
    // The poller has reported the other, and reports nothing twice.
    assert!(readable(&hub, Some(Duration::ZERO)));
    assert_eq!(hub.dispatch().unwrap(), 1);
    assert_eq!(notes.taken(), [true, true]);
    while readable(&hub, Some(Duration::ZERO)) {
        assert_eq!(hub.dispatch().unwrap(), 0);
    }
}

#[test]
fn a_source_closed_while_it_waits_for_its_turn_fails_alone() {
    let mut hub = Hub::new().unwrap();
    let sources = Notes::new();
    let all = sources.clone();
    let (notes, _near) = two(&mut hub, move |hub, _| {
        // The poller has reported it: closed without the hub.
        for source in all.taken() {
            if let Some(socket) = hub.source_mut::<UnixStream>(source) {
                *socket = pair().1;
            }
        }
    });
    let ended = Notes::new();
    let noted = ended.clone();
    let handler =
        move |_: &mut Hub, _: &mut UnixStream, ready: Ready| noted.note(ready.is_error() && !ready.is_writable());
    sources.note(hub.watch(pair().1, Interest::WRITABLE, handler).unwrap());
    assert_eq!(hub.dispatch().unwrap(), 1, "it does not fail");
    for _ in 0..3 {
        hub.dispatch().unwrap();
    }
    assert_eq!(notes.taken(), [true, true], "nor is the news of the others forgotten");
    assert_eq!(ended.taken().last(), Some(&true), "it is notified that it has been closed");
}

#[test]
fn a_dispatch_that_panics_leaves_what_there_is_visible() {
    let mut hub = Hub::new().unwrap();
    let (handle, (mut near, far)) = (hub.handle(), pair());
    hub.watch(far, Interest::READABLE, |_, _, _| panic!("as the test wants it")).unwrap();
    near.write_all(b"x").unwrap();
    (0..TURN + 5).for_each(|_| handle.post(|_| {}).unwrap());
    assert!(catch_unwind(AssertUnwindSafe(|| hub.dispatch())).is_err());
    // The poller was called, and reported the set as well.
    assert!(readable(&hub, Some(Duration::ZERO)));
    assert_eq!(hub.dispatch().unwrap(), 5);
}

/// Claim: A descriptor that is reported twice is served once.
#[test]
fn what_is_told_of_twice_is_served_once() {
    let mut hub = Hub::new().unwrap();
    let (notes, mut near) = two(&mut hub, |_, _| {});
    let handle = hub.handle();
    assert_eq!(hub.run_once(None).unwrap(), 1);
    near.iter_mut().for_each(|near| near.write_all(b"y").unwrap());
    // Both are reported, one of them again.
    handle.post(|_| {}).unwrap();
    let before = calls();
    assert_eq!(hub.run_once(None).unwrap(), 3);
    assert_eq!(calls() - before, 3, "asked, and each registered anew once");
    assert_eq!(notes.len(), 3);
}

#[test]
fn a_dispatch_in_vain_asks_the_poller_once_and_shows_what_is_left_once() {
    let mut hub = Hub::new().unwrap();
    assert_eq!(hub.dispatch().unwrap(), 0);
    while readable(&hub, Some(Duration::ZERO)) {
        assert_eq!(hub.dispatch().unwrap(), 0);
    }
    for _ in 0..3 {
        let before = calls();
        assert_eq!(hub.dispatch().unwrap(), 0);
        assert_eq!(calls() - before, 2);
    }
}

#[test]
fn a_turn_that_has_been_told_of_some_before_asks_for_the_others() {
    let mut hub = Hub::new().unwrap();
    let (notes, _near) = two(&mut hub, |_, _| {});
    assert_eq!(hub.run_once(None).unwrap(), 1);
    let ((mut near, far), noted) = (pair(), notes.clone());
    near.write_all(b"x").unwrap();
    hub.watch(far, Interest::READABLE, move |_, far, ready| {
        far.read_exact(&mut [0]).unwrap();
        noted.note(ready.is_readable());
    })
    .unwrap();
    assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 2, "the one that was left, and the new one");
    assert_eq!(notes.taken(), [true; 3]);
}
