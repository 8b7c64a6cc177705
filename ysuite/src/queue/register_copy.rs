//! Keeping a value in registers. One thread; costs nothing where it runs often, a copy of the value where it runs seldom.
//!
//! A loop that sends or receives through a local variable could keep all of the queue's hot state in registers, if no
//! function were ever given the variable's address. Every out-of-line slow path takes one, and so does dropping, even if
//! it happens once, after the loop. So slow paths are run on a copy ([`outline`]) and dropping moves the value out first
//! ([`RegisterCopy`]): the address of the original is seen by nobody, and a message costs no trip through the store buffer. On
//! the machine this was measured on, that trip was half the cost of a message.

use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr;

/// Runs a slow path on a copy of `value`, which then takes its place again.
#[inline(always)]
pub(crate) fn outline<T, R>(value: &mut T, slow: impl FnOnce(&mut T) -> R) -> R {
    // SAFETY: the copy is the value from here on, and never dropped; `Back` writes it back whatever happens, and nobody
    // looks at the original before.
    let mut copy = ManuallyDrop::new(unsafe { ptr::read(value) });
    let place: *mut T = &raw mut *copy;
    // The original's address in a place of its own: beside the copy it would be shown with the copy's.
    let back = Back { copy: place, home: value };
    // SAFETY: `place` is the copy, which nobody else looks at until `back` is dropped.
    let result = slow(unsafe { &mut *place });
    drop(back);
    result
}

/// Brings a copy home.
struct Back<T> {
    copy: *const T,
    home: *mut T,
}

impl<T> Drop for Back<T> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `outline` holds both; the original's bits are of a value that has lived on in the copy: they are
        // overwritten, not dropped.
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
        // SAFETY: the copy is the value from here on; the original is never looked at again.
        let mut copy = unsafe { ptr::read(&raw const self.0) };
        // By reference: a value that is passed on by value is passed where it lies.
        end(&mut copy);
    }
}

#[inline(never)]
fn end<T>(value: &mut ManuallyDrop<T>) {
    // SAFETY: called once for each value, by `RegisterCopy::drop`.
    unsafe { ManuallyDrop::drop(value) };
}
