//! The hunt for lost wake-ups, with the barrier that no model can show (`membarrier`): both ends with random gaps, every
//! way of waiting, and after each burst nobody says anything more until all of it has arrived. Whoever then sleeps on
//! would sleep for ever, and the guard says so.
//!
//! Half of the bursts are chases: the ends follow each other message by message, without sleeping, until the free barrier
//! has been chosen; then one goes to sleep in just those nanoseconds in which the other publishes the last message, or
//! the last room. A library with its heavy barrier taken out was caught by nine of the ten hunts within seconds.
//!
//! The short form takes seconds. `YSUITE_STRESS=long cargo test --release -p ysuite --test stress -- --nocapture` goes
//! on until millions of sleeps have been counted, and prints how many.
#![cfg(all(target_os = "linux", not(ysuite_loom)))]

#[path = "stress/exchange.rs"]
mod exchange;
#[path = "stress/funnel.rs"]
mod funnel;
#[path = "mpmc/histories.rs"]
mod histories;
#[path = "stress/mailbox.rs"]
mod mailbox;
#[path = "stress/pool.rs"]
mod pool;
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use support::Random;
use support::executor::block_on;
use support::process::sleeps;
use ysuite::channel::Spin;
use ysuite::os::calls;
use ysuite::signal::{Backend, Wait, YPollset, YSocketpair};
use ysuite::spsc::{self, Receiver, RecvError, RecvTimeoutError, SendTimeoutError, Sender};

/// Sleeps that each kind of hunt of the long form goes on for; there are ten kinds, and those of the funnel and of mailboxes.
const LONG: u64 = 400_000;
/// As long as this nothing may happen at all, on whatever machine.
const GUARD: Duration = Duration::from_secs(120);

/// How often threads have really slept in the channel, and what else they asked the kernel for.
#[derive(Default)]
struct Account {
    sleeps: AtomicU64,
    calls: AtomicU64,
}

/// A thread's own account: what it slept beside the channel's sleeps does not count.
struct Entry {
    sleeps: u64,
    calls: u64,
}

impl Entry {
    fn begin() -> Self {
        Self { sleeps: sleeps(), calls: calls() }
    }

    fn end(self, gaps: &Gaps, account: &Account) {
        let slept = (sleeps() - self.sleeps).saturating_sub(gaps.slept);
        account.sleeps.fetch_add(slept, Ordering::Relaxed);
        account.calls.fetch_add(calls() - self.calls, Ordering::Relaxed);
    }
}

/// Random gaps; counts those in which the thread slept.
struct Gaps {
    random: Random,
    slept: u64,
    /// No gaps at all: back to sleep at once.
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

    /// Some nanoseconds, on one of many scales: which of them brings two threads together is the machine's secret.
    fn breathe(&mut self) {
        let scale = 2 << self.random.below(10);
        for step in 0..self.random.below(scale) {
            std::hint::black_box(step);
        }
    }

    /// After a message, before waiting for the next: in a chase, stays awake until there is one; but not for the last.
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

/// What has arrived; the sender of a burst waits for it, and the guard watches it.
#[derive(Default)]
struct Progress {
    arrived: AtomicU64,
    over: AtomicBool,
}

impl Progress {
    fn wait_for(&self, arrived: u64) {
        wait_until(|| self.arrived.load(Ordering::Acquire) >= arrived);
    }
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

/// Ends the process when nothing has happened for too long: threads that hang cannot be ended otherwise.
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
    /// In a chase: how many more messages will follow at once. Else 0.
    behind: u64,
}

/// One way of receiving everything that is sent, telling of each message.
type Receive = fn(Receiver<Message>, &mut Gaps, &mut dyn FnMut(Message));
/// One way of sending one message.
type Send = fn(&mut Sender<Message>, Message, &mut Gaps);

/// Whether the long form was asked for.
fn is_long() -> bool {
    std::env::var("YSUITE_STRESS").is_ok_and(|form| form == "long")
}

/// Rounds, by number from 1, until enough sleeps were counted: in the short form one. Says and returns how often threads
/// slept, and what they asked the kernel for in all.
fn rounds(name: &'static str, mut round: impl FnMut(u64, &Arc<Account>)) -> (u64, u64) {
    let long = is_long();
    let account = Arc::new(Account::default());
    let mut rounds = 0;
    let start = Instant::now();
    while rounds == 0 || long && account.sleeps.load(Ordering::Relaxed) < LONG {
        rounds += 1;
        round(rounds, &account);
    }
    let (sleeps, calls) = (account.sleeps.load(Ordering::Relaxed), account.calls.load(Ordering::Relaxed));
    println!("{name}: {sleeps} sleeps, {calls} system calls, {rounds} rounds, {} s", start.elapsed().as_secs());
    (sleeps, calls)
}

/// Such rounds, in which somebody must have slept.
fn rounds_with_sleeps(name: &'static str, round: impl FnMut(u64, &Arc<Account>)) {
    let (sleeps, _) = rounds(name, round);
    assert!(sleeps > 0, "nobody slept: nothing was tested");
}

/// Rounds of random bursts.
fn hunt(name: &'static str, capacity: Option<usize>, send: Send, receive: Receive) {
    rounds_with_sleeps(name, |seed, account| round(name, capacity, send, receive, seed, account));
}

fn round(name: &'static str, capacity: Option<usize>, send: Send, receive: Receive, seed: u64, account: &Arc<Account>) {
    const BURSTS: u64 = 1_500;
    let progress = Arc::new(Progress::default());
    guard(name, progress.clone());
    let (mut sender, receiver) = capacity.map_or_else(spsc::unbounded, spsc::bounded);
    let (told, receiving) = (progress.clone(), account.clone());
    let thread = thread::spawn(move || {
        let (entry, mut gaps, mut expected) = (Entry::begin(), Gaps::new(seed * 2), 0);
        receive(receiver, &mut gaps, &mut |message| {
            assert_eq!(message.number, expected);
            expected += 1;
            told.arrived.store(expected, Ordering::Release);
        });
        entry.end(&gaps, &receiving);
    });
    let (entry, mut gaps, mut sent) = (Entry::begin(), Gaps::new(seed * 2 + 1), 0);
    for _ in 0..BURSTS {
        sender.set_spin(gaps.spin());
        let chase = gaps.random.below(2) == 0;
        let burst = 1 + if chase { 70 + gaps.random.below(60) } else { gaps.random.below(60) } as u64;
        for message in sent..sent + burst {
            let behind = if chase { sent + burst - 1 - message } else { 0 };
            if behind > 0 {
                wait_until(|| !sender.is_full());
            }
            send(&mut sender, Message { number: message, behind }, &mut gaps);
            if chase { gaps.breathe() } else { gaps.pass() }
        }
        sender.flush();
        sent += burst;
        progress.wait_for(sent);
        // Long enough to fall asleep, or not quite.
        (0..gaps.random.below(400)).for_each(|_| std::hint::spin_loop());
    }
    drop(sender);
    entry.end(&gaps, account);
    progress.over.store(true, Ordering::Release);
    assert!(thread.join().is_ok(), "{name}: the receiving thread has failed");
    assert_eq!(progress.arrived.load(Ordering::Acquire), sent);
}

fn plain(sender: &mut Sender<Message>, message: Message, _gaps: &mut Gaps) {
    sender.send(message).expect("a receiver");
}

fn in_batches(sender: &mut Sender<Message>, message: Message, gaps: &mut Gaps) {
    sender.write(message).expect("a receiver");
    if message.behind > 0 || gaps.random.below(10) == 0 {
        sender.flush();
    }
}

fn with_timeouts(sender: &mut Sender<Message>, mut message: Message, gaps: &mut Gaps) {
    loop {
        match sender.send_timeout(message, Duration::from_micros(gaps.random.next() % 100)) {
            Ok(()) => return,
            Err(SendTimeoutError::Timeout(back)) => message = back,
            Err(SendTimeoutError::Disconnected(_)) => panic!("no receiver"),
        }
    }
}

fn as_a_task(sender: &mut Sender<Message>, message: Message, _gaps: &mut Gaps) {
    block_on(sender.send_async(message)).expect("a receiver");
}

fn blocking(mut receiver: Receiver<Message>, gaps: &mut Gaps, told: &mut dyn FnMut(Message)) {
    while let Ok(message) = receiver.recv() {
        told(message);
        gaps.follow(message, || receiver.is_empty());
        receiver.set_spin(gaps.spin());
    }
}

fn blocking_in_batches(mut receiver: Receiver<Message>, gaps: &mut Gaps, told: &mut dyn FnMut(Message)) {
    let mut batch = Vec::new();
    while receiver.recv_batch(&mut batch, 1 + gaps.random.below(40)).is_ok() {
        let last = *batch.last().expect("at least one");
        batch.drain(..).for_each(&mut *told);
        gaps.follow(last, || receiver.is_empty());
        receiver.set_spin(gaps.spin());
    }
}

fn timing_out(mut receiver: Receiver<Message>, gaps: &mut Gaps, told: &mut dyn FnMut(Message)) {
    loop {
        let timeout = if gaps.random.below(2) == 0 { gaps.random.next() % 60 } else { u64::MAX };
        match receiver.recv_timeout(Duration::from_micros(timeout)) {
            Ok(message) => {
                told(message);
                gaps.follow(message, || receiver.is_empty());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        receiver.set_spin(gaps.spin());
    }
}

fn tasks(mut receiver: Receiver<Message>, gaps: &mut Gaps, told: &mut dyn FnMut(Message)) {
    while let Ok(message) = block_on(receiver.recv_async()) {
        told(message);
        gaps.follow(message, || receiver.is_empty());
    }
}

/// Receives from a set, stopping half way through now and then, and waiting in other ways in between.
fn attached(mut set: impl Wait, mut receiver: Receiver<Message>, gaps: &mut Gaps, told: &mut dyn FnMut(Message)) {
    loop {
        assert!(set.poll().eq([3]));
        for _ in 0..1 + gaps.random.below(30) {
            match receiver.try_recv() {
                Ok(message) => {
                    told(message);
                    gaps.follow(message, || receiver.is_empty());
                }
                Err(error) if error.is_empty() => break,
                Err(_) => return,
            }
        }
    }
}

fn in_a_pollset(mut receiver: Receiver<Message>, gaps: &mut Gaps, told: &mut dyn FnMut(Message)) {
    let mut set = YPollset::new();
    set.attach(&mut receiver, 3).expect("a free id");
    attached(set, receiver, gaps, told);
}

fn in_a_socketpair(mut receiver: Receiver<Message>, gaps: &mut Gaps, told: &mut dyn FnMut(Message)) {
    let backend = if gaps.random.below(2) == 0 { Backend::Eventfd } else { Backend::Socketpair };
    let mut set = YSocketpair::with_backend(256, backend).expect("descriptors");
    set.attach(&mut receiver, 3).expect("a free id");
    attached(set, receiver, gaps, told);
}

fn in_every_way(mut receiver: Receiver<Message>, gaps: &mut Gaps, told: &mut dyn FnMut(Message)) {
    let mut set = YPollset::new();
    set.attach(&mut receiver, 3).expect("a free id");
    loop {
        let received = match gaps.random.below(4) {
            0 => receiver.recv(),
            1 => block_on(receiver.recv_async()),
            2 => match receiver.recv_timeout(Duration::from_micros(gaps.random.next() % 50)) {
                Err(RecvTimeoutError::Timeout) => continue,
                received => received.map_err(|_| RecvError),
            },
            _ => {
                assert!(set.poll().eq([3]));
                match receiver.try_recv() {
                    Err(error) if error.is_empty() => continue,
                    received => received.map_err(|_| RecvError),
                }
            }
        };
        match received {
            Ok(message) => {
                told(message);
                gaps.follow(message, || receiver.is_empty());
            }
            Err(RecvError) => return,
        }
    }
}

#[test]
fn blocking_receives() {
    hunt("blocking receives", None, plain, blocking);
}

#[test]
fn batches_on_both_sides() {
    hunt("batches on both sides", Some(64), in_batches, blocking_in_batches);
}

#[test]
fn timeouts() {
    hunt("timeouts", None, plain, timing_out);
}

#[test]
fn one_place_both_ways() {
    hunt("one place, both ways", Some(1), plain, blocking);
}

#[test]
fn few_places_and_timeouts_both_ways() {
    hunt("few places, timeouts both ways", Some(5), with_timeouts, timing_out);
}

#[test]
fn tasks_receive() {
    hunt("tasks", None, plain, tasks);
}

#[test]
fn tasks_on_both_sides_of_few_places() {
    hunt("tasks on both sides of few places", Some(3), as_a_task, tasks);
}

#[test]
fn attached_to_a_pollset() {
    hunt("attached to a pollset", None, plain, in_a_pollset);
}

#[test]
fn attached_to_a_socketpair() {
    hunt("attached to a socketpair", Some(20), plain, in_a_socketpair);
}

#[test]
fn every_way_of_waiting_in_turn() {
    hunt("every way of waiting in turn", Some(100), in_batches, in_every_way);
}
