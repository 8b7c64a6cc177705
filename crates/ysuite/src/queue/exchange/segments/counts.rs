//! What observers see of the segments, and where writers check the counts for them. Any thread; wait-free.

#[cfg(feature = "statistics")]
use super::CLOSED;
use super::{Segments, SegmentsEnds};
#[cfg(feature = "statistics")]
use crate::statistics::Totals;
use crate::statistics::{Counted, Meter, is_due};
#[cfg(feature = "statistics")]
use crate::sync::Ordering;

impl<T> Segments<T> {
    /// From now on the queue is counted by this meter.
    pub(crate) fn join(&mut self, meter: &Meter) {
        self.ends.join(meter);
    }

    /// For a writer that has moved the tail from one position to another: checks, once in a while, how many messages
    /// there are.
    #[inline(always)]
    pub(super) fn look_now_and_then(&self, from: u64, to: u64) {
        // MUTANT: Speed only: how often a sender updates the high-water mark.
        if is_due(from, to) {
            self.sample();
        }
    }
}

#[cfg(not(feature = "statistics"))]
impl<T> Segments<T> {
    #[inline(always)]
    pub(crate) fn sample(&self) {}

    #[inline(always)]
    pub(crate) fn leave(&self) {}

    #[inline(always)]
    pub(crate) fn drains(&self) {}
}

#[cfg(feature = "statistics")]
impl<T> Segments<T> {
    /// For a writer: checks how many messages there are.
    #[cold]
    #[inline(never)]
    pub(crate) fn sample(&self) {
        let (sent, received) = self.ends.sent_and_received();
        self.ends.tally.sample(sent.saturating_sub(received));
    }

    /// The last reader goes, in a queue that is closed: what is taken from now on is dropped.
    pub(crate) fn leave(&self) {
        let (sent, received) = self.ends.sent_and_received();
        self.ends.tally.leave(sent.saturating_sub(received), received);
    }

    // MUTANT: A fence, which `ci/steps/orderings` checks.
    /// The calling thread has learned that the readers are gone, and drops what is left.
    pub(crate) fn drains(&self) {
        self.ends.tally.drains();
    }
}

#[cfg(feature = "statistics")]
impl SegmentsEnds {
    /// The number of messages that have been written and read, from the positions. Claims count.
    fn sent_and_received(&self) -> (u64, u64) {
        // ORDERING: Acquire twice keeps the loads in this order: no more than the difference are there, at the moment
        // of the first. The second also pairs with the fence in `QueueTally::drains`.
        let sent = self.tail.position.load(Ordering::Acquire) & !CLOSED;
        (sent - self.start, self.head.position.load(Ordering::Acquire) - self.start)
    }
}

impl Counted for SegmentsEnds {
    #[cfg(feature = "statistics")]
    fn totals(&self) -> Totals {
        let (sent, received) = self.sent_and_received();
        self.tally.totals(sent, received, u64::MAX)
    }
}
