//! The progress of a queue: what each handle counts of its messages, for the other handle and for observers. Each word
//! is written by one handle; any thread reads it. Wait-free.

use crate::statistics::{Counted, OwnLine, Totals, WriterTally};
use crate::sync::{AtomicUsize, Ordering};

pub(super) struct Progress {
    /// The number of messages that have been read; wraps. Written by the reader, loaded by the writer when it seems to
    /// be out of room.
    consumed: OwnLine<AtomicUsize>,
    writer: OwnLine<WriterTally>,
}

impl Progress {
    pub(super) fn none() -> Self {
        Self { consumed: OwnLine::new(AtomicUsize::new(0)), writer: OwnLine::default() }
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

/// What is counted for observers.
impl Progress {
    /// Writer: one more message has been sent, while none was hidden.
    #[inline(always)]
    pub(super) fn sent_one(&self) {
        self.writer.sent_one();
    }

    /// For the writer: what it has written up to this position is sent, except what was given back.
    #[inline(always)]
    pub(super) fn sent_up_to(&self, position: usize) {
        self.writer.sent_up_to(position);
    }

    /// For the writer: has given back `messages` messages, which count in its position.
    #[inline(always)]
    pub(super) fn gave_back(&self, messages: usize) {
        self.writer.gave_back(messages);
    }

    /// For the reader: is about to leave. What is taken later is dropped. Each thread that takes it has learned of
    /// that, and stores `consumed` with Release; so a thread that finds a dropped message counted there finds this as
    /// well.
    #[inline(always)]
    pub(super) fn leave(&self) {
        self.writer.leave(|| self.consumed());
    }

    /// For the writer, at this position: checks how many messages take up room.
    #[inline(always)]
    pub(super) fn sample(&self, position: usize) {
        self.writer.sample(position, || self.consumed());
    }

    /// For the writer, at this position, which has found `consumed` messages read: samples, and returns up to which
    /// position it may write before it checks again, at most `limit`.
    #[inline(always)]
    pub(super) fn next_look(&self, position: usize, consumed: usize, limit: usize) -> usize {
        self.writer.next_look(position, consumed, limit)
    }
}

impl Counted for Progress {
    fn totals(&self) -> Totals {
        self.writer.totals(|| self.consumed())
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
