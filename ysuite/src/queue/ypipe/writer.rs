//! The writing end of a ypipe: [`Writer`], and the place it writes at.
//!
//! [`WriteCursor`] knows which slot comes next, up to where there is room, and what is still hidden: the counterpart of the
//! reader's cursor. It has one owner, is wait-free, and knows nothing of sleeping; the writer joins it to the pipe's core.

use core::fmt;
use core::ptr::{self, NonNull};

use super::chunk::{Chunk, Geometry, group_of, nothing, slot, state};
use super::core::PipeCore;
use crate::passive::{GONE, Passive};
use crate::queue::{RegisterCopy, outline, prefetch_for_write};
use crate::sync::{Arc, Ordering};

/// The writing end: one thread at a time. Every operation is wait-free; none sleeps or makes a system call, and memory
/// is allocated only where a new chunk is needed and none has come back from the reader.
///
/// Messages written are hidden until [`flush`](Self::flush). Dropping the writer flushes, and tells the reader that
/// nothing more will come.
pub struct Writer<T> {
    writing: RegisterCopy<Writing<T>>,
}

/// What a writer is, with the duty to close.
struct Writing<T> {
    cursor: WriteCursor<T>,
    core: Arc<PipeCore<T>>,
    closed: bool,
    /// Messages have been dropped here that nobody has read.
    #[cfg_attr(not(feature = "futures"), allow(dead_code))]
    lost: bool,
}

// SAFETY: the writer owns its place in the chunks; messages pass by value.
unsafe impl<T: Send> Send for Writer<T> {}
// SAFETY: through a shared reference only the place itself and atomics of the core are looked at, never a message.
unsafe impl<T: Send> Sync for Writer<T> {}

impl<T> Writer<T> {
    pub(super) fn new(core: Arc<PipeCore<T>>, chunk: Chunk<T>) -> Self {
        Self {
            writing: RegisterCopy::new(Writing {
                cursor: WriteCursor::new(&core, chunk),
                core,
                closed: false,
                lost: false,
            }),
        }
    }

    /// The writing end of a lane: no chunk before the first message.
    pub(super) fn idle(core: Arc<PipeCore<T>>) -> Self {
        Self { writing: RegisterCopy::new(Writing { cursor: WriteCursor::idle(), core, closed: false, lost: false }) }
    }

    /// Writes a message, hidden until [`flush`](Self::flush).
    ///
    /// Wait-free. Allocates only where a chunk is full and none has come back.
    ///
    /// # Errors
    /// The message itself, where the pipe has a bound and is full. Without a bound: never.
    #[inline(always)]
    pub fn write(&mut self, message: T) -> Result<(), T> {
        if !self.has_room() {
            return Err(message);
        }
        // SAFETY: there is room.
        unsafe { self.writing.cursor.put_hidden(message) };
        Ok(())
    }

    /// Writes messages, hidden, until there are no more, or no room: then the one too many comes back.
    ///
    /// If the iterator panics, what it has given is written.
    #[inline]
    pub(crate) fn fill(&mut self, messages: &mut impl Iterator<Item = T>) -> Option<T> {
        let Writing { cursor, core, .. } = &mut *self.writing;
        cursor.fill(core, messages)
    }

    /// Writes a message and publishes it with all that was hidden. As [`write`](Self::write) and
    /// [`flush`](Self::flush), in one step; the tokens of a sleeping reader, which must be rung, are returned.
    #[inline(always)]
    pub(crate) fn send(&mut self, message: T) -> Result<u32, T> {
        if !self.writing.cursor.may_publish_here() {
            return outline(self, |writer| writer.send_further(message));
        }
        // SAFETY: there is room, and nothing is hidden.
        unsafe { self.writing.cursor.put_published(message) };
        Ok(self.writing.core.read_mostly.reader.published())
    }

    #[cold]
    #[inline(never)]
    fn send_further(&mut self, message: T) -> Result<u32, T> {
        self.write(message)?;
        Ok(self.publish())
    }

    /// Takes back the newest hidden message, if there is one. Wait-free.
    pub fn unwrite(&mut self) -> Option<T> {
        let Writing { cursor, core, .. } = &mut *self.writing;
        cursor.unwrite(core)
    }

    /// Publishes all hidden messages at once, in order. Wait-free: a few stores, however many messages.
    ///
    /// False when the reader sleeps: it has armed the pipe, and must be woken by the caller. That is said once for each
    /// time the reader arms. True when it need not be woken. Where the reader is gone, what was written is dropped here.
    #[inline(always)]
    pub fn flush(&mut self) -> bool {
        let tokens = self.publish();
        tokens == 0 || self.answered(tokens)
    }

    /// A flush has been told something. True: the reader need not be woken.
    #[cold]
    #[inline(never)]
    fn answered(&mut self, tokens: u32) -> bool {
        if tokens & GONE != 0 {
            self.writing.core.dispose(|_, message| drop(message));
        }
        tokens & !GONE == 0
    }

    /// As [`flush`](Self::flush), returning the reader's tokens, and [`GONE`].
    #[inline(always)]
    pub(crate) fn publish(&mut self) -> u32 {
        self.writing.publish()
    }

    /// Says that nothing more will come, after publishing what is hidden. The reader's tokens are returned, once.
    pub(crate) fn close(&mut self) -> u32 {
        self.writing.close()
    }

    /// After [`GONE`]: takes the messages from position `from` on back, for as far as nobody else drops them already.
    #[cold]
    pub(crate) fn reclaim(&mut self, from: usize, mut each: impl FnMut(T)) {
        let Writing { core, lost, .. } = &mut *self.writing;
        core.dispose(|position, message| {
            // Positions wrap; what was taken just now is near.
            if (position.wrapping_sub(from) as isize) > 0 {
                each(message);
            } else {
                *lost = true;
                drop(message);
            }
        });
    }

    /// Whether [`reclaim`](Self::reclaim) has dropped messages: nobody has read them.
    #[cfg(feature = "futures")]
    pub(crate) fn has_lost(&self) -> bool {
        self.writing.lost
    }

    /// How the reader sleeps: whose tokens [`publish`](Self::publish) and its like return.
    pub(crate) fn reader_passive(&self) -> &Passive {
        &self.writing.core.read_mostly.reader
    }

    /// How the writer sleeps while it waits for room.
    pub(crate) fn passive(&self) -> &Passive {
        &self.writing.core.read_mostly.writer
    }

    /// Whether another message may be written, now.
    #[inline(always)]
    pub(crate) fn has_room(&mut self) -> bool {
        let Writing { cursor, core, .. } = &mut *self.writing;
        cursor.has_room(core)
    }

    /// How many messages have been written in all, hidden ones included; wraps.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.writing.cursor.position()
    }

    /// Whether the reader is gone: nothing written will ever be read.
    #[must_use]
    pub fn is_orphaned(&self) -> bool {
        self.writing.core.read_mostly.reader.is_gone()
    }

    /// How many messages may be in the pipe; `None` without a bound.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.writing.core.bound()
    }

    /// How many published messages have not been read. Exact for the writer's part, as old as the reader's last step.
    #[must_use]
    pub fn len(&self) -> usize {
        self.occupied() - self.hidden()
    }

    /// Whether every published message has been read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Messages that take up room: published and unread, or hidden.
    pub(crate) fn occupied(&self) -> usize {
        self.position().wrapping_sub(self.writing.core.consumed())
    }

    /// As if so many more chunks had come and gone. Only where this one is full, and read.
    #[cfg(all(test, not(ysuite_loom)))]
    pub(super) fn skip_laps(&mut self, by: usize) {
        self.writing.cursor.skip_laps(by);
    }

    /// Messages written and not yet flushed.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.writing.cursor.hidden()
    }
}

impl<T> Writing<T> {
    #[inline(always)]
    fn publish(&mut self) -> u32 {
        if !self.cursor.is_hiding() {
            return 0;
        }
        self.cursor.publish();
        self.core.read_mostly.reader.published()
    }

    fn close(&mut self) -> u32 {
        if self.closed {
            return 0;
        }
        self.closed = true;
        let tokens = self.publish();
        // ORDERING: Release pairs with the Acquire in `PipeCore::is_closed`; the barrier in `published` orders it before the look
        // at the reader's word.
        self.core.read_mostly.closed.store(true, Ordering::Release);
        tokens | self.core.read_mostly.reader.published()
    }
}

impl<T> Drop for Writing<T> {
    fn drop(&mut self) {
        self.close();
        if self.core.read_mostly.reader.is_gone() {
            self.core.dispose(|_, message| drop(message));
        }
    }
}

impl<T> fmt::Debug for Writer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("len", &self.len()).field("hidden", &self.hidden()).finish_non_exhaustive()
    }
}

/// How many groups ahead of itself the writer asks for a line, so that the reader's copy is gone when it gets there.
const AHEAD: usize = 2;

/// What a pipe without a bound may always be ahead.
const UNBOUNDED: usize = isize::MAX as usize;

/// Where the writer writes.
struct WriteCursor<T> {
    /// The slot of the next message.
    next: NonNull<u8>,
    /// Up to where a message may be written *and published* without a further thought: `full`, or null while messages
    /// are hidden. Two questions in one comparison.
    stop: *mut u8,
    group: NonNull<u8>,
    /// What this chunk's states are above the addresses of their slots.
    lap: usize,
    /// Where to look further: the end of the group, or earlier where the room ends.
    full: NonNull<u8>,
    /// The position of the oldest hidden message, while there is one.
    hidden_from: usize,
    chunk: Chunk<T>,
    /// One past the chunk's last group.
    end: NonNull<u8>,
    /// How many messages come before this group; wraps.
    before: usize,
    /// The group that holds the oldest hidden message, once the writer has left it; what its state will say.
    held: Option<(NonNull<u8>, usize)>,
    /// Chunks all of whose messages have been unwritten: the next ones to be linked. A list through `next` that the
    /// reader does not know: it would leave a chunk for good as soon as another is linked behind it.
    emptied: Option<Chunk<T>>,
    /// How many messages may have been written in all, as far as known; wraps. Without a bound it is always far ahead.
    limit: usize,
}

impl<T> WriteCursor<T> {
    fn new(core: &PipeCore<T>, chunk: Chunk<T>) -> Self {
        let group = chunk.first();
        // SAFETY: within the first group.
        let next = unsafe { group.add(Geometry::<T>::FIRST) };
        let mut cursor = Self {
            next,
            stop: next.as_ptr(),
            group,
            lap: chunk.lap(),
            full: next,
            hidden_from: 0,
            chunk,
            end: chunk.end(),
            before: 0,
            held: None,
            emptied: None,
            limit: core.read_mostly.capacity.min(UNBOUNDED),
        };
        cursor.set_full(core);
        cursor
    }

    /// A cursor without a chunk: nothing is hidden, and nothing may be written without a further thought, which makes one.
    fn idle() -> Self {
        // Addresses of nothing, where no group ends.
        let at = |address| NonNull::new(ptr::without_provenance_mut::<u8>(address)).expect("not null");
        let group = at(Geometry::<T>::STRIDE);
        let next = at(Geometry::<T>::STRIDE + Geometry::<T>::FIRST);
        Self {
            next,
            stop: next.as_ptr(),
            group,
            lap: Geometry::<T>::LAP,
            full: next,
            hidden_from: 0,
            chunk: Chunk::nowhere(),
            end: group,
            before: 0,
            held: None,
            emptied: None,
            limit: 0,
        }
    }

    /// Makes the first chunk of an idle cursor.
    #[cold]
    fn begin(&mut self, core: &PipeCore<T>) {
        *self = Self::new(core, core.begin());
    }

    /// How many messages have been written in all, hidden ones included; wraps.
    #[inline]
    fn position(&self) -> usize {
        let offset = self.next.as_ptr().addr() - self.group.as_ptr().addr();
        self.before.wrapping_add((offset - Geometry::<T>::FIRST) / Geometry::<T>::STEP)
    }

    #[cfg(all(test, not(ysuite_loom)))]
    fn skip_laps(&mut self, by: usize) {
        self.lap = self.lap.wrapping_add(by);
        // SAFETY: the group the cursor is in is alive, and full.
        unsafe { self.show_group() };
    }

    #[inline(always)]
    fn is_hiding(&self) -> bool {
        self.stop.is_null()
    }

    /// Messages written and not yet published.
    fn hidden(&self) -> usize {
        if self.is_hiding() { self.position().wrapping_sub(self.hidden_from) } else { 0 }
    }

    /// From here on messages are hidden.
    #[inline(always)]
    fn hide(&mut self) {
        if !self.is_hiding() {
            self.stop = ptr::null_mut();
            self.hidden_from = self.position();
        }
    }

    /// Whether there is room for a message; steps forward where that takes it.
    #[inline(always)]
    fn has_room(&mut self, core: &PipeCore<T>) -> bool {
        // The next group is entered right here, as in `may_publish_here`: the copy `outline` makes costs more than that.
        self.next != self.full || (self.is_at_end() && self.step()) || outline(self, |cursor| cursor.room(core))
    }

    /// Whether a message may be written and published right here: nothing is hidden, and there is room in this group, or
    /// in the next one of this chunk, which is then entered. False says nothing, and changes nothing.
    #[inline(always)]
    fn may_publish_here(&mut self) -> bool {
        self.next.as_ptr() < self.stop || (!self.is_hiding() && self.is_at_end() && self.step())
    }

    /// Whether every slot of this group is written. The group of an idle cursor has none.
    #[inline(always)]
    fn is_at_end(&self) -> bool {
        self.next.as_ptr() == self.group.as_ptr().wrapping_add(Geometry::<T>::END)
    }

    /// Goes on in the next group of this chunk, if there is one, and room for all of it.
    #[inline(always)]
    fn step(&mut self) -> bool {
        // SAFETY: at most one past the chunk's last group.
        let group = unsafe { self.group.add(Geometry::<T>::STRIDE) };
        let before = self.before.wrapping_add(Geometry::<T>::SLOTS);
        if group == self.end || self.limit.wrapping_sub(before) < Geometry::<T>::SLOTS {
            return false;
        }
        if self.is_hiding() {
            self.hold();
        }
        self.before = before;
        self.group = group;
        // SAFETY: within that group.
        unsafe {
            self.next = group.add(Geometry::<T>::FIRST);
            self.full = group.add(Geometry::<T>::END);
        }
        if !self.is_hiding() {
            self.stop = self.full.as_ptr();
        }
        prefetch_for_write(group.as_ptr().wrapping_add(AHEAD * Geometry::<T>::STRIDE));
        true
    }

    /// Makes room for one more message: the next group, the next chunk, or credit the reader has given. False: full.
    #[inline(never)]
    fn room(&mut self, core: &PipeCore<T>) -> bool {
        if self.group == self.end {
            // No group begins at the end of its chunk: this cursor is idle.
            self.begin(core);
            return true;
        }
        let position = self.position();
        if self.limit == position {
            self.limit = core.consumed().wrapping_add(core.read_mostly.capacity);
            if self.limit == position {
                return false;
            }
        }
        if self.is_at_end() {
            if self.step() {
                return true;
            }
            if self.is_hiding() {
                self.hold();
            }
            self.before = position;
            // SAFETY: one past the chunk's last group at most.
            self.group = unsafe { self.group.add(Geometry::<T>::STRIDE) };
            if self.group == self.end {
                self.next_chunk(core);
            }
            // SAFETY: within the group.
            self.next = unsafe { self.group.add(Geometry::<T>::FIRST) };
        }
        self.set_full(core);
        true
    }

    /// Finds out how far this group may be written.
    fn set_full(&mut self, core: &PipeCore<T>) {
        if !core.is_bounded() {
            self.limit = self.before.wrapping_add(UNBOUNDED);
        }
        let left = self.limit.wrapping_sub(self.position());
        // SAFETY: at most the end of the group.
        unsafe {
            let end = self.group.add(Geometry::<T>::END);
            let slots = end.as_ptr().offset_from(self.next.as_ptr()) as usize / Geometry::<T>::STEP;
            self.full = self.next.add(left.min(slots) * Geometry::<T>::STEP);
        }
        if !self.is_hiding() {
            self.stop = self.full.as_ptr();
        }
    }

    /// A new chunk, greater than the last until it is worth keeping; in a long queue of small chunks until it is great.
    fn chunk_after(&self, core: &PipeCore<T>, lap: usize) -> Chunk<T> {
        let (most, great) = (core.groups(), Geometry::<T>::GREAT);
        // Where no chunk is greater nobody needs to know.
        let is_long = most < great && core.read_mostly.cache.is_long();
        Chunk::allocate((self.chunk.groups() * 4).min(if is_long { great } else { most }), lap)
    }

    #[cold]
    #[inline(never)]
    fn next_chunk(&mut self, core: &PipeCore<T>) {
        self.lap = self.lap.wrapping_add(Geometry::<T>::LAP);
        let next = match self.emptied {
            Some(emptied) => {
                self.emptied = emptied.next();
                emptied
            }
            None => {
                core.read_mostly.cache.linked();
                match core.read_mostly.cache.take() {
                    Some(spent) => {
                        spent.renew(self.lap);
                        spent
                    }
                    None => self.chunk_after(core, self.lap),
                }
            }
        };
        // ORDERING: Relaxed; the link below publishes it.
        next.header().next.store(ptr::null_mut(), Ordering::Relaxed);
        next.header().previous.set(self.chunk.as_raw());
        // ORDERING: Release pairs with the Acquire in `ReadCursor::next_chunk`.
        self.chunk.header().next.store(next.as_raw(), Ordering::Release);
        self.chunk = next;
        self.end = next.end();
        self.group = next.first();
    }

    /// Puts a message into the next slot.
    ///
    /// # Safety
    /// There is room: [`has_room`](Self::has_room) or [`may_publish_here`](Self::may_publish_here) has just said so.
    #[inline(always)]
    unsafe fn put(&mut self, message: T) {
        // Taken once: for all the compiler knows, the message might be written over `next`.
        let at = self.next;
        // SAFETY: by the caller `next` lies before `full`, so it is a slot of this group, empty since its last lap was
        // consumed; the one after it is at most one past the group.
        unsafe {
            write::<T>(at, message);
            self.next = at.add(Geometry::<T>::STEP);
        }
    }

    /// Writes a message and publishes it.
    ///
    /// # Safety
    /// There is room, and nothing is hidden.
    #[inline(always)]
    unsafe fn put_published(&mut self, message: T) {
        // SAFETY: by the caller there is room, in this group; then the message is in it.
        unsafe {
            self.put(message);
            self.show_group();
        }
    }

    /// Writes a message, hidden.
    ///
    /// # Safety
    /// There is room.
    #[inline(always)]
    unsafe fn put_hidden(&mut self, message: T) {
        self.hide();
        // SAFETY: by the caller.
        unsafe { self.put(message) };
    }

    /// Writes messages, hidden, until there are no more, or no room: then the one too many comes back.
    ///
    /// If the iterator panics, what it has given is written.
    #[inline]
    fn fill(&mut self, core: &PipeCore<T>, messages: &mut impl Iterator<Item = T>) -> Option<T> {
        let mut full = self.full;
        let mut run = Run { at: self.next, cursor: self };
        loop {
            let message = messages.next()?;
            if run.at == full {
                run.commit();
                let stepped = run.cursor.is_at_end() && run.cursor.step();
                if !stepped && !outline(run.cursor, |cursor| cursor.room(core)) {
                    return Some(message);
                }
                (run.at, full) = (run.cursor.next, run.cursor.full);
            }
            // SAFETY: `at` lies before `full`: as in `put`.
            unsafe {
                write::<T>(run.at, message);
                run.at = run.at.add(Geometry::<T>::STEP);
            }
        }
    }

    /// Leaves a group that holds hidden messages. The first such group is held back: its state, published last, shows
    /// the reader all the others at once.
    #[inline(always)]
    fn hold(&mut self) {
        let full = self.lap.wrapping_add(self.group.as_ptr().addr() + Geometry::<T>::LAST);
        if self.held.is_none() {
            self.held = Some((self.group, full));
        } else {
            // ORDERING: Release pairs with the Acquire in `ReadCursor::look_further`, which comes here only after the
            // group held back was published.
            // SAFETY: the group the cursor is in is alive.
            unsafe { state(self.group) }.store(full, Ordering::Release);
        }
    }

    /// Publishes all that is hidden, at once. Only while something is.
    #[inline(always)]
    fn publish(&mut self) {
        self.stop = self.full.as_ptr();
        let Some((group, full)) = self.held else {
            // SAFETY: something is hidden, and no group that holds any has been left, so it lies in this one.
            return unsafe { self.show_group() };
        };
        self.held = None;
        // SAFETY: the groups that hold hidden messages are alive.
        unsafe {
            if self.next != self.group.add(Geometry::<T>::FIRST) {
                self.show_group();
            }
            // ORDERING: Release pairs with the Acquire in `ReadCursor::look_further`. This store shows the reader the whole
            // batch.
            state(group).store(full, Ordering::Release);
        }
    }

    /// Has this group's state say how far it is written.
    ///
    /// # Safety
    /// Something is written in it.
    #[inline(always)]
    unsafe fn show_group(&self) {
        // SAFETY: by the caller a slot of this group lies before `next`; the group the cursor is in is alive.
        let (newest, state) = unsafe {
            let newest = self.next.sub(Geometry::<T>::STEP);
            (newest, state(group_of::<T>(newest, self.group)))
        };
        // ORDERING: Release pairs with the Acquire in `ReadCursor::look_further`.
        state.store(newest.as_ptr().addr().wrapping_add(self.lap), Ordering::Release);
    }

    /// Takes back the newest hidden message, if there is one.
    fn unwrite(&mut self, core: &PipeCore<T>) -> Option<T> {
        if !self.is_hiding() {
            return None;
        }
        // SAFETY: the newest message is hidden, so it lies in this group or, where this group is empty, in the one
        // before; the reader has not come there, and will not before it is published.
        let message = unsafe {
            if self.next == self.group.add(Geometry::<T>::FIRST) {
                self.step_back();
            }
            self.next = self.next.sub(Geometry::<T>::STEP);
            slot::<T>(self.next).with(|message| message.read().assume_init())
        };
        if self.position() == self.hidden_from {
            self.stop = self.next.as_ptr();
        }
        self.set_full(core);
        Some(message)
    }

    /// Back to the end of the group before this one.
    ///
    /// # Safety
    /// That group holds a hidden message.
    unsafe fn step_back(&mut self) {
        // SAFETY: the group before is in this chunk or is the last of the one before, which a hidden message keeps
        // from being consumed.
        unsafe {
            if self.group == self.chunk.first() {
                let emptied = self.chunk;
                self.chunk = Chunk::from_raw(emptied.header().previous.get()).expect("a hidden message lies there");
                // ORDERING: Relaxed twice; the reader comes to the link only behind the hidden message before it, and
                // knows nothing of the list.
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
                // It was marked full when it was left; nothing in it is published.
                // ORDERING: Relaxed; the reader gets here only after a later Release.
                state(self.group).store(nothing(self.group, self.lap), Ordering::Relaxed);
            }
        }
    }
}

impl<T> Drop for WriteCursor<T> {
    fn drop(&mut self) {
        while let Some(emptied) = self.emptied {
            self.emptied = emptied.next();
            // SAFETY: it is in no queue, and no longer in the list.
            unsafe { emptied.free() };
        }
    }
}

/// Moves a message into a slot.
///
/// # Safety
/// `at` is an empty slot, and the caller's to fill.
#[inline(always)]
unsafe fn write<T>(at: NonNull<u8>, message: T) {
    // SAFETY: by the caller.
    unsafe {
        slot::<T>(at).with_mut(|place| {
            (*place).write(message);
        });
    }
}

/// A run of slots being filled. Whatever ends it, the cursor goes on behind the last one.
struct Run<'a, T> {
    at: NonNull<u8>,
    cursor: &'a mut WriteCursor<T>,
}

impl<T> Run<'_, T> {
    #[inline(always)]
    fn commit(&mut self) {
        if self.at != self.cursor.next {
            self.cursor.hide();
            self.cursor.next = self.at;
        }
    }
}

impl<T> Drop for Run<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.commit();
    }
}
