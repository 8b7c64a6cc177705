//! Memory that one process writes and another reads.
//!
//! An [`Own`] region is a memfd of this process: mapped for writing, and then sealed, so that no descriptor of it, in
//! whatever process, can be used to write it, to shrink it or to make a hole in it. A [`Peer`] region is what another
//! process has sent: it is mapped for reading, and only if its seals, its size and its pages are such that a read of it
//! cannot fault. What is sealed against all writing, by its owner too, is [`Sealed`], and plain bytes; until then it is a
//! [`Draft`]. On both sides of each mapping is a page without any access, so that a bound that is wrong by one
//! stops the program instead of reading what lies beside.
//!
//! Any thread may call. Nothing blocks. A region cannot grow, and a forked child does not have it (`MADV_DONTFORK`).

use core::ffi::c_int;
use core::ptr::NonNull;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use super::refused;
use super::sys::{
    self, Errno, PROT_READ, PROT_WRITE, SEAL_FUTURE_WRITE, SEAL_GROW, SEAL_SEAL, SEAL_SHRINK, SEAL_WRITE,
};
use crate::sync::AtomicU64;
use crate::{Error, Why};

/// The unit of sizes: a page, as this crate counts them. Kernels with larger ones round a mapping up themselves.
pub(crate) const PAGE: usize = 4096;

/// What a peer's memory must have: nothing may take pages away, and no new way of writing may be opened.
const NEEDED: c_int = SEAL_SHRINK | SEAL_GROW | SEAL_SEAL;

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
    fn new(fd: BorrowedFd<'_>, bytes: usize, access: c_int) -> Result<Self, Errno> {
        let guard = sys::page_size();
        let reserved = sys::reserve(bytes.next_multiple_of(guard) + 2 * guard)?;
        // SAFETY: within what was reserved.
        let start = unsafe { reserved.add(guard) };
        // From here on a failure unmaps what is reserved.
        let map = Self { start, bytes, guard, process: super::process() };
        // SAFETY: pages of the reservation above, which nothing else uses.
        unsafe { sys::map_at(start, bytes, access, fd)? };
        Ok(map)
    }

    /// The word at this many bytes from the start.
    #[inline(always)]
    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at % 8 == 0 && at < self.bytes && self.bytes - at >= 8, "a word within the region");
        // SAFETY: aligned and within the mapping, which lives as long as `self`; all accesses to it in this process are
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
        unsafe { sys::unmap(self.start.as_ptr().wrapping_sub(self.guard), whole) };
    }
}

/// Memory that this process writes and others may read.
pub(crate) struct Own {
    map: Map,
    memfd: OwnedFd,
}

/// From this number of bytes on it is asked how much memory there is.
const LARGE: u64 = 16 << 20;

/// A memfd with all its pages. For more than there is the kernel would take page after page, and then end processes, also others.
fn populated(bytes: usize) -> Result<OwnedFd, Errno> {
    if bytes as u64 >= LARGE && !fits(bytes as u64, std::fs::read_to_string("/proc/meminfo").ok().as_deref()) {
        return Err(Errno::NOMEM);
    }
    let memfd = sys::memfd()?;
    sys::allocate(memfd.as_fd(), bytes)?;
    Ok(memfd)
}

/// Whether the kernel could give this number of bytes without taking them from somebody, as it says itself. One that says nothing
/// decides by giving them.
fn fits(bytes: u64, meminfo: Option<&str>) -> bool {
    let line = meminfo.and_then(|lines| lines.lines().find_map(|line| line.strip_prefix("MemAvailable:")));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibibytes.is_none_or(|kibibytes| bytes / 1_024 < kibibytes)
}

impl Own {
    /// A region of this size, which is a multiple of [`PAGE`], all zero, with all its pages.
    pub(crate) fn new(bytes: usize) -> Result<Self, Error> {
        debug_assert!(bytes != 0 && bytes % PAGE == 0);
        let memfd = populated(bytes).map_err(refused)?;
        let map = Map::new(memfd.as_fd(), bytes, PROT_READ | PROT_WRITE).map_err(refused)?;
        match sys::add_seals(memfd.as_fd(), NEEDED | SEAL_FUTURE_WRITE) {
            Ok(()) => Ok(Self { map, memfd }),
            // Before Linux 5.1 the peer could map it for writing.
            Err(Errno::INVAL) => Err(Error::Refused(Why::Kernel)),
            Err(error) => Err(refused(error)),
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

    /// The address of its first byte: the region may be written through it, by atomics; or plainly, where nobody reads it
    /// meanwhile, and no [`word`](Self::word) is used.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.map.start
    }
}

/// Maps what a peer has sent, if no read of it can fault, and if it has one of these seals against writing.
fn map_sent(memfd: BorrowedFd<'_>, largest: usize, unwritable: c_int) -> Result<Map, Error> {
    let no = |why| Err(Error::Refused(why));
    let Some(seals) = sys::seals(memfd) else { return no(Why::NotMemory) };
    if seals & NEEDED != NEEDED || seals & unwritable == 0 {
        return no(Why::Seals);
    }
    if sys::file_system(memfd).map_err(refused)? != TMPFS {
        return no(Why::NotMemory);
    }
    // What is sealed does not change: what is read here stays true.
    let facts = sys::facts(memfd).map_err(refused)?;
    let bytes = usize::try_from(facts.size()).unwrap_or(0);
    if bytes < PAGE || bytes % PAGE != 0 || bytes > largest {
        return no(Why::Size);
    }
    // To read a hole would take memory, on this process's account, or fault.
    if facts.blocks() < bytes as u64 / 512 {
        return no(Why::Holes);
    }
    Map::new(memfd, bytes, PROT_READ).map_err(refused)
}

/// Memory that another process writes. Everything in it may change at any time to anything.
pub(crate) struct Peer {
    map: Map,
}

impl Peer {
    /// Maps what a peer has sent, if no read of it can fault: of at least a page and at most `largest` bytes.
    pub(crate) fn map(memfd: BorrowedFd<'_>, largest: usize) -> Result<Self, Error> {
        Ok(Self { map: map_sent(memfd, largest, SEAL_FUTURE_WRITE | SEAL_WRITE)? })
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

/// Memory that this process fills, and that nobody else has: not shared yet.
pub(crate) struct Draft {
    map: Map,
    memfd: OwnedFd,
}

impl Draft {
    /// At least this number of bytes, all zero, with all pages.
    pub(crate) fn new(bytes: usize) -> Result<Self, Error> {
        let bytes = bytes.max(1).checked_next_multiple_of(PAGE).ok_or(Error::Refused(Why::Capacity))?;
        let memfd = populated(bytes).map_err(refused)?;
        let map = Map::new(memfd.as_fd(), bytes, PROT_READ | PROT_WRITE).map_err(refused)?;
        Ok(Self { map, memfd })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is as long, and lives as long as `self`; nobody else has the memory.
        unsafe { core::slice::from_raw_parts(self.map.start.as_ptr(), self.map.bytes) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed for as long.
        unsafe { core::slice::from_raw_parts_mut(self.map.start.as_ptr(), self.map.bytes) }
    }

    /// From now on nobody writes it, this process neither.
    pub(crate) fn seal(self) -> Result<OwnedFd, Error> {
        let Self { map, memfd } = self;
        // The kernel seals no memory that is mapped for writing.
        drop(map);
        sys::add_seals(memfd.as_fd(), NEEDED | SEAL_WRITE).map_err(refused)?;
        Ok(memfd)
    }
}

/// Memory that another process has sent, and that nobody can write any more.
pub(crate) struct Sealed {
    map: Map,
}

impl Sealed {
    /// As [`Peer::map`], of memory that is sealed against all writing.
    pub(crate) fn map(memfd: BorrowedFd<'_>, largest: usize) -> Result<Self, Error> {
        Ok(Self { map: map_sent(memfd, largest, SEAL_WRITE)? })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is as long, and lives as long as `self`. Its seal says that no process has the memory mapped
        // for writing, nor will have, nor can write it in another way: these bytes are always the same.
        unsafe { core::slice::from_raw_parts(self.map.start.as_ptr(), self.map.bytes) }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests;
