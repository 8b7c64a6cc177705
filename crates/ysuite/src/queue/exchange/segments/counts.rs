//! The counts of the segments. Any thread; wait-free.

use super::CLOSED;
use super::SegmentsEnds;
use crate::queue::exchange::counts::CountedEnds;
use crate::statistics::QueueTally;
use crate::sync::Ordering;

impl CountedEnds for SegmentsEnds {
    fn sent_and_received(&self) -> (u64, u64) {
        // ORDERING: Acquire twice keeps the loads in this order: no more than the difference are there, at the moment
        // of the first. The second also pairs with the fence in `QueueTally::drains`.
        let sent = self.tail.position.load(Ordering::Acquire) & !CLOSED;
        let start = self.tally.number();
        (sent - start, self.head.position.load(Ordering::Acquire) - start)
    }

    fn most(&self) -> u64 {
        u64::MAX
    }

    #[inline(always)]
    fn tally(&self) -> &QueueTally {
        &self.tally
    }
}
