//! The types shared between threads, by one set of names for `std` and `loom`: atomics, cells, `Arc`, locks and
//! threads.
//!
//! All that this crate shares between threads is made of these types, so the very code that ships is the code that the
//! model checker explores (under the private cfg `ysuite_loom`).
//!
//! Each operation is compiled once for each type, with an arm for each ordering: hundreds of lines for the code generator.
//! So loops, too, use the exchange that does not fail for no reason. The other one would be one more, and saves nothing
//! that can be measured.

#[cfg(ysuite_loom)]
use loom as library;
#[cfg(not(ysuite_loom))]
use std as library;

use core::mem::MaybeUninit;

pub(crate) use cell::UnsafeCell;
pub(crate) use library::hint::spin_loop;
pub(crate) use library::sync::{Arc, Mutex, MutexGuard};
pub(crate) use library::{thread, thread_local};
#[cfg(ysuite_loom)]
use loom::cell;
pub(crate) use padded::CachePadded;
#[cfg(not(ysuite_loom))]
pub(crate) use pointer::AtomicPtr;
#[cfg(not(ysuite_loom))]
#[cfg(any(feature = "mpmc", feature = "broadcast"))]
pub(crate) use std::sync::atomic::AtomicPtr as StdAtomicPtr;
#[cfg(not(ysuite_loom))]
pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
#[cfg(ysuite_loom)]
#[cfg(any(feature = "mpmc", feature = "broadcast"))]
pub(crate) use weakened::AtomicPtr as StdAtomicPtr;
#[cfg(ysuite_loom)]
pub(crate) use weakened::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

mod padded;
#[cfg(not(ysuite_loom))]
mod pointer;
#[cfg(ysuite_loom)]
pub(crate) mod weakened;

#[cfg(not(ysuite_loom))]
mod cell {
    /// `core::cell::UnsafeCell` in loom's shape: the pointer is only lent to a closure.
    #[derive(Default)]
    #[repr(transparent)]
    pub(crate) struct UnsafeCell<T: ?Sized>(core::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(core::cell::UnsafeCell::new(value))
        }
    }

    impl<T: ?Sized> UnsafeCell<T> {
        #[inline(always)]
        pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        #[inline(always)]
        pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

/// An array of values that are made by one constant expression. In a model it is not constant.
#[cfg(not(ysuite_loom))]
macro_rules! array_of {
    ($value:expr; $length:expr) => {
        [const { $value }; $length]
    };
}
#[cfg(ysuite_loom)]
macro_rules! array_of {
    ($value:expr; $length:expr) => {
        core::array::from_fn::<_, { $length }, _>(|_| $value)
    };
}
pub(crate) use array_of;

/// What a handle has of the type of its messages. They are elsewhere: they go to other threads by it, and end there; none
/// is shared, so `T: Send` is enough. It takes no part in subtyping: a sender of messages that live long is no sender of
/// messages that live shorter.
pub(crate) type MessagesOf<T> = core::marker::PhantomData<std::sync::Arc<std::sync::Mutex<T>>>;

/// Moves a message into its cell. In a model by a closure, as there only an access within one is checked. Otherwise not:
/// an unoptimised program would copy the message for it.
///
/// # Safety
/// The cell is empty, and the caller's to fill: no other thread uses it meanwhile.
#[inline(always)]
pub(crate) unsafe fn put<T>(cell: &UnsafeCell<MaybeUninit<T>>, message: T) {
    #[cfg(not(ysuite_loom))]
    {
        let place = cell.with_mut(|place| place.cast::<T>());
        // SAFETY: by the caller.
        unsafe { core::ptr::write(place, message) };
    }
    #[cfg(ysuite_loom)]
    cell.with_mut(|place| {
        // SAFETY: by the caller.
        unsafe { (*place).write(message) };
    });
}

/// Represents memory that one thread writes and an atomic elsewhere hands over. A model records when it is written and
/// read, and reports a read that is not ordered after the write. Without a model it does nothing.
#[derive(Default)]
pub(crate) struct Handed(#[cfg(ysuite_loom)] UnsafeCell<()>);

// SAFETY: it holds nothing; a model reports the accesses that are not ordered.
#[cfg(ysuite_loom)]
unsafe impl Sync for Handed {}

impl Handed {
    /// The caller has written the memory.
    #[inline(always)]
    pub(crate) fn written(&self) {
        #[cfg(ysuite_loom)]
        self.0.with_mut(|_| ());
    }

    /// The caller is about to read the memory.
    #[inline(always)]
    pub(crate) fn read(&self) {
        #[cfg(ysuite_loom)]
        self.0.with(|_| ());
    }
}

// THREAD EXIT: the keys of std's `RandomState`, in stress tests with widened windows alone: as ever; by construction:
//     two numbers, which have no destructor
/// Marks the window between two steps in which a step of another thread matters. Does nothing, except in stress tests
/// that widen such windows (the private cfg `ysuite_delay`). There some of them take long, so that an interleaving that
/// a preemption causes once in a million times happens all the time.
#[inline(always)]
pub(crate) fn window() {
    #[cfg(all(ysuite_delay, not(ysuite_loom)))]
    delay::pass();
}

#[cfg(all(ysuite_delay, not(ysuite_loom)))]
mod delay {
    use std::hash::{BuildHasher, RandomState};

    /// One in `SELDOM` windows takes long: often enough that the windows of two threads overlap, seldom enough that
    /// they do not always.
    const SELDOM: u64 = 3;

    #[cold]
    pub(super) fn pass() {
        // Each is another state: the result is a random number.
        let x = RandomState::new().hash_one(());
        match x % SELDOM {
            0 if (x >> 8) % 8 == 0 => std::thread::yield_now(),
            // On many scales: which of them makes two threads meet depends on the machine.
            0 => (0..(x >> 20) % (2 << ((x >> 12) % 7))).for_each(|_| core::hint::spin_loop()),
            _ => {}
        }
    }
}
