//! `Sender`: the sending end of a pipe or of a funnel.

use std::os::fd::{AsFd, AsRawFd, IntoRawFd};
use std::time::Instant;

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};
use ysuite_shm::{BytesSender, Error, TrySendError};

use crate::errors::{Full, Timeout, ended};
use crate::slot::{Slot, USED, adopt, options};
use crate::wait::{Waiting, deadline, wait};

/// From this length on a message is copied without Python's lock.
pub(crate) const LONG: usize = 64 << 10;

/// What is sent. Others may change the buffer of an object that is no `bytes` as soon as Python's lock is released.
pub(crate) enum Message<'py> {
    Bytes(Bound<'py, PyBytes>),
    Buffer(PyUntypedBuffer),
}

impl<'py> Message<'py> {
    pub(crate) fn new(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone()));
        }
        let buffer = PyUntypedBuffer::get(object)?;
        if buffer.is_c_contiguous() {
            Ok(Self::Buffer(buffer))
        } else {
            Err(PyBufferError::new_err("the buffer of a message is contiguous"))
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.as_bytes().len(),
            Self::Buffer(buffer) => buffer.len_bytes(),
        }
    }

    /// What `f` makes of its bytes: without Python's lock, if they are many and nobody can change them.
    pub(crate) fn with<R: Send>(&self, py: Python<'py>, f: impl FnOnce(&[u8]) -> R + Send) -> R {
        match self {
            Self::Bytes(bytes) if self.len() >= LONG => {
                let bytes = bytes.as_bytes();
                py.detach(|| f(bytes))
            }
            Self::Bytes(bytes) => f(bytes.as_bytes()),
            Self::Buffer(buffer) => {
                let raw = Raw(buffer.buf_ptr().cast(), self.len());
                // SAFETY: the buffer is held, with Python's lock.
                f(unsafe { raw.bytes() })
            }
        }
    }
}

/// A sender of bytes.
pub(crate) trait Sink: AsFd + Send {
    /// `None`: there is no room.
    fn attempt(&mut self, message: &[u8]) -> Option<Result<(), Error>>;
    fn most(&self) -> usize;
    fn arm_for(&mut self, length: usize) -> bool;
}

impl Sink for BytesSender {
    fn attempt(&mut self, message: &[u8]) -> Option<Result<(), Error>> {
        match self.try_send(message) {
            Ok(()) => Some(Ok(())),
            Err(TrySendError::Full(())) => None,
            Err(TrySendError::Ended((), error)) => Some(Err(error)),
        }
    }

    fn most(&self) -> usize {
        self.largest()
    }

    fn arm_for(&mut self, length: usize) -> bool {
        self.arm(length)
    }
}

/// A buffer of a Python object, of whole bytes in a row.
struct Raw(*const u8, usize);

// SAFETY: it is read only with Python's lock.
unsafe impl Send for Raw {}

impl Raw {
    /// # Safety
    /// With Python's lock, while the buffer is held.
    unsafe fn bytes(&self) -> &[u8] {
        // The address of an empty buffer may be null.
        // SAFETY: the caller's, and as above.
        if self.1 == 0 { &[] } else { unsafe { core::slice::from_raw_parts(self.0, self.1) } }
    }
}

/// Sends a message, if there is room until then. `None`: there was none.
pub(crate) fn send<S: Sink>(
    py: Python<'_>,
    sender: &mut S,
    message: &Message<'_>,
    until: Option<Instant>,
) -> PyResult<Option<Result<(), Error>>> {
    fits(message, sender.most())?;
    let length = message.len();
    let arm = |sender: &mut S| sender.arm_for(length);
    match message {
        Message::Bytes(bytes) => {
            let bytes = bytes.as_bytes();
            if length >= LONG {
                if let Some(sent) = py.detach(|| sender.attempt(bytes)) {
                    return Ok(Some(sent));
                }
            }
            let attempt = |sender: &mut S| sender.attempt(bytes);
            wait(py, sender, until, Waiting { attempt, arm, is_free: true })
        }
        Message::Buffer(buffer) => {
            let raw = Raw(buffer.buf_ptr().cast(), length);
            // SAFETY: the buffer is held; attempts that are not free are made with Python's lock.
            let attempt = move |sender: &mut S| sender.attempt(unsafe { raw.bytes() });
            wait(py, sender, until, Waiting { attempt, arm, is_free: false })
        }
    }
}

/// An error if the message is longer than that.
pub(crate) fn fits(message: &Message<'_>, largest: usize) -> PyResult<()> {
    let length = message.len();
    if length <= largest {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("a message of {length} bytes, and the channel takes at most {largest}")))
}

pub(crate) fn outcome(sent: Option<Result<(), Error>>) -> PyResult<()> {
    match sent {
        Some(sent) => sent.map_err(ended),
        None => Err(Timeout::new_err("timed out sending into a full channel")),
    }
}

/// Sends a message if there is room.
pub(crate) fn try_send(sender: &mut impl Sink, message: &Bound<'_, PyAny>) -> PyResult<()> {
    let object = Message::new(message)?;
    fits(&object, sender.most())?;
    let sent = object.with(message.py(), |bytes| sender.attempt(bytes));
    sent.ok_or_else(|| Full::new_err("the channel is full"))?.map_err(ended)
}

// USER CODE: the caller's iterator, between two messages, each of which is in the channel. It runs while the end is
// free.
/// Sends all messages; how many. What it raises has the number of those that were sent as `sent`.
pub(crate) fn send_batch(
    sender: &Slot<impl Sink>,
    messages: &Bound<'_, PyAny>,
    timeout: Option<f64>,
) -> PyResult<usize> {
    let (py, until) = (messages.py(), deadline(timeout)?);
    let mut sent = 0;
    let mut all = || -> PyResult<()> {
        for message in PyIterator::from_object(messages)? {
            let message = Message::new(&message?)?;
            sender.with(|sender| send(py, sender, &message, until)).and_then(outcome)?;
            sent += 1;
        }
        Ok(())
    };
    if let Err(error) = all() {
        // How far it has come.
        let _ = error.value(py).setattr("sent", sent);
        return Err(error);
    }
    Ok(sent)
}

#[pyclass(subclass, frozen, module = "ysuite._ysuite")]
pub(crate) struct Sender(Slot<BytesSender>);

#[pymethods]
impl Sender {
    #[new]
    #[pyo3(signature = (fd, capacity, *, messages = "", largest_region = 64 << 20, careful = false))]
    fn new(fd: i32, capacity: usize, messages: &str, largest_region: usize, careful: bool) -> PyResult<Self> {
        let options = options(messages, largest_region, careful, None);
        Ok(Self(Slot::new(options.bytes_sender(adopt(fd)?, capacity).map_err(ended)?)))
    }

    /// Sends a message, anything with a contiguous buffer of bytes; waits while there is no room. Raises Ended or, after that
    /// time, Timeout; ValueError for one longer than `largest`.
    #[pyo3(signature = (message, timeout = None))]
    fn send(&self, message: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<()> {
        let (object, until) = (Message::new(message)?, deadline(timeout)?);
        self.0.with(|sender| send(message.py(), sender, &object, until)).and_then(outcome)
    }

    /// Sends a message if there is room. Never waits. Raises Full or Ended.
    fn try_send(&self, message: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.with(|sender| try_send(sender, message))
    }

    /// Sends all messages; how many. `timeout` is for all together. What it raises has the number of those that were sent as
    /// `sent`.
    #[pyo3(signature = (messages, timeout = None))]
    fn send_batch(&self, messages: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<usize> {
        send_batch(&self.0, messages, timeout)
    }

    /// For a selector: if there is no room for a message of this length, `fileno()` becomes readable when there is, or when
    /// the channel ends. False: there is something to be done now.
    fn arm(&self, length: usize) -> PyResult<bool> {
        self.0.with(|sender| Ok(sender.arm(length.min(sender.largest()))))
    }

    /// Whether the channel has ended.
    fn is_disconnected(&self) -> PyResult<bool> {
        self.0.with(|sender| Ok(sender.is_disconnected()))
    }

    /// The messages that a receiver that is gone has not received. The end is closed by it. Raises ValueError if the channel
    /// has not ended.
    fn into_unread<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let unread = self.0.give(BytesSender::into_unread, "the channel has not ended")?;
        Ok(unread.iter().map(|message| PyBytes::new(py, message)).collect())
    }

    /// The most bytes that a message may have.
    #[getter]
    fn largest(&self) -> PyResult<usize> {
        self.0.with(|sender| Ok(sender.largest()))
    }

    /// The descriptor for a selector, after `arm`.
    fn fileno(&self) -> PyResult<i32> {
        self.0.with(|sender| Ok(sender.as_fd().as_raw_fd()))
    }

    /// The descriptor of an end that was not used, for another process. It is the caller's; the end is closed by it.
    fn into_fd(&self) -> PyResult<i32> {
        Ok(self.0.give(BytesSender::into_fd, USED)?.into_raw_fd())
    }

    fn close(&self) -> PyResult<()> {
        self.0.close()
    }
}
