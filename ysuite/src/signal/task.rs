//! [`TaskSlot`]: how an async task sleeps. Holds the waker of the one task that waits, for any thread to wake.
//!
//! `register`: the owner of the waiting end. `wake`, `take`: any thread. All lock-free; nobody ever waits for the other
//! side, which tells whoever holds the slot what it still has to do instead. Foreign code (a waker's clone, wake and
//! drop) runs only while the slot is free, so it may panic, or come back into the slot.
//!
//! Cannot: hold two tasks. The last one registered is the one that is woken.
//!
//! Source: the three states of `AtomicWaker` in futures-rs (Carl Lerche, Alex Crichton), written anew.

use core::fmt;
use core::task::Waker;

use crate::sync::{AtomicU32, Ordering, UnsafeCell};

/// Nobody holds the slot. Anybody may try to.
const WAITING: u32 = 0;
/// The owner holds the slot: it alone may touch the waker.
const REGISTERING: u32 = 1;
/// A waking thread has come. Alone, it holds the slot; together with REGISTERING, it has left the waking to the owner.
const WAKING: u32 = 2;

/// Room for the waker of one task.
pub(crate) struct TaskSlot {
    state: AtomicU32,
    /// Belongs to whoever has moved `state` out of WAITING.
    waker: UnsafeCell<Option<Waker>>,
}

// SAFETY: `waker` is touched only by the thread that has moved `state` out of WAITING, until it moves it back; a waker
// may be cloned, woken and dropped on any thread.
unsafe impl Send for TaskSlot {}
// SAFETY: as above.
unsafe impl Sync for TaskSlot {}

impl TaskSlot {
    pub(crate) fn new() -> Self {
        Self { state: AtomicU32::new(WAITING), waker: UnsafeCell::new(None) }
    }

    /// Makes `waker` the one that the next [`TaskSlot::wake`] wakes. To be followed by a look whether there is anything
    /// to wake for already. Clones only if the slot does not hold an equivalent waker.
    ///
    /// For one owner at a time. Two at once break nothing, but one of them is woken at once and has to come again.
    pub(crate) fn register(&self, waker: &Waker) {
        // The waker that is to be stored must be cloned outside the slot; whether it has to be is known inside only.
        let mut known = true;
        if !self.hold(waker, |slot| known = slot.as_ref().is_some_and(|old| old.will_wake(waker))) || known {
            return;
        }
        let mut fresh = Some(waker.clone());
        self.hold(waker, |slot| core::mem::swap(slot, &mut fresh));
        // What was in the slot is dropped here, outside.
    }

    /// Runs `inside` with the slot held. False, with `waker` woken, if a waking thread came in between: the task will
    /// look again, and register again if it must.
    fn hold(&self, waker: &Waker, inside: impl FnOnce(&mut Option<Waker>)) -> bool {
        // ORDERING: Acquire pairs with the Release of `take` and of the exchange below, by which the last holder left;
        // on failure with the RMW of `take`: the task that is woken here sees what it was woken for.
        if self.state.compare_exchange(WAITING, REGISTERING, Ordering::Acquire, Ordering::Acquire).is_err() {
            waker.wake_by_ref();
            return false;
        }
        self.waker.with_mut(|slot| {
            // SAFETY: the exchange has made this thread the holder; `inside` touches no foreign code.
            inside(unsafe { &mut *slot });
        });
        // ORDERING: Release hands the waker over to the next holder. On failure, Acquire pairs with the RMW of `take`,
        // as above.
        if self.state.compare_exchange(REGISTERING, WAITING, Ordering::Release, Ordering::Acquire).is_ok() {
            return true;
        }
        // A waking thread found us here and left it to us. We still hold the slot.
        let old = self.waker.with_mut(|slot| {
            // SAFETY: this thread is the holder until the swap below.
            unsafe { (*slot).take() }
        });
        // ORDERING: Release as above; Acquire because others may have come since.
        self.state.swap(WAITING, Ordering::AcqRel);
        // The one woken may be the old one, equivalent or not: the task that registers now must look again.
        if old.as_ref().is_none_or(|old| !old.will_wake(waker)) {
            waker.wake_by_ref();
        }
        if let Some(old) = old {
            old.wake();
        }
        false
    }

    /// Wakes the task that waits, if any; it must register again to be woken again. Any thread.
    pub(crate) fn wake(&self) {
        if let Some(waker) = self.take() {
            waker.wake();
        }
    }

    /// Takes the waker out. `None` if there is none, or if another thread holds the slot: that thread wakes the task,
    /// or is about to take the waker itself. Any thread.
    pub(crate) fn take(&self) -> Option<Waker> {
        // ORDERING: Acquire pairs with the Release by which the last holder left. Release pairs with the Acquires of
        // `hold`: what happened before this wake is visible to the task that registers afterwards.
        if self.state.fetch_or(WAKING, Ordering::AcqRel) != WAITING {
            return None;
        }
        let waker = self.waker.with_mut(|slot| {
            // SAFETY: the state was WAITING, so this thread is the holder until it clears WAKING.
            unsafe { (*slot).take() }
        });
        // ORDERING: Release pairs with the Acquire of the next holder.
        self.state.fetch_and(!WAKING, Ordering::Release);
        waker
    }
}

impl fmt::Debug for TaskSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskSlot").finish_non_exhaustive()
    }
}
