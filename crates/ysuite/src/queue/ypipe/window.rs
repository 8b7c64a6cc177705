//! Windows: what a handle needs to know to write, publish, read and count by itself, in another language. This is the
//! queue's side of the contract of `channel::in_place`, which says what the other side may do.
//!
//! A window is a copy of a cursor's place within its chunk. It is given out, moved on by its owner, and taken back
//! before the cursor is used again. One thread at a time; wait-free.
//!
//! Cannot: lead out of a chunk, past the available room, or past a cut. It is closed where each message needs more than
//! a window contains: where fences are promised for good, where messages are counted, while some are hidden, and in a
//! model.

use core::ptr::{self, NonNull};

use super::chunk::{Geometry, Places};
use super::reader::Reader;
use super::writer::{Writer, Writing};
use crate::os::may_become_asymmetric;
use crate::statistics::COUNTING;

/// The place where a sender may write and publish by itself.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendWindow {
    /// The slot of the next message.
    pub next: *mut u8,
    /// One past the last slot of this group that may be written.
    pub stop: *mut u8,
    /// One past the last group that may be entered whole; null where none may.
    pub end: *mut u8,
    /// What is added to the address of the newest message to make its group's state.
    pub lap: usize,
    /// Not 0: each publication must be handled. Written by the receiver.
    pub asleep: *const u32,
}

/// The place where a receiver may read by itself.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvWindow {
    /// The slot of the next message.
    pub next: *mut u8,
    /// One past the last slot of its group that is known to be published.
    pub known: *mut u8,
    /// One past the chunk's last group; null: this is shut.
    pub end: *mut u8,
    /// What is subtracted from a group's state to make the address of its newest message.
    pub lap: usize,
    /// The number of messages that have been received; wraps. The receiver alone writes it.
    pub taken: *mut usize,
    /// Not 0: what is received must be credited. Written by the sender.
    pub asleep: *const u32,
    /// Not 0: before the next group is entered a byte in each line of the one that was read is written, which gives
    /// its line back as one that was written. Some processors hand it over faster then.
    pub marks: usize,
}

impl SendWindow {
    /// Shows nothing.
    #[must_use]
    pub const fn shut() -> Self {
        let null = ptr::null_mut();
        Self { next: null, stop: null, end: null, lap: 0, asleep: ptr::null() }
    }

    /// Whether it shows nothing.
    #[must_use]
    pub fn is_shut(&self) -> bool {
        self.next.is_null()
    }
}

impl RecvWindow {
    /// Shows nothing.
    #[must_use]
    pub const fn shut() -> Self {
        let null = ptr::null_mut();
        Self { next: null, known: null, end: null, lap: 0, taken: ptr::null_mut(), asleep: ptr::null(), marks: 0 }
    }

    /// Whether it shows nothing.
    #[must_use]
    pub fn is_shut(&self) -> bool {
        self.next.is_null()
    }
}

// MUTANT: Speed only: without a window each message takes a call.
/// Whether there are windows in this process, in this build. Before the process has registered for the kernel's barrier
/// each publication must be handled, as at the beginning of every stream; the count of these leads to the registration.
fn may_open() -> bool {
    !cfg!(ysuite_loom) && !COUNTING && may_become_asymmetric()
}

impl<T> Writer<T> {
    // MUTANT: Speed only: without a window each message takes a call; an idle cursor has no slots. Killed only by
    // `a_window_is_shut_where_it_must_be`.
    /// What this handle may write by itself, until it is used again.
    pub(crate) fn window(&self) -> SendWindow {
        let Writing { cursor, core, .. } = &*self.writing;
        let shape = Geometry::<T>::of(core.shape());
        // A cursor at the end of its chunk is idle: no group begins there.
        if !may_open() || cursor.hidden(shape) != 0 || cursor.is_idle() || self.has_ended() {
            return SendWindow::shut();
        }
        SendWindow {
            next: cursor.next.as_ptr(),
            stop: cursor.full.as_ptr(),
            end: cursor.whole_groups_end(shape),
            lap: cursor.lap(),
            asleep: ptr::from_ref(&self.reader_passive().word).cast(),
        }
    }

    // MUTANT: In-place builds only. Killed only by `a_window_that_was_not_moved_on_gives_no_room_that_was_forgotten`.
    /// The messages up to `next` have been published by the window's owner.
    ///
    /// # Safety
    /// The window was this writer's last, and has been moved on by its rules to `next`.
    pub(crate) unsafe fn resume(&mut self, next: NonNull<u8>) {
        let Writing { cursor, core, .. } = &mut *self.writing;
        if next != cursor.next {
            // SAFETY: by the caller.
            unsafe { cursor.move_on(Geometry::<T>::of(core.shape()), next, core) };
        }
    }
}

impl<T> Reader<T> {
    // MUTANT: Speed only: without a window each message takes a call. Killed only by
    // `a_window_is_shut_where_it_must_be`.
    /// What this handle may read by itself, until it is used again.
    pub(crate) fn window(&self) -> RecvWindow {
        let Some(cursor) = self.cursor() else { return RecvWindow::shut() };
        // Below a cut, states do not show all messages.
        if !may_open() || self.core().cut().is_some() {
            return RecvWindow::shut();
        }
        RecvWindow {
            next: cursor.next.as_ptr(),
            known: cursor.known.as_ptr(),
            end: cursor.end.as_ptr(),
            lap: cursor.lap,
            taken: self.core().progress.taken_word(),
            asleep: ptr::from_ref(&self.writer_passive().word).cast(),
            marks: usize::from(self.core().marks()),
        }
    }

    /// The messages before `next` have been received by the window's owner, which knows of those before `known`.
    ///
    /// # Safety
    /// The window was this reader's last, and has been moved on by its rules to both.
    pub(crate) unsafe fn resume(&mut self, next: NonNull<u8>, known: NonNull<u8>) {
        let (cursor, core) = self.parts();
        // SAFETY: by the caller.
        unsafe { cursor.move_on(Geometry::<T>::of(core.shape()), next, known) };
    }
}

impl super::reader::ReadCursor {
    /// # Safety
    /// Both are in one group of this cursor's chunk, or one past its last slot, and by its owner's poll up to
    /// `known` all is published.
    unsafe fn move_on(&mut self, shape: impl Places, next: NonNull<u8>, known: NonNull<u8>) {
        // MUTANT: Speed only: the group that is computed is not used.
        if !shape.by_mask() {
            let groups = shape.groups_in(known.as_ptr().addr() - 1 - self.first_group().as_ptr().addr());
            // SAFETY: by the caller that group is in this chunk. A group begins with its state, so the byte before
            // `known` is in it.
            self.set_group(unsafe { self.first_group().add(groups * shape.stride()) });
        }
        (self.next, self.known) = (next, known);
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::ptr::NonNull;

    use super::super::chunk::{Geometry, Places, state};
    use super::super::{bounded, unbounded};
    use super::{RecvWindow, SendWindow};
    use crate::os::may_become_asymmetric;
    use crate::statistics::COUNTING;
    use crate::sync::Ordering;

    /// The slot of one of the first messages, where `first` is that of message 0.
    fn slot_of<T>(first: NonNull<u8>, message: usize) -> NonNull<u8> {
        let shape = Geometry::<T>::SHAPE;
        let (groups, slots) = (message / shape.slots(), message % shape.slots());
        // SAFETY: the tests have a few messages, and a chunk has more slots.
        unsafe { first.add(groups * shape.stride() + slots * shape.step()) }
    }

    /// One past that slot.
    fn behind<T>(first: NonNull<u8>, message: usize) -> NonNull<u8> {
        // SAFETY: as above; the address is at most one past the group.
        unsafe { slot_of::<T>(first, message).add(Geometry::<T>::STEP) }
    }

    #[test]
    fn a_window_is_shut_where_it_shows_no_slot() {
        assert!(SendWindow::shut().is_shut() && RecvWindow::shut().is_shut());
        let next = NonNull::<u8>::dangling().as_ptr();
        assert!(!SendWindow { next, ..SendWindow::shut() }.is_shut());
        assert!(!RecvWindow { next, ..RecvWindow::shut() }.is_shut());
    }

    #[test]
    fn no_window_opens_where_messages_are_counted_or_fences_are_promised_for_good() {
        let (writer, reader) = unbounded::<u64>();
        let none_opens = COUNTING || !may_become_asymmetric();
        assert_eq!((writer.window().is_shut(), reader.window().is_shut()), (none_opens, none_opens));
    }

    /// In groups that are found by a mask, and in others.
    #[test]
    fn a_writer_goes_on_behind_what_its_window_has_sent() {
        fn goes_on<const WORDS: usize>() {
            let (mut writer, mut reader) = bounded::<[u64; WORDS]>(100);
            let (first, lap) = (writer.writing.cursor.next, writer.writing.cursor.lap());
            for message in 0..2 {
                let slot = slot_of::<[u64; WORDS]>(first, message);
                let of = Geometry::<[u64; WORDS]>::SHAPE;
                let within = of.first() + message % of.slots() * of.step();
                // SAFETY: the slot is free and belongs to the writer, which this represents, and is within its group.
                unsafe {
                    slot.cast::<[u64; WORDS]>().write([message as u64; WORDS]);
                    // ORDERING: Relaxed; there is one thread.
                    state(slot.sub(within)).store(slot.as_ptr().addr().wrapping_add(lap), Ordering::Relaxed);
                }
            }
            // SAFETY: all up to there has just been published.
            unsafe { writer.resume(behind::<[u64; WORDS]>(first, 1)) };
            assert_eq!((writer.send([2; WORDS]), writer.position()), (Ok(0), 3));
            (0..3).for_each(|number| assert_eq!(reader.read(), Some([number; WORDS])));
        }
        goes_on::<1>();
        goes_on::<16>();
    }

    /// As above.
    #[test]
    fn a_reader_goes_on_behind_what_its_window_has_received() {
        fn goes_on<const WORDS: usize>() {
            let (mut writer, mut reader) = bounded::<[u64; WORDS]>(100);
            (0..4).for_each(|number| assert_eq!(writer.send([number; WORDS]), Ok(0)));
            let first = reader.cursor().expect("the reader has not left").next;
            let next = behind::<[u64; WORDS]>(first, 1);
            // SAFETY: all up to there is published, and is plain data, which needs no drop.
            unsafe { reader.resume(next, next) };
            reader.core().progress.took_up_to(2);
            let rest = [reader.read(), reader.read(), reader.read()];
            assert_eq!((rest, reader.position()), ([Some([2; WORDS]), Some([3; WORDS]), None], 4));
        }
        goes_on::<1>();
        goes_on::<16>();
    }

    /// A writer that has found that there is no receiver checks again before each message.
    #[test]
    fn a_window_that_was_not_moved_on_gives_no_room_that_was_forgotten() {
        let (mut writer, reader) = unbounded::<u64>();
        writer.forget_room();
        let next = writer.writing.cursor.next;
        // SAFETY: that is where the writer is.
        unsafe { writer.resume(next) };
        drop(reader);
        assert_eq!(writer.send(1), Err(1));
    }
}
