//! Windows: what an end needs to know to write, publish, read and count by itself, in another language. The queue's part of the
//! bargain of `channel::in_place`, which says what the other side may do.
//!
//! A window is a copy of a cursor's place within its chunk. It is shown, moved on by its owner, and taken back before the cursor is
//! used again. One thread at a time; wait-free.
//!
//! Cannot: lead out of a chunk, past the room there is, or past a cut. It is shut where each message needs more than a window
//! tells: where fences are promised for good, where messages are counted, while some are hidden, and in a model.

use core::ptr::{self, NonNull};

use super::chunk::Geometry;
use super::reader::Reader;
use super::writer::{Writer, Writing};
use crate::os::asymmetric;
use crate::statistics::COUNTING;

/// Where a sender may write and publish by itself.
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
    /// Not 0: each publication must be answered. Written by the receiver.
    pub asleep: *const u32,
}

/// Where a receiver may read by itself.
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
    /// How many messages have been received; wraps. The receiver alone writes it.
    pub taken: *mut usize,
    /// Not 0: what is received must be credited. Written by the sender.
    pub asleep: *const u32,
    /// Not 0: before the next group is entered a byte of the last slot of the one that was read is written, which gives its line
    /// back as one that was written. Some processors hand it over faster then.
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

/// Whether there are windows in this process, in this build.
fn may_open() -> bool {
    !cfg!(ysuite_loom) && !COUNTING && asymmetric()
}

impl<T> Writer<T> {
    /// What this end may write by itself, until it is used again.
    pub(crate) fn window(&self) -> SendWindow {
        let cursor = &self.writing.cursor;
        // A cursor at the end of its chunk is idle: no group begins there.
        if !may_open() || cursor.hidden() != 0 || cursor.is_idle() || self.has_ended() {
            return SendWindow::shut();
        }
        SendWindow {
            next: cursor.next.as_ptr(),
            stop: cursor.full.as_ptr(),
            end: cursor.whole_groups_end(),
            lap: cursor.lap(),
            asleep: ptr::from_ref(&self.reader_passive().word).cast(),
        }
    }

    /// The messages up to `next` have been published by the window's owner.
    ///
    /// # Safety
    /// The window was this writer's last, and has been moved on by its rules to `next`.
    pub(crate) unsafe fn resume(&mut self, next: NonNull<u8>) {
        let Writing { cursor, core, .. } = &mut *self.writing;
        if next != cursor.next {
            // SAFETY: by the caller.
            unsafe { cursor.move_on(next, core) };
        }
    }
}

impl<T> Reader<T> {
    /// What this end may read by itself, until it is used again.
    pub(crate) fn window(&self) -> RecvWindow {
        let Some(cursor) = self.cursor() else { return RecvWindow::shut() };
        // Below a cut there is more than states tell.
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
            marks: usize::from(self.core().read_mostly.marks),
        }
    }

    /// The messages before `next` have been received by the window's owner, who knows of those before `known`.
    ///
    /// # Safety
    /// The window was this reader's last, and has been moved on by its rules to both.
    pub(crate) unsafe fn resume(&mut self, next: NonNull<u8>, known: NonNull<u8>) {
        // SAFETY: by the caller.
        unsafe { self.parts().0.move_on(next, known) };
    }
}

impl<T> super::reader::ReadCursor<T> {
    /// # Safety
    /// Both lie in one group of this cursor's chunk, or one past its last slot, and by its owner's look up to `known` all is
    /// published.
    unsafe fn move_on(&mut self, next: NonNull<u8>, known: NonNull<u8>) {
        if !Geometry::<T>::BY_MASK {
            let groups = (known.as_ptr().addr() - 1 - self.first_group().as_ptr().addr()) / Geometry::<T>::STRIDE;
            // SAFETY: by the caller that group is in this chunk. A group begins with its state, so the byte before `known` is in it.
            self.set_group(unsafe { self.first_group().add(groups * Geometry::<T>::STRIDE) });
        }
        (self.next, self.known) = (next, known);
    }
}
