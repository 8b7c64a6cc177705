//! The hunt in the pool, with the barrier that no model can show: threads that take, pass on and give back at random from
//! a pool that is nearly always exhausted, so that they steal from each other and sleep; threads come and go meanwhile.
//! A block that two have at once shows by what is written into it, a wake-up that is lost by the guard, and at the end
//! every block must be there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::mpmc::{self, Receiver, Sender};
use ysuite::pool::{Message, Pool};

use super::{Account, Entry, Gaps, Progress, guard, rounds};

/// A hunt with so many threads and blocks.
#[derive(Clone, Copy)]
struct Hunt {
    name: &'static str,
    threads: u64,
    blocks: usize,
    /// The most one thread tries to keep: more than there is.
    keeps: usize,
    /// How often each thread takes and gives back before it ends.
    turns: u32,
}

impl Hunt {
    fn run(self) {
        let (_, calls) = rounds(self.name, |seed, account| self.round(seed, account));
        assert!(calls > 0, "nobody slept or stole: nothing was tested");
    }

    fn round(self, seed: u64, account: &Arc<Account>) {
        let progress = Arc::new(Progress::default());
        guard(self.name, progress.clone());
        let pool = Pool::new(&[(40, self.blocks), (200, self.blocks)]).expect("a pool");
        // Whoever frees is seldom who has taken.
        let (sender, receiver) = mpmc::bounded(2 * self.blocks);
        let numbers = AtomicU64::new(1);
        thread::scope(|scope| {
            for who in 0..self.threads {
                let (pool, ends, numbers, progress) = (&pool, (&sender, &receiver), &numbers, &progress);
                scope.spawn(move || {
                    // In stretches, each by a thread that leaves its magazines to the others.
                    for stretch in 0..8 {
                        let seed = seed * 1_000 + who * 10 + stretch;
                        thread::scope(|scope| {
                            scope.spawn(move || self.stretch(seed, pool, ends, numbers, progress, account));
                        });
                    }
                });
            }
        });
        drop((sender, receiver));
        progress.over.store(true, Ordering::Release);
        for len in [1, 200] {
            let all: Vec<_> = std::iter::from_fn(|| pool.try_take(len)).collect();
            assert_eq!(all.len(), self.blocks, "{}: blocks of {len}", self.name);
        }
    }

    fn stretch(
        self,
        seed: u64,
        pool: &Pool,
        (sender, receiver): (&Sender<Message>, &Receiver<Message>),
        numbers: &AtomicU64,
        progress: &Progress,
        account: &Account,
    ) {
        let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed));
        let mut kept: Vec<(u64, Message)> = Vec::new();
        for _ in 0..self.turns {
            let goal = 1 + gaps.random.below(self.keeps);
            while kept.len() < goal {
                let Some(mut message) = take(pool, kept.is_empty(), &mut gaps) else { break };
                let number = numbers.fetch_add(1, Ordering::Relaxed);
                write(&mut message, number);
                kept.push((number, message));
            }
            gaps.breathe();
            if gaps.random.below(4) == 0 {
                // The others find nothing, meanwhile.
                thread::yield_now();
            }
            // All must go before this thread waits again: those who wait with blocks in hand wait for each other.
            for (number, message) in kept.drain(..) {
                assert_eq!(read(&message), number, "{}: a block with two owners", self.name);
                match gaps.random.below(3) {
                    0 => drop(message),
                    // Back it comes where another thread has not quite finished receiving, and is dropped.
                    _ => drop(sender.try_send(message)),
                }
            }
            for _ in 0..gaps.random.below(2 * self.keeps) {
                receiver.try_recv().iter().for_each(|message| assert_ne!(read(message), 0));
            }
            progress.arrived.fetch_add(1, Ordering::Release);
            gaps.pass();
            // What is in the channel is nobody's who could free it otherwise.
            receiver.try_iter().for_each(drop);
        }
        entry.end(&gaps, account);
    }
}

/// Takes one in some way; waits only where it has none.
fn take(pool: &Pool, may_wait: bool, gaps: &mut Gaps) -> Option<Message> {
    let len = if gaps.random.below(2) == 0 { 16 + gaps.random.below(25) } else { 100 + gaps.random.below(101) };
    match gaps.random.below(4) {
        0 if may_wait => Some(pool.take(len)),
        1 if may_wait => pool.take_timeout(len, Duration::from_micros(gaps.random.next() % 100)),
        _ => pool.try_take(len),
    }
}

/// A number at both ends.
fn write(message: &mut Message, number: u64) {
    let end = message.len() - 8;
    message[..8].copy_from_slice(&number.to_ne_bytes());
    message[end..].copy_from_slice(&number.to_ne_bytes());
}

fn read(message: &Message) -> u64 {
    let number = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("8 bytes"));
    let (first, last) = (number(&message[..8]), number(&message[message.len() - 8..]));
    assert_eq!(first, last, "a block with two owners");
    first
}

#[test]
fn a_block_or_two_for_each_thread() {
    Hunt { name: "pool, few blocks", threads: 4, blocks: 6, keeps: 14, turns: 1_000 }.run();
}

#[test]
fn one_block_for_all() {
    Hunt { name: "pool, one block", threads: 3, blocks: 1, keeps: 3, turns: 1_500 }.run();
}

#[test]
fn magazines_change_hands() {
    Hunt { name: "pool, many blocks", threads: 4, blocks: 600, keeps: 1_300, turns: 60 }.run();
}
