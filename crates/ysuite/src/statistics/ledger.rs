//! [`Ledger`]: the counts of one channel, and the words from which those of its queues are read. Any thread.
//!
//! A lock keeps the list of queues, and the final counts of dropped queues. It is held for some instructions when a
//! queue is created. It is held for some more for each queue while an observer adds up, or when the number of queues
//! has doubled. No user code runs under it. A queue that is dropped takes no lock, which a forked child may find held
//! for ever: the next thread with the lock finds that the queue is gone. Counts of slow paths need no lock.

// It only keeps memory alive, so not `crate::sync`'s: a model need not explore it.
use std::sync::Arc;

use super::observer::Statistics;
use super::{Counted, Totals};
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering, fence};

impl Totals {
    /// Combines the totals of two queues.
    fn and(self, other: Self) -> Self {
        Self {
            sent: self.sent.wrapping_add(other.sent),
            received: self.received.wrapping_add(other.received),
            high_water: self.high_water.max(other.high_water),
        }
    }
}

pub(super) struct Ledger {
    pub(super) full: AtomicU64,
    pub(super) sleeps: AtomicU64,
    pub(super) wakes: AtomicU64,
    /// Messages passed from hand to hand.
    pub(super) met: AtomicU64,
    queues: Mutex<CountedQueues>,
}

// GROWS: lanes at once; one queue for all kinds but an `mpsc`; full: as the lanes; a lane's entry goes after the lane:
//     when the number of lanes has doubled, or an observer reads; cost: a constant, on average; an observer reads all;
//     test: tests/suite/statistics.rs: senders_that_come_and_go_leave_their_numbers
pub(super) struct CountedQueues {
    /// The queues present at the last check, and those created since.
    open: Vec<Arc<dyn Counted>>,
    /// The totals of the queues that were gone then.
    gone: Totals,
    /// The number of queues at which the next check is due.
    due: usize,
}

/// A ledger of few queues is not checked for each new one.
const FEW: usize = 8;

impl CountedQueues {
    /// A queue is gone if only the ledger shares its words; all threads have finished with it, and its numbers are
    /// final. They move to the totals of all queues that are gone: an observer finds them in one place or the other.
    fn clear(&mut self) {
        let Self { open, gone, due } = self;
        open.retain(|words| {
            let is_gone = Arc::strong_count(words) == 1;
            if is_gone {
                // ORDERING: pairs with the Release by which the last share but this one was dropped.
                fence(Ordering::Acquire);
                *gone = gone.and(words.totals());
            }
            !is_gone
        });
        // So each new queue pays for one or two that are checked.
        *due = FEW.max(2 * open.len());
    }
}

impl Ledger {
    pub(super) fn new() -> Self {
        let zero = || AtomicU64::new(0);
        let queues = Mutex::new(CountedQueues { open: Vec::new(), gone: Totals::default(), due: FEW });
        Self { full: zero(), sleeps: zero(), wakes: zero(), met: zero(), queues }
    }

    pub(super) fn add_one(count: &AtomicU64) {
        // ORDERING: Relaxed; a number, for people.
        count.fetch_add(1, Ordering::Relaxed);
    }

    // WAITS: for some instructions of another thread: an observer's for each queue, and those of a queue that begins;
    //     now and then for each queue there too; no user code runs under the lock but the allocator, and no send,
    //     receive or wait takes it; test: tests/suite/statistics.rs: senders_that_come_and_go_leave_their_numbers
    pub(super) fn lock(&self) -> MutexGuard<'_, CountedQueues> {
        // Nothing that could panic runs under the lock but the allocator, before anything is changed.
        self.queues.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// A queue is created.
    pub(super) fn open(&self, words: Arc<dyn Counted>) {
        let mut queues = self.lock();
        if queues.open.len() >= queues.due {
            queues.clear();
        }
        queues.open.push(words);
    }

    pub(super) fn statistics(&self) -> Statistics {
        // ORDERING: Relaxed throughout; numbers, for people. Each read comes after the one before it: for reads of
        // several threads by the lock.
        let mut queues = self.lock();
        queues.clear();
        let totals = queues.open.iter().fold(queues.gone, |totals, words| totals.and(words.totals()));
        let met = self.met.load(Ordering::Relaxed);
        let sent = totals.sent.wrapping_add(met);
        Statistics {
            sent,
            received: totals.received.wrapping_add(met),
            // A message that has passed through a queue has been in it.
            high_water: totals.high_water.max(totals.sent.min(1)),
            sleeps: self.sleeps.load(Ordering::Relaxed),
            wakes: self.wakes.load(Ordering::Relaxed),
            full: self.full.load(Ordering::Relaxed),
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::sync::Weak;

    use super::*;

    struct Words;

    impl Counted for Words {
        fn totals(&self) -> Totals {
            Totals { sent: 1, received: 1, high_water: 1 }
        }
    }

    /// A queue that has been created.
    fn begun(ledger: &Ledger) -> Arc<Words> {
        let words = Arc::new(Words);
        ledger.open(words.clone());
        words
    }

    /// The channel has no observer.
    #[test]
    fn of_queues_that_come_and_go_few_are_kept() {
        let ledger = Ledger::new();
        let stays = begun(&ledger);
        let all: Vec<Weak<Words>> = (0..1_000).map(|_| Arc::downgrade(&begun(&ledger))).collect();
        let kept = all.iter().filter(|words| words.strong_count() != 0).count();
        assert!(kept <= FEW, "{kept} are kept");
        assert_eq!(ledger.statistics().sent, 1_001);
        drop(stays);
    }
}
