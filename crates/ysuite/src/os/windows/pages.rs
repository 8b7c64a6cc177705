//! Whole pages from the system: for chunks that must go back to it, and of which only what is written takes memory.
//!
//! Any thread, and no lock. Each call but [`populate`] is one system call.
//!
//! Cannot: put pages in place before they are written (`PrefetchVirtualMemory` does not promise it for fresh pages).

use core::alloc::Layout;
use core::ptr::NonNull;

use super::sys;
use crate::os::count_call;
use crate::sync::{AtomicU8, Ordering};

/// Blocks of at least this many bytes come from the system and go back to it. Each takes a multiple of 64 KiB of
/// addresses, of which a process of 32 bits has few.
const PAGES_FROM: usize = if cfg!(target_pointer_width = "64") { 32 * 1024 } else { 64 * 1024 };
const PAGE: usize = 4096;

/// Whether a block comes from the system directly. Miri knows no such blocks.
pub(in crate::os) fn is_paged(layout: Layout) -> bool {
    // MUTANT: Speed only: from which size on blocks come from the system. Both functions use the same bound.
    !cfg!(miri) && layout.size() >= PAGES_FROM && layout.align() <= PAGE
}

/// Zeroed memory for a paged block; `None` where there is none.
#[inline(never)]
pub(in crate::os) fn take(layout: Layout, _is_zeroed: bool) -> Option<NonNull<u8>> {
    count_call();
    sys::map(layout.size())
}

/// As [`take`].
pub(in crate::os) fn reserve(layout: Layout) -> Option<NonNull<u8>> {
    take(layout, true)
}

/// Nothing: each page is put in place when it is first written.
///
/// # Safety
/// None is needed; elsewhere it is.
pub(in crate::os) unsafe fn populate(_memory: NonNull<u8>, _bytes: usize) {}

/// Clears the block, and lets the system take its pages. Not by `MEM_DECOMMIT`, after which a thread that still loads an
/// atomic faults.
///
/// # Safety
/// `memory` came from [`take`] with this layout. Nothing in it is used any more, and no thread writes to it meanwhile; a
/// thread that loads a byte finds the old value or zero.
pub(in crate::os) unsafe fn discard(memory: NonNull<u8>, layout: Layout) {
    // Cleared first: what the system drops reads as zero, and what it keeps too.
    for at in 0..layout.size() {
        // SAFETY: within the block. Other threads only load bytes, and as atomics.
        let byte = unsafe { AtomicU8::from_ptr(memory.add(at).as_ptr()) };
        // ORDERING: Relaxed; what is read there guards nothing.
        byte.store(0, Ordering::Relaxed);
    }
    count_call();
    // SAFETY: by the caller.
    unsafe { sys::reset(memory, layout.size()) };
}

/// # Safety
/// `memory` came from [`take`] or [`reserve`], and no thread uses it any more.
#[inline(never)]
pub(in crate::os) unsafe fn give(memory: NonNull<u8>, _layout: Layout) {
    count_call();
    // SAFETY: by the caller.
    unsafe { sys::unmap(memory) };
}
