//! The queue of an exchange: a [`Ring`] with a bound, or [`Segments`] without. Any thread; progress is that of the two.
//!
//! What has segments has a ring as well, of one cell, which is never used.

use crate::statistics::Meter;

use super::{Forced, Hint, Rejected, Ring, Segments, Staging, Unforced};

pub(crate) struct Queue<T> {
    ring: Ring<T>,
    segments: Option<Box<Segments<T>>>,
}

/// Asks whichever queue it is.
macro_rules! either {
    ($self:expr, $queue:ident => $answer:expr) => {
        match &$self.segments {
            None => {
                let $queue = &$self.ring;
                $answer
            }
            Some($queue) => $answer,
        }
    };
}

impl<T> Queue<T> {
    /// # Panics
    /// As [`Ring::new`] and [`Segments::new`].
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        Self { ring: Ring::new(capacity.unwrap_or(1)), segments: capacity.is_none().then(|| Box::new(Segments::new())) }
    }

    /// From now on the queue is counted by this meter.
    pub(crate) fn join(&mut self, meter: &Meter) {
        match &mut self.segments {
            None => self.ring.join(meter),
            Some(segments) => segments.join(meter),
        }
    }

    /// A sender has found no room, or so it seemed: notes how many messages are there.
    pub(crate) fn sample(&self) {
        either!(self, queue => queue.sample());
    }

    /// The last receiver goes: what is taken from now on is dropped.
    pub(crate) fn leave(&self) {
        either!(self, queue => queue.leave());
    }

    /// How many messages can be in the queue; `None` without a bound.
    pub(crate) fn capacity(&self) -> Option<usize> {
        self.segments.is_none().then(|| self.ring.capacity())
    }

    /// How many messages could be sent now.
    pub(crate) fn room(&self) -> usize {
        match &self.segments {
            None => self.ring.room(),
            Some(_) => usize::MAX,
        }
    }

    // MUTANT: Needs 16 million permits. Killed only by
    // `beside_as_many_places_as_can_be_counted_there_is_room_for_messages`.
    /// Writes a message behind all others, where there is a bound. It comes back where there is no room, and where the ring is
    /// [special](Self::is_special): then [`offer`](Self::offer) knows more; and always without a bound.
    #[inline(always)]
    pub(crate) fn push_bounded(&self, hint: &Hint, message: T) -> Result<(), T> {
        if self.segments.is_none() { self.ring.push(hint, message) } else { Err(message) }
    }

    /// After [`push_bounded`](Self::push_bounded): writes the message where there is no bound.
    #[inline]
    pub(crate) fn push_unbounded(&self, message: T) -> Result<(), T> {
        match &self.segments {
            None => Err(message),
            Some(segments) => segments.push(message),
        }
    }

    /// Writes a message behind all others, also beside places that are held. For when the ways above have failed.
    pub(crate) fn offer(&self, message: T) -> Result<(), Rejected<T>> {
        match &self.segments {
            None => self.ring.offer(message),
            Some(segments) => segments.push(message).map_err(Rejected::Closed),
        }
    }

    /// Writes a message, in the oldest one's place where there is no room.
    pub(crate) fn force(&self, message: T) -> Result<Forced<T>, Unforced<T>> {
        match &self.segments {
            None => self.ring.force(message),
            Some(segments) => match segments.push(message) {
                Ok(()) => Ok(Forced { displaced: None, has_freed: false }),
                Err(message) => Err(Unforced::Closed(message)),
            },
        }
    }

    /// Holds as many places as there is room for, `most` at most, all at once. Without a bound there is always room, and
    /// nothing to be held.
    #[inline]
    pub(crate) fn hold(&self, least: usize, most: usize) -> Result<usize, Rejected<()>> {
        match &self.segments {
            None => self.ring.hold(least, most),
            Some(segments) if segments.is_closed() => Err(Rejected::Closed(())),
            Some(_) => Ok(most),
        }
    }

    /// Places are held no more. False: nobody waits for them.
    pub(crate) fn release(&self, places: usize) -> bool {
        match &self.segments {
            None => self.ring.release(places),
            Some(_) => false,
        }
    }

    /// How many places can be held at a time.
    #[inline]
    pub(crate) fn most_held(&self) -> usize {
        match &self.segments {
            None => self.ring.most_held(),
            Some(_) => usize::MAX,
        }
    }

    // MUTANT: Needs 16 million permits. Killed only by
    // `beside_as_many_places_as_can_be_counted_there_is_room_for_messages`.
    /// Whether no more places can be held, though there may be room: as many are as can be counted.
    pub(crate) fn is_counted_out(&self) -> bool {
        self.segments.is_none() && self.ring.is_counted_out()
    }

    /// Whether all places that a message could have are held.
    pub(crate) fn is_all_held(&self) -> bool {
        match &self.segments {
            None => self.ring.is_all_held(),
            Some(_) => false,
        }
    }

    /// Writes the message of one who holds a place.
    #[inline]
    pub(crate) fn push_held(&self, message: T) -> Result<(), Rejected<T>> {
        match &self.segments {
            None => self.ring.push_held(message),
            Some(segments) => segments.push(message).map_err(Rejected::Closed),
        }
    }

    /// Writes staged messages of one who holds as many places.
    pub(crate) fn push_many_held(&self, staging: &mut Staging<T>) -> Option<usize> {
        match &self.segments {
            None => self.ring.push_many_held(staging),
            Some(segments) => segments.push_many(staging),
        }
    }

    // MUTANT: Speed only: `try_send` tries once more before it waits.
    /// Whether writers do more than put a message behind the others: the queue is closed, or places are held.
    pub(crate) fn is_special(&self) -> bool {
        match &self.segments {
            None => self.ring.is_special(),
            Some(segments) => segments.is_closed(),
        }
    }

    // MUTANT: Needs 16 million permits. Killed only by
    // `beside_as_many_places_as_can_be_counted_there_is_room_for_messages`.
    /// Takes the oldest message out, if it is written, where there is a bound. Without: nothing.
    #[inline(always)]
    pub(crate) fn pop_bounded(&self, hint: &Hint) -> Option<T> {
        if self.segments.is_none() { self.ring.pop(hint) } else { None }
    }

    /// After [`pop_bounded`](Self::pop_bounded): takes the oldest message out, if it is written, where there is no bound.
    #[inline]
    pub(crate) fn pop_unbounded(&self) -> Option<T> {
        self.segments.as_ref()?.pop()
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
        match &self.segments {
            None => self.ring.is_writable(),
            Some(_) => true,
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

    /// A number that grows with each claim of a writer or reader. While it stays the same, a message that can be taken stays, and
    /// so does room, but for places that are held.
    pub(crate) fn moves(&self) -> u64 {
        either!(self, queue => queue.moves())
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

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::Queue;

    #[test]
    fn a_closed_queue_is_over_when_its_last_message_has_been_taken() {
        for queue in [Queue::new(Some(2)), Queue::new(None)] {
            assert!(queue.is_empty() && !queue.is_over());
            assert!(queue.offer(7).is_ok() && queue.close());
            assert!(!queue.is_empty() && !queue.is_over());
            let mut taken = Vec::new();
            assert_eq!((queue.pop_many(&mut taken, 1), queue.is_empty(), queue.is_over()), (1, true, true));
            assert_eq!(taken, [7]);
        }
    }

    /// Who sends by force sleeps while it is so.
    #[test]
    fn all_places_are_held_until_one_of_them_is_given_back_or_used() {
        let queue = Queue::new(Some(2));
        assert!(queue.hold(2, 2).is_ok() && queue.is_all_held());
        assert!(queue.release(1) && !queue.is_all_held());
        assert!(queue.hold(1, 1).is_ok() && queue.is_all_held());
        assert!(queue.push_held(7).is_ok() && !queue.is_all_held());
    }
}
