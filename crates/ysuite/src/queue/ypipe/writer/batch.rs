//! Messages that an iterator returns, written one after another, hidden. The iterator is user code: whatever it does,
//! the messages that it has returned are written.
//!
//! The writer's thread only. Wait-free, except for the iterator and the allocator.

use core::ptr::{self, NonNull};

use super::{WriteCursor, Writer, Writing};
use crate::foreign::Lent;
use crate::queue::outline;
use crate::queue::ypipe::chunk::{Geometry, Places, slot};

/// An iterator of at most this many bytes is copied to run, and back.
const FEW_BYTES: usize = 64;

impl<T> Writer<T> {
    // MUTANT: Speed only: where the iterator is while it runs.
    /// Writes messages, hidden, until the iterator ends (false) or there is no room: then the message that did not fit is
    /// in `rest`, which is empty before.
    ///
    /// If the iterator panics, the messages it has returned before are written.
    #[inline]
    pub(crate) fn fill<I: Iterator<Item = T>>(&mut self, messages: &mut I, rest: &mut Option<T>) -> bool {
        if size_of::<I>() > FEW_BYTES {
            return self.fill_from(messages, rest);
        }
        // The caller has lent the iterator to functions: in its place it would be loaded and stored for each message. This
        // copy lives in registers.
        outline(messages, |messages| self.fill_from(messages, rest))
    }

    // USER CODE: the iterator; the items it has returned are committed by a guard; re-entrance: none (`&mut`); panic:
    //     the items it has returned are written; by construction: `Run` commits in its drop
    // MUTANT: Speed only: the slow path finds the room, or enters the next group.
    /// As [`fill`](Self::fill), with the iterator where it is.
    #[inline(always)]
    fn fill_from(&mut self, messages: &mut impl Iterator<Item = T>, rest: &mut Option<T>) -> bool {
        let Writing { cursor, core, .. } = &mut *self.writing;
        let shape = Geometry::<T>::of(core.shape());
        let mut full = cursor.full;
        let mut run = Run { at: cursor.next, group: cursor.group, last: ptr::null_mut(), cursor, shape };
        loop {
            let mut message = messages.next();
            if message.is_none() {
                run.commit();
                return false;
            }
            if run.at == full && !run.step(&mut full) {
                run.commit();
                let stepped = run.cursor.is_at_end(shape) && run.cursor.step(shape);
                if !stepped && !outline(run.cursor, |cursor| cursor.room::<Geometry<T>>(core)) {
                    message.move_over(rest);
                    return true;
                }
                full = run.cursor.full;
                run.begin();
            }
            // SAFETY: `at` is before `full`, so it is a slot of this group. The slot is empty: the reader has consumed
            // the messages of the previous lap. The address after it is at most one past the group.
            unsafe {
                message.move_to(slot::<T>(run.at).with_mut(|slot| slot.cast::<T>()));
                run.at = run.at.add(shape.step());
            }
        }
    }

    // USER CODE: the iterator, called by `send_room` of `channel/task_batch.rs`; the items it has returned are written;
    //     re-entrance: none (`&mut`); panic: the items it has returned are sent; test:
    //     tests/suite/conformance/channel/task_batches.rs: an_iterator_that_panics_in_a_task
    /// Writes messages, hidden, until there is no room (true) or the iterator ends (false). The iterator is called only
    /// where there is room. If it panics, the messages it has returned before are written.
    pub(crate) fn fill_room(&mut self, messages: &mut impl Iterator<Item = T>) -> bool {
        while self.has_room() {
            let mut message = messages.next();
            if message.is_none() {
                return false;
            }
            // SAFETY: `has_room` has returned true, and nothing was written since.
            unsafe {
                message.move_to(self.slot_here());
                self.written_here();
            }
        }
        true
    }
}

/// A run of slots being filled. When it is dropped, also by a panic, the cursor moves past the last filled slot.
struct Run<'a, G: Places> {
    at: NonNull<u8>,
    /// The group of that slot. The cursor stays in the group in which the run began.
    group: NonNull<u8>,
    /// The last group that the run may step into; null before the group of the oldest hidden message was left.
    last: *mut u8,
    cursor: &'a mut WriteCursor,
    shape: G,
}

impl<G: Places> Run<'_, G> {
    /// Begins at the cursor.
    #[inline(always)]
    fn begin(&mut self) {
        (self.at, self.group) = (self.cursor.next, self.cursor.group);
        self.last = self.cursor.last_whole(self.shape);
    }

    // MUTANT: Speed only: the slow path enters the next group; the address of a prefetch is a hint.
    /// Enters the next group, where the run may: all slots of this one are filled.
    #[inline(always)]
    fn step(&mut self, full: &mut NonNull<u8>) -> bool {
        let shape = self.shape;
        if self.group.as_ptr() >= self.last {
            return false;
        }
        // SAFETY: the groups up to `last` are in this chunk, and the cursor holds the first hidden group back.
        unsafe {
            self.cursor.fill_state(shape, self.group);
            self.group = self.group.add(shape.stride());
            self.at = self.group.add(shape.first());
            *full = self.group.add(shape.end());
        }
        shape.prefetch_behind(self.group);
        true
    }

    #[inline(always)]
    fn commit(&mut self) {
        self.cursor.filled_up_to(self.shape, self.group, self.at);
    }
}

impl<G: Places> Drop for Run<'_, G> {
    /// What is left is there where the iterator panics.
    #[inline(always)]
    fn drop(&mut self) {
        if self.at != self.cursor.next {
            cut_short(self.cursor, self.shape, self.group, self.at);
        }
    }
}

/// Gets no address of a run, which is in registers.
#[cold]
#[inline(never)]
fn cut_short(cursor: &mut WriteCursor, shape: impl Places, group: NonNull<u8>, at: NonNull<u8>) {
    cursor.filled_up_to(shape, group, at);
}
