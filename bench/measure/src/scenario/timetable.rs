//! Messages that are sent at independent times, whatever the receiver does: the number that fits into a run, the length
//! of the run, and the baselines alongside.

use crate::frame::Frame;
use crate::limits::{self, Probe};
use crate::place::Place;
use crate::rounds::Length;
use crate::transport::{Traits, Waits};

/// The times at which messages are sent, and their least number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timetable {
    /// Seconds from one message to the next.
    pub(super) interval: f64,
    /// Messages in the shortest run.
    pub(super) least: u64,
    /// Seconds of the longest run if the user gave a number of messages. The number is the same for every scenario, and
    /// a moment in the others would be hours here.
    pub(super) longest: f64,
}

impl Timetable {
    /// The number of messages is known beforehand: no calibration is needed.
    pub(super) fn length(&self, wanted: Length) -> Length {
        let fitting = |seconds: f64| ((seconds / self.interval) as u64).max(self.least);
        Length::Units(match wanted {
            Length::Units(messages) => messages.min(fitting(self.longest)),
            Length::Time(time) => fitting(time.as_secs_f64()),
            Length::TimeAndUnits(time, least) => fitting(time.as_secs_f64()).max(least),
        })
    }

    /// The work in a number of messages, for its time limit: one unit for every message that is due at once, and
    /// additional units for the waiting.
    pub(super) fn work(&self, messages: u64) -> u64 {
        const UNITS_PER_SECOND: f64 = 2_000.0;
        messages.saturating_add((messages as f64 * self.interval * UNITS_PER_SECOND) as u64)
    }
}

/// Only times one way are taken of these messages.
pub(super) fn able(traits: &Traits) -> bool {
    traits.one_by_one && !traits.invents
}

/// The cost of a message that finds its receiver asleep. On one CPU the first baseline is that already.
pub(super) fn limit(frame: &Frame) -> &'static Probe {
    if frame.place.one_cpu() { frame.floor() } else { &limits::IDLE_WAKE }
}

/// A transport that never sleeps needs no wake-up.
pub(super) fn own_limit(waits: Waits, place: Place) -> &'static Probe {
    match waits {
        _ if place.one_cpu() => &limits::FUTEX_ONE_CPU,
        Waits::Spins | Waits::Yields => &limits::TWO_LINE_FLOOR,
        Waits::LooksThenSleeps | Waits::Sleeps | Waits::SleepsInPoll | Waits::Suspends => &limits::IDLE_WAKE,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn messages(interval: f64, wanted: Length) -> u64 {
        match (Timetable { interval, least: 20, longest: 1.0 }).length(wanted) {
            Length::Units(messages) => messages,
            length => panic!("{length:?}"),
        }
    }

    #[test]
    fn a_run_holds_what_is_due_in_its_time_and_never_less_than_the_least() {
        let tenth = Length::Time(Duration::from_millis(100));
        assert_eq!(messages(1e-4, tenth), 1_000);
        assert_eq!(messages(1e-2, tenth), 20);
        assert_eq!(messages(1e-4, Length::TimeAndUnits(Duration::from_millis(100), 5_000)), 5_000);
    }

    #[test]
    fn a_number_that_was_asked_for_is_kept_unless_it_takes_too_long() {
        assert_eq!(messages(1e-4, Length::Units(1)), 1);
        assert_eq!(messages(1e-4, Length::Units(10_000)), 10_000);
        assert_eq!(messages(1e-4, Length::Units(1_000_000)), 10_000);
    }

    #[test]
    fn long_waits_are_work() {
        let timetable = Timetable { interval: 1.0, least: 1, longest: 1.0 };
        assert_eq!(timetable.work(10), 20_010);
    }
}
