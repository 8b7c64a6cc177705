//! Memory that one process writes and another reads.
//!
//! An [`Own`] region is a memfd of this process: mapped for writing, and then sealed, so that no descriptor of it, in
//! whatever process, can be used to write it, to shrink it or to make a hole in it. A [`Peer`] region is what another
//! process has sent: it is mapped for reading, and only if its seals, its size and its pages are such that a read of it
//! cannot fault. On both sides of each mapping is a page without any access, so that a bound that is wrong by one
//! stops the program instead of reading what lies beside.
//!
//! Any thread may call. Nothing blocks. A region cannot grow, and a forked child does not have it (`MADV_DONTFORK`).

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::os::refused;
use crate::sync::AtomicU64;
use crate::{Error, Why};

/// The unit of sizes: a page, as this crate counts them. Kernels with larger ones round a mapping up themselves.
pub(crate) const PAGE: usize = 4096;

/// What a peer's memory must have: nothing may take pages away, and no new way of writing may be opened.
const NEEDED: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// The file systems of a memfd: `TMPFS_MAGIC`. Memory of huge pages is another: reading it may fault.
const TMPFS: u64 = 0x0102_1994;

/// A mapping with a page without access on both sides. Unmapped when dropped.
struct Map {
    start: NonNull<u8>,
    bytes: usize,
    guard: usize,
    /// The process that has it: a forked child does not, and may have something else there.
    process: u32,
}

// SAFETY: an address range that this value alone unmaps; what is in it is used by atomics only.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    fn new(fd: BorrowedFd<'_>, bytes: usize, access: ProtFlags) -> Result<Self, Errno> {
        let guard = rustix::param::page_size();
        let whole = bytes.next_multiple_of(guard) + 2 * guard;
        // SAFETY: a new mapping wherever the kernel likes; no reference into it exists.
        let reserved = unsafe {
            rustix::mm::mmap_anonymous(
                ptr::null_mut(),
                whole,
                ProtFlags::empty(),
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )?
        };
        let start = reserved.cast::<u8>().wrapping_add(guard).cast::<c_void>();
        // From here on a failure unmaps what is reserved.
        let start_of_map = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
        let map = Self { start: start_of_map, bytes, guard, process: super::process() };
        // SAFETY: it replaces pages of the reservation above, which nothing else uses.
        unsafe { rustix::mm::mmap(start, bytes, access, MapFlags::SHARED | MapFlags::FIXED, fd, 0)? };
        // SAFETY: the range is this mapping.
        unsafe { rustix::mm::madvise(start, bytes, Advice::LinuxDontFork)? };
        Ok(map)
    }

    /// The word at this many bytes from the start.
    #[inline(always)]
    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8) && at < self.bytes && self.bytes - at >= 8, "a word within the region");
        // SAFETY: aligned and within the mapping, which lives as long as `self`; all accesses in this process are
        // atomic, and of another process the kernel lets none write but the owner.
        unsafe { &*self.start.as_ptr().add(at).cast::<AtomicU64>() }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        if self.process != super::process() {
            return;
        }
        let whole = self.bytes.next_multiple_of(self.guard) + 2 * self.guard;
        // SAFETY: what `new` has reserved, with what has been mapped into it; borrows of it have ended.
        let unmapped = unsafe { rustix::mm::munmap(self.start.as_ptr().wrapping_sub(self.guard).cast(), whole) };
        debug_assert!(unmapped.is_ok());
    }
}

/// Memory that this process writes and others may read.
pub(crate) struct Own {
    map: Map,
    memfd: OwnedFd,
}

impl Own {
    /// A region of this size, which is a multiple of [`PAGE`], all zero, with all its pages.
    pub(crate) fn new(bytes: usize) -> Result<Self, Error> {
        debug_assert!(bytes != 0 && bytes.is_multiple_of(PAGE));
        let memfd = Self::create().map_err(refused)?;
        rustix::fs::ftruncate(&memfd, bytes as u64).map_err(refused)?;
        // Now, as an error, and not later as a SIGBUS.
        rustix::fs::fallocate(&memfd, FallocateFlags::empty(), 0, bytes as u64).map_err(refused)?;
        let map = Map::new(memfd.as_fd(), bytes, ProtFlags::READ | ProtFlags::WRITE).map_err(refused)?;
        match rustix::fs::fcntl_add_seals(&memfd, NEEDED | SealFlags::FUTURE_WRITE) {
            Ok(()) => Ok(Self { map, memfd }),
            // Before Linux 5.1 the peer could map it for writing.
            Err(Errno::INVAL) => Err(Error::Refused(Why::Kernel)),
            Err(error) => Err(refused(error)),
        }
    }

    fn create() -> Result<OwnedFd, Errno> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        match rustix::fs::memfd_create("ysuite-shm", flags | MemfdFlags::NOEXEC_SEAL) {
            // Before Linux 6.3.
            Err(Errno::INVAL) => rustix::fs::memfd_create("ysuite-shm", flags),
            other => other,
        }
    }

    /// The descriptor by which another process maps it.
    pub(crate) fn memfd(&self) -> BorrowedFd<'_> {
        self.memfd.as_fd()
    }

    /// The word at this many bytes from the start. Panics outside.
    #[inline(always)]
    pub(crate) fn word(&self, at: usize) -> &AtomicU64 {
        self.map.word(at)
    }

    /// The address of its first byte: the region may be written through it, by atomics.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.map.start
    }
}

/// Memory that another process writes. Everything in it may change at any time to anything.
pub(crate) struct Peer {
    map: Map,
}

impl Peer {
    /// Maps what a peer has sent, if no read of it can fault: of at least a page and at most `largest` bytes.
    pub(crate) fn map(memfd: BorrowedFd<'_>, largest: usize) -> Result<Self, Error> {
        let no = |why| Err(Error::Refused(why));
        let Ok(seals) = rustix::fs::fcntl_get_seals(memfd) else { return no(Why::NotMemory) };
        if !seals.contains(NEEDED) || !seals.intersects(SealFlags::FUTURE_WRITE | SealFlags::WRITE) {
            return no(Why::Seals);
        }
        let kind = rustix::fs::fstatfs(memfd).map_err(refused)?;
        if kind.f_type as u64 != TMPFS {
            return no(Why::NotMemory);
        }
        // What is sealed does not change: what is read here stays true.
        let facts = rustix::fs::fstat(memfd).map_err(refused)?;
        let bytes = usize::try_from(facts.st_size).unwrap_or(0);
        if bytes < PAGE || !bytes.is_multiple_of(PAGE) || bytes > largest {
            return no(Why::Size);
        }
        // To read a hole would take memory, on this process's account, or fault.
        if u64::try_from(facts.st_blocks).unwrap_or(0) < bytes as u64 / 512 {
            return no(Why::Holes);
        }
        Ok(Self { map: Map::new(memfd, bytes, ProtFlags::READ).map_err(refused)? })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.map.bytes
    }

    /// The word at this many bytes from the start, for relaxed loads only: the memory is read-only. Panics outside.
    #[inline(always)]
    pub(crate) fn word(&self, at: usize) -> &AtomicU64 {
        self.map.word(at)
    }

    /// The address of its first byte, for relaxed loads.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.map.start
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests;
