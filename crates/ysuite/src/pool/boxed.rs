//! A value in a block of a pool, in one pointer: like `Box`, without the allocator.
//!
//! One owner, on any thread that the value may be sent to. Dropping the box gives the block back: see the table of
//! [`pool`](super).

use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use super::block::Block;

/// A value in a block of a [`Pool`](super::Pool). It is one pointer wide, and so is an `Option` of it.
///
/// The thread that drops the box gives the block back, even if the value's `Drop` panics.
#[doc = cost!(pool DROP)]
#[repr(transparent)]
pub struct PoolBox<T> {
    block: Block,
    owns: PhantomData<T>,
}

// SAFETY: the box owns a `T`, and any thread may give a block back.
unsafe impl<T: Send> Send for PoolBox<T> {}
// SAFETY: a shared box only lends a shared `T`.
unsafe impl<T: Sync> Sync for PoolBox<T> {}

impl<T> PoolBox<T> {
    /// Moves a value into a block that was just taken; the block has `size_of::<T>()` bytes and the alignment.
    pub(super) fn new(block: Block, value: T) -> Self {
        let boxed = Self { block, owns: PhantomData };
        // SAFETY: `Pool::class_of` chose a class with the size and the alignment of a `T`.
        unsafe { boxed.at().as_ptr().write(value) };
        boxed
    }

    fn at(&self) -> NonNull<T> {
        self.block.first().cast()
    }

    // USER CODE: none before the block is back (the caller drops the value); test: tests/suite/pool/values.rs:
    //     a_value_lives_in_its_block_and_ends_once
    /// Takes the value out, and gives the block back.
    #[must_use]
    pub fn into_inner(self) -> T {
        let boxed = ManuallyDrop::new(self);
        // SAFETY: the value is in the block, and the box is not dropped, so this is its last use.
        let value = unsafe { boxed.at().as_ptr().read() };
        boxed.block.free(true);
        value
    }

    /// Turns the box into the address of its value. Only [`from_raw`](Self::from_raw) gets the block back.
    #[must_use = "the block is lost to its pool if the address is"]
    pub fn into_raw(self) -> NonNull<T> {
        ManuallyDrop::new(self).at()
    }

    /// Makes the box whose value is at `value`.
    ///
    /// # Safety
    /// The address came from [`into_raw`](Self::into_raw), and no box has been made from it since. The value is a valid
    /// `T`. If another thread had the address before, its accesses happen before this call, and this thread may have
    /// the value.
    #[must_use = "the block goes back to its pool at once if this is not used"]
    pub unsafe fn from_raw(value: NonNull<T>) -> Self {
        // SAFETY: the address is that of a block's first byte: it came from `into_raw`.
        Self { block: unsafe { Block::new(value.cast()) }, owns: PhantomData }
    }
}

impl<T> Deref for PoolBox<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the value is in the block as long as the box exists.
        unsafe { self.at().as_ref() }
    }
}

impl<T> DerefMut for PoolBox<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the value is in the block as long as the box exists, and the box is borrowed mutably.
        unsafe { self.at().as_mut() }
    }
}

// USER CODE: the value's `Drop`; the block is still allocated, the pool is untouched; re-entrance: may take, free and
//     drop handles of the same pool; panic: a guard gives the block back; test: tests/suite/pool/values.rs:
//     a_value_whose_end_panics_gives_its_block_back, tests/suite/pool/random.rs:
//     random_operations_answer_as_the_model_says
impl<T> Drop for PoolBox<T> {
    #[inline]
    fn drop(&mut self) {
        /// Gives the block back after the value's `Drop`, even if that panics.
        struct Freed(Block);
        impl Drop for Freed {
            #[inline]
            fn drop(&mut self) {
                self.0.free(true);
            }
        }
        let _freed = Freed(self.block);
        // SAFETY: the value is in the block, and the box is not used again.
        unsafe { self.at().as_ptr().drop_in_place() };
    }
}

impl<T> AsRef<T> for PoolBox<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T> AsMut<T> for PoolBox<T> {
    fn as_mut(&mut self) -> &mut T {
        self
    }
}

// USER CODE: the value's `Debug` and `Display`; nothing of the pool is in use; re-entrance: any; panic: propagates;
//     test: tests/suite/pool/values.rs: values_change_and_show
impl<T: fmt::Debug> fmt::Debug for PoolBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: fmt::Display> fmt::Display for PoolBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
