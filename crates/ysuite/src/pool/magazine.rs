//! A magazine: up to 64 free blocks of one class, held by one thread. The fast path of the pool.
//!
//! Every free block of a pool is in exactly one slot of one magazine, as an [`Entry`]. Only the magazine's owner, one
//! thread at a time, puts entries in. Any thread may take them out, so every thread can reach every free block. All
//! operations are wait-free: no thread waits for an owner that was preempted.
//!
//! An owner takes with plain loads and stores until there is a thief: a read-modify-write would wait until all writes
//! into the last message have reached the caches. A thief swaps, and makes the owner swap as well:
//!
//! | owner | thief |
//! |---|---|
//! | `taking` = slot; `light()` | `mode` + 1; `heavy()`, once until the magazine is [`calm`](Magazine::calm) again |
//! | `mode` is 0: load, store 0; else swap | swap all slots except the one in `taking` |
//!
//! Either the owner sees the thief and swaps, or the thief sees the owner's slot and skips it. Without a heavy barrier
//! the owner and the thieves always swap. They also swap in a magazine that was made before the process had registered
//! for the barrier, until its owner finds that it has.
//!
//! Source: Bonwick and Adams, *Magazines and Vmem*, 2001; but there only its own thread takes from a magazine.

// Counted by owners: not the façade's, a model need not explore it.
use core::sync::atomic::{AtomicU32 as PlainU32, AtomicU64};

use crate::os::{asymmetric, heavy, light, may_give_up_fences};
use crate::sync::{AtomicU32, Handed, Ordering, array_of};

/// Slots of a magazine. A class with few blocks uses fewer of them.
pub(super) const ROUNDS: usize = if cfg!(ysuite_loom) { 2 } else { 64 };

// REUSED: a block's index; held by no second owner: it is in one slot or is out; the slot's swap gives it to one;
//     test: tests/suite/pool/random.rs: random_operations_of_several_threads_come_out_even
/// A free block, as it is in a slot: its index, and the state of its bytes. Never 0, which is an empty slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry(u32);

impl Entry {
    /// The largest number of blocks in a class.
    pub(super) const MOST: usize = (1 << 30) - 1;
    /// The block was never used: its bytes are 0.
    const FRESH: u32 = 1 << 31;
    /// The block's last value was not bytes: some of them may be uninitialised.
    const TYPED: u32 = 1 << 30;

    pub(super) fn fresh(index: usize) -> Self {
        Self((index as u32 + 1) | Self::FRESH)
    }

    #[inline(always)]
    pub(super) fn used(index: u32, typed: bool) -> Self {
        Self((index + 1) | if typed { Self::TYPED } else { 0 })
    }

    #[inline(always)]
    pub(super) fn index(self) -> u32 {
        (self.0 & !(Self::FRESH | Self::TYPED)) - 1
    }

    #[inline(always)]
    pub(super) fn is_fresh(self) -> bool {
        self.0 & Self::FRESH != 0
    }

    #[inline(always)]
    pub(super) fn is_typed(self) -> bool {
        self.0 & Self::TYPED != 0
    }
}

/// In [`Magazine::mode`]: the owner swaps, and a thief has executed the barrier that makes it swap. The bits below
/// count active thieves.
const SHARED: u32 = 1 << 31;
/// In [`Magazine::mode`], with [`SHARED`]: the owner swaps because the process had no heavy barrier, and no thief has
/// come.
const UNREGISTERED: u32 = 1 << 30;

// REUSED: a magazine (bank and index); held by a thief that reads it while it is released and claimed again; harmless:
//     it takes blocks by swaps, as from any other; test: tests/loom/pool.rs:
//     a_magazine_taken_from_is_adopted_and_calmed
#[repr(C, align(64))]
pub(super) struct Magazine {
    /// 0: the owner need not swap.
    mode: AtomicU32,
    /// The slot that the owner is taking from, plus 1; or 0. Written by the owner.
    taking: AtomicU32,
    /// The number of blocks put in that another thread had taken from the pool. Written by the owner.
    elsewhere: AtomicU64,
    /// While the magazine is in the depot: all slots from this one on are empty. Written by its last owner.
    left: PlainU32,
    /// Swaps by owners since they last used the heavy barrier. Written by the owner.
    swaps: PlainU32,
    /// For the model checker: touched by each step of the owner, so that it detects an owner that does not see what the
    /// last one has done.
    owner: Handed,
    /// Entries, or 0. All slots from the owner's top on are 0.
    slots: Slots,
}

/// In cache lines of their own: thieves read them.
#[repr(C, align(64))]
struct Slots([AtomicU32; ROUNDS]);

impl Magazine {
    // MUTANT: Always true when the kernel has the barrier. Killed only by
    // `a_magazine_is_calmed_when_no_thief_is_at_work`.
    pub(super) fn new() -> Self {
        Self {
            mode: AtomicU32::new(if asymmetric() { 0 } else { SHARED | UNREGISTERED }),
            taking: AtomicU32::new(0),
            elsewhere: AtomicU64::new(0),
            left: PlainU32::new(0),
            swaps: PlainU32::new(0),
            owner: Handed::default(),
            slots: Slots(array_of![AtomicU32::new(0); ROUNDS]),
        }
    }

    /// As a magazine made before the process has registered for the heavy barrier.
    #[cfg(all(test, ysuite_loom))]
    pub(super) fn unregistered() -> Self {
        Self { mode: AtomicU32::new(SHARED | UNREGISTERED), ..Self::new() }
    }

    // MUTANT: Models only. Killed only by the model `a_block_at_hand_goes_to_its_owner_or_to_a_thief`.
    /// Owner: puts an entry into an empty slot.
    #[inline(always)]
    pub(super) fn put(&self, at: usize, entry: Entry) {
        self.owner.written();
        if cfg!(ysuite_loom) {
            // In the model checker, unlike in the language, a plain store may be ordered before a swap that preceded
            // it.
            // ORDERING: Release pairs with the Acquire in `swap`: the block's last owner is done with it.
            self.slots.0[at].swap(entry.0, Ordering::Release);
            return;
        }
        // ORDERING: Release pairs with the Acquire in `swap`: the block's last owner is done with it.
        self.slots.0[at].store(entry.0, Ordering::Release);
    }

    // MUTANT: In a race: a thief swaps the slot from which the owner takes. Killed only by the model
    // `the_owner_takes_against_a_thief`.
    /// Owner: takes the entry of a slot, if there is one.
    #[inline(always)]
    pub(super) fn take(&self, at: usize) -> Option<Entry> {
        self.owner.written();
        // Only this thread, the owner, puts entries in.
        self.peek(at)?;
        let slot = &self.slots.0[at];
        // ORDERING: `light()` pairs with `heavy()` in `steal`: the thief sees this, or this thread sees `mode`. Release
        // as below: a thief that finds this store also sees the store of the 0 before it.
        self.taking.store(at as u32 + 1, Ordering::Release);
        light();
        // ORDERING: Relaxed; only owners make it 0 again, in `calm_from`, which acquires what earlier thieves have
        // taken.
        let mode = self.mode.load(Ordering::Relaxed);
        let entry = if mode == 0 {
            // ORDERING: Relaxed; this thread put the entry, or acquired it with the magazine (`MagazineGroup::adopt`).
            let entry = slot.load(Ordering::Relaxed);
            // ORDERING: Relaxed; no thief reads the slot that `taking` names.
            slot.store(0, Ordering::Relaxed);
            entry
        } else {
            // ORDERING: Relaxed; as above, and the swap decides between this thread and a thief.
            let entry = slot.swap(0, Ordering::Relaxed);
            if mode == SHARED | UNREGISTERED {
                self.count_swap();
            }
            entry
        };
        // ORDERING: Release pairs with the Acquire in `steal`: the thief sees the slot empty.
        self.taking.store(0, Ordering::Release);
        (entry != 0).then_some(Entry(entry))
    }

    // MUTANT: In a race: a thief swaps the slot from which the owner takes. Killed only by the model
    // `the_owner_takes_against_a_thief`.
    /// Any thread: takes an entry, except the one that the owner is taking.
    pub(super) fn steal(&self) -> Option<Entry> {
        if self.is_empty() {
            return None;
        }
        // ORDERING: Acquire pairs with the Release of `SHARED` below: the barrier of the thief that set it.
        if self.mode.fetch_add(1, Ordering::Acquire) & SHARED == 0 {
            // Pairs with `light()` in `take`.
            heavy();
            // ORDERING: Release pairs with the Acquire of `mode` above: it hands the barrier to the next thief.
            self.mode.fetch_or(SHARED, Ordering::Release);
        }
        // ORDERING: Acquire pairs with the Release of `taking` in `take`: a slot that the owner has finished with is
        // seen empty.
        let taking = self.taking.load(Ordering::Acquire) as usize;
        let (mut stolen, mut at) = (None, ROUNDS);
        while stolen.is_none() && at != 0 {
            // The slot `at - 1`, unless the owner is taking from it.
            if at != taking {
                stolen = self.swap(at - 1);
            }
            at -= 1;
        }
        // ORDERING: Release pairs with the Acquire in `calm`: the owner sees which slots are empty.
        self.mode.fetch_sub(1, Ordering::Release);
        stolen
    }

    // MUTANT: Always true when the kernel has the barrier. Killed only by
    // `a_magazine_is_calmed_when_no_thief_is_at_work`.
    /// Owner, before its first take: takes without swaps again, unless a thief is at work.
    pub(super) fn calm(&self) {
        self.owner.written();
        // ORDERING: Relaxed; the compare-exchange decides.
        let mode = self.mode.load(Ordering::Relaxed);
        if mode & !UNREGISTERED == SHARED && asymmetric() {
            self.calm_from(mode);
        }
    }

    /// Owner: no thief was at work, and the process has the heavy barrier.
    fn calm_from(&self, mode: u32) {
        // ORDERING: Acquire pairs with the Release in `steal`: entries that thieves took are not seen again.
        let _ = self.mode.compare_exchange(mode, 0, Ordering::Acquire, Ordering::Relaxed);
    }

    /// Owner: it has swapped because there is no heavy barrier. A swap costs about as much as a publisher's fence.
    #[cold]
    #[inline(never)]
    fn count_swap(&self) {
        // ORDERING: Relaxed; only the owner uses this counter, which acquired the magazine from the last one.
        let swaps = self.swaps.load(Ordering::Relaxed) + 1;
        let are_many = swaps as usize >= ROUNDS;
        // ORDERING: Relaxed, as above.
        self.swaps.store(if are_many { 0 } else { swaps }, Ordering::Relaxed);
        if are_many && may_give_up_fences(ROUNDS as u32) {
            self.calm_from(SHARED | UNREGISTERED);
        }
    }

    // MUTANT: In a race: the entry is taken between the check and the swap. Killed only by the model
    // `the_owner_takes_against_a_thief`.
    /// Takes the entry of a slot by a swap.
    fn swap(&self, at: usize) -> Option<Entry> {
        // A guess, the swap decides.
        self.peek(at)?;
        // ORDERING: Acquire pairs with the Release in `put`: the block's last owner is done with it.
        let entry = self.slots.0[at].swap(0, Ordering::Acquire);
        (entry != 0).then_some(Entry(entry))
    }

    /// Takes all entries and counts them. Only after the owners' last take.
    pub(super) fn drain(&self) -> usize {
        (0..ROUNDS).filter(|at| self.swap(*at).is_some()).count()
    }

    // MUTANT: In a race: the entry is taken between the check and the swap. Killed only by the model
    // `the_owner_takes_against_a_thief`.
    /// Any thread: the entry of a slot. Another thread may take it at any moment: a hint.
    #[inline(always)]
    pub(super) fn peek(&self, at: usize) -> Option<Entry> {
        // ORDERING: Relaxed; a hint, pairs with nothing.
        let entry = self.slots.0[at].load(Ordering::Relaxed);
        (entry != 0).then_some(Entry(entry))
    }

    /// Returns the number of entries. For the owner 0 is exact until it puts one in.
    pub(super) fn len(&self) -> usize {
        // ORDERING: Relaxed; a count. The owner, which alone acts on it, put in every entry that it could miss.
        self.slots.0.iter().filter(|slot| slot.load(Ordering::Relaxed) != 0).count()
    }

    /// Whether [`len`](Self::len) is 0.
    pub(super) fn is_empty(&self) -> bool {
        // ORDERING: Relaxed; a hint, pairs with nothing.
        self.slots.0.iter().all(|slot| slot.load(Ordering::Relaxed) == 0)
    }

    // MUTANT: In a race: a thief swaps the slot from which the owner takes. Killed only by the model
    // `the_owner_takes_against_a_thief`.
    /// Owner: all slots from this one on are empty, and stay so until it puts an entry in.
    pub(super) fn top(&self) -> usize {
        // ORDERING: Relaxed; this thread put the entries, or acquired them with the magazine. Other threads only take.
        self.slots.0.iter().rposition(|slot| slot.load(Ordering::Relaxed) != 0).map_or(0, |at| at + 1)
    }

    /// Owner, before it offers the magazine: all slots from `top` on are empty.
    pub(super) fn leave(&self, top: usize) {
        // ORDERING: Relaxed; read by the next owner, which acquires the magazine by its bit in `offered`.
        self.left.store(top as u32, Ordering::Relaxed);
        self.owner.written();
    }

    /// Owner of a magazine just adopted: the `top` of its last owner.
    pub(super) fn left(&self) -> usize {
        // ORDERING: Relaxed; written by the last owner, from which this one acquired the magazine by its bit in
        // `offered`.
        self.owner.written();
        self.left.load(Ordering::Relaxed) as usize
    }

    /// Owner: the block just put in had been taken by another thread.
    #[inline(always)]
    pub(super) fn count_elsewhere(&self) {
        // ORDERING: Relaxed; a count that only the owner writes, which acquired the magazine from the last one.
        let count = self.elsewhere.load(Ordering::Relaxed) + 1;
        // ORDERING: Relaxed; a count, pairs with nothing.
        self.elsewhere.store(count, Ordering::Relaxed);
    }

    pub(super) fn elsewhere(&self) -> u64 {
        // ORDERING: Relaxed; a count, pairs with nothing.
        self.elsewhere.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{Entry, Magazine, ROUNDS, SHARED, UNREGISTERED};
    use crate::os::{asymmetric, calls, prepare};
    use crate::sync::Ordering;

    #[test]
    fn a_magazine_is_calmed_when_no_thief_is_at_work() {
        prepare();
        let magazine = Magazine::new();
        let mode = || magazine.mode.load(Ordering::Relaxed);
        // Without a heavy barrier the owner always swaps.
        let shared = if asymmetric() { SHARED } else { SHARED | UNREGISTERED };
        magazine.put(0, Entry::used(1, false));
        magazine.put(2, Entry::used(2, false));
        assert_eq!(magazine.top(), 3);
        assert!(magazine.steal().is_some());
        assert_eq!((mode(), magazine.top()), (shared, 1));
        // A thief that is preempted while it steals.
        magazine.mode.fetch_add(1, Ordering::Relaxed);
        magazine.calm();
        assert_eq!(mode(), shared + 1);
        magazine.mode.fetch_sub(1, Ordering::Relaxed);
        magazine.calm();
        assert_eq!(mode(), if asymmetric() { 0 } else { shared });
        assert_eq!(magazine.take(0), Some(Entry::used(1, false)));
        assert_eq!((magazine.take(0), magazine.top()), (None, 0));
    }

    #[test]
    fn an_owner_swaps_until_there_is_a_barrier_and_thieves_need_none_meanwhile() {
        prepare();
        let magazine = Magazine::new();
        // ORDERING: Relaxed, here and below; this test runs on one thread.
        let mode = || magazine.mode.load(Ordering::Relaxed);
        magazine.mode.store(SHARED | UNREGISTERED, Ordering::Relaxed);
        let before = calls();
        for round in 0..ROUNDS {
            assert_eq!(mode(), SHARED | UNREGISTERED, "{round}");
            (0..2).for_each(|at| magazine.put(at, Entry::used(at as u32, false)));
            assert!(magazine.steal().is_some());
            assert_eq!(magazine.take(0), Some(Entry::used(0, false)));
        }
        assert_eq!(calls(), before, "a thief has made the owner swap, which it does anyway");
        assert_eq!(mode() == 0, asymmetric());
        magazine.mode.store(SHARED | UNREGISTERED, Ordering::Relaxed);
        magazine.calm();
        assert_eq!(mode() == 0, asymmetric());
    }

    #[test]
    fn thieves_need_one_barrier_for_a_magazine_and_none_for_an_empty_one() {
        prepare();
        let magazine = Magazine::new();
        let before = calls();
        assert_eq!((magazine.steal(), calls() - before), (None, 0));
        (0..3).for_each(|at| magazine.put(at, Entry::used(at as u32, false)));
        assert!((0..3).all(|_| magazine.steal().is_some()));
        // Without a heavy barrier the owner always swaps.
        assert_eq!(calls() - before, u64::from(asymmetric()));
    }
}
