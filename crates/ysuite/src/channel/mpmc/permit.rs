//! Permits: room that is reserved for later messages. Made by [`Sender::reserve`] and the other `reserve` methods.
//!
//! A permit may be used or dropped on any thread. Using one is lock-free and waits for no receiver: see
//! [`send`](Permit::send).

use core::fmt;
use core::iter::FusedIterator;
use core::mem;

use super::holding::HeldPlaces;
use super::shared::MpmcShared;
use super::{SendError, Sender, TrySendError};
use crate::channel::error;
use crate::foreign::{Foreign, Lent, Panics};

/// Room for one message. Its drop returns the room, and wakes the next sender that waits for room.
///
/// A permit that is *forgotten* (`mem::forget`) keeps its room for ever.
#[doc = cost!(mpmc PERMIT_DROP)]
#[must_use = "it reserves room, which it returns when it is dropped"]
pub struct Permit<'a, T> {
    shared: &'a MpmcShared<T>,
}

impl<T> Permit<'_, T> {
    /// Sends a message. It comes after all messages that have been sent until now: the permit guarantees room, not a
    /// position in the order.
    ///
    /// Waits for no receiver. Where a [`force_send`](Sender::force_send) has been preempted in the very cell, this
    /// yields, and later sleeps, until that `force_send` continues, as a `force_send` does. The time that this takes
    /// has no bound. It never happens in a channel without `force_send`.
    #[doc = cost!(mpmc PERMIT_SEND)]
    ///
    /// # Errors
    /// When all receivers have disconnected, or the channel is closed. A permit prevents neither.
    pub fn send(self, message: T) -> Result<(), SendError<T>> {
        let shared = self.shared;
        // The room goes with the message; in a closed channel the room has no owner.
        mem::forget(self);
        let mut place = Foreign::some(message);
        let outcome = shared.push_held(&mut place);
        error::of_send(outcome, &mut place)
    }
}

// USER CODE: wakers of senders or receivers; so also in `Drop`, `send` and `release` of `OwnedPermit`. The room is
//     released, or the message sent, and the permit is used up; re-entrance: any operation; panic: all others are
//     woken; an owned permit's sender is dropped; test: tests/suite/mpmc/permits.rs: wakers_that_panic_lose_no_place
impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        self.shared.release(1);
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Permit { .. }")
    }
}

/// Room for several messages, used by [`send`](Permits::send), or given out one by one: an iterator of
/// [permits](Permit). Its drop returns the room that is left.
#[doc = cost!(mpmc PERMIT_DROP)]
#[must_use = "they reserve room, which they return when they are dropped"]
pub struct Permits<'a, T> {
    held: HeldPlaces<'a, T>,
}

impl<'a, T> Permits<'a, T> {
    pub(super) fn new(held: HeldPlaces<'a, T>) -> Self {
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
    #[doc = cost!(mpmc PERMIT_SEND)]
    ///
    /// # Errors
    /// `Full` when all the room has been used, and when all receivers have disconnected, or the channel is closed.
    pub fn send(&mut self, message: T) -> Result<(), TrySendError<T>> {
        let mut place = Foreign::some(message);
        let outcome = match self.next() {
            Some(permit) => {
                mem::forget(permit);
                self.held.shared.push_held(&mut place).map_err(TrySendError::from)
            }
            None => Err(TrySendError::Full(())),
        };
        error::of_try_send(outcome, &mut place)
    }
}

impl<'a, T> Iterator for Permits<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Permit<'a, T>> {
        self.held.places = self.held.places.checked_sub(1)?;
        Some(Permit { shared: self.held.shared })
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
#[doc = cost!(mpmc PERMIT_DROP)]
#[must_use = "it reserves room, which it returns when it is dropped"]
pub struct OwnedPermit<T> {
    /// `None` only within `send` and `release`.
    sender: Option<Sender<T>>,
}

impl<T> OwnedPermit<T> {
    /// Of a sender that has reserved room.
    pub(super) fn new(sender: Sender<T>) -> Self {
        Self { sender: Some(sender) }
    }

    // USER CODE: wakers, where an error drops the last sender; the room is released with the channel's last sender, the
    //     message is a local; re-entrance: any operation; panic: the message is dropped with the call; by construction:
    //     the sender is dropped before the result is made
    /// Sends a message, as [`Permit::send`] does, and returns the sender.
    #[doc = cost!(mpmc PERMIT_SEND)]
    ///
    /// # Errors
    /// When all receivers have disconnected, or the channel is closed. The sender is dropped.
    pub fn send(mut self, message: T) -> Result<Sender<T>, SendError<T>> {
        let Some(sender) = self.sender.take() else { unreachable!("a permit is used once") };
        let mut place = Foreign::some(message);
        match sender.shared.push_held(&mut place) {
            Ok(()) => Ok(sender),
            Err(_) => {
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
        sender.shared.release(1);
        sender
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        if let Some(sender) = self.sender.take() {
            sender.shared.release(1);
        }
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnedPermit { .. }")
    }
}
