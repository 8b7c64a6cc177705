//! Slots for those who wait, in blocks: who has one, and which of them may be called. Any thread; lock-free.
//!
//! A slot is used by its owner, and by at most one caller for each time it was armed. The last of them gives it back, so
//! nobody target a bell that is another's by now, and nobody waits for anybody.

use core::ops::Deref;
use core::ptr;
// Handed over with a bit: not the façade's, a model need not explore it.
use core::sync::atomic::AtomicBool as HandedBool;

use super::vacancies::Vacancies;
use super::waiter_target::WaiterTarget;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Slots in a block.
const SLOTS: usize = if cfg!(ysuite_loom) { 3 } else { 64 };
/// All of them.
const ALL: u64 = u64::MAX >> (64 - SLOTS);
/// In [`WaiterSlot::users`]: the owner has left, whoever is last gives the slot back.
const LEFT: u32 = 1 << 31;

/// Slots that are made together. They live as long as their list.
pub(crate) struct SlotBlock {
    /// Slots that somebody has.
    taken: AtomicU64,
    /// Slots whose owners wait to be called. The truth; the count in the word is never less.
    pub(super) armed: AtomicU64,
    /// The block made after this one.
    pub(super) next: AtomicPtr<SlotBlock>,
    /// While it has room, the block below it; see [`Vacancies`].
    pub(super) below: AtomicPtr<SlotBlock>,
    /// Whether it is among those with room.
    pub(super) listed: AtomicBool,
    slots: [WaiterSlot; SLOTS],
}

struct WaiterSlot {
    /// One for each arming not yet disarmed or called to its end, and `LEFT`.
    users: AtomicU32,
    /// Whether its owner, once notified, certainly comes at once.
    is_thread: HandedBool,
    target: WaiterTarget,
}

/// A slot of one's own in a list. Left by [`WaitList::unregister`](super::WaitList::unregister).
pub(crate) struct Waiter {
    pub(super) block: *const SlotBlock,
    pub(super) index: usize,
}

// SAFETY: a slot is a name for a part of the list, which is shared between threads anyway.
unsafe impl Send for Waiter {}
// SAFETY: as above.
unsafe impl Sync for Waiter {}

/// One that has been notified: its target is to be rung, before this is dropped.
pub(crate) struct Notified<'a> {
    vacant: &'a Vacancies,
    block: &'a SlotBlock,
    index: usize,
}

impl Deref for Notified<'_> {
    type Target = WaiterTarget;

    fn deref(&self) -> &WaiterTarget {
        self.block.target(self.index)
    }
}

impl<'a> Notified<'a> {
    /// The caller that has taken the bit.
    pub(crate) fn new(vacant: &'a Vacancies, block: &'a SlotBlock, index: usize) -> Self {
        Self { vacant, block, index }
    }

    /// Whether this one certainly comes: then it sees to it that others are called if there is more.
    pub(crate) fn is_thread(&self) -> bool {
        // ORDERING: Relaxed; written before the arming, which was acquired with the bit.
        self.block.slots[self.index].is_thread.load(Ordering::Relaxed)
    }
}

impl Drop for Notified<'_> {
    fn drop(&mut self) {
        self.block.unuse(self.index, self.vacant);
    }
}

impl SlotBlock {
    /// One user less: the last one behind the owner gives the slot back.
    pub(crate) fn unuse(&self, index: usize, vacant: &Vacancies) {
        // ORDERING: AcqRel: whoever is last comes after all that the others have done with the target.
        if self.slots[index].users.fetch_sub(1, Ordering::AcqRel) == LEFT + 1 {
            self.give_back(index, vacant);
        }
    }

    fn give_back(&self, index: usize, vacant: &Vacancies) {
        self.slots[index].target.vacate();
        // ORDERING: Relaxed; published by the Release below.
        self.slots[index].users.store(0, Ordering::Relaxed);
        // ORDERING: Release pairs with the Acquire in `register`.
        if self.taken.fetch_and(!(1 << index), Ordering::Release) == ALL {
            vacant.put(self);
        }
    }

    /// Whether it has no slot to give.
    pub(crate) fn is_full(&self) -> bool {
        // ORDERING: Relaxed; who gives a slot back later finds out by itself that the block was full.
        self.taken.load(Ordering::Relaxed) == ALL
    }

    /// Takes a free slot.
    pub(crate) fn register(&self) -> Option<usize> {
        // ORDERING: Relaxed; the read-modify-write below decides.
        let mut taken = self.taken.load(Ordering::Relaxed);
        loop {
            let index = taken.trailing_ones() as usize;
            if index >= SLOTS {
                return None;
            }
            // ORDERING: Acquire pairs with the Release in `give_back`.
            taken = self.taken.fetch_or(1 << index, Ordering::Acquire);
            if taken & (1 << index) == 0 {
                return Some(index);
            }
        }
    }

    /// Takes the bit of an armed slot, among those of `mask`.
    pub(crate) fn claim(&self, mask: u64) -> Option<usize> {
        // ORDERING: Relaxed; behind the fence of `attend`, which pairs with that of `arm`.
        let mut armed = self.armed.load(Ordering::Relaxed) & mask;
        while armed != 0 {
            let index = armed.trailing_zeros() as usize;
            // ORDERING: Acquire pairs with the Release in `arm`: the target is as its owner left it.
            let before = self.armed.fetch_and(!(1 << index), Ordering::AcqRel);
            if before & (1 << index) != 0 {
                return Some(index);
            }
            armed = before & mask;
        }
        None
    }

    /// The owner is about to arm. `is_thread`: it comes at once when it is called.
    pub(crate) fn enlist(&self, index: usize, is_thread: bool) {
        let seat = &self.slots[index];
        // ORDERING: Relaxed; the owner's, and released with the bit.
        seat.is_thread.store(is_thread, Ordering::Relaxed);
        // ORDERING: Relaxed; the owner itself is still there, and the bit is released after it.
        seat.users.fetch_add(1, Ordering::Relaxed);
    }

    /// The owner leaves.
    pub(crate) fn unregister(&self, index: usize, vacant: &Vacancies) {
        // ORDERING: AcqRel, as in `unuse`.
        if self.slots[index].users.fetch_or(LEFT, Ordering::AcqRel) == 0 {
            self.give_back(index, vacant);
        }
    }

    pub(crate) fn target(&self, index: usize) -> &WaiterTarget {
        &self.slots[index].target
    }

    /// Makes a block at the end of the list, whose first slot is the caller's, or finds the one that another thread has
    /// made. True: made.
    #[cold]
    pub(crate) fn extend(link: &AtomicPtr<Self>) -> (&Self, bool) {
        let seat = |_| WaiterSlot {
            users: AtomicU32::new(0),
            is_thread: HandedBool::new(false),
            target: WaiterTarget::default(),
        };
        let fresh = Box::into_raw(Box::new(Self {
            taken: AtomicU64::new(1),
            armed: AtomicU64::new(0),
            next: AtomicPtr::new(ptr::null_mut()),
            below: AtomicPtr::new(ptr::null_mut()),
            listed: AtomicBool::new(false),
            slots: core::array::from_fn(seat),
        }));
        // ORDERING: Release hands the block to whoever finds it; Acquire for the one that came first.
        match link.compare_exchange(ptr::null_mut(), fresh, Ordering::Release, Ordering::Acquire) {
            // SAFETY: just made, and freed only with the list.
            Ok(_) => (unsafe { &*fresh }, true),
            Err(first) => {
                // SAFETY: made above, and seen by nobody; the other one lives as long as the list.
                unsafe {
                    drop(Box::from_raw(fresh));
                    (&*first, false)
                }
            }
        }
    }
}
