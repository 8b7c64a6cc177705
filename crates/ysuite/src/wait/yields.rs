//! Yielding the CPU before sleeping. [`Yields`] has one owner at a time; a yield blocks for as long as other threads
//! run.
//!
//! Where more threads are ready to run than there are CPUs, the one that is waited for is usually one of them. A yield
//! lets it run at the price of one system call, and needs no wake-up; a sleep costs two calls and a barrier. But a
//! yield to a thread that only computes costs a whole slice of the scheduler, some milliseconds, where a sleeper is
//! woken at once. So a handle that has lost a slice avoids yields for long, and longer each time.

// Not `crate::sync`'s: what it holds guards nothing, and a model need not explore it.
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use std::time::Instant;

use crate::os::yield_now;

/// The most yields before a sleep. If other threads want the CPU, a thread takes turns with them up to this number.
const MOST: u32 = 16;
/// A yield that takes longer has given a slice to a thread that computes.
const SLICE: Duration = Duration::from_millis(1);
/// Waits without a yield after the first slice that was lost. Doubled with each further one.
const AWAY: u16 = 1 << 6;
/// The number of times that this is doubled.
const DOUBLINGS: u8 = 6;
/// A thread with less time than this does not yield: some slices.
const HASTE: Duration = Duration::from_millis(10);
/// After this number of waits that spinning has ended, one yields all the same. Two threads that reply to each other at
/// once would otherwise keep their CPUs from all others for whole slices. It costs a fraction of a microsecond, and is
/// rare enough not to be visible below p99.9.
const SELDOM: u16 = 1 << 11;
/// No yield is taken to be quicker, whatever a coarse clock says. In nanoseconds.
const LEAST: u32 = 100;
/// A yield that takes this many times as long as a yield without other threads has let others run.
const OTHERS: u32 = 2;

/// A handle's memory of what its yields have cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Yields {
    /// The number of waits that are still to pass without a yield.
    away: u16,
    doublings: u8,
    /// Waits since the last yield.
    unasked: u16,
    /// The last yield has let others run.
    crowded: bool,
}

/// The result of yielding the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Yielded {
    /// What was waited for has come.
    Found,
    /// No other thread wanted the CPU, as far as this thread could see.
    Alone,
    /// Others want it, or one of them has taken a slice lately.
    InVain,
}

impl Yields {
    pub(super) const fn new() -> Self {
        Self { away: 0, doublings: 0, unasked: 0, crowded: false }
    }

    /// What it has learned about slices, in sixteen bits.
    pub(super) fn to_bits(self) -> u16 {
        self.away | u16::from(self.doublings) << 13
    }

    pub(super) fn from_bits(bits: u16) -> Self {
        Self { away: bits & ((1 << 13) - 1), doublings: (bits >> 13) as u8, ..Self::new() }
    }

    // MUTANT: Speed only: how often a waiting thread yields.
    /// At the beginning of a wait: whether to yield at once, instead of after a moment, in case others want the CPU.
    #[inline]
    pub(super) fn is_due(&mut self) -> bool {
        self.unasked = self.unasked.wrapping_add(1);
        self.away == 0 && (self.crowded || self.unasked >= SELDOM)
    }

    // MUTANT: Speed only: how often a waiting thread yields.
    /// Yields for as long as others want the CPU, a few times at most, and polls after each. `left`: the time that is
    /// left for the wait, if it has a deadline.
    pub(super) fn give(&mut self, left: Option<Duration>, ready: &mut dyn FnMut() -> bool) -> Yielded {
        if self.away > 0 {
            self.away -= 1;
            return Yielded::InVain;
        }
        // In a model threads yield where the model is told to explore it.
        if cfg!(ysuite_loom) || left.is_some_and(|left| left < HASTE) {
            return Yielded::Alone;
        }
        for _ in 0..MOST {
            let others = self.give_once();
            if ready() {
                return Yielded::Found;
            }
            if !others {
                return Yielded::Alone;
            }
            if self.away > 0 {
                break;
            }
        }
        Yielded::InVain
    }

    // MUTANT: Speed only: how often a waiting thread yields, and for how long it does not after it was preempted.
    /// Whether others ran meanwhile.
    fn give_once(&mut self) -> bool {
        // The cost of a yield without other threads differs by machine: the quickest that any thread has seen.
        static QUICKEST: AtomicU32 = AtomicU32::new(u32::MAX);
        self.unasked = 0;
        let start = Instant::now();
        yield_now();
        let took = start.elapsed();
        if took > SLICE {
            self.away = AWAY << self.doublings;
            self.doublings = (self.doublings + 1).min(DOUBLINGS);
            self.crowded = false;
            return true;
        }
        self.doublings = self.doublings.saturating_sub(1);
        let took = (took.as_nanos() as u32).max(LEAST);
        // ORDERING: Relaxed; the number guards nothing but itself, and one that is lost to another thread's is seen
        // again.
        let quickest = QUICKEST.load(Ordering::Relaxed);
        if took < quickest {
            // ORDERING: Relaxed, as above.
            QUICKEST.store(took, Ordering::Relaxed);
        }
        self.crowded = took / OTHERS > quickest;
        self.crowded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_fits_into_its_bits() {
        for away in [0, 1, AWAY, AWAY << DOUBLINGS] {
            for doublings in 0..=DOUBLINGS {
                let yields = Yields { away, doublings, ..Yields::new() };
                assert_eq!(Yields::from_bits(yields.to_bits()), yields);
            }
        }
    }

    #[test]
    fn who_stays_away_does_not_yield_and_counts_its_waits() {
        let mut yields = Yields { away: 2, doublings: 1, ..Yields::new() };
        let before = crate::os::calls();
        for away in [1, 0] {
            assert_eq!(yields.give(None, &mut || panic!("it has not yielded")), Yielded::InVain);
            assert_eq!(yields, Yields { away, doublings: 1, ..Yields::new() });
        }
        assert_eq!(yields.give(Some(Duration::from_millis(1)), &mut || true), Yielded::Alone);
        assert_eq!(crate::os::calls(), before);
    }

    #[cfg(not(ysuite_loom))]
    #[test]
    fn what_comes_while_others_run_is_found() {
        let before = crate::os::calls();
        assert_eq!(Yields::new().give(None, &mut || true), Yielded::Found);
        assert_eq!(crate::os::calls(), before + 1);
        // In vain at most that number of times.
        Yields::new().give(None, &mut || false);
        assert!(crate::os::calls() <= before + 1 + u64::from(MOST));
    }
}
