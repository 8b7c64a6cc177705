//! A block: a header, and behind it the bytes of a message or a value. What is pointed to is always the first byte.
//!
//! ```text
//!   below 64 bytes     header 24 │ bytes …                 a line for up to 40 bytes; aligned to 8
//!   from 64 bytes on   ……………… header 24 │ bytes …           the header in a line before; aligned to 64
//! ```
//!
//! Whoever has a block out of the pool is its only owner; nothing here is shared. A block in the pool is nobody's, and its
//! header is not looked at.

use core::ptr::NonNull;

use super::class::Class;

/// What bytes are aligned to from a block of so many bytes on, and what blocks take multiples of.
pub(super) const LINE: usize = 64;

pub(super) struct Header {
    /// Whose block it is. Never changes.
    class: *const Class,
    /// Which of its blocks. Never changes.
    index: u32,
    /// Bytes of the message, or of the value.
    pub(super) len: u32,
    /// The thread that has taken it.
    pub(super) taker: u32,
}

/// A block that has been taken out of the pool and is not back yet: its first byte.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Block(NonNull<u8>);

/// Where the bytes of a block begin, and what it takes in all, by how many bytes it has.
pub(super) fn layout(bytes: usize) -> (usize, Option<usize>) {
    let lead = if bytes < LINE { size_of::<Header>() } else { LINE };
    (lead, bytes.checked_add(lead).and_then(|all| all.checked_next_multiple_of(LINE)))
}

impl Header {
    #[inline(always)]
    pub(super) fn index(&self) -> u32 {
        self.index
    }
}

impl Block {
    /// # Safety
    /// The first byte of a block, behind a header, as long as it exists.
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

    /// Makes the header, before anybody has the block.
    pub(super) fn make(self, class: *const Class, index: u32) {
        // SAFETY: nobody else has the block; it is aligned to at least 8.
        unsafe { self.at().write(Header { class, index, len: 0, taker: 0 }) };
    }

    #[inline(always)]
    pub(super) fn header<'a>(self) -> &'a Header {
        // SAFETY: made with the pool, and only its owner writes it, by `header_mut`.
        unsafe { &*self.at() }
    }

    /// # Safety
    /// The caller owns the block, and nobody looks at its header meanwhile.
    #[inline(always)]
    pub(super) unsafe fn header_mut<'a>(self) -> &'a mut Header {
        // SAFETY: by the caller.
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

    /// Gives the block back. `typed`: its bytes, as many as its length says, may not all be initialised.
    #[inline(always)]
    pub(super) fn free(self, typed: bool) {
        let class = self.class();
        drop(class.put(self, typed));
    }
}
