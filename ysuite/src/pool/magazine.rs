//! A magazine: free blocks of one class, as many as a thread keeps at hand. The fast path of the whole pool is here.
//!
//! Every free block of a pool stands in exactly one slot of one magazine, as an [`Entry`]. Only the magazine's owner, one
//! thread at a time, puts entries in; any thread may take them out, so that no free block is out of anybody's reach. All is
//! wait-free, and nobody waits for an owner that has been preempted.
//!
//! An owner takes with plain loads and stores as long as nobody else does: a read-modify-write would wait until all that
//! was written into the last message has reached the caches. A thief makes the owner use swaps instead, as it does itself:
//!
//! | owner | thief |
//! |---|---|
//! | `taking` = slot; `light()` | `mode` + 1; `heavy()`, once until the magazine is [`calm`](Magazine::calm) again |
//! | `mode` is 0: load, store 0; else swap | swap all slots but the one that is in `taking` |
//!
//! Either the owner sees the thief and swaps, or the thief sees which slot the owner is at, which is as good as taken. Where
//! there is no heavy barrier everybody swaps, always.
//!
//! Sources: magazines are Bonwick and Adams's (*Magazines and Vmem*, 2001), but theirs belong to their thread alone.

// Counted by owners: not the façade's, a model need not explore it.
use core::sync::atomic::{AtomicU32 as PlainU32, AtomicU64};

use crate::os::{asymmetric, heavy, light};
use crate::sync::{AtomicU32, Ordering};

/// Slots of a magazine. A class with few blocks uses fewer of them.
pub(super) const ROUNDS: usize = if cfg!(ysuite_loom) { 2 } else { 64 };

/// A free block, as it stands in a slot: its index, and what is known of its contents. Never 0, which is an empty slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry(u32);

impl Entry {
    /// The most blocks that can be told apart.
    pub(super) const MOST: usize = (1 << 30) - 1;
    /// Never used: its bytes are 0.
    const FRESH: u32 = 1 << 31;
    /// Its last value was not made of bytes: some of them may be uninitialised.
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

/// In [`Magazine::mode`]: everybody swaps, and every owner knows. Below it thieves at work are counted.
const SHARED: u32 = 1 << 31;

#[repr(C, align(64))]
pub(super) struct Magazine {
    /// 0: the owner need not swap.
    mode: AtomicU32,
    /// The slot the owner is taking from, and 1; or 0. Written by the owner.
    taking: AtomicU32,
    /// Blocks that its owners have put in, and other threads had taken from the pool. Written by the owner.
    elsewhere: AtomicU64,
    /// While it is in the depot: all slots from here on are empty. Written by its last owner.
    left: PlainU32,
    /// Entries, or 0. The owner has all that are behind its top empty.
    slots: Slots,
}

/// In lines of their own: thieves look here for what there is.
#[repr(C, align(64))]
struct Slots([AtomicU32; ROUNDS]);

impl Magazine {
    pub(super) fn new() -> Self {
        Self {
            mode: AtomicU32::new(if asymmetric() { 0 } else { SHARED }),
            taking: AtomicU32::new(0),
            elsewhere: AtomicU64::new(0),
            left: PlainU32::new(0),
            slots: Slots(core::array::from_fn(|_| AtomicU32::new(0))),
        }
    }

    /// Owner: puts an entry into an empty slot.
    #[inline(always)]
    pub(super) fn put(&self, at: usize, entry: Entry) {
        if cfg!(ysuite_loom) {
            // The model checker has a weaker notion of the order of plain stores against swaps than the language: a store
            // may be lost to a swap that was before it.
            // ORDERING: as below.
            self.slots.0[at].swap(entry.0, Ordering::Release);
            return;
        }
        // ORDERING: Release pairs with the Acquire in `swap` and in `take`: the last owner of the block is done with it.
        self.slots.0[at].store(entry.0, Ordering::Release);
    }

    /// Owner: takes what is in a slot, if anything is.
    #[inline(always)]
    pub(super) fn take(&self, at: usize) -> Option<Entry> {
        let slot = &self.slots.0[at];
        // ORDERING: Relaxed; nobody else puts anything in.
        if slot.load(Ordering::Relaxed) == 0 {
            return None;
        }
        // ORDERING: Relaxed; `light()` pairs with the `heavy()` in `steal`: either this is seen there, or `mode` here.
        self.taking.store(at as u32 + 1, Ordering::Relaxed);
        light();
        // ORDERING: Acquire pairs with the Release in `steal`: what thieves that are gone have taken is not seen again.
        let entry = if self.mode.load(Ordering::Acquire) == 0 {
            // ORDERING: Relaxed twice. What is here was put by this thread, or came with the magazine; see `Depot`.
            let entry = slot.load(Ordering::Relaxed);
            slot.store(0, Ordering::Relaxed);
            entry
        } else {
            // ORDERING: Acquire, as in `steal`.
            slot.swap(0, Ordering::Acquire)
        };
        // ORDERING: Release pairs with the Acquire in `steal`: the slot is seen empty.
        self.taking.store(0, Ordering::Release);
        (entry != 0).then_some(Entry(entry))
    }

    /// Any thread: takes an entry, but for one that the owner is taking.
    pub(super) fn steal(&self) -> Option<Entry> {
        if self.len() == 0 {
            return None;
        }
        // ORDERING: AcqRel: Acquire of what `SHARED` stands for, the barrier of whoever has set it.
        if self.mode.fetch_add(1, Ordering::AcqRel) & SHARED == 0 {
            // Pairs with `light()` in `take`.
            heavy();
            // ORDERING: Release hands the barrier on.
            self.mode.fetch_or(SHARED, Ordering::AcqRel);
        }
        // ORDERING: Acquire pairs with the Release in `take`.
        let taking = self.taking.load(Ordering::Acquire) as usize;
        let stolen = (0..ROUNDS).rev().filter(|at| at + 1 != taking).find_map(|at| self.swap(at));
        // ORDERING: Release pairs with the Acquire in `take` and in `calm`.
        self.mode.fetch_sub(1, Ordering::AcqRel);
        stolen
    }

    /// Owner, before it takes anything: nobody has stolen lately, so it need not swap.
    pub(super) fn calm(&self) {
        // Fails where a thief is at work.
        // ORDERING: Relaxed; the exchange decides. Acquire pairs with the Release in `steal`.
        if self.mode.load(Ordering::Relaxed) == SHARED && asymmetric() {
            let _ = self.mode.compare_exchange(SHARED, 0, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// Takes what is in a slot, by a swap.
    fn swap(&self, at: usize) -> Option<Entry> {
        // ORDERING: Relaxed; the swap decides. Then Acquire pairs with the Release in `put`.
        if self.slots.0[at].load(Ordering::Relaxed) == 0 {
            return None;
        }
        let entry = self.slots.0[at].swap(0, Ordering::Acquire);
        (entry != 0).then_some(Entry(entry))
    }

    /// Takes all entries, and counts them. To be called only when no owner takes any more.
    pub(super) fn drain(&self) -> usize {
        (0..ROUNDS).filter(|at| self.swap(*at).is_some()).count()
    }

    /// Any thread: what is in a slot right now. It may be somebody else's before it is used: a hint.
    #[inline(always)]
    pub(super) fn peek(&self, at: usize) -> Option<Entry> {
        // ORDERING: Relaxed; a hint.
        let entry = self.slots.0[at].load(Ordering::Relaxed);
        (entry != 0).then_some(Entry(entry))
    }

    /// How many entries are in. For the owner an answer of 0 is the truth until it puts one in.
    pub(super) fn len(&self) -> usize {
        // ORDERING: Relaxed, a count. Who acts on it, the owner, has put in all that it can miss.
        self.slots.0.iter().filter(|slot| slot.load(Ordering::Relaxed) != 0).count()
    }

    /// Owner: all slots from here on are empty, and stay so until it puts something in.
    pub(super) fn top(&self) -> usize {
        // ORDERING: Relaxed; what is in was put by this thread, or came with the magazine. Others only take.
        self.slots.0.iter().rposition(|slot| slot.load(Ordering::Relaxed) != 0).map_or(0, |at| at + 1)
    }

    /// Owner, before it leaves the magazine to others: all slots from here on are empty.
    pub(super) fn leave(&self, top: usize) {
        // ORDERING: Relaxed here and below; one owner at a time, who acquired the magazine from the one before.
        self.left.store(top as u32, Ordering::Relaxed);
    }

    /// Owner of a magazine that has just been adopted: where its last owner has left it.
    pub(super) fn left(&self) -> usize {
        self.left.load(Ordering::Relaxed) as usize
    }

    /// Owner: the block just put in had been taken by another thread.
    #[inline(always)]
    pub(super) fn count_elsewhere(&self) {
        // ORDERING: Relaxed twice; one owner at a time, who acquired the magazine from the one before.
        self.elsewhere.store(self.elsewhere.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    pub(super) fn elsewhere(&self) -> u64 {
        // ORDERING: Relaxed; a count.
        self.elsewhere.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{Entry, Magazine, SHARED};
    use crate::os::asymmetric;
    use crate::sync::Ordering;

    #[test]
    fn a_magazine_is_calmed_when_no_thief_is_at_work() {
        let magazine = Magazine::new();
        let mode = || magazine.mode.load(Ordering::Relaxed);
        magazine.put(0, Entry::used(1, false));
        magazine.put(2, Entry::used(2, false));
        assert_eq!(magazine.top(), 3);
        assert!(magazine.steal().is_some());
        assert_eq!((mode(), magazine.top()), (SHARED, 1));
        // A thief that is preempted at its work.
        magazine.mode.fetch_add(1, Ordering::Relaxed);
        magazine.calm();
        assert_eq!(mode(), SHARED + 1);
        magazine.mode.fetch_sub(1, Ordering::Relaxed);
        magazine.calm();
        // Without a barrier for others everybody swaps, always.
        assert_eq!(mode(), if asymmetric() { 0 } else { SHARED });
        assert_eq!(magazine.take(0), Some(Entry::used(1, false)));
        assert_eq!((magazine.take(0), magazine.top()), (None, 0));
    }
}
