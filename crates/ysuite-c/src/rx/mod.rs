//! Receivers, as callers see them. One thread at a time; a receiver may move between threads.

mod end;

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};
use std::sync::Arc;

use ysuite::in_place::{RecvWindow, Stop};

pub(crate) use self::end::RxEnd;
use crate::beside::{self, End};
use crate::channel::{Channel, Found};
use crate::code::{Answer, YS_CLOSED, YS_EINVAL, YS_ENOTSUP, YS_OK};
use crate::disposal::Disposal;
use crate::handle::{self, Content, Handle};
use crate::limit::Limit;
use crate::spin::set_spin;
use crate::steps::{RxCalls, RxSteps, Step};
use crate::stopper::ys_stopper;
use crate::watch::IS_CHECKED;
use crate::window::may_open;

/// A receiver. One thread at a time; it may move between threads. Freed by ys_rx_free.
pub struct ys_rx {
    _opaque: [u8; 0],
}

impl End for ys_rx {
    type Content = Rx;

    const EXPECT: &'static str = "ys_rx_expect";
}

/// The content of the handle. The window that callers see is its first field.
#[repr(C)]
pub(crate) struct Rx {
    /// Shut for callers that have not asked for it, or do not know this version.
    shown: RecvWindow,
    /// Where `shown` is shut for good, what the calls here go by instead.
    own: RecvWindow,
    is_shown: bool,
    calls: RxCalls,
    /// None: this handle has no windows.
    steps: Option<&'static RxSteps>,
    /// How many bytes a message has.
    pub(crate) size: usize,
    pub(crate) peeked: Peeked,
    end: Box<dyn RxEnd>,
    channel: Arc<Channel>,
    /// It is in a set, and the channel knows.
    is_attached: bool,
}

/// The messages that the caller has been shown and may consume.
#[derive(Clone, Copy)]
pub(crate) struct Peeked {
    count: usize,
    /// Where the window was then. One that has been moved on since takes them away.
    next: *mut u8,
    /// They were found by the window, and are consumed by it.
    by_window: bool,
}

impl Peeked {
    const NONE: Self = Self { count: 0, next: ptr::null_mut(), by_window: false };

    /// The window, at `next`, has shown this many.
    #[inline(always)]
    pub(crate) fn by_window(&mut self, count: usize, next: *mut u8) {
        (self.count, self.next, self.by_window) = (count, next, true);
    }

    // MUTANT: Speed only: the call does what the window would have done.
    /// Whether the window, now at `next`, has shown that many, at least 1, and is where it was then.
    #[inline(always)]
    pub(crate) fn has_by_window(&self, count: usize, next: *mut u8) -> bool {
        self.by_window && next == self.next && count.wrapping_sub(1) < self.count
    }

    /// This many of them have been consumed by the window, which is at `next` now.
    #[inline(always)]
    pub(crate) fn leave_by_window(&mut self, count: usize, next: *mut u8) {
        (self.count, self.next) = (self.count - count, next);
    }
}

/// For a handle that has no windows.
const BY_CHANNEL: RxCalls = RxCalls { recv, peek, consume };

// SAFETY: a handle may move between threads with its caller, by the contract; what it points to belongs to the
// handle, which is `Send`, or never changes.
unsafe impl Send for Rx {}

impl Content for Rx {
    const FREE: &'static str = "ys_rx_free";

    type Shared = Arc<Channel>;

    fn share(&self) -> Arc<Channel> {
        self.channel.clone()
    }

    #[inline(always)]
    fn disposal(&self) -> Option<Disposal> {
        self.channel.disposal
    }

    // MUTANT: A callback panics only with its window shut; a freed handle frees its memory.
    fn shut(&mut self) {
        self.shown = RecvWindow::shut();
        self.own = RecvWindow::shut();
        self.steps = None;
        self.calls = BY_CHANNEL;
        self.peeked = Peeked::NONE;
    }

    fn finish(&mut self) {
        // Updates the receiver with what was received by the window.
        self.look(|_| ());
        // MUTANT: A callback panics only with its window shut; a freed handle frees its memory.
        self.shut();
        if core::mem::take(&mut self.is_attached) {
            self.channel.moved(ptr::from_ref(self).addr(), None);
        }
    }
}

impl Rx {
    #[inline(always)]
    fn window(&mut self) -> &mut RecvWindow {
        if self.is_shown { &mut self.shown } else { &mut self.own }
    }

    // MUTANT: Speed only: the call does what the window would have done.
    /// The window, where it is known whether callers see it.
    #[inline(always)]
    pub(crate) fn window_as<const SHOWN: bool>(&mut self) -> &mut RecvWindow {
        if SHOWN { &mut self.shown } else { &mut self.own }
    }

    // MUTANT: Speed only: the call does what the window would have done.
    /// A call that leaves what is shown alone: between the window as it was left and a new one.
    fn look<A>(&mut self, call: impl FnOnce(&mut (dyn RxEnd + 'static)) -> A) -> A {
        if self.steps.is_none() {
            return call(&mut *self.end);
        }
        let window = *self.window();
        // SAFETY: the steps here, and by the contract those of the header, have moved the window on, and nothing else.
        unsafe { self.end.resume(&window) };
        let answer = call(&mut *self.end);
        *self.window() = self.end.window();
        answer
    }

    /// A call that may find nothing, and may wait: after a stop it returns that.
    #[inline(always)]
    fn find<A: Found>(&mut self, call: impl FnOnce(&mut (dyn RxEnd + 'static), &Stop) -> A) -> A {
        let channel = NonNull::from(&*self.channel);
        // SAFETY: the handle keeps its channel, and never changes it.
        let stop = unsafe { &channel.as_ref().stop };
        let answer = self.call(|end| call(end, stop));
        if answer.is_nothing() && stop.is_set() { self.stopped() } else { answer }
    }

    #[cold]
    fn stopped<A: Found>(&mut self) -> A {
        if self.is_attached {
            // It is reported until it leaves the set, like a closed handle.
            self.call(|end| end.attachable().with_registration(&mut |registration| registration.raise()));
        }
        A::stopped()
    }

    /// Any other call: what was shown is so no more.
    fn call<A>(&mut self, call: impl FnOnce(&mut (dyn RxEnd + 'static)) -> A) -> A {
        self.peeked = Peeked::NONE;
        self.look(call)
    }

    /// This handle as a set sees it.
    pub(crate) fn attach<A>(&mut self, attach: impl FnOnce(&mut dyn ysuite::signal::Attach) -> A) -> A {
        let answer = self.call(|end| attach(end.attachable()));
        let at = ptr::from_ref(self).addr();
        self.is_attached = self.channel.moved(at, Some(self.end.attachable()));
        answer
    }
}

// MUTANT: Speed only: the call does what the window would have done. Killed only by `no_window_is_open`.
/// A handle of a receiving end.
pub(crate) fn make(mut end: Box<dyn RxEnd>, channel: Arc<Channel>) -> *mut ys_rx {
    let steps = if may_open() { end.steps() } else { None };
    let is_shown = channel.shows_windows && steps.is_some();
    let (mut shown, mut own) = (RecvWindow::shut(), RecvWindow::shut());
    // Asked for in any case: what a process does once for all of its channels is done when one is opened, and not in the first call
    // of a thread that must not make system calls.
    let window = end.window();
    if steps.is_some() {
        *if is_shown { &mut shown } else { &mut own } = window;
    }
    let calls = steps.map_or(BY_CHANNEL, |steps| if is_shown { steps.shown } else { steps.own });
    let size = channel.size;
    Handle::make(Rx {
        shown,
        own,
        is_shown,
        calls,
        steps,
        size,
        peeked: Peeked::NONE,
        end,
        channel,
        is_attached: false,
    })
    .cast()
}

// MUTANT: Speed only: the call does what the window would have done.
/// Takes a step by the window of an end, if it has one that is open. Not in the checked build.
///
/// # Safety
/// As of [`handle::enter`], and not NULL.
#[inline(always)]
unsafe fn step<S>(rx: *mut ys_rx, step: impl FnOnce(&mut Rx, &'static RxSteps) -> S) -> Option<S> {
    if IS_CHECKED {
        return None;
    }
    // SAFETY: by the caller.
    let rx = unsafe { handle::content(rx.cast::<Handle<Rx>>()) };
    let steps = rx.steps?;
    Some(step(rx, steps))
}

/// # Safety
/// As of [`ys_recv`], of pointers that are not NULL.
#[inline(always)]
unsafe fn recv_by_step(rx: *mut ys_rx, message: *mut c_void) -> Step {
    // SAFETY: by the caller.
    unsafe {
        step(rx, |rx, steps| {
            // MUTANT: Speed only: the call does what the window would have done.
            (steps.recv)(if rx.is_shown { &mut rx.shown } else { &mut rx.own }, message.cast(), rx.size)
        })
    }
    .unwrap_or(Step::Call)
}

/// After a step of which a sender must be notified.
///
/// # Safety
/// As of [`handle::enter`].
#[cold]
#[inline(never)]
pub(crate) unsafe extern "C" fn credited(rx: *mut ys_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        enter(rx, |rx| {
            rx.look(|end| end.credit());
            c_int::from_code(YS_OK)
        })
    }
}

/// The handle itself, for steps.
///
/// # Safety
/// As of [`handle::content`].
#[inline(always)]
pub(crate) unsafe fn content<'a>(rx: *mut ys_rx) -> &'a mut Rx {
    // SAFETY: by the caller.
    unsafe { handle::content(rx.cast::<Handle<Rx>>()) }
}

// MUTANT: Speed only: the call does what the window would have done.
/// What the calls of the end jump to. In the checked build, where it may have been freed, always the same.
///
/// # Safety
/// As of [`handle::content`].
#[inline(always)]
unsafe fn calls(rx: *mut ys_rx) -> RxCalls {
    // SAFETY: by the caller.
    if IS_CHECKED { BY_CHANNEL } else { unsafe { content(rx) }.calls }
}

/// Runs a call of the only thread that may use the handle.
///
/// # Safety
/// As of [`handle::enter`].
#[inline(always)]
pub(crate) unsafe fn enter<A: Answer>(rx: *const ys_rx, call: impl FnOnce(&mut Rx) -> A) -> A {
    // SAFETY: by the caller.
    unsafe { handle::enter(rx.cast_mut().cast::<Handle<Rx>>(), call) }
}

/// Receives a message; waits for one without a time limit. Wait-free while messages are there (mpmc: lock-free),
/// and then without a system call. Otherwise polls for a while, as ys_rx_set_spin says, and sleeps.
///
/// @param rx the receiver
/// @param message where the message is put, which is the caller's from then on
/// @return YS_OK; YS_CLOSED: there is none, and none will come
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
    unsafe { enter(rx, |rx| rx.find(|end, stop| end.recv(message.cast(), stop))) }
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
                enter(rx, |rx| rx.find(|end, stop| end.recv_for(message.cast(), Limit::from_nanoseconds(ns), stop)))
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
                return rx.look(|end| end.recv_none());
            }
            // MUTANT: No array has that many messages.
            if messages.is_null() || max > isize::MAX as usize / rx.channel.stride {
                return isize::from_code(YS_EINVAL);
            }
            rx.find(|end, stop| end.recv_batch(messages.cast(), max, Limit::from_nanoseconds(ns), stop))
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
            let answer = rx.find(|end, _| end.peek(&mut first));
            if let Ok(count) = usize::try_from(answer) {
                rx.peeked = Peeked { count, next: rx.window().next, by_window: false };
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
fn consume_further(rx: &mut Rx, n: usize) -> c_int {
    // Checked before the numbers: a receiver that never shows anything would report too many, or none consumed.
    if !rx.end.shows() {
        return c_int::from_code(YS_ENOTSUP);
    }
    let Peeked { count, next, .. } = rx.peeked;
    let count = if next == rx.window().next { count } else { 0 };
    if n > count {
        return c_int::from_code(YS_EINVAL);
    }
    if n == 0 {
        return c_int::from_code(YS_OK);
    }
    let code = rx.call(|end| end.consume(n));
    rx.peeked = Peeked { count: count - n, next: rx.window().next, by_window: false };
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
            let code = rx.find(|end, stop| end.take(&mut message, Limit::from_nanoseconds(ns), stop));
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
    unsafe { enter(rx, |rx| rx.find(|end, stop| end.wait(Limit::from_nanoseconds(ns), stop))) }
}

/// Makes another receiver of the same channel. Allocates. mpmc only.
///
/// @param rx the receiver
/// @param other receives the new handle; NULL after an error
/// @return YS_OK; YS_ENOTSUP
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_clone(rx: *mut ys_rx, other: *mut *mut ys_rx) -> c_int {
    if other.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe {
        *other = ptr::null_mut();
        enter(rx, |rx| match rx.call(|end| end.try_clone()) {
            Ok(end) => {
                *other = make(end, rx.channel.clone());
                c_int::from_code(YS_OK)
            }
            Err(code) => c_int::from_code(code),
        })
    }
}

/// Closes the channel: from now on sends fail, and senders that wait for room are woken and keep their messages. What was sent
/// before is still received; then receiving returns YS_CLOSED. Freeing the receiver would drop it instead. The
/// receiver must still be freed. Never blocks.
///
/// @param rx the receiver
/// @return YS_OK; YS_CLOSED: it was closed before, or all senders are gone
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_close(rx: *mut ys_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |rx| c_int::from_code(if rx.call(|end| end.close()) { YS_OK } else { YS_CLOSED })) }
}

/// Whether nothing more will be sent. Messages may still be there. Never blocks.
///
/// @param rx the receiver
/// @return 1 or 0, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_is_closed(rx: *const ys_rx) -> c_int {
    // SAFETY: by the caller. By the contract one thread uses the handle, even if it only reads it.
    unsafe { enter(rx, |rx| rx.look(|end| c_int::from(end.is_closed()))) }
}

/// How many messages are in the channel. Never blocks; takes time in proportion to that number, and in an mpsc
/// channel to that of its senders.
///
/// @param rx the receiver
/// @return how many, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_len(rx: *const ys_rx) -> isize {
    // SAFETY: by the caller. By the contract one thread uses the handle, even if it only reads it.
    unsafe { enter(rx, |rx| rx.look(|end| end.len() as isize)) }
}

/// What this receiver does before it sleeps when there is no message, from the next wait on.
///
/// @param rx the receiver
/// @param spin a ys_spin: YS_SPIN_NONE, YS_SPIN_ADAPTIVE (the default) or YS_SPIN_FOREVER
/// @return YS_OK; YS_EINVAL: no such way; YS_ENOTSUP: a oneshot
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_rx_set_spin(rx: *mut ys_rx, spin: c_int) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |rx| set_spin(spin, |spin| rx.call(|end| end.set_spin(spin)))) }
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
    unsafe { handle::free(rx.cast::<Handle<Rx>>()) }
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
            if rx.is_shown {
                rx.look(|end| end.credit());
            }
        });
    }
}
