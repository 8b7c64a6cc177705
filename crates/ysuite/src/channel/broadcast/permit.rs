//! Permits: room that is reserved for later messages. Made by [`Sender::reserve`] and the other `reserve` methods.
//!
//! A permit may be used or dropped on any thread. Using one is lock-free and waits for no receiver: see
//! [`send`](Permit::send).

use core::fmt;
use core::iter::FusedIterator;

use super::shared::BroadcastShared;
use super::{SendError, Sender, TrySendError};
use crate::channel::error;
use crate::channel::reserve::ReservedRoom;
use crate::foreign::{Foreign, Lent, Panics};
use crate::os::PeerWait;
use crate::queue::exchange::Rejected;

/// Reserved room that is not yet a permit's.
pub(super) type HeldRoom<'a, T> = ReservedRoom<'a, BroadcastShared<T>>;

impl<T> HeldRoom<'_, T> {
    /// Takes room for one message out, where there is some.
    fn next(&mut self) -> Option<Self> {
        self.places = self.places.checked_sub(1)?;
        Some(Self { shared: self.shared, places: 1 })
    }

    // WAITS: a permit's `send`, for a sender that has not finished with the very cell, one lap before, and all receivers
    //     of then are gone; in a lossy channel also for a receiver that copies the message of that cell: yields, then
    //     sleeps for less than a millisecond at a time; test: src/channel/broadcast/permit.rs:
    //     the_message_of_a_permit_waits_for_a_sender_in_its_cell
    /// Sends the message that is in `place`, and has room for one message less. There is room for one.
    fn send(&mut self, place: &mut Option<T>) -> Result<(), SendError<()>> {
        let mut wait = PeerWait::default();
        loop {
            match self.shared.ring.claim_held() {
                Ok(claimed) => {
                    // Before user code can panic.
                    self.places -= 1;
                    claimed.fill_from(place);
                    break;
                }
                Err(Rejected::Closed(())) => return Err(SendError(())),
                Err(Rejected::Full(())) => wait.wait(),
            }
        }
        self.shared.sent(None);
        Ok(())
    }
}

/// Room for one message. Its drop returns the room, and wakes the next sender that waits for room.
///
/// A permit that is *forgotten* (`mem::forget`) keeps its room for ever.
#[doc = cost!(broadcast PERMIT_DROP)]
#[must_use = "it reserves room, which it returns when it is dropped"]
pub struct Permit<'a, T> {
    held: HeldRoom<'a, T>,
}

impl<'a, T> Permit<'a, T> {
    /// Of room for one message.
    pub(super) fn new(held: HeldRoom<'a, T>) -> Self {
        Self { held }
    }

    /// The room is an owned permit's.
    pub(super) fn into_owned(self) {
        self.held.forget();
    }

    /// Sends a message to every present receiver. It comes after all messages that have been sent until now: the permit
    /// guarantees room, not a position in the order.
    ///
    /// Waits for no receiver, except in a [lossy channel](super#permits). Where a sender has been preempted in the very
    /// cell, one lap before, and no receiver of that time is left, this yields, and later sleeps, until that sender
    /// continues. The time that this takes has no bound.
    #[doc = cost!(broadcast PERMIT_SEND)]
    ///
    /// # Errors
    /// When there is no receiver, and when the channel was closed. A permit prevents neither.
    ///
    /// # Panics
    /// As [`Sender::send`].
    pub fn send(mut self, message: T) -> Result<(), SendError<T>> {
        let mut place = Foreign::some(message);
        let outcome = self.held.send(&mut place);
        // Returns the room of a message that was not sent. The waker of the next sender is user code.
        drop(self);
        error::of_send(outcome, &mut place)
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Permit { .. }")
    }
}

/// Room for several messages, used by [`send`](Permits::send), or given out one by one: an iterator of
/// [permits](Permit). Its drop returns the room that is left.
#[doc = cost!(broadcast PERMIT_DROP)]
#[must_use = "they reserve room, which they return when they are dropped"]
pub struct Permits<'a, T> {
    held: HeldRoom<'a, T>,
}

impl<'a, T> Permits<'a, T> {
    pub(super) fn new(held: HeldRoom<'a, T>) -> Self {
        Self { held }
    }

    /// The number of messages for which there is room left.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held.places
    }

    /// Whether all the room has been used.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held.places == 0
    }

    /// Sends a message, as [`Permit::send`] does, with one of these permits.
    #[doc = cost!(broadcast PERMIT_SEND)]
    ///
    /// # Errors
    /// `Full` when all the room has been used. When there is no receiver, and when the channel was closed: then the
    /// permit is left.
    ///
    /// # Panics
    /// As [`Sender::send`].
    pub fn send(&mut self, message: T) -> Result<(), TrySendError<T>> {
        let mut place = Foreign::some(message);
        let outcome = match self.held.places {
            0 => Err(TrySendError::Full(())),
            _ => self.held.send(&mut place).map_err(TrySendError::from),
        };
        error::of_try_send(outcome, &mut place)
    }
}

impl<'a, T> Iterator for Permits<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Permit<'a, T>> {
        self.held.next().map(Permit::new)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.held.places, Some(self.held.places))
    }
}

impl<T> ExactSizeIterator for Permits<'_, T> {}

impl<T> FusedIterator for Permits<'_, T> {}

impl<T> fmt::Debug for Permits<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permits").field("len", &self.held.places).finish_non_exhaustive()
    }
}

/// A [`Permit`] that owns its sender, so that it can be kept anywhere. That sender counts: receivers do not get the
/// disconnection while there is an owned permit.
#[doc = cost!(broadcast PERMIT_DROP)]
#[must_use = "it reserves room, which it returns when it is dropped"]
pub struct OwnedPermit<T> {
    /// `None` only within `send` and `release`.
    sender: Option<Sender<T>>,
}

impl<T> OwnedPermit<T> {
    /// Of a sender that has reserved room for one message.
    pub(super) fn new(sender: Sender<T>) -> Self {
        Self { sender: Some(sender) }
    }

    /// Its sender, and the room that it has.
    fn held(sender: &Sender<T>) -> HeldRoom<'_, T> {
        HeldRoom { shared: &sender.shared, places: 1 }
    }

    // USER CODE: wakers, where an error returns the room and drops the last sender; the message is a local; re-entrance:
    //     any operation; panic: the message is dropped with the call; by construction: the sender is dropped before the
    //     result is made
    /// Sends a message, as [`Permit::send`] does, and returns the sender.
    #[doc = cost!(broadcast PERMIT_SEND)]
    ///
    /// # Errors
    /// When there is no receiver, and when the channel was closed. The sender is dropped.
    ///
    /// # Panics
    /// As [`Sender::send`].
    pub fn send(mut self, message: T) -> Result<Sender<T>, SendError<T>> {
        let Some(sender) = self.sender.take() else { unreachable!("a permit is used once") };
        let mut place = Foreign::some(message);
        let outcome = Self::held(&sender).send(&mut place);
        match outcome {
            Ok(()) => Ok(sender),
            Err(SendError(())) => {
                // The sender's drop is user code.
                Panics::in_drop(|| drop(sender));
                Err(SendError(place.take_out()))
            }
        }
    }

    /// Returns the room to the channel, and the sender to the caller.
    #[must_use = "use `drop` to be rid of both"]
    pub fn release(mut self) -> Sender<T> {
        let Some(sender) = self.sender.take() else { unreachable!("a permit is used once") };
        drop(Self::held(&sender));
        sender
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        if let Some(sender) = self.sender.take() {
            drop(Self::held(&sender));
        }
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnedPermit { .. }")
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::thread;

    use crate::channel::broadcast::bounded;

    /// A sender has been preempted in a cell; the receivers of then are gone, and a permit's message comes to that cell.
    #[test]
    fn the_message_of_a_permit_waits_for_a_sender_in_its_cell() {
        let (sender, receiver) = bounded(2);
        let claimed = sender.shared.ring.claim();
        sender.send(1).unwrap();
        let mut late = sender.subscribe();
        drop(receiver);
        let permits = sender.try_reserve_many(2).unwrap();
        thread::scope(|scope| {
            let sending = scope.spawn(|| permits.for_each(|permit| permit.send(2).unwrap()));
            // Usually it waits by now. If not, it finds the cell filled.
            (0..100).for_each(|_| thread::yield_now());
            assert!(late.try_recv().is_err());
            assert_eq!(sender.shared.ring.fill_claimed(claimed, 0), None);
            sending.join().unwrap();
        });
        assert!(late.try_iter().eq([2, 2]));
        sender.try_send(3).unwrap();
    }
}
