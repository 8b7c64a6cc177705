//! Records what a few threads do with one exchange at the same time, and has the histories checked.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use ysuite::mpmc::{self, Receiver, RecvTimeoutError, SendTimeoutError, Sender, TryRecvError, TrySendError};

use crate::support::Random;
use crate::support::linear::{Clock, Event, MOST, Op, is_linearizable};

/// One operation of a sending thread.
fn send(sender: &Sender<u64>, number: u64, random: &mut Random) -> Op {
    let sent = match random.below(3) {
        0 => sender.send_timeout(number, Duration::from_micros(5)).map_err(|error| match error {
            SendTimeoutError::Timeout(_) => Op::Full,
            SendTimeoutError::Disconnected(_) => panic!("there are receivers"),
        }),
        _ => sender.try_send(number).map_err(|error| match error {
            TrySendError::Full(_) => Op::Full,
            TrySendError::Disconnected(_) => panic!("there are receivers"),
        }),
    };
    sent.map_or_else(|full| full, |()| Op::Sent(number))
}

/// One operation of a receiving thread.
fn receive(receiver: &Receiver<u64>, random: &mut Random) -> Op {
    match random.below(5) {
        0 => receiver.recv_timeout(Duration::from_micros(5)).map_or_else(
            |error| {
                assert_eq!(error, RecvTimeoutError::Timeout);
                Op::Empty
            },
            Op::Received,
        ),
        1 => {
            let mut batch = Vec::new();
            match receiver.try_recv_batch(&mut batch, random.below(4) + 1) {
                Ok(_) => Op::ReceivedAll(batch),
                Err(TryRecvError::Empty) => Op::Empty,
                Err(TryRecvError::Disconnected) => panic!("there are senders"),
            }
        }
        _ => receiver.try_recv().map_or(Op::Empty, Op::Received),
    }
}

/// As many short histories of `threads` senders and as many receivers as asked for, on one channel. A capacity of 0 is no
/// bound.
pub(crate) fn histories(threads: usize, capacity: usize, histories: usize, operations: usize, seed: u64) {
    assert!(2 * threads * operations + capacity < MOST);
    let (sender, receiver) = if capacity == 0 { mpmc::unbounded() } else { mpmc::bounded(capacity) };
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
                                send(&sender, number, &mut random)
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
            clock.record(&mut history, || Some(receiver.try_recv().map_or(Op::Empty, Op::Received)));
            if history.last().is_some_and(|event| event.op == Op::Empty) {
                break;
            }
        }
        let bound = if capacity == 0 { usize::MAX } else { capacity };
        assert!(is_linearizable(&history, bound), "seed {seed}, history {round}: {history:#?}");
    }
    workers.into_iter().for_each(|(thread, _)| thread.join().unwrap());
}
