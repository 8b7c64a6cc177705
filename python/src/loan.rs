//! `LoanSender` and `Loan`: memory that Python fills in place, and that all receivers are lent.
//!
//! **A loan has its sender borrowed**, as in Rust: there is one at a time, and until it is sent or given back the sender does
//! nothing else. **Its memory goes when it does**: it is not sent, and its sender is not closed, as long as Python has a buffer
//! of it, which is a pointer.

use core::ffi::c_int;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, RawFd};
use std::sync::Arc;

use pyo3::exceptions::{PyBufferError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};
use ysuite_shm::{Error, LoanError};

use crate::errors::{Full, Timeout, ended};
use crate::many::{Serves, serve};
use crate::slot::{Slot, options};
use crate::wait::{Waiting, deadline, wait};

type End = ysuite_shm::LoanSender;
/// What lends a message of a length.
type Lend = for<'a> fn(&'a mut End, usize) -> Result<ysuite_shm::Loan<'a>, LoanError>;

/// How many buffers of a piece of memory Python has.
#[derive(Default)]
pub(crate) struct Uses(AtomicUsize);

impl Uses {
    /// Makes a buffer of these bytes.
    ///
    /// # Safety
    /// As the slot of a type for buffers is called, with an owner that calls `end` when the buffer is released, and keeps the
    /// memory until then.
    pub(crate) unsafe fn begin(
        &self,
        view: *mut ffi::Py_buffer,
        owner: &Bound<'_, PyAny>,
        memory: (NonNull<u8>, usize),
        is_constant: bool,
        flags: c_int,
    ) -> PyResult<()> {
        let (start, length) = (memory.0.as_ptr().cast(), memory.1 as ffi::Py_ssize_t);
        // SAFETY: by the caller. It takes a reference to the owner, or raises.
        let made = unsafe { ffi::PyBuffer_FillInfo(view, owner.as_ptr(), start, length, is_constant.into(), flags) };
        if made < 0 {
            return Err(PyErr::fetch(owner.py()));
        }
        // ORDERING: Relaxed; Python's lock orders all that looks at it.
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn end(&self) {
        // ORDERING: Relaxed, as above.
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// Fails while there is a buffer.
    pub(crate) fn none(&self) -> PyResult<()> {
        // ORDERING: Relaxed, as above.
        if self.0.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        Err(PyBufferError::new_err(
            "a memoryview or an array of this memory is still there: release or delete it before",
        ))
    }
}

struct Lent {
    loan: ysuite_shm::Loan<'static>,
    start: NonNull<u8>,
    /// It is sealed when it is sent, which takes a while.
    is_large: bool,
    /// Also tells loans apart.
    uses: Arc<Uses>,
}

struct Inner {
    /// Of a box. What is in it is borrowed by `lent`, if that is there.
    end: NonNull<End>,
    lent: Option<Lent>,
    descriptor: RawFd,
}

// SAFETY: it owns the end, and both that and a loan may be given to another thread. What `start` points to is used by Python.
unsafe impl Send for Inner {}

impl AsFd for Inner {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: that of the end, which has the same one until it is dropped, with `self`.
        unsafe { BorrowedFd::borrow_raw(self.descriptor) }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.lent = None;
        // SAFETY: it is of a box, and nothing borrows it any more.
        drop(unsafe { Box::from_raw(self.end.as_ptr()) });
    }
}

impl Serves for Inner {
    fn serve_now(&mut self) {
        if let Ok(end) = self.end() {
            end.serve();
        }
    }

    fn arm_to_serve(&mut self) -> bool {
        self.end().is_ok_and(End::arm_to_serve)
    }
}

impl Inner {
    fn new(end: End) -> Self {
        let descriptor = end.as_fd().as_raw_fd();
        Self { end: NonNull::from(Box::leak(Box::new(end))), lent: None, descriptor }
    }

    /// The end, if no loan has it.
    fn end(&mut self) -> PyResult<&mut End> {
        if self.lent.is_some() {
            return Err(PyRuntimeError::new_err("this end has a loan: send or release that before"));
        }
        // SAFETY: it lives until `self` is dropped, and nothing else borrows it.
        Ok(unsafe { self.end.as_mut() })
    }

    /// Is lent a message by `lend`, which is then in `lent`. `None`: the pool is dry.
    fn attempt(&mut self, lend: Lend, length: usize, is_large: bool) -> Option<Result<(), Error>> {
        // SAFETY: it lives until `self` is dropped, which drops the loan before; nobody has called this with a loan.
        let end = unsafe { &mut *self.end.as_ptr() };
        match lend(end, length) {
            Ok(mut loan) => {
                let start = NonNull::from(&mut *loan).cast();
                self.lent = Some(Lent { loan, start, is_large, uses: Arc::default() });
                Some(Ok(()))
            }
            Err(LoanError::Dry) => None,
            Err(LoanError::Ended(error)) => Some(Err(error)),
        }
    }

    /// This loan, if it was neither sent nor given back.
    fn lent(&mut self, uses: &Arc<Uses>) -> PyResult<&mut Lent> {
        self.lent.as_mut().filter(|lent| Arc::ptr_eq(&lent.uses, uses)).ok_or_else(over)
    }

    /// This loan, which is then no longer in `lent`.
    fn take(&mut self, uses: &Arc<Uses>) -> PyResult<Lent> {
        self.lent(uses)?.uses.none()?;
        self.lent.take().ok_or_else(over)
    }
}

fn over() -> PyErr {
    PyValueError::new_err("this loan was sent or released")
}

#[pyclass(subclass, frozen, module = "ysuite._ysuite")]
pub(crate) struct LoanSender(Slot<Inner>);

impl LoanSender {
    /// The loan that `attempt` has made.
    fn lent(this: &Bound<'_, Self>, length: usize, uses: Arc<Uses>) -> PyResult<Py<Loan>> {
        // Dropped on a failure too, and so given back.
        Py::new(this.py(), Loan { sender: this.clone().unbind(), length, uses })
    }

    /// A message of `lend`, as soon as there is one, but not behind the deadline.
    fn wait(
        this: &Bound<'_, Self>,
        timeout: Option<f64>,
        lend: Lend,
        length: usize,
        is_large: bool,
    ) -> PyResult<Py<Loan>> {
        let (py, until) = (this.py(), deadline(timeout)?);
        let uses = this.get().0.with(|inner| {
            inner.end()?;
            let attempt = |inner: &mut Inner| inner.attempt(lend, length, is_large);
            // New memory is zeroed.
            let at_once = if is_large { py.detach(|| attempt(inner)) } else { None };
            let arm = |inner: &mut Inner| inner.end().is_ok_and(if is_large { End::arm_large } else { End::arm });
            // An attempt at a dry pool asks the kernel, so it does not spin.
            let waiting = Waiting { attempt, arm, is_free: false };
            let found = if at_once.is_some() { at_once } else { wait(py, inner, until, waiting)? };
            found.ok_or_else(|| Timeout::new_err("timed out: nothing of the pool was free"))?.map_err(ended)?;
            Ok(inner.lent.as_ref().ok_or_else(over)?.uses.clone())
        })?;
        Self::lent(this, length, uses)
    }

    fn at_once(this: &Bound<'_, Self>, lend: Lend, length: usize, is_large: bool) -> PyResult<Py<Loan>> {
        let py = this.py();
        let uses = this.get().0.with(|inner| {
            inner.end()?;
            let mut attempt = || inner.attempt(lend, length, is_large);
            let found = if is_large { py.detach(attempt) } else { attempt() };
            found.ok_or_else(|| Full::new_err("nothing of the pool is free"))?.map_err(ended)?;
            Ok(inner.lent.as_ref().ok_or_else(over)?.uses.clone())
        })?;
        Self::lent(this, length, uses)
    }

    fn fits(&self, length: usize) -> PyResult<()> {
        let largest = self.largest()?;
        if length <= largest {
            return Ok(());
        }
        let text = format!("a message of {length} bytes, and slots of {largest}: large() has memory of its own");
        Err(PyValueError::new_err(text))
    }
}

#[pymethods]
impl LoanSender {
    #[new]
    #[pyo3(signature = (name, slots, largest, *, messages = "", largest_region = 64 << 20, careful = false, allow = None))]
    fn new(
        name: Option<&str>,
        slots: usize,
        largest: usize,
        messages: &str,
        largest_region: usize,
        careful: bool,
        allow: Option<Vec<u32>>,
    ) -> PyResult<Self> {
        let options = options(messages, largest_region, careful, allow);
        let end = match name {
            Some(name) => options.loans(name, slots, largest),
            None => options.loans_without_name(slots, largest),
        };
        Ok(Self(Slot::new(Inner::new(end.map_err(ended)?))))
    }

    /// A place for one more receiver: a descriptor for the `LoanReceiver` of another process, which is the caller's.
    fn seat(&self) -> PyResult<i32> {
        Ok(self.0.with(|inner| inner.end()?.seat().map_err(ended))?.into_raw_fd())
    }

    /// A slot for a message of this length, to be filled and sent; waits while none is free. Raises Ended or, after that time,
    /// Timeout; ValueError for one longer than `largest`, RuntimeError while there is another loan.
    #[pyo3(signature = (length, timeout = None))]
    fn loan(this: &Bound<'_, Self>, length: usize, timeout: Option<f64>) -> PyResult<Py<Loan>> {
        this.get().fits(length)?;
        Self::wait(this, timeout, End::try_loan, length, false)
    }

    /// As `loan`, but never waits. Raises Full.
    fn try_loan(this: &Bound<'_, Self>, length: usize) -> PyResult<Py<Loan>> {
        this.get().fits(length)?;
        Self::at_once(this, End::try_loan, length, false)
    }

    /// Memory of its own for a message of any length, which nobody can write once it is sent; waits while 16 such have not been
    /// received by all. Raises as `loan`.
    #[pyo3(signature = (length, timeout = None))]
    fn large(this: &Bound<'_, Self>, length: usize, timeout: Option<f64>) -> PyResult<Py<Loan>> {
        Self::wait(this, timeout, End::try_large, length, true)
    }

    /// As `large`, but never waits. Raises Full.
    fn try_large(this: &Bound<'_, Self>, length: usize) -> PyResult<Py<Loan>> {
        Self::at_once(this, End::try_large, length, true)
    }

    /// As that of a `Broadcast`.
    #[pyo3(signature = (timeout = 0.0))]
    fn serve(&self, py: Python<'_>, timeout: f64) -> PyResult<()> {
        let until = deadline(Some(timeout))?;
        self.0.with(|inner| {
            inner.end()?;
            serve(py, inner, until)
        })
    }

    /// How many receivers have joined: what is sent now is for all of them.
    #[getter]
    fn receivers(&self) -> PyResult<usize> {
        self.0.with(|inner| Ok(inner.end()?.receivers()))
    }

    /// How many slots are free now.
    #[getter]
    fn free(&self) -> PyResult<usize> {
        self.0.with(|inner| Ok(inner.end()?.free()))
    }

    /// How many slots receivers hold now.
    #[getter]
    fn held(&self) -> PyResult<usize> {
        self.0.with(|inner| Ok(inner.end()?.held()))
    }

    /// How many slots there are.
    #[getter]
    fn capacity(&self) -> PyResult<usize> {
        self.0.with(|inner| Ok(inner.end()?.capacity()))
    }

    /// The most bytes that a slot has.
    #[getter]
    fn largest(&self) -> PyResult<usize> {
        self.0.with(|inner| Ok(inner.end()?.largest()))
    }

    /// For a selector: if no slot is free, `fileno()` becomes readable when one may be, or when a receiver comes or goes.
    /// False: there is something to be done now.
    fn arm(&self) -> PyResult<bool> {
        self.0.with(|inner| Ok(inner.end()?.arm()))
    }

    /// As `arm`, for `large`.
    fn arm_large(&self) -> PyResult<bool> {
        self.0.with(|inner| Ok(inner.end()?.arm_large()))
    }

    /// The descriptor for a selector, after `arm`.
    fn fileno(&self) -> PyResult<i32> {
        self.0.with(|inner| Ok(inner.descriptor))
    }

    fn close(&self) -> PyResult<()> {
        self.0.place(|place| {
            if let Some(lent) = place.as_ref().and_then(|inner| inner.lent.as_ref()) {
                lent.uses.none()?;
            }
            drop(place.take());
            Ok(())
        })
    }
}

/// A message that its sender fills: a buffer of bytes, until it is sent, or released, which gives it back.
#[pyclass(frozen, module = "ysuite._ysuite")]
pub(crate) struct Loan {
    sender: Py<LoanSender>,
    length: usize,
    uses: Arc<Uses>,
}

impl Drop for Loan {
    fn drop(&mut self) {
        // Without a buffer: one would have kept it. An end that another thread uses has no loan, or another one.
        let _ =
            self.sender.get().0.place(|place| place.as_mut().map_or(Ok(()), |inner| inner.take(&self.uses).map(drop)));
    }
}

#[pymethods]
impl Loan {
    /// Lends it to all receivers that have joined. Never waits. Raises BufferError while there is a memoryview or an array of
    /// it, ValueError if it was sent or released, and Refused if the system does not pass on a large one, which is lost then.
    fn send(&self, py: Python<'_>) -> PyResult<()> {
        self.sender.get().0.with(|inner| {
            let Lent { loan, is_large, .. } = inner.take(&self.uses)?;
            let sent = if is_large { py.detach(|| loan.send()) } else { loan.send() };
            sent.map_err(ended)
        })
    }

    /// Gives it back, if it was not sent. Raises BufferError while there is a memoryview or an array of it.
    fn release(&self) -> PyResult<()> {
        self.uses.none()?;
        self.sender.get().0.place(|place| {
            // What is over stays so.
            drop(place.as_mut().map(|inner| inner.take(&self.uses)));
            Ok(())
        })
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

    /// A sender with an attribute that is its loan is found by the collector, which clears its attributes.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.sender)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a loan cannot be pickled: it is filled in the process of its sender"))
    }

    unsafe fn __getbuffer__(this: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        // SAFETY: Python's, which wants that of a failure.
        unsafe { (*view).obj = core::ptr::null_mut() };
        let Self { sender, length, uses } = this.get();
        let start = sender.get().0.with(|inner| Ok(inner.lent(uses)?.start))?;
        // SAFETY: as Python calls this; the memory is there until the loan is sent or given back.
        unsafe { uses.begin(view, this.as_any(), (start, *length), false, flags) }
    }

    unsafe fn __releasebuffer__(&self, _view: *mut ffi::Py_buffer) {
        self.uses.end();
    }
}
