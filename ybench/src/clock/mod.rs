//! The clock that single messages are timed with: the processor's own counter where it can be trusted, otherwise the
//! system's monotonic clock. Any thread may read it; reading never blocks.
//!
//! `quanta` decides which of the two, and finds out how long a tick is.

use std::sync::OnceLock;

/// A clock whose readings are ticks; only differences mean anything.
#[derive(Clone, Debug)]
pub struct Clock {
    source: quanta::Clock,
    nanoseconds_per_tick: f64,
}

/// The one clock of this process, calibrated at its first use (up to 200 ms).
pub fn get() -> &'static Clock {
    static CLOCK: OnceLock<Clock> = OnceLock::new();
    CLOCK.get_or_init(Clock::calibrated)
}

impl Clock {
    fn calibrated() -> Self {
        const LONG: u64 = 1 << 40;
        let source = quanta::Clock::new();
        let nanoseconds_per_tick = source.delta_as_nanos(0, LONG) as f64 / LONG as f64;
        Self { source, nanoseconds_per_tick }
    }

    /// The time now, in ticks.
    #[inline(always)]
    pub fn read(&self) -> u64 {
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
}
