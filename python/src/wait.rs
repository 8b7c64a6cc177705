//! Waiting: Python's lock is released, and a signal that has a handler in Python is handled at once.

use std::num::NonZero;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Looks before an end sleeps.
const SPIN: u32 = 100;
/// Where an end cannot say that it sleeps.
const SHORT: Duration = Duration::from_millis(1);

/// A time limit in seconds. `None`: none.
pub(crate) fn deadline(timeout: Option<f64>) -> PyResult<Option<Instant>> {
    match timeout {
        Some(seconds) if seconds.is_nan() || seconds < 0.0 => {
            Err(PyValueError::new_err("a timeout is a number of seconds, and not negative"))
        }
        // Longer than a clock counts is for ever.
        Some(seconds) => {
            Ok(Duration::try_from_secs_f64(seconds).ok().and_then(|limit| Instant::now().checked_add(limit)))
        }
        None => Ok(None),
    }
}

/// What an end does while it waits.
pub(crate) struct Waiting<A, S> {
    /// Does what is waited for, if that is possible now.
    pub(crate) attempt: A,
    /// Says that the end is about to sleep. False: there is something to be done.
    pub(crate) arm: S,
    /// Attempts may be made without Python's lock, so also while it spins.
    pub(crate) is_free: bool,
}

enum Slept<R> {
    Found(R),
    Woken,
    Signal,
    Late,
}

// WAITS: for what `attempt` finds, or the deadline; it attempts, arms, which looks again, and sleeps.
/// Blocks until an attempt has an answer. `None`: it had none until the deadline.
pub(crate) fn wait<E: AsFd + Send, R: Send>(
    py: Python<'_>,
    end: &mut E,
    deadline: Option<Instant>,
    mut waiting: Waiting<impl FnMut(&mut E) -> Option<R> + Send, impl FnMut(&mut E) -> bool + Send>,
) -> PyResult<Option<R>> {
    let mut is_refused = false;
    loop {
        if let Some(found) = (waiting.attempt)(end) {
            return Ok(Some(found));
        }
        match py.detach(|| sleep(end, deadline, &mut waiting, &mut is_refused)) {
            Slept::Found(found) => return Ok(Some(found)),
            Slept::Late => return Ok((waiting.attempt)(end)),
            Slept::Signal => py.check_signals()?,
            Slept::Woken => {}
        }
    }
}

/// `is_refused`: the end could not say that it sleeps the last time, though nothing was there.
fn sleep<E: AsFd, R>(
    end: &mut E,
    deadline: Option<Instant>,
    waiting: &mut Waiting<impl FnMut(&mut E) -> Option<R>, impl FnMut(&mut E) -> bool>,
    is_refused: &mut bool,
) -> Slept<R> {
    let looks = if waiting.is_free { usual_spin() } else { 0 };
    for _ in 0..looks {
        if let Some(found) = (waiting.attempt)(end) {
            return Slept::Found(found);
        }
        core::hint::spin_loop();
    }
    let is_armed = (waiting.arm)(end);
    if !is_armed && !*is_refused {
        *is_refused = true;
        return Slept::Woken;
    }
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    if left == Some(Duration::ZERO) {
        return Slept::Late;
    }
    let limit = if *is_refused && !is_armed { Some(left.map_or(SHORT, |left| left.min(SHORT))) } else { left };
    *is_refused = !is_armed;
    // Rounded up, and at most a day: then it is called again.
    let limit = limit.map_or(-1, |limit| limit.as_nanos().div_ceil(1_000_000).min(86_400_000) as i32);
    let mut descriptor = libc::pollfd { fd: end.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which lives as long as the call.
    if unsafe { libc::poll(&mut descriptor, 1, limit) } < 0 { Slept::Signal } else { Slept::Woken }
}

/// Looks before an end sleeps; on one processor none, as nobody publishes meanwhile.
fn usual_spin() -> u32 {
    static LOOKS: OnceLock<u32> = OnceLock::new();
    let are_many = || std::thread::available_parallelism().map_or(1, NonZero::get) > 1;
    *LOOKS.get_or_init(|| if are_many() { SPIN } else { 0 })
}
