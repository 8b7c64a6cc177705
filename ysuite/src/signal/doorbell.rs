//! A descriptor brought into agreement with a set of bits: readable while something is up, and written to once.
//!
//! `ring` and `quiet`: any thread, lock-free, at most two system calls each (more only if signal handlers interrupt
//! them). `wait`: the owner; blocks.
//!
//! The state is RUNG from before a ring is written until after it has been read back. So at most one ring is in the
//! descriptor, nothing is written to a descriptor that is readable already, and a look at an idle set is one load.
//! Where several threads find the set empty at once, only one of them can read the ring back.
//!
//! The descriptor belongs to the process that made it. A forked child shares it and has a copy of the state, so whatever
//! the child does here would be done to its parent, who would not know: it does nothing.
//!
//! Cannot: silence a ring that is announced but not yet written. It comes, the owner looks once for nothing, and that
//! look reads it back.

use std::os::fd::{AsFd, BorrowedFd};

use crossbeam_utils::CachePadded;

use crate::os::{Deadline, Home, Notifier};
use crate::sync::{AtomicU32, Ordering};

/// A ring is in the descriptor, or about to be written by the thread that set this, or just taken by the thread that
/// will clear this.
const RUNG: u32 = 1;
/// The owner is gone: nobody rings any more. Never cleared.
const ABANDONED: u32 = 2;

pub(super) struct Doorbell {
    notifier: Box<dyn Notifier>,
    /// Where the notifier is.
    home: Home,
    state: CachePadded<AtomicU32>,
}

impl Doorbell {
    pub(super) fn new(notifier: Box<dyn Notifier>) -> Self {
        Self { notifier, home: Home::here(), state: CachePadded::new(AtomicU32::new(0)) }
    }

    /// Makes the descriptor readable unless it is. To be called after the bits were set.
    pub(super) fn ring(&self) {
        // ORDERING: Release pairs with the Acquire of `quiet`: either that comes later and its second look sees our
        // bits, or this comes later, finds the state cleared, and rings. Both are RMWs of one word: no third case.
        // Acquire pairs with the Release of `quiet`: our write comes after the read that cleared the descriptor.
        if self.state.fetch_or(RUNG, Ordering::AcqRel) != 0 {
            return;
        }
        if !self.home.is_here() {
            return;
        }
        self.notifier.notify();
        // ORDERING: an RMW that pairs with the one in `abandon`: either that acquires this, and reads our ring back,
        // or this sees ABANDONED.
        if self.state.fetch_or(0, Ordering::AcqRel) & ABANDONED != 0 {
            self.notifier.clear();
        }
    }

    /// Makes the descriptor unreadable if it is. To be called after the last bit was taken down.
    pub(super) fn quiet(&self, anything_up: impl FnOnce() -> bool) {
        // ORDERING: Relaxed: only a hint. Seen too old, a readable descriptor makes the owner look once more; seen too
        // new, `clear` finds nothing.
        if self.state.load(Ordering::Relaxed) != RUNG || !self.home.is_here() || !self.notifier.clear() {
            return;
        }
        // The ring was ours alone to take, so the state is ours alone to clear.
        // ORDERING: Acquire pairs with the Release of `ring`: those who relied on this ring are seen by the look below.
        // Release pairs with the Acquire of `ring`: the next ring is written after this one was read.
        self.state.fetch_and(!RUNG, Ordering::AcqRel);
        if anything_up() {
            self.ring();
        }
    }

    /// The owner goes: from now on the descriptor stays as it is, and that is unreadable.
    pub(super) fn abandon(&self) {
        // ORDERING: pairs with the RMWs of `ring`, see there.
        if self.state.fetch_or(ABANDONED, Ordering::AcqRel) & RUNG != 0 && self.home.is_here() {
            self.notifier.clear();
        }
    }

    /// Blocks until the descriptor is readable (true) or the deadline has passed (false); may return for no reason.
    pub(super) fn wait(&self, deadline: Deadline) -> bool {
        self.notifier.wait(deadline)
    }
}

impl AsFd for Doorbell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.notifier.as_fd()
    }
}
