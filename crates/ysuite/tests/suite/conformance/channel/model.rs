//! Random operations on one thread, against a plain queue as the model.

use std::collections::VecDeque;
use std::time::Duration;

use ysuite::{RecvTimeoutError, TryRecvError, TrySendError};

use super::{Batching, Hiding, Kind, Peeking, Receiving, Sending};
use crate::support::samples::{Aligned64, Bytes, Sample};
use crate::support::{Counted, Random, Tally, guarded};

/// A channel with its model.
struct Run<S, R, T> {
    sender: S,
    receiver: R,
    capacity: Option<usize>,
    /// Numbers of the messages that can be received, and of those that are hidden.
    visible: VecDeque<usize>,
    hidden: Vec<usize>,
    make: Box<dyn FnMut() -> (usize, T)>,
    check: fn(&T, usize),
}

impl<T, S: Sending<T>, R: Receiving<T>> Run<S, R, T> {
    fn room(&self) -> usize {
        self.capacity.map_or(usize::MAX, |capacity| capacity - self.visible.len() - self.hidden.len())
    }

    fn publish(&mut self) {
        self.visible.extend(self.hidden.drain(..));
    }

    fn take(&mut self, message: &T) {
        let expected = self.visible.pop_front().expect("received more than was sent");
        (self.check)(message, expected);
    }

    /// One operation that every channel has.
    fn step(&mut self, random: &mut Random) {
        match random.below(8) {
            0..=2 => self.try_send(),
            3 => self.send_batch(random.below(12)),
            4 | 5 => self.try_recv(random.below(3)),
            6 => self.try_recv_batch(random.below(12)),
            _ => self.try_iter(random.below(4)),
        }
        self.lengths();
    }

    fn try_send(&mut self) {
        let full = self.room() == 0;
        let (number, message) = (self.make)();
        match self.sender.try_send(message) {
            Ok(()) => {
                assert!(!full, "sent into a full channel");
                self.publish();
                self.visible.push_back(number);
            }
            Err(TrySendError::Full(back)) => {
                assert!(full, "not full");
                (self.check)(&back, number);
            }
            Err(TrySendError::Disconnected(_)) => panic!("not disconnected"),
        }
    }

    fn send_batch(&mut self, most: usize) {
        let messages: Vec<_> = (0..most.min(self.room())).map(|_| (self.make)()).collect();
        self.publish();
        self.visible.extend(messages.iter().map(|(number, _)| number));
        let count = messages.len();
        let sent = self.sender.send_batch(&mut messages.into_iter().map(|(_, message)| message));
        assert_eq!(sent.ok(), Some(count));
    }

    fn try_recv(&mut self, way: usize) {
        let received = match way {
            0 => self.receiver.try_recv().map_err(|error| assert_eq!(error, TryRecvError::Empty)).ok(),
            1 => {
                let received = self.receiver.recv_timeout(Duration::ZERO);
                received.map_err(|error| assert_eq!(error, RecvTimeoutError::Timeout)).ok()
            }
            _ if self.visible.is_empty() => None,
            _ => Some(self.receiver.recv().expect("a message")),
        };
        match received {
            Some(message) => self.take(&message),
            None => assert!(self.visible.is_empty(), "a message was not received"),
        }
    }

    fn try_recv_batch(&mut self, most: usize) {
        let mut to = Vec::new();
        let expected = self.visible.len().min(most);
        match self.receiver.try_recv_batch(&mut to, most) {
            Ok(taken) => assert_eq!((taken, to.len()), (expected, expected)),
            Err(error) => assert_eq!((error, expected), (TryRecvError::Empty, 0)),
        }
        to.iter().for_each(|message| self.take(message));
    }

    fn try_iter(&mut self, most: usize) {
        let messages: Vec<T> = self.receiver.try_iter().take(most).collect();
        assert_eq!(messages.len(), self.visible.len().min(most));
        messages.iter().for_each(|message| self.take(message));
    }

    fn lengths(&self) {
        let length = self.visible.len();
        assert_eq!((self.sender.len(), self.receiver.len()), (length, length));
        assert_eq!((self.sender.is_empty(), self.receiver.is_empty()), (length == 0, length == 0));
        assert_eq!(self.sender.is_full(), self.room() == 0);
    }
}

impl<T, S: Hiding<T>, R: Peeking<T>> Run<S, R, T> {
    /// One operation of a channel that batches.
    fn batching_step(&mut self, random: &mut Random) {
        match random.below(8) {
            0..=2 => (0..random.below(10).min(self.room())).for_each(|_| self.write()),
            3 | 4 => (0..random.below(6)).for_each(|_| self.unwrite()),
            5 => {
                assert!(self.sender.flush(), "no thread sleeps");
                self.publish();
            }
            6 => self.peek(),
            _ => self.step(random),
        }
        self.lengths();
    }

    fn write(&mut self) {
        let (number, message) = (self.make)();
        assert!(self.sender.write(message).is_ok());
        self.hidden.push(number);
    }

    fn unwrite(&mut self) {
        match (self.sender.unwrite(), self.hidden.pop()) {
            (Some(message), Some(number)) => (self.check)(&message, number),
            (message, number) => assert!(message.is_none() && number.is_none(), "unwritten, or not: {number:?}"),
        }
    }

    fn peek(&mut self) {
        match (self.receiver.peek(), self.visible.front()) {
            (Some(message), Some(number)) => (self.check)(message, *number),
            (message, number) => assert!(message.is_none() && number.is_none(), "seen, or not: {number:?}"),
        }
    }
}

fn counting<T: Sample>() -> Box<dyn FnMut() -> (usize, T)> {
    let mut next = 0;
    Box::new(move || {
        next += 1;
        (next, T::make(next))
    })
}

/// Says which seed it was if the run panics.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the random operations had the seed {}", self.0);
        }
    }
}

fn run<T, S: Sending<T>, R: Receiving<T>>(
    mut run: Run<S, R, T>,
    seed: u64,
    steps: usize,
    mut step: impl FnMut(&mut Run<S, R, T>, &mut Random),
) {
    let seed = Seed(seed);
    let mut random = Random::new(seed.0);
    for _ in 0..steps {
        step(&mut run, &mut random);
    }
    let Run { sender, mut receiver, mut visible, hidden, check, .. } = run;
    // Half of the runs end with the receiver, half with the sender.
    if seed.0 % 2 == 0 {
        drop(sender);
        visible.extend(hidden);
        assert_eq!(receiver.len(), visible.len());
        receiver.iter().for_each(|message| check(&message, visible.pop_front().expect("no more than was sent")));
        assert!(visible.is_empty());
    } else {
        drop(receiver);
        drop(sender);
    }
}

fn model<T, S, R>(
    ends: (S, R),
    capacity: Option<usize>,
    make: Box<dyn FnMut() -> (usize, T)>,
    check: fn(&T, usize),
) -> Run<S, R, T> {
    let (sender, receiver) = ends;
    Run { sender, receiver, capacity, visible: VecDeque::new(), hidden: Vec::new(), make, check }
}

fn shape<K: Kind, T: Sample>(kind: K, seed: u64) {
    run(model(kind.pair::<T>(), kind.capacity(), counting(), T::check), seed, 4_000, |run, random| run.step(random));
}

fn batching_shape<K: Batching, T: Sample>(kind: K, seed: u64) {
    let model = model(kind.batching::<T>(), kind.capacity(), counting(), T::check);
    run(model, seed, 4_000, |run, random| run.batching_step(random));
}

/// Messages that count their drops, next to the model.
fn counted(tally: &Tally) -> Box<dyn FnMut() -> (usize, Counted)> {
    let tally = tally.clone();
    Box::new(move || {
        let message = tally.next();
        (message.number, message)
    })
}

fn check_counted(message: &Counted, number: usize) {
    assert_eq!(message.number, number);
}

/// The long form is the soak's.
fn steps() -> usize {
    if std::env::var("YSUITE_STRESS").is_ok_and(|form| form == "long") { 5_000 } else { 1_200 }
}

pub(crate) fn random_operations_agree_with_a_model<K: Kind>(kind: K) {
    guarded(move || {
        for seed in 1..5 {
            shape::<K, u64>(kind, seed);
            shape::<K, ()>(kind, seed);
            shape::<K, Bytes<29>>(kind, seed);
            shape::<K, Bytes<1000>>(kind, seed);
            shape::<K, Box<usize>>(kind, seed);
            shape::<K, Aligned64>(kind, seed);
            let tally = Tally::of(steps() * 12);
            let model = model(kind.pair(), kind.capacity(), counted(&tally), check_counted);
            run(model, seed, steps(), |run, random| run.step(random));
            tally.assert_all_ended();
        }
    });
}

pub(crate) fn random_batches_agree_with_a_model<K: Batching>(kind: K) {
    guarded(move || {
        for seed in 1..3 {
            batching_shape::<K, u64>(kind, seed);
            batching_shape::<K, ()>(kind, seed);
            batching_shape::<K, Bytes<29>>(kind, seed);
            batching_shape::<K, Bytes<1000>>(kind, seed);
            batching_shape::<K, Box<usize>>(kind, seed);
            batching_shape::<K, Aligned64>(kind, seed);
            let tally = Tally::of(steps() * 12);
            let model = model(kind.batching(), kind.capacity(), counted(&tally), check_counted);
            run(model, seed, steps(), |run, random| run.batching_step(random));
            tally.assert_all_ended();
        }
    });
}
