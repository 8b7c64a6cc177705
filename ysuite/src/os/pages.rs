//! Whole pages from the kernel, for chunks that must go back to it: an allocator keeps what it is given back as long as
//! something younger is in use above it. Any thread; two system calls in a chunk's life.

use core::alloc::Layout;
use core::ptr::{self, NonNull};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::count_call;

/// Memory for `layout`, or nothing. All of it is in place: whoever asks is about to write it.
pub(super) fn map(layout: Layout) -> Option<NonNull<u8>> {
    count_call();
    let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
    // SAFETY: a new mapping, at an address of the kernel's choice.
    let memory = unsafe { mmap_anonymous(ptr::null_mut(), layout.size(), ProtFlags::READ | ProtFlags::WRITE, flags) };
    NonNull::new(memory.ok()?.cast())
}

/// # Safety
/// `memory` came from [`map`] with this layout, and nobody uses it any more.
pub(super) unsafe fn unmap(memory: NonNull<u8>, layout: Layout) {
    count_call();
    // SAFETY: by the caller. It cannot fail for a mapping that exists; if it did, the memory would leak.
    let _ = unsafe { munmap(memory.as_ptr().cast(), layout.size()) };
}
