//! The writing end of a ypipe.

use core::fmt;
use core::ptr::{self, NonNull};

use super::chunk::{Chunk, Geometry, group_of, slot, state};
use super::core::Core;
use crate::queue::{GONE, Passive, prefetch};
use crate::sync::{Arc, Ordering};

/// How many groups ahead of itself the writer asks for a line, so that the reader's copy is gone when it gets there.
const AHEAD: usize = 16;

/// What a pipe without a bound may always be ahead.
const UNBOUNDED: usize = isize::MAX as usize;

/// The writing end: one thread at a time. Every operation is wait-free; none sleeps or makes a system call, and memory
/// is allocated only where a new chunk is needed and none has come back from the reader.
///
/// Messages written are hidden until [`flush`](Self::flush). Dropping the writer flushes, and tells the reader that
/// nothing more will come.
pub struct Writer<T> {
    /// The slot of the next message.
    next: NonNull<u8>,
    /// Up to where [`send`](Self::send) may write without a further thought: `full`, or null while messages are hidden.
    /// Folding two questions into one comparison is worth a tenth of a message.
    stop: *mut u8,
    group: NonNull<u8>,
    /// Where the state of this chunk's groups counts from.
    lap: usize,
    core: Arc<Core<T>>,
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
    /// How many messages may have been written in all, as far as known; wraps. Without a bound it is always far ahead.
    limit: usize,
    /// The place in the ring of spent chunks.
    taking: usize,
    closed: bool,
}

// SAFETY: the writer owns its place in the chunks; messages pass by value.
unsafe impl<T: Send> Send for Writer<T> {}
// SAFETY: through a shared reference only atomics of the core are looked at.
unsafe impl<T: Send> Sync for Writer<T> {}

impl<T> Writer<T> {
    pub(super) fn new(core: Arc<Core<T>>, chunk: Chunk<T>) -> Self {
        let group = chunk.first();
        // SAFETY: within the first group.
        let next = unsafe { group.add(Geometry::<T>::FIRST) };
        let limit = core.calm.capacity.min(UNBOUNDED);
        let mut writer = Self {
            next,
            stop: next.as_ptr(),
            group,
            lap: Geometry::<T>::LAP,
            core,
            full: next,
            hidden_from: 0,
            chunk,
            end: chunk.end(),
            before: 0,
            held: None,
            limit,
            taking: 0,
            closed: false,
        };
        writer.set_full();
        writer
    }

    /// Writes a message, hidden until [`flush`](Self::flush).
    ///
    /// Wait-free. Allocates only where a chunk is full and none has come back.
    ///
    /// # Errors
    /// The message itself, where the pipe has a bound and is full. Without a bound: never.
    #[inline(always)]
    pub fn write(&mut self, message: T) -> Result<(), T> {
        if self.next == self.full && !self.room() {
            return Err(message);
        }
        self.hide();
        self.put(message);
        Ok(())
    }

    /// From here on messages are hidden.
    #[inline(always)]
    fn hide(&mut self) {
        if !self.stop.is_null() {
            self.stop = ptr::null_mut();
            self.hidden_from = self.position();
        }
    }

    /// Writes messages, hidden, until there are no more, or no room: then the one too many comes back.
    ///
    /// If the iterator panics, what it has given is written.
    #[inline]
    pub(crate) fn fill(&mut self, messages: &mut impl Iterator<Item = T>) -> Option<T> {
        let mut full = self.full;
        let mut run = Run { at: self.next, writer: self };
        loop {
            let message = messages.next()?;
            if run.at == full {
                run.commit();
                if !run.writer.step_hidden() {
                    return Some(message);
                }
                (run.at, full) = (run.writer.next, run.writer.full);
            }
            // SAFETY: `at` lies before `full`, so it is a slot of this group, empty since its last lap was consumed; the
            // next one is at most one past the group.
            unsafe {
                slot::<T>(run.at).with_mut(|place| {
                    (*place).write(message);
                });
                run.at = run.at.add(Geometry::<T>::STEP);
            }
        }
    }

    /// The way on within a batch, as [`step`](Self::step) is for single messages. False: no room.
    #[inline(always)]
    fn step_hidden(&mut self) -> bool {
        // SAFETY: at most one past the chunk's last group.
        let group = unsafe { self.group.add(Geometry::<T>::STRIDE) };
        let before = self.before.wrapping_add(Geometry::<T>::SLOTS);
        // SAFETY: one past the group at most.
        let at_end = self.next == unsafe { self.group.add(Geometry::<T>::END) };
        if !at_end || group == self.end || self.limit.wrapping_sub(before) < Geometry::<T>::SLOTS {
            return self.room();
        }
        if self.stop.is_null() {
            self.hold();
        }
        self.enter(group, before);
        true
    }

    /// Goes on in a group all of which may be written.
    #[inline(always)]
    fn enter(&mut self, group: NonNull<u8>, before: usize) {
        // SAFETY: within that group.
        unsafe {
            self.next = group.add(Geometry::<T>::FIRST);
            self.full = group.add(Geometry::<T>::END);
        }
        self.before = before;
        self.group = group;
        prefetch::for_write(group.as_ptr().wrapping_add(AHEAD * Geometry::<T>::STRIDE));
    }

    /// Writes a message and publishes it with all that was hidden. As [`write`](Self::write) and
    /// [`flush`](Self::flush), in one step; the tokens of a sleeping reader, which must be rung, are returned.
    #[inline(always)]
    pub(crate) fn send(&mut self, message: T) -> Result<u32, T> {
        if self.next.as_ptr() >= self.stop && !self.step() {
            return self.send_further(message);
        }
        Ok(self.send_here(message))
    }

    #[inline(always)]
    fn send_here(&mut self, message: T) -> u32 {
        let at = self.put(message);
        // SAFETY: `at` is a slot of the group the writer is in, which is alive.
        let state = unsafe { state(group_of::<T>(at, self.group)) };
        // ORDERING: Release pairs with the Acquire in `Cursor::look_further`.
        state.store(at.as_ptr().addr().wrapping_add(self.lap), Ordering::Release);
        self.core.calm.reader.published()
    }

    #[cold]
    #[inline(never)]
    fn send_further(&mut self, message: T) -> Result<u32, T> {
        if self.next == self.full && !self.room() {
            return Err(message);
        }
        if self.stop.is_null() {
            self.put(message);
            return Ok(self.publish());
        }
        Ok(self.send_here(message))
    }

    /// The usual way on: nothing hidden, room for a whole group, and one more group in this chunk. False: not so, and
    /// nothing has changed.
    #[inline(always)]
    fn step(&mut self) -> bool {
        // SAFETY: at most one past the chunk's last group.
        let group = unsafe { self.group.add(Geometry::<T>::STRIDE) };
        let before = self.before.wrapping_add(Geometry::<T>::SLOTS);
        if self.stop.is_null() || group == self.end || self.limit.wrapping_sub(before) < Geometry::<T>::SLOTS {
            return false;
        }
        // Room may have ended within the group that would be left.
        // SAFETY: one past the group at most.
        if self.next != unsafe { self.group.add(Geometry::<T>::END) } {
            return false;
        }
        self.enter(group, before);
        self.stop = self.full.as_ptr();
        true
    }

    /// Puts a message into the next slot; returns the slot.
    #[inline(always)]
    fn put(&mut self, message: T) -> NonNull<u8> {
        let at = self.next;
        // SAFETY: `next` lies before `full`, so it is a slot of this group, empty since its last lap was consumed.
        unsafe {
            slot::<T>(at).with_mut(|place| {
                (*place).write(message);
            });
            self.next = at.add(Geometry::<T>::STEP);
        }
        at
    }

    /// Makes room for one more message: the next group, the next chunk, or credit the reader has given. False: full.
    #[inline(never)]
    fn room(&mut self) -> bool {
        let position = self.position();
        if self.limit == position {
            self.limit = self.core.consumed().wrapping_add(self.core.calm.capacity);
            if self.limit == position {
                return false;
            }
        }
        // SAFETY: all pointers stay within the chunk, or one past a group.
        unsafe {
            if self.next == self.group.add(Geometry::<T>::END) {
                if self.stop.is_null() {
                    self.hold();
                }
                self.before = position;
                let group = self.group.add(Geometry::<T>::STRIDE);
                if group == self.end {
                    self.next_chunk();
                } else {
                    self.group = group;
                    prefetch::for_write(group.as_ptr().wrapping_add(AHEAD * Geometry::<T>::STRIDE));
                }
                self.next = self.group.add(Geometry::<T>::FIRST);
            }
        }
        self.set_full();
        true
    }

    #[inline(always)]
    fn set_full(&mut self) {
        if !self.core.is_bounded() {
            self.limit = self.before.wrapping_add(UNBOUNDED);
        }
        let left = self.limit.wrapping_sub(self.position());
        // SAFETY: at most the end of the group.
        unsafe {
            let end = self.group.add(Geometry::<T>::END);
            let slots = end.as_ptr().offset_from(self.next.as_ptr()) as usize / Geometry::<T>::STEP;
            self.full = self.next.add(left.min(slots) * Geometry::<T>::STEP);
        }
        if !self.stop.is_null() {
            self.stop = self.full.as_ptr();
        }
    }

    /// How many messages have been written in all, hidden ones included; wraps.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        // SAFETY: same group.
        let offset = unsafe { self.next.as_ptr().offset_from(self.group.as_ptr()) } as usize;
        self.before.wrapping_add((offset - Geometry::<T>::FIRST) / Geometry::<T>::STEP)
    }

    /// Leaves a group that holds hidden messages. The first such group is held back: its state, published last, shows
    /// the reader all the others at once.
    #[inline(always)]
    fn hold(&mut self) {
        let full = self.lap.wrapping_add(self.group.as_ptr().addr() + Geometry::<T>::LAST);
        if self.held.is_none() {
            self.held = Some((self.group, full));
        } else {
            // ORDERING: Release pairs with the Acquire in `Cursor::look_further`, which comes here only after the
            // group held back was published.
            // SAFETY: the group the writer is in is alive.
            unsafe { state(self.group) }.store(full, Ordering::Release);
        }
    }

    #[cold]
    #[inline(never)]
    fn next_chunk(&mut self) {
        // ORDERING: Relaxed; only the writer links, and what it linked it has seen.
        let linked = Chunk::from_raw(self.chunk.header().next.load(Ordering::Relaxed));
        // A chunk may be linked already, where messages in it were unwritten.
        let next = linked.unwrap_or_else(|| {
            let calm = &self.core.calm;
            let next = match calm.spare.take(&mut self.taking) {
                Some(spent) => {
                    // ORDERING: Relaxed; the link below publishes it.
                    spent.header().next.store(ptr::null_mut(), Ordering::Relaxed);
                    spent
                }
                None => Chunk::allocate((self.chunk.groups() * 4).min(calm.groups)),
            };
            next.header().previous.set(self.chunk.as_raw());
            // ORDERING: Release pairs with the Acquire in `Cursor::next_chunk`.
            self.chunk.header().next.store(next.as_raw(), Ordering::Release);
            next
        });
        self.chunk = next;
        self.end = next.end();
        self.group = next.first();
        self.lap = self.lap.wrapping_add(Geometry::<T>::LAP);
    }

    /// Takes back the newest hidden message, if there is one. Wait-free.
    pub fn unwrite(&mut self) -> Option<T> {
        if !self.stop.is_null() {
            return None;
        }
        // SAFETY: the newest message is hidden, so it lies in this group or, where this group is empty, in the one
        // before; the reader has not come there, and will not before a flush.
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
        self.set_full();
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
                self.chunk = Chunk::from_raw(self.chunk.header().previous.get()).expect("a hidden message lies there");
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
                let nothing = self.lap.wrapping_add(self.group.as_ptr().addr());
                // ORDERING: Relaxed; the reader gets here only after a later Release.
                state(self.group).store(nothing, Ordering::Relaxed);
            }
        }
    }

    /// Publishes all hidden messages at once, in order. Wait-free: a few stores, however many messages.
    ///
    /// False when the reader sleeps: it has armed the pipe, and must be woken by the caller. That is said once for each
    /// time the reader arms. True when it need not be woken.
    #[inline]
    pub fn flush(&mut self) -> bool {
        self.publish() & !GONE == 0
    }

    /// As [`flush`](Self::flush), returning the reader's tokens, and [`GONE`].
    #[inline]
    pub(crate) fn publish(&mut self) -> u32 {
        if !self.stop.is_null() {
            return 0;
        }
        self.stop = self.full.as_ptr();
        // SAFETY: the groups that hold hidden messages are alive.
        unsafe {
            if self.next != self.group.add(Geometry::<T>::FIRST) {
                let newest = self.next.as_ptr().addr() - Geometry::<T>::STEP;
                // ORDERING: Release pairs with the Acquire in `Cursor::look_further`.
                state(self.group).store(newest.wrapping_add(self.lap), Ordering::Release);
            }
            if let Some((group, full)) = self.held.take() {
                // ORDERING: Release; as above. This store shows the reader the whole batch.
                state(group).store(full, Ordering::Release);
            }
        }
        self.core.calm.reader.published()
    }

    /// Says that nothing more will come, after publishing what is hidden. The reader's tokens are returned, once.
    pub(crate) fn close(&mut self) -> u32 {
        if self.closed {
            return 0;
        }
        self.closed = true;
        let tokens = self.publish();
        // ORDERING: Release pairs with the Acquire in `Core::is_closed`; the fence in `attend` orders it before the look
        // at the reader's word.
        self.core.calm.closed.store(true, Ordering::Release);
        tokens | self.core.calm.reader.attend()
    }

    /// After [`GONE`]: takes the messages from position `from` on back, for as far as nobody else drops them already.
    #[cold]
    pub(crate) fn reclaim(&mut self, from: usize, mut each: impl FnMut(T)) {
        self.core.dispose(|position, message| {
            // Positions wrap; what was taken just now is near.
            if (position.wrapping_sub(from) as isize) > 0 { each(message) } else { drop(message) }
        });
    }

    /// How the reader sleeps: whose tokens [`publish`](Self::publish) and its like return.
    pub(crate) fn reader_passive(&self) -> &Passive {
        &self.core.calm.reader
    }

    /// Whether another message may be written, now.
    #[inline]
    pub(crate) fn has_room(&mut self) -> bool {
        self.next != self.full || self.room()
    }

    /// How the writer sleeps while it waits for room.
    pub(crate) fn passive(&self) -> &Passive {
        &self.core.calm.writer
    }

    /// Whether the reader is gone: nothing written will ever be read.
    #[must_use]
    pub fn is_orphaned(&self) -> bool {
        self.core.calm.reader.is_gone()
    }

    /// How many messages may be in the pipe; `None` without a bound.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.core.calm.bound
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
        self.position().wrapping_sub(self.core.consumed())
    }

    /// Messages written and not yet flushed.
    #[must_use]
    pub fn hidden(&self) -> usize {
        if self.stop.is_null() { self.position().wrapping_sub(self.hidden_from) } else { 0 }
    }
}

/// A run of slots being filled. Whatever ends it, the writer goes on behind the last one.
struct Run<'a, T> {
    at: NonNull<u8>,
    writer: &'a mut Writer<T>,
}

impl<T> Run<'_, T> {
    #[inline(always)]
    fn commit(&mut self) {
        if self.at != self.writer.next {
            self.writer.hide();
            self.writer.next = self.at;
        }
    }
}

impl<T> Drop for Run<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.commit();
    }
}

impl<T> Drop for Writer<T> {
    fn drop(&mut self) {
        self.close();
        if self.is_orphaned() {
            self.core.dispose(|_, message| drop(message));
        }
    }
}

impl<T> fmt::Debug for Writer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("len", &self.len()).field("hidden", &self.hidden()).finish_non_exhaustive()
    }
}
