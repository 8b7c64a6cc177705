//! Messages that their writer takes back out of the queue: hidden ones, and those beyond a cut.
//!
//! The writer's thread only. Wait-free.

use core::ptr;

use super::WriteCursor;
use crate::queue::ypipe::chunk::{Chunk, Places, nothing, state};
use crate::queue::ypipe::core::PipeCore;
use crate::queue::ypipe::in_slot::UntypedInSlot;
use crate::sync::Ordering;

impl WriteCursor {
    /// Takes the newest message back. Its slot stays as it is until this handle writes again.
    ///
    /// # Safety
    /// There is a message that the reader will not read, and so the newest is one.
    #[inline]
    pub(in crate::queue::ypipe) unsafe fn take_newest(&mut self, shape: impl Places, core: &PipeCore) -> UntypedInSlot {
        // SAFETY: the newest message is in this group or, where no message is in this group, in the one before. By the
        // caller the reader does not read its slot, and `next` moves back to it: it is taken once. Its chunk stays this
        // cursor's.
        let message = unsafe {
            if self.next == self.group.add(shape.first()) {
                self.step_back(shape);
            }
            self.next = self.next.sub(shape.step());
            UntypedInSlot::new(self.next, core.shape())
        };
        // MUTANT: `set_full`, which follows, decides how far to publish.
        if self.is_hiding() && self.position(shape) == self.hidden_from {
            self.stop = self.next.as_ptr();
        }
        self.set_full(shape, core);
        message
    }

    /// Moves the cursor back to the end of the group before this one.
    ///
    /// # Safety
    /// That group holds a message that the reader will not read.
    unsafe fn step_back(&mut self, shape: impl Places) {
        // SAFETY: the group before is in this chunk, or is the last of the previous chunk. By the caller it holds a
        // message that is hidden, or is beyond a cut, so the reader cannot have left its chunk.
        unsafe {
            if self.group == self.chunk.first() {
                let emptied = self.chunk;
                self.chunk = Chunk::from_raw(emptied.header().previous.get()).expect("a message is there");
                // ORDERING: Relaxed; null leads nowhere.
                self.chunk.header().next.store(ptr::null_mut(), Ordering::Relaxed);
                let others = self.emptied.map_or(ptr::null_mut(), Chunk::as_raw);
                // ORDERING: Release pairs with the Acquire in `ReadCursor::len_up_to`: a reader that closes may be in
                // this chunk still, and continues to the next, which was initialised before it was first linked here.
                emptied.header().next.store(others, Ordering::Release);
                self.emptied = Some(emptied);
                self.end = self.chunk.end(shape);
                self.lap = self.lap.wrapping_sub(shape.lap());
                self.group = self.end;
            }
            self.group = self.group.sub(shape.stride());
            self.before = self.before.wrapping_sub(shape.slots());
            self.next = self.group.add(shape.end());
            if self.held.is_some_and(|(held, _)| held == self.group) {
                self.held = None;
            } else {
                // `hold` has marked the group full; no message in it is published.
                // ORDERING: Relaxed; the reader loads this state only after a later Release store, of the group held
                // back. Beyond a cut no state has a meaning for it.
                state(self.group).store(nothing(self.group, self.lap), Ordering::Relaxed);
            }
        }
    }
}

impl WriteCursor {
    // MUTANT: Killed only by `chunks_of_a_bare_pipe_whose_messages_are_taken_back_are_used_again_and_given_back`.
    /// Links the emptied chunks after the last one, so that they are freed with the queue. Not before: a reader that
    /// closes checks how far the queue reaches before it knows of a cut, and may be in any of them.
    pub(super) fn leave_emptied(&mut self) {
        if let Some(emptied) = self.emptied.take() {
            // ORDERING: Release pairs with the Acquire in `ReadCursor::next_chunk` and `len_up_to`: those chunks were
            // initialised before. Where no cut keeps a reader from them it finds nothing there, as their states were
            // taken back.
            self.chunk.header().next.store(emptied.as_raw(), Ordering::Release);
        }
    }
}

// USER CODE: none (it links chunks, which hold no messages, and frees none)
impl Drop for WriteCursor {
    // MUTANT: Killed only by `chunks_of_a_bare_pipe_whose_messages_are_taken_back_are_used_again_and_given_back`.
    fn drop(&mut self) {
        self.leave_emptied();
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use crate::queue::ypipe::chunk::Geometry;
    use crate::queue::ypipe::{Reader, ends_of_small_chunks};

    /// Though another was linked after it: the writer is still in it, and the reader would give it away.
    #[test]
    fn a_reader_stays_in_the_chunk_that_its_writer_has_come_back_to() {
        const SLOTS: usize = Geometry::<u64>::SLOTS;
        let (mut writer, mut reader) = ends_of_small_chunks::<u64>(Some(SLOTS * 2), Geometry::<u64>::LAP);
        for number in 1..SLOTS as u64 {
            writer.write(number).expect("there is room");
            writer.flush();
            assert_eq!(reader.read(), Some(number));
        }
        // The last of this chunk, and the first of the next.
        (7..9).for_each(|number| writer.write(number).expect("there is room"));
        assert_eq!((writer.unwrite(), writer.unwrite(), writer.unwrite()), (Some(8), Some(7), None));
        writer.write(9).expect("there is room");
        writer.flush();
        let chunk = |reader: &Reader<u64>| reader.cursor().map(|cursor| cursor.end);
        let before = chunk(&reader);
        assert_eq!((reader.read(), reader.read()), (Some(9), None));
        assert_eq!(chunk(&reader), before);
        writer.write(10).expect("there is room");
        writer.flush();
        assert_eq!((reader.read(), reader.read()), (Some(10), None));
        assert_ne!(chunk(&reader), before);
    }
}
