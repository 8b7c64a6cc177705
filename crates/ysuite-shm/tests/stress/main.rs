//! Stress tests for lost wake-ups between two processes, with the real barrier, which no model can contain. A sender
//! sends bursts of messages and is silent after each until all of it has arrived; both poll for a changing while before
//! they sleep, and sleep for messages and for room. A process whose wake-up is lost then sleeps for ever, and this one,
//! which only watches, says where both stand.
//!
//! Each kind runs with the barrier, and where the kernel refuses `membarrier` to one side or to both. The short form
//! takes seconds. `YSUITE_STRESS=long cargo test --release -p ysuite-shm --test stress` runs each for a minute, or for
//! `YSUITE_SECONDS`. `-- FILTER` runs some of them.
#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "shared with the kills")]
#[path = "../support/casts.rs"]
mod casts;
#[allow(dead_code, reason = "shared with the kills")]
#[path = "../support/kinds.rs"]
mod kinds;
#[allow(dead_code, reason = "shared with the kills")]
#[path = "../kills/process.rs"]
mod process;

use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use casts::{Cast, Numbers, OfBytes};
use kinds::trades::Trade;
use kinds::{Bytes, Call, Careful, Kind, Pipe, Single, Stop, Work, join};
use process::{Child, Shared, forbid};
use ysuite_shm::{
    Borrowed, BroadcastError, LoanError, LoanReceiver, LoanSender, Options, RecvTimeoutError, WatchReceiver,
    WatchSender, connect,
};

/// The longest time for which no message may arrive, on the slowest machine.
const GUARD: Duration = Duration::from_secs(120);
/// Bursts of the short form, if there is time for them.
const BURSTS: u64 = 500;

/// What the two processes share besides the channel: how far they are, and whether it is enough.
#[derive(Clone, Copy)]
enum Word {
    Sent,
    Received,
    /// Messages that are sent before the sender is silent.
    Announced,
    /// 1: the burst is a chase.
    IsChase,
    Bursts,
    IsOver,
    SenderSleeps,
    ReceiverSleeps,
}

const WORDS: usize = 8;

struct State([Shared; WORDS]);

impl State {
    fn get(&self, word: Word) -> u64 {
        self.0[word as usize].get()
    }

    fn set(&self, word: Word, value: u64) {
        self.0[word as usize].set(value);
    }
}

/// Numbers that need not be good, only different.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % most
    }

    /// Some nanoseconds, on one of many scales.
    fn breathe(&mut self) {
        let scale = 2 << self.below(10);
        (0..self.below(scale)).for_each(|_| core::hint::spin_loop());
    }

    fn spin(&mut self) -> u32 {
        [0, 0, 1, 5, 20, 100, 400][self.below(7) as usize]
    }

    /// Mostly short; or so long that the publisher gives its fences up.
    fn burst(&mut self) -> u64 {
        match self.below(8) {
            0 => 70 + self.below(300),
            1..=3 => 1 + self.below(30),
            _ => 1 + self.below(3),
        }
    }
}

/// How often this process has slept.
fn sleeps() -> u64 {
    let mut usage = core::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the call writes the value.
    unsafe {
        assert_eq!(libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()), 0);
        usage.assume_init().ru_nvcsw as u64
    }
}

/// Waits without sleeping: sleeps are counted.
fn wait_until(mut ready: impl FnMut() -> bool) {
    let mut polls = 0_u32;
    while !ready() {
        polls += 1;
        if polls % 256 == 0 {
            thread::yield_now();
        }
        core::hint::spin_loop();
    }
}

fn send_bursts<K: Kind>(mut sender: K::Sender, state: &State, seed: u64) {
    let mut random = Random(seed);
    let (mut next, mut bursts) = (0, 0);
    let before = sleeps();
    while state.get(Word::IsOver) == 0 {
        let is_chase = random.below(3) == 0;
        let end = next + if is_chase { 66 + random.below(8) } else { random.burst() };
        state.set(Word::IsChase, u64::from(is_chase));
        state.set(Word::Announced, end);
        while next < end {
            K::set_spin(&mut sender, random.spin());
            let limit = if random.below(16) == 0 { Duration::from_micros(random.below(100)) } else { Duration::MAX };
            match K::send(&mut sender, next, limit) {
                Ok(()) => next += 1,
                Err(Stop::Time) => continue,
                Err(Stop::Ended(error)) => panic!("{error}"),
            }
            state.set(Word::Sent, next);
            if is_chase && next < end {
                wait_until(|| state.get(Word::Received) == next);
                (0..random.below(64)).for_each(|_| core::hint::spin_loop());
            } else if random.below(4) == 0 {
                random.breathe();
            }
        }
        wait_until(|| state.get(Word::Received) == next);
        // Long enough for the receiver to fall asleep, or almost.
        (0..4).for_each(|_| random.breathe());
        bursts += 1;
        state.set(Word::Bursts, bursts);
    }
    state.set(Word::SenderSleeps, sleeps() - before);
}

fn receive_bursts<K: Kind>(mut receiver: K::Receiver, state: &State, seed: u64) {
    let mut random = Random(seed);
    let mut next = 0;
    let before = sleeps();
    loop {
        let is_followed = state.get(Word::IsChase) == 1 && next + 1 < state.get(Word::Announced);
        K::set_receiver_spin(&mut receiver, if is_followed { 1_000_000 } else { random.spin() });
        let limit = if random.below(16) == 0 { Duration::from_micros(random.below(100)) } else { Duration::MAX };
        match K::recv(&mut receiver, limit) {
            Ok(message) => assert_eq!(message, next, "in order, each once"),
            Err(Stop::Time) => continue,
            Err(Stop::Ended(_)) => break,
        }
        next += 1;
        state.set(Word::Received, next);
        if state.get(Word::IsChase) == 1 {
            continue;
        }
        // So that the sender finds no room, now and then, and sleeps as well.
        if random.below(8) == 0 {
            (0..4).for_each(|_| random.breathe());
        }
    }
    assert_eq!(next, state.get(Word::Sent), "all have arrived");
    state.set(Word::ReceiverSleeps, sleeps() - before);
}

/// To which side the kernel refuses `membarrier`.
#[derive(Clone, Copy)]
struct Refused {
    sender: bool,
    receiver: bool,
}

/// How long: bursts, or a time.
struct Length {
    bursts: u64,
    time: Duration,
}

fn stress<K: Kind>(refused: Refused, length: &Length) -> (u64, u64) {
    let state = State(core::array::from_fn(|_| Shared::new()));
    let (to, from) = K::places();
    let forbid_if = |refused: bool| {
        if refused {
            forbid(libc::SYS_membarrier, libc::EPERM);
        }
    };
    let receiver = Child::run(|| {
        forbid_if(refused.receiver);
        receive_bursts::<K>(K::receiver(from).unwrap(), &state, 0x9e37_79b9_7f4a_7c15);
    });
    let sender = Child::run(|| {
        forbid_if(refused.sender);
        send_bursts::<K>(join::<K>(to, || false).unwrap().unwrap(), &state, 0xd1b5_4a32_d192_ed03);
    });
    let (begin, mut seen) = (Instant::now(), (0, Instant::now()));
    while state.get(Word::Bursts) < length.bursts && begin.elapsed() < length.time {
        thread::sleep(Duration::from_millis(5));
        let received = state.get(Word::Received);
        if received != seen.0 {
            seen = (received, Instant::now());
        } else if seen.1.elapsed() > GUARD || sender.has_ended() || receiver.has_ended() {
            stands_still(&state, &[("sender", &sender), ("receiver", &receiver)]);
        }
    }
    state.set(Word::IsOver, 1);
    sender.join();
    receiver.join();
    (state.get(Word::Received), state.get(Word::SenderSleeps) + state.get(Word::ReceiverSleeps))
}

/// The receivers of a watch or a broadcast.
const READERS: usize = 2;

/// Bursts of values, behind each of which the sender is silent until all receivers have the last one.
fn send_values(name: &str, state: &State, received: &[Shared; READERS], seed: u64) {
    let mut random = Random(seed);
    let mut sender = WatchSender::bind(name, 0_u64).unwrap();
    while sender.receivers() < READERS {
        sender.serve_timeout(Duration::from_millis(1));
    }
    let (mut value, mut bursts) = (0, 0);
    let before = sleeps();
    while state.get(Word::IsOver) == 0 {
        for _ in 0..random.burst() {
            value += 1;
            sender.send(value);
            state.set(Word::Sent, value);
            if random.below(4) == 0 {
                random.breathe();
            }
        }
        wait_until(|| received.iter().all(|received| received.get() == value));
        (0..4).for_each(|_| random.breathe());
        bursts += 1;
        state.set(Word::Bursts, bursts);
    }
    state.set(Word::SenderSleeps, sleeps() - before);
}

fn socket_of(name: &str) -> OwnedFd {
    loop {
        match connect(name) {
            Ok(socket) => return socket,
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn receive_values(name: &str, received: &Shared, slept: &Shared, seed: u64) {
    let mut random = Random(seed);
    let mut receiver = WatchReceiver::<u64>::from_fd(socket_of(name)).unwrap();
    let (mut last, before) = (0, sleeps());
    loop {
        receiver.set_spin(random.spin());
        let limit = if random.below(16) == 0 { Duration::from_micros(random.below(100)) } else { Duration::MAX };
        match receiver.recv_timeout(limit) {
            Ok(value) => {
                assert!(value > last || value == 0, "{value} behind {last}");
                last = value;
                received.set(value);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Ended(_)) => break,
        }
    }
    slept.set(sleeps() - before);
}

/// Bursts of messages, one by one and in batches, with room for few of them.
fn send_to_all<C: Cast>(name: &str, state: &State, received: &[Shared; READERS], seed: u64) {
    let mut random = Random(seed);
    let mut sender = C::bind(&Options::new(), name, 20).unwrap();
    while C::receivers(&sender) < READERS {
        C::serve(&mut sender, Duration::from_millis(1));
    }
    let (mut next, mut bursts) = (0, 0);
    let before = sleeps();
    while state.get(Word::IsOver) == 0 {
        let end = next + random.burst();
        state.set(Word::Announced, end);
        while next < end {
            C::set_spin(&mut sender, random.spin());
            if random.below(2) == 0 {
                C::send(&mut sender, next);
                next += 1;
            } else {
                let to = end.min(next + 1 + random.below(40));
                C::send_batch(&mut sender, next..to);
                next = to;
            }
            state.set(Word::Sent, next);
            if random.below(4) == 0 {
                random.breathe();
            }
        }
        wait_until(|| received.iter().all(|received| received.get() == next));
        (0..4).for_each(|_| random.breathe());
        bursts += 1;
        state.set(Word::Bursts, bursts);
    }
    state.set(Word::SenderSleeps, sleeps() - before);
}

fn receive_all<C: Cast>(name: &str, received: &Shared, slept: &Shared, seed: u64) {
    let mut random = Random(seed);
    let mut receiver = C::join(socket_of(name)).unwrap();
    let (mut batch, mut next, before) = (Vec::new(), 0, sleeps());
    loop {
        C::set_receiver_spin(&mut receiver, random.spin());
        let result = match random.below(3) {
            0 => C::recv_batch(&mut receiver, &mut batch, 1 + random.below(30) as usize),
            1 => C::recv(&mut receiver).map(|message| batch.push(message)),
            _ => {
                let limit = Duration::from_micros(random.below(100));
                C::recv_timeout(&mut receiver, limit).map(|message| batch.push(message))
            }
        };
        match result {
            Ok(()) => {}
            Err(BroadcastError::Empty) => continue,
            Err(BroadcastError::Ended(_)) => break,
            Err(lagged) => panic!("{lagged:?}"),
        }
        for message in batch.drain(..) {
            assert_eq!(message, next, "in order, each once");
            next += 1;
        }
        received.set(next);
        // So that the sender finds no room, now and then, and sleeps as well.
        if random.below(8) == 0 {
            (0..4).for_each(|_| random.breathe());
        }
    }
    slept.set(sleeps() - before);
}

/// Slots, or memory of their own, of few of which there are; each message is all of one number.
fn lend_to_all(name: &str, state: &State, received: &[Shared; READERS], seed: u64) {
    let mut random = Random(seed);
    // One more than both may hold.
    let mut sender = LoanSender::bind(name, 5, 80).unwrap();
    while sender.receivers() < READERS {
        sender.serve_timeout(Duration::from_millis(1));
    }
    let (mut next, mut bursts) = (0_u64, 0);
    let before = sleeps();
    while state.get(Word::IsOver) == 0 {
        let end = next + random.burst();
        state.set(Word::Announced, end);
        while next < end {
            sender.set_spin(random.spin());
            let loan = match random.below(16) {
                0 => sender.large(80),
                1 => sender.loan_timeout(80, Duration::from_micros(random.below(100))),
                _ => sender.loan(80),
            };
            let mut loan = match loan {
                Err(LoanError::Dry) => continue,
                loan => loan.unwrap(),
            };
            loan.write(0, &[next; 10]);
            loan.send().unwrap();
            next += 1;
            state.set(Word::Sent, next);
            if random.below(4) == 0 {
                random.breathe();
            }
        }
        wait_until(|| received.iter().all(|received| received.get() == next));
        (0..4).for_each(|_| random.breathe());
        bursts += 1;
        state.set(Word::Bursts, bursts);
    }
    state.set(Word::SenderSleeps, sleeps() - before);
}

/// Holds some, and gives them back in this thread or another.
fn borrow_all(name: &str, received: &Shared, slept: &Shared, seed: u64) {
    let mut random = Random(seed);
    let mut receiver = LoanReceiver::from_fd(socket_of(name)).unwrap();
    let (to, from) = std::sync::mpsc::channel::<Borrowed>();
    let dropping = thread::spawn(move || from.into_iter().for_each(drop));
    let (mut held, mut next, before) = (Vec::new(), 0_u64, sleeps());
    loop {
        receiver.set_spin(random.spin());
        let limit = if random.below(16) == 0 { Duration::from_micros(random.below(100)) } else { Duration::MAX };
        match receiver.recv_timeout(limit) {
            Ok(borrowed) => held.push((next, borrowed)),
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Ended(_)) => break,
        }
        next += 1;
        received.set(next);
        // Two at most, so that the sender finds no slot, now and then, and sleeps as well.
        while held.len() > random.below(3) as usize {
            let (number, borrowed) = held.swap_remove(random.below(held.len() as u64) as usize);
            assert_eq!(borrowed.read(0), Some([number; 10]), "whole, and in order");
            if random.below(2) == 0 { drop(borrowed) } else { to.send(borrowed).unwrap() }
        }
        if random.below(8) == 0 {
            (0..4).for_each(|_| random.breathe());
        }
    }
    drop((to, held));
    dropping.join().unwrap();
    slept.set(sleeps() - before);
}

/// What the sender and each receiver of a watch or a broadcast do.
struct Crowd {
    send: fn(&str, &State, &[Shared; READERS], u64),
    receive: fn(&str, &Shared, &Shared, u64),
}

/// To which side the kernel refuses `membarrier`: `sender`, and `receiver` for the first of them.
fn stress_crowd(crowd: &Crowd, refused: Refused, length: &Length) -> (u64, u64) {
    let name = format!("stress-{}", std::process::id());
    let state = State(core::array::from_fn(|_| Shared::new()));
    let (received, slept): ([_; READERS], [_; READERS]) =
        (core::array::from_fn(|_| Shared::new()), core::array::from_fn(|_| Shared::new()));
    let readers: Vec<_> = (0..READERS)
        .map(|at| {
            Child::run(|| {
                if refused.receiver && at == 0 {
                    forbid(libc::SYS_membarrier, libc::EPERM);
                }
                (crowd.receive)(&name, &received[at], &slept[at], 0x9e37_79b9_7f4a_7c15 << at);
            })
        })
        .collect();
    let sender = Child::run(|| {
        if refused.sender {
            forbid(libc::SYS_membarrier, libc::EPERM);
        }
        (crowd.send)(&name, &state, &received, 0xd1b5_4a32_d192_ed03);
    });
    let (begin, mut seen) = (Instant::now(), (0, Instant::now()));
    while state.get(Word::Bursts) < length.bursts && begin.elapsed() < length.time {
        thread::sleep(Duration::from_millis(5));
        let sum = received.iter().map(Shared::get).sum();
        if sum != seen.0 {
            seen = (sum, Instant::now());
        } else if seen.1.elapsed() > GUARD || sender.has_ended() || readers.iter().any(Child::has_ended) {
            state.set(Word::Received, received.iter().map(Shared::get).min().unwrap_or(0));
            stands_still(&state, &[("sender", &sender), ("receiver", &readers[0]), ("receiver", &readers[1])]);
        }
    }
    state.set(Word::IsOver, 1);
    sender.join();
    readers.into_iter().for_each(Child::join);
    (state.get(Word::Sent), slept.iter().map(Shared::get).sum())
}

/// Says where both processes are, and ends the test.
fn stands_still(state: &State, children: &[(&str, &Child)]) -> ! {
    let [sent, announced, received] = [Word::Sent, Word::Announced, Word::Received].map(|word| state.get(word));
    println!("it stands still: {sent} of {announced} messages sent, {received} received");
    for (name, child) in children {
        for file in ["wchan", "syscall", "stat"] {
            let said = std::fs::read_to_string(format!("/proc/{}/{file}", child.id())).unwrap_or_default();
            println!("{name}, {file}: {}", said.trim());
        }
    }
    panic!("a wake-up was lost, or a process has failed");
}

fn all(kind: &str, wanted: &str, stress: impl Fn(Refused) -> (u64, u64)) {
    let ways = [
        ("barrier", false, false),
        ("fences of one", true, false),
        ("fences of the other", false, true),
        ("fences", true, true),
    ];
    for (way, sender, receiver) in ways {
        let name = format!("{kind}, {way}");
        if !name.contains(wanted) {
            continue;
        }
        let (messages, sleeps) = stress(Refused { sender, receiver });
        println!("{name}: {messages} messages, {sleeps} sleeps");
        assert!(sleeps > 0, "no process slept: nothing was tested");
    }
}

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let seconds = std::env::var("YSUITE_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let length = if std::env::var("YSUITE_STRESS").is_ok_and(|form| form == "long") {
        Length { bursts: u64::MAX, time: Duration::from_secs(seconds.unwrap_or(60)) }
    } else {
        Length { bursts: BURSTS, time: Duration::from_secs(2) }
    };
    all(Pipe::NAME, &wanted, |refused| stress::<Pipe>(refused, &length));
    all(Careful::NAME, &wanted, |refused| stress::<Careful>(refused, &length));
    all(Bytes::NAME, &wanted, |refused| stress::<Bytes>(refused, &length));
    all(Single::NAME, &wanted, |refused| stress::<Single>(refused, &length));
    of_trade::<kinds::trades::Numbers>(&wanted, &length);
    of_trade::<kinds::trades::OfBytes>(&wanted, &length);
    let watch = Crowd { send: send_values, receive: receive_values };
    all("watch", &wanted, |refused| stress_crowd(&watch, refused, &length));
    of_all::<Numbers>(&wanted, &length);
    of_all::<OfBytes>(&wanted, &length);
    let loan = Crowd { send: lend_to_all, receive: borrow_all };
    all("loan", &wanted, |refused| stress_crowd(&loan, refused, &length));
}

fn of_trade<T: Trade>(wanted: &str, length: &Length) {
    all(T::WORK, wanted, |refused| stress::<Work<T>>(refused, length));
    all(T::CALL, wanted, |refused| stress::<Call<T>>(refused, length));
}

fn of_all<C: Cast>(wanted: &str, length: &Length) {
    let crowd = Crowd { send: send_to_all::<C>, receive: receive_all::<C> };
    all(C::NAME, wanted, |refused| stress_crowd(&crowd, refused, length));
}
