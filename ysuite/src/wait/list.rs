//! The list: who waits at one side of an exchange, for whoever publishes next to find. Any thread; lock-free.
//!
//! A waiting thread, task or receiver takes a [`Waiter`], *arms* it, looks at the queue once more, and sleeps. Whoever
//! publishes looks at the list's word and, where somebody waits, *calls* one: takes the bit of an armed slot, which only
//! one can, and wakes whatever the slot's target stands for. A slot that is left while it is being called is given
//! back by the caller, so a target is never touched by anybody but those who came for it.
//!
//! Store-then-load on both sides: publish, barrier, look at the word; against arm, barrier, look at the queue. The
//! publisher's barrier is free for a stream: see the table. A sleeper that arms where nobody has promised fences has the
//! kernel run them (`heavy`), *then* makes every publisher promise them, and so all that sleep after it need only a fence.
//! When publishers have found nobody for a while they withdraw the promise.
//!
//! | word | publisher's barrier | sleeper's barrier |
//! |---|---|---|
//! | `FENCED` | a fence | a fence |
//! | `PENDING` | a fence | `heavy`, then sets `FENCED` |
//! | neither | none (`light`) | sets `PENDING`, `heavy`, sets `FENCED` |
//!
//! Why that is right: `FENCED` is not withdrawn while anybody is counted, and a sleeper is counted before it looks for
//! the promise. `PENDING` is in the word before the heavy barrier begins; a publisher whose look at the word missed it had
//! published before that barrier, and what it published is seen by everybody who finds `FENCED`. A publisher that sees
//! either bit executes a fence and looks again, and the rest is two fences.
//!
//! Cannot: say who has waited longest. Slots are called in turn, which forgets nobody.

use core::ptr;
// What only hints: not the façade's, a model need not explore it.
use core::sync::atomic::AtomicU32 as HintU32;

use crossbeam_utils::CachePadded;

use super::slots::{Notified, SlotBlock, Waiter};
use super::vacancies::Vacancies;
use super::waiter_target::WaiterTarget;
use crate::os::{asymmetric, heavy, light};
use crate::sync::{AtomicI32, AtomicPtr, AtomicU32, Ordering, fence};

/// One that is armed, or about to be. The lowest bits of the word count them.
const ARMED: u32 = 1;
const ARMED_MASK: u32 = (1 << 29) - 1;
/// Publishers execute a full fence before they look at the word.
const FENCED: u32 = 1 << 29;
/// They must, and a heavy barrier is under way for those that do not know yet.
const PENDING: u32 = 1 << 30;
/// This side will never come back.
const GONE: u32 = 1 << 31;

/// Publications that find nobody after which fences are given up for the free barrier.
const FENCE_WINDOW: u32 = if cfg!(ysuite_loom) { 1 } else { 64 };

/// Those who wait. `P` is how one of them is woken.
pub(crate) struct WaitList {
    word: CachePadded<AtomicU32>,
    /// How many have been called that will certainly come, and have not yet. One that is quick may come before its caller
    /// has counted it: then this is less than nothing for a moment.
    in_flight: AtomicI32,
    /// How often in a row nobody was found. Any publisher; lossy.
    idle_publications: HintU32,
    /// Where the next search begins: a block, and a slot in it. Hints.
    block: AtomicPtr<SlotBlock>,
    slot: HintU32,
    /// The blocks, which only become more.
    blocks: AtomicPtr<SlotBlock>,
    /// The newest block, or one shortly before it. A hint.
    newest: AtomicPtr<SlotBlock>,
    /// The blocks that have slots to give.
    vacant: Vacancies,
}

/// What a look at the word has found.
#[derive(Clone, Copy)]
pub(crate) struct ListState(u32);

impl ListState {
    /// Somebody waits.
    pub(crate) fn is_armed(self) -> bool {
        self.0 & ARMED_MASK != 0
    }

    pub(crate) fn is_gone(self) -> bool {
        self.0 & GONE != 0
    }
}

impl WaitList {
    pub(crate) fn new() -> Self {
        Self {
            word: CachePadded::new(AtomicU32::new(FENCED)),
            in_flight: AtomicI32::new(0),
            idle_publications: HintU32::new(0),
            block: AtomicPtr::new(ptr::null_mut()),
            slot: HintU32::new(0),
            blocks: AtomicPtr::new(ptr::null_mut()),
            newest: AtomicPtr::new(ptr::null_mut()),
            vacant: Vacancies::new(),
        }
    }

    /// Takes a slot. Allocates a block where none is free. Costs the same however many there are.
    pub(crate) fn register(&self) -> Waiter {
        self.vacant.register().unwrap_or_else(|| self.register_further())
    }

    /// Takes a slot in a new block.
    #[cold]
    fn register_further(&self) -> Waiter {
        // ORDERING: Acquire pairs with the Release below.
        // SAFETY: blocks live as long as the list.
        let mut link = match unsafe { self.newest.load(Ordering::Acquire).as_ref() } {
            Some(newest) => &newest.next,
            None => &self.blocks,
        };
        loop {
            // ORDERING: Acquire pairs with the Release in `extend`.
            let known = link.load(Ordering::Acquire);
            // SAFETY: as above.
            let (block, made) = match unsafe { known.as_ref() } {
                Some(block) => (block, false),
                None => SlotBlock::extend(link),
            };
            #[cfg(test)]
            tests::step();
            let index = if made { Some(0) } else { block.register() };
            if made {
                // ORDERING: Release hands the block to whoever finds it here first.
                self.newest.store(ptr::from_ref(block).cast_mut(), Ordering::Release);
                self.vacant.put(block);
            }
            if let Some(index) = index {
                return Waiter { block, index };
            }
            link = &block.next;
        }
    }

    /// A target, to be changed only while its slot is not armed.
    pub(crate) fn target(&self, slot: &Waiter) -> &WaiterTarget {
        self.block(slot).target(slot.index)
    }

    fn block(&self, slot: &Waiter) -> &SlotBlock {
        // SAFETY: blocks live as long as the list, and a slot is only ever used with its own.
        unsafe { &*slot.block }
    }

    /// Publisher, after each publication: whether [`attend`](Self::attend) must look closer.
    #[inline(always)]
    pub(crate) fn published(&self) -> bool {
        light();
        // ORDERING: Relaxed; behind `light()`, which pairs with `heavy()` in `arm`.
        self.word.load(Ordering::Relaxed) != 0
    }

    /// Publisher: the word, behind a full fence.
    pub(crate) fn attend(&self) -> ListState {
        // ORDERING: pairs with the fence in `arm`: either what follows finds the bit, or the sleeper's second look sees
        // what was published before.
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed; bits are taken by read-modify-writes.
        let word = self.word.load(Ordering::Relaxed);
        if word & (ARMED_MASK | GONE) == 0 && word & FENCED != 0 && asymmetric() {
            // ORDERING: Relaxed twice; a count that is lost now and then delays the change.
            let idle_publications = self.idle_publications.load(Ordering::Relaxed) + 1;
            self.idle_publications
                .store(if idle_publications < FENCE_WINDOW { idle_publications } else { 0 }, Ordering::Relaxed);
            if idle_publications >= FENCE_WINDOW {
                // Fails where anybody has been counted meanwhile.
                // ORDERING: SeqCst read-modify-write, in one order with those of `arm`.
                let _ = self.word.compare_exchange(word, 0, Ordering::SeqCst, Ordering::Relaxed);
            }
        }
        ListState(word)
    }

    /// Sleeper: from now on it may be called. Afterwards it must look at the queue once more before it sleeps. Nothing
    /// changes for a slot that is armed already. `is_thread`: it will come at once when it is called.
    pub(crate) fn arm(&self, slot: &Waiter, is_thread: bool) {
        let (block, bit) = (self.block(slot), 1_u64 << slot.index);
        block.enlist(slot.index, is_thread);
        // ORDERING: SeqCst, in one order with the withdrawal in `attend`; counted before the bit, so that the count is
        // never less than the bits. Acquire for whoever made the promise.
        let mut word = self.word.fetch_add(ARMED, Ordering::SeqCst);
        if word & FENCED == 0 {
            // ORDERING: as above. Nobody withdraws anything while this one is counted.
            word = self.word.fetch_or(PENDING, Ordering::SeqCst);
            debug_assert!(word & ARMED_MASK != 0);
            // Pairs with `light()` in `published`.
            heavy();
            // ORDERING: Release (as above) hands what the barrier has brought to whoever finds the bit.
            self.word.fetch_or(FENCED, Ordering::SeqCst);
        }
        // ORDERING: Release pairs with the Acquire in `SlotBlock::call`.
        if block.armed.fetch_or(bit, Ordering::AcqRel) & bit != 0 {
            // Armed already, and still.
            self.uncount();
            block.unuse(slot.index, &self.vacant);
        }
        // ORDERING: pairs with the fence in `attend`.
        fence(Ordering::SeqCst);
    }

    /// Sleeper: does not want to be called any more. False: it was not armed, or has been called.
    pub(crate) fn disarm(&self, slot: &Waiter) -> bool {
        let (block, bit) = (self.block(slot), 1_u64 << slot.index);
        // ORDERING: AcqRel: a bit found gone means that what its caller had published is visible.
        if block.armed.fetch_and(!bit, Ordering::AcqRel) & bit == 0 {
            return false;
        }
        self.uncount();
        block.unuse(slot.index, &self.vacant);
        true
    }

    /// Whether the slot is armed, and has not been called.
    pub(crate) fn is_armed(&self, slot: &Waiter) -> bool {
        // ORDERING: Acquire, as in `disarm`.
        self.block(slot).armed.load(Ordering::Acquire) & (1 << slot.index) != 0
    }

    fn uncount(&self) {
        // ORDERING: AcqRel keeps the promise of `arm` visible to whoever finds it in the word.
        self.word.fetch_sub(ARMED, Ordering::AcqRel);
    }

    /// One that was called as certain has come: it has taken what there was for it, or is about to leave.
    pub(crate) fn arrive(&self) {
        // ORDERING: AcqRel: whoever comes last sees what the others have taken.
        self.in_flight.fetch_sub(1, Ordering::AcqRel);
    }

    /// How many have been called and will certainly come, and have not yet.
    pub(crate) fn in_flight(&self) -> usize {
        // ORDERING: Acquire pairs with the release in `arrive`.
        self.in_flight.load(Ordering::Acquire).max(0) as usize
    }

    /// The word as it stands.
    pub(crate) fn word(&self) -> ListState {
        // ORDERING: Acquire: who finds an armed one sees what it had seen.
        ListState(self.word.load(Ordering::Acquire))
    }

    /// Publisher: takes one of those who wait, in turn.
    pub(crate) fn notify_one(&self) -> Option<Notified<'_>> {
        // ORDERING: Acquire pairs with the Release in `extend`.
        let first = self.blocks.load(Ordering::Acquire);
        // ORDERING: Acquire pairs with the Release in `called`; Relaxed for the slot: any is a good beginning.
        let begin = self.block.load(Ordering::Acquire);
        let begin = if begin.is_null() { first } else { begin };
        let mut mask = u64::MAX << (self.slot.load(Ordering::Relaxed) % 64);
        let (mut at, mut wrapped) = (begin, false);
        // SAFETY: blocks live as long as the list.
        while let Some(block) = unsafe { at.as_ref() } {
            if let Some(index) = block.claim(mask) {
                return Some(self.notified(block, index));
            }
            if wrapped && at == begin {
                return None;
            }
            mask = u64::MAX;
            // ORDERING: Acquire pairs with the Release in `extend`.
            at = block.next.load(Ordering::Acquire);
            if at.is_null() {
                wrapped = true;
                at = first;
            }
        }
        None
    }

    fn notified<'a>(&'a self, block: &'a SlotBlock, index: usize) -> Notified<'a> {
        let notified = Notified::new(&self.vacant, block, index);
        // ORDERING: Relaxed, a hint; Release for the pointer, which hands the block to whoever finds it here first.
        self.slot.store(index as u32 + 1, Ordering::Relaxed);
        self.block.store(ptr::from_ref(block).cast_mut(), Ordering::Release);
        if notified.is_thread() {
            // ORDERING: AcqRel, as in `arrive`.
            self.in_flight.fetch_add(1, Ordering::AcqRel);
        }
        self.uncount();
        notified
    }

    /// Gives a slot back. It must not be armed; if it is being called right now, its caller gives it back.
    pub(crate) fn unregister(&self, slot: &Waiter) {
        self.block(slot).unregister(slot.index, &self.vacant);
    }

    /// This side will never come back: from now on every publication is answered with that. What is in the queue must be
    /// looked at afterwards.
    pub(crate) fn go(&self) {
        // ORDERING: as in `arm`, and the word is never made to promise less again.
        if self.word.fetch_or(GONE | PENDING, Ordering::SeqCst) & FENCED == 0 {
            heavy();
        }
        // ORDERING: pairs with the fence in `attend`.
        fence(Ordering::SeqCst);
    }
}

impl Drop for WaitList {
    fn drop(&mut self) {
        // ORDERING: Relaxed throughout; nobody else is left.
        let mut at = self.blocks.load(Ordering::Relaxed);
        while !at.is_null() {
            // SAFETY: made by `Box::into_raw`, and this is the last look at it.
            let block = unsafe { Box::from_raw(at) };
            at = block.next.load(Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use core::cell::Cell;

    std::thread_local! {
        static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    /// A block has been looked at for a slot.
    pub(in super::super) fn step() {
        STEPS.set(STEPS.get() + 1);
    }

    #[cfg(not(ysuite_loom))]
    mod slots {
        use std::collections::HashSet;

        use super::super::super::slots::Waiter;
        use super::super::WaitList;
        use super::STEPS;

        const MANY: usize = 20_000;

        fn register(list: &WaitList, slots: usize) -> (Vec<Waiter>, usize) {
            STEPS.set(0);
            ((0..slots).map(|_| list.register()).collect(), STEPS.get())
        }

        fn different(slots: &[Waiter]) -> (usize, usize) {
            let all: HashSet<_> = slots.iter().map(|slot| (slot.block, slot.index)).collect();
            let blocks: HashSet<_> = slots.iter().map(|slot| slot.block).collect();
            (all.len(), blocks.len())
        }

        #[test]
        fn beginning_to_wait_looks_at_few_blocks_however_many_wait() {
            let list = WaitList::new();
            let (mut slots, steps) = register(&list, MANY);
            assert!(steps <= MANY * 2, "{steps} steps");
            assert_eq!(different(&slots), (MANY, MANY.div_ceil(64)));
            // Those that leave make room, wherever that is, and it is found.
            for every in [2, 64, 1_000, 1] {
                let mut left = 0;
                slots.retain(|slot| {
                    left += 1;
                    let goes = left % every == 0;
                    if goes {
                        list.unregister(slot);
                    }
                    !goes
                });
                let (more, steps) = register(&list, MANY - slots.len());
                assert!(steps <= more.len() * 3 + 1, "{steps} steps for {} slots", more.len());
                slots.extend(more);
                assert_eq!(different(&slots), (MANY, MANY.div_ceil(64)));
            }
        }

        #[test]
        fn places_that_threads_take_and_leave_are_never_anothers_and_come_back() {
            let list = &WaitList::new();
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for round in 0..200 {
                            let (slots, _) = register(list, round % 150);
                            assert_eq!(different(&slots).0, slots.len());
                            slots.iter().for_each(|slot| list.unregister(slot));
                        }
                    });
                }
            });
            // A block or two more than were ever full, made while others were being taken off.
            let (slots, _) = register(list, 600);
            let (all, blocks) = different(&slots);
            assert!(all == 600 && blocks <= 600 / 64 + 8, "{blocks} blocks");
        }
    }
}
