//! The wait list: the waiters on one side of an mpmc channel or a pool, which the next publisher finds. Any thread;
//! lock-free.
//!
//! A waiting thread, task or receiver registers a [`Waiter`], *arms* it, polls the queue once more, and sleeps. The
//! publisher of a message (or of room) checks the list's word. Where a waiter is armed, it *notifies* one: it takes the
//! armed bit of a slot, which only one thread can do, and wakes the slot's target. If the owner gives up a slot while a
//! notifier uses it, that notifier gives it back. So no thread except these two ever touches the target.
//!
//! Store-then-load on both sides: publish, barrier, check the word; against arm, barrier, poll the queue. The
//! publisher's barrier is free for a stream: see the table. While publishers have not promised fences, a waiter that
//! arms has the kernel run them (`heavy`), and *then* makes every publisher promise them; so all later waiters need
//! only a fence. When publishers have found no waiter for a while they withdraw the promise.
//!
//! | word | publisher's barrier | waiter's barrier |
//! |---|---|---|
//! | `FENCED` | a fence | a fence |
//! | `PENDING` | a fence | `heavy`, then sets `FENCED` |
//! | neither | none (`light`) | sets `PENDING`, `heavy`, sets `FENCED` |
//!
//! Why this is correct: `FENCED` is not withdrawn while a waiter is counted, and a waiter is counted before it checks
//! for the promise. `PENDING` is in the word before the heavy barrier begins. A publisher whose check of the word
//! missed it had published before that barrier, and every thread that finds `FENCED` sees what it published. A
//! publisher that sees either bit executes a fence and checks again, and then two fences face each other.
//!
//! Cannot: say which waiter has waited longest. Slots are notified in turn, so every waiter is reached.

use core::ptr;
// For hints only, so not `crate::sync`'s: a model need not explore it.
use core::sync::atomic::AtomicU32 as HintU32;

use super::regions::{BlockPlace, Regions, install};
use super::slots::{Notified, SlotBlock, Waiter};
use super::vacancies::Vacancies;
use super::waiter_target::WaiterTarget;
use crate::os::{heavy, light, may_give_up_fences};
use crate::statistics::Meter;
use crate::sync::{AtomicI32, AtomicPtr, AtomicU32, Ordering, fence};

/// One waiter that is armed, or about to be. The lowest bits of the word count them.
const ARMED: u32 = 1;
const ARMED_MASK: u32 = (1 << 29) - 1;
/// Publishers execute a full fence before they check the word.
const FENCED: u32 = 1 << 29;
/// Publishers must execute a full fence, and a heavy barrier is under way for those that have not seen this bit.
const PENDING: u32 = 1 << 30;
/// All handles that wait here have been dropped.
const GONE: u32 = 1 << 31;

/// Publications without a waiter after which fences are given up for the free barrier, where there is one.
const FENCE_WINDOW: u32 = if cfg!(ysuite_loom) { 1 } else { 64 };

/// The waiters on one side. A line: where nothing waits and publishers have given up their fences, nothing in it is
/// written. Its first word is what publishers load, and the last 48 bytes are written only while slots are taken or a
/// waiter is notified. So a list needs no alignment to be kept apart from what is after it.
#[repr(C)]
#[cfg_attr(not(target_pointer_width = "64"), repr(align(64)))]
#[cfg_attr(any(target_arch = "aarch64", target_arch = "powerpc64"), repr(align(128)))]
pub(crate) struct WaitList {
    word: AtomicU32,
    /// The number of threads that have been notified and have not arrived. May be briefly negative: the waiter can
    /// decrement before its notifier increments.
    in_flight: AtomicI32,
    /// The number of publications in a row that have found no waiter. Any publisher; lossy.
    idle_publications: HintU32,
    /// Where the next search begins: a slot, in a block. Hints.
    slot: HintU32,
    block: AtomicPtr<SlotBlock>,
    /// The first block.
    first: AtomicPtr<SlotBlock>,
    /// The other blocks, once there are any.
    further: AtomicPtr<Regions>,
    /// The newest block, or one shortly before it. A hint.
    newest: AtomicPtr<SlotBlock>,
    /// The blocks with free slots.
    vacant: Vacancies,
    /// Counts sleeps and wake-ups, if statistics are on.
    meter: Meter,
}

/// The list's word as a thread has found it.
#[derive(Clone, Copy)]
pub(crate) struct ListState(u32);

impl ListState {
    // MUTANT: Speed only: an early exit before a search that finds no armed slot.
    /// Whether a waiter is armed, or about to be.
    #[inline]
    pub(crate) fn is_armed(self) -> bool {
        self.0 & ARMED_MASK != 0
    }

    // MUTANT: Killed only by `the_tables_of_a_pool_that_has_ended_go_when_the_thread_uses_another`.
    pub(crate) fn is_gone(self) -> bool {
        self.0 & GONE != 0
    }
}

impl WaitList {
    pub(crate) fn new() -> Self {
        Self::metered(Meter::default())
    }

    pub(crate) fn metered(meter: Meter) -> Self {
        Self {
            meter,
            word: AtomicU32::new(FENCED),
            in_flight: AtomicI32::new(0),
            idle_publications: HintU32::new(0),
            block: AtomicPtr::new(ptr::null_mut()),
            slot: HintU32::new(0),
            first: AtomicPtr::new(ptr::null_mut()),
            further: AtomicPtr::new(ptr::null_mut()),
            newest: AtomicPtr::new(ptr::null_mut()),
            vacant: Vacancies::default(),
        }
    }

    #[inline(always)]
    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Takes a slot. Allocates a block where no slot is free. Its cost does not depend on the number of waiters.
    pub(crate) fn register(&self) -> Waiter {
        self.vacant.register().unwrap_or_else(|| self.register_further())
    }

    // MUTANT: Where to search for a free slot, and a count for tests: a full block is passed over.
    /// Takes a slot in a new block.
    #[cold]
    fn register_further(&self) -> Waiter {
        // ORDERING: Acquire pairs with the Release store of `newest` below, which hands over the block.
        // SAFETY: blocks live as long as the list.
        let newest = unsafe { self.newest.load(Ordering::Acquire).as_ref() };
        let mut number = newest.map_or(0, |block| block.number + 1);
        loop {
            let (link, place) = match number {
                0 => (&self.first, BlockPlace::FIRST),
                _ => install(&self.further, Regions::new).0.link(number - 1),
            };
            let (block, made) = install(link, || SlotBlock::new(number, place));
            #[cfg(test)]
            tests::step();
            let index = if made { Some(0) } else { block.register() };
            if made {
                // ORDERING: Release pairs with the Acquire load of `newest` above: a thread may find the block here
                // first.
                self.newest.store(ptr::from_ref(block).cast_mut(), Ordering::Release);
                self.vacant.put(block);
            }
            if let Some(index) = index {
                return Waiter { block, index };
            }
            number += 1;
        }
    }

    /// How the owner of a slot is woken. Only the owner may change it, and only while the slot is not armed.
    #[inline]
    pub(crate) fn target(&self, slot: &Waiter) -> &WaiterTarget {
        self.block(slot).target(slot.index)
    }

    #[inline]
    fn block(&self, slot: &Waiter) -> &SlotBlock {
        // SAFETY: blocks live as long as the list, and a waiter is only ever used with the list it registered with.
        unsafe { &*slot.block }
    }

    /// For a publisher, after each publication: whether [`attend`](Self::attend) must check again, after a fence.
    #[inline(always)]
    pub(crate) fn published(&self) -> bool {
        // MUTANT: In a race: the last handle is dropped while another thread publishes. Killed only by the model
        // `the_last_end_that_goes_against_a_publisher`.
        light();
        // ORDERING: Relaxed; `light()` comes before it, and pairs with `heavy()` in `arm`: either this load sees the
        // waiter's bits, or the waiter's second poll sees the publication.
        self.word.load(Ordering::Relaxed) != 0
    }

    // MUTANT: Speed only: how soon publishers give their fences up. In a race: the last handle is dropped. Killed only
    // by `waiters_are_woken_in_turn`, and by the model `the_last_end_that_goes_against_a_publisher`.
    /// For a publisher: returns the word, after a full fence.
    #[inline]
    pub(crate) fn attend(&self) -> ListState {
        // ORDERING: pairs with the fence in `arm`: either the loads below find the armed waiter, or the waiter's second
        // poll sees what was published before this fence.
        fence(Ordering::SeqCst);
        self.attended()
    }

    /// As [`attend`](Self::attend), for a publisher that has executed such a fence after the publication.
    #[inline]
    pub(crate) fn attended(&self) -> ListState {
        // ORDERING: Relaxed; armed bits are taken by the read-modify-write in `SlotBlock::claim`.
        let word = self.word.load(Ordering::Relaxed);
        if word & (ARMED_MASK | GONE) == 0 && word & FENCED != 0 {
            // ORDERING: Relaxed for the load and the store; a count that is lost now and then only delays the change.
            let idle_publications = self.idle_publications.load(Ordering::Relaxed) + 1;
            let is_stream = idle_publications >= FENCE_WINDOW;
            self.idle_publications.store(if is_stream { 0 } else { idle_publications }, Ordering::Relaxed);
            if is_stream && may_give_up_fences(FENCE_WINDOW) {
                // Fails where a waiter has been counted meanwhile.
                // ORDERING: SeqCst, in one order with the read-modify-writes of `arm`: a waiter that is counted after
                // this finds FENCED gone. Relaxed on failure: no read relies on it.
                let _ = self.word.compare_exchange(word, 0, Ordering::SeqCst, Ordering::Relaxed);
            }
        }
        ListState(word)
    }

    // MUTANT: In a race: two publishers and a waiter that arms. Killed only by
    // `a_slot_that_was_armed_twice_is_free_again_behind_its_owner` and
    // `the_kernel_runs_the_fences_that_publishers_have_given_up`, and by the model
    // `two_publishers_against_a_receiver_going_to_sleep`.
    /// For a waiter: from now on it may be notified. Afterwards it must poll the queue once more before it sleeps. Has
    /// no effect on a slot that is armed already. `is_thread`: the waiter is a thread, and comes at once when notified.
    #[inline]
    pub(crate) fn arm(&self, slot: &Waiter, is_thread: bool) {
        let (block, bit) = (self.block(slot), 1_u64 << slot.index);
        block.enlist(slot.index, is_thread);
        // ORDERING: SeqCst, in one order with the exchange in `attend` that withdraws FENCED. It comes before the armed
        // bit, so that the count is never less than the bits. Acquire pairs with the Release by which another waiter
        // has set FENCED, after its heavy barrier.
        let mut word = self.word.fetch_add(ARMED, Ordering::SeqCst);
        if word & FENCED == 0 {
            // ORDERING: SeqCst, in one order with the exchange in `attend`, which fails while this waiter is counted;
            // so PENDING is in the word before the heavy barrier begins, and stays.
            word = self.word.fetch_or(PENDING, Ordering::SeqCst);
            debug_assert!(word & ARMED_MASK != 0);
            // Pairs with `light()` in `published`.
            heavy();
            // ORDERING: SeqCst, so Release: a waiter that finds FENCED, by the `fetch_add` above, sees what the heavy
            // barrier has made visible to this thread.
            self.word.fetch_or(FENCED, Ordering::SeqCst);
        }
        // Before the armed bit, so that this count is never less than the bits either.
        block.place.count();
        // ORDERING: Release pairs with the Acquire in `SlotBlock::claim`: the notifier finds the target set up.
        if block.armed.fetch_or(bit, Ordering::Release) & bit != 0 {
            // The slot was armed already, and has been counted then.
            self.uncount(block);
            block.unuse(slot.index, &self.vacant);
        }
        // ORDERING: pairs with the fence in `attend`: either the publisher finds the armed bit, or the waiter's poll
        // after this sees what was published.
        fence(Ordering::SeqCst);
    }

    /// For a waiter: it must not be notified any more. False: it was not armed, or has been notified.
    #[inline]
    pub(crate) fn disarm(&self, slot: &Waiter) -> bool {
        let (block, bit) = (self.block(slot), 1_u64 << slot.index);
        // ORDERING: Acquire pairs with the Release in `SlotBlock::claim`: where the bit is gone, what its notifier had
        // published is visible. The next notifier acquires what the owner did by the next arming.
        if block.armed.fetch_and(!bit, Ordering::Acquire) & bit == 0 {
            return false;
        }
        self.uncount(block);
        // MUTANT: Killed only by `a_slot_that_was_armed_twice_is_free_again_behind_its_owner`.
        block.unuse(slot.index, &self.vacant);
        true
    }

    // MUTANT: An id that is down is armed, except while its notifier is about to raise it.
    /// Whether the slot is armed, and has not been notified.
    #[inline]
    pub(crate) fn is_armed(&self, slot: &Waiter) -> bool {
        // ORDERING: Acquire pairs with the Release in `SlotBlock::claim`: where the bit is gone, what its notifier had
        // published is visible.
        self.block(slot).armed.load(Ordering::Acquire) & (1 << slot.index) != 0
    }

    #[inline]
    fn uncount(&self, block: &SlotBlock) {
        block.place.uncount();
        // ORDERING: Relaxed; a read-modify-write keeps the release sequence of `arm` whole: a waiter that finds FENCED
        // in the word sees what the heavy barrier has made visible. It comes after the `fetch_add` of `arm`, with the
        // armed bit.
        self.word.fetch_sub(ARMED, Ordering::Relaxed);
    }

    /// Reports that a notified thread has arrived: it has taken what there was for it, or is about to unregister.
    #[inline]
    pub(crate) fn arrive(&self) {
        // ORDERING: Release pairs with the Acquire in `in_flight`: a thread that finds this one arrived sees what it
        // has taken.
        self.in_flight.fetch_sub(1, Ordering::Release);
    }

    /// The number of threads that have been notified and have not arrived.
    #[inline]
    pub(crate) fn in_flight(&self) -> usize {
        // ORDERING: Acquire pairs with the Release in `arrive`: what the arrived threads have taken is visible.
        self.in_flight.load(Ordering::Acquire).max(0) as usize
    }

    /// The current word.
    #[inline]
    pub(crate) fn word(&self) -> ListState {
        // ORDERING: Acquire pairs with the read-modify-writes of `arm`: a thread that finds a waiter armed sees what
        // that waiter had seen.
        ListState(self.word.load(Ordering::Acquire))
    }

    /// For a publisher: takes the armed bit of the next waiter, in turn. The caller wakes it. Its cost does not depend
    /// on the number of waiters so far.
    pub(crate) fn notify_one(&self) -> Option<Notified<'_>> {
        // ORDERING: Acquire pairs with the Release exchange in `install`, which hands over the block.
        // SAFETY: null, or the first block, which lives as long as the list.
        let first = unsafe { self.first.load(Ordering::Acquire).as_ref() }?;
        // ORDERING: Acquire pairs with the Release in `notified`, which hands over the block.
        // SAFETY: null, or a block, which lives as long as the list.
        let begin = unsafe { self.block.load(Ordering::Acquire).as_ref() }.unwrap_or(first);
        // After the last slot of a block nothing is left of it, and the turn is the next block's.
        // ORDERING: Relaxed; any slot is a good place to begin.
        let mask = u64::MAX.checked_shl(self.slot.load(Ordering::Relaxed)).unwrap_or(0);
        if let Some(index) = begin.claim(mask) {
            return Some(self.notified(begin, index));
        }
        // ORDERING: Acquire pairs with the Release exchange in `install`, which hands over the regions.
        // SAFETY: null, or the list's, which lives as long as the list.
        let Some(further) = (unsafe { self.further.load(Ordering::Acquire).as_ref() }) else {
            return begin.claim(u64::MAX).map(|index| self.notified(begin, index));
        };
        self.notify_further(first, begin, further)
    }

    /// Where there is more than one block, and none has its turn in what is left of `begin`.
    #[cold]
    fn notify_further<'a>(
        &'a self,
        first: &'a SlotBlock,
        begin: &'a SlotBlock,
        further: &'a Regions,
    ) -> Option<Notified<'a>> {
        let claim = &mut |block: &SlotBlock| block.claim(u64::MAX);
        // A lone waiter usually waits where the last one did; there is no turn to keep.
        // ORDERING: Relaxed; a guess.
        if self.word.load(Ordering::Relaxed) & ARMED_MASK == ARMED {
            if let Some(index) = claim(begin) {
                return Some(self.notified(begin, index));
            }
        }
        if let Some((block, index)) = further.find(&begin.place, claim) {
            return Some(self.notified(block, index));
        }
        if let Some(index) = claim(first) {
            return Some(self.notified(first, index));
        }
        let (block, index) = further.find(&BlockPlace::FIRST, claim)?;
        Some(self.notified(block, index))
    }

    // MUTANT: Speed only: an early exit before a search that finds no armed slot.
    /// Whether any waiter has ever been registered, as far as this thread sees.
    #[inline]
    pub(crate) fn has_slots(&self) -> bool {
        // ORDERING: Relaxed; only compared. A waiter that is armed has registered before its fence in `arm`, so the
        //     caller's fence makes its block visible with its armed bit.
        !self.first.load(Ordering::Relaxed).is_null()
    }

    // MUTANT: Killed only by `waiters_are_woken_in_turn` and `a_close_tells_tasks_and_attached_receivers`.
    /// For a publisher of what concerns all waiters: takes the armed bit of each waiter that it finds armed, once, and
    /// has `wake` wake it. A waiter that arms again meanwhile has polled after the publication, and is left asleep.
    pub(crate) fn notify_each(&self, wake: &mut dyn FnMut(&Notified<'_>)) {
        let each = &mut |block: &SlotBlock| {
            let mut mask = u64::MAX;
            while let Some(index) = block.claim(mask) {
                // Slots up to this one have been checked.
                mask = u64::MAX.checked_shl(index as u32 + 1).unwrap_or(0);
                wake(&self.notified(block, index));
            }
            None
        };
        // ORDERING: Acquire twice, pairs with the Release exchange in `install`, which hands over the block, and the
        // regions.
        // SAFETY: null, or the list's, both of which live as long as the list.
        let (first, further) =
            unsafe { (self.first.load(Ordering::Acquire).as_ref(), self.further.load(Ordering::Acquire).as_ref()) };
        first.and_then(&mut *each);
        further.and_then(|further| further.find(&BlockPlace::FIRST, each));
    }

    // MUTANT: Killed only by `waiters_are_woken_in_turn`.
    fn notified<'a>(&'a self, block: &'a SlotBlock, index: usize) -> Notified<'a> {
        self.meter.wakes();
        let notified = Notified { vacant: &self.vacant, block, index };
        // ORDERING: Relaxed; a hint.
        self.slot.store(index as u32 + 1, Ordering::Relaxed);
        // ORDERING: Release pairs with the Acquire in `notify_one`: a thread may find the block here first.
        self.block.store(ptr::from_ref(block).cast_mut(), Ordering::Release);
        if notified.is_thread() {
            // ORDERING: Relaxed; a read-modify-write keeps the release sequence of `arrive` whole: a thread that loads
            // this count sees what the arrived threads have taken.
            self.in_flight.fetch_add(1, Ordering::Relaxed);
        }
        self.uncount(block);
        notified
    }

    /// Gives a slot up. It must not be armed. If a notifier still uses it, that notifier gives it back.
    pub(crate) fn unregister(&self, slot: &Waiter) {
        self.block(slot).unregister(slot.index, &self.vacant);
    }

    // MUTANT: Speed only: one barrier more than needed. In a race: the last handle is dropped. Killed only by the
    // model `the_last_end_that_goes_against_a_publisher`.
    /// Reports that the handles that wait here have all been dropped: every later publication finds that in the word.
    /// The caller must check the queue afterwards.
    pub(crate) fn go(&self) {
        // ORDERING: SeqCst, in one order with the exchange in `attend` that withdraws FENCED and fails once GONE is
        // set; so the promise is never withdrawn again.
        if self.word.fetch_or(GONE | PENDING, Ordering::SeqCst) & FENCED == 0 {
            // Pairs with `light()` in `published`.
            heavy();
        }
        // ORDERING: pairs with the fence in `attend`: either the publisher finds GONE, or the caller's check after this
        // sees what was published.
        fence(Ordering::SeqCst);
    }

    /// Frees all blocks, for the drop.
    #[cold]
    #[inline(never)]
    fn free(&mut self) {
        // ORDERING: Relaxed twice; as in `drop`.
        let (first, further) = (self.first.load(Ordering::Relaxed), self.further.load(Ordering::Relaxed));
        // SAFETY: null, or made by `Box::into_raw` in `install`, and freed here only, once.
        unsafe {
            drop(Box::from_raw(first));
            if !further.is_null() {
                drop(Box::from_raw(further));
            }
        }
    }
}

// USER CODE: wakers that are left in slots; both sides are gone, so no handle is left to use; panic: the other blocks
//     leak, and nothing worse; by construction: handles and futures take their wakers out before
impl Drop for WaitList {
    #[inline]
    fn drop(&mut self) {
        // ORDERING: Relaxed; the list is dropped by the last thread that has access to it.
        if !self.first.load(Ordering::Relaxed).is_null() {
            self.free();
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use core::cell::Cell;

    std::thread_local! {
        static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    /// Counts a check of a block, or of a count of waiters: for a free slot, or for a slot to notify.
    pub(in super::super) fn step() {
        STEPS.set(STEPS.get() + 1);
    }

    #[cfg(not(ysuite_loom))]
    mod slots {
        use std::collections::HashSet;

        use super::super::super::slots::Waiter;
        use super::super::WaitList;
        use super::STEPS;
        use crate::sync::Ordering;

        const MANY: usize = 20_000;

        fn register(list: &WaitList, slots: usize) -> (Vec<Waiter>, usize) {
            STEPS.set(0);
            ((0..slots).map(|_| list.register()).collect(), STEPS.get())
        }

        fn distinct(slots: &[Waiter]) -> (usize, usize) {
            let all: HashSet<_> = slots.iter().map(|slot| (slot.block, slot.index)).collect();
            let blocks: HashSet<_> = slots.iter().map(|slot| slot.block).collect();
            (all.len(), blocks.len())
        }

        #[test]
        fn registering_looks_at_few_blocks_however_many_waiters_there_are() {
            let list = WaitList::new();
            let (mut slots, steps) = register(&list, MANY);
            assert!(steps <= MANY * 2, "{steps} steps");
            assert_eq!(distinct(&slots), (MANY, MANY.div_ceil(64)));
            // Slots that are given back anywhere are found again.
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
                assert_eq!(distinct(&slots), (MANY, MANY.div_ceil(64)));
            }
        }

        /// The steps of a notification, by either way of notifying, of a lone waiter in that slot.
        fn steps_to_notify(list: &WaitList, slot: &Waiter) -> [usize; 2] {
            [false, true].map(|each| {
                list.arm(slot, false);
                STEPS.set(0);
                let mut woken = 0;
                if each {
                    list.notify_each(&mut |_| woken += 1);
                } else {
                    woken += usize::from(list.notify_one().is_some());
                }
                assert_eq!((woken, list.is_armed(slot), list.word().is_armed()), (1, false, false));
                STEPS.get()
            })
        }

        /// The cost depends on the present waiters, and not on earlier ones: 64 counts of rows, 64 of blocks, and a few
        /// blocks.
        ///
        /// Claim: The cost of a notification depends on the present waiters only, not on earlier ones, and each waiter
        /// has its turn.
        #[test]
        fn a_notification_costs_the_same_however_many_waiters_have_come_and_gone() {
            const GONE: usize = 100_000;
            let list = WaitList::new();
            let (slots, _) = register(&list, GONE);
            // All have waited, and all have been notified.
            slots.iter().for_each(|slot| list.arm(slot, false));
            assert!(slots.iter().all(|_| list.notify_one().is_some()));
            assert!(list.notify_one().is_none() && !list.word().is_armed());
            for at in [0, 63, 64, 5_000, GONE / 2, GONE - 1] {
                for _ in 0..3 {
                    let steps = steps_to_notify(&list, &slots[at]);
                    assert!(steps.iter().all(|&steps| steps <= 140), "{steps:?} for slot {at}");
                }
            }
            slots.iter().for_each(|slot| list.unregister(slot));
            let slot = list.register();
            assert!(steps_to_notify(&list, &slot).iter().all(|&steps| steps <= 140));
            // Two far apart have their turns.
            let (slots, _) = register(&list, GONE - 1);
            let far = [&slots[0], &slots[GONE / 2]];
            far.iter().for_each(|slot| list.arm(slot, false));
            STEPS.set(0);
            for turn in 0..100 {
                let notified = list.notify_one().unwrap();
                let next = far.iter().position(|slot| !list.is_armed(slot)).unwrap();
                assert_eq!(notified.index, far[next].index);
                drop(notified);
                list.arm(far[next], false);
                assert!(STEPS.get() <= (turn + 1) * 300, "{} steps", STEPS.get());
            }
        }

        /// Each notified waiter arms again at once: each has its turn before any has another.
        #[test]
        fn waiters_of_many_blocks_have_their_turns() {
            let list = WaitList::new();
            let (slots, _) = register(&list, 64 * 70);
            slots.iter().for_each(|slot| list.arm(slot, false));
            for _ in 0..3 {
                let mut told = HashSet::new();
                for _ in 0..slots.len() {
                    let notified = list.notify_one().unwrap();
                    assert!(told.insert((core::ptr::from_ref(notified.block), notified.index)), "a second turn");
                    let again = Waiter { block: notified.block, index: notified.index };
                    drop(notified);
                    list.arm(&again, false);
                }
            }
            let mut told = HashSet::new();
            list.notify_each(&mut |one| assert!(told.insert((core::ptr::from_ref(one.block), one.index))));
            assert_eq!(told.len(), slots.len());
        }

        #[test]
        fn a_waiter_is_counted_while_it_is_armed() {
            let list = WaitList::new();
            let slot = list.register();
            for _ in 0..3 {
                // Armed twice it is counted once.
                (0..2).for_each(|_| list.arm(&slot, true));
                assert!(list.word().is_armed() && list.disarm(&slot) && !list.word().is_armed());
                list.arm(&slot, true);
                drop(list.notify_one());
                assert!(!list.word().is_armed());
                assert_eq!(list.in_flight(), 1);
                list.arrive();
                assert_eq!(list.in_flight(), 0);
            }
        }

        #[test]
        fn the_kernel_runs_the_fences_that_publishers_have_given_up() {
            use crate::os::{asymmetric, calls, prepare};
            prepare();
            let (list, is_free) = (WaitList::new(), asymmetric());
            let slot = list.register();
            let arming = || {
                let before = calls();
                list.arm(&slot, false);
                assert!(list.disarm(&slot));
                calls() - before
            };
            assert_eq!(arming(), 0);
            for _ in 0..super::super::FENCE_WINDOW {
                let _ = list.attend();
            }
            assert_eq!(list.published(), !is_free);
            assert_eq!(arming() > 0, is_free);
            assert!(list.published(), "fences are promised again");
            assert_eq!(arming(), 0);
        }

        #[test]
        fn the_slots_go_with_their_list() {
            struct Task;
            impl std::task::Wake for Task {
                fn wake(self: std::sync::Arc<Self>) {}
            }
            let (list, task) = (WaitList::new(), std::sync::Arc::new(Task));
            let (slots, _) = register(&list, 65);
            slots.iter().for_each(|slot| list.target(slot).task.register(&task.clone().into()));
            assert_eq!(std::sync::Arc::strong_count(&task), 66);
            drop(list);
            assert_eq!(std::sync::Arc::strong_count(&task), 1);
        }

        /// Claim: A slot of a wait list has one owner at a time. A notifier wakes no later owner of the slot.
        /// Also: unit wait::models::two_that_register_at_once_have_a_slot_each,
        /// suite mpmc::waking::with_a_bound::more_waiters_than_one_block_holds.
        #[test]
        fn slots_have_one_owner_at_a_time_and_are_used_again() {
            let list = &WaitList::new();
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for round in 0..200 {
                            let (slots, _) = register(list, round % 150);
                            assert_eq!(distinct(&slots).0, slots.len());
                            slots.iter().for_each(|slot| list.unregister(slot));
                        }
                    });
                }
            });
            // A few blocks more than were ever full, allocated while other threads were popping blocks.
            let (slots, _) = register(list, 600);
            let (all, blocks) = distinct(&slots);
            assert!(all == 600 && blocks <= 600 / 64 + 8, "{blocks} blocks");
        }

        /// As where other threads have filled a block before its creator has announced it.
        #[test]
        fn a_full_block_behind_the_newest_that_is_known_is_passed() {
            let list = WaitList::new();
            let (slots, _) = register(&list, 128);
            // ORDERING: Relaxed; one thread.
            list.newest.store(slots[0].block.cast_mut(), Ordering::Relaxed);
            let other = list.register();
            assert!(slots.iter().all(|slot| slot.block != other.block));
        }

        #[test]
        fn a_slot_that_was_armed_twice_is_free_again_behind_its_owner() {
            let list = WaitList::new();
            let slot = list.register();
            (0..2).for_each(|_| list.arm(&slot, false));
            assert!(list.disarm(&slot));
            list.unregister(&slot);
            assert_eq!(list.register().index, slot.index);
        }

        /// A block that is full may be on the stack, and is not pushed again when a slot of it comes free.
        #[test]
        fn a_full_block_on_the_stack_hides_none_below_it() {
            let list = WaitList::new();
            let (mut slots, _) = register(&list, 128);
            // One of each block: the second block is on the stack, and the first comes above it.
            list.unregister(&slots.swap_remove(64));
            list.unregister(&slots.swap_remove(0));
            let again = list.register();
            assert_eq!(again.block, slots[1].block);
            list.unregister(&again);
            slots.extend((0..2).map(|_| list.register()));
            assert_eq!(distinct(&slots), (128, 2));
        }
    }
}
