//! The work queue: `WorkSender`, `WorkReceiver`, and a `Job` in the hand of a worker.
//!
//! **A job stays in the channel while a worker has it**: what Python has of it is a copy of its bytes. To finish it, or to give
//! it back, is to receive it once more, which no other can have done, and to say so.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ysuite_shm::{Bytes, BytesWorkSender, Error, TryRecvError, TrySendError};

use crate::errors::{Empty, Timeout, ended, until_closed};
use crate::many::{Serves, serve};
use crate::sender::{Message, Sink, outcome, send, send_batch, try_send};
use crate::slot::{Slot, adopt, options};
use crate::wait::{Waiting, deadline, wait};

impl Sink for BytesWorkSender {
    fn attempt(&mut self, job: &[u8]) -> Option<Result<(), Error>> {
        match self.try_send(job) {
            Ok(()) => Some(Ok(())),
            Err(TrySendError::Full(())) => None,
            Err(TrySendError::Ended((), error)) => Some(Err(error)),
        }
    }

    fn most(&self) -> usize {
        self.largest()
    }

    fn arm_for(&mut self, _: usize) -> bool {
        self.arm()
    }
}

impl Serves for BytesWorkSender {
    fn serve_now(&mut self) {
        self.serve();
    }

    /// With nothing to send, what is given back is what it waits for.
    fn arm_to_serve(&mut self) -> bool {
        // If all is finished there is nothing to do, and nothing to be given back.
        self.arm_to_settle() || self.unfinished() == 0
    }
}

#[pyclass(subclass, frozen, module = "ysuite._ysuite")]
pub(crate) struct WorkSender(Slot<BytesWorkSender>);

/// Whether all jobs are finished, without waiting. `None`: they are not.
fn settled(sender: &mut BytesWorkSender) -> Option<Result<(), Error>> {
    match sender.settle_timeout(std::time::Duration::ZERO) {
        Ok(true) => Some(Ok(())),
        Ok(false) => None,
        Err(error) => Some(Err(error)),
    }
}

#[pymethods]
impl WorkSender {
    #[new]
    #[pyo3(signature = (name, credit, largest, *, messages = "", largest_region = 64 << 20, careful = false, allow = None))]
    fn new(
        name: Option<&str>,
        credit: usize,
        largest: usize,
        messages: &str,
        largest_region: usize,
        careful: bool,
        allow: Option<Vec<u32>>,
    ) -> PyResult<Self> {
        let options = options(messages, largest_region, careful, allow);
        let end = match name {
            Some(name) => options.work_bytes(name, credit, largest),
            None => options.work_bytes_without_name(credit, largest),
        };
        Ok(Self(Slot::new(end.map_err(ended)?)))
    }

    /// A place for one more worker: a descriptor for the `WorkReceiver` of another process, which is the caller's.
    fn seat(&self) -> PyResult<i32> {
        Ok(self.0.with(|sender| sender.seat().map_err(ended))?.into_raw_fd())
    }

    /// Gives out a job, anything with a contiguous buffer of bytes; waits while no worker may have one more, or none is there.
    /// Raises Closed if none can come, and, after that time, Timeout; ValueError for one longer than `largest`.
    #[pyo3(signature = (message, timeout = None))]
    fn send(&self, message: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<()> {
        let (object, until) = (Message::new(message)?, deadline(timeout)?);
        self.0.with(|sender| send(message.py(), sender, &object, until)).and_then(outcome)
    }

    /// Gives out a job if a worker may have one more. Never waits. Raises Full or Closed.
    fn try_send(&self, message: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.with(|sender| try_send(sender, message))
    }

    /// As that of a `Sender`.
    #[pyo3(signature = (messages, timeout = None))]
    fn send_batch(&self, messages: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<usize> {
        send_batch(&self.0, messages, timeout)
    }

    /// Waits until all jobs are finished; what workers give back meanwhile, it gives to others. Raises Closed if some are not, and
    /// no worker can come; after that time, Timeout.
    #[pyo3(signature = (timeout = None))]
    fn settle(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let until = deadline(timeout)?;
        let waiting = Waiting { attempt: settled, arm: BytesWorkSender::arm_to_settle, is_free: false };
        let found = self.0.with(|sender| wait(py, sender, until, waiting))?;
        found.ok_or_else(|| Timeout::new_err("timed out: some jobs are not finished"))?.map_err(ended)
    }

    /// As `settle`, without waiting. Raises Empty if some jobs are not finished, or Closed.
    fn try_settle(&self) -> PyResult<()> {
        let found = self.0.with(|sender| Ok(settled(sender)))?;
        found.ok_or_else(|| Empty::new_err("some jobs are not finished"))?.map_err(ended)
    }

    /// Accepts workers that have come, notices those that have gone, and gives out what was given back, for all of this time.
    /// Sending does so too.
    #[pyo3(signature = (timeout = 0.0))]
    fn serve(&self, py: Python<'_>, timeout: f64) -> PyResult<()> {
        let until = deadline(Some(timeout))?;
        self.0.with(|sender| serve(py, sender, until))
    }

    /// How many jobs workers have finished, as far as was noticed.
    #[getter]
    fn finished(&self) -> PyResult<u64> {
        self.0.with(|sender| Ok(sender.finished()))
    }

    /// How many jobs that were sent are not finished, as far as was noticed.
    #[getter]
    fn unfinished(&self) -> PyResult<usize> {
        self.0.with(|sender| Ok(sender.unfinished()))
    }

    /// How many workers there are, with those that have not said hello yet.
    #[getter]
    fn workers(&self) -> PyResult<usize> {
        self.0.with(|sender| Ok(sender.workers()))
    }

    /// The most bytes that a job may have.
    #[getter]
    fn largest(&self) -> PyResult<usize> {
        self.0.with(|sender| Ok(sender.largest()))
    }

    /// For a selector: if no worker may have one more job, whatever its length, `fileno()` becomes readable when one may, or when
    /// a worker comes or goes. False: there is something to be done now.
    #[pyo3(signature = (length))]
    fn arm(&self, length: usize) -> PyResult<bool> {
        // As of a `Sender`, which needs it.
        let _ = length;
        self.0.with(|sender| Ok(sender.arm()))
    }

    /// As `arm`, for who waits until all jobs are finished.
    fn arm_to_settle(&self) -> PyResult<bool> {
        self.0.with(|sender| Ok(sender.arm_to_settle()))
    }

    /// The descriptor for a selector, after `arm`.
    fn fileno(&self) -> PyResult<i32> {
        self.0.with(|sender| Ok(sender.as_fd().as_raw_fd()))
    }

    fn close(&self) -> PyResult<()> {
        self.0.close()
    }
}

struct Worker {
    end: ysuite_shm::WorkReceiver<Bytes>,
    /// The number of the last job.
    jobs: u64,
    /// It is in hand.
    has_one: bool,
}

impl AsFd for Worker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}

impl Worker {
    /// A copy of the next job, which stays in the channel.
    fn look(&mut self) -> Option<Result<Bytes, Error>> {
        match self.end.try_recv() {
            Ok(job) => {
                let bytes = job.clone();
                // It is received again where it is finished.
                core::mem::forget(job);
                Some(Ok(bytes))
            }
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Ended(error)) => Some(Err(error)),
        }
    }

    fn arm(&mut self) -> bool {
        self.end.arm()
    }

    /// One job at a time.
    fn is_free(&self) -> PyResult<()> {
        if self.has_one {
            return Err(PyRuntimeError::new_err("a job is in hand: it must be finished or released first"));
        }
        Ok(())
    }

    /// Says what has become of the job in hand.
    fn settle(&mut self, number: u64, is_finished: bool) -> PyResult<()> {
        if !self.has_one || number != self.jobs {
            return Err(PyValueError::new_err("this job was finished or released"));
        }
        self.has_one = false;
        match self.end.try_recv() {
            Ok(job) if is_finished => job.finish(),
            Ok(_) => {}
            Err(TryRecvError::Ended(error)) => return Err(ended(error)),
            Err(TryRecvError::Empty) => return Err(ended(Error::Broken)),
        }
        Ok(())
    }
}

#[pyclass(subclass, frozen, module = "ysuite._ysuite")]
pub(crate) struct WorkReceiver(Slot<Worker>);

impl WorkReceiver {
    fn job(this: &Bound<'_, Self>, found: impl FnOnce(&mut Worker) -> PyResult<Bytes>) -> PyResult<Job> {
        let (bytes, number) = this.get().0.with(|worker| {
            worker.is_free()?;
            let bytes = found(worker)?;
            worker.jobs += 1;
            worker.has_one = true;
            Ok((bytes, worker.jobs))
        })?;
        let message = PyBytes::new(this.py(), &bytes.0).unbind();
        Ok(Job { worker: this.clone().unbind(), number, message })
    }
}

#[pymethods]
impl WorkReceiver {
    #[new]
    #[pyo3(signature = (fd, *, messages = "", largest_region = 64 << 20, careful = false))]
    fn new(fd: i32, messages: &str, largest_region: usize, careful: bool) -> PyResult<Self> {
        let end = options(messages, largest_region, careful, None).work_receiver(adopt(fd)?).map_err(ended)?;
        Ok(Self(Slot::new(Worker { end, jobs: 0, has_one: false })))
    }

    /// Receives a job; waits while there is none. Raises Ended or, after that time, Timeout; RuntimeError while it has another.
    #[pyo3(signature = (timeout = None))]
    fn recv(this: &Bound<'_, Self>, timeout: Option<f64>) -> PyResult<Job> {
        let (py, until) = (this.py(), deadline(timeout)?);
        Self::job(this, |worker| {
            let waiting = Waiting { attempt: Worker::look, arm: Worker::arm, is_free: true };
            let found = wait(py, worker, until, waiting)?;
            found.ok_or_else(|| Timeout::new_err("timed out: there is no job"))?.map_err(ended)
        })
    }

    /// Receives a job if there is one. Never waits. Raises Empty or Ended; RuntimeError as `recv`.
    fn try_recv(this: &Bound<'_, Self>) -> PyResult<Job> {
        Self::job(this, |worker| worker.look().ok_or_else(|| Empty::new_err("there is no job"))?.map_err(ended))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(this: &Bound<'_, Self>) -> PyResult<Option<Job>> {
        until_closed(this.py(), Self::recv(this, None))
    }

    /// As that of a `Receiver`, for a job.
    fn arm(&self) -> PyResult<bool> {
        self.0.with(|worker| Ok(worker.arm()))
    }

    /// Whether the sender is gone; jobs may still be there.
    fn is_disconnected(&self) -> PyResult<bool> {
        self.0.with(|worker| Ok(worker.end.is_disconnected()))
    }

    /// The descriptor for a selector, after `arm`.
    fn fileno(&self) -> PyResult<i32> {
        self.0.with(|worker| Ok(worker.as_fd().as_raw_fd()))
    }

    fn close(&self) -> PyResult<()> {
        self.0.close()
    }
}

/// A job in the hand of a worker. Who has done it says so by `finish`; one that is released, or forgotten, without is given back,
/// and another has it. So is one over which the process dies.
#[pyclass(frozen, module = "ysuite._ysuite")]
pub(crate) struct Job {
    worker: Py<WorkReceiver>,
    number: u64,
    /// What is to be done.
    #[pyo3(get)]
    message: Py<PyBytes>,
}

#[pymethods]
impl Job {
    /// It is done, and nobody does it again. Never waits. Raises ValueError if it was finished or released, or the worker closed.
    fn finish(&self) -> PyResult<()> {
        self.worker.get().0.with(|worker| worker.settle(self.number, true))
    }

    /// Gives it back, unless it was finished.
    fn release(&self) -> PyResult<()> {
        self.worker.get().0.with(|worker| {
            if worker.has_one && worker.jobs == self.number { worker.settle(self.number, false) } else { Ok(()) }
        })
    }

    fn __bytes__(&self, py: Python<'_>) -> Py<PyBytes> {
        self.message.clone_ref(py)
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyAny>) -> PyResult<()> {
        self.forget();
        Ok(())
    }

    /// A worker with an attribute that is its job is found by the collector, which clears its attributes.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.worker)
    }
}

impl Job {
    /// A worker that was closed, or is a copy of a forked child, has given it back, or has nothing to give.
    fn forget(&self) {
        let _ = self.release();
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.forget();
    }
}
