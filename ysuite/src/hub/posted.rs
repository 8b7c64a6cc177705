//! [`Posted`]: a function on its way to the hub. Small ones travel in the message itself, others in a box.
//!
//! Made on any thread, run or dropped on any other, once.

use core::mem::{ManuallyDrop, MaybeUninit};

use super::Hub;

/// What a function may take without a box: three words, so that two messages fill a cache line.
type Room = [MaybeUninit<usize>; 3];

/// A function of one type, without its type.
pub(super) struct Posted {
    room: Room,
    /// Takes the function out of the room, and calls it; without a hub, drops it.
    take: unsafe fn(*mut Room, Option<&mut Hub>),
}

/// Whether a function of this type needs no box.
const fn fits<F>() -> bool {
    size_of::<F>() <= size_of::<Room>() && align_of::<F>() <= align_of::<Room>()
}

impl Posted {
    pub(super) fn new<F: FnOnce(&mut Hub) + Send + 'static>(function: F) -> Self {
        let mut room: Room = [MaybeUninit::uninit(); 3];
        let at = &raw mut room;
        if fits::<F>() {
            // SAFETY: it fits, in size and alignment.
            unsafe { at.cast::<F>().write(function) };
            Self { room, take: take_near::<F> }
        } else {
            // SAFETY: a pointer fits.
            unsafe { at.cast::<*mut F>().write(Box::into_raw(Box::new(function))) };
            Self { room, take: take_far::<F> }
        }
    }

    /// Calls the function. It is used up even if it panics.
    pub(super) fn run(self, hub: &mut Hub) {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the room is full, and nobody looks into it again.
        unsafe { (this.take)(&raw mut this.room, Some(hub)) };
    }

    /// The function itself.
    ///
    /// # Safety
    /// It was made of an `F`.
    pub(super) unsafe fn into_inner<F>(self) -> F {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: by the caller; the room is full, and nobody looks into it again.
        unsafe { read::<F>(&raw mut this.room) }
    }
}

impl Drop for Posted {
    fn drop(&mut self) {
        // SAFETY: the room is full, and nobody looks into it again.
        unsafe { (self.take)(&raw mut self.room, None) };
    }
}

/// # Safety
/// The room is full, with an `F`, and nobody looks into it again.
unsafe fn read<F>(room: *mut Room) -> F {
    if fits::<F>() {
        // SAFETY: by the caller.
        unsafe { room.cast::<F>().read() }
    } else {
        // SAFETY: by the caller; `new` has made the box.
        unsafe { *Box::from_raw(room.cast::<*mut F>().read()) }
    }
}

/// # Safety
/// As [`read`].
unsafe fn take_near<F: FnOnce(&mut Hub)>(room: *mut Room, hub: Option<&mut Hub>) {
    // SAFETY: by the caller.
    let function = unsafe { read::<F>(room) };
    if let Some(hub) = hub {
        function(hub);
    }
}

/// # Safety
/// As [`read`].
unsafe fn take_far<F: FnOnce(&mut Hub)>(room: *mut Room, hub: Option<&mut Hub>) {
    // SAFETY: by the caller; `new` has made the box.
    let function = unsafe { Box::from_raw(room.cast::<*mut F>().read()) };
    if let Some(hub) = hub {
        // Called where it lies: it may be larger than a stack likes.
        (function as Box<dyn FnOnce(&mut Hub)>)(hub);
    }
}
