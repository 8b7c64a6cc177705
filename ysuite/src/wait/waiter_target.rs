//! How one that waits in a list is woken: a thread that sleeps on a word, a task, or an attached receiver.
//!
//! The owner of the slot sets it up while no other thread can wake it; then the thread that has taken the armed bit wakes it, once.

use core::ptr;
use core::task::Waker;

use crate::os::{Deadline, Native, Platform, Waited, sleep_on};
use crate::signal::{Registration, TaskSlot};
use crate::sync::{AtomicPtr, AtomicU32, Ordering};

/// The thread sleeps, or is about to.
const ASLEEP: u32 = 1;
/// It has been woken, or does not sleep.
const AWAKE: u32 = 0;

/// How the owner of one slot is woken.
pub(crate) struct WaiterTarget {
    /// What a thread sleeps on.
    word: AtomicU32,
    /// Holds a waker while a task waits.
    task: TaskSlot,
    /// Null unless an attached receiver has the place; owned by this.
    registration: AtomicPtr<Registration>,
}

impl Default for WaiterTarget {
    fn default() -> Self {
        Self { word: AtomicU32::new(AWAKE), task: TaskSlot::new(), registration: AtomicPtr::new(ptr::null_mut()) }
    }
}

impl WaiterTarget {
    /// Wakes whoever waits here. A waker is foreign code, and may panic.
    pub(crate) fn wake(&self, is_thread: bool) {
        if is_thread {
            // ORDERING: Release, though what was published has been handed over with the place's bit already.
            self.word.store(AWAKE, Ordering::Release);
            Native::wake(&self.word, 1);
        } else if let Some(registration) = self.registration() {
            registration.raise();
        } else {
            self.task.wake();
        }
    }

    /// Owner, before it arms: a thread will sleep here.
    pub(crate) fn set_asleep(&self) {
        // ORDERING: Relaxed; released with the arming.
        self.word.store(ASLEEP, Ordering::Relaxed);
    }

    /// Owner: sleeps until it is woken (true) or the deadline has passed (false).
    pub(crate) fn sleep(&self, deadline: Deadline) -> bool {
        loop {
            if sleep_on(&self.word, ASLEEP, deadline) == Waited::TimedOut {
                return false;
            }
            // ORDERING: Relaxed; what the wake-up stands for is acquired with the bit of the slot.
            if self.word.load(Ordering::Relaxed) != ASLEEP {
                return true;
            }
        }
    }

    /// Owner, before it arms: this task is to be woken.
    pub(crate) fn set_waker(&self, waker: &Waker) {
        self.task.register(waker);
    }

    /// Owner: no task waits any more. The waker is to be dropped when nothing else is left to be done: foreign code, which
    /// may panic.
    #[must_use]
    pub(crate) fn take_waker(&self) -> Option<Waker> {
        self.task.take()
    }

    pub(crate) fn registration(&self) -> Option<&Registration> {
        // ORDERING: Acquire pairs with the Release in `set_registration`.
        let registration = self.registration.load(Ordering::Acquire);
        // SAFETY: freed by `vacate` only, when nobody looks any more.
        unsafe { registration.as_ref() }
    }

    /// Owner of a new place: it is an attached receiver's.
    pub(crate) fn set_registration(&self, registration: Registration) {
        // ORDERING: Release pairs with the Acquire in `registration`.
        self.registration.store(Box::into_raw(Box::new(registration)), Ordering::Release);
    }
}

impl WaiterTarget {
    /// The slot is given back: whatever this holds is thrown away. Nobody else looks at it.
    pub(crate) fn vacate(&self) {
        // ORDERING: Acquire pairs with the Release in `set_registration`; Relaxed for a place nobody else has.
        let registration = self.registration.load(Ordering::Acquire);
        if !registration.is_null() {
            self.registration.store(ptr::null_mut(), Ordering::Relaxed);
            // SAFETY: made by `Box::into_raw`, and nobody else looks.
            drop(unsafe { Box::from_raw(registration) });
        }
    }
}

impl Drop for WaiterTarget {
    fn drop(&mut self) {
        self.vacate();
    }
}
