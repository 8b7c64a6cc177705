//! Attached receivers in a real event loop: the descriptor says what the set says, on both backends.

use std::os::fd::{AsFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

use super::descriptors::Pair;
use super::*;
use crate::support::process::{alone, descriptors};

fn watching(set: &impl AsFd, how: EventFlags) -> OwnedFd {
    let epoll = epoll::create(CreateFlags::CLOEXEC).unwrap();
    epoll::add(&epoll, set, EventData::new_u64(1), EventFlags::IN | how).unwrap();
    epoll
}

/// Whether the descriptor is readable; waits for it for ever if asked to.
fn readable(epoll: &OwnedFd, block: bool) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut events = Vec::<Event>::with_capacity(4);
    epoll::wait(epoll, spare_capacity(&mut events), if block { None } else { Some(&now) }).unwrap();
    !events.is_empty()
}

fn readable_exactly_while_messages_may_be_there<const EVENTFD: bool>() {
    let (mut set, mut sender, mut receiver) = attached::<Pair<EVENTFD>>(200 % 64);
    let epoll = watching(&set, EventFlags::empty());
    for round in 0..50 {
        assert!(readable(&epoll, false), "at first, and with messages, in round {round}");
        while receiver.try_recv().is_ok() {
            assert!(readable(&epoll, false));
        }
        assert!(!readable(&epoll, false), "in round {round}");
        (0..=round).for_each(|message| sender.send(message).unwrap());
        assert!(readable(&epoll, true));
        // Looking does not make it unreadable.
        assert!(!set.check().is_empty() && readable(&epoll, false));
    }
    drop(receiver);
    assert!(set.check().is_empty() && !readable(&epoll, false));
}

#[test]
fn eventfd_is_readable_exactly_while_messages_may_be_there() {
    readable_exactly_while_messages_may_be_there::<true>();
}

#[test]
fn socketpair_is_readable_exactly_while_messages_may_be_there() {
    readable_exactly_while_messages_may_be_there::<false>();
}

fn streams_arrive<const EVENTFD: bool>(how: EventFlags) {
    guarded(move || {
        const MESSAGES: usize = 20_000;
        let mut set = Pair::<EVENTFD>::with(256);
        let epoll = watching(&set, how);
        let mut receivers = Vec::new();
        let mut senders = Vec::new();
        for id in [3, 255] {
            let (sender, mut receiver) = spsc::unbounded();
            set.attach(&mut receiver, id).unwrap();
            receivers.push((id, receiver, 0));
            senders.push(stream(sender, MESSAGES, id as u64));
        }
        while receivers.iter().any(|(.., received)| *received < MESSAGES) {
            readable(&epoll, true);
            // An edge comes only after the set was found empty, as data on a socket does after EAGAIN.
            loop {
                let signals = set.check();
                if signals.is_empty() {
                    break;
                }
                for id in signals {
                    let (_, receiver, received) = receivers.iter_mut().find(|(of, ..)| *of == id).unwrap();
                    for message in receiver.try_iter() {
                        assert_eq!(message, *received);
                        *received += 1;
                    }
                }
                if receivers.iter().all(|(.., received)| *received == MESSAGES) {
                    break;
                }
            }
        }
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

#[test]
fn streams_arrive_through_an_eventfd() {
    streams_arrive::<true>(EventFlags::empty());
}

#[test]
fn streams_arrive_through_a_socketpair() {
    streams_arrive::<false>(EventFlags::empty());
}

#[test]
fn streams_arrive_edge_triggered_through_an_eventfd_that_is_read_until_empty() {
    streams_arrive::<true>(EventFlags::ET);
}

#[test]
fn streams_arrive_edge_triggered_through_a_socketpair_that_is_read_until_empty() {
    streams_arrive::<false>(EventFlags::ET);
}

#[test]
fn descriptors_are_closed_with_the_last_end() {
    if !alone("attached::through_epoll::descriptors_are_closed_with_the_last_end") {
        return;
    }
    let before = descriptors();
    for sender_first in [false, true] {
        let (set, sender, receiver) = attached::<Pair<false>>(1);
        assert_eq!(descriptors(), before + 2);
        drop(set);
        if sender_first {
            drop(sender);
            drop(receiver);
        } else {
            drop(receiver);
            drop(sender);
        }
        assert_eq!(descriptors(), before);
    }
}
