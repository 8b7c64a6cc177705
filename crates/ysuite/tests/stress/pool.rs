//! The stress test of the pool, with the real barrier, which no model can contain: threads take, pass on and give back
//! at random from a pool that is nearly always exhausted, so that they steal from each other and sleep; threads come
//! and go meanwhile. The numbers written into a block show whether two threads have it at once, the guard reports a
//! lost wake-up, and finally every block must be free.
//!
//! A taker first polls, then yields twice. So it sleeps only if the owners keep the blocks longer than that, and that
//! time depends on the load of the machine. Here the owners keep them, every other time, until the kernel reports that
//! a taker is asleep, and otherwise for a random time of up to some tens of microseconds. The short form of each stress
//! test goes on until a thread has slept, which may take some rounds on a quiet machine; the long form ends after a
//! minute, or earlier at the number of sleeps of the other stress tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::mpmc::{self, Receiver, Sender};
use ysuite::pool::{Message, Pool};

use super::support::process::{is_asleep, thread_id};
use super::{Account, Entry, Gaps, Limits, Progress, guard, rounds_with_sleeps};

/// The short form ends after the round with the first sleep, which may take some rounds on a quiet machine.
const LIMITS: Limits = Limits { short: 1, time: Duration::from_secs(60) };

/// A stress test, by its numbers of threads and blocks.
#[derive(Clone, Copy)]
struct Stress {
    name: &'static str,
    threads: u64,
    blocks: usize,
    /// The largest number of blocks that one thread tries to keep: more than there are.
    keeps: usize,
    /// How often each thread takes and gives back before it exits.
    turns: u32,
}

impl Stress {
    fn run(self) {
        rounds_with_sleeps(self.name, LIMITS, |seed, account| self.round(seed, account));
    }

    fn round(self, seed: u64, account: &Arc<Account>) {
        let progress = Arc::new(Progress::default());
        guard(self.name, progress.clone());
        let pool = Pool::new(&[(40, self.blocks), (200, self.blocks)]).expect("a pool");
        // The thread that frees a block is seldom the thread that has taken it.
        let (sender, receiver) = mpmc::bounded(2 * self.blocks);
        let (numbers, waiting) = (AtomicU64::new(1), Waiting::default());
        thread::scope(|scope| {
            for who in 0..self.threads {
                let (pool, ends, shared) = (&pool, (&sender, &receiver), (&numbers, &waiting, &*progress));
                scope.spawn(move || {
                    // Each stretch has a thread of its own, which leaves its magazines to the others when it exits.
                    for stretch in 0..8 {
                        let seed = seed * 1_000 + who * 10 + stretch;
                        thread::scope(|scope| {
                            scope.spawn(move || self.stretch((seed, who), pool, ends, shared, account));
                        });
                    }
                });
            }
        });
        drop((sender, receiver));
        progress.end();
        for len in [1, 200] {
            let all: Vec<_> = std::iter::from_fn(|| pool.try_take(len)).collect();
            assert_eq!(all.len(), self.blocks, "{}: blocks of {len}", self.name);
        }
    }

    fn stretch(
        self,
        (seed, who): (u64, u64),
        pool: &Pool,
        (sender, receiver): (&Sender<Message>, &Receiver<Message>),
        (numbers, waiting, progress): (&AtomicU64, &Waiting, &Progress),
        account: &Account,
    ) {
        let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed));
        let mut kept: Vec<(u64, Message)> = Vec::new();
        for _ in 0..self.turns {
            let goal = 1 + gaps.random.below(self.keeps);
            while kept.len() < goal {
                let message = if kept.is_empty() {
                    waiting.during(who, || take(pool, true, &mut gaps))
                } else {
                    take(pool, false, &mut gaps)
                };
                let Some(mut message) = message else { break };
                let number = numbers.fetch_add(1, Ordering::Relaxed);
                write(&mut message, number);
                kept.push((number, message));
            }
            hold(&mut gaps, waiting);
            // This thread must give up all its blocks before it waits again: threads that wait while they have blocks
            // would wait for each other.
            for (number, message) in kept.drain(..) {
                assert_eq!(read(&message), number, "{}: a block with two owners", self.name);
                match gaps.random.below(3) {
                    0 => drop(message),
                    // Where another thread has not finished receiving yet, the block comes back, and is dropped.
                    _ => drop(sender.try_send(message)),
                }
            }
            for _ in 0..gaps.random.below(2 * self.keeps) {
                receiver.try_recv().iter().for_each(|message| assert_ne!(read(message), 0));
            }
            progress.arrived.fetch_add(1, Ordering::Release);
            gaps.pass();
            // No other thread may be left to free the blocks that are in the channel.
            receiver.try_iter().for_each(drop);
        }
        entry.end(&gaps, account);
    }
}

/// Takes a block in one of three ways. Where `may_wait`, mostly in a way that waits.
fn take(pool: &Pool, may_wait: bool, gaps: &mut Gaps) -> Option<Message> {
    // Most takers ask for the same class, so that some must wait.
    let len = if gaps.random.below(8) != 0 { 16 + gaps.random.below(25) } else { 100 + gaps.random.below(101) };
    match gaps.random.below(8) {
        0..=4 if may_wait => Some(pool.take(len)),
        5 | 6 if may_wait => pool.take_timeout(len, Duration::from_micros(gaps.random.next() % 200)),
        _ => pool.try_take(len),
    }
}

/// The kernel's ids of the threads that are about to wait; 0 for the others.
#[derive(Default)]
struct Waiting([AtomicI32; 8]);

impl Waiting {
    /// Runs `wait`, which may wait, in thread `who` of the stress test.
    fn during<R>(&self, who: u64, wait: impl FnOnce() -> R) -> R {
        let place = &self.0[who as usize];
        place.store(thread_id(), Ordering::Release);
        let result = wait();
        place.store(0, Ordering::Release);
        result
    }

    /// Whether one of the threads is asleep.
    fn is_any_asleep(&self) -> bool {
        self.0.iter().any(|place| is_asleep(place.load(Ordering::Acquire)))
    }
}

/// Keeps this thread's blocks until the others have polled in vain, yielded in vain, and fallen asleep, or almost.
fn hold(gaps: &mut Gaps, waiting: &Waiting) {
    if gaps.random.below(2) == 0 {
        // With a limit: while the others keep blocks as well, no thread sleeps.
        for _ in 0..8 {
            if waiting.is_any_asleep() {
                break;
            }
            thread::yield_now();
        }
    }
    gaps.breathe();
    let scale = 1 << gaps.random.below(17);
    for step in 0..gaps.random.below(scale) {
        std::hint::black_box(step);
    }
}

/// Writes a number at the start and the end of a block.
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
    Stress { name: "pool, few blocks", threads: 4, blocks: 6, keeps: 14, turns: 40 }.run();
}

#[test]
fn one_block_for_all() {
    Stress { name: "pool, one block", threads: 3, blocks: 1, keeps: 3, turns: 60 }.run();
}

#[test]
fn magazines_change_hands() {
    Stress { name: "pool, many blocks", threads: 4, blocks: 600, keeps: 1_300, turns: 30 }.run();
}
