//! The blocks with free slots, on a stack, so that the cost of registering does not depend on the number of waiters.
//! Any thread; lock-free.
//!
//! Blocks live as long as their list: a stale link still leads to a block, and a slot taken there is as good as any.
//! Only one thread at a time pops a block, so the link to the block below cannot change under it. A thread that finds
//! another one popping checks a few blocks further down instead, and allocates a block where that finds no free slot;
//! no thread waits.
//!
//! A block with room is on the stack, or a thread is about to push it: the thread that gives back the first slot of a
//! full block, or the thread that has popped a block and then finds room in it.

use core::ptr;

use super::slots::{SlotBlock, Waiter};
use crate::sync::{AtomicBool, AtomicPtr, Handed, Ordering};

/// The number of blocks that are checked before another is allocated. More than one of them is full only while other
/// threads register and unregister.
const STEPS: usize = 8;

/// The stack of blocks with free slots.
#[derive(Default)]
pub(crate) struct Vacancies {
    top: AtomicPtr<SlotBlock>,
    /// A thread is popping a block.
    taking: AtomicBool,
    /// Written by the thread that is popping.
    popping: Handed,
}

impl Vacancies {
    // MUTANT: Only where to search for a free slot, and a count for tests.
    /// Takes a slot in a block that has a free one.
    pub(crate) fn register(&self) -> Option<Waiter> {
        // ORDERING: Acquire pairs with the Release exchange in `put`, which hands over the block and its `below`.
        let mut at = self.top.load(Ordering::Acquire);
        for _ in 0..STEPS {
            // SAFETY: blocks live as long as the list.
            let block = unsafe { at.as_ref() }?;
            #[cfg(test)]
            super::list::tests::step();
            if let Some(index) = block.register() {
                return Some(Waiter { block, index });
            }
            // ORDERING: Acquire of either pointer: `top` pairs with the Release exchange in `put`, `below` with the
            // Release store there. This block may be pushed again meanwhile, above a block that this thread has not
            // seen before.
            at = if self.take_off(block) { &self.top } else { &block.below }.load(Ordering::Acquire);
        }
        None
    }

    // MUTANT: `put` never pushes a block twice. In a race: two threads pop, or one pops and one pushes. Killed only by
    // `who_finds_another_popping_pops_nothing`, and by the models `blocks_are_popped_by_one_thread_at_a_time` and
    // `a_pop_that_a_push_comes_before_loses_no_block`.
    /// Pops a full block, if it is on top and no other thread is popping.
    fn take_off(&self, block: &SlotBlock) -> bool {
        let this = ptr::from_ref(block).cast_mut();
        // ORDERING: Acquire pairs with the Release store that ends the last pop: pops do not overlap.
        if self.taking.swap(true, Ordering::Acquire) {
            return false;
        }
        self.popping.written();
        // ORDERING: Acquire of `top` pairs with the Release exchange in `put`: the thread that pushed the block last
        // had set `below` before, and no thread sets it again while the block is on the stack. So Relaxed for `below`;
        // and for the exchange, because only read-modify-writes change `top`: a thread that loads it acquires from each
        // push so far, also from that of the block that comes to be on top here.
        let taken = self.top.load(Ordering::Acquire) == this && {
            block.linked.read();
            let below = block.below.load(Ordering::Relaxed);
            self.top.compare_exchange(this, below, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        };
        if taken {
            // ORDERING: AcqRel pairs with the swap in `put`. Acquire: a thread that found the block listed, and so did
            // not push it, had given its slot back before, and `is_full` below sees that. Release: the thread that
            // pushes it next changes `top` and `below` after this pop.
            block.listed.swap(false, Ordering::AcqRel);
        }
        // ORDERING: Release pairs with the Acquire swap with which the next pop begins.
        self.taking.store(false, Ordering::Release);
        if taken && !block.is_full() {
            self.put(block);
        }
        taken
    }

    /// Pushes a block that has room, unless it is on the stack already.
    #[inline(never)]
    pub(crate) fn put(&self, block: &SlotBlock) {
        // ORDERING: AcqRel pairs with the swap in `take_off`. Release: where this finds the block listed, the thread
        // that pops it later sees the slot that was given back before this. Acquire: where not, the block's last pop is
        // over.
        if block.listed.swap(true, Ordering::AcqRel) {
            return;
        }
        block.linked.written();
        let this = ptr::from_ref(block).cast_mut();
        // ORDERING: Acquire of what is found on top, here and below, pairs with the Release of the exchange: the block
        // is handed on, by the store below.
        let mut top = self.top.load(Ordering::Acquire);
        loop {
            // ORDERING: Release pairs with the Acquire load in `register`: a thread that has found the block before it
            // was popped follows this link, and has not seen the block that it leads to.
            block.below.store(top, Ordering::Release);
            // ORDERING: Release pairs with the Acquire loads of `top` in `register` and `take_off`. Acquire on failure:
            // as above.
            match self.top.compare_exchange(top, this, Ordering::Release, Ordering::Acquire) {
                Ok(_) => return,
                Err(found) => top = found,
            }
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::super::WaitList;
    use crate::sync::Ordering;

    #[test]
    fn a_block_that_is_popped_with_room_is_pushed_again() {
        let list = WaitList::new();
        let slot = list.register();
        list.arm(&slot, false);
        let notified = list.notify_one().unwrap();
        // As where a slot comes free between the check of the block and the pop.
        assert!(notified.vacant.take_off(notified.block));
        assert_eq!(list.register().block, slot.block, "a block with room is lost");
    }

    #[test]
    fn who_finds_another_popping_pops_nothing() {
        let list = WaitList::new();
        let slot = list.register();
        list.arm(&slot, false);
        let notified = list.notify_one().unwrap();
        let vacant = notified.vacant;
        // ORDERING: Relaxed, here and below; this test runs on one thread.
        vacant.taking.store(true, Ordering::Relaxed);
        assert!(!vacant.take_off(notified.block));
        assert!(vacant.taking.load(Ordering::Relaxed), "the other's pop is not over");
    }

    /// A check further down, as after a pop by another thread, takes nothing off.
    #[test]
    fn a_block_below_the_top_stays_on_the_stack() {
        let list = WaitList::new();
        // Two full blocks, and one with room.
        let slots: Vec<_> = (0..129).map(|_| list.register()).collect();
        list.arm(&slots[0], false);
        let notified = list.notify_one().unwrap();
        list.unregister(&slots[1]);
        list.unregister(&slots[64]);
        assert!(!notified.vacant.take_off(notified.block), "the second block is on top");
        let again = [list.register(), list.register()];
        assert_eq!(again[1].block, slots[0].block);
        // The first block was full again, and is on the stack: it is not pushed a second time.
        list.unregister(&again[1]);
        assert_eq!(list.register().block, slots[0].block);
        assert_eq!(list.register().block, slots[128].block, "a block with room is lost");
    }
}
