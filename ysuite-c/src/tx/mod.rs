//! Sending ends, as callers see them. One thread at a time; an end may move between threads.

mod end;

use core::ffi::{c_int, c_void};
use core::ptr;
use std::sync::Arc;

use ysuite::in_place::SendWindow;

pub(crate) use self::end::{TxEnd, ok_or};
use crate::channel::Channel;
use crate::code::{Answer, YS_CLOSED, YS_EINVAL, YS_ENOTSUP, YS_OK, YS_TIMEOUT};
use crate::disposal::Disposal;
use crate::handle::{self, Content, Handle};
use crate::limit::Limit;
use crate::spin::spin_from;

/// A sending end. One thread at a time; it may move between threads. Freed by ys_tx_free.
pub struct ys_tx {
    _opaque: [u8; 0],
}

/// What is behind the handle. The window is the first of it.
#[repr(C)]
pub(crate) struct Tx {
    state: TxState,
    end: Box<dyn TxEnd>,
    channel: Arc<Channel>,
}

/// What the handle knows beside the end itself.
#[repr(C)]
pub(crate) struct TxState {
    window: SendWindow,
    has_window: bool,
    /// How many slots the caller may fill and commit.
    reserved: usize,
    /// Where the window was then: one that has been moved on since takes the reservation away.
    next: *mut u8,
}

// SAFETY: a handle may move between threads with its caller, by the contract; the window points to memory of the end.
unsafe impl Send for TxState {}

impl Content for Tx {
    const FREE: &'static str = "ys_tx_free";

    #[inline(always)]
    fn disposal(&self) -> Option<Disposal> {
        self.channel.disposal
    }

    fn shut(&mut self) {
        self.state.window = SendWindow::shut();
        self.state.has_window = false;
        self.state.reserved = 0;
    }

    fn finish(&mut self) {
        // The end learns what was sent through the window.
        self.look(|_| ());
        self.shut();
    }
}

impl Tx {
    /// A call that leaves reserved slots alone.
    fn look<A>(&mut self, call: impl FnOnce(&mut (dyn TxEnd + 'static)) -> A) -> A {
        // SAFETY: by the contract the inline functions of the header have moved the window on, and nobody else.
        unsafe { self.state.between(&mut *self.end, call) }
    }

    /// Any other call: what was reserved is so no more.
    fn call<A>(&mut self, call: impl FnOnce(&mut (dyn TxEnd + 'static)) -> A) -> A {
        self.state.reserved = 0;
        self.look(call)
    }

    /// This end as a set sees it.
    pub(crate) fn attach<A: Answer>(&mut self, attach: impl FnOnce(&mut dyn ysuite::signal::Attach) -> A) -> A {
        self.call(|end| end.attachable().map_or(A::from_code(YS_ENOTSUP), attach))
    }
}

/// A handle of a sending end.
pub(crate) fn make(mut end: Box<dyn TxEnd>, channel: Arc<Channel>) -> *mut ys_tx {
    let has_window = channel.has_window;
    let window = if has_window { end.window() } else { SendWindow::shut() };
    let state = TxState { window, has_window, reserved: 0, next: ptr::null_mut() };
    Handle::make(Tx { state, end, channel }).cast()
}

/// Runs a call of the only thread that may use the end.
///
/// # Safety
/// As of [`handle::enter`].
#[inline(always)]
pub(crate) unsafe fn enter<A: Answer>(tx: *const ys_tx, call: impl FnOnce(&mut Tx) -> A) -> A {
    // SAFETY: by the caller.
    unsafe { handle::enter(tx.cast_mut().cast::<Handle<Tx>>(), call) }
}

/// Sends a message, visible at once, together with what was hidden. Without a bound it never waits; with a bound it waits for room
/// as long as it takes. Wait-free where there is room (exchange: lock-free), and then without a system call unless the receiver
/// sleeps.
///
/// @param tx the end
/// @param message the address of the message, which is copied
/// @return YS_OK: the channel has the message; any other code: it is still the caller's. YS_CLOSED: nobody receives any more
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_send(tx: *mut ys_tx, message: *const c_void) -> c_int {
    if message.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe {
        enter(tx, |tx| {
            tx.state.reserved = 0;
            tx.end.send_between(&mut tx.state, message.cast())
        })
    }
}

/// Sends a message if there is room, as ys_send_for with a time of 0. Never blocks.
///
/// @param tx the end
/// @param message the address of the message, which is copied
/// @return YS_OK: the channel has the message; any other code: it is still the caller's. YS_FULL, YS_CLOSED
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_try_send(tx: *mut ys_tx, message: *const c_void) -> c_int {
    // SAFETY: by the caller.
    unsafe { ys_send_for(tx, message, 0) }
}

/// Sends a message; waits for room no longer than ns nanoseconds.
///
/// @param tx the end. One that is attached to a set and finds no room at a time of 0 takes its id down
/// @param message the address of the message, which is copied
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return YS_OK: the channel has the message; any other code: it is still the caller's. YS_FULL (where ns is 0), YS_TIMEOUT,
///     YS_CLOSED
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_send_for(tx: *mut ys_tx, message: *const c_void, ns: i64) -> c_int {
    if message.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { enter(tx, |tx| tx.call(|end| end.send_for(message.cast(), Limit::from_nanoseconds(ns)))) }
}

/// Sends many messages, visible together, or, where a bound leaves no room, in several pieces with a wait in between.
///
/// @param tx the end
/// @param messages where they lie, each as many bytes behind the last as a message has: an array of the caller's type
/// @param n how many; 0 does nothing
/// @param ns nanoseconds for all of it; 0: never waits; less than 0: for ever
/// @return how many were sent. Fewer than n: the time was up, or the channel has closed; the others are still the caller's. None:
///     YS_FULL (where ns is 0), YS_TIMEOUT, YS_CLOSED
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_send_batch(tx: *mut ys_tx, messages: *const c_void, n: usize, ns: i64) -> isize {
    // SAFETY: by the caller.
    unsafe {
        enter(tx, |tx| {
            if n == 0 {
                return 0;
            }
            if messages.is_null() || n > isize::MAX as usize / tx.channel.stride {
                return isize::from_code(YS_EINVAL);
            }
            tx.call(|end| end.send_batch(messages.cast(), n, Limit::from_nanoseconds(ns)))
        })
    }
}

/// Puts a message into the channel, hidden until ys_flush, or any send. Where a bound leaves no room, what is hidden is sent, and
/// this waits for room. Where there is room it does not notice that the receiver is gone. Pipe and funnel only.
///
/// @param tx the end
/// @param message the address of the message, which is copied
/// @return YS_OK: the channel has the message; any other code: it is still the caller's. YS_CLOSED, YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_write(tx: *mut ys_tx, message: *const c_void) -> c_int {
    if message.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { enter(tx, |tx| tx.call(|end| end.write(message.cast()))) }
}

/// Makes what is hidden visible at once. Never blocks. Pipe and funnel only.
///
/// @param tx the end
/// @return YS_OK; YS_CLOSED: nobody receives any more, and what was hidden has been dropped; YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_flush(tx: *mut ys_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(tx, |tx| tx.call(|end| end.flush())) }
}

/// Gives the caller the next free slots that lie side by side, ys_tx_stride apart, to write messages into. They are the caller's
/// until the next call for this end but ys_commit, and those that only look: ys_tx_len, ys_tx_is_closed, ys_tx_stride,
/// ys_tx_channel. A message that was made in a slot and is not committed is the caller's to destroy. Never blocks. Pipe and funnel
/// only.
///
/// @param tx the end. One that is attached to a set and finds no room takes its id down
/// @param at where the address of the first slot is put
/// @return how many slots, at least 1; YS_FULL, YS_CLOSED, YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_reserve(tx: *mut ys_tx, at: *mut *mut c_void) -> isize {
    if at.is_null() {
        return isize::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe {
        *at = ptr::null_mut();
        enter(tx, |tx| {
            let mut first = ptr::null_mut();
            let count = tx.call(|end| end.reserve(&mut first));
            tx.state.reserved = usize::try_from(count).unwrap_or(0);
            tx.state.next = tx.state.window.next;
            *at = first.cast();
            count
        })
    }
}

/// Sends the messages that the caller has made in the first n reserved slots, visible together, with what was hidden. Ends the
/// reservation. Never blocks.
///
/// @param tx the end
/// @param n how many
/// @return how many were sent. Fewer than n: the channel has closed, and the messages from there on are the caller's again, in
///     their slots, until the next call for this end. None: YS_CLOSED. 0 where n is 0. More than were reserved: YS_EINVAL, and the
///     reservation stays
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_commit(tx: *mut ys_tx, n: usize) -> isize {
    // SAFETY: by the caller.
    unsafe {
        enter(tx, |tx| {
            let is_moved = tx.state.has_window && tx.state.window.next != tx.state.next;
            if n > if is_moved { 0 } else { tx.state.reserved } {
                return isize::from_code(YS_EINVAL);
            }
            if n == 0 {
                let code = tx.call(|end| end.flush());
                return if code == c_int::from_code(YS_ENOTSUP) { code as isize } else { 0 };
            }
            tx.call(|end| end.commit(n))
        })
    }
}

/// Waits until there is room for a message. What is hidden is sent before it waits. Pipe and funnel only.
///
/// @param tx the end
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return YS_OK: there is room; YS_FULL (where ns is 0), YS_TIMEOUT, YS_CLOSED, YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_wait_room(tx: *mut ys_tx, ns: i64) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(tx, |tx| tx.call(|end| end.wait_room(Limit::from_nanoseconds(ns)))) }
}

/// Makes another sending end of the same channel. Allocates. Funnel and exchange only. A clone of an end that is closed is closed.
///
/// @param tx the end
/// @param other where the new end is put; NULL is put there after an error
/// @return YS_OK; YS_ETOOMANY: a funnel has as many senders as it can have; YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_clone(tx: *mut ys_tx, other: *mut *mut ys_tx) -> c_int {
    if other.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe {
        *other = ptr::null_mut();
        enter(tx, |tx| match tx.call(|end| end.try_clone()) {
            Ok(end) => {
                *other = make(end, tx.channel.clone());
                c_int::from_code(YS_OK)
            }
            Err(code) => c_int::from_code(code),
        })
    }
}

/// Ends this sender's part of the channel, as freeing it does: what was hidden is sent, receivers get all that was sent, and learn
/// that nothing more will come when the last sender is closed or gone. In an exchange it closes the channel for all. The end is
/// still to be freed. Never blocks.
///
/// @param tx the end
/// @return YS_OK; YS_CLOSED: it was closed before, or nobody receives any more
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_close(tx: *mut ys_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(tx, |tx| c_int::from_code(if tx.call(|end| end.close()) { YS_OK } else { YS_CLOSED })) }
}

/// Waits until nothing that this end sends would be received: the receivers are gone, or the channel or this end is closed.
///
/// @param tx the end
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return YS_OK: it is so; YS_TIMEOUT: it is not so yet
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_wait_closed(tx: *mut ys_tx, ns: i64) -> c_int {
    let limit = Limit::from_nanoseconds(ns);
    // SAFETY: by the caller.
    unsafe { enter(tx, |tx| c_int::from_code(if tx.call(|end| end.wait_closed(limit)) { YS_OK } else { YS_TIMEOUT })) }
}

/// Whether nothing that this end sends would be received. Never blocks.
///
/// @param tx the end
/// @return 1 or 0, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_is_closed(tx: *const ys_tx) -> c_int {
    // SAFETY: by the caller. By the contract one thread uses the end, whatever it promises to leave alone.
    unsafe { enter(tx, |tx| tx.look(|end| c_int::from(end.is_closed()))) }
}

/// How many messages are in the channel, hidden ones not counted; in a funnel, those of this end. Never blocks; takes time in
/// proportion to that number.
///
/// @param tx the end
/// @return how many; YS_ENOTSUP: a oneshot's sender cannot tell
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_len(tx: *const ys_tx) -> isize {
    // SAFETY: by the caller. By the contract one thread uses the end, whatever it promises to leave alone.
    unsafe { enter(tx, |tx| tx.look(|end| end.len().map_or(isize::from_code(YS_ENOTSUP), |len| len as isize))) }
}

/// What this end does before it sleeps when there is no room, from the next wait on.
///
/// @param tx the end
/// @param spin a ys_spin: YS_SPIN_NONE, YS_SPIN_ADAPTIVE (the default) or YS_SPIN_FOREVER
/// @return YS_OK; YS_EINVAL: no such way; YS_ENOTSUP: a oneshot
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_set_spin(tx: *mut ys_tx, spin: c_int) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        enter(tx, |tx| {
            let code = match spin_from(spin) {
                Some(spin) if tx.call(|end| end.set_spin(spin)) => YS_OK,
                Some(_) => YS_ENOTSUP,
                None => YS_EINVAL,
            };
            c_int::from_code(code)
        })
    }
}

/// How far apart the channel's slots are, in bytes: the size of the class of its messages. Any thread.
///
/// @param tx the end
/// @return bytes; 0 with EINVAL in errno: no end
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_stride(tx: *const ys_tx) -> usize {
    // SAFETY: by the caller. The stride never changes.
    unsafe { handle::look(tx.cast::<Handle<Tx>>(), |tx| tx.channel.stride) }
}

/// An address that all ends of the channel have in common, and no other channel has. For comparison only. Any thread.
///
/// @param tx the end
/// @return the address; NULL with EINVAL in errno: no end
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_channel(tx: *const ys_tx) -> *const c_void {
    // SAFETY: by the caller. The channel never changes.
    unsafe { handle::look(tx.cast::<Handle<Tx>>(), |tx| Arc::as_ptr(&tx.channel).cast::<c_void>()) }
}

/// Closes the end, as ys_tx_close, and frees it. In an exchange the channel stays open while it has another sender.
///
/// @param tx the end, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_free(tx: *mut ys_tx) {
    // SAFETY: by the caller.
    unsafe { handle::free(tx.cast::<Handle<Tx>>()) }
}

/// For the inline functions of the header only: after a publication that has found the word of the window not 0.
///
/// @param tx the end
/// @return YS_OK; YS_CLOSED: the newest message is the caller's again, in its slot, until the next call for this end; YS_EINVAL:
///     this end has no window
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_answer(tx: *mut ys_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        enter(tx, |tx| {
            if !tx.state.has_window {
                return c_int::from_code(YS_EINVAL);
            }
            tx.call(|end| end.answer())
        })
    }
}
