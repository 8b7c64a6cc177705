//! How a sleeping end wants to be woken, and the waking. Any thread rings; the sleeping end alone registers.
//!
//! Ringing is lock-free and may make one system call for each way of sleeping that the token names.
//!
//! How a receiver can leave a set while others may be about to ring for it: before each arming for the set it *deposits* a
//! share of its registration, and whoever has taken the token takes the deposit, with one swap. So a share belongs to one
//! thread at a time, and the registration is freed with the last of them, whoever that is. Where several threads ring at
//! once one of them may find no deposit: then another has taken it and is about to raise the id, as it might be had it
//! taken the token alone.

use core::ptr;
use core::task::Waker;

use crate::os::{Native, Platform};
use crate::queue::Passive;
use crate::signal::{Registration, TaskSlot};
use crate::sync::{Arc, AtomicPtr, Ordering, UnsafeCell};

/// Sleeps in the kernel, on the passive word itself.
pub(super) const FUTEX: u32 = 1;
/// Is a task whose waker lies in the slot.
pub(super) const TASK: u32 = 2;
/// Is attached to a set of signals.
pub(super) const SIGNAL: u32 = 4;

/// The bells of one sleeping end.
pub(super) struct Rings {
    task: TaskSlot,
    /// The sleeping end's own, while it is attached.
    registration: UnsafeCell<Option<Arc<Registration>>>,
    /// A share of it for whoever takes the token [`SIGNAL`]; null if it has been taken.
    deposit: AtomicPtr<Registration>,
}

// SAFETY: `registration` is touched by the sleeping end alone, which is one thread at a time; shares of it may be used and
// dropped on any thread.
unsafe impl Send for Rings {}
// SAFETY: as above.
unsafe impl Sync for Rings {}

impl Rings {
    pub(super) fn new() -> Self {
        Self { task: TaskSlot::new(), registration: UnsafeCell::new(None), deposit: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Wakes whatever the tokens taken from `passive` stand for.
    #[cold]
    #[inline(never)]
    pub(super) fn ring(&self, passive: &Passive, tokens: u32) {
        if tokens & FUTEX != 0 {
            Native::wake(passive.word(), 1);
        }
        if tokens & SIGNAL != 0 {
            // Armed for a set: so it was attached to one.
            self.take_deposit().inspect(|registration| registration.raise());
        }
        if tokens & TASK != 0 {
            // Last: a waker is foreign code and may panic.
            self.task.wake();
        }
    }

    pub(super) fn set_waker(&self, waker: &Waker) {
        self.task.register(waker);
    }

    /// The set that the sleeping end is attached to, for it alone.
    ///
    /// # Safety
    /// By the sleeping end, which neither attaches nor detaches meanwhile.
    pub(super) unsafe fn registration(&self) -> Option<&Registration> {
        // SAFETY: by the caller.
        self.registration.with(|registration| unsafe { (*registration).as_deref() })
    }

    /// The sleeping end attaches itself. Gives the registration back where there is one already.
    ///
    /// # Safety
    /// By the sleeping end, which uses no other registration meanwhile.
    pub(super) unsafe fn set_registration(&self, registration: Registration) -> Result<(), Registration> {
        self.registration.with_mut(|own| {
            // SAFETY: by the caller.
            let own = unsafe { &mut *own };
            if own.is_some() {
                return Err(registration);
            }
            *own = Some(Arc::new(registration));
            Ok(())
        })
    }

    /// Before each arming with [`SIGNAL`]: leaves a share of the registration for whoever takes that token.
    ///
    /// # Safety
    /// As of [`registration`](Self::registration).
    pub(super) unsafe fn deposit(&self) {
        // SAFETY: by the caller.
        let share = self.registration.with(|registration| unsafe { (*registration).clone() });
        if let Some(share) = share {
            self.exchange_deposit(Arc::into_raw(share).cast_mut());
        }
    }

    fn take_deposit(&self) -> Option<Arc<Registration>> {
        self.exchange_deposit(ptr::null_mut())
    }

    /// Leaves a share, or nothing; returns what was there.
    fn exchange_deposit(&self, share: *mut Registration) -> Option<Arc<Registration>> {
        // ORDERING: Release hands the share over to the Acquire of whoever swaps it out.
        let before = self.deposit.swap(share, Ordering::AcqRel);
        // SAFETY: made by `Arc::into_raw` in `deposit`; swapped out, it is this thread's alone.
        if before.is_null() { None } else { Some(unsafe { Arc::from_raw(before.cast_const()) }) }
    }

    /// The sleeping end goes, and the bells stay for the next one: nobody is to be woken.
    pub(super) fn forget(&self) {
        drop(self.task.take());
    }

    /// The sleeping end leaves its set, if it is attached to one: the id is down, and free again. Its token has been
    /// taken back, or nobody will sleep any more; a thread that has taken it before may still raise the id once.
    ///
    /// # Safety
    /// As of [`set_registration`](Self::set_registration).
    pub(super) unsafe fn detach(&self) -> bool {
        // SAFETY: by the caller.
        let own = self.registration.with_mut(|own| unsafe { (*own).take() });
        drop(self.take_deposit());
        own.inspect(|registration| registration.release()).is_some()
    }
}

impl Drop for Rings {
    fn drop(&mut self) {
        drop(self.take_deposit());
    }
}
