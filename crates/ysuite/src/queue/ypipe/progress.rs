//! The progress of a queue: what each handle counts of its messages, for the other handle and for observers. Each word
//! is written by one handle; any thread reads it. Wait-free.

use core::ops::Deref;

use crate::statistics::Counted;
#[cfg(feature = "statistics")]
use crate::statistics::{SAMPLED, Totals};
use crate::sync::{AtomicUsize, Ordering};

/// A line of its own, which observers read.
#[cfg_attr(all(feature = "statistics", not(any(target_arch = "aarch64", target_arch = "powerpc64"))), repr(align(64)))]
#[cfg_attr(all(feature = "statistics", any(target_arch = "aarch64", target_arch = "powerpc64")), repr(align(128)))]
#[derive(Default)]
struct OneWriter<W>(W);

impl<W> Deref for OneWriter<W> {
    type Target = W;

    #[inline(always)]
    fn deref(&self) -> &W {
        &self.0
    }
}

pub(super) struct Progress {
    /// The number of messages that have been read; wraps. Written by the reader, loaded by the writer when it seems to
    /// be out of room.
    consumed: OneWriter<AtomicUsize>,
    #[cfg(feature = "statistics")]
    writer: OneWriter<WriterCounts>,
}

/// What the writer alone writes.
#[cfg(feature = "statistics")]
#[derive(Default)]
struct WriterCounts {
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

impl Progress {
    pub(super) fn none() -> Self {
        Self {
            consumed: OneWriter(AtomicUsize::new(0)),
            #[cfg(feature = "statistics")]
            writer: OneWriter::default(),
        }
    }

    /// Reader: has taken another message.
    ///
    /// The reader's cursor has no copy of this count: a load and a store of one word are one instruction on many
    /// processors, and a loop has a register more for other things.
    #[inline(always)]
    pub(super) fn took_one(&self) {
        self.took_up_to(self.taken().wrapping_add(1));
    }

    /// For the reader: has taken `taken` messages in all.
    #[inline(always)]
    pub(super) fn took_up_to(&self, taken: usize) {
        // ORDERING: Release pairs with the Acquire in `consumed`: a message counted as taken has left its slot, or only
        // the reader will read it there.
        self.consumed.store(taken, Ordering::Release);
    }

    /// Reader: how many messages it has taken; wraps.
    #[inline(always)]
    pub(super) fn taken(&self) -> usize {
        // ORDERING: Relaxed; the reading side alone writes this word, and hands it over together with the cursor.
        self.consumed.load(Ordering::Relaxed)
    }

    /// The word of [`taken`](Self::taken), for a reader that counts by itself, as [`took_one`](Self::took_one) does.
    #[cfg(feature = "in-place")]
    pub(super) fn taken_word(&self) -> *mut usize {
        core::ptr::from_ref::<AtomicUsize>(&self.consumed).cast_mut().cast()
    }

    /// The number of messages that have been read; wraps. Never goes back.
    #[inline(always)]
    pub(super) fn consumed(&self) -> usize {
        // ORDERING: Acquire pairs with the Release in `took`: the slots of the messages counted have been left.
        self.consumed.load(Ordering::Acquire)
    }
}

#[cfg(not(feature = "statistics"))]
impl Progress {
    #[inline(always)]
    pub(super) fn sent_one(&self) {}

    #[inline(always)]
    pub(super) fn sent_up_to(&self, _: usize) {}

    #[inline(always)]
    pub(super) fn gave_back(&self, _: usize) {}

    #[inline(always)]
    pub(super) fn leave(&self) {}

    #[inline(always)]
    pub(super) fn sample(&self, _: usize) {}

    #[inline(always)]
    pub(super) fn next_look(&self, _: usize, _: usize, limit: usize) -> usize {
        limit
    }
}

// ORDERING: Relaxed throughout: the writer reads only what it has written itself, and observers read numbers, for
// people. Where another thread has learned of what was sent or read in another way, it finds it here by coherence.
#[cfg(feature = "statistics")]
impl Progress {
    /// Writer: one more message has been sent, while none was hidden.
    #[inline(always)]
    pub(super) fn sent_one(&self) {
        let sent = &self.writer.sent;
        sent.store(sent.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// For the writer: what it has written up to this position is sent, except what was given back.
    #[inline(always)]
    pub(super) fn sent_up_to(&self, position: usize) {
        let given_back = self.writer.given_back.load(Ordering::Relaxed);
        self.writer.sent.store(position.wrapping_sub(given_back), Ordering::Relaxed);
    }

    /// For the writer: has given back `messages` messages, which count in its position.
    pub(super) fn gave_back(&self, messages: usize) {
        let given_back = &self.writer.given_back;
        given_back.store(given_back.load(Ordering::Relaxed).wrapping_add(messages), Ordering::Relaxed);
    }

    /// For the reader: is about to leave. What is taken later is dropped. Each thread that takes it has learned of
    /// that, and stores `consumed` with Release; so a thread that finds a dropped message counted there finds this as
    /// well.
    pub(super) fn leave(&self) {
        let read = self.consumed();
        // MUTANT: Killed only by `what_is_there_when_the_last_receiver_goes_is_seen_by_the_mark`.
        self.observe(self.writer.sent.load(Ordering::Relaxed), read);
        self.writer.left.store(read.wrapping_add(1), Ordering::Relaxed);
    }

    // MUTANT: Statistics only: the mark is the same, or is updated one message later.
    /// For any thread: `sent` messages had been sent, and `consumed` read then or later.
    fn observe(&self, sent: usize, consumed: usize) {
        let WriterCounts { high_water, observed, .. } = &*self.writer;
        let there = (sent.wrapping_sub(consumed) as isize).max(0) as usize;
        if there > high_water.load(Ordering::Relaxed) {
            observed.fetch_max(there, Ordering::Relaxed);
        }
    }

    // MUTANT: Statistics only: how near the high-water mark is. It stays within 64 messages.
    /// For the writer, at this position: checks how many messages take up room.
    pub(super) fn sample(&self, position: usize) {
        self.sample_against(position, self.consumed());
    }

    // MUTANT: Statistics only. Killed only by `a_mark_that_was_not_read_is_too_low_by_64_at_most`.
    fn sample_against(&self, position: usize, consumed: usize) -> usize {
        let high_water = &self.writer.high_water;
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
    pub(super) fn next_look(&self, position: usize, consumed: usize, limit: usize) -> usize {
        let high = self.sample_against(position, consumed);
        let there = position.wrapping_sub(consumed);
        // Never less than `SAMPLED`: usually the queue is shorter than it has been.
        let ahead = high.max(SAMPLED).wrapping_sub(there).max(SAMPLED);
        position.wrapping_add(ahead.min(limit.wrapping_sub(position)))
    }
}

impl Counted for Progress {
    // MUTANT: Statistics only: equal values give the same answer.
    #[cfg(feature = "statistics")]
    fn totals(&self) -> Totals {
        let WriterCounts { sent, high_water, observed, left, .. } = &*self.writer;
        // ORDERING: Acquire keeps the load of `consumed` after this one: no more messages than the difference are
        // there, at the moment of the first.
        let sent = sent.load(Ordering::Acquire);
        let consumed = self.consumed();
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

#[cfg(all(test, feature = "statistics", not(ysuite_loom)))]
mod tests {
    use super::Progress;
    use crate::statistics::Counted;

    /// As a reader may come between the publication and its writer's count.
    #[test]
    fn what_has_been_read_was_sent_though_its_writer_has_not_counted_it() {
        let progress = Progress::none();
        progress.sent_one();
        progress.took_up_to(3);
        let totals = progress.totals();
        assert_eq!((totals.sent, totals.received), (3, 3));
    }
}
