//! [`Timer`]: ticks that are due at certain moments; the first thread that takes a tick gets it. It needs no thread and
//! no timer of the kernel: only a moment, and the count of the ticks taken.
//!
//! Any thread; lock-free. This file knows when a tick is due and which thread gets it. `channel::timer` and
//! [`ReadySet`](super::ReadySet) know how a thread waits for one.
//!
//! Cannot: wake a thread. A thread that waits for a timer sleeps until the moment at which it is due.

use core::fmt;
use core::time::Duration;
use std::time::Instant;

use crate::sync::{Arc, AtomicU64, Ordering};

/// In [`Ticks::next`]: there will be no further tick.
const OVER: u64 = u64::MAX;

/// A channel of time: its messages, the *ticks*, are the moments at which they were due. Made by
/// [`timer::after`](crate::timer::after), [`at`](crate::timer::at), [`tick`](crate::timer::tick) and
/// [`never`](crate::timer::never).
///
/// Clones share the ticks: each tick is received once, by the first clone that takes it. Any thread may use a timer,
/// and several may wait for one at a time.
#[derive(Clone)]
pub struct Timer {
    ticks: Arc<Ticks>,
}

struct Ticks {
    /// When the first tick is due. None: beyond the end of the clock, or never.
    first: Option<Instant>,
    /// Nanoseconds from one tick to the next; 0 if there is only one.
    period: u64,
    /// The first tick that has not been taken: nanoseconds from `first`, or `OVER`.
    next: AtomicU64,
}

impl Timer {
    /// One tick, or with a period many. A period is at least a nanosecond, and a period of centuries has no second
    /// tick.
    pub(crate) fn new(first: Option<Instant>, period: Option<Duration>) -> Self {
        let nanoseconds = |period: Duration| u64::try_from(period.as_nanos()).unwrap_or(u64::MAX).max(1);
        Self { ticks: Arc::new(Ticks { first, period: period.map_or(0, nanoseconds), next: AtomicU64::new(0) }) }
    }

    /// When the next tick is due that has not been taken. `None`: there will be none.
    pub(crate) fn due(&self) -> Option<Instant> {
        // ORDERING: Relaxed; the number guards nothing but itself.
        self.ticks.moment(self.ticks.next.load(Ordering::Relaxed))
    }

    /// A number that grows with each tick that is taken.
    pub(crate) fn moves(&self) -> u64 {
        // ORDERING: Relaxed; the caller has passed a fence where it compares two of these.
        self.ticks.next.load(Ordering::Relaxed)
    }

    /// Takes the tick that is due, if there is one: the moment at which it was due. Ticks missed since then are
    /// skipped.
    pub(crate) fn take(&self, now: Instant) -> Option<Instant> {
        let ticks = &*self.ticks;
        // ORDERING: Relaxed for all; the number guards nothing but itself. The compare-exchange gives each tick to one
        // thread.
        let mut next = ticks.next.load(Ordering::Relaxed);
        loop {
            let due = ticks.moment(next).filter(|&due| due <= now)?;
            match ticks.next.compare_exchange(next, ticks.following(now), Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(due),
                Err(other) => next = other,
            }
        }
    }

    /// Whether both are clones of one timer. Wait-free.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.ticks, &other.ticks)
    }
}

impl Ticks {
    fn moment(&self, tick: u64) -> Option<Instant> {
        if tick == OVER {
            return None;
        }
        self.first?.checked_add(Duration::from_nanos(tick))
    }

    /// The first tick after `now`.
    fn following(&self, now: Instant) -> u64 {
        let (Some(first), 1..) = (self.first, self.period) else { return OVER };
        let passed = u64::try_from(now.saturating_duration_since(first).as_nanos()).unwrap_or(u64::MAX);
        (passed / self.period).checked_add(1).and_then(|tick| tick.checked_mul(self.period)).unwrap_or(OVER)
    }
}

/// Clones of one timer are equal.
impl PartialEq for Timer {
    fn eq(&self, other: &Self) -> bool {
        self.same_channel(other)
    }
}

impl Eq for Timer {}

impl core::hash::Hash for Timer {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        core::ptr::from_ref(&*self.ticks).hash(state);
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").field("due", &self.due()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_there_at_the_very_moment_at_which_it_is_due_and_the_next_is_a_period_behind() {
        let (first, period) = (Instant::now(), Duration::from_secs(1));
        let timer = Timer::new(Some(first), Some(period));
        for number in 0..5_u32 {
            let due = first + number * period;
            assert_eq!(timer.due(), Some(due));
            assert_eq!(timer.take(due - Duration::from_nanos(1)), None);
            assert_eq!(timer.take(due), Some(due));
            assert_eq!(timer.take(due), None);
        }
        // Late: the missed ticks are skipped, and no other.
        assert_eq!(timer.take(first + 7 * period + period / 2), Some(first + 5 * period));
        assert_eq!(timer.due(), Some(first + 8 * period));
    }
}
