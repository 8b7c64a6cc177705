//! Receivers, as callers see them. One thread at a time; a receiver may move between threads.

mod inner;

use core::ffi::{c_int, c_void};
use core::ptr;

use ysuite::in_place::RecvWindow;

pub(crate) use self::inner::RxInner;
use crate::beside;
use crate::code::{Answer, YS_EINVAL, YS_ENOTSUP, YS_OK};
use crate::limit::Limit;
use crate::side::{self, Kind, Side, Slots, calls, enter, step};
use crate::steps::{RxCalls, RxSteps, Step};
use crate::stopper::ys_stopper;

/// A receiver. One thread at a time; it may move between threads. Freed by ys_rx_free.
pub struct ys_rx {
    _opaque: [u8; 0],
}

impl Kind for ys_rx {
    const FREE: &'static str = "ys_rx_free";
    const EXPECT: &'static str = "ys_rx_expect";
    const BY_CHANNEL: RxCalls = RxCalls { recv, peek, consume };

    type Window = RecvWindow;
    type Calls = RxCalls;
    type Steps = RxSteps;
    type Inner = dyn RxInner;

    fn shut() -> RecvWindow {
        RecvWindow::shut()
    }

    fn calls(steps: &RxSteps, is_shown: bool) -> RxCalls {
        if is_shown { steps.shown } else { steps.own }
    }
}

/// # Safety
/// As of [`ys_recv`], of pointers that are not NULL.
#[inline(always)]
unsafe fn recv_by_step(rx: *mut ys_rx, message: *mut c_void) -> Step {
    // SAFETY: by the caller.
    unsafe {
        step(rx, |rx, steps| {
            let size = rx.size;
            (steps.recv)(rx.window(), message.cast(), size)
        })
    }
    .unwrap_or(Step::Call)
}

/// After a step of which a sender must be notified.
///
/// # Safety
/// As of [`enter`].
#[cold]
#[inline(never)]
pub(crate) unsafe extern "C" fn credited(rx: *mut ys_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        enter(rx, |rx| {
            rx.look(|inner| inner.credit());
            c_int::from_code(YS_OK)
        })
    }
}

/// Receives a message; waits for one without a time limit. Wait-free while messages are there (mpmc: lock-free),
/// and then without a system call. Otherwise polls for a while, as ys_rx_set_spin says, and sleeps.
///
/// @param rx the receiver
/// @param message where the message is put, which is the caller's from then on
/// @return YS_OK; YS_CLOSED: there is none, and none will come; YS_LAGGED: a receiver of a broadcast has lost messages
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_recv(rx: *mut ys_rx, message: *mut c_void) -> c_int {
    if rx.is_null() || message.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { (calls(rx).recv)(rx, message) }
}

/// # Safety
/// As of [`ys_recv`].
#[cold]
#[inline(never)]
pub(crate) unsafe extern "C" fn recv(rx: *mut ys_rx, message: *mut c_void) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |rx| rx.find(|inner, stop| inner.recv(message.cast(), stop))) }
}

/// Receives a message if there is one, as ys_recv_for with a time of 0. Never blocks.
///
/// @param rx the receiver
/// @param message where the message is put, which is the caller's from then on
/// @return YS_OK; YS_EMPTY; YS_CLOSED: there is none, and none will come
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_try_recv(rx: *mut ys_rx, message: *mut c_void) -> c_int {
    // SAFETY: by the caller.
    unsafe { ys_recv_for(rx, message, 0) }
}

/// Receives a message; waits for one no longer than ns nanoseconds.
///
/// @param rx the receiver. One that is attached to a set and finds nothing at a time of 0 takes its id down
/// @param message where the message is put, which is the caller's from then on
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT; YS_CLOSED: there is none, and none will come
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_recv_for(rx: *mut ys_rx, message: *mut c_void, ns: i64) -> c_int {
    if rx.is_null() || message.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe {
        match recv_by_step(rx, message) {
            Step::Done => c_int::from_code(YS_OK),
            Step::Call => {
                enter(rx, |rx| rx.find(|inner, stop| inner.recv_for(message.cast(), Limit::from_nanoseconds(ns), stop)))
            }
            Step::Tell => credited(rx),
        }
    }
}

/// Receives many messages: waits for the first, then takes what is there.
///
/// @param rx the receiver
/// @param messages where they are put, each one message size after the last: an array of the caller's type
/// @param max how many at most. 0 receives nothing and never waits: a loop over a computed number
///     sees YS_CLOSED all the same. What ys_peek has shown stays so then
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return how many, at least 1 unless max is 0; YS_EMPTY (where ns is 0), YS_TIMEOUT, neither where max is 0; YS_CLOSED: there is
///     none, and none will come, also where max is 0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_recv_batch(rx: *mut ys_rx, messages: *mut c_void, max: usize, ns: i64) -> isize {
    // SAFETY: by the caller.
    unsafe {
        enter(rx, |rx| {
            if max == 0 {
                return rx.look(|inner| inner.recv_none());
            }
            // MUTANT: No array has that many messages.
            if messages.is_null() || max > isize::MAX as usize / rx.stride() {
                return isize::from_code(YS_EINVAL);
            }
            rx.find(|inner, stop| inner.recv_batch(messages.cast(), max, Limit::from_nanoseconds(ns), stop))
        })
    }
}

/// Shows the next messages in place: those that are side by side, ys_rx_stride apart. They stay in the channel,
/// until ys_consume takes them out or any other call for this receiver receives them. Never blocks. spsc and mpsc
/// only.
///
/// @param rx the receiver. One that is attached to a set and finds nothing takes its id down
/// @param at where the address of the first message is put
/// @return how many, at least 1; YS_EMPTY; YS_CLOSED: there is none, and none will come; YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_peek(rx: *mut ys_rx, at: *mut *mut c_void) -> isize {
    if at.is_null() {
        return isize::from_code(YS_EINVAL);
    }
    // MUTANT: Speed only: the call does what the window would have done.
    // SAFETY: by the caller.
    unsafe { if rx.is_null() { peek(rx, at) } else { (calls(rx).peek)(rx, at) } }
}

/// By the channel.
///
/// # Safety
/// As of [`ys_peek`]; `at` is not NULL.
#[cold]
#[inline(never)]
pub(crate) unsafe extern "C" fn peek(rx: *mut ys_rx, at: *mut *mut c_void) -> isize {
    // SAFETY: by the caller.
    unsafe {
        *at = ptr::null_mut();
        enter(rx, |rx| {
            let mut first = ptr::null_mut();
            let answer = rx.find(|inner, _| inner.peek(&mut first));
            if let Ok(count) = usize::try_from(answer) {
                rx.slots = Slots { count, first, next: rx.window().next, by_window: false };
            }
            *at = first.cast();
            answer
        })
    }
}

/// Takes the first n messages of those that ys_peek has shown out of the channel: the caller has moved them out or destroyed them,
/// and their slots are free. The callback is not called for them. What was shown after them can still be consumed.
/// Never blocks. spsc and mpsc only.
///
/// @param rx the receiver
/// @param n how many
/// @return YS_OK; YS_EINVAL: more than are shown, and nothing has changed; YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_consume(rx: *mut ys_rx, n: usize) -> c_int {
    if rx.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { (calls(rx).consume)(rx, n) }
}

/// By the channel.
///
/// # Safety
/// As of [`ys_consume`].
#[cold]
#[inline(never)]
pub(crate) unsafe extern "C" fn consume(rx: *mut ys_rx, n: usize) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |rx| consume_further(rx, n)) }
}

// MUTANT: To consume no message changes nothing and is no error.
/// What the window has not shown, or cannot take.
fn consume_further(rx: &mut Side<ys_rx>, n: usize) -> c_int {
    // Checked before the numbers: a receiver that never shows anything would report too many, or none consumed.
    if !rx.inner().shows() {
        return c_int::from_code(YS_ENOTSUP);
    }
    let Slots { count, next, .. } = rx.slots;
    let count = if next == rx.window().next { count } else { 0 };
    if n > count {
        return c_int::from_code(YS_EINVAL);
    }
    if n == 0 {
        return c_int::from_code(YS_OK);
    }
    let code = rx.call(|inner| inner.consume(n));
    rx.slots = Slots { count: count - n, first: ptr::null_mut(), next: rx.window().next, by_window: false };
    code
}

// MUTANT: Speed only: the call does what the window would have done. A sender is notified of room for which it does
// not wait.
/// Receives one message in place: it belongs to the caller, which moves it out or destroys it before the next call
/// for this receiver. spsc and mpsc only.
///
/// @param rx the receiver. One that is attached to a set and finds nothing at a time of 0 takes its id down
/// @param at where the address of the message is put
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT; YS_CLOSED: there is none, and none will come; YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_take(rx: *mut ys_rx, at: *mut *mut c_void, ns: i64) -> c_int {
    if at.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe {
        *at = ptr::null_mut();
        if rx.is_null() {
            return c_int::from_code(YS_EINVAL);
        }
        let taken = step(rx, |rx, steps| (steps.take)(rx.window()));
        if let Some((first, step @ (Step::Done | Step::Tell))) = taken {
            *at = first.cast();
            return if step == Step::Tell { credited(rx) } else { c_int::from_code(YS_OK) };
        }
        enter(rx, |rx| {
            let mut message = ptr::null_mut();
            let code = rx.find(|inner, stop| inner.take(&mut message, Limit::from_nanoseconds(ns), stop));
            *at = message.cast();
            code
        })
    }
}

/// Waits until there is a message, without taking it. spsc, mpsc and oneshot only.
///
/// @param rx the receiver
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return YS_OK: there is one; YS_EMPTY (where ns is 0), YS_TIMEOUT; YS_CLOSED: there is none, and none will come; YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_wait(rx: *mut ys_rx, ns: i64) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |rx| rx.find(|inner, stop| inner.wait(Limit::from_nanoseconds(ns), stop))) }
}

/// Makes another receiver of the same channel, of a broadcast with the same messages to come. Allocates. mpmc, broadcast
/// and watch only.
///
/// @param rx the receiver
/// @param other receives the new handle; NULL after an error
/// @return YS_OK; YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_clone(rx: *mut ys_rx, other: *mut *mut ys_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { side::clone(rx, other) }
}

/// Closes the channel: from now on sends fail, and senders that wait for room are woken and keep their messages. What was sent
/// before is still received; then receiving returns YS_CLOSED. Freeing the receiver would drop it instead. Of a watch it
/// closes this receiver only. The receiver must still be freed. Never blocks.
///
/// @param rx the receiver
/// @return YS_OK; YS_CLOSED: it was closed before, or all senders are gone
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_close(rx: *mut ys_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { side::close(rx) }
}

/// Whether nothing more will be sent. Messages may still be there. Never blocks.
///
/// @param rx the receiver
/// @return 1 or 0, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_is_closed(rx: *const ys_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { side::is_closed(rx) }
}

/// How many messages are in the channel. Never blocks; takes time in proportion to that number, and in an mpsc
/// channel to that of its senders.
///
/// @param rx the receiver
/// @return how many, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_len(rx: *const ys_rx) -> isize {
    // SAFETY: by the caller.
    unsafe { side::len(rx) }
}

/// Sets what this receiver does before it sleeps when there is no message, from the next wait on. No effect in a broadcast or a
/// watch, whose receivers never spin.
///
/// @param rx the receiver
/// @param spin a ys_spin: YS_SPIN_NONE, YS_SPIN_ADAPTIVE (the default) or YS_SPIN_FOREVER
/// @return YS_OK; YS_EINVAL: no such way; YS_ENOTSUP: a oneshot
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_set_spin(rx: *mut ys_rx, spin: c_int) -> c_int {
    // SAFETY: by the caller.
    unsafe { side::set_spin(rx, spin) }
}

/// How far apart the channel's slots are, in bytes: the size of the class of its messages. Any thread.
///
/// @param rx the receiver
/// @return bytes; 0 with EINVAL in errno: no handle
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_stride(rx: *const ys_rx) -> usize {
    // SAFETY: by the caller.
    unsafe { beside::stride(rx) }
}

/// How many bytes a message of the channel has: what was given when it was opened. Any thread.
///
/// @param rx the receiver
/// @return bytes; 0 with EINVAL in errno: no handle
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_message_size(rx: *const ys_rx) -> usize {
    // SAFETY: by the caller.
    unsafe { beside::message_size(rx) }
}

/// What messages of the channel are aligned to: what was given when it was opened, or 8 for 0. Any thread.
///
/// @param rx the receiver
/// @return bytes; 0 with EINVAL in errno: no handle
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_message_align(rx: *const ys_rx) -> usize {
    // SAFETY: by the caller.
    unsafe { beside::message_align(rx) }
}

/// Whether the channel has messages of this size, in slots of this alignment. The calls of a handle take addresses,
/// and know no types: if a handle comes from elsewhere, as a pointer, this checks its message type. Any thread.
///
/// @param rx the receiver
/// @param size how many bytes a message of the caller's has
/// @param align what it is aligned to
/// @return YS_OK; YS_EINVAL: another size, or slots that are aligned to less; or no handle. The checked build
///     ends the process there, with a sentence that has both
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_expect(rx: *const ys_rx, size: usize, align: usize) -> c_int {
    // SAFETY: by the caller.
    unsafe { beside::expect(rx, size, align) }
}

/// Makes a stopper for the channel, by which any thread ends the waits of all its handles: see ys_stop. Allocates.
/// Any thread.
///
/// @param rx a receiver of the channel
/// @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
/// @return YS_OK; YS_EINVAL: a null pointer
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_stopper(rx: *const ys_rx, stopper: *mut *mut ys_stopper) -> c_int {
    // SAFETY: by the caller.
    unsafe { beside::stopper(rx, stopper) }
}

/// Makes a stopper for the waits of this handle alone, from now on: see ys_stop. To wait anew after it was stopped, make
/// another, which replaces it. The handle's own thread calls this; any thread may use the stopper. Allocates.
///
/// @param rx the receiver
/// @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
/// @return YS_OK; YS_EINVAL: a null pointer
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_wait_stopper(rx: *mut ys_rx, stopper: *mut *mut ys_stopper) -> c_int {
    // SAFETY: by the caller.
    unsafe { side::wait_stopper(rx, stopper) }
}

/// How many messages this receiver of a broadcast has lost in all, because it was too slow. Never blocks.
///
/// @param rx the receiver
/// @return how many; YS_ENOTSUP: not a broadcast's
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_missed(rx: *const ys_rx) -> isize {
    let missed = |missed: u64| isize::try_from(missed).unwrap_or(isize::MAX);
    // SAFETY: by the caller.
    unsafe { enter(rx, |rx| rx.look(|inner| inner.missed().map_or(isize::from_code(YS_ENOTSUP), missed))) }
}

/// Copies the newest value of a watch, seen or not, also after the senders are gone. It does not count as seen. Waits
/// for a sender that is changing it.
///
/// @param rx the receiver
/// @param message where the value is put
/// @return YS_OK; YS_CLOSED: this receiver was closed; YS_ENOTSUP: not a watch's
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_watch_get(rx: *mut ys_rx, message: *mut c_void) -> c_int {
    if message.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { enter(rx, |rx| rx.call(|inner| inner.newest(message.cast()))) }
}

/// An address that all handles of the channel share, and no other channel has. For comparison only. Any thread.
///
/// @param rx the receiver
/// @return the address; NULL with EINVAL in errno: no handle
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_channel(rx: *const ys_rx) -> *const c_void {
    // SAFETY: by the caller.
    unsafe { beside::address(rx) }
}

/// Frees the receiver. With the last receiver the channel is closed: sends fail, and messages that are still there
/// are dropped, by the channel's callback.
///
/// @param rx the handle, which must not be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_free(rx: *mut ys_rx) {
    // SAFETY: by the caller.
    unsafe { side::free(rx) }
}

// MUTANT: Speed only: the call does what the window would have done.
/// For the inline functions of the header only: after takes that have found the word of the window not 0.
///
/// @param rx the receiver
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_credit(rx: *mut ys_rx) {
    // SAFETY: by the caller.
    unsafe {
        enter(rx, |rx| {
            if rx.is_shown() {
                rx.look(|inner| inner.credit());
            }
        });
    }
}
