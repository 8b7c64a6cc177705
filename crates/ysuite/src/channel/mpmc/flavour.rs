//! The three flavours of an mpmc channel: a [`Ring`] with a bound, [`Segments`] without, and a rendezvous, which is no
//! queue. Only this file tells them apart. Any thread; its progress is that of the three.
//!
//! The fast paths ask for the ring first. A rendezvous answers them as a queue without room and without messages: what
//! it does instead is an operation of its [`Party`](crate::channel::rendezvous::Party).

use crate::channel::rendezvous::MeetingOf;
use crate::queue::exchange::{
    ClaimedCell, ClaimedMessage, ClaimedSlot, CountedEnds, Forced, Hint, Rejected, Ring, Segments, Staging, Unforced,
};
use crate::statistics::Meter;
use crate::wait::spin_for_a_moment;

/// Makes a rendezvous whose events this meter counts.
pub(super) type MakeMeeting<T> = fn(&Meter) -> Box<MeetingOf<T>>;

pub(super) enum Flavour<T> {
    Ring(Ring<T>),
    Segments(Segments<T>),
    Meeting(Box<MeetingOf<T>>),
}
use Flavour::{Meeting, Ring as Bounded, Segments as Unbounded};

/// Calls the method on the queue that is in use. In a rendezvous the result is `$none`. A macro, as no closure takes either
/// of two types.
macro_rules! either {
    ($self:expr, $queue:ident => $answer:expr, $none:expr) => {
        match $self {
            Bounded($queue) => $answer,
            Unbounded($queue) => $answer,
            Meeting(_) => $none,
        }
    };
}

impl<T> Flavour<T> {
    /// A capacity of `None` is no bound. `meeting` makes a rendezvous, whose capacity is 0, and whose events `meter`
    /// counts; those of a queue once it has [joined](Self::join).
    ///
    /// # Panics
    /// As [`Ring::new`] and [`Segments::new`].
    #[inline(always)]
    #[track_caller]
    pub(super) fn new(capacity: Option<usize>, meeting: Option<MakeMeeting<T>>, meter: &Meter) -> Self {
        match (meeting, capacity) {
            (Some(meeting), _) => Meeting(meeting(meter)),
            (None, Some(capacity)) => Bounded(Ring::new(capacity)),
            (None, None) => Unbounded(Segments::new()),
        }
    }

    /// Once, where the queue stays: `meter` counts its events.
    pub(super) fn join(&mut self, meter: &Meter) {
        either!(self, queue => queue.ends.join(meter), ());
    }

    /// The rendezvous, if it is one.
    #[inline]
    pub(super) fn meeting(&self) -> Option<&MeetingOf<T>> {
        match self {
            Meeting(meeting) => Some(meeting),
            _ => None,
        }
    }

    /// Notes the number of messages, for a sender that has found no room, or seemed to.
    pub(super) fn sample(&self) {
        either!(self, queue => queue.ends.sample(), ());
    }

    /// The last receiver leaves: messages that are taken from now on are dropped.
    pub(super) fn leave(&self) {
        either!(self, queue => queue.ends.leave(), ());
    }

    /// The capacity in messages; `None` without a bound.
    pub(super) fn capacity(&self) -> Option<usize> {
        match self {
            Bounded(ring) => Some(ring.capacity()),
            Unbounded(_) => None,
            Meeting(_) => Some(0),
        }
    }

    /// The number of messages that could be sent now.
    pub(super) fn room(&self) -> usize {
        match self {
            Bounded(ring) => ring.room(),
            Unbounded(_) => usize::MAX,
            Meeting(_) => 0,
        }
    }

    // MUTANT: Needs 16 million permits. Killed only by
    // `beside_as_many_places_as_can_be_counted_there_is_room_for_messages`.
    /// Claims the cell after all others, in a bounded queue. `None`: there is no room, or the ring is
    /// [special](Self::is_special), and [`offer_from`](Self::offer_from) then decides. Always in an unbounded queue.
    #[inline(always)]
    pub(super) fn claim_next(&self, hint: &Hint) -> Option<ClaimedCell<'_, T>> {
        match self {
            Bounded(ring) => ring.claim_next(hint),
            _ => None,
        }
    }

    /// After [`claim_next`](Self::claim_next): claims the slot after all others where there is no bound, and the queue is
    /// not closed.
    #[inline]
    pub(super) fn claim_unbounded(&self) -> Option<ClaimedSlot<'_, T>> {
        match self {
            Unbounded(segments) => segments.claim_next(),
            _ => None,
        }
    }

    /// After [`claim_next`](Self::claim_next): writes the message that is in `place` where there is no bound, and the
    /// queue is not closed (true).
    #[inline]
    pub(super) fn push_unbounded(&self, place: &mut Option<T>) -> bool {
        match self {
            Unbounded(segments) => segments.push_from(place),
            _ => false,
        }
    }

    /// Writes a message after all others, also while permits are held. For use after the ways above have failed.
    pub(super) fn offer_from(&self, place: &mut Option<T>) -> Result<(), Rejected<()>> {
        match self {
            Bounded(ring) => ring.offer_from(place),
            Unbounded(segments) if segments.push_from(place) => Ok(()),
            Unbounded(_) => Err(Rejected::Closed(())),
            Meeting(_) => Err(Rejected::Full(())),
        }
    }

    /// Writes the message that is in `place`. Where there is no room, it replaces the oldest one, which comes out there.
    pub(super) fn force(&self, place: &mut Option<T>) -> Result<Forced, Unforced> {
        match self {
            Bounded(ring) => ring.force(place),
            Unbounded(segments) if segments.push_from(place) => Ok(Forced { has_freed: false }),
            Unbounded(_) => Err(Unforced::Closed),
            Meeting(_) => Err(Unforced::Closed),
        }
    }

    /// Reserves the permits for which there is room, at most `most`, all at once. An unbounded queue always has room
    /// and nothing to reserve.
    #[inline(always)]
    pub(super) fn hold(&self, least: usize, most: usize) -> Result<usize, Rejected<()>> {
        match self {
            Bounded(ring) => ring.hold(least, most),
            Unbounded(segments) if segments.is_closed() => Err(Rejected::Closed(())),
            Unbounded(_) => Ok(most),
            Meeting(_) => Err(Rejected::Full(())),
        }
    }

    /// Gives permits back. False: no sender waits for them.
    pub(super) fn release(&self, places: usize) -> bool {
        match self {
            Bounded(ring) => ring.release(places),
            _ => false,
        }
    }

    /// The number of permits that can be held at a time.
    #[inline]
    pub(super) fn most_held(&self) -> usize {
        match self {
            Bounded(ring) => ring.most_held(),
            Unbounded(_) => usize::MAX,
            Meeting(_) => 0,
        }
    }

    // MUTANT: Needs 16 million permits. Killed only by
    // `beside_as_many_places_as_can_be_counted_there_is_room_for_messages`.
    /// Whether no more permits can be held, though there may be room: the count of permits is at its maximum.
    pub(super) fn is_counted_out(&self) -> bool {
        match self {
            Bounded(ring) => ring.is_counted_out(),
            _ => false,
        }
    }

    /// Whether all room that a message could use is held by permits.
    pub(super) fn is_all_held(&self) -> bool {
        match self {
            Bounded(ring) => ring.is_all_held(),
            _ => false,
        }
    }

    /// Writes a message for a caller that holds a permit.
    #[inline]
    pub(super) fn push_held_from(&self, place: &mut Option<T>) -> Result<(), Rejected<()>> {
        match self {
            Bounded(ring) => ring.push_held_from(place),
            Unbounded(segments) if segments.push_from(place) => Ok(()),
            Unbounded(_) => Err(Rejected::Closed(())),
            Meeting(_) => Err(Rejected::Closed(())),
        }
    }

    /// Writes staged messages for a caller that holds a permit for each.
    pub(super) fn push_many_held(&self, staging: &mut Staging<T>) -> Option<usize> {
        match self {
            Bounded(ring) => ring.push_many_held(staging),
            Unbounded(segments) => segments.push_many(staging),
            Meeting(_) => None,
        }
    }

    // MUTANT: Speed only: `try_send` tries once more before it waits.
    /// Whether writers do more than append a message: the queue is closed, or permits are held.
    pub(super) fn is_special(&self) -> bool {
        match self {
            Bounded(ring) => ring.is_special(),
            Unbounded(segments) => segments.is_closed(),
            Meeting(_) => false,
        }
    }

    /// Writes the message that is in `place`, as [`claim_next`](Self::claim_next) and
    /// [`claim_unbounded`](Self::claim_unbounded), by one question for the flavour. False: the slow paths decide.
    ///
    /// # Safety
    /// There is a message. If it is written, nothing but a drop uses the place afterwards.
    #[inline(always)]
    pub(super) unsafe fn push_at_once(&self, hint: &Hint, place: &mut Option<T>) -> bool {
        match self {
            Bounded(ring) => {
                let Some(claimed) = ring.claim_next(hint) else { return false };
                // SAFETY: by the caller.
                unsafe { claimed.fill_leaving(place) };
            }
            Unbounded(segments) => {
                let Some(claimed) = segments.claim_next() else { return false };
                // SAFETY: by the caller.
                unsafe { claimed.fill_leaving(place) };
            }
            Meeting(_) => return false,
        }
        true
    }

    // MUTANT: Needs 16 million permits. Killed only by
    // `beside_as_many_places_as_can_be_counted_there_is_room_for_messages`.
    /// Claims the oldest message, if it is written, in a bounded queue. Without a bound: nothing.
    #[inline(always)]
    pub(super) fn claim_oldest(&self, hint: &Hint) -> Option<ClaimedMessage<'_, T>> {
        match self {
            Bounded(ring) => ring.claim_oldest(hint),
            _ => None,
        }
    }

    /// After [`claim_oldest`](Self::claim_oldest): claims the oldest message, if it is written, in an unbounded queue.
    #[inline]
    pub(super) fn claim_oldest_unbounded(&self, hint: &Hint) -> Option<ClaimedSlot<'_, T>> {
        match self {
            Unbounded(segments) => segments.claim_oldest(hint),
            _ => None,
        }
    }

    /// Takes the oldest message, if it is written, to `place`, which is empty: as
    /// [`claim_oldest`](Self::claim_oldest) and [`claim_oldest_unbounded`](Self::claim_oldest_unbounded), by one question
    /// for the flavour. `Some`: whether there is a bound, so that a sender may wait for the room.
    #[inline(always)]
    pub(super) fn pop_at_once(&self, hint: &Hint, place: &mut Option<T>) -> Option<bool> {
        match self {
            Bounded(ring) => {
                ring.claim_oldest(hint)?.take_to(place);
                Some(true)
            }
            Unbounded(segments) => {
                segments.claim_oldest(hint)?.take_to(place);
                Some(false)
            }
            Meeting(_) => None,
        }
    }

    /// Writes those of the staged messages for which there is room, with one claim. Returns how many it has written: 0
    /// where there is no room, `None` where the queue is closed.
    pub(super) fn push_many(&self, staging: &mut Staging<T>) -> Option<usize> {
        either!(self, queue => queue.push_many(staging), None)
    }

    /// Takes out the oldest messages that are written, at most `most`, and appends them to `to`. Returns how many it
    /// has taken.
    pub(super) fn pop_many(&self, to: &mut Vec<T>, most: usize) -> usize {
        either!(self, queue => queue.pop_many(to, most), 0)
    }

    /// Whether the oldest message can be taken.
    #[inline]
    pub(super) fn is_readable(&self) -> bool {
        either!(self, queue => queue.is_readable(), false)
    }

    /// Whether the next message can be written.
    #[inline]
    pub(super) fn is_writable(&self) -> bool {
        match self {
            Bounded(ring) => ring.is_writable(),
            Unbounded(_) => true,
            Meeting(_) => false,
        }
    }

    /// The number of messages in the queue: claimed by a writer, and not yet by a reader.
    pub(super) fn len(&self) -> usize {
        either!(self, queue => queue.len(), 0)
    }

    /// The position of the next message to be written.
    pub(super) fn place(&self) -> u64 {
        either!(self, queue => queue.place(), 0)
    }

    /// A number that grows with each claim of a writer or reader. While it stays the same, a message that can be taken
    /// stays, and so does room, except for permits.
    pub(super) fn moves(&self) -> u64 {
        either!(self, queue => queue.moves(), 0)
    }

    /// Whether readers have reached a position. Once true it stays true: positions only grow.
    pub(super) fn has_reached(&self, place: u64) -> bool {
        either!(self, queue => queue.has_reached(place), true)
    }

    /// Closes the queue: no writer can claim a position any more. What has been claimed will still be published. True:
    /// it was open.
    pub(super) fn close(&self) -> bool {
        match self {
            Bounded(ring) => ring.close(),
            Unbounded(segments) => segments.close(),
            Meeting(meeting) => meeting.close(),
        }
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Bounded(ring) => ring.is_closed(),
            Unbounded(segments) => segments.is_closed(),
            Meeting(meeting) => meeting.is_closed(),
        }
    }

    /// Whether the queue is closed, and all that was claimed before has been taken: no message will come. A writer that
    /// has claimed a position and not finished keeps this false. Exact, and once true it stays true. A rendezvous is no
    /// queue by which a message could come.
    pub(super) fn is_over(&self) -> bool {
        // In this order: after the close no writer moves the tail.
        either!(self, queue => queue.is_closed() && queue.is_empty(), true)
    }

    /// After a poll that found nothing: whether another may say more: the queue is closed, or this is a rendezvous.
    pub(super) fn is_to_be_asked_again(&self) -> bool {
        either!(self, queue => queue.is_closed(), true)
    }

    /// The same, and where a writer is in the middle of the oldest message this spins for it for a moment.
    pub(super) fn is_to_be_asked_soon(&self) -> bool {
        either!(
            self,
            queue => !queue.is_empty() && spin_for_a_moment(|| queue.is_readable()) || queue.is_closed(),
            true
        )
    }

    /// Gives back the memory that an unbounded queue keeps for later messages.
    pub(super) fn shrink(&self) {
        if let Unbounded(segments) = self {
            segments.shrink();
        }
    }

    /// A reader is about to sleep: after few messages, an unbounded queue gives back what a burst has left.
    #[inline]
    pub(super) fn calm(&self) {
        if let Unbounded(segments) = self {
            segments.calm();
        }
    }

    /// Takes out and drops every message that is written.
    pub(super) fn drain(&self) {
        either!(self, queue => queue.ends.drains(), ());
        either!(self, queue => queue.drain(), ());
    }
}

/// By value, for tests.
#[cfg(all(test, not(ysuite_loom)))]
impl<T> Flavour<T> {
    pub(super) fn offer(&self, message: T) -> Result<(), Rejected<()>> {
        self.offer_from(&mut Some(message))
    }

    pub(super) fn is_empty(&self) -> bool {
        either!(self, queue => queue.is_empty(), true)
    }

    pub(super) fn push_held(&self, message: T) -> Result<(), Rejected<()>> {
        self.push_held_from(&mut Some(message))
    }

    pub(super) fn pop_bounded(&self, hint: &Hint) -> Option<T> {
        self.claim_oldest(hint).map(ClaimedMessage::take)
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::Flavour;
    use crate::statistics::Meter;

    fn queue(capacity: Option<usize>) -> Flavour<i32> {
        Flavour::new(capacity, None, &Meter::default())
    }

    #[test]
    fn a_closed_queue_is_over_when_its_last_message_has_been_taken() {
        for queue in [queue(Some(2)), queue(None)] {
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
        let queue = queue(Some(2));
        assert!(queue.hold(2, 2).is_ok() && queue.is_all_held());
        assert!(queue.release(1) && !queue.is_all_held());
        assert!(queue.hold(1, 1).is_ok() && queue.is_all_held());
        assert!(queue.push_held(7).is_ok() && !queue.is_all_held());
    }
}
