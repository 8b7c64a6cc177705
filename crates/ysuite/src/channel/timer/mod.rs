//! **Channels of time**: receivers whose messages are moments. There is no sender: a timer is a deadline, without a
//! thread.
//!
//! ```
//! use std::time::{Duration, Instant};
//! use ysuite::{signal::ReadySet, spsc, timer};
//!
//! let (_sender, mut receiver) = spsc::unbounded::<u32>();
//! let beats = timer::tick(Duration::from_millis(1));
//! let end = timer::after(Duration::from_millis(10));
//!
//! let mut select = ReadySet::new();
//! let (message, beat, over) = (select.add(&mut receiver)?, select.add_timer(&beats)?, select.add_timer(&end)?);
//! loop {
//!     match select.wait() {
//!         id if id == message => receiver.try_iter().for_each(drop),
//!         id if id == beat => beats.try_iter().for_each(|due| assert!(due <= Instant::now())),
//!         id if id == over => break,
//!         _ => {}
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A message, a *tick*, is the [`Instant`] at which it was due. It is never received earlier, and later only by the
//! time that the system takes to wake a thread. Clones of a timer share its ticks: each tick is received once, by the
//! first clone that takes it. Time is that of [`Instant`]: changes of the date do not affect it.
//!
//! # Missed ticks
//!
//! At most one tick waits to be received: the first that was not taken. When it is taken late, the ticks that were due
//! since then are skipped, and not made up for. The next tick is the first in the future. All ticks are at whole
//! numbers of periods from the first, however late they are taken, so they do not drift.
//!
//! # Afterwards
//!
//! A timer whose only tick has been received stays [empty](TryRecvError::Empty), as [`never()`] is from the start. In a
//! loop that waits for several things it is silent from then on. A wait for it alone never ends.
//!
//! # When not to use it
//!
//! * To limit one wait: receivers have `recv_timeout` and `recv_deadline`, those of a `watch` `changed_timeout` and
//!   `changed_deadline`.
//! * To call functions at certain times, alongside the other work of an event loop: the hub has timers of its own.
//!
//! Source: the interface is that of crossbeam-channel's `after`, `at`, `tick` and `never`.

use core::iter::FusedIterator;
use core::time::Duration;
use std::time::Instant;

mod operations;

#[cfg(feature = "select")]
pub use self::operations::Due;
use self::operations::TimerTick;
use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::iter::{IntoIter, Receive};
use crate::channel::error;
use crate::operation;
use crate::os::Deadline;
pub use crate::signal::timer::Timer;

/// Makes a timer with one tick, when `time` has passed. It never ticks if the clock cannot represent that moment, as
/// with `Duration::MAX`. Allocates a few words; its only system call reads the clock.
#[must_use]
pub fn after(time: Duration) -> Timer {
    Timer::new(Instant::now().checked_add(time), None)
}

/// Makes a timer with one tick, at `moment`; at once where that has passed.
#[must_use]
pub fn at(moment: Instant) -> Timer {
    Timer::new(Some(moment), None)
}

/// Makes a timer with a tick one `period` from now, and at every whole number of periods from there. A missed tick is
/// [not made up for](self#missed-ticks). A period of zero is one of a nanosecond.
#[must_use]
pub fn tick(period: Duration) -> Timer {
    Timer::new(Instant::now().checked_add(period), Some(period))
}

/// Makes a timer that never ticks, where a timer is expected and none is wanted.
#[must_use]
pub fn never() -> Timer {
    Timer::new(None, None)
}

impl Timer {
    /// Receives a tick; waits until there is one, or [for ever](crate::timer#afterwards) where there will be none.
    #[doc = cost!(timer RECV)]
    #[doc = cost!(timer RECV_WAIT)]
    ///
    /// # Errors
    /// None. It is a `Result` because every channel's `recv` is.
    pub fn recv(&self) -> Result<Instant, RecvError> {
        self.recv_until(Deadline::Never).map_err(|_| RecvError)
    }

    /// Receives the tick that is due, if there is one.
    #[doc = cost!(timer TRY_RECV)]
    ///
    /// # Errors
    /// `Empty` where no tick is due.
    pub fn try_recv(&self) -> Result<Instant, TryRecvError> {
        self.take(Instant::now()).ok_or(TryRecvError::Empty)
    }

    /// Receives a tick; waits for at most `timeout`. `Duration::MAX` means no limit.
    #[doc = cost!(receiver LIKE_RECV)]
    ///
    /// # Errors
    /// `Timeout` where no tick was due in time.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<Instant, RecvTimeoutError> {
        self.recv_until(Deadline::after(timeout))
    }

    /// Receives a tick; waits until `deadline` at most. A tick that is due is received even after the deadline.
    #[doc = cost!(receiver LIKE_RECV)]
    ///
    /// # Errors
    /// `Timeout` where no tick was due in time.
    pub fn recv_deadline(&self, deadline: Instant) -> Result<Instant, RecvTimeoutError> {
        self.recv_until(Deadline::At(deadline))
    }

    fn recv_until(&self, deadline: Deadline) -> Result<Instant, RecvTimeoutError> {
        let mut place = None;
        match operation::block(TimerTick(self), &mut place, deadline) {
            Some(outcome) => Ok(error::received(outcome, &mut place)?),
            None => Err(RecvTimeoutError::Timeout),
        }
    }

    /// The ticks, one by one; waits for each. Never ends: after the last it [waits for ever](crate::timer#afterwards).
    pub fn iter(&self) -> Iter<'_> {
        Iter(self)
    }

    /// The ticks that are due, one by one; never waits.
    pub fn try_iter(&self) -> TryIter<'_> {
        TryIter { timer: self, now: None }
    }

    /// 1 where a tick is due, else 0.
    #[doc = cost!(timer TRY_RECV)]
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.is_full())
    }

    /// Whether no tick is due.
    #[doc = cost!(timer TRY_RECV)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.is_full()
    }

    // MUTANT: The difference is the one nanosecond at which a tick is due.
    /// Whether a tick is due.
    #[doc = cost!(timer TRY_RECV)]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.due().is_some_and(|due| due <= Instant::now())
    }

    /// The maximal number of ticks that wait to be received: one.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        Some(1)
    }
}

impl Receive for Timer {
    type Message = Instant;

    fn next_waiting(&mut self) -> Option<Instant> {
        self.recv().ok()
    }

    fn look(&mut self) -> Option<Instant> {
        self.take(Instant::now())
    }

    fn has_message(&mut self) -> bool {
        self.is_full()
    }

    fn try_next(&mut self) -> Result<Instant, TryRecvError> {
        self.try_recv()
    }
}

/// Waits for each tick. Made by [`Timer::iter`].
#[derive(Clone, Debug)]
pub struct Iter<'a>(&'a Timer);

/// Takes the tick that is due. Made by [`Timer::try_iter`].
#[derive(Clone, Debug)]
pub struct TryIter<'a> {
    timer: &'a Timer,
    /// When it has begun to poll: what becomes due later is for the next time.
    now: Option<Instant>,
}

impl Iterator for Iter<'_> {
    type Item = Instant;

    fn next(&mut self) -> Option<Instant> {
        self.0.recv().ok()
    }
}

impl FusedIterator for Iter<'_> {}

impl Iterator for TryIter<'_> {
    type Item = Instant;

    fn next(&mut self) -> Option<Instant> {
        let now = *self.now.get_or_insert_with(Instant::now);
        let tick = self.timer.take(now);
        if tick.is_none() {
            self.now = None;
        }
        tick
    }
}

impl IntoIterator for Timer {
    type Item = Instant;
    type IntoIter = IntoIter<Self>;

    fn into_iter(self) -> IntoIter<Self> {
        IntoIter::new(self)
    }
}

impl<'a> IntoIterator for &'a Timer {
    type Item = Instant;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}
