//! The clock that single messages are timed with: the processor's own counter where it can be trusted, otherwise the
//! system's monotonic clock. Any thread may read it; reading never blocks.
//!
//! `quanta` decides which of the two, and finds out how long a tick is. On x86-64 the counter is read behind an
//! `lfence`: a plain `rdtsc` may be executed before the load that brought the message, and would then time the arrival
//! of a message that had not arrived. Elsewhere the counter is read as `quanta` does, and may be early by the few
//! instructions that a processor looks ahead.
//!
//! | file | what lives there |
//! |---|---|
//! | `counter` | the instructions of x86-64 that read the counter, and what the processor says of it |
//! | `cost` | what a reading costs, by every way to take one |
//! | `step` | whether the clocks of two CPUs show the same time |
//! | `facts` | all of that, as it is kept in a result |

pub mod cost;
#[cfg(target_arch = "x86_64")]
mod counter;
pub mod facts;
pub mod step;

use std::sync::OnceLock;

pub use self::facts::{Facts, Source};
pub use self::step::one_way;

/// A clock whose readings are ticks; only differences mean anything.
#[derive(Clone, Debug)]
pub struct Clock {
    source: quanta::Clock,
    nanoseconds_per_tick: f64,
    /// Whether a reading is an instruction of ours instead of a call of quanta's.
    #[cfg(target_arch = "x86_64")]
    ordered: bool,
}

/// The one clock of this process, calibrated at its first use (up to 200 ms).
pub fn get() -> &'static Clock {
    static CLOCK: OnceLock<Clock> = OnceLock::new();
    CLOCK.get_or_init(Clock::calibrated)
}

/// Nanoseconds that one [`Clock::read`] takes here, measured at the first call (about a millisecond).
pub fn cost() -> f64 {
    static COST: OnceLock<f64> = OnceLock::new();
    *COST.get_or_init(|| cost::of_a_reading(get()))
}

impl Clock {
    fn calibrated() -> Self {
        const LONG: u64 = 1 << 40;
        let source = quanta::Clock::new();
        let nanoseconds_per_tick = source.delta_as_nanos(0, LONG) as f64 / LONG as f64;
        Self {
            nanoseconds_per_tick,
            #[cfg(target_arch = "x86_64")]
            ordered: counter::is_what_is_read_by(|| source.raw()),
            source,
        }
    }

    /// The time now, in ticks. On x86-64 not before everything that was loaded earlier in the program has arrived, and
    /// not after anything that is stored later can be seen by another thread.
    #[inline(always)]
    pub fn read(&self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if self.ordered {
            return counter::ordered();
        }
        self.source.raw()
    }

    /// Nanoseconds between two readings; below zero if `to` was read before `from`, or on a CPU whose clock is behind.
    #[inline]
    pub fn nanoseconds(&self, from: u64, to: u64) -> f64 {
        to.wrapping_sub(from).cast_signed() as f64 * self.nanoseconds_per_tick
    }

    /// Ticks in so many nanoseconds.
    pub fn ticks(&self, nanoseconds: f64) -> u64 {
        (nanoseconds / self.nanoseconds_per_tick) as u64
    }

    /// Nanoseconds in one tick: as finely as a time can be written down.
    pub fn tick(&self) -> f64 {
        self.nanoseconds_per_tick
    }

    /// Whether the processor promises that its counter runs at one rate whatever it does to save power; nothing where
    /// that is not a question to a processor of this kind.
    pub fn invariant() -> Option<bool> {
        #[cfg(target_arch = "x86_64")]
        return counter::is_invariant();
        #[cfg(not(target_arch = "x86_64"))]
        None
    }

    /// What is read.
    pub fn source(&self) -> Source {
        #[cfg(target_arch = "x86_64")]
        return if self.ordered { Source::OrderedCounter } else { Source::System };
        // There quanta always reads the counter.
        #[cfg(target_arch = "aarch64")]
        return Source::Counter;
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        return Source::System;
    }

    /// Nanoseconds of the smallest difference between two readings, one straight after the other, that is not zero: as
    /// finely as times can be told apart.
    pub fn resolution(&self) -> f64 {
        const PAIRS: u32 = 4_000;
        let mut smallest = u64::MAX;
        let mut pairs = 0;
        // A clock that stands still would have held up its calibration before.
        while pairs < PAIRS || smallest == u64::MAX {
            let from = self.read();
            let to = self.read();
            // Below zero where this thread was moved to a CPU whose clock is behind.
            if let Some(difference) = to.checked_sub(from).filter(|difference| *difference > 0) {
                smallest = smallest.min(difference);
            }
            pairs = pairs.saturating_add(1);
        }
        self.nanoseconds(0, smallest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_as_fast_as_the_system_s_clock() {
        let clock = get();
        let (start, from) = (std::time::Instant::now(), clock.read());
        while start.elapsed().as_millis() < 20 {}
        let (took, to) = (start.elapsed().as_nanos() as f64, clock.read());
        // Reading the two clocks takes a moment, in which a busy machine may put this thread aside: hence the width.
        let ratio = clock.nanoseconds(from, to) / took;
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_reading_taken_earlier_lies_before() {
        assert!(get().nanoseconds(1_000, 0) < 0.0);
    }

    #[test]
    fn it_shows_what_quanta_shows() {
        // Ours lies between two of quanta's, whichever of the two clocks it is: so both count the same ticks. Not each
        // time, as quanta's reading is not ordered.
        let clock = get();
        let between = (0..1_000).filter(|_| {
            let before = clock.source.raw();
            let ours = clock.read();
            let after = clock.source.raw();
            before <= ours && ours <= after
        });
        assert!(between.count() > 500);
    }

    #[test]
    fn nothing_is_told_apart_more_finely_than_by_a_tick() {
        let clock = get();
        assert!(clock.resolution() >= clock.tick());
        assert!(clock.tick() > 0.0);
    }
}
