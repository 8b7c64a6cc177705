//! `LoanReceiver` and `Borrowed`: messages in the memory where their sender has filled them.
//!
//! **A slot could be rewritten by a sender that lies**, so it is copied, by atomics. A buffer of it is made only for who asks
//! for it, by `views=True`. Python has such buffers: one that is read-only says that its user does not write, and not that
//! nobody does (PEP 3118), and `multiprocessing.shared_memory` makes the same; who reads finds bytes of any time. But code in C
//! may check a byte and read it again, and code in Rust that takes the buffer for a slice has no promise of that language: so
//! it is for senders that are trusted. Memory that is sealed does not change, and has a buffer always.

use core::ffi::c_int;
use core::ptr::NonNull;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{ended, until_closed};
use crate::loan::Uses;
use crate::many::{now, of_try, recv};
use crate::receiver::{bytes_of, writable};
use crate::slot::{Slot, adopt, options};
use crate::wait::deadline;

type End = ysuite_shm::LoanReceiver;

/// The most bytes that are copied before Python's lock is offered to others.
const PIECE: usize = 1 << 20;

#[pyclass(subclass, frozen, module = "ysuite._ysuite")]
pub(crate) struct LoanReceiver {
    end: Slot<End>,
    views: bool,
}

impl LoanReceiver {
    fn lent(&self, borrowed: ysuite_shm::Borrowed) -> Borrowed {
        let length = borrowed.len();
        Borrowed { slot: Slot::new(Arc::new(borrowed)), length, views: self.views, uses: Uses::default() }
    }
}

#[pymethods]
impl LoanReceiver {
    #[new]
    #[pyo3(signature = (fd, *, views = false, messages = "", largest_region = 64 << 20, careful = false))]
    fn new(fd: i32, views: bool, messages: &str, largest_region: usize, careful: bool) -> PyResult<Self> {
        let end = options(messages, largest_region, careful, None).loan_receiver(adopt(fd)?).map_err(ended)?;
        Ok(Self { end: Slot::new(end), views })
    }

    /// Receives a message; waits while there is none. Raises Ended or, after that time, Timeout.
    #[pyo3(signature = (timeout = None))]
    fn recv(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Borrowed> {
        let until = deadline(timeout)?;
        let borrowed = self.end.with(|end| recv(py, end, until, |end| of_try(end.try_recv()), End::arm))?;
        Ok(self.lent(borrowed))
    }

    /// Receives a message if there is one. Never waits. Raises Empty or Ended.
    fn try_recv(&self) -> PyResult<Borrowed> {
        Ok(self.lent(self.end.with(|end| now(of_try(end.try_recv())))?))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Borrowed>> {
        until_closed(py, self.recv(py, None))
    }

    /// As that of a `Receiver`.
    fn arm(&self) -> PyResult<bool> {
        self.end.with(|end| Ok(end.arm()))
    }

    /// The descriptor for a selector, after `arm`.
    fn fileno(&self) -> PyResult<i32> {
        self.end.with(|end| Ok(end.as_fd().as_raw_fd()))
    }

    /// Closes the end. What was borrowed from it stays.
    fn close(&self) -> PyResult<()> {
        self.end.close()
    }
}

/// A message that this process was lent, until it is released. It may outlive its receiver and its sender.
#[pyclass(frozen, module = "ysuite._ysuite")]
pub(crate) struct Borrowed {
    /// Shared with who is copying it.
    slot: Slot<Arc<ysuite_shm::Borrowed>>,
    length: usize,
    views: bool,
    uses: Uses,
}

impl Borrowed {
    fn borrowed(&self) -> PyResult<Arc<ysuite_shm::Borrowed>> {
        self.slot.with(|borrowed| Ok(Arc::clone(borrowed)))
    }
}

#[pymethods]
impl Borrowed {
    /// A copy.
    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let borrowed = self.borrowed()?;
        bytes_of(py, self.length, |to| {
            borrowed.copy_to_uninit(0, to);
            Ok(())
        })
    }

    /// Copies the bytes from `at` on into a buffer, as many as there are and have room; how many.
    #[pyo3(signature = (buffer, at = 0))]
    fn copy_to(&self, buffer: &Bound<'_, PyAny>, at: usize) -> PyResult<usize> {
        let (py, borrowed, buffer) = (buffer.py(), self.borrowed()?, writable(buffer)?);
        let length = buffer.len_bytes().min(self.length.saturating_sub(at));
        let mut copied = 0;
        while copied < length {
            if copied > 0 {
                // To copy without it would leave the buffer to others meanwhile.
                py.detach(|| ());
            }
            let piece = PIECE.min(length - copied);
            // SAFETY: within the buffer, which is held; Python's lock keeps others from it.
            let to = unsafe { core::slice::from_raw_parts_mut(buffer.buf_ptr().cast::<u8>().add(copied), piece) };
            copied += borrowed.copy_to(at + copied, to);
        }
        Ok(copied)
    }

    /// Gives it back: the sender may use the memory again. Raises BufferError while there is a memoryview or an array of it.
    fn release(&self) -> PyResult<()> {
        self.uses.none()?;
        self.slot.close()
    }

    fn __len__(&self) -> usize {
        self.length
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyAny>) -> PyResult<()> {
        self.release()
    }

    /// Of a memoryview it would be the hash of its bytes, for ever.
    fn __hash__(&self) -> PyResult<isize> {
        Err(PyTypeError::new_err("what is borrowed has no hash: bytes() of it has one"))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("what is borrowed cannot be pickled: bytes() of it can"))
    }

    unsafe fn __getbuffer__(this: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        // SAFETY: Python's, which wants that of a failure.
        unsafe { (*view).obj = core::ptr::null_mut() };
        let Self { slot, length, views, uses } = this.get();
        let start = slot.with(|borrowed| {
            let start = NonNull::new(borrowed.as_ptr().cast_mut());
            start.filter(|_| *views || borrowed.as_slice().is_some()).ok_or_else(|| {
                PyBufferError::new_err(
                    "its sender could still write it: bytes() and copy_to() copy it; an end made with views=True shows it",
                )
            })
        })?;
        // SAFETY: as Python calls this; the memory is there until it is given back, which waits for the buffer.
        unsafe { uses.begin(view, this.as_any(), (start, *length), true, flags) }
    }

    unsafe fn __releasebuffer__(&self, _view: *mut ffi::Py_buffer) {
        self.uses.end();
    }
}
