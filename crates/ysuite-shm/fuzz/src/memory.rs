//! Memory that this process writes, also behind the back of who maps it.

use core::ffi::c_void;
use core::ptr::null_mut;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

pub const PAGE: usize = 4096;
/// Where a sender's ring begins.
pub const RING: usize = PAGE;
/// The words that change.
pub const ASLEEP: usize = 128;
pub const FENCED: usize = 256;
pub const CONSUMED: usize = 384;
pub const GIVEN_BACK: usize = 392;
pub const CLOSED: usize = 512;
pub const PUBLISHED: usize = 640;
pub const BEGUN: usize = 648;
pub const FROM: usize = 768;
pub const WORDS: [usize; 8] = [ASLEEP, FENCED, CONSUMED, GIVEN_BACK, CLOSED, PUBLISHED, BEGUN, FROM];
/// The words that do not: magic, version, role and kind, size, alignment, capacity, bytes, the name, flags, processor.
pub const HEADER: [usize; 12] = [0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88];

pub struct Memory {
    memfd: OwnedFd,
    start: *mut c_void,
    bytes: usize,
}

impl Memory {
    /// Zeros, sealed as it must be.
    pub fn new(bytes: usize) -> Self {
        Self::with(bytes, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL | SealFlags::FUTURE_WRITE, false)
    }

    /// With these seals, and with pages that are not there yet.
    pub fn with(bytes: usize, seals: SealFlags, has_holes: bool) -> Self {
        let memfd = rustix::fs::memfd_create("liar", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).expect("a memfd");
        rustix::fs::ftruncate(&memfd, bytes as u64).expect("memory");
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        let populated = if has_holes { MapFlags::empty() } else { MapFlags::POPULATE };
        // SAFETY: a new mapping.
        let start =
            unsafe { rustix::mm::mmap(null_mut(), bytes, access, flags | populated, &memfd, 0) }.expect("memory");
        rustix::fs::fcntl_add_seals(&memfd, seals).expect("seals");
        Self { memfd, start, bytes }
    }

    fn word(&self, at: usize) -> Option<&AtomicU64> {
        // SAFETY: aligned, and within the mapping, which lives as long as `self`.
        (at.is_multiple_of(8) && at + 8 <= self.bytes)
            .then(|| unsafe { &*self.start.cast::<u8>().add(at).cast::<AtomicU64>() })
    }

    pub fn get(&self, at: usize) -> u64 {
        // ORDERING: Relaxed; one thread.
        self.word(at).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Writes a word, if it is within the memory.
    pub fn set(&self, at: usize, value: u64) {
        if let Some(word) = self.word(at) {
            // ORDERING: Relaxed; one thread.
            word.store(value, Ordering::Relaxed);
        }
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl AsFd for Memory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.memfd.as_fd()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: what `with` has mapped; borrows of it have ended.
        unsafe { rustix::mm::munmap(self.start, self.bytes) }.expect("its own mapping");
    }
}
