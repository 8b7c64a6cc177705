//! Stoppers: any thread ends the waits of others with one, for a shutdown.
//!
//! Any thread, any number at once. To stop takes a lock that others hold for some instructions as they go to sleep and when they are
//! awake again. A stopper may outlive what it stops.
//!
//! Cannot: begin anew. What was stopped stays so, unless its owner asks for another wait stopper.

use core::ffi::c_int;
use core::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

    /// What a wait can be given that it is to end.
    fn of_a_wait(&self) -> Option<&Stop> {
        None
    }
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
    // SAFETY: by the caller.
    unsafe { at(stopper, || handle::look_beside(handle, |shared| give(stopper, stops(shared)))) }
}

/// Runs a call that makes a stopper, where there is a place for it. NULL is there unless the call gives one.
///
/// # Safety
/// `stopper` is NULL, or a place for one.
pub(crate) unsafe fn at(stopper: *mut *mut ys_stopper, call: impl FnOnce() -> c_int) -> c_int {
    if stopper.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *stopper = ptr::null_mut() };
    call()
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

/// Runs a call with what a wait can be given; `None` where the stopper is for something else.
///
/// # Safety
/// A stopper, or NULL. Any thread may use it.
pub(crate) unsafe fn with_wait<A: Answer>(stopper: *const ys_stopper, call: impl FnOnce(Option<&Stop>) -> A) -> A {
    // SAFETY: by the caller.
    unsafe { handle::look(stopper.cast::<Handle<Stopper>>(), |stopper: &Stopper| call(stopper.0.of_a_wait())) }
}

/// What stops the owner of a set, which sleeps there: an id of its own goes up.
#[derive(Default)]
pub(crate) struct OwnersStop {
    stop: Stop,
    place: Mutex<Place>,
}

#[derive(Default)]
struct Place {
    /// In the set until the owner is gone.
    registration: Option<Registration>,
    /// What stops the waits of now.
    wait: Option<Arc<Stop>>,
}

impl OwnersStop {
    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stops for OwnersStop {
    fn stop(&self) {
        self.stop.set();
        self.place().registration.iter().for_each(Registration::raise);
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_set()
    }
}

/// What stops the owner of a set until it waits anew.
struct WaitStop {
    stop: Arc<Stop>,
    of: Arc<OwnersStop>,
}

impl Stops for WaitStop {
    fn stop(&self) {
        // Under the lock: once another has taken the place, this one does not put the id up any more.
        let place = self.of.place();
        self.stop.set();
        if place.wait.as_ref().is_some_and(|wait| Arc::ptr_eq(wait, &self.stop)) {
            place.registration.iter().for_each(Registration::raise);
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_set() || self.of.is_stopped()
    }
}

/// The owner of a set, who is stopped for good or for a while.
#[derive(Default)]
pub(crate) struct Owner {
    pub(crate) stop: Arc<OwnersStop>,
    /// That of [`Place::wait`], which only the owner changes.
    wait: Option<Arc<Stop>>,
}

impl Owner {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_stopped() || self.wait.as_ref().is_some_and(|wait| wait.is_set())
    }

    /// Makes a stopper for the waits from now on, in place of the one before.
    ///
    /// # Safety
    /// `stopper` is a place for one.
    pub(crate) unsafe fn wait_stopper(&mut self, stopper: *mut *mut ys_stopper) -> c_int {
        // One that has not stopped anything so far will do.
        let wait = self.wait.take().filter(|wait| !wait.is_set()).unwrap_or_else(|| self.begin_anew());
        self.wait = Some(wait.clone());
        // SAFETY: by the caller.
        unsafe { give(stopper, Arc::new(WaitStop { stop: wait, of: self.stop.clone() })) }
    }

    fn begin_anew(&self) -> Arc<Stop> {
        let wait = Arc::<Stop>::default();
        let mut place = self.stop.place();
        place.wait = Some(wait.clone());
        // What stops for good looks at the place after it is set.
        if !self.stop.is_stopped() {
            place.registration.iter().for_each(Registration::lower);
        }
        wait
    }
}

/// As a handle that never has a message, until it is stopped.
pub(crate) struct StopEnd<'a>(pub(crate) &'a OwnersStop);

impl Attach for StopEnd<'_> {
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        self.0.place().registration = Some(registration);
        Ok(())
    }

    fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        self.0.place().registration.iter().for_each(look);
    }

    fn detach(&mut self) -> bool {
        self.0.place().registration.take().is_some()
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
