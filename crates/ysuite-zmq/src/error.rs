//! What can go wrong, in sentences that name it.

use core::ffi::{CStr, c_int};
use core::fmt;
use std::io;

use crate::ffi;

/// A call of libzmq or of the system that failed, and its errno; or what else a bridge failed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The call's name, or the whole of what there is to say.
    what: &'static str,
    errno: c_int,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Call,
    /// Of an address that no call was made with.
    Spelling,
    Panic,
}

impl Failure {
    /// Of the call that this thread has just made.
    pub(crate) fn last(call: &'static str) -> Self {
        // SAFETY: reads a number of this thread's.
        Self { what: call, errno: unsafe { ffi::zmq_errno() }, kind: Kind::Call }
    }

    /// What is wrong with an address, as text that follows it.
    pub(crate) fn spelling(what: &'static str) -> Self {
        Self { what, errno: rustix::io::Errno::INVAL.raw_os_error(), kind: Kind::Spelling }
    }

    /// Of a bridge whose thread has panicked.
    pub(crate) fn panicked() -> Self {
        Self { what: "the bridge's thread panicked", errno: 0, kind: Kind::Panic }
    }

    /// Returns whether a function of a message panicked, one that writes, reads or drops it, and no call failed.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        self.kind == Kind::Panic
    }

    /// Returns the errno: the system's, or libzmq's own from 156384712 on. EINVAL of an address that is misspelled; 0
    /// of a panic.
    #[must_use]
    pub fn errno(&self) -> i32 {
        self.errno
    }

    pub(crate) fn of(call: &'static str, errno: rustix::io::Errno) -> Self {
        Self { what: call, errno: errno.raw_os_error(), kind: Kind::Call }
    }

    /// Makes a call of libzmq, again where a signal handler has come in between: that is said (EINTR) before anything has been
    /// done, by calls that do not wait too, and between two parts of one message.
    pub(crate) fn uninterrupted<T>(call: &'static str, mut make: impl FnMut() -> Option<T>) -> Result<T, Self> {
        loop {
            if let Some(made) = make() {
                return Ok(made);
            }
            let cause = Self::last(call);
            if !cause.is(rustix::io::Errno::INTR) {
                return Err(cause);
            }
        }
    }

    /// There is nothing to receive, or no room, now.
    pub(crate) fn would_wait(self) -> bool {
        self.is(rustix::io::Errno::AGAIN)
    }

    pub(crate) fn is(self, errno: rustix::io::Errno) -> bool {
        self.errno == errno.raw_os_error()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: a text that lives as long as the program, whatever the number is.
        let text = unsafe { CStr::from_ptr(ffi::zmq_strerror(self.errno)) };
        match self.kind {
            Kind::Call => write!(out, "{}: {}", self.what, text.to_string_lossy()),
            Kind::Spelling | Kind::Panic => out.write_str(self.what),
        }
    }
}

impl std::error::Error for Failure {}

/// Why a bridge could not be built.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Neither an address to bind nor one to connect was given.
    NoAddress,
    /// This address is misspelled, as the cause says; or it is none of this machine's, or a file that is no socket is there.
    Address { address: String, cause: Failure },
    /// Another socket has bound it. For a file: it has a listener; a file without one is replaced.
    InUse { address: String },
    /// The process has no more descriptors, or the context no more sockets.
    TooMany(Failure),
    /// PLAIN sends the password unencrypted: over tcp only with `plain_over_tcp`.
    PlainOverTcp { address: String },
    /// A name or a password of PLAIN is empty, or longer than 255 bytes.
    Password,
    /// A key is not 40 characters of Z85, or not one of the curve.
    Key,
    /// This libzmq was built without CURVE.
    NoCurve,
    /// A pack of no messages, or of more than 2^20.
    Pack(usize),
    /// A duplex talks with one other: it binds, or connects to one address.
    OneOther,
    /// A bridge needs a channel with room for one message at least, and a duplex must be able to keep one.
    Bound,
    /// The channel's receiver is attached to a set already.
    Attached,
    /// The context belongs to the process that forked this one: its threads are there.
    Forked,
    /// The bridge is not a server that admits its clients by the given method: keys, or names and passwords.
    NotServer,
    /// The bridge does not subscribe to topics.
    NotSubscriber,
    /// The bridge has broken: [`Event::Broken`](crate::Event::Broken) says how.
    Ended,
    /// Anything else that libzmq refused.
    Zmq(Failure),
    /// A thread or a signaler could not be made.
    System(io::Error),
}

impl Error {
    /// Of a bind or connect.
    pub(crate) fn of_address(address: &str, cause: Failure) -> Self {
        use rustix::io::Errno;
        if cause.is(Errno::ADDRINUSE) {
            Self::InUse { address: address.to_owned() }
        } else if cause.is(Errno::MFILE) || cause.is(Errno::NFILE) {
            Self::TooMany(cause)
        } else {
            Self::Address { address: address.to_owned(), cause }
        }
    }
}

impl Error {
    /// What failed, of a bridge that is at work already.
    pub(crate) fn failure(&self) -> Failure {
        match self {
            Self::Address { cause, .. } | Self::TooMany(cause) | Self::Zmq(cause) => *cause,
            _ => Failure::of("zmq_connect", rustix::io::Errno::INVAL),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAddress => write!(out, "a bridge needs an address to bind or to connect"),
            Self::Address { address, cause } => write!(out, "{address} is no address that can be used here ({cause})"),
            Self::InUse { address } => write!(out, "{address} is in use"),
            Self::TooMany(cause) => write!(out, "there are too many sockets or descriptors already ({cause})"),
            Self::PlainOverTcp { address } => {
                write!(
                    out,
                    "PLAIN would send the password readable to {address}: use CURVE, or ask for `plain_over_tcp`"
                )
            }
            Self::Password => write!(out, "names and passwords of PLAIN have from 1 to 255 bytes"),
            Self::Key => write!(out, "a key of CURVE is 40 characters of Z85"),
            Self::NoCurve => write!(out, "this libzmq was built without CURVE"),
            Self::Pack(messages) => write!(out, "a frame carries from 1 to 1,048,576 messages, not {messages}"),
            Self::OneOther => write!(out, "a duplex talks with one other: it binds, or connects to one address"),
            Self::Bound => write!(out, "the channel of a bridge needs room for one message at least"),
            Self::Attached => write!(out, "the receiver is attached to a set of signals already"),
            Self::Forked => write!(out, "the context was made by the process that forked this one"),
            Self::NotServer => write!(out, "the bridge is not a server with this kind of list"),
            Self::NotSubscriber => write!(out, "the bridge does not subscribe to topics"),
            Self::Ended => write!(out, "the bridge has ended"),
            Self::Zmq(cause) => cause.fmt(out),
            Self::System(cause) => cause.fmt(out),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Address { cause, .. } | Self::TooMany(cause) | Self::Zmq(cause) => Some(cause),
            Self::System(cause) => Some(cause),
            _ => None,
        }
    }
}

impl From<Failure> for Error {
    fn from(cause: Failure) -> Self {
        use rustix::io::Errno;
        if cause.is(Errno::MFILE) || cause.is(Errno::NFILE) { Self::TooMany(cause) } else { Self::Zmq(cause) }
    }
}

impl From<io::Error> for Error {
    fn from(cause: io::Error) -> Self {
        use rustix::io::Errno;
        // Any descriptor of libzmq or of the bridge may be the first that is not available.
        match Errno::from_io_error(&cause) {
            Some(errno @ (Errno::MFILE | Errno::NFILE)) => Self::TooMany(Failure::of("the system", errno)),
            _ => Self::System(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use rustix::io::Errno;

    use super::*;

    #[test]
    fn want_of_descriptors_is_distinguished() {
        let [few, other] = [Errno::MFILE, Errno::INVAL].map(|errno| Failure::of("zmq_bind", errno));
        for errno in [Errno::MFILE, Errno::NFILE] {
            let cause = io::Error::from(errno);
            assert!(matches!(Error::from(cause), Error::TooMany(cause) if cause.is(errno)));
        }
        assert!(matches!(Error::from(io::Error::from(Errno::NOMEM)), Error::System(_)));
        assert!(matches!(Error::from(few), Error::TooMany(cause) if cause == few));
        assert!(matches!(Error::from(other), Error::Zmq(cause) if cause == other));
        assert!(matches!(Error::of_address("x", few), Error::TooMany(cause) if cause == few));
        assert!(matches!(Error::of_address("x", other), Error::Address { cause, .. } if cause == other));
    }

    #[test]
    fn a_cause_is_the_source() {
        let failure = Failure::of("zmq_bind", Errno::INVAL);
        for error in [Error::from(failure), Error::of_address("x", failure), Error::TooMany(failure)] {
            assert_eq!(error.source().map(ToString::to_string), Some(failure.to_string()));
        }
        assert!(Error::System(io::Error::other("why")).source().is_some());
        assert!(Error::Bound.source().is_none());
    }
}
