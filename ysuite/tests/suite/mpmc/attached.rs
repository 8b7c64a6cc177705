//! Several receivers of one channel in event loops: each told by its own set, through real epoll.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use ysuite::mpmc::{self, Receiver, TryRecvError};
use ysuite::os::calls;
use ysuite::signal::{Backend, Wait, YPollset, YSocketpair};

use crate::support::{backends, guarded};

/// An event loop with one receiver.
struct Loop {
    epoll: OwnedFd,
    set: YSocketpair,
    receiver: Receiver<u32>,
}

impl Loop {
    fn new(receiver: &Receiver<u32>, backend: Backend) -> Self {
        let mut receiver = receiver.clone();
        let mut set = YSocketpair::with_backend(64, backend).unwrap();
        set.attach(&mut receiver, 40).unwrap();
        let epoll = epoll::create(CreateFlags::CLOEXEC).unwrap();
        epoll::add(&epoll, set.as_fd(), EventData::new_u64(1), EventFlags::IN).unwrap();
        Self { epoll, set, receiver }
    }

    /// As `new`, and then one of those who wait.
    fn at_rest(receiver: &Receiver<u32>, backend: Backend) -> Self {
        let mut fresh = Self::new(receiver, backend);
        assert!(fresh.is_told(), "a receiver is told at first");
        assert_eq!(fresh.receiver.try_recv(), Err(TryRecvError::Empty));
        assert!(!fresh.is_told());
        fresh
    }

    /// Whether the descriptor is readable; waits for it for ever if asked to.
    fn readable(&self, block: bool) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut events = Vec::<Event>::with_capacity(4);
        epoll::wait(&self.epoll, spare_capacity(&mut events), if block { None } else { Some(&now) }).unwrap();
        !events.is_empty()
    }

    /// Whether its id is up; the descriptor says the same.
    fn is_told(&mut self) -> bool {
        let readable = self.readable(false);
        let up = self.set.check().any(|id| id == 40);
        assert_eq!(readable, up);
        up
    }
}

fn told(loops: &mut [Loop]) -> usize {
    loops.iter_mut().filter_map(|one| one.is_told().then_some(())).count()
}

#[test]
fn a_message_tells_one_receiver_after_another() {
    for backend in backends() {
        let (sender, receiver) = mpmc::bounded(8);
        let mut loops: Vec<_> = (0..3).map(|_| Loop::at_rest(&receiver, backend)).collect();
        for messages in 1..=3 {
            sender.send(messages).unwrap();
            assert_eq!(told(&mut loops), messages as usize);
        }
        // Level-triggered: looking at the set takes nothing down.
        assert_eq!(told(&mut loops), 3);
        // One takes all; the others look for nothing, which is harmless, and wait again.
        assert!(loops[0].receiver.try_iter().eq(1..=3));
        for one in &mut loops {
            assert_eq!(one.receiver.try_recv(), Err(TryRecvError::Empty));
            assert!(!one.is_told());
        }
        sender.send(4).unwrap();
        assert_eq!(told(&mut loops), 1);
    }
}

#[test]
fn one_that_takes_and_leaves_some_is_told_again_and_tells_the_next() {
    let (sender, receiver) = mpmc::bounded(8);
    let mut loops: Vec<_> = (0..3).map(|_| Loop::at_rest(&receiver, backends()[0])).collect();
    sender.send(1).unwrap();
    let first = loops.iter_mut().position(Loop::is_told).unwrap();
    // These tell the other two; they look, find something, and are dropped with it unread.
    assert_eq!(sender.send_batch(2..4), Ok(2));
    assert_eq!(told(&mut loops), 3);
    assert_eq!(loops[first].receiver.try_recv(), Ok(1));
    assert!(loops[first].is_told(), "it has not found itself empty");
    assert_eq!(loops[first].receiver.try_recv(), Ok(2));
    assert_eq!(loops[first].receiver.try_recv(), Ok(3));
    assert_eq!(loops[first].receiver.try_recv(), Err(TryRecvError::Empty));
    assert!(!loops[first].is_told());
}

#[test]
fn a_dropped_receiver_tells_the_next() {
    for backend in backends() {
        let (sender, receiver) = mpmc::bounded(8);
        let mut loops: Vec<_> = (0..4).map(|_| Loop::at_rest(&receiver, backend)).collect();
        sender.send(9).unwrap();
        while loops.len() > 1 {
            assert_eq!(told(&mut loops), 1);
            let at = loops.iter_mut().position(Loop::is_told).unwrap();
            drop(loops.swap_remove(at));
        }
        assert_eq!(told(&mut loops), 1);
        assert_eq!(loops[0].receiver.try_recv(), Ok(9));
    }
}

#[test]
fn a_receiver_attached_elsewhere_tells_the_next() {
    let (sender, receiver) = mpmc::bounded(8);
    let mut loops: Vec<_> = (0..2).map(|_| Loop::at_rest(&receiver, backends()[0])).collect();
    sender.send(9).unwrap();
    let at = loops.iter_mut().position(Loop::is_told).unwrap();
    let mut elsewhere = YPollset::new();
    elsewhere.attach(&mut loops[at].receiver, 3).unwrap();
    assert!(!loops[at].is_told(), "its old id is down");
    assert!(loops[1 - at].is_told(), "the other one knows");
    assert!(elsewhere.check().eq([3]), "and so does its new set");
    // The old id is free.
    let mut clone = receiver.clone();
    loops[at].set.attach(&mut clone, 40).unwrap();
    assert!(elsewhere.attach(&mut clone, 3).is_err(), "the new one is not");
}

#[test]
fn a_sleeping_thread_and_an_attached_receiver_share() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded(8);
        let attached = Loop::at_rest(&receiver, backends()[0]);
        let thread = thread::spawn(move || receiver.recv().unwrap());
        thread::sleep(Duration::from_millis(20));
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        // Whichever was woken first: both are, and the thread has one of them.
        let taken = thread.join().unwrap();
        attached.readable(true);
        assert_eq!(attached.receiver.try_recv(), Ok(3 - taken));
    });
}

#[test]
fn a_blocking_receive_on_an_attached_receiver_does_not_miss_what_its_set_is_told() {
    guarded(|| {
        let (sender, receiver) = mpmc::bounded(8);
        let attached = Loop::at_rest(&receiver, backends()[0]);
        drop(receiver);
        let thread = thread::spawn(move || {
            for number in 0..100 {
                thread::yield_now();
                sender.send(number).unwrap();
            }
        });
        for expected in 0..100 {
            if expected % 3 == 0 {
                attached.readable(true);
                while let Err(error) = attached.receiver.try_recv() {
                    assert_eq!(error, TryRecvError::Empty);
                    attached.readable(true);
                }
            } else {
                assert_eq!(attached.receiver.recv(), Ok(expected));
            }
        }
        thread.join().unwrap();
        attached.readable(true);
        assert_eq!(attached.receiver.try_recv(), Err(TryRecvError::Disconnected));
    });
}

#[test]
fn event_loops_share_a_stream_and_all_learn_of_its_end() {
    guarded(|| {
        const MESSAGES: usize = 20_000;
        let (sender, receiver) = mpmc::bounded(64);
        let (received, backends) = (Arc::new(AtomicUsize::new(0)), backends());
        let threads: Vec<_> = (0..3)
            .map(|who| {
                let one = Loop::new(&receiver, backends[who % backends.len()]);
                let received = received.clone();
                thread::spawn(move || {
                    loop {
                        one.readable(true);
                        // A few at a time: what is left keeps the id up.
                        for _ in 0..5 {
                            match one.receiver.try_recv() {
                                Ok(_) => drop(received.fetch_add(1, Ordering::Relaxed)),
                                Err(TryRecvError::Empty) => break,
                                Err(TryRecvError::Disconnected) => return,
                            }
                        }
                    }
                })
            })
            .collect();
        drop(receiver);
        let senders: Vec<_> = (0..2)
            .map(|_| {
                let sender = sender.clone();
                thread::spawn(move || {
                    for message in 0..MESSAGES as u32 / 2 {
                        if message % 64 == 0 {
                            thread::sleep(Duration::from_micros(50));
                        }
                        sender.send(message).unwrap();
                    }
                })
            })
            .collect();
        drop(sender);
        senders.into_iter().chain(threads).for_each(|thread| thread.join().unwrap());
        assert_eq!(received.load(Ordering::Relaxed), MESSAGES);
    });
}

#[test]
fn an_attached_receiver_that_found_nothing_looks_again_for_nothing() {
    let (sender, receiver) = mpmc::bounded(8);
    let one = Loop::at_rest(&receiver, backends()[0]);
    let before = calls();
    for _ in 0..1_000 {
        assert_eq!(one.receiver.try_recv(), Err(TryRecvError::Empty));
    }
    assert_eq!(calls(), before);
    // And while it is read it writes nothing to the descriptor.
    sender.send_batch(0..8).unwrap();
    let before = calls();
    assert!(one.receiver.try_iter().take(8).eq(0..8));
    assert_eq!(calls(), before);
}
