//! The reading end of a ypipe: [`Reader`], and the place it reads at.
//!
//! [`ReadCursor`] knows which slot comes next, and how far is known to be published. It has one owner at a time: the reader,
//! and after its end the thread that disposes of what is left. It is wait-free.

use core::fmt;
use core::ptr::NonNull;

use super::chunk::{Chunk, Geometry, slot, state};
use super::chunk_cache::Giving;
use super::core::PipeCore;
use crate::passive::Passive;
use crate::queue::{RegisterCopy, outline};
use crate::sync::{Arc, Ordering};

/// The token of a pipe that is used by itself, where the caller knows how its reader sleeps.
const ASLEEP: u32 = 1;

/// The reading end: one thread at a time. Every operation is wait-free and none allocates; only [`arm`](Self::arm) may
/// make a system call, a barrier. Dropping the reader drops what is in the pipe.
pub struct Reader<T> {
    reading: RegisterCopy<Reading<T>>,
}

/// What a reader is, with the duty to leave.
struct Reading<T> {
    /// Taken out only when the reader ends.
    cursor: Option<ReadCursor<T>>,
    core: Arc<PipeCore<T>>,
}

// SAFETY: the reader owns its place in the chunks; messages pass by value.
unsafe impl<T: Send> Send for Reader<T> {}
// SAFETY: a shared reference reads state words and atomics only; messages are lent by `peek` alone, which takes
// `&mut self`.
unsafe impl<T: Send> Sync for Reader<T> {}

impl<T> Reader<T> {
    pub(super) fn new(core: Arc<PipeCore<T>>, cursor: ReadCursor<T>) -> Self {
        Self { reading: RegisterCopy::new(Reading { cursor: Some(cursor), core }) }
    }

    #[inline(always)]
    fn parts(&mut self) -> (&mut ReadCursor<T>, &PipeCore<T>) {
        let Reading { cursor, core } = &mut *self.reading;
        // SAFETY: the cursor is taken out in `leave`, after which the owner does nothing but drop this.
        (unsafe { cursor.as_mut().unwrap_unchecked() }, core)
    }

    /// Takes the next message, if one is published. Wait-free.
    #[inline(always)]
    pub fn read(&mut self) -> Option<T> {
        let (cursor, core) = self.parts();
        cursor.take(core)
    }

    /// The next message where it lies, if one is published. Wait-free.
    pub fn peek(&mut self) -> Option<&T> {
        let (cursor, core) = self.parts();
        cursor.peek(core)
    }

    /// Appends up to `most` published messages to `to` and returns how many. Allocates only in `to`.
    #[inline]
    pub fn read_batch(&mut self, to: &mut Vec<T>, most: usize) -> usize {
        let (cursor, core) = self.parts();
        cursor.take_many(core, to, most)
    }

    /// As [`Writer::skip_laps`](super::Writer::skip_laps).
    #[cfg(all(test, not(ysuite_loom)))]
    pub(super) fn skip_laps(&mut self, by: usize) {
        self.parts().0.skip_laps(by);
    }

    /// How many messages have been read; wraps.
    pub(crate) fn position(&self) -> usize {
        self.reading.core.consumed()
    }

    /// Whether there is a message to read.
    #[inline]
    pub(crate) fn has_message(&mut self) -> bool {
        let (cursor, core) = self.parts();
        cursor.look(core)
    }

    /// Announces that this reader goes to sleep. True: nothing is here, and the next flush will say so to the writer,
    /// which then has to wake us. False: a message is here, or nothing more will come; do not sleep.
    ///
    /// At most one system call (a `membarrier`, and only while the writer streams).
    pub fn arm(&mut self) -> bool {
        self.reading.core.read_mostly.reader.arm(ASLEEP);
        if self.has_message() || self.is_closed() {
            self.reading.core.read_mostly.reader.disarm(ASLEEP);
            return false;
        }
        true
    }

    /// How the reader sleeps.
    pub(crate) fn passive(&self) -> &Passive {
        &self.reading.core.read_mostly.reader
    }

    /// How the writer sleeps: whose tokens [`credited`](Self::credited) and [`leave`](Self::leave) return.
    pub(crate) fn writer_passive(&self) -> &Passive {
        &self.reading.core.read_mostly.writer
    }

    /// After messages have been taken: the tokens of a writer that sleeps for want of room, which must be rung. Without
    /// a bound there is none, and this is a load.
    #[inline(always)]
    pub(crate) fn credited(&self) -> u32 {
        self.reading.core.read_mostly.writer.published()
    }

    /// Whether the writer is gone. What it published may still be here.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.reading.core.is_closed()
    }

    /// How many messages may be in the pipe; `None` without a bound.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.reading.core.bound()
    }

    /// How many published messages are here. Takes time in proportion to that number (a load for each cache line).
    #[must_use]
    pub fn len(&self) -> usize {
        self.reading.cursor.as_ref().map_or(0, |cursor| cursor.len_up_to(usize::MAX))
    }

    /// Whether no published message is here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reading.cursor.as_ref().is_none_or(|cursor| cursor.len_up_to(1) == 0)
    }

    /// Puts the reading place to rest where it came from: see [`IdleReader`](super::IdleReader).
    pub(super) fn into_rest(mut self) {
        let Reading { cursor, core } = &mut *self.reading;
        if let Some(cursor) = cursor.take() {
            // SAFETY: this reader is the reading side, and has not left.
            unsafe { core.rest_cursor(cursor) };
        }
    }

    /// Whether there are messages, counting no further than it takes to reach `enough`.
    pub(crate) fn len_up_to(&self, enough: usize) -> usize {
        self.reading.cursor.as_ref().map_or(0, |cursor| cursor.len_up_to(enough))
    }

    /// Ends reading. Returns the tokens of a writer that waits for room, to be rung before the reader is dropped, which
    /// drops the messages (and one of those may panic).
    pub(crate) fn leave(&mut self) -> u32 {
        self.reading.leave()
    }
}

impl<T> Reading<T> {
    fn leave(&mut self) -> u32 {
        match self.cursor.take() {
            None => 0,
            Some(cursor) => {
                self.core.abandon(cursor);
                self.core.read_mostly.writer.published()
            }
        }
    }
}

impl<T> Drop for Reading<T> {
    fn drop(&mut self) {
        self.leave();
        // A reader that was put to rest has gone nowhere.
        if self.core.read_mostly.reader.is_gone() {
            self.core.dispose(|_, message| drop(message));
        }
    }
}

impl<T> fmt::Debug for Reader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// Where the reader reads.
pub(super) struct ReadCursor<T> {
    /// The slot of the next message.
    next: NonNull<u8>,
    /// How many messages have been taken; wraps. The core is told of each change.
    taken: usize,
    /// One past the last slot of this group known to be published.
    known: NonNull<u8>,
    group: NonNull<u8>,
    /// Where the state of this chunk's groups counts from.
    lap: usize,
    chunk: Chunk<T>,
    /// One past the chunk's last group.
    end: NonNull<u8>,
    /// The reader's part in the way back of spent chunks.
    giving: Giving,
}

impl<T> ReadCursor<T> {
    pub(super) fn new(chunk: Chunk<T>, giving: Giving) -> Self {
        let group = chunk.first();
        let known = Self::first_slot(group);
        Self { next: known, taken: 0, known, group, lap: chunk.lap(), chunk, end: chunk.end(), giving }
    }

    #[cfg(all(test, not(ysuite_loom)))]
    pub(super) fn skip_laps(&mut self, by: usize) {
        self.lap = self.lap.wrapping_add(by);
    }

    pub(super) fn first_slot(group: NonNull<u8>) -> NonNull<u8> {
        // SAFETY: the first slot of a group is within it.
        unsafe { group.add(Geometry::<T>::FIRST) }
    }

    /// Whether there is a message; learns how many more of its group there are. Steps into the next group or chunk
    /// where this one is spent.
    #[inline(always)]
    pub(super) fn look(&mut self, core: &PipeCore<T>) -> bool {
        self.next != self.known || self.look_further(core)
    }

    #[inline(always)]
    fn look_further(&mut self, core: &PipeCore<T>) -> bool {
        // SAFETY: all pointers stay within the cursor's chunk, or one past a group.
        unsafe {
            if self.known == self.group.add(Geometry::<T>::END) {
                let group = self.group.add(Geometry::<T>::STRIDE);
                if group != self.end {
                    self.enter(group);
                } else if !outline(self, |cursor| cursor.next_chunk(core)) {
                    return false;
                }
            }
            // ORDERING: Acquire pairs with the Release in `WriteCursor::publish`: the slots up to there are written.
            let newest = state(self.group).load(Ordering::Acquire).wrapping_sub(self.lap);
            let ahead = newest.wrapping_sub(self.known.as_ptr().addr());
            // What an earlier lap left there is behind: negative.
            if (ahead as isize) < 0 {
                return false;
            }
            self.known = self.known.add(ahead + Geometry::<T>::STEP);
        }
        true
    }

    #[inline(always)]
    fn enter(&mut self, group: NonNull<u8>) {
        self.group = group;
        self.next = Self::first_slot(group);
        self.known = self.next;
    }

    /// Steps into the next chunk if it is linked, and hands the spent one back.
    #[cold]
    #[inline(never)]
    fn next_chunk(&mut self, core: &PipeCore<T>) -> bool {
        // ORDERING: Acquire pairs with the Release that links a chunk in `WriteCursor::next_chunk`.
        let Some(next) = Chunk::from_raw(self.chunk.header().next.load(Ordering::Acquire)) else { return false };
        let spent = core::mem::replace(&mut self.chunk, next);
        self.end = next.end();
        self.lap = self.lap.wrapping_add(Geometry::<T>::LAP);
        self.enter(next.first());
        core.read_mostly.cache.give(&mut self.giving, spent, core.groups());
        true
    }

    /// Takes the next message.
    #[inline(always)]
    pub(super) fn take(&mut self, core: &PipeCore<T>) -> Option<T> {
        if !self.look(core) {
            return None;
        }
        // The place moves on before anything else can happen to the message: it is never taken twice.
        let at = self.next;
        // SAFETY: `at` is a published slot, `known` at most one past the group's last.
        self.next = unsafe { at.add(Geometry::<T>::STEP) };
        self.taken = self.taken.wrapping_add(1);
        core.took(self.taken);
        // SAFETY: `look` has acquired this slot's publication; only we read it, and only once.
        Some(unsafe { slot::<T>(at).with(|message| message.read().assume_init()) })
    }

    /// The next message where it lies.
    pub(super) fn peek(&mut self, core: &PipeCore<T>) -> Option<&T> {
        if !self.look(core) {
            return None;
        }
        // SAFETY: as in `take`; it stays there as long as this cursor is borrowed.
        Some(unsafe { slot::<T>(self.next).with(|message| (*message).assume_init_ref()) })
    }

    /// Appends up to `most` messages to `to`; returns how many. A panic of the allocator loses nothing.
    #[inline]
    pub(super) fn take_many(&mut self, core: &PipeCore<T>, to: &mut Vec<T>, most: usize) -> usize {
        // On a copy that can live in registers.
        outline(self, |cursor| cursor.take_many_here(core, to, most))
    }

    #[inline(always)]
    fn take_many_here(&mut self, core: &PipeCore<T>, to: &mut Vec<T>, most: usize) -> usize {
        let before = to.len();
        let mut length = before;
        let mut left = most;
        // What was known before is taken first: only a look of this call may say that there is no more.
        let mut looked = self.next == self.known;
        while left != 0 && self.look(core) {
            // SAFETY: both within one group.
            let run = unsafe { self.known.as_ptr().offset_from(self.next.as_ptr()) } as usize;
            let run = (run / Geometry::<T>::STEP).min(left);
            if to.capacity() - length < run {
                // SAFETY: so many have been moved in.
                unsafe { to.set_len(length) };
                to.reserve(run);
            }
            // SAFETY: there is room for `run` more, made above, and `run` slots from `next` on are published and ours.
            // The messages are moved out exactly once: the place moves past them before anything else can happen.
            unsafe {
                let room = to.as_mut_ptr().add(length);
                if run == Geometry::<T>::SLOTS {
                    // A whole group: of known length, so the compiler makes it a few wide moves.
                    Self::copy(self.next, room, Geometry::<T>::SLOTS);
                } else {
                    Self::copy(self.next, room, run);
                }
                self.next = self.next.add(run * Geometry::<T>::STEP);
            }
            length += run;
            left -= run;
            self.taken = self.taken.wrapping_add(run);
            core.took(self.taken);
            // The writer is at work in a group that is not full: to ask it again would slow it down.
            // SAFETY: one past the group at most.
            if looked && self.next == self.known && self.known != unsafe { self.group.add(Geometry::<T>::END) } {
                break;
            }
            looked = self.next == self.known;
        }
        // SAFETY: so many have been moved in. Nothing since the last time this was said can have panicked, but for
        // `reserve`, before which it was said.
        unsafe { to.set_len(length) };
        length - before
    }

    /// Copies `run` messages from the slots at `from` to `room`.
    ///
    /// # Safety
    /// The slots are published, within one group, and the caller's to move out of; there is room.
    #[inline(always)]
    unsafe fn copy(from: NonNull<u8>, room: *mut T, run: usize) {
        // SAFETY: by the caller. Slots of messages that have a size lie one behind the other like an array.
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

    /// How many messages are published and not taken, counting no further than it takes to reach `enough`. Walks the
    /// groups between the two ends.
    pub(super) fn len_up_to(&self, enough: usize) -> usize {
        let (mut chunk, mut group, mut lap) = (self.chunk, self.group, self.lap);
        // SAFETY: same chunk and group.
        let offset = unsafe { self.next.as_ptr().offset_from(group.as_ptr()) } as usize;
        let mut passed = (offset - Geometry::<T>::FIRST) / Geometry::<T>::STEP;
        let mut count = 0;
        loop {
            // SAFETY: the chunks ahead of the reader are freed by nobody else.
            let said = unsafe { state(group) };
            // ORDERING: Acquire pairs with `WriteCursor::publish`, so that a link behind a full group is visible.
            let newest = said.load(Ordering::Acquire).wrapping_sub(lap);
            let first = group.as_ptr().addr() + Geometry::<T>::FIRST;
            let ahead = newest.wrapping_sub(first) as isize;
            let slots = if ahead < 0 { 0 } else { ahead as usize / Geometry::<T>::STEP + 1 };
            count += slots.saturating_sub(passed);
            passed = 0;
            if slots < Geometry::<T>::SLOTS || count >= enough {
                return count;
            }
            // SAFETY: one past the group at most.
            group = unsafe { group.add(Geometry::<T>::STRIDE) };
            if group == chunk.end() {
                // ORDERING: Acquire, as in `next_chunk`.
                let Some(next) = Chunk::from_raw(chunk.header().next.load(Ordering::Acquire)) else { return count };
                (chunk, group, lap) = (next, next.first(), lap.wrapping_add(Geometry::<T>::LAP));
            }
        }
    }

    /// Frees the chunk the cursor is in and all after it; both ends are gone and the queue is empty.
    pub(super) fn free_chunks(self) {
        let mut chunk = Some(self.chunk);
        while let Some(this) = chunk {
            chunk = this.next();
            // SAFETY: nobody else is left, and we hold the link to the next already.
            unsafe { this.free() };
        }
    }
}
