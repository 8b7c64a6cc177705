//! The queue of an mpmc channel: a [`Ring`] with a bound, or [`Segments`] without. Any thread; its progress is that of
//! the two.

use super::counts::CountedEnds;
use super::{ClaimedCell, ClaimedMessage, ClaimedSlot, Forced, Hint, Rejected, Ring, Segments, Staging, Unforced};
use crate::statistics::Meter;

pub(crate) enum Queue<T> {
    Bounded(Ring<T>),
    Unbounded(Segments<T>),
}
use Queue::{Bounded, Unbounded};

/// Calls the method on the queue that is in use.
macro_rules! either {
    ($self:expr, $queue:ident => $answer:expr) => {
        match $self {
            Bounded($queue) => $answer,
            Unbounded($queue) => $answer,
        }
    };
}

impl<T> Queue<T> {
    /// # Panics
    /// As [`Ring::new`] and [`Segments::new`].
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        capacity.map_or_else(|| Unbounded(Segments::new()), |capacity| Bounded(Ring::new(capacity)))
    }

    /// From now on `meter` counts this queue.
    pub(crate) fn join(&mut self, meter: &Meter) {
        match self {
            Bounded(ring) => ring.ends.join(meter),
            Unbounded(segments) => segments.ends.join(meter),
        }
    }

    /// Notes the number of messages, for a sender that has found no room, or seemed to.
    pub(crate) fn sample(&self) {
        either!(self, queue => queue.ends.sample());
    }

    /// The last receiver leaves: messages that are taken from now on are dropped.
    pub(crate) fn leave(&self) {
        either!(self, queue => queue.ends.leave());
    }

    /// The capacity in messages; `None` without a bound.
    pub(crate) fn capacity(&self) -> Option<usize> {
        match self {
            Bounded(ring) => Some(ring.capacity()),
            Unbounded(_) => None,
        }
    }

    /// The number of messages that could be sent now.
    pub(crate) fn room(&self) -> usize {
        match self {
            Bounded(ring) => ring.room(),
            Unbounded(_) => usize::MAX,
        }
    }

    // MUTANT: Needs 16 million permits. Killed only by
    // `beside_as_many_places_as_can_be_counted_there_is_room_for_messages`.
    /// Claims the cell after all others, in a bounded queue. `None`: there is no room, or the ring is
    /// [special](Self::is_special), and [`offer_from`](Self::offer_from) then decides. Always in an unbounded queue.
    #[inline(always)]
    pub(crate) fn claim_next(&self, hint: &Hint) -> Option<ClaimedCell<'_, T>> {
        match self {
            Bounded(ring) => ring.claim_next(hint),
            Unbounded(_) => None,
        }
    }

    /// After [`claim_next`](Self::claim_next): claims the slot after all others where there is no bound, and the queue is
    /// not closed.
    #[inline]
    pub(crate) fn claim_unbounded(&self) -> Option<ClaimedSlot<'_, T>> {
        match self {
            Bounded(_) => None,
            Unbounded(segments) => segments.claim_next(),
        }
    }

    /// After [`claim_next`](Self::claim_next): writes the message that is in `place` where there is no bound, and the
    /// queue is not closed (true).
    #[inline]
    pub(crate) fn push_unbounded(&self, place: &mut Option<T>) -> bool {
        match self {
            Bounded(_) => false,
            Unbounded(segments) => segments.push_from(place),
        }
    }

    /// Writes a message after all others, also while permits are held. For use after the ways above have failed.
    pub(crate) fn offer_from(&self, place: &mut Option<T>) -> Result<(), Rejected<()>> {
        match self {
            Bounded(ring) => ring.offer_from(place),
            Unbounded(segments) if segments.push_from(place) => Ok(()),
            Unbounded(_) => Err(Rejected::Closed(())),
        }
    }

    /// Writes the message that is in `place`. Where there is no room, it replaces the oldest one, which comes out there.
    pub(crate) fn force(&self, place: &mut Option<T>) -> Result<Forced, Unforced> {
        match self {
            Bounded(ring) => ring.force(place),
            Unbounded(segments) if segments.push_from(place) => Ok(Forced { has_freed: false }),
            Unbounded(_) => Err(Unforced::Closed),
        }
    }

    /// Reserves the permits for which there is room, at most `most`, all at once. An unbounded queue always has room
    /// and nothing to reserve.
    #[inline(always)]
    pub(crate) fn hold(&self, least: usize, most: usize) -> Result<usize, Rejected<()>> {
        match self {
            Bounded(ring) => ring.hold(least, most),
            Unbounded(segments) if segments.is_closed() => Err(Rejected::Closed(())),
            Unbounded(_) => Ok(most),
        }
    }

    /// Gives permits back. False: no sender waits for them.
    pub(crate) fn release(&self, places: usize) -> bool {
        match self {
            Bounded(ring) => ring.release(places),
            Unbounded(_) => false,
        }
    }

    /// The number of permits that can be held at a time.
    #[inline]
    pub(crate) fn most_held(&self) -> usize {
        match self {
            Bounded(ring) => ring.most_held(),
            Unbounded(_) => usize::MAX,
        }
    }

    // MUTANT: Needs 16 million permits. Killed only by
    // `beside_as_many_places_as_can_be_counted_there_is_room_for_messages`.
    /// Whether no more permits can be held, though there may be room: the count of permits is at its maximum.
    pub(crate) fn is_counted_out(&self) -> bool {
        match self {
            Bounded(ring) => ring.is_counted_out(),
            Unbounded(_) => false,
        }
    }

    /// Whether all room that a message could use is held by permits.
    pub(crate) fn is_all_held(&self) -> bool {
        match self {
            Bounded(ring) => ring.is_all_held(),
            Unbounded(_) => false,
        }
    }

    /// Writes a message for a caller that holds a permit.
    #[inline]
    pub(crate) fn push_held_from(&self, place: &mut Option<T>) -> Result<(), Rejected<()>> {
        match self {
            Bounded(ring) => ring.push_held_from(place),
            Unbounded(segments) if segments.push_from(place) => Ok(()),
            Unbounded(_) => Err(Rejected::Closed(())),
        }
    }

    /// Writes staged messages for a caller that holds a permit for each.
    pub(crate) fn push_many_held(&self, staging: &mut Staging<T>) -> Option<usize> {
        match self {
            Bounded(ring) => ring.push_many_held(staging),
            Unbounded(segments) => segments.push_many(staging),
        }
    }

    // MUTANT: Speed only: `try_send` tries once more before it waits.
    /// Whether writers do more than append a message: the queue is closed, or permits are held.
    pub(crate) fn is_special(&self) -> bool {
        match self {
            Bounded(ring) => ring.is_special(),
            Unbounded(segments) => segments.is_closed(),
        }
    }

    // MUTANT: Needs 16 million permits. Killed only by
    // `beside_as_many_places_as_can_be_counted_there_is_room_for_messages`.
    /// Claims the oldest message, if it is written, in a bounded queue. Without a bound: nothing.
    #[inline(always)]
    pub(crate) fn claim_oldest(&self, hint: &Hint) -> Option<ClaimedMessage<'_, T>> {
        match self {
            Bounded(ring) => ring.claim_oldest(hint),
            Unbounded(_) => None,
        }
    }

    /// After [`claim_oldest`](Self::claim_oldest): claims the oldest message, if it is written, in an unbounded queue.
    #[inline]
    pub(crate) fn claim_oldest_unbounded(&self) -> Option<ClaimedSlot<'_, T>> {
        match self {
            Bounded(_) => None,
            Unbounded(segments) => segments.claim_oldest(),
        }
    }

    /// Writes those of the staged messages for which there is room, with one claim. Returns how many it has written: 0
    /// where there is no room, `None` where the queue is closed.
    pub(crate) fn push_many(&self, staging: &mut Staging<T>) -> Option<usize> {
        either!(self, queue => queue.push_many(staging))
    }

    /// Takes out the oldest messages that are written, at most `most`, and appends them to `to`. Returns how many it
    /// has taken.
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
            Bounded(ring) => ring.is_writable(),
            Unbounded(_) => true,
        }
    }

    /// The number of messages in the queue: claimed by a writer, and not yet by a reader.
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

    /// A number that grows with each claim of a writer or reader. While it stays the same, a message that can be taken
    /// stays, and so does room, except for permits.
    pub(crate) fn moves(&self) -> u64 {
        either!(self, queue => queue.moves())
    }

    /// Whether readers have reached a position. Once true it stays true: positions only grow.
    pub(crate) fn has_reached(&self, place: u64) -> bool {
        either!(self, queue => queue.has_reached(place))
    }

    /// Closes the queue: no writer can claim a position any more. What has been claimed will still be published. True:
    /// it was open.
    pub(crate) fn close(&self) -> bool {
        either!(self, queue => queue.close())
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        either!(self, queue => queue.is_closed())
    }

    /// Whether the queue is closed, and all that was claimed before has been taken: no message will come. A writer that
    /// has claimed a position and not finished keeps this false. Exact, and once true it stays true.
    pub(crate) fn is_over(&self) -> bool {
        // In this order: after the close no writer moves the tail.
        self.is_closed() && self.is_empty()
    }

    /// Gives back the memory that an unbounded queue keeps for later messages.
    pub(crate) fn shrink(&self) {
        if let Unbounded(segments) = self {
            segments.shrink();
        }
    }

    /// A reader is about to wait: after few messages, an unbounded queue gives back what a burst has left.
    #[inline]
    pub(crate) fn calm(&self) {
        if let Unbounded(segments) = self {
            segments.calm();
        }
    }

    /// Takes out and drops every message that is written.
    pub(crate) fn drain(&self) {
        either!(self, queue => queue.ends.drains());
        either!(self, queue => queue.drain());
    }
}

/// By value, for tests.
#[cfg(all(test, not(ysuite_loom)))]
impl<T> Queue<T> {
    pub(crate) fn offer(&self, message: T) -> Result<(), Rejected<()>> {
        self.offer_from(&mut Some(message))
    }

    pub(crate) fn push_held(&self, message: T) -> Result<(), Rejected<()>> {
        self.push_held_from(&mut Some(message))
    }

    pub(crate) fn pop_bounded(&self, hint: &Hint) -> Option<T> {
        self.claim_oldest(hint).map(ClaimedMessage::take)
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

    /// A sender that sends by force sleeps while this is so.
    #[test]
    fn all_places_are_held_until_one_of_them_is_given_back_or_used() {
        let queue = Queue::new(Some(2));
        assert!(queue.hold(2, 2).is_ok() && queue.is_all_held());
        assert!(queue.release(1) && !queue.is_all_held());
        assert!(queue.hold(1, 1).is_ok() && queue.is_all_held());
        assert!(queue.push_held(7).is_ok() && !queue.is_all_held());
    }
}
