//! The queue of an exchange: a [`Ring`] with a bound, or [`Segments`] without. Any thread; progress is that of the two.
//!
//! Which of the two it is never changes, so a stream's test of it is always predicted.

use super::{Rejected, Ring, Segments, Staging};

pub(crate) enum Queue<T> {
    Ring(Ring<T>),
    Segments(Segments<T>),
}

/// Asks whichever queue it is.
macro_rules! either {
    ($self:expr, $queue:ident => $answer:expr) => {
        match $self {
            Self::Ring($queue) => $answer,
            Self::Segments($queue) => $answer,
        }
    };
}

impl<T> Queue<T> {
    /// # Panics
    /// As [`Ring::new`] and [`Segments::new`].
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        match capacity {
            Some(capacity) => Self::Ring(Ring::new(capacity)),
            None => Self::Segments(Segments::new()),
        }
    }

    /// How many messages can be in the queue; `None` without a bound.
    pub(crate) fn capacity(&self) -> Option<usize> {
        match self {
            Self::Ring(ring) => Some(ring.capacity()),
            Self::Segments(_) => None,
        }
    }

    /// For how many more messages there is room.
    pub(crate) fn room(&self) -> usize {
        self.capacity().map_or(usize::MAX, |capacity| capacity - self.len())
    }

    /// Writes a message behind all others.
    #[inline(always)]
    pub(crate) fn push(&self, message: T) -> Result<(), Rejected<T>> {
        match self {
            Self::Ring(ring) => ring.push(message),
            Self::Segments(segments) => segments.push(message).map_err(Rejected::Closed),
        }
    }

    /// Takes the oldest message out, if it is written.
    #[inline(always)]
    pub(crate) fn pop(&self) -> Option<T> {
        either!(self, queue => queue.pop())
    }

    /// Writes some of the staged messages, as many as there is room for with one claim. Returns how many; 0 where there is
    /// no room, `None` where the queue is closed.
    pub(crate) fn push_many(&self, staging: &mut Staging<T>) -> Option<usize> {
        either!(self, queue => queue.push_many(staging))
    }

    /// Takes out the oldest messages that are written, `most` at most, and appends them to `to`. Returns how many.
    pub(crate) fn pop_many(&self, to: &mut Vec<T>, most: usize) -> usize {
        either!(self, queue => queue.pop_many(to, most))
    }

    /// Whether the oldest message can be taken.
    #[inline]
    pub(crate) fn is_readable(&self) -> bool {
        either!(self, queue => queue.is_readable())
    }

    /// Whether the next message can be written.
    #[inline]
    pub(crate) fn is_writable(&self) -> bool {
        match self {
            Self::Ring(ring) => ring.is_writable(),
            Self::Segments(_) => true,
        }
    }

    /// How many messages are in the queue: claimed by a writer, and not yet by a reader.
    pub(crate) fn len(&self) -> usize {
        either!(self, queue => queue.len())
    }

    /// Whether no message is in the queue, nor claimed by a writer.
    pub(crate) fn is_empty(&self) -> bool {
        either!(self, queue => queue.is_empty())
    }

    /// The position of the next message to be written.
    pub(crate) fn place(&self) -> u64 {
        either!(self, queue => queue.place())
    }

    /// Whether readers have got as far as a position. Once true it stays true: positions only grow.
    pub(crate) fn has_reached(&self, place: u64) -> bool {
        either!(self, queue => queue.has_reached(place))
    }

    /// From now on nothing can be claimed by a writer. What has been claimed will still be published.
    pub(crate) fn close(&self) {
        match self {
            Self::Ring(ring) => ring.close(),
            Self::Segments(segments) => drop(segments.close()),
        }
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        either!(self, queue => queue.is_closed())
    }

    /// Whether the queue is closed, and all that was claimed before has been taken: nothing will ever come. A writer that has
    /// claimed a position and not finished keeps this false. Exact, and once true it stays true.
    pub(crate) fn is_over(&self) -> bool {
        // In this order: behind the close no writer moves the tail.
        self.is_closed() && self.is_empty()
    }

    /// Takes out and drops every message that is written.
    pub(crate) fn drain(&self) {
        either!(self, queue => queue.drain());
    }
}
