//! The writing end of a ypipe.

use core::fmt;

use super::chunk::Chunk;
use super::core::PipeCore;
use super::write_cursor::WriteCursor;
use crate::passive::{GONE, Passive};
use crate::queue::{RegisterCopy, outline};
use crate::sync::{Arc, Ordering};

/// The writing end: one thread at a time. Every operation is wait-free; none sleeps or makes a system call, and memory
/// is allocated only where a new chunk is needed and none has come back from the reader.
///
/// Messages written are hidden until [`flush`](Self::flush). Dropping the writer flushes, and tells the reader that
/// nothing more will come.
pub struct Writer<T> {
    writing: RegisterCopy<Writing<T>>,
}

/// What a writer is, with the duty to close.
struct Writing<T> {
    cursor: WriteCursor<T>,
    core: Arc<PipeCore<T>>,
    closed: bool,
    /// Messages have been dropped here that nobody has read.
    #[cfg_attr(not(feature = "futures"), allow(dead_code))]
    lost: bool,
}

// SAFETY: the writer owns its place in the chunks; messages pass by value.
unsafe impl<T: Send> Send for Writer<T> {}
// SAFETY: through a shared reference only the place itself and atomics of the core are looked at, never a message.
unsafe impl<T: Send> Sync for Writer<T> {}

impl<T> Writer<T> {
    pub(super) fn new(core: Arc<PipeCore<T>>, chunk: Chunk<T>) -> Self {
        Self {
            writing: RegisterCopy::new(Writing {
                cursor: WriteCursor::new(&core, chunk),
                core,
                closed: false,
                lost: false,
            }),
        }
    }

    /// The writing end of a lane: no chunk before the first message.
    pub(super) fn idle(core: Arc<PipeCore<T>>) -> Self {
        Self { writing: RegisterCopy::new(Writing { cursor: WriteCursor::idle(), core, closed: false, lost: false }) }
    }

    /// Writes a message, hidden until [`flush`](Self::flush).
    ///
    /// Wait-free. Allocates only where a chunk is full and none has come back.
    ///
    /// # Errors
    /// The message itself, where the pipe has a bound and is full. Without a bound: never.
    #[inline(always)]
    pub fn write(&mut self, message: T) -> Result<(), T> {
        if !self.has_room() {
            return Err(message);
        }
        // SAFETY: there is room.
        unsafe { self.writing.cursor.put_hidden(message) };
        Ok(())
    }

    /// Writes messages, hidden, until there are no more, or no room: then the one too many comes back.
    ///
    /// If the iterator panics, what it has given is written.
    #[inline]
    pub(crate) fn fill(&mut self, messages: &mut impl Iterator<Item = T>) -> Option<T> {
        let Writing { cursor, core, .. } = &mut *self.writing;
        cursor.fill(core, messages)
    }

    /// Writes a message and publishes it with all that was hidden. As [`write`](Self::write) and
    /// [`flush`](Self::flush), in one step; the tokens of a sleeping reader, which must be rung, are returned.
    #[inline(always)]
    pub(crate) fn send(&mut self, message: T) -> Result<u32, T> {
        if !self.writing.cursor.may_publish_here() {
            return outline(self, |writer| writer.send_further(message));
        }
        // SAFETY: there is room, and nothing is hidden.
        unsafe { self.writing.cursor.put_published(message) };
        Ok(self.writing.core.read_mostly.reader.published())
    }

    #[cold]
    #[inline(never)]
    fn send_further(&mut self, message: T) -> Result<u32, T> {
        self.write(message)?;
        Ok(self.publish())
    }

    /// Takes back the newest hidden message, if there is one. Wait-free.
    pub fn unwrite(&mut self) -> Option<T> {
        let Writing { cursor, core, .. } = &mut *self.writing;
        cursor.unwrite(core)
    }

    /// Publishes all hidden messages at once, in order. Wait-free: a few stores, however many messages.
    ///
    /// False when the reader sleeps: it has armed the pipe, and must be woken by the caller. That is said once for each
    /// time the reader arms. True when it need not be woken. Where the reader is gone, what was written is dropped here.
    #[inline(always)]
    pub fn flush(&mut self) -> bool {
        let tokens = self.publish();
        tokens == 0 || self.answered(tokens)
    }

    /// A flush has been told something. True: the reader need not be woken.
    #[cold]
    #[inline(never)]
    fn answered(&mut self, tokens: u32) -> bool {
        if tokens & GONE != 0 {
            self.writing.core.dispose(|_, message| drop(message));
        }
        tokens & !GONE == 0
    }

    /// As [`flush`](Self::flush), returning the reader's tokens, and [`GONE`].
    #[inline(always)]
    pub(crate) fn publish(&mut self) -> u32 {
        self.writing.publish()
    }

    /// Says that nothing more will come, after publishing what is hidden. The reader's tokens are returned, once.
    pub(crate) fn close(&mut self) -> u32 {
        self.writing.close()
    }

    /// After [`GONE`]: takes the messages from position `from` on back, for as far as nobody else drops them already.
    #[cold]
    pub(crate) fn reclaim(&mut self, from: usize, mut each: impl FnMut(T)) {
        let Writing { core, lost, .. } = &mut *self.writing;
        core.dispose(|position, message| {
            // Positions wrap; what was taken just now is near.
            if (position.wrapping_sub(from) as isize) > 0 {
                each(message);
            } else {
                *lost = true;
                drop(message);
            }
        });
    }

    /// Whether [`reclaim`](Self::reclaim) has dropped messages: nobody has read them.
    #[cfg(feature = "futures")]
    pub(crate) fn has_lost(&self) -> bool {
        self.writing.lost
    }

    /// How the reader sleeps: whose tokens [`publish`](Self::publish) and its like return.
    pub(crate) fn reader_passive(&self) -> &Passive {
        &self.writing.core.read_mostly.reader
    }

    /// How the writer sleeps while it waits for room.
    pub(crate) fn passive(&self) -> &Passive {
        &self.writing.core.read_mostly.writer
    }

    /// Whether another message may be written, now.
    #[inline(always)]
    pub(crate) fn has_room(&mut self) -> bool {
        let Writing { cursor, core, .. } = &mut *self.writing;
        cursor.has_room(core)
    }

    /// How many messages have been written in all, hidden ones included; wraps.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.writing.cursor.position()
    }

    /// Whether the reader is gone: nothing written will ever be read.
    #[must_use]
    pub fn is_orphaned(&self) -> bool {
        self.writing.core.read_mostly.reader.is_gone()
    }

    /// How many messages may be in the pipe; `None` without a bound.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.writing.core.bound()
    }

    /// How many published messages have not been read. Exact for the writer's part, as old as the reader's last step.
    #[must_use]
    pub fn len(&self) -> usize {
        self.occupied() - self.hidden()
    }

    /// Whether every published message has been read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Messages that take up room: published and unread, or hidden.
    pub(crate) fn occupied(&self) -> usize {
        self.position().wrapping_sub(self.writing.core.consumed())
    }

    /// As if so many more chunks had come and gone. Only where this one is full, and read.
    #[cfg(all(test, not(ysuite_loom)))]
    pub(super) fn skip_laps(&mut self, by: usize) {
        self.writing.cursor.skip_laps(by);
    }

    /// Messages written and not yet flushed.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.writing.cursor.hidden()
    }
}

impl<T> Writing<T> {
    #[inline(always)]
    fn publish(&mut self) -> u32 {
        if !self.cursor.is_hiding() {
            return 0;
        }
        self.cursor.publish();
        self.core.read_mostly.reader.published()
    }

    fn close(&mut self) -> u32 {
        if self.closed {
            return 0;
        }
        self.closed = true;
        let tokens = self.publish();
        // ORDERING: Release pairs with the Acquire in `PipeCore::is_closed`; the barrier in `published` orders it before the look
        // at the reader's word.
        self.core.read_mostly.closed.store(true, Ordering::Release);
        tokens | self.core.read_mostly.reader.published()
    }
}

impl<T> Drop for Writing<T> {
    fn drop(&mut self) {
        self.close();
        if self.core.read_mostly.reader.is_gone() {
            self.core.dispose(|_, message| drop(message));
        }
    }
}

impl<T> fmt::Debug for Writer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("len", &self.len()).field("hidden", &self.hidden()).finish_non_exhaustive()
    }
}
