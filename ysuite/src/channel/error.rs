//! The errors of a channel's ends. They follow `std::sync::mpsc` and crossbeam-channel wherever both have the same: an error
//! gives back the message that was not delivered.

use core::fmt;
use std::error::Error;

/// The receiver is gone. Holds the message that it will not get.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// A message could not be sent at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// The channel is full, or (`mpmc`, `broadcast`) the next cell is still in use, or (a rendezvous) no receiver
    /// waits.
    Full(T),
    /// The receiver is gone.
    Disconnected(T),
}

/// A message could not be sent in time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// The channel was full all the time.
    Timeout(T),
    /// The receiver is gone.
    Disconnected(T),
}

/// The channel is empty and the sender is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvError;

/// No message could be received at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// The channel is empty, or (`mpmc`, `broadcast`) the next message is still being put in, or (a rendezvous) no
    /// sender waits.
    Empty,
    /// The channel is empty and the sender is gone.
    Disconnected,
}

/// No message came in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// The channel was empty all the time.
    Timeout,
    /// The channel is empty and the sender is gone.
    Disconnected,
}

/// No place was reserved, for one message or several, though the caller would have waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReserveError {
    /// There can never be so many places at a time: not even one in a [rendezvous](crate::channel#rendezvous).
    TooMany,
    /// The receiver is gone.
    Disconnected,
}

/// No place was reserved, for one message or several, now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryReserveError {
    /// There are not so many places free.
    Full,
    /// There can never be so many places at a time: not even one in a [rendezvous](crate::channel#rendezvous).
    TooMany,
    /// The receiver is gone.
    Disconnected,
}

impl<T> SendError<T> {
    /// The message that was not sent.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> TrySendError<T> {
    /// The message that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(message) | Self::Disconnected(message) => message,
        }
    }
}

impl<T> SendTimeoutError<T> {
    /// The message that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(message) | Self::Disconnected(message) => message,
        }
    }
}

const NO_RECEIVER: &str = "sending into a channel whose receiver is gone";
const NO_SENDER: &str = "receiving from an empty channel whose sender is gone";

/// Makes a type an error: the text of each reason, and for each of several reasons a method that tells whether it was that.
macro_rules! impl_error {
    ($error:ident $(<$message:ident>)?: $($(#[$doc:meta] $is:ident:)? $reason:pat => $text:expr),+ $(,)?) => {
        impl $(<$message>)? $error $(<$message>)? {
            $($(
                #[$doc]
                #[must_use]
                pub fn $is(&self) -> bool {
                    matches!(self, $reason)
                }
            )?)+
        }

        impl $(<$message>)? fmt::Display for $error $(<$message>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $($reason => $text,)+
                })
            }
        }

        impl $(<$message>)? Error for $error $(<$message>)? {}
    };
}

impl_error!(SendError<T>: _ => NO_RECEIVER);
impl_error!(TrySendError<T>:
    /// Whether the channel was full.
    is_full: Self::Full(_) => "sending into a full channel",
    /// Whether the receiver is gone.
    is_disconnected: Self::Disconnected(_) => NO_RECEIVER,
);
impl_error!(SendTimeoutError<T>:
    /// Whether the time was up.
    is_timeout: Self::Timeout(_) => "timed out sending into a full channel",
    /// Whether the receiver is gone.
    is_disconnected: Self::Disconnected(_) => NO_RECEIVER,
);
impl_error!(ReserveError:
    /// Whether more places were asked for than there can be at a time.
    is_too_many: Self::TooMany => "reserving more places than the channel has",
    /// Whether the receiver is gone.
    is_disconnected: Self::Disconnected => NO_RECEIVER,
);
impl_error!(TryReserveError:
    /// Whether there were too few places free.
    is_full: Self::Full => "reserving more places than are free",
    /// Whether more places were asked for than there can be at a time.
    is_too_many: Self::TooMany => "reserving more places than the channel has",
    /// Whether the receiver is gone.
    is_disconnected: Self::Disconnected => NO_RECEIVER,
);
impl_error!(RecvError: _ => NO_SENDER);
impl_error!(TryRecvError:
    /// Whether the channel was empty, with its sender alive.
    is_empty: Self::Empty => "receiving from an empty channel",
    /// Whether the sender is gone.
    is_disconnected: Self::Disconnected => NO_SENDER,
);
impl_error!(RecvTimeoutError:
    /// Whether the time was up.
    is_timeout: Self::Timeout => "timed out receiving from an empty channel",
    /// Whether the sender is gone.
    is_disconnected: Self::Disconnected => NO_SENDER,
);

/// Without the message, so that `T` need not implement `Debug`.
impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendError(..)")
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_full() { "Full(..)" } else { "Disconnected(..)" })
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_timeout() { "Timeout(..)" } else { "Disconnected(..)" })
    }
}

impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(error: SendError<T>) -> Self {
        Self::Disconnected(error.0)
    }
}

impl<T> From<SendError<T>> for SendTimeoutError<T> {
    fn from(error: SendError<T>) -> Self {
        Self::Disconnected(error.0)
    }
}

impl From<ReserveError> for TryReserveError {
    fn from(error: ReserveError) -> Self {
        match error {
            ReserveError::TooMany => Self::TooMany,
            ReserveError::Disconnected => Self::Disconnected,
        }
    }
}

impl From<RecvError> for TryRecvError {
    fn from(_: RecvError) -> Self {
        Self::Disconnected
    }
}

impl From<RecvError> for RecvTimeoutError {
    fn from(_: RecvError) -> Self {
        Self::Disconnected
    }
}
