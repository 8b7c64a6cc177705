//! Whole pages from the kernel: for chunks that must go back to it (an allocator keeps memory that it is given back as
//! long as younger memory above it is in use), and for a page that it wipes.
//!
//! Any thread; each call is one system call.

use core::alloc::Layout;
use core::ptr::{self, NonNull};

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
    count_call();
    let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
    // SAFETY: a new mapping, at an address that the kernel chooses: no memory in use is affected.
    let memory = unsafe { mmap_anonymous(ptr::null_mut(), layout.size(), ProtFlags::READ | ProtFlags::WRITE, flags) };
    NonNull::new(memory.ok()?.cast())
}

/// # Safety
/// `memory` came from [`map`] with this layout, and no thread uses it any more.
pub(in crate::os) unsafe fn unmap(memory: NonNull<u8>, layout: Layout) {
    count_call();
    // SAFETY: by the caller this is a mapping of this length that no thread uses. The call cannot fail for such a
    // mapping; if it did, the memory would leak.
    let _ = unsafe { munmap(memory.as_ptr().cast(), layout.size()) };
}
