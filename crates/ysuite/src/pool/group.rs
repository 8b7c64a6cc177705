//! A group: magazines whose bits share a cache line, and the banks that contain groups.
//!
//! Any thread; lock-free. Banks are made once and live as long as the depot; the first has room for all blocks.

use core::ptr;

use super::magazine::Magazine;
use super::marks::{Marks, SetMarks};
use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, CachePadded, Handed, Ordering};

/// Magazines of a group.
pub(super) const GROUP: usize = if cfg!(ysuite_loom) { 3 } else { 32 };
const ALL: u32 = ((1_u64 << GROUP) - 1) as u32;
/// In [`GroupBits::offered`], the distance from the bit of a magazine to the bit that says that it has room.
const ROOMY: usize = 32;

pub(super) struct MagazineGroup {
    bits: CachePadded<GroupBits>,
    pub(super) magazines: [Magazine; GROUP],
}

struct GroupBits {
    /// Held by a thread, or in the depot. The others are free and empty.
    claimed: AtomicU32,
    /// In the depot; the bits [`ROOMY`] further up: in the depot and with room.
    offered: AtomicU64,
}

impl MagazineGroup {
    /// Makes `groups` groups, each in its final place: one has 9 KiB, too much for a small stack.
    fn row(groups: usize) -> Box<[Self]> {
        let mut row = Box::<[Self]>::new_uninit_slice(groups);
        for place in &mut row {
            let group = place.as_mut_ptr();
            let bits = GroupBits { claimed: AtomicU32::new(0), offered: AtomicU64::new(0) };
            // SAFETY: the places belong to the box, and no other code has them; each is written once, and not read.
            unsafe {
                (&raw mut (*group).bits).write(CachePadded::new(bits));
                let first = (&raw mut (*group).magazines).cast::<Magazine>();
                (0..GROUP).for_each(|at| first.add(at).write(Magazine::new()));
            }
        }
        // SAFETY: all parts of all groups have been written.
        unsafe { row.assume_init() }
    }

    // MUTANT: In a race: two threads find the same free magazine. Killed only by the model
    // `two_threads_claim_a_magazine_each`.
    fn claim(&self) -> Option<usize> {
        // ORDERING: Relaxed; a guess, the read-modify-write below decides.
        let mut claimed = self.bits.claimed.load(Ordering::Relaxed);
        while (claimed.trailing_ones() as usize) < GROUP {
            let index = claimed.trailing_ones() as usize;
            // ORDERING: Acquire pairs with the Release in `Held::release`: its last owner left it empty.
            claimed = self.bits.claimed.fetch_or(1 << index, Ordering::Acquire);
            if claimed & (1 << index) == 0 {
                return Some(index);
            }
        }
        None
    }

    /// Adopts a magazine of the depot; where `above` is [`ROOMY`], one with room.
    fn adopt(&self, above: usize) -> Option<usize> {
        // ORDERING: Relaxed; a guess, the compare-exchange below decides.
        let mut offered = self.bits.offered.load(Ordering::Relaxed);
        while (offered >> above) as u32 != 0 {
            let index = (offered >> above).trailing_zeros() as usize;
            let rest = offered & !((1_u64 << index) | (1_u64 << (index + ROOMY)));
            // A compare-exchange, for the bit in question must still be set: other threads may have filled the magazine
            // and offered it again.
            // ORDERING: Acquire pairs with the Release in `Held::offer`: its last owner puts no more blocks in. Relaxed
            // on failure: a guess again.
            match self.bits.offered.compare_exchange_weak(offered, rest, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(index),
                Err(now) => offered = now,
            }
        }
        None
    }

    /// Marks the first `magazines` as offered and full. Before the group is shared.
    pub(super) fn fill(&self, magazines: usize) {
        let all = (1_u64 << GROUP.min(magazines)) - 1;
        // ORDERING: Relaxed; sharing the depot synchronises with the other threads.
        self.bits.claimed.store(all as u32, Ordering::Relaxed);
        // ORDERING: Relaxed; sharing the depot synchronises with the other threads.
        self.bits.offered.store(all, Ordering::Relaxed);
    }
}

/// A magazine that this thread holds. It has no `Drop`: its holder offers or releases it.
#[derive(Clone, Copy)]
pub(super) struct Held {
    bank: *const Bank,
    /// The number of the magazine in the bank.
    index: usize,
}

impl Held {
    fn bank<'a>(self) -> &'a Bank {
        // SAFETY: a bank lives as long as its depot, which the holder keeps alive.
        unsafe { &*self.bank }
    }

    fn group<'a>(self) -> &'a MagazineGroup {
        &self.bank().groups[self.index / GROUP]
    }

    /// Valid as long as the depot.
    pub(super) fn magazine<'a>(self) -> &'a Magazine {
        &self.group().magazines[self.index % GROUP]
    }

    // MUTANT: Speed only: a search doubts the mark of a group that has no magazine with room, and clears it.
    /// Gives the magazine and its blocks to the depot. Of its `rounds` used slots, all from `top` on are empty.
    #[inline(never)]
    pub(super) fn offer(self, top: usize, rounds: usize) {
        self.magazine().leave(top);
        let (bit, roomy) = (1_u64 << (self.index % GROUP), top < rounds);
        let bits = if roomy { bit | bit << ROOMY } else { bit };
        // ORDERING: Release pairs with the Acquire in `MagazineGroup::adopt`.
        self.group().bits.offered.fetch_or(bits, Ordering::Release);
        if roomy {
            self.bank().roomy.add(self.index / GROUP);
        }
    }

    /// Makes the magazine free. It must be empty.
    #[inline(never)]
    pub(super) fn release(self) {
        debug_assert!(self.magazine().is_empty());
        // ORDERING: Release pairs with the Acquire in `MagazineGroup::claim`.
        self.group().bits.claimed.fetch_and(!(1 << (self.index % GROUP)), Ordering::Release);
        self.bank().free.add(self.index / GROUP);
    }
}

// GROWS: banks; bound: magazines in use: two for each thread that is active at once, and those with blocks; full: one
//     group of 32 more, 11 KiB; freed with the pool's tables; cost: threads at once / 16; test: src/pool/depot.rs:
//     more_threads_than_there_are_magazines_for_get_one_group_more
// GROWS: magazines in use; bound: as of banks; threads that come and go, and late frees, share those with room; given
//     back when empty; test: src/pool/thread_cache/tests.rs: threads_that_come_and_go_share_magazines,
//     src/pool/thread_cache/tests.rs: blocks_given_back_past_thread_locals_share_magazines
/// Groups that are made together, with marks that say which of them to search.
pub(super) struct Bank {
    pub(super) groups: Box<[MagazineGroup]>,
    /// Groups with claimed magazines: where blocks may be.
    claimed: Marks,
    /// Groups with free magazines.
    free: Marks,
    /// Groups with magazines in the depot that have room.
    roomy: Marks,
    next: AtomicPtr<Bank>,
    /// All of the above, for a model.
    made: Handed,
}

impl Bank {
    /// `used`: the groups are about to be filled.
    pub(super) fn new(groups: usize, used: bool) -> Self {
        let bank = Self {
            groups: MagazineGroup::row(groups),
            claimed: Marks::new(groups, used),
            free: Marks::new(groups, true),
            roomy: Marks::new(groups, false),
            next: AtomicPtr::new(ptr::null_mut()),
            made: Handed::default(),
        };
        bank.made.written();
        bank
    }

    // MUTANT: Speed only: groups without blocks stay marked. A doubt checks the condition before it clears the mark.
    // Killed only by `a_search_that_fails_does_not_look_at_all_groups_again`.
    /// Finds the first magazine that `take` accepts in a marked group. Doubts the mark of a group for which `is_true`
    /// is false.
    fn search(
        &self,
        marks: &Marks,
        take: fn(&MagazineGroup) -> Option<usize>,
        is_true: fn(&MagazineGroup) -> bool,
    ) -> Option<Held> {
        for at in marks.iter() {
            let group = &self.groups[at];
            if let Some(index) = take(group) {
                return Some(Held { bank: self, index: at * GROUP + index });
            }
            if !is_true(group) {
                marks.doubt(at, || is_true(group));
            }
        }
        None
    }

    // MUTANT: Speed only: groups without a free magazine stay marked. Killed only by the model
    // `a_magazine_that_is_released_is_empty_for_the_next_owner`.
    pub(super) fn claim(&self) -> Option<Held> {
        // ORDERING: Relaxed; the fence in `Marks::doubt`, before this, pairs with the one in `Marks::add`.
        let has_free = |group: &MagazineGroup| group.bits.claimed.load(Ordering::Relaxed) != ALL;
        let held = self.search(&self.free, MagazineGroup::claim, has_free)?;
        // Before the magazine has blocks.
        self.claimed.add(held.index / GROUP);
        Some(held)
    }

    // MUTANT: Speed only: groups without blocks stay marked. Killed only by
    // `a_search_that_fails_does_not_look_at_all_groups_again`.
    pub(super) fn adopt(&self) -> Option<Held> {
        // ORDERING: Relaxed; the fence in `Marks::doubt`, before this, pairs with the one in `Marks::add`.
        let has_claimed = |group: &MagazineGroup| group.bits.claimed.load(Ordering::Relaxed) != 0;
        self.search(&self.claimed, |group| group.adopt(0), has_claimed)
    }

    // MUTANT: Speed only: groups without room stay marked. Killed only by the model
    // `a_magazine_with_room_is_found_behind_a_search_that_has_missed_it`.
    pub(super) fn adopt_roomy(&self) -> Option<Held> {
        // ORDERING: Relaxed; the fence in `Marks::doubt`, before this, pairs with the one in `Marks::add`.
        let has_roomy = |group: &MagazineGroup| group.bits.offered.load(Ordering::Relaxed) >> ROOMY != 0;
        self.search(&self.roomy, |group| group.adopt(ROOMY), has_roomy)
    }

    /// All magazines of this bank and of those after it that may have blocks.
    pub(super) fn in_use(&self) -> InUse<'_> {
        InUse { bank: self, groups: self.claimed.iter(), group: &self.groups[0], left: 0 }
    }

    pub(super) fn next(&self) -> Option<&Self> {
        // ORDERING: Acquire pairs with the Release in `extend`.
        let next = self.next.load(Ordering::Acquire);
        // SAFETY: null, or from `Box::into_raw` in `extend`; only `drop` of this bank frees it.
        unsafe { next.as_ref() }.inspect(|bank| bank.made.read())
    }

    // USER CODE: the allocator, at most within a message's `Drop`; no cache has changed yet, and the bank is visible
    //     when it is complete; re-entrance: an allocator that uses a pool finds its cache as it was, and
    //     `ThreadCaches::install` finds the cache again afterwards; panic: impossible: allocators may not unwind, and a
    //     failed allocation aborts; test: src/pool/depot.rs:
    //     more_threads_than_there_are_magazines_for_get_one_group_more
    /// The next bank; makes one of one group if there is none.
    #[cold]
    pub(super) fn extend(&self) -> &Self {
        // MUTANT: Memory only: the compare-exchange refuses a second bank, which is freed at once.
        if self.next().is_none() {
            let fresh = Box::into_raw(Box::new(Self::new(1, false)));
            let null = ptr::null_mut();
            // ORDERING: Release pairs with the Acquire in `next`. Relaxed on failure: the value is not used, `next`
            // acquires.
            if self.next.compare_exchange(null, fresh, Ordering::Release, Ordering::Relaxed).is_err() {
                // SAFETY: from `Box::into_raw` above; the compare-exchange failed, so no other thread has seen the
                // address.
                drop(unsafe { Box::from_raw(fresh) });
            }
        }
        self.next().expect("made just now")
    }

    /// The number of groups that a search for a block has to check, and the number of magazines in the depot.
    #[cfg(all(test, not(ysuite_loom)))]
    pub(super) fn tally(&self) -> (usize, usize) {
        // ORDERING: Relaxed; a count, pairs with nothing.
        let offered = |group: &MagazineGroup| (group.bits.offered.load(Ordering::Relaxed) as u32).count_ones() as usize;
        (self.claimed.iter().count(), self.groups.iter().map(offered).sum())
    }
}

/// The magazines that may have blocks. Written out, because the compiler would make a dozen functions of adapters for each
/// use.
pub(super) struct InUse<'a> {
    bank: &'a Bank,
    /// The groups after the one in progress.
    groups: SetMarks<'a>,
    group: &'a MagazineGroup,
    /// The bits of the magazines that are left in that.
    left: u32,
}

impl<'a> Iterator for InUse<'a> {
    type Item = &'a Magazine;

    fn next(&mut self) -> Option<&'a Magazine> {
        while self.left == 0 {
            if let Some(at) = self.groups.next() {
                self.group = &self.bank.groups[at];
                // ORDERING: Relaxed; a guess, and each slot is acquired by itself.
                self.left = self.group.bits.claimed.load(Ordering::Relaxed);
            } else {
                self.bank = self.bank.next()?;
                self.groups = self.bank.claimed.iter();
            }
        }
        let at = self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        Some(&self.group.magazines[at])
    }
}

// USER CODE: none (it frees memory of its own)
impl Drop for Bank {
    #[inline(never)]
    fn drop(&mut self) {
        // A loop: otherwise each bank would drop the next one inside its own drop, and there may be too many for the
        // stack.
        // ORDERING: Relaxed; the drop of the depot's last share has synchronised with the other threads.
        let mut at = self.next.swap(ptr::null_mut(), Ordering::Relaxed);
        while !at.is_null() {
            // SAFETY: from `Box::into_raw` in `extend`; removed from its only place, and no other thread uses the
            // depot.
            let bank = unsafe { Box::from_raw(at) };
            // ORDERING: Relaxed; the drop of the depot's last share has synchronised with the other threads.
            at = bank.next.swap(ptr::null_mut(), Ordering::Relaxed);
        }
    }
}
