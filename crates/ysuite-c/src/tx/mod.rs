//! Senders, as callers see them. One thread at a time; a sender may move between threads.

mod inner;

use core::ffi::{c_int, c_void};
use core::ptr;

use ysuite::in_place::SendWindow;

pub(crate) use self::inner::{TxInner, ok_or, one_by_one};
use crate::beside;
use crate::code::{Answer, YS_CLOSED, YS_EINVAL, YS_ENOTSUP, YS_OK, YS_TIMEOUT};
use crate::limit::Limit;
use crate::rx::ys_rx;
use crate::side::{self, Kind, Side, Slots, calls, enter, step};
use crate::steps::{Step, TxCalls, TxSteps};
use crate::stopper::ys_stopper;

/// A sender. One thread at a time; it may move between threads. Freed by ys_tx_free.
pub struct ys_tx {
    _opaque: [u8; 0],
}

impl Kind for ys_tx {
    const FREE: &'static str = "ys_tx_free";
    const EXPECT: &'static str = "ys_tx_expect";
    const BY_CHANNEL: TxCalls = TxCalls { send, reserve, commit };

    type Window = SendWindow;
    type Calls = TxCalls;
    type Steps = TxSteps;
    type Inner = dyn TxInner;

    fn shut() -> SendWindow {
        SendWindow::shut()
    }

    fn calls(steps: &TxSteps, is_shown: bool) -> TxCalls {
        if is_shown { steps.shown } else { steps.own }
    }
}

impl Side<ys_tx> {
    /// The receiver must be notified of a message that a step has sent.
    fn answer(&mut self) -> c_int {
        match self.call(|inner| inner.answer(1)) {
            1 => c_int::from_code(YS_OK),
            code => code as c_int,
        }
    }

    /// Sends no message: what was hidden is published, or dropped if there is no receiver. Returns how many it has
    /// sent, as any send does: 0, also for a sender that hides none.
    fn show(&mut self) -> isize {
        self.call(|inner| inner.flush());
        0
    }
}

/// Sends a message, visible at once, together with what was hidden. Without a bound it never waits; with a bound it
/// waits for room without a time limit. Wait-free if there is room (mpmc: lock-free), and then without a system
/// call unless the receiver sleeps.
///
/// @param tx the sender
/// @param message the address of the message, which is copied
/// @return YS_OK: the channel has the message; any other code: it is still the caller's. YS_CLOSED: there is no
/// receiver any more
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_send(tx: *mut ys_tx, message: *const c_void) -> c_int {
    if tx.is_null() || message.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller. What is jumped to never changes while another thread is inside.
    unsafe { (calls(tx).send)(tx, message) }
}

/// After a step of which the receiver must be notified.
///
/// # Safety
/// As of [`enter`].
#[cold]
#[inline(never)]
pub(crate) unsafe extern "C" fn answered(tx: *mut ys_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(tx, Side::answer) }
}

/// After a step that has sent this many messages, of which the receiver must be notified.
///
/// # Safety
/// As of [`enter`].
#[cold]
#[inline(never)]
pub(crate) unsafe extern "C" fn run_answered(tx: *mut ys_tx, count: usize) -> isize {
    // SAFETY: by the caller.
    unsafe { enter(tx, |tx| tx.call(|inner| inner.answer(count))) }
}

// MUTANT: Speed only: the call does what the window would have done.
/// # Safety
/// As of [`ys_send`], of pointers that are not NULL.
#[inline(always)]
unsafe fn send_by_step(tx: *mut ys_tx, message: *const c_void) -> Step {
    // SAFETY: by the caller.
    unsafe {
        step(tx, |tx, steps| {
            let size = tx.size;
            (steps.send)(tx.window(), message.cast(), size)
        })
    }
    .unwrap_or(Step::Call)
}

/// # Safety
/// As of [`ys_send`].
#[cold]
#[inline(never)]
pub(crate) unsafe extern "C" fn send(tx: *mut ys_tx, message: *const c_void) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(tx, |tx| tx.find(|inner, stop| inner.send(message.cast(), stop))) }
}

/// Sends a message if there is room, as ys_send_for with a time of 0. Never blocks.
///
/// In an mpmc channel a receiver that is preempted in the middle of a receive keeps its slot until it goes on:
/// there may be no room though the channel has fewer messages than its bound.
///
/// @param tx the sender
/// @param message the address of the message, which is copied
/// @return YS_OK: the channel has the message; any other code: it is still the caller's. YS_FULL, YS_CLOSED
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_try_send(tx: *mut ys_tx, message: *const c_void) -> c_int {
    // SAFETY: by the caller.
    unsafe { ys_send_for(tx, message, 0) }
}

/// Sends a message; waits for room no longer than ns nanoseconds.
///
/// @param tx the sender. One that is attached to a set and finds no room at a time of 0 takes its id down
/// @param message the address of the message, which is copied
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return YS_OK: the channel has the message; any other code: it is still the caller's. YS_FULL (where ns is 0), YS_TIMEOUT,
///     YS_CLOSED
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_send_for(tx: *mut ys_tx, message: *const c_void, ns: i64) -> c_int {
    if tx.is_null() || message.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe {
        match send_by_step(tx, message) {
            Step::Done => c_int::from_code(YS_OK),
            Step::Call => {
                enter(tx, |tx| tx.find(|inner, stop| inner.send_for(message.cast(), Limit::from_nanoseconds(ns), stop)))
            }
            Step::Tell => answered(tx),
        }
    }
}

/// Sends many messages, published together, or, if a bound leaves no room, in several pieces with a wait in
/// between. An mpmc channel publishes them in their order, one after the other or a few dozen at a time.
///
/// @param tx the sender
/// @param messages where they are, each one message size after the last: an array of the caller's type
/// @param n how many; 0 only shows what was hidden
/// @param ns nanoseconds for all of it; 0: never waits; less than 0: for ever
/// @return how many were sent. Fewer than n: the time was up, or the channel has closed; the others are still the caller's. None:
///     YS_FULL (where ns is 0), YS_TIMEOUT, YS_CLOSED. 0 where n is 0, also where the channel has closed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_send_batch(tx: *mut ys_tx, messages: *const c_void, n: usize, ns: i64) -> isize {
    // SAFETY: by the caller.
    unsafe {
        enter(tx, |tx| {
            if n == 0 {
                return tx.show();
            }
            // MUTANT: No array has that many messages.
            if messages.is_null() || n > isize::MAX as usize / tx.stride() {
                return isize::from_code(YS_EINVAL);
            }
            tx.find(|inner, stop| inner.send_batch(messages.cast(), n, Limit::from_nanoseconds(ns), stop))
        })
    }
}

/// Puts a message into the channel, hidden until ys_flush, or any send. If a bound leaves no room, what is hidden
/// is sent, and this waits for room. If there is room it does not notice that the receiver is gone. spsc and mpsc
/// only.
///
/// @param tx the sender
/// @param message the address of the message, which is copied
/// @return YS_OK: the channel has the message; any other code: it is still the caller's. YS_CLOSED, YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_write(tx: *mut ys_tx, message: *const c_void) -> c_int {
    if message.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { enter(tx, |tx| tx.find(|inner, stop| inner.write(message.cast(), stop))) }
}

/// Publishes what is hidden at once. Never blocks. spsc and mpsc only.
///
/// @param tx the sender
/// @return YS_OK; YS_CLOSED: there is no receiver any more, and what was hidden has been dropped; YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_flush(tx: *mut ys_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(tx, |tx| tx.call(|inner| inner.flush())) }
}

/// Gives the caller the next free slots that are side by side, ys_tx_stride apart, to write messages into. They
/// belong to the caller until the next call for this sender except ys_commit and the read-only ones: ys_tx_len,
/// ys_tx_is_closed, ys_tx_stride, ys_tx_channel. The caller destroys a message that was made in a slot and is not
/// committed. Never blocks. spsc and mpsc only.
///
/// @param tx the sender. One that is attached to a set and finds no room takes its id down
/// @param at where the address of the first slot is put
/// @return how many slots, at least 1, also if the receiver has just gone: ys_commit reports that; YS_FULL, YS_CLOSED,
///     YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_reserve(tx: *mut ys_tx, at: *mut *mut c_void) -> isize {
    if at.is_null() {
        return isize::from_code(YS_EINVAL);
    }
    // MUTANT: Speed only: the call does what the window would have done.
    // SAFETY: by the caller.
    unsafe { if tx.is_null() { reserve(tx, at) } else { (calls(tx).reserve)(tx, at) } }
}

/// By the channel.
///
/// # Safety
/// As of [`ys_reserve`]; `at` is not NULL.
#[cold]
#[inline(never)]
pub(crate) unsafe extern "C" fn reserve(tx: *mut ys_tx, at: *mut *mut c_void) -> isize {
    // SAFETY: by the caller.
    unsafe {
        *at = ptr::null_mut();
        enter(tx, |tx| {
            let mut first = ptr::null_mut();
            let answer = tx.find(|inner, _| inner.reserve(&mut first));
            if let Ok(count) = usize::try_from(answer) {
                tx.slots = Slots { count, first, next: tx.window().next, by_window: false };
            }
            *at = first.cast();
            answer
        })
    }
}

/// Sends the messages that the caller has made in the first n reserved slots, published together, with what was
/// hidden. Ends the reservation. Never blocks. spsc and mpsc only.
///
/// @param tx the sender
/// @param n how many; 0 only shows what was hidden
/// @return how many were sent. Fewer than n: the channel has closed, and the messages from there on are the caller's
///     again, in their slots, until the next call for this sender. None: YS_CLOSED. 0 if n is 0, also if the channel
///     has closed. More than are reserved, as after the reservation: YS_EINVAL, and a valid one stays.
///     YS_ENOTSUP, for any n
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_commit(tx: *mut ys_tx, n: usize) -> isize {
    if tx.is_null() {
        return isize::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { (calls(tx).commit)(tx, n) }
}

/// By the channel.
///
/// # Safety
/// As of [`ys_commit`].
#[cold]
#[inline(never)]
pub(crate) unsafe extern "C" fn commit(tx: *mut ys_tx, n: usize) -> isize {
    // SAFETY: by the caller.
    unsafe { enter(tx, |tx| commit_further(tx, n)) }
}

// MUTANT: Speed only: the call does what the window would have done: it commits the slots of the window.
/// What is not reserved by the window, or cannot be.
///
/// # Safety
/// As of [`ys_commit`].
unsafe fn commit_further(tx: &mut Side<ys_tx>, n: usize) -> isize {
    // Checked before the numbers: a sender that never has slots would report too many.
    if !tx.inner().reserves() {
        return isize::from_code(YS_ENOTSUP);
    }
    let Slots { count, next, by_window, .. } = tx.slots;
    let reserved = if next == tx.window().next { count } else { 0 };
    if n > reserved {
        return isize::from_code(YS_EINVAL);
    }
    if n == 0 {
        return tx.show();
    }
    tx.call(|inner| {
        if by_window {
            // Updates the sender with what the window has shown: the same slots, and the same number of them.
            let mut first = ptr::null_mut();
            let slots = inner.reserve(&mut first);
            if slots < n as isize {
                return isize::from_code(YS_CLOSED);
            }
        }
        // SAFETY: by the caller messages are in this many of the slots that the sender has shown last.
        unsafe { inner.commit(n) }
    })
}

/// Waits until there is room for a message. What is hidden is sent before it waits. spsc and mpsc only.
///
/// @param tx the sender
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return YS_OK: there is room; YS_FULL (where ns is 0), YS_TIMEOUT, YS_CLOSED, YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_wait_room(tx: *mut ys_tx, ns: i64) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(tx, |tx| tx.find(|inner, stop| inner.wait_room(Limit::from_nanoseconds(ns), stop))) }
}

/// Sends a message, and replaces the oldest if there is no room. Does not wait for room; yields while another thread is
/// in the middle of that message. mpmc only.
///
/// @param tx the sender
/// @param message the address of the message, which is copied
/// @param displaced where the oldest message is moved to; NULL: it is dropped
/// @return YS_OK: nothing was replaced; 1: a message was, and is the caller's at `displaced`; any other code: the message
/// is still the caller's. YS_CLOSED, YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_force_send(tx: *mut ys_tx, message: *const c_void, displaced: *mut c_void) -> c_int {
    if message.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { enter(tx, |tx| tx.call(|inner| inner.force_send(message.cast(), displaced.cast()))) }
}

/// Makes a receiver that gets what is sent from now on. Allocates. broadcast and watch only, also where there is no
/// receiver any more.
///
/// @param tx the sender
/// @param rx receives the new handle; NULL after an error
/// @return YS_OK; YS_EINVAL; YS_CLOSED: the sender of a watch was closed; YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_subscribe(tx: *mut ys_tx, rx: *mut *mut ys_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { side::subscribe(tx, rx) }
}

/// Makes a stopper for the waits of this handle alone, as ys_rx_wait_stopper.
///
/// @param tx the sender
/// @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
/// @return YS_OK; YS_EINVAL: a null pointer
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_wait_stopper(tx: *mut ys_tx, stopper: *mut *mut ys_stopper) -> c_int {
    // SAFETY: by the caller.
    unsafe { side::wait_stopper(tx, stopper) }
}

/// Makes another sender of the same channel. Allocates. Not spsc, nor a oneshot. A clone of a closed sender is closed.
///
/// @param tx the sender
/// @param other receives the new handle; NULL after an error
/// @return YS_OK; YS_ETOOMANY: an mpsc channel has its largest number of senders. One that ys_tx_close has closed counts,
///     freed or not, until the receiver has taken its last message and has checked once more. One that is freed without
///     that does not count; but if the receiver is preempted at that moment a clone may be refused as well; YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_clone(tx: *mut ys_tx, other: *mut *mut ys_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe { side::clone(tx, other) }
}

/// Ends this sender's part of the channel, as freeing it does: what was hidden is sent, receivers get all that was
/// sent, and are notified that nothing more will come when the last sender is closed or gone. It closes an mpmc channel
/// or a broadcast for all its senders. The sender must still be freed. Never blocks.
///
/// @param tx the sender
/// @return YS_OK; YS_CLOSED: it was closed before, or there is no receiver any more
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_close(tx: *mut ys_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe { side::close(tx) }
}

/// Waits until nothing that this sender sends would be received: the receivers are gone, or the channel or this
/// sender is closed.
///
/// @param tx the sender
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return YS_OK: it is so; YS_TIMEOUT: it is not so yet
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_wait_closed(tx: *mut ys_tx, ns: i64) -> c_int {
    let limit = Limit::from_nanoseconds(ns);
    // SAFETY: by the caller.
    unsafe {
        enter(tx, |tx| {
            tx.find(|inner, stop| c_int::from_code(if inner.wait_closed(limit, stop) { YS_OK } else { YS_TIMEOUT }))
        })
    }
}

/// Whether nothing that this sender sends would be received. Never blocks.
///
/// @param tx the sender
/// @return 1 or 0, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_is_closed(tx: *const ys_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe { side::is_closed(tx) }
}

/// Returns how many messages are in the channel, hidden ones not counted; in an mpsc channel, those of this sender. Never
/// blocks; takes time in proportion to that number.
///
/// @param tx the sender
/// @return how many; YS_ENOTSUP: the sender of a oneshot or a watch does not know
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_len(tx: *const ys_tx) -> isize {
    // SAFETY: by the caller.
    unsafe { side::len(tx) }
}

/// Sets what this sender does before it sleeps when there is no room, from the next wait on. No effect in a broadcast, whose
/// senders never spin.
///
/// @param tx the sender
/// @param spin a ys_spin: YS_SPIN_NONE, YS_SPIN_ADAPTIVE (the default) or YS_SPIN_FOREVER
/// @return YS_OK; YS_EINVAL: no such way; YS_ENOTSUP: a oneshot or a watch
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_set_spin(tx: *mut ys_tx, spin: c_int) -> c_int {
    // SAFETY: by the caller.
    unsafe { side::set_spin(tx, spin) }
}

/// How far apart the channel's slots are, in bytes: the size of the class of its messages. Any thread.
///
/// @param tx the sender
/// @return bytes; 0 with EINVAL in errno: no handle
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_stride(tx: *const ys_tx) -> usize {
    // SAFETY: by the caller.
    unsafe { beside::stride(tx) }
}

/// How many bytes a message of the channel has: what was given when it was opened. Any thread.
///
/// @param tx the sender
/// @return bytes; 0 with EINVAL in errno: no handle
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_message_size(tx: *const ys_tx) -> usize {
    // SAFETY: by the caller.
    unsafe { beside::message_size(tx) }
}

/// What messages of the channel are aligned to: what was given when it was opened, or 8 for 0. Any thread.
///
/// @param tx the sender
/// @return bytes; 0 with EINVAL in errno: no handle
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_message_align(tx: *const ys_tx) -> usize {
    // SAFETY: by the caller.
    unsafe { beside::message_align(tx) }
}

/// Whether the channel has messages of this size, in slots of this alignment. The calls of a handle take addresses,
/// and know no types: if a handle comes from elsewhere, as a pointer, this checks its message type. Any thread.
///
/// @param tx the sender
/// @param size how many bytes a message of the caller's has
/// @param align what it is aligned to
/// @return YS_OK; YS_EINVAL: another size, or slots that are aligned to less; or no handle. The checked build
///     ends the process there, with a sentence that has both
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_expect(tx: *const ys_tx, size: usize, align: usize) -> c_int {
    // SAFETY: by the caller.
    unsafe { beside::expect(tx, size, align) }
}

/// Makes a stopper for the channel, by which any thread ends the waits of all its handles: see ys_stop. Allocates.
/// Any thread.
///
/// @param tx a sender of the channel
/// @param stopper where it is put, to be freed by ys_stopper_free; NULL is put there after an error
/// @return YS_OK; YS_EINVAL: a null pointer
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_stopper(tx: *const ys_tx, stopper: *mut *mut ys_stopper) -> c_int {
    // SAFETY: by the caller.
    unsafe { beside::stopper(tx, stopper) }
}

/// An address that all handles of the channel share, and no other channel has. For comparison only. Any thread.
///
/// @param tx the sender
/// @return the address; NULL with EINVAL in errno: no handle
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_channel(tx: *const ys_tx) -> *const c_void {
    // SAFETY: by the caller.
    unsafe { beside::address(tx) }
}

/// Closes the sender, as ys_tx_close, and frees it. An mpmc channel or a broadcast stays open while it has another sender.
///
/// @param tx the handle, which must not be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_free(tx: *mut ys_tx) {
    // SAFETY: by the caller.
    unsafe { side::free(tx) }
}

/// For the inline functions of the header only: after a publication that has found the word of the window not 0.
///
/// @param tx the sender
/// @return YS_OK; YS_CLOSED: the newest message is the caller's again, in its slot, until the next call for this sender;
///     YS_EINVAL: this sender has no window
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_answer(tx: *mut ys_tx) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        enter(tx, |tx| {
            if !tx.is_shown() {
                return c_int::from_code(YS_EINVAL);
            }
            tx.answer()
        })
    }
}

/// For the classes of the header only: ends a reservation without sending anything, unless it has ended before.
///
/// @param tx the sender
/// @param at where the reservation's first slot is
/// @return YS_OK: the messages that were made in its slots are the caller's to destroy, until the next call for this
///     handle; YS_EINVAL: it had ended, and its slots may have what was sent since
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_tx_discard(tx: *mut ys_tx, at: *const c_void) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        enter(tx, |tx| {
            let Slots { count, first, next, .. } = tx.slots;
            if count == 0 || next != tx.window().next || !ptr::addr_eq(first, at) {
                return c_int::from_code(YS_EINVAL);
            }
            tx.slots = Slots::NONE;
            c_int::from_code(YS_OK)
        })
    }
}
