//! Whole pages from the kernel: for chunks that must go back to it (an allocator keeps memory that is returned to it as
//! long as younger memory above it is in use), and for a page that it wipes.
//!
//! Any thread, and no lock. Blocks of some tens of KiB, of which there may be a hundred thousand, are cut out of larger
//! maps: see [`regions`](super::regions). A larger one is a map of its own, in which each call is one system call. The
//! kernel may refuse to take a map back: a process may have no more than `vm.max_map_count` maps, and a hole makes two
//! of one. Such a map is kept without its pages, and used again.

use core::alloc::Layout;
use core::ffi::c_int;
use core::ptr::{self, NonNull};

#[cfg(not(ysuite_portable))]
use super::regions::{self, Content};
use super::sys::{self, MADV_DONTNEED, MADV_DONTNEED_LOCKED, MAP_POPULATE, PROT_READ_WRITE};
use crate::os::count_call;
use crate::sync::{AtomicPtr, Ordering};

/// Blocks of at least this many bytes come from the kernel and go back to it. Two system calls in a block's life.
#[cfg(not(ysuite_portable))]
const PAGES_FROM: usize = 32 * 1024;
/// The smallest page of any system: the kernel rounds a mapping up to whole pages, and its address is a multiple of
/// this.
pub(in crate::os) const PAGE: usize = 4096;

/// Whether a block comes from the kernel directly. Miri knows no such blocks.
#[cfg(not(ysuite_portable))]
pub(in crate::os) fn is_paged(layout: Layout) -> bool {
    // MUTANT: Speed only: from which size on blocks come from the kernel. Both functions use the same bound.
    !cfg!(miri) && layout.size() >= PAGES_FROM && layout.align() <= PAGE
}

/// Memory for a paged block; `None` where there is none. All its pages are in place: the caller is about to write them.
#[cfg(not(ysuite_portable))]
#[inline(never)]
pub(in crate::os) fn take(layout: Layout, is_zeroed: bool) -> Option<NonNull<u8>> {
    let content = if is_zeroed { Content::Zeros } else { Content::Any };
    if layout.size() <= regions::MOST { regions::take(layout, content) } else { map_with(layout, MAP_POPULATE) }
}

/// As [`take`] of zeroed memory, but each page is put in place when it is first written.
#[cfg(not(ysuite_portable))]
pub(in crate::os) fn reserve(layout: Layout) -> Option<NonNull<u8>> {
    if layout.size() <= regions::MOST { regions::take(layout, Content::Reserved) } else { map_with(layout, 0) }
}

/// # Safety
/// `memory` came from [`take`] or [`reserve`] with this layout, and no thread uses it any more.
#[cfg(not(ysuite_portable))]
#[inline(never)]
pub(in crate::os) unsafe fn give(memory: NonNull<u8>, layout: Layout) {
    // SAFETY: by the caller; the layout decides here as it does there.
    unsafe { if layout.size() <= regions::MOST { regions::give(memory, layout) } else { unmap(memory, layout) } }
}

/// A zeroed map for `layout`; `None` where there is no memory. All its pages are in place.
pub(in crate::os) fn map(layout: Layout) -> Option<NonNull<u8>> {
    map_with(layout, MAP_POPULATE)
}

#[inline(never)]
fn map_with(layout: Layout, flags: c_int) -> Option<NonNull<u8>> {
    if let Some(kept) = Kept::take(layout.size()) {
        #[cfg(not(ysuite_portable))]
        if flags & MAP_POPULATE != 0 {
            // SAFETY: a mapping of that length.
            unsafe { populate(kept, layout.size()) };
        }
        return Some(kept);
    }
    count_call();
    // SAFETY: a new mapping, at an address that the kernel chooses: no memory in use is affected.
    unsafe { sys::map(ptr::null_mut(), layout.size(), PROT_READ_WRITE, flags) }
}

/// Has the first `bytes` bytes' pages put in place at once, as they are. A hint: kernels before 5.14 do not know it,
/// and then each page is put in place when it is first written.
///
/// # Safety
/// `memory` is a mapping of at least `bytes` bytes.
#[cfg(not(ysuite_portable))]
pub(in crate::os) unsafe fn populate(memory: NonNull<u8>, bytes: usize) {
    // SAFETY: by the caller; the call changes no byte.
    unsafe { advise(memory, bytes, sys::MADV_POPULATE_WRITE) };
}

/// Gives the pages back to the kernel, and keeps the addresses: they read as zeros from then on. Pages that the program
/// has locked go back as well, and are locked again when they are next written; a kernel before 5.18 keeps those.
///
/// # Safety
/// `memory` came from [`take`] or [`reserve`] with this layout. Nothing in it is used any more, and no thread writes to
/// it meanwhile; a thread that loads an atomic finds the old value or zero.
#[cfg(not(ysuite_portable))]
pub(in crate::os) unsafe fn discard(memory: NonNull<u8>, layout: Layout) {
    // SAFETY: by the caller. Where the call fails the pages stay as they are.
    let _ = unsafe { drop_pages(memory, layout.size()) };
}

/// As [`discard`], for a mapping of `bytes` bytes; what the kernel does not take is cleared by a write.
///
/// # Safety
/// A mapping of `bytes` bytes, which no thread uses any more.
pub(super) unsafe fn give_pages_back(memory: NonNull<u8>, bytes: usize) {
    // SAFETY: by the caller.
    unsafe {
        if !drop_pages(memory, bytes) {
            memory.as_ptr().write_bytes(0, bytes);
        }
    }
}

/// False: the pages stay as they are.
///
/// # Safety
/// A mapping of `bytes` bytes, in which nothing is used.
unsafe fn drop_pages(memory: NonNull<u8>, bytes: usize) -> bool {
    // SAFETY: by the caller.
    unsafe { advise(memory, bytes, MADV_DONTNEED) || advise(memory, bytes, MADV_DONTNEED_LOCKED) }
}

/// Whether the kernel has followed this advice.
///
/// # Safety
/// A mapping of `bytes` bytes. The caller is responsible for what the advice does to it.
#[inline(never)]
pub(super) unsafe fn advise(memory: NonNull<u8>, bytes: usize, advice: c_int) -> bool {
    count_call();
    // SAFETY: by the caller.
    unsafe { sys::advise(memory.as_ptr(), bytes, advice) }
}

/// # Safety
/// `memory` came from [`map`], or from [`take`] or [`reserve`] as a map of its own, with this layout, and no thread
/// uses it any more.
#[inline(never)]
pub(in crate::os) unsafe fn unmap(memory: NonNull<u8>, layout: Layout) {
    count_call();
    // SAFETY: by the caller this is a mapping of this length that no thread uses. The kernel refuses where it would get
    // one map too many.
    unsafe {
        if !sys::unmap(memory.as_ptr(), layout.size()) {
            Kept::keep(memory, layout.size());
        }
    }
}

/// A map that the kernel has not taken back, in its first bytes. The others are zeros.
struct Kept {
    next: *mut Kept,
    bytes: usize,
}

/// All of them. A thread that searches takes them all, and puts back those it does not need: so no two threads use the
/// same one.
static KEPT: AtomicPtr<Kept> = AtomicPtr::new(ptr::null_mut());

impl Kept {
    /// # Safety
    /// A mapping of `bytes` bytes, which no thread uses any more.
    #[cold]
    unsafe fn keep(memory: NonNull<u8>, bytes: usize) {
        // SAFETY: by the caller.
        unsafe { give_pages_back(memory, bytes) };
        // SAFETY: a page at least, and aligned as one.
        unsafe { Self::put(memory.cast(), bytes) };
    }

    /// # Safety
    /// A mapping of `bytes` bytes that belongs to the calling thread.
    unsafe fn put(this: NonNull<Self>, bytes: usize) {
        // ORDERING: Relaxed; the exchange hands it over.
        let mut next = KEPT.load(Ordering::Relaxed);
        loop {
            // SAFETY: by the caller.
            unsafe { this.write(Self { next, bytes }) };
            // ORDERING: Release pairs with the Acquire in `take`. The ones after it are handed over by the Release of
            // their own exchange, whose release sequence this one continues.
            match KEPT.compare_exchange(next, this.as_ptr(), Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) => next = found,
            }
        }
    }

    /// One of `wanted` bytes, if there is one. Those of another size go back to the kernel, if it takes them now.
    fn take(wanted: usize) -> Option<NonNull<u8>> {
        // ORDERING: Relaxed; a hint.
        if KEPT.load(Ordering::Relaxed).is_null() {
            return None;
        }
        Self::look_for(wanted)
    }

    #[cold]
    fn look_for(wanted: usize) -> Option<NonNull<u8>> {
        // ORDERING: Acquire pairs with the Release in `put`: all that the list leads to.
        let mut rest = KEPT.swap(ptr::null_mut(), Ordering::Acquire);
        let mut found = None;
        while let Some(this) = NonNull::new(rest) {
            // SAFETY: the list was taken as a whole: all of it is this thread's.
            let Self { next, bytes } = unsafe { this.read() };
            rest = next;
            if found.is_none() && bytes == wanted {
                // SAFETY: as above. Then it is full of zeros again.
                unsafe { this.write_bytes(0, 1) };
                found = Some(this.cast());
                continue;
            }
            count_call();
            // SAFETY: as above: a mapping of that length, which no thread uses.
            unsafe {
                if !sys::unmap(this.as_ptr().cast(), bytes) {
                    Self::put(this, bytes);
                }
            }
        }
        found
    }
}
