//! Whole pages from the kernel: for chunks that must go back to it (an allocator keeps memory that it is given back as
//! long as younger memory above it is in use), and for a page that it wipes.
//!
//! Any thread; each call is one system call.

use core::alloc::Layout;
use core::ptr::{self, NonNull};

#[cfg(not(ysuite_portable))]
use rustix::mm::{Advice, madvise};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::os::count_call;

/// Blocks of at least this many bytes come from the kernel and go back to it. Two system calls in a block's life.
#[cfg(not(ysuite_portable))]
const PAGES_FROM: usize = 32 * 1024;
/// The smallest page of any system: the kernel rounds a mapping up to whole pages, and its address is a multiple of this.
pub(in crate::os) const PAGE: usize = 4096;

/// Whether a block comes from the kernel directly. Miri knows no such blocks.
#[cfg(not(ysuite_portable))]
pub(in crate::os) fn is_paged(layout: Layout) -> bool {
    !cfg!(miri) && layout.size() >= PAGES_FROM && layout.align() <= PAGE
}

/// Memory for `layout`, full of zeros; `None` where there is none. All its pages are in place: the caller is about
/// to write them.
pub(in crate::os) fn map(layout: Layout) -> Option<NonNull<u8>> {
    map_with(layout, MapFlags::POPULATE)
}

/// As [`map`], but each page is put in place when it is first written.
#[cfg(not(ysuite_portable))]
pub(in crate::os) fn reserve(layout: Layout) -> Option<NonNull<u8>> {
    map_with(layout, MapFlags::empty())
}

fn map_with(layout: Layout, flags: MapFlags) -> Option<NonNull<u8>> {
    count_call();
    let flags = MapFlags::PRIVATE | flags;
    // SAFETY: a new mapping, at an address that the kernel chooses: no memory in use is affected.
    let memory = unsafe { mmap_anonymous(ptr::null_mut(), layout.size(), ProtFlags::READ | ProtFlags::WRITE, flags) };
    NonNull::new(memory.ok()?.cast())
}

/// Has the first `bytes` bytes' pages put in place at once, as they are. A hint: kernels before 5.14 do not know it, and
/// then each page is put in place when it is first written.
///
/// # Safety
/// `memory` is a mapping of at least so many bytes.
#[cfg(not(ysuite_portable))]
pub(in crate::os) unsafe fn populate(memory: NonNull<u8>, bytes: usize) {
    count_call();
    // SAFETY: by the caller; the call changes no byte.
    let _ = unsafe { madvise(memory.as_ptr().cast(), bytes, Advice::LinuxPopulateWrite) };
}

/// Gives the pages back to the kernel, and keeps the addresses: they read as zeros from then on.
///
/// # Safety
/// `memory` came from [`map`] or [`reserve`] with this layout. Nothing in it is used any more, and no thread writes to it
/// meanwhile; a thread that loads an atomic finds the old value or zero.
#[cfg(not(ysuite_portable))]
pub(in crate::os) unsafe fn discard(memory: NonNull<u8>, layout: Layout) {
    count_call();
    // SAFETY: by the caller. The call fails only for locked pages, which then stay as they are.
    let _ = unsafe { madvise(memory.as_ptr().cast(), layout.size(), Advice::LinuxDontNeed) };
}

/// # Safety
/// `memory` came from [`map`] or [`reserve`] with this layout, and no thread uses it any more.
pub(in crate::os) unsafe fn unmap(memory: NonNull<u8>, layout: Layout) {
    count_call();
    // SAFETY: by the caller this is a mapping of this length that no thread uses. The call cannot fail for such a
    // mapping; if it did, the memory would leak.
    let _ = unsafe { munmap(memory.as_ptr().cast(), layout.size()) };
}
