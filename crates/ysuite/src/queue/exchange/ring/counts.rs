//! The counts of the ring. Any thread; wait-free.

use super::RingEnds;
use super::position::{lap, position_bits};
use crate::queue::exchange::counts::CountedEnds;
use crate::statistics::QueueTally;
use crate::sync::Ordering;

impl RingEnds {
    /// The number of cells.
    fn capacity(&self) -> usize {
        self.tally.number() as usize
    }

    /// The number of messages that come before a position.
    fn messages(&self, position: u64) -> u64 {
        let lap = lap(self.capacity());
        position / lap * self.capacity() as u64 + position % lap
    }
}

impl CountedEnds for RingEnds {
    fn sent_and_received(&self) -> (u64, u64) {
        // ORDERING: Acquire twice keeps the loads in this order: no more than the difference are there, at the moment
        // of the first. The second also pairs with the fence in `QueueTally::drains`.
        let sent = self.messages(self.read(self.tail.load(Ordering::Acquire), position_bits(self.capacity())).position);
        (sent, self.messages(self.head.load(Ordering::Acquire)))
    }

    /// A forced message briefly precedes the removal of the message that it displaces.
    fn most(&self) -> u64 {
        self.tally.number()
    }

    #[inline(always)]
    fn tally(&self) -> &QueueTally {
        &self.tally
    }
}
