//! The two sides of a signaler: [`Signal`] and [`Wait`]; and what raises the ids of a set, [`Signaler`].

use core::fmt;
use core::time::Duration;

use super::set::SetCore;
use super::{IdOutOfRange, Signals};
use crate::block::{Waiting, block};
use crate::os::Deadline;
use crate::sync::Arc;

/// The raising side of a signaler. Usable from any thread, any number of times.
pub trait Signal {
    /// Raises signal `id`, waking the waiting thread if it sleeps. Raising a signal that is up already changes nothing.
    ///
    /// Never blocks. Without effect once the waiting side is gone.
    #[doc = cost!(signal SIGNAL)]
    ///
    /// # Panics
    /// If `id` is not below [`Signal::capacity`]. [`Signal::try_signal`] returns an error instead.
    #[track_caller]
    fn signal(&self, id: usize);

    /// Returns the number of signals: ids go from 0 to one less. Wait-free.
    fn capacity(&self) -> usize;

    /// Raises signal `id` as [`Signal::signal`] does, but an id out of range is an error.
    ///
    /// # Errors
    /// [`IdOutOfRange`] if `id` is not below [`Signal::capacity`]; nothing was raised.
    fn try_signal(&self, id: usize) -> Result<(), IdOutOfRange> {
        let capacity = self.capacity();
        if id < capacity {
            self.signal(id);
            Ok(())
        } else {
            Err(IdOutOfRange { id, capacity })
        }
    }
}

/// The waiting side of a signaler. Belongs to one thread at a time, hence `&mut self`; may be moved to another.
pub trait Wait {
    /// Blocks until at least one signal is up and returns all that are. Never empty.
    ///
    /// Signal handlers and spurious wake-ups do not end it.
    #[doc = cost!(signal POLL)]
    fn wait(&mut self) -> Signals;

    /// Returns the signals that are up now, possibly none. Never blocks. If the descriptor has become readable, this
    /// makes it unreadable again.
    #[doc = cost!(signal CHECK)]
    fn check(&mut self) -> Signals;

    /// Blocks as [`Wait::wait`] does, but gives up after `timeout` and returns an empty set.
    ///
    /// A `timeout` of zero is a [`Wait::check`]. A `timeout` that the clock cannot hold, such as `Duration::MAX`, sets
    /// no time limit.
    #[doc = cost!(signal POLL)]
    fn wait_timeout(&mut self, timeout: Duration) -> Signals;
}

/// After a poll that found nothing: blocks until there are signals, or the time-out has passed. Then the result is
/// empty; with a time-out of zero it is so at once.
#[cold]
#[inline(never)]
pub(super) fn block_for_signals<W: Waiting<News = Signals>>(
    waiting: &mut W,
    timeout: Option<Duration>,
    sleep: impl Fn(&mut W, Deadline) -> bool,
) -> Signals {
    // MUTANT: One check or one system call without a reason. Killed only by `idle_looks_make_no_system_call`.
    if timeout == Some(Duration::ZERO) {
        return Signals::default();
    }
    let deadline = timeout.map_or(Deadline::Never, Deadline::after);
    block(waiting, |waiting| sleep(waiting, deadline)).unwrap_or_default()
}

// MUTANT: Killed only by `ids_out_of_range_are_a_clear_error`.
/// The panic that [`Signal::signal`] documents.
#[track_caller]
#[inline]
pub(super) fn check_range(id: usize, capacity: usize) {
    assert!(id < capacity, "{}", IdOutOfRange { id, capacity });
}

/// Raises the signals of one [`YPollset`](super::YPollset) or `YSocketpair`.
///
/// Clones are cheap and equal. Any thread may use a signaler, also while others do, also after the set is gone (then
/// without effect). A `YSocketpair`'s descriptors stay open until its signalers are gone, too.
#[derive(Clone)]
pub struct Signaler {
    pub(super) core: Arc<SetCore>,
}

impl Signal for Signaler {
    fn signal(&self, id: usize) {
        // MUTANT: Killed only by `ids_out_of_range_are_a_clear_error`.
        check_range(id, self.core.bits.capacity);
        self.core.raise(id);
    }

    fn capacity(&self) -> usize {
        self.core.bits.capacity
    }
}

impl fmt::Debug for Signaler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signaler").field("capacity", &self.core.bits.capacity).finish_non_exhaustive()
    }
}
