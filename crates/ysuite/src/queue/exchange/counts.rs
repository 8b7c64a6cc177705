//! What observers see of a ring or of segments, and where writers check the counts for them. Any thread; wait-free.

use crate::statistics::{COUNTING, Counted, QueueTally, Totals, is_due};

/// The positions of both sides of a queue, from which its counts are read.
pub(crate) trait CountedEnds: Send + Sync + 'static {
    /// The number of messages that have been written and read. Claims count.
    fn sent_and_received(&self) -> (u64, u64);

    /// The most messages that may be there at once.
    fn most(&self) -> u64;

    fn tally(&self) -> &QueueTally;

    // MUTANT: Speed only: how often a sender updates the high-water mark. Killed only by
    // `a_mark_that_was_not_read_is_too_low_by_64_at_most`.
    /// For a writer that has moved the tail from one position to another: checks, once in a while, how many messages
    /// there are.
    #[inline(always)]
    fn look_now_and_then(&self, from: u64, to: u64) {
        if is_due(from, to) {
            self.sample();
        }
    }

    /// For a writer: checks how many messages there are.
    #[inline(always)]
    fn sample(&self) {
        if COUNTING {
            self.sample_now();
        }
    }

    #[cold]
    #[inline(never)]
    fn sample_now(&self) {
        let (sent, received) = self.sent_and_received();
        self.tally().sample(sent.saturating_sub(received).min(self.most()));
    }

    /// The last reader goes, in a queue that is closed: what is taken from now on is dropped.
    #[inline(always)]
    fn leave(&self) {
        if COUNTING {
            let (sent, received) = self.sent_and_received();
            self.tally().leave(sent.saturating_sub(received).min(self.most()), received);
        }
    }

    // MUTANT: A fence, which `ci/steps/orderings` checks.
    /// The calling thread has learned that the readers are gone, and drops what is left.
    #[inline(always)]
    fn drains(&self) {
        self.tally().drains();
    }
}

impl<E: CountedEnds> Counted for E {
    fn totals(&self) -> Totals {
        let (sent, received) = self.sent_and_received();
        self.tally().totals(sent, received, self.most())
    }
}
