//! A class: all blocks of one size, the depot of the free ones, and the list of threads and tasks that wait for one.
//!
//! Any thread. Taking and giving back is lock-free. Waiting is an [operation](super::operations). Each class has a wait list of its own, so no thread is woken for a block of another size.

use core::cell::Cell;
use core::ptr::{self, NonNull};
// Counts: not the façade's, a model need not explore it.
use core::sync::atomic::AtomicU32;

use super::block::{Block, LINE, layout};
use super::core::PoolCore;
use super::depot::Depot;
use super::magazine::Entry;
use super::thread_cache;
use crate::foreign::Panics;
use crate::queue::prefetch_for_write;
use crate::sync::{Arc, CachePadded, Ordering};
#[cfg(feature = "in-place")]
use crate::wait::many::notify_all;
use crate::wait::many::{SharedEnd, notify};
use crate::wait::{SharedBackoff, WaitList};

pub(super) struct Class {
    /// The first byte of block 0. No field before `depot` changes after `bind`.
    first: *mut u8,
    /// Bytes from one block to the next.
    stride: usize,
    pub(super) bytes: usize,
    pub(super) index_in_row: usize,
    /// Whether messages are filled with zeros when they are taken.
    zeroed: bool,
    /// The pool that has this class.
    pub(super) core: *const PoolCore,
    pub(super) depot: Depot,
    pub(super) blocks: usize,
    /// The number of blocks that were used at least once.
    touched: AtomicU32,
    /// The threads and tasks that wait for a block.
    list: CachePadded<WaitList>,
    pub(super) backoff: SharedBackoff,
    pub(super) race_check: RaceCheck,
}

// SAFETY: a class is a part of `PoolCore`, which any thread may use: its memory belongs to the takers of its blocks, and
// all else is fixed, or atomic.
unsafe impl Sync for Class {}

impl Class {
    /// A class whose blocks begin at `memory`.
    ///
    /// # Safety
    /// `memory` is aligned to lines, has room for all blocks, and is full of zeros.
    pub(super) unsafe fn new(
        memory: NonNull<u8>,
        bytes: usize,
        blocks: usize,
        index_in_row: usize,
        zeroed: bool,
    ) -> Self {
        let (lead, stride) = layout(bytes);
        Self {
            // SAFETY: the caller's memory has room for at least one block, so `lead` is inside it.
            first: unsafe { memory.add(lead) }.as_ptr(),
            stride: stride.expect("less than the memory's"),
            bytes,
            index_in_row,
            zeroed,
            core: ptr::null(),
            depot: Depot::new(blocks),
            blocks,
            touched: AtomicU32::new(0),
            list: CachePadded::new(WaitList::new()),
            backoff: SharedBackoff::new(),
            race_check: RaceCheck::new(blocks),
        }
    }

    /// Sets the pool, and writes the headers, which point to this class: it is at its final address, and not shared
    /// yet.
    pub(super) fn bind(&mut self, core: *const PoolCore) {
        self.core = core;
        for index in 0..self.blocks as u32 {
            self.block(index).make(self, index);
        }
    }

    #[inline(always)]
    fn at(&self, index: u32) -> *mut u8 {
        self.first.wrapping_add(index as usize * self.stride)
    }

    #[inline(always)]
    fn block(&self, index: u32) -> Block {
        // SAFETY: there is a block for every index, and none is at address 0.
        unsafe { Block::new(NonNull::new_unchecked(self.at(index))) }
    }

    /// Returns the alignment of the bytes of a block.
    pub(super) fn align(&self) -> usize {
        if self.bytes < LINE { 8 } else { LINE }
    }

    /// A share of the pool, which keeps the class alive. The caller knows that the pool is still alive.
    pub(super) fn core(&self) -> Arc<PoolCore> {
        // SAFETY: `bind` set the pointer before the class was shared; it came from an `Arc`, which the caller knows to
        // live.
        unsafe {
            Arc::increment_strong_count(self.core);
            Arc::from_raw(self.core)
        }
    }

    // MUTANT: The address of a prefetch, which is a hint.
    /// Prefetches the memory of a block that will be taken soon.
    #[inline(always)]
    pub(super) fn fetch(&self, entry: Entry) {
        let first = self.at(entry.index());
        prefetch_for_write(first.wrapping_sub(1));
        prefetch_for_write(first);
    }

    /// Takes a block for `len` bytes, if one is free.
    #[inline(always)]
    pub(super) fn try_take(&self, len: usize) -> Option<Block> {
        thread_cache::take(self).map(|taken| self.issue(taken, len))
    }

    // MUTANT: Speed only: `prepare` checks the entry and the pool itself.
    /// The block of an entry that was just taken, with `len` bytes.
    #[inline(always)]
    pub(super) fn issue(&self, (entry, taker): (Entry, u32), len: usize) -> Block {
        self.race_check.touch(entry.index());
        let block = self.block(entry.index());
        if entry.is_fresh() || entry.is_typed() || self.zeroed {
            self.prepare(block, entry, len);
        }
        // SAFETY: an entry is in one slot, so the thread that took it out is the only owner of the block.
        let header = unsafe { block.header_mut() };
        header.len = len as u32;
        header.taker = taker;
        block
    }

    // MUTANT: Speed only: bytes that are zero are set to zero once more; the address of a prefetch is a hint.
    #[cold]
    #[inline(never)]
    fn prepare(&self, block: Block, entry: Entry, len: usize) {
        if entry.is_fresh() {
            // ORDERING: Relaxed; a count, pairs with nothing.
            self.touched.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let unknown = if entry.is_typed() { block.len() } else { 0 };
        let zeros = if self.zeroed { len } else { 0 };
        // SAFETY: this thread owns the block; a block has room for its `len`, and `len` chose the class.
        unsafe { block.first().as_ptr().write_bytes(0, unknown.max(zeros)) };
    }

    // MUTANT: Speed only: an early exit. `announce` checks the word of the list after a fence.
    /// Called after a block was put where other threads can take it: wakes a waiting thread or task.
    /// Then returns a share of the pool, which keeps the class alive until it is no longer borrowed.
    #[inline(always)]
    pub(super) fn published(&self) -> Option<Arc<PoolCore>> {
        if self.list.published() { self.announce() } else { None }
    }

    // USER CODE: the waker of a task that waits for a block, where a message or a box is dropped; the block is in the
    //     pool, and no cache is in the middle of a change; re-entrance: any operation of any pool; panic: propagates out
    //     of the drop; while unwinding it is not resumed; test: tests/suite/pool/tasks.rs:
    //     a_waker_that_panics_or_uses_the_pool_loses_no_block
    // MUTANT: Speed only: an early exit before a search that finds no armed slot.
    #[cold]
    #[inline(never)]
    fn announce(&self) -> Option<Arc<PoolCore>> {
        let word = self.list.attend();
        if word.is_gone() {
            // The block was put there after the pool's last handle had drained the depot.
            self.core().gathered(self.depot.drain());
        } else if word.is_armed() {
            // A waker may use other pools, until this thread has no cache for this one.
            let core = self.core();
            Panics::in_drop(|| notify(&self.list, 1));
            return Some(core);
        }
        None
    }

    /// The pool has no handle left: from now on a thread that gives a block back gathers it, to free the pool's memory.
    pub(super) fn close(&self) {
        self.list.go();
    }

    // MUTANT: Speed only: the normal path back ends in `announce`, which finds the class closed.
    /// Whether the class is closed. False may be out of date.
    pub(super) fn is_closed(&self) -> bool {
        self.list.word().is_gone()
    }

    /// Wakes all waiting threads without a block.
    #[cfg(feature = "in-place")]
    pub(super) fn wake_all(&self) {
        notify_all(&self.list);
    }

    pub(super) fn stats(&self) -> ClassStats {
        ClassStats {
            block_bytes: self.bytes,
            blocks: self.blocks,
            in_use: self.blocks.saturating_sub(self.depot.len()),
            // ORDERING: Relaxed; a count, pairs with nothing.
            high_water: self.touched.load(Ordering::Relaxed) as usize,
            freed_elsewhere: self.depot.elsewhere(),
        }
    }
}

/// A thread or a task that waits for a block. Its check takes the block: a block that is only seen may be gone before it
/// is taken, and checking again at once would be spinning.
pub(super) struct Taker<'a, S> {
    pub(super) class: &'a Class,
    pub(super) found: &'a Cell<Option<(Entry, u32)>>,
    /// Whether it has stopped waiting, with a block or without.
    pub(super) is_stopped: &'a S,
}

impl<S> Clone for Taker<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Taker<'_, S> {}

impl<S: Fn() -> bool> Taker<'_, S> {
    /// Takes a block unless it has one. Returns whether it has one now, or has stopped waiting.
    pub(super) fn has_ended(self) -> bool {
        if self.found.get().is_none() {
            self.found.set(thread_cache::take(self.class));
        }
        self.found.get().is_some() || (self.is_stopped)()
    }
}

impl<S: Fn() -> bool> SharedEnd for Taker<'_, S> {
    fn list(&self) -> &WaitList {
        &self.class.list
    }

    fn is_ready(&self) -> bool {
        self.has_ended()
    }

    fn supply(&self) -> usize {
        self.class.depot.len()
    }
}

/// One that waits no longer, and passes a notification on if there are blocks.
#[derive(Clone, Copy)]
pub(super) struct Spare<'a>(pub(super) &'a Class);

impl SharedEnd for Spare<'_> {
    fn list(&self) -> &WaitList {
        &self.0.list
    }

    fn is_ready(&self) -> bool {
        self.supply() != 0
    }

    fn supply(&self) -> usize {
        self.0.depot.len()
    }
}

/// The state of one class of a pool, by [`Pool::stats`](super::Pool::stats).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassStats {
    /// The size of its blocks.
    pub block_bytes: usize,
    /// The number of blocks.
    pub blocks: usize,
    /// The number of blocks that are taken now.
    pub in_use: usize,
    /// The number of blocks that were ever used: the largest number taken at once, and up to 128 more for each thread
    /// that took some. The memory of the others has not been touched since the pool was made.
    pub high_water: usize,
    /// The number of times a block was given back by a thread other than the one that took it, or by a thread past its
    /// thread-locals, where its number is not known.
    pub freed_elsewhere: u64,
}

/// For the model checker: a cell for each block, touched by the thread that takes the block and by the one that frees
/// it. Two owners at a time race on the cell. So does an owner that does not see what the last one has done. Otherwise
/// empty.
pub(super) struct RaceCheck(#[cfg(ysuite_loom)] Box<[crate::sync::UnsafeCell<()>]>);

impl RaceCheck {
    fn new(_blocks: usize) -> Self {
        Self(
            #[cfg(ysuite_loom)]
            (0.._blocks).map(|_| crate::sync::UnsafeCell::new(())).collect(),
        )
    }

    // MUTANT: Models only: it reports an access to the model checker.
    #[inline(always)]
    pub(super) fn touch(&self, _block: u32) {
        #[cfg(ysuite_loom)]
        self.0[_block as usize].with_mut(|_| ());
    }

    // MUTANT: Models only: it reports an access to the model checker.
    /// All blocks: their memory is about to be freed.
    pub(super) fn touch_all(&self) {
        #[cfg(ysuite_loom)]
        self.0.iter().for_each(|block| block.with_mut(|_| ()));
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::cell::Cell;

    use super::Taker;
    use crate::pool::core::PoolCore;
    use crate::wait::many::SharedEnd;

    #[test]
    fn a_taker_passes_on_as_many_calls_as_there_are_blocks() {
        let pool = PoolCore::new(&[(8, 5)], false).unwrap();
        let (class, found) = (&pool.classes[0], Cell::new(None));
        let taker = Taker { class, found: &found, is_stopped: &|| false };
        assert_eq!(taker.supply(), 5);
        assert!(taker.is_ready() && taker.is_ready());
        assert_eq!(taker.supply(), 4, "it takes one, and no second");
    }
}
