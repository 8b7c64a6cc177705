//! The errors of the receivers of a broadcast channel: as those of the other channels, with the number of missed
//! messages.

use core::fmt;
use std::error::Error;

use crate::channel::error;

// FINAL: `RecvError`, `TryRecvError::Disconnected`, `RecvTimeoutError::Disconnected` of `broadcast`: a closed tail
//     stays closed, and the receiver has reached it; a receiver that was evicted is nowhere; test:
//     tests/loom/broadcast.rs: closing_against_sending,
//     tests/loom/broadcast.rs: the_last_senders_end_is_seen_behind_what_another_has_sent,
//     tests/suite/broadcast/evicted.rs: what_is_sent_after_an_evicted_receiver_has_found_its_end_is_none_of_its_messages
/// No message was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvError {
    /// The channel is lossy, and the receiver was too slow: it has missed this many messages. The next receive returns
    /// the oldest message that is left then. If more have been missed meanwhile, it returns this error again.
    /// Iterators, streams and the hub skip missed messages, and return a message all the same. Or the receiver was
    /// [evicted](super::Sender::evict), and misses this many: then it gets nothing more.
    Lagged(u64),
    /// The receiver has got all messages, and all senders have disconnected or the channel was closed. Or it was
    /// evicted.
    Disconnected,
}

/// No message could be received at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// The receiver has got all messages, or the next is still being written.
    Empty,
    /// The channel is lossy, and the receiver was too slow: it has missed this many messages. The next receive returns
    /// the oldest message that is left then. If more have been missed meanwhile, it returns this error again.
    /// Iterators, streams and the hub skip missed messages, and return a message all the same. Or the receiver was
    /// [evicted](super::Sender::evict), and misses this many: then it gets nothing more.
    Lagged(u64),
    /// The receiver has got all messages, and all senders have disconnected or the channel was closed. Or it was
    /// evicted.
    Disconnected,
}

/// No message came in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// There was no message until the deadline.
    Timeout,
    /// The channel is lossy, and the receiver was too slow: it has missed this many messages. The next receive returns
    /// the oldest message that is left then. If more have been missed meanwhile, it returns this error again.
    /// Iterators, streams and the hub skip missed messages, and return a message all the same. Or the receiver was
    /// [evicted](super::Sender::evict), and misses this many: then it gets nothing more.
    Lagged(u64),
    /// The receiver has got all messages, and all senders have disconnected or the channel was closed. Or it was
    /// evicted.
    Disconnected,
}

fn lagged(f: &mut fmt::Formatter<'_>, missed: u64) -> fmt::Result {
    write!(f, "receiving too slowly: {missed} messages were missed")
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lagged(missed) => lagged(f, *missed),
            Self::Disconnected => error::RecvError.fmt(f),
        }
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => error::TryRecvError::Empty.fmt(f),
            Self::Lagged(missed) => lagged(f, *missed),
            Self::Disconnected => error::RecvError.fmt(f),
        }
    }
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => error::RecvTimeoutError::Timeout.fmt(f),
            Self::Lagged(missed) => lagged(f, *missed),
            Self::Disconnected => error::RecvError.fmt(f),
        }
    }
}

impl Error for RecvError {}
impl Error for TryRecvError {}
impl Error for RecvTimeoutError {}

impl From<RecvError> for TryRecvError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Lagged(missed) => Self::Lagged(missed),
            RecvError::Disconnected => Self::Disconnected,
        }
    }
}

impl From<RecvError> for RecvTimeoutError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Lagged(missed) => Self::Lagged(missed),
            RecvError::Disconnected => Self::Disconnected,
        }
    }
}

/// For a wait without a time limit.
impl From<RecvTimeoutError> for RecvError {
    fn from(error: RecvTimeoutError) -> Self {
        match error {
            RecvTimeoutError::Lagged(missed) => Self::Lagged(missed),
            RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected => Self::Disconnected,
        }
    }
}
