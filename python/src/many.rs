//! One sender, many receivers: `Broadcast`, of which each receives all messages, and `Watch`, of which each receives the
//! newest value.

use std::os::fd::{AsFd, AsRawFd, IntoRawFd};
use std::time::Instant;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ysuite_shm::{BroadcastError, Bytes, BytesBroadcastSender, BytesWatchSender, Error, TryRecvError};

use crate::errors::{Empty, Lagged, Timeout, ended, until_closed};
use crate::sender::{Message, Sink, fits, outcome, send, send_batch, try_send};
use crate::slot::{Slot, adopt, options};
use crate::wait::{Waiting, deadline, wait};

type Receiving = ysuite_shm::BroadcastReceiver<Bytes>;
type Watching = ysuite_shm::WatchReceiver<Bytes>;

impl Sink for BytesBroadcastSender {
    fn attempt(&mut self, message: &[u8]) -> Option<Result<(), Error>> {
        self.try_send(message).ok().map(Ok)
    }

    fn most(&self) -> usize {
        self.largest()
    }

    fn arm_for(&mut self, length: usize) -> bool {
        self.arm(length)
    }
}

/// A sender that takes notice of who comes and goes.
pub(crate) trait Serves: AsFd + Send {
    fn serve_now(&mut self);
    /// For who waits for receivers, and not for room.
    fn arm_to_serve(&mut self) -> bool;
}

impl Serves for BytesBroadcastSender {
    fn serve_now(&mut self) {
        self.serve();
    }

    fn arm_to_serve(&mut self) -> bool {
        BytesBroadcastSender::arm_to_serve(self)
    }
}

impl Serves for BytesWatchSender {
    fn serve_now(&mut self) {
        self.serve();
    }

    fn arm_to_serve(&mut self) -> bool {
        self.arm()
    }
}

/// Takes notice for all of this time.
pub(crate) fn serve(py: Python<'_>, sender: &mut impl Serves, until: Option<Instant>) -> PyResult<()> {
    let attempt = |sender: &mut _| {
        Serves::serve_now(sender);
        None::<()>
    };
    wait(py, sender, until, Waiting { attempt, arm: Serves::arm_to_serve, is_free: false }).map(drop)
}

#[pyclass(subclass, frozen, module = "ysuite._ysuite")]
pub(crate) struct Broadcast(Slot<BytesBroadcastSender>);

#[pymethods]
impl Broadcast {
    #[new]
    #[pyo3(signature = (name, capacity, *, lossy = false, messages = "", largest_region = 64 << 20, careful = false, allow = None))]
    fn new(
        name: Option<&str>,
        capacity: usize,
        lossy: bool,
        messages: &str,
        largest_region: usize,
        careful: bool,
        allow: Option<Vec<u32>>,
    ) -> PyResult<Self> {
        let options = options(messages, largest_region, careful, allow);
        let options = if lossy { options.lossy() } else { options };
        let end = match name {
            Some(name) => options.broadcast_bytes(name, capacity),
            None => options.broadcast_bytes_without_name(capacity),
        };
        Ok(Self(Slot::new(end.map_err(ended)?)))
    }

    /// A place for one more receiver: a descriptor for the `BroadcastReceiver` of another process, which is the caller's.
    fn seat(&self) -> PyResult<i32> {
        Ok(self.0.with(|sender| sender.seat().map_err(ended))?.into_raw_fd())
    }

    /// Sends a message to all receivers, or to none if there are none; waits while one of them has no room, unless it is lossy.
    /// Raises, after that time, Timeout; ValueError for one longer than `largest`.
    #[pyo3(signature = (message, timeout = None))]
    fn send(&self, message: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<()> {
        let (object, until) = (Message::new(message)?, deadline(timeout)?);
        self.0.with(|sender| send(message.py(), sender, &object, until)).and_then(outcome)
    }

    /// Sends a message if all receivers have room. Never waits. Raises Full.
    fn try_send(&self, message: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.with(|sender| try_send(sender, message))
    }

    /// As that of a `Sender`.
    #[pyo3(signature = (messages, timeout = None))]
    fn send_batch(&self, messages: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<usize> {
        send_batch(&self.0, messages, timeout)
    }

    /// Accepts receivers that have come, and notices those that have gone, for all of this time. Sending does so too.
    #[pyo3(signature = (timeout = 0.0))]
    fn serve(&self, py: Python<'_>, timeout: f64) -> PyResult<()> {
        let until = deadline(Some(timeout))?;
        self.0.with(|sender| serve(py, sender, until))
    }

    /// How many receivers have joined: what is sent now is for all of them.
    #[getter]
    fn receivers(&self) -> PyResult<usize> {
        self.0.with(|sender| Ok(sender.receivers()))
    }

    /// The most bytes that a message may have.
    #[getter]
    fn largest(&self) -> PyResult<usize> {
        self.0.with(|sender| Ok(sender.largest()))
    }

    /// For a selector: if there is no room for a message of this length, `fileno()` becomes readable when there may be, or when
    /// a receiver comes or goes. False: there is something to be done now.
    fn arm(&self, length: usize) -> PyResult<bool> {
        self.0.with(|sender| Ok(sender.arm(length.min(sender.largest()))))
    }

    /// The descriptor for a selector, after `arm`.
    fn fileno(&self) -> PyResult<i32> {
        self.0.with(|sender| Ok(sender.as_fd().as_raw_fd()))
    }

    fn close(&self) -> PyResult<()> {
        self.0.close()
    }
}

#[pyclass(subclass, frozen, module = "ysuite._ysuite")]
pub(crate) struct Watch(Slot<BytesWatchSender>);

#[pymethods]
impl Watch {
    #[new]
    #[pyo3(signature = (name, value, largest, *, messages = "", largest_region = 64 << 20, careful = false, allow = None))]
    fn new(
        name: Option<&str>,
        value: &Bound<'_, PyAny>,
        largest: usize,
        messages: &str,
        largest_region: usize,
        careful: bool,
        allow: Option<Vec<u32>>,
    ) -> PyResult<Self> {
        let object = Message::new(value)?;
        fits(&object, largest)?;
        let options = options(messages, largest_region, careful, allow);
        let end = object.with(value.py(), |value| match name {
            Some(name) => options.watch_bytes(name, largest, value),
            None => options.watch_bytes_without_name(largest, value),
        });
        Ok(Self(Slot::new(end.map_err(ended)?)))
    }

    /// As that of a `Broadcast`.
    fn seat(&self) -> PyResult<i32> {
        Ok(self.0.with(|sender| sender.seat().map_err(ended))?.into_raw_fd())
    }

    /// Replaces the value. Never waits. Raises ValueError for one longer than `largest`.
    fn send(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let object = Message::new(value)?;
        self.0.with(|sender| {
            fits(&object, sender.largest())?;
            object.with(value.py(), |value| sender.send(value));
            Ok(())
        })
    }

    /// As that of a `Broadcast`.
    #[pyo3(signature = (timeout = 0.0))]
    fn serve(&self, py: Python<'_>, timeout: f64) -> PyResult<()> {
        let until = deadline(Some(timeout))?;
        self.0.with(|sender| serve(py, sender, until))
    }

    /// How many receivers have joined: the newest value is for all of them.
    #[getter]
    fn receivers(&self) -> PyResult<usize> {
        self.0.with(|sender| Ok(sender.receivers()))
    }

    /// The most bytes that a value may have.
    #[getter]
    fn largest(&self) -> PyResult<usize> {
        self.0.with(|sender| Ok(sender.largest()))
    }

    /// For a selector: `fileno()` becomes readable when a receiver comes or goes. False: there is something to be done now.
    fn arm(&self) -> PyResult<bool> {
        self.0.with(|sender| Ok(sender.arm()))
    }

    /// The descriptor for a selector, after `arm`.
    fn fileno(&self) -> PyResult<i32> {
        self.0.with(|sender| Ok(sender.as_fd().as_raw_fd()))
    }

    fn close(&self) -> PyResult<()> {
        self.0.close()
    }
}

/// Why a receiver has no message.
pub(crate) enum Without {
    Lagged(u64),
    Ended(Error),
}

impl Without {
    fn raised(self) -> PyErr {
        match self {
            Self::Lagged(lost) => Lagged::new_err(lost),
            Self::Ended(error) => ended(error),
        }
    }
}

pub(crate) type Taken<R> = Option<Result<R, Without>>;

fn of_broadcast<R>(outcome: Result<R, BroadcastError>) -> Taken<R> {
    match outcome {
        Ok(message) => Some(Ok(message)),
        Err(BroadcastError::Lagged(lost)) => Some(Err(Without::Lagged(lost))),
        Err(BroadcastError::Ended(error)) => Some(Err(Without::Ended(error))),
        Err(_) => None,
    }
}

pub(crate) fn of_try<R>(outcome: Result<R, TryRecvError>) -> Taken<R> {
    match outcome {
        Ok(message) => Some(Ok(message)),
        Err(TryRecvError::Ended(error)) => Some(Err(Without::Ended(error))),
        Err(TryRecvError::Empty) => None,
    }
}

/// What `attempt` receives, if there is something until then.
pub(crate) fn recv<E: AsFd + Send, R: Send>(
    py: Python<'_>,
    end: &mut E,
    until: Option<Instant>,
    attempt: impl FnMut(&mut E) -> Taken<R> + Send,
    arm: impl FnMut(&mut E) -> bool + Send,
) -> PyResult<R> {
    let found = wait(py, end, until, Waiting { attempt, arm, is_free: true })?;
    found.ok_or_else(|| Timeout::new_err("timed out receiving from an empty channel"))?.map_err(Without::raised)
}

/// What there is now.
pub(crate) fn now<R>(found: Taken<R>) -> PyResult<R> {
    found.ok_or_else(|| Empty::new_err("the channel is empty"))?.map_err(Without::raised)
}

#[pyclass(subclass, frozen, module = "ysuite._ysuite")]
pub(crate) struct BroadcastReceiver(Slot<Receiving>);

#[pymethods]
impl BroadcastReceiver {
    #[new]
    #[pyo3(signature = (fd, *, messages = "", largest_region = 64 << 20, careful = false))]
    fn new(fd: i32, messages: &str, largest_region: usize, careful: bool) -> PyResult<Self> {
        let end = options(messages, largest_region, careful, None).broadcast_receiver(adopt(fd)?).map_err(ended)?;
        Ok(Self(Slot::new(end)))
    }

    /// Receives a message; waits while there is none. Raises Lagged, Ended or, after that time, Timeout.
    #[pyo3(signature = (timeout = None))]
    fn recv<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyBytes>> {
        let until = deadline(timeout)?;
        let message = self.0.with(|end| recv(py, end, until, |end| of_broadcast(end.try_recv()), Receiving::arm))?;
        Ok(PyBytes::new(py, &message.0))
    }

    /// Receives a message if there is one. Never waits. Raises Empty, Lagged or Ended.
    fn try_recv<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let message = self.0.with(|end| now(of_broadcast(end.try_recv())))?;
        Ok(PyBytes::new(py, &message.0))
    }

    /// Receives at least one message and at most `most`, of those that are there; waits as `recv`. Ends in front of messages
    /// that were lost.
    #[pyo3(signature = (most, timeout = None))]
    fn recv_batch<'py>(
        &self,
        py: Python<'py>,
        most: usize,
        timeout: Option<f64>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let until = deadline(timeout)?;
        let attempt = |end: &mut Receiving| {
            let mut messages = Vec::new();
            of_broadcast(end.try_recv_batch(&mut messages, most).map(|_| messages))
        };
        let messages = self.0.with(|end| recv(py, end, until, attempt, Receiving::arm))?;
        Ok(messages.iter().map(|message| PyBytes::new(py, &message.0)).collect())
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        until_closed(py, self.recv(py, None))
    }

    /// As that of a `Receiver`.
    fn arm(&self) -> PyResult<bool> {
        self.0.with(|end| Ok(end.arm()))
    }

    /// The descriptor for a selector, after `arm`.
    fn fileno(&self) -> PyResult<i32> {
        self.0.with(|end| Ok(end.as_fd().as_raw_fd()))
    }

    fn close(&self) -> PyResult<()> {
        self.0.close()
    }
}

#[pyclass(subclass, frozen, module = "ysuite._ysuite")]
pub(crate) struct WatchReceiver(Slot<Watching>);

#[pymethods]
impl WatchReceiver {
    #[new]
    #[pyo3(signature = (fd, *, messages = "", largest_region = 64 << 20, careful = false))]
    fn new(fd: i32, messages: &str, largest_region: usize, careful: bool) -> PyResult<Self> {
        let end = options(messages, largest_region, careful, None).watch_receiver(adopt(fd)?).map_err(ended)?;
        Ok(Self(Slot::new(end)))
    }

    /// Receives the newest value; waits until there is one that it has not received. Raises Ended or, after that time, Timeout.
    #[pyo3(signature = (timeout = None))]
    fn recv<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyBytes>> {
        let until = deadline(timeout)?;
        let value = self.0.with(|end| recv(py, end, until, |end| of_try(end.try_recv()), Watching::arm))?;
        Ok(PyBytes::new(py, &value.0))
    }

    /// Receives the newest value if it has not received it. Never waits. Raises Empty or Ended.
    fn try_recv<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let value = self.0.with(|end| now(of_try(end.try_recv())))?;
        Ok(PyBytes::new(py, &value.0))
    }

    /// The newest value, whether it was received or not; None as long as the sender is not there. Never waits.
    fn latest<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.0.with(|end| Ok(end.latest().map(|value| PyBytes::new(py, &value.0))))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        until_closed(py, self.recv(py, None))
    }

    /// As that of a `Receiver`, for a new value.
    fn arm(&self) -> PyResult<bool> {
        self.0.with(|end| Ok(end.arm()))
    }

    /// The descriptor for a selector, after `arm`.
    fn fileno(&self) -> PyResult<i32> {
        self.0.with(|end| Ok(end.as_fd().as_raw_fd()))
    }

    fn close(&self) -> PyResult<()> {
        self.0.close()
    }
}
