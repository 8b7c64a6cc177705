//! How a sleeping end wants to be woken, and the waking. Any thread target; the sleeping end alone registers.
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
use crate::passive::Passive;
use crate::signal::{Registration, TaskSlot};
use crate::sync::{Arc, AtomicPtr, Ordering, UnsafeCell};

/// Sleeps in the kernel, on the passive word itself.
pub(crate) const FUTEX: u32 = 1;
/// Is a task whose waker lies in the slot.
pub(crate) const TASK: u32 = 2;
/// Is attached to a set of signals.
pub(crate) const SIGNAL: u32 = 4;

/// The bells of one sleeping end.
pub(crate) struct WakeTarget {
    task: TaskSlot,
    /// Null until attached for the first time; set once, freed with the target. Apart, because most ends never are.
    attachment: AtomicPtr<Attachment>,
}

/// What binds a sleeping end to the sets it is attached to, one after another.
struct Attachment {
    /// The sleeping end's own, while it is attached.
    own: UnsafeCell<Option<Arc<Registration>>>,
    /// A share of it for whoever takes the token [`SIGNAL`]; null if it has been taken.
    deposit: AtomicPtr<Registration>,
}

// SAFETY: `own` is touched by the sleeping end alone, which is one thread at a time; shares of it may be used and dropped
// on any thread.
unsafe impl Send for Attachment {}
// SAFETY: as above.
unsafe impl Sync for Attachment {}

impl Attachment {
    /// Leaves a share, or nothing; returns what was there.
    fn exchange(&self, share: *mut Registration) -> Option<Arc<Registration>> {
        // ORDERING: Release hands the share over to the Acquire of whoever swaps it out.
        let before = self.deposit.swap(share, Ordering::AcqRel);
        // SAFETY: made by `Arc::into_raw` in `WakeTarget::deposit`; swapped out, it is this thread's alone.
        if before.is_null() { None } else { Some(unsafe { Arc::from_raw(before.cast_const()) }) }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        drop(self.exchange(ptr::null_mut()));
    }
}

impl WakeTarget {
    pub(crate) fn new() -> Self {
        Self { task: TaskSlot::new(), attachment: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Wakes whatever the tokens taken from `passive` stand for.
    #[cold]
    #[inline(never)]
    pub(crate) fn wake(&self, passive: &Passive, tokens: u32) {
        if tokens & FUTEX != 0 {
            Native::wake(passive.word(), 1);
        }
        if tokens & SIGNAL != 0 {
            // Armed for a set: so it was attached to one.
            let share = self.attachment().and_then(|attachment| attachment.exchange(ptr::null_mut()));
            share.inspect(|registration| registration.raise());
        }
        if tokens & TASK != 0 {
            // Last: a waker is foreign code and may panic.
            self.task.wake();
        }
    }

    pub(crate) fn set_waker(&self, waker: &Waker) {
        self.task.register(waker);
    }

    fn attachment(&self) -> Option<&Attachment> {
        // ORDERING: Acquire pairs with the Release in `set_registration`.
        let attachment = self.attachment.load(Ordering::Acquire);
        // SAFETY: set once, and freed only with `self`.
        unsafe { attachment.as_ref() }
    }

    /// What binds the sleeping end to a set, for it alone.
    ///
    /// # Safety
    /// By the sleeping end, which neither attaches nor detaches meanwhile.
    pub(crate) unsafe fn registration(&self) -> Option<&Registration> {
        // SAFETY: by the caller.
        self.attachment()?.own.with(|own| unsafe { (*own).as_deref() })
    }

    /// The sleeping end attaches itself. Gives the registration back where there is one already.
    ///
    /// # Safety
    /// By the sleeping end, which uses no other registration meanwhile.
    pub(crate) unsafe fn set_registration(&self, registration: Registration) -> Result<(), Registration> {
        let Some(attachment) = self.attachment() else {
            let own = UnsafeCell::new(Some(Arc::new(registration)));
            let attachment = Attachment { own, deposit: AtomicPtr::new(ptr::null_mut()) };
            // ORDERING: Release pairs with the Acquire in `attachment`.
            self.attachment.store(Box::into_raw(Box::new(attachment)), Ordering::Release);
            return Ok(());
        };
        attachment.own.with_mut(|own| {
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
    pub(crate) unsafe fn deposit(&self) {
        let Some(attachment) = self.attachment() else { return };
        // SAFETY: by the caller.
        let share = attachment.own.with(|own| unsafe { (*own).clone() });
        if let Some(share) = share {
            drop(attachment.exchange(Arc::into_raw(share).cast_mut()));
        }
    }

    /// The sleeping end waits no longer: no task is to be woken. Returns its waker, to be dropped when all else is done.
    #[must_use = "its drop is foreign code, and comes last"]
    pub(crate) fn forget(&self) -> Option<Waker> {
        self.task.take()
    }

    /// The sleeping end leaves its set, if it is attached to one: the id is down, and free again. Its token has been
    /// taken back, or nobody will sleep any more; a thread that has taken it before may still raise the id once.
    ///
    /// # Safety
    /// As of [`set_registration`](Self::set_registration).
    pub(crate) unsafe fn detach(&self) -> bool {
        let Some(attachment) = self.attachment() else { return false };
        // SAFETY: by the caller.
        let own = attachment.own.with_mut(|own| unsafe { (*own).take() });
        drop(attachment.exchange(ptr::null_mut()));
        own.inspect(|registration| registration.release()).is_some()
    }
}

impl Drop for WakeTarget {
    fn drop(&mut self) {
        // ORDERING: Relaxed; the last owner has synchronised with the others.
        let attachment = self.attachment.load(Ordering::Relaxed);
        if !attachment.is_null() {
            // SAFETY: made by `Box::into_raw`, and nobody else is left.
            drop(unsafe { Box::from_raw(attachment) });
        }
    }
}

/// A receiving end that many threads may call: the word that says how it sleeps, and how it is woken. The caller has made
/// something visible before, somewhere else; several queues may share one parker, whose end looks at all of them.
pub(crate) struct Parker {
    pub(crate) word: Passive,
    pub(crate) target: WakeTarget,
}

impl Parker {
    pub(crate) fn new() -> Self {
        Self { word: Passive::new(), target: WakeTarget::new() }
    }

    /// Wakes the end if it sleeps. True: it did.
    pub(crate) fn call(&self) -> bool {
        let tokens = self.word.called();
        if tokens != 0 {
            self.target.wake(&self.word, tokens);
        }
        tokens != 0
    }
}
