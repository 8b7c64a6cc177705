//! What there is where nothing is counted: the same types and methods as with the feature `statistics`, of no size, and
//! without effect. So their users ask for no feature.

use core::ops::Deref;

use super::{Counted, Totals};

/// Whether anything is counted.
pub(crate) const COUNTING: bool = false;

#[derive(Clone, Default)]
pub(crate) struct Meter {}

impl Meter {
    #[cfg(all(feature = "mpsc", not(ysuite_loom)))]
    pub(crate) const fn none() -> Self {
        Self {}
    }

    pub(crate) fn new() -> Self {
        Self {}
    }

    pub(crate) fn for_room(&self) -> Self {
        Self {}
    }

    #[inline(always)]
    pub(crate) fn waits(&self) {}

    #[inline(always)]
    pub(crate) fn refused(&self) {}

    #[inline(always)]
    pub(crate) fn sleeps(&self) {}

    #[inline(always)]
    pub(crate) fn wakes(&self) {}

    #[inline(always)]
    pub(crate) fn meets(&self) {}
}

/// The words are in the queue itself.
pub(crate) struct Observed<C: Counted>(C);

impl<C: Counted> Observed<C> {
    pub(crate) fn new(words: C) -> Self {
        Self(words)
    }

    pub(crate) fn join(&mut self, _: &Meter) {}
}

impl<C: Counted> Deref for Observed<C> {
    type Target = C;

    #[inline(always)]
    fn deref(&self) -> &C {
        &self.0
    }
}

pub(crate) struct QueueTally;

impl QueueTally {
    pub(crate) fn new(_: u64) -> Self {
        Self
    }

    pub(crate) fn number(&self) -> u64 {
        0
    }

    pub(crate) fn sample(&self, _: u64) {}

    pub(crate) fn leave(&self, _: u64, _: u64) {}

    pub(crate) fn drains(&self) {}

    pub(crate) fn totals(&self, _: u64, _: u64, _: u64) -> Totals {
        Totals::default()
    }
}

#[derive(Default)]
pub(crate) struct WriterTally;

impl WriterTally {
    #[inline(always)]
    pub(crate) fn sent_one(&self) {}

    #[inline(always)]
    pub(crate) fn sent_up_to(&self, _: usize) {}

    #[inline(always)]
    pub(crate) fn gave_back(&self, _: usize) {}

    #[inline(always)]
    pub(crate) fn leave(&self, _: impl FnOnce() -> usize) {}

    #[inline(always)]
    pub(crate) fn sample(&self, _: usize, _: impl FnOnce() -> usize) {}

    #[inline(always)]
    pub(crate) fn next_look(&self, _: usize, _: usize, limit: usize) -> usize {
        limit
    }

    #[allow(dead_code, reason = "nothing asks without the feature; Rust 1.85 sees that through the trait")]
    pub(crate) fn totals(&self, _: impl FnOnce() -> usize) -> Totals {
        Totals::default()
    }
}

/// No observer reads it, so it needs no line of its own.
#[derive(Default)]
pub(crate) struct OwnLine<W>(W);

impl<W> OwnLine<W> {
    pub(crate) fn new(words: W) -> Self {
        Self(words)
    }
}

impl<W> Deref for OwnLine<W> {
    type Target = W;

    #[inline(always)]
    fn deref(&self) -> &W {
        &self.0
    }
}
