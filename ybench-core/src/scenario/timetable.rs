//! Messages that leave at times of their own, whatever the receiver does: how many of them fit into a run, how long the
//! run may take, and beside which limits they are measured.

use crate::frame::Frame;
use crate::limits::{self, Probe};
use crate::place::Place;
use crate::rounds::Length;
use crate::transport::{Traits, Waits};

/// When messages leave, and how many must.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timetable {
    /// Seconds from one message to the next.
    pub(super) interval: f64,
    /// Messages in the shortest run.
    pub(super) least: u64,
    /// Seconds of the longest run where a number of messages was asked for. The number is the same for every scenario,
    /// and what takes others a moment would take hours here.
    pub(super) longest: f64,
}

impl Timetable {
    /// The number of messages is known beforehand: nothing needs to be tried.
    pub(super) fn length(&self, wanted: Length) -> Length {
        let fitting = |seconds: f64| ((seconds / self.interval) as u64).max(self.least);
        Length::Units(match wanted {
            Length::Units(messages) => messages.min(fitting(self.longest)),
            Length::Time(time) => fitting(time.as_secs_f64()),
            Length::TimeAndUnits(time, least) => fitting(time.as_secs_f64()).max(least),
        })
    }

    /// The work in so many messages, for those who wait for it: one unit for every message that is due at once, and as
    /// many more as the waiting takes.
    pub(super) fn work(&self, messages: u64) -> u64 {
        const UNITS_PER_SECOND: f64 = 2_000.0;
        messages.saturating_add((messages as f64 * self.interval * UNITS_PER_SECOND) as u64)
    }
}

/// Nothing but times one way is taken of these messages.
pub(super) fn able(traits: &Traits) -> bool {
    traits.one_by_one && !traits.invents
}

/// What a message costs that finds its receiver asleep. On one CPU the floor is that already.
pub(super) fn limit(frame: &Frame) -> &'static Probe {
    if frame.place.one_cpu() { frame.floor() } else { &limits::IDLE_WAKE }
}

/// Who never sleeps needs no wake.
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
