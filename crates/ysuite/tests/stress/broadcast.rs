//! The stress test for wake-ups lost in the broadcast: bursts from several senders to several receivers, each with its
//! own way of waiting, and after each burst silence until every receiver has all of it. Bursts are long enough for the
//! publishers to give up their fences. Other receivers come and go meanwhile, hold senders up now and then, and are
//! evicted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::SendTimeoutError;
use ysuite::broadcast::{self, Receiver, RecvError, RecvTimeoutError, Sender, TryRecvError};
use ysuite::signal::{Wait, YPollset, YSocketpair};

use super::support::executor::{Task, poll_once};
use super::{Account, Bursts, Entry, Gaps, Limits, Progress, block_on, guard, rounds_with_sleeps, send_by_all_ways};

/// One way of receiving all messages; calls the function with how many have come, or were missed.
type Receive = fn(Receiver<u64>, &mut Gaps, &mut dyn FnMut(u64));

/// A stress test, by its number of senders, its capacity, and the ways of its receivers.
#[derive(Clone, Copy)]
struct Stress {
    name: &'static str,
    senders: u64,
    capacity: usize,
    is_lossy: bool,
    receivers: &'static [Receive],
    /// Whether other receivers come and go.
    visitors: bool,
}

impl Stress {
    fn run(self) {
        rounds_with_sleeps(self.name, Limits::ONE_ROUND, |seed, account| self.round(seed, account));
    }

    fn round(self, seed: u64, account: &Arc<Account>) {
        let progress = Arc::new(Progress::default());
        guard(self.name, progress.clone());
        let (sender, receiver) =
            if self.is_lossy { broadcast::lossy(self.capacity) } else { broadcast::bounded(self.capacity) };
        let mut threads = Vec::new();
        for (who, receive) in (0..).zip(self.receivers) {
            let (receiver, counted, account) = (receiver.clone(), progress.clone(), account.clone());
            threads.push(thread::spawn(move || {
                let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed * 100 + who));
                receive(receiver, &mut gaps, &mut |messages| {
                    counted.arrived.fetch_add(messages, Ordering::AcqRel);
                });
                entry.end(&gaps, &account);
            }));
        }
        if self.visitors {
            let (over, receiver) = (progress.clone(), receiver.clone());
            let visitor = Arc::new(AtomicU64::new(0));
            let (evicting, present, until) = (sender.clone(), visitor.clone(), progress.clone());
            threads.push(thread::spawn(move || visit(receiver, &visitor, &over, &mut Gaps::new(seed * 100 + 99))));
            threads.push(thread::spawn(move || evict(&evicting, &present, &until, &mut Gaps::new(seed * 100 + 98))));
        }
        drop(receiver);
        let bursts = Arc::new(Bursts::of(self.senders));
        let sending: Vec<_> = (0..self.senders)
            .map(|who| {
                let (sender, counted, account) = (sender.clone(), progress.clone(), account.clone());
                let bursts = bursts.clone();
                thread::spawn(move || {
                    let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed * 100 + 50 + who));
                    for burst in 1..=250 {
                        let messages = 1 + gaps.random.below(130) as u64;
                        send_by_all_ways!(sender, messages, gaps);
                        bursts.end(burst, messages, self.receivers.len() as u64, &counted, &mut gaps);
                    }
                    entry.end(&gaps, &account);
                })
            })
            .collect();
        drop(sender);
        let sent_all = sending.into_iter().all(|thread| thread.join().is_ok());
        // The visitor goes, and the others have found the channel disconnected.
        progress.end();
        let ended = threads.into_iter().all(|thread| thread.join().is_ok());
        assert!(sent_all && ended, "{}: a thread has failed", self.name);
        let expected = bursts.sent() * self.receivers.len() as u64;
        assert_eq!(progress.arrived.load(Ordering::Acquire), expected);
    }
}

/// Joins, copies itself, falls behind, and goes, again and again. Publishes its identity: another thread evicts it now
/// and then.
fn visit(mut receiver: Receiver<u64>, present: &AtomicU64, over: &Progress, gaps: &mut Gaps) {
    while !over.over.load(Ordering::Acquire) {
        // One keeps up, so that others can join next to it.
        while receiver.try_recv().is_ok() {}
        let mut visitor = if gaps.random.below(2) == 0 { receiver.clone() } else { receiver.resubscribe() };
        present.store(visitor.id(), Ordering::Release);
        gaps.pass();
        while receiver.try_recv().is_ok() {}
        for _ in 0..gaps.random.below(5) {
            let was_evicted = visitor.is_evicted();
            let received = visitor.try_recv();
            assert!(!was_evicted || received.is_err(), "a message for a receiver that was evicted: {received:?}");
        }
        drop(visitor);
    }
}

/// Evicts the visitor that is there, again and again.
fn evict(sender: &Sender<u64>, present: &AtomicU64, over: &Progress, gaps: &mut Gaps) {
    while !over.over.load(Ordering::Acquire) {
        sender.evict(present.load(Ordering::Acquire));
        gaps.pass();
    }
}

fn blocking(mut receiver: Receiver<u64>, gaps: &mut Gaps, note: &mut dyn FnMut(u64)) {
    loop {
        match receiver.recv() {
            Ok(_) => note(1),
            Err(RecvError::Lagged(missed)) => note(missed),
            Err(RecvError::Disconnected) => return,
        }
        gaps.pass();
        receiver.set_spin(gaps.spin());
    }
}

fn tasks(mut receiver: Receiver<u64>, gaps: &mut Gaps, note: &mut dyn FnMut(u64)) {
    loop {
        match block_on(receiver.recv_async()) {
            Ok(_) => note(1),
            Err(RecvError::Lagged(missed)) => note(missed),
            Err(RecvError::Disconnected) => return,
        }
        gaps.pass();
    }
}

/// Gives waits up: by time-outs, by dropped futures, by going on as a clone whose original was polled.
fn fickle(mut receiver: Receiver<u64>, gaps: &mut Gaps, note: &mut dyn FnMut(u64)) {
    let mut batch = Vec::new();
    loop {
        let result = match gaps.random.below(4) {
            0 => match poll_once(&mut Box::pin(receiver.recv_async()), &Task::default()) {
                std::task::Poll::Ready(result) => result.map(|_| 1),
                std::task::Poll::Pending => Ok(0),
            },
            1 => {
                let polled = receiver.poll_recv(&mut std::task::Context::from_waker(&Task::default().waker()));
                let clone = receiver.clone();
                drop(std::mem::replace(&mut receiver, clone));
                match polled {
                    std::task::Poll::Ready(result) => result.map(|_| 1),
                    std::task::Poll::Pending => Ok(0),
                }
            }
            2 => receiver.recv_batch(&mut batch, 1 + gaps.random.below(20)).map(|_| batch.drain(..).count() as u64),
            _ => match receiver.recv_timeout(Duration::from_micros(gaps.random.next() % 60)) {
                Ok(_) => Ok(1),
                Err(RecvTimeoutError::Timeout) => Ok(0),
                Err(error) => Err(error.into()),
            },
        };
        match result {
            Ok(messages) => note(messages),
            Err(RecvError::Lagged(missed)) => note(missed),
            Err(RecvError::Disconnected) => return,
        }
        gaps.pass();
    }
}

/// In a set of its own, with a descriptor or without.
fn attached(mut receiver: Receiver<u64>, gaps: &mut Gaps, note: &mut dyn FnMut(u64)) {
    let mut set: Box<dyn Wait> = if gaps.random.below(2) == 0 {
        let mut set = YPollset::new();
        set.attach(&mut receiver, 3).expect("a free id");
        Box::new(set)
    } else {
        let mut set = YSocketpair::new().expect("descriptors");
        set.attach(&mut receiver, 3).expect("a free id");
        Box::new(set)
    };
    loop {
        assert!(set.wait().eq([3]));
        for _ in 0..1 + gaps.random.below(30) {
            match receiver.try_recv() {
                Ok(_) => note(1),
                Err(TryRecvError::Lagged(missed)) => note(missed),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
            gaps.pass();
        }
    }
}

const STRESS: Stress =
    Stress { name: "", senders: 2, capacity: 64, is_lossy: false, receivers: &[blocking, blocking], visitors: false };

#[test]
fn two_to_two() {
    Stress { name: "broadcast, 2 to 2", ..STRESS }.run();
}

#[test]
fn few_places() {
    Stress { name: "broadcast, little room", capacity: 2, receivers: &[blocking, blocking, fickle], ..STRESS }.run();
}

#[test]
fn every_way_of_waiting() {
    Stress { name: "broadcast, every way", capacity: 9, receivers: &[blocking, tasks, attached, fickle], ..STRESS }
        .run();
}

#[test]
fn receivers_that_come_and_go() {
    Stress { name: "broadcast, visitors", capacity: 5, visitors: true, receivers: &[blocking, tasks], ..STRESS }.run();
}

#[test]
fn a_lossy_channel() {
    let receivers: &[Receive] = &[blocking, attached, fickle];
    Stress { name: "broadcast, lossy", capacity: 8, is_lossy: true, visitors: true, receivers, ..STRESS }.run();
}

#[test]
fn a_lossy_channel_of_one_place() {
    Stress {
        name: "broadcast, lossy, room for 1",
        capacity: 1,
        is_lossy: true,
        receivers: &[tasks, blocking],
        ..STRESS
    }
    .run();
}
