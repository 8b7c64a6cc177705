//! [`WriterTally`]: the counts of a pipe, which its writer keeps beside the number that have been read. The writer's
//! thread writes; any thread reads. Wait-free.

use core::ops::Deref;

use super::{SAMPLED, Totals};
use crate::sync::{AtomicUsize, Ordering};

/// A line of its own, which observers read.
#[cfg_attr(not(any(target_arch = "aarch64", target_arch = "powerpc64")), repr(align(64)))]
#[cfg_attr(any(target_arch = "aarch64", target_arch = "powerpc64"), repr(align(128)))]
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

/// What the writer of a pipe alone writes.
#[derive(Default)]
pub(crate) struct WriterTally {
    /// The number of messages that have been published, less those that were given back.
    sent: AtomicUsize,
    /// The number of messages that were given back of those that count in the writer's position.
    given_back: AtomicUsize,
    /// The most messages that took up room at once, as far as the writer has checked.
    high_water: AtomicUsize,
    /// The same, as far as others have checked: observers, and the reader on drop. Written where they find more than
    /// the writer, so hardly ever.
    observed: AtomicUsize,
    /// Written by the reader once: one more than it had read when it left.
    left: AtomicUsize,
}

// ORDERING: Relaxed throughout: the writer reads only what it has written itself, and observers read numbers, for
// people. Where another thread has learned of what was sent or read in another way, it finds it here by coherence.
impl WriterTally {
    /// Writer: one more message has been sent, while none was hidden.
    #[inline(always)]
    pub(crate) fn sent_one(&self) {
        let sent = &self.sent;
        sent.store(sent.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// For the writer: what it has written up to this position is sent, except what was given back.
    #[inline(always)]
    pub(crate) fn sent_up_to(&self, position: usize) {
        let given_back = self.given_back.load(Ordering::Relaxed);
        self.sent.store(position.wrapping_sub(given_back), Ordering::Relaxed);
    }

    /// For the writer: has given back `messages` messages, which count in its position.
    pub(crate) fn gave_back(&self, messages: usize) {
        let given_back = &self.given_back;
        given_back.store(given_back.load(Ordering::Relaxed).wrapping_add(messages), Ordering::Relaxed);
    }

    /// For the reader: is about to leave. What is taken later is dropped. Each thread that takes it has learned of
    /// that, and stores `consumed` with Release; so a thread that finds a dropped message counted there finds this as
    /// well.
    pub(crate) fn leave(&self, consumed: impl FnOnce() -> usize) {
        let read = consumed();
        // MUTANT: Killed only by `what_is_there_when_the_last_receiver_goes_is_seen_by_the_mark`.
        self.observe(self.sent.load(Ordering::Relaxed), read);
        self.left.store(read.wrapping_add(1), Ordering::Relaxed);
    }

    // MUTANT: Statistics only: the mark is the same, or is updated one message later.
    /// For any thread: `sent` messages had been sent, and `consumed` read then or later.
    fn observe(&self, sent: usize, consumed: usize) {
        let Self { high_water, observed, .. } = self;
        let there = (sent.wrapping_sub(consumed) as isize).max(0) as usize;
        if there > high_water.load(Ordering::Relaxed) {
            observed.fetch_max(there, Ordering::Relaxed);
        }
    }

    // MUTANT: Statistics only: how near the high-water mark is. It stays within 64 messages.
    /// For the writer, at this position: checks how many messages take up room.
    pub(crate) fn sample(&self, position: usize, consumed: impl FnOnce() -> usize) {
        self.sample_against(position, consumed());
    }

    // MUTANT: Statistics only. Killed only by `a_mark_that_was_not_read_is_too_low_by_64_at_most`.
    fn sample_against(&self, position: usize, consumed: usize) -> usize {
        let high_water = &self.high_water;
        let there = position.wrapping_sub(consumed);
        debug_assert!(there as isize >= 0, "{consumed} messages read of {position}");
        let high = high_water.load(Ordering::Relaxed).max(there);
        high_water.store(high, Ordering::Relaxed);
        high
    }

    // MUTANT: Statistics only: the mark is updated one message sooner or later.
    /// For the writer, at this position, which has found `consumed` messages read: samples, and returns up to which
    /// position it may write before it checks again, at most `limit`.
    ///
    /// The mark is too low by [`SAMPLED`] at most. Up to the next check there are never more messages than the mark, or
    /// than the present ones and those that may be written, or than that.
    pub(crate) fn next_look(&self, position: usize, consumed: usize, limit: usize) -> usize {
        let high = self.sample_against(position, consumed);
        let there = position.wrapping_sub(consumed);
        // Never less than `SAMPLED`: usually the queue is shorter than it has been.
        let ahead = high.max(SAMPLED).wrapping_sub(there).max(SAMPLED);
        position.wrapping_add(ahead.min(limit.wrapping_sub(position)))
    }

    // MUTANT: Statistics only: equal values give the same answer.
    /// `consumed`: loads what has been read, with Acquire.
    pub(crate) fn totals(&self, consumed: impl FnOnce() -> usize) -> Totals {
        let Self { sent, high_water, observed, left, .. } = self;
        // ORDERING: Acquire keeps the load of `consumed` after this one: no more messages than the difference are
        // there, at the moment of the first.
        let sent = sent.load(Ordering::Acquire);
        let consumed = consumed();
        let left = left.load(Ordering::Relaxed);
        if left == 0 {
            self.observe(sent, consumed);
        }
        let received = if left == 0 { consumed } else { left.wrapping_sub(1) };
        // What has been read was sent, though the writer may not have counted it yet. Counts wrap: compared by the sign
        // of the difference, as the two are near each other.
        let sent = if (sent.wrapping_sub(received) as isize) < 0 { received } else { sent };
        let high_water = high_water.load(Ordering::Relaxed).max(observed.load(Ordering::Relaxed));
        Totals { sent: sent as u64, received: received as u64, high_water: high_water as u64 }
    }
}
