//! A value with cache lines of its own.

use core::fmt::{self, Debug, Formatter};
use core::ops::{Deref, DerefMut};

/// A value with cache lines of its own: threads that write to its neighbours do not delay the threads that use it. Intel
/// processors of 64 bits prefetch lines in pairs, and so do many of Arm's; Apple's and those of POWER have lines of 128
/// bytes, s390x of 256, most others of at most 64.
#[derive(Default)]
#[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "powerpc64"), repr(align(128)))]
#[cfg_attr(target_arch = "s390x", repr(align(256)))]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "powerpc64", target_arch = "s390x")),
    repr(align(64))
)]
pub(crate) struct CachePadded<T>(T);

impl<T> CachePadded<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for CachePadded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for CachePadded<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Debug> Debug for CachePadded<T> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
