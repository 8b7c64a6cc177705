//! Queues. Each has its own rules about which threads may write and read, and in which order. A queue never sleeps and
//! never wakes a thread.
//!
//! A queue can only *report* that the other side sleeps: the sleeper leaves an opaque token (passive synchronisation,
//! see [`ypipe`]). The next publisher gets that token, once. Only the owner of the queue knows what the token means and
//! which thread to wake. See [`crate::signal`] for the ways to sleep, and [the crate](crate) for queues joined with
//! them.

use core::mem::MaybeUninit;

#[cfg(feature = "broadcast")]
pub(crate) mod broadcast;
#[cfg(any(feature = "mpmc", feature = "broadcast"))]
pub(crate) mod exchange;
mod lane_set;
mod register_copy;
mod segmented_array;
pub mod ypipe;

pub(crate) use lane_set::{LaneSet, MOST, WORD};
pub(crate) use register_copy::{RegisterCopy, outline, outline_with};
pub(crate) use segmented_array::{FirstInPlace, SegmentedArray};

/// The length of a cache line, where it is known to be longer than usual.
const LINE: usize = if cfg!(any(target_arch = "aarch64", target_arch = "powerpc64")) { 128 } else { 64 };

/// Messages of less than this many bytes between two sleeps of a receiver are few.
const FEW_BYTES: usize = 4096;

/// Keeps the words before it and those after it out of one cache line, in an allocation that is aligned to 16. As bytes
/// and not as an alignment: an alignment of the whole costs as much in front of it, and more in the allocator.
pub(crate) type Apart = Unused<{ LINE - 16 }>;
/// The same, and keeps them out of two lines next to each other, which some processors fetch together.
pub(crate) type FarApart = Unused<{ 2 * LINE - 16 }>;

/// Bytes that are never read or written.
pub(crate) struct Unused<const BYTES: usize>(MaybeUninit<[u8; BYTES]>);

impl<const BYTES: usize> Unused<BYTES> {
    pub(crate) const fn new() -> Self {
        Self(MaybeUninit::uninit())
    }
}

/// Allocates `cells` cells and makes each one from its index. `None` where there is no memory for them.
pub(crate) fn allocate<C>(cells: usize, cell: impl FnMut(usize) -> C) -> Option<Box<[C]>> {
    let mut all = Vec::new();
    all.try_reserve_exact(cells).ok()?;
    all.extend((0..cells).map(cell));
    Some(all.into_boxed_slice())
}

// MUTANT: Prefetches, which are hints.
/// As [`prefetch_for_write`], for the lines of `bytes` bytes from `at` on: at most eight, as the processor follows more by
/// itself. Where the bytes are no whole lines, the last one is the first of what comes behind them, and is left out.
#[inline(always)]
pub(crate) fn prefetch_lines_for_write(at: *const u8, bytes: usize) {
    const BYTES: usize = 64;
    const MOST: usize = 8;
    let mut line = 0;
    loop {
        prefetch_for_write(at.wrapping_add(line));
        line += BYTES;
        if line + BYTES > bytes || line == MOST * BYTES {
            return;
        }
    }
}

// MUTANT: A prefetch, which is a hint.
/// Asks for the cache line at `at` with the intent to write it, before it is needed. A hint: it may do nothing. The
/// address need not be valid.
#[inline(always)]
pub(crate) fn prefetch_for_write(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri), not(ysuite_loom)))]
    // SAFETY: PREFETCHW reads no memory architecturally, faults on no address, and is a no-op on processors without it.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(all(target_arch = "aarch64", not(miri), not(ysuite_loom)))]
    // SAFETY: PRFM is a hint: it faults on no address.
    unsafe {
        core::arch::asm!("prfm pstl1keep, [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(any(miri, ysuite_loom, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = at;
}
