//! What a writer can report of its queue without changing it. Any thread; wait-free.

use core::fmt;

use super::Writer;
use crate::passive::Passive;
use crate::queue::ypipe::chunk::{Geometry, Places};
use crate::queue::ypipe::core::PipeCore;

impl<T> Writer<T> {
    #[inline]
    pub(in crate::queue::ypipe) fn core(&self) -> &PipeCore {
        &self.writing.core
    }

    /// Whether this handle has been closed.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.writing.has_ended()
    }

    /// Whether [`reclaim`](Self::reclaim) has dropped messages, which the reader has not read.
    #[cfg(feature = "futures")]
    pub(crate) fn has_lost(&self) -> bool {
        self.writing.lost
    }

    /// How the reader sleeps: [`publish`](Self::publish), [`send`](Self::send) and [`close`](Self::close) return its
    /// tokens.
    pub(crate) fn reader_passive(&self) -> &Passive {
        self.writing.reader_passive()
    }

    /// How the writer sleeps while it waits for room.
    pub(crate) fn passive(&self) -> &Passive {
        &self.writing.core.read_mostly.writer
    }

    /// The number of messages that have been written in all, hidden ones included; wraps.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.writing.cursor.position(Geometry::<T>::of(self.writing.core.shape()))
    }

    /// Whether the reader is gone: nothing written will ever be read.
    #[must_use]
    #[inline]
    pub fn is_orphaned(&self) -> bool {
        self.writing.core.read_mostly.reader.is_gone()
    }

    /// Of a message, also where its type has no size.
    pub(crate) fn slot_bytes(&self) -> usize {
        self.writing.core.shape().step()
    }

    /// The capacity in messages; `None` without a bound.
    #[must_use]
    #[inline]
    pub fn capacity(&self) -> Option<usize> {
        self.writing.core.bound()
    }

    /// The number of published messages that have not been read. The written ones are counted exactly, the read ones as
    /// far as the reader's stores are visible.
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
        self.writing.occupied()
    }

    /// Messages written and not yet flushed.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.writing.cursor.hidden(Geometry::<T>::of(self.writing.core.shape()))
    }
}

impl<T> fmt::Debug for Writer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("len", &self.len()).field("hidden", &self.hidden()).finish_non_exhaustive()
    }
}
