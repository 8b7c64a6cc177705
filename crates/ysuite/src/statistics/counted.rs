//! [`Observed`]: words of a queue that observers read as well. The queue's own threads write them; any thread reads.
//!
//! The words are in an allocation of their own, which does not depend on the messages: so an observer may keep it when
//! the queue is gone.

use core::ops::Deref;

// Arcs of the words only keep memory alive, so not `crate::sync`'s: a model need not explore it.
use std::sync::Arc;

use super::meter::Meter;
use super::{Counted, Totals};
use crate::sync::{AtomicU64, Ordering, fence};

/// Whether anything is counted.
pub(crate) const COUNTING: bool = true;

/// Words of a queue.
pub(crate) struct Observed<C: Counted> {
    words: Arc<C>,
}

impl<C: Counted> Observed<C> {
    /// So far no observer reads them.
    pub(crate) fn new(words: C) -> Self {
        Self { words: Arc::new(words) }
    }

    /// From now on they are counted for the channel of this meter, until the queue is gone and only its ledger has
    /// them. Call it once.
    pub(crate) fn join(&mut self, meter: &Meter) {
        if let Some(ledger) = meter.ledger() {
            ledger.open(self.words.clone());
        }
    }
}

impl<C: Counted> Deref for Observed<C> {
    type Target = C;

    #[inline(always)]
    fn deref(&self) -> &C {
        &self.words
    }
}

/// The additional counts of a queue whose positions provide the others. Any thread; wait-free.
pub(crate) struct QueueTally {
    /// What the queue's counts are computed with. Never changes.
    number: u64,
    /// The largest number of messages that a check has found.
    high_water: AtomicU64,
    /// One more than the number of messages taken when the last receiver was dropped; messages taken later are dropped.
    left: AtomicU64,
    /// The largest number received that a read has found.
    shown: AtomicU64,
}

impl QueueTally {
    /// `number`: what the queue computes its counts with.
    pub(crate) fn new(number: u64) -> Self {
        let zero = || AtomicU64::new(0);
        Self { number, high_water: zero(), left: zero(), shown: zero() }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// A sender has checked: `there` messages are in the queue.
    pub(crate) fn sample(&self, there: u64) {
        // MUTANT: Speed only: the line is written with the same mark.
        // ORDERING: Relaxed twice; a number, for people. The load first: usually `there` is not the largest, and the
        // line is not written.
        if self.high_water.load(Ordering::Relaxed) < there {
            self.high_water.fetch_max(there, Ordering::Relaxed);
        }
    }

    /// The last receiver is dropped, after `received` messages have been taken, and before others are dropped.
    pub(crate) fn leave(&self, there: u64, received: u64) {
        self.sample(there);
        // ORDERING: Relaxed; `drains` comes between this and the first message that is dropped.
        self.left.store(received + 1, Ordering::Relaxed);
    }

    // MUTANT: A fence, which `ci/steps/orderings` checks.
    /// The calling thread has found that the last receiver is gone, and is about to take messages out to drop them.
    pub(crate) fn drains(&self) {
        // ORDERING: Acquire makes what this thread has found by a Relaxed load of a word hand over what `leave` has
        // stored; Release pairs with the Acquire loads of the head before `totals`: a thread that finds the head moved
        // by this thread finds that as well.
        fence(Ordering::AcqRel);
    }

    // MUTANT: `leave` has recorded the length when the last receiver was dropped.
    /// Computes `sent` and `received` from the positions, both loaded with Acquire, in this order: so at most the
    /// difference is in the queue. `most` may be there at once.
    pub(crate) fn totals(&self, sent: u64, received: u64, most: u64) -> Totals {
        // ORDERING: Relaxed; where `received` has counted a message that was dropped, see `drains`.
        let left = self.left.load(Ordering::Relaxed);
        let there = sent.saturating_sub(received).min(most);
        let received = if left == 0 { received } else { left - 1 };
        // A message that was displaced while the last receiver was dropped may have been counted by an earlier read,
        // and be counted as dropped from now on: no count falls.
        // ORDERING: Relaxed; a number, for people.
        let received = self.shown.fetch_max(received, Ordering::Relaxed).max(received);
        if left == 0 {
            self.sample(there);
        }
        // ORDERING: Relaxed; a number, for people.
        Totals { sent: sent.max(received), received, high_water: self.high_water.load(Ordering::Relaxed) }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::*;

    struct Words;

    impl Counted for Words {
        fn totals(&self) -> Totals {
            Totals { sent: 3, received: 2, high_water: 1 }
        }
    }

    /// Senders of an `mpsc` come and go: a ledger that kept the words of each would grow for as long as the channel is
    /// there.
    #[test]
    fn the_words_of_a_queue_that_is_gone_are_given_back_and_their_numbers_stay() {
        let meter = Meter::new();
        let observer = meter.observer();
        let flow = || (observer.statistics().sent, observer.statistics().received);
        for queues in 1..4_u64 {
            let mut observed = Observed::new(Words);
            observed.join(&meter);
            let words = Arc::downgrade(&observed.words);
            assert_eq!((flow(), words.strong_count()), ((3 * queues, 2 * queues), 2));
            drop(observed);
            assert_eq!((flow(), words.strong_count()), ((3 * queues, 2 * queues), 0));
        }
    }

    /// As in a forked child, where the lock is never released.
    #[test]
    fn a_queue_goes_beside_the_lock() {
        let meter = Meter::new();
        let mut observed = Observed::new(Words);
        observed.join(&meter);
        let (gone, told) = channel();
        let held = meter.ledger().unwrap().lock();
        let thread = thread::spawn(move || {
            drop(observed);
            gone.send(()).unwrap();
        });
        assert_eq!(told.recv_timeout(Duration::from_secs(100)), Ok(()));
        drop(held);
        thread.join().unwrap();
        assert_eq!(meter.observer().statistics().sent, 3);
    }
}
