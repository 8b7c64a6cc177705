//! How a sleeping handle is to be woken, and the wake-up. Any thread wakes; only the sleeping handle sets up how.
//!
//! A wake-up is lock-free and makes at most one system call for each way of sleeping that the tokens name.
//!
//! A receiver can leave a set while other threads may be about to raise its id. Before each arming for the set the
//! receiver *deposits* a share of its registration. The thread that has taken the token takes the deposit, with one
//! swap. So a share belongs to one thread at a time, and the last share to be dropped frees the registration. Where
//! several threads wake at once, one of them may find no deposit: then another thread has taken it and is about to
//! raise the id, as if it had taken the token alone.

use core::ptr;

use crate::os::wake;
use crate::passive::Passive;
use crate::signal::{Registration, SETS, TaskSlot};
use crate::statistics::Meter;
use crate::sync::{Arc, AtomicPtr, Ordering, UnsafeCell};

/// The handle sleeps in the kernel, on the passive word itself.
pub(crate) const FUTEX: u32 = 1;
/// The handle is a task whose waker is in the slot.
pub(crate) const TASK: u32 = 2;
/// The handle is attached to a set of signals.
pub(crate) const SIGNAL: u32 = 4;

/// How one sleeping handle is woken.
#[derive(Default)]
pub(crate) struct WakeTarget {
    /// Holds a waker while a task waits: the sleeping handle registers it, and takes it when no task waits any more.
    pub(crate) task: TaskSlot,
    /// Null until the handle is attached for the first time; set once, freed with the target. In an allocation of its
    /// own because most handles are never attached.
    attachment: AtomicPtr<Attachment>,
    /// Counts sleeps and wake-ups, if statistics are on.
    meter: Meter,
}

/// What binds a sleeping handle to the sets that it is attached to, one after another.
#[derive(Default)]
struct Attachment {
    /// The sleeping handle's share of its registration, while it is attached.
    own: UnsafeCell<Option<Arc<Registration>>>,
    /// A share for the thread that takes the token [`SIGNAL`]; null if it has been taken.
    deposit: AtomicPtr<Registration>,
}

// SAFETY: `own` and the deposit are shares of a registration, which may be used and dropped on any thread.
unsafe impl Send for Attachment {}
// SAFETY: only the sleeping handle touches `own`, and it is one thread at a time; `deposit` is swapped atomically, and
// a share that was swapped out belongs to one thread.
unsafe impl Sync for Attachment {}

impl Attachment {
    /// Deposits a share, or nothing; returns the share that was there.
    fn exchange(&self, share: Option<Arc<Registration>>) -> Option<Arc<Registration>> {
        let share = share.map_or(ptr::null(), Arc::into_raw).cast_mut();
        // ORDERING: Release hands the share over to the thread that swaps it out here, with Acquire.
        let before = self.deposit.swap(share, Ordering::AcqRel);
        // SAFETY: made by `Arc::into_raw` above; once swapped out it belongs to this thread alone.
        if before.is_null() { None } else { Some(unsafe { Arc::from_raw(before.cast_const()) }) }
    }
}

// USER CODE: none (it drops a share of a registration)
impl Drop for Attachment {
    // MUTANT: Every handle with a target leaves its set in its own drop.
    fn drop(&mut self) {
        drop(self.exchange(None));
    }
}

impl WakeTarget {
    pub(crate) fn metered(meter: Meter) -> Self {
        Self { task: TaskSlot::default(), attachment: AtomicPtr::default(), meter }
    }

    /// Of a handle that never waits. In a model it is not constant.
    #[cfg(all(feature = "mpsc", not(ysuite_loom)))]
    pub(crate) const fn unused() -> Self {
        Self { task: TaskSlot::new(), attachment: AtomicPtr::new(ptr::null_mut()), meter: Meter::none() }
    }

    #[inline(always)]
    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }

    // MUTANT: Speed only: a check that finds nothing takes the path of a handle in a set.
    /// Whether the sleeping handle has ever been attached to a set. Only its own thread may rely on `false`.
    #[inline(always)]
    pub(crate) fn was_attached(&self) -> bool {
        // ORDERING: Relaxed; the calling thread is the one that attaches.
        !self.attachment.load(Ordering::Relaxed).is_null()
    }

    // USER CODE: the task's waker, last, as of `TaskSlot::wake`; test: tests/suite/conformance/channel/tasks.rs:
    //     a_waker_that_panics_loses_nothing
    // MUTANT: Statistics, or a wake without a reason. Killed only by `a_receiver_that_slept_was_woken` and
    // `nothing_is_signalled_while_the_receiver_is_read`.
    /// Wakes the handle in each way that the tokens name. The caller has taken them from `passive`.
    #[cold]
    #[inline(never)]
    pub(crate) fn wake(&self, passive: &Passive, tokens: u32) {
        if tokens & (FUTEX | TASK | SIGNAL) != 0 {
            self.meter.wakes();
        }
        if tokens & FUTEX != 0 {
            wake(&passive.word, 1);
        }
        if SETS && tokens & SIGNAL != 0 {
            // The handle was attached when it armed with this token; it has deposited a share before.
            let share = self.attachment().and_then(|attachment| attachment.exchange(None));
            if let Some(registration) = share {
                registration.raise();
            }
        }
        if tokens & TASK != 0 {
            // The task last: a waker is user code and may panic.
            self.task.wake();
        }
    }

    fn attachment(&self) -> Option<&Attachment> {
        // ORDERING: Relaxed; the calling thread is the sleeping handle's own, or has taken the token `SIGNAL` from the
        // passive word, with which the handle has handed over all that it did before it armed. A lane's next sender has
        // it from the last one with the lane's id.
        let attachment = self.attachment.load(Ordering::Relaxed);
        // SAFETY: null, or made by `Box::into_raw` in `set_registration`; set once, and freed only with `self`.
        unsafe { attachment.as_ref() }
    }

    /// The sleeping handle's registration in the set it is attached to.
    ///
    /// # Safety
    /// Only the thread of the sleeping handle may call this, and it neither attaches nor detaches while it
    /// holds the result.
    pub(crate) unsafe fn registration(&self) -> Option<&Registration> {
        if !SETS {
            return None;
        }
        // SAFETY: by the contract only this thread touches `own`, and does not change it while the result is in use.
        self.attachment()?.own.with(|own| unsafe { (*own).as_deref() })
    }

    /// Attaches the sleeping handle, which is not attached.
    ///
    /// # Safety
    /// Only the thread of the sleeping handle may call this, and it holds no result of
    /// [`registration`](Self::registration).
    #[inline(never)]
    pub(crate) unsafe fn set_registration(&self, registration: Registration) {
        // MUTANT: Killed only by `an_end_that_leaves_its_set_keeps_nothing_of_it`.
        if self.attachment().is_none() {
            // ORDERING: Relaxed; others load this only with the token `SIGNAL`, which the handle arms after this and
            // releases with `Passive::mark`.
            self.attachment.store(Box::into_raw(Box::default()), Ordering::Relaxed);
        }
        let own = &self.attachment().expect("set once").own;
        // SAFETY: by the contract only this thread touches `own`, and it holds no reference into it.
        own.with_mut(|own| unsafe { *own = Some(Arc::new(registration)) });
    }

    /// Before each arming with [`SIGNAL`]: leaves a share of the registration for the thread that takes that token.
    ///
    /// # Safety
    /// Only the thread of the sleeping handle may call this, and it neither attaches nor detaches meanwhile.
    pub(crate) unsafe fn deposit(&self) {
        if !SETS {
            return;
        }
        let Some(attachment) = self.attachment() else { return };
        // SAFETY: by the contract only this thread touches `own`, and does not change it meanwhile.
        let share = attachment.own.with(|own| unsafe { (*own).clone() });
        drop(attachment.exchange(share));
    }

    /// Detaches the sleeping handle from its set. True: it was attached. The id is down, and free again. The handle has
    /// disarmed its token, or will never sleep again; a thread that took the token before may still raise the id once.
    ///
    /// # Safety
    /// Only the thread of the sleeping handle may call this, and it holds no result of
    /// [`registration`](Self::registration).
    #[inline(never)]
    pub(crate) unsafe fn detach(&self) -> bool {
        if !SETS {
            return false;
        }
        let Some(attachment) = self.attachment() else { return false };
        // SAFETY: by the contract only this thread touches `own`, and it holds no reference into it.
        let own = attachment.own.with_mut(|own| unsafe { (*own).take() });
        // MUTANT: Killed only by `an_end_that_leaves_its_set_keeps_nothing_of_it`.
        drop(attachment.exchange(None));
        match own {
            Some(registration) => {
                registration.release();
                true
            }
            None => false,
        }
    }
}

impl Drop for WakeTarget {
    // MUTANT: Killed only by `an_end_that_leaves_its_set_keeps_nothing_of_it`.
    fn drop(&mut self) {
        // ORDERING: Relaxed; dropped by the last owner, which has synchronised with the others.
        let attachment = self.attachment.load(Ordering::Relaxed);
        if !attachment.is_null() {
            // SAFETY: made by `Box::into_raw` in `set_registration`; no other thread has access to `self` any more.
            drop(unsafe { Box::from_raw(attachment) });
        }
    }
}

/// How a receiver sleeps that many threads may wake: the word that says in which way, and the target to wake. A thread
/// that wakes it has published in a queue before. Several queues may share one parker; its receiver polls all of them.
pub(crate) struct Parker {
    pub(crate) word: Passive,
    pub(crate) target: WakeTarget,
}

impl Parker {
    pub(crate) fn new(meter: Meter) -> Self {
        Self { word: Passive::new(), target: WakeTarget::metered(meter) }
    }

    // MUTANT: A wake without a mode does nothing. Killed only by
    // `flush_says_false_exactly_when_the_receiver_had_armed`.
    /// Wakes the handle if it sleeps (true). Executes a full fence.
    pub(crate) fn wake(&self) -> bool {
        let tokens = self.word.called();
        if tokens != 0 {
            self.target.wake(&self.word, tokens);
        }
        tokens != 0
    }
}
