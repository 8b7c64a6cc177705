//! The counts of the segments. Any thread; wait-free.

#[cfg(feature = "statistics")]
use super::CLOSED;
use super::SegmentsEnds;
use crate::queue::exchange::counts::CountedEnds;
#[cfg(feature = "statistics")]
use crate::statistics::QueueTally;
#[cfg(feature = "statistics")]
use crate::sync::Ordering;

impl CountedEnds for SegmentsEnds {
    #[cfg(feature = "statistics")]
    fn sent_and_received(&self) -> (u64, u64) {
        // ORDERING: Acquire twice keeps the loads in this order: no more than the difference are there, at the moment
        // of the first. The second also pairs with the fence in `QueueTally::drains`.
        let sent = self.tail.position.load(Ordering::Acquire) & !CLOSED;
        (sent - self.start, self.head.position.load(Ordering::Acquire) - self.start)
    }

    #[cfg(feature = "statistics")]
    fn most(&self) -> u64 {
        u64::MAX
    }

    #[cfg(feature = "statistics")]
    fn tally(&self) -> &QueueTally {
        &self.tally
    }
}
