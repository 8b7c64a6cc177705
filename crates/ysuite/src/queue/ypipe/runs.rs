//! Runs: contiguous slots that the caller gets in place. A writer's free slots, to be written in place; a reader's next
//! messages, to be read in place. Wait-free; a run is within one group, so it is sixteen lines long at most.
//!
//! Cannot: give more than a group at once, or slots beyond the available room.

use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::slice;

use super::chunk::{Geometry, Places, slot};
use super::reader::Reader;
use super::writer::{Writer, Writing};

/// The number of slots, out of `slots`, in one run: all of them. In a model, where a slot is an object that is larger
/// than its message, runs are of one slot.
fn run(slots: usize) -> usize {
    if cfg!(ysuite_loom) { slots.min(1) } else { slots }
}

/// A slot as the first of a run. Not by way of the slot itself, which would be a pointer to that one only.
#[inline(always)]
fn first_of_run<T>(at: NonNull<u8>) -> *mut MaybeUninit<T> {
    #[cfg(not(ysuite_loom))]
    return at.as_ptr().cast();
    // SAFETY: the callers' cursors point to slots of live chunks. A run is of one slot.
    #[cfg(ysuite_loom)]
    unsafe {
        slot::<T>(at).with_mut(|first| first)
    }
}

impl<T> Writer<T> {
    /// Whether `messages` more messages may be written, now. May step forward to the next slot.
    #[inline]
    pub(crate) fn has_room_for(&mut self, messages: usize) -> bool {
        match messages {
            0 => true,
            1 => self.has_room(),
            // A lane's first chunk is made here: once the receiver has closed it would not be made any more.
            _ => {
                self.has_room()
                    && (!self.core().is_bounded() || self.core().read_mostly.capacity - self.occupied() >= messages)
            }
        }
    }

    // MUTANT: Models only: an empty run has no slot to name.
    /// The next contiguous free slots, at most `most`; none only where there is no room.
    #[inline]
    pub(crate) fn free_slots(&mut self, most: usize) -> &mut [MaybeUninit<T>] {
        if !self.has_room() {
            return &mut [];
        }
        let Writing { cursor, core, .. } = &*self.writing;
        // SAFETY: both point into one group, and `full` is not before `next`.
        let free = unsafe { cursor.full.as_ptr().offset_from(cursor.next.as_ptr()) } as usize;
        let free = Geometry::<T>::of(core.shape()).slots_in(free);
        // SAFETY: the slots from `next` up to `full` are free, and the writer's alone until they are published; it is
        // borrowed for as long as they are lent. They are contiguous like an array: `STEP` is a message's size, and
        // messages without a size need no place.
        unsafe { slice::from_raw_parts_mut(first_of_run::<T>(cursor.next), run(free.min(most))) }
    }

    /// Publishes the messages that were written into the first `count` free slots, with all that was hidden. Returns
    /// the reader's tokens, as [`publish`](Self::publish).
    ///
    /// # Safety
    /// As of [`hide_slots`](Self::hide_slots).
    #[inline]
    pub(crate) unsafe fn publish_slots(&mut self, count: usize) -> u32 {
        // SAFETY: by the caller.
        unsafe { self.hide_slots(count) };
        self.publish()
    }

    /// The first `count` free slots hold messages, hidden as those that are [written](Self::write).
    ///
    /// # Safety
    /// The last call of [`free_slots`](Self::free_slots) has given at least `count`, nothing was written otherwise
    /// since, and a message has been written into each of them.
    #[inline]
    pub(crate) unsafe fn hide_slots(&mut self, count: usize) {
        if count != 0 {
            let Writing { cursor, core, .. } = &mut *self.writing;
            let shape = Geometry::<T>::of(core.shape());
            cursor.hide(shape);
            // SAFETY: by the caller `count` slots follow in this group. The address is at most one past it.
            cursor.next = unsafe { cursor.next.add(count * shape.step()) };
        }
    }

    /// Fills free slots, `count` of them or as many as there are, and hides the messages; returns how many. `fill` gets the
    /// number of those before, the first slot of a run, and how many it has, and writes a message into each. The slots lie
    /// behind it as in an array.
    ///
    /// # Safety
    /// It does.
    #[cfg(feature = "in-place")]
    #[inline]
    pub(crate) unsafe fn fill_runs(
        &mut self,
        count: usize,
        fill: &mut impl FnMut(usize, NonNull<MaybeUninit<T>>, usize),
    ) -> usize {
        let Writing { cursor, core, .. } = &mut *self.writing;
        let (mut made, shape) = (0, Geometry::<T>::of(core.shape()));
        while made < count && cursor.has_room(shape, core) {
            // SAFETY: both point into one group, and `full` is not before `next`.
            let free = unsafe { cursor.full.as_ptr().offset_from(cursor.next.as_ptr()) } as usize;
            let fits = run(shape.slots_in(free)).min(count - made);
            // SAFETY: a slot is not at null.
            fill(made, unsafe { NonNull::new_unchecked(first_of_run::<T>(cursor.next)) }, fits);
            cursor.hide(shape);
            // SAFETY: that many slots follow in this group. The address is at most one past it.
            cursor.next = unsafe { cursor.next.add(fits * shape.step()) };
            made += fits;
        }
        made
    }
}

impl<T> Reader<T> {
    /// Takes the next message, if one is published and it `is_wanted`, without moving it: returns its place. The caller
    /// owns the message, and moves it out before this reader is used again, or is dropped; no other code drops it.
    #[inline(always)]
    pub(crate) fn take_in_place(&mut self, is_wanted: impl FnOnce(&T) -> bool) -> Option<NonNull<T>> {
        let (cursor, core) = self.parts();
        let shape = Geometry::<T>::of(core.shape());
        if !cursor.look(shape, core) {
            return None;
        }
        // SAFETY: `look` has acquired this slot's publication, so the message is written, and only this reader's owner
        // uses it. A slot is not at null; a `MaybeUninit<T>` has the address of its `T`.
        unsafe {
            let place = slot::<T>(cursor.next).with_mut(|message| NonNull::new_unchecked(message).cast::<T>());
            if !is_wanted(place.as_ref()) {
                return None;
            }
            cursor.step_over(shape, core);
            Some(place)
        }
    }

    // MUTANT: Models only: an empty run has no slot to name.
    /// The next contiguous messages, as far as they are known to be there: at least one after a poll has found one.
    #[inline]
    pub(crate) fn known_run(&self) -> &[T] {
        let Some(cursor) = self.cursor() else { return &[] };
        // SAFETY: both point into one group, and `known` is not before `next`.
        let known = unsafe { cursor.known.as_ptr().offset_from(cursor.next.as_ptr()) } as usize;
        let known = Geometry::<T>::of(self.reading.core.shape()).slots_in(known);
        if known == 0 {
            return &[];
        }
        // SAFETY: the slots from `next` up to `known` have been acquired as published, so each holds a message. Only
        // the owner of this cursor takes them out, and it is borrowed for as long as they are lent. As to their places,
        // see `free_slots`; a `MaybeUninit<T>` that is initialised is a `T`.
        unsafe { slice::from_raw_parts(first_of_run::<T>(cursor.next).cast::<T>().cast_const(), run(known)) }
    }

    /// Takes the first `count` messages of the [known run](Self::known_run) without moving or dropping them. They
    /// belong to the caller, which has moved them out, or does so before this reader is used again.
    ///
    /// # Panics
    /// If the run is shorter.
    #[cfg(feature = "in-place")]
    #[inline]
    pub(crate) fn skip(&mut self, count: usize) {
        let known = self.known_run().len();
        assert!(count <= known, "{count} messages of {known} that were shown");
        let (cursor, core) = self.parts();
        // SAFETY: `count` slots follow in this group, so the address is at most one past it.
        cursor.next = unsafe { cursor.next.add(count * Geometry::<T>::of(core.shape()).step()) };
        core.progress.took_up_to(core.progress.taken().wrapping_add(count));
    }

    // MUTANT: Speed only: the state of a group is loaded again, and later messages are taken as well.
    /// Takes published messages, up to `most`; returns how many. `each` gets the first of a run, and how many it has, and
    /// moves them out. The next ones lie behind it as in an array.
    #[cfg(feature = "in-place")]
    #[inline]
    pub(crate) fn read_runs(&mut self, most: usize, each: &mut impl FnMut(NonNull<T>, usize)) -> usize {
        let (cursor, core) = self.parts();
        let (mut left, mut taken, shape) = (most, core.progress.taken(), Geometry::<T>::of(core.shape()));
        while left != 0 && cursor.look(shape, core) {
            // SAFETY: both point into one group, and `known` is not before `next`.
            let known = unsafe { cursor.known.as_ptr().offset_from(cursor.next.as_ptr()) } as usize;
            let count = run(shape.slots_in(known)).min(left);
            // SAFETY: a slot is not at null.
            each(unsafe { NonNull::new_unchecked(first_of_run::<T>(cursor.next)) }.cast(), count);
            // SAFETY: `count` slots follow in this group, so the address is at most one past it.
            cursor.next = unsafe { cursor.next.add(count * shape.step()) };
            left -= count;
            taken = taken.wrapping_add(count);
            core.progress.took_up_to(taken);
            // The writer is at work in a group that is not full: loading its state again would slow the writer down.
            if cursor.next == cursor.known && !cursor.is_at_end(shape) {
                break;
            }
        }
        most - left
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::super::{lane_of, unbounded};

    #[test]
    fn a_lane_that_was_closed_before_its_first_message_has_room_for_none() {
        for bound in [None, Some(4)] {
            let (mut writer, resting) = lane_of::<u64>(bound);
            resting.mark_cut().pass();
            // SAFETY: there is no reader, only this thread requests one, and `go` has not been called.
            assert!(unsafe { resting.cut() }.is_none());
            assert_eq!([0, 1, 2].map(|messages| writer.has_room_for(messages)), [true, false, false]);
        }
    }

    #[test]
    fn where_no_slot_is_filled_nothing_is_hidden() {
        let (mut writer, mut reader) = unbounded::<u64>();
        assert_eq!(writer.send(1), Ok(0));
        // SAFETY: there are that many slots, and each of them holds a message.
        unsafe { writer.hide_slots(0) };
        assert_eq!((writer.unwrite(), reader.read()), (None, Some(1)));
    }

    /// From within a run, over the end of one, and up to the end of a chunk with no next one.
    #[cfg(feature = "in-place")]
    #[test]
    fn messages_are_moved_out_in_order_and_counted_as_far_as_there_is_room_for_them() {
        use core::mem::MaybeUninit;

        let all = 16 * super::Geometry::<u64>::SLOTS;
        let (mut writer, mut reader) = unbounded::<u64>();
        (0..all as u64).for_each(|number| assert_eq!(writer.send(number), Ok(0)));
        let (mut to, mut taken) = ([MaybeUninit::new(u64::MAX); 200], 0);
        for (room, count) in [(0, 0), (5, 5), (10, 10), (200, all - 15), (200, 0)] {
            let mut filled = 0;
            let read = reader.read_runs(room, &mut |from, run| {
                // SAFETY: there are as many messages, and they are moved out once.
                let messages = unsafe { core::slice::from_raw_parts(from.cast().as_ptr(), run) };
                to[filled..filled + run].copy_from_slice(messages);
                filled += run;
            });
            assert_eq!(read, count);
            for slot in &to[..count] {
                // SAFETY: all of them are initialised, from the beginning on.
                assert_eq!(unsafe { slot.assume_init() }, taken);
                taken += 1;
            }
            assert_eq!(reader.position() as u64, taken);
        }
    }
}
