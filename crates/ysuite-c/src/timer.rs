//! Timers: moments that are waited for as messages are, alone or in a select.
//!
//! Any thread, any number at once: each tick goes to one of them. A wait that is over takes one system call.
//!
//! Cannot: be in a set with a descriptor; be stopped, but by the stopper of a select.

use core::ffi::c_int;
use core::ptr;
use core::time::Duration;

use ysuite::timer::{self, Timer};

use crate::code::{Answer, YS_EINVAL, YS_OK};
use crate::handle::{self, Content, Everyones, Handle};
use crate::limit::Limit;

/// A moment, or one after the other. Any number of threads at once. Freed by ys_timer_free.
pub struct ys_timer {
    _opaque: [u8; 0],
}

pub(crate) struct Ticking(pub(crate) Timer);

impl Content for Ticking {
    const FREE: &'static str = "ys_timer_free";

    type Shared = ();

    fn share(&self) {}
}

impl Everyones for Ticking {}

/// # Safety
/// `timer` is NULL or a place for one.
unsafe fn open(ns: i64, timer: *mut *mut ys_timer, make: impl FnOnce(Duration) -> Timer) -> c_int {
    if timer.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *timer = ptr::null_mut() };
    let Ok(time) = u64::try_from(ns) else { return c_int::from_code(YS_EINVAL) };
    handle::make(|| {
        // SAFETY: by the caller.
        unsafe { *timer = Handle::make(Ticking(make(Duration::from_nanos(time)))).cast() };
        c_int::from_code(YS_OK)
    })
}

/// Opens a timer with one tick. Allocates.
///
/// @param ns nanoseconds from now, at least 0
/// @param timer where it is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL: a null pointer, or less than 0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_timer_after(ns: i64, timer: *mut *mut ys_timer) -> c_int {
    // SAFETY: by the caller.
    unsafe { open(ns, timer, timer::after) }
}

/// Opens a timer with a tick one period from now, and at every whole number of periods from there. At most one tick
/// waits to be taken: those that are missed are skipped. Allocates.
///
/// @param ns nanoseconds of a period, at least 0, which is as 1
/// @param timer where it is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL: a null pointer, or less than 0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_timer_every(ns: i64, timer: *mut *mut ys_timer) -> c_int {
    // SAFETY: by the caller.
    unsafe { open(ns, timer, timer::tick) }
}

/// Waits for a tick, and takes it. Any thread. After the only tick of ys_timer_after there is none any more: a wait for ever
/// does not return.
///
/// @param timer the timer
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return YS_OK: a tick was due, and is taken; YS_EMPTY (where ns is 0), YS_TIMEOUT
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_timer_wait(timer: *const ys_timer, ns: i64) -> c_int {
    let limit = Limit::from_nanoseconds(ns);
    let wait = |ticking: &Ticking| {
        let is_due = match limit {
            Limit::Now => ticking.0.try_recv().is_ok(),
            Limit::Within(time) => ticking.0.recv_timeout(time).is_ok(),
            Limit::Never => ticking.0.recv().is_ok(),
        };
        c_int::from_code(if is_due { YS_OK } else { limit.empty() })
    };
    // SAFETY: by the caller. Any thread may use a timer.
    unsafe { handle::look(timer.cast::<Handle<Ticking>>(), wait) }
}

/// Frees a timer. One that is in a select stays there until the select is freed.
///
/// @param timer the timer, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_timer_free(timer: *mut ys_timer) {
    // SAFETY: by the caller.
    unsafe { handle::free(timer.cast::<Handle<Ticking>>()) }
}
