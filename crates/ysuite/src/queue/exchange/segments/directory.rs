//! All segments of a queue, those in use and those that are kept for the next use. Any thread; lock-free except for the
//! allocator.
//!
//! A segment that is kept is *warm* (its pages are in place) or *cold* (they have gone back to the kernel). No segment
//! is freed before the queue is, because a thread that was preempted may still load its flags.
//!
//! Cannot: have more than 2²⁴ segments, which for small messages are half a TiB.

use core::marker::PhantomData;

use super::layout::{Extent, SegmentLayout, SegmentMemory};
use super::segment::Segment;
use crate::queue::{FirstInPlace, SegmentedArray};
use crate::sync::{AtomicU64, AtomicUsize, Ordering, window};

/// Segments of the first piece of the array, after the first segment, and how many pieces there may be.
const FIRST: usize = if cfg!(ysuite_loom) { 2 } else { 4 };
const PIECES: usize = if cfg!(ysuite_loom) { 2 } else { 22 };
/// The most segments that are kept warm however short the queue is, while a reader waits.
const LASTING: usize = 8;
/// The most bytes of groups that are kept warm until a reader waits, unless [`LASTING`] segments have more. So a burst
/// finds the pages of the last one.
const RESERVE: usize = 8 << 20;
/// How many segments there may be.
const MOST: usize = SegmentedArray::<Segment, FIRST, PIECES>::MOST;

type Array = FirstInPlace<Segment, FIRST, PIECES>;

// GROWS: segments of an unbounded `mpmc`; bound: 2^24, of 32 KiB or a large message each; full: `send` panics; reused
//     when read; pages are given back while a backlog is drained, 8 MiB of them when a receiver waits, addresses with
//     the channel; cost: none to receive; for a receiver or sender that remembers a segment of long ago: segments in
//     use; test: tests/allocation/streams.rs: a_burst_in_an_mpmc_channel_is_dense_and_is_given_back,
//     src/queue/exchange/segments/tests.rs: segments_of_a_long_queue_are_used_again
#[repr(C)]
pub(super) struct Directory<T> {
    /// The first one is there from the beginning.
    all: Array,
    /// The number of indices that have been given out, and the first one's.
    made: AtomicUsize,
    /// See [`reserve`](Self::reserve).
    reserve: AtomicUsize,
    /// Free, with their pages in place.
    warm: Shelf,
    /// Free, and their pages have been given back.
    cold: Shelf,
    /// Owns memory for messages of this type.
    owned: PhantomData<T>,
}

impl<T> Directory<T> {
    /// From here on a directory has what is used once for a segment.
    #[cfg(not(ysuite_loom))]
    #[allow(dead_code, reason = "Rust 1.85 does not see that a constant check uses it")]
    pub(super) const RARE: usize = core::mem::offset_of!(Self, made);

    /// The most segments that are kept warm until a reader sleeps.
    const MOST_RESERVE: usize = match RESERVE.checked_div(SegmentLayout::<T>::BODY) {
        Some(segments) if segments > LASTING && !cfg!(any(ysuite_delay, ysuite_loom)) => segments,
        _ => LASTING,
    };

    pub(super) fn new() -> Self {
        Self {
            all: Array::new(Segment::first()),
            made: AtomicUsize::new(1),
            reserve: AtomicUsize::new(0),
            warm: Shelf::new(),
            cold: Shelf::new(),
            owned: PhantomData,
        }
    }

    /// The segment that a queue begins with.
    pub(super) fn first(&self) -> &Segment {
        self.all.first()
    }

    /// The segment of an index that was read from a link or a list.
    pub(super) fn get(&self, index: u32) -> &Segment {
        self.all.get(index as usize).expect("the thread that set the link had the segment")
    }

    // MUTANT: Memory only: how many segments keep their pages.
    /// A free segment, the caller's own; `None` where there are too many.
    pub(super) fn take(&self) -> Option<&Segment> {
        if let Some(segment) = self.warm.take(&self.all) {
            return Some(segment);
        }
        let Some(missed) = self.cold.take(&self.all) else { return self.make() };
        // Its pages had gone back, and are needed again.
        // ORDERING: Relaxed twice; a count that guards nothing. Of two changes at once one may be lost.
        let reserve = self.reserve.load(Ordering::Relaxed);
        self.reserve.store((reserve + 1).min(Self::MOST_RESERVE), Ordering::Relaxed);
        Some(missed)
    }

    /// The number of segments that are kept warm however short the queue is. None at first, so that a burst leaves only
    /// the segment in use, and one more with each that was missed.
    pub(super) fn reserve(&self) -> usize {
        // ORDERING: Relaxed, as in `take`.
        self.reserve.load(Ordering::Relaxed)
    }

    /// Gives the pages of all warm segments back, and keeps none warm from now on.
    pub(super) fn shrink(&self) {
        self.keep_warm(0);
    }

    // MUTANT: Memory only: how many segments keep their pages.
    /// A reader is about to sleep behind a burst: gives the pages of most warm segments back.
    pub(super) fn trim(&self) {
        if self.reserve() > LASTING {
            self.keep_warm(LASTING);
        }
    }

    /// Gives the pages of warm segments back, and keeps only as many warm from now on.
    #[cold]
    #[inline(never)]
    fn keep_warm(&self, most: usize) {
        // ORDERING: Relaxed, as in `take`.
        self.reserve.store(most, Ordering::Relaxed);
        // The length may be behind for a moment; none is none.
        while most == 0 || self.warm.len() > most {
            let Some(segment) = self.warm.take(&self.all) else { return };
            // SAFETY: segments on the shelf are not in use, and this thread has taken it off.
            unsafe { self.cool(segment) };
        }
    }

    /// Gives the pages of a segment back.
    ///
    /// # Safety
    /// The caller owns the segment, which is not the first, and no message is in it.
    unsafe fn cool(&self, segment: &Segment) {
        // SAFETY: by the caller no thread writes to it. It is whole, as it is not the first.
        unsafe { segment.memory::<T>().discard() };
        segment.cool();
        self.cold.put(segment);
    }

    fn make(&self) -> Option<&Segment> {
        // ORDERING: Relaxed; the read-modify-write makes each index unique, and the index guards nothing.
        let index = self.made.fetch_add(1, Ordering::Relaxed);
        if index >= MOST {
            // ORDERING: Relaxed, as above: the index is not used.
            self.made.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let segment = self.all.get_or_make(index, Segment::empty);
        segment.make::<T>(index as u32, SegmentMemory::allocate(Extent::of::<T>(index)));
        Some(segment)
    }

    // MUTANT: Speed only: one free segment more or less keeps its pages.
    /// Keeps a segment that is not in use, unless it is the first, which is too small to be used again. `keep`: how
    /// many are to be kept warm. Where that is less than there are, this one and one more go cold.
    ///
    /// # Safety
    /// The caller owns the segment, and no message is in it.
    pub(super) unsafe fn put(&self, segment: &Segment, keep: usize) {
        if segment.extent::<T>() == Extent::Begun {
            return;
        }
        if self.warm.len() < keep {
            return self.warm.put(segment);
        }
        let another = (self.warm.len() > keep).then(|| self.warm.take(&self.all)).flatten();
        for segment in [Some(segment), another].into_iter().flatten() {
            // SAFETY: by the caller, or because segments on the shelf are not in use and this thread has taken it off.
            unsafe { self.cool(segment) };
        }
    }

    /// Puts a segment back that was taken, and not used.
    pub(super) fn put_back(&self, segment: &Segment) {
        self.warm.put(segment);
    }

    /// Pretends that the maximum number of segments has been made.
    #[cfg(all(test, not(ysuite_loom)))]
    pub(super) fn exhaust(&self) {
        // ORDERING: Relaxed; as in `make`.
        self.made.store(MOST, Ordering::Relaxed);
    }

    #[cfg(all(test, not(ysuite_loom)))]
    pub(super) fn made(&self) -> usize {
        // ORDERING: Relaxed; a number for tests.
        self.made.load(Ordering::Relaxed)
    }
}

impl<T> Drop for Directory<T> {
    #[inline]
    fn drop(&mut self) {
        // ORDERING: Relaxed; `&mut self`: the owner that drops this has synchronised with all other threads.
        if self.made.load(Ordering::Relaxed) != 1 || self.first().is_begun::<T>() {
            self.free();
        }
    }
}

impl<T> Directory<T> {
    /// Frees the memory of all segments, for the drop.
    #[inline(never)]
    fn free(&mut self) {
        for (index, segment) in self.all.iter() {
            let Some(memory) = segment.memory_if_any::<T>() else { continue };
            // SAFETY: each segment has memory of its own, made for its index, and `&mut self`: no thread uses it any more.
            unsafe { memory.free(Extent::of::<T>(index)) };
        }
    }
}

/// The index part of a shelf's word.
const INDEX: u64 = (1 << 24) - 1;
/// What each taking adds to a shelf's word.
const TURN: u64 = INDEX + 1;

// REUSED: a segment on a shelf; held by a thread that is taking it; harmless: the shelf's word counts each taking, in
//     40 bits; by construction
/// A stack of free segments. The word has the index of the topmost, plus 1, and counts how often one was taken, in 40
/// bits. So a thread that has been preempted while it took one finds that the word has changed, unless exactly 2⁴⁰ were
/// taken meanwhile.
struct Shelf {
    top: AtomicU64,
    /// How many there are, or about that many. Decides only how many are kept warm.
    len: AtomicUsize,
}

impl Shelf {
    fn new() -> Self {
        Self { top: AtomicU64::new(0), len: AtomicUsize::new(0) }
    }

    // MUTANT: Speed only: one free segment more or less keeps its pages. The number of segments never reaches that
    // size.
    fn len(&self) -> usize {
        // ORDERING: Relaxed; the number decides only how many segments are kept warm. It may be negative for a moment.
        let len = self.len.load(Ordering::Relaxed);
        if len > usize::MAX / 2 { 0 } else { len }
    }

    /// Puts a segment on top. The caller owns it.
    fn put(&self, segment: &Segment) {
        // ORDERING: Relaxed; what is below is handed over by the Release sequences of those that put it there.
        let mut top = self.top.load(Ordering::Relaxed);
        loop {
            // ORDERING: Relaxed; the exchange below hands it over.
            segment.below.store((top & INDEX) as u32, Ordering::Relaxed);
            let new = top & !INDEX | u64::from(segment.index() + 1);
            // ORDERING: Release pairs with the Acquire in `take`: the segment is as its owner has left it.
            match self.top.compare_exchange_weak(top, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                Err(found) => top = found,
            }
        }
        // ORDERING: Relaxed; see `len`.
        self.len.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes the topmost segment, if there is one.
    fn take<'a>(&self, all: &'a Array) -> Option<&'a Segment> {
        // ORDERING: Acquire pairs with the Release in `put`: the segment, and what is below it.
        let mut top = self.top.load(Ordering::Acquire);
        loop {
            let index = (top & INDEX).checked_sub(1)?;
            let segment = all.get(index as usize).expect("the thread that put it there had it");
            // ORDERING: Relaxed; visible by the Acquire of the word. Where the segment has been taken meanwhile this is
            // whatever its owner has written there, and the exchange fails.
            let below = segment.below.load(Ordering::Relaxed);
            window();
            let new = (top & !INDEX).wrapping_add(TURN) | u64::from(below);
            // ORDERING: Acquire on failure, as above. Relaxed on success: the word counts takings, so that this is the
            // very store that was acquired; and a read-modify-write leaves the release sequences of all that are
            // further down whole.
            match self.top.compare_exchange_weak(top, new, Ordering::Relaxed, Ordering::Acquire) {
                Ok(_) => {
                    // ORDERING: Relaxed; see `len`.
                    self.len.fetch_sub(1, Ordering::Relaxed);
                    return Some(segment);
                }
                Err(found) => top = found,
            }
        }
    }
}
