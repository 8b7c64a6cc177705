//! An atomic pointer whose code does not depend on what it points to.

use core::fmt;
use core::marker::PhantomData;
use core::panic::RefUnwindSafe;
use core::ptr;
use core::sync::atomic::Ordering;

/// As `core::sync::atomic::AtomicPtr`, which compiles each of its operations, and each has an arm for each ordering, once
/// for each type. There are dozens of types here, so all of them share one.
#[repr(transparent)]
pub(crate) struct AtomicPtr<T>(core::sync::atomic::AtomicPtr<()>, PhantomData<*mut T>);

// SAFETY: as of `core::sync::atomic::AtomicPtr`: it only hands the pointer out, and who dereferences that is responsible.
unsafe impl<T> Send for AtomicPtr<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for AtomicPtr<T> {}

impl<T> RefUnwindSafe for AtomicPtr<T> {}

impl<T> AtomicPtr<T> {
    #[inline(always)]
    pub(crate) const fn new(pointer: *mut T) -> Self {
        Self(core::sync::atomic::AtomicPtr::new(pointer.cast()), PhantomData)
    }

    #[inline(always)]
    pub(crate) fn load(&self, order: Ordering) -> *mut T {
        self.0.load(order).cast()
    }

    #[inline(always)]
    pub(crate) fn store(&self, pointer: *mut T, order: Ordering) {
        self.0.store(pointer.cast(), order);
    }

    #[inline(always)]
    pub(crate) fn swap(&self, pointer: *mut T, order: Ordering) -> *mut T {
        self.0.swap(pointer.cast(), order).cast()
    }

    #[inline(always)]
    pub(crate) fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        match self.0.compare_exchange(current.cast(), new.cast(), success, failure) {
            Ok(before) => Ok(before.cast()),
            Err(found) => Err(found.cast()),
        }
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::new(ptr::null_mut())
    }
}

impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
