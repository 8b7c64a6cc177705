//! The errors of a channel's handles. They follow `std::sync::mpsc` and crossbeam-channel wherever both have the same.
//! An error returns the message that was not delivered.

use core::fmt;
use std::error::Error;

use crate::foreign::Lent;
#[cfg(any(feature = "mpmc", feature = "broadcast"))]
use crate::queue::exchange::Rejected;

// FINAL: `SendError`, `TrySendError::Disconnected`, `SendTimeoutError::Disconnected`, `poll_ready` of a sender without
//     a receiver: `GONE` is never taken out of the word, nor `CUT`, and a cut that is decided stays; a sender that
//     connects later finds it; test: tests/suite/conformance/channel/endings.rs:
//     sending_after_the_receiver_is_gone_gives_the_message_back, tests/suite/mpsc/endings.rs:
//     a_sender_that_comes_after_the_end_has_bells_of_its_own
// FINAL: `SendError` of `mpmc`: the tail is closed for good; by construction: `CLOSED` is never taken away
// FINAL: `SendError` of `broadcast` is not, unless `is_closed`: a receiver may subscribe; test:
//     tests/suite/broadcast/endings.rs: sending_fails_without_receivers
// FINAL: `SendError` of `watch` is not: a sender that subscribes makes a receiver; test: tests/suite/watch.rs:
//     without_receivers_a_value_comes_back_or_waits_for_the_next
/// The receiver has disconnected. Holds the message that it does not get.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// A message could not be sent at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// The channel is full. Or (`mpmc`, `broadcast`) the next cell is still in use. Or (a rendezvous) no receiver
    /// waits.
    Full(T),
    /// The receiver has disconnected.
    Disconnected(T),
}

/// A message could not be sent before the deadline.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// The channel was full until the deadline, or until the `stop` of `send_async_until` was ready.
    Timeout(T),
    /// The receiver has disconnected.
    Disconnected(T),
}

// FINAL: `Disconnected` of an `mpsc` receiver: the last sender is counted out once, and connecting needs a sender;
//     test: tests/suite/conformance/channel/endings.rs: what_was_sent_is_received_after_the_sender_is_gone
// FINAL: `RecvError`, `TryRecvError::Disconnected`, `RecvTimeoutError::Disconnected`, the end of `iter`, `into_iter`
//     and of the stream: a queue is closed once; the count of an `mpsc` never rises from 0, since a sender is made from
//     a counted one, also by `upgrade`; a cut is decided once; both are checked before the last poll; test:
//     tests/suite/conformance/channel/endings.rs: what_was_sent_is_received_after_the_sender_is_gone,
//     tests/suite/asynchronous.rs: a_receiver_is_a_stream_that_ends_with_its_sender
// FINAL: `RecvError`, `TryRecvError::Disconnected` of `mpmc`: the ring is closed, so its tail is final, and the head
//     has reached it; a sender that is upgraded after that finds it closed. Not of a rendezvous, as long as a future
//     that has been handed a message may give it back; test: tests/loom/exchange.rs:
//     the_last_senders_end_is_seen_behind_what_another_has_sent, tests/loom/exchange_close.rs:
//     a_close_against_a_sender_in_the_middle_and_a_receiver_going_to_sleep
// FINAL: all `Disconnected` of a oneshot: each handle disconnects once, and its bits are never taken away; a receiver
//     that has returned the error, or its message, has nothing left to poll; test: tests/suite/oneshot.rs:
//     a_spent_receiver_says_so_for_ever
// FINAL: `RecvError`, `RecvTimeoutError::Disconnected` of `watch`: a sender is cloned from a sender only; the last
//     raises no version after its disconnect; test: tests/suite/watch.rs: the_last_value_is_seen_before_the_end_is
/// The channel is empty and the sender has disconnected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvError;

/// No message could be received at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// The channel is empty. Or (`mpmc`, `broadcast`) the next message is still being written. Or (a rendezvous) no
    /// sender waits.
    Empty,
    /// The channel is empty and the sender has disconnected.
    Disconnected,
}

/// No message arrived before the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// The channel was empty until the deadline.
    Timeout,
    /// The channel is empty and the sender has disconnected.
    Disconnected,
}

// FINAL: `ReserveError::TooMany`: the capacity does not change; test: tests/suite/mpmc/permits.rs:
//     more_places_than_there_are_is_an_error_and_none_is_none
/// No room was reserved, for one message or several, though the caller would have waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReserveError {
    /// The channel can never have that much room; a [rendezvous](crate#rendezvous) has none at all.
    TooMany,
    /// The receiver has disconnected.
    Disconnected,
}

/// No room was reserved now, for one message or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryReserveError {
    /// There is less free room.
    Full,
    /// The channel can never have that much room; a [rendezvous](crate#rendezvous) has none at all.
    TooMany,
    /// The receiver has disconnected.
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

    /// Whether the channel was full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// Whether the receiver has disconnected.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        matches!(self, Self::Disconnected(_))
    }
}

impl<T> SendTimeoutError<T> {
    /// The message that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(message) | Self::Disconnected(message) => message,
        }
    }

    /// Whether the deadline has passed.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout(_))
    }

    /// Whether the receiver has disconnected.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        matches!(self, Self::Disconnected(_))
    }
}

impl ReserveError {
    /// Whether the caller asked for more room than the channel can ever have.
    #[must_use]
    pub fn is_too_many(&self) -> bool {
        matches!(self, Self::TooMany)
    }

    /// Whether the receiver has disconnected.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        matches!(self, Self::Disconnected)
    }
}

impl TryReserveError {
    /// Whether there was too little free room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full)
    }

    /// Whether the caller asked for more room than the channel can ever have.
    #[must_use]
    pub fn is_too_many(&self) -> bool {
        matches!(self, Self::TooMany)
    }

    /// Whether the receiver has disconnected.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        matches!(self, Self::Disconnected)
    }
}

impl TryRecvError {
    /// Whether the channel was empty, with its sender still connected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    /// Whether the sender has disconnected.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        matches!(self, Self::Disconnected)
    }
}

impl RecvTimeoutError {
    /// Whether the deadline has passed.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout)
    }

    /// Whether the sender has disconnected.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        matches!(self, Self::Disconnected)
    }
}

/// The result of a send whose message is in `place` where it was not sent.
#[inline]
pub(crate) fn of_send<T>(outcome: Result<(), SendError<()>>, place: &mut Option<T>) -> Result<(), SendError<T>> {
    match outcome {
        Ok(()) => Ok(()),
        Err(_) => unsent(place, SendError),
    }
}

/// As [`of_send`].
#[inline]
pub(crate) fn of_try_send<T>(
    outcome: Result<(), TrySendError<()>>,
    place: &mut Option<T>,
) -> Result<(), TrySendError<T>> {
    match outcome {
        Ok(()) => Ok(()),
        Err(TrySendError::Full(())) => unsent(place, TrySendError::Full),
        Err(TrySendError::Disconnected(())) => unsent(place, TrySendError::Disconnected),
    }
}

/// As [`of_send`].
#[inline]
pub(crate) fn of_send_timeout<T>(
    outcome: Result<(), SendTimeoutError<()>>,
    place: &mut Option<T>,
) -> Result<(), SendTimeoutError<T>> {
    match outcome {
        Ok(()) => Ok(()),
        Err(SendTimeoutError::Timeout(())) => unsent(place, SendTimeoutError::Timeout),
        Err(SendTimeoutError::Disconnected(())) => unsent(place, SendTimeoutError::Disconnected),
    }
}

/// The outcome of a send that had a deadline, or another limit (`None`: it was reached).
pub(crate) fn of_limited(outcome: Option<Result<(), SendError<()>>>) -> Result<(), SendTimeoutError<()>> {
    match outcome {
        Some(Ok(())) => Ok(()),
        Some(Err(_)) => Err(SendTimeoutError::Disconnected(())),
        None => Err(SendTimeoutError::Timeout(())),
    }
}

/// As [`of_limited`], of a receive.
#[cfg(feature = "mpmc")]
pub(crate) fn of_limited_receive(outcome: Option<Result<(), RecvError>>) -> Result<(), RecvTimeoutError> {
    outcome.map_or(Err(RecvTimeoutError::Timeout), |outcome| Ok(outcome?))
}

/// The result of a receive whose message is in `place` where one was received.
#[inline]
pub(crate) fn received<T, E>(outcome: Result<(), E>, place: &mut Option<T>) -> Result<T, E> {
    match outcome {
        Ok(()) => Ok(place.take_out()),
        Err(error) => Err(error),
    }
}

/// A function of its own: in an unoptimised program each place where an error is made has copies of the message.
#[inline]
fn unsent<T, E>(place: &mut Option<T>, error: impl FnOnce(T) -> E) -> Result<(), E> {
    Err(error(place.take_out()))
}

const NO_RECEIVER: &str = "sending into a channel whose receiver has disconnected";
const NO_SENDER: &str = "receiving from an empty channel whose sender has disconnected";

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NO_RECEIVER)
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_full() { "sending into a full channel" } else { NO_RECEIVER })
    }
}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_timeout() { "timed out sending into a full channel" } else { NO_RECEIVER })
    }
}

impl fmt::Display for ReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&TryReserveError::from(*self), f)
    }
}

impl fmt::Display for TryReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "reserving more room than is free",
            Self::TooMany => "reserving more room than the channel has",
            Self::Disconnected => NO_RECEIVER,
        })
    }
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NO_SENDER)
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "receiving from an empty channel" } else { NO_SENDER })
    }
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_timeout() { "timed out receiving from an empty channel" } else { NO_SENDER })
    }
}

impl<T> Error for SendError<T> {}
impl<T> Error for TrySendError<T> {}
impl<T> Error for SendTimeoutError<T> {}
impl Error for ReserveError {}
impl Error for TryReserveError {}
impl Error for RecvError {}
impl Error for TryRecvError {}
impl Error for RecvTimeoutError {}

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

#[cfg(any(feature = "mpmc", feature = "broadcast"))]
impl From<Rejected<()>> for TrySendError<()> {
    fn from(rejected: Rejected<()>) -> Self {
        match rejected {
            Rejected::Full(()) => Self::Full(()),
            Rejected::Closed(()) => Self::Disconnected(()),
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
