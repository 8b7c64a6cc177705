//! [`YPollset`]: many signals, from any thread to one thread that sleeps on a word.
//!
//! Signalling: any thread, wait-free; one read-modify-write up to 31 ids, one per level (two to four) above, and one
//! system call if the owner sleeps. Polling: the owner; blocks. Checking: the owner, wait-free, no system call.
//!
//! Cannot: wait for sockets and signals at once. Use a `YSocketpair` for that.

use core::fmt;

use super::attach::attach;
use super::set::SetCore;
use super::{Attach, AttachError, MAX_CAPACITY, Signals, impl_set};
use crate::os::Deadline;
use crate::sync::Arc;

/// A set of signals that one thread can sleep on and any thread can raise.
///
/// ```
/// use ysuite::signal::{Signal, Wait, YPollset};
///
/// let mut pollset = YPollset::new();
/// let signaler = pollset.signaler();
/// signaler.signal(7);
/// signaler.signal(30);
/// signaler.signal(7);
/// assert_eq!(pollset.wait().collect::<Vec<_>>(), [7, 30]);
/// assert!(pollset.check().is_empty());
/// ```
pub struct YPollset {
    core: Arc<SetCore>,
}

impl YPollset {
    /// Makes a set of 31 signals, all down. Allocates; makes no system call.
    #[must_use]
    pub fn new() -> Self {
        // All in one word.
        Self::with_capacity(31)
    }

    /// Makes a set of exactly `capacity` signals, all down. Allocates about a quarter of a byte per signal, at once;
    /// makes no system call. Up to 31 signals are raised and taken with one read-modify-write.
    ///
    /// # Panics
    /// If `capacity` is 0 or larger than [`MAX_CAPACITY`].
    #[must_use]
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { core: Arc::new(SetCore::on_futex(checked(capacity))) }
    }

    /// For a [`ReadySet`](super::ReadySet).
    #[track_caller]
    pub(super) fn naming_ends_once(capacity: usize) -> Self {
        Self { core: Arc::new(SetCore::naming_ends_once(checked(capacity))) }
    }

    /// Attaches `receiver` to `id`: from now on `id` is up exactly while that receiver may hold a message.
    ///
    /// A sender is attached likewise: `id` is up while it may have room, until `try_send` finds none.
    ///
    /// Level-triggered: every poll reports `id` until the receiver finds itself empty, on whichever thread reads it.
    /// The id is up at first: the receiver may hold messages already. Dropping the receiver frees the id; dropping the
    /// set does not affect the receiver. If an attached id is raised by hand, it is reported until the receiver next
    /// finds itself empty. Never blocks.
    #[doc = cost!(signal ATTACH)]
    ///
    /// # Errors
    /// [`AttachError`] if the set does not have this id, another receiver has it, or this receiver is attached already,
    /// to this set or another: [`detach`](Self::detach) it first. Nothing has changed.
    pub fn attach(&mut self, receiver: &mut impl Attach, id: usize) -> Result<(), AttachError> {
        attach(&self.core, receiver, id)
    }

    /// Returns the id of an attached receiver that is up: the first after `last`, or from the beginning. Wait-free;
    /// loads only.
    #[inline]
    pub(super) fn next_up(&self, last: usize) -> Option<usize> {
        let bits = &self.core.bits;
        bits.first_held(last + 1).or_else(|| bits.first_held(0))
    }

    /// Blocks until something is up, or the deadline has passed: then the result is empty.
    pub(super) fn poll_until(&mut self, deadline: Deadline) -> Signals {
        self.core.poll_until(deadline)
    }
}

/// # Panics
/// If it is 0 or larger than [`MAX_CAPACITY`].
#[track_caller]
fn checked(capacity: usize) -> usize {
    assert!((1..=MAX_CAPACITY).contains(&capacity), "a YPollset has 1 to {MAX_CAPACITY} signals, not {capacity}");
    capacity
}

impl_set!(YPollset);

impl Default for YPollset {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for YPollset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("YPollset").field("capacity", &self.capacity()).field("any_up", &self.core.bits.any()).finish()
    }
}
