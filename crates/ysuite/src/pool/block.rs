//! A block: a header, followed by the bytes of a message or a value. Pointers always point to the first byte.
//!
//! ```text
//!   below 64 bytes     header 24 │ bytes …                 a line for up to 40 bytes; aligned to 8
//!   from 64 bytes on   ……………… header 24 │ bytes …           the header in a line before; aligned to 64
//! ```
//!
//! A block outside the pool has one owner, and nothing here is shared. A block in the pool has no owner, and no thread
//! reads its header.

use core::ptr::NonNull;
#[cfg(feature = "in-place")]
// A mark, not the façade's: it orders nothing, and a model need not explore it.
use core::sync::atomic::{AtomicU32, Ordering};

use super::class::Class;
use super::magazine::Entry;
use super::thread_cache;

/// Blocks of this many bytes or more are aligned to it; the stride of every class is a multiple of it.
pub(super) const LINE: usize = 64;

pub(super) struct Header {
    /// The class of the block. Never changes.
    class: *const Class,
    /// The number of the block in its class. Never changes.
    pub(super) index: u32,
    /// Bytes of the message or of the value.
    pub(super) len: u32,
    /// The number of the thread that took the block.
    pub(super) taker: u32,
    /// [`LENT`] while another language has the block.
    #[cfg(feature = "in-place")]
    lent: AtomicU32,
}

/// The word in the header of a block that another language has, and in no other memory, as far as a word can tell.
#[cfg(feature = "in-place")]
const LENT: u32 = 0x5953_424C;

/// A block that was taken out of the pool and is not back yet: the address of its first byte.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Block(NonNull<u8>);

/// For a block of `bytes`: the offset of its first byte, and its stride.
pub(super) fn layout(bytes: usize) -> (usize, Option<usize>) {
    let lead = if bytes < LINE { size_of::<Header>() } else { LINE };
    (lead, bytes.checked_add(lead).and_then(|all| all.checked_next_multiple_of(LINE)))
}

impl Block {
    /// # Safety
    /// `first` is the first byte of a block, after its header, and the block exists as long as this.
    pub(super) unsafe fn new(first: NonNull<u8>) -> Self {
        Self(first)
    }

    #[inline(always)]
    pub(super) fn first(self) -> NonNull<u8> {
        self.0
    }

    #[inline(always)]
    fn at(self) -> *mut Header {
        // SAFETY: the header is right before the first byte.
        unsafe { self.0.as_ptr().cast::<Header>().sub(1) }
    }

    /// Writes the header, before any thread takes the block.
    pub(super) fn make(self, class: *const Class, index: u32) {
        // SAFETY: no other thread has the block yet; it is aligned to at least 8.
        unsafe {
            self.at().write(Header {
                class,
                index,
                len: 0,
                taker: 0,
                #[cfg(feature = "in-place")]
                lent: AtomicU32::new(0),
            });
        }
    }

    /// Another language has the block from now on.
    #[cfg(feature = "in-place")]
    pub(super) fn lend(self) {
        // ORDERING: Relaxed; the thread that has the block hands it over as memory is handed over, and this guards
        // nothing.
        self.header().lent.store(LENT, Ordering::Relaxed);
    }

    /// Whether another language has the block.
    ///
    /// # Safety
    /// Only this word of the header is read: the memory before the first byte exists, for the length of a header.
    #[cfg(feature = "in-place")]
    pub(super) unsafe fn is_lent(self) -> bool {
        // SAFETY: by the caller the memory is there; the word is an atomic, as others may have the block.
        let lent = unsafe { &(*self.at()).lent };
        // ORDERING: Relaxed; as in `lend`.
        lent.load(Ordering::Relaxed) == LENT
    }

    /// Another language no longer has the block. False: it did not have it.
    ///
    /// # Safety
    /// As for [`is_lent`](Self::is_lent).
    #[cfg(feature = "in-place")]
    pub(super) unsafe fn end_loan(self) -> bool {
        // SAFETY: by the caller.
        if !unsafe { self.is_lent() } {
            return false;
        }
        // ORDERING: Relaxed; as in `lend`. No read-modify-write: two callers that do this at the same time may both
        // succeed.
        // SAFETY: by the caller.
        unsafe { &(*self.at()).lent }.store(0, Ordering::Relaxed);
        true
    }

    #[inline(always)]
    pub(super) fn header<'a>(self) -> &'a Header {
        // SAFETY: `make` wrote the header with the pool; only the block's owner changes it, by `header_mut`.
        unsafe { &*self.at() }
    }

    /// # Safety
    /// The caller owns the block, and has no other reference to its header.
    #[inline(always)]
    pub(super) unsafe fn header_mut<'a>(self) -> &'a mut Header {
        // SAFETY: the caller owns the block, and has no other reference to its header.
        unsafe { &mut *self.at() }
    }

    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.header().len as usize
    }

    #[inline(always)]
    pub(super) fn class<'a>(self) -> &'a Class {
        // SAFETY: a block that is out of its pool keeps the pool's tables alive.
        unsafe { &*self.header().class }
    }

    /// Gives the block back to its pool. `typed`: its first `len` bytes may not all be initialised.
    #[inline(always)]
    pub(super) fn free(self, typed: bool) {
        let (class, header) = (self.class(), self.header());
        // MUTANT: Models only: it reports an access to the model checker.
        class.race_check.touch(header.index);
        // The share that is returned may be the last that keeps the class alive.
        drop(thread_cache::put(class, Entry::used(header.index, typed), header.taker));
    }
}

#[cfg(all(test, not(ysuite_loom), target_pointer_width = "64"))]
mod tests {
    #[test]
    fn a_block_takes_what_is_said_of_it() {
        for (bytes, first, all) in
            [(1, 24, 64), (40, 24, 64), (41, 24, 128), (63, 24, 128), (64, 64, 128), (65, 64, 192)]
        {
            assert_eq!(super::layout(bytes), (first, Some(all)), "{bytes} bytes");
        }
    }
}
