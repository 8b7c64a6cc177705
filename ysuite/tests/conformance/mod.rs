//! Suites that every implementation of a concept must pass, each generic over the implementation.
//!
//! A test file per concept names the implementations; a suite never does. Nothing here asserts on time: counts and
//! states only, with a generous guard against hanging.

// Each test file uses the suites of its own concept.
#![allow(dead_code)]

pub(crate) mod allocations;
pub(crate) mod attached;
#[cfg(target_os = "linux")]
pub(crate) mod descriptor;
pub(crate) mod interrupt;
pub(crate) mod signal;
pub(crate) mod waking;

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Runs `test` and fails if it has not ended after a minute: a lost wake-up fails instead of hanging the whole run.
#[track_caller]
pub(crate) fn guarded(test: impl FnOnce() + Send + 'static) {
    let (done, ended) = channel();
    let worker = thread::spawn(move || {
        test();
        let _ = done.send(());
    });
    if let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(Duration::from_secs(60)) {
        panic!("hangs: a wake-up was lost");
    }
    if let Err(panic) = worker.join() {
        std::panic::resume_unwind(panic);
    }
}

/// A small generator of gaps between operations: races are met at random places, the same ones in every run.
pub(crate) struct Gaps(u64);

impl Gaps {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// Nothing, a few hundred nanoseconds, a yield, or long enough for the other side to fall asleep.
    pub(crate) fn pass(&mut self) {
        match self.below(64) {
            0 => thread::sleep(Duration::from_micros(50)),
            1..=8 => thread::yield_now(),
            9..=32 => (0..self.below(200)).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    }
}
