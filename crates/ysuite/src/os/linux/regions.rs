//! Blocks of some tens of KiB, cut out of *regions*: maps of up to [`SPAN`] bytes with as many blocks of one size as
//! fit. So a process has one map for some thirty blocks, where it may have 65,530 maps in all (`vm.max_map_count`).
//! When a block is given back, its pages go to the kernel at once and its addresses stay in the region. A region whose
//! blocks are all free is unmapped as a whole, except one of each size.
//!
//! Any thread, also in a forked child: no lock is held across a fork. Lock-free except for the kernel, and for the
//! allocator where a size gets its 16th region, its 48th and so on. A thread that was stopped while it made or unmade a
//! region keeps that one from others, and no other. A block takes one system call when it is taken and one when it is
//! given back; a region has four calls in its life.
//!
//! Nothing is lost where the kernel refuses: a region that cannot be unmapped keeps its addresses, has no pages, and is
//! used again. Where pages cannot be given back (a kernel before 5.18 whose caller has locked them by `mlock`; a
//! sandbox without `madvise`) the block keeps them, and is cleared and used again.
//!
//! Cannot: give a block more alignment than a page has.

use core::alloc::Layout;
use core::ffi::c_int;
use core::ptr::{self, NonNull};

use super::pages::{give_pages_back, populate};
use super::sys::{self, MAP_FIXED, MAP_POPULATE, PROT_NONE, PROT_READ_WRITE};
use crate::os::count_call;
use crate::sync::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// The alignment of a region, and the most bytes that it has.
const SPAN: usize = 2 << 20;
/// The smallest block of a region, and the largest: at least seven are in a region.
const LEAST: usize = 36 * 1024;
pub(super) const MOST: usize = 256 * 1024;
/// Sizes of blocks are multiples of this at least.
const GRAIN: usize = super::pages::PAGE;
/// The number of sizes.
const SIZES: usize = (MOST - LEAST) / GRAIN + 1;

/// Regions in the first piece of a size's table; each further piece has twice the number of the one before.
const FIRST: usize = 16;
/// How many further pieces there may be: of the smallest blocks they are for 2 TiB.
const PIECES: usize = 16;

/// In a region's word: a thread is about to make or unmake it, or to take the first of its blocks.
const BUSY: u64 = 1 << 63;

/// The state of a region. Never freed: a thread may read it at any time.
struct PageRegion {
    /// A bit for each block that is in use, or `BUSY`.
    used: AtomicU64,
    /// A bit for each block whose addresses are mapped for reading and writing. Changed by the block's owner.
    ready: AtomicU64,
    /// Where the region is; null where there is none. Changed by the thread that has set `BUSY`.
    base: AtomicPtr<u8>,
}

impl PageRegion {
    const fn none() -> Self {
        Self { used: AtomicU64::new(0), ready: AtomicU64::new(0), base: AtomicPtr::new(ptr::null_mut()) }
    }

    fn is_there(&self) -> bool {
        // ORDERING: Relaxed; a guess, or the word's owner, which has acquired the word.
        !self.base.load(Ordering::Relaxed).is_null()
    }
}

/// All regions of blocks of one size.
struct Size {
    first: [PageRegion; FIRST],
    /// The further pieces of the table; null until they are needed.
    further: [AtomicPtr<PageRegion>; PIECES],
    /// No region before this one is known to have a free block. A hint.
    from: AtomicUsize,
    /// How many regions of the table have been there ever.
    made: AtomicUsize,
    /// The number of regions whose blocks are all free.
    spare: AtomicUsize,
}

impl Size {
    const fn none() -> Self {
        Self {
            first: [const { PageRegion::none() }; FIRST],
            further: [const { AtomicPtr::new(ptr::null_mut()) }; PIECES],
            from: AtomicUsize::new(0),
            made: AtomicUsize::new(0),
            spare: AtomicUsize::new(0),
        }
    }
}

static ALL: [Size; SIZES] = [const { Size::none() }; SIZES];

/// A block's size: the regions it is from, and how many bytes each has there.
#[derive(Clone, Copy)]
struct Kind {
    size: &'static Size,
    bytes: usize,
    /// The kernel's page.
    page: usize,
}

impl Kind {
    fn of(layout: Layout) -> Self {
        let page = sys::page_size();
        let bytes = layout.size().max(LEAST).next_multiple_of(page);
        Self { size: &ALL[(bytes - LEAST) / GRAIN], bytes, page }
    }

    /// The number of blocks of a region. Its first page says where in the table it is.
    fn blocks(self) -> usize {
        (SPAN - self.page) / self.bytes
    }

    /// The number of bytes of a region.
    fn span(self) -> usize {
        self.page + self.blocks() * self.bytes
    }

    /// The word of a region whose blocks are all in use.
    fn full(self) -> u64 {
        (1 << self.blocks()) - 1
    }

    /// The region of that index; `None` where there can be none, or no memory for the table.
    #[inline]
    fn region(self, index: usize) -> Option<&'static PageRegion> {
        self.size.first.get(index).or_else(|| self.further(index))
    }

    /// As [`region`](Self::region), in a further piece of the table.
    #[cold]
    #[inline(never)]
    fn further(self, index: usize) -> Option<&'static PageRegion> {
        let piece = (index / FIRST + 1).ilog2() as usize;
        let (before, regions) = (FIRST * ((1 << piece) - 1), FIRST << piece);
        let place = self.size.further.get(piece - 1)?;
        // ORDERING: Acquire pairs with the Release below: the piece is cleared.
        let mut table = place.load(Ordering::Acquire);
        if table.is_null() {
            let layout = Layout::array::<PageRegion>(regions).ok()?;
            // SAFETY: the layout is not empty.
            let fresh = unsafe { std::alloc::alloc_zeroed(layout) }.cast::<PageRegion>();
            if fresh.is_null() {
                return None;
            }
            // ORDERING: Release pairs with the Acquire above and on failure.
            table = match place.compare_exchange(table, fresh, Ordering::Release, Ordering::Acquire) {
                Ok(_) => fresh,
                Err(theirs) => {
                    // SAFETY: allocated just now with this layout; no other thread knows it.
                    unsafe { std::alloc::dealloc(fresh.cast(), layout) };
                    theirs
                }
            };
        }
        // SAFETY: the piece has `regions` regions, zeros are regions that are not there, and it is never freed.
        Some(unsafe { &*table.add(index - before) })
    }

    /// Takes a free block: of a region that is there, or where there is none of a new one.
    fn take(self) -> Option<(&'static PageRegion, usize)> {
        // ORDERING: Relaxed, here and for all of these numbers: they only decide where to search.
        let from = self.size.from.load(Ordering::Relaxed);
        // Once more from the first before one is made: the hint may have been moved beyond a block that was given back
        // meanwhile.
        for first in [from, 0] {
            for index in first..self.size.made.load(Ordering::Relaxed) {
                let region = self.region(index)?;
                if let Some(block) = self.take_of(region) {
                    // Where another thread has changed it, a block before this one may be free.
                    let _ = self.size.from.compare_exchange(from, index, Ordering::Relaxed, Ordering::Relaxed);
                    return Some((region, block));
                }
            }
        }
        let mut index = 0;
        loop {
            let region = self.region(index)?;
            // ORDERING: Acquire pairs with the Release of the thread that has left the region last.
            if !region.is_there() && region.used.compare_exchange(0, BUSY, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return self.make(region, index);
            }
            index += 1;
        }
    }

    /// Takes a free block of this region, if it is there and has one.
    #[inline(never)]
    fn take_of(self, region: &PageRegion) -> Option<usize> {
        // ORDERING: Relaxed; the exchange decides.
        let mut used = region.used.load(Ordering::Relaxed);
        loop {
            let is_first = used == 0;
            if used & BUSY != 0 || used == self.full() || is_first && !region.is_there() {
                return None;
            }
            let block = used.trailing_ones() as usize;
            let next = if is_first { BUSY } else { used | 1 << block };
            // ORDERING: Acquire pairs with the Release in `leave` and `make`: the block's pages have been given back,
            // and the region is where it says.
            match region.used.compare_exchange(used, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => {}
                Err(found) => {
                    used = found;
                    continue;
                }
            }
            if is_first {
                let is_there = region.is_there();
                if is_there {
                    self.size.spare.fetch_sub(1, Ordering::Relaxed);
                }
                // ORDERING: Release, so that the region's next owner has what this one has acquired.
                region.used.store(u64::from(is_there), Ordering::Release);
                if !is_there {
                    return None;
                }
            }
            return Some(block);
        }
    }

    /// Makes the region of that index, which is busy and not there, and takes its first block.
    #[cold]
    fn make(self, region: &'static PageRegion, index: usize) -> Option<(&'static PageRegion, usize)> {
        if region.is_there() {
            // Another thread has made it since this one has checked, and its blocks are all free.
            self.size.spare.fetch_sub(1, Ordering::Relaxed);
            // ORDERING: Release, as below.
            region.used.store(1, Ordering::Release);
            return Some((region, 0));
        }
        let base = self.map();
        if let Some(base) = base {
            // SAFETY: the first page can be written, and is this thread's.
            unsafe { base.cast::<usize>().write(index) };
            // ORDERING: Relaxed twice; the word below hands them over.
            region.base.store(base.as_ptr(), Ordering::Relaxed);
            region.ready.store(0, Ordering::Relaxed);
            self.size.made.fetch_max(index + 1, Ordering::Relaxed);
        }
        // ORDERING: Release pairs with the Acquire of the threads that take a block.
        region.used.store(u64::from(base.is_some()), Ordering::Release);
        base.map(|_| (region, 0))
    }

    /// Addresses for a region. Only its first page can be used: to reserve the others takes no memory, and locks none.
    fn map(self) -> Option<NonNull<u8>> {
        // As much more as brings the region to a multiple of its alignment.
        let all = self.span() + SPAN;
        count_call();
        // SAFETY: a new mapping, at an address that the kernel chooses: no memory in use is affected.
        let found = unsafe { sys::map(ptr::null_mut(), all, PROT_NONE, 0) }?.as_ptr();
        let before = found.addr().next_multiple_of(SPAN) - found.addr();
        // SAFETY: within the mapping, at multiples of a page, and nothing in it is used. A part that the kernel does
        // not take back has no pages.
        unsafe {
            let (base, behind) = (found.add(before), all - before - self.span());
            for (part, bytes) in [(found, before), (base.add(self.span()), behind)] {
                if bytes != 0 {
                    count_call();
                    sys::unmap(part, bytes);
                }
            }
            if !open(base, self.page, 0) {
                count_call();
                sys::unmap(base, self.span());
                return None;
            }
            NonNull::new(base)
        }
    }

    /// Where a block is.
    fn at(self, region: &PageRegion, block: usize) -> NonNull<u8> {
        // ORDERING: Relaxed; the caller has a block of it, and has acquired the word.
        let base = region.base.load(Ordering::Relaxed);
        let offset = self.page + block * self.bytes;
        NonNull::new(base.wrapping_add(offset)).expect("the region of a block that is in use is there")
    }

    /// Gives a block back, after its pages were cleared or returned. The last one of a region unmaps it where another
    /// is spare.
    fn leave(self, region: &PageRegion, index: usize, block: usize) {
        // ORDERING: Relaxed; the exchange decides.
        let mut used = region.used.load(Ordering::Relaxed);
        loop {
            let rest = used & !(1 << block);
            let next = if rest == 0 { BUSY } else { rest };
            // ORDERING: Release pairs with the Acquire of the block's next owner: its pages were given back. Acquire:
            // so were those of all other blocks, for the thread that unmaps them.
            match region.used.compare_exchange(used, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if rest == 0 => break,
                Ok(_) => {
                    self.size.from.fetch_min(index, Ordering::Relaxed);
                    return;
                }
                Err(found) => used = found,
            }
        }
        if self.size.spare.fetch_add(1, Ordering::Relaxed) >= 1 {
            // ORDERING: Relaxed; this thread has the word.
            let base = region.base.load(Ordering::Relaxed);
            count_call();
            // SAFETY: the whole region; no block of it is in use, and none will be while its word is busy.
            if unsafe { sys::unmap(base, self.span()) } {
                self.size.spare.fetch_sub(1, Ordering::Relaxed);
                region.base.store(ptr::null_mut(), Ordering::Relaxed);
            }
        }
        // ORDERING: Release pairs with the Acquire of the threads that take a block, or make the region again.
        region.used.store(0, Ordering::Release);
        self.size.from.fetch_min(index, Ordering::Relaxed);
    }
}

/// Maps pages of a region so that they can be read and written; they read as zeros.
///
/// # Safety
/// They are the caller's, within a region, and nothing in them is used.
unsafe fn open(at: *mut u8, bytes: usize, flags: c_int) -> bool {
    count_call();
    // SAFETY: by the caller: what is replaced is a part of a mapping that this file has made, and is not used.
    unsafe { sys::map(at, bytes, PROT_READ_WRITE, MAP_FIXED | flags) }.is_some()
}

/// Zeroed memory for `layout`, of at most [`MOST`] bytes; `None` where there is none. `populated`: its pages are put in
/// place now, and otherwise when they are first written.
pub(super) fn take(layout: Layout, populated: bool) -> Option<NonNull<u8>> {
    let kind = Kind::of(layout);
    let (region, block) = kind.take()?;
    let (memory, bit) = (kind.at(region, block), 1 << block);
    // ORDERING: Relaxed; the bit is changed by the block's owner, which hands it on with the block.
    if region.ready.load(Ordering::Relaxed) & bit == 0 {
        let flags = if populated { MAP_POPULATE } else { 0 };
        // SAFETY: the block is this thread's, and nothing is in it.
        if !unsafe { open(memory.as_ptr(), kind.bytes, flags) } {
            // SAFETY: taken above.
            unsafe { leave(memory, kind) };
            return None;
        }
        region.ready.fetch_or(bit, Ordering::Relaxed);
    } else if populated {
        // SAFETY: a block that is mapped.
        unsafe { populate(memory, layout.size()) };
    }
    Some(memory)
}

/// # Safety
/// `memory` came from [`take`] with this layout, and no thread uses it any more.
pub(super) unsafe fn give(memory: NonNull<u8>, layout: Layout) {
    // SAFETY: by the caller.
    unsafe {
        give_pages_back(memory, layout.size());
        leave(memory, Kind::of(layout));
    }
}

/// # Safety
/// `memory` is a block of this kind that is in use, and no thread uses it any more.
unsafe fn leave(memory: NonNull<u8>, kind: Kind) {
    let within = memory.as_ptr().addr() % SPAN;
    // SAFETY: the region begins at the multiple of its alignment below, with its index, and is there as long as the
    // block is in use.
    let index = unsafe { memory.sub(within).cast::<usize>().read() };
    let region = kind.region(index).expect("the region of a block that is in use is there");
    kind.leave(region, index, (within - kind.page) / kind.bytes);
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    /// Of a size that no other test uses.
    fn layout(pages: usize) -> Layout {
        Layout::from_size_align((15 + pages) * GRAIN, GRAIN).unwrap()
    }

    /// Over several regions, which come and go all the time.
    #[test]
    fn each_block_is_one_threads_and_full_of_zeros() {
        const ROUNDS: usize = 30;
        let (layout, begin) = (layout(19), Barrier::new(4));
        thread::scope(|scope| {
            for mark in 1..=4_u8 {
                let begin = &begin;
                scope.spawn(move || {
                    begin.wait();
                    for round in 0..ROUNDS {
                        let most = 1 + (round * 7 + usize::from(mark) * 5) % 20;
                        let blocks: Vec<_> =
                            (0..most).map(|at| take(layout, at % 2 == 0).expect("there is memory")).collect();
                        for block in &blocks {
                            // SAFETY: taken above, and this thread's.
                            let bytes = unsafe { core::slice::from_raw_parts_mut(block.as_ptr(), layout.size()) };
                            assert!(bytes.iter().step_by(512).all(|&byte| byte == 0));
                            bytes.iter_mut().step_by(512).for_each(|byte| *byte = mark);
                        }
                        thread::yield_now();
                        for block in blocks {
                            // SAFETY: as above; then it is used no more.
                            unsafe {
                                let bytes = core::slice::from_raw_parts(block.as_ptr(), layout.size());
                                assert!(bytes.iter().step_by(512).all(|&byte| byte == mark), "two have a block");
                                give(block, layout);
                            }
                        }
                    }
                });
            }
        });
        let size = Kind::of(layout).size;
        let made = size.made.load(Ordering::Relaxed);
        assert!((1..=16).contains(&made), "{made} regions for eighty blocks at most");
        assert_eq!(size.spare.load(Ordering::Relaxed), 1, "all but one have gone");
        let there = size.first.iter().filter(|region| region.is_there()).count();
        assert_eq!((there, size.further[0].load(Ordering::Relaxed).is_null()), (1, true));
    }

    #[test]
    fn blocks_are_taken_again_before_a_region_is_made() {
        let layout = layout(23);
        let kind = Kind::of(layout);
        let take_all = |blocks: usize| -> Vec<_> { (0..blocks).map(|_| take(layout, false).unwrap()).collect() };
        let mut blocks = take_all(3 * kind.blocks());
        let made = || kind.size.made.load(Ordering::Relaxed);
        assert_eq!(made(), 3);
        // SAFETY: taken above, and used no more.
        let give_all = |blocks: Vec<NonNull<u8>>| blocks.into_iter().for_each(|block| unsafe { give(block, layout) });
        let (some, rest) = blocks.drain(..).enumerate().partition::<Vec<_>, _>(|(at, _)| at % 2 == 0);
        let some: Vec<_> = some.into_iter().map(|(_, block)| block).collect();
        let count = some.len();
        give_all(some);
        blocks.extend(take_all(count));
        assert_eq!(made(), 3);
        let all: Vec<_> = blocks.drain(..).chain(rest.into_iter().map(|(_, block)| block)).collect();
        let mut addresses: Vec<_> = all.iter().map(|block| block.as_ptr().addr()).collect();
        addresses.sort_unstable();
        assert!(addresses.windows(2).all(|pair| pair[1] - pair[0] >= layout.size()));
        give_all(all);
        assert_eq!(kind.size.spare.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn the_table_of_regions_grows_by_pieces() {
        let kind = Kind::of(layout(29));
        let places: Vec<_> = (0..200).map(|index| &raw const *kind.region(index).expect("there is memory")).collect();
        let mut sorted = places.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 200);
        assert!((0..200).all(|index| core::ptr::eq(kind.region(index).unwrap(), places[index])));
    }
}
