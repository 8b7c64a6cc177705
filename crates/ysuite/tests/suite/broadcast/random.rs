//! Random operations against a simple model: all that was ever sent, and for each receiver its position. Then random
//! operations of several threads, whose receivers come and go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ysuite::TrySendError;
use ysuite::broadcast::{Receiver, RecvError, Sender, TryRecvError};

use super::{Census, Citizen, pair};
use crate::support::{Random, guarded};

/// A receiver, and where it must be.
struct Listener {
    receiver: Receiver<Citizen>,
    next: u64,
    missed: u64,
}

struct Machine {
    sender: Sender<Citizen>,
    census: Census,
    listeners: Vec<Listener>,
    sent: u64,
    capacity: u64,
    is_lossy: bool,
}

impl Machine {
    fn new(is_lossy: bool, capacity: u64) -> Self {
        let (sender, receiver) = pair(is_lossy, capacity as usize);
        let listeners = vec![Listener { receiver, next: 0, missed: 0 }];
        Self { sender, census: Census::default(), listeners, sent: 0, capacity, is_lossy }
    }

    /// How many messages can be sent now.
    fn room(&self) -> u64 {
        match self.listeners.iter().map(|listener| listener.next).min() {
            None => 0,
            Some(_) if self.is_lossy => u64::MAX,
            Some(least) => least + self.capacity - self.sent,
        }
    }

    fn send(&mut self, random: &mut Random) {
        let room = self.room();
        if random.below(3) == 0 {
            let messages = (random.below(2 * self.capacity as usize) as u64).min(room);
            let first = self.sent;
            let batch = (first..first + messages).map(|number| self.census.message(number));
            assert_eq!(self.sender.send_batch(batch).unwrap(), messages as usize);
            self.sent += messages;
            return;
        }
        match self.sender.try_send(self.census.message(self.sent)) {
            Ok(()) => {
                assert!(room > 0);
                self.sent += 1;
            }
            Err(TrySendError::Full(_)) => assert!(room == 0 && !self.listeners.is_empty()),
            Err(TrySendError::Disconnected(_)) => assert!(self.listeners.is_empty()),
        }
    }

    /// One receiver receives, in one of several ways.
    fn receive(&mut self, who: usize, random: &mut Random) {
        let (sent, capacity) = (self.sent, self.capacity);
        let listener = &mut self.listeners[who];
        let oldest = if self.is_lossy { listener.next.max(sent.saturating_sub(capacity)) } else { listener.next };
        assert_eq!(listener.receiver.len() as u64, sent - oldest);
        if random.below(4) == 0 {
            let most = 1 + random.below(capacity as usize + 2);
            let mut batch = Vec::new();
            match listener.receiver.try_recv_batch(&mut batch, most) {
                Ok(taken) => {
                    assert_eq!((oldest, taken as u64), (listener.next, (most as u64).min(sent - oldest)));
                    assert!(batch.iter().map(|message| message.number).eq(oldest..oldest + taken as u64));
                    listener.next += taken as u64;
                }
                Err(TryRecvError::Lagged(missed)) => listener.lagged(missed, oldest),
                Err(error) => assert!(error == TryRecvError::Empty && oldest == sent),
            }
            return;
        }
        match listener.receiver.try_recv() {
            Ok(message) => {
                assert_eq!((message.number, oldest), (listener.next, listener.next));
                listener.next += 1;
            }
            Err(TryRecvError::Lagged(missed)) => listener.lagged(missed, oldest),
            Err(error) => assert!(error == TryRecvError::Empty && oldest == sent),
        }
        assert_eq!(listener.receiver.missed(), listener.missed);
    }

    fn step(&mut self, random: &mut Random) {
        let listeners = self.listeners.len();
        match random.below(20) {
            0..8 => self.send(random),
            8..17 if listeners > 0 => self.receive(random.below(listeners), random),
            17 if listeners < 12 => {
                let receiver = self.sender.subscribe();
                self.listeners.push(Listener { receiver, next: self.sent, missed: 0 });
            }
            18 if (1..12).contains(&listeners) => {
                let original = &self.listeners[random.below(listeners)];
                let clone = Listener { receiver: original.receiver.clone(), next: original.next, missed: 0 };
                self.listeners.push(clone);
            }
            19 if listeners > 0 => drop(self.listeners.swap_remove(random.below(listeners))),
            _ => {}
        }
        assert_eq!(self.sender.receiver_count(), self.listeners.len());
        // No more than a lap of messages is kept.
        assert!(self.census.alive() as u64 <= (self.capacity + self.capacity.div_ceil(8)).next_power_of_two());
    }
}

impl Listener {
    fn lagged(&mut self, missed: u64, oldest: u64) {
        assert!(missed > 0 && missed == oldest - self.next);
        self.missed += missed;
        self.next = oldest;
    }
}

fn operations() -> usize {
    let given = std::env::var("YSUITE_RANDOM").ok().and_then(|number| number.parse().ok());
    given.unwrap_or(if cfg!(miri) { 300 } else { 20_000 })
}

#[test]
fn random_operations_do_what_the_reference_says() {
    for is_lossy in [false, true] {
        for capacity in [1, 2, 3, 4, 7, 8, 20, 64] {
            let (mut machine, mut random) = (Machine::new(is_lossy, capacity), Random::new(capacity));
            (0..operations()).for_each(|_| machine.step(&mut random));
            let census = machine.census.clone();
            drop(machine);
            assert_eq!(census.alive(), 0);
        }
    }
}

/// Follows the messages of two senders: each sender's numbers only grow, and in a bounded channel without a gap.
struct Follower {
    next: [Option<u64>; 2],
    is_lossy: bool,
}

impl Follower {
    fn see(&mut self, message: &Citizen) {
        let (who, number) = ((message.number % 2) as usize, message.number / 2);
        match self.next[who] {
            Some(next) if self.is_lossy => assert!(number >= next),
            Some(next) => assert_eq!(number, next),
            None => {}
        }
        self.next[who] = Some(number + 1);
    }
}

/// A receiver's thread: receives, and now and then goes on as a clone, or joins anew.
fn follow(mut receiver: Receiver<Citizen>, is_lossy: bool, seed: u64) {
    let (mut follower, mut random) = (Follower { next: [None; 2], is_lossy }, Random::new(seed));
    let mut batch = Vec::new();
    loop {
        match random.below(40) {
            0 => {
                let clone = receiver.clone();
                drop(std::mem::replace(&mut receiver, clone));
            }
            1 => {
                let joined = receiver.resubscribe();
                drop(std::mem::replace(&mut receiver, joined));
                follower.next = [None; 2];
            }
            2..6 => match receiver.recv_batch(&mut batch, 1 + random.below(9)) {
                Ok(_) => batch.drain(..).for_each(|message| follower.see(&message)),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Disconnected) => return,
            },
            _ => match receiver.recv() {
                Ok(message) => follower.see(&message),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Disconnected) => return,
            },
        }
        random.pause();
    }
}

#[test]
fn receivers_come_and_go_in_several_threads() {
    let messages = operations() as u64 / 5;
    for is_lossy in [false, true] {
        for capacity in [1, 3, 16] {
            guarded(move || {
                let census = Census::default();
                let (sender, receiver) = pair(is_lossy, capacity);
                let receiving: Vec<_> = (0..3)
                    .map(|who| {
                        let receiver = receiver.clone();
                        thread::spawn(move || follow(receiver, is_lossy, who))
                    })
                    .collect();
                let over = Arc::new(AtomicBool::new(false));
                let (joining, stop) = (sender.clone(), over.clone());
                let coming = thread::spawn(move || {
                    let mut random = Random::new(99);
                    while !stop.load(Ordering::Relaxed) {
                        let mut receiver = joining.subscribe();
                        (0..random.below(4)).for_each(|_| drop(receiver.try_recv()));
                        random.pause();
                    }
                });
                drop(receiver);
                let sending: Vec<_> = (0..2)
                    .map(|who| {
                        let (sender, census) = (sender.clone(), census.clone());
                        thread::spawn(move || {
                            for number in 0..messages {
                                sender.send(census.message(2 * number + who)).unwrap();
                            }
                        })
                    })
                    .collect();
                drop(sender);
                sending.into_iter().for_each(|thread| thread.join().unwrap());
                over.store(true, Ordering::Relaxed);
                coming.join().unwrap();
                receiving.into_iter().for_each(|thread| thread.join().unwrap());
                assert_eq!(census.alive(), 0);
            });
        }
    }
}
