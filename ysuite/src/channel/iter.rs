//! A receiver as an iterator: waiting, not waiting, and owning. Written once for all channels. One thread at a time.

use core::fmt;

use super::error::TryRecvError;

/// What the iterators and the hub need of a receiver. Not for use elsewhere.
#[doc(hidden)]
pub trait Receive {
    /// What is received.
    type Message;

    /// Waits for a message; `None` when none will come.
    fn next_waiting(&mut self) -> Option<Self::Message>;

    /// A message if there is one.
    fn next_at_once(&mut self) -> Option<Self::Message>;

    /// A message if there is one. Only looks: an attached receiver keeps its id up.
    fn look(&mut self) -> Option<Self::Message>;

    /// Whether there is a message. Only looks: an attached receiver keeps its id up.
    fn has_message(&mut self) -> bool;

    /// The receiver's own `try_recv`.
    fn try_next(&mut self) -> Result<Self::Message, TryRecvError>;
}

/// Waits for each message; ends when the sender is gone. Made by a receiver's `iter`.
pub struct Iter<'a, R>(&'a mut R);

/// Takes the messages that are there. Made by a receiver's `try_iter`.
pub struct TryIter<'a, R>(&'a mut R);

/// Owns the receiver; waits for each message; ends when the sender is gone.
pub struct IntoIter<R>(R);

impl<'a, R> Iter<'a, R> {
    pub(super) fn new(receiver: &'a mut R) -> Self {
        Self(receiver)
    }
}

impl<'a, R> TryIter<'a, R> {
    pub(super) fn new(receiver: &'a mut R) -> Self {
        Self(receiver)
    }
}

impl<R> IntoIter<R> {
    pub(super) fn new(receiver: R) -> Self {
        Self(receiver)
    }
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
        self.0.next_at_once()
    }
}

impl<R: Receive> Iterator for IntoIter<R> {
    type Item = R::Message;

    #[inline]
    fn next(&mut self) -> Option<R::Message> {
        self.0.next_waiting()
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
