//! Slots of a wait list, in blocks: which are taken, and which may be notified. Any thread; lock-free.
//!
//! A slot is used by its owner, and by at most one notifier for each time it was armed. The last of these users gives
//! the slot back. So no notifier wakes a target that has passed to another owner, and no thread waits for another.

use core::ops::Deref;
use core::ptr;
// Not `crate::sync`'s: it is handed over with the armed bit, and a model need not explore it.
use core::sync::atomic::AtomicBool as HandedBool;

use super::regions::BlockPlace;
use super::vacancies::Vacancies;
use super::waiter_target::WaiterTarget;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Handed, Ordering};

/// Slots in a block.
const SLOTS: usize = if cfg!(ysuite_loom) { 3 } else { 64 };
/// The bits of all slots of a block.
const ALL: u64 = u64::MAX >> (64 - SLOTS);
/// In [`WaiterSlot::users`]: the owner has unregistered; the last user gives the slot back.
const LEFT: u32 = 1 << 31;

// GROWS: blocks of a wait list (`wait/regions.rs`); bound: memory; full: another block; freed with the channel, slots
//     are reused; cost: none to register; to notify reads 128 counts at most, up to 262,208 waiters; test:
//     src/wait/list.rs: registering_looks_at_few_blocks_however_many_waiters_there_are, src/wait/list.rs:
//     a_notification_costs_the_same_however_many_waiters_have_come_and_gone
/// Slots that are allocated together. They live as long as their list.
pub(crate) struct SlotBlock {
    /// Slots that have an owner.
    taken: AtomicU64,
    /// Slots whose owners wait to be notified. Exact; the count in the list's word is never less.
    pub(super) armed: AtomicU64,
    /// The number of blocks of the list that were made before this one.
    pub(super) number: usize,
    /// Where the waiters that are armed here are counted.
    pub(super) place: BlockPlace,
    /// While the block is on the stack of blocks with room, the block below it; see [`Vacancies`].
    pub(super) below: AtomicPtr<SlotBlock>,
    /// Written by the thread that pushes the block on that stack, read by the next that pops it: it represents `below`.
    pub(super) linked: Handed,
    /// Whether the block is on that stack.
    pub(super) listed: AtomicBool,
    /// The block as it was made.
    pub(super) made: Handed,
    slots: [WaiterSlot; SLOTS],
}

// REUSED: a slot in a wait list; held by a notifier that is waking its owner; harmless: the last user gives it back;
//     test: src/wait/list.rs: slots_have_one_owner_at_a_time_and_are_used_again
#[derive(Default)]
struct WaiterSlot {
    /// The number of armings that have been neither disarmed nor fully notified, and `LEFT`.
    users: AtomicU32,
    /// Whether the owner is a blocked thread, which comes at once when it is notified.
    is_thread: HandedBool,
    /// Written by the owner that takes the slot and by the last user that vacates it, read by all its users.
    used: Handed,
    target: WaiterTarget,
}

/// A registered waiter: the slot it owns. Given up by [`WaitList::unregister`](super::WaitList::unregister).
pub(crate) struct Waiter {
    pub(super) block: *const SlotBlock,
    pub(super) index: usize,
}

// SAFETY: a `Waiter` only names a slot; the slot is part of the list, which any thread may use.
unsafe impl Send for Waiter {}
// SAFETY: a shared `Waiter` gives access only to its slot, all of whose fields may be used from any thread.
unsafe impl Sync for Waiter {}

/// A waiter whose armed bit the notifier has taken. The notifier wakes the target before it drops this.
pub(crate) struct Notified<'a> {
    pub(super) vacant: &'a Vacancies,
    pub(super) block: &'a SlotBlock,
    pub(super) index: usize,
}

impl Deref for Notified<'_> {
    type Target = WaiterTarget;

    fn deref(&self) -> &WaiterTarget {
        self.block.target(self.index)
    }
}

impl Notified<'_> {
    /// Whether the waiter is a blocked thread. It comes at once, and then notifies others if there is more.
    #[inline]
    pub(crate) fn is_thread(&self) -> bool {
        // ORDERING: Relaxed; the owner wrote it before it armed, and `claim` has acquired the armed bit.
        self.block.slots[self.index].is_thread.load(Ordering::Relaxed)
    }
}

// USER CODE: none (it gives the slot back, also after a waker that panics); test: tests/suite/mpmc/foreign.rs:
//     one_waker_that_panics_does_not_keep_those_behind_it_asleep
impl Drop for Notified<'_> {
    fn drop(&mut self) {
        self.block.unuse(self.index, self.vacant);
    }
}

impl SlotBlock {
    /// A block whose first slot is the calling thread's.
    pub(super) fn new(number: usize, place: BlockPlace) -> Self {
        let block = Self {
            taken: AtomicU64::new(1),
            armed: AtomicU64::new(0),
            number,
            place,
            below: AtomicPtr::new(ptr::null_mut()),
            linked: Handed::default(),
            listed: AtomicBool::new(false),
            made: Handed::default(),
            slots: core::array::from_fn(|_| WaiterSlot::default()),
        };
        block.made.written();
        block
    }

    // MUTANT: Killed only by `a_slot_whose_owner_has_left_is_given_back_by_its_notifier`.
    /// One user less. Once the owner has unregistered, the last user gives the slot back.
    #[inline]
    pub(crate) fn unuse(&self, index: usize, vacant: &Vacancies) {
        self.slots[index].used.read();
        // ORDERING: AcqRel: each user releases what it did with the target; the last user acquires it from all others,
        // here and in `unregister`, before it vacates the target.
        if self.slots[index].users.fetch_sub(1, Ordering::AcqRel) == LEFT + 1 {
            self.give_back(index, vacant);
        }
    }

    // MUTANT: `put` never pushes a block twice. Killed only by
    // `who_leaves_a_set_frees_its_id_at_once_and_its_slot_behind_its_notifier`.
    #[inline(never)]
    fn give_back(&self, index: usize, vacant: &Vacancies) {
        self.slots[index].used.written();
        self.slots[index].target.vacate();
        // ORDERING: Relaxed; the `fetch_and` on `taken` below releases it to the next owner.
        self.slots[index].users.store(0, Ordering::Relaxed);
        // ORDERING: Release pairs with the Acquire in `register`: the next owner finds the slot vacated.
        if self.taken.fetch_and(!(1 << index), Ordering::Release) == ALL {
            vacant.put(self);
        }
    }

    /// Whether no slot is free.
    pub(crate) fn is_full(&self) -> bool {
        // ORDERING: Relaxed; a thread that gives a slot back later finds by its own read-modify-write that the block
        // was full.
        self.taken.load(Ordering::Relaxed) == ALL
    }

    /// Takes a free slot.
    pub(crate) fn register(&self) -> Option<usize> {
        self.made.read();
        // ORDERING: Relaxed; only a guess, the `fetch_or` below decides.
        let mut taken = self.taken.load(Ordering::Relaxed);
        loop {
            let index = taken.trailing_ones() as usize;
            if index >= SLOTS {
                return None;
            }
            // ORDERING: Acquire pairs with the Release in `give_back`: the slot's last owner and notifiers are done.
            taken = self.taken.fetch_or(1 << index, Ordering::Acquire);
            // MUTANT: In a race: two threads register at once. Killed only by the model
            // `two_that_register_at_once_have_a_slot_each`.
            if taken & (1 << index) == 0 {
                self.slots[index].used.written();
                return Some(index);
            }
        }
    }

    // MUTANT: In a race: another thread takes the bit after the check. Killed only by the model
    // `a_slot_has_its_next_owner_after_its_last_user`.
    /// Takes the armed bit of a slot, among those of `mask`.
    #[inline]
    pub(crate) fn claim(&self, mask: u64) -> Option<usize> {
        #[cfg(test)]
        super::list::tests::step();
        self.made.read();
        // ORDERING: Relaxed; the notifier's fence in `WaitList::attend` comes before it, and pairs with the waiter's in
        // `WaitList::arm`. The read-modify-write below decides.
        let mut armed = self.armed.load(Ordering::Relaxed) & mask;
        while armed != 0 {
            let index = armed.trailing_zeros() as usize;
            // ORDERING: Acquire pairs with the Release in `WaitList::arm`: the target is as its owner set it up.
            // Release pairs with the Acquire in `WaitList::disarm`: the waiter sees what this notifier has published.
            let before = self.armed.fetch_and(!(1 << index), Ordering::AcqRel);
            if before & (1 << index) != 0 {
                self.slots[index].used.read();
                return Some(index);
            }
            armed = before & mask;
        }
        None
    }

    /// The owner is about to arm. `is_thread`: the owner is a thread, and comes at once when it is notified.
    #[inline]
    pub(crate) fn enlist(&self, index: usize, is_thread: bool) {
        let slot = &self.slots[index];
        // ORDERING: Relaxed; only the owner writes it, and releases it with the armed bit in `WaitList::arm`.
        slot.is_thread.store(is_thread, Ordering::Relaxed);
        // ORDERING: Relaxed; the slot cannot be given back before the owner unregisters, and the armed bit, by which a
        // notifier comes to use the slot, is released after this.
        slot.users.fetch_add(1, Ordering::Relaxed);
    }

    // MUTANT: Killed only by `a_slot_whose_owner_has_left_is_given_back_by_its_notifier` and
    // `registering_looks_at_few_blocks_however_many_waiters_there_are`.
    /// The owner gives the slot up. If a notifier still uses it, that notifier gives it back.
    pub(crate) fn unregister(&self, index: usize, vacant: &Vacancies) {
        self.slots[index].used.read();
        // ORDERING: AcqRel: Release hands what the owner did with the target to the notifier that is last, in `unuse`;
        // Acquire, where the owner is last, takes over what the notifiers did there.
        if self.slots[index].users.fetch_or(LEFT, Ordering::AcqRel) == 0 {
            self.give_back(index, vacant);
        }
    }

    #[inline]
    pub(crate) fn target(&self, index: usize) -> &WaiterTarget {
        &self.slots[index].target
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::super::WaitList;

    #[test]
    fn a_slot_whose_owner_has_left_is_given_back_by_its_notifier() {
        let list = WaitList::new();
        let slot = list.register();
        list.arm(&slot, false);
        let notified = list.notify_one().unwrap();
        list.unregister(&slot);
        assert_ne!(list.register().index, slot.index, "its notifier still uses it");
        drop(notified);
        assert_eq!(list.register().index, slot.index, "a slot is lost");
    }
}
