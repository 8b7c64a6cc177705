//! What can go wrong between an address and its mailbox. A message that could not be sent comes back in the error.

use core::fmt;
use std::error::Error;

use super::{LinkTerminated, OwnerTerminated};
use crate::channel::TrySendError;

/// A message was not sent; here it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendError<T> {
    /// The mailbox has ended: its thread has, or whoever owned it has dropped it.
    Ended(T),
    /// The mailbox is full, and was made to say so; or its thread would have had to wait for itself. A mailbox without a
    /// bound is full only when as many threads as [`MAX_SENDERS`](crate::mpsc::MAX_SENDERS) send to it, less one.
    Full(T),
}

impl<T> SendError<T> {
    /// The message that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Ended(message) | Self::Full(message) => message,
        }
    }

    /// Whether the mailbox was full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// Whether the mailbox has ended.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        matches!(self, Self::Ended(_))
    }

    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> SendError<U> {
        match self {
            Self::Ended(message) => SendError::Ended(change(message)),
            Self::Full(message) => SendError::Full(change(message)),
        }
    }
}

impl<T> From<TrySendError<T>> for SendError<T> {
    fn from(error: TrySendError<T>) -> Self {
        match error {
            TrySendError::Full(message) => Self::Full(message),
            TrySendError::Disconnected(message) => Self::Ended(message),
        }
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_full() { "sending to a full mailbox" } else { "sending to a mailbox that has ended" })
    }
}

/// Messages need not be printable for their errors to be.
impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_full() { "Full(..)" } else { "Ended(..)" })
    }
}

impl<T> Error for SendError<T> {}

/// Nothing was received that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiveError {
    /// A mailbox that this one is [linked](super::Mailbox::link) to has ended, and the receive had no handler for that.
    LinkTerminated(LinkTerminated),
    /// The owner of this mailbox has ended, and the receive had no handler for that.
    OwnerTerminated(OwnerTerminated),
    /// There is nothing that was asked for, and nobody who could send anything: the mailbox has no address left, and
    /// nobody whom it owns. Nothing will come, unless the mailbox itself gives its address away again, links or spawns.
    Disconnected,
    /// The time is up.
    Timeout,
    /// [`receive_only`](super::Mailbox::receive_only) has found a message of another type, and left it where it is.
    Mismatch {
        /// The name of the type that was asked for.
        expected: &'static str,
        /// The name of the type that is there.
        found: &'static str,
    },
}

impl fmt::Display for ReceiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LinkTerminated(end) => end.fmt(f),
            Self::OwnerTerminated(end) => end.fmt(f),
            Self::Disconnected => f.write_str("receiving from a mailbox that nobody has the address of"),
            Self::Timeout => f.write_str("timed out receiving from a mailbox"),
            Self::Mismatch { expected, found } => write!(f, "a message of type {expected} was expected, not {found}"),
        }
    }
}

impl Error for ReceiveError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::LinkTerminated(end) => Some(end),
            Self::OwnerTerminated(end) => Some(end),
            _ => None,
        }
    }
}
