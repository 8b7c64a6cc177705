//! How a waiter in a list is woken: as a thread that sleeps on a word, as a task, or as an attached receiver.
//!
//! The owner of the slot sets the target up before it arms the slot. The notifier that takes the armed bit wakes it,
//! once. The wake-up is lock-free, and makes one system call at most in addition to what a waker does.

use core::ptr;

use crate::os::{Deadline, Waited, sleep_on, wake};
use crate::signal::{Registration, SETS, TaskSlot};
use crate::sync::{Arc, AtomicPtr, AtomicU32, Ordering};

/// The thread has been woken, or does not sleep: so at first.
const AWAKE: u32 = 0;
/// The thread sleeps, or is about to.
const ASLEEP: u32 = 1;

/// How the owner of one slot is woken.
#[derive(Default)]
pub(crate) struct WaiterTarget {
    /// What a thread sleeps on.
    word: AtomicU32,
    /// Holds a waker while a task waits: the owner of the slot registers it before it arms, and takes it when no task
    /// waits any more.
    pub(super) task: TaskSlot,
    /// A share of what binds the slot's owner to its set; null where the owner is in none. With [`BESIDE`] in its
    /// address where the slot is that of the owner's task, and the set is notified as well.
    registration: AtomicPtr<Registration>,
}

/// No address of a registration has this bit.
const BESIDE: usize = 1;
const _: () = assert!(align_of::<Registration>() > BESIDE);

impl WaiterTarget {
    // USER CODE: a waker; the armed bit of the slot is taken, and the slot is not reused before the waker has returned;
    //     re-entrance: it may poll, and wait again in the same slot; panic: the caller wakes the waiters after it, then
    //     it propagates; test: tests/suite/mpmc/foreign.rs: one_waker_that_panics_does_not_keep_those_behind_it_asleep
    /// For a notifier: wakes the owner of the slot, as a thread or otherwise. A waker is user code, and may panic.
    #[inline]
    pub(crate) fn wake(&self, is_thread: bool) {
        if is_thread {
            // ORDERING: Relaxed; the owner's `disarm` acquires what was published, with the armed bit that the notifier
            // has taken by an AcqRel read-modify-write.
            self.word.store(AWAKE, Ordering::Relaxed);
            wake(&self.word, 1);
            return;
        }
        if !SETS {
            return self.task.wake();
        }
        // ORDERING: Relaxed, as in `registration`.
        let registration = self.registration.load(Ordering::Relaxed);
        // SAFETY: as in `registration`.
        if let Some(registration) = unsafe { registration.map_addr(|address| address & !BESIDE).as_ref() } {
            registration.raise();
        }
        if registration.is_null() || registration.addr() & BESIDE != 0 {
            // The task last: a waker is user code and may panic.
            self.task.wake();
        }
    }

    /// Owner, before it arms: a thread will sleep here.
    #[inline]
    pub(crate) fn set_asleep(&self) {
        // ORDERING: Relaxed; released with the armed bit in `WaitList::arm`, so that the notifier's store comes after
        // it.
        self.word.store(ASLEEP, Ordering::Relaxed);
    }

    /// Owner: sleeps until it is woken (true) or the deadline has passed (false).
    #[inline]
    pub(crate) fn sleep(&self, deadline: Deadline) -> bool {
        while sleep_on(&self.word, ASLEEP, deadline) == Waited::Look {
            // MUTANT: A thread that wakes without a reason checks, arms and parks again.
            // ORDERING: Relaxed; the owner's `disarm` acquires what the notifier has published, with the armed bit.
            if self.word.load(Ordering::Relaxed) != ASLEEP {
                return true;
            }
        }
        false
    }

    /// Of an attached receiver.
    #[inline]
    pub(crate) fn registration(&self) -> Option<&Registration> {
        if !SETS {
            return None;
        }
        // ORDERING: Relaxed; only the owner sets it, and hands it over with the armed bit, which the notifier has
        // acquired.
        let registration = self.registration.load(Ordering::Relaxed);
        if registration.addr() & BESIDE != 0 {
            return None;
        }
        // SAFETY: the share is dropped by `vacate` only, which runs when neither an owner nor a notifier uses the slot.
        unsafe { registration.as_ref() }
    }

    /// For the owner of a newly taken slot: the slot is an attached receiver's, or the one of its task, if `beside` is
    /// true.
    pub(crate) fn set_registration(&self, registration: Arc<Registration>, beside: bool) {
        let registration = Arc::into_raw(registration).cast_mut();
        let registration = registration.map_addr(|address| if beside { address | BESIDE } else { address });
        // ORDERING: Relaxed; a notifier finds it by the armed bit, which the owner releases in `WaitList::arm`.
        self.registration.store(registration, Ordering::Relaxed);
    }

    /// The slot is given back: drops the registration it holds. No other thread uses the slot.
    pub(crate) fn vacate(&self) {
        if !SETS {
            return;
        }
        // ORDERING: Relaxed; the slot's last user has acquired what the others did, in `SlotBlock::unuse` or
        // `unregister`.
        let registration = self.registration.load(Ordering::Relaxed);
        if !registration.is_null() {
            // ORDERING: Relaxed; no other thread uses the slot, and `give_back` releases it to the next owner.
            self.registration.store(ptr::null_mut(), Ordering::Relaxed);
            let registration = registration.map_addr(|address| address & !BESIDE).cast_const();
            // SAFETY: made by `Arc::into_raw` in `set_registration`; no other thread uses the slot, so this alone drops
            // the share.
            drop(unsafe { Arc::from_raw(registration) });
        }
    }
}

impl Drop for WaiterTarget {
    // MUTANT: Every attached handle gives its slot back in its own drop.
    fn drop(&mut self) {
        self.vacate();
    }
}
