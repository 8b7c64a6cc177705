//! The writer's handle of a ypipe: [`Writer`], and the position it writes at.
//!
//! [`WriteCursor`] holds the next slot, up to where there is room, and which messages are hidden: the counterpart of
//! the reader's cursor. It has one owner, is wait-free, and knows nothing of sleeping; the writer joins it to the
//! queue's core.
//!
//! This module sends one message. [`batch`] writes what an iterator returns, [`room`] has the cursor's slow paths,
//! [`unwrite`] takes messages back, [`looks`] only checks.

mod batch;
mod looks;
mod room;
mod unwrite;

use core::marker::PhantomData;
use core::ptr::{self, NonNull};

use super::chunk::{Chunk, Geometry, Places, group_of, slot, state};
use super::core::{CoreShare, OVER, PipeCore};
use super::in_slot::{InSlot, UntypedInSlot};
use crate::foreign::{Lent, Panics};
use crate::passive::{CUT, GONE, Passive, STAYS};
use crate::queue::{RegisterCopy, outline};
use crate::sync::{MessagesOf, Ordering};

/// The writer's handle: one thread at a time. Every operation is wait-free, and none sleeps. Memory is allocated only
/// where a new chunk is needed and none has come back from the reader; only that may make a system call.
///
/// Messages are hidden from the reader until [`flush`](Self::flush). Dropping the writer flushes, and notifies the
/// reader that no more messages will come.
pub struct Writer<T> {
    pub(super) writing: UntypedWriter,
    /// It owns messages, which are elsewhere.
    messages: MessagesOf<T>,
}

/// A writer whose type of messages its owner knows.
pub(crate) type UntypedWriter = RegisterCopy<Writing>;

/// The parts of a writer. Dropping them closes the queue.
pub(crate) struct Writing {
    pub(super) cursor: WriteCursor,
    pub(super) core: CoreShare,
    /// This handle has been closed.
    pub(super) closed: bool,
    /// Messages have been dropped here that the reader has not read.
    #[cfg_attr(not(feature = "futures"), allow(dead_code))]
    pub(super) lost: bool,
}

// SAFETY: the cursor is the only one that writes the chunks it points into, and messages pass by value: `T: Send` is
// enough.
unsafe impl<T: Send> Send for Writer<T> {}
// SAFETY: a shared reference reads the cursor's own fields and atomics of the core, never a message.
unsafe impl<T: Send> Sync for Writer<T> {}
// SAFETY: as above; an owner without a type of messages is owned by one that has it.
unsafe impl Send for Writing {}
// SAFETY: as above.
unsafe impl Sync for Writing {}

impl<T> Writer<T> {
    /// # Safety
    /// It writes to a queue of this type of messages.
    pub(crate) unsafe fn typed(writing: UntypedWriter) -> Self {
        Self { writing, messages: PhantomData }
    }

    pub(crate) fn into_untyped(self) -> UntypedWriter {
        self.writing
    }

    /// Writes a message, hidden until [`flush`](Self::flush).
    ///
    /// Wait-free. Allocates only where a chunk is full and none has come back.
    ///
    /// # Errors
    /// The message itself, if the queue is bounded and full. An unbounded queue never fails.
    #[inline(always)]
    pub fn write(&mut self, message: T) -> Result<(), T> {
        if !self.has_room() {
            return Err(message);
        }
        // SAFETY: `has_room` has just returned true.
        unsafe {
            ptr::write(self.slot_here(), message);
            self.written_here();
        }
        Ok(())
    }

    /// Hides the message that was moved into the next slot, until [`flush`](Self::flush).
    ///
    /// # Safety
    /// [`has_room`](Self::has_room) has just returned true, and a message has been moved into
    /// [`slot_here`](Self::slot_here).
    #[inline(always)]
    pub(crate) unsafe fn written_here(&mut self) {
        let Writing { cursor, core, .. } = &mut *self.writing;
        let shape = Geometry::<T>::of(core.shape());
        cursor.hide(shape);
        // SAFETY: by the caller the slot is one of this group.
        unsafe { cursor.step_past(shape) };
    }

    // MUTANT: Speed only: the slow path finds the same room.
    /// As [`write`](Self::write), with the message that is in `place`. Where there is no room it stays there (false).
    pub(crate) fn write_from(&mut self, place: &mut Option<T>) -> bool {
        if !self.has_room() {
            return false;
        }
        // SAFETY: `has_room` has just returned true.
        unsafe {
            place.move_to(self.slot_here());
            self.written_here();
        }
        true
    }

    // MUTANT: Speed only: the slow path finds the same room, and a closed channel gives the same answer.
    /// Whether a message may be sent by [`send_here`](Self::send_here). Otherwise [`send_from`](Self::send_from) decides.
    #[inline(always)]
    pub(crate) fn may_send_here(&mut self) -> bool {
        let Writing { cursor, core, .. } = &mut *self.writing;
        cursor.may_publish_here(Geometry::<T>::of(core.shape()))
    }

    /// The slot of the next message, for [`sent_here`](Self::sent_here) or [`written_here`](Self::written_here). The
    /// caller moves the message there itself: in an unoptimised program each function that it passes through copies it.
    ///
    /// # Safety
    /// [`may_send_here`](Self::may_send_here) or [`has_room`](Self::has_room) has just returned true.
    #[inline(always)]
    pub(crate) unsafe fn slot_here(&self) -> *mut T {
        // SAFETY: by the caller there is room, so this is an empty slot of a live chunk.
        unsafe { slot::<T>(self.writing.cursor.next).with_mut(|slot| slot.cast::<T>()) }
    }

    /// Publishes the message that was moved into the next slot. Returns the tokens of a sleeping reader, which the caller
    /// must wake.
    ///
    /// # Safety
    /// [`may_send_here`](Self::may_send_here) has just returned true, and a message has been moved into
    /// [`slot_here`](Self::slot_here).
    #[inline(always)]
    pub(crate) unsafe fn sent_here(&mut self) -> u32 {
        let Writing { cursor, core, .. } = &mut *self.writing;
        let shape = Geometry::<T>::of(core.shape());
        // SAFETY: by the caller a message is written in this group, and nothing else is hidden.
        unsafe {
            cursor.step_past(shape);
            cursor.show_group(shape);
        }
        let tokens = core.read_mostly.reader.published();
        if tokens == 0 {
            core.progress.sent_one();
        }
        // Otherwise the caller handles the tokens, and counts at that point.
        tokens
    }

    // MUTANT: Speed only: the slow path finds the same room, and a closed channel gives the same answer.
    /// Writes the message that is in `place`, and publishes it with all that was hidden. As
    /// [`write_from`](Self::write_from) and [`flush`](Self::flush), in one step. Returns the tokens of a sleeping reader,
    /// which the caller must wake. `None`: there is no room, or the reader has left, and the message stays in its place.
    #[inline]
    pub(crate) fn send_from(&mut self, place: &mut Option<T>) -> Option<u32> {
        if !self.may_send_here() {
            return self.send_further(place);
        }
        // SAFETY: there is room in this group, and nothing is hidden.
        unsafe {
            place.move_to(self.slot_here());
            Some(self.sent_here())
        }
    }

    // MUTANT: Speed only: an early exit. Killed only by `a_try_that_finds_the_receiver_gone_drops_what_was_hidden`.
    #[cold]
    #[inline(never)]
    fn send_further(&mut self, place: &mut Option<T>) -> Option<u32> {
        // What is published to a reader that has left may be dropped by a thread that drops the rest. Hidden messages
        // are still published: they are dropped by that.
        if !self.writing.cursor.is_hiding() && self.writing.core.read_mostly.reader.is_gone() {
            return None;
        }
        self.write_from(place).then(|| self.publish())
    }

    /// As [`send_from`](Self::send_from).
    #[cfg(all(test, not(ysuite_loom)))]
    pub(crate) fn send(&mut self, message: T) -> Result<u32, T> {
        let mut place = Some(message);
        self.send_from(&mut place).ok_or_else(|| place.take_out())
    }

    /// Takes back the newest hidden message, if there is one. Wait-free.
    pub fn unwrite(&mut self) -> Option<T> {
        let Writing { cursor, core, .. } = &mut *self.writing;
        // SAFETY: the newest message is hidden: the reader does not read its slot before it is published.
        cursor.is_hiding().then(|| unsafe { cursor.take_newest(Geometry::<T>::of(core.shape()), core).typed() }.take())
    }

    // USER CODE: messages' `Drop`, when the reader is gone; as of `dispose`, and everything is published; re-entrance:
    //     none (`&mut`); panic: as of `dispose`; test: tests/suite/ypipe.rs:
    //     what_is_flushed_to_a_reader_that_is_gone_is_dropped_at_once
    /// Publishes all hidden messages at once, in order. Wait-free: a few stores, however many messages.
    ///
    /// False when the reader sleeps: it has armed the queue, and the caller must wake it. False is returned once for
    /// each time the reader arms. True when it need not be woken. If the reader is gone, the messages are dropped here.
    #[inline(always)]
    pub fn flush(&mut self) -> bool {
        let tokens = self.publish();
        // MUTANT: Speed only: what was sent is counted again.
        tokens == 0 || self.writing.answered(tokens)
    }

    /// Publishes all hidden messages. Returns the reader's tokens, [`GONE`] and [`CUT`].
    #[inline(always)]
    pub(crate) fn publish(&mut self) -> u32 {
        let shape = Geometry::<T>::of(self.writing.core.shape());
        self.writing.publish(shape)
    }

    /// See [`Writing::close`].
    pub(crate) fn close(&mut self) -> u32 {
        self.writing.close()
    }

    /// See [`Writing::reclaim`].
    #[cold]
    pub(crate) fn reclaim(&mut self, tokens: u32, from: usize, each: &mut dyn FnMut(InSlot<T>)) {
        // SAFETY: the queue has messages of this type.
        self.writing.reclaim(tokens, from, &mut |message| each(unsafe { message.typed() }));
    }

    /// See [`Writing::count`].
    pub(crate) fn count(&self) {
        self.writing.count();
    }

    /// See [`Writing::end`].
    pub(crate) fn end(&mut self) {
        self.writing.end();
    }

    /// See [`Writing::is_over`].
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.writing.is_over()
    }

    /// Whether another message may be written, now.
    #[inline(always)]
    pub(crate) fn has_room(&mut self) -> bool {
        let Writing { cursor, core, .. } = &mut *self.writing;
        cursor.has_room(Geometry::<T>::of(core.shape()), core)
    }

    /// See [`Writing::forget_room`].
    pub(crate) fn forget_room(&mut self) {
        self.writing.forget_room();
    }

    /// Acts as if `by / LAP` more chunks had come and gone. Call only when this chunk is full, and read.
    #[cfg(all(test, not(ysuite_loom)))]
    pub(super) fn skip_laps(&mut self, by: usize) {
        self.writing.cursor.skip_laps(Geometry::<T>::SHAPE, by);
    }
}

impl Writing {
    /// Without a first chunk: the writer of a lane.
    pub(super) fn new(core: CoreShare, first: Option<Chunk>) -> UntypedWriter {
        let cursor = match first {
            None => WriteCursor::idle(core.shape()),
            Some(chunk) => WriteCursor::new(&core, chunk),
        };
        RegisterCopy::new(Self { cursor, core, closed: false, lost: false })
    }

    /// A flush has found tokens, [`GONE`] or [`CUT`]. True: the reader need not be woken.
    #[cold]
    #[inline(never)]
    fn answered(&mut self, tokens: u32) -> bool {
        self.reclaim(tokens, self.position(), &mut drop);
        tokens & !STAYS == 0
    }

    /// For a publication that has returned `tokens`. After [`CUT`] or [`GONE`]: takes the messages from position `from`
    /// on back, as far as the reader has no right to them; after [`GONE`], unless another thread drops them already.
    /// `each` gets them in order, in their slots. If all of them are in one group, those that it leaves there stay
    /// until this handle writes again.
    pub(crate) fn reclaim(&mut self, tokens: u32, from: usize, each: &mut dyn FnMut(UntypedInSlot)) {
        let mut panics = Panics::none();
        if tokens & CUT != 0 {
            panics.catch(|| self.take_back(from, each));
        }
        if tokens & GONE != 0 {
            // Also below a cut: a reader that goes may not have found its own GONE while this thread had taken it.
            let Self { core, lost, .. } = &mut *self;
            panics.catch(|| {
                core.dispose(&mut |position, message| {
                    // Positions wrap: compared by the sign of the difference, as the two are near each other.
                    if (position.wrapping_sub(from) as isize) > 0 {
                        core.progress.gave_back(1);
                        each(message);
                    } else {
                        *lost = true;
                        // MUTANT: The message is dropped at the end of the block anyway.
                        drop(message);
                    }
                });
            });
        }
        self.count();
    }

    /// After [`close`](Self::close): this handle never has room again.
    pub(crate) fn end(&mut self) {
        debug_assert!(self.closed);
        let shape = self.core.shape();
        self.cursor.end(shape);
    }

    /// After [`close`](Self::close), where this handle was not [ended](Self::end): continues as the handle of another
    /// owner. False: the reader has found the queue closed and empty, or has closed it; this handle stays closed.
    pub(crate) fn reopen(&mut self) -> bool {
        self.closed = !self.core.reopen();
        !self.closed
    }

    /// Makes the reader find the queue closed, though this writer is there, from before any other thread has the
    /// reader.
    pub(super) fn pretend_closed(&self) {
        // ORDERING: Relaxed; the reader is handed to its thread afterwards.
        self.core.read_mostly.closed.store(OVER, Ordering::Relaxed);
    }

    // MUTANT: Killed only by `a_disconnected_sender_stays_disconnected` and
    // `what_is_hidden_goes_with_a_sender_that_was_told_that_the_receiver_is_gone`.
    /// Forgets the room that is known, if nothing is hidden: the next send checks again whether the reader is there.
    pub(crate) fn forget_room(&mut self) {
        let shape = self.core.shape();
        let cursor = &mut self.cursor;
        if !cursor.is_hiding() {
            cursor.limit = cursor.position(shape);
            (cursor.full, cursor.stop) = (cursor.next, cursor.next.as_ptr());
        }
    }

    /// Whether this handle has been closed.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.closed
    }

    /// Whether the reading side has ended the queue: it cannot be [reopened](Self::reopen).
    #[inline]
    pub(crate) fn is_finished(&self) -> bool {
        self.core.is_finished()
    }

    /// Messages that take up room: published and unread, or hidden.
    #[inline]
    pub(crate) fn occupied(&self) -> usize {
        self.position().wrapping_sub(self.core.consumed())
    }

    /// How the reader sleeps: the tokens of [`publish`](Writer::publish) and [`close`](Self::close) are its.
    #[inline]
    pub(crate) fn reader_passive(&self) -> &Passive {
        &self.core.read_mostly.reader
    }

    /// The number of messages that have been written in all, hidden ones included; wraps.
    #[inline]
    fn position(&self) -> usize {
        self.cursor.position(self.core.shape())
    }

    #[inline(always)]
    fn publish(&mut self, shape: impl Places) -> u32 {
        if !self.cursor.is_hiding() {
            return 0;
        }
        self.cursor.publish(shape);
        let tokens = self.core.read_mostly.reader.published();
        // MUTANT: Killed only by
        // `hidden_messages_are_counted_when_they_are_flushed_and_never_when_they_are_taken_back`.
        if tokens == 0 {
            self.core.progress.sent_up_to(self.cursor.position(shape));
        }
        tokens
    }

    /// Publishes what is hidden, then notifies the reader that no more messages will come. Returns the reader's tokens,
    /// once.
    pub(crate) fn close(&mut self) -> u32 {
        if self.closed {
            return 0;
        }
        self.closed = true;
        let tokens = self.publish(self.core.shape());
        // The barrier in `published` orders this before the load of the reader's word.
        self.core.close();
        if tokens & STAYS == 0 {
            self.count();
        }
        tokens | self.core.read_mostly.reader.published()
    }

    /// Counts what is sent, and checks how many messages there are, after a publication has returned. Before the caller
    /// wakes the reader, or after [`reclaim`](Self::reclaim).
    pub(crate) fn count(&self) {
        let (Self { cursor, core, .. }, position) = (self, self.position());
        core.progress.sent_up_to(position.wrapping_sub(cursor.hidden(core.shape())));
        // MUTANT: Statistics only: how near the high-water mark is. It stays within 64 messages.
        core.progress.sample(position);
    }
}

impl Drop for Writing {
    // MUTANT: What is left is dropped with the queue, which the last handle frees. Killed only by
    // `hidden_messages_of_a_closed_channel_were_not_sent`.
    fn drop(&mut self) {
        self.close();
        let mut panics = Panics::none();
        if self.core.read_mostly.reader.is_cut() {
            panics.catch(|| self.take_back(self.position(), &mut drop));
        }
        if self.core.read_mostly.reader.is_gone() {
            panics.catch(|| self.core.drop_all());
        }
        self.count();
    }
}

/// The position at which the writer writes.
pub(super) struct WriteCursor {
    /// The slot of the next message.
    pub(super) next: NonNull<u8>,
    /// Up to where a message may be written *and published* on the fast path: `full`, or null while messages are
    /// hidden. So one comparison decides both.
    stop: *mut u8,
    group: NonNull<u8>,
    /// The difference between the states of this chunk's groups and the addresses of their slots.
    lap: usize,
    /// Up to where messages may be written without a further check: the end of the group, or earlier where the room
    /// ends.
    pub(super) full: NonNull<u8>,
    /// The position of the oldest hidden message, while there is one.
    hidden_from: usize,
    chunk: Chunk,
    /// One past the chunk's last group.
    end: NonNull<u8>,
    /// The number of messages that come before this group; wraps.
    before: usize,
    /// The group that holds the oldest hidden message, once the writer has left it, and its state when it is published.
    held: Option<(NonNull<u8>, usize)>,
    /// Chunks whose messages have all been taken back: the next ones to be linked. A list through `next`, linked to no
    /// chunk of the queue: the reader would leave a chunk for good as soon as another is linked after it. A reader that
    /// was in such a chunk as it was emptied, and only counts there, may still be there: no chunk is freed before the
    /// queue is.
    emptied: Option<Chunk>,
    /// The number of messages that may have been written in all, as far as known; wraps. Without a bound it is always
    /// far ahead.
    limit: usize,
}

impl WriteCursor {
    /// The number of messages that have been written in all, hidden ones included; wraps.
    #[inline]
    pub(super) fn position(&self, shape: impl Places) -> usize {
        let offset = self.next.as_ptr().addr() - self.group.as_ptr().addr();
        self.before.wrapping_add(shape.slots_in(offset - shape.first()))
    }

    #[cfg(all(test, not(ysuite_loom)))]
    fn skip_laps(&mut self, shape: impl Places, by: usize) {
        self.lap = self.lap.wrapping_add(by);
        // SAFETY: the cursor's group is alive, and full, so something is written in it.
        unsafe { self.show_group(shape) };
    }

    #[inline(always)]
    fn is_hiding(&self) -> bool {
        self.stop.is_null()
    }

    /// Messages written and not yet published.
    pub(super) fn hidden(&self, shape: impl Places) -> usize {
        if self.is_hiding() { self.position(shape).wrapping_sub(self.hidden_from) } else { 0 }
    }

    /// Begins to hide messages.
    #[inline(always)]
    pub(super) fn hide(&mut self, shape: impl Places) {
        // MUTANT: Speed only: the slow path sends each message of the group.
        if !self.is_hiding() {
            self.stop = ptr::null_mut();
            self.hidden_from = self.position(shape);
        }
    }

    // MUTANT: Speed only: the slow path finds the room, or enters the next group.
    /// Whether there is room for a message. Enters the next group or chunk where this group is full.
    #[inline(always)]
    pub(super) fn has_room<G: Places>(&mut self, shape: G, core: &PipeCore) -> bool {
        // The next group is entered inline: that costs less than the copy that `outline` makes.
        self.next != self.full
            || (self.is_at_end(shape) && self.step(shape))
            || outline(self, |cursor| cursor.room::<G>(core))
    }

    // MUTANT: Speed only: the slow path finds the room, or enters the next group.
    /// Whether a message may be written and published on the fast path: nothing is hidden, and there is room in this
    /// group, or in the next one of this chunk, which is then entered. False changes nothing, and does not mean that
    /// the queue is full.
    #[inline(always)]
    fn may_publish_here(&mut self, shape: impl Places) -> bool {
        self.next.as_ptr() < self.stop || (!self.is_hiding() && self.is_at_end(shape) && self.step(shape))
    }

    /// Whether every slot of this group is written. The group of an idle cursor has none.
    #[inline(always)]
    fn is_at_end(&self, shape: impl Places) -> bool {
        self.next.as_ptr() == self.group.as_ptr().wrapping_add(shape.end())
    }

    // MUTANT: Speed only: the slow path enters the next group; the address of a prefetch is a hint.
    /// Enters the next group of this chunk, if there is one, and room for all of it.
    #[inline(always)]
    fn step(&mut self, shape: impl Places) -> bool {
        // SAFETY: the cursor is in a group of its chunk, so the address after that is at most one past the last group.
        let group = unsafe { self.group.add(shape.stride()) };
        let before = self.before.wrapping_add(shape.slots());
        if group == self.end || self.limit.wrapping_sub(before) < shape.slots() {
            return false;
        }
        if self.is_hiding() {
            self.hold(shape);
        }
        self.before = before;
        self.group = group;
        // SAFETY: the group is one of the chunk's; both addresses are in it, or one past it.
        unsafe {
            self.next = group.add(shape.first());
            self.full = group.add(shape.end());
        }
        if !self.is_hiding() {
            self.stop = self.full.as_ptr();
        }
        shape.prefetch_behind(group);
        true
    }

    /// A message has been moved into the next slot.
    ///
    /// # Safety
    /// `next` is before `full`.
    #[inline(always)]
    unsafe fn step_past(&mut self, shape: impl Places) {
        // SAFETY: by the caller `next` is a slot of this group. The address after it is at most one past the group.
        self.next = unsafe { self.next.add(shape.step()) };
    }

    /// Leaves a group that holds hidden messages. The state of the first such group is held back: stored last, it shows
    /// the reader all the hidden messages at once.
    #[inline(always)]
    fn hold(&mut self, shape: impl Places) {
        if self.held.is_none() {
            self.held = Some((self.group, self.full_state(shape, self.group)));
        } else {
            // SAFETY: the cursor's group is alive: the reader cannot pass the group held back before it.
            unsafe { self.fill_state(shape, self.group) };
        }
    }

    /// The state of a group of this chunk of which all slots are published.
    #[inline(always)]
    fn full_state(&self, shape: impl Places, group: NonNull<u8>) -> usize {
        self.lap.wrapping_add(group.as_ptr().addr() + shape.end() - shape.step())
    }

    /// Marks a group as full that comes after the group held back.
    ///
    /// # Safety
    /// It is a group of this chunk, whose slots are all written.
    #[inline(always)]
    unsafe fn fill_state(&self, shape: impl Places, group: NonNull<u8>) {
        // ORDERING: Relaxed; the reader comes here after the group held back, whose state, stored last and with
        // Release, hands over this one and its messages as well.
        // SAFETY: by the caller.
        unsafe { state(group) }.store(self.full_state(shape, group), Ordering::Relaxed);
    }

    /// Publishes all hidden messages at once. Call only while a message is hidden.
    #[inline(always)]
    fn publish(&mut self, shape: impl Places) {
        // MUTANT: Speed only: the slow path sends each message of the group.
        self.stop = self.full.as_ptr();
        let Some((group, full)) = self.held else {
            // SAFETY: a message is hidden, and the cursor has left no group that holds hidden messages, so it is in
            // this group.
            return unsafe { self.show_group(shape) };
        };
        self.held = None;
        // SAFETY: a group that holds hidden messages is alive, as the reader cannot leave it before they are published.
        // This group has a message written in it where `next` is not its first slot.
        unsafe {
            if self.next != self.group.add(shape.first()) {
                self.show_group(shape);
            }
            // ORDERING: Release pairs with the Acquire in `ReadCursor::look_further`: this store comes after all others
            // of the batch, and shows the reader the whole batch.
            state(group).store(full, Ordering::Release);
        }
    }

    /// Sets this group's state to how far the group is written.
    ///
    /// # Safety
    /// A message is written in the group.
    #[inline(always)]
    unsafe fn show_group(&self, shape: impl Places) {
        // SAFETY: by the caller there is a slot of this group before `next`. The cursor's group is alive: the reader
        // gives a chunk away only once the writer has linked the next.
        let (newest, state) = unsafe {
            let newest = self.next.sub(shape.step());
            (newest, state(group_of(shape, newest, self.group)))
        };
        // ORDERING: Release pairs with the Acquire in `ReadCursor::look_further`: the messages up to the newest are
        // written.
        state.store(newest.as_ptr().addr().wrapping_add(self.lap), Ordering::Release);
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use crate::queue::ypipe::unbounded;

    #[test]
    fn a_pipe_that_is_closed_again_takes_no_token() {
        let (mut writer, reader) = unbounded::<u8>();
        for tokens in [1, 0] {
            reader.passive().arm(1);
            assert_eq!(writer.close(), tokens);
        }
    }
}

/// What observers see.
#[cfg(all(test, feature = "statistics", not(ysuite_loom)))]
mod counts {
    use super::{CUT, GONE, PipeCore};
    use crate::queue::ypipe::unbounded;
    use crate::statistics::Counted;

    fn sent(core: &PipeCore) -> u64 {
        core.progress.totals().sent
    }

    #[test]
    fn what_is_to_come_back_is_not_counted_until_then() {
        let (mut writer, reader) = unbounded();
        assert_eq!(writer.send(1), Ok(0));
        drop(reader);
        assert_eq!((writer.send(2), sent(writer.core())), (Ok(GONE), 1));
        assert_eq!(writer.write(3), Ok(()));
        assert_eq!((writer.publish(), sent(writer.core())), (GONE, 1));

        let (mut writer, mut reader) = unbounded();
        reader.mark_cut().pass();
        reader.cut();
        assert_eq!(writer.write(1), Ok(()));
        assert_eq!((writer.close(), sent(writer.core())), (CUT, 0));
    }

    /// The reader is about to close the queue, and the writer is the first to decide where it ends.
    #[test]
    fn what_the_writer_decides_to_be_sent_is_counted() {
        for goes in [false, true] {
            let (mut writer, mut reader) = unbounded();
            reader.mark_cut().pass();
            if goes {
                assert_eq!(writer.write(1), Ok(()));
                drop(writer);
                assert_eq!(sent(reader.core()), 1);
            } else {
                assert_eq!(writer.send(1), Ok(CUT));
                writer.reclaim(CUT, 0, &mut |_| panic!("the message is the reader's"));
                assert_eq!(sent(reader.core()), 1);
            }
            reader.cut();
            assert_eq!((reader.has_last(), reader.read()), (true, Some(1)));
        }
    }

    #[test]
    fn what_was_hidden_is_counted_before_a_reader_that_sleeps_is_told_of_the_end() {
        let (mut writer, reader) = unbounded();
        reader.passive().arm(1);
        assert_eq!(writer.write(1), Ok(()));
        assert_eq!((writer.close(), sent(writer.core())), (1, 1));
    }
}
