//! A work queue of bytes: jobs of any length up to a bound.

use core::fmt;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use super::WorkSender;
use crate::end::{deadline, ended, unsent};
use crate::funnel::{Bytes, Ended};
use crate::ring::bytes::counted_room;
use crate::{Error, Options, SendError, SendTimeoutError, TrySendError};

/// The sending end of a work queue of bytes, whose workers are [`WorkReceiver`](crate::WorkReceiver)s of [`Bytes`]. It is as a
/// [`WorkSender`] in all else.
///
/// There is memory for `credit` jobs of the greatest length for each worker. A job costs by the bytes that it has.
///
/// ```
/// use ysuite_shm::{Bytes, BytesWorkSender, Error, WorkReceiver};
///
/// let mut sender = BytesWorkSender::without_name(1, 100)?;
/// let mut worker = WorkReceiver::<Bytes>::from_fd(sender.seat()?)?;
/// sender.send(b"sweep the floor").map_err(|error| error.1)?;
/// let job = worker.recv()?;
/// assert_eq!(job.0, b"sweep the floor");
/// job.finish();
/// sender.settle()?;
/// assert_eq!(sender.finished(), 1);
/// # Ok::<_, Error>(())
/// ```
pub struct BytesWorkSender(WorkSender<Bytes>);

impl Options {
    /// The sender of a work queue of bytes that listens at this name; see [`work`](Self::work). A job has at most `largest` bytes,
    /// rounded up to whole words.
    ///
    /// # Errors
    /// As there, or a `largest` of 0 or of more than can be.
    pub fn work_bytes(&self, name: &str, credit: usize, largest: usize) -> Result<BytesWorkSender, Error> {
        WorkSender::new(self, Some(name), credit, largest).map(BytesWorkSender)
    }

    /// The same without a name, for workers that inherit a [`seat`](BytesWorkSender::seat).
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no memory or no descriptors are left, or a credit or a `largest` that cannot be.
    pub fn work_bytes_without_name(&self, credit: usize, largest: usize) -> Result<BytesWorkSender, Error> {
        WorkSender::new(self, None, credit, largest).map(BytesWorkSender)
    }
}

impl BytesWorkSender {
    /// As [`Options::work_bytes`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn bind(name: &str, credit: usize, largest: usize) -> Result<Self, Error> {
        Options::new().work_bytes(name, credit, largest)
    }

    /// As [`Options::work_bytes_without_name`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn without_name(credit: usize, largest: usize) -> Result<Self, Error> {
        Options::new().work_bytes_without_name(credit, largest)
    }

    /// As [`WorkSender::seat`].
    ///
    /// # Errors
    /// As there.
    pub fn seat(&mut self) -> Result<OwnedFd, Error> {
        self.0.seat()
    }

    /// As [`WorkSender::numbered_seat`].
    ///
    /// # Errors
    /// As there.
    pub fn numbered_seat(&mut self) -> Result<(u64, OwnedFd), Error> {
        self.0.numbered_seat()
    }

    /// As [`WorkSender::next_ended`].
    pub fn next_ended(&mut self) -> Option<Ended> {
        self.0.next_ended()
    }

    /// As [`WorkSender::next_failed`].
    pub fn next_failed(&mut self) -> Option<Bytes> {
        self.0.next_failed()
    }

    /// Returns the most bytes that a job may have.
    pub fn largest(&self) -> usize {
        counted_room(self.0.crowd.home.common.shape.size)
    }

    fn check(&self, job: &[u8]) {
        assert!(job.len() <= self.largest(), "a job of more bytes than have room");
    }

    /// As [`WorkSender::send`].
    ///
    /// # Errors
    /// [`Closed`](Error::Closed): no worker is there, and none can come.
    ///
    /// # Panics
    /// If the job is longer than [`largest`](Self::largest).
    pub fn send(&mut self, job: &[u8]) -> Result<(), SendError<()>> {
        self.check(job);
        self.0.put_until(job, None).map_err(|unfulfilled| SendError((), ended(unfulfilled)))
    }

    /// As [`WorkSender::try_send`].
    ///
    /// # Errors
    /// No worker may have one more, or none is there.
    ///
    /// # Panics
    /// As [`send`](Self::send).
    pub fn try_send(&mut self, job: &[u8]) -> Result<(), TrySendError<()>> {
        self.check(job);
        self.0.try_put(job).map_err(|over| match over {
            true => TrySendError::Ended((), Error::Closed),
            false => TrySendError::Full(()),
        })
    }

    /// As [`WorkSender::send_timeout`].
    ///
    /// # Errors
    /// No worker could have it for all that time, or as for [`send`](Self::send).
    ///
    /// # Panics
    /// As there.
    pub fn send_timeout(&mut self, job: &[u8], limit: Duration) -> Result<(), SendTimeoutError<()>> {
        self.send_until(job, deadline(limit))
    }

    /// As [`WorkSender::send_deadline`].
    ///
    /// # Errors
    /// As for [`send_timeout`](Self::send_timeout).
    ///
    /// # Panics
    /// As there.
    pub fn send_deadline(&mut self, job: &[u8], deadline: Instant) -> Result<(), SendTimeoutError<()>> {
        self.send_until(job, Some(deadline))
    }

    fn send_until(&mut self, job: &[u8], deadline: Option<Instant>) -> Result<(), SendTimeoutError<()>> {
        self.check(job);
        self.0.put_until(job, deadline).map_err(|unfulfilled| unsent((), unfulfilled))
    }

    /// As [`WorkSender::settle`].
    ///
    /// # Errors
    /// As there.
    pub fn settle(&mut self) -> Result<(), Error> {
        self.0.settle()
    }

    /// As [`WorkSender::settle_timeout`].
    ///
    /// # Errors
    /// As there.
    pub fn settle_timeout(&mut self, limit: Duration) -> Result<bool, Error> {
        self.0.settle_timeout(limit)
    }

    /// As [`WorkSender::serve`].
    pub fn serve(&mut self) {
        self.0.serve();
    }

    /// As [`WorkSender::serve_timeout`].
    pub fn serve_timeout(&mut self, limit: Duration) {
        self.0.serve_timeout(limit);
    }

    /// As [`WorkSender::finished`].
    pub fn finished(&self) -> u64 {
        self.0.finished()
    }

    /// As [`WorkSender::unfinished`].
    pub fn unfinished(&self) -> usize {
        self.0.unfinished()
    }

    /// As [`WorkSender::workers`].
    pub fn workers(&self) -> usize {
        self.0.workers()
    }

    /// As [`WorkSender::set_spin`].
    pub fn set_spin(&mut self, looks: u32) {
        self.0.set_spin(looks);
    }

    /// As [`WorkSender::arm`].
    pub fn arm(&mut self) -> bool {
        self.0.arm()
    }

    /// As [`WorkSender::arm_to_settle`].
    pub fn arm_to_settle(&mut self) -> bool {
        self.0.arm_to_settle()
    }

    /// As [`WorkSender::arm_to_serve`].
    pub fn arm_to_serve(&mut self) -> bool {
        self.0.arm_to_serve()
    }

    /// As [`WorkSender::is_disconnected`].
    pub fn is_disconnected(&self) -> bool {
        self.0.is_disconnected()
    }
}

#[cfg(feature = "tokio")]
impl BytesWorkSender {
    /// As that of a [`WorkSender`].
    pub(crate) fn try_settle(&mut self) -> Option<Result<(), Error>> {
        self.0.try_settle()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl BytesWorkSender {
    /// The own memory of the first lane.
    pub(crate) fn first_region(&self) -> &crate::os::Own {
        self.0.first_region()
    }

    /// Why workers have ended.
    pub(crate) fn ended(&mut self) -> Vec<Error> {
        self.0.ended()
    }
}

impl AsFd for BytesWorkSender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl fmt::Debug for BytesWorkSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BytesWorkSender").field("largest", &self.largest()).finish_non_exhaustive()
    }
}
