//! The ring of cells. The stamp of a cell says which position's message it holds. Any thread writes; each [`Seat`] (a
//! reader cursor) is read by one thread at a time. Lock-free; never waits.
//!
//! A stamp is a position and [`TAKEN`]. A writer may fill the cell of the tail's position where that position is below
//! the limit and the cell's stamp is that of the previous lap: then its readers are done, and so is its last writer. A
//! claim is one compare-exchange of the tail. Positions have 62 bits and never wrap. The first position is the number
//! of cells, so that every position has a previous lap.
//!
//! The caller gets the message that a new one displaces, and drops it after all other work. A reader that is alone
//! takes messages out instead of copying them: no other reader will ever read before the tail.

use core::mem::{MaybeUninit, needs_drop};
use core::ptr;

use super::cursors::{BUSY, Cursor, Cursors, sorted};
use super::room::TakenRoom;
use crate::foreign::{Lent, Panics};
use crate::os::{asymmetric, heavy, light, may_become_asymmetric, prepare};
use crate::queue::exchange::{Rejected, Staging};
use crate::queue::prefetch_for_write;
use crate::queue::{Apart, FarApart, allocate};
use crate::sync::{AtomicBool, AtomicU64, Ordering, UnsafeCell, fence, put, spin_loop, window};

/// In a stamp: the cell's message has been taken out, or there never was one.
const TAKEN: u64 = 1;
/// A flag in the tail: no position can be claimed any more.
pub(super) const CLOSED: u64 = 1 << 63;
/// A flag in the tail: room is counted by [`TakenRoom`].
pub(super) const RESERVED: u64 = 1 << 62;
/// The position in the tail.
pub(super) const POSITION: u64 = RESERVED - 1;
/// The position of a reader that has been evicted and has been notified of what it missed. No message ever has this
/// position.
const NOWHERE: u64 = u64::MAX >> 2;
/// How long a writer backs off after a lost race for a position, in pauses; see the ring of the mpmc queue.
const AWAY: u32 = if cfg!(any(ysuite_loom, miri)) { 0 } else { 16 };
/// How many bytes ahead of its position a writer prefetches cells.
const AHEAD: usize = 256;

struct BroadcastCell<T> {
    /// Stored by the writer that has claimed the cell, after it has filled it, and by a reader that takes the message
    /// out.
    stamp: AtomicU64,
    message: UnsafeCell<MaybeUninit<T>>,
}

/// What a reader finds at its position.
pub(crate) enum Found<T> {
    Message(T),
    /// The reader was too slow and has been moved on by this number of messages. Or it has been evicted, and finds
    /// nothing from now on.
    Missed(u64),
    Nothing,
}

impl<T> Found<T> {
    /// The same, with what `with` makes of the message.
    #[inline(always)]
    pub(crate) fn map<R>(self, with: impl FnOnce(T) -> R) -> Found<R> {
        match self {
            Self::Message(message) => Found::Message(with(message)),
            Self::Missed(missed) => Found::Missed(missed),
            Self::Nothing => Found::Nothing,
        }
    }
}

/// A reader cursor, as its reader holds it.
pub(crate) struct Seat {
    /// Lives as long as the ring.
    cursor: *const Cursor,
    /// The position of the next message.
    position: u64,
}

// SAFETY: a seat only refers to a cursor of the ring, which any thread may use.
unsafe impl Send for Seat {}
// SAFETY: a shared seat gives access only to that cursor and to a number.
unsafe impl Sync for Seat {}

impl Seat {
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The reader's id: no other reader of the ring has this number.
    pub(crate) fn id(&self) -> u64 {
        self.cursor().id()
    }

    #[inline(always)]
    fn cursor(&self) -> &Cursor {
        // SAFETY: made by `sit_down` from a cursor of the ring; a seat is only used through the ring that it was made
        // by.
        unsafe { &*self.cursor }
    }
}

/// The place of a reader while it waits: its position and its cursor.
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

/// A reader's turn. However the turn ends, the reader continues after the messages that it was reading.
struct ReaderTurn<'a> {
    seat: &'a mut Seat,
    /// The number of messages that it was reading.
    messages: u64,
}

// USER CODE: none (a number and a store)
impl Drop for ReaderTurn<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.seat.position += self.messages;
        // ORDERING: Release pairs with the Acquire loads in `Cursors`: the message was read before another is written
        // over it. A store suffices: no writer pushes a busy cursor.
        self.seat.cursor().store(self.seat.position << 1, Ordering::Release);
    }
}

/// Whether a message can be written now.
enum Room {
    At(u64),
    /// Room is counted, and there is some.
    Counted,
    Full,
    Closed,
}

// GROWS: old messages of a broadcast; bound: the capacity; full: each is displaced by a newer one; freed when
//     displaced, or with the channel; cost: none; test: tests/suite/broadcast/random.rs:
//     random_operations_do_what_the_reference_says
// REUSED: a position is never reused: 62 bits, which never wrap; by construction
/// In this order: the fields before the positions hardly change, and are read for every message.
#[repr(C)]
pub(crate) struct BroadcastRing<T> {
    /// Their number is a power of two.
    cells: Box<[BroadcastCell<T>]>,
    /// The least number of messages that are kept for a reader.
    capacity: u64,
    /// Writers push readers that are too slow.
    is_lossy: bool,
    /// Readers execute a fence after they mark their cursor, because the kernel has no barrier that acts on other
    /// threads.
    has_fences: bool,
    /// The same as `CLOSED` in the tail, in a line that readers may load without disturbing writers.
    closed: AtomicBool,
    before_tail: Apart,
    /// The position of the next message to be written, `CLOSED`, and `RESERVED`. Moved by writers.
    tail: AtomicU64,
    taken: TakenRoom,
    before_limit: FarApart,
    /// Positions below it may be written. Moved on by writers that have reached it.
    limit: AtomicU64,
    before_cursors: Apart,
    cursors: Cursors,
}

// SAFETY: the ring owns its messages, and sending it sends them: `T: Send`. Other handles may still be on other
// threads, and lend messages to `Clone` there: `T: Sync`.
unsafe impl<T: Send + Sync> Send for BroadcastRing<T> {}
// SAFETY: several readers copy one message at the same time: `T: Sync`. Messages go from thread to thread: `T: Send`. A
// cell is written by its claimant alone, when the limit says that its readers are done; the stamp orders the two.
unsafe impl<T: Send + Sync> Sync for BroadcastRing<T> {}

/// A cell that a writer has claimed, to be filled at once: readers cannot go past it.
#[must_use = "a cell that is never filled ends the ring"]
pub(crate) struct ClaimedPosition<'a, T> {
    cell: &'a BroadcastCell<T>,
    pub(super) position: u64,
    stamp: u64,
}

impl<T> ClaimedPosition<'_, T> {
    /// Returns the message that is displaced; the caller drops it.
    #[inline(always)]
    pub(crate) fn fill(self, message: T) -> Option<T> {
        BroadcastRing::fill(self.cell, self.position, self.stamp, message)
    }

    /// As [`fill`](Self::fill), with the message that is in `place`. The message that is displaced is there then.
    pub(crate) fn fill_from(self, place: &mut Option<T>) {
        let mut displaced = None;
        BroadcastRing::displace(self.cell, self.stamp, &mut displaced);
        self.cell.message.with_mut(|message| {
            // SAFETY: as in `BroadcastRing::fill`.
            unsafe { place.move_to(message.cast::<T>()) };
        });
        BroadcastRing::filled(self.cell, self.position);
        displaced.move_over(place);
    }
}

/// By value, for tests.
#[cfg(test)]
impl<T> BroadcastRing<T> {
    pub(crate) fn push(&self, message: T) -> Result<Option<T>, Rejected<T>> {
        match self.claim_next() {
            Ok(claimed) => Ok(claimed.fill(message)),
            Err(rejected) => Err(rejected.of(message)),
        }
    }
}

impl<T> BroadcastRing<T> {
    // MUTANT: Speed only: the first sender checks the cursors and moves the limit. Killed only by
    // `capacities_that_cannot_be_are_refused`.
    /// # Panics
    /// Where `capacity` is 0, or there is no memory for its cells.
    #[track_caller]
    pub(crate) fn new(capacity: usize, is_lossy: bool) -> Self {
        assert!(capacity > 0, "a broadcast channel needs a capacity of at least 1");
        // A lossy ring has an eighth to spare: that number of messages is written per scan of the cursors.
        let wanted = if is_lossy { capacity.checked_add((capacity / 8).max(1)) } else { Some(capacity) };
        let cells = wanted.and_then(usize::checked_next_power_of_two).filter(|cells| {
            cells.checked_mul(size_of::<BroadcastCell<T>>()).is_some_and(|bytes| bytes <= isize::MAX as usize)
        });
        let cell = |index: usize| BroadcastCell {
            stamp: AtomicU64::new((index as u64) << 1 | TAKEN),
            message: UnsafeCell::new(MaybeUninit::uninit()),
        };
        let Some(cells) = cells.and_then(|cells| allocate(cells, cell)) else {
            panic!("a broadcast channel of {capacity} messages does not fit into memory");
        };
        let first = cells.len() as u64;
        let reach = if is_lossy { cells.len() } else { capacity } as u64;
        Self {
            cells,
            capacity: capacity as u64,
            is_lossy,
            has_fences: !may_become_asymmetric(),
            closed: AtomicBool::new(false),
            before_tail: Apart::new(),
            tail: AtomicU64::new(first),
            taken: TakenRoom::new(),
            before_limit: FarApart::new(),
            limit: AtomicU64::new(first + reach),
            before_cursors: Apart::new(),
            cursors: Cursors::new(),
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// The number of readers.
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

    // MUTANT: Speed only: fullness is checked again by `try_again` and after arming; a prefetch and a back-off are
    // hints. Killed only by the model `a_batch_into_cells_that_another_has_filled`.
    /// Claims the cell after all others, which the caller fills at once. `Full`: the slowest reader has not got far
    /// enough, or a reader or writer has not finished with the cell. `Closed`: the ring is closed, or has no reader.
    #[inline(always)]
    pub(crate) fn claim_next(&self) -> Result<ClaimedPosition<'_, T>, Rejected<()>> {
        // ORDERING: Relaxed; the limit and the stamp decide, and the exchange below fails for a stale position.
        let mut tail = self.tail.load(Ordering::Relaxed);
        loop {
            // ORDERING: Acquire pairs with the Release in `passed`: the readers have read what is overwritten. A tail
            // with `CLOSED` or `RESERVED` is beyond every limit.
            if tail < self.limit.load(Ordering::Acquire) && self.cursors.count() != 0 {
                let cell = self.cell(tail);
                // ORDERING: Acquire pairs with the Release store in `fill`: the last writer of the cell is done. So is
                // a reader that has taken the message out, by the limit.
                let stamp = cell.stamp.load(Ordering::Acquire);
                if stamp >> 1 == tail - self.lap() {
                    // ORDERING: Acquire pairs with the Release of a new reader in `settle`, which is before this claim
                    // in the order of this word: it is counted, and the stamp hands that on. The claim itself hands
                    // nothing over, and leaves what readers have released in the word. Relaxed on failure.
                    match self.tail.compare_exchange_weak(tail, tail + 1, Ordering::Acquire, Ordering::Relaxed) {
                        Ok(_) => {
                            prefetch_for_write(ptr::from_ref(cell).wrapping_byte_add(AHEAD).cast());
                            return Ok(ClaimedPosition { cell, position: tail, stamp });
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
                Room::Counted => return self.claim_counted().map(|position| self.claimed(position)),
                Room::Full => return Err(Rejected::Full(())),
                Room::Closed => return Err(Rejected::Closed(())),
            }
        }
    }

    /// Puts a message into a claimed cell, and returns the one that was there. `stamp`: the cell's, of the previous
    /// lap.
    #[inline(always)]
    fn fill(cell: &BroadcastCell<T>, position: u64, stamp: u64, message: T) -> Option<T> {
        let mut displaced = None;
        Self::displace(cell, stamp, &mut displaced);
        // SAFETY: this thread has claimed the cell. Its last writer is done by its stamp, and its readers by the limit:
        // no other thread touches it before the stamp is stored below. What was there has been read, or needs no drop.
        unsafe { put(&cell.message, message) };
        Self::filled(cell, position);
        displaced
    }

    // MUTANT: Speed only: messages without a drop are handed over to be dropped.
    /// Moves the message of a claimed cell to a place that is empty, where it needs a drop.
    #[inline(always)]
    fn displace(cell: &BroadcastCell<T>, stamp: u64, displaced: &mut Option<T>) {
        if needs_drop::<T>() && stamp & TAKEN == 0 {
            cell.message.with(|place| {
                // SAFETY: as in `fill`. Without `TAKEN` it holds a message, which is read once, since another is written
                // over it.
                *displaced = Some(unsafe { (*place).assume_init_read() });
            });
        }
    }

    /// A message has been written into a claimed cell.
    #[inline(always)]
    fn filled(cell: &BroadcastCell<T>, position: u64) {
        // ORDERING: Release pairs with the Acquire loads of the stamp in `take`, `take_many` and `has_news`: the
        // message is written.
        cell.stamp.store(position << 1, Ordering::Release);
    }

    // MUTANT: In a race: a batch claims cells that another sender has filled. Killed only by the model
    // `a_batch_into_cells_that_another_has_filled`.
    /// Writes the staged messages for which there is room, with one claim. Returns how many it has written: 0 where
    /// there is no room, `None` where the ring is closed or has no reader. Puts the displaced messages into
    /// `displaced`, which is empty.
    pub(crate) fn push_many(&self, staging: &mut Staging<T>, displaced: &mut Staging<T>) -> Option<usize> {
        loop {
            let tail = match self.room() {
                Room::At(position) => position,
                Room::Counted => return self.push_many_counted(staging, displaced),
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

    /// The number of cells that can be written from `tail` on, given that the first can; at most `most`.
    fn writable(&self, tail: u64, most: usize) -> u64 {
        // ORDERING: Acquire pairs with the Release in `passed`, as in `push`.
        let room = self.limit.load(Ordering::Acquire).saturating_sub(tail).min(most as u64);
        // ORDERING: Acquire, as in `push`.
        let is_done = |at: &u64| self.cell(*at).stamp.load(Ordering::Acquire) >> 1 == at - self.lap();
        (tail..tail + room).take_while(is_done).count() as u64
    }

    // MUTANT: Speed only: the cursors are checked earlier than needed. Fullness is checked again by the next call.
    /// Checks whether a message can be written, and moves the limit on if necessary.
    #[cold]
    #[inline(never)]
    fn room(&self) -> Room {
        loop {
            // ORDERING: Acquire pairs with the Release of new readers in `settle`: a scan of the cursors after it finds
            // every reader that is before this tail. And with that of `close`.
            let word = self.tail.load(Ordering::Acquire);
            if word & CLOSED != 0 || self.cursors.count() == 0 {
                self.refusal(word);
                return Room::Closed;
            }
            let (tail, end) = (word & POSITION, self.taken.end(word));
            // ORDERING: Relaxed; the writer loads the limit again, with Acquire.
            if end >= self.limit.load(Ordering::Relaxed) && end >= self.passed(tail) {
                return Room::Full;
            }
            match self.writable_cell(tail) {
                Ok(_) if word & RESERVED != 0 => return Room::Counted,
                Ok(_) => return Room::At(tail),
                // The writer of the previous lap has not finished.
                Err(stamp) if stamp < tail => return Room::Full,
                Err(_) => {}
            }
            // Other writers have gone past this cell.
        }
    }

    /// The cell of a position that this thread has claimed.
    #[inline(always)]
    pub(super) fn claimed(&self, position: u64) -> ClaimedPosition<'_, T> {
        let cell = self.cell(position);
        // ORDERING: Relaxed; the claim has acquired it, and only the claimant stores the next.
        ClaimedPosition { cell, position, stamp: cell.stamp.load(Ordering::Relaxed) }
    }

    /// The cell of a position, if its last writer is done. Otherwise the position that its stamp says.
    pub(super) fn writable_cell(&self, position: u64) -> Result<ClaimedPosition<'_, T>, u64> {
        let cell = self.cell(position);
        // ORDERING: Acquire, as in `claim_next`.
        let stamp = cell.stamp.load(Ordering::Acquire);
        if stamp >> 1 == position - self.lap() {
            Ok(ClaimedPosition { cell, position, stamp })
        } else {
            Err(stamp >> 1)
        }
    }

    /// The error of a writer that has found this tail: it is closed, or there is no reader.
    pub(super) fn refusal(&self, word: u64) -> Rejected<()> {
        if word & CLOSED != 0 {
            self.tell_closed();
        }
        Rejected::Closed(())
    }

    // MUTANT: Speed only: how much room a spinning sender expects.
    /// Moves the limit on, as far as the readers have got or can be pushed. Returns the new limit. The caller has
    /// loaded the tail with Acquire.
    pub(super) fn passed(&self, tail: u64) -> u64 {
        let limit = if self.is_lossy {
            self.cursors.push(tail - self.capacity) + self.lap()
        } else {
            self.cursors.least().unwrap_or(tail) + self.capacity
        };
        // ORDERING: Release pairs with the Acquire loads of the limit: what the readers have done before they moved
        // their cursors, this thread has acquired, and hands on. No Acquire, for a limit that another thread has moved
        // further: each writer loads it again.
        self.limit.fetch_max(limit, Ordering::Release).max(limit)
    }

    /// Whether a message can be written, or the ring will never accept one.
    pub(crate) fn is_writable(&self) -> bool {
        !matches!(self.room(), Room::Full)
    }

    // MUTANT: Speed only: how much room a spinning sender expects.
    /// Whether `messages` messages can be written, or the ring will never accept them. `messages` is at most the
    /// capacity.
    pub(crate) fn has_room_for(&self, messages: usize) -> bool {
        match self.room() {
            Room::Closed | Room::Counted => true,
            Room::Full => false,
            Room::At(tail) => {
                // A lossy ring never has more room than this: its last `capacity` messages stay.
                let most = if self.is_lossy { self.lap() - self.capacity } else { self.lap() };
                tail + most.min(messages as u64) <= self.passed(tail)
            }
        }
    }

    // MUTANT: Speed only: how long to poll for a cell that another thread still uses. The next call finds the room.
    /// Whether the slowest reader of a bounded ring has read none of the last `capacity` messages, or the rest of the
    /// room is reserved. A ring without room that is not full in this sense waits for a thread that has not finished
    /// with a cell.
    pub(crate) fn is_full(&self) -> bool {
        !self.is_lossy && (self.longest() == self.capacity() || self.is_taken())
    }

    /// Whether reservations have what room there is.
    fn is_taken(&self) -> bool {
        // ORDERING: Acquire, as in `room`.
        let word = self.tail.load(Ordering::Acquire);
        word & (CLOSED | RESERVED) == RESERVED && self.taken.end(word) >= self.passed(word & POSITION)
    }

    /// Whether room is counted, because some has been reserved once.
    pub(crate) fn is_counted(&self) -> bool {
        // ORDERING: Relaxed; a flag that is never taken back. A thread that was refused room for it has found it.
        self.tail.load(Ordering::Relaxed) & RESERVED != 0
    }

    /// The number of messages for which there is room, as far as is known.
    pub(crate) fn known_room(&self) -> usize {
        // ORDERING: Relaxed twice; the result is a hint for how many threads to wake.
        let (limit, word) = (self.limit.load(Ordering::Relaxed), self.tail.load(Ordering::Relaxed));
        limit.saturating_sub(self.taken.end(word)) as usize
    }

    /// A number that grows with each message, each reservation, and each reader that joins: see `Operation::moves`.
    pub(crate) fn moves(&self) -> u64 {
        // ORDERING: Relaxed, as in `tail`.
        self.taken.moves(self.tail.load(Ordering::Relaxed)) + self.cursors.joined()
    }

    /// The position of the next message to be written.
    fn tail(&self) -> u64 {
        // ORDERING: Relaxed; a number that may be out of date at once. A thread that has acquired the handle finds it
        // final. One that joins by a read-modify-write of this word finds its place in the order of claims.
        self.tail.load(Ordering::Relaxed) & POSITION
    }

    pub(super) fn is_lossy(&self) -> bool {
        self.is_lossy
    }

    pub(super) fn tail_word(&self) -> &AtomicU64 {
        &self.tail
    }

    pub(super) fn taken(&self) -> &TakenRoom {
        &self.taken
    }

    /// Positions below it may be written.
    pub(super) fn limit(&self) -> u64 {
        // ORDERING: Acquire pairs with the Release in `passed`, as in `claim_next`.
        self.limit.load(Ordering::Acquire)
    }

    /// Adds a reader, which will see all messages written from now on.
    pub(crate) fn sit_down(&self) -> Seat {
        self.settle(self.join())
    }

    /// The first half of adding a reader.
    pub(super) fn join(&self) -> Seat {
        // The cursor is at or before the reader's start, and holds writers up there until the start is known.
        // ORDERING: Acquire pairs with the Release of new readers in `settle`, which claims leave in the word: each
        // reader that joined before the messages that this tail counts is counted for every thread that finds this
        // cursor there.
        let position = self.tail.load(Ordering::Acquire) & POSITION;
        Seat { cursor: self.cursors.join(position), position }
    }

    /// The second half of adding a reader: finds out the reader's start. The reader has joined at or before that.
    pub(super) fn settle(&self, mut seat: Seat) -> Seat {
        // ORDERING: Release: every claim is before this in the order of the tail, and then before `position`; or after
        // it, and then acquires that this reader has joined. So no message from `position` on is taken out, or
        // overwritten, without regard to this cursor. Acquire, as in `join`: the cursor reports the claims before it,
        // below.
        seat.position = self.tail.fetch_add(0, Ordering::AcqRel) & POSITION;
        // ORDERING: Release pairs with the Acquire loads in `Cursors`. The maximum, because a writer may have pushed
        // it. No Acquire: since this reader has joined, only writers have changed the word, and a push releases
        // nothing.
        seat.cursor().fetch_max(seat.position << 1, Ordering::Release);
        seat
    }

    /// Adds a reader at the position of another one, which is not in its turn.
    pub(crate) fn sit_beside(&self, seat: &Seat) -> Seat {
        self.beside(seat, self.cursors.join(seat.position))
    }

    /// Moves a reader to an earlier cursor that has become free, so that writers scan fewer cursors. The reader finds
    /// nothing and is not in its turn.
    #[cold]
    pub(crate) fn move_up(&self, seat: &mut Seat) {
        if let Some(cursor) = self.cursors.join_before(seat.cursor(), seat.position) {
            // It is two readers for a moment. Then the first one leaves; or the second one, where it would be evicted
            // at once.
            let mut left = self.beside(seat, cursor);
            if !left.cursor().is_evicted() {
                core::mem::swap(seat, &mut left);
            }
            self.leave(&left);
        }
    }

    // MUTANT: Speed only: readers of a bounded ring mark their cursors too.
    /// The place of a reader with a cursor that has joined at the position of another one.
    fn beside(&self, seat: &Seat, cursor: &Cursor) -> Seat {
        if self.is_lossy {
            // ORDERING: Release: a writer's push of that cursor is before this in the order of the word, and is found
            // here; or after it, and then the thread that finds it acquires that this reader has joined, and scans
            // again. No Acquire: a push releases nothing, and only its value is used. Its owner's turns have ended
            // before, as the caller knows. Any other reader that has joined alongside it has said so in the same word.
            let other = seat.cursor().fetch_add(0, Ordering::Release);
            // ORDERING: Relaxed; this reader has read nothing yet that a writer would have to acquire. Nor does its
            // cursor have to hand on which readers have joined, as that of a bounded ring's reader does: a scan of a
            // lossy ring goes no further than a floor below a tail that it has acquired, and this cursor begins where
            // another is. The maximum, because a writer may have pushed it.
            cursor.fetch_max(other, Ordering::Relaxed);
        }
        // Or the other reader was asked to go before this one could be seen: then no message is kept for either.
        self.light();
        if seat.cursor().is_evicted() {
            self.cursors.go(cursor);
        }
        Seat { cursor, position: seat.position }
    }

    /// Removes a reader, which does not use its seat any more. True: it was the last.
    pub(crate) fn leave(&self, seat: &Seat) -> bool {
        self.cursors.leave(seat.cursor())
    }

    /// Starts the eviction of the reader with that id: writers no longer wait for it, and it finds no more messages.
    /// False: there is no such reader, it has been evicted before, or the kernel has taken its barrier back.
    ///
    /// A reader that is copying a message meanwhile still counts, and holds writers up, until it has finished: see
    /// [`is_out`](Self::is_out). Otherwise lock-free except for a system call. The first such call may block for about
    /// 10 ms.
    pub(crate) fn evict(&self, id: u64) -> bool {
        if !self.has_fences {
            prepare();
            if !asymmetric() {
                return false;
            }
        }
        self.cursors.ask(id, || if self.has_fences { fence_for_light() } else { heavy() })
    }

    /// Whether the reader with that id, which has been [asked to go](Self::evict), is no longer at a message. From then
    /// on it is not counted.
    pub(crate) fn is_out(&self, id: u64) -> bool {
        self.cursors.is_out(id)
    }

    /// The reader's half of the barrier: after it has marked its cursor and before it checks whether it was asked to
    /// go.
    #[inline(always)]
    fn light(&self) {
        if self.has_fences { fence_for_light() } else { light() }
    }

    /// Whether a reader that has marked its cursor as busy may read the message at its position.
    #[inline(always)]
    fn may_read(&self, seat: &Seat) -> bool {
        self.light();
        !seat.cursor().is_evicted()
    }

    /// Ends the turn of a reader that was asked to go before it has read the message at its position. Returns how many
    /// messages it misses.
    #[cold]
    #[inline(never)]
    fn go(&self, seat: &mut Seat) -> u64 {
        // ORDERING: Release pairs with the Acquire loads in `Cursors`, as at the end of a turn. The reader has marked
        // the cursor itself, and no writer pushes a marked cursor.
        seat.cursor().store(seat.position << 1, Ordering::Release);
        self.cursors.go(seat.cursor());
        let missed = self.tail() - seat.position;
        seat.position = NOWHERE;
        missed
    }

    /// The place of a reader.
    pub(crate) fn place(&self, seat: &Seat) -> ReaderPlace<'_> {
        // SAFETY: a cursor of this ring, which lives as long as the ring.
        ReaderPlace { cursor: unsafe { &*seat.cursor }, position: seat.position }
    }

    /// Whether a reader would find a message at this position.
    #[inline]
    pub(crate) fn has_news(&self, position: u64) -> bool {
        // ORDERING: Acquire pairs with the Release store in `fill`.
        self.cell(position).stamp.load(Ordering::Acquire) >= position << 1
    }

    // MUTANT: Speed only: the tail decides in any case.
    /// Marks the cursor of a lossy ring's reader as busy, so that the message at its position stays. `Err`: the message
    /// is lost; the value is the number of messages skipped.
    #[inline(always)]
    fn pin(&self, seat: &mut Seat) -> Result<(), u64> {
        // Below this, the message may lag by more than the capacity and still be there: the ring has cells to spare.
        // ORDERING: Relaxed; what is too old depends on what this thread has learned so far.
        let is_old = seat.position + self.capacity < self.limit.load(Ordering::Relaxed);
        let is_there = !(is_old && self.tail() - self.capacity > seat.position) && Self::mark(seat);
        if is_there { Ok(()) } else { Err(self.pass_over(seat)) }
    }

    /// Marks a cursor as busy, unless a writer has pushed it.
    #[inline(always)]
    fn mark(seat: &Seat) -> bool {
        let word = seat.position << 1;
        // ORDERING: Relaxed; the order of the word's own changes decides. Where a writer has pushed the cursor before,
        // the exchange fails. Otherwise the next change is the end of this reader's turn, and each thread that comes
        // past it acquires its Release: until then all threads find the mark, and leave the message alone. What is in
        // the word before hands on nothing that this reader does not know: a push releases nothing. On failure
        // `pass_over` checks again.
        seat.cursor().compare_exchange(word, word | BUSY, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Marks a bounded ring's cursor as busy. No thread pushes such a cursor.
    #[inline(always)]
    fn mark_bounded(seat: &Seat) {
        // ORDERING: Release: a writer that acquires the position from this store acquires what the end of the last turn
        // has released.
        seat.cursor().store(seat.position << 1 | BUSY, Ordering::Release);
    }

    /// Moves a lossy ring's reader on to the oldest message that is kept for it, or ends its turn, if it was asked to go.
    /// Returns how many messages it has missed, or misses.
    #[cold]
    #[inline(never)]
    fn pass_over(&self, seat: &mut Seat) -> u64 {
        let mut missed = self.move_on(seat);
        // Without the barrier, as nothing is read: a reader that does not find it yet finds it at the next message.
        if seat.cursor().is_evicted() {
            while !Self::mark(seat) {
                missed += self.move_on(seat);
            }
            missed += self.go(seat);
        }
        missed
    }

    fn move_on(&self, seat: &mut Seat) -> u64 {
        // ORDERING: Relaxed three times. What the word says suffices: a writer that has pushed it has pushed it to
        // where the tail that it had seen allows. What was read before was released by the end of that turn, and a
        // read-modify-write of the same word leaves that in it.
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

    /// Takes the message at a reader's position and moves the reader on. The result is a copy unless the reader is
    /// alone. If the copy panics, the message counts as read.
    #[inline(always)]
    pub(crate) fn take(&self, seat: &mut Seat) -> Found<T>
    where
        T: Clone,
    {
        self.take_by(seat, Self::pin)
    }

    /// As [`take`](Self::take), though the message may be too old, as long as it is there. For a lossy ring's reader
    /// that has been moved on and tries again at once: it would miss messages each time where writers are faster than
    /// its tries.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_overdue(&self, seat: &mut Seat) -> Found<T>
    where
        T: Clone,
    {
        self.take_by(seat, |ring, seat| if Self::mark(seat) { Ok(()) } else { Err(ring.pass_over(seat)) })
    }

    // MUTANT: The turn ends with the function anyway.
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

    // MUTANT: Speed only: the vector grows while it is filled. A turn without a message moves nothing.
    /// Appends the messages from a reader's position on to `to`, at most `most`, and moves the reader on. Returns how
    /// many messages it has appended.
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
            // No message from here on is overwritten before the turn ends.
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

    // USER CODE: messages' `Clone`, for `take` and `take_many`; the message stays in its cell while it is copied: the
    //     limit, or the mark in the reader's cursor, keeps writers away; the reader's `ReaderTurn` has begun;
    //     re-entrance: any operation except of this receiver; a `Clone` that sends without end into its own channel
    //     reaches its own message, and finds no room; panic: the message counts as received, as `ReaderTurn` moves the
    //     reader on; waiting senders are notified; test: tests/suite/broadcast/foreign.rs:
    //     a_message_whose_copy_panics_has_been_had, tests/suite/broadcast/foreign.rs:
    //     room_made_by_a_copy_that_panics_is_told, tests/suite/broadcast/foreign.rs:
    //     a_copy_may_come_back_into_its_channel, tests/suite/broadcast/foreign.rs:
    //     a_copy_in_a_lossy_channel_keeps_its_place_until_it_is_made
    // MUTANT: Speed only: messages without a drop are noted as taken.
    /// The message of a cell that no writer touches meanwhile.
    #[inline(always)]
    fn copy(&self, cell: &BroadcastCell<T>) -> T
    where
        T: Clone,
    {
        // One reader: the caller. Others may join meanwhile, but will read nothing before the tail that they find. This
        // message is before it. Had they found an earlier tail, they would be counted already, by the claim of this
        // message, which the stamp has handed on.
        let is_alone = self.cursors.count() == 1;
        // SAFETY: the stamp says that the cell holds a message, and no writer claims it before this reader's cursor
        // moves: the limit is not past that cursor in a bounded ring, and no thread pushes a busy one in a lossy ring.
        // In both it is marked as busy, and after that the reader had not been asked to go, so no writer passes over
        // it. Where the reader is alone, it alone reads the message, once: it moves on, and the stamp says below that
        // it was taken.
        let message = unsafe {
            if is_alone {
                cell.message.with_mut(|place| (*place).assume_init_read())
            } else {
                cell.message.with(|place| (*place).assume_init_ref().clone())
            }
        };
        if is_alone && needs_drop::<T>() {
            // ORDERING: Relaxed twice: the caller has acquired this stamp. The end of the reader's turn hands on that
            // the message was taken, by the cursor and the limit, before another is written over it.
            cell.stamp.store(cell.stamp.load(Ordering::Relaxed) | TAKEN, Ordering::Relaxed);
        }
        message
    }

    /// The number of messages that are in the ring from a position on.
    pub(crate) fn len(&self, position: u64) -> usize {
        self.tail().saturating_sub(position).min(self.capacity) as usize
    }

    /// The number of messages that are in the ring for the slowest reader.
    pub(crate) fn longest(&self) -> usize {
        let tail = self.tail();
        self.len(self.cursors.least().unwrap_or(tail))
    }

    /// The id of each reader and the number of messages in the ring for it, the slowest reader first.
    pub(crate) fn behind(&self) -> Vec<(u64, usize)> {
        let readers = self.cursors.positions().into_iter().map(|(id, position)| (position, id)).collect();
        sorted(readers).into_iter().map(|(position, id)| (id, self.len(position))).collect()
    }

    /// Closes the ring: no position can be claimed any more. What has been claimed will still be written. False: it was
    /// closed already.
    pub(crate) fn close(&self) -> bool {
        // A read-modify-write of the word that every claim exchanges, so no claim follows it.
        // ORDERING: Release pairs with the Acquire in `room`: a sender that is refused sees what this thread did
        // before.
        let before = self.tail.fetch_or(CLOSED, Ordering::Release);
        window();
        self.tell_closed();
        before & CLOSED == 0
    }

    /// Sets the flag that says the tail is closed. Each thread that finds the tail closed calls this before it returns,
    /// in case the closer has been preempted: a thread that learns of a writer's error finds the ring closed.
    #[cold]
    fn tell_closed(&self) {
        // ORDERING: Release pairs with the Acquire of `is_closed`: a thread that sees it finds the flag in the tail,
        // and sees what the closer did before.
        self.closed.store(true, Ordering::Release);
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        // ORDERING: Acquire pairs with the Release store in `tell_closed`: the tail is final.
        self.closed.load(Ordering::Acquire)
    }

    /// Whether a reader will never get another message: the ring is closed and the reader has read all, or it has been
    /// evicted.
    pub(crate) fn is_over(&self, place: ReaderPlace<'_>) -> bool {
        place.cursor.is_evicted() || self.is_closed() && self.tail() == place.position
    }

    /// Whether a reader that has found nothing will never find anything. From then on an evicted one is nowhere: later
    /// messages are none that it misses.
    #[inline]
    pub(crate) fn is_at_end(&self, seat: &mut Seat) -> bool {
        self.is_over(self.place(seat)) && self.stays_at_end(seat)
    }

    #[cold]
    #[inline(never)]
    fn stays_at_end(&self, seat: &mut Seat) -> bool {
        if seat.cursor().is_evicted() {
            // A message that came after the reader's look and before its eviction is one that it misses.
            if self.has_news(seat.position) {
                return false;
            }
            seat.position = NOWHERE;
        }
        true
    }

    /// Whether a reader would find something.
    pub(crate) fn has_news_for(&self, place: ReaderPlace<'_>) -> bool {
        self.has_news(place.position)
    }

    /// Whether a reader has been evicted.
    pub(crate) fn is_evicted(&self, seat: &Seat) -> bool {
        seat.cursor().is_evicted()
    }
}

/// Each half of the barrier between readers and a thread that evicts one, in fence mode, where both pay for it.
#[inline(always)]
fn fence_for_light() {
    // ORDERING: SeqCst pairs with the other half: either the reader finds that it was asked to go, or the evicting
    // thread finds the mark on the reader's cursor.
    fence(Ordering::SeqCst);
}

// MUTANT: A back-off after a lost race.
/// Backs off after a lost race for a position.
#[cold]
pub(super) fn look_away() {
    (0..AWAY).for_each(|_| spin_loop());
}

// USER CODE: messages' `Drop`; no other thread has the ring, and the message has been read out; re-entrance: none (no
//     handle is left); panic: the others are dropped; test: tests/suite/broadcast/foreign.rs:
//     old_messages_of_a_batch_are_all_dropped_though_some_panic
impl<T> Drop for BroadcastRing<T> {
    // MUTANT: Speed only: cells whose messages have no drop are visited.
    fn drop(&mut self) {
        if !needs_drop::<T>() {
            return;
        }
        let mut panics = Panics::none();
        for cell in &self.cells {
            // ORDERING: Relaxed; the last owner drops the ring, and has synchronised with all others.
            if cell.stamp.load(Ordering::Relaxed) & TAKEN == 0 {
                // SAFETY: without `TAKEN` the cell holds a message; no other thread has access, and it is dropped once,
                // in place: a stack may be too small for it.
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

    /// A writer that is preempted in the cell that it has claimed, also for the tests of modules that use a ring.
    impl<T> BroadcastRing<T> {
        /// Claims the next cell. Returns its position.
        pub(crate) fn claim(&self) -> u64 {
            assert!(self.is_writable());
            // ORDERING: Relaxed; one thread.
            self.tail.fetch_add(1, Ordering::Relaxed)
        }

        /// The writer continues: fills the cell. Returns the message that was there.
        pub(crate) fn fill_claimed(&self, position: u64, message: T) -> Option<T> {
            let cell = self.cell(position);
            // ORDERING: Relaxed; one thread.
            Self::fill(cell, position, cell.stamp.load(Ordering::Relaxed), message)
        }
    }

    /// Writes those of `messages` at once for which there is room.
    fn push_many(ring: &BroadcastRing<u32>, messages: impl IntoIterator<Item = u32>) -> Option<usize> {
        let (mut space, mut displaced) = (StagingSpace::new(), StagingSpace::new());
        let (mut staging, mut displaced) = (Staging::new(&mut space), Staging::new(&mut displaced));
        staging.fill(&mut messages.into_iter(), usize::MAX);
        ring.push_many(&mut staging, &mut displaced)
    }

    /// A lossy ring of eight cells for four messages, with a message in each cell, and its reader, which has read none.
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
            assert!(ring.has_room_for(14), "after {message} messages");
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

    /// The closer is preempted after it has set the flag in the tail.
    #[test]
    fn who_is_refused_for_a_close_finds_the_ring_closed() {
        let ring = BroadcastRing::<u32>::new(2, false);
        let _quiet = ring.sit_down();
        // ORDERING: Relaxed; one thread.
        ring.tail.fetch_or(CLOSED, Ordering::Relaxed);
        assert!(matches!(ring.push(1), Err(Rejected::Closed(1))) && ring.is_closed());
    }

    /// A writer is preempted in the cell that it has claimed. A lap later there is no room, and no thread waits for it.
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

    /// A writer is preempted in the cell that it has claimed. A lap later a batch ends before that cell.
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

    /// A writer is preempted in the cell that it has claimed, and another closes the ring.
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

    /// Another thread writes a message before the new reader knows its start.
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

    /// The check pushes the reader on, and no message follows.
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

    /// A writer comes between a reader's check of the tail and its mark.
    #[test]
    fn a_reader_that_is_pushed_on_before_its_mark_leaves_the_message_alone() {
        let ring = BroadcastRing::<u32>::new(4, true);
        let mut seat = ring.sit_down();
        (0..2).for_each(|message| assert!(ring.push(message).is_ok()));
        ring.cursors.push(seat.position() + 1);
        assert!(matches!(ring.take(&mut seat), Found::Missed(1)));
        assert!(matches!(ring.take(&mut seat), Found::Message(1)));
    }

    /// The readers that came later have left before, except one.
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
    /// A writer claims a cell each time between the move of a reader and its next try.
    ///
    /// Claim: A receiver that skips missed messages gets the oldest one left, even if senders are faster than its
    /// checks.
    #[test]
    fn a_reader_that_has_been_moved_on_gets_the_oldest_message_though_it_is_too_old_by_then() {
        let ring = BroadcastRing::<u32>::new(8, true);
        let mut seat = ring.sit_down();
        let mut next = 0;
        let mut push = |messages| (0..messages).for_each(|_| (assert!(ring.push(next).is_ok()), next += 1).1);
        push(40);
        assert!(matches!(ring.take(&mut seat), Found::Missed(32)));
        push(1);
        // Without that option, the reader is notified of each.
        assert!(matches!(ring.take(&mut seat), Found::Missed(1)));
        push(1);
        assert!(matches!(ring.take_overdue(&mut seat), Found::Message(33)));
        // Not after it has been overwritten.
        push(40);
        assert!(matches!(ring.take_overdue(&mut seat), Found::Missed(40)));
        assert!(matches!(ring.take_overdue(&mut seat), Found::Message(74)));
    }

    /// Also: suite broadcast::evicted::a_receiver_that_is_copying_keeps_its_message_until_it_has.
    #[test]
    fn a_reader_that_is_evicted_and_too_slow_learns_once_of_all_it_misses() {
        let takes: [fn(&BroadcastRing<u32>, &mut Seat) -> u64; 3] = [
            |ring, seat| if let Found::Missed(missed) = ring.take(seat) { missed } else { 0 },
            |ring, seat| if let Found::Missed(missed) = ring.take_overdue(seat) { missed } else { 0 },
            |ring, seat| if let Found::Missed(missed) = ring.take_many(seat, &mut Vec::new(), 9) { missed } else { 0 },
        ];
        for take in takes {
            let ring = BroadcastRing::<u32>::new(2, true);
            let (mut seat, _stays) = (ring.sit_down(), ring.sit_down());
            (0..10).for_each(|message| assert!(ring.push(message).is_ok()));
            assert!(ring.evict(seat.id()) && ring.is_out(seat.id()));
            assert_eq!(take(&ring, &mut seat), 10);
            assert!(matches!(ring.take(&mut seat), Found::Nothing) && ring.is_over(ring.place(&seat)));
            assert_eq!(ring.readers(), 1);
        }
    }
}
