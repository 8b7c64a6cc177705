//! A group: magazines whose bits share a line, and the banks that groups lie in.
//!
//! Any thread; lock-free. Banks are made once and stay as long as the depot; the first has room for all blocks.

use core::ptr;

use crossbeam_utils::CachePadded;

use super::magazine::{Entry, Magazine};
use super::marks::Marks;
use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Magazines of a group.
pub(super) const GROUP: usize = if cfg!(ysuite_loom) { 3 } else { 32 };
const ALL: u32 = ((1_u64 << GROUP) - 1) as u32;
/// In [`GroupBits::offered`], above the bits of those that may be adopted: those of them that have room.
const ROOMY: usize = 32;

pub(super) struct MagazineGroup {
    bits: CachePadded<GroupBits>,
    pub(super) magazines: [Magazine; GROUP],
}

struct GroupBits {
    /// Somebody's, or the depot's. The others are free, and empty.
    claimed: AtomicU32,
    /// In the depot; and, [`ROOMY`] bits further up, with room on top.
    offered: AtomicU64,
}

impl MagazineGroup {
    fn new() -> Self {
        let bits = CachePadded::new(GroupBits { claimed: AtomicU32::new(0), offered: AtomicU64::new(0) });
        Self { bits, magazines: core::array::from_fn(|_| Magazine::new()) }
    }

    fn claim(&self) -> Option<usize> {
        // ORDERING: Relaxed; the read-modify-write decides.
        let mut claimed = self.bits.claimed.load(Ordering::Relaxed);
        while (claimed.trailing_ones() as usize) < GROUP {
            let index = claimed.trailing_ones() as usize;
            // ORDERING: Acquire pairs with the Release in `release`: its last owner has left it empty.
            claimed = self.bits.claimed.fetch_or(1 << index, Ordering::Acquire);
            if claimed & (1 << index) == 0 {
                return Some(index);
            }
        }
        None
    }

    /// Takes over a magazine that has been offered; where `above` is [`ROOMY`], one with room.
    fn adopt(&self, above: usize) -> Option<usize> {
        // ORDERING: Relaxed; the read-modify-write decides.
        let mut offered = self.bits.offered.load(Ordering::Relaxed);
        loop {
            let wanted = (offered >> above) as u32;
            if wanted == 0 {
                return None;
            }
            let index = wanted.trailing_zeros() as usize;
            let both = (1_u64 << index) | (1_u64 << (index + ROOMY));
            // ORDERING: Acquire pairs with the Release in `offer`: its last owner puts no more in.
            offered = self.bits.offered.fetch_and(!both, Ordering::Acquire);
            if offered & (1 << index) != 0 {
                return Some(index);
            }
        }
    }

    /// Whether a magazine is free.
    fn has_free(&self) -> bool {
        // ORDERING: Relaxed here and in the next two; what depends on it has a fence, see `Marks`.
        self.bits.claimed.load(Ordering::Relaxed) != ALL
    }

    /// Whether a magazine is somebody's, or the depot's.
    fn has_claimed(&self) -> bool {
        self.bits.claimed.load(Ordering::Relaxed) != 0
    }

    fn has_roomy(&self) -> bool {
        self.bits.offered.load(Ordering::Relaxed) >> ROOMY != 0
    }

    /// All magazines that may have blocks in.
    fn claimed(&self) -> impl Iterator<Item = &Magazine> {
        // ORDERING: Acquire: who finds a magazine in hand sees it as it was claimed. Relaxed would do, since what is
        // taken out is acquired by itself.
        let claimed = self.bits.claimed.load(Ordering::Acquire);
        self.magazines.iter().enumerate().filter(move |(index, _)| claimed & (1 << index) != 0).map(|(_, one)| one)
    }

    /// The first `magazines` of it have blocks in. Before anybody is shown it.
    pub(super) fn fill(&self, magazines: usize) {
        let all = (1_u64 << GROUP.min(magazines)) - 1;
        // ORDERING: Relaxed twice; whoever is shown the depot has synchronised with this thread.
        self.bits.claimed.store(all as u32, Ordering::Relaxed);
        self.bits.offered.store(all, Ordering::Relaxed);
    }
}

/// A magazine in the hands of this thread. A name only: whoever holds it sees that it is given back.
#[derive(Clone, Copy)]
pub(super) struct Held {
    bank: *const Bank,
    /// Which of the bank's.
    index: usize,
}

impl Held {
    fn bank<'a>(self) -> &'a Bank {
        // SAFETY: banks live as long as their depot; a holder keeps that alive.
        unsafe { &*self.bank }
    }

    fn group<'a>(self) -> &'a MagazineGroup {
        &self.bank().groups[self.index / GROUP]
    }

    /// It is valid as long as the depot is.
    pub(super) fn magazine<'a>(self) -> &'a Magazine {
        &self.group().magazines[self.index % GROUP]
    }

    /// Gives it to the depot, with the blocks that are in. All slots from `top` on are empty, of `rounds` that are used.
    pub(super) fn offer(self, top: usize, rounds: usize) {
        self.magazine().leave(top);
        let (bit, roomy) = (1_u64 << (self.index % GROUP), top < rounds);
        let bits = if roomy { bit | bit << ROOMY } else { bit };
        // ORDERING: Release pairs with the Acquire in `adopt`.
        self.group().bits.offered.fetch_or(bits, Ordering::Release);
        if roomy {
            self.bank().roomy.add(self.index / GROUP);
        }
    }

    /// Gives it back. It must be empty.
    pub(super) fn release(self) {
        debug_assert!(self.magazine().len() == 0);
        // ORDERING: Release pairs with the Acquire in `claim`.
        self.group().bits.claimed.fetch_and(!(1 << (self.index % GROUP)), Ordering::Release);
        self.bank().free.add(self.index / GROUP);
    }
}

/// Groups that are made together, and where to look among them.
pub(super) struct Bank {
    pub(super) groups: Box<[MagazineGroup]>,
    /// Groups with magazines that are somebody's, or the depot's: where blocks may be.
    claimed: Marks,
    /// Groups with magazines that are nobody's.
    free: Marks,
    /// Groups with magazines that are the depot's, and have room.
    roomy: Marks,
    next: AtomicPtr<Bank>,
}

impl Bank {
    /// Of so many groups. `used`: they are about to be filled.
    pub(super) fn new(groups: usize, used: bool) -> Self {
        Self {
            groups: (0..groups).map(|_| MagazineGroup::new()).collect(),
            claimed: Marks::new(groups, used),
            free: Marks::new(groups, true),
            roomy: Marks::new(groups, false),
            next: AtomicPtr::new(ptr::null_mut()),
        }
    }

    fn held(&self, group: usize, index: usize) -> Held {
        Held { bank: self, index: group * GROUP + index }
    }

    pub(super) fn claim(&self) -> Option<Held> {
        self.free.iter().find_map(|at| {
            let group = &self.groups[at];
            match group.claim() {
                Some(index) => {
                    // Before it has blocks in.
                    self.claimed.add(at);
                    Some(self.held(at, index))
                }
                None => {
                    self.free.doubt(at, || group.has_free());
                    None
                }
            }
        })
    }

    pub(super) fn adopt(&self) -> Option<Held> {
        self.claimed.iter().find_map(|at| {
            let group = &self.groups[at];
            let found = group.adopt(0);
            if found.is_none() && !group.has_claimed() {
                self.claimed.doubt(at, || group.has_claimed());
            }
            found.map(|index| self.held(at, index))
        })
    }

    pub(super) fn adopt_roomy(&self) -> Option<Held> {
        self.roomy.iter().find_map(|at| {
            let group = &self.groups[at];
            let found = group.adopt(ROOMY);
            if found.is_none() {
                self.roomy.doubt(at, || group.has_roomy());
            }
            found.map(|index| self.held(at, index))
        })
    }

    pub(super) fn steal(&self) -> Option<Entry> {
        self.in_use().find_map(Magazine::steal)
    }

    /// All magazines that may have blocks in.
    pub(super) fn in_use(&self) -> impl Iterator<Item = &Magazine> {
        self.claimed.iter().flat_map(|at| self.groups[at].claimed())
    }

    pub(super) fn next(&self) -> Option<&Self> {
        // ORDERING: Acquire pairs with the Release in `extend`.
        let next = self.next.load(Ordering::Acquire);
        // SAFETY: made by `Box::into_raw`, and it lives as long as this one.
        unsafe { next.as_ref() }
    }

    /// The next bank, made where there is none: of one group.
    #[cold]
    pub(super) fn extend(&self) -> &Self {
        if self.next().is_none() {
            let fresh = Box::into_raw(Box::new(Self::new(1, false)));
            let null = ptr::null_mut();
            // ORDERING: Release pairs with the Acquire in `next`. Relaxed on failure: `next` acquires.
            if self.next.compare_exchange(null, fresh, Ordering::Release, Ordering::Relaxed).is_err() {
                // SAFETY: made above, and shown to nobody.
                drop(unsafe { Box::from_raw(fresh) });
            }
        }
        self.next().expect("made just now")
    }

    /// How many groups one that looks for a block has to look at, and how many magazines have been offered.
    #[cfg(all(test, not(ysuite_loom)))]
    pub(super) fn tally(&self) -> (usize, usize) {
        // ORDERING: Relaxed; a count.
        let offered = |group: &MagazineGroup| (group.bits.offered.load(Ordering::Relaxed) as u32).count_ones() as usize;
        (self.claimed.iter().count(), self.groups.iter().map(offered).sum())
    }
}

impl Drop for Bank {
    fn drop(&mut self) {
        // One after the other: there may be too many to nest.
        // ORDERING: Relaxed throughout; whoever drops this has synchronised with the others.
        let mut at = self.next.swap(ptr::null_mut(), Ordering::Relaxed);
        while !at.is_null() {
            // SAFETY: made by `Box::into_raw`, and nobody else is left.
            let bank = unsafe { Box::from_raw(at) };
            at = bank.next.swap(ptr::null_mut(), Ordering::Relaxed);
        }
    }
}
