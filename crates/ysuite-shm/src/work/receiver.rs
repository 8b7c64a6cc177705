//! The worker's end of a work queue, and a job in its hand.

use core::fmt;
use core::ops::Deref;
use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use super::{say, shape};
use crate::end::{End, deadline, ended};
use crate::link::Link;
use crate::page::{GIVEN_BACK, Role};
use crate::pipe::{Inlet, TypedInlet, limited, met_within};
use crate::{Copied, Error, Options, RecvTimeoutError, TryRecvError};

/// A worker of a [`WorkSender`](crate::WorkSender), or of [`Bytes`](crate::Bytes) a
/// [`BytesWorkSender`](crate::BytesWorkSender). It has one job in hand at a time; a process that works on several has
/// a receiver for each of its threads.
pub struct WorkReceiver<T: Copied> {
    inlet: TypedInlet<T>,
    /// As the own page has it.
    given_back: u64,
}

/// A job that a worker has received. When it is done the worker calls [`finish`](Self::finish).
///
/// A job that is dropped without that is given back: the sender gives it to another worker, or to this one if no other
/// is as free. So is one over which the process dies. One that is forgotten (`mem::forget`) is received again by the
/// same worker.
#[must_use = "a job that is dropped is given back"]
pub struct Job<'a, T: Copied> {
    receiver: &'a mut WorkReceiver<T>,
    job: T,
    is_finished: bool,
}

impl Options {
    /// A worker over a socket: of [`connect`](crate::connect), or a [`seat`](crate::WorkSender::seat). It says hello at
    /// once, and may be given jobs from then on.
    ///
    /// # Errors
    /// [`Refused`](Error::Refused): no such socket, no memory or no descriptors.
    pub fn work_receiver<T: Copied>(&self, socket: OwnedFd) -> Result<WorkReceiver<T>, Error> {
        let link = Link::new(socket, Role::Receiver, shape::<T>(self, 0), 0, self)?;
        let mut end = End::new(link)?;
        end.meet(None);
        Ok(WorkReceiver { inlet: TypedInlet::new(end), given_back: 0 })
    }
}

impl<T: Copied> WorkReceiver<T> {
    /// As [`Options::work_receiver`], with the default options.
    ///
    /// # Errors
    /// As there.
    pub fn from_fd(socket: OwnedFd) -> Result<Self, Error> {
        Options::new().work_receiver(socket)
    }

    /// Receives a job; waits while there is none.
    ///
    /// # Errors
    /// There is none, and the sender is gone.
    pub fn recv(&mut self) -> Result<Job<'_, T>, Error> {
        if !self.inlet.look() {
            self.inlet.ready(None).map_err(ended)?;
        }
        self.job()
    }

    /// Receives a job if there is one. Never blocks.
    ///
    /// # Errors
    /// There is none, or also the sender is gone.
    pub fn try_recv(&mut self) -> Result<Job<'_, T>, TryRecvError> {
        self.try_ready()?;
        self.job().map_err(TryRecvError::Ended)
    }

    /// As [`recv`](Self::recv), for at most `limit`.
    ///
    /// # Errors
    /// There was none for all that time, or the sender is gone.
    pub fn recv_timeout(&mut self, limit: Duration) -> Result<Job<'_, T>, RecvTimeoutError> {
        self.recv_until(deadline(limit))
    }

    /// As [`recv`](Self::recv), until `deadline` at most.
    ///
    /// # Errors
    /// There was none until then, or the sender is gone.
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<Job<'_, T>, RecvTimeoutError> {
        self.recv_until(Some(deadline))
    }

    fn recv_until(&mut self, deadline: Option<Instant>) -> Result<Job<'_, T>, RecvTimeoutError> {
        if !self.inlet.look() {
            self.inlet.ready(deadline).map_err(limited)?;
        }
        self.job().map_err(RecvTimeoutError::Ended)
    }

    /// Whether there is a job.
    pub(crate) fn try_ready(&mut self) -> Result<(), TryRecvError> {
        if self.inlet.look() {
            return Ok(());
        }
        self.inlet.try_ready().map_err(|error| error.map_or(TryRecvError::Empty, TryRecvError::Ended))
    }

    /// The next job. Something is there.
    pub(crate) fn job(&mut self) -> Result<Job<'_, T>, Error> {
        match T::believed(self.inlet.peek()) {
            Some(job) => Ok(Job { job, receiver: self, is_finished: false }),
            None => Err(self.inlet.give_up(Error::Broken)),
        }
    }

    /// Says what has become of the job in hand.
    fn settle(&mut self, is_finished: bool) {
        let word = self.inlet.end.link.own.word(GIVEN_BACK);
        say(word, &mut self.given_back, self.inlet.position(), is_finished);
        self.inlet.pass();
    }

    /// Returns whether the sender is gone; jobs may still be there. One system call.
    pub fn is_disconnected(&mut self) -> bool {
        self.inlet.end.is_over()
    }

    /// Waits until the sender is there, for at most `limit`; returns whether it is.
    ///
    /// # Errors
    /// The channel has ended: it was refused, for example.
    pub fn meet_timeout(&mut self, limit: Duration) -> Result<bool, Error> {
        met_within(&mut self.inlet, limit)
    }

    /// Sets how many times this end looks for a job before it sleeps; 0: it sleeps at once, `u32::MAX`: it never does.
    pub fn set_spin(&mut self, looks: u32) {
        self.inlet.end.spin = Some(looks);
    }

    /// For an event loop: if there is no job, the [descriptor](AsFd::as_fd) becomes readable when there is one, or when
    /// the sender is gone. False: there is something to be done now.
    pub fn arm(&mut self) -> bool {
        self.inlet.arm()
    }
}

impl<T: Copied> Job<'_, T> {
    /// Says that the job is done; nobody does it again. The sender, if it waits, is woken. Never blocks.
    pub fn finish(mut self) {
        self.is_finished = true;
    }
}

impl<T: Copied> Deref for Job<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.job
    }
}

impl<T: Copied> Drop for Job<'_, T> {
    fn drop(&mut self) {
        // A forked child that drops its copy of a job has not done it.
        if self.is_finished || !self.receiver.inlet.end.is_forked() {
            self.receiver.settle(self.is_finished);
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl<T: Copied> WorkReceiver<T> {
    pub(crate) fn link(&self) -> &Link {
        &self.inlet.end.link
    }
}

impl<T: Copied> AsFd for WorkReceiver<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inlet.end.as_fd()
    }
}

impl<T: Copied> fmt::Debug for WorkReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkReceiver").finish_non_exhaustive()
    }
}

impl<T: Copied + fmt::Debug> fmt::Debug for Job<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Job").field(&self.job).finish()
    }
}
