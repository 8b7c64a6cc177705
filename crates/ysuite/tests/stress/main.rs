//! The stress tests for lost wake-ups, with the real barrier (`membarrier`), which no model can contain: both sides
//! with random gaps, every way of waiting, and after each burst the senders are silent until all of it has arrived. A
//! thread whose wake-up is lost then sleeps for ever, and the guard reports it.
//!
//! Half of the bursts are chases: the two sides follow each other message by message, without sleeping, until the
//! publisher has chosen the free barrier. Then one side goes to sleep in the same nanoseconds in which the other
//! publishes the last message, or the last room. Nine of the ten stress tests failed within seconds with a library
//! whose heavy barrier was removed.
//!
//! The short form takes seconds. `YSUITE_STRESS=long cargo test --release -p ysuite --test stress -- --nocapture` goes
//! on until millions of sleeps have been counted, and prints how many. With `YSUITE_SECONDS=60` as well each stress
//! test begins rounds for that time instead, independent of its counts: `ci/soak` runs them like this.
//!
//! On Windows nobody says how often a thread has slept: the library's system calls are counted, to sleep or to wake a
//! thread that sleeps, and how often a task's thread parks.
#![cfg(all(any(target_os = "linux", windows), not(ysuite_loom)))]

mod broadcast;
mod closing;
mod empty;
mod exchange;
mod funnel;
#[path = "../suite/mpmc/histories.rs"]
mod histories;
#[cfg(unix)]
mod hub;
mod mailbox;
mod oneshot;
mod pipe;
mod places;
mod pool;
mod rendezvous;
mod select;
#[path = "../support/mod.rs"]
mod support;
mod watch;

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use support::process::sleeps;
use support::{Random, executor};
use ysuite::Spin;
use ysuite::os::calls;

/// In the long form each stress test goes on until this many sleeps are counted; there are ten kinds, and those of mpsc
/// channels, mailboxes, watches, oneshots and hubs. Those of selects, rendezvous, room and closes begin no round after
/// a quarter of a minute.
const LONG: u64 = 400_000;
/// The longest time for which no message may arrive, on the slowest machine.
const GUARD: Duration = Duration::from_secs(120);

/// How often threads have really slept in the channel, and how many system calls the library has made.
#[derive(Default)]
struct Account {
    sleeps: AtomicU64,
    calls: AtomicU64,
}

/// A thread's own account. Its sleeps outside the channel do not count.
struct Entry {
    sleeps: u64,
    calls: u64,
}

impl Entry {
    fn begin() -> Self {
        PARKS.set(0);
        Self { sleeps: sleeps(), calls: calls() }
    }

    fn end(self, gaps: &Gaps, account: &Account) {
        let counted = sleeps() - self.sleeps;
        // Linux counts all sleeps, and the library's calls are those in the channel.
        let slept = if cfg!(target_os = "linux") { counted.saturating_sub(gaps.slept) } else { counted + PARKS.get() };
        account.sleeps.fetch_add(slept, Ordering::Relaxed);
        account.calls.fetch_add(calls() - self.calls, Ordering::Relaxed);
    }
}

/// Random gaps; counts those in which the thread slept.
struct Gaps {
    random: Random,
    slept: u64,
    /// No gaps: the receiver goes back to sleep at once.
    at_once: bool,
}

impl Gaps {
    fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), slept: 0, at_once: false }
    }

    fn at_once(seed: u64) -> Self {
        Self { at_once: true, ..Self::new(seed) }
    }

    fn pass(&mut self) {
        match self.random.below(400) {
            0 => {
                self.slept += 1;
                thread::sleep(Duration::from_micros(self.random.next() % 100));
            }
            1..=20 => thread::yield_now(),
            21..=250 => (0..self.random.below(150)).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    }

    /// Some nanoseconds, on one of many scales: the machine decides which of them makes two threads coincide.
    fn breathe(&mut self) {
        let scale = 2 << self.random.below(10);
        for step in 0..self.random.below(scale) {
            std::hint::black_box(step);
        }
    }

    /// After a message, before waiting for the next. In a chase, stays awake until the next is there; but not for the
    /// last.
    fn follow(&mut self, message: Message, is_empty: impl Fn() -> bool) {
        match message.behind {
            _ if self.at_once => {}
            0 => self.pass(),
            1 => self.breathe(),
            _ => wait_until(|| !is_empty()),
        }
    }

    fn spin(&mut self) -> Spin {
        if !self.at_once && self.random.below(3) == 0 { Spin::Adaptive } else { Spin::None }
    }
}

/// How many messages have arrived in all rounds that are over.
static ARRIVED: AtomicU64 = AtomicU64::new(0);

/// How many messages have arrived. The sender of a burst waits for them, and the guard watches the number.
#[derive(Default)]
struct Progress {
    arrived: AtomicU64,
    over: AtomicBool,
}

impl Progress {
    fn wait_for(&self, arrived: u64) {
        wait_until(|| self.arrived.load(Ordering::Acquire) >= arrived);
    }

    /// A round is over, and all that it sent has arrived.
    fn end(&self) {
        ARRIVED.fetch_add(self.arrived.load(Ordering::Acquire), Ordering::Relaxed);
        self.over.store(true, Ordering::Release);
    }
}

/// The bursts of several senders. After its own each is silent until those of all have arrived.
struct Bursts {
    senders: u64,
    sent: AtomicU64,
    ended: AtomicU64,
}

impl Bursts {
    fn of(senders: u64) -> Self {
        Self { senders, sent: AtomicU64::new(0), ended: AtomicU64::new(0) }
    }

    /// How many messages the bursts that have ended had.
    fn sent(&self) -> u64 {
        self.sent.load(Ordering::Acquire)
    }

    /// A sender's burst, numbered from 1, of `messages` messages is over. Each of them arrives `copies` times.
    fn end(&self, burst: u64, messages: u64, copies: u64, progress: &Progress, gaps: &mut Gaps) {
        self.sent.fetch_add(messages, Ordering::AcqRel);
        self.ended.fetch_add(1, Ordering::AcqRel);
        wait_until(|| self.ended.load(Ordering::Acquire) >= self.senders * burst);
        progress.wait_for(copies * self.sent());
        // Long enough for the receivers to fall asleep, or almost.
        (0..gaps.random.below(400)).for_each(|_| std::hint::spin_loop());
    }
}

/// Sends `$messages` messages by all ways of sending, with a sender that can be shared.
macro_rules! send_by_all_ways {
    ($sender:expr, $messages:expr, $gaps:expr) => {{
        $sender.set_spin($gaps.spin());
        let mut left: u64 = $messages;
        while left > 0 {
            left -= 1;
            match $gaps.random.below(16) {
                0 => block_on($sender.send_async(left)).expect("a receiver"),
                1 => loop {
                    let patience = Duration::from_micros($gaps.random.next() % 100);
                    match $sender.send_timeout(left, patience) {
                        Ok(()) => break,
                        Err(SendTimeoutError::Timeout(_)) => {}
                        Err(SendTimeoutError::Disconnected(_)) => panic!("no receiver"),
                    }
                },
                2 => {
                    let batch = left.min($gaps.random.next() % 70);
                    assert_eq!($sender.send_batch(0..=batch).map_err(|_| "no receiver"), Ok(batch as usize + 1));
                    left -= batch;
                }
                _ => $sender.send(left).expect("a receiver"),
            }
            $gaps.breathe();
        }
    }};
}
use send_by_all_ways;

thread_local! {
    /// How often a task of this thread has waited.
    static PARKS: Cell<u64> = const { Cell::new(0) };
}

/// Runs a future on this thread, which parks while the future waits.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    executor::block_on(poll_fn(|context| {
        let polled = future.as_mut().poll(context);
        PARKS.set(PARKS.get() + u64::from(polled.is_pending()));
        polled
    }))
}

/// Waits without sleeping: sleeps are counted.
fn wait_until(mut ready: impl FnMut() -> bool) {
    let mut looks = 0_u32;
    while !ready() {
        looks += 1;
        if looks % 1024 == 0 {
            thread::yield_now();
        }
        std::hint::spin_loop();
    }
}

/// Aborts the process when no message has arrived for too long: threads that hang cannot be ended otherwise.
fn guard(name: &'static str, progress: Arc<Progress>) {
    thread::spawn(move || {
        let (mut seen, mut since) = (0, Instant::now());
        while !progress.over.load(Ordering::Acquire) {
            thread::sleep(Duration::from_millis(20));
            let arrived = progress.arrived.load(Ordering::Acquire);
            if arrived != seen {
                (seen, since) = (arrived, Instant::now());
            } else if since.elapsed() > GUARD {
                eprintln!("{name}: a wake-up was lost after message {arrived}");
                std::process::abort();
            }
        }
    });
}

#[derive(Clone, Copy)]
struct Message {
    number: u64,
    /// In a chase: how many more messages follow at once. Else 0.
    behind: u64,
}

/// Whether the long form was asked for.
fn is_long() -> bool {
    std::env::var("YSUITE_STRESS").is_ok_and(|form| form == "long")
}

/// For how long each stress test of the long form begins rounds, if a time was given.
fn time() -> Option<Duration> {
    let seconds = std::env::var("YSUITE_SECONDS").ok()?;
    is_long().then(|| Duration::from_secs(seconds.parse().expect("YSUITE_SECONDS is a number")))
}

/// Whether a stress test that counts no sleeps begins another round, after `rounds` of them: `short` or `long` in its
/// two forms, or until the given time.
fn goes_on(rounds: u64, short: u64, long: u64, start: Instant) -> bool {
    match time() {
        Some(time) => rounds == 0 || start.elapsed() < time,
        None => rounds < if is_long() { long } else { short },
    }
}

/// How long a stress test goes on.
#[derive(Clone, Copy)]
struct Limits {
    /// Sleeps after which the short form ends; it has one round at least.
    short: u64,
    /// No round of either form begins later than this, however few sleeps are counted.
    time: Duration,
}

impl Limits {
    /// The short form is one round.
    const ONE_ROUND: Self = Self { short: 0, time: Duration::MAX };
}

/// Rounds, numbered from 1, until enough sleeps are counted. Prints and returns the number of sleeps, and the number of
/// system calls.
fn rounds(name: &'static str, limits: Limits, mut round: impl FnMut(u64, &Arc<Account>)) -> (u64, u64) {
    let (enough, time) = match time() {
        Some(time) => (u64::MAX, time),
        None => (if is_long() { LONG } else { limits.short }, limits.time),
    };
    let before = ARRIVED.load(Ordering::Relaxed);
    let account = Arc::new(Account::default());
    let mut rounds = 0;
    let start = Instant::now();
    while rounds == 0 || start.elapsed() < time && account.sleeps.load(Ordering::Relaxed) < enough {
        rounds += 1;
        round(rounds, &account);
    }
    let (sleeps, calls) = (account.sleeps.load(Ordering::Relaxed), account.calls.load(Ordering::Relaxed));
    // Of other stress tests too, if they run at the same time.
    let messages = ARRIVED.load(Ordering::Relaxed) - before;
    let seconds = start.elapsed().as_secs();
    println!("{name}: {sleeps} sleeps, {calls} system calls, {messages} messages, {rounds} rounds, {seconds} s");
    (sleeps, calls)
}

/// Rounds in which at least one thread must have slept: on a machine that is busy with other things it may take several.
fn rounds_with_sleeps(name: &'static str, limits: Limits, round: impl FnMut(u64, &Arc<Account>)) {
    let time = if is_long() { limits.time } else { limits.time.min(Duration::from_secs(60)) };
    let limits = Limits { short: limits.short.max(1), time };
    let (sleeps, _) = rounds(name, limits, round);
    assert!(sleeps > 0, "no thread slept: nothing was tested");
}
