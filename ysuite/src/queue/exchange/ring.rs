//! The ring: cells, each with a stamp that says which thread may use it. Any thread; lock-free; never waits.
//!
//! A position is a lap and an index. The cell at that index may be written when its stamp is the lap, and read when its
//! stamp is the lap and [`FULL`]; the reader then stamps it with the next lap. Claiming is one compare-and-swap of an
//! end's position, over as many cells as are seen ready: a ready cell stays ready until that position moves. Positions
//! have 63 bits and never wrap.
//!
//! Cannot: go past a cell whose claimant has not finished with it. There a reader finds no message and a writer no
//! room.
//!
//! Source: Dmitry Vyukov's bounded MPMC queue. There the capacity is a power of two; laps make any capacity exact.

use core::mem::MaybeUninit;

use crossbeam_utils::CachePadded;

use super::Staging;
use crate::foreign::Panics;
use crate::sync::{AtomicBool, AtomicU64, Ordering, UnsafeCell, spin_loop};

/// The cell holds a message of its lap.
const FULL: u64 = 1;
/// A flag in the writers' position: nothing may be claimed any more.
const CLOSED: u64 = 1 << 63;
/// How long a thread that has lost a race for a position waits before it tries again, in pauses. Meanwhile the winner
/// does its handful of operations in its own cache. If both went on at once, the line would move between their caches
/// for each.
const AWAY: u32 = if cfg!(any(ysuite_loom, miri)) { 0 } else { 16 };

struct Cell<T> {
    /// The lap to which the cell belongs, and whether it is full. Written by the claimant, when it has finished.
    stamp: AtomicU64,
    /// Used by the claimant alone, until it stores the next stamp.
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
    /// What one lap adds to a position: a power of two, at least 2 so that no lap contains the bit `FULL`.
    lap: u64,
    /// The same as `CLOSED` in the tail, in a line that readers may load without disturbing writers.
    closed: AtomicBool,
}

// SAFETY: the ring owns its messages, and sending it sends them: `T: Send` is enough.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: messages are handed over, never shared: only the claimant touches a cell's message, and the Release store of
// a stamp against the Acquire load of the next claimant orders the two.
unsafe impl<T: Send> Sync for Ring<T> {}

impl<T> Ring<T> {
    /// # Panics
    /// Where `capacity` is 0, or its cells take more bytes than an allocation may have.
    pub(crate) fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "an exchange needs a capacity of at least 1");
        let cells = capacity.checked_mul(size_of::<Cell<T>>()).is_some_and(|bytes| bytes <= isize::MAX as usize);
        assert!(cells, "an exchange of {capacity} messages does not fit into memory");
        let cell = |_| Cell { stamp: AtomicU64::new(0), message: UnsafeCell::new(MaybeUninit::uninit()) };
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
        // SAFETY: every position is 0 or comes from `after`, whose results have an index below the number of cells.
        unsafe { self.cells.get_unchecked(index) }
    }

    /// The position `cells` further on. `cells` is at most the capacity.
    #[inline(always)]
    fn after(&self, position: u64, cells: usize) -> u64 {
        let capacity = self.cells.len() as u64;
        let next = position + cells as u64;
        // The capacity is at most a lap, so the sum passes the end of its lap only where the index passes the capacity.
        if (position & (self.lap - 1)) + (cells as u64) < capacity { next } else { next + (self.lap - capacity) }
    }

    /// The stamp of a position's cell while it may be written.
    #[inline(always)]
    fn free(&self, position: u64) -> u64 {
        position & !(self.lap - 1)
    }

    /// How many messages lie from one position to another.
    fn between(&self, from: u64, to: u64) -> usize {
        let mask = self.lap - 1;
        let laps = ((to & !mask).wrapping_sub(from & !mask) / self.lap).wrapping_mul(self.cells.len() as u64);
        let messages = laps.wrapping_add(to & mask).wrapping_sub(from & mask);
        // The two ends are loaded one after the other: in between either may have moved on.
        if messages > 1 << 63 { 0 } else { messages.min(self.cells.len() as u64) as usize }
    }

    /// Writes a message into the next cell.
    #[inline(always)]
    pub(crate) fn push(&self, message: T) -> Result<(), Rejected<T>> {
        // ORDERING: Relaxed; the cell's stamp orders the message, and the exchange below fails for a stale position.
        let mut tail = self.tail.load(Ordering::Relaxed);
        loop {
            if tail & CLOSED != 0 {
                return Err(Rejected::Closed(message));
            }
            let cell = self.cell(tail);
            // ORDERING: Acquire pairs with the Release store in `empty`: the last message was read before this one is
            // written over it.
            let stamp = cell.stamp.load(Ordering::Acquire);
            if stamp == self.free(tail) {
                let next = self.after(tail, 1);
                // ORDERING: Relaxed twice; a read-modify-write has one winner, and the winner has acquired the cell by
                // its stamp.
                match self.tail.compare_exchange_weak(tail, next, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => {
                        Self::fill(cell, stamp, message);
                        return Ok(());
                    }
                    Err(found) => {
                        look_away();
                        tail = found;
                    }
                }
            } else if stamp < self.free(tail) {
                // A stamp of the lap before: no reader has emptied the cell, and no writer can have gone past it.
                return Err(Rejected::Full(message));
            } else {
                // Other writers have gone past this cell.
                // ORDERING: Relaxed; the cell's stamp orders the message, and the exchange fails for a stale position.
                tail = self.tail.load(Ordering::Relaxed);
            }
        }
    }

    /// Takes the oldest message out, if it is written.
    #[inline(always)]
    pub(crate) fn pop(&self) -> Option<T> {
        // ORDERING: Relaxed; the cell's stamp orders the message, and the exchange below fails for a stale position.
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            let cell = self.cell(head);
            let full = self.free(head) | FULL;
            // ORDERING: Acquire pairs with the Release store of a full stamp in `fill`: the message is visible.
            let stamp = cell.stamp.load(Ordering::Acquire);
            if stamp == full {
                // ORDERING: Relaxed twice; a read-modify-write has one winner, and the winner has acquired the cell by
                // its stamp.
                match self.head.compare_exchange_weak(head, self.after(head, 1), Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return Some(self.empty(cell, head)),
                    Err(found) => {
                        look_away();
                        head = found;
                    }
                }
            } else if stamp < full {
                return None;
            } else {
                // Other readers have gone past this cell.
                // ORDERING: Relaxed; the cell's stamp orders the message, and the exchange fails for a stale position.
                head = self.head.load(Ordering::Relaxed);
            }
        }
    }

    /// Puts a message into a claimed cell, and stamps the cell as full. `free`: the stamp it has.
    #[inline(always)]
    fn fill(cell: &Cell<T>, free: u64, message: T) {
        cell.message.with_mut(|place| {
            // SAFETY: the cell is empty, and this thread has claimed it: no other thread touches it before the stamp is
            // stored below.
            unsafe { (*place).write(message) };
        });
        // ORDERING: Release pairs with the Acquire load of the stamp in `pop` and `ready`: the message is written.
        cell.stamp.store(free | FULL, Ordering::Release);
    }

    /// Takes the message out of a claimed cell, and stamps the cell with the next lap.
    #[inline(always)]
    fn empty(&self, cell: &Cell<T>, position: u64) -> T {
        let message = cell.message.with(|place| {
            // SAFETY: the cell is full, and this thread has claimed it: it reads the message once, and no other thread
            // touches it before the stamp is stored below.
            unsafe { (*place).assume_init_read() }
        });
        // ORDERING: Release pairs with the Acquire load of the stamp in `push` and `ready`: the next lap's writer must
        // not write before the message was read.
        cell.stamp.store(self.free(position) + self.lap, Ordering::Release);
        message
    }

    /// How many cells from `position` on are full (`state` is `FULL`) or free (`state` is 0), `most` at most.
    fn ready(&self, position: u64, state: u64, most: usize) -> usize {
        let (mut at, mut cells) = (position, 0);
        let most = most.min(self.cells.len());
        // ORDERING: Acquire pairs with the Release of the stamps that the other side stores in `fill` and `empty`: the
        // cells may be used once they are claimed.
        while cells < most && self.cell(at).stamp.load(Ordering::Acquire) == self.free(at) | state {
            cells += 1;
            at = self.after(at, 1);
        }
        cells
    }

    /// Writes as many of the staged messages as there is room for, with one claim. Returns how many; 0 where there is
    /// no room, `None` where the ring is closed.
    pub(crate) fn push_many(&self, staging: &mut Staging<T>) -> Option<usize> {
        loop {
            // ORDERING: Acquire keeps the loads below behind this one. After a lost race coherence makes this load
            // return no older position than the failed exchange has seen.
            let tail = self.tail.load(Ordering::Acquire);
            if tail & CLOSED != 0 {
                return None;
            }
            let cells = self.ready(tail, 0, staging.len());
            if cells == 0 {
                // A stamp beyond this lap means that other writers have gone past this cell.
                // ORDERING: Acquire pairs with the Release store of the stamp in `fill` and `empty`: the second look at
                // the cell, in `ready`, does not come before this one.
                if self.cell(tail).stamp.load(Ordering::Acquire) <= self.free(tail) && self.ready(tail, 0, 1) == 0 {
                    return Some(0);
                }
                continue;
            }
            let next = self.after(tail, cells);
            // ORDERING: Relaxed twice; a read-modify-write has one winner, and `ready` has acquired the cells by their
            // stamps.
            if self.tail.compare_exchange(tail, next, Ordering::Relaxed, Ordering::Relaxed).is_err() {
                look_away();
                continue;
            }
            let mut at = tail;
            for message in staging.take(cells) {
                Self::fill(self.cell(at), self.free(at), message);
                at = self.after(at, 1);
            }
            return Some(cells);
        }
    }

    /// Appends the oldest written messages to `to`, `most` at most, with one claim. Returns how many.
    pub(crate) fn pop_many(&self, to: &mut Vec<T>, most: usize) -> usize {
        loop {
            // ORDERING: Acquire keeps the loads below behind this one. After a lost race coherence makes this load
            // return no older position than the failed exchange has seen.
            let head = self.head.load(Ordering::Acquire);
            let cells = self.ready(head, FULL, most);
            if cells == 0 {
                // A stamp beyond this lap means that other readers have gone past this cell.
                // ORDERING: Acquire pairs with the Release store of the stamp in `fill` and `empty`: the second look at
                // the cell, in `ready`, does not come before this one.
                if self.cell(head).stamp.load(Ordering::Acquire) <= self.free(head) | FULL
                    && self.ready(head, FULL, 1) == 0
                {
                    return 0;
                }
                continue;
            }
            // Before the claim: once a message is claimed it must be taken out, and an allocation may panic.
            to.reserve(cells);
            let next = self.after(head, cells);
            // ORDERING: Relaxed twice; a read-modify-write has one winner, and `ready` has acquired the cells by their
            // stamps.
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
        // ORDERING: Relaxed; the stamp below decides, and a stale position is handled there.
        let head = self.head.load(Ordering::Relaxed);
        // A later stamp means that the position has moved on: that counts as readable, and the caller looks again.
        // ORDERING: Acquire pairs with the Release store of a full stamp in `fill`.
        self.cell(head).stamp.load(Ordering::Acquire) > self.free(head)
    }

    /// Whether the next cell can be written.
    #[inline]
    pub(crate) fn is_writable(&self) -> bool {
        // ORDERING: Relaxed; the stamp below decides, and a later one counts as writable.
        let tail = self.tail.load(Ordering::Relaxed) & !CLOSED;
        // ORDERING: Acquire pairs with the Release store of the stamp in `empty`.
        self.cell(tail).stamp.load(Ordering::Acquire) >= self.free(tail)
    }

    /// How many messages are in the ring: claimed by a writer, and not yet by a reader.
    pub(crate) fn len(&self) -> usize {
        // ORDERING: Acquire on the first load keeps the load of the tail behind it: the difference may be too large,
        // but not negative. Acquire on the second keeps the caller's further looks behind both.
        let head = self.head.load(Ordering::Acquire);
        self.between(head, self.tail.load(Ordering::Acquire) & !CLOSED)
    }

    /// Whether no message is in the ring, nor claimed by a writer.
    pub(crate) fn is_empty(&self) -> bool {
        // ORDERING: Acquire on the first load keeps the load of the tail behind it: where that tail equals the head,
        // the ring was empty when the tail was loaded. Acquire on the second keeps the caller's further looks behind
        // both.
        let head = self.head.load(Ordering::Acquire);
        head == self.tail.load(Ordering::Acquire) & !CLOSED
    }

    /// The position of the next message to be written.
    pub(crate) fn place(&self) -> u64 {
        // ORDERING: Acquire keeps the caller's further looks behind this one. A claim that happened before this call is
        // seen by coherence.
        self.tail.load(Ordering::Acquire) & !CLOSED
    }

    /// Whether readers have got as far as a position. Once true it stays true: positions only grow.
    pub(crate) fn has_reached(&self, place: u64) -> bool {
        // ORDERING: Acquire keeps the caller's further looks behind this one. Claims are Relaxed: what they order is
        // the cells' business.
        self.head.load(Ordering::Acquire) >= place
    }

    /// From now on no cell can be claimed by a writer. What has been claimed will still be published.
    pub(crate) fn close(&self) {
        // ORDERING: SeqCst; a read-modify-write of the word that every writer's claim exchanges, so no claim follows
        // it.
        self.tail.fetch_or(CLOSED, Ordering::SeqCst);
        // ORDERING: Release pairs with the Acquire of `is_closed`: a thread that sees it sees all that this thread has
        // done before, the flag in the tail included.
        self.closed.store(true, Ordering::Release);
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        // ORDERING: Acquire pairs with the Release store in `close`: the flag in the tail is visible as well.
        self.closed.load(Ordering::Acquire)
    }

    /// Takes out and drops every message that is written. Where a message's drop panics, the others are dropped all the
    /// same.
    pub(crate) fn drain(&self) {
        let mut panics = Panics::none();
        while let Some(message) = self.pop() {
            // The message has left the ring already: a panic in its drop cannot make the ring drop it again.
            panics.catch(|| drop(message));
        }
    }
}

/// Waits a little, after a lost race for a position.
#[cold]
fn look_away() {
    (0..AWAY).for_each(|_| spin_loop());
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        self.drain();
    }
}
