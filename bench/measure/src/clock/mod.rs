//! The clock that times single messages: the processor's own counter where it is reliable, otherwise the system's
//! monotonic clock. Any thread may read it; reading never blocks.
//!
//! `quanta` selects one of the two, and measures the length of a tick. On x86-64 the counter is read after an `lfence`.
//! A plain `rdtsc` may be executed before the load that brought the message, and would then time the arrival of a
//! message that had not arrived. Elsewhere the counter is read as `quanta` does. It may be early by the few
//! instructions that a processor executes ahead.
//!
//! | file | contents |
//! |---|---|
//! | `counter` | the instructions of x86-64 that read the counter, and its properties as the processor reports them |
//! | `cost` | the cost of a reading, by every way to take one |
//! | `step` | whether the clocks of two CPUs show the same time |
//! | `facts` | all of that, as a result keeps it |

pub mod cost;
#[cfg(target_arch = "x86_64")]
mod counter;
pub mod facts;
pub mod step;

use std::sync::OnceLock;

pub use self::facts::{Facts, Source};
pub use self::step::one_way;

/// A clock whose readings are ticks. Only differences are meaningful.
#[derive(Clone, Debug)]
pub struct Clock {
    source: quanta::Clock,
    nanoseconds_per_tick: f64,
    /// Whether a reading is an instruction of this module instead of a call of quanta's.
    #[cfg(target_arch = "x86_64")]
    ordered: bool,
}

/// The one clock of this process, calibrated at its first use (up to 200 ms).
pub fn get() -> &'static Clock {
    static CLOCK: OnceLock<Clock> = OnceLock::new();
    CLOCK.get_or_init(Clock::calibrated)
}

/// Nanoseconds of one [`Clock::read`], measured at the first call (about a millisecond).
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
    /// not after another thread can see anything that is stored later.
    #[inline(always)]
    pub fn read(&self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if self.ordered {
            return counter::ordered();
        }
        self.source.raw()
    }

    /// Nanoseconds between two readings. Negative if `to` was read before `from`, or on a CPU whose clock is behind.
    #[inline]
    pub fn nanoseconds(&self, from: u64, to: u64) -> f64 {
        to.wrapping_sub(from).cast_signed() as f64 * self.nanoseconds_per_tick
    }

    /// Ticks in `nanoseconds` nanoseconds.
    pub fn ticks(&self, nanoseconds: f64) -> u64 {
        (nanoseconds / self.nanoseconds_per_tick) as u64
    }

    /// Nanoseconds in one tick: the smallest step of a stored time.
    pub fn tick(&self) -> f64 {
        self.nanoseconds_per_tick
    }

    /// Whether the processor reports a counter of constant rate, no matter how it saves power. Nothing for processors
    /// without this property.
    pub fn invariant() -> Option<bool> {
        #[cfg(target_arch = "x86_64")]
        return counter::is_invariant();
        #[cfg(not(target_arch = "x86_64"))]
        None
    }

    /// The source of readings.
    pub fn source(&self) -> Source {
        #[cfg(target_arch = "x86_64")]
        return if self.ordered { Source::OrderedCounter } else { Source::System };
        // On this architecture quanta always reads the counter.
        #[cfg(target_arch = "aarch64")]
        return Source::Counter;
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        return Source::System;
    }

    /// Nanoseconds of the smallest difference between two readings in direct sequence that is not zero: the resolution.
    pub fn resolution(&self) -> f64 {
        const PAIRS: u32 = 4_000;
        let mut smallest = u64::MAX;
        let mut pairs = 0;
        // A clock that stands still would have blocked its calibration before.
        while pairs < PAIRS || smallest == u64::MAX {
            let from = self.read();
            let to = self.read();
            // Negative if this thread was moved to a CPU whose clock is behind.
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
        // Reading the two clocks takes a moment, during which a busy machine may preempt this thread: hence the width.
        let ratio = clock.nanoseconds(from, to) / took;
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_reading_taken_earlier_lies_before() {
        assert!(get().nanoseconds(1_000, 0) < 0.0);
    }

    #[test]
    fn it_shows_what_quanta_shows() {
        // Our reading is between two of quanta's, for either of the two clocks, so both count the same ticks. Not each
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
    fn no_difference_is_smaller_than_a_tick() {
        let clock = get();
        assert!(clock.resolution() >= clock.tick());
        assert!(clock.tick() > 0.0);
    }
}
