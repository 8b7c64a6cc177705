//! A receiver of an exchange as an iterator: several may iterate over one channel at once, and share its messages.

use core::fmt;
use core::iter::FusedIterator;

use super::Receiver;

/// Waits for each message; ends when all senders are gone. Made by [`Receiver::iter`].
pub struct Iter<'a, T>(pub(super) &'a Receiver<T>);

/// Takes the messages that are there. Made by [`Receiver::try_iter`].
pub struct TryIter<'a, T>(pub(super) &'a Receiver<T>);

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> FusedIterator for Iter<'_, T> {}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

impl<T> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Iter { .. }")
    }
}

impl<T> fmt::Debug for TryIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TryIter { .. }")
    }
}
