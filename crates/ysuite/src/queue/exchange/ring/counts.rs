//! What observers see of the ring, and where writers check the counts for them. Any thread; wait-free.

#[cfg(feature = "statistics")]
use super::position::{lap, position_bits};
use super::{Ring, RingEnds};
#[cfg(feature = "statistics")]
use crate::statistics::Totals;
use crate::statistics::{Counted, Meter, is_due};
#[cfg(feature = "statistics")]
use crate::sync::Ordering;

impl<T> Ring<T> {
    /// From now on the ring is counted by this meter.
    pub(crate) fn join(&mut self, meter: &Meter) {
        self.ends.join(meter);
    }

    // MUTANT: Speed only: how often a sender updates the high-water mark. Killed only by
    // `a_mark_that_was_not_read_is_too_low_by_64_at_most`.
    /// For a writer that has moved the tail from one position to another: checks, once in a while, how many messages
    /// there are.
    #[inline(always)]
    pub(super) fn look_now_and_then(&self, from: u64, to: u64) {
        if is_due(from, to) {
            self.sample();
        }
    }
}

#[cfg(not(feature = "statistics"))]
impl<T> Ring<T> {
    #[inline(always)]
    pub(crate) fn sample(&self) {}

    #[inline(always)]
    pub(crate) fn leave(&self) {}

    #[inline(always)]
    pub(crate) fn drains(&self) {}
}

#[cfg(feature = "statistics")]
impl<T> Ring<T> {
    /// For a writer: checks how many messages there are.
    #[cold]
    #[inline(never)]
    pub(crate) fn sample(&self) {
        self.ends.tally.sample(self.ends.there());
    }

    /// The last reader goes, in a ring that is closed: what is taken from now on is dropped.
    pub(crate) fn leave(&self) {
        self.ends.tally.leave(self.ends.there(), self.ends.sent_and_received().1);
    }

    // MUTANT: A fence, which `ci/steps/orderings` checks.
    /// The calling thread has learned that the readers are gone, and drops what is left.
    pub(crate) fn drains(&self) {
        self.ends.tally.drains();
    }
}

#[cfg(feature = "statistics")]
impl RingEnds {
    /// The number of messages that come before a position.
    fn messages(&self, position: u64) -> u64 {
        let lap = lap(self.capacity);
        position / lap * self.capacity as u64 + position % lap
    }

    /// The number of messages that have been written and read. Claims count.
    fn sent_and_received(&self) -> (u64, u64) {
        // ORDERING: Acquire twice keeps the loads in this order: no more than the difference are there, at the moment
        // of the first. The second also pairs with the fence in `QueueTally::drains`.
        let sent = self.messages(self.read(self.tail.load(Ordering::Acquire), position_bits(self.capacity)).position);
        (sent, self.messages(self.head.load(Ordering::Acquire)))
    }

    /// The least number of messages, and no more than there may be: a forced message briefly precedes the removal of
    /// the message that it displaces.
    fn there(&self) -> u64 {
        let (sent, received) = self.sent_and_received();
        sent.saturating_sub(received).min(self.capacity as u64)
    }
}

impl Counted for RingEnds {
    #[cfg(feature = "statistics")]
    fn totals(&self) -> Totals {
        let (sent, received) = self.sent_and_received();
        self.tally.totals(sent, received, self.capacity as u64)
    }
}
