//! [`Ledger`]: the counts of one channel, and where those of its queues are to be read. Any thread.
//!
//! A lock keeps the list of queues, and what those that are gone have left. It is held for some instructions where a queue
//! begins or ends, and for some more for each queue while an observer adds up. No foreign code runs under it. What slow paths
//! count needs no lock.

use std::collections::BTreeMap;
// It only keeps memory alive, so not `crate::sync`'s: a model need not explore it.
use std::sync::Arc;

use super::counted::Counted;
use super::observer::Statistics;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};

/// What has gone through a queue.
#[derive(Clone, Copy, Default)]
pub(crate) struct Totals {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// The most messages that have been there at once, as far as looks have found.
    pub(crate) high_water: u64,
}

impl Totals {
    /// Those of two queues.
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
    /// Messages that went from hand to hand.
    pub(super) met: AtomicU64,
    queues: Mutex<CountedQueues>,
}

struct CountedQueues {
    /// By the address of their words.
    open: BTreeMap<usize, Arc<dyn Counted>>,
    /// Of those that are gone.
    gone: Totals,
}

impl Ledger {
    pub(super) fn new() -> Self {
        let zero = || AtomicU64::new(0);
        let queues = Mutex::new(CountedQueues { open: BTreeMap::new(), gone: Totals::default() });
        Self { full: zero(), sleeps: zero(), wakes: zero(), met: zero(), queues }
    }

    pub(super) fn add_one(count: &AtomicU64) {
        // ORDERING: Relaxed; a number, for people.
        count.fetch_add(1, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, CountedQueues> {
        // Nothing that could panic runs under the lock but the allocator, before anything is changed.
        self.queues.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// A queue begins.
    pub(super) fn open(&self, words: Arc<dyn Counted>) {
        self.lock().open.insert(Arc::as_ptr(&words).addr(), words);
    }

    /// A queue is gone. Its numbers move to those of all that are gone: an observer finds them in one place or the other.
    pub(super) fn close(&self, words: &impl Counted) {
        let mut queues = self.lock();
        let gone = queues.open.remove(&core::ptr::from_ref(words).addr());
        if let Some(words) = &gone {
            queues.gone = queues.gone.and(words.totals());
        }
    }

    pub(super) fn statistics(&self) -> Statistics {
        // ORDERING: Relaxed throughout; numbers, for people. Each look's come after the last one's: by the lock for looks of
        // several threads.
        let queues = self.lock();
        let totals = queues.open.values().fold(queues.gone, |totals, words| totals.and(words.totals()));
        let met = self.met.load(Ordering::Relaxed);
        let sent = totals.sent.wrapping_add(met);
        Statistics {
            sent,
            received: totals.received.wrapping_add(met),
            // What has gone through a queue has been there.
            high_water: totals.high_water.max(totals.sent.min(1)),
            sleeps: self.sleeps.load(Ordering::Relaxed),
            wakes: self.wakes.load(Ordering::Relaxed),
            full: self.full.load(Ordering::Relaxed),
        }
    }
}
