//! What the two handles of a ypipe share, and the disposal of messages that will not be read.
//!
//! Wait-free; never sleeps. Until the reader leaves, only the reader takes messages. When it leaves it puts its cursor
//! here, and from then on any thread that publishes disposes of the messages that are left: every message is delivered
//! or dropped, once, and never stranded.

use core::mem::ManuallyDrop;
use core::ops::Deref;
use core::ptr::{self, NonNull};
// Not the model's: only one handle uses it.
use core::sync::atomic::AtomicBool;

use super::chunk::{Chunk, ChunkHeader, Places, Shape};
use super::chunk_cache::ChunkCache;
use super::cut::Cut;
use super::in_slot::UntypedInSlot;
use super::progress::Progress;
use super::reader::ReadCursor;
use crate::foreign::Panics;
use crate::os::marks_lines;
use crate::passive::Passive;
#[cfg(all(target_pointer_width = "64", not(ysuite_loom)))]
use crate::queue::Apart;
use crate::statistics::{COUNTING, Observed};
use crate::sync::{AtomicPtr, AtomicU8, AtomicU32, Ordering, UnsafeCell};

/// A bounded queue allocates its chunks at once where they take at most this many bytes, else as it grows, as in a
/// model.
const EAGER_BYTES: usize = if cfg!(ysuite_loom) { 1 } else { 1 << 20 };

/// The most chunks that a queue without a bound keeps for reuse however short it is, once it has missed them, and until its
/// reader sleeps: repeated bursts of 100,000 messages request little or nothing from the kernel. Of messages of
/// [some length](LENGTHY) more, and fewer of those that are so large that each is a chunk by itself.
const STREAM_RESERVE: u16 = 127;
const LENGTHY_RESERVE: u16 = 400;
const LARGE_RESERVE: u16 = 4;
const LENGTHY: usize = 128;
/// The chunks that a lane keeps, always: together with a great chunk in use less than 64 KiB.
const LANE_RESERVE: u16 = 2;

/// A queue's writer may publish.
pub(super) const OPEN: u8 = 0;
/// The writer is gone. Another may continue, before the reader ends the queue.
pub(super) const CLOSED: u8 = 1;
/// No more messages will come, and both handles know where the queue ends: the reader has closed it, or has found it
/// closed and empty.
pub(super) const OVER: u8 = 2;

/// A bounded queue of at most this many groups has chunks that are each larger than its capacity.
const FEW: usize = 4;
/// Groups of the first chunk of a queue without a bound, where two of them have this many bytes at most; otherwise it is one.
const STREAM_FIRST: usize = 2;
const STREAM_FIRST_BYTES: usize = 256;
/// Groups of a lane's first chunk, and bytes of the largest chunk a lane keeps: of a thousand lanes only a few stream.
const LANE_FIRST: usize = 1;
const LANE_BYTES: usize = 8 * 1024;

/// In this order: between the words that a handle loads for every message, the word that the reader writes for every
/// message, and what is allocated before and after this, there are fields enough that are seldom used, so that none
/// of these share a line. So the core needs no alignment, which costs an allocator a line or two: there may be thousands.
#[repr(C)]
pub(crate) struct PipeCore {
    /// Read for every message, written when a handle sleeps or is dropped.
    pub(super) read_mostly: ReadMostly,
    /// The cursor, while no reader has it. Before [`GONE`](crate::passive::GONE) it belongs to the reading side, then
    /// to the thread that has raised `disposing` from 0.
    pub(super) resting: UnsafeCell<Option<ReadCursor>>,
    /// The number of messages that have been read: written by the reader for each.
    pub(super) progress: Observed<Progress>,
    /// The first chunk of a queue that began without one, or null. Made by the writer.
    first: AtomicPtr<ChunkHeader>,
    /// Where the queue ends, once its reader has closed it.
    pub(super) cut: Cut,
    /// The number of threads that have requested the disposal of what is left, since it was last 0.
    disposing: AtomicU32,
    /// The number of [`CoreShare`]s.
    shares: AtomicU32,
}

#[cfg(all(target_pointer_width = "64", not(ysuite_loom)))]
const _: () = {
    let words = core::mem::offset_of!(PipeCore, read_mostly) + core::mem::offset_of!(ReadMostly, reader);
    let (progress, apart) = (core::mem::offset_of!(PipeCore, progress), size_of::<Apart>());
    let is_aligned = align_of::<ReadMostly>() > align_of::<usize>();
    assert!(is_aligned || words >= apart && progress >= words + 2 * size_of::<Passive>() + apart);
};

/// A handle's share of a core, which is freed with the last one. An `Arc` that has its count among the fields that are
/// seldom used, and no second one.
///
/// It goes from thread to thread with any type of messages: the handles say of which types they do.
pub(crate) struct CoreShare(NonNull<PipeCore>);

// SAFETY: as for an `Arc`: threads that have shares use the core at the same time, and any of them may drop it. Messages
//     are reached, and dropped, by handles only that are `Send` where messages are, or that such handles own.
unsafe impl Send for CoreShare {}
// SAFETY: as above.
unsafe impl Sync for CoreShare {}

impl CoreShare {
    /// The first share of a core, which has been made just now.
    pub(super) fn new(core: PipeCore) -> Self {
        // SAFETY: a box's address is not null.
        Self(unsafe { NonNull::new_unchecked(Box::into_raw(Box::new(core))) })
    }

    pub(super) fn into_raw(self) -> *mut PipeCore {
        ManuallyDrop::new(self).0.as_ptr()
    }

    /// # Safety
    /// The address came from [`into_raw`](Self::into_raw), and no other share that is dropped is made of it.
    pub(super) unsafe fn from_raw(core: *mut PipeCore) -> Self {
        // SAFETY: by the caller.
        Self(unsafe { NonNull::new_unchecked(core) })
    }
}

impl Clone for CoreShare {
    fn clone(&self) -> Self {
        // ORDERING: Relaxed; this share keeps the core alive meanwhile, and hands nothing over. The count cannot
        // overflow: a core has two handles, and a few shares for a moment.
        self.shares.fetch_add(1, Ordering::Relaxed);
        Self(self.0)
    }
}

impl Deref for CoreShare {
    type Target = PipeCore;

    #[inline(always)]
    fn deref(&self) -> &PipeCore {
        // SAFETY: the core lives as long as a share of it, and is only ever borrowed shared.
        unsafe { self.0.as_ref() }
    }
}

// USER CODE: messages' `Drop`, as of `PipeCore`
impl Drop for CoreShare {
    #[inline]
    fn drop(&mut self) {
        // ORDERING: AcqRel; Release hands what this handle did to the thread that drops the last share, which acquires
        // that of all others here.
        if self.shares.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.end();
        }
    }
}

impl CoreShare {
    /// The last share is dropped.
    #[cold]
    #[inline(never)]
    fn end(&mut self) {
        // SAFETY: made by `Box::into_raw` in `new`, and no other share is left.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// How far the limit of an unbounded queue is ahead of the writer.
pub(super) const UNBOUNDED: usize = isize::MAX as usize;

/// The part of the core that hardly changes. What is used for every message is last. Aligned only where pointers are
/// short, or lines long.
#[repr(C)]
#[cfg_attr(not(target_pointer_width = "64"), repr(align(64)))]
#[cfg_attr(any(target_arch = "aarch64", target_arch = "powerpc64"), repr(align(128)))]
pub(super) struct ReadMostly {
    /// How many messages there may be at once; `usize::MAX` without a bound.
    pub(super) capacity: usize,
    pub(super) cache: ChunkCache,
    /// Groups in a chunk that is worth keeping.
    groups: u32,
    /// Whether a bound was requested, even one that can never be reached.
    asked: bool,
    /// [`OPEN`], [`CLOSED`] or [`OVER`].
    pub(super) closed: AtomicU8,
    /// A reader marks each group that it has read, from its second chunk on: see [`marks_lines`]. Written by the reader.
    marks: AtomicBool,
    /// How the reader sleeps; the writer is the publisher.
    pub(super) reader: Passive,
    /// How the writer sleeps, waiting for room; the reader is the publisher. Unused without a bound.
    pub(super) writer: Passive,
}

// SAFETY: as of `CoreShare`.
unsafe impl Send for PipeCore {}
// SAFETY: as of `CoreShare`. Only one thread uses the resting cursor at a time: the reading side, and after `GONE` the
// thread that has raised `disposing` from 0.
unsafe impl Sync for PipeCore {}

impl PipeCore {
    // MUTANT: Memory only: how many chunks a queue allocates and keeps. Killed only by
    // `a_bounded_channel_of_just_a_mebibyte_never_allocates_after_it_was_made`,
    // `of_a_burst_of_large_messages_few_chunks_are_kept` and `a_pipe_of_few_messages_takes_little`.
    /// A bound of `usize::MAX` can never be reached, and is treated as none. The first chunk is for `lap`. Returns the
    /// reader's cursor in that chunk as well.
    pub(super) fn new(shape: &'static Shape, bound: Option<usize>, lap: usize) -> (Self, Chunk, ReadCursor) {
        Self::with_chunks(shape, bound, lap, shape.groups)
    }

    // MUTANT: As of `new`.
    /// As [`new`](Self::new), with chunks of at most `most` groups.
    pub(super) fn with_chunks(
        shape: &'static Shape,
        bound: Option<usize>,
        lap: usize,
        most: usize,
    ) -> (Self, Chunk, ReadCursor) {
        let reserve = match shape.groups {
            ..=1 => LARGE_RESERVE,
            _ if shape.step() < LENGTHY => STREAM_RESERVE,
            _ => LENGTHY_RESERVE,
        };
        let core = Self::with(shape, bound, most, (0, reserve), Passive::new());
        let (mut first, cache) = (core.groups(), &core.read_mostly.cache);
        if !core.is_bounded() {
            // A queue of few messages takes little memory: chunks grow until they are worth keeping.
            first = first.min((STREAM_FIRST_BYTES / shape.stride()).clamp(1, STREAM_FIRST));
        } else if first.saturating_mul(shape.stride()).saturating_mul(cache.room()) <= EAGER_BYTES {
            // From 1: one chunk is in use already.
            (1..cache.room()).for_each(|_| cache.put_first(Chunk::allocate(shape, first, lap)));
        }
        let chunk = Chunk::allocate(shape, first, lap);
        (core, chunk, ReadCursor::new(shape, chunk))
    }

    /// A queue that has no chunk before its first message, and no reader: the writer finds `tokens` in the reader's
    /// word.
    pub(super) fn lane(shape: &'static Shape, bound: Option<usize>, tokens: u32) -> Self {
        // MUTANT: Memory only: how large a kept chunk is.
        let most = (LANE_BYTES / shape.stride()).clamp(1, shape.groups);
        let most = if cfg!(ysuite_loom) { shape.groups } else { most };
        Self::with(shape, bound, most, (LANE_RESERVE, LANE_RESERVE), Passive::armed(tokens))
    }

    // MUTANT: Memory only: how many chunks a queue keeps; or speed: whether the first checks have a fence. Killed only
    // by `a_burst_is_given_back` and `a_small_bounded_channel_never_allocates_after_it_was_made`.
    /// A core whose chunks, once they are worth keeping, have `most` groups, or so few that two hold the capacity.
    /// `reserve`: how many of them are kept without a bound however short the queue is, at least and at most.
    fn with(shape: &'static Shape, bound: Option<usize>, most: usize, reserve: (u16, u16), reader: Passive) -> Self {
        let capacity = bound.unwrap_or(usize::MAX);
        let is_bounded = capacity != usize::MAX;
        let (most_full, few) = (capacity.div_ceil(shape.slots()), (capacity / shape.slots()).saturating_add(1));
        // Of few messages two chunks are enough, where each has room for more than all of them; of more, it would take
        // more memory than three of half that size.
        let groups = if few <= FEW && !cfg!(ysuite_loom) { few } else { most_full.div_ceil(2) }.clamp(1, most);
        // Two more: one chunk may be partly read while another is partly written.
        let chunks = (capacity / (groups * shape.slots())).saturating_add(2);
        let read_mostly = ReadMostly {
            reader,
            writer: if is_bounded { Passive::new() } else { Passive::unused() },
            capacity,
            cache: ChunkCache::new(shape, is_bounded.then_some(chunks), reserve.0, reserve.1),
            groups: groups as u32,
            asked: bound.is_some(),
            closed: AtomicU8::new(OPEN),
            marks: AtomicBool::new(cfg!(any(ysuite_loom, miri))),
        };
        Self {
            read_mostly,
            progress: Observed::new(Progress::none()),
            first: AtomicPtr::new(ptr::null_mut()),
            cut: Cut::undecided(),
            disposing: AtomicU32::new(0),
            resting: UnsafeCell::new(None),
            shares: AtomicU32::new(1),
        }
    }

    /// Of all chunks.
    #[inline]
    pub(super) fn shape(&self) -> &'static Shape {
        self.read_mostly.cache.shape
    }

    /// Whether the reader marks each group that it has read.
    #[inline(always)]
    pub(super) fn marks(&self) -> bool {
        // ORDERING: Relaxed; the reader reads its own write, and no other thread uses what is marked.
        self.read_mostly.marks.load(Ordering::Relaxed)
    }

    /// Called by the reader at the end of a chunk. It does not ask the processor earlier: that takes longer than the life
    /// of a queue of few messages.
    #[inline]
    pub(super) fn decide_on_marks(&self) {
        if marks_lines() != self.marks() {
            // ORDERING: Relaxed, as in `marks`.
            self.read_mostly.marks.store(true, Ordering::Relaxed);
        }
    }

    /// How many messages there may be at once, as the caller has requested.
    #[inline]
    pub(super) fn bound(&self) -> Option<usize> {
        self.read_mostly.asked.then_some(self.read_mostly.capacity)
    }

    /// Groups in a chunk that is worth keeping.
    #[inline]
    pub(super) fn groups(&self) -> usize {
        self.read_mostly.groups as usize
    }

    /// Writer of a lane, once: makes the first chunk.
    pub(super) fn begin(&self) -> Chunk {
        let chunk = Chunk::allocate(self.shape(), self.groups().min(LANE_FIRST), self.shape().lap());
        // ORDERING: Release pairs with the Acquire in `first_cursor`: the chunk is initialised.
        self.first.store(chunk.as_raw(), Ordering::Release);
        chunk
    }

    /// The first cursor of a lane that has not been read yet, if the writer has made a chunk.
    pub(super) fn first_cursor(&self) -> Option<ReadCursor> {
        // ORDERING: Acquire pairs with the Release in `begin`: the chunk is initialised.
        let chunk = Chunk::from_raw(self.first.load(Ordering::Acquire))?;
        let mut cursor = ReadCursor::new(self.shape(), chunk);
        // MUTANT: In a race: another thread disposes while a first message past the cut is taken back. Killed only by
        // the model `an_mpsc_close_then_its_drop_against_sending_in_two_lanes`.
        if self.cut().is_some() {
            cursor.poison(self.shape());
        }
        Some(cursor)
    }

    /// Reading side: puts its cursor to rest.
    ///
    /// # Safety
    /// The cursor is this core's, and the reading side has not left.
    pub(super) unsafe fn rest_cursor(&self, cursor: ReadCursor) {
        // SAFETY: before GONE the cell belongs to the reading side. The caller owns the cursor, and so is the reading
        // side.
        self.resting.with_mut(|resting| unsafe { *resting = Some(cursor) });
    }

    #[inline(always)]
    pub(super) fn is_bounded(&self) -> bool {
        self.read_mostly.capacity != usize::MAX
    }

    /// The number of messages that have been read; wraps. Never goes back.
    #[inline]
    pub(super) fn consumed(&self) -> usize {
        self.progress.consumed()
    }

    // MUTANT: Without a bound the limit is never reached; with statistics the other half decides. Killed only by
    // `a_bound_is_exact_and_gives_the_message_back` and `a_mark_that_was_not_read_is_too_low_by_64_at_most`.
    /// Writer, at this position, which it has known as its limit: up to where it may write now.
    #[inline]
    pub(super) fn limit(&self, position: usize) -> usize {
        let consumed = if self.is_bounded() || COUNTING { self.consumed() } else { position };
        let limit = if self.is_bounded() {
            consumed.wrapping_add(self.read_mostly.capacity)
        } else {
            position.wrapping_add(UNBOUNDED)
        };
        self.progress.next_look(position, consumed, limit)
    }

    /// For the writer: no more messages will come for the reader, unless the queue is [reopened](Self::reopen).
    pub(super) fn close(&self) {
        // ORDERING: Release pairs with the Acquire in `is_closed` and `end_if_closed`: all that was published is
        // visible. Relaxed on failure: it is over, by the reader.
        let _ = self.read_mostly.closed.compare_exchange(OPEN, CLOSED, Ordering::Release, Ordering::Relaxed);
    }

    /// For the reading side: no more messages will come, whatever the writer does. The cut says where the queue ends.
    pub(super) fn end(&self) {
        // ORDERING: Release pairs with the Acquire in `is_closed`: the cut is visible, and what is below it. A
        // read-modify-write, since `reopen` is one and may come at the same time: a model checker's order of plain
        // stores is weaker.
        self.read_mostly.closed.swap(OVER, Ordering::Release);
    }

    /// For the reading side: what was closed stays so from now on (true). False: the queue is open.
    #[inline]
    pub(super) fn end_if_closed(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `close`: all that was ever published is visible. So it is where
        // another call has ended the queue, by the reading side's own order.
        let closed = self.read_mostly.closed.compare_exchange(CLOSED, OVER, Ordering::Acquire, Ordering::Acquire);
        closed != Err(OPEN)
    }

    /// Another writer continues where the last has closed the queue. False: it is over.
    pub(super) fn reopen(&self) -> bool {
        // ORDERING: Relaxed on success; the new writer has all that the last one did by the way by which it got the
        // handle, and a reader that finds the queue open learns nothing by that. Acquire on failure pairs with the
        // Release in `end`: the caller sees that the channel is closed, if that is the reason.
        self.read_mostly.closed.compare_exchange(CLOSED, OPEN, Ordering::Relaxed, Ordering::Acquire).is_ok()
    }

    /// Whether the queue is over: the reading side has ended it.
    #[inline]
    pub(super) fn is_finished(&self) -> bool {
        // ORDERING: Relaxed; it stays so, and no load relies on it.
        self.read_mostly.closed.load(Ordering::Relaxed) == OVER
    }

    /// Whether the writer is gone, or the reader has closed. False again where another writer continues.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `close` and `end`: all that was ever published is visible after
        // it.
        self.read_mostly.closed.load(Ordering::Acquire) != OPEN
    }

    // USER CODE: as of `dispose`
    /// As [`dispose`](Self::dispose), where each message is dropped.
    #[cold]
    #[inline(never)]
    pub(super) fn drop_all(&self) {
        self.dispose(&mut |_, message| drop(message));
    }

    // USER CODE: messages' `Drop`; the cursor is past the message, which is in its slot and belongs to this call;
    //     re-entrance: another call raises `disposing` and returns, then the active one checks again; panic:
    //     propagates; the others are left to the next call or to the drop; test: tests/suite/ypipe.rs:
    //     a_panicking_drop_is_not_repeated
    /// Disposes of all that is published: calls `each` for every message with its position, in its slot, which stays as
    /// it is until the next call. If another thread is disposing already, that thread will check again, and `each` is
    /// not called here. Only after [`Passive::is_gone`].
    ///
    /// If `each` panics (a message's own `Drop`), the rest is still disposed of, and the first panic continues
    /// afterwards.
    pub(super) fn dispose(&self, each: &mut dyn FnMut(usize, UntypedInSlot)) {
        // MUTANT: In a race: both handles dispose at once. Killed only by the model
        // `the_receivers_end_against_sending`.
        // ORDERING: AcqRel; Acquire pairs with the Release of the last disposer's `compare_exchange` below and takes
        // the cursor over, Release pairs with the Acquire of that exchange and hands our publication to a disposer at
        // work.
        if self.disposing.fetch_add(1, Ordering::AcqRel) != 0 {
            return;
        }
        let (mut asked, mut panics) = (1, Panics::none());
        loop {
            // SAFETY: this thread has raised `disposing` from 0, so the cursor belongs to it until `disposing` is 0
            // again.
            while let Some((position, message)) = self.resting.with_mut(|resting| unsafe {
                if (*resting).is_none() {
                    *resting = self.first_cursor();
                }
                let cursor = (*resting).as_mut()?;
                cursor.take_last(self).map(|message| (self.consumed(), message))
            }) {
                panics.catch(|| each(position, message));
            }
            // ORDERING: Release on success hands the cursor to the next disposer, whose `fetch_add` acquires it;
            // Acquire on failure pairs with the Release of the `fetch_add` of a thread that has requested it meanwhile,
            // and makes its publication visible to the next round.
            match self.disposing.compare_exchange(asked, 0, Ordering::Release, Ordering::Acquire) {
                Ok(_) => return,
                Err(now) => asked = now,
            }
        }
    }
}

impl Drop for PipeCore {
    fn drop(&mut self) {
        let mut panics = Panics::none();
        // Messages that were published after the last check.
        panics.catch(|| self.drop_all());
        // SAFETY: `&mut self`: both handles are gone, and this thread is the last owner.
        if let Some(cursor) = self.resting.with_mut(|resting| unsafe { (*resting).take() }) {
            cursor.free_chunks(self.shape());
        }
    }
}
