//! A message that is still in its slot, and no longer belongs to the queue.
//!
//! One thread at a time: the one that has taken it off the queue. Nothing moves it, so it is dropped at the address at
//! which it was written. So messages that know their own address, as those of other languages may, are dropped
//! correctly.
//!
//! Cannot: outlast its slot. The code that makes one says how long that is.

use core::mem::{ManuallyDrop, MaybeUninit, needs_drop};
use core::ptr::NonNull;

use super::chunk::{Shape, Slot, slot};
use crate::foreign::Panics;

/// A message in its slot, and the right to it, where its type is not known. Dropping this drops the message, there.
pub(crate) struct UntypedInSlot {
    at: NonNull<u8>,
    shape: &'static Shape,
}

impl UntypedInSlot {
    /// # Safety
    /// As of [`InSlot::new`]. The shape is that of the message's queue.
    pub(super) unsafe fn new(at: NonNull<u8>, shape: &'static Shape) -> Self {
        Self { at, shape }
    }

    /// # Safety
    /// The message is a `T`.
    #[inline]
    pub(super) unsafe fn typed<T>(self) -> InSlot<T> {
        let this = ManuallyDrop::new(self);
        // SAFETY: by the caller, and by `new`; this was the right to the message.
        unsafe { InSlot::new(this.at) }
    }
}

// USER CODE: as of `InSlot`
impl Drop for UntypedInSlot {
    fn drop(&mut self) {
        if let Some(drop_message) = self.shape.drop_message {
            // While unwinding its panic goes no further.
            // SAFETY: by `new` the slot holds a message, and this is the right to it: it is dropped once.
            Panics::in_drop(|| unsafe { drop_message(self.at) });
        }
    }
}

/// A message in its slot, and the right to it. Dropping this drops the message, there.
pub(crate) struct InSlot<T> {
    at: NonNull<u8>,
    message: core::marker::PhantomData<T>,
}

impl<T> InSlot<T> {
    /// # Safety
    /// `at` is a slot that holds a message, which no other code takes or drops. The slot is not filled or
    /// freed before this is used up.
    pub(super) unsafe fn new(at: NonNull<u8>) -> Self {
        Self { at, message: core::marker::PhantomData }
    }

    /// Moves the message out.
    #[inline(always)]
    pub(crate) fn take(self) -> T {
        let this = ManuallyDrop::new(self);
        // SAFETY: by `new` the slot holds a message, and this was the right to it: it is read once.
        unsafe { slot::<T>(this.at).with(|message| message.read().assume_init()) }
    }

    /// Where the message is, to be read once. Then this is [emptied](Self::emptied).
    #[inline(always)]
    pub(crate) fn slot(&self) -> &Slot<T> {
        // SAFETY: by `new` there is a slot, which stays until this is used up.
        unsafe { slot(self.at) }
    }

    /// The message has been read.
    #[inline(always)]
    pub(crate) fn emptied(self) {
        core::mem::forget(self);
    }

    /// Moves the message to a place that is empty.
    pub(crate) fn take_to(self, place: &mut Option<T>) {
        *place = Some(self.take());
    }

    // MUTANT: In-place builds only. Killed only by `in_place::unreceived_messages_are_dropped_in_place`.
    /// Leaves the message in place, for a caller that handles it.
    #[cfg(feature = "in-place")]
    #[inline(always)]
    pub(crate) fn leave(self) -> NonNull<T> {
        let this = ManuallyDrop::new(self);
        // SAFETY: by `new` there is a slot, which is not at null. A `MaybeUninit<T>` has the address of its `T`.
        unsafe { slot::<T>(this.at).with_mut(|message| NonNull::new_unchecked(message).cast()) }
    }
}

/// A place outside of queues, in the frame of a receive: for a message that comes from elsewhere. So a receive reads its
/// message at one point, from one address. Where it is not used it costs the stack of a message, and no time.
pub(crate) struct LoosePlace<T> {
    place: MaybeUninit<Option<T>>,
    /// In a model slots are objects.
    #[cfg(ysuite_loom)]
    slot: Option<Slot<T>>,
}

impl<T> LoosePlace<T> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self {
            place: MaybeUninit::uninit(),
            #[cfg(ysuite_loom)]
            slot: None,
        }
    }

    /// The place, empty. A message that is moved there goes to [`filled`](Self::filled), or the caller drops it: otherwise it
    /// is never dropped.
    pub(crate) fn empty(&mut self) -> &mut Option<T> {
        self.place.write(None)
    }

    /// The message that was moved to the [empty](Self::empty) place.
    ///
    /// # Safety
    /// There is one. The result is used up before this is moved, used again or dropped.
    pub(crate) unsafe fn filled(&mut self) -> InSlot<T> {
        // SAFETY: by the caller the place was made empty, and then filled.
        let message = unsafe { self.place.assume_init_mut().as_mut().unwrap_unchecked() };
        #[cfg(not(ysuite_loom))]
        let at = NonNull::from(message);
        #[cfg(ysuite_loom)]
        // SAFETY: the message is read once: nothing reads the place again.
        let at = NonNull::from(self.slot.insert(Slot::new(MaybeUninit::new(unsafe { core::ptr::read(message) }))));
        // SAFETY: a slot has the address of its message, for which only the result has a right. The rest is the caller's
        // part.
        unsafe { InSlot::new(at.cast()) }
    }
}

// USER CODE: a message's `Drop`, in its slot; it is off the queue, and the slot is neither filled nor freed before the
//     next poll; re-entrance and panic: as of `dispose` and `take_back`; test: tests/suite/in_place.rs:
//     unreceived_messages_are_dropped_in_place
impl<T> Drop for InSlot<T> {
    #[inline]
    fn drop(&mut self) {
        if needs_drop::<T>() {
            // While unwinding its panic goes no further.
            // SAFETY: by `new` the slot holds a message, and this is the right to it: it is dropped once.
            Panics::in_drop(|| unsafe { slot::<T>(self.at).with_mut(|message| (*message).assume_init_drop()) });
        }
    }
}
