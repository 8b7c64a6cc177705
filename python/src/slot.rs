//! Where a Python object has its end: until it is closed or given away, and in the process that has made it.

use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, TryLockError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use ysuite_shm::Options;

/// How many forks lie between this process and the one that has loaded this library first.
static FORKS: AtomicU32 = AtomicU32::new(0);

extern "C" fn forked() {
    // ORDERING: Relaxed; a process that was just forked has one thread.
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// From now on forks are counted. Called once, when Python loads the module.
pub(crate) fn watch_forks() {
    // SAFETY: the function stays as long as the process, as Python unloads no module, and may run between a fork and what
    // follows it: it changes an atomic and nothing else. Without memory for it forks are not noticed.
    unsafe { libc::pthread_atfork(None, None, Some(forked)) };
}

fn forks() -> u32 {
    // ORDERING: Relaxed; changed only where there is one thread.
    FORKS.load(Ordering::Relaxed)
}

/// An end, or `None` after it was closed or given away.
pub(crate) struct Slot<E> {
    end: Mutex<Option<E>>,
    forks: u32,
}

impl<E> Slot<E> {
    pub(crate) fn new(end: E) -> Self {
        Self { end: Mutex::new(Some(end)), forks: forks() }
    }

    /// What `f` makes of the place of the end. Waits for nobody.
    pub(crate) fn place<R>(&self, f: impl FnOnce(&mut Option<E>) -> PyResult<R>) -> PyResult<R> {
        match self.end.try_lock() {
            Ok(mut place) => f(&mut place),
            // What has panicked has left an end that can be used or fails.
            Err(TryLockError::Poisoned(place)) => f(&mut place.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err("another thread is using this end")),
        }
    }

    /// What `f` makes of the end.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut E) -> PyResult<R>) -> PyResult<R> {
        // Its memory is not here: to touch it would end the process.
        if self.forks != forks() {
            return Err(PyRuntimeError::new_err("a forked child has no ends of its parent: give it one by into_fd()"));
        }
        self.place(|place| f(place.as_mut().ok_or_else(over)?))
    }

    /// Drops the end, also in a forked child, where it closes descriptors only.
    pub(crate) fn close(&self) -> PyResult<()> {
        self.place(|place| {
            drop(place.take());
            Ok(())
        })
    }

    /// What the end becomes. It stays one if it cannot, for this reason.
    pub(crate) fn give<R>(&self, give: impl FnOnce(E) -> Result<R, E>, or: &'static str) -> PyResult<R> {
        self.with(|_| Ok(()))?;
        self.place(|place| {
            give(place.take().ok_or_else(over)?).map_err(|end| {
                *place = Some(end);
                PyValueError::new_err(or)
            })
        })
    }
}

/// Why the descriptor of an end is not given away.
pub(crate) const USED: &str = "an end that was used cannot be given away";

fn over() -> PyErr {
    PyValueError::new_err("this end was closed or given away")
}

/// Takes over a descriptor that the program has. A child's child does not inherit it.
pub(crate) fn adopt(descriptor: RawFd) -> PyResult<OwnedFd> {
    // SAFETY: a call that takes no memory.
    if unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    // SAFETY: it is open, and the program has said that it is ours.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// The options that all ends have.
pub(crate) fn options(messages: &str, largest_region: usize, careful: bool, allow: Option<Vec<u32>>) -> Options {
    let mut options = Options::new().messages(messages).largest_region(largest_region);
    if careful {
        options = options.careful();
    }
    match allow {
        Some(users) => options.allow(move |user| users.contains(&user)),
        None => options,
    }
}
