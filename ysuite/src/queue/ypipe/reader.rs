//! The reading end of a ypipe.

use core::fmt;

use super::core::PipeCore;
use super::read_cursor::ReadCursor;
use crate::passive::Passive;
use crate::queue::RegisterCopy;
use crate::sync::Arc;

/// The token of a pipe that is used by itself, where the caller knows how its reader sleeps.
const ASLEEP: u32 = 1;

/// The reading end: one thread at a time. Every operation is wait-free and none allocates; only [`arm`](Self::arm) may
/// make a system call, a barrier. Dropping the reader drops what is in the pipe.
pub struct Reader<T> {
    reading: RegisterCopy<Reading<T>>,
}

/// What a reader is, with the duty to leave.
struct Reading<T> {
    /// Taken out only when the reader ends.
    cursor: Option<ReadCursor<T>>,
    core: Arc<PipeCore<T>>,
}

// SAFETY: the reader owns its place in the chunks; messages pass by value.
unsafe impl<T: Send> Send for Reader<T> {}
// SAFETY: a shared reference reads state words and atomics only; messages are lent by `peek` alone, which takes
// `&mut self`.
unsafe impl<T: Send> Sync for Reader<T> {}

impl<T> Reader<T> {
    pub(super) fn new(core: Arc<PipeCore<T>>, cursor: ReadCursor<T>) -> Self {
        Self { reading: RegisterCopy::new(Reading { cursor: Some(cursor), core }) }
    }

    #[inline(always)]
    fn parts(&mut self) -> (&mut ReadCursor<T>, &PipeCore<T>) {
        let Reading { cursor, core } = &mut *self.reading;
        // SAFETY: the cursor is taken out in `leave`, after which the owner does nothing but drop this.
        (unsafe { cursor.as_mut().unwrap_unchecked() }, core)
    }

    /// Takes the next message, if one is published. Wait-free.
    #[inline(always)]
    pub fn read(&mut self) -> Option<T> {
        let (cursor, core) = self.parts();
        cursor.take(core)
    }

    /// The next message where it lies, if one is published. Wait-free.
    pub fn peek(&mut self) -> Option<&T> {
        let (cursor, core) = self.parts();
        cursor.peek(core)
    }

    /// Appends up to `most` published messages to `to` and returns how many. Allocates only in `to`.
    #[inline]
    pub fn read_batch(&mut self, to: &mut Vec<T>, most: usize) -> usize {
        let (cursor, core) = self.parts();
        cursor.take_many(core, to, most)
    }

    /// As [`Writer::skip_laps`](super::Writer::skip_laps).
    #[cfg(all(test, not(ysuite_loom)))]
    pub(super) fn skip_laps(&mut self, by: usize) {
        self.parts().0.skip_laps(by);
    }

    /// How many messages have been read; wraps.
    pub(crate) fn position(&self) -> usize {
        self.reading.core.consumed()
    }

    /// Whether there is a message to read.
    #[inline]
    pub(crate) fn has_message(&mut self) -> bool {
        let (cursor, core) = self.parts();
        cursor.look(core)
    }

    /// Announces that this reader goes to sleep. True: nothing is here, and the next flush will say so to the writer,
    /// which then has to wake us. False: a message is here, or nothing more will come; do not sleep.
    ///
    /// At most one system call (a `membarrier`, and only while the writer streams).
    pub fn arm(&mut self) -> bool {
        self.reading.core.read_mostly.reader.arm(ASLEEP);
        if self.has_message() || self.is_closed() {
            self.reading.core.read_mostly.reader.disarm(ASLEEP);
            return false;
        }
        true
    }

    /// How the reader sleeps.
    pub(crate) fn passive(&self) -> &Passive {
        &self.reading.core.read_mostly.reader
    }

    /// How the writer sleeps: whose tokens [`credited`](Self::credited) and [`leave`](Self::leave) return.
    pub(crate) fn writer_passive(&self) -> &Passive {
        &self.reading.core.read_mostly.writer
    }

    /// After messages have been taken: the tokens of a writer that sleeps for want of room, which must be rung. Without
    /// a bound there is none, and this is a load.
    #[inline(always)]
    pub(crate) fn credited(&self) -> u32 {
        self.reading.core.read_mostly.writer.published()
    }

    /// Whether the writer is gone. What it published may still be here.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.reading.core.is_closed()
    }

    /// How many messages may be in the pipe; `None` without a bound.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.reading.core.bound()
    }

    /// How many published messages are here. Takes time in proportion to that number (a load for each cache line).
    #[must_use]
    pub fn len(&self) -> usize {
        self.reading.cursor.as_ref().map_or(0, |cursor| cursor.len_up_to(usize::MAX))
    }

    /// Whether no published message is here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reading.cursor.as_ref().is_none_or(|cursor| cursor.len_up_to(1) == 0)
    }

    /// Puts the reading place to rest where it came from: see [`IdleReader`](super::IdleReader).
    pub(super) fn into_rest(mut self) {
        let Reading { cursor, core } = &mut *self.reading;
        if let Some(cursor) = cursor.take() {
            // SAFETY: this reader is the reading side, and has not left.
            unsafe { core.rest_cursor(cursor) };
        }
    }

    /// Whether there are messages, counting no further than it takes to reach `enough`.
    pub(crate) fn len_up_to(&self, enough: usize) -> usize {
        self.reading.cursor.as_ref().map_or(0, |cursor| cursor.len_up_to(enough))
    }

    /// Ends reading. Returns the tokens of a writer that waits for room, to be rung before the reader is dropped, which
    /// drops the messages (and one of those may panic).
    pub(crate) fn leave(&mut self) -> u32 {
        self.reading.leave()
    }
}

impl<T> Reading<T> {
    fn leave(&mut self) -> u32 {
        match self.cursor.take() {
            None => 0,
            Some(cursor) => {
                self.core.abandon(cursor);
                self.core.read_mostly.writer.published()
            }
        }
    }
}

impl<T> Drop for Reading<T> {
    fn drop(&mut self) {
        self.leave();
        // A reader that was put to rest has gone nowhere.
        if self.core.read_mostly.reader.is_gone() {
            self.core.dispose(|_, message| drop(message));
        }
    }
}

impl<T> fmt::Debug for Reader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("len", &self.len()).finish_non_exhaustive()
    }
}
