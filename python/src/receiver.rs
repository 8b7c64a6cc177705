//! `Receiver`: the receiving end of a pipe.

use core::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd};
use std::time::Instant;

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ysuite_shm::{BytesReceiver, Error, TryRecvError};

use crate::errors::{Empty, Timeout, ended, until_closed};
use crate::sender::LONG;
use crate::slot::{Slot, USED, adopt, options};
use crate::wait::{Waiting, deadline, wait};

/// A message of at most this length is taken out of the channel before there is an object for it.
const SHORT: usize = 512;

/// The next message.
#[derive(Clone, Copy)]
enum Found {
    /// It is in `short`, with this length.
    Short(usize),
    /// It is in the channel.
    Long(usize),
}

pub(crate) struct Inner {
    end: BytesReceiver,
    short: [MaybeUninit<u8>; SHORT],
    /// The length of what is in `short`, and nobody has received yet.
    kept: Option<usize>,
    /// The sender has changed a message between two looks.
    is_broken: bool,
}

impl AsFd for Inner {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}

impl Inner {
    fn look(&mut self) -> Option<Result<Found, Error>> {
        if let Some(length) = self.kept {
            return Some(Ok(Found::Short(length)));
        }
        if self.is_broken {
            return Some(Err(Error::Broken));
        }
        match self.end.try_recv_slice(&mut self.short) {
            Ok(length) if length <= SHORT => {
                self.kept = Some(length);
                Some(Ok(Found::Short(length)))
            }
            Ok(length) => Some(Ok(Found::Long(length))),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Ended(error)) => Some(Err(error)),
        }
    }

    fn arm(&mut self) -> bool {
        self.kept.is_none() && !self.is_broken && self.end.arm()
    }

    /// Copies what was found to `to`, which has its length.
    fn take(&mut self, found: Found, to: &mut [MaybeUninit<u8>]) -> PyResult<()> {
        match found {
            Found::Short(length) => {
                to.copy_from_slice(&self.short[..length]);
                self.kept = None;
                Ok(())
            }
            Found::Long(length) => match self.end.try_recv_slice(to) {
                Ok(again) if again == length => Ok(()),
                Ok(_) => {
                    self.is_broken = true;
                    Err(ended(Error::Broken))
                }
                Err(TryRecvError::Empty) => Err(ended(Error::Broken)),
                Err(TryRecvError::Ended(error)) => Err(ended(error)),
            },
        }
    }

    fn bytes<'py>(&mut self, py: Python<'py>, found: Found) -> PyResult<Bound<'py, PyBytes>> {
        let (Found::Short(length) | Found::Long(length)) = found;
        bytes_of(py, length, |to| self.take(found, to))
    }
}

/// A new object of this many bytes, all of which `fill` writes: without Python's lock, if they are many.
pub(crate) fn bytes_of<'py>(
    py: Python<'py>,
    length: usize,
    fill: impl FnOnce(&mut [MaybeUninit<u8>]) -> PyResult<()> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    // SAFETY: a new object of this length, whose bytes nobody has written, or null with an exception.
    let object = unsafe {
        let object = ffi::PyBytes_FromStringAndSize(core::ptr::null(), length as ffi::Py_ssize_t);
        Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked::<PyBytes>()
    };
    // SAFETY: the bytes of an object that nobody else has. Until they are written they are only dropped.
    let to = unsafe { core::slice::from_raw_parts_mut(ffi::PyBytes_AsString(object.as_ptr()).cast(), length) };
    if length >= LONG { py.detach(|| fill(to)) } else { fill(to) }?;
    Ok(object)
}

/// The buffer of an object, to be written.
pub(crate) fn writable(object: &Bound<'_, PyAny>) -> PyResult<PyUntypedBuffer> {
    let buffer = PyUntypedBuffer::get(object)?;
    if buffer.readonly() || !buffer.is_c_contiguous() {
        return Err(PyBufferError::new_err("a buffer to receive into is writable and contiguous"));
    }
    Ok(buffer)
}

/// The next message, if there is one until then.
fn ready(py: Python<'_>, inner: &mut Inner, until: Option<Instant>) -> PyResult<Found> {
    let found = wait(py, inner, until, Waiting { attempt: Inner::look, arm: Inner::arm, is_free: true })?;
    found.ok_or_else(|| Timeout::new_err("timed out receiving from an empty channel"))?.map_err(ended)
}

#[pyclass(subclass, frozen, module = "ysuite._ysuite")]
pub(crate) struct Receiver(Slot<Inner>);

#[pymethods]
impl Receiver {
    #[new]
    #[pyo3(signature = (fd, *, messages = "", largest_region = 64 << 20, careful = false))]
    fn new(fd: i32, messages: &str, largest_region: usize, careful: bool) -> PyResult<Self> {
        let end = options(messages, largest_region, careful, None).bytes_receiver(adopt(fd)?).map_err(ended)?;
        Ok(Self(Slot::new(Inner { end, short: [MaybeUninit::uninit(); SHORT], kept: None, is_broken: false })))
    }

    /// Receives a message; waits while there is none. Raises Ended or, after that time, Timeout.
    #[pyo3(signature = (timeout = None))]
    fn recv<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyBytes>> {
        let until = deadline(timeout)?;
        self.0.with(|inner| {
            let found = ready(py, inner, until)?;
            inner.bytes(py, found)
        })
    }

    /// Receives a message if there is one. Never waits. Raises Empty or Ended.
    fn try_recv<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.0.with(|inner| {
            let found = inner.look().ok_or_else(|| Empty::new_err("the channel is empty"))?.map_err(ended)?;
            inner.bytes(py, found)
        })
    }

    /// Receives a message into a buffer, as `recv`; its length. Raises ValueError for one that is longer, which stays.
    #[pyo3(signature = (buffer, timeout = None))]
    fn recv_into(&self, buffer: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<usize> {
        let (py, until) = (buffer.py(), deadline(timeout)?);
        let buffer = writable(buffer)?;
        self.0.with(|inner| {
            let found = ready(py, inner, until)?;
            let (Found::Short(length) | Found::Long(length)) = found;
            let room = buffer.len_bytes();
            if length > room {
                let text = format!("a message of {length} bytes, which stays, and a buffer of {room}");
                return Err(PyValueError::new_err(text));
            }
            if length == 0 {
                return inner.take(found, &mut []).map(|()| 0);
            }
            // SAFETY: within the buffer, which is held; Python's lock keeps others from it.
            let to = unsafe { core::slice::from_raw_parts_mut(buffer.buf_ptr().cast(), length) };
            inner.take(found, to).map(|()| length)
        })
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
                let first = ready(py, inner, until)?;
                messages.push(inner.bytes(py, first)?);
            }
            while messages.len() < most {
                // An end is told by the next call.
                let Some(Ok(found)) = inner.look() else { break };
                messages.push(inner.bytes(py, found)?);
            }
            Ok(messages)
        })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        until_closed(py, self.recv(py, None))
    }

    /// For a selector: if there is no message, `fileno()` becomes readable when there is, or when the channel ends. False:
    /// there is something to be done now.
    fn arm(&self) -> PyResult<bool> {
        self.0.with(|inner| Ok(inner.arm()))
    }

    /// The descriptor for a selector, after `arm`.
    fn fileno(&self) -> PyResult<i32> {
        self.0.with(|inner| Ok(inner.as_fd().as_raw_fd()))
    }

    /// The descriptor of an end that was not used, for another process. It is the caller's; the end is closed by it.
    fn into_fd(&self) -> PyResult<i32> {
        let give = |inner: Inner| {
            let Inner { end, short, kept, is_broken } = inner;
            end.into_fd().map_err(|end| Inner { end, short, kept, is_broken })
        };
        Ok(self.0.give(give, USED)?.into_raw_fd())
    }

    fn close(&self) -> PyResult<()> {
        self.0.close()
    }
}
