//! The shared part of the layouts without a bound: chunks of memory in a list, spent ones returned through four places.
//!
//! A chunk is used again and again, each time under a higher *lap*, so that its old words read as "nothing yet". Laps
//! count in steps of [`LAP`], which leaves room for a layout's own additions.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering, compiler_fence};

use crossbeam_utils::CachePadded;

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;
/// Words of a chunk: 64 KiB.
const WORDS: usize = 8192;
/// From one lap to the next; larger than anything a layout adds to a lap.
pub(crate) const LAP: u64 = 256;
const SPARES: usize = 4;

/// The words first, so that their place in a cache line is the place of the chunk.
#[repr(C, align(64))]
pub(crate) struct Chunk {
    words: [UnsafeCell<u64>; WORDS],
    next: AtomicPtr<Chunk>,
}

/// The state that both sides see.
pub(crate) struct Shared {
    /// Not 0 while the reader sleeps. No thread sleeps in this comparison, but the writer has to check.
    asleep: CachePadded<AtomicU32>,
    /// Spent chunks: put in by the reader, taken out by the writer, both in turn.
    spares: CachePadded<[AtomicPtr<Chunk>; SPARES]>,
    /// The oldest chunk in use. Owned by the reader.
    oldest: CachePadded<AtomicPtr<Chunk>>,
}

/// The position of a handle: its chunk, the lap of that chunk, and the spare place it uses next.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    pub(crate) chunk: *mut Chunk,
    pub(crate) lap: u64,
    turn: usize,
}

/// Both handles at the beginning of the first chunk.
pub(crate) fn begin() -> (Arc<Shared>, Position) {
    let chunk = new_chunk();
    let shared = Shared {
        asleep: CachePadded::default(),
        spares: CachePadded::default(),
        oldest: CachePadded::new(AtomicPtr::new(chunk)),
    };
    (Arc::new(shared), Position { chunk, lap: LAP, turn: 0 })
}

fn new_chunk() -> *mut Chunk {
    let layout = Layout::new::<Chunk>();
    // SAFETY: the layout is not empty.
    let chunk = unsafe { alloc_zeroed(layout) }.cast::<Chunk>();
    if chunk.is_null() { handle_alloc_error(layout) } else { chunk }
}

/// # Safety
///
/// The chunk came from `new_chunk` and no other code has it any more.
unsafe fn free(chunk: *mut Chunk) {
    // SAFETY: the caller guarantees it; every chunk is allocated with this layout.
    unsafe { dealloc(chunk.cast(), Layout::new::<Chunk>()) };
}

impl Position {
    pub(crate) fn first(&self) -> *mut u64 {
        self.chunk.cast()
    }

    /// Just after the last word: no word of this chunk.
    pub(crate) fn past(&self) -> *mut u64 {
        self.first().wrapping_add(WORDS)
    }
}

impl Shared {
    /// Called by the writer after each publication: whether there is a sleeper to wake.
    #[inline(always)]
    pub(crate) fn look_for_a_sleeper(&self) {
        compiler_fence(Ordering::SeqCst);
        // ORDERING: Relaxed: a sleeper makes every writer pass a barrier before it checks for the last time.
        if self.asleep.load(Ordering::Relaxed) != 0 {
            wake();
        }
    }

    /// The writer's way to its next chunk: a spent one, or a new one.
    #[cold]
    pub(crate) fn next_to_write(&self, at: Position) -> Position {
        let place = &self.spares[at.turn];
        // ORDERING: Acquire pairs with the Release in `next_to_read`: the reader has finished with the chunk.
        let spare = place.load(Ordering::Acquire);
        let (chunk, turn) = if spare.is_null() {
            (new_chunk(), at.turn)
        } else {
            // ORDERING: Release pairs with the reader's Acquire load of this place: it is free.
            place.store(std::ptr::null_mut(), Ordering::Release);
            // SAFETY: the chunk is alive and the writer's alone from now on.
            // ORDERING: Relaxed: the Release below publishes it.
            unsafe { &(*spare).next }.store(std::ptr::null_mut(), Ordering::Relaxed);
            (spare, (at.turn + 1) % SPARES)
        };
        // SAFETY: the reader frees a chunk only after it has seen its `next`, which is stored here.
        // ORDERING: Release pairs with the Acquire in `next_to_read`.
        unsafe { &(*at.chunk).next }.store(chunk, Ordering::Release);
        Position { chunk, lap: at.lap + LAP, turn }
    }

    /// The reader's way to its next chunk, if the writer has gone there. The old one is returned or freed.
    #[cold]
    pub(crate) fn next_to_read(&self, at: Position) -> Option<Position> {
        // SAFETY: the chunk is the reader's, which frees it below at the earliest.
        // ORDERING: Acquire pairs with the Release in `next_to_write`.
        let chunk = unsafe { &(*at.chunk).next }.load(Ordering::Acquire);
        if chunk.is_null() {
            return None;
        }
        // ORDERING: Relaxed: read again only when both handles are dropped.
        self.oldest.store(chunk, Ordering::Relaxed);
        let place = &self.spares[at.turn];
        // ORDERING: Acquire pairs with the Release in `next_to_write`: the writer has taken what was here.
        if place.load(Ordering::Acquire).is_null() {
            // ORDERING: Release pairs with the Acquire in `next_to_write`: this handle has finished with the chunk.
            place.store(at.chunk, Ordering::Release);
            Some(Position { chunk, lap: at.lap + LAP, turn: (at.turn + 1) % SPARES })
        } else {
            // SAFETY: the writer is in a later chunk, and this was the only pointer left.
            unsafe { free(at.chunk) };
            Some(Position { chunk, lap: at.lap + LAP, turn: at.turn })
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        for place in self.spares.iter_mut() {
            let spare = *place.get_mut();
            if !spare.is_null() {
                // SAFETY: both handles are dropped, and a spare is in no list.
                unsafe { free(spare) };
            }
        }
        let mut chunk = *self.oldest.get_mut();
        while !chunk.is_null() {
            // SAFETY: both handles are dropped; the list from the oldest chunk on holds each remaining chunk once.
            unsafe {
                let next = *(*chunk).next.get_mut();
                free(chunk);
                chunk = next;
            }
        }
    }
}

/// Stands for the wake-up, which is unused here. It has to be there so that the call is compiled.
#[cold]
#[inline(never)]
fn wake() {
    std::hint::black_box(());
}

/// The word at `at`, seen as an atomic.
///
/// # Safety
///
/// `at` is a word of a living chunk that is only ever accessed in this way.
#[inline(always)]
pub(crate) unsafe fn state<'a>(at: *mut u64) -> &'a std::sync::atomic::AtomicU64 {
    // SAFETY: the caller guarantees it; chunks are aligned to more than a word.
    unsafe { std::sync::atomic::AtomicU64::from_ptr(at) }
}

/// Prefetches the line at `at` with intent to write. Any address will do: nothing is accessed.
#[inline(always)]
pub(crate) fn prefetch_to_write(at: *mut u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch does not fault and changes nothing but caches.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) at, options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
