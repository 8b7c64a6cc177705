//! The end of a wait, and the time that remains until then.

use core::time::Duration;
use std::time::Instant;

/// When a wait ends at the latest, by the monotonic clock, which does not change with the date.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deadline {
    /// The wait ends at once.
    Passed,
    At(Instant),
    /// The wait has no time-out.
    Never,
}

impl Deadline {
    /// The deadline `timeout` from now; `Never` where the clock cannot represent it. No clock is read for a time of
    /// zero.
    #[inline]
    pub(crate) fn after(timeout: Duration) -> Self {
        if timeout.is_zero() {
            return Self::Passed;
        }
        Instant::now().checked_add(timeout).map_or(Self::Never, Self::At)
    }

    /// The time that remains; zero when the deadline has passed, `None` where it never comes.
    #[inline]
    pub(crate) fn left(self) -> Option<Duration> {
        match self {
            Self::Passed => Some(Duration::ZERO),
            Self::At(moment) => Some(moment.saturating_duration_since(Instant::now())),
            Self::Never => None,
        }
    }

    /// The same, cut short to the limit of every system's `poll` and `kevent`: for callers that poll again.
    #[cfg(all(any(unix, windows), feature = "signal"))]
    pub(crate) fn left_for_a_call(self) -> Option<Duration> {
        // Twelve days; milliseconds in an `i32` are twenty-four.
        const LONGEST: Duration = Duration::from_secs(1_000_000);
        self.left().map(|left| left.min(LONGEST))
    }

    /// Whether the deadline has passed.
    #[inline]
    pub(crate) fn is_over(self) -> bool {
        match self {
            Self::Passed => true,
            Self::At(moment) => has_come(moment),
            Self::Never => false,
        }
    }

    /// The sooner of the two.
    pub(crate) fn or_sooner(self, other: Self) -> Self {
        match (self, other) {
            (Self::Passed, _) | (_, Self::Never) => self,
            (_, Self::Passed) | (Self::Never, _) => other,
            (Self::At(one), Self::At(other)) => Self::At(one.min(other)),
        }
    }

    /// This deadline, or `other` where that comes first.
    pub(crate) fn or_before(self, other: Option<Instant>) -> Self {
        match (self, other) {
            (Self::At(one), Some(other)) => Self::At(one.min(other)),
            (Self::Never, Some(other)) => Self::At(other),
            (one, _) => one,
        }
    }
}

/// Compiled once: the clock's arithmetic, for each wait.
#[inline(never)]
fn has_come(moment: Instant) -> bool {
    Instant::now() >= moment
}
