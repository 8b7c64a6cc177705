//! What the kernel refuses: system calls that a sandbox forbids, descriptors that are used up, a counter that is full.
//!
//! Claim: Refused `membarrier`, `eventfd` or `epoll`, exhausted descriptors, and an eventfd at its maximum lose no
//! message.

use std::os::fd::{AsFd, AsRawFd};
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use ysuite::hub::Hub;
use ysuite::signal::{Backend, Signal, Wait, YSocketpair};
use ysuite::{mpmc, spsc};

use super::flows::FAMILY;
use super::messages;
use super::support::process::alone;
use super::support::{backends, guarded};

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod by_a_filter {
    use std::io::ErrorKind;

    use super::super::sandbox::{EPOLL_CREATE, EVENTFD2, MEMBARRIER, end_at, forbid};
    use super::*;

    fn every_flow() {
        FAMILY.iter().for_each(|make| make(messages(1_000)).run(|_| {}, |_| thread::sleep(Duration::from_millis(1))));
    }

    #[test]
    fn membarrier() {
        if alone("refused::by_a_filter::membarrier") {
            forbid(&[MEMBARRIER]);
            every_flow();
        }
    }

    /// To register for the barrier takes the time of many messages in a process with threads: no first message, sleep or
    /// attachment waits for it. A process that registers is ended.
    ///
    /// Claim: No first message, sleep or attachment waits until the process is registered for `membarrier(2)`.
    #[test]
    fn registering_for_membarrier() {
        if alone("refused::by_a_filter::registering_for_membarrier") {
            const REGISTER_PRIVATE_EXPEDITED: u32 = 1 << 4;
            end_at(MEMBARRIER, Some(REGISTER_PRIVATE_EXPEDITED));
            for make in FAMILY {
                make(500).run(|_| {}, |_| thread::sleep(Duration::from_millis(1)));
            }
        }
    }

    /// A filter is of a thread, and so some threads of a process may be refused what others have been promised.
    #[test]
    fn membarrier_to_some_threads() {
        if alone("refused::by_a_filter::membarrier_to_some_threads") {
            every_flow();
            for turn in 0..2 {
                for make in FAMILY {
                    let forbid = move |number| {
                        if number % 2 == turn {
                            forbid(&[MEMBARRIER]);
                        }
                    };
                    make(messages(500)).run(forbid, |_| thread::sleep(Duration::from_millis(1)));
                }
            }
        }
    }

    #[test]
    fn eventfd() {
        if alone("refused::by_a_filter::eventfd") {
            forbid(&[EVENTFD2]);
            for make in FAMILY {
                let flow = make(messages(1_000));
                // The poller of a hub is woken by an eventfd of its own.
                if flow.name != "hub" {
                    flow.run(|_| {}, |_| thread::sleep(Duration::from_millis(1)));
                }
            }
        }
    }

    /// A hub says so. Everything else goes on: a set's descriptor needs no epoll, and can be polled.
    #[test]
    fn epoll() {
        if alone("refused::by_a_filter::epoll") {
            forbid(EPOLL_CREATE);
            assert_eq!(Hub::new().map(drop).expect_err("it is forbidden").kind(), ErrorKind::PermissionDenied);
            for make in FAMILY {
                let flow = make(messages(1_000));
                if flow.name != "hub" {
                    flow.run(|_| {}, |_| thread::sleep(Duration::from_millis(1)));
                }
            }
        }
    }
}

/// What needs new descriptors reports that there are none; what needs none goes on, and so does what has its own
/// already.
#[test]
fn no_descriptors_left() {
    if !alone("refused::no_descriptors_left") {
        return;
    }
    let mut set = YSocketpair::new().unwrap();
    let mut hub = Hub::new().unwrap();
    let (mut sender, mut receiver) = spsc::unbounded();
    let (served, served_in) = mpmc::bounded(2);
    set.attach(&mut receiver, 3).unwrap();
    let before = getrlimit(Resource::Nofile);
    // The lowest number that is free is one too many.
    let next = std::fs::File::open("/dev/null").unwrap().as_raw_fd();
    setrlimit(Resource::Nofile, Rlimit { current: Some(next as u64), maximum: before.maximum }).unwrap();
    for _ in 0..10 {
        for backend in backends() {
            let error = YSocketpair::with_backend(8, backend).map(drop).expect_err("there are none");
            assert_eq!(error.raw_os_error(), Some(24), "{error}");
        }
        assert_eq!(Hub::new().map(drop).expect_err("there are none").raw_os_error(), Some(24));
    }
    // A receiver that a hub has refused is not lost, and neither is the hub.
    hub.receive(served_in, |_, message: Result<u64, _>| {
        assert!(message.is_ok_and(|message| message < 100) || message.is_err())
    })
    .expect("it needs no descriptor");
    let thread = thread::spawn(move || {
        for number in 0..100 {
            sender.send(number).unwrap();
            served.send(number).unwrap();
            thread::sleep(Duration::from_micros(50));
        }
    });
    let mut next = 0;
    while next < 100 {
        hub.run_once(Duration::ZERO).unwrap();
        if set.wait_timeout(Duration::from_millis(1)).count() == 1 {
            while let Ok(message) = receiver.try_recv() {
                assert_eq!(message, next);
                next += 1;
            }
        }
    }
    hub.run().unwrap();
    thread.join().unwrap();
    for make in FAMILY {
        let flow = make(messages(200));
        if !matches!(flow.name, "hub" | "spsc in a socketpair") {
            flow.run(|_| {}, |_| thread::sleep(Duration::from_millis(1)));
        }
    }
    setrlimit(Resource::Nofile, before).unwrap();
    drop(Hub::new().expect("there are descriptors again"));
}

/// A counter at its maximum, and one that others write to as often as it takes: signals are bits, the descriptor only rings.
#[test]
fn the_counter_of_an_eventfd_is_full() {
    guarded(|| {
        if !backends().contains(&Backend::Eventfd) {
            return;
        }
        for beginning in [u64::MAX - 1, 1] {
            let mut set = YSocketpair::with_backend(8, Backend::Eventfd).unwrap();
            // Another owner of the descriptor, such as an event loop, writes to it.
            let descriptor = set.as_fd().try_clone_to_owned().unwrap();
            rustix::io::write(&descriptor, &beginning.to_ne_bytes()).unwrap();
            let signaler = set.signaler();
            let thread = thread::spawn(move || (0..8).for_each(|id| signaler.signal(id)));
            thread.join().unwrap();
            let mut found: Vec<usize> = Vec::new();
            while found.len() < 8 {
                found.extend(set.wait());
            }
            assert_eq!(found, [0, 1, 2, 3, 4, 5, 6, 7]);
            // It rings again, and sleeps in between.
            assert_eq!(set.wait_timeout(Duration::from_millis(1)).count(), 0);
            let signaler = set.signaler();
            let thread = thread::spawn(move || {
                thread::sleep(Duration::from_millis(2));
                signaler.signal(5);
            });
            assert_eq!(set.wait().collect::<Vec<_>>(), [5]);
            thread.join().unwrap();
        }
    });
}
