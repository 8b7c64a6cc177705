//! Why a channel between processes has ended, or did not come about. The names follow those of `ysuite`. An error of a
//! send returns the message.

use core::fmt;

/// Why an end of a channel can do no more. An end that has failed fails in the same way for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The other end was dropped. A receiver has received all that was sent before.
    Closed,
    /// The other end's process died, executed another program, or lost its end without a word. A receiver has received
    /// all that was sent before.
    Died,
    /// The other end has written into its memory what no end of this crate writes. Nothing of it is believed any more.
    Broken,
    /// There is no connection, for this reason.
    Refused(Why),
}

/// Why there is no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// A system call has failed with this error number: no descriptors, no memory, no such name.
    System(i32),
    /// The kernel lacks `F_SEAL_FUTURE_WRITE`, which is in Linux 5.1 and later.
    Kernel,
    /// What the peer has sent as its memory is not a memfd of ordinary pages.
    NotMemory,
    /// The peer's memory lacks a seal, so it could shrink, or be written by others.
    Seals,
    /// The peer's memory has another size than its header says, or than this end accepts.
    Size,
    /// The peer's memory has pages that are not there yet.
    Holes,
    /// The peer speaks another protocol.
    Magic,
    /// The peer speaks this version of the protocol, which this end does not.
    Version(u32),
    /// The peer is the same end of the channel: both send, or both receive.
    Role,
    /// The peer's channel is of another kind.
    Kind,
    /// The peer's messages have another size, alignment or name.
    Type,
    /// A capacity is too small or too large: of messages, bytes, slots, calls or jobs; what the program has asked for, or a peer.
    Capacity,
    /// The peer has sent a malformed packet, or other descriptors than belong to it; or the descriptor that an end is
    /// made of is no socket of this kind.
    Packet,
    /// A process of this user is not allowed to connect.
    User(u32),
    /// The peer has said nothing for too long. For a second, the queue of a [`Listener`](crate::Listener) stayed full,
    /// or the folder of a name locked.
    Time,
    /// Another program listens at this name.
    InUse,
    /// The name cannot be used: it is empty, too long, or a file that is no socket.
    Name,
    /// The peer has refused this end, for this reason.
    ByPeer(&'static str),
}

/// The number of each reason in a packet that refuses, and its text. The number is fixed for ever.
const REASONS: [(Why, &str); 17] = [
    (Why::System(0), "a system call has failed"),
    (Why::Kernel, "the kernel is older than Linux 5.1"),
    (Why::NotMemory, "the peer's memory is not a memfd of ordinary pages"),
    (Why::Seals, "the peer's memory lacks a seal"),
    (Why::Size, "the peer's memory has a wrong size"),
    (Why::Holes, "the peer's memory has holes"),
    (Why::Magic, "the peer speaks another protocol"),
    (Why::Version(0), "the peer speaks another version of the protocol"),
    (Why::Role, "the peer is the same end of the channel"),
    (Why::Kind, "the peer's channel is of another kind"),
    (Why::Type, "the peer's messages are of another type"),
    (Why::Capacity, "a capacity, of messages, bytes, slots, calls or jobs, is too small or too large"),
    (Why::Packet, "the peer's packet is malformed"),
    (Why::User(0), "this user may not connect"),
    (Why::Time, "the peer took too long"),
    (Why::InUse, "another program listens at this name"),
    (Why::Name, "the name is not usable"),
];

impl Why {
    /// The number of the reason in a packet.
    pub(crate) fn number(self) -> u32 {
        let same = |(reason, _): &(Why, &str)| core::mem::discriminant(reason) == core::mem::discriminant(&self);
        REASONS.iter().position(same).map_or(u32::MAX, |at| at as u32)
    }

    /// The reason that a peer has sent.
    pub(crate) fn by_peer(number: u32) -> Self {
        Self::ByPeer(REASONS.get(number as usize).map_or("for a reason of its own", |(_, text)| text))
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(number) => write!(f, "{}", std::io::Error::from_raw_os_error(*number)),
            Self::Version(number) => write!(f, "the peer speaks version {}.{}", number >> 16, number & 0xffff),
            Self::User(user) => write!(f, "user {user} may not connect"),
            Self::ByPeer(text) => write!(f, "the peer has refused: {text}"),
            _ => f.write_str(REASONS.get(self.number() as usize).map_or("", |(_, text)| text)),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the other end was dropped"),
            Self::Died => f.write_str("the other end's process has died"),
            Self::Broken => f.write_str("the other end has broken the protocol"),
            Self::Refused(why) => write!(f, "refused: {why}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        use std::io::ErrorKind;
        match error {
            Error::Refused(Why::System(number)) => Self::from_raw_os_error(number),
            Error::Closed | Error::Died => Self::new(ErrorKind::BrokenPipe, error),
            Error::Broken => Self::new(ErrorKind::InvalidData, error),
            Error::Refused(_) => Self::new(ErrorKind::ConnectionRefused, error),
        }
    }
}

/// A message was not sent, and none will be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T, pub Error);

/// A message was not sent at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// The channel is full.
    Full(T),
    /// The channel has ended.
    Ended(T, Error),
}

/// A message was not sent before the deadline.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// The channel was full until the deadline.
    Timeout(T),
    /// The channel has ended.
    Ended(T, Error),
}

/// No message was received at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// The channel is empty.
    Empty,
    /// The channel is empty and has ended.
    Ended(Error),
}

/// No message was received before the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// The channel was empty until the deadline.
    Timeout,
    /// The channel is empty and has ended.
    Ended(Error),
}

/// No message of a broadcast was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BroadcastError {
    /// The receiver of a lossy broadcast was too slow: it has lost this number of messages. The next call receives the
    /// oldest one that is left, or of bytes the newest.
    Lagged(u64),
    /// There is no message, or there was none until the deadline.
    Empty,
    /// There is no message, and the channel has ended.
    Ended(Error),
}

impl fmt::Display for BroadcastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lagged(lost) => write!(f, "{lost} messages were lost"),
            Self::Empty => f.write_str("the channel is empty"),
            Self::Ended(cause) => write!(f, "{cause}"),
        }
    }
}

impl std::error::Error for BroadcastError {}

/// Nothing was lent to fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoanError {
    /// No slot of the pool is free, or none was until the deadline: receivers hold it, or have not received it yet.
    Dry,
    /// No receiver is there, and none can come; the reason why the last one has gone. Or memory was
    /// [refused](Error::Refused).
    Ended(Error),
}

impl fmt::Display for LoanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dry => f.write_str("nothing of the pool is free"),
            Self::Ended(cause) => write!(f, "{cause}"),
        }
    }
}

impl std::error::Error for LoanError {}

/// There is no answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallError<P = ()> {
    /// There is no answer yet, or there was none until the deadline; the call, if it goes on.
    NotYet(P),
    /// There will be no answer: the other end has dropped the question.
    Unanswered,
    /// There will be no answer: the channel has ended.
    Ended(Error),
}

impl<P> fmt::Display for CallError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotYet(_) => f.write_str("there is no answer yet"),
            Self::Unanswered => f.write_str("the question was dropped without an answer"),
            Self::Ended(cause) => write!(f, "{cause}"),
        }
    }
}

impl<P: fmt::Debug> std::error::Error for CallError<P> {}

macro_rules! impl_error {
    ($error:ident $(<$message:ident>)?: $quiet:pat => $text:literal, $ended:pat => $cause:ident) => {
        impl $(<$message>)? fmt::Display for $error $(<$message>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                #[allow(unreachable_patterns, reason = "an error with one reason")]
                match self {
                    $ended => write!(f, "{}", $cause),
                    $quiet => f.write_str($text),
                }
            }
        }

        impl $(<$message>)? std::error::Error for $error $(<$message>)? {}
    };
}

impl_error!(SendError<T>: _ => "", Self(_, cause) => cause);
impl_error!(TrySendError<T>: Self::Full(_) => "the channel is full", Self::Ended(_, cause) => cause);
impl_error!(SendTimeoutError<T>: Self::Timeout(_) => "timed out sending into a full channel", Self::Ended(_, cause) => cause);
impl_error!(TryRecvError: Self::Empty => "the channel is empty", Self::Ended(cause) => cause);
impl_error!(RecvTimeoutError: Self::Timeout => "timed out receiving from an empty channel", Self::Ended(cause) => cause);

// Without the message, which need not be printable.
impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SendError(.., {:?})", self.1)
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(_) => f.write_str("Full(..)"),
            Self::Ended(_, cause) => write!(f, "Ended(.., {cause:?})"),
        }
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(_) => f.write_str("Timeout(..)"),
            Self::Ended(_, cause) => write!(f, "Ended(.., {cause:?})"),
        }
    }
}

impl<T> SendError<T> {
    /// Returns the message that was not sent.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> TrySendError<T> {
    /// Returns the message that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(message) | Self::Ended(message, _) => message,
        }
    }
}

impl<T> SendTimeoutError<T> {
    /// Returns the message that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(message) | Self::Ended(message, _) => message,
        }
    }
}
