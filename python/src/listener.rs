//! `Listener`, and `connect`: strangers meet by a name.

use std::os::fd::{AsFd, AsRawFd, IntoRawFd};

use pyo3::prelude::*;

use crate::errors::{Timeout, ended};
use crate::slot::{Slot, options};
use crate::wait::{Waiting, deadline, wait};

const LARGEST: usize = 64 << 20;

#[pyclass(subclass, frozen, module = "ysuite._ysuite")]
pub(crate) struct Listener(Slot<ysuite_shm::Listener>);

#[pymethods]
impl Listener {
    #[new]
    #[pyo3(signature = (name, *, allow = None))]
    fn new(name: &str, allow: Option<Vec<u32>>) -> PyResult<Self> {
        Ok(Self(Slot::new(options("", LARGEST, false, allow).listen(name).map_err(ended)?)))
    }

    /// The socket of the next process that connects, for a `Sender` or a `Receiver`; waits for one. Raises Timeout.
    #[pyo3(signature = (timeout = None))]
    fn accept(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<i32> {
        let until = deadline(timeout)?;
        let attempt = |listener: &mut ysuite_shm::Listener| listener.try_accept().transpose();
        // Its descriptor tells by itself.
        let arm = |_: &mut ysuite_shm::Listener| true;
        self.0.with(|listener| {
            let stranger = wait(py, listener, until, Waiting { attempt, arm, is_free: false })?;
            let late = || Timeout::new_err("timed out: nobody has connected");
            Ok(stranger.ok_or_else(late)?.map_err(ended)?.into_raw_fd())
        })
    }

    /// The descriptor for a selector: readable when somebody has connected.
    fn fileno(&self) -> PyResult<i32> {
        self.0.with(|listener| Ok(listener.as_fd().as_raw_fd()))
    }

    fn close(&self) -> PyResult<()> {
        self.0.close()
    }
}

/// A socket connected to who listens at this name, for a `Sender` or a `Receiver`. Waits at most a second. Raises Refused;
/// `allow` has the users that may listen there; without it, the own one alone.
#[pyfunction]
#[pyo3(signature = (name, *, allow = None))]
pub(crate) fn connect(py: Python<'_>, name: &str, allow: Option<Vec<u32>>) -> PyResult<i32> {
    let options = options("", LARGEST, false, allow);
    Ok(py.detach(|| options.connect(name)).map_err(ended)?.into_raw_fd())
}
