//! A message: bytes in a block of a pool, in one pointer.
//!
//! One owner, any thread. Dropping a message gives the block back: see the table of [`pool`](super). All other
//! operations are wait-free.

use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::slice;

use super::block::Block;
use super::error::TooLong;

/// Bytes in a block of a [`Pool`](super::Pool), of the length given when it was taken. It is one pointer wide, and so
/// is an `Option` of it.
///
/// Any thread may have it, write, read and drop it. Dropping it gives its block back to the pool. The pool's memory
/// lasts until its last message is dropped.
///
/// [`Pool::new`](super::Pool::new) documents the content of a new message.
#[doc = cost!(pool DROP)]
#[repr(transparent)]
pub struct Message(pub(super) Block);

// SAFETY: a message owns its block and the bytes in it, and any thread may give a block back.
unsafe impl Send for Message {}
// SAFETY: a shared message can only be read.
unsafe impl Sync for Message {}

impl Message {
    /// Its block, for a value.
    pub(super) fn into_block(self) -> Block {
        ManuallyDrop::new(self).0
    }

    /// Returns the number of bytes in its block: the size of its class.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.0.class().bytes
    }

    /// Keeps the first `len` bytes. Does nothing if there are no more, as with `Vec`.
    pub fn truncate(&mut self, len: usize) {
        // MUTANT: The length stays as it is.
        if len < self.len() {
            self.set_len(len);
        }
    }

    /// Changes the length within the block; new bytes are `value`, as with `Vec`.
    ///
    /// # Errors
    /// If the block has no room for `len` bytes. The message stays as it was.
    pub fn resize(&mut self, len: usize, value: u8) -> Result<(), TooLong> {
        let (before, bound) = (self.len(), self.capacity());
        if len > bound {
            return Err(TooLong { len, bound });
        }
        self.set_len(len);
        // MUTANT: No byte is filled when the length stays as it is.
        if len > before {
            self[before..].fill(value);
        }
        Ok(())
    }

    /// `len` is at most the block's size. All bytes of a message's block are initialised.
    fn set_len(&mut self, len: usize) {
        // SAFETY: the message owns its block, and is borrowed mutably.
        unsafe { self.0.header_mut() }.len = len as u32;
    }

    /// Turns the message into the address of its first byte, for interfaces that carry addresses only. The bytes may be
    /// used through the address. Only [`from_raw`](Self::from_raw) gets the block back.
    #[must_use = "the block is lost to its pool if the address is"]
    pub fn into_raw(self) -> NonNull<u8> {
        ManuallyDrop::new(self).0.first()
    }

    /// As [`into_raw`](Self::into_raw), for a language that may give the block back twice:
    /// [`take_back`](Self::take_back) checks.
    #[cfg(feature = "in-place")]
    #[doc(hidden)]
    #[must_use = "the block is lost to its pool if the address is"]
    pub fn lend(self) -> NonNull<u8> {
        self.0.lend();
        self.into_raw()
    }

    /// Whether the address came from [`lend`](Self::lend), and its block has not been taken back since. It cannot
    /// recognise a block that was lent anew, and it recognises other memory by one word only.
    ///
    /// # Safety
    /// The 24 bytes before it may be read.
    #[cfg(feature = "in-place")]
    #[doc(hidden)]
    #[must_use]
    pub unsafe fn is_lent(first: NonNull<u8>) -> bool {
        // SAFETY: by the caller; if it is no block, no other memory is read.
        unsafe { Block::new(first).is_lent() }
    }

    /// Returns the message that was [lent](Self::lend), unless [`is_lent`](Self::is_lent) finds that it was not.
    ///
    /// # Safety
    /// As for [`is_lent`](Self::is_lent); and as for [`from_raw`](Self::from_raw), except that the block may have been
    /// taken back.
    #[cfg(feature = "in-place")]
    #[doc(hidden)]
    #[must_use = "the block goes back to its pool at once if this is not used"]
    pub unsafe fn take_back(first: NonNull<u8>) -> Option<Self> {
        // SAFETY: by the caller.
        let block = unsafe { Block::new(first) };
        // SAFETY: by the caller.
        unsafe { block.end_loan() }.then(|| Self(block))
    }

    /// Makes the message whose first byte is at `first`.
    ///
    /// # Safety
    /// The address came from [`into_raw`](Self::into_raw), and no message has been made from it since. All bytes are
    /// initialised. If another thread had the address before, its accesses happen before this call.
    #[must_use = "the block goes back to its pool at once if this is not used"]
    pub unsafe fn from_raw(first: NonNull<u8>) -> Self {
        // SAFETY: the address is that of a block's first byte: it came from `into_raw`.
        Self(unsafe { Block::new(first) })
    }
}

impl Deref for Message {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the message owns its block, which has `len` initialised bytes.
        unsafe { slice::from_raw_parts(self.0.first().as_ptr(), self.0.len()) }
    }
}

impl DerefMut for Message {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: the message owns its block, which has `len` initialised bytes, and is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.0.first().as_ptr(), self.0.len()) }
    }
}

// USER CODE: the allocator only, where a thread past its thread-locals needs a magazine; the block has no owner; panic:
//     impossible; test: tests/suite/pool/late.rs:
//     hundreds_of_thousands_of_blocks_dropped_past_thread_locals_are_all_there
impl Drop for Message {
    #[inline]
    fn drop(&mut self) {
        self.0.free(false);
    }
}

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl AsMut<[u8]> for Message {
    fn as_mut(&mut self) -> &mut [u8] {
        self
    }
}

/// The sizes, not the bytes.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("len", &self.len()).field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}
