//! A receiver as an iterator: waiting, not waiting, and owning. Written once for all channels. One thread at a time.
//!
//! The waiting iterators are fused, because a channel is disconnected for ever. Shared receivers are an exception: a
//! future that is dropped may return the message of a rendezvous after the disconnection. So there an iterator
//! remembers that it has ended. An iterator that does not wait may find messages later.

use core::fmt;
use core::iter::FusedIterator;

use super::error::TryRecvError;

/// What the iterators and the hub need of a receiver. Not for use elsewhere.
#[doc(hidden)]
pub trait Receive {
    /// The type of the messages.
    type Message;

    /// Waits for a message; `None` when there will be none.
    fn next_waiting(&mut self) -> Option<Self::Message>;

    /// A message if there is one. Only polls: an attached receiver keeps its id up.
    fn look(&mut self) -> Option<Self::Message>;

    /// Whether there is a message. Only polls: an attached receiver keeps its id up.
    fn has_message(&mut self) -> bool;

    /// The receiver's own `try_recv`.
    fn try_next(&mut self) -> Result<Self::Message, TryRecvError>;
}

/// Waits for each message; ends when the sender has disconnected. Made by a receiver's `iter`.
pub struct Iter<'a, R>(pub(super) &'a mut R);

/// Takes the messages that are there. Made by a receiver's `try_iter`.
pub struct TryIter<'a, R>(pub(super) &'a mut R);

/// Owns the receiver; waits for each message; ends when the sender has disconnected.
pub struct IntoIter<R> {
    receiver: R,
    is_over: bool,
}

impl<R> IntoIter<R> {
    pub(super) fn new(receiver: R) -> Self {
        Self { receiver, is_over: false }
    }
}

/// The next message, unless this iterator has ended.
#[inline]
pub(super) fn until_over<T>(is_over: &mut bool, next: impl FnOnce() -> Option<T>) -> Option<T> {
    let message = if *is_over { None } else { next() };
    *is_over = message.is_none();
    message
}

impl<R: Receive> Iterator for Iter<'_, R> {
    type Item = R::Message;

    #[inline]
    fn next(&mut self) -> Option<R::Message> {
        self.0.next_waiting()
    }
}

impl<R: Receive> Iterator for TryIter<'_, R> {
    type Item = R::Message;

    #[inline]
    fn next(&mut self) -> Option<R::Message> {
        self.0.try_next().ok()
    }
}

impl<R: Receive> Iterator for IntoIter<R> {
    type Item = R::Message;

    #[inline]
    fn next(&mut self) -> Option<R::Message> {
        until_over(&mut self.is_over, || self.receiver.next_waiting())
    }
}

impl<R> fmt::Debug for Iter<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Iter { .. }")
    }
}

impl<R> fmt::Debug for TryIter<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TryIter { .. }")
    }
}

impl<R> fmt::Debug for IntoIter<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IntoIter { .. }")
    }
}

impl<R: Receive> FusedIterator for Iter<'_, R> {}
impl<R: Receive> FusedIterator for IntoIter<R> {}
