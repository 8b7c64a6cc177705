//! Records what a few threads do with one mpmc channel at the same time, and has the histories checked.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use ysuite::mpmc::{self, Receiver, Sender};
use ysuite::{RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError};

use crate::support::Random;
use crate::support::linear::{Clock, Event, MOST, Op, is_linearizable};

/// A message that is distinguished by its number.
pub(crate) trait Numbered: From<u64> + Into<u64> + Send + 'static {}

impl Numbered for u64 {}

/// One that is so large that a segment of an unbounded mpmc channel has a few slots: a history goes across its end.
pub(crate) struct Large([u64; 1024]);

impl Numbered for Large {}

impl From<u64> for Large {
    fn from(number: u64) -> Self {
        Self([number; 1024])
    }
}

impl From<Large> for u64 {
    fn from(Large(words): Large) -> Self {
        assert_eq!(words[0], words[1023]);
        words[0]
    }
}

/// What the threads of a history do.
#[derive(Clone, Copy)]
pub(crate) struct Script {
    /// How many send, and how many receive.
    pub(crate) threads: usize,
    pub(crate) capacity: usize,
    /// How many operations each thread does.
    pub(crate) operations: usize,
    /// Whether some messages are sent in any case.
    pub(crate) forces: bool,
}

/// One operation of a sending thread.
fn send<M: Numbered>(sender: &Sender<M>, number: u64, forces: bool, random: &mut Random) -> Op {
    let sent = match random.below(if forces { 6 } else { 3 }) {
        0 => sender.send_timeout(number.into(), Duration::from_micros(5)).map_err(|error| match error {
            SendTimeoutError::Timeout(_) => Op::Full,
            SendTimeoutError::Disconnected(_) => Op::Refused,
        }),
        3.. => {
            let forced = sender.force_send(number.into());
            return forced.map_or(Op::Refused, |displaced| Op::Forced(number, displaced.map(M::into)));
        }
        _ => sender.try_send(number.into()).map_err(|error| match error {
            TrySendError::Full(_) => Op::Full,
            TrySendError::Disconnected(_) => Op::Refused,
        }),
    };
    sent.map_or_else(|full| full, |()| Op::Sent(number))
}

/// One operation of a receiving thread.
fn receive<M: Numbered>(receiver: &Receiver<M>, random: &mut Random) -> Op {
    match random.below(5) {
        0 => receiver
            .recv_timeout(Duration::from_micros(5))
            .map_or_else(|error| if error == RecvTimeoutError::Timeout { Op::Empty } else { Op::Over }, received),
        1 => {
            let mut batch = Vec::new();
            match receiver.try_recv_batch(&mut batch, random.below(4) + 1) {
                Ok(_) => Op::ReceivedAll(batch.into_iter().map(M::into).collect()),
                Err(error) => nothing(error),
            }
        }
        _ => receiver.try_recv().map_or_else(nothing, received),
    }
}

fn received<M: Numbered>(message: M) -> Op {
    Op::Received(message.into())
}

fn nothing(error: TryRecvError) -> Op {
    if error == TryRecvError::Empty { Op::Empty } else { Op::Over }
}

/// A channel for that many messages; without a bound where that is 0.
fn of<M>(capacity: usize) -> (Sender<M>, Receiver<M>) {
    if capacity == 0 { mpmc::unbounded() } else { mpmc::bounded(capacity) }
}

/// The given number of short histories, on one channel. A capacity of 0 is no bound.
pub(crate) fn histories<M: Numbered>(script: Script, histories: usize, seed: u64) {
    let Script { threads, capacity, operations, forces } = script;
    assert!(2 * threads * operations + capacity < MOST);
    let (sender, receiver) = of::<M>(capacity);
    let (clock, barrier) = (Arc::new(Clock::default()), Arc::new(Barrier::new(2 * threads + 1)));
    let workers: Vec<_> = (0..2 * threads)
        .map(|who| {
            let (sender, receiver) = (sender.clone(), receiver.clone());
            let (clock, barrier) = (clock.clone(), barrier.clone());
            let (give, take) = std::sync::mpsc::channel();
            let thread = thread::spawn(move || {
                let mut random = Random::new(seed * 64 + who as u64 + 1);
                for round in 0..histories {
                    barrier.wait();
                    let mut history = Vec::with_capacity(operations);
                    for operation in 0..operations {
                        let number = ((round * 64 + who) * 64 + operation) as u64;
                        clock.record(&mut history, || {
                            Some(if who < threads {
                                send(&sender, number, forces, &mut random)
                            } else {
                                receive(&receiver, &mut random)
                            })
                        });
                    }
                    give.send(history).unwrap();
                    barrier.wait();
                }
            });
            (thread, take)
        })
        .collect();
    for round in 0..histories {
        barrier.wait();
        barrier.wait();
        let mut history: Vec<Event> = workers.iter().flat_map(|(_, history)| history.recv().unwrap()).collect();
        // What is left: nothing is lost, and the next history begins with an empty queue.
        loop {
            clock.record(&mut history, || Some(receiver.try_recv().map_or_else(nothing, received)));
            if history.last().is_some_and(|event| event.op == Op::Empty) {
                break;
            }
        }
        let bound = if capacity == 0 { usize::MAX } else { capacity };
        assert!(is_linearizable(&history, bound), "seed {seed}, history {round}: {history:#?}");
    }
    workers.into_iter().for_each(|(thread, _)| thread.join().unwrap());
}

/// One history of a channel that is closed while the others are at work.
pub(crate) fn closing_history<M: Numbered>(script: Script, seed: u64) {
    let Script { threads, capacity, operations, forces } = script;
    assert!(2 * threads * operations + capacity + 3 < MOST);
    let (sender, receiver) = of::<M>(capacity);
    let (clock, barrier) = (Clock::default(), Barrier::new(2 * threads + 1));
    let mut history = thread::scope(|scope| {
        let (clock, barrier, sender, receiver) = (&clock, &barrier, &sender, &receiver);
        let workers: Vec<_> = (0..2 * threads)
            .map(|who| {
                scope.spawn(move || {
                    let (mut random, mut history) = (Random::new(seed * 64 + who as u64 + 1), Vec::new());
                    barrier.wait();
                    for operation in 0..operations {
                        let number = (who * 64 + operation) as u64;
                        clock.record(&mut history, || {
                            Some(if who < threads {
                                send(sender, number, forces, &mut random)
                            } else {
                                receive(receiver, &mut random)
                            })
                        });
                    }
                    history
                })
            })
            .collect();
        let mut history = Vec::new();
        barrier.wait();
        (0..Random::new(seed).below(400)).for_each(|_| std::hint::spin_loop());
        clock.record(&mut history, || sender.close().then_some(Op::Closed));
        history.extend(workers.into_iter().flat_map(|worker| worker.join().unwrap()));
        history
    });
    loop {
        clock.record(&mut history, || Some(receiver.recv().map_or(Op::Over, received)));
        if history.last().is_some_and(|event| event.op == Op::Over) {
            break;
        }
    }
    let bound = if capacity == 0 { usize::MAX } else { capacity };
    assert!(is_linearizable(&history, bound), "seed {seed}: {history:#?}");
}
