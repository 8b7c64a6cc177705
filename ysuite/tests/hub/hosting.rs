//! The hub inside somebody else's loop: its descriptor says when there is something to dispatch.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ysuite::hub::{Hub, Interest, TURN};
use ysuite::spsc;

use crate::Notes;
use crate::descriptors::pair;
use crate::support::{Random, guarded};

/// Waits for the hub's descriptor as a host would.
fn readable(hub: &Hub, timeout: Option<Duration>) -> bool {
    let timeout = timeout.map(|timeout| Timespec::try_from(timeout).unwrap());
    let fd = hub.as_fd();
    poll(&mut [PollFd::new(&fd, PollFlags::IN)], timeout.as_ref()).unwrap() != 0
}

#[test]
fn the_descriptor_is_readable_while_there_is_something_to_do() {
    let mut hub = Hub::new().unwrap();
    let handle = hub.handle();
    // At first too: there may be something already.
    while readable(&hub, Some(Duration::ZERO)) {
        assert_eq!(hub.dispatch().unwrap(), 0);
    }
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
