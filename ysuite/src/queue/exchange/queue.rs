//! The queue of an exchange: a [`Ring`] with a bound, or [`Segments`] without. Any thread; progress is that of the two.
//!
//! Which of the two it is never changes, so a stream's test of it is always predicted.

use crate::statistics::{COUNTING, Meter};

use super::{Forced, Rejected, Ring, Segments, Staging, Unforced};

// With statistics a ring is small, as its positions lie elsewhere. One queue to a channel: a box would only be a way further.
#[cfg_attr(feature = "statistics", allow(clippy::large_enum_variant))]
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

    /// From now on the queue is counted by this meter.
    pub(crate) fn join(&mut self, meter: &Meter) {
        either!(self, queue => queue.join(meter));
    }

    /// A sender has found no room, or so it seemed: notes how many messages are there.
    pub(crate) fn sample(&self) {
        if COUNTING {
            either!(self, queue => queue.sample());
        }
    }

    /// The last receiver goes: what is taken from now on is dropped.
    pub(crate) fn leave(&self) {
        either!(self, queue => queue.leave());
    }

    /// How many messages can be in the queue; `None` without a bound.
    pub(crate) fn capacity(&self) -> Option<usize> {
        match self {
            Self::Ring(ring) => Some(ring.capacity()),
            Self::Segments(_) => None,
        }
    }

    /// How many messages could be sent now.
    pub(crate) fn room(&self) -> usize {
        match self {
            Self::Ring(ring) => ring.room(),
            Self::Segments(_) => usize::MAX,
        }
    }

    /// Writes a message behind all others. It comes back where there is no room, and where the queue is
    /// [special](Self::is_special): then [`offer`](Self::offer) knows more.
    #[inline(always)]
    pub(crate) fn push(&self, message: T) -> Result<(), T> {
        either!(self, queue => queue.push(message))
    }

    /// As `push`, also beside places that are held. For when that has failed.
    pub(crate) fn offer(&self, message: T) -> Result<(), Rejected<T>> {
        match self {
            Self::Ring(ring) => ring.offer(message),
            Self::Segments(segments) => segments.push(message).map_err(Rejected::Closed),
        }
    }

    /// Writes a message, in the oldest one's place where there is no room.
    pub(crate) fn force(&self, message: T) -> Result<Forced<T>, Unforced<T>> {
        match self {
            Self::Ring(ring) => ring.force(message),
            Self::Segments(segments) => match segments.push(message) {
                Ok(()) => Ok(Forced { displaced: None, has_freed: false }),
                Err(message) => Err(Unforced::Closed(message)),
            },
        }
    }

    /// Holds as many places as there is room for, `most` at most, all at once. Without a bound there is always room, and
    /// nothing to be held.
    pub(crate) fn hold(&self, least: usize, most: usize) -> Result<usize, Rejected<()>> {
        match self {
            Self::Ring(ring) => ring.hold(least, most),
            Self::Segments(segments) if segments.is_closed() => Err(Rejected::Closed(())),
            Self::Segments(_) => Ok(most),
        }
    }

    /// Places are held no more. False: nobody waits for them.
    pub(crate) fn release(&self, places: usize) -> bool {
        match self {
            Self::Ring(ring) => ring.release(places),
            Self::Segments(_) => false,
        }
    }

    /// How many places can be held at a time.
    pub(crate) fn most_held(&self) -> usize {
        match self {
            Self::Ring(ring) => ring.most_held(),
            Self::Segments(_) => usize::MAX,
        }
    }

    /// Whether all places that a message could have are held.
    pub(crate) fn is_all_held(&self) -> bool {
        match self {
            Self::Ring(ring) => ring.is_all_held(),
            Self::Segments(_) => false,
        }
    }

    /// Writes the message of one who holds a place.
    pub(crate) fn push_held(&self, message: T) -> Result<(), Rejected<T>> {
        match self {
            Self::Ring(ring) => ring.push_held(message),
            Self::Segments(segments) => segments.push(message).map_err(Rejected::Closed),
        }
    }

    /// Writes staged messages of one who holds as many places.
    pub(crate) fn push_many_held(&self, staging: &mut Staging<T>) -> Option<usize> {
        match self {
            Self::Ring(ring) => ring.push_many_held(staging),
            Self::Segments(segments) => segments.push_many(staging),
        }
    }

    /// Whether writers do more than put a message behind the others: the queue is closed, or places are held.
    pub(crate) fn is_special(&self) -> bool {
        match self {
            Self::Ring(ring) => ring.is_special(),
            Self::Segments(segments) => segments.is_closed(),
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

    /// From now on nothing can be claimed by a writer. What has been claimed will still be published. True: it was open.
    pub(crate) fn close(&self) -> bool {
        either!(self, queue => queue.close())
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
        either!(self, queue => queue.drains());
        either!(self, queue => queue.drain());
    }
}
