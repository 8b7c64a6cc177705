//! Stoppers: any thread ends the waits of others with one, for a shutdown.
//!
//! Any thread, any number at once. To stop takes a lock that others hold for some instructions as they go to sleep and when they are
//! awake again. A stopper may outlive what it stops.
//!
//! Cannot: begin anew. What was stopped stays so.

use core::ffi::c_int;
use core::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use ysuite::in_place::Stop;
use ysuite::signal::{Attach, AttachError, Registration};

use crate::code::{Answer, YS_EINVAL, YS_OK};
use crate::handle::{self, Content, Everyones, Handle};

/// Ends the waits of a channel, a set, a select or a pool. Any number of threads at once. Freed by ys_stopper_free.
pub struct ys_stopper {
    _opaque: [u8; 0],
}

/// What a stopper stops.
pub(crate) trait Stops: Send + Sync {
    fn stop(&self);
    fn is_stopped(&self) -> bool;
}

struct Stopper(Arc<dyn Stops>);

impl Content for Stopper {
    const FREE: &'static str = "ys_stopper_free";

    type Shared = ();

    fn share(&self) {}
}

impl Everyones for Stopper {}

/// Makes a stopper of what a handle shares, which any thread may read.
///
/// # Safety
/// `stopper` is NULL, or a place for one; the handle as of [`handle::look_beside`].
pub(crate) unsafe fn make<C: Content, S: Stops + 'static>(
    handle: *const Handle<C>,
    stopper: *mut *mut ys_stopper,
    stops: impl FnOnce(&C::Shared) -> Arc<S>,
) -> c_int {
    if stopper.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe {
        *stopper = ptr::null_mut();
        handle::look_beside(handle, |shared| give(stopper, stops(shared)))
    }
}

/// Makes a stopper.
///
/// # Safety
/// `stopper` is a place for one.
pub(crate) unsafe fn give(stopper: *mut *mut ys_stopper, stops: Arc<dyn Stops>) -> c_int {
    // SAFETY: by the caller.
    unsafe { *stopper = Handle::make(Stopper(stops)).cast() };
    c_int::from_code(YS_OK)
}

/// What stops the owner of a set, which sleeps there: an id of its own goes up.
#[derive(Default)]
pub(crate) struct OwnersStop {
    stop: Stop,
    /// In the set until the owner is gone.
    registration: Mutex<Option<Registration>>,
}

impl OwnersStop {
    /// Puts the id up, once it is stopped: each time that the owner has taken it.
    pub(crate) fn raise(&self) {
        let registration = self.registration.lock().unwrap_or_else(PoisonError::into_inner);
        registration.iter().for_each(Registration::raise);
    }
}

impl Stops for OwnersStop {
    fn stop(&self) {
        self.stop.set();
        self.raise();
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_set()
    }
}

/// As a handle that never has a message, until it is stopped.
pub(crate) struct StopEnd<'a>(pub(crate) &'a OwnersStop);

impl Attach for StopEnd<'_> {
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        *self.0.registration.lock().unwrap_or_else(PoisonError::into_inner) = Some(registration);
        Ok(())
    }

    fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        self.0.registration.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(look);
    }

    fn detach(&mut self) -> bool {
        self.0.registration.lock().unwrap_or_else(PoisonError::into_inner).take().is_some()
    }
}

/// Ends all waits of what the stopper is for, now and from now on. A waiting thread is woken, and its call returns
/// YS_STOPPED. A call that would have to wait returns that at once, and so does one that may not wait, in place of
/// YS_EMPTY, YS_FULL or YS_TIMEOUT. What can be done without waiting is done as before: messages that are there are
/// received, and sent if there is room. Handles in sets and selects are reported. It cannot be undone.
///
/// Any thread, any number of times; it does not wait for those that it wakes. One system call for each thread that
/// sleeps. A thread that gets YS_STOPPED sees what was done before. Not from a signal handler. Without effect if
/// all handles are gone.
///
/// @param stopper the stopper
/// @return YS_OK; YS_EINVAL: NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_stop(stopper: *const ys_stopper) -> c_int {
    let stop = |stopper: &Stopper| {
        stopper.0.stop();
        c_int::from_code(YS_OK)
    };
    // SAFETY: by the caller. Any thread may use a stopper.
    unsafe { handle::look(stopper.cast::<Handle<Stopper>>(), stop) }
}

/// Whether ys_stop was called for what the stopper is for. Any thread; wait-free.
///
/// @param stopper the stopper
/// @return 1 or 0, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_is_stopped(stopper: *const ys_stopper) -> c_int {
    // SAFETY: by the caller. Any thread may use a stopper.
    unsafe { handle::look(stopper.cast::<Handle<Stopper>>(), |stopper: &Stopper| c_int::from(stopper.0.is_stopped())) }
}

/// Frees a stopper. Stops nothing.
///
/// @param stopper the stopper, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_stopper_free(stopper: *mut ys_stopper) {
    // SAFETY: by the caller.
    unsafe { handle::free(stopper.cast::<Handle<Stopper>>()) }
}
