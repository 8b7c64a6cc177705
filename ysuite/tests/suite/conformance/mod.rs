//! Suites that every implementation of a concept must pass, each generic over the implementation.
//!
//! A module per concept names the implementations; a suite never does. Nothing here asserts on time: counts and
//! states only, with a generous guard against hanging.

pub(crate) mod attached;
pub(crate) mod channel;
#[cfg(target_os = "linux")]
pub(crate) mod descriptor;
pub(crate) mod signal;
pub(crate) mod waking;

use std::thread;
use std::time::Duration;

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

/// Makes one `#[test]` of each function named, of one suite, for one kind.
#[macro_export]
macro_rules! tests_of {
    ($($suite:ident)::+, $kind:ty: $($test:ident),* $(,)?) => {
        $crate::tests_of!(@each [$($suite)::+] $kind: $($test),*);
    };
    (@each $suite:tt $kind:ty: $($test:ident),*) => {
        $($crate::tests_of!(@one $suite $kind: $test);)*
    };
    (@one [$($suite:ident)::+] $kind:ty: $test:ident) => {
        #[test]
        fn $test() {
            $crate::conformance::$($suite)::+::$test::<$kind>();
        }
    };
}
