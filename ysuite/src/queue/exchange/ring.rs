//! The ring: cells, each with a turn that says whose it is. Any thread; lock-free; never waits.
//!
//! A position is a lap and an index. The cell at that index may be written when its turn is the lap, and read when it is
//! the lap and [`FULL`]; the reader leaves it to the next lap. Claiming is one compare-and-swap of an end's position, over
//! as many cells as are seen ready: a cell that is ready stays ready until that position moves. Positions have 63 bits and
//! never wrap.
//!
//! Cannot: go past a cell whose claimant has not finished with it. A reader finds nothing there and a writer no room.
//!
//! Source: Dmitry Vyukov's bounded MPMC queue. There the capacity is a power of two; laps make any capacity exact.

use core::mem::MaybeUninit;

use crossbeam_utils::CachePadded;

use super::Staging;
use crate::foreign::Panics;
use crate::sync::{AtomicBool, AtomicU64, Ordering, UnsafeCell, spin_loop};

/// The cell holds a message of its lap.
const FULL: u64 = 1;
/// In the writers' position: nothing may be claimed any more.
const CLOSED: u64 = 1 << 63;
/// After a lost race for a position, how long the loser looks away, in pauses. The winner then does a handful of
/// operations in its own cache; two that insist would have the line go to and fro for each.
const AWAY: u32 = if cfg!(any(ysuite_loom, miri)) { 0 } else { 16 };

struct Cell<T> {
    /// The lap to which the cell belongs, and whether it is full. Written by whoever has claimed it.
    turn: AtomicU64,
    /// The claimant's while the turn says so.
    message: UnsafeCell<MaybeUninit<T>>,
}

/// Why a message was not taken.
pub(crate) enum Rejected<T> {
    /// The cell it would go to is not free.
    Full(T),
    /// The ring is closed.
    Closed(T),
}

pub(crate) struct Ring<T> {
    /// Where the next message is read. Moved by readers.
    head: CachePadded<AtomicU64>,
    /// Where the next message is written, and `CLOSED`. Moved by writers.
    tail: CachePadded<AtomicU64>,
    cells: Box<[Cell<T>]>,
    /// What one lap adds to a position: a power of two, at least 2 so that `FULL` is no lap's.
    lap: u64,
    /// As in the tail, where readers may look without disturbing writers.
    closed: AtomicBool,
}

// SAFETY: messages are handed over, never shared: a cell is touched by its claimant alone, and turns order claimants.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Ring<T> {}

impl<T> Ring<T> {
    /// # Panics
    /// Where `capacity` is 0, or its cells are more than memory can ever hold.
    pub(crate) fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "an exchange needs a capacity of at least 1");
        let cells = capacity.checked_mul(size_of::<Cell<T>>()).is_some_and(|bytes| bytes <= isize::MAX as usize);
        assert!(cells, "an exchange of {capacity} messages does not fit into memory");
        let cell = |_| Cell { turn: AtomicU64::new(0), message: UnsafeCell::new(MaybeUninit::uninit()) };
        Self {
            head: CachePadded::new(AtomicU64::new(0)),
            tail: CachePadded::new(AtomicU64::new(0)),
            cells: (0..capacity).map(cell).collect(),
            lap: (capacity as u64).next_power_of_two().max(2),
            closed: AtomicBool::new(false),
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.cells.len()
    }

    /// The cell of a position.
    #[inline(always)]
    fn cell(&self, position: u64) -> &Cell<T> {
        let index = (position & (self.lap - 1)) as usize;
        debug_assert!(index < self.cells.len());
        // SAFETY: `after` never makes a position whose index is not one of the cells'.
        unsafe { self.cells.get_unchecked(index) }
    }

    /// The position `cells` further on; at most a capacity.
    #[inline(always)]
    fn after(&self, position: u64, cells: usize) -> u64 {
        let capacity = self.cells.len() as u64;
        let next = position + cells as u64;
        // A capacity may be up to a lap, so the sum may pass its own lap's end only where the index passes the capacity.
        if (position & (self.lap - 1)) + (cells as u64) < capacity { next } else { next + (self.lap - capacity) }
    }

    /// The turn in which a position is free.
    #[inline(always)]
    fn free(&self, position: u64) -> u64 {
        position & !(self.lap - 1)
    }

    /// How many messages lie from one position to another.
    fn between(&self, from: u64, to: u64) -> usize {
        let mask = self.lap - 1;
        let laps = ((to & !mask).wrapping_sub(from & !mask) / self.lap).wrapping_mul(self.cells.len() as u64);
        let messages = laps.wrapping_add(to & mask).wrapping_sub(from & mask);
        // The two ends are not read at once: between the looks either may have moved on.
        if messages > 1 << 63 { 0 } else { messages.min(self.cells.len() as u64) as usize }
    }

    /// Puts a message in.
    #[inline(always)]
    pub(crate) fn push(&self, message: T) -> Result<(), Rejected<T>> {
        // ORDERING: Relaxed; the cell's turn orders what matters, and a stale position fails below.
        let mut tail = self.tail.load(Ordering::Relaxed);
        loop {
            if tail & CLOSED != 0 {
                return Err(Rejected::Closed(message));
            }
            let cell = self.cell(tail);
            // ORDERING: Acquire pairs with the Release of the reader that has emptied the cell.
            let turn = cell.turn.load(Ordering::Acquire);
            if turn == self.free(tail) {
                let next = self.after(tail, 1);
                // ORDERING: Relaxed twice; as a read-modify-write it has one winner, who has acquired the cell already.
                match self.tail.compare_exchange_weak(tail, next, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => {
                        cell.message.with_mut(|place| {
                            // SAFETY: claimed, free, and nobody else's until the turn says so.
                            unsafe { (*place).write(message) };
                        });
                        // ORDERING: Release pairs with the Acquire of the readers.
                        cell.turn.store(turn | FULL, Ordering::Release);
                        return Ok(());
                    }
                    Err(found) => {
                        look_away();
                        tail = found;
                    }
                }
            } else if turn < self.free(tail) {
                // Of the lap before: it has not been emptied, and nobody can have gone past it.
                return Err(Rejected::Full(message));
            } else {
                // ORDERING: Relaxed, as above: others have gone past.
                tail = self.tail.load(Ordering::Relaxed);
            }
        }
    }

    /// Takes the oldest message out, if it is there.
    #[inline(always)]
    pub(crate) fn pop(&self) -> Option<T> {
        // ORDERING: Relaxed, as in `push`.
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            let cell = self.cell(head);
            let full = self.free(head) | FULL;
            // ORDERING: Acquire pairs with the Release of the writer that has filled the cell.
            let turn = cell.turn.load(Ordering::Acquire);
            if turn == full {
                // ORDERING: Relaxed twice, as in `push`.
                match self.head.compare_exchange_weak(head, self.after(head, 1), Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return Some(self.empty(cell, head)),
                    Err(found) => {
                        look_away();
                        head = found;
                    }
                }
            } else if turn < full {
                return None;
            } else {
                // ORDERING: Relaxed, as above.
                head = self.head.load(Ordering::Relaxed);
            }
        }
    }

    /// Takes the message out of a claimed cell and leaves the cell to the next lap.
    #[inline(always)]
    fn empty(&self, cell: &Cell<T>, position: u64) -> T {
        let message = cell.message.with(|place| {
            // SAFETY: claimed and full; it is read once, before the turn is given on.
            unsafe { (*place).assume_init_read() }
        });
        // ORDERING: Release pairs with the Acquire of the next lap's writer, who must not write before this was read.
        cell.turn.store(self.free(position) + self.lap, Ordering::Release);
        message
    }

    /// How many cells from `position` on have the turn `FULL` (or free), `most` at most.
    fn ready(&self, position: u64, state: u64, most: usize) -> usize {
        let (mut at, mut cells) = (position, 0);
        let most = most.min(self.cells.len());
        // ORDERING: Acquire, as in `push` and `pop`: the cells may be used once they are claimed.
        while cells < most && self.cell(at).turn.load(Ordering::Acquire) == self.free(at) | state {
            cells += 1;
            at = self.after(at, 1);
        }
        cells
    }

    /// Puts as many of the pen's messages in as there is room for, with one claim. Returns how many; 0 where there is
    /// no room, `None` where the ring is closed.
    pub(crate) fn push_many(&self, pen: &mut Staging<T>) -> Option<usize> {
        loop {
            // ORDERING: Acquire only so that a second look after a lost race is not older than the first.
            let tail = self.tail.load(Ordering::Acquire);
            if tail & CLOSED != 0 {
                return None;
            }
            let cells = self.ready(tail, 0, pen.len());
            if cells == 0 {
                // ORDERING: as in `push`; a turn beyond this lap means that others have gone past.
                if self.cell(tail).turn.load(Ordering::Acquire) <= self.free(tail) && self.ready(tail, 0, 1) == 0 {
                    return Some(0);
                }
                continue;
            }
            let next = self.after(tail, cells);
            // ORDERING: Relaxed twice, as in `push`.
            if self.tail.compare_exchange(tail, next, Ordering::Relaxed, Ordering::Relaxed).is_err() {
                look_away();
                continue;
            }
            let mut at = tail;
            for message in pen.take(cells) {
                let cell = self.cell(at);
                cell.message.with_mut(|place| {
                    // SAFETY: claimed, free, and nobody else's until the turn says so.
                    unsafe { (*place).write(message) };
                });
                // ORDERING: Release pairs with the Acquire of the readers.
                cell.turn.store(self.free(at) | FULL, Ordering::Release);
                at = self.after(at, 1);
            }
            return Some(cells);
        }
    }

    /// Appends the messages that are there to `to`, `most` at most, with one claim. Returns how many.
    pub(crate) fn pop_many(&self, to: &mut Vec<T>, most: usize) -> usize {
        loop {
            // ORDERING: Acquire, as in `push_many`.
            let head = self.head.load(Ordering::Acquire);
            let cells = self.ready(head, FULL, most);
            if cells == 0 {
                // ORDERING: as in `push_many`.
                if self.cell(head).turn.load(Ordering::Acquire) <= self.free(head) | FULL
                    && self.ready(head, FULL, 1) == 0
                {
                    return 0;
                }
                continue;
            }
            // Before the claim: a claimed message must be taken out whatever happens.
            to.reserve(cells);
            let next = self.after(head, cells);
            // ORDERING: Relaxed twice, as in `push`.
            if self.head.compare_exchange(head, next, Ordering::Relaxed, Ordering::Relaxed).is_err() {
                look_away();
                continue;
            }
            let mut at = head;
            for _ in 0..cells {
                to.push(self.empty(self.cell(at), at));
                at = self.after(at, 1);
            }
            return cells;
        }
    }

    /// Whether the oldest message can be taken.
    #[inline]
    pub(crate) fn is_readable(&self) -> bool {
        // ORDERING: Relaxed and Acquire, as in `pop`.
        let head = self.head.load(Ordering::Relaxed);
        // A later turn means that the position has moved on: look again.
        self.cell(head).turn.load(Ordering::Acquire) > self.free(head)
    }

    /// Whether the next cell can be written.
    #[inline]
    pub(crate) fn is_writable(&self) -> bool {
        // ORDERING: Relaxed and Acquire, as in `push`.
        let tail = self.tail.load(Ordering::Relaxed) & !CLOSED;
        self.cell(tail).turn.load(Ordering::Acquire) >= self.free(tail)
    }

    /// How many messages are in the ring: claimed by a writer, not yet by a reader.
    pub(crate) fn len(&self) -> usize {
        // ORDERING: Acquire, so that the tail is not read before the head: the difference may be too large, not negative.
        let head = self.head.load(Ordering::Acquire);
        self.between(head, self.tail.load(Ordering::Acquire) & !CLOSED)
    }

    /// Whether no message is in the ring, nor claimed by a writer.
    pub(crate) fn is_empty(&self) -> bool {
        // ORDERING: Acquire, as in `len`.
        let head = self.head.load(Ordering::Acquire);
        head == self.tail.load(Ordering::Acquire) & !CLOSED
    }

    /// Where the next message will be put.
    pub(crate) fn place(&self) -> u64 {
        // ORDERING: Acquire, as in `len`: a claim that happened before this call is seen.
        self.tail.load(Ordering::Acquire) & !CLOSED
    }

    /// Whether readers have got as far as a place: positions only grow.
    pub(crate) fn has_reached(&self, place: u64) -> bool {
        // ORDERING: Acquire, as in `len`.
        self.head.load(Ordering::Acquire) >= place
    }

    /// From now on nothing can be claimed. What has been claimed will still be published.
    pub(crate) fn close(&self) {
        // ORDERING: SeqCst read-modify-write: no claim follows it. Release for `is_closed`.
        self.tail.fetch_or(CLOSED, Ordering::SeqCst);
        // ORDERING: Release pairs with the Acquire of `is_closed`: who sees it sees all that was published before.
        self.closed.store(true, Ordering::Release);
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        // ORDERING: Acquire pairs with the Release of `close`.
        self.closed.load(Ordering::Acquire)
    }

    /// Takes out and drops all that can be had. Where a message's drop panics, the others are dropped all the same.
    pub(crate) fn drain(&self) {
        let mut panics = Panics::none();
        while let Some(message) = self.pop() {
            // It has left the ring: a panic in its drop cannot bring it back.
            panics.catch(|| drop(message));
        }
    }
}

/// After a lost race for a position.
#[cold]
fn look_away() {
    (0..AWAY).for_each(|_| spin_loop());
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        self.drain();
    }
}
