//! The error of receiving.

use core::fmt;
use std::error::Error;

use super::relations::{LinkTerminated, OwnerTerminated};

// FINAL: `ReceiveError::Disconnected`: every possible sender is counted, and only the mailbox itself can count a new
//     one (`address`, `link`, `spawn`); test: tests/suite/mailbox/relations.rs: nothing_comes_behind_disconnected
/// A receive has found no matching message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiveError {
    /// A mailbox that this one is [linked](super::Mailbox::link) to has ended, and the receive had no handler for the
    /// notice.
    LinkTerminated(LinkTerminated),
    /// The owner of this mailbox has ended, and the receive had no handler for the notice.
    OwnerTerminated(OwnerTerminated),
    /// There is no such message, and none can come: the mailbox has no address left, and owns no mailbox. This changes
    /// only if the mailbox gives its address away again, links or spawns.
    Disconnected,
    /// The time is up.
    Timeout,
    /// [`receive_only`](super::Mailbox::receive_only) found a message of another type, which stays the next.
    Mismatch {
        /// The name of the type in the call.
        expected: &'static str,
        /// The name of the message's type.
        found: &'static str,
    },
}

impl fmt::Display for ReceiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LinkTerminated(end) => end.fmt(f),
            Self::OwnerTerminated(end) => end.fmt(f),
            Self::Disconnected => f.write_str("receiving from a mailbox without an address"),
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
