//! Handles: what callers have the address of. The one way into them, for every exported function.
//!
//! No panic leaves a handle. After a panic inside it a handle refuses everything: its operation is half done.
//! Freeing it is always possible.

use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::code::{Answer, YS_EINVAL, YS_EPANIC, ys_code};
use crate::disposal::{self, Disposal};
use crate::watch::Watch;

/// The content of a handle.
pub(crate) trait Content {
    /// The name of the function that frees it.
    const FREE: &'static str;

    /// What any thread may read, while another thread is inside.
    type Shared: Sync;

    /// Stored once: it is next to the content, which as a whole belongs to that thread alone.
    fn share(&self) -> Self::Shared;

    /// What becomes of messages that are dropped while it is in use.
    fn disposal(&self) -> Option<Disposal> {
        None
    }

    /// It will not be used any more, except for this.
    fn shut(&mut self) {}

    /// It is about to be dropped.
    fn finish(&mut self) {}
}

/// The content of a handle that no thread is ever inside: any number may read it at once.
pub(crate) trait Everyones: Content + Sync {}

/// The allocation whose address a caller has. The content comes first: a handle begins with its window.
#[repr(C)]
pub(crate) struct Handle<C: Content> {
    content: ManuallyDrop<C>,
    is_poisoned: bool,
    watch: Watch,
    shared: ManuallyDrop<C::Shared>,
}

impl<C: Content> Handle<C> {
    pub(crate) fn make(content: C) -> *mut Self {
        let shared = ManuallyDrop::new(content.share());
        let (content, watch) = (ManuallyDrop::new(content), Watch::new());
        Box::into_raw(Box::new(Self { content, is_poisoned: false, watch, shared }))
    }
}

// MUTANT: A panic in a callback finds the window shut. Killed only by
// `what_a_panic_carries_is_dropped_outside_of_the_call`.
/// Runs a call of the only thread that may be inside the handle.
///
/// # Safety
/// NULL, or a handle that was made here and not freed; no other thread is inside. In the checked build the last two are found out.
#[inline(always)]
pub(crate) unsafe fn enter<C: Content, A: Answer>(handle: *mut Handle<C>, call: impl FnOnce(&mut C) -> A) -> A {
    let Some(handle) = NonNull::new(handle) else { return A::from_code(YS_EINVAL) };
    let handle = handle.as_ptr();
    // SAFETY: by the caller the memory is there. Other threads may read the watch.
    let watch = unsafe { &(*handle).watch };
    let _inside = match watch.enter() {
        Ok(inside) => inside,
        Err(code) => return A::from_code(code),
    };
    // SAFETY: by the caller, and in the checked build by the watch, no other thread is inside.
    let (content, is_poisoned) = unsafe { (&mut *(*handle).content, &mut (*handle).is_poisoned) };
    if *is_poisoned {
        return A::from_code(YS_EPANIC);
    }
    let _restore = content.disposal().map(disposal::begin);
    match catch_unwind(AssertUnwindSafe(|| call(content))) {
        Ok(answer) => answer,
        Err(payload) => {
            *is_poisoned = true;
            panicked(payload);
            content.shut();
            A::from_code(YS_EPANIC)
        }
    }
}

/// The content of a handle, for steps that run no user code, and cannot panic. Not in the checked build.
///
/// # Safety
/// As of [`enter`], and not NULL. The result is not used beyond the call of the exported function.
#[inline(always)]
pub(crate) unsafe fn content<'a, C: Content>(handle: *mut Handle<C>) -> &'a mut C {
    // SAFETY: by the caller.
    unsafe { &mut (*handle).content }
}

/// The handle, for one of any number of threads that may read it.
///
/// # Safety
/// NULL, or a handle that was made here and not freed; in the checked build that is found out.
#[inline]
unsafe fn alive<C: Content>(handle: *const Handle<C>) -> Result<*const Handle<C>, ys_code> {
    if handle.is_null() {
        return Err(YS_EINVAL);
    }
    // SAFETY: by the caller the memory is there.
    let watch = unsafe { &(*handle).watch };
    watch.look().map(|()| handle)
}

#[inline]
fn looking<T, A: Answer>(at: Result<&T, ys_code>, call: impl FnOnce(&T) -> A) -> A {
    match at {
        Ok(at) => catch_unwind(AssertUnwindSafe(|| call(at))).unwrap_or_else(|payload| {
            // MUTANT: The payload is dropped with its owner. Killed only by
            // `what_a_panic_carries_is_dropped_outside_of_the_call`.
            panicked(payload);
            A::from_code(YS_EPANIC)
        }),
        Err(code) => A::from_code(code),
    }
}

/// Runs a call of one of any number of threads. A panic is caught, and changes nothing.
///
/// # Safety
/// NULL, or a handle that was made here and not freed; in the checked build that is found out.
#[inline]
pub(crate) unsafe fn look<C: Everyones, A: Answer>(handle: *const Handle<C>, call: impl FnOnce(&C) -> A) -> A {
    // SAFETY: by the caller, and in the checked build by the watch, the content is there. All threads share it.
    looking(unsafe { alive(handle).map(|handle| &*(*handle).content) }, call)
}

/// As [`look`], for what a handle of one thread shares with the others. It makes no reference to its content: that
/// thread may be inside.
///
/// # Safety
/// As of [`look`].
#[inline]
pub(crate) unsafe fn look_beside<C: Content, A: Answer>(
    handle: *const Handle<C>,
    call: impl FnOnce(&C::Shared) -> A,
) -> A {
    // SAFETY: by the caller, and in the checked build by the watch, it is there. Nothing changes it.
    looking(unsafe { alive(handle).map(|handle| &*(*handle).shared) }, call)
}

// MUTANT: The box is dropped at the end of the block in this build. Killed only by
// `a_second_free_ends_the_process_with_a_sentence` and `what_a_panic_carries_is_dropped_outside_of_the_call`.
/// Frees a handle. NULL is nothing.
///
/// # Safety
/// As of [`enter`]; it is not used any more.
pub(crate) unsafe fn free<C: Content>(handle: *mut Handle<C>) {
    if handle.is_null() {
        return;
    }
    // SAFETY: by the caller the memory is there.
    let watch = unsafe { &(*handle).watch };
    watch.end(C::FREE);
    // SAFETY: by the caller, and in the checked build by the watch, no other thread uses it. It was made by
    // `Handle::make`. Its content is dropped once: the watch finds a handle that was buried.
    unsafe {
        let mut handle = Box::from_raw(handle);
        let Handle { content, shared, .. } = &mut *handle;
        let _restore = content.disposal().map(disposal::begin);
        // Callbacks may panic. All that can be done for the others has been done by then.
        let dropped = catch_unwind(AssertUnwindSafe(|| {
            content.finish();
            ManuallyDrop::drop(content);
        }));
        if let Err(payload) = dropped {
            panicked(payload);
        }
        // The library's own, which does not panic.
        ManuallyDrop::drop(shared);
        Watch::bury(handle);
    }
}

/// A panic has been caught. The panic hook has already printed its message on stderr.
#[cold]
#[inline(never)]
fn panicked(payload: Box<dyn core::any::Any + Send>) {
    // Its drop is user code. It may free handles of other channels, with other messages. It may panic as well: that
    // payload is leaked.
    let _restore = disposal::outside();
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // MUTANT: Needs a payload whose drop panics with another such payload.
        core::mem::forget(again);
    }
}

/// Runs a function that makes something, and that has no handle yet.
pub(crate) fn make<A: Answer>(call: impl FnOnce() -> A) -> A {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|payload| {
        // MUTANT: The payload is dropped with its owner. Killed only by
        // `what_a_panic_carries_is_dropped_outside_of_the_call`.
        panicked(payload);
        A::from_code(YS_EPANIC)
    })
}
