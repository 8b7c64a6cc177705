//! Messages that are moved into a vector, a run of slots at a time.
//!
//! The reader's thread only. Wait-free, except for the allocator, whose panic loses nothing.

use core::ptr::NonNull;

use super::ReadCursor;
use crate::queue::ypipe::chunk::{Geometry, Places, slot, state};
use crate::queue::ypipe::core::PipeCore;
use crate::sync::Ordering;

/// The most groups that are taken before the writer is told of the room, 16 KiB at most: soon enough for a writer that waits
/// for it.
const AT_ONCE: usize = 16;

impl ReadCursor {
    // USER CODE: the allocator (`Vec::reserve`); the vector's length is set before; re-entrance: none; panic: nothing
    //     is lost; by construction: `set_len` comes first
    // MUTANT: Speed only: the state of a group is loaded again, or the vector grows while it is filled.
    /// Appends up to `most` messages to `to`; returns how many. A panic of the allocator loses nothing.
    #[inline(always)]
    pub(in crate::queue::ypipe) fn take_many<T>(&mut self, core: &PipeCore, to: &mut Vec<T>, most: usize) -> usize {
        let mut taken = core.progress.taken();
        let before = to.len();
        let mut length = before;
        let mut left = most;
        // Messages known before are taken first: only a poll of this call may show that there are no more.
        let mut looked = self.next == self.known;
        let shape = Geometry::<T>::of(core.shape());
        while left != 0 && self.look(shape, core) {
            // SAFETY: both pointers are in one group, or one past it.
            let run = unsafe { self.known.as_ptr().offset_from(self.next.as_ptr()) } as usize;
            let run = shape.slots_in(run).min(left);
            if to.capacity() - length < run {
                // SAFETY: `length - before` messages have been moved in after the first `before`, within the capacity.
                unsafe { to.set_len(length) };
                to.reserve(run);
            }
            // SAFETY: the vector has room for `run` more, reserved above. The `run` slots from `next` on are published,
            // in one group, and only the reader reads them.
            unsafe { self.move_run(shape, to.as_mut_ptr().add(length), run) };
            length += run;
            left -= run;
            taken = taken.wrapping_add(run);
            core.progress.took_up_to(taken);
            if self.next == self.known {
                if self.known.as_ptr() == self.group(shape).as_ptr().wrapping_add(shape.end()) {
                    let most = left.min(to.capacity() - length) / shape.slots();
                    // SAFETY: the vector has room for that many groups. Every slot of this group has been taken.
                    let run = unsafe { self.take_groups(shape, core, to.as_mut_ptr().add(length), most.min(AT_ONCE)) };
                    length += run;
                    left -= run;
                    taken = taken.wrapping_add(run);
                    core.progress.took_up_to(taken);
                } else if looked {
                    // The writer is at work in this group: loading its state again would slow the writer down.
                    break;
                }
            }
            looked = self.next == self.known;
        }
        // SAFETY: `length - before` messages have been moved in after the first `before`, within the capacity. Of the
        // steps above only `reserve` can panic, and the length was set before each.
        unsafe { to.set_len(length) };
        length - before
    }

    /// Moves the messages of the whole groups that follow in this chunk to `room`, at most of `most` groups, as far as they
    /// are published. Returns how many messages.
    ///
    /// # Safety
    /// There is room for them, and the cursor is at the end of its group.
    #[inline(always)]
    unsafe fn take_groups<T>(&mut self, shape: Geometry<T>, core: &PipeCore, room: *mut T, most: usize) -> usize {
        let (mut group, marks, mut moved) = (self.group(shape), core.marks(), 0);
        // SAFETY: as of `look_further`, whose steps these are, for groups that are published to their end.
        unsafe {
            let most = most * shape.slots();
            while moved != most {
                let next = group.add(shape.stride());
                if next == self.end {
                    break;
                }
                let full = self.lap.wrapping_add(next.as_ptr().addr() + shape.end() - shape.step());
                // ORDERING: Acquire as in `look_further`.
                if state(next).load(Ordering::Acquire) != full {
                    break;
                }
                if marks {
                    shape.mark(group);
                }
                Self::copy(next.add(shape.first()), room.add(moved), shape.slots());
                moved += shape.slots();
                group = next;
            }
            if moved != 0 {
                self.enter(shape, group);
                self.next = group.add(shape.end());
                self.known = self.next;
            }
        }
        moved
    }

    /// Moves `run` messages to `room`, exactly once: `next` moves past them, and nothing in between can panic.
    ///
    /// # Safety
    /// There is room for them. They are in the slots from `next` on, published, and in one group.
    #[inline(always)]
    unsafe fn move_run<T>(&mut self, shape: Geometry<T>, room: *mut T, run: usize) {
        // SAFETY: by the caller.
        unsafe {
            if run == shape.slots() {
                // A whole group has a constant length, so the compiler copies it by a few wide moves.
                Self::copy(self.next, room, shape.slots());
            } else {
                Self::copy(self.next, room, run);
            }
            self.next = self.next.add(run * shape.step());
        }
    }

    /// As [`take_many`](Self::take_many), after that has found no more. There is more only below a cut, where each poll
    /// goes no further than a group.
    #[cold]
    #[inline(never)]
    pub(in crate::queue::ypipe) fn take_many_below_cut<T>(
        &mut self,
        core: &PipeCore,
        to: &mut Vec<T>,
        most: usize,
    ) -> usize {
        let mut taken = 0;
        while taken < most && self.look_below_cut(core) {
            taken += self.take_many(core, to, most - taken);
        }
        taken
    }

    // MUTANT: Models only: slots are larger than messages only there. Killed only by the model
    // `close_against_a_batch`.
    /// Copies `run` messages from the slots at `from` to `room`.
    ///
    /// # Safety
    /// The slots are published, within one group, and owned by the caller, which reads no message of them
    /// again. There is room for `run` messages at `room`.
    #[inline(always)]
    unsafe fn copy<T>(from: NonNull<u8>, room: *mut T, run: usize) {
        // SAFETY: by the caller the slots hold messages and `room` has space for them. Slots of messages that have a
        // size are contiguous like an array.
        unsafe {
            if cfg!(ysuite_loom) {
                for index in 0..run {
                    let at = from.add(index * Geometry::<T>::STEP);
                    slot::<T>(at).with(|message| room.add(index).copy_from_nonoverlapping(message.cast::<T>(), 1));
                }
            } else {
                room.copy_from_nonoverlapping(from.cast::<T>().as_ptr(), run);
            }
        }
    }
}
