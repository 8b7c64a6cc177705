//! Where the blocks of a wait list are, and in which of them a waiter is armed: a notifier checks only those blocks,
//! whatever the number of earlier waiters. Any thread; lock-free.
//!
//! The first block is the list's own. Further ones are in *regions* of 64, and the regions in 64 rows. Each block, and
//! each row, has a count of the waiters that are armed in it. A waiter is counted before its armed bit is set, and
//! until that is taken: so a count is never less than the bits, and where it is 0 there is nothing to find. A search
//! passes at most 64 counts of rows, and 64 of blocks where a row has a waiter; a row has a second region only beyond a
//! quarter of a million waiters.
//!
//! Cannot: give memory back. It is as much as the largest number of waiters at once has needed, and lives as long as
//! the list.

use core::ptr;

use super::slots::SlotBlock;
use crate::sync::{AtomicPtr, AtomicU32, Handed, Ordering, array_of};

/// Blocks of a region.
const BLOCKS: usize = if cfg!(ysuite_loom) { 2 } else { 64 };
const ROWS: usize = if cfg!(ysuite_loom) { 2 } else { 64 };

/// All blocks of a list but the first.
pub(super) struct Regions {
    /// The waiters that are armed in the regions of a row, or about to be.
    counts: [AtomicU32; ROWS],
    /// The number of rows that have a region.
    in_use: AtomicU32,
    /// The first region of each row.
    rows: [AtomicPtr<Region>; ROWS],
    made: Handed,
}

/// Contiguous blocks.
pub(super) struct Region {
    /// The waiters that are armed in each block, or about to be.
    counts: [AtomicU32; BLOCKS],
    blocks: [AtomicPtr<SlotBlock>; BLOCKS],
    /// The next region of its row.
    next: AtomicPtr<Region>,
    /// Its place. Regions live as long as the list.
    regions: *const Regions,
    row: usize,
    made: Handed,
}

/// Takes an armed slot of a block.
pub(super) type SlotClaim<'a> = dyn FnMut(&SlotBlock) -> Option<usize> + 'a;

/// Where a block is counted; nowhere, if it is the first.
#[derive(Clone, Copy)]
pub(super) struct BlockPlace {
    region: *const Region,
    block: usize,
}

impl BlockPlace {
    pub(super) const FIRST: Self = Self { region: ptr::null(), block: 0 };

    fn region(&self) -> Option<&Region> {
        // SAFETY: null, or a region of the list, which lives as long as the list.
        unsafe { self.region.as_ref() }
    }

    /// A waiter of the block is about to set its armed bit.
    #[inline]
    pub(super) fn count(&self) {
        if let Some(region) = self.region() {
            // ORDERING: Relaxed twice; the waiter's fence in `WaitList::arm` comes after, and pairs with the notifier's
            // in `WaitList::attend`, as for the armed bit.
            region.row_count().fetch_add(1, Ordering::Relaxed);
            region.counts[self.block].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The armed bit has been taken, or was set already.
    #[inline]
    pub(super) fn uncount(&self) {
        if let Some(region) = self.region() {
            // ORDERING: Relaxed twice; a count that is still too high costs one check.
            region.counts[self.block].fetch_sub(1, Ordering::Relaxed);
            region.row_count().fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Region {
    fn new(regions: &Regions, row: usize) -> Self {
        let region = Self {
            counts: array_of![AtomicU32::new(0); BLOCKS],
            blocks: array_of![AtomicPtr::new(ptr::null_mut()); BLOCKS],
            next: AtomicPtr::new(ptr::null_mut()),
            regions,
            row,
            made: Handed::default(),
        };
        region.made.written();
        region
    }

    fn row_count(&self) -> &AtomicU32 {
        // SAFETY: `Regions` lives as long as the list, and so as long as its regions are used.
        unsafe { &(*self.regions).counts[self.row] }
    }

    /// The first block from `from` on that has an armed waiter, and of which `claim` takes a slot.
    fn find(&self, from: usize, claim: &mut SlotClaim<'_>) -> Option<(&SlotBlock, usize)> {
        self.made.read();
        for at in from..BLOCKS {
            #[cfg(test)]
            super::list::tests::step();
            // ORDERING: Relaxed; the notifier's fence in `WaitList::attend` comes before it: see `BlockPlace::count`.
            if self.counts[at].load(Ordering::Relaxed) == 0 {
                continue;
            }
            // ORDERING: Acquire pairs with the Release exchange in `install`, which hands over the block.
            // SAFETY: null, or a block of the list, which lives as long as the list.
            let Some(block) = (unsafe { self.blocks[at].load(Ordering::Acquire).as_ref() }) else { continue };
            if let Some(index) = claim(block) {
                return Some((block, index));
            }
        }
        None
    }
}

impl Regions {
    pub(super) fn new() -> Self {
        let regions = Self {
            counts: array_of![AtomicU32::new(0); ROWS],
            in_use: AtomicU32::new(0),
            rows: array_of![AtomicPtr::new(ptr::null_mut()); ROWS],
            made: Handed::default(),
        };
        regions.made.written();
        regions
    }

    /// Where the further block of this number is, or is to be, and is counted. Makes its region if necessary.
    pub(super) fn link(&self, number: usize) -> (&AtomicPtr<SlotBlock>, BlockPlace) {
        self.made.read();
        let (number, block) = (number / BLOCKS, number % BLOCKS);
        let row = number % ROWS;
        let make = || Region::new(self, row);
        let mut region = install(&self.rows[row], make).0;
        for _ in 0..number / ROWS {
            region = install(&region.next, make).0;
        }
        region.made.read();
        // ORDERING: Relaxed; it comes before the block is handed over, and so before a waiter is armed in it: see
        // `BlockPlace::count`.
        self.in_use.fetch_max(row as u32 + 1, Ordering::Relaxed);
        (&region.blocks[block], BlockPlace { region, block })
    }

    /// The first block, after this one or among all, that has an armed waiter, and of which `claim` takes a slot. The
    /// order is that of rows, and of regions in a row.
    pub(super) fn find(&self, behind: &BlockPlace, claim: &mut SlotClaim<'_>) -> Option<(&SlotBlock, usize)> {
        self.made.read();
        let mut from = 0;
        // SAFETY: null, or a region of the list, which lives as long as the list.
        if let Some(region) = unsafe { behind.region.as_ref() } {
            let mut found = region.find(behind.block + 1, claim);
            if found.is_none() {
                found = Self::find_in_row(&region.next, claim);
            }
            if found.is_some() {
                return found;
            }
            from = region.row + 1;
        }
        // ORDERING: Relaxed; see `link`.
        for row in from..self.in_use.load(Ordering::Relaxed) as usize {
            #[cfg(test)]
            super::list::tests::step();
            // ORDERING: Relaxed; the notifier's fence in `WaitList::attend` comes before it: see `BlockPlace::count`.
            if self.counts[row].load(Ordering::Relaxed) != 0 {
                let found = Self::find_in_row(&self.rows[row], claim);
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    fn find_in_row<'a>(first: &'a AtomicPtr<Region>, claim: &mut SlotClaim<'_>) -> Option<(&'a SlotBlock, usize)> {
        // ORDERING: Acquire, here and below, pairs with the Release exchange in `install`, which hands over the region.
        let mut at = first.load(Ordering::Acquire);
        // SAFETY: null, or a region of this list, which lives as long as the list.
        while let Some(region) = unsafe { at.as_ref() } {
            let found = region.find(0, claim);
            if found.is_some() {
                return found;
            }
            at = region.next.load(Ordering::Acquire);
        }
        None
    }
}

// USER CODE: wakers that are left in slots, as of `Drop` of `WaitList`
impl Drop for Regions {
    fn drop(&mut self) {
        for row in &self.rows {
            // ORDERING: Relaxed, here and below; the list is dropped by the last thread that has access to it.
            let mut at = row.load(Ordering::Relaxed);
            while !at.is_null() {
                // SAFETY: made by `Box::into_raw` in `install`, and freed here only, once.
                let region = unsafe { Box::from_raw(at) };
                for block in &region.blocks {
                    let block = block.load(Ordering::Relaxed);
                    if !block.is_null() {
                        // SAFETY: as above.
                        drop(unsafe { Box::from_raw(block) });
                    }
                }
                at = region.next.load(Ordering::Relaxed);
            }
        }
    }
}

/// What is at a link, and whether this thread has made it: no other has been there before.
pub(super) fn install<T>(link: &AtomicPtr<T>, make: impl FnOnce() -> T) -> (&T, bool) {
    // ORDERING: Acquire pairs with the Release exchange below, which hands it over.
    let known = link.load(Ordering::Acquire);
    // SAFETY: null, or what was installed here, which lives as long as the list.
    if let Some(known) = unsafe { known.as_ref() } {
        return (known, false);
    }
    let fresh = Box::into_raw(Box::new(make()));
    // ORDERING: Release hands it to every thread that loads this link with Acquire. Acquire on failure pairs with that
    // Release by the thread that was first.
    match link.compare_exchange(ptr::null_mut(), fresh, Ordering::Release, Ordering::Acquire) {
        // SAFETY: allocated above, and freed only with the list.
        Ok(_) => (unsafe { &*fresh }, true),
        Err(first) => {
            // SAFETY: `fresh` was allocated above and never shared; `first` is installed, and lives as long as the
            // list.
            unsafe {
                drop(Box::from_raw(fresh));
                (&*first, false)
            }
        }
    }
}
