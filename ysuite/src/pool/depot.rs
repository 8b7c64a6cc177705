//! The depot: all magazines of a class, and in whose hands they are.
//!
//! | a magazine is | bits | who may put blocks in |
//! |---|---|---|
//! | free, and empty | – | nobody |
//! | in hand | `claimed` | the thread that claimed or adopted it |
//! | in the depot | `claimed`, `full` | nobody, until a thread adopts it |
//!
//! A thread whose magazine is full *offers* it and *claims* an empty one; a thread whose magazine is empty *adopts* a full
//! one and *releases* its own. Blocks may be taken out of any claimed magazine, in hand or not. Any thread; lock-free,
//! and bounded by the number of magazines but for lost races. There are no links between magazines: nothing can be
//! mistaken for what it was before (no ABA).
//!
//! The least number is preferred everywhere, and those with the blocks never used have the highest. So the magazines that
//! go to and fro are few, and the memory behind them stays in the caches.

use core::ptr;

use crossbeam_utils::CachePadded;

use super::magazine::{Entry, Magazine, ROUNDS};
use crate::queue::Growing;
use crate::sync::{AtomicU32, Ordering};

/// Magazines whose bits share a line.
const GROUP: usize = if cfg!(ysuite_loom) { 3 } else { 32 };
/// Of a small class a magazine holds one part in so many, so that several threads have some.
const SHARE: usize = if cfg!(ysuite_loom) { 2 } else { 8 };

pub(super) struct Group {
    bits: CachePadded<Bits>,
    magazines: [Magazine; GROUP],
}

struct Bits {
    /// Somebody's, or the depot's. The others are free, and empty.
    claimed: AtomicU32,
    /// In the depot.
    full: AtomicU32,
}

/// A magazine in the hands of this thread. A name only: whoever holds it sees that it is given back.
#[derive(Clone, Copy)]
pub(super) struct Held {
    group: *const Group,
    index: usize,
}

pub(super) struct Depot {
    groups: Growing<Group>,
    /// Slots that are used of each magazine.
    rounds: usize,
}

impl Group {
    fn new() -> Self {
        let bits = CachePadded::new(Bits { claimed: AtomicU32::new(0), full: AtomicU32::new(0) });
        Self { bits, magazines: core::array::from_fn(|_| Magazine::new()) }
    }

    fn held(&self, index: usize) -> Held {
        Held { group: self, index }
    }

    fn claim(&self) -> Option<Held> {
        // ORDERING: Relaxed; the read-modify-write decides.
        let mut claimed = self.bits.claimed.load(Ordering::Relaxed);
        while (claimed.trailing_ones() as usize) < GROUP {
            let index = claimed.trailing_ones() as usize;
            // ORDERING: Acquire pairs with the Release in `release`: its last owner has left it empty.
            claimed = self.bits.claimed.fetch_or(1 << index, Ordering::Acquire);
            if claimed & (1 << index) == 0 {
                return Some(self.held(index));
            }
        }
        None
    }

    fn adopt(&self) -> Option<Held> {
        // ORDERING: Relaxed; the read-modify-write decides.
        let mut full = self.bits.full.load(Ordering::Relaxed);
        while full != 0 {
            let index = full.trailing_zeros() as usize;
            // ORDERING: Acquire pairs with the Release in `offer`: its last owner puts no more in.
            full = self.bits.full.fetch_and(!(1 << index), Ordering::Acquire);
            if full & (1 << index) != 0 {
                return Some(self.held(index));
            }
        }
        None
    }

    /// All magazines that may have blocks in.
    fn claimed(&self) -> impl Iterator<Item = &Magazine> {
        // ORDERING: Acquire: who finds a magazine in hand sees it as it was claimed. Relaxed would do, since what is
        // taken out is acquired by itself.
        let claimed = self.bits.claimed.load(Ordering::Acquire);
        self.magazines.iter().enumerate().filter(move |(index, _)| claimed & (1 << index) != 0).map(|(_, one)| one)
    }
}

impl Held {
    /// For a seat that has none.
    pub(super) const NONE: Self = Self { group: ptr::null(), index: 0 };

    fn group(&self) -> &Group {
        // SAFETY: groups live as long as their depot; a holder keeps that alive.
        unsafe { &*self.group }
    }

    /// Where the magazine is.
    pub(super) fn magazine(&self) -> *const Magazine {
        &raw const self.group().magazines[self.index]
    }

    /// Gives it to the depot, with the blocks that are in.
    pub(super) fn offer(self) {
        // ORDERING: Release pairs with the Acquire in `adopt`.
        self.group().bits.full.fetch_or(1 << self.index, Ordering::Release);
    }

    /// Gives it back. It must be empty.
    pub(super) fn release(self) {
        debug_assert!(self.group().magazines[self.index].len() == 0);
        // ORDERING: Release pairs with the Acquire in `claim`.
        self.group().bits.claimed.fetch_and(!(1 << self.index), Ordering::Release);
    }
}

impl Depot {
    /// A depot with so many blocks, none ever used.
    pub(super) fn new(blocks: usize) -> Self {
        let rounds = (blocks / SHARE).clamp(1, ROUNDS);
        let full = blocks.div_ceil(rounds);
        // The first group is for threads to work with.
        let groups = Growing::new(1 + full.div_ceil(GROUP));
        groups.get_or_make(0, Group::new);
        for first in (0..full).step_by(GROUP) {
            let group: &Group = groups.get_or_make(1 + first / GROUP, Group::new);
            for (index, magazine) in group.magazines.iter().enumerate().take(full - first) {
                let blocks = (first + index) * rounds..blocks.min((first + index + 1) * rounds);
                blocks.rev().enumerate().for_each(|(at, block)| magazine.put(at, Entry::fresh(block)));
            }
            let all = ((1_u64 << GROUP.min(full - first)) - 1) as u32;
            // ORDERING: Relaxed twice; whoever is shown the depot has synchronised with this thread.
            group.bits.claimed.store(all, Ordering::Relaxed);
            group.bits.full.store(all, Ordering::Relaxed);
        }
        Self { groups, rounds }
    }

    /// How many blocks a magazine is filled with.
    #[inline(always)]
    pub(super) fn rounds(&self) -> usize {
        self.rounds
    }

    fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().map(|(_, group)| group)
    }

    /// Takes an empty magazine, for blocks to be put in. Allocates more of them where all are in use.
    pub(super) fn claim(&self) -> Held {
        loop {
            if let Some(held) = self.groups().find_map(Group::claim) {
                return held;
            }
            let more = self.groups().count();
            // A magazine in use belongs to a thread, or has a block in: there are not so many of either.
            assert!(more < Growing::<Group>::most(1), "more magazines than there can be threads");
            self.groups.get_or_make(more, Group::new);
        }
    }

    /// Takes a magazine that may have blocks in.
    pub(super) fn adopt(&self) -> Option<Held> {
        self.groups().find_map(Group::adopt)
    }

    /// Takes one block, wherever it lies.
    pub(super) fn steal(&self) -> Option<Entry> {
        self.groups().find_map(|group| group.claimed().find_map(Magazine::steal))
    }

    /// Takes all blocks there are, and counts them. To be called only when nobody takes any more.
    pub(super) fn drain(&self) -> usize {
        self.groups().flat_map(Group::claimed).map(Magazine::drain).sum()
    }

    /// How many blocks are free. While others take and give back it may be out of date.
    pub(super) fn len(&self) -> usize {
        self.groups().flat_map(Group::claimed).map(Magazine::len).sum()
    }

    /// How many blocks have been given back by another thread than had taken them.
    pub(super) fn elsewhere(&self) -> u64 {
        self.groups().flat_map(|group| &group.magazines).map(Magazine::elsewhere).sum()
    }
}
