//! [`Posted`]: a function on its way to the hub. Functions of up to three words travel in the message, larger ones in a
//! box.
//!
//! Made on any thread; called or dropped once, on any other.

use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use super::Hub;
use crate::foreign::Panics;
use crate::inline_box::InlineBox;

/// A function of a type that is not known here.
pub(super) struct Posted {
    function: InlineBox,
    /// Takes the function out and then calls it; without a hub, drops it. By a pointer: once the function is out, its
    /// old place may be freed at any moment of the call.
    call: unsafe fn(*mut InlineBox, Option<&mut Hub>),
}

impl Posted {
    pub(super) fn new<F: FnOnce(&mut Hub) + Send + 'static>(function: F) -> Self {
        Self { function: InlineBox::new(function), call: call::<F> }
    }

    /// Calls the function. It is consumed even if it panics.
    pub(super) fn run(self, hub: &mut Hub) {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped, so the function is not used again.
        unsafe { Self::run_at(NonNull::from(&mut *this), hub) };
    }

    /// Calls the function at `this`. It is consumed even if it panics. It is moved out first, so the call may do
    /// anything to its old place.
    ///
    /// # Safety
    /// It belongs to the caller, and is neither used nor dropped afterwards.
    #[inline(always)]
    pub(super) unsafe fn run_at(place: NonNull<Self>, hub: &mut Hub) {
        let this = place.as_ptr();
        // SAFETY: by the caller; `call` is for the function's type.
        unsafe { ((*this).call)(&raw mut (*this).function, Some(hub)) };
    }

    /// Returns the function itself.
    ///
    /// # Safety
    /// It was made from an `F`.
    pub(super) unsafe fn into_inner<F>(self) -> F {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: by the caller it is an `F`; `this` is not dropped, so the function is not used again.
        unsafe { this.function.take() }
    }
}

// USER CODE: `Drop` of a function's captures; the function is out of its queue; re-entrance: it may post, which fails
//     as the hub is gone; panic: the other functions are dropped; test: tests/suite/hub/posting.rs:
//     functions_dropped_with_the_hub_may_post
impl Drop for Posted {
    fn drop(&mut self) {
        // SAFETY: `call` is for the function's type; `run` and `into_inner`, which take the function, prevent this
        // drop.
        Panics::in_drop(|| unsafe { (self.call)(&mut self.function, None) });
    }
}

/// # Safety
/// An `F` is stored, and is not used again.
unsafe fn call<F: FnOnce(&mut Hub)>(function: *mut InlineBox, hub: Option<&mut Hub>) {
    match hub {
        // SAFETY: by the caller.
        None => unsafe { (*function).drop_in_place::<F>() },
        // MUTANT: Only how much stack a large function takes while it runs.
        // SAFETY: by the caller.
        Some(hub) if InlineBox::fits::<F>() => (unsafe { (*function).take::<F>() })(hub),
        // SAFETY: by the caller; it does not fit. Called inside its box: it may be larger than the stack.
        Some(hub) => (unsafe { (*function).take_box::<F>() } as Box<dyn FnOnce(&mut Hub)>)(hub),
    }
}
