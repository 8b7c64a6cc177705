//! [`Address`]: sends to a mailbox. Any number of threads at once, through a shared reference.

use core::any::Any;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};

use super::envelope::{Envelope, Rank};
use super::error::SendError;
use super::inner::Address;

impl Address {
    /// Sends a value of any type, visible at once. Without a bound it never blocks; with a bound, see
    /// [`Crowding`](super::Crowding).
    #[doc = cost!(mailbox SEND)]
    #[doc = cost!(mailbox SEND_ROOM)]
    #[doc = cost!(mailbox SEND_WAIT)]
    #[doc = cost!(mailbox SEND_CROWDED)]
    ///
    /// # Errors
    /// `Ended` if the mailbox has ended. `Full` if it is full and its `Crowding` is `Error`; also for a new thread
    /// while all lanes are in use. The error contains the value.
    #[inline]
    pub fn send<T: Any + Send>(&self, value: T) -> Result<(), SendError<T>> {
        match self.inner.send(Envelope::new(value), Rank::Ordinary) {
            Ok(()) => Ok(()),
            Err(error) => Err(opened(error)),
        }
    }

    /// Sends an urgent value: it overtakes all ordinary messages, and no urgent one. The bound does not count it, and
    /// it never blocks.
    ///
    /// It also overtakes what the same thread has sent before, such as the message that it is about. Who receives it can
    /// receive that one first, by a guard: [`receive_timeout!`](crate::receive_timeout) with zero.
    ///
    /// The mailbox executes one more fence each time it has received all urgent messages.
    #[doc = cost!(mailbox SEND)]
    ///
    /// # Errors
    /// `Ended` if the mailbox has ended; `Full` for a new thread while all lanes are in use. The error contains the
    /// value.
    pub fn send_priority<T: Any + Send>(&self, value: T) -> Result<(), SendError<T>> {
        match self.inner.send(Envelope::new(value), Rank::Urgent) {
            Ok(()) => Ok(()),
            Err(error) => Err(opened(error)),
        }
    }

    /// Forwards a message as it was received, for example by a catch-all. Otherwise as [`send`](Self::send).
    #[doc = cost!(sender LIKE_SEND)]
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn send_envelope(&self, envelope: Envelope) -> Result<(), SendError<Envelope>> {
        self.inner.send(envelope, Rank::Ordinary)
    }

    /// Returns the name given by [`Builder::name`](super::Builder::name), if there is one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.inner.name.as_deref()
    }
}

/// The value of an envelope that the error contains.
#[cold]
#[inline(never)]
fn opened<T: Any + Send>(error: SendError<Envelope>) -> SendError<T> {
    let open = |envelope: Envelope| envelope.downcast().expect("it was made of this type");
    match error {
        SendError::Ended(envelope) => SendError::Ended(open(envelope)),
        SendError::Full(envelope) => SendError::Full(open(envelope)),
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.inner.id == other.inner.id
    }
}

impl Eq for Address {}

impl PartialOrd for Address {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Address {
    fn cmp(&self, other: &Self) -> Ordering {
        self.inner.id.cmp(&other.inner.id)
    }
}

impl Hash for Address {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.id.hash(state);
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            None => write!(f, "mailbox {}", self.inner.id),
            Some(name) => write!(f, "mailbox {} ({name})", self.inner.id),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}
