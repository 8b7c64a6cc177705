//! A value whose type the storage does not know: in three words, or in a box of its own where it does not fit there.
//!
//! One owner at a time; nothing here blocks. A store allocates only for the box.
//!
//! Cannot: know the type. Its user remembers it, for example as a function that is compiled for that type.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;

/// Room for one value of any type. Dropping it drops nothing: its user calls [`drop_in_place`](Self::drop_in_place) or
/// takes the value, once.
///
/// Three words: with one word next to them that holds the type, two fit into a cache line.
///
/// In a cell: the value may be one that changes through a shared reference.
pub(crate) struct InlineBox(UnsafeCell<MaybeUninit<[usize; 3]>>);

impl InlineBox {
    /// Whether a value of this type needs no box.
    pub(crate) const fn fits<T>() -> bool {
        size_of::<T>() <= size_of::<Self>() && align_of::<T>() <= align_of::<Self>()
    }

    #[inline(always)]
    pub(crate) fn new<T>(value: T) -> Self {
        let mut words = MaybeUninit::<[usize; 3]>::uninit();
        if Self::fits::<T>() {
            // SAFETY: the words have the size and the alignment.
            unsafe { words.as_mut_ptr().cast::<T>().write(value) };
        } else {
            // SAFETY: a pointer is one word.
            unsafe { words.as_mut_ptr().cast::<*mut T>().write(Box::into_raw(Box::new(value))) };
        }
        Self(UnsafeCell::new(words))
    }

    /// The value in place.
    ///
    /// # Safety
    /// A `T` was stored, and has not been taken or dropped.
    #[inline(always)]
    pub(crate) unsafe fn get<T>(&self) -> &T {
        let place = self.0.get();
        // SAFETY: by the caller the value is there; `new` has put it, or the pointer of its box, into the words.
        unsafe { if Self::fits::<T>() { &*place.cast::<T>() } else { &**place.cast::<*const T>() } }
    }

    /// Takes the value out, and frees its box.
    ///
    /// # Safety
    /// A `T` was stored, and has not been taken or dropped. It is not used here again.
    #[inline(always)]
    pub(crate) unsafe fn take<T>(&mut self) -> T {
        if Self::fits::<T>() {
            // SAFETY: by the caller the value is there; `new` has put it into the words.
            unsafe { self.0.get().cast::<T>().read() }
        } else {
            // SAFETY: by the caller, and it does not fit.
            *unsafe { self.take_box::<T>() }
        }
    }

    /// Takes the box with the value in it, which may be larger than the stack of the calling thread.
    ///
    /// # Safety
    /// A `T` that does not [fit](Self::fits) was stored, and has not been taken or dropped. It is not used here again.
    #[inline(always)]
    pub(crate) unsafe fn take_box<T>(&mut self) -> Box<T> {
        // SAFETY: by the caller `new` has put the pointer of a box into the words, and nothing has freed the box.
        unsafe { Box::from_raw(self.0.get().cast::<*mut T>().read()) }
    }

    /// Drops the value in place, and frees its box.
    ///
    /// # Safety
    /// A `T` was stored, and has not been taken or dropped. It is not used here again.
    pub(crate) unsafe fn drop_in_place<T>(&mut self) {
        if Self::fits::<T>() {
            // SAFETY: by the caller the value is there; `new` has put it into the words.
            unsafe { self.0.get().cast::<T>().drop_in_place() };
        } else {
            // SAFETY: by the caller, and it does not fit.
            drop(unsafe { self.take_box::<T>() });
        }
    }
}
