//! The reader's handle of a ypipe: [`Reader`], and the position it reads at.
//!
//! [`ReadCursor`] holds the slot of the next message, and up to where slots are known to be published. It has one owner
//! at a time: the reader, and after the reader's drop the thread that disposes of the messages left. It is wait-free.

mod batch;

use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use super::chunk::{Chunk, Geometry, Places, Shape, group_of, slot, state};
use super::core::{CoreShare, PipeCore};
use super::in_slot::InSlot;
use crate::passive::{Barrier, Passive};
use crate::queue::{RegisterCopy, outline};
use crate::sync::{MessagesOf, Ordering};

/// The token of a queue that is used by itself, where the caller knows how its reader sleeps.
const ASLEEP: u32 = 1;

/// The reader's handle: one thread at a time. Every operation is wait-free. [`arm`](Self::arm) may make a system call,
/// a barrier. Without a bound the chunks of a backlog are given back: once for a queue that allocates 1 KiB, and now
/// and then it takes two system calls. Dropping the reader drops the messages in the queue.
#[repr(transparent)]
pub struct Reader<T> {
    pub(super) reading: UntypedReader,
    /// It owns messages, which are elsewhere.
    messages: MessagesOf<T>,
}

/// A reader whose type of messages its owner knows.
pub(crate) type UntypedReader = RegisterCopy<Reading>;

/// The parts of a reader. Dropping them leaves the queue.
pub(crate) struct Reading {
    /// Taken out only when the reader is dropped.
    cursor: Option<ReadCursor>,
    pub(super) core: CoreShare,
}

// SAFETY: the cursor is the only one that reads the chunks it points into, and messages pass by value: `T: Send` is
// enough.
unsafe impl<T: Send> Send for Reader<T> {}
// SAFETY: a shared reference reads state words and atomics only; messages are lent by `peek` alone, which takes
// `&mut self`.
unsafe impl<T: Send> Sync for Reader<T> {}
// SAFETY: as above; an owner without a type of messages is owned by one that has it.
unsafe impl Send for Reading {}
// SAFETY: as above.
unsafe impl Sync for Reading {}

impl<T> Reader<T> {
    /// # Safety
    /// It reads a queue of this type of messages.
    pub(super) unsafe fn typed(reading: UntypedReader) -> Self {
        Self { reading, messages: PhantomData }
    }

    /// # Safety
    /// As of [`typed`](Self::typed).
    #[inline(always)]
    pub(crate) unsafe fn of(reading: &mut UntypedReader) -> &mut Self {
        // SAFETY: this type is transparent, and by the caller it reads such messages.
        unsafe { &mut *core::ptr::from_mut(reading).cast() }
    }

    #[inline(always)]
    pub(super) fn parts(&mut self) -> (&mut ReadCursor, &PipeCore) {
        self.reading.parts()
    }

    /// Takes the next message, if one is published. Wait-free.
    #[inline(always)]
    pub fn read(&mut self) -> Option<T> {
        self.read_in_slot().map(InSlot::take)
    }

    /// Takes the next message, if one is published, and leaves it in its slot, where it stays as it is until this reader
    /// is used again. Wait-free.
    #[inline(always)]
    pub(crate) fn read_in_slot(&mut self) -> Option<InSlot<T>> {
        let (cursor, core) = self.parts();
        // SAFETY: a message that this reader has taken, in its slot until the reader is used again.
        cursor.take(Geometry::<T>::of(core.shape()), core).map(|at| unsafe { InSlot::new(at) })
    }

    /// The next message in place, if one is published. Wait-free.
    pub fn peek(&mut self) -> Option<&T> {
        let (cursor, core) = self.parts();
        if !cursor.look(Geometry::<T>::of(core.shape()), core) {
            return None;
        }
        // SAFETY: `look` has acquired this slot's publication, so the message is written. Only the owner of this cursor
        // can take it out, and the cursor is borrowed for as long as the message.
        Some(unsafe { slot::<T>(cursor.next).with(|message| (*message).assume_init_ref()) })
    }

    // MUTANT: Speed only: with nothing left to take the second check takes nothing.
    /// Appends up to `most` published messages to `to` and returns how many. Allocates only in `to`.
    #[inline]
    pub fn read_batch(&mut self, to: &mut Vec<T>, most: usize) -> usize {
        let (cursor, core) = self.parts();
        // On a copy that can live in registers.
        let taken = outline(cursor, |cursor| cursor.take_many(core, to, most));
        if taken == most || !core.is_closed() {
            return taken;
        }
        taken + outline(cursor, |cursor| cursor.take_many_below_cut(core, to, most - taken))
    }

    #[cfg(any(feature = "in-place", test))]
    pub(super) fn core(&self) -> &PipeCore {
        &self.reading.core
    }

    pub(super) fn cursor(&self) -> Option<&ReadCursor> {
        self.reading.cursor.as_ref()
    }

    /// Acts as if the reader had left `by / LAP` more chunks. See [`Writer::skip_laps`](super::Writer::skip_laps).
    #[cfg(all(test, not(ysuite_loom)))]
    pub(super) fn skip_laps(&mut self, by: usize) {
        self.parts().0.skip_laps(by);
    }

    /// The number of messages that have been read; wraps.
    pub(crate) fn position(&self) -> usize {
        self.reading.core.consumed()
    }

    /// Whether there is a message to read.
    #[inline]
    pub(crate) fn has_message(&mut self) -> bool {
        let (cursor, core) = self.parts();
        cursor.look(Geometry::<T>::of(core.shape()), core)
    }

    // MUTANT: Speed only: the state of a spent group is loaded again.
    /// Announces that this reader goes to sleep. True: no message is here, and the writer's next flush will return that
    /// the reader sleeps; the writer must then wake it. False: a message is here, or nothing more will come; do not
    /// sleep.
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

    /// See [`Reading::calm`].
    #[inline]
    pub(crate) fn calm(&mut self) {
        self.reading.calm();
    }

    /// See [`Reading::shrink`].
    pub(crate) fn shrink(&mut self) {
        self.reading.shrink();
    }

    /// See [`Reading::passive`].
    pub(crate) fn passive(&self) -> &Passive {
        self.reading.passive()
    }

    /// See [`Reading::writer_passive`].
    pub(crate) fn writer_passive(&self) -> &Passive {
        self.reading.writer_passive()
    }

    /// See [`Reading::credited`].
    #[inline(always)]
    pub(crate) fn credited(&self) -> u32 {
        self.reading.credited()
    }

    /// Whether the writer is gone. What it published may still be here.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.reading.is_closed()
    }

    /// See [`Reading::mark_cut`].
    pub(crate) fn mark_cut(&self) -> Barrier {
        self.reading.mark_cut()
    }

    /// See [`Reading::cut`].
    pub(crate) fn cut(&mut self) {
        self.reading.cut();
    }

    /// See [`Reading::has_last`].
    pub(crate) fn has_last(&mut self) -> bool {
        self.reading.has_last()
    }

    /// Of a message, also where its type has no size.
    #[cfg(feature = "in-place")]
    pub(crate) fn slot_bytes(&self) -> usize {
        self.reading.core.shape().step()
    }

    /// The capacity in messages; `None` without a bound.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.reading.core.bound()
    }

    /// The number of published messages that are here. Takes time in proportion to that number (a load for each cache
    /// line).
    #[must_use]
    pub fn len(&self) -> usize {
        self.len_up_to(usize::MAX)
    }

    /// Whether no published message is here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len_up_to(1) == 0
    }

    /// See [`Reading::count_up_to`].
    pub(crate) fn len_up_to(&self, enough: usize) -> usize {
        self.reading.len_up_to(Geometry::<T>::of(self.reading.core.shape()), enough)
    }

    /// See [`Reading::leave`].
    pub(crate) fn leave(&mut self) -> u32 {
        self.reading.leave()
    }
}

impl Reading {
    pub(super) fn new(core: CoreShare, cursor: ReadCursor) -> UntypedReader {
        RegisterCopy::new(Self { cursor: Some(cursor), core })
    }

    #[inline(always)]
    pub(super) fn parts(&mut self) -> (&mut ReadCursor, &PipeCore) {
        let Self { cursor, core } = self;
        // SAFETY: only `leave` and `rest` take the cursor out. Afterwards the owner does nothing but drop this.
        (unsafe { cursor.as_mut().unwrap_unchecked() }, core)
    }

    /// Whether there is a message to read.
    #[inline]
    pub(crate) fn has_message(&mut self) -> bool {
        let (cursor, core) = self.parts();
        cursor.look(core.shape(), core)
    }

    /// The caller is about to wait for a message: after few messages, what a burst has left is given back.
    #[inline]
    pub(crate) fn calm(&mut self) {
        self.core.read_mostly.cache.rest(self.core.consumed());
    }

    /// Gives back what is kept for later messages, in a queue without a bound.
    pub(crate) fn shrink(&mut self) {
        self.core.read_mostly.cache.shrink();
    }

    /// How the reader sleeps.
    #[inline]
    pub(crate) fn passive(&self) -> &Passive {
        &self.core.read_mostly.reader
    }

    /// How the writer sleeps. [`credited`](Self::credited) and [`leave`](Self::leave) return its tokens.
    #[inline]
    pub(crate) fn writer_passive(&self) -> &Passive {
        &self.core.read_mostly.writer
    }

    /// After messages have been taken: the tokens of a writer that sleeps for want of room; the caller must wake it.
    /// Without a bound there are none, and this is a load.
    #[inline(always)]
    pub(crate) fn credited(&self) -> u32 {
        self.core.read_mostly.writer.published()
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.core.is_closed()
    }

    /// If the writer is gone (true), no other can continue from now on. What it published may still be here.
    #[inline]
    pub(crate) fn end_if_closed(&self) -> bool {
        self.core.end_if_closed()
    }

    /// Puts the reader to rest, and its cursor back into the core: see [`IdleReader`](super::IdleReader).
    pub(crate) fn rest(mut reading: UntypedReader) {
        let Self { cursor, core } = &mut *reading;
        if let Some(cursor) = cursor.take() {
            // SAFETY: the cursor came from this core. This reader is the reading side, and has not left.
            unsafe { core.rest_cursor(cursor) };
        }
    }

    /// The number of published messages that are here, counting no further than it takes to reach `enough`.
    pub(crate) fn count_up_to(&self, enough: usize) -> usize {
        self.len_up_to(self.core.shape(), enough)
    }

    /// As [`count_up_to`](Self::count_up_to), where the places are known.
    pub(super) fn len_up_to(&self, shape: impl Places, enough: usize) -> usize {
        if let Some(left) = self.core.left_below_cut() {
            return left;
        }
        self.cursor.as_ref().map_or(0, |cursor| cursor.len_up_to(shape, enough))
    }

    /// Ends reading. Returns the tokens of a writer that waits for room. The caller must wake it before it drops the
    /// reader: that drops the messages, and the drop of a message may panic.
    pub(crate) fn leave(&mut self) -> u32 {
        let Some(cursor) = self.cursor.take() else { return 0 };
        // SAFETY: the cursor came from this core. This reader is the reading side, and leaves only below.
        unsafe { self.core.rest_cursor(cursor) };
        self.core.progress.leave();
        self.core.read_mostly.reader.go().pass();
        self.core.read_mostly.writer.published()
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.leave();
        // A reader that was made idle has not left: the queue continues.
        if self.core.read_mostly.reader.is_gone() {
            self.core.drop_all();
        }
    }
}

impl<T> fmt::Debug for Reader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// The position at which the reader reads.
pub(super) struct ReadCursor {
    /// The slot of the next message.
    pub(super) next: NonNull<u8>,
    /// One past the last slot of this group known to be published.
    pub(super) known: NonNull<u8>,
    /// The group, where [`group`](Self::group) cannot find it by a mask.
    group: NonNull<u8>,
    /// The difference between the states of this chunk's groups and the addresses of their slots.
    pub(super) lap: usize,
    chunk: Chunk,
    /// One past the chunk's last group.
    pub(super) end: NonNull<u8>,
}

impl ReadCursor {
    pub(super) fn new(shape: &'static Shape, chunk: Chunk) -> Self {
        let group = chunk.first();
        let known = Self::first_slot(shape, group);
        Self { next: known, known, group, lap: chunk.lap(), chunk, end: chunk.end(shape) }
    }

    #[cfg(all(test, not(ysuite_loom)))]
    pub(super) fn skip_laps(&mut self, by: usize) {
        self.lap = self.lap.wrapping_add(by);
    }

    #[inline(always)]
    fn first_slot(shape: impl Places, group: NonNull<u8>) -> NonNull<u8> {
        // SAFETY: `FIRST` is less than a group's length.
        unsafe { group.add(shape.first()) }
    }

    /// Whether there is a message. Updates `known`, and steps into the next group or chunk where this one is spent.
    #[inline(always)]
    pub(super) fn look(&mut self, shape: impl Places, core: &PipeCore) -> bool {
        self.next != self.known || self.look_further::<true>(shape, core)
    }

    /// As [`look`](Self::look), and leaves what has been read as it is: messages there may belong to a caller.
    pub(super) fn look_only(&mut self, shape: impl Places, core: &PipeCore) -> bool {
        self.next != self.known || self.look_further::<false>(shape, core)
    }

    // MUTANT: Speed only: which lines are marked as read. In-place builds only. Killed only by
    // `in_place::as_many_are_moved_out_as_there_are_and_as_there_is_room_for` and
    // `in_place::unreceived_messages_are_dropped_in_place`.
    #[inline(always)]
    fn look_further<const MARKS: bool>(&mut self, shape: impl Places, core: &PipeCore) -> bool {
        // SAFETY: `group` is a group of the cursor's chunk, which is alive until the cursor gives it away; the next
        // group is entered only where it is not `end`. `known` grows to one past the newest published slot, at most one
        // past the group.
        unsafe {
            let group = self.group(shape);
            if self.known == group.add(shape.end()) {
                let next = group.add(shape.stride());
                if next != self.end {
                    if MARKS && core.marks() {
                        shape.mark(group);
                    }
                    self.enter(shape, next);
                } else if !outline(self, |cursor| cursor.next_chunk(core)) {
                    return false;
                }
            }
            // ORDERING: Acquire pairs with the Release in `WriteCursor::publish`, `show_group` and `hold`: the slots up
            // to the newest are written.
            let newest = state(self.group(shape)).load(Ordering::Acquire).wrapping_sub(self.lap);
            let ahead = newest.wrapping_sub(self.known.as_ptr().addr());
            // A state of an earlier lap is lower: negative.
            if (ahead as isize) < 0 {
                return false;
            }
            self.known = self.known.add(ahead + shape.step());
        }
        true
    }

    /// The group that the cursor is in.
    #[inline(always)]
    pub(super) fn group(&self, shape: impl Places) -> NonNull<u8> {
        // SAFETY: `known` is one past a slot of that group, or its first slot. A state comes before the first slot, so
        // the byte before `known` is in the group, after its first byte. Where there is no mask, `group` is that group.
        unsafe { group_of(shape, self.known.sub(1), self.group) }
    }

    // MUTANT: Speed only: the state of a group is loaded again. Killed only by
    // `in_place::as_many_are_moved_out_as_there_are_and_as_there_is_room_for`.
    /// Whether every slot of the cursor's group has been taken.
    #[cfg(feature = "in-place")]
    #[inline(always)]
    pub(super) fn is_at_end(&self, shape: impl Places) -> bool {
        self.next.as_ptr() == self.group(shape).as_ptr().wrapping_add(shape.end())
    }

    /// The first group of the chunk that the cursor is in.
    #[cfg(feature = "in-place")]
    pub(super) fn first_group(&self) -> NonNull<u8> {
        self.chunk.first()
    }

    // MUTANT: In-place builds only. Killed only by `in_place::windows_and_calls_are_one_queue`.
    /// The group that the cursor is in, where it is not found by a mask.
    #[cfg(feature = "in-place")]
    pub(super) fn set_group(&mut self, group: NonNull<u8>) {
        self.group = group;
    }

    // MUTANT: Speed only: a group is noted without need. Killed only by `in_place::windows_and_calls_are_one_queue`.
    #[inline(always)]
    pub(super) fn enter(&mut self, shape: impl Places, group: NonNull<u8>) {
        if !shape.by_mask() {
            self.group = group;
        }
        self.next = Self::first_slot(shape, group);
        self.known = self.next;
    }

    // MUTANT: Speed only: the state of a spent group is loaded again. Killed only by
    // `a_sender_that_is_gone_leaves_nothing_behind`.
    /// Steps into the next chunk if it is linked, and hands the spent one back. A chunk that is linked after a cut is
    /// the writer's.
    #[cold]
    #[inline(never)]
    pub(super) fn next_chunk(&mut self, core: &PipeCore) -> bool {
        if core.cut().is_some_and(|cut| cut == core.progress.taken()) {
            return false;
        }
        // ORDERING: Acquire pairs with the Release that links a chunk in `WriteCursor::next_chunk`: the next chunk is
        // initialised.
        let Some(next) = Chunk::from_raw(self.chunk.header().next.load(Ordering::Acquire)) else { return false };
        next.come();
        let spent = core::mem::replace(&mut self.chunk, next);
        let shape = core.shape();
        self.end = next.end(shape);
        self.lap = self.lap.wrapping_add(shape.lap());
        self.enter(shape, next.first());
        core.decide_on_marks();
        core.read_mostly.cache.give(spent, core.groups());
        true
    }

    /// Takes the next message, and leaves it in its slot until the next poll.
    #[inline(always)]
    pub(super) fn take(&mut self, shape: impl Places, core: &PipeCore) -> Option<NonNull<u8>> {
        if !self.look(shape, core) {
            return None;
        }
        // The cursor moves on before the message is read: no message is taken twice, whatever happens in between.
        // SAFETY: `look` has just found a message, and has acquired its slot's publication. Only the reader reads the
        // slot, and only once: `next` is past it. The writer fills it again only in a later lap, after a poll of this
        // reader has given the chunk away.
        Some(unsafe { self.step_over(shape, core) })
    }

    /// Counts the next message as taken. Returns its slot, which stays as it is until the next poll.
    ///
    /// # Safety
    /// There is a message: [`look`](Self::look) has just returned true.
    #[inline(always)]
    pub(super) unsafe fn step_over(&mut self, shape: impl Places, core: &PipeCore) -> NonNull<u8> {
        let at = self.next;
        // SAFETY: `at` is a published slot, so the address after it is at most one past the group's last slot.
        self.next = unsafe { at.add(shape.step()) };
        core.progress.took_one();
        at
    }

    // MUTANT: Speed only: a count past what is enough is still enough.
    /// The number of messages that are published and not taken, counting no further than it takes to reach `enough`.
    /// Walks the groups between the two handles. What a writer takes back meanwhile, beyond a cut that it has decided,
    /// may count as well.
    pub(super) fn len_up_to(&self, shape: impl Places, enough: usize) -> usize {
        let (mut chunk, mut group, mut lap) = (self.chunk, self.group(shape), self.lap);
        // SAFETY: `next` points into `group`, or one past it.
        let offset = unsafe { self.next.as_ptr().offset_from(group.as_ptr()) } as usize;
        let mut passed = shape.slots_in(offset - shape.first());
        let mut count = 0;
        loop {
            // SAFETY: the chunks from the cursor's on are alive: only the cursor's owner gives them away. A writer that
            // takes messages back unlinks chunks, also while this walks there to propose a cut; it links them again,
            // and frees none.
            let state = unsafe { state(group) };
            // ORDERING: Acquire pairs with the Release in `WriteCursor::publish`, `show_group` and `hold`: a full
            // group's state makes the link after it visible, where the writer has linked a chunk before.
            let newest = state.load(Ordering::Acquire).wrapping_sub(lap);
            let first = group.as_ptr().addr() + shape.first();
            let ahead = newest.wrapping_sub(first) as isize;
            let slots = if ahead < 0 { 0 } else { shape.slots_in(ahead as usize) + 1 };
            count += slots.saturating_sub(passed);
            passed = 0;
            if slots < shape.slots() || count >= enough {
                return count;
            }
            // SAFETY: the group is one of the chunk's, so the address after it is at most one past the last group.
            group = unsafe { group.add(shape.stride()) };
            if group == chunk.end(shape) {
                // ORDERING: Acquire pairs with the Release that links a chunk in `WriteCursor::next_chunk`: the next
                // chunk is initialised.
                let Some(next) = Chunk::from_raw(chunk.header().next.load(Ordering::Acquire)) else { return count };
                next.come();
                (chunk, group, lap) = (next, next.first(), lap.wrapping_add(shape.lap()));
            }
        }
    }

    /// Frees the cursor's chunk and all after it. Call when both handles are gone and the queue is empty.
    pub(super) fn free_chunks(self, shape: &'static Shape) {
        let mut chunk = Some(self.chunk);
        while let Some(this) = chunk {
            chunk = this.next();
            // SAFETY: both handles are gone, so no other thread uses the chunk, and its link to the next was read
            // before.
            unsafe { this.free(shape) };
        }
    }
}
