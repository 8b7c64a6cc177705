//! Messages that their writer takes back out of the pipe: hidden ones, and those beyond a cut.
//!
//! The writer's thread only. Wait-free.

use core::ptr;

use super::WriteCursor;
use crate::queue::ypipe::chunk::{Chunk, Geometry, nothing, state};
use crate::queue::ypipe::core::PipeCore;
use crate::queue::ypipe::in_slot::InSlot;
use crate::sync::Ordering;

impl<T> WriteCursor<T> {
    /// Takes the newest message back. Its slot stays as it is until this end writes again.
    ///
    /// # Safety
    /// There is a message that the reader will not read, and so the newest is one.
    pub(in crate::queue::ypipe) unsafe fn take_newest(&mut self, core: &PipeCore<T>) -> InSlot<T> {
        // SAFETY: the newest message lies in this group or, where no message is in this group, in the one before. By the
        // caller the reader does not read its slot, and `next` moves back to it: it is taken once. Its chunk stays this cursor's.
        let message = unsafe {
            if self.next == self.group.add(Geometry::<T>::FIRST) {
                self.step_back();
            }
            self.next = self.next.sub(Geometry::<T>::STEP);
            InSlot::new(self.next)
        };
        if self.is_hiding() && self.position() == self.hidden_from {
            self.stop = self.next.as_ptr();
        }
        self.set_full(core);
        message
    }

    /// Moves the cursor back to the end of the group before this one.
    ///
    /// # Safety
    /// That group holds a message that the reader will not read.
    unsafe fn step_back(&mut self) {
        // SAFETY: the group before is in this chunk, or is the last of the chunk before. By the caller it holds a
        // message that is hidden, or lies beyond a cut, so the reader cannot have left its chunk.
        unsafe {
            if self.group == self.chunk.first() {
                let emptied = self.chunk;
                self.chunk = Chunk::from_raw(emptied.header().previous.get()).expect("a message lies there");
                // ORDERING: Relaxed twice; the reader comes to the link only after the hidden message before it was
                // published, by a Release store, and never if there is a cut before it; and the list of emptied chunks
                // is the writer's own.
                self.chunk.header().next.store(ptr::null_mut(), Ordering::Relaxed);
                emptied.header().next.store(self.emptied.map_or(ptr::null_mut(), Chunk::as_raw), Ordering::Relaxed);
                self.emptied = Some(emptied);
                self.end = self.chunk.end();
                self.lap = self.lap.wrapping_sub(Geometry::<T>::LAP);
                self.group = self.end;
            }
            self.group = self.group.sub(Geometry::<T>::STRIDE);
            self.before = self.before.wrapping_sub(Geometry::<T>::SLOTS);
            self.next = self.group.add(Geometry::<T>::END);
            if self.held.is_some_and(|(held, _)| held == self.group) {
                self.held = None;
            } else {
                // `hold` has marked the group full; no message in it is published.
                // ORDERING: Relaxed; the reader loads this state only after a later Release store, of the group held
                // back. Beyond a cut no state tells it anything.
                state(self.group).store(nothing(self.group, self.lap), Ordering::Relaxed);
            }
        }
    }
}

impl<T> Drop for WriteCursor<T> {
    fn drop(&mut self) {
        while let Some(emptied) = self.emptied {
            self.emptied = emptied.next();
            // SAFETY: only this cursor knew the chunk: it is linked in no queue, and no longer in the list.
            unsafe { emptied.free() };
        }
    }
}
