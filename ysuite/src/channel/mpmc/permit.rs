//! Permits: places that are held for messages to come. Made by [`Sender::reserve`] and its like.
//!
//! A permit may be used or dropped on any thread. Using one is lock-free and waits for no receiver: see
//! [`send`](Permit::send).

use core::fmt;
use core::iter::FusedIterator;
use core::mem;

use super::holding::HeldPlaces;
use super::shared::MpmcShared;
use super::{SendError, Sender, TrySendError};
use crate::foreign::Panics;

/// Room for one message. Given back when dropped: the next sender that waits for room is woken.
///
/// A permit that is *forgotten* (`mem::forget`) takes its place with it.
#[must_use = "it holds a place, which it gives back when it is dropped"]
pub struct Permit<'a, T> {
    shared: &'a MpmcShared<T>,
}

impl<T> Permit<'_, T> {
    /// Sends a message. It comes behind all that have been sent until now; the permit says that there is room, not
    /// where.
    ///
    /// Lock-free, and waits for no receiver; one system call at most, to wake one. Only where a
    /// [`force_send`](Sender::force_send) has been preempted in the very cell does this yield, until that goes on: it
    /// yields, and then sleeps, as a `force_send` does. How long that takes has no bound; in a channel that nobody
    /// forces it never happens.
    ///
    /// # Errors
    /// When all receivers have disconnected, or the channel is closed. A permit keeps neither from it.
    pub fn send(self, message: T) -> Result<(), SendError<T>> {
        let shared = self.shared;
        // The place goes with the message; that of a closed channel is nobody's.
        mem::forget(self);
        shared.push_held(message).map_err(SendError)
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

/// Room for several messages, used by [`send`](Permits::send), or given out piece by piece: an iterator of
/// [permits](Permit). What is left is given back when this is dropped.
#[must_use = "they hold places, which they give back when they are dropped"]
pub struct Permits<'a, T> {
    held: HeldPlaces<'a, T>,
}

impl<'a, T> Permits<'a, T> {
    pub(super) fn new(held: HeldPlaces<'a, T>) -> Self {
        Self { held }
    }

    /// For how many messages there is room left.
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
    ///
    /// # Errors
    /// `Full` when all the room has been used, and when all receivers have disconnected, or the channel is closed.
    pub fn send(&mut self, message: T) -> Result<(), TrySendError<T>> {
        match self.next() {
            Some(permit) => permit.send(message).map_err(TrySendError::from),
            None => Err(TrySendError::Full(message)),
        }
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

/// A [`Permit`] that has its sender with it, so that it can be kept anywhere. That sender counts: receivers do not
/// learn that nothing more will come while there is an owned permit.
#[must_use = "it holds a place, which it gives back when it is dropped"]
pub struct OwnedPermit<T> {
    /// `None` only within `send` and `release`.
    sender: Option<Sender<T>>,
}

impl<T> OwnedPermit<T> {
    /// Of a sender for which a place is held.
    pub(super) fn new(sender: Sender<T>) -> Self {
        Self { sender: Some(sender) }
    }

    // USER CODE: wakers, where an error drops the last sender; the room is released with the channel's last sender, the
    //     message is a local; re-entrance: any operation; panic: the message is dropped with the call; by construction:
    //     the sender is dropped before the answer is made
    /// Sends a message, as [`Permit::send`] does, and returns the sender.
    ///
    /// # Errors
    /// When all receivers have disconnected, or the channel is closed. The sender is dropped.
    pub fn send(mut self, message: T) -> Result<Sender<T>, SendError<T>> {
        let Some(sender) = self.sender.take() else { unreachable!("a permit is used once") };
        match sender.shared.push_held(message) {
            Ok(()) => Ok(sender),
            Err(message) => {
                // The sender is user code at its end; so is the drop of a message that nobody gets, while unwinding.
                Panics::answer_behind(Err(SendError(message)), || drop(sender))
            }
        }
    }

    /// Gives the place back, and returns the sender.
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
