//! Permits: room that is certain before the message is made. Written once for spsc and mpsc.
//!
//! A sender with a queue of its own is the only one that fills it. The room that it has found stays until it uses it.
//! So a permit is nothing but a borrowed sender, and costs nothing to return. It exposes the slot itself: a message can
//! be built in its final location. One thread at a time; waiting for room works as in `send`.
//!
//! Cannot: be kept alongside the sender, or be sent to another thread without it.

use core::fmt;
use core::mem::MaybeUninit;

use super::error::{ReserveError, SendError, TryReserveError, TrySendError};
use super::pipe::PipeReserve;
use super::send::{SenderLink, Sending, WritingEnd};
use crate::operation;
use crate::passive::Passive;
use crate::queue::outline;
use crate::wait::WakeTarget;
use crate::wait::one::{self, WaitingEnd};

/// What a permit needs of its sender. Not for use elsewhere.
#[doc(hidden)]
pub trait Reserve {
    /// The type of the messages.
    type Message;

    /// Sends a message, for which there is room.
    fn send_reserved(&mut self, message: Self::Message) -> Result<(), SendError<Self::Message>>;

    /// The next free slots that are contiguous, at most `most`; empty only where there is no room.
    fn free_slots(&mut self, most: usize) -> &mut [MaybeUninit<Self::Message>];

    /// Sends the messages in the first `count` of the slots that [`free_slots`](Self::free_slots) returned last.
    ///
    /// # Safety
    /// There are at least `count` slots, and a message has been written into each since.
    unsafe fn send_slots(&mut self, count: usize) -> Result<(), SendError<Vec<Self::Message>>>;
}

/// Room for one message in a channel of kind [`spsc`](crate::spsc) or [`mpsc`](crate::mpsc). Made by a sender's
/// `reserve` methods. Dropped unused, it returns the room.
///
/// ```
/// let (mut sender, mut receiver) = ysuite::spsc::bounded(1);
/// let permit = sender.reserve().unwrap();
/// // Sending does not wait any more, and the message is built in its slot.
/// permit.send_with(|| [7_u8; 1000]).unwrap();
/// assert!(sender.try_reserve().is_err_and(|error| error.is_full()));
/// assert_eq!(receiver.recv().unwrap()[999], 7);
/// ```
#[must_use = "reserved room that is not used is returned"]
pub struct Permit<'a, S: Reserve> {
    sender: &'a mut S,
}

impl<'a, S: Reserve> Permit<'a, S> {
    pub(super) fn new(sender: &'a mut S) -> Self {
        Self { sender }
    }

    /// Sends a message. It is visible at once, together with the hidden messages.
    #[doc = cost!(sender PERMIT_SEND)]
    ///
    /// # Errors
    /// When the receiver has disconnected or has closed the channel. The error holds the message.
    #[inline]
    pub fn send(self, message: S::Message) -> Result<(), SendError<S::Message>> {
        self.sender.send_reserved(message)
    }

    // USER CODE: the closure that makes the message; there is room, and nothing has been written; re-entrance: none
    //     (`&mut`); panic: nothing is sent, and the room is still there; test:
    //     tests/suite/conformance/channel/permits.rs: a_message_is_built_in_its_slot
    /// As [`send`](Self::send), with a message that is made in its slot where the compiler can do so. If `make` panics,
    /// nothing is sent.
    #[doc = cost!(sender PERMIT_SEND)]
    ///
    /// # Errors
    /// As [`send`](Self::send).
    #[inline]
    pub fn send_with(mut self, make: impl FnOnce() -> S::Message) -> Result<(), SendError<S::Message>> {
        self.slot().write(make());
        // SAFETY: the slot has just been written.
        unsafe { self.commit() }
    }

    /// The slot of the message. What the caller writes into it is sent by [`commit`](Self::commit). Otherwise it is
    /// forgotten, not dropped.
    #[inline]
    pub fn slot(&mut self) -> &mut MaybeUninit<S::Message> {
        &mut self.sender.free_slots(1)[0]
    }

    /// Sends the message that was written into the [slot](Self::slot). Otherwise as [`send`](Self::send).
    #[doc = cost!(sender PERMIT_SEND)]
    ///
    /// # Errors
    /// As [`send`](Self::send).
    ///
    /// # Safety
    /// A message has been written into the slot of this permit.
    #[inline]
    pub unsafe fn commit(self) -> Result<(), SendError<S::Message>> {
        // SAFETY: by the caller. There is room, so there is a slot, and this permit has returned no other.
        let sent = unsafe { self.sender.send_slots(1) };
        sent.map_err(|SendError(mut back)| SendError(back.pop().expect("one message was sent")))
    }
}

/// Room for several messages in a channel of kind [`spsc`](crate::spsc) or [`mpsc`](crate::mpsc). Made by a sender's
/// `reserve_many` methods. When dropped, it returns the room that is left.
#[must_use = "reserved room that is not used is returned"]
pub struct Permits<'a, S: Reserve> {
    sender: &'a mut S,
    left: usize,
}

impl<'a, S: Reserve> Permits<'a, S> {
    pub(super) fn new(sender: &'a mut S, left: usize) -> Self {
        Self { sender, left }
    }

    /// The number of messages for which there is room left.
    #[must_use]
    pub fn len(&self) -> usize {
        self.left
    }

    // MUTANT: Speed only: with no room left the queue offers no slots.
    /// Whether all the room has been used.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    // MUTANT: Speed only: with no room left the queue offers no slots.
    /// Sends a message, visible at once.
    #[doc = cost!(sender PERMIT_SEND)]
    ///
    /// # Errors
    /// When all the room has been used, and when the receiver has disconnected or has closed the channel.
    #[inline]
    pub fn send(&mut self, message: S::Message) -> Result<(), TrySendError<S::Message>> {
        if self.left == 0 {
            return Err(TrySendError::Full(message));
        }
        self.left -= 1;
        self.sender.send_reserved(message).map_err(TrySendError::from)
    }

    // MUTANT: Speed only: with no room left the queue offers an empty run of slots.
    /// The slots of the next messages, as far as they are contiguous: at least one while there is room left, and never
    /// more than the room. What the caller writes into them is sent by [`commit`](Self::commit). Otherwise it is
    /// forgotten, not dropped.
    pub fn slots(&mut self) -> &mut [MaybeUninit<S::Message>] {
        if self.left == 0 {
            return &mut [];
        }
        self.sender.free_slots(self.left)
    }

    /// Sends the messages in the first `count` [slots](Self::slots) as one batch. They become visible together, with
    /// the hidden messages.
    #[doc = cost!(sender PERMIT_SEND)]
    ///
    /// # Errors
    /// When the receiver has disconnected or has closed the channel. The error holds the messages that the receiver
    /// certainly does not get.
    ///
    /// # Safety
    /// The last call of [`slots`](Self::slots) has returned at least `count` slots, nothing was sent since, and a
    /// message has been written into each of the first `count`.
    pub unsafe fn commit(&mut self, count: usize) -> Result<(), SendError<Vec<S::Message>>> {
        if count == 0 {
            return Ok(());
        }
        self.left -= count;
        // SAFETY: by the caller.
        unsafe { self.sender.send_slots(count) }
    }
}

impl<S: Reserve> fmt::Debug for Permit<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Permit { .. }")
    }
}

impl<S: Reserve> fmt::Debug for Permits<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permits").field("len", &self.left).finish_non_exhaustive()
    }
}

/// A sender that waits for room for several messages.
pub(super) struct SeveralPlaces<'a, T, L: SenderLink<T>> {
    pub(super) end: &'a mut WritingEnd<T, L>,
    pub(super) places: usize,
}

impl<T, L: SenderLink<T>> WaitingEnd for SeveralPlaces<'_, T, L> {
    const CROWDED: bool = L::CROWDED;

    // MUTANT: In a race: a close between two checks is reported as a lack of room, and by the next call as a close.
    fn is_ready(&mut self) -> bool {
        self.end.writer.has_room_for(self.places) || self.end.writer.is_over()
    }

    fn passive(&self) -> &Passive {
        self.end.writer.passive()
    }

    fn target(&self) -> &WakeTarget {
        self.end.link.target()
    }
}

impl<T, L: SenderLink<T>> Sending<T, L> {
    // MUTANT: In a race: room that came since the first check has raised the id again, so the next attempt finds it.
    /// Whether there is room for `places` messages. An attached sender that finds too little takes its id down, and
    /// checks once more.
    pub(super) fn try_reserve(&mut self, places: usize) -> Result<(), TryReserveError> {
        let mut found = self.look_for(places);
        if found == Err(TryReserveError::Full) && one::registration(&*self.end).is_some() {
            // Hidden messages may take the room that the set is to report.
            self.flush();
            one::rest(&mut SeveralPlaces { end: &mut self.end, places });
            found = self.look_for(places);
        }
        if found == Err(TryReserveError::Full) {
            // A close between the check for a disconnection and the check for room leaves no room. That is not a lack
            // of room.
            if self.end.writer.is_over() {
                found = Err(TryReserveError::Disconnected);
            } else {
                self.refuse();
            }
        }
        if found == Err(TryReserveError::Disconnected) {
            self.with_registration(&mut |registration| registration.tell_end());
        }
        found
    }

    // MUTANT: Killed only by `too_many_is_an_error_and_not_a_wait`.
    /// Whether there is room for `places` messages. Only checks.
    pub(super) fn look_for(&mut self, places: usize) -> Result<(), TryReserveError> {
        if self.is_over() {
            return Err(TryReserveError::Disconnected);
        }
        let writer = &mut self.end.writer;
        // Always at a rendezvous, whose capacity is 0.
        if writer.capacity().is_some_and(|capacity| places > capacity) {
            Err(TryReserveError::TooMany)
        } else if writer.has_room_for(places) {
            Ok(())
        } else {
            Err(TryReserveError::Full)
        }
    }

    /// Waits until there is room for `places` messages.
    #[inline]
    pub(super) fn reserve(&mut self, places: usize) -> Result<(), ReserveError> {
        let writer = &mut self.end.writer;
        // No place is always there, also at a rendezvous that is over.
        if places != 0 && !writer.is_over() && writer.has_room_for(places) {
            return Ok(());
        }
        outline(self, |sender| sender.reserve_slowly(places))
    }

    /// There is not enough room, now or ever.
    #[cold]
    #[inline(never)]
    fn reserve_slowly(&mut self, places: usize) -> Result<(), ReserveError> {
        operation::perform(PipeReserve::new(self, places), &mut ())
    }

    /// Sends the messages that were written into the first `count` free slots.
    ///
    /// # Safety
    /// As [`Reserve::send_slots`].
    #[inline]
    pub(super) unsafe fn send_slots(&mut self, count: usize) -> Result<(), SendError<Vec<T>>> {
        let from = self.end.writer.position();
        // SAFETY: by the caller.
        let tokens = unsafe { self.end.writer.publish_slots(count) };
        self.published(tokens, from)
    }
}
