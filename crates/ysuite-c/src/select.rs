//! Waiting for the first of several handles.

use core::ffi::c_int;
use core::ptr;
use std::sync::Arc;

use ysuite::signal::{Attach, AttachError, ReadySet, Registration};

use crate::code::{Answer, YS_EATTACHED, YS_EINVAL, YS_ETOOMANY, YS_OK, YS_STOPPED};
use crate::handle::{self, Content, Handle};
use crate::limit::Limit;
use crate::rx::ys_rx;
use crate::set::{MOST, refusal};
use crate::side;
use crate::stopper::{self, Owner, OwnersStop, StopEnd, ys_stopper};
use crate::timer::{Ticking, ys_timer};
use crate::tx::ys_tx;

/// Waits for one of several handles, of any channels: receivers that may have a message, senders that may have
/// room. One thread at a time; it may move between threads. Freed by ys_select_free.
pub struct ys_select {
    _opaque: [u8; 0],
}

/// The content of the handle.
struct Selecting {
    select: ReadySet<'static>,
    owner: Owner,
    /// The id of the stop, which callers know nothing of: theirs are counted without it.
    stop_id: usize,
}

impl Content for Selecting {
    const FREE: &'static str = "ys_select_free";

    type Shared = Arc<OwnersStop>;

    fn share(&self) -> Arc<OwnersStop> {
        self.owner.stop.clone()
    }
}

impl Selecting {
    fn new(ends: usize) -> Self {
        let (mut select, owner) = (ReadySet::with_capacity(ends + 1), Owner::default());
        // There is room for one more than callers have.
        let stop_id = select.add(&mut StopEnd(&owner.stop)).unwrap_or(usize::MAX);
        Self { select, owner, stop_id }
    }

    /// An id as callers know it.
    fn callers(&self, id: usize) -> usize {
        if id > self.stop_id { id - 1 } else { id }
    }

    /// What is to be said where something was added.
    ///
    /// # Safety
    /// There is room for an id.
    unsafe fn added(&self, added: Result<usize, AttachError>, id: *mut usize) -> c_int {
        let code = match added {
            Ok(added) => {
                // SAFETY: by the caller.
                unsafe { *id = self.callers(added) };
                YS_OK
            }
            // No id was asked for: all are taken.
            Err(AttachError::IdTaken { .. }) => YS_ETOOMANY,
            Err(error) => refusal(error),
        };
        c_int::from_code(code)
    }

    /// What is to be said where this id was named.
    fn named(&mut self, id: Option<usize>, limit: Limit) -> isize {
        // Handles that are ready come first.
        let id = if id == Some(self.stop_id) { self.select.try_wait() } else { id };
        match id {
            Some(id) if id == self.stop_id => isize::from_code(YS_STOPPED),
            Some(id) => self.callers(id) as isize,
            None => isize::from_code(limit.empty()),
        }
    }
}

/// A handle of any type.
struct AnyEnd<'a>(&'a mut dyn Attach);

impl Attach for AnyEnd<'_> {
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        self.0.attach_registration(registration)
    }

    fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        self.0.with_registration(look);
    }

    fn detach(&mut self) -> bool {
        self.0.detach()
    }
}

/// # Safety
/// As of [`handle::enter`].
unsafe fn enter<A: Answer>(select: *mut ys_select, call: impl FnOnce(&mut Selecting) -> A) -> A {
    // SAFETY: by the caller.
    unsafe { handle::enter(select.cast::<Handle<Selecting>>(), call) }
}

/// Opens a select.
///
/// @param ends for how many handles at a time: 1 to 262144
/// @param select where it is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_select_open(ends: usize, select: *mut *mut ys_select) -> c_int {
    if select.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *select = ptr::null_mut() };
    if !(1..=MOST).contains(&ends) {
        return c_int::from_code(YS_EINVAL);
    }
    handle::make(|| {
        // SAFETY: by the caller.
        unsafe { *select = Handle::make(Selecting::new(ends)).cast() };
        c_int::from_code(YS_OK)
    })
}

/// Waits for a receiver as well: until it may have a message, or nothing more will come.
///
/// @param select the select
/// @param rx the handle, which no other thread is using. Freeing it takes it out
/// @param id receives the id by which it will be reported
/// @return YS_OK; YS_EATTACHED: the handle is in a select or a set already; YS_ETOOMANY: the select is full
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_select_add_rx(select: *mut ys_select, rx: *mut ys_rx, id: *mut usize) -> c_int {
    if id.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { enter(select, |select| side::enter(rx, |rx| rx.attach(|end| add(select, end, id)))) }
}

/// Waits for a sender as well: until it may have room, or there is no receiver any more.
///
/// @param select the select
/// @param tx the handle, which no other thread is using. Freeing it takes it out
/// @param id receives the id by which it will be reported
/// @return YS_OK; YS_EATTACHED: the handle is in a select or a set already; YS_ETOOMANY: the select is full;
///     YS_ENOTSUP: the sender of a oneshot, a broadcast or a watch
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_select_add_tx(select: *mut ys_select, tx: *mut ys_tx, id: *mut usize) -> c_int {
    if id.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { enter(select, |select| side::enter(tx, |tx| tx.attach(|end| add(select, end, id)))) }
}

/// # Safety
/// There is room for an id.
unsafe fn add(select: &mut Selecting, end: &mut dyn Attach, id: *mut usize) -> c_int {
    let added = select.select.add(&mut AnyEnd(end));
    // SAFETY: by the caller.
    unsafe { select.added(added, id) }
}

fn remove(select: &mut Selecting, end: &mut dyn Attach) -> c_int {
    c_int::from_code(select.select.remove(&mut AnyEnd(end)).map_or(YS_EATTACHED, |_| YS_OK))
}

/// Waits for this receiver no longer. Its id is free, and may be reported once more, spuriously.
///
/// @param select the select
/// @param rx the handle, which no other thread is using
/// @return YS_OK; YS_EATTACHED: it is not in this select
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_select_remove_rx(select: *mut ys_select, rx: *mut ys_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(select, |select| side::enter(rx, |rx| rx.attach(|end| remove(select, end)))) }
}

/// Waits for this sender no longer. Its id is free, and may be reported once more, spuriously.
///
/// @param select the select
/// @param tx the handle, which no other thread is using
/// @return YS_OK; YS_EATTACHED: it is not in this select; YS_ENOTSUP: the sender of a oneshot, a broadcast or a watch
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_select_remove_tx(select: *mut ys_select, tx: *mut ys_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(select, |select| side::enter(tx, |tx| tx.attach(|end| remove(select, end)))) }
}

/// Waits for a timer as well: until a tick is due, which ys_timer_wait takes.
///
/// @param select the select
/// @param timer the timer, which the select keeps as long as it waits for it
/// @param id receives the id by which it will be reported
/// @return YS_OK, also if it is in the select already: it then has another id as well; YS_ETOOMANY: the select is full
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_select_add_timer(select: *mut ys_select, timer: *const ys_timer, id: *mut usize) -> c_int {
    if id.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    let add = |select: &mut Selecting, timer: &Ticking| {
        let added = select.select.add_timer(&timer.0);
        // SAFETY: by the caller there is room.
        unsafe { select.added(added, id) }
    };
    // SAFETY: by the caller. Any thread may use a timer.
    unsafe { enter(select, |select| handle::look(timer.cast::<Handle<Ticking>>(), |timer| add(select, timer))) }
}

/// Waits for this timer no longer. Its id is free.
///
/// @param select the select
/// @param timer the timer
/// @return YS_OK; YS_EATTACHED: it is not in this select
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_select_remove_timer(select: *mut ys_select, timer: *const ys_timer) -> c_int {
    let remove = |select: &mut Selecting, timer: &Ticking| {
        c_int::from_code(select.select.remove_timer(&timer.0).map_or(YS_EATTACHED, |_| YS_OK))
    };
    // SAFETY: by the caller. Any thread may use a timer.
    unsafe { enter(select, |select| handle::look(timer.cast::<Handle<Ticking>>(), |timer| remove(select, timer))) }
}

/// Waits for a handle that is ready. Each is reported in its turn, and again until ys_try_recv finds nothing, or
/// ys_try_send no room; every handle is reported at first. Without any handle it waits until the time is up.
///
/// @param select the select
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return the id of the handle; YS_EMPTY (if ns is 0), YS_TIMEOUT; YS_STOPPED: no handle is ready, and ys_stop was
/// called for the select or its waits
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_select_wait(select: *mut ys_select, ns: i64) -> isize {
    let limit = Limit::from_nanoseconds(ns);
    let wait = |select: &mut Selecting| {
        let named = match limit {
            Limit::Now => select.select.try_wait(),
            Limit::Within(time) => select.select.wait_timeout(time),
            Limit::Never => Some(select.select.wait()),
        };
        select.named(named, limit)
    };
    // SAFETY: by the caller.
    unsafe { enter(select, wait) }
}

/// Makes a stopper for the select, by which any thread ends the wait of the waiting thread: see ys_stop. Allocates.
/// Any thread.
///
/// @param select the select
/// @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
/// @return YS_OK; YS_EINVAL: a null pointer
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_select_stopper(select: *const ys_select, stopper: *mut *mut ys_stopper) -> c_int {
    // SAFETY: by the caller.
    unsafe { stopper::make(select.cast::<Handle<Selecting>>(), stopper, Arc::clone) }
}

/// Makes a stopper for the waits from now on: see ys_stop. To wait anew after it was stopped, make another, which replaces it. The
/// thread that waits here calls this; any thread may use the stopper. Allocates.
///
/// @param select the select
/// @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
/// @return YS_OK; YS_EINVAL: a null pointer
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_select_wait_stopper(select: *mut ys_select, stopper: *mut *mut ys_stopper) -> c_int {
    // SAFETY: by the caller.
    unsafe { stopper::at(stopper, || enter(select, |select| select.owner.wait_stopper(stopper))) }
}

/// Frees a select. Handles that are still in it stay attached to it: to attach them elsewhere, remove them before.
///
/// @param select the select, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_select_free(select: *mut ys_select) {
    // SAFETY: by the caller.
    unsafe { handle::free(select.cast::<Handle<Selecting>>()) }
}
