//! Where an end of the ring begins to look: the position behind its last claim. Any thread; wait-free.
//!
//! A stream of claims that loaded the position before each of them would wait, every time, until its own last exchange is
//! through the pipeline, and only then look at the cell. With the position remembered the look at the cell, and all that
//! follows, no longer depends on that exchange.
//!
//! A hint is a position that the ring once had, so it lies at or behind the one the ring has now. That is all that may be
//! relied on: the end may be used by several threads, and each other end moves the ring's position as well. A cell's stamp
//! tells whether the position was passed, and the exchange fails where it was. What is not there at a hint says nothing:
//! then the ring's own position is looked at.
//!
//! Cannot: serve two rings. An end uses one, for ever.

// For hints only, so not `crate::sync`'s: a model need not explore it.
use core::sync::atomic::{AtomicU64, Ordering};

/// A position of the ring that an end belongs to.
pub(crate) struct Hint(AtomicU64);

impl Hint {
    /// The position that every ring begins with.
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// For another end of the same ring.
    pub(crate) fn again(&self) -> Self {
        Self(AtomicU64::new(self.recall()))
    }

    #[inline(always)]
    pub(super) fn recall(&self) -> u64 {
        // ORDERING: Relaxed; the word guards nothing: a cell's stamp, and the exchange of the ring's position, decide.
        self.0.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(super) fn keep(&self, position: u64) {
        // ORDERING: Relaxed, as above.
        self.0.store(position, Ordering::Relaxed);
    }
}
