//! Receivers attached to a set of signals: an id is up exactly while its receiver may hold a message, for every kind of
//! set and every way of receiving. What a set promises to any receiver is tested with the signalers.

use std::io;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use crate::support::executor::Task;
use crate::support::{Random, Tally, guarded};
use ysuite::os::calls;
use ysuite::signal::{AttachError, Signal, Signaler, Signals, Wait, YPollset};
use ysuite::spsc::{self, RecvTimeoutError, TryRecvError};

/// A kind of set that receivers can be attached to.
trait Set: Wait + Send + Sized + 'static {
    fn with(ids: usize) -> Self;
    fn attach<T>(&mut self, receiver: &mut spsc::Receiver<T>, id: usize) -> Result<(), AttachError>;
    fn signaler(&self) -> Signaler;
}

impl Set for YPollset {
    fn with(ids: usize) -> Self {
        YPollset::with_capacity(ids)
    }
    fn attach<T>(&mut self, receiver: &mut spsc::Receiver<T>, id: usize) -> Result<(), AttachError> {
        self.attach(receiver, id)
    }
    fn signaler(&self) -> Signaler {
        self.signaler()
    }
}

#[cfg(unix)]
mod descriptors {
    use std::os::fd::{AsFd, BorrowedFd};

    use ysuite::signal::{AttachError, Backend, Signaler, Signals, Wait, YSocketpair};
    use ysuite::spsc;

    /// A socketpair on one of its backends.
    pub(crate) struct Pair<const EVENTFD: bool>(pub(crate) YSocketpair);

    impl<const EVENTFD: bool> AsFd for Pair<EVENTFD> {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }
    }

    impl<const EVENTFD: bool> Wait for Pair<EVENTFD> {
        fn poll(&mut self) -> Signals {
            self.0.poll()
        }
        fn check(&mut self) -> Signals {
            self.0.check()
        }
        fn poll_timeout(&mut self, timeout: std::time::Duration) -> Signals {
            self.0.poll_timeout(timeout)
        }
    }

    impl<const EVENTFD: bool> super::Set for Pair<EVENTFD> {
        fn with(ids: usize) -> Self {
            let backend = if EVENTFD { Backend::Eventfd } else { Backend::Socketpair };
            Self(YSocketpair::with_backend(ids, backend).unwrap())
        }
        fn attach<T>(&mut self, receiver: &mut spsc::Receiver<T>, id: usize) -> Result<(), AttachError> {
            self.0.attach(receiver, id)
        }
        fn signaler(&self) -> Signaler {
            self.0.signaler()
        }
    }
}

macro_rules! for_every_set {
    ($($test:ident),* $(,)?) => {
        mod pollset { $(#[test] fn $test() { super::$test::<ysuite::signal::YPollset>() })* }
        #[cfg(target_os = "linux")]
        mod eventfd { $(#[test] fn $test() { super::$test::<crate::attached::descriptors::Pair<true>>() })* }
        #[cfg(unix)]
        mod socketpair { $(#[test] fn $test() { super::$test::<crate::attached::descriptors::Pair<false>>() })* }
    };
}

for_every_set!(
    an_id_is_up_until_its_receiver_is_found_empty,
    a_receiver_read_half_way_is_reported_again,
    impossible_attachments_are_clear_errors,
    a_dropped_receiver_gives_its_id_back,
    the_set_may_go_first,
    the_senders_end_raises_the_id,
    messages_and_waits_from_before_the_attachment,
    whatever_is_done_the_id_is_up_while_messages_are_there,
    nothing_is_signalled_while_the_reader_is_busy,
    an_idle_attached_receiver_costs_nothing,
    two_receivers_in_one_set,
    a_bounded_channel_in_a_set,
    blocking_waits_of_an_attached_receiver,
    thousands_of_receivers_in_one_set,
);

fn list(signals: Signals) -> Vec<usize> {
    signals.collect()
}

fn attached<S: Set>(id: usize) -> (S, spsc::Sender<usize>, spsc::Receiver<usize>) {
    let mut set = S::with(64);
    let (sender, mut receiver) = spsc::unbounded();
    set.attach(&mut receiver, id).unwrap();
    (set, sender, receiver)
}

fn an_id_is_up_until_its_receiver_is_found_empty<S: Set>() {
    for id in [0, 1, 30, 31, 63] {
        let (mut set, mut sender, mut receiver) = attached::<S>(id);
        for round in 0..5 {
            // At first too: there may be messages already.
            for _ in 0..3 {
                assert_eq!(list(set.check()), [id]);
                assert_eq!(list(set.poll()), [id]);
                assert_eq!(list(set.poll_timeout(Duration::ZERO)), [id]);
            }
            if round > 0 {
                assert_eq!(receiver.try_recv(), Ok(round));
                // The receiver does not know that it is empty before it has looked.
                assert_eq!(list(set.check()), [id]);
            }
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
            assert!(set.check().is_empty());
            assert!(set.poll_timeout(Duration::from_micros(1)).is_empty());
            sender.send(round + 1).unwrap();
        }
    }
}

fn a_receiver_read_half_way_is_reported_again<S: Set>() {
    let (mut set, mut sender, mut receiver) = attached::<S>(5);
    assert!(receiver.try_recv().is_err());
    sender.send_batch(0..100).unwrap();
    for expected in 0..100 {
        assert_eq!(list(set.poll()), [5]);
        assert_eq!(receiver.try_recv(), Ok(expected));
    }
    assert_eq!(receiver.peek(), None);
    assert!(set.check().is_empty());
}

fn impossible_attachments_are_clear_errors<S: Set>() {
    let (mut set, mut sender, mut receiver) = attached::<S>(3);
    let mut other_set = S::with(64);
    let (_other, mut other_receiver) = spsc::unbounded::<u8>();
    assert_eq!(set.attach(&mut receiver, 4), Err(AttachError::AlreadyAttached));
    assert_eq!(set.attach(&mut receiver, 3), Err(AttachError::IdTaken { id: 3 }));
    assert_eq!(other_set.attach(&mut receiver, 4), Err(AttachError::AlreadyAttached));
    assert_eq!(set.attach(&mut other_receiver, 3), Err(AttachError::IdTaken { id: 3 }));
    for id in [64, 65, usize::MAX] {
        let error = set.attach(&mut other_receiver, id).unwrap_err();
        assert_eq!(error, AttachError::IdOutOfRange { id, capacity: 64 });
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::InvalidInput);
    }
    // Nothing has changed: id 4 was not kept, and the receiver answers to 3.
    assert!(other_set.check().is_empty());
    assert!(receiver.try_recv().is_err());
    assert!(set.check().is_empty());
    set.attach(&mut other_receiver, 4).unwrap();
    assert_eq!(list(set.check()), [4]);
    assert!(other_receiver.try_recv().is_err());
    sender.send(1).unwrap();
    assert_eq!(list(set.check()), [3]);
}

fn a_dropped_receiver_gives_its_id_back<S: Set>() {
    let mut set = S::with(64);
    let signaler = set.signaler();
    for round in 0..5 {
        let tally = Tally::of(3);
        let (mut sender, mut receiver) = spsc::unbounded();
        set.attach(&mut receiver, 9).unwrap();
        if round % 2 == 0 {
            assert!(receiver.try_recv().is_err());
        }
        sender.send(tally.next()).unwrap();
        assert_eq!(list(set.check()), [9]);
        drop(receiver);
        assert!(set.check().is_empty(), "a receiver that is gone holds no message");
        assert!(sender.send(tally.next()).is_err());
        drop(sender);
        assert!(set.check().is_empty());
        tally.assert_all_ended();
        // Raised by hand now, it is taken and not reported for ever.
        signaler.signal(9);
        assert_eq!(list(set.check()), [9]);
        assert!(set.check().is_empty());
    }
}

fn the_set_may_go_first<S: Set>() {
    guarded(|| {
        let (set, mut sender, mut receiver) = attached::<S>(7);
        assert!(receiver.try_recv().is_err());
        drop(set);
        let before = calls();
        for message in 0..100 {
            sender.send(message).unwrap();
            assert_eq!(receiver.try_recv(), Ok(message));
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        }
        assert_eq!(calls(), before, "nobody is there to be told");
        // It is a channel like any other: it blocks, and is woken.
        let thread = thread::spawn(move || receiver.recv());
        sender.send(5).unwrap();
        assert_eq!(thread.join().unwrap(), Ok(5));
    });
}

fn the_senders_end_raises_the_id<S: Set>() {
    guarded(|| {
        for message in [None, Some(1)] {
            let (mut set, mut sender, mut receiver) = attached::<S>(2);
            assert!(receiver.try_recv().is_err());
            let thread = thread::spawn(move || {
                message.inspect(|&message| sender.write(message).unwrap());
            });
            // Waits for nothing but that.
            assert_eq!(list(set.poll()), [2]);
            thread.join().unwrap();
            if let Some(message) = message {
                assert_eq!(receiver.try_recv(), Ok(message));
            }
            // As a socket that is at its end stays readable.
            for _ in 0..3 {
                assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
                assert_eq!(list(set.poll()), [2]);
            }
            drop(receiver);
            assert!(set.check().is_empty());
        }
    });
}

fn messages_and_waits_from_before_the_attachment<S: Set>() {
    // A message.
    let mut set = S::with(64);
    let (mut sender, mut receiver) = spsc::unbounded();
    sender.send(1).unwrap();
    set.attach(&mut receiver, 0).unwrap();
    assert_eq!(list(set.poll()), [0]);
    assert_eq!(receiver.try_recv(), Ok(1));
    // A task that has asked, a wait that has timed out.
    let (mut sender, mut receiver) = spsc::unbounded();
    let task = Task::default();
    assert!(receiver.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
    assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    set.attach(&mut receiver, 1).unwrap();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    sender.send(2).unwrap();
    assert_eq!((list(set.poll()), task.woken()), (vec![0, 1], 1));
    assert_eq!(receiver.try_recv(), Ok(2));
    // The sender's end.
    let (sender, mut receiver) = spsc::unbounded::<u8>();
    drop(sender);
    set.attach(&mut receiver, 2).unwrap();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    assert!(list(set.poll()).contains(&2));
}

fn whatever_is_done_the_id_is_up_while_messages_are_there<S: Set>() {
    for seed in 0..20 {
        let (mut set, mut sender, mut receiver) = attached::<S>(17);
        let task = Task::default();
        let mut random = Random::new(seed);
        let mut batch = Vec::new();
        for step in 0..500 {
            let mut found_empty = false;
            match random.below(10) {
                0..=2 => sender.send(step).unwrap(),
                3 => drop(sender.send_batch(0..random.below(20)).unwrap()),
                4 => found_empty = receiver.try_recv().is_err(),
                5 => drop(receiver.recv_timeout(Duration::ZERO)),
                6 => drop(receiver.poll_recv(&mut Context::from_waker(&task.waker()))),
                7 => found_empty = receiver.peek().is_none(),
                8 => found_empty = receiver.try_recv_batch(&mut batch, random.below(10) + 1).is_err(),
                _ if !receiver.is_empty() => drop(receiver.recv().unwrap()),
                _ => {}
            }
            let up = list(set.check()) == [17];
            assert!(up || receiver.is_empty(), "messages of which the set says nothing, in step {step}, seed {seed}");
            assert!(!found_empty || !up, "a receiver that has found itself empty is reported, in step {step}");
        }
    }
}

fn nothing_is_signalled_while_the_reader_is_busy<S: Set>() {
    let (mut set, mut sender, mut receiver) = attached::<S>(1);
    assert!(receiver.try_recv().is_err());
    let before = calls();
    sender.send(0).unwrap();
    assert!(calls() - before <= 1, "one wake-up");
    let before = calls();
    for message in 1..2_000 {
        sender.send(message).unwrap();
        assert_eq!(list(set.check()), [1]);
        assert_eq!(list(set.poll()), [1]);
        assert_eq!(receiver.try_recv(), Ok(message - 1));
    }
    assert_eq!(calls(), before);
}

fn an_idle_attached_receiver_costs_nothing<S: Set>() {
    let (mut set, mut sender, mut receiver) = attached::<S>(1);
    for message in 0..100 {
        // Down, and armed: two calls at most, however long there was a stream before.
        let before = calls();
        assert!(receiver.try_recv().is_err());
        assert!(calls() - before <= 2);
        let before = calls();
        for _ in 0..50 {
            assert!(receiver.try_recv().is_err());
            assert!(receiver.peek().is_none());
            assert!(set.check().is_empty());
        }
        assert_eq!(calls(), before);
        (0..message).for_each(|message| sender.send(message).unwrap());
        (0..message).for_each(|message| assert_eq!(receiver.try_recv(), Ok(message)));
    }
}

/// Receives so many messages of each of some attached receivers, now and then stopping half way through.
fn drain<S: Set>(set: &mut S, receivers: &mut [(usize, spsc::Receiver<usize>)], messages: usize) {
    let mut received = vec![0; receivers.len()];
    let mut random = Random::new(8);
    while received.iter().any(|&received| received < messages) {
        for id in set.poll() {
            let index = receivers.iter().position(|(of, _)| *of == id).expect("an attached id");
            for _ in 0..random.below(8) {
                match receivers[index].1.try_recv() {
                    Ok(message) => assert_eq!(message, received[index]),
                    Err(_) => break,
                }
                received[index] += 1;
            }
        }
        random.pause();
    }
}

/// Sends so many messages from a thread of its own, with gaps.
fn stream(mut sender: spsc::Sender<usize>, messages: usize, seed: u64) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut random = Random::new(seed);
        let mut sent = 0;
        while sent < messages {
            let end = messages.min(sent + random.below(90));
            (sent..end).for_each(|message| sender.send(message).unwrap());
            sent = end;
            random.pause();
        }
    })
}

fn two_receivers_in_one_set<S: Set>() {
    guarded(|| {
        const MESSAGES: usize = 10_000;
        let mut set = S::with(64);
        let mut receivers = Vec::new();
        let mut senders = Vec::new();
        for id in [0, 40] {
            let (sender, mut receiver) = spsc::unbounded();
            set.attach(&mut receiver, id).unwrap();
            receivers.push((id, receiver));
            senders.push(stream(sender, MESSAGES, id as u64));
        }
        drain(&mut set, &mut receivers, MESSAGES);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

fn a_bounded_channel_in_a_set<S: Set>() {
    guarded(|| {
        for capacity in [1, 2, 100] {
            const MESSAGES: usize = 3_000;
            let mut set = S::with(64);
            let (sender, mut receiver) = spsc::bounded(capacity);
            set.attach(&mut receiver, 63).unwrap();
            let thread = stream(sender, MESSAGES, 3);
            drain(&mut set, &mut [(63, receiver)], MESSAGES);
            thread.join().unwrap();
        }
    });
}

fn blocking_waits_of_an_attached_receiver<S: Set>() {
    guarded(|| {
        const MESSAGES: usize = 3_000;
        let (mut set, sender, mut receiver) = attached::<S>(6);
        let thread = stream(sender, MESSAGES, 4);
        let mut random = Random::new(5);
        let mut expected = 0;
        while expected < MESSAGES {
            let received = match random.below(4) {
                0 => receiver.recv().ok(),
                1 => receiver.recv_timeout(Duration::from_micros(random.next() % 50)).ok(),
                2 => match receiver.poll_recv(&mut Context::from_waker(&Task::default().waker())) {
                    Poll::Ready(received) => received.ok(),
                    Poll::Pending => None,
                },
                _ => {
                    // Must come back: the id is up, or whoever sends next raises it.
                    assert_eq!(list(set.poll()), [6]);
                    receiver.try_recv().ok()
                }
            };
            if let Some(message) = received {
                assert_eq!(message, expected);
                expected += 1;
            }
        }
        thread.join().unwrap();
    });
}

fn thousands_of_receivers_in_one_set<S: Set>() {
    guarded(|| {
        const RECEIVERS: usize = 4_000;
        let mut set = S::with(5_000);
        let mut ends: Vec<_> = (0..RECEIVERS).map(|_| spsc::bounded::<usize>(2)).collect();
        for (id, (_, receiver)) in ends.iter_mut().enumerate() {
            set.attach(receiver, id + 7).unwrap();
            assert!(receiver.try_recv().is_err());
        }
        assert!(set.check().is_empty());
        let mut random = Random::new(2);
        for _ in 0..20 {
            let mut ids: Vec<_> = (0..random.below(300)).map(|_| random.below(RECEIVERS)).collect();
            ids.sort_unstable();
            ids.dedup();
            ids.iter().rev().for_each(|&id| ends[id].0.send(id).unwrap());
            for _ in 0..2 {
                assert!(set.check().map(|id| id - 7).eq(ids.iter().copied()));
            }
            for &id in &ids {
                assert_eq!(ends[id].1.try_recv(), Ok(id));
                assert!(ends[id].1.try_recv().is_err());
            }
            assert!(set.check().is_empty());
        }
    });
}

#[cfg(target_os = "linux")]
mod through_epoll;

#[cfg(all(target_os = "linux", not(miri)))]
mod forked;
