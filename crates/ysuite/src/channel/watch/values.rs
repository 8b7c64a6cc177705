//! Receivers of values that can be cloned, as iterators, as streams, and for code that serves receivers of any kind.
//! Each message is a clone of the newest value, if that has not been seen.
//!
//! One thread at a time. The clone is made from a share of the value, with the lock free. The value counts as seen
//! after the clone. All wait for a sender that holds the lock, except for `try_next`.

use super::Receiver;
use crate::channel::error::TryRecvError;
use crate::channel::iter::{IntoIter, Iter, Receive};

impl<T: Clone> Receiver<T> {
    /// The newest value, whenever there is one that has not been seen; waits for each, and ends when all senders have
    /// disconnected.
    pub fn iter(&mut self) -> Iter<'_, Self> {
        Iter(self)
    }
}

impl<T: Clone> Receive for Receiver<T> {
    type Message = T;

    fn next_waiting(&mut self) -> Option<T> {
        self.wait_unseen().ok()?;
        Some(self.clone_unseen())
    }

    fn look(&mut self) -> Option<T> {
        self.has_message().then(|| self.clone_unseen())
    }

    fn has_message(&mut self) -> bool {
        self.has_unseen()
    }

    fn try_next(&mut self) -> Result<T, TryRecvError> {
        // A sender that holds the lock hides the value, as a sender that is writing a message does elsewhere.
        if self.has_changed()? { self.try_clone_unseen().ok_or(TryRecvError::Empty) } else { Err(TryRecvError::Empty) }
    }
}

impl<T: Clone> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<Self>;

    fn into_iter(self) -> IntoIter<Self> {
        IntoIter::new(self)
    }
}

impl<'a, T: Clone> IntoIterator for &'a mut Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, Receiver<T>>;

    fn into_iter(self) -> Iter<'a, Receiver<T>> {
        self.iter()
    }
}

#[cfg(feature = "stream")]
impl<T: Clone> futures_core::Stream for Receiver<T> {
    type Item = T;

    fn poll_next(
        self: core::pin::Pin<&mut Self>,
        context: &mut core::task::Context<'_>,
    ) -> core::task::Poll<Option<T>> {
        let receiver = self.get_mut();
        let outcome = core::task::ready!(receiver.poll_unseen(context));
        receiver.has_ended = outcome.is_err();
        core::task::Poll::Ready(outcome.ok().map(|()| receiver.clone_unseen()))
    }
}

/// Terminated after this stream has returned `None`, and not before. `futures::select!` skips a terminated stream, so a
/// task that waits there for the end must first get the `None`. An error of another method is not that `None`.
/// [`mark_changed`](Receiver::mark_changed) reverts it: there is an unseen value then.
#[cfg(feature = "stream")]
impl<T: Clone> futures_core::FusedStream for Receiver<T> {
    fn is_terminated(&self) -> bool {
        self.has_ended
    }
}
