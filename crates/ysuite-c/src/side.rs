//! What senders and receivers have in common, as callers see them: a handle with its window, its channel, and the
//! slots that its caller has been shown. Each of the two says by [`Kind`] what it has of its own.
//!
//! One thread at a time; a handle may move between threads. Progress is that of the channel's operations.
//!
//! Cannot: do anything while another thread is inside the handle. That is [`beside`](crate::beside).

use core::ffi::c_int;
use core::ptr::{self, NonNull};
use std::sync::Arc;

use ysuite::Spin;
use ysuite::in_place::Stop;
use ysuite::signal::Attach;

use crate::channel::{Channel, Found, WaitStop};
use crate::code::{Answer, YS_CLOSED, YS_EINVAL, YS_ENOTSUP, YS_OK, ys_code};
use crate::disposal::Disposal;
use crate::handle::{self, Content, Handle};
use crate::rx::ys_rx;
use crate::spin;
use crate::stopper::{self, Stops, ys_stopper};
use crate::tx::ys_tx;
use crate::watch::IS_CHECKED;
use crate::window::may_open;

/// A sender or a receiver, by the type that callers see.
pub(crate) trait Kind: Sized + 'static {
    /// The name of the function that frees it.
    const FREE: &'static str;

    /// The name of the function that returns whether it has messages of a size and an alignment.
    const EXPECT: &'static str;

    /// What its calls jump to if it has no windows.
    const BY_CHANNEL: Self::Calls;

    /// The words of the caller.
    type Window: Copy;

    /// The jump table of its calls.
    type Calls: Copy;

    /// What can be done by a window.
    type Steps: 'static;

    /// A handle of any channel and any class of messages.
    type Inner: Inner<Self> + ?Sized;

    /// A window by which nothing can be done.
    fn shut() -> Self::Window;

    /// The jump table of handles whose callers see the window, or of those that keep it private.
    fn calls(steps: &Self::Steps, is_shown: bool) -> Self::Calls;
}

/// The operations of handles of both kinds. A handle does not support what it does not implement.
pub(crate) trait Inner<K: Kind>: Send {
    /// What can be done by a window, if this handle has one.
    fn steps(&self) -> Option<&'static K::Steps> {
        None
    }

    /// Where the caller may send or receive by itself until the next call.
    fn window(&mut self) -> K::Window {
        K::shut()
    }

    /// Takes the window back.
    ///
    /// # Safety
    /// As of `SendInPlace::resume` and `RecvInPlace::resume`.
    unsafe fn resume(&mut self, _: &K::Window) {}

    fn try_clone(&self) -> Result<Box<K::Inner>, ys_code> {
        Err(YS_ENOTSUP)
    }

    /// True: it was open.
    fn close(&mut self) -> bool;

    fn is_closed(&self) -> bool;

    /// How many messages are in the channel, if this handle knows.
    fn len(&self) -> Option<usize>;

    /// True: it waits so from now on.
    fn set_spin(&mut self, _: Spin) -> bool {
        false
    }

    /// This handle as a set sees it.
    fn attachable(&mut self) -> Option<&mut dyn Attach> {
        None
    }
}

/// The content of the handle. The window that callers see is its first field.
#[repr(C)]
pub(crate) struct Side<K: Kind> {
    /// Shut for callers that have not asked for it, or do not know this version.
    shown: K::Window,
    /// Where `shown` is shut for good, what the calls here go by instead.
    own: K::Window,
    is_shown: bool,
    calls: K::Calls,
    /// None: this handle has no windows.
    steps: Option<&'static K::Steps>,
    /// How many bytes a message has.
    pub(crate) size: usize,
    pub(crate) slots: Slots,
    inner: Box<K::Inner>,
    channel: Arc<Channel>,
    /// What ends the waits of this handle alone.
    wait_stop: Option<Arc<WaitStop>>,
    /// It is in a set, and the channel knows.
    is_attached: bool,
}

/// The slots that the caller has been shown: of a sender, to fill and commit; of a receiver, to consume.
#[derive(Clone, Copy)]
pub(crate) struct Slots {
    pub(crate) count: usize,
    /// The first of them, for a sender.
    pub(crate) first: *mut u8,
    /// Where the window was then. One that has been moved on since takes them away.
    pub(crate) next: *mut u8,
    /// They were found by the window, and the sender does not know them; the receiver's are consumed by it.
    pub(crate) by_window: bool,
}

impl Slots {
    pub(crate) const NONE: Self = Self { count: 0, first: ptr::null_mut(), next: ptr::null_mut(), by_window: false };

    /// The window, at `next`, has shown this many.
    #[inline(always)]
    pub(crate) fn by_window(&mut self, count: usize, first: *mut u8, next: *mut u8) {
        *self = Self { count, first, next, by_window: true };
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

// SAFETY: a handle may move between threads with its caller, by the contract; what it points to belongs to the
// handle, which is `Send`, or never changes.
unsafe impl<K: Kind> Send for Side<K> {}

impl<K: Kind> Content for Side<K> {
    const FREE: &'static str = K::FREE;

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
        self.shown = K::shut();
        self.own = K::shut();
        self.steps = None;
        self.calls = K::BY_CHANNEL;
        self.slots = Slots::NONE;
    }

    fn finish(&mut self) {
        // Updates the handle with what was done by the window.
        self.look(|_| ());
        // MUTANT: A callback panics only with its window shut; a freed handle frees its memory.
        self.shut();
        if core::mem::take(&mut self.is_attached) {
            self.channel.moved(ptr::from_ref(self).addr(), None);
        }
    }
}

impl<K: Kind> Side<K> {
    #[inline(always)]
    pub(crate) fn window(&mut self) -> &mut K::Window {
        if self.is_shown { &mut self.shown } else { &mut self.own }
    }

    // MUTANT: Speed only: the call does what the window would have done.
    /// The window, where it is known whether callers see it.
    #[inline(always)]
    pub(crate) fn window_as<const SHOWN: bool>(&mut self) -> &mut K::Window {
        if SHOWN { &mut self.shown } else { &mut self.own }
    }

    #[inline(always)]
    pub(crate) fn is_shown(&self) -> bool {
        self.is_shown
    }

    pub(crate) fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    #[inline(always)]
    pub(crate) fn inner(&self) -> &K::Inner {
        &self.inner
    }

    /// How far apart the channel's slots are, in bytes.
    pub(crate) fn stride(&self) -> usize {
        self.channel.stride
    }

    // MUTANT: Speed only: the call does what the window would have done.
    /// A call that leaves what is shown alone: between the window as it was left and a new one.
    pub(crate) fn look<A>(&mut self, call: impl FnOnce(&mut K::Inner) -> A) -> A {
        if self.steps.is_none() {
            return call(&mut *self.inner);
        }
        let window = *self.window();
        // SAFETY: the steps here, and by the contract those of the header, have moved the window on, and nothing else.
        unsafe { self.inner.resume(&window) };
        let answer = call(&mut *self.inner);
        *self.window() = self.inner.window();
        answer
    }

    /// A call that may find nothing, and may wait: after a stop it returns that.
    #[inline(always)]
    pub(crate) fn find<A: Found>(&mut self, call: impl FnOnce(&mut K::Inner, &Stop) -> A) -> A {
        let stop = NonNull::from(self.wait_stop.as_ref().map_or(&self.channel.stop, |wait| &wait.0));
        // SAFETY: the handle keeps its channel, and never changes it; the other only by a call of its own.
        let stop = unsafe { stop.as_ref() };
        let answer = self.call(|inner| call(inner, stop));
        if answer.is_nothing() && stop.is_set() { self.stopped() } else { answer }
    }

    #[cold]
    fn stopped<A: Found>(&mut self) -> A {
        if self.is_attached {
            // It is reported until it leaves the set, like a closed handle.
            self.call(|inner| {
                inner.attachable().inspect(|end| end.with_registration(&mut |registration| registration.raise()));
            });
        }
        A::stopped()
    }

    /// Any other call: what was shown is so no more.
    pub(crate) fn call<A>(&mut self, call: impl FnOnce(&mut K::Inner) -> A) -> A {
        self.slots = Slots::NONE;
        self.look(call)
    }

    /// This handle as a set sees it.
    pub(crate) fn attach<A: Answer>(&mut self, attach: impl FnOnce(&mut dyn Attach) -> A) -> A {
        let answer = self.call(|inner| inner.attachable().map_or(A::from_code(YS_ENOTSUP), attach));
        let at = ptr::from_ref(self).addr();
        self.is_attached = self.channel.moved(at, self.inner.attachable().map(|end| &*end));
        answer
    }
}

// MUTANT: Speed only: the call does what the window would have done. Killed only by `no_window_is_open`.
/// A handle of a channel.
pub(crate) fn make<K: Kind>(mut inner: Box<K::Inner>, channel: Arc<Channel>) -> *mut K {
    let steps = if may_open() { inner.steps() } else { None };
    let is_shown = channel.shows_windows && steps.is_some();
    let (mut shown, mut own) = (K::shut(), K::shut());
    // Asked for in any case: what a process does once for all of its channels is done when one is opened, and not in the first call
    // of a thread that must not make system calls.
    let window = inner.window();
    if steps.is_some() {
        *if is_shown { &mut shown } else { &mut own } = window;
    }
    let calls = steps.map_or(K::BY_CHANNEL, |steps| K::calls(steps, is_shown));
    let (size, slots) = (channel.size, Slots::NONE);
    let side = Side::<K> {
        shown,
        own,
        is_shown,
        calls,
        steps,
        size,
        slots,
        inner,
        channel,
        wait_stop: None,
        is_attached: false,
    };
    Handle::make(side).cast()
}

// MUTANT: Speed only: the call does what the window would have done.
/// Takes a step by the window of a handle, if it has one that is open. Not in the checked build.
///
/// # Safety
/// As of [`handle::enter`], and not NULL.
#[inline(always)]
pub(crate) unsafe fn step<K: Kind, S>(
    handle: *mut K,
    step: impl FnOnce(&mut Side<K>, &'static K::Steps) -> S,
) -> Option<S> {
    if IS_CHECKED {
        return None;
    }
    // SAFETY: by the caller.
    let side = unsafe { content(handle) };
    let steps = side.steps?;
    Some(step(side, steps))
}

/// The handle itself, for steps.
///
/// # Safety
/// As of [`handle::content`].
#[inline(always)]
pub(crate) unsafe fn content<'a, K: Kind>(handle: *mut K) -> &'a mut Side<K> {
    // SAFETY: by the caller.
    unsafe { handle::content(handle.cast::<Handle<Side<K>>>()) }
}

// MUTANT: Speed only: the call does what the window would have done.
/// What the calls of the handle jump to. In the checked build, where it may have been freed, always the same.
///
/// # Safety
/// As of [`handle::content`].
#[inline(always)]
pub(crate) unsafe fn calls<K: Kind>(handle: *mut K) -> K::Calls {
    // SAFETY: by the caller.
    if IS_CHECKED { K::BY_CHANNEL } else { unsafe { content(handle) }.calls }
}

/// Runs a call of the only thread that may use the handle.
///
/// # Safety
/// As of [`handle::enter`].
#[inline(always)]
pub(crate) unsafe fn enter<K: Kind, A: Answer>(handle: *const K, call: impl FnOnce(&mut Side<K>) -> A) -> A {
    // SAFETY: by the caller.
    unsafe { handle::enter(handle.cast_mut().cast::<Handle<Side<K>>>(), call) }
}

/// Makes another handle of the same channel.
///
/// # Safety
/// As of [`handle::enter`]; `other` is NULL or has room for an address.
pub(crate) unsafe fn clone<K: Kind>(handle: *mut K, other: *mut *mut K) -> c_int {
    if other.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe {
        *other = ptr::null_mut();
        enter(handle, |side| match side.call(|inner| inner.try_clone()) {
            Ok(inner) => {
                *other = make(inner, side.channel.clone());
                c_int::from_code(YS_OK)
            }
            Err(code) => c_int::from_code(code),
        })
    }
}

/// Makes a receiver of a sender's channel.
///
/// # Safety
/// As of [`handle::enter`]; `rx` is NULL or has room for an address.
pub(crate) unsafe fn subscribe(tx: *mut ys_tx, rx: *mut *mut ys_rx) -> c_int {
    if rx.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe {
        *rx = ptr::null_mut();
        enter(tx, |side| match side.call(|inner| inner.subscribe()) {
            Ok(inner) => {
                *rx = make(inner, side.channel.clone());
                c_int::from_code(YS_OK)
            }
            Err(code) => c_int::from_code(code),
        })
    }
}

/// Makes a stopper for the waits of this handle alone.
///
/// # Safety
/// As of [`handle::enter`]; `stopper` is NULL or has room for an address.
pub(crate) unsafe fn wait_stopper<K: Kind>(handle: *mut K, stopper: *mut *mut ys_stopper) -> c_int {
    let give = |side: &mut Side<K>| {
        // One that has not stopped anything so far will do.
        let wait = side.wait_stop.take().filter(|wait| !wait.is_stopped());
        let wait = wait.unwrap_or_else(|| side.channel.wait_stop());
        side.wait_stop = Some(wait.clone());
        // SAFETY: by the caller.
        unsafe { stopper::give(stopper, wait) }
    };
    // SAFETY: by the caller.
    unsafe { stopper::at(stopper, || enter(handle, give)) }
}

/// Closes the handle.
///
/// # Safety
/// As of [`handle::enter`].
pub(crate) unsafe fn close<K: Kind>(handle: *mut K) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(handle, |side| c_int::from_code(if side.call(|inner| inner.close()) { YS_OK } else { YS_CLOSED })) }
}

/// Whether the handle is closed: 1 or 0, or an error.
///
/// # Safety
/// As of [`handle::enter`]. By the contract one thread uses the handle, even if it only reads it.
pub(crate) unsafe fn is_closed<K: Kind>(handle: *const K) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(handle, |side| side.look(|inner| c_int::from(inner.is_closed()))) }
}

/// How many messages are in the channel.
///
/// # Safety
/// As of [`is_closed`].
pub(crate) unsafe fn len<K: Kind>(handle: *const K) -> isize {
    // SAFETY: by the caller.
    unsafe {
        enter(handle, |side| side.look(|inner| inner.len().map_or(isize::from_code(YS_ENOTSUP), |len| len as isize)))
    }
}

/// What the handle does before it sleeps.
///
/// # Safety
/// As of [`handle::enter`].
pub(crate) unsafe fn set_spin<K: Kind>(handle: *mut K, spin: c_int) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(handle, |side| spin::set_spin(spin, |spin| side.call(|inner| inner.set_spin(spin)))) }
}

/// Frees the handle.
///
/// # Safety
/// As of [`handle::free`].
pub(crate) unsafe fn free<K: Kind>(handle: *mut K) {
    // SAFETY: by the caller.
    unsafe { handle::free(handle.cast::<Handle<Side<K>>>()) }
}
