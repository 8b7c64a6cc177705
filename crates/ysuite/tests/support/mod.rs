//! What several test files need: messages that count their drops, guards against hanging, a small executor, children.
//!
//! Nothing here asserts on time. A guard's limit is so generous that only a thread that is never woken meets it.

// Each test file uses what concerns it.
#![allow(dead_code)]

pub(crate) mod executor;
pub(crate) mod interrupt;
pub(crate) mod linear;
pub(crate) mod process;
pub(crate) mod samples;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Once};
use std::thread;
use std::time::Duration;

#[cfg(unix)]
use ysuite::signal::Backend;

/// Runs `test` and fails if it has not ended after five minutes: a lost wake-up fails instead of hanging the whole run. Where
/// a hundred threads want each CPU, thirty thousand messages through a channel of one take more than two.
#[track_caller]
pub(crate) fn guarded<R: Send + 'static>(test: impl FnOnce() -> R + Send + 'static) -> R {
    // Boxed, so that what follows is compiled once, and not for each of some hundred tests.
    guarded_by_another_thread(Box::new(test))
}

#[track_caller]
fn guarded_by_another_thread<R: Send + 'static>(test: Box<dyn FnOnce() -> R + Send>) -> R {
    let (done, ended) = channel();
    // The stack is for messages that are larger than most.
    let worker = thread::Builder::new().stack_size(64 << 20).spawn(move || {
        let result = test();
        let _ = done.send(());
        result
    });
    let worker = worker.expect("a thread");
    if let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(Duration::from_secs(300)) {
        panic!("hangs: a wake-up was lost");
    }
    worker.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// System calls of the library on this thread, counted from when this process has made those that it makes once: a test may be the
/// first, or the only one.
pub(crate) fn calls() -> u64 {
    static ONCE: Once = Once::new();
    ONCE.call_once(ysuite::prepare);
    ysuite::os::calls()
}

/// The descriptors a set of signals must have here, the quickest first: all of the platform's, except an eventfd if
/// `ci/lib/sandboxed` has it refused.
#[cfg(unix)]
pub(crate) fn backends() -> Vec<Backend> {
    let refused = std::env::var("YSUITE_FORBID").is_ok_and(|calls| calls.split(',').any(|call| call == "eventfd2"));
    if cfg!(any(target_os = "linux", target_os = "android")) && !refused {
        vec![Backend::Eventfd, Backend::Socketpair]
    } else {
        vec![Backend::Socketpair]
    }
}

/// The text of the panic of `f`.
#[track_caller]
pub(crate) fn panics(f: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("a panic");
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast_ref::<&str>().copied().unwrap_or("?").to_owned(),
    }
}

/// How often each of a number of messages has ended.
#[derive(Clone)]
pub(crate) struct Tally(Arc<Counts>);

struct Counts {
    ends: Box<[AtomicU32]>,
    made: AtomicUsize,
    /// The one whose `Drop` panics; `usize::MAX` for none.
    /// The first message whose `Drop` panics, and the first after those.
    explosive: [AtomicUsize; 2],
}

/// A message that has a number, and counts its drop.
pub(crate) struct Counted {
    pub(crate) number: usize,
    tally: Tally,
}

impl Tally {
    pub(crate) fn of(messages: usize) -> Self {
        let ends = Box::into_raw(vec![0_u32; messages].into_boxed_slice());
        // SAFETY: an `AtomicU32` is laid out as a `u32`, and the box is this one's alone. Many a test asks for a million, which
        // the system has cleared already.
        let ends = unsafe { Box::from_raw(ends as *mut [AtomicU32]) };
        Self(Arc::new(Counts { ends, made: AtomicUsize::new(0), explosive: [0, 0].map(AtomicUsize::new) }))
    }

    /// The next message.
    pub(crate) fn next(&self) -> Counted {
        let number = self.0.made.fetch_add(1, Ordering::Relaxed);
        assert!(number < self.0.ends.len(), "the tally is for fewer messages");
        Counted { number, tally: self.clone() }
    }

    /// The next messages.
    pub(crate) fn some(&self, messages: usize) -> impl Iterator<Item = Counted> + use<> {
        let tally = self.clone();
        (0..messages).map(move |_| tally.next())
    }

    pub(crate) fn made(&self) -> usize {
        self.0.made.load(Ordering::Relaxed)
    }

    /// The drop of message `number` will panic.
    pub(crate) fn explode(&self, number: usize) {
        self.explode_all(number..number + 1);
    }

    /// So will the drops of all these.
    pub(crate) fn explode_all(&self, numbers: Range<usize>) {
        let [start, end] = &self.0.explosive;
        start.store(numbers.start, Ordering::Relaxed);
        end.store(numbers.end, Ordering::Relaxed);
    }

    /// How many messages have ended.
    #[track_caller]
    pub(crate) fn ended(&self) -> usize {
        let ends = self.0.ends[..self.made()].iter().map(|ends| ends.load(Ordering::Relaxed));
        ends.enumerate()
            .map(|(number, ends)| {
                assert!(ends <= 1, "message {number} was dropped {ends} times");
                ends as usize
            })
            .sum()
    }

    /// Fails unless every message that was made has ended, once.
    #[track_caller]
    pub(crate) fn assert_all_ended(&self) {
        let made = self.made();
        for (number, ends) in self.0.ends[..made].iter().enumerate() {
            assert_eq!(ends.load(Ordering::Relaxed), 1, "drops of message {number} of {made}");
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.tally.0.ends[self.number].fetch_add(1, Ordering::Relaxed);
        let [start, end] = &self.tally.0.explosive;
        if (start.load(Ordering::Relaxed)..end.load(Ordering::Relaxed)).contains(&self.number) {
            panic!("the end of message {}", self.number);
        }
    }
}

impl std::fmt::Debug for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Counted({})", self.number)
    }
}

/// A small generator (xorshift): the same numbers in every run that has the same seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Nothing, some hundred nanoseconds, a yield, or long enough for the other side to fall asleep.
    pub(crate) fn pause(&mut self) {
        match self.below(64) {
            0 => thread::sleep(Duration::from_micros(50)),
            1..=8 => thread::yield_now(),
            9..=32 => (0..self.below(200)).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    }
}
