//! Errors, with the texts and traits of flume's.

use core::error::Error;
use core::fmt;

const CLOSED: &str = "sending on a closed channel";
const OVER: &str = "channel is empty and closed";

/// All receivers have disconnected. Holds the message.
#[derive(Copy, Clone, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// The message was not sent at once. Holds it.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// There is no room.
    Full(T),
    /// All receivers have disconnected.
    Disconnected(T),
}

/// The message was not sent in time. Holds it.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// The time is up.
    Timeout(T),
    /// All receivers have disconnected.
    Disconnected(T),
}

/// There will be no message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RecvError {
    /// The channel is empty, and all senders have disconnected.
    Disconnected,
}

/// No message was there.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// The channel is empty.
    Empty,
    /// The channel is empty, and all senders have disconnected.
    Disconnected,
}

/// No message came in time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// The time is up.
    Timeout,
    /// The channel is empty, and all senders have disconnected.
    Disconnected,
}

macro_rules! impl_text {
    ($error:ident $(<$T:ident>)?, |$this:ident| $text:expr $(, $debug:expr)?) => {
        impl $(<$T>)? fmt::Display for $error $(<$T>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $this = self;
                f.pad($text)
            }
        }

        $(impl<T> fmt::Debug for $error<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $this = self;
                f.pad($debug)
            }
        })?

        impl $(<$T>)? Error for $error $(<$T>)? {}
    };
}

impl_text!(SendError<T>, |_error| CLOSED, "SendError(..)");
impl_text!(
    TrySendError<T>,
    |error| if matches!(error, Self::Full(_)) { "sending on a full channel" } else { CLOSED },
    if matches!(error, Self::Full(_)) { "Full(..)" } else { "Disconnected(..)" }
);
impl_text!(
    SendTimeoutError<T>,
    |_error| if matches!(_error, Self::Timeout(_)) { "timed out sending on a full channel" } else { CLOSED },
    "SendTimeoutError(..)"
);
impl_text!(RecvError, |_error| "receiving on a closed channel");
impl_text!(TryRecvError, |error| if *error == Self::Empty { "receiving on an empty channel" } else { OVER });
impl_text!(RecvTimeoutError, |error| if *error == Self::Timeout { "timed out waiting on a channel" } else { OVER });

impl<T> SendError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> TrySendError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(message) | Self::Disconnected(message) => message,
        }
    }
}

impl<T> SendTimeoutError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(message) | Self::Disconnected(message) => message,
        }
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

impl<T> From<ysuite::SendError<T>> for SendError<T> {
    fn from(error: ysuite::SendError<T>) -> Self {
        Self(error.0)
    }
}

impl<T> From<ysuite::TrySendError<T>> for TrySendError<T> {
    fn from(error: ysuite::TrySendError<T>) -> Self {
        match error {
            ysuite::TrySendError::Full(message) => Self::Full(message),
            ysuite::TrySendError::Disconnected(message) => Self::Disconnected(message),
        }
    }
}

impl<T> From<ysuite::SendTimeoutError<T>> for SendTimeoutError<T> {
    fn from(error: ysuite::SendTimeoutError<T>) -> Self {
        match error {
            ysuite::SendTimeoutError::Timeout(message) => Self::Timeout(message),
            ysuite::SendTimeoutError::Disconnected(message) => Self::Disconnected(message),
        }
    }
}

impl From<ysuite::RecvError> for RecvError {
    fn from(_: ysuite::RecvError) -> Self {
        Self::Disconnected
    }
}

impl From<ysuite::TryRecvError> for TryRecvError {
    fn from(error: ysuite::TryRecvError) -> Self {
        if error == ysuite::TryRecvError::Empty { Self::Empty } else { Self::Disconnected }
    }
}

impl From<ysuite::RecvTimeoutError> for RecvTimeoutError {
    fn from(error: ysuite::RecvTimeoutError) -> Self {
        if error == ysuite::RecvTimeoutError::Timeout { Self::Timeout } else { Self::Disconnected }
    }
}
