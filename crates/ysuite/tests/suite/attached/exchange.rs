//! Several attached receivers of one mpmc channel, each in an event loop of its own: which of them is notified.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::event::epoll::EventFlags;
use ysuite::TryRecvError;
use ysuite::mpmc::Receiver;
use ysuite::signal::{AttachError, Backend, Wait, YPollset, YSocketpair};

use crate::conformance::descriptor::Watch;
use crate::mpmc::{of, with_and_without_a_bound};
use crate::support::{backends, calls, guarded};

with_and_without_a_bound!(
    a_message_tells_one_receiver_after_another,
    one_that_takes_and_leaves_some_is_told_again_and_tells_the_next,
    a_dropped_receiver_tells_the_next,
    a_detached_receiver_tells_the_next,
    a_sleeping_thread_and_an_attached_receiver_share,
    event_loops_share_a_stream_and_all_learn_of_its_end,
    a_batch_is_read_without_a_system_call,
);

/// An event loop with one receiver.
struct Loop {
    watch: Watch,
    set: YSocketpair,
    receiver: Receiver<u32>,
}

impl Loop {
    fn new(receiver: &Receiver<u32>, backend: Backend) -> Self {
        let mut receiver = receiver.clone();
        let mut set = YSocketpair::with_backend(64, backend).unwrap();
        set.attach(&mut receiver, 40).unwrap();
        Self { watch: Watch::new(&set, EventFlags::empty()), set, receiver }
    }

    /// As `new`, and then one of the waiters.
    fn at_rest(receiver: &Receiver<u32>, backend: Backend) -> Self {
        let mut fresh = Self::new(receiver, backend);
        assert!(fresh.is_told(), "a receiver is notified at first");
        assert_eq!(fresh.receiver.try_recv(), Err(TryRecvError::Empty));
        assert!(!fresh.is_told());
        fresh
    }

    /// Waits until the descriptor is readable. A method, so that a thread that waits takes the set along with the watch.
    fn block(&self) {
        self.watch.block();
    }

    /// Whether its id is up; the descriptor says the same.
    fn is_told(&mut self) -> bool {
        let readable = self.watch.readable();
        let up = self.set.check().any(|id| id == 40);
        assert_eq!(readable, up);
        up
    }
}

fn told(loops: &mut [Loop]) -> usize {
    loops.iter_mut().filter_map(|one| one.is_told().then_some(())).count()
}

fn a_message_tells_one_receiver_after_another(bounded: bool) {
    for backend in backends() {
        let (sender, receiver) = of(if bounded { 8 } else { 0 });
        let mut loops: Vec<_> = (0..3).map(|_| Loop::at_rest(&receiver, backend)).collect();
        for messages in 1..=3 {
            sender.send(messages).unwrap();
            assert_eq!(told(&mut loops), messages as usize);
        }
        // Level-triggered: polling the set takes nothing down.
        assert_eq!(told(&mut loops), 3);
        // One takes all; the others poll in vain, which is harmless, and wait again.
        assert!(loops[0].receiver.try_iter().eq(1..=3));
        for one in &mut loops {
            assert_eq!(one.receiver.try_recv(), Err(TryRecvError::Empty));
            assert!(!one.is_told());
        }
        sender.send(4).unwrap();
        assert_eq!(told(&mut loops), 1);
    }
}

fn one_that_takes_and_leaves_some_is_told_again_and_tells_the_next(bounded: bool) {
    let (sender, receiver) = of(if bounded { 8 } else { 0 });
    let mut loops: Vec<_> = (0..3).map(|_| Loop::at_rest(&receiver, backends()[0])).collect();
    sender.send(1).unwrap();
    let first = loops.iter_mut().position(Loop::is_told).unwrap();
    // These notify the other two; they poll, find something, and are dropped with it unread.
    assert_eq!(sender.send_batch(2..4), Ok(2));
    assert_eq!(told(&mut loops), 3);
    assert_eq!(loops[first].receiver.try_recv(), Ok(1));
    assert!(loops[first].is_told(), "it has not found itself empty");
    assert_eq!(loops[first].receiver.try_recv(), Ok(2));
    assert_eq!(loops[first].receiver.try_recv(), Ok(3));
    assert_eq!(loops[first].receiver.try_recv(), Err(TryRecvError::Empty));
    assert!(!loops[first].is_told());
}

fn a_dropped_receiver_tells_the_next(bounded: bool) {
    for backend in backends() {
        let (sender, receiver) = of(if bounded { 8 } else { 0 });
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

fn a_detached_receiver_tells_the_next(bounded: bool) {
    for backend in backends() {
        let (sender, receiver) = of(if bounded { 8 } else { 0 });
        let mut loops: Vec<_> = (0..2).map(|_| Loop::at_rest(&receiver, backend)).collect();
        sender.send(9).unwrap();
        let at = loops.iter_mut().position(Loop::is_told).unwrap();
        let mut elsewhere = YPollset::new();
        // A refusal leaves it where it is, and notifies no receiver.
        let refused = elsewhere.attach(&mut loops[at].receiver, 3);
        assert_eq!((refused, told(&mut loops)), (Err(AttachError::AlreadyAttached), 1));
        assert!(loops[at].is_told() && loops[at].receiver.detach());
        assert!(!loops[at].is_told(), "its old id is down");
        assert!(loops[1 - at].is_told(), "the other one knows");
        elsewhere.attach(&mut loops[at].receiver, 3).unwrap();
        assert!(elsewhere.check().eq([3]), "and so does its new set");
        // The old id is free, and the new one is not.
        let mut clone = receiver.clone();
        assert_eq!(elsewhere.attach(&mut clone, 3), Err(AttachError::IdTaken { id: 3 }));
        loops[at].set.attach(&mut clone, 40).unwrap();
    }
}

fn a_sleeping_thread_and_an_attached_receiver_share(bounded: bool) {
    guarded(move || {
        let (sender, receiver) = of(if bounded { 8 } else { 0 });
        let attached = Loop::at_rest(&receiver, backends()[0]);
        let thread = thread::spawn(move || receiver.recv().unwrap());
        thread::sleep(Duration::from_millis(20));
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        // Whichever was woken first: both are, and the thread has one of them.
        let taken = thread.join().unwrap();
        attached.block();
        assert_eq!(attached.receiver.try_recv(), Ok(3 - taken));
    });
}

fn event_loops_share_a_stream_and_all_learn_of_its_end(bounded: bool) {
    guarded(move || {
        const MESSAGES: usize = 20_000;
        let (sender, receiver) = of(if bounded { 64 } else { 0 });
        let (received, backends) = (Arc::new(AtomicUsize::new(0)), backends());
        let threads: Vec<_> = (0..3)
            .map(|who| {
                let one = Loop::new(&receiver, backends[who % backends.len()]);
                let received = received.clone();
                thread::spawn(move || {
                    loop {
                        one.block();
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

fn a_batch_is_read_without_a_system_call(bounded: bool) {
    let (sender, receiver) = of(if bounded { 8 } else { 0 });
    let one = Loop::at_rest(&receiver, backends()[0]);
    assert_eq!(sender.send_batch(0..8), Ok(8));
    let before = calls();
    assert!(one.receiver.try_iter().take(8).eq(0..8));
    assert_eq!(calls(), before);
}

#[test]
fn a_message_tells_one_of_hundreds_of_attached_receivers_and_each_in_turn() {
    const RECEIVERS: usize = 130;
    for bounded in [true, false] {
        let (sender, receiver) = of(if bounded { 8 } else { 0 });
        let mut receivers = vec![receiver; RECEIVERS];
        let mut set = YPollset::with_capacity(RECEIVERS);
        for (id, receiver) in receivers.iter_mut().enumerate() {
            set.attach(receiver, id).unwrap();
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        }
        assert!(set.check().is_empty());
        for round in 0..3 {
            let mut told = [0; RECEIVERS];
            for number in 0..RECEIVERS {
                sender.send(number).unwrap();
                let ids: Vec<_> = set.check().collect();
                let [id] = ids[..] else { panic!("{ids:?} are notified of one message") };
                told[id] += 1;
                assert_eq!(
                    (receivers[id].try_recv(), receivers[id].try_recv()),
                    (Ok(number), Err(TryRecvError::Empty))
                );
            }
            assert_eq!(told, [1; RECEIVERS], "in round {round}");
        }
        // One that is dropped meanwhile passes on its notification, until the last has it.
        sender.send(RECEIVERS).unwrap();
        let mut receivers: Vec<_> = receivers.into_iter().map(Some).collect();
        for _ in 1..RECEIVERS {
            let id = set.check().next().expect("one of the remaining ones is notified");
            assert!(receivers[id].take().is_some());
        }
        let last = set.check().next().expect("the last one is notified");
        assert_eq!(receivers[last].as_ref().map(|receiver| receiver.try_recv()), Some(Ok(RECEIVERS)));
    }
}
