//! A forked child drops what it has inherited, and its parent does not notice.
//!
//! Claim: A forked child that inherits descriptors and sleep flags does not disturb its parent.

use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ysuite::signal::{Signal, Wait, YSocketpair};
use ysuite::{mpsc, spsc};

use crate::support::process::forked_child_can;
use crate::support::{backends, guarded};

fn is_readable(set: &YSocketpair) -> bool {
    let none = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(&set.as_fd(), PollFlags::IN)], Some(&none)) == Ok(1)
}

/// A forked child drops its copy of this.
#[track_caller]
fn a_child_drops<T>(mine: &mut Option<T>) {
    // SAFETY: it frees memory, which the C library prepares for its forks, and locks and unwinds nothing else.
    assert!(unsafe { forked_child_can(|| mine.take().is_some()) });
    assert!(mine.is_some());
}

fn for_each_backend(test: impl Fn(YSocketpair) + Send + 'static) {
    guarded(move || {
        for backend in backends() {
            test(YSocketpair::with_backend(100, backend).unwrap());
        }
    });
}

#[test]
fn a_set_that_a_child_drops_while_something_is_up_rings_on() {
    for_each_backend(|set| {
        let (signaler, mut set) = (set.signaler(), Some(set));
        for round in 0..3 {
            signaler.signal(7);
            a_child_drops(&mut set);
            let set = set.as_mut().unwrap();
            assert!(is_readable(set), "in round {round}: what was rung is there");
            assert!(set.check().eq([7]));
            assert!(!is_readable(set));
            signaler.signal(8);
            assert!(is_readable(set), "in round {round}: the next signal rings");
            assert!(set.check().eq([8]));
        }
    });
}

#[test]
fn a_receiver_that_a_child_drops_while_its_id_is_up_stays_up() {
    for_each_backend(|mut set| {
        let (mut sender, mut receiver) = spsc::unbounded();
        set.attach(&mut receiver, 3).unwrap();
        assert!(receiver.try_recv().is_err() && !is_readable(&set));
        let mut receiver = Some(receiver);
        for message in 0..3 {
            sender.send(message).unwrap();
            a_child_drops(&mut receiver);
            assert!(is_readable(&set) && set.check().eq([3]));
            let receiver = receiver.as_mut().unwrap();
            assert_eq!((receiver.try_recv().ok(), receiver.try_recv().ok()), (Some(message), None));
            assert!(!is_readable(&set));
        }
    });
}

#[test]
fn a_sender_that_a_child_drops_while_an_attached_receiver_waits_says_nothing() {
    for_each_backend(|mut set| {
        let (sender, mut receiver) = mpsc::unbounded();
        set.attach(&mut receiver, 99).unwrap();
        assert!(receiver.try_recv().is_err());
        let mut sender = Some(sender);
        a_child_drops(&mut sender);
        assert!(!is_readable(&set), "a level-triggered loop would spin");
        sender.as_mut().unwrap().send(1).unwrap();
        assert!(is_readable(&set) && set.check().eq([99]));
        assert_eq!(receiver.try_recv(), Ok(1));
    });
}

#[test]
fn a_set_that_is_made_in_a_child_is_the_childs() {
    for_each_backend(|mut set| {
        let signaler = set.signaler();
        // SAFETY: as above; making a set allocates.
        let works = unsafe {
            forked_child_can(|| {
                let Ok(mut own) = YSocketpair::new() else { return false };
                own.signaler().signal(9);
                let mine = is_readable(&own) && own.check().eq([9]) && !is_readable(&own);
                // And one of a grandchild, whose parent it is then.
                own.signaler().signal(10);
                let mut own = Some(own);
                let below = forked_child_can(|| own.take().is_some());
                // Raising what is the parent's is forbidden, and does no harm.
                signaler.signal(1);
                mine && below && own.is_some_and(|mut own| is_readable(&own) && own.check().eq([10]))
            })
        };
        assert!(works);
        assert!(!is_readable(&set) && set.check().is_empty());
        signaler.signal(2);
        assert!(is_readable(&set) && set.check().eq([2]));
    });
}
