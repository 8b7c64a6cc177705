//! How long a call may wait.

use core::time::Duration;
use std::time::Instant;

use crate::code::{YS_EMPTY, YS_TIMEOUT, ys_code};

/// How long a call may wait.
#[derive(Clone, Copy)]
pub(crate) enum Limit {
    Now,
    Within(Duration),
    Never,
}

impl Limit {
    /// As callers say it: less than 0 is for ever, 0 never waits.
    #[inline]
    pub(crate) fn from_nanoseconds(ns: i64) -> Self {
        match u64::try_from(ns) {
            Ok(0) => Self::Now,
            Ok(ns) => Self::Within(Duration::from_nanos(ns)),
            Err(_) => Self::Never,
        }
    }

    pub(crate) fn is_now(self) -> bool {
        matches!(self, Self::Now)
    }

    /// As the library says it: `None` is for ever.
    pub(crate) fn timeout(self) -> Option<Duration> {
        match self {
            Self::Now => Some(Duration::ZERO),
            Self::Within(time) => Some(time),
            Self::Never => None,
        }
    }

    /// There was no message all the time.
    pub(crate) fn empty(self) -> ys_code {
        if self.is_now() { YS_EMPTY } else { YS_TIMEOUT }
    }
}

/// The time that is left of a limit, for calls that wait several times. Reads the clock only when asked.
pub(crate) struct Clock {
    limit: Limit,
    end: Option<Instant>,
}

impl Clock {
    pub(crate) fn new(limit: Limit) -> Self {
        Self { limit, end: None }
    }

    // MUTANT: No time is no time by the clock as well.
    /// What is left; `None` is for ever.
    pub(crate) fn left(&mut self) -> Option<Duration> {
        let whole = self.limit.timeout()?;
        if whole.is_zero() {
            return Some(whole);
        }
        let now = Instant::now();
        match self.end {
            Some(end) => Some(end.saturating_duration_since(now)),
            None => {
                // A time that the clock cannot hold is no limit.
                self.end = Some(now.checked_add(whole)?);
                Some(whole)
            }
        }
    }
}
