//! The end that asks by bytes: questions of any length up to a bound.

use core::fmt;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use super::caller::{Caller, Pending};
use crate::end::{self, deadline};
use crate::funnel::Bytes;
use crate::ring::bytes::counted_room;
use crate::{CallError, Copied, Error, Options, SendError, SendTimeoutError, TrySendError};

/// The end that asks by bytes. Its questions are received by a [`Funnel`](crate::Funnel) of
/// [`Question`](crate::Question)s of [`Bytes`], which answers each by an `A`. Answers that are [`Bytes`] as well have at most as
/// many as the receiver [says](Options::largest_answer). It is as a [`Caller`] in all else.
///
/// Each end has memory for as many questions, or answers, of the greatest length as there may be calls under way. A question
/// or an answer costs by the bytes that it has.
///
/// ```
/// use ysuite_shm::{Bytes, BytesCaller, Error, Funnel, Question};
///
/// let mut funnel = Funnel::<Question<Bytes, Bytes>>::without_name()?;
/// let (_, seat) = funnel.seat()?;
/// let answering = std::thread::spawn(move || {
///     while let Ok(question) = funnel.recv() {
///         let reversed: Vec<u8> = question.0.iter().rev().copied().collect();
///         question.answer(&reversed);
///     }
/// });
/// let mut caller = BytesCaller::from_fd(seat, 100)?;
/// assert_eq!(caller.call(b"stressed"), Ok(Bytes(b"desserts".into())));
/// drop(caller);
/// answering.join().unwrap();
/// # Ok::<_, Error>(())
/// ```
pub struct BytesCaller<A: Copied = Bytes>(Caller<Bytes, A>);

impl Options {
    /// A caller over a socket whose questions have at most `largest` bytes, rounded up to whole words; see [`caller`](Self::caller).
    ///
    /// # Errors
    /// As there, or a `largest` of 0 or of more than can be.
    pub fn bytes_caller<A: Copied>(&self, socket: OwnedFd, largest: usize) -> Result<BytesCaller<A>, Error> {
        Caller::new(self, socket, largest).map(BytesCaller)
    }
}

impl BytesCaller {
    /// As [`Options::bytes_caller`], of answers of bytes, with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn from_fd(socket: OwnedFd, largest: usize) -> Result<Self, Error> {
        Options::new().bytes_caller(socket, largest)
    }
}

impl<A: Copied> BytesCaller<A> {
    /// Returns the most bytes that a question may have.
    pub fn largest(&self) -> usize {
        counted_room(self.0.end.link.shape.size)
    }

    fn check(&self, question: &[u8]) {
        assert!(question.len() <= self.largest(), "a question of more bytes than have room");
    }

    /// As [`Caller::call`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// If the question is longer than [`largest`](Self::largest).
    pub fn call(&mut self, question: &[u8]) -> Result<A, CallError> {
        self.check(question);
        self.0.call_until(question, None)
    }

    /// As [`Caller::call_timeout`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As [`call`](Self::call).
    pub fn call_timeout(&mut self, question: &[u8], limit: Duration) -> Result<A, CallError> {
        self.check(question);
        self.0.call_until(question, deadline(limit))
    }

    /// As [`Caller::call_deadline`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As [`call`](Self::call).
    pub fn call_deadline(&mut self, question: &[u8], deadline: Instant) -> Result<A, CallError> {
        self.check(question);
        self.0.call_until(question, Some(deadline))
    }

    /// As [`Caller::ask`].
    ///
    /// # Errors
    /// The channel has ended.
    ///
    /// # Panics
    /// As [`call`](Self::call).
    pub fn ask(&mut self, question: &[u8]) -> Result<Pending, SendError<()>> {
        self.check(question);
        let free = self.0.place(None).map_err(|unfulfilled| SendError((), end::ended(unfulfilled)))?;
        Ok(self.0.put(free, question))
    }

    /// As [`Caller::try_ask`].
    ///
    /// # Errors
    /// There is something to wait for, or the channel has ended.
    ///
    /// # Panics
    /// As [`call`](Self::call).
    pub fn try_ask(&mut self, question: &[u8]) -> Result<Pending, TrySendError<()>> {
        self.check(question);
        let free = self.0.attempt(Caller::free);
        let free = free.map_err(|e| e.map_or(TrySendError::Full(()), |error| TrySendError::Ended((), error)))?;
        Ok(self.0.put(free, question))
    }

    /// As [`Caller::ask_timeout`].
    ///
    /// # Errors
    /// It had to wait for all that time, or the channel has ended.
    ///
    /// # Panics
    /// As [`call`](Self::call).
    pub fn ask_timeout(&mut self, question: &[u8], limit: Duration) -> Result<Pending, SendTimeoutError<()>> {
        self.ask_until(question, deadline(limit))
    }

    /// As [`Caller::ask_deadline`].
    ///
    /// # Errors
    /// It had to wait until then, or the channel has ended.
    ///
    /// # Panics
    /// As [`call`](Self::call).
    pub fn ask_deadline(&mut self, question: &[u8], deadline: Instant) -> Result<Pending, SendTimeoutError<()>> {
        self.ask_until(question, Some(deadline))
    }

    fn ask_until(&mut self, question: &[u8], deadline: Option<Instant>) -> Result<Pending, SendTimeoutError<()>> {
        self.check(question);
        let free = self.0.place(deadline).map_err(|unfulfilled| end::unsent((), unfulfilled))?;
        Ok(self.0.put(free, question))
    }

    /// As [`Caller::recv`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn recv(&mut self, call: Pending) -> Result<A, CallError> {
        self.0.recv(call)
    }

    /// As [`Caller::try_recv`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn try_recv(&mut self, call: Pending) -> Result<A, CallError<Pending>> {
        self.0.try_recv(call)
    }

    /// As [`Caller::recv_timeout`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn recv_timeout(&mut self, call: Pending, limit: Duration) -> Result<A, CallError<Pending>> {
        self.0.recv_timeout(call, limit)
    }

    /// As [`Caller::recv_deadline`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn recv_deadline(&mut self, call: Pending, deadline: Instant) -> Result<A, CallError<Pending>> {
        self.0.recv_deadline(call, deadline)
    }

    /// As [`Caller::is_disconnected`].
    pub fn is_disconnected(&mut self) -> bool {
        self.0.is_disconnected()
    }

    /// As [`Caller::meet_timeout`].
    ///
    /// # Errors
    /// As there.
    pub fn meet_timeout(&mut self, limit: Duration) -> Result<bool, Error> {
        self.0.meet_timeout(limit)
    }

    /// As [`Caller::set_spin`].
    pub fn set_spin(&mut self, looks: u32) {
        self.0.set_spin(looks);
    }

    // USER CODE: `calls`, as of `Caller::arm`.
    /// As [`Caller::arm`].
    ///
    /// # Panics
    /// As [`recv`](Self::recv).
    pub fn arm<'a>(&mut self, calls: impl IntoIterator<Item = &'a Pending>) -> bool {
        self.0.arm(calls)
    }

    /// As [`Caller::arm_to_ask`].
    pub fn arm_to_ask(&mut self) -> bool {
        self.0.arm_to_ask()
    }
}

#[cfg(feature = "tokio")]
impl<A: Copied> BytesCaller<A> {
    /// As that of a [`Caller`].
    pub(crate) fn try_outcome(&mut self, call: &Pending) -> Result<Option<A>, Option<Error>> {
        self.0.try_outcome(call)
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl<A: Copied> BytesCaller<A> {
    /// The caller itself, for one that lies.
    pub(crate) fn inner(&mut self) -> &mut Caller<Bytes, A> {
        &mut self.0
    }
}

impl<A: Copied> AsFd for BytesCaller<A> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl<A: Copied> fmt::Debug for BytesCaller<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BytesCaller").field("largest", &self.largest()).finish_non_exhaustive()
    }
}
