//! A value without the message's type, in a handle or a future that has it: its drop is compiled once, with the library.
//! Otherwise each program that has such a handle compiles the drops of all that is in the value.

use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};

/// Whose drop is a function of the library.
pub(in crate::channel) trait OutlinedDrop {
    /// Drops the value. Without a default: that would be compiled with the program.
    ///
    /// # Safety
    /// The value is valid, and not used afterwards.
    unsafe fn drop_outlined(value: *mut Self);
}

/// The value.
#[repr(transparent)]
pub(in crate::channel) struct Outlined<V: OutlinedDrop>(ManuallyDrop<V>);

impl<V: OutlinedDrop> Outlined<V> {
    #[inline]
    pub(in crate::channel) const fn new(value: V) -> Self {
        Self(ManuallyDrop::new(value))
    }
}

impl<V: OutlinedDrop> Deref for Outlined<V> {
    type Target = V;

    #[inline]
    fn deref(&self) -> &V {
        &self.0
    }
}

impl<V: OutlinedDrop> DerefMut for Outlined<V> {
    #[inline]
    fn deref_mut(&mut self) -> &mut V {
        &mut self.0
    }
}

// USER CODE: as of the value's drop
impl<V: OutlinedDrop> Drop for Outlined<V> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: once, and nothing uses the value afterwards.
        unsafe { V::drop_outlined(&mut *self.0) };
    }
}
