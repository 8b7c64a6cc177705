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
//! | `YSocketpair` (Unix, Windows) | 256, or up to [`MAX_CAPACITY`] | any to one | a descriptor, alone or in an event loop |
//!
//! A signal is a state, not a count: raised twice before it is taken, it is one signal. Raising never blocks and never
//! spins. It makes a system call only if the waiting thread sleeps or, with a descriptor, only if that is unreadable,
//! and then one: the first raise wakes the thread, later raises find it woken. The thread that sees a signal also sees
//! everything that happened before it was raised.
//!
//! A poll *takes* the ids raised by hand that it reports. An id with a receiver attached to it (see
//! [`YPollset::attach`]) is only *reported*, by every poll, until the receiver finds itself empty. Senders are attached
//! likewise; their ids are reported until they find no room.

#[cfg(feature = "signal")]
mod alarms;
mod attach;
#[cfg(feature = "signal")]
mod bits;
mod chance;
#[cfg(all(feature = "signal", any(unix, windows)))]
mod doorbell;
#[cfg(all(test, ysuite_loom))]
mod models;
#[cfg(feature = "signal")]
mod ready_set;
#[cfg_attr(not(feature = "signal"), path = "no_set.rs")]
mod set;
mod shared;
#[cfg(feature = "signal")]
mod signal_set;
#[cfg(feature = "signal")]
mod signaler;
#[cfg(feature = "signal")]
mod signals;
mod task;
#[cfg(any(feature = "signal", feature = "timer"))]
pub(crate) mod timer;
#[cfg(feature = "signal")]
mod ypollset;
#[cfg(feature = "signal")]
mod ysemaphore;
#[cfg(all(feature = "signal", any(unix, windows)))]
mod ysocketpair;

use core::fmt;

pub use attach::{Attach, AttachError, Registration};
#[cfg(feature = "signal")]
pub use bits::MAX_CAPACITY;
pub(crate) use chance::chance;
#[cfg(feature = "signal")]
pub use ready_set::ReadySet;
pub use shared::{AttachShared, Prospect, SharedWatcher};
#[cfg(feature = "signal")]
pub use signal_set::SignalSet;
#[cfg(feature = "signal")]
use signal_set::impl_set;
#[cfg(feature = "signal")]
pub use signaler::{Signal, Signaler, Wait};
#[cfg(feature = "signal")]
use signaler::{block_for_signals, check_range};
#[cfg(feature = "signal")]
pub use signals::Signals;
pub(crate) use task::TaskSlot;
#[cfg(any(feature = "signal", feature = "timer"))]
pub(crate) use timer::Timer;
#[cfg(feature = "signal")]
pub use ypollset::YPollset;
#[cfg(feature = "signal")]
pub use ysemaphore::{SemaphoreSignaler, YSemaphore};
#[cfg(all(feature = "signal", unix))]
pub use ysocketpair::Backend;
#[cfg(all(feature = "signal", any(unix, windows)))]
pub use ysocketpair::YSocketpair;

/// Whether this build has sets of signals. Where it has none no handle is in one, and code for that is left out.
pub(crate) const SETS: bool = cfg!(feature = "signal");

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
