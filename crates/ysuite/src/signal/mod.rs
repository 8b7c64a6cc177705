//! How a thread sleeps and is woken. This layer does not know queues or messages.
//!
//! A *signaler* has two parts: which signals are up (a set of bits), and how the one thread that waits for them sleeps.
//! [`Signal`] and [`Wait`] are the two sides of every kind, so an algorithm can wait without knowing which kind it
//! uses. The kinds with many signals, to which receivers can be attached, are [`SignalSet`]s as well.
//!
//! | kind | signals | threads | sleeps on |
//! |---|---|---|---|
//! | [`YSemaphore`] | 1 | any to one | a word (futex) |
//! | [`YPollset`] | 31, or up to [`MAX_CAPACITY`] | any to one | a word (futex) |
//! | `YSocketpair` (Unix) | 256, or up to [`MAX_CAPACITY`] | any to one | a descriptor, alone or in an event loop |
//!
//! A signal is a state, not a count: raised twice before it is taken, it is one signal. Raising never blocks and never
//! spins. It makes a system call only if the waiting thread sleeps or, with a descriptor, only if that is unreadable,
//! and then one: the first raise wakes the thread, later raises find it woken. The thread that sees a signal also sees
//! everything that happened before it was raised.
//!
//! A poll *takes* the ids raised by hand that it reports. An id with a receiver attached to it (see
//! [`YPollset::attach`]) is only *reported*, by every poll, until the receiver finds itself empty. Senders are attached
//! likewise; their ids are reported until they find no room.

mod alarms;
mod attach;
mod bits;
#[cfg(unix)]
mod doorbell;
#[cfg(all(test, ysuite_loom))]
mod models;
mod select;
mod set;
mod signal_set;
mod signals;
mod task;
mod timer;
mod ypollset;
mod ysemaphore;
#[cfg(unix)]
mod ysocketpair;

use core::fmt;
use core::time::Duration;

use set::SetCore;

use crate::block::{Waiting, block};
use crate::os::Deadline;
use crate::sync::Arc;

pub use attach::{Attach, AttachError, Registration};
pub use bits::MAX_CAPACITY;
pub(crate) use select::chance;
pub use select::{AttachShared, Select, SharedWatcher};
pub use signal_set::SignalSet;
use signal_set::impl_set;
pub use signals::Signals;
pub(crate) use task::TaskSlot;
pub use timer::Timer;
pub use ypollset::YPollset;
pub use ysemaphore::{SemaphoreSignaler, YSemaphore};
#[cfg(unix)]
pub use ysocketpair::{Backend, YSocketpair};

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
    fn poll(&mut self) -> Signals;

    /// Returns the signals that are up now, possibly none. Never blocks. If the descriptor has become readable, this
    /// makes it unreadable again.
    #[doc = cost!(signal CHECK)]
    fn check(&mut self) -> Signals;

    /// Blocks as [`Wait::poll`] does, but gives up after `timeout` and returns an empty set.
    ///
    /// A `timeout` of zero is a [`Wait::check`]. A `timeout` that the clock cannot hold, such as `Duration::MAX`, sets
    /// no time limit.
    #[doc = cost!(signal POLL)]
    fn poll_timeout(&mut self, timeout: Duration) -> Signals;
}

/// A signal id that the set does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdOutOfRange {
    /// The id asked for.
    pub id: usize,
    /// The number of ids, from 0.
    pub capacity: usize,
}

impl fmt::Display for IdOutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "signal id {} is out of range: this set has {} ids, from 0", self.id, self.capacity)
    }
}

impl std::error::Error for IdOutOfRange {}

/// After a poll that found nothing: blocks until there are signals, or the time-out has passed. Then the result is
/// empty; with a time-out of zero it is so at once.
#[cold]
#[inline(never)]
fn block_for_signals<W: Waiting<News = Signals>>(
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
fn check_range(id: usize, capacity: usize) {
    assert!(id < capacity, "{}", IdOutOfRange { id, capacity });
}

/// Raises the signals of one [`YPollset`] or `YSocketpair`.
///
/// Clones are cheap and equal. Any thread may use a signaler, also while others do, also after the set is gone (then
/// without effect). A `YSocketpair`'s descriptors stay open until its signalers are gone, too.
#[derive(Clone)]
pub struct Signaler {
    core: Arc<SetCore>,
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
