//! The ways a run can fail. The request was wrong (exit 2). A measured transport failed validation or has become slower
//! (exit 1). Whether any has become slower is undecided (exit 3). The user has interrupted the run (exit 130).

use std::fmt;
use std::io;
use std::time::Duration;

use crate::figures::time;
use crate::interrupt;

/// Why `ybench` stops. Displays as one sentence.
#[derive(Debug)]
pub enum Error {
    /// The request cannot be carried out. Detected before any measurement.
    Refused(String),
    /// A competitor lost, repeated, reordered or invented a message, or could not run.
    Broken { contender: String, fault: Fault },
    /// Third-party competitors did. They are in no table, and the result has the reasons.
    BrokeTheirWord(String),
    /// A result could not be written after the measurement.
    Unwritten { path: String, cause: io::Error },
    /// A part of the output could not be printed. That part has been reported already.
    Unsaid,
    /// A transport is slower than the user allows.
    Regressed(String),
    /// Nothing is found slower, but not everything could be compared.
    Undecided(String),
    /// The user has interrupted the run. This number of sessions have complete rounds, and are kept as in any other
    /// run.
    Interrupted { sessions: usize },
}

impl Error {
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Refused(_) => 2,
            Self::Broken { .. }
            | Self::BrokeTheirWord(_)
            | Self::Unwritten { .. }
            | Self::Unsaid
            | Self::Regressed(_) => 1,
            Self::Undecided(_) => 3,
            Self::Interrupted { .. } => interrupt::STATUS,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(sentence)
            | Self::Regressed(sentence)
            | Self::Undecided(sentence)
            | Self::BrokeTheirWord(sentence) => {
                write!(out, "{sentence}")
            }
            Self::Broken { contender, fault } => write!(out, "{contender} {fault}."),
            Self::Unwritten { path, cause } => write!(out, "The result cannot be written to {path}: {cause}."),
            Self::Unsaid => write!(out, "Not everything could be printed."),
            Self::Interrupted { sessions: 0 } => {
                write!(out, "Interrupted before anything was complete: nothing is kept.")
            }
            Self::Interrupted { .. } => write!(out, "Interrupted: the result holds the rounds that were complete."),
        }
    }
}

/// A competitor's failure, found by the receiver's check of every message.
#[derive(Debug)]
pub enum Fault {
    /// A message other than the next one of the sequence.
    OutOfOrder { expected: usize, received: usize },
    /// The stream ended early.
    Lost { expected: usize },
    /// A message after the last one.
    TooMany { received: usize },
    /// The other side disconnected in the middle.
    Disconnected { expected: usize },
    /// It was not over after this time. The cause is unknown: a lost message, a lost wake-up, an endless loop and a
    /// machine that stood still look the same.
    Stuck { within: Duration },
    /// One of the two processes ended before it had reported.
    Died { process: &'static str, how: String },
    /// A system call failed.
    System(io::Error),
    /// A third-party competitor did any of that, or panicked. It is taken out, and the others go on.
    OfGuest(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfOrder { expected, received } => {
                write!(out, "delivered message {received} where message {expected} was due")
            }
            Self::Lost { expected } => write!(out, "ended its stream before message {expected} had arrived"),
            Self::TooMany { received } => write!(out, "delivered message {received} after the last message"),
            Self::Disconnected { expected } => write!(out, "disconnected before message {expected} had arrived"),
            Self::Stuck { within } => write!(out, "did not end within {}", time(within.as_nanos() as f64)),
            Self::Died { process, how } => write!(out, "lost {process}, which {how}"),
            Self::System(cause) => write!(out, "could not run: {cause}"),
            Self::OfGuest(sentence) => write!(out, "{sentence}"),
        }
    }
}

impl From<io::Error> for Fault {
    fn from(cause: io::Error) -> Self {
        Self::System(cause)
    }
}

impl From<rustix::io::Errno> for Fault {
    fn from(cause: rustix::io::Errno) -> Self {
        Self::System(cause.into())
    }
}
