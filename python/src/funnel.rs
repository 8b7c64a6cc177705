//! `Funnel`: the receiver of many senders.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd};
use std::time::Instant;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ysuite_shm::{Bytes, Error, TryRecvError};

use crate::errors::{Empty, Timeout, ended, until_closed};
use crate::slot::{Slot, options};
use crate::wait::{Waiting, deadline, wait};

type Message<'py> = (u64, Bound<'py, PyBytes>);

struct Inner {
    end: ysuite_shm::Funnel<Bytes>,
    /// A message that is out of its lane, while there is no object of it.
    kept: Option<(u64, Bytes)>,
}

impl AsFd for Inner {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}

impl Inner {
    /// Whether there is a message, which is then in `kept`.
    fn look(&mut self) -> Option<Result<(), Error>> {
        if self.kept.is_none() {
            match self.end.try_recv_from() {
                Ok(found) => self.kept = Some(found),
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Ended(error)) => return Some(Err(error)),
            }
        }
        Some(Ok(()))
    }

    fn arm(&mut self) -> bool {
        self.kept.is_none() && self.end.arm()
    }

    fn take<'py>(&mut self, py: Python<'py>) -> Option<Message<'py>> {
        let (sender, Bytes(message)) = self.kept.take()?;
        Some((sender, PyBytes::new(py, &message)))
    }

    /// The next message, if there is one until then.
    fn recv<'py>(&mut self, py: Python<'py>, until: Option<Instant>) -> PyResult<Message<'py>> {
        // Each attempt asks the kernel, so it does not spin.
        let found = wait(py, self, until, Waiting { attempt: Self::look, arm: Self::arm, is_free: false })?;
        let late = || Timeout::new_err("timed out receiving from an empty channel");
        found.ok_or_else(late)?.map_err(ended)?;
        self.take(py).ok_or_else(late)
    }

    fn try_recv<'py>(&mut self, py: Python<'py>) -> PyResult<Message<'py>> {
        let empty = || Empty::new_err("the channel is empty");
        self.look().ok_or_else(empty)?.map_err(ended)?;
        self.take(py).ok_or_else(empty)
    }
}

#[pyclass(subclass, frozen, module = "ysuite._ysuite")]
pub(crate) struct Funnel(Slot<Inner>);

#[pymethods]
impl Funnel {
    #[new]
    #[pyo3(signature = (name = None, *, messages = "", largest_region = 64 << 20, careful = false, allow = None))]
    fn new(
        name: Option<&str>,
        messages: &str,
        largest_region: usize,
        careful: bool,
        allow: Option<Vec<u32>>,
    ) -> PyResult<Self> {
        let options = options(messages, largest_region, careful, allow);
        let end = match name {
            Some(name) => options.funnel(name),
            None => options.funnel_without_name(),
        };
        Ok(Self(Slot::new(Inner { end: end.map_err(ended)?, kept: None })))
    }

    /// A place for one more sender: its number, and a descriptor for the `Sender` of another process, which is the caller's.
    fn seat(&self) -> PyResult<(u64, i32)> {
        let (number, socket) = self.0.with(|inner| inner.end.seat().map_err(ended))?;
        Ok((number, socket.into_raw_fd()))
    }

    /// Receives a message of any sender; waits while there is none. Raises Timeout; Closed if all senders are gone and no
    /// other can come.
    #[pyo3(signature = (timeout = None))]
    fn recv<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyBytes>> {
        self.recv_from(py, timeout).map(|(_, message)| message)
    }

    /// As `recv`: the number of the sender, and the message.
    #[pyo3(signature = (timeout = None))]
    fn recv_from<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Message<'py>> {
        let until = deadline(timeout)?;
        self.0.with(|inner| inner.recv(py, until))
    }

    /// Receives a message if there is one. Never waits. Raises Empty or Closed.
    fn try_recv<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.try_recv_from(py).map(|(_, message)| message)
    }

    /// As `try_recv`: the number of the sender, and the message.
    fn try_recv_from<'py>(&self, py: Python<'py>) -> PyResult<Message<'py>> {
        self.0.with(|inner| inner.try_recv(py))
    }

    /// Receives at least one message and at most `most`, of those that are there; waits as `recv`.
    #[pyo3(signature = (most, timeout = None))]
    fn recv_batch<'py>(
        &self,
        py: Python<'py>,
        most: usize,
        timeout: Option<f64>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let until = deadline(timeout)?;
        self.0.with(|inner| {
            let mut messages = Vec::new();
            if most > 0 {
                messages.push(inner.recv(py, until)?.1);
            }
            while messages.len() < most && matches!(inner.look(), Some(Ok(()))) {
                messages.extend(inner.take(py).map(|(_, message)| message));
            }
            Ok(messages)
        })
    }

    /// The next sender that has ended: its number, and why. None if there is none. Receiving is what notices an end.
    fn next_ended(&self, py: Python<'_>) -> PyResult<Option<(u64, Py<PyAny>)>> {
        let end = self.0.with(|inner| Ok(inner.end.next_ended()))?;
        Ok(end.map(|end| (end.sender, ended(end.error).into_value(py).into_any())))
    }

    /// How many senders there are.
    #[getter]
    fn senders(&self) -> PyResult<usize> {
        self.0.with(|inner| Ok(inner.end.senders()))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        until_closed(py, self.recv(py, None))
    }

    /// For a selector: if there is no message, `fileno()` becomes readable when there is, or when a sender comes or goes.
    /// False: there is something to be done now.
    fn arm(&self) -> PyResult<bool> {
        self.0.with(|inner| Ok(inner.arm()))
    }

    /// The descriptor for a selector, after `arm`.
    fn fileno(&self) -> PyResult<i32> {
        self.0.with(|inner| Ok(inner.as_fd().as_raw_fd()))
    }

    fn close(&self) -> PyResult<()> {
        self.0.close()
    }
}
