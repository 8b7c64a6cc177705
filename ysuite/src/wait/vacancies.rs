//! Which blocks have slots to give: a stack of them, so that beginning to wait costs the same however many wait. Any
//! thread; lock-free.
//!
//! Blocks live as long as their list, so whoever holds a stale link looks at a block all the same, and who sits in it
//! sits well. One thread at a time takes a block off: then the one below it stays the one below it. Who finds another at
//! that looks further down for a few steps instead, and makes a block where that leads to nothing; nobody waits.
//!
//! A block with room is in the stack, or somebody is about to put it there: who gives back the first slot of a full one,
//! or who has taken one off and then finds room in it.

use core::ptr;

use super::slots::{SlotBlock, Waiter};
use crate::sync::{AtomicBool, AtomicPtr, Ordering};

/// How many blocks are looked at before another is made. More than one is full only while others come and go.
const STEPS: usize = 8;

/// The stack.
pub(crate) struct Vacancies {
    top: AtomicPtr<SlotBlock>,
    /// Somebody is taking a block off.
    taking: AtomicBool,
}

impl Vacancies {
    pub(crate) fn new() -> Self {
        Self { top: AtomicPtr::new(ptr::null_mut()), taking: AtomicBool::new(false) }
    }

    /// Takes a slot in a block that has one to give.
    pub(crate) fn register(&self) -> Option<Waiter> {
        // ORDERING: Acquire pairs with the Release in `put`.
        let mut at = self.top.load(Ordering::Acquire);
        for _ in 0..STEPS {
            // SAFETY: blocks live as long as the list.
            let block = unsafe { at.as_ref() }?;
            #[cfg(test)]
            super::list::tests::step();
            if let Some(index) = block.register() {
                return Some(Waiter { block, index });
            }
            // ORDERING: Acquire twice, as above.
            at = if self.take_off(block) { &self.top } else { &block.below }.load(Ordering::Acquire);
        }
        None
    }

    /// Takes a full block off, if it is the top one and nobody else is at it.
    fn take_off(&self, block: &SlotBlock) -> bool {
        let this = ptr::from_ref(block).cast_mut();
        // ORDERING: Acquire pairs with the Release below: one thread after the other.
        if self.taking.swap(true, Ordering::Acquire) {
            return false;
        }
        // ORDERING: Acquire twice: who put the block there last has set what is below it. Release hands on what was
        // acquired.
        let taken = self.top.load(Ordering::Acquire) == this && {
            let below = block.below.load(Ordering::Acquire);
            self.top.compare_exchange(this, below, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        if taken {
            // ORDERING: AcqRel pairs with the swap in `put`: one that found the block here, and so left it alone, has
            // given its slot back before, which is seen below.
            block.listed.swap(false, Ordering::AcqRel);
        }
        // ORDERING: Release, as above.
        self.taking.store(false, Ordering::Release);
        if taken && !block.is_full() {
            self.put(block);
        }
        taken
    }

    /// A block has room.
    pub(crate) fn put(&self, block: &SlotBlock) {
        // ORDERING: AcqRel, as in `take_off`.
        if block.listed.swap(true, Ordering::AcqRel) {
            return;
        }
        // ORDERING: Relaxed; the exchange below decides.
        let mut top = self.top.load(Ordering::Relaxed);
        loop {
            // ORDERING: Relaxed; released with the exchange.
            block.below.store(top, Ordering::Relaxed);
            let this = ptr::from_ref(block).cast_mut();
            // ORDERING: Release pairs with the Acquires above. Relaxed on failure: nothing of it is looked at.
            match self.top.compare_exchange_weak(top, this, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) => top = found,
            }
        }
    }
}
