//! Errors, with the texts and traits of crossbeam-channel's.

use core::error::Error;
use core::fmt;

const CLOSED: &str = "sending on a disconnected channel";
const OVER: &str = "receiving on an empty and disconnected channel";

/// All receivers have disconnected. Holds the message.
#[derive(PartialEq, Eq, Clone, Copy)]
pub struct SendError<T>(pub T);

/// The message was not sent at once. Holds it.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum TrySendError<T> {
    /// There is no room, or in a channel of capacity 0 no receiver that waits.
    Full(T),
    /// All receivers have disconnected.
    Disconnected(T),
}

/// The message was not sent in time. Holds it.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum SendTimeoutError<T> {
    /// The time is up.
    Timeout(T),
    /// All receivers have disconnected.
    Disconnected(T),
}

/// The channel is empty, and all senders have disconnected.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct RecvError;

/// No message was there.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum TryRecvError {
    /// The channel is empty.
    Empty,
    /// The channel is empty, and all senders have disconnected.
    Disconnected,
}

/// No message came in time.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum RecvTimeoutError {
    /// The time is up.
    Timeout,
    /// The channel is empty, and all senders have disconnected.
    Disconnected,
}

/// No operation is possible at once.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct TrySelectError;

/// No operation was possible in time.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct SelectTimeoutError;

/// No operation is possible at once.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct TryReadyError;

/// No operation was possible in time.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct ReadyTimeoutError;

/// The texts of an error, and whether it is of a kind.
macro_rules! impl_text {
    ($error:ident $(<$T:ident>)?, |$this:ident| $text:expr) => {
        impl $(<$T>)? fmt::Display for $error $(<$T>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $this = self;
                f.pad($text)
            }
        }

        impl $(<$T: Send>)? Error for $error $(<$T>)? {}
    };
}

macro_rules! impl_debug {
    ($error:ident, |$this:ident| $text:expr) => {
        impl<T> fmt::Debug for $error<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $this = self;
                f.pad($text)
            }
        }
    };
}

macro_rules! impl_kinds {
    ($error:ident $(<$T:ident>)?, $($name:ident: $kind:pat),+) => {
        impl $(<$T>)? $error $(<$T>)? {$(
            #[doc = concat!("Whether it is `", stringify!($kind), "`.")]
            pub fn $name(&self) -> bool {
                matches!(self, $kind)
            }
        )+}
    };
}

macro_rules! impl_from {
    ($from:ident $(<$T:ident>($message:ident))? => $to:ident) => {
        impl $(<$T>)? From<$from $(<$T>)?> for $to $(<$T>)? {
            fn from(_error: $from $(<$T>)?) -> Self {
                Self::Disconnected $(({
                    let $from($message) = _error;
                    $message
                }))?
            }
        }
    };
}

impl_text!(SendError<T>, |_error| CLOSED);
impl_text!(TrySendError<T>, |error| if error.is_full() { "sending on a full channel" } else { CLOSED });
impl_text!(SendTimeoutError<T>, |error| if error.is_timeout() {
    "timed out waiting on send operation"
} else {
    CLOSED
});
impl_text!(RecvError, |_error| OVER);
impl_text!(TryRecvError, |error| if error.is_empty() { "receiving on an empty channel" } else { OVER });
impl_text!(RecvTimeoutError, |error| if error.is_timeout() {
    "timed out waiting on receive operation"
} else {
    "channel is empty and disconnected"
});
impl_text!(TrySelectError, |_error| "all operations in select would block");
impl_text!(SelectTimeoutError, |_error| "timed out waiting on select");

impl_debug!(SendError, |_error| "SendError(..)");
impl_debug!(TrySendError, |error| if error.is_full() { "Full(..)" } else { "Disconnected(..)" });
impl_debug!(SendTimeoutError, |_error| "SendTimeoutError(..)");

impl_kinds!(TrySendError<T>, is_full: Self::Full(_), is_disconnected: Self::Disconnected(_));
impl_kinds!(SendTimeoutError<T>, is_timeout: Self::Timeout(_), is_disconnected: Self::Disconnected(_));
impl_kinds!(TryRecvError, is_empty: Self::Empty, is_disconnected: Self::Disconnected);
impl_kinds!(RecvTimeoutError, is_timeout: Self::Timeout, is_disconnected: Self::Disconnected);

impl_from!(SendError<T>(message) => TrySendError);
impl_from!(SendError<T>(message) => SendTimeoutError);
impl_from!(RecvError => TryRecvError);
impl_from!(RecvError => RecvTimeoutError);

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

/// From ysuite's, with what is done to the message.
pub(crate) fn of_try_send<U, T>(error: ysuite::TrySendError<U>, back: impl FnOnce(U) -> T) -> TrySendError<T> {
    match error {
        ysuite::TrySendError::Full(message) => TrySendError::Full(back(message)),
        ysuite::TrySendError::Disconnected(message) => TrySendError::Disconnected(back(message)),
    }
}

/// As [`of_try_send`].
pub(crate) fn of_send_timeout<U, T>(
    error: ysuite::SendTimeoutError<U>,
    back: impl FnOnce(U) -> T,
) -> SendTimeoutError<T> {
    match error {
        ysuite::SendTimeoutError::Timeout(message) => SendTimeoutError::Timeout(back(message)),
        ysuite::SendTimeoutError::Disconnected(message) => SendTimeoutError::Disconnected(back(message)),
    }
}

impl From<ysuite::RecvError> for RecvError {
    fn from(_: ysuite::RecvError) -> Self {
        Self
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
