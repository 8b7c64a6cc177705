//! Blocks of some tens of KiB, cut out of *regions*: maps of [`SPAN`] bytes with as many blocks of one size as fit. So a
//! process has one map for some thirty blocks, where it may have 65,530 maps in all (`vm.max_map_count`). A region whose
//! blocks are all free is unmapped as a whole, except one of each size, which has no pages.
//!
//! A region is *small* or *whole*. In a small one a block has pages while it is in use: one system call when it is
//! taken, one when it is given back, and the kernel's work for each page. That is most of the time of a burst. So where
//! the small regions have [a quarter](Kind::is_filled) of their blocks in use, a further region is made whole: it gets
//! all its pages at once, as one huge page where the kernel has any, and its blocks keep them until all are free. What
//! a process has in vain is at most a third of what it uses, and two regions: a whole region with less than three quarters
//! of its blocks in use *drains*, and is made small as soon as two others drain, or when a receiver [settles](settle). What
//! drains is used first. Threads that find no block at the same moment may make a region each, which drain in their turn.
//!
//! Any thread, also in a forked child: no lock is held across a fork. Lock-free except for the kernel, and for the
//! allocator where a size gets its 16th region, its 48th and so on. A thread that was stopped while it made, unmade or
//! emptied a region keeps that one from others, and no other. A region has four to nine calls in its life.
//!
//! Nothing is lost where the kernel refuses: a region that cannot be unmapped keeps its addresses, has no pages, and is
//! used again. Where pages cannot be given back (a kernel before 5.18 whose caller has locked them by `mlock`; a
//! sandbox without `madvise`) the block keeps them, and is cleared and used again.
//!
//! Cannot: give a block more alignment than a page has.

use core::alloc::Layout;
use core::ffi::c_int;
use core::ptr::{self, NonNull};

use super::pages::{advise, give_pages_back, populate};
use super::sys::{self, MAP_FIXED, MAP_POPULATE, PROT_NONE, PROT_READ_WRITE};
use crate::os::count_call;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

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

/// The number of regions of a size that may drain without being made small.
const DRAINING: usize = 2;

/// In a region's word: a thread is about to make or unmake it, or to take the first of its blocks.
const BUSY: u64 = 1 << 63;

// GROWS: pages of free blocks; bound: a third of the pages in use and two regions for each size; full: given back, as at
//     the end of each backlog; test: src/os/linux/regions.rs: what_many_use_comes_and_goes_as_whole_regions
/// The state of a region. Never freed: a thread may read it at any time.
struct PageRegion {
    /// A bit for each block that is in use, or `BUSY`.
    used: AtomicU64,
    /// A bit for each block whose addresses are mapped for reading and writing. Changed by the block's owner.
    ready: AtomicU64,
    /// A bit for each free block that has pages, with what was in them. Changed by the block's owner, while it has it.
    warm: AtomicU64,
    /// The region is whole. A hint: what a block has is said by the words above.
    is_whole: AtomicBool,
    /// Where the region is; null where there is none. Changed by the thread that has set `BUSY`.
    base: AtomicPtr<u8>,
}

impl PageRegion {
    const fn none() -> Self {
        Self {
            used: AtomicU64::new(0),
            ready: AtomicU64::new(0),
            warm: AtomicU64::new(0),
            is_whole: AtomicBool::new(false),
            base: AtomicPtr::new(ptr::null_mut()),
        }
    }

    fn is_there(&self) -> bool {
        // ORDERING: Relaxed; a guess, or the word's owner, which has acquired the word.
        !self.base.load(Ordering::Relaxed).is_null()
    }

    fn is_whole(&self) -> bool {
        // ORDERING: Relaxed; a hint.
        self.is_whole.load(Ordering::Relaxed)
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
    /// The regions that began to drain last, each as one more than its index, or 0. A queue that gets shorter gives back
    /// its newest blocks and its oldest ones by turns.
    draining: [AtomicUsize; DRAINING],
    /// How many have begun to drain; wraps.
    drained: AtomicUsize,
}

impl Size {
    const fn none() -> Self {
        Self {
            first: [const { PageRegion::none() }; FIRST],
            further: [const { AtomicPtr::new(ptr::null_mut()) }; PIECES],
            from: AtomicUsize::new(0),
            made: AtomicUsize::new(0),
            spare: AtomicUsize::new(0),
            draining: [const { AtomicUsize::new(0) }; DRAINING],
            drained: AtomicUsize::new(0),
        }
    }
}

static ALL: [Size; SIZES] = [const { Size::none() }; SIZES];
/// A region of some size may drain.
static DRAINS: AtomicBool = AtomicBool::new(false);

/// How a block is to be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Anything, as all of it is about to be written: its pages are put in place now.
    Any,
    /// Zeros, with the pages in place.
    Zeros,
    /// Zeros, each page of which is put in place when it is first written.
    Reserved,
}

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

    /// The kind of the size at this index of [`ALL`].
    fn at_index(size: usize) -> Self {
        Self { size: &ALL[size], bytes: LEAST + size * GRAIN, page: sys::page_size() }
    }

    /// The word of a region whose blocks are all in use.
    fn full(self) -> u64 {
        (1 << self.blocks()) - 1
    }

    /// Whether a quarter of a small region is in use, so that further blocks are better taken from a whole region.
    fn is_filled(self, used: u64) -> bool {
        used.count_ones() as usize * self.bytes >= SPAN / 4
    }

    /// A whole region drains where less than this number of its blocks are in use.
    fn most(self) -> usize {
        (SPAN / 4 * 3).div_ceil(self.bytes)
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
    fn take(self, content: Content) -> Option<(&'static PageRegion, usize)> {
        if let Some(found) = self.take_of_draining(content) {
            return Some(found);
        }
        let mut others = false;
        // ORDERING: Relaxed, here and for all of these numbers: they only decide where to search.
        let from = self.size.from.load(Ordering::Relaxed);
        // Once more from the first before one is made: the hint may have been moved beyond a block that was given back
        // meanwhile.
        for first in [from, 0] {
            for index in first..self.size.made.load(Ordering::Relaxed) {
                let region = self.region(index)?;
                if let Some(block) = self.take_of(region, content) {
                    // Where another thread has changed it, a block before this one may be free.
                    let _ = self.size.from.compare_exchange(from, index, Ordering::Relaxed, Ordering::Relaxed);
                    return Some((region, block));
                }
                others |= region.is_there();
            }
        }
        let is_whole = others && content != Content::Reserved;
        let mut index = 0;
        loop {
            let region = self.region(index)?;
            // ORDERING: Acquire pairs with the Release of the thread that has left the region last.
            if !region.is_there() && region.used.compare_exchange(0, BUSY, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return self.make(region, index, is_whole);
            }
            index += 1;
        }
    }

    /// Takes a block that has pages, if that is of use and there is one in a region that drains.
    fn take_of_draining(self, content: Content) -> Option<(&'static PageRegion, usize)> {
        if content == Content::Reserved {
            return None;
        }
        self.size.draining.iter().find_map(|number| {
            // ORDERING: Relaxed; a hint.
            let region = self.region(number.load(Ordering::Relaxed).checked_sub(1)?)?;
            // ORDERING: Relaxed; the exchange decides. A region without a block in use is another that was made since.
            let drains = region.is_whole() && region.used.load(Ordering::Relaxed) != 0;
            if drains { self.take_of(region, content).map(|block| (region, block)) } else { None }
        })
    }

    /// Takes a free block of this region, if it is there and has one that is to be used so.
    #[inline(never)]
    fn take_of(self, region: &PageRegion, content: Content) -> Option<usize> {
        // ORDERING: Relaxed; the exchange decides.
        let mut used = region.used.load(Ordering::Relaxed);
        loop {
            let is_first = used == 0;
            if used & BUSY != 0 || used == self.full() || is_first && !region.is_there() {
                return None;
            }
            // MUTANT: Speed only: which of two regions a block is of.
            if content != Content::Reserved && !region.is_whole() && self.is_filled(used) {
                return None;
            }
            let block = used.trailing_ones() as usize;
            let next = if is_first { BUSY } else { used | 1 << block };
            // ORDERING: Acquire pairs with the Release in `leave` and `make`: what the words say of the block is so, and
            // the region is where it says.
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
    fn make(self, region: &'static PageRegion, index: usize, is_whole: bool) -> Option<(&'static PageRegion, usize)> {
        if region.is_there() {
            // Another thread has made it since this one has checked, and its blocks are all free.
            self.size.spare.fetch_sub(1, Ordering::Relaxed);
            // ORDERING: Release, as below.
            region.used.store(1, Ordering::Release);
            return Some((region, 0));
        }
        let base = self.map(is_whole);
        if let Some(base) = base {
            // SAFETY: the first page can be written, and is this thread's.
            unsafe { base.cast::<usize>().write(index) };
            // ORDERING: Relaxed, four times; the word below hands them over.
            region.base.store(base.as_ptr(), Ordering::Relaxed);
            region.ready.store(if is_whole { self.full() } else { 0 }, Ordering::Relaxed);
            region.warm.store(0, Ordering::Relaxed);
            region.is_whole.store(is_whole, Ordering::Relaxed);
            self.size.made.fetch_max(index + 1, Ordering::Relaxed);
        }
        // ORDERING: Release pairs with the Acquire of the threads that take a block.
        region.used.store(u64::from(base.is_some()), Ordering::Release);
        base.map(|_| (region, 0))
    }

    /// Addresses for a region: of a whole one all can be used, and have pages; of a small one the first page can. To reserve
    /// the others takes no memory, and locks none.
    fn map(self, is_whole: bool) -> Option<NonNull<u8>> {
        // As much more as brings the region to a multiple of its alignment.
        let all = 2 * SPAN;
        count_call();
        // SAFETY: a new mapping, at an address that the kernel chooses: no memory in use is affected.
        let found = unsafe { sys::map(ptr::null_mut(), all, PROT_NONE, 0) }?.as_ptr();
        let before = found.addr().next_multiple_of(SPAN) - found.addr();
        // SAFETY: within the mapping, at multiples of a page, and nothing in it is used. A part that the kernel does
        // not take back has no pages.
        unsafe {
            let (base, behind) = (found.add(before), all - before - SPAN);
            for (part, bytes) in [(found, before), (base.add(SPAN), behind)] {
                if bytes != 0 {
                    count_call();
                    sys::unmap(part, bytes);
                }
            }
            if !open(base, if is_whole { SPAN } else { self.page }, 0) {
                count_call();
                sys::unmap(base, SPAN);
                return None;
            }
            let base = NonNull::new(base)?;
            if is_whole {
                // A kernel without huge pages has as many small ones.
                let _ = advise(base, SPAN, sys::MADV_HUGEPAGE);
                populate(base, SPAN);
            }
            Some(base)
        }
    }

    /// Where a block is.
    fn at(self, region: &PageRegion, block: usize) -> NonNull<u8> {
        // ORDERING: Relaxed; the caller has a block of it, and has acquired the word.
        let base = region.base.load(Ordering::Relaxed);
        let offset = self.page + block * self.bytes;
        NonNull::new(base.wrapping_add(offset)).expect("the region of a block that is in use is there")
    }

    /// Gives these blocks back: each has no pages, or is warm. With the last ones of a region, that is unmapped where
    /// another is spare. Returns what is in use then.
    fn leave(self, region: &PageRegion, index: usize, blocks: u64) -> u64 {
        // ORDERING: Relaxed; the exchange decides.
        let mut used = region.used.load(Ordering::Relaxed);
        loop {
            let rest = used & !blocks;
            let next = if rest == 0 { BUSY } else { rest };
            // ORDERING: Release pairs with the Acquire of the blocks' next owners: what the words say of their pages.
            // Acquire: the same of all other blocks, for the thread that unmaps them.
            match region.used.compare_exchange(used, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if rest == 0 => break,
                Ok(_) => {
                    self.size.from.fetch_min(index, Ordering::Relaxed);
                    return rest;
                }
                Err(found) => used = found,
            }
        }
        // ORDERING: Relaxed, here and in the branches; this thread has the word.
        let base = region.base.load(Ordering::Relaxed);
        let is_spare = self.size.spare.fetch_add(1, Ordering::Relaxed) == 0;
        let is_gone = !is_spare && {
            count_call();
            // SAFETY: the whole region; no block of it is in use, and none will be while its word is busy.
            unsafe { sys::unmap(base, SPAN) }
        };
        if is_gone {
            self.size.spare.fetch_sub(1, Ordering::Relaxed);
            region.base.store(ptr::null_mut(), Ordering::Relaxed);
        } else if region.is_whole() || region.warm.load(Ordering::Relaxed) != 0 {
            Self::make_small(region);
            // SAFETY: as above; the first page is written anew.
            unsafe {
                give_pages_back(NonNull::new_unchecked(base), SPAN);
                base.cast::<usize>().write(index);
            }
            region.warm.store(0, Ordering::Relaxed);
        }
        // ORDERING: Release pairs with the Acquire of the threads that take a block, or make the region again.
        region.used.store(0, Ordering::Release);
        self.size.from.fetch_min(index, Ordering::Relaxed);
        0
    }

    /// From now on a block of the region has pages while it is in use. The caller has blocks of it.
    fn make_small(region: &PageRegion) {
        // ORDERING: Relaxed twice; a hint, and the caller has acquired the word.
        region.is_whole.store(false, Ordering::Relaxed);
        if let Some(base) = NonNull::new(region.base.load(Ordering::Relaxed)) {
            // SAFETY: the whole region. How large the kernel's pages are changes nothing in them.
            let _ = unsafe { advise(base, SPAN, sys::MADV_NOHUGEPAGE) };
        }
    }

    /// Whether this region is one of those that drain.
    fn is_draining(self, index: usize) -> bool {
        // ORDERING: Relaxed; a region that is noted twice is looked at twice.
        self.size.draining.iter().any(|region| region.load(Ordering::Relaxed) == index + 1)
    }

    /// This whole region begins to drain. One that began before is made small.
    #[cold]
    fn drains(self, index: usize) {
        // ORDERING: Relaxed, three times: the regions have their own words.
        let place = self.size.drained.fetch_add(1, Ordering::Relaxed) % DRAINING;
        let before = self.size.draining[place].swap(index + 1, Ordering::Relaxed);
        DRAINS.store(true, Ordering::Relaxed);
        self.empty(before);
    }

    /// Makes the region of the index before this one small, unless it is in use again. 0: none.
    fn empty(self, number: usize) {
        let Some((index, region)) = number.checked_sub(1).and_then(|index| Some((index, self.region(index)?))) else {
            return;
        };
        // ORDERING: Relaxed; the exchange decides.
        let mut used = region.used.load(Ordering::Relaxed);
        while region.is_whole() && used != 0 && used & BUSY == 0 && (used.count_ones() as usize) < self.most() {
            // ORDERING: Acquire pairs with the Release in `leave`, as for any that takes a block.
            match region.used.compare_exchange(used, self.full(), Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) if region.is_whole() => return self.empty_blocks(region, index, self.full() & !used),
                // MUTANT: In a race: it has been emptied meanwhile, or made anew, and as many blocks are in use again.
                Ok(_) => {
                    self.leave(region, index, self.full() & !used);
                    return;
                }
                Err(found) => used = found,
            }
        }
    }

    /// Takes the pages of these blocks, which are this thread's, and gives them back.
    fn empty_blocks(self, region: &PageRegion, index: usize, blocks: u64) {
        Self::make_small(region);
        let end = self.at(region, self.blocks());
        let behind = SPAN - end.addr().get() % SPAN;
        if behind < SPAN {
            // SAFETY: what is behind the last block is nobody's.
            unsafe { give_pages_back(end, behind) };
        }
        let mut rest = blocks;
        while rest != 0 {
            let first = rest.trailing_zeros();
            let count = (rest >> first).trailing_ones();
            // SAFETY: blocks of the region beside each other, which are this thread's.
            unsafe { give_pages_back(self.at(region, first as usize), count as usize * self.bytes) };
            rest &= !(((1 << count) - 1) << first);
        }
        // ORDERING: Relaxed; the bits are the owner's, which hands them on with the blocks.
        region.warm.fetch_and(!blocks, Ordering::Relaxed);
        self.leave(region, index, blocks);
    }
}

/// The backlog of a queue is over: what drains is made small, except the last that began to. That too, if the receiver is
/// about to sleep.
pub(super) fn settle(sleeps: bool) {
    // ORDERING: Relaxed twice; the regions have their own words.
    if DRAINS.load(Ordering::Relaxed) {
        DRAINS.store(!sleeps, Ordering::Relaxed);
        for size in 0..SIZES {
            let kind = Kind::at_index(size);
            // ORDERING: Relaxed; as above.
            let newest = kind.size.drained.load(Ordering::Relaxed).wrapping_sub(1) % DRAINING;
            for (place, region) in kind.size.draining.iter().enumerate() {
                // ORDERING: Relaxed twice; as above.
                if (sleeps || place != newest) && region.load(Ordering::Relaxed) != 0 {
                    kind.empty(region.swap(0, Ordering::Relaxed));
                }
            }
        }
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

/// Memory for `layout`, of at most [`MOST`] bytes; `None` where there is none.
pub(super) fn take(layout: Layout, content: Content) -> Option<NonNull<u8>> {
    let kind = Kind::of(layout);
    // Where no region can be made, one of those that are there may have a block all the same; or a small one can be made.
    let (region, block) = kind.take(content).or_else(|| kind.take(Content::Reserved))?;
    let (memory, bit) = (kind.at(region, block), 1 << block);
    let populated = content != Content::Reserved;
    // ORDERING: Relaxed, here and below; the bits are changed by the block's owner, which hands them on with the block.
    if region.warm.load(Ordering::Relaxed) & bit != 0 {
        region.warm.fetch_and(!bit, Ordering::Relaxed);
        if content != Content::Any {
            // SAFETY: the block is this thread's, and is as large. What is behind the layout may be another's some day.
            unsafe { memory.write_bytes(0, kind.bytes) };
        }
    } else if region.ready.load(Ordering::Relaxed) & bit == 0 {
        let flags = if populated { MAP_POPULATE } else { 0 };
        // SAFETY: the block is this thread's, and nothing is in it.
        if !unsafe { open(memory.as_ptr(), kind.bytes, flags) } {
            // SAFETY: taken above.
            unsafe { leave(memory, kind) };
            return None;
        }
        region.ready.fetch_or(bit, Ordering::Relaxed);
    } else if populated && !region.is_whole() {
        // SAFETY: a block that is mapped.
        unsafe { populate(memory, layout.size()) };
    }
    Some(memory)
}

/// # Safety
/// `memory` came from [`take`] with this layout, and no thread uses it any more.
pub(super) unsafe fn give(memory: NonNull<u8>, layout: Layout) {
    let kind = Kind::of(layout);
    // SAFETY: by the caller.
    let (region, index, block) = unsafe { place(memory, kind) };
    let is_whole = region.is_whole();
    if is_whole {
        // ORDERING: Relaxed; the bit is handed on with the block.
        region.warm.fetch_or(1 << block, Ordering::Relaxed);
    } else {
        // SAFETY: by the caller. All of the block: a longer layout may have used it before, and may again.
        unsafe { give_pages_back(memory, kind.bytes) };
    }
    let rest = kind.leave(region, index, 1 << block);
    if is_whole && rest != 0 && (rest.count_ones() as usize) < kind.most() && !kind.is_draining(index) {
        kind.drains(index);
    }
}

/// # Safety
/// `memory` is a block of this kind that is in use, and no thread uses it any more.
unsafe fn leave(memory: NonNull<u8>, kind: Kind) {
    // SAFETY: by the caller.
    let (region, index, block) = unsafe { place(memory, kind) };
    kind.leave(region, index, 1 << block);
}

/// The region of a block, its index, and the block's number in it.
///
/// # Safety
/// `memory` is a block of this kind that is in use.
unsafe fn place(memory: NonNull<u8>, kind: Kind) -> (&'static PageRegion, usize, usize) {
    let within = memory.as_ptr().addr() % SPAN;
    // SAFETY: the region begins at the multiple of its alignment below, with its index, and is there as long as the
    // block is in use.
    let index = unsafe { memory.sub(within).cast::<usize>().read() };
    let region = kind.region(index).expect("the region of a block that is in use is there");
    (region, index, (within - kind.page) / kind.bytes)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::sync::{Barrier, Mutex, PoisonError};
    use std::thread;

    use super::*;

    /// To settle is for all sizes.
    static SETTLES: Mutex<()> = Mutex::new(());

    /// Of a size that no other test uses.
    fn layout(pages: usize) -> Layout {
        Layout::from_size_align((15 + pages) * GRAIN, GRAIN).unwrap()
    }

    /// Over several regions, which come and go all the time.
    #[test]
    fn each_block_is_one_threads_and_full_of_zeros() {
        const ROUNDS: usize = 30;
        // A settle on another thread has blocks of a region for a moment, also after the threads here are through.
        let _settles = SETTLES.lock().unwrap_or_else(PoisonError::into_inner);
        let (layout, begin) = (layout(19), Barrier::new(4));
        thread::scope(|scope| {
            for mark in 1..=4_u8 {
                let begin = &begin;
                scope.spawn(move || {
                    begin.wait();
                    for round in 0..ROUNDS {
                        let most = 1 + (round * 7 + usize::from(mark) * 5) % 20;
                        let blocks: Vec<_> = (0..most)
                            .map(|at| {
                                take(layout, if at % 2 == 0 { Content::Zeros } else { Content::Reserved })
                                    .expect("there is memory")
                            })
                            .collect();
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
        let take_all =
            |blocks: usize| -> Vec<_> { (0..blocks).map(|_| take(layout, Content::Reserved).unwrap()).collect() };
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

    fn give_all(blocks: impl IntoIterator<Item = NonNull<u8>>, layout: Layout) {
        // SAFETY: taken by the tests, which use them no more.
        blocks.into_iter().for_each(|block| unsafe { give(block, layout) });
    }

    /// How many bytes of a region have pages.
    fn resident(region: &PageRegion) -> usize {
        let (base, pages) = (region.base.load(Ordering::Relaxed), SPAN / sys::page_size());
        let mut are_there = vec![0_u8; pages];
        // SAFETY: the whole region, and a byte for each of its pages.
        assert_eq!(unsafe { libc::mincore(base.cast(), SPAN, are_there.as_mut_ptr()) }, 0);
        are_there.iter().filter(|&&page| page & 1 != 0).count() * sys::page_size()
    }

    /// Claim: A backlog takes and returns a region at a time. What is left of it is what is in use.
    #[test]
    fn what_many_use_comes_and_goes_as_whole_regions() {
        let _settles = SETTLES.lock().unwrap_or_else(PoisonError::into_inner);
        let layout = layout(31);
        let (kind, size) = (Kind::of(layout), Kind::of(layout).size);
        let quarter = (1..).find(|&count| kind.is_filled((1 << count) - 1)).unwrap();
        assert!((1..kind.most()).contains(&quarter));
        let before = crate::os::calls();
        let mut blocks: Vec<_> =
            (0..quarter + 3 * kind.blocks()).map(|_| take(layout, Content::Any).unwrap()).collect();
        let calls = crate::os::calls() - before;
        assert!(calls <= 6 * 4 + quarter as u64, "{calls} calls for {} blocks", blocks.len());
        let of = |index: usize| (size.first[index].is_whole(), size.first[index].used.load(Ordering::Relaxed));
        assert_eq!(of(0), (false, (1 << quarter) - 1));
        assert!((1..4).all(|index| of(index) == (true, kind.full())));
        assert_eq!(size.made.load(Ordering::Relaxed), 4);
        // What is to be lazy takes what is free of a small one.
        let lazy = take(layout, Content::Reserved).unwrap();
        assert_eq!(of(0).1.count_ones() as usize, quarter + 1);
        give_all([lazy], layout);
        // From both ends, as a queue does.
        let mut at = 0;
        let before = crate::os::calls();
        while blocks.len() > 1 {
            give_all([blocks.remove(if at % 2 == 0 { 0 } else { blocks.len() - 1 })], layout);
            at += 1;
        }
        let calls = crate::os::calls() - before;
        assert!(calls <= 8 + 2 * quarter as u64, "{calls} calls to give back");
        let last = (0..4).find(|&index| of(index).1 != 0).unwrap();
        assert!(last != 0 && of(last).0, "it has the last block, and drains");
        settle(true);
        assert_eq!((of(last).0, of(last).1.count_ones()), (false, 1));
        let there: usize = size.first.iter().filter(|region| region.is_there()).map(resident).sum();
        let few = layout.size() + 3 * sys::page_size();
        assert!(there <= few, "{there} bytes are there for a block of {}", layout.size());
        give_all(blocks, layout);
        assert_eq!(size.spare.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn what_was_in_a_warm_block_is_not_seen_by_who_wants_zeros() {
        let layout = layout(37);
        let kind = Kind::of(layout);
        let most = 2 * kind.blocks();
        let take_all = |content| -> Vec<_> { (0..most).map(|_| take(layout, content).unwrap()).collect() };
        for content in [Content::Zeros, Content::Reserved] {
            let mut blocks = take_all(Content::Any);
            // SAFETY: taken just now.
            blocks.iter().for_each(|block| unsafe { block.write_bytes(0xa5, layout.size()) });
            // Those of the last region stay whole, but one.
            give_all(blocks.drain(most / 2 + 1..), layout);
            let clean = take_all(content);
            for block in &clean {
                // SAFETY: as above.
                let bytes = unsafe { core::slice::from_raw_parts(block.as_ptr(), layout.size()) };
                assert!(bytes.iter().all(|&byte| byte == 0));
            }
            give_all(clean, layout);
            give_all(blocks, layout);
        }
    }

    /// The smallest blocks are of layouts with one number of pages and with another.
    #[test]
    fn what_was_in_a_longer_block_is_not_seen_behind_a_shorter_one() {
        let _settles = SETTLES.lock().unwrap_or_else(PoisonError::into_inner);
        let [short, long] = [8, 9].map(|pages| Layout::from_size_align(pages * GRAIN, GRAIN).unwrap());
        let kind = Kind::of(long);
        for content in [Content::Any, Content::Zeros] {
            let mut blocks: Vec<_> = (0..2 * kind.blocks()).map(|_| take(long, Content::Any).unwrap()).collect();
            // SAFETY: taken just now.
            blocks.iter().for_each(|block| unsafe { block.write_bytes(0xa5, long.size()) });
            give_all(blocks.drain(kind.blocks() / 2..), long);
            let shorter = [(); 8].map(|()| take(short, content).unwrap());
            settle(true);
            give_all(shorter, short);
            let clean = [(); 8].map(|()| take(long, Content::Zeros).unwrap());
            for block in &clean {
                // SAFETY: as above.
                let bytes = unsafe { core::slice::from_raw_parts(block.as_ptr(), long.size()) };
                assert!(bytes.iter().all(|&byte| byte == 0));
            }
            give_all(clean, long);
            give_all(blocks, long);
        }
    }

    /// Some threads' backlogs grow and shrink while others make draining regions small.
    #[test]
    fn regions_that_are_made_small_meanwhile_lose_no_block() {
        let _settles = SETTLES.lock().unwrap_or_else(PoisonError::into_inner);
        let (layout, begin) = (layout(41), Barrier::new(4));
        thread::scope(|scope| {
            for mark in 1..=4_u8 {
                let begin = &begin;
                scope.spawn(move || {
                    begin.wait();
                    let mut blocks = std::collections::VecDeque::new();
                    for round in 0..1_500_usize {
                        let wanted = (round * usize::from(mark) * 7 / 10 + round / 100 * 13) % 40;
                        while blocks.len() < wanted {
                            let block =
                                take(layout, if round % 3 == 0 { Content::Zeros } else { Content::Any }).unwrap();
                            // SAFETY: taken above, and this thread's.
                            let bytes = unsafe { core::slice::from_raw_parts_mut(block.as_ptr(), layout.size()) };
                            assert!(round % 3 != 0 || bytes.iter().step_by(256).all(|&byte| byte == 0));
                            bytes.iter_mut().step_by(256).for_each(|byte| *byte = mark);
                            blocks.push_back(block);
                        }
                        while blocks.len() > wanted {
                            let block = blocks.pop_front().unwrap();
                            // SAFETY: as above; then it is used no more.
                            unsafe {
                                let bytes = core::slice::from_raw_parts(block.as_ptr(), layout.size());
                                assert!(bytes.iter().step_by(256).all(|&byte| byte == mark), "two have a block");
                                give(block, layout);
                            }
                        }
                        if round % 8 == 0 {
                            settle(round % 16 == 0);
                        }
                    }
                    give_all(blocks, layout);
                });
            }
        });
        let size = Kind::of(layout).size;
        let there: Vec<_> = size.first.iter().filter(|region| region.is_there()).collect();
        assert_eq!((there.len(), size.spare.load(Ordering::Relaxed)), (1, 1), "all but one have gone");
        assert!(!there[0].is_whole() && there[0].warm.load(Ordering::Relaxed) == 0);
        assert!(resident(there[0]) <= sys::page_size(), "what is spare has no pages");
    }

    /// In a child, whose address space may not grow.
    #[test]
    fn blocks_are_found_where_no_region_can_be_made() {
        let is_done = crate::os::child_can(
            |hold| hold(),
            || {
                let layout = layout(43);
                let kind = Kind::of(layout);
                let first = take(layout, Content::Any).unwrap();
                let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
                let pages: usize = pages.split(' ').next().unwrap().parse().unwrap();
                let now = (pages * sys::page_size() + SPAN) as libc::rlim_t;
                // SAFETY: of this child.
                let is_set =
                    unsafe { libc::setrlimit(libc::RLIMIT_AS, &libc::rlimit { rlim_cur: now, rlim_max: now }) };
                assert_eq!(is_set, 0);
                for _ in 1..kind.blocks() {
                    // SAFETY: taken just now.
                    unsafe { take(layout, Content::Any).unwrap().write_bytes(1, layout.size()) };
                }
                assert!(take(layout, Content::Any).is_none());
                give_all([first], layout);
                assert_eq!(take(layout, Content::Any), Some(first));
            },
        );
        assert!(is_done);
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
