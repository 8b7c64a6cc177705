//! The suite of attached receivers in sets that have a descriptor, on Linux: the descriptor says what the set says.

use std::thread::{self, JoinHandle};

use rustix::event::epoll::EventFlags;
use ysuite::signal::{AttachError, Signal, SignalSet, Wait};

use super::{Arrivals, Ends, assert_up, attached, send, stream, take};
use crate::conformance::descriptor::{DescriptorKind, Watch, rings};
use crate::support::guarded;

pub(crate) fn readable_exactly_while_a_message_may_be_there<K: DescriptorKind<Set: SignalSet>, R: Ends>(
    kind: K,
    ends: R,
) {
    let mut set = kind.set();
    let watch = Watch::new(&set, EventFlags::empty());
    let (mut to_left, mut left) = attached(ends, &mut set, 4);
    let (mut to_right, mut right) = attached(ends, &mut set, kind.capacity() - 1);
    assert!(watch.readable());
    assert_eq!(take::<R>(&mut left), None);
    assert!(watch.readable());
    assert_eq!(take::<R>(&mut right), None);
    // Without a poll of the set: an event loop that knows its receivers needs none.
    assert!(!watch.readable());
    for messages in 1..50 {
        (0..messages).for_each(|number| send::<R>(&mut to_left, number));
        for expected in 0..messages {
            watch.block();
            // Polling does not make it unreadable.
            assert_up(&mut set, &[4]);
            assert!(watch.readable());
            assert_eq!(take::<R>(&mut left), Some(expected));
        }
        assert!(watch.readable(), "the receiver does not know yet that it is empty");
        assert_eq!(take::<R>(&mut left), None);
        assert!(!watch.readable());
    }
    send::<R>(&mut to_left, 0);
    send::<R>(&mut to_right, 0);
    assert_eq!((take::<R>(&mut left), take::<R>(&mut left)), (Some(0), None));
    assert!(watch.readable());
    drop(right);
    assert!(!watch.readable(), "a receiver that is gone keeps the descriptor readable");
    assert_up(&mut set, &[]);
}

pub(crate) fn readable_still_behind_a_refusal<K: DescriptorKind<Set: SignalSet>, R: Ends>(kind: K, ends: R) {
    let (mut set, signaler) = kind.pair();
    let watch = Watch::new(&set, EventFlags::empty());
    let (_sender, mut receiver) = attached(ends, &mut set, 4);
    assert_eq!(take::<R>(&mut receiver), None);
    assert!(!watch.readable());
    signaler.signal(5);
    assert_eq!(set.attach(&mut receiver, 5), Err(AttachError::AlreadyAttached));
    assert!(watch.readable());
    assert_up(&mut set, &[5]);
    assert!(!watch.readable());
}

fn streams_arrive<K: DescriptorKind<Set: SignalSet>, R: Ends>(kind: K, ends: R, flags: EventFlags) {
    guarded(move || {
        const EACH: usize = 10_000;
        let mut set = kind.set();
        let watch = Watch::new(&set, flags);
        let mut threads = Vec::new();
        let mut receivers = [3, kind.capacity() - 1].map(|id| {
            let (sender, receiver) = attached(ends, &mut set, id);
            let streams = stream::<R>(sender, EACH, id, true);
            let arrivals = Arrivals::of(streams.len(), EACH, true);
            threads.extend(streams);
            (id, receiver, arrivals)
        });
        let are_whole = |receivers: &[(usize, R::Receiver, Arrivals)]| receivers.iter().all(|(.., a)| a.is_whole());
        while !are_whole(&receivers) {
            watch.block();
            // An edge comes only after the set was found empty, as data on a socket does after EAGAIN.
            loop {
                let signals = set.check();
                if signals.is_empty() || are_whole(&receivers) {
                    break;
                }
                for id in signals {
                    let (_, receiver, arrivals) = receivers.iter_mut().find(|(of, ..)| *of == id).expect("attached");
                    while let Ok((number, _)) = R::try_recv(receiver) {
                        arrivals.note(number);
                    }
                }
            }
        }
        threads.into_iter().for_each(|thread| drop(thread.join().unwrap()));
    });
}

pub(crate) fn streams_arrive_level_triggered<K: DescriptorKind<Set: SignalSet>, R: Ends>(kind: K, ends: R) {
    streams_arrive(kind, ends, EventFlags::empty());
}

pub(crate) fn streams_arrive_edge_triggered_where_the_set_is_read_until_empty<K, R: Ends>(kind: K, ends: R)
where
    K: DescriptorKind<Set: SignalSet>,
{
    streams_arrive(kind, ends, EventFlags::ET);
}

pub(crate) fn receivers_in_other_threads_silence_the_descriptor<K: DescriptorKind<Set: SignalSet>, R: Ends>(
    kind: K,
    ends: R,
) {
    guarded(move || {
        const EACH: usize = 3_000;
        let mut set = kind.set();
        let watch = Watch::new(&set, EventFlags::empty());
        let (mut senders, mut receivers) = (Vec::new(), Vec::new());
        for id in 0..3 {
            let (sender, mut receiver) = attached(ends, &mut set, id);
            let streams = stream::<R>(sender, EACH, id, true);
            let mut arrivals = Arrivals::of(streams.len(), EACH, true);
            senders.extend(streams);
            receivers.push(thread::spawn(move || {
                while !arrivals.is_whole() {
                    match take::<R>(&mut receiver) {
                        Some(number) => arrivals.note(number),
                        None => thread::yield_now(),
                    }
                }
                receiver
            }));
        }
        // All are kept until the end: dropping them would silence the descriptor too, and the point is that being empty has.
        let _senders: Vec<_> = senders.into_iter().map(|thread| thread.join().unwrap()).collect();
        let find_empty = |receiver: JoinHandle<R::Receiver>| {
            let mut receiver = receiver.join().unwrap();
            // Once more: a mailbox is notified when a thread exits that has sent to it.
            thread::spawn(move || (take::<R>(&mut receiver), receiver)).join().unwrap()
        };
        let found: Vec<_> = receivers.into_iter().map(find_empty).collect();
        assert!(found.iter().all(|(message, _)| message.is_none()));
        // At the latest after one poll: a ring may have been announced before it was written.
        assert_up(&mut set, &[]);
        assert!(!watch.readable());
        assert_eq!(rings(std::os::fd::AsFd::as_fd(&set)), 0);
    });
}
