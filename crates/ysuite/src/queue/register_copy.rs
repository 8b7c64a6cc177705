//! Keeping a value in registers. One thread. Costs nothing on a fast path, and a copy of the value on a slow path.
//!
//! A loop that sends or receives through a local variable can keep all of the queue's hot state in registers, if no
//! function is ever given the variable's address. Every out-of-line slow path takes the address, and so does dropping,
//! even if it happens once, after the loop. So slow paths run on a copy ([`outline`]), and dropping moves the value out
//! first ([`RegisterCopy`]): no function sees the address of the original, and a message costs no trip through the
//! store buffer. On the machine this was measured on, that trip was half the cost of a message.

use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr;

// USER CODE: whatever the slow path runs; the value is a copy, and no thread reads the original meanwhile; panic: the
//     copy is still written back, by `Back`; test: tests/suite/conformance/channel/panics.rs:
//     panicking_drop_of_an_element_takes_the_rest_along
/// Runs a slow path on a copy of `value`, then writes the copy back.
#[inline(always)]
pub(crate) fn outline<T, R>(value: &mut T, slow: impl FnOnce(&mut T) -> R) -> R {
    // SAFETY: the copy is the value from here on, and is never dropped. `Back` writes it back, also when `slow` panics,
    // and the `&mut` of the caller keeps all others from the original until then.
    let mut copy = ManuallyDrop::new(unsafe { ptr::read(value) });
    let place: *mut T = &raw mut *copy;
    // The original's address is held in a variable of its own: next to the copy it would escape together with the
    // copy's.
    let _back = Back { copy: place, home: value };
    // SAFETY: `place` points to the copy, and only `_back` uses the copy otherwise, when it is dropped below.
    slow(unsafe { &mut *place })
}

/// As [`outline`], with a message that the slow path gets. Not as a capture: an unoptimised closure is one more copy of
/// it in each function that the closure passes through.
#[inline(always)]
pub(crate) fn outline_with<T, M, R>(value: &mut T, message: M, slow: impl FnOnce(&mut T, M) -> R) -> R {
    // SAFETY: as in `outline`.
    let mut copy = ManuallyDrop::new(unsafe { ptr::read(value) });
    let place: *mut T = &raw mut *copy;
    let _back = Back { copy: place, home: value };
    // SAFETY: as in `outline`.
    slow(unsafe { &mut *place }, message)
}

/// Writes a copy back when it is dropped.
struct Back<T> {
    copy: *const T,
    home: *mut T,
}

impl<T> Drop for Back<T> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `outline` keeps both alive until here, and they are distinct variables. The original's bits are those
        // of a value that has lived on in the copy: they are overwritten, not dropped.
        unsafe { ptr::copy_nonoverlapping(self.copy, self.home, 1) };
    }
}

/// A value that is moved before it is dropped.
pub(crate) struct RegisterCopy<T>(ManuallyDrop<T>);

impl<T> RegisterCopy<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }
}

impl<T> Deref for RegisterCopy<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for RegisterCopy<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> Drop for RegisterCopy<T> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the copy is the value from here on: the original is in a `ManuallyDrop`, and this is its last use.
        let mut copy = unsafe { ptr::read(&raw const self.0) };
        // By reference: the compiler may pass a large value by its address.
        end(&mut copy);
    }
}

#[inline(never)]
fn end<T>(value: &mut ManuallyDrop<T>) {
    // SAFETY: only `RegisterCopy::drop` calls this, once for each value, and does not use the value afterwards.
    unsafe { ManuallyDrop::drop(value) };
}
