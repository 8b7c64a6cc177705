//! The suite of every set with a descriptor, on Linux: what epoll sees of it, and how much is written to it. What attached
//! receivers do to it is in `attached/epoll.rs`.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::thread;
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ysuite::signal::{Signal, Wait};

use super::signal::{Kind, list};
use crate::support::{Random, calls, guarded};

/// A set with a descriptor.
pub(crate) trait DescriptorKind: Kind<Set: AsFd + AsRawFd> {}

impl<K: Kind<Set: AsFd + AsRawFd>> DescriptorKind for K {}

/// Makes one `#[test]` of every function of this suite, and of its half for attached receivers with an inbox, for the kind
/// given.
#[macro_export]
macro_rules! descriptor_suite {
    ($kind:expr) => {
        $crate::tests_of!(descriptor, $kind =>
            readable_exactly_while_something_is_up, edge_triggered_tells_of_every_new_signal,
            one_write_and_one_read_per_wake_up, the_descriptor_never_holds_two_rings, an_event_loop_misses_nothing,
            a_set_that_is_gone_stays_silent_in_epoll, poll_and_epoll_may_be_mixed, the_descriptor_is_ours_alone);
        $crate::attached_through_epoll_suite!($kind, $crate::conformance::attached::inbox::Inboxes);
    };
}

/// An epoll with one descriptor in it.
pub(crate) struct Watch(OwnedFd);

impl Watch {
    pub(crate) fn new(fd: impl AsFd, flags: EventFlags) -> Self {
        let epoll = epoll::create(CreateFlags::CLOEXEC).unwrap();
        epoll::add(&epoll, fd, EventData::new_u64(42), EventFlags::IN | flags).unwrap();
        Self(epoll)
    }

    fn wait(&self, timeout: Option<Duration>) -> bool {
        let timeout = timeout.map(|timeout| Timespec::try_from(timeout).unwrap());
        let mut events = Vec::with_capacity(4);
        loop {
            match epoll::wait(&self.0, rustix::buffer::spare_capacity(&mut events), timeout.as_ref()) {
                // The handlers of another test.
                Err(rustix::io::Errno::INTR) => {}
                result => {
                    result.unwrap();
                    break;
                }
            }
        }
        for event in &events {
            let (data, flags) = (event.data, event.flags);
            assert_eq!((data.u64(), flags), (42, EventFlags::IN));
        }
        events.len() == 1
    }

    pub(crate) fn readable(&self) -> bool {
        self.wait(Some(Duration::ZERO))
    }

    pub(crate) fn block(&self) {
        assert!(self.wait(None));
    }
}

/// How many rings are in the descriptor, without touching them.
pub(crate) fn rings(fd: BorrowedFd<'_>) -> u64 {
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", fd.as_raw_fd())).unwrap();
    match info.lines().find_map(|line| line.strip_prefix("eventfd-count:")) {
        // The kernel prints this counter in hexadecimal.
        Some(count) => u64::from_str_radix(count.trim(), 16).unwrap(),
        None => rustix::io::ioctl_fionread(fd).unwrap(),
    }
}

pub(crate) fn readable_exactly_while_something_is_up<K: DescriptorKind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    let watch = Watch::new(&set, EventFlags::empty());
    assert!(!watch.readable());
    for id in kind.corners() {
        signaler.signal(id);
        for _ in 0..3 {
            assert!(watch.readable());
            signaler.signal(id);
        }
        assert_eq!(list(set.check()), [id]);
        assert!(!watch.readable());
        assert!(set.check().is_empty());
        assert!(!watch.readable());
    }
    for look in [|set: &mut K::Set| set.wait(), |set: &mut K::Set| set.wait_timeout(Duration::MAX)] {
        signaler.signal(0);
        assert!(watch.readable());
        assert_eq!(list(look(&mut set)), [0]);
        assert!(!watch.readable());
    }
}

pub(crate) fn edge_triggered_tells_of_every_new_signal<K: DescriptorKind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    let watch = Watch::new(&set, EventFlags::ET);
    for id in kind.corners() {
        assert!(!watch.readable());
        signaler.signal(id);
        assert!(watch.readable());
        assert!(!watch.readable());
        assert_eq!(list(set.check()), [id]);
    }
}

/// Claim: A wake-up through a descriptor costs one write and one read.
pub(crate) fn one_write_and_one_read_per_wake_up<K: DescriptorKind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    for _ in 0..100 {
        let before = calls();
        signaler.signal(0);
        assert_eq!(calls() - before, 1);
        kind.corners().into_iter().for_each(|id| signaler.signal(id));
        assert_eq!(calls() - before, 1);
        assert_eq!(list(set.check()), kind.corners());
        assert_eq!(calls() - before, 2);
        assert!(set.check().is_empty());
        assert_eq!(calls() - before, 2);
    }
}

/// Claim: The descriptor holds at most one notification.
pub(crate) fn the_descriptor_never_holds_two_rings<K: DescriptorKind>(kind: K) {
    guarded(move || {
        let (mut set, signaler) = kind.pair();
        assert_eq!(rings(set.as_fd()), 0);
        let raisers: Vec<_> = (0..3)
            .map(|raiser| {
                let signaler = signaler.clone();
                thread::spawn(move || (0..50_000).for_each(|_| signaler.signal(raiser)))
            })
            .collect();
        let mut most = 0;
        while raisers.iter().any(|raiser| !raiser.is_finished()) {
            most = most.max(rings(set.as_fd()));
            set.check();
        }
        raisers.into_iter().for_each(|raiser| raiser.join().unwrap());
        assert!(most <= 1, "{most} rings at once");
        set.check();
        assert_eq!(rings(set.as_fd()), 0);
        for _ in 0..5 {
            signaler.signal(0);
        }
        assert_eq!(rings(set.as_fd()), 1);
    });
}

pub(crate) fn an_event_loop_misses_nothing<K: DescriptorKind>(kind: K) {
    guarded(move || {
        for flags in [EventFlags::empty(), EventFlags::ET] {
            let (mut set, signaler) = kind.pair();
            let watch = Watch::new(&set, flags);
            const ROUNDS: usize = 3_000;
            let ids: Vec<_> = (0..4).map(|raiser| raiser * (kind.capacity() / 4)).collect();
            let (told, answers): (Vec<_>, Vec<_>) = ids.iter().map(|_| std::sync::mpsc::channel()).unzip();
            let raisers: Vec<_> = ids
                .iter()
                .zip(answers)
                .map(|(&id, answer)| {
                    let signaler = signaler.clone();
                    thread::spawn(move || {
                        let mut random = Random::new(id as u64);
                        for _ in 0..ROUNDS {
                            random.pause();
                            signaler.signal(id);
                            // A signal that is lost is waited for in vain.
                            answer.recv().unwrap();
                        }
                    })
                })
                .collect();
            let mut seen = 0;
            while seen < ROUNDS * ids.len() {
                watch.block();
                loop {
                    let signals = set.check();
                    let nothing = signals.is_empty();
                    for id in signals {
                        seen += 1;
                        told[ids.iter().position(|&of| of == id).unwrap()].send(()).unwrap();
                    }
                    // An edge is reported once: poll until there is nothing. A level is reported again.
                    if nothing || !flags.contains(EventFlags::ET) {
                        break;
                    }
                }
            }
            raisers.into_iter().for_each(|raiser| raiser.join().unwrap());
            assert!(set.check().is_empty());
            assert!(!watch.readable());
        }
    });
}

/// Claim: An epoll entry that outlives its set through a duplicate reports nothing.
pub(crate) fn a_set_that_is_gone_stays_silent_in_epoll<K: DescriptorKind>(kind: K) {
    for up in [false, true] {
        let (set, signaler) = kind.pair();
        let watch = Watch::new(&set, EventFlags::empty());
        if up {
            signaler.signal(0);
            assert!(watch.readable());
        }
        // The signaler keeps the descriptor open, so the entry in the epoll lives on.
        drop(set);
        assert!(!watch.readable());
        signaler.signal(1);
        signaler.signal(0);
        assert!(!watch.readable());
    }
}

pub(crate) fn poll_and_epoll_may_be_mixed<K: DescriptorKind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    let watch = Watch::new(&set, EventFlags::empty());
    for id in kind.corners() {
        signaler.signal(id);
        let ready = poll(&mut [PollFd::new(&set, PollFlags::IN)], Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap();
        assert_eq!(ready, 1);
        assert!(watch.readable());
        assert_eq!(list(set.wait()), [id]);
        assert!(set.wait_timeout(Duration::from_nanos(1)).is_empty());
        assert!(!watch.readable());
    }
}

/// Claim: Descriptors are closed on exec.
pub(crate) fn the_descriptor_is_ours_alone<K: DescriptorKind>(kind: K) {
    let sets: Vec<_> = (0..4).map(|_| kind.set()).collect();
    let numbers: BTreeSet<_> = sets.iter().map(|set| set.as_raw_fd()).collect();
    assert_eq!(numbers.len(), sets.len());
    for set in &sets {
        assert_eq!(set.as_raw_fd(), set.as_fd().as_raw_fd());
        let flags = rustix::io::fcntl_getfd(set).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC), "a program started later inherits the descriptor");
    }
}
