//! The error of sending, which contains the message.

use core::fmt;
use std::error::Error;

use crate::channel::TrySendError;

// FINAL: `SendError::Ended`: the receiving side is gone for good; no mailbox begins under an old id; test:
//     tests/suite/mailbox.rs: a_dead_mailbox_gives_the_value_back
/// A message was not sent. Contains the message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendError<T> {
    /// The mailbox has ended: it was dropped, for example when its thread ended.
    Ended(T),
    /// The mailbox is full, and its `Crowding` is `Error`; or its own thread would have waited for itself. A mailbox
    /// without a bound is full only for a new sending thread, when [`MAX_SENDERS`](crate::mpsc::MAX_SENDERS) less one
    /// threads send to it.
    Full(T),
}

impl<T> SendError<T> {
    /// Returns the message that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Ended(message) | Self::Full(message) => message,
        }
    }

    /// Returns whether the mailbox was full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// Returns whether the mailbox has ended.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        matches!(self, Self::Ended(_))
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

/// Without the message, which need not be `Debug`.
impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_full() { "Full(..)" } else { "Ended(..)" })
    }
}

impl<T> Error for SendError<T> {}
