//! Errors, with the texts and traits of async-channel's.

use core::error::Error;
use core::fmt;

const CLOSED: &str = "sending into a closed channel";
const OVER: &str = "receiving from an empty and closed channel";

/// The channel is closed. Holds the message.
#[derive(PartialEq, Eq, Clone, Copy)]
pub struct SendError<T>(pub T);

/// The message was not sent at once. Holds it.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum TrySendError<T> {
    /// There is no room.
    Full(T),
    /// The channel is closed.
    Closed(T),
}

/// The channel is empty and closed.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct RecvError;

/// No message was there.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum TryRecvError {
    /// The channel is empty.
    Empty,
    /// The channel is empty and closed.
    Closed,
}

macro_rules! impl_text {
    ($error:ident $(<$T:ident>)?, |$this:ident| $text:expr $(, $debug:expr)?) => {
        impl $(<$T>)? fmt::Display for $error $(<$T>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $this = self;
                f.write_str($text)
            }
        }

        $(impl<T> fmt::Debug for $error<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $this = self;
                f.write_str($debug)
            }
        })?

        impl $(<$T>)? Error for $error $(<$T>)? {}
    };
}

impl_text!(SendError<T>, |_error| CLOSED, "SendError(..)");
impl_text!(
    TrySendError<T>,
    |error| if error.is_full() { "sending into a full channel" } else { CLOSED },
    if error.is_full() { "Full(..)" } else { "Closed(..)" }
);
impl_text!(RecvError, |_error| OVER);
impl_text!(TryRecvError, |error| if error.is_empty() { "receiving from an empty channel" } else { OVER });

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
            Self::Full(message) | Self::Closed(message) => message,
        }
    }

    /// Whether there is no room.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// Whether the channel is closed.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }
}

impl TryRecvError {
    /// Whether the channel is empty, and may get a message.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    /// Whether the channel is closed.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed)
    }
}

impl<T> From<ysuite::TrySendError<T>> for TrySendError<T> {
    fn from(error: ysuite::TrySendError<T>) -> Self {
        match error {
            ysuite::TrySendError::Full(message) => Self::Full(message),
            ysuite::TrySendError::Disconnected(message) => Self::Closed(message),
        }
    }
}

impl From<ysuite::TryRecvError> for TryRecvError {
    fn from(error: ysuite::TryRecvError) -> Self {
        if error == ysuite::TryRecvError::Empty { Self::Empty } else { Self::Closed }
    }
}
