//! Linux: sleep and wake by `futex(2)`, private to the process; the barrier of `membarrier(2)`; and whole pages from
//! the kernel, for chunks that must go back to it: an allocator keeps memory that it is given back as long as younger
//! memory above it is in use.
//!
//! Any thread; blocks in [`Platform::wait`] only.

use core::time::Duration;

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags, Timespec};

use super::{Platform, Waited, count_call, cpus, membarrier};
use crate::sync::AtomicU32;

pub(crate) struct Linux;

impl Platform for Linux {
    fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> Waited {
        // A duration that the kernel's clock cannot represent is no limit.
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        count_call();
        match futex::wait(word, Flags::PRIVATE, expected, timeout.as_ref()) {
            Err(Errno::TIMEDOUT) => Waited::TimedOut,
            // EAGAIN: the word had changed. EINTR: a signal handler ran. In both cases the caller looks again.
            _ => Waited::Look,
        }
    }

    fn wake(word: &AtomicU32, sleepers: u32) {
        count_call();
        // The only errors are about the address, and that of a reference is valid.
        let _ = futex::wake(word, Flags::PRIVATE, sleepers);
    }

    fn can_bar_others() -> bool {
        membarrier::available()
    }

    fn bar_others() {
        membarrier::all_threads();
    }

    fn cpus() -> usize {
        cpus::online()
    }
}

#[cfg(not(miri))]
pub(super) mod pages {
    use core::alloc::Layout;
    use core::ptr::{self, NonNull};

    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

    use crate::os::count_call;

    /// Blocks of at least this many bytes come from the kernel and go back to it. Two system calls in a block's life.
    const PAGES_FROM: usize = 32 * 1024;
    /// The address of a mapping is a multiple of this, on every system.
    const PAGE: usize = 4096;

    /// Whether a block comes from the kernel directly.
    pub(in crate::os) fn is_paged(layout: Layout) -> bool {
        layout.size() >= PAGES_FROM && layout.align() <= PAGE
    }

    /// Memory for `layout`, full of zeros; `None` where there is none. All its pages are in place: the caller is about
    /// to write them.
    pub(in crate::os) fn map(layout: Layout) -> Option<NonNull<u8>> {
        count_call();
        let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
        // SAFETY: a new mapping, at an address that the kernel chooses: no memory in use is affected.
        let memory =
            unsafe { mmap_anonymous(ptr::null_mut(), layout.size(), ProtFlags::READ | ProtFlags::WRITE, flags) };
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
}
