//! How a sleeping end wants to be woken, and the waking. Any thread rings; the sleeping end alone registers.
//!
//! Ringing is lock-free and may make one system call for each way of sleeping that the token names.

use core::ptr;
use core::task::Waker;

use crate::os::{Native, Platform};
use crate::queue::Passive;
use crate::signal::{Registration, TaskSlot};
use crate::sync::{AtomicPtr, Ordering};

/// Sleeps in the kernel, on the passive word itself.
pub(super) const FUTEX: u32 = 1;
/// Is a task whose waker lies in the slot.
pub(super) const TASK: u32 = 2;
/// Is attached to a set of signals.
pub(super) const SIGNAL: u32 = 4;

/// The bells of one sleeping end.
pub(super) struct Rings {
    task: TaskSlot,
    /// Null until attached; set once, freed with the rings.
    registration: AtomicPtr<Registration>,
}

impl Rings {
    pub(super) fn new() -> Self {
        Self { task: TaskSlot::new(), registration: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Wakes whatever the tokens taken from `passive` stand for.
    #[cold]
    #[inline(never)]
    pub(super) fn ring(&self, passive: &Passive, tokens: u32) {
        if tokens & FUTEX != 0 {
            Native::wake(passive.word(), 1);
        }
        if tokens & SIGNAL != 0 {
            // Armed for a set: so it is attached to one.
            self.registration().inspect(|registration| registration.raise());
        }
        if tokens & TASK != 0 {
            // Last: a waker is foreign code and may panic.
            self.task.wake();
        }
    }

    pub(super) fn set_waker(&self, waker: &Waker) {
        self.task.register(waker);
    }

    pub(super) fn registration(&self) -> Option<&Registration> {
        // ORDERING: Acquire pairs with the Release in `set_registration`.
        let registration = self.registration.load(Ordering::Acquire);
        // SAFETY: set once and freed only with `self`.
        unsafe { registration.as_ref() }
    }

    /// The sleeping end's own call: attaches it. Gives the registration back where there is one already.
    pub(super) fn set_registration(&self, registration: Registration) -> Result<(), Registration> {
        if self.registration().is_some() {
            return Err(registration);
        }
        // ORDERING: Release pairs with the Acquire in `registration`.
        self.registration.store(Box::into_raw(Box::new(registration)), Ordering::Release);
        Ok(())
    }

    /// The sleeping end goes, and the bells stay for the next one: nobody is to be woken.
    pub(super) fn forget(&self) {
        drop(self.task.take());
    }

    /// The sleeping end goes: its id is free again.
    pub(super) fn detach(&self) {
        self.registration().inspect(|registration| registration.release());
    }
}

impl Drop for Rings {
    fn drop(&mut self) {
        // ORDERING: Relaxed; the last owner has synchronised with the others.
        let registration = self.registration.load(Ordering::Relaxed);
        if !registration.is_null() {
            // SAFETY: made by `Box::into_raw`, and nobody else is left.
            drop(unsafe { Box::from_raw(registration) });
        }
    }
}
