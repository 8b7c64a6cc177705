//! The ring: cells, each with a stamp that says which position's message it holds. Any thread writes; each [`Seat`] is
//! read by one thread at a time. Lock-free; never waits.
//!
//! A stamp is a position and [`TAKEN`]. A writer may fill the cell of the tail's position where that position is below the
//! limit and the cell's stamp is that of the lap before: then its readers are done, and so is its last writer. Claiming is
//! one compare-exchange of the tail. Positions have 62 bits and never wrap; the first is the number of cells, so that every
//! position has a lap before it.
//!
//! The message that a new one displaces is handed to the caller, who drops it when all else is done. A reader that is alone
//! takes messages out instead of copying them: nobody else will ever read before the tail.

use core::mem::{MaybeUninit, needs_drop};
use core::ptr;

use crossbeam_utils::CachePadded;

use super::cursors::{BUSY, Cursor, Cursors};
use crate::foreign::Panics;
use crate::os::{asymmetric, heavy, light, may_become_asymmetric, prepare};
use crate::queue::allocate;
use crate::queue::exchange::{Rejected, Staging};
use crate::queue::prefetch_for_write;
use crate::sync::{AtomicBool, AtomicU64, Ordering, UnsafeCell, fence, spin_loop, window};

/// In a stamp: the cell's message has been taken out, or never was.
const TAKEN: u64 = 1;
/// A flag in the tail: nothing may be claimed any more.
const CLOSED: u64 = 1 << 63;
/// The position of a reader that has been evicted, and was told what it has missed. No message ever has it.
const NOWHERE: u64 = u64::MAX >> 2;
/// How long a writer that has lost a race for a position waits before it tries again, in pauses; see the exchange's ring.
const AWAY: u32 = if cfg!(any(ysuite_loom, miri)) { 0 } else { 16 };
/// How many bytes ahead of itself a writer asks for cells.
const AHEAD: usize = 256;

struct BroadcastCell<T> {
    /// Stored by the writer that has claimed the cell when it has filled it, and by a reader that takes the message out.
    stamp: AtomicU64,
    message: UnsafeCell<MaybeUninit<T>>,
}

/// What a reader has found at its position.
pub(crate) enum Found<T> {
    Message(T),
    /// The reader was too slow, and has been moved on by so many messages. Or it has been evicted, and finds nothing from now on.
    Missed(u64),
    Nothing,
}

/// A reader's place in the ring.
pub(crate) struct Seat {
    /// Lives as long as the ring.
    cursor: *const Cursor,
    /// Of the next message.
    position: u64,
}

// SAFETY: a seat only names a cursor of the ring, which any thread may use.
unsafe impl Send for Seat {}
// SAFETY: a shared seat gives no access but to that cursor and to a number.
unsafe impl Sync for Seat {}

impl Seat {
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Which reader it is: no other of the ring has this number.
    pub(crate) fn id(&self) -> u64 {
        self.cursor().id()
    }

    #[inline(always)]
    fn cursor(&self) -> &Cursor {
        // SAFETY: made by `sit_down` from a cursor of the ring; a seat is only used through the ring that it was made by.
        unsafe { &*self.cursor }
    }
}

/// Where a reader is while it waits: its position, and its cursor.
pub(crate) struct ReaderPlace<'a> {
    cursor: &'a Cursor,
    position: u64,
}

impl Clone for ReaderPlace<'_> {
    fn clone(&self) -> Self {
        *self
    }
}

impl Copy for ReaderPlace<'_> {}

/// A reader's turn: however it ends, the reader goes on behind what it was at.
struct ReaderTurn<'a> {
    seat: &'a mut Seat,
    /// How many messages it was at.
    messages: u64,
}

impl Drop for ReaderTurn<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.seat.position += self.messages;
        // ORDERING: Release pairs with the Acquire loads in `Cursors`: the message was read before another is written over
        // it. A store suffices: no writer pushes a busy cursor.
        self.seat.cursor().store(self.seat.position << 1, Ordering::Release);
    }
}

/// Whether a message can be written now.
enum Room {
    At(u64),
    Full,
    Closed,
}

pub(crate) struct BroadcastRing<T> {
    /// Where the next message is written, and `CLOSED`. Moved by writers.
    tail: CachePadded<AtomicU64>,
    /// Positions before it may be written. Moved on by writers that have come to it.
    limit: CachePadded<AtomicU64>,
    cursors: CachePadded<Cursors>,
    /// A power of two of them.
    cells: Box<[BroadcastCell<T>]>,
    /// How many messages are kept, at least, for a reader.
    capacity: u64,
    /// Readers that are too slow are pushed on.
    is_lossy: bool,
    /// Readers execute a fence behind the mark on their cursor, for the kernel has no barrier for others.
    has_fences: bool,
    /// The same as `CLOSED` in the tail, in a line that readers may load without disturbing writers.
    closed: AtomicBool,
}

// SAFETY: the ring owns its messages, and sending it sends them: `T: Send`. Other ends may still be elsewhere, and lend
// messages to `Clone` there: `T: Sync`.
unsafe impl<T: Send + Sync> Send for BroadcastRing<T> {}
// SAFETY: several readers copy one message at the same time: `T: Sync`. Messages go from thread to thread: `T: Send`. A cell
// is written by its claimant alone, when the limit says that its readers are done; the stamp orders the two.
unsafe impl<T: Send + Sync> Sync for BroadcastRing<T> {}

fn too_large(capacity: usize) -> String {
    format!("a broadcast channel of {capacity} messages does not fit into memory")
}

impl<T> BroadcastRing<T> {
    /// # Panics
    /// Where `capacity` is 0, or there is no memory for its cells.
    pub(crate) fn new(capacity: usize, is_lossy: bool) -> Self {
        assert!(capacity > 0, "a broadcast channel needs a capacity of at least 1");
        // A lossy ring has an eighth to spare: as many messages are written for each look at the cursors.
        let wanted = if is_lossy { capacity.checked_add((capacity / 8).max(1)) } else { Some(capacity) };
        let cells = wanted
            .and_then(usize::checked_next_power_of_two)
            .filter(|cells| {
                cells.checked_mul(size_of::<BroadcastCell<T>>()).is_some_and(|bytes| bytes <= isize::MAX as usize)
            })
            .unwrap_or_else(|| panic!("{}", too_large(capacity)));
        let cell = |index: usize| BroadcastCell {
            stamp: AtomicU64::new((index as u64) << 1 | TAKEN),
            message: UnsafeCell::new(MaybeUninit::uninit()),
        };
        let first = cells as u64;
        let reach = if is_lossy { cells } else { capacity } as u64;
        Self {
            tail: CachePadded::new(AtomicU64::new(first)),
            limit: CachePadded::new(AtomicU64::new(first + reach)),
            cursors: CachePadded::new(Cursors::new()),
            cells: allocate(cells, cell).unwrap_or_else(|| panic!("{}", too_large(capacity))),
            capacity: capacity as u64,
            is_lossy,
            has_fences: !may_become_asymmetric(),
            closed: AtomicBool::new(false),
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// How many readers there are.
    pub(crate) fn readers(&self) -> usize {
        self.cursors.count()
    }

    #[inline(always)]
    pub(super) fn lap(&self) -> u64 {
        self.cells.len() as u64
    }

    /// The cell of a position.
    #[inline(always)]
    fn cell(&self, position: u64) -> &BroadcastCell<T> {
        let index = position as usize & (self.cells.len() - 1);
        // SAFETY: the number of cells is a power of two, so the index is less.
        unsafe { self.cells.get_unchecked(index) }
    }

    /// Writes a message behind all others. Returns the message that it displaces, for the caller to drop. `Full`: the slowest
    /// reader has not got far enough, or a reader or writer has not finished with the cell. `Closed`: the ring is closed, or
    /// has no reader.
    #[inline(always)]
    pub(crate) fn push(&self, message: T) -> Result<Option<T>, Rejected<T>> {
        // ORDERING: Relaxed; the limit and the stamp decide, and the exchange below fails for a stale position.
        let mut tail = self.tail.load(Ordering::Relaxed);
        loop {
            // ORDERING: Acquire pairs with the Release in `passed`: the readers have read what is written over. A tail with
            // `CLOSED` is beyond every limit.
            if tail < self.limit.load(Ordering::Acquire) && self.cursors.count() != 0 {
                let cell = self.cell(tail);
                // ORDERING: Acquire pairs with the Release store in `fill`: the last writer of the cell is done. So is a reader
                // that has taken the message out, by the limit.
                let stamp = cell.stamp.load(Ordering::Acquire);
                if stamp >> 1 == tail - self.lap() {
                    // ORDERING: Acquire pairs with the Release of a reader that sits down, which is before this claim in the
                    // order of this word: it is counted, and the stamp hands that on. The claim itself hands nothing over,
                    // and leaves what readers have released in the word. Relaxed on failure.
                    match self.tail.compare_exchange_weak(tail, tail + 1, Ordering::Acquire, Ordering::Relaxed) {
                        Ok(_) => {
                            prefetch_for_write(ptr::from_ref(cell).wrapping_byte_add(AHEAD).cast());
                            return Ok(Self::fill(cell, tail, stamp, message));
                        }
                        Err(found) => {
                            look_away();
                            tail = found;
                            continue;
                        }
                    }
                }
            }
            match self.room() {
                Room::At(position) => tail = position,
                Room::Full => return Err(Rejected::Full(message)),
                Room::Closed => return Err(Rejected::Closed(message)),
            }
        }
    }

    /// Puts a message into a claimed cell, and returns the one that was there. `stamp`: the cell's, of the lap before.
    #[inline(always)]
    fn fill(cell: &BroadcastCell<T>, position: u64, stamp: u64, message: T) -> Option<T> {
        let displaced = cell.message.with_mut(|place| {
            // SAFETY: this thread has claimed the cell, its last writer is done by its stamp, and its readers by the limit: no
            // other thread touches it before the stamp is stored below. Without `TAKEN` it holds a message, which is
            // read once, since another is written over it.
            unsafe {
                let is_full = needs_drop::<T>() && stamp & TAKEN == 0;
                let displaced = is_full.then(|| (*place).assume_init_read());
                (*place).write(message);
                displaced
            }
        });
        // ORDERING: Release pairs with the Acquire loads of the stamp in `take`, `take_many` and `has_news`: the message is
        // written.
        cell.stamp.store(position << 1, Ordering::Release);
        displaced
    }

    /// Writes as many of the staged messages as there is room for, with one claim. Returns how many; 0 where there is no
    /// room, `None` where the ring is closed or has no reader. Puts the messages that they displace into `displaced`, which
    /// is empty.
    pub(crate) fn push_many(&self, staging: &mut Staging<T>, displaced: &mut Staging<T>) -> Option<usize> {
        loop {
            let tail = match self.room() {
                Room::At(position) => position,
                Room::Full => return Some(0),
                Room::Closed => return None,
            };
            let cells = self.writable(tail, staging.len());
            // ORDERING: Acquire and Relaxed, as in `push`.
            let claim = self.tail.compare_exchange(tail, tail + cells, Ordering::Acquire, Ordering::Relaxed);
            if claim.is_err() {
                look_away();
                continue;
            }
            let written = (tail..tail + cells).zip(staging.take(cells as usize));
            let old = |(position, message)| {
                let cell = self.cell(position);
                // ORDERING: Relaxed; `writable` has acquired it, and only the claimant stores the next.
                Self::fill(cell, position, cell.stamp.load(Ordering::Relaxed), message)
            };
            displaced.fill(&mut written.filter_map(old), usize::MAX);
            return Some(cells as usize);
        }
    }

    /// How many cells from `tail` on can be written, of which the first can; `most` at most.
    fn writable(&self, tail: u64, most: usize) -> u64 {
        // ORDERING: Acquire pairs with the Release in `passed`, as in `push`.
        let room = self.limit.load(Ordering::Acquire).saturating_sub(tail).min(most as u64);
        // ORDERING: Acquire, as in `push`.
        let is_done = |at: &u64| self.cell(*at).stamp.load(Ordering::Acquire) >> 1 == at - self.lap();
        (tail..tail + room).take_while(is_done).count() as u64
    }

    /// Looks whether a message can be written, and moves the limit on if need be.
    #[cold]
    #[inline(never)]
    fn room(&self) -> Room {
        loop {
            // ORDERING: Acquire pairs with the Release of readers that sit down: a look at the cursors behind it finds every
            // reader that is before this tail. And with that of `close`.
            let tail = self.tail.load(Ordering::Acquire);
            if tail & CLOSED != 0 {
                self.tell_closed();
                return Room::Closed;
            }
            if self.cursors.count() == 0 {
                return Room::Closed;
            }
            // ORDERING: Relaxed; whoever writes loads the limit again, with Acquire.
            if tail >= self.limit.load(Ordering::Relaxed) && tail >= self.passed(tail) {
                return Room::Full;
            }
            // ORDERING: Acquire, as in `push`.
            let stamp = self.cell(tail).stamp.load(Ordering::Acquire) >> 1;
            if stamp == tail - self.lap() {
                return Room::At(tail);
            }
            if stamp < tail - self.lap() {
                // The writer of the lap before has not finished.
                return Room::Full;
            }
            // Other writers have gone past this cell.
        }
    }

    /// Moves the limit on, as far as the readers have got or can be pushed. Returns it. The caller has loaded the tail with
    /// Acquire.
    pub(super) fn passed(&self, tail: u64) -> u64 {
        let limit = if self.is_lossy {
            self.cursors.push(tail - self.capacity) + self.lap()
        } else {
            self.cursors.least().unwrap_or(tail) + self.capacity
        };
        // ORDERING: Release pairs with the Acquire loads of the limit: what the readers have done before they moved their
        // cursors, this thread has acquired, and hands on. No Acquire, for a limit that another has moved further: whoever
        // writes loads it again.
        self.limit.fetch_max(limit, Ordering::Release).max(limit)
    }

    /// Whether a message can be written, or none ever will.
    pub(crate) fn is_writable(&self) -> bool {
        !matches!(self.room(), Room::Full)
    }

    /// Whether so many messages can be written, or none ever will. `messages` is the capacity at most.
    pub(crate) fn has_room_for(&self, messages: usize) -> bool {
        match self.room() {
            Room::Closed => true,
            Room::Full => false,
            Room::At(tail) => {
                // A lossy ring has no more room than this at a time: its last `capacity` messages stay.
                let most = if self.is_lossy { self.lap() - self.capacity } else { self.lap() };
                tail + most.min(messages as u64) <= self.passed(tail)
            }
        }
    }

    /// Whether the slowest reader of a bounded ring has not had any of the last `capacity` messages. Otherwise a ring without
    /// room is one in which a thread has not finished with a cell.
    pub(crate) fn is_full(&self) -> bool {
        !self.is_lossy && self.longest() == self.capacity()
    }

    /// For how many messages there is room, as far as is known.
    pub(crate) fn known_room(&self) -> usize {
        // ORDERING: Relaxed; the answer is a hint for how many to wake.
        let limit = self.limit.load(Ordering::Relaxed);
        limit.saturating_sub(self.tail()) as usize
    }

    /// The position of the next message to be written.
    fn tail(&self) -> u64 {
        // ORDERING: Relaxed; a number that may be out of date at once. Who has acquired the end, or sits down by a
        // read-modify-write of this word, finds it final, or its place in the order of claims.
        self.tail.load(Ordering::Relaxed) & !CLOSED
    }

    /// A new reader, which will see all messages written from now on.
    pub(crate) fn sit_down(&self) -> Seat {
        self.settle(self.join())
    }

    /// The first half of sitting down.
    pub(super) fn join(&self) -> Seat {
        // The cursor stands at or before where the reader begins, and holds writers up there until it is known where.
        // ORDERING: Acquire pairs with the Release of readers that sit down, which claims leave in the word: whoever had joined
        // before the messages that this tail counts is counted for those who find this cursor there.
        let position = self.tail.load(Ordering::Acquire) & !CLOSED;
        Seat { cursor: self.cursors.join(position), position }
    }

    /// The second half of sitting down: finds out where the reader begins, which has joined at or before that.
    pub(super) fn settle(&self, mut seat: Seat) -> Seat {
        // ORDERING: Release: every claim is before this in the order of the tail, and then before `position`; or behind it,
        // and then acquires that this reader has joined. So no message from `position` on is taken out, or written over,
        // without regard to this cursor. Acquire, as in `join`: the cursor tells of the claims before it, below.
        seat.position = self.tail.fetch_add(0, Ordering::AcqRel) & !CLOSED;
        // ORDERING: Release pairs with the Acquire loads in `Cursors`. The maximum, because a writer may have pushed it. No
        // Acquire: since this reader has joined, only writers have changed the word, and a push releases nothing.
        seat.cursor().fetch_max(seat.position << 1, Ordering::Release);
        seat
    }

    /// A new reader, at the position of another, which is not in its turn.
    pub(crate) fn sit_beside(&self, seat: &Seat) -> Seat {
        self.beside(seat, self.cursors.join(seat.position))
    }

    /// A reader that finds nothing, and is not in its turn, moves to a cursor further in front, where others have gone: writers
    /// then look at fewer.
    #[cold]
    pub(crate) fn move_up(&self, seat: &mut Seat) {
        if let Some(cursor) = self.cursors.join_before(seat.cursor(), seat.position) {
            // It is two readers for a moment, of which the first goes; or the second, where it would be evicted at once.
            let mut left = self.beside(seat, cursor);
            if !left.cursor().is_evicted() {
                core::mem::swap(seat, &mut left);
            }
            self.leave(&left);
        }
    }

    /// The place of a reader with a cursor that has joined at the position of another.
    fn beside(&self, seat: &Seat, cursor: &Cursor) -> Seat {
        if self.is_lossy {
            // ORDERING: Release: a writer's push of that cursor is before this in the order of the word, and is found here; or
            // behind it, and then whoever finds it acquires that this reader has joined, and looks again. No Acquire: a push
            // releases nothing, its value is all that is used. Its owner's turns have ended before, as the caller knows, and who
            // else has joined beside it has said so in the same word.
            let other = seat.cursor().fetch_add(0, Ordering::Release);
            // ORDERING: Relaxed; this reader has read nothing yet that a writer would have to acquire. Nor does its cursor have
            // to hand on who has joined, as that of a bounded ring's reader: a look at a lossy ring's goes no further than a
            // floor below a tail that it has acquired, and this cursor begins where another is. The maximum, because a
            // writer may have pushed it.
            cursor.fetch_max(other, Ordering::Relaxed);
        }
        // Or that reader was asked to go before this one could be seen beside it: then nothing is kept for either.
        self.light();
        if seat.cursor().is_evicted() {
            self.cursors.go(cursor);
        }
        Seat { cursor, position: seat.position }
    }

    /// A reader goes, and does not use its seat any more. True: it was the last.
    pub(crate) fn leave(&self, seat: &Seat) -> bool {
        self.cursors.leave(seat.cursor())
    }

    /// Asks the reader with that id to go: writers do not wait for it any more, and it finds nothing more. False: there is none,
    /// or it has been evicted before; or the kernel has taken its barrier back.
    ///
    /// A reader that is copying a message meanwhile is counted, and in the way, until it has copied that: see
    /// [`is_out`](Self::is_out). Otherwise lock-free but for a system call, the first of which may block for some 10 ms.
    pub(crate) fn evict(&self, id: u64) -> bool {
        if !self.has_fences {
            prepare();
            if !asymmetric() {
                return false;
            }
        }
        self.cursors.ask(id, || if self.has_fences { fence_for_light() } else { heavy() })
    }

    /// Whether the reader with that id, which has been [asked to go](Self::evict), is at no message any more. It is counted no
    /// more then.
    pub(crate) fn is_out(&self, id: u64) -> bool {
        self.cursors.is_out(id)
    }

    /// The half of the barrier of a reader, behind what it has said of itself and before it looks whether it was asked to go.
    #[inline(always)]
    fn light(&self) {
        if self.has_fences { fence_for_light() } else { light() }
    }

    /// A reader that has marked its cursor as busy: whether it may read the message at its position.
    #[inline(always)]
    fn may_read(&self, seat: &Seat) -> bool {
        self.light();
        !seat.cursor().is_evicted()
    }

    /// A reader has found that it was asked to go, before it has read the message at its position. Returns how many it misses.
    #[cold]
    #[inline(never)]
    fn go(&self, seat: &mut Seat) -> u64 {
        // ORDERING: Release pairs with the Acquire loads in `Cursors`, as at the end of a turn. It has marked the cursor itself, which
        // no writer pushes then.
        seat.cursor().store(seat.position << 1, Ordering::Release);
        self.cursors.go(seat.cursor());
        let missed = self.tail() - seat.position;
        seat.position = NOWHERE;
        missed
    }

    /// Where a reader is.
    pub(crate) fn place(&self, seat: &Seat) -> ReaderPlace<'_> {
        // SAFETY: a cursor of this ring, which lives as long as the ring.
        ReaderPlace { cursor: unsafe { &*seat.cursor }, position: seat.position }
    }

    /// Whether a look at this position would find something.
    #[inline]
    pub(crate) fn has_news(&self, position: u64) -> bool {
        // ORDERING: Acquire pairs with the Release store in `fill`.
        self.cell(position).stamp.load(Ordering::Acquire) >= position << 1
    }

    /// A lossy ring's reader marks its cursor as busy, so that the message at its position stays. `Err`: the message is lost,
    /// and so many have been passed over.
    #[inline(always)]
    fn pin(&self, seat: &mut Seat) -> Result<(), u64> {
        // Below this the message may be more than the capacity behind, and is still there: the ring has cells to spare.
        // ORDERING: Relaxed; what is too old is a matter of what this thread has learned so far.
        let is_old = seat.position + self.capacity < self.limit.load(Ordering::Relaxed);
        let is_there = !(is_old && self.tail() - self.capacity > seat.position) && Self::mark(seat);
        if is_there { Ok(()) } else { Err(self.pass_over(seat)) }
    }

    /// Marks a cursor as busy, unless a writer has pushed it.
    #[inline(always)]
    fn mark(seat: &Seat) -> bool {
        let word = seat.position << 1;
        // ORDERING: Relaxed; the order of the word's own changes decides. Where a writer has pushed the cursor before, the
        // exchange fails. Otherwise the next change is the end of this reader's turn, whose Release whoever comes past it
        // acquires: until then all find the mark, and leave the message alone. What is in the word before hands on nothing that
        // this reader does not know: a push releases nothing. On failure `pass_over` looks again.
        seat.cursor().compare_exchange(word, word | BUSY, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Marks a bounded ring's cursor as busy, which nobody pushes.
    #[inline(always)]
    fn mark_bounded(seat: &Seat) {
        // ORDERING: Release: a writer that acquires the position from this store acquires what the end of the last turn has released.
        seat.cursor().store(seat.position << 1 | BUSY, Ordering::Release);
    }

    /// Moves a lossy ring's reader on to the oldest message that is kept for it. Returns how many it has missed.
    #[cold]
    #[inline(never)]
    fn pass_over(&self, seat: &mut Seat) -> u64 {
        // ORDERING: Relaxed three times. What the word says suffices: a writer that has pushed it has pushed it to where the
        // tail that it had seen allows. What was read before was released by the end of that turn, and a read-modify-write
        // of the same word leaves that in it.
        let mut word = seat.cursor().load(Ordering::Relaxed);
        let oldest = loop {
            let oldest = (word >> 1).max(self.tail() - self.capacity);
            // ORDERING: Relaxed, as above.
            match seat.cursor().compare_exchange(word, oldest << 1, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => break oldest,
                Err(pushed) => word = pushed,
            }
        };
        let missed = oldest - seat.position;
        seat.position = oldest;
        missed
    }

    /// Takes the message at a reader's position, as a copy unless the reader is alone, and moves the reader on. Where the copy
    /// panics, the reader has had this message.
    #[inline(always)]
    pub(crate) fn take(&self, seat: &mut Seat) -> Found<T>
    where
        T: Clone,
    {
        self.take_by(seat, Self::pin)
    }

    /// As [`take`](Self::take), though the message may be too old, as long as it is there. For a lossy ring's reader that has been
    /// moved on and looks again at once: where writers are quicker than a look, it would miss some each time.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_overdue(&self, seat: &mut Seat) -> Found<T>
    where
        T: Clone,
    {
        self.take_by(seat, |ring, seat| if Self::mark(seat) { Ok(()) } else { Err(ring.pass_over(seat)) })
    }

    #[inline(always)]
    fn take_by(&self, seat: &mut Seat, pin: impl FnOnce(&Self, &mut Seat) -> Result<(), u64>) -> Found<T>
    where
        T: Clone,
    {
        if !self.has_news(seat.position) {
            return Found::Nothing;
        }
        if self.is_lossy {
            if let Err(missed) = pin(self, seat) {
                return Found::Missed(missed);
            }
        } else {
            Self::mark_bounded(seat);
        }
        if !self.may_read(seat) {
            return Found::Missed(self.go(seat));
        }
        let cell = self.cell(seat.position);
        let turn = ReaderTurn { seat, messages: 1 };
        let message = self.copy(cell);
        drop(turn);
        Found::Message(message)
    }

    /// Appends the messages from a reader's position on to `to`, as many as are there, `most` at most, and moves the reader on.
    /// Returns how many.
    pub(crate) fn take_many(&self, seat: &mut Seat, to: &mut Vec<T>, most: usize) -> Found<usize>
    where
        T: Clone,
    {
        let first = seat.position;
        let most = (most as u64).min(self.lap());
        let there = (first..first + most).take_while(|&position| self.has_news(position)).count();
        if there == 0 {
            return Found::Nothing;
        }
        // Before the turn: an allocation may panic.
        to.reserve(there);
        if self.is_lossy {
            // No message from here on is written over before the turn ends.
            if let Err(missed) = self.pin(seat) {
                return Found::Missed(missed);
            }
        } else {
            Self::mark_bounded(seat);
        }
        if !self.may_read(seat) {
            return Found::Missed(self.go(seat));
        }
        let mut turn = ReaderTurn { seat, messages: 0 };
        for position in first..first + there as u64 {
            turn.messages += 1;
            to.push(self.copy(self.cell(position)));
        }
        drop(turn);
        Found::Message(there)
    }

    /// The message of a cell that no writer touches meanwhile.
    #[inline(always)]
    fn copy(&self, cell: &BroadcastCell<T>) -> T
    where
        T: Clone,
    {
        // One reader: the caller. Others may sit down meanwhile, but will read nothing before the tail that they find. This
        // is before it: had they found an earlier one, they would be counted already, by the claim of this message, which the
        // stamp has handed on.
        let is_alone = self.cursors.count() == 1;
        // SAFETY: the stamp says that the cell holds a message, and no writer claims it before this reader's cursor moves: the
        // limit is behind that cursor in a bounded ring, and nobody pushes a busy one in a lossy ring. In both it is marked as
        // busy, and the reader had not been asked to go behind that, so no writer passes over it. Where the reader is
        // alone, it alone reads the message, once: it moves on, and the stamp says below that it was taken.
        let message = unsafe {
            if is_alone {
                cell.message.with_mut(|place| (*place).assume_init_read())
            } else {
                cell.message.with(|place| (*place).assume_init_ref().clone())
            }
        };
        if is_alone && needs_drop::<T>() {
            // ORDERING: Relaxed twice: the caller has acquired this stamp. The end of the reader's turn hands on that the
            // message was taken, by the cursor and the limit, before another is written over it.
            cell.stamp.store(cell.stamp.load(Ordering::Relaxed) | TAKEN, Ordering::Relaxed);
        }
        message
    }

    /// How many messages are in the ring from a position on.
    pub(crate) fn len(&self, position: u64) -> usize {
        self.tail().saturating_sub(position).min(self.capacity) as usize
    }

    /// How many messages are in the ring for the slowest reader.
    pub(crate) fn longest(&self) -> usize {
        let tail = self.tail();
        self.len(self.cursors.least().unwrap_or(tail))
    }

    /// Which readers there are, and how many messages are in the ring for each, the slowest first.
    pub(crate) fn behind(&self) -> Vec<(u64, usize)> {
        let mut readers = self.cursors.positions();
        readers.sort_by_key(|&(_, position)| position);
        readers.into_iter().map(|(id, position)| (id, self.len(position))).collect()
    }

    /// From now on no position can be claimed. What has been claimed will still be written. False: it was closed already.
    pub(crate) fn close(&self) -> bool {
        // A read-modify-write of the word that every claim exchanges, so no claim follows it.
        // ORDERING: Release pairs with the Acquire in `room`: a sender that is refused sees what this thread did before.
        let before = self.tail.fetch_or(CLOSED, Ordering::Release);
        window();
        self.tell_closed();
        before & CLOSED == 0
    }

    /// The tail is closed, as this thread knows. Whoever finds it closed says so as well before it returns, in case the closer
    /// has been preempted: whoever learns of a writer's error finds the ring closed.
    #[cold]
    fn tell_closed(&self) {
        // ORDERING: Release pairs with the Acquire of `is_closed`: a thread that sees it finds the flag in the tail, and sees
        // what the closer did before.
        self.closed.store(true, Ordering::Release);
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        // ORDERING: Acquire pairs with the Release store in `tell_closed`: the tail is final.
        self.closed.load(Ordering::Acquire)
    }

    /// Whether no message will come to a reader: the ring is closed and it has had all, or it has been evicted.
    pub(crate) fn is_over(&self, place: ReaderPlace<'_>) -> bool {
        place.cursor.is_evicted() || self.is_closed() && self.tail() == place.position
    }

    /// Whether a look of a reader would find something.
    pub(crate) fn has_news_for(&self, place: ReaderPlace<'_>) -> bool {
        self.has_news(place.position)
    }

    /// Whether a reader has been evicted.
    pub(crate) fn is_evicted(&self, seat: &Seat) -> bool {
        seat.cursor().is_evicted()
    }
}

/// Each half of the barrier between readers and a thread that evicts one, where both pay for it.
#[inline(always)]
fn fence_for_light() {
    // ORDERING: SeqCst pairs with the other half: either the reader finds that it was asked to go, or the thread that has asked finds
    // the mark on its cursor.
    fence(Ordering::SeqCst);
}

/// Waits a little, after a lost race for a position.
#[cold]
fn look_away() {
    (0..AWAY).for_each(|_| spin_loop());
}

impl<T> Drop for BroadcastRing<T> {
    fn drop(&mut self) {
        if !needs_drop::<T>() {
            return;
        }
        let mut panics = Panics::none();
        for cell in &self.cells {
            // ORDERING: Relaxed; the last owner drops the ring, and has synchronised with all others.
            if cell.stamp.load(Ordering::Relaxed) & TAKEN == 0 {
                // SAFETY: without `TAKEN` the cell holds a message; nobody else has access, and it is dropped once, where it
                // lies: a stack may be too small for it.
                panics.catch(|| cell.message.with_mut(|place| unsafe { (*place).assume_init_drop() }));
            }
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{BroadcastRing, CLOSED, Found, ReaderTurn, Seat};
    use crate::queue::exchange::{Rejected, Staging, StagingSpace};
    use crate::sync::Ordering;

    /// A writer that loses its CPU in the cell that it has claimed, for the tests of those who use a ring as well.
    impl<T> BroadcastRing<T> {
        /// Claims the next cell. Returns its position.
        pub(crate) fn claim(&self) -> u64 {
            assert!(self.is_writable());
            // ORDERING: Relaxed; one thread.
            self.tail.fetch_add(1, Ordering::Relaxed)
        }

        /// The writer goes on: fills the cell. Returns the message that was there.
        pub(crate) fn fill_claimed(&self, position: u64, message: T) -> Option<T> {
            let cell = self.cell(position);
            // ORDERING: Relaxed; one thread.
            Self::fill(cell, position, cell.stamp.load(Ordering::Relaxed), message)
        }
    }

    /// Writes as many of these messages at once as there is room for.
    fn push_many(ring: &BroadcastRing<u32>, messages: impl IntoIterator<Item = u32>) -> Option<usize> {
        let (mut space, mut displaced) = (StagingSpace::new(), StagingSpace::new());
        let (mut staging, mut displaced) = (Staging::new(&mut space), Staging::new(&mut displaced));
        staging.fill(&mut messages.into_iter(), usize::MAX);
        ring.push_many(&mut staging, &mut displaced)
    }

    /// A lossy ring of eight cells for four messages, with as many messages as cells, and its reader, which has had none.
    fn full() -> (BroadcastRing<u32>, Seat) {
        let ring = BroadcastRing::new(4, true);
        let seat = ring.sit_down();
        (0..8).for_each(|message| assert!(ring.push(message).is_ok()));
        (ring, seat)
    }

    #[test]
    fn a_lossy_ring_has_room_for_as_many_as_it_ever_can() {
        // 64 cells for 56 messages: eight more at a time.
        let ring = BroadcastRing::<u32>::new(56, true);
        let _quiet = ring.sit_down();
        for message in 0..1_000 {
            assert!(ring.has_room_for(14), "behind {message} messages");
            assert!(ring.push(message).is_ok());
        }
    }

    #[test]
    fn a_ring_has_no_more_cells_than_is_said() {
        for (capacity, bounded, lossy) in
            [(1, 1, 2), (2, 2, 4), (3, 4, 4), (4, 4, 8), (5, 8, 8), (8, 8, 16), (56, 64, 64), (57, 64, 64)]
        {
            let cells = |is_lossy| BroadcastRing::<u32>::new(capacity, is_lossy).lap();
            assert_eq!((cells(false), cells(true)), (bounded, lossy), "capacity {capacity}");
        }
    }

    /// The closer loses its CPU behind the flag in the tail.
    #[test]
    fn who_is_refused_for_a_close_finds_the_ring_closed() {
        let ring = BroadcastRing::<u32>::new(2, false);
        let _quiet = ring.sit_down();
        // ORDERING: Relaxed; one thread.
        ring.tail.fetch_or(CLOSED, Ordering::Relaxed);
        assert!(matches!(ring.push(1), Err(Rejected::Closed(1))) && ring.is_closed());
    }

    /// A writer loses its CPU in the cell that it has claimed: a lap later there is no room, and nobody waits for it.
    #[test]
    fn a_cell_that_is_not_filled_is_no_room_a_lap_later() {
        let ring = BroadcastRing::<u32>::new(3, true);
        let _quiet = ring.sit_down();
        let claimed = ring.claim();
        (1..4).for_each(|message| assert!(ring.push(message).is_ok()));
        assert!(!ring.is_writable() && !ring.has_room_for(1) && matches!(ring.push(4), Err(Rejected::Full(4))));
        assert_eq!(ring.fill_claimed(claimed, 0), None);
        assert!(ring.is_writable() && ring.push(4).is_ok());
    }

    /// A writer loses its CPU in the cell that it has claimed: a lap later a batch ends before that.
    #[test]
    fn a_batch_ends_before_a_cell_that_is_not_filled() {
        let ring = BroadcastRing::<u32>::new(4, true);
        let _quiet = ring.sit_down();
        assert!(ring.push(0).is_ok());
        let claimed = ring.claim();
        (2..8).for_each(|message| assert!(ring.push(message).is_ok()));
        assert_eq!(push_many(&ring, 8..10), Some(1));
        assert_eq!(ring.fill_claimed(claimed, 1), None);
        assert_eq!(push_many(&ring, 9..10), Some(1));
    }

    /// A writer loses its CPU in the cell that it has claimed, and another closes the ring.
    #[test]
    fn a_closed_ring_is_over_behind_what_was_claimed_before() {
        let ring = BroadcastRing::<u32>::new(2, false);
        let mut seat = ring.sit_down();
        let claimed = ring.claim();
        assert!(ring.close() && !ring.close());
        assert!(matches!(ring.take(&mut seat), Found::Nothing) && !ring.is_over(ring.place(&seat)));
        assert_eq!(ring.fill_claimed(claimed, 0), None);
        assert!(matches!(ring.take(&mut seat), Found::Message(0)) && ring.is_over(ring.place(&seat)));
    }

    /// Another writes a message before the new reader knows where it begins.
    #[test]
    fn a_reader_that_sits_down_begins_behind_what_is_written_meanwhile_and_holds_up_nobody_there() {
        for is_lossy in [false, true] {
            let ring = BroadcastRing::<u32>::new(1, is_lossy);
            let position = ring.tail();
            let joined = Seat { cursor: ring.cursors.join(position), position };
            assert!(ring.push(0).is_ok());
            let mut seat = ring.settle(joined);
            assert_eq!(seat.position(), position + 1);
            assert!(ring.push(1).is_ok());
            assert!(matches!(ring.take(&mut seat), Found::Message(1)));
        }
    }

    /// The look pushes the reader on, and no message comes behind it.
    #[test]
    fn a_look_for_room_takes_from_a_slow_reader_what_is_too_old_and_no_more() {
        let (ring, mut seat) = full();
        assert!(ring.is_writable());
        assert!(matches!(ring.take(&mut seat), Found::Missed(4)));
        assert!(matches!(ring.take(&mut seat), Found::Message(4)));
    }

    #[test]
    fn a_reader_beside_one_that_was_pushed_on_is_pushed_on_as_well() {
        let (ring, seat) = full();
        assert!(ring.is_writable());
        let beside = ring.sit_beside(&seat);
        // ORDERING: Relaxed; one thread.
        let pushed = |seat: &Seat| (seat.cursor().load(Ordering::Relaxed) >> 1) - seat.position();
        assert_eq!((pushed(&seat), pushed(&beside)), (4, 4));
    }

    /// A writer comes between a reader's look at the tail and its mark.
    #[test]
    fn a_reader_that_is_pushed_on_before_its_mark_leaves_the_message_alone() {
        let ring = BroadcastRing::<u32>::new(4, true);
        let mut seat = ring.sit_down();
        (0..2).for_each(|message| assert!(ring.push(message).is_ok()));
        ring.cursors.push(seat.position() + 1);
        assert!(matches!(ring.take(&mut seat), Found::Missed(1)));
        assert!(matches!(ring.take(&mut seat), Found::Message(1)));
    }

    /// Those who came later have gone before, but for one.
    #[test]
    fn a_reader_that_moves_up_is_where_it_was() {
        for is_lossy in [false, true] {
            let ring = BroadcastRing::<u32>::new(4, is_lossy);
            let crowd: Vec<_> = (0..40).map(|_| ring.sit_down()).collect();
            let mut seat = ring.sit_down();
            let before = seat.cursor;
            ring.move_up(&mut seat);
            assert_eq!(seat.cursor, before, "there is nothing in front of it");
            crowd.iter().for_each(|seat| assert!(!ring.leave(seat)));
            assert!(ring.push(7).is_ok());
            ring.move_up(&mut seat);
            assert!(seat.cursor != before && ring.readers() == 1);
            // It holds up writers as before.
            (0..3).for_each(|message| assert!(ring.push(message).is_ok()));
            assert!(is_lossy || matches!(ring.push(9), Err(Rejected::Full(9))));
            assert!(matches!(ring.take(&mut seat), Found::Message(7)));
        }
    }

    #[test]
    fn a_message_that_is_being_copied_is_not_written_over() {
        let ring = BroadcastRing::<u32>::new(3, true);
        let mut seat = ring.sit_down();
        assert!(ring.push(0).is_ok() && ring.pin(&mut seat).is_ok());
        (1..4).for_each(|message| assert!(ring.push(message).is_ok()));
        assert!(matches!(ring.push(4), Err(Rejected::Full(4))));
        drop(ReaderTurn { seat: &mut seat, messages: 1 });
        assert!(ring.push(4).is_ok());
    }
    /// A writer claims a cell between a reader's being moved on and its next look, each time.
    #[test]
    fn a_reader_that_has_been_moved_on_gets_the_oldest_message_though_it_is_too_old_by_then() {
        let ring = BroadcastRing::<u32>::new(8, true);
        let mut seat = ring.sit_down();
        let mut next = 0;
        let mut push = |messages| (0..messages).for_each(|_| (assert!(ring.push(next).is_ok()), next += 1).1);
        push(40);
        assert!(matches!(ring.take(&mut seat), Found::Missed(32)));
        push(1);
        // Where that is not asked for, it is told of each.
        assert!(matches!(ring.take(&mut seat), Found::Missed(1)));
        push(1);
        assert!(matches!(ring.take_overdue(&mut seat), Found::Message(33)));
        // Not when it has been written over.
        push(40);
        assert!(matches!(ring.take_overdue(&mut seat), Found::Missed(40)));
        assert!(matches!(ring.take_overdue(&mut seat), Found::Message(74)));
    }
}
