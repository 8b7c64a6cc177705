//! The ring: cells, each with a stamp that says which thread may use it. Any thread; lock-free; never waits.
//!
//! A position is a lap and an index. The cell at that index may be written when its stamp is the lap, and read when its
//! stamp is the lap and [`FULL`]; the reader then stamps it with the next lap. A claim is one compare-and-swap of a
//! side's position, over any number of cells that are seen ready: a ready cell stays ready until that position moves.
//! Positions have 61 bits and never wrap.
//!
//! This module sends and receives one message, and closes. [`position`] has the arithmetic, and the tail's other form,
//! in which it counts permits. [`claims`] claims in both forms, one cell or several, and reserves permits. [`force`]
//! takes the oldest message's place. [`looks`] only checks.
//!
//! Cannot: go past a cell whose claimant has not finished with it. There a reader finds no message and a writer no
//! room.
//!
//! Source: Dmitry Vyukov's bounded MPMC queue. There the capacity is a power of two; laps make any capacity exact.

mod claims;
mod counts;
mod force;
mod hint;
mod looks;
#[cfg(all(test, ysuite_loom))]
mod models;
mod position;

use core::mem::{self, MaybeUninit};

pub(crate) use self::claims::Rejected;
pub(crate) use self::force::{Forced, Unforced};
pub(crate) use self::hint::Hint;
use super::Leaving;
use super::counts::CountedEnds;
use crate::foreign::{Lent, Panics};
use crate::queue::{Apart, FarApart, allocate};
use crate::statistics::{Observed, QueueTally};
use crate::sync::{AtomicBool, AtomicU64, Ordering, UnsafeCell, put, spin_loop, window};

/// The cell holds a message of its lap.
const FULL: u64 = 1;
/// A flag in the tail: it is not a plain position. A writer in a stream checks only this bit.
const SPECIAL: u64 = 1 << 63;
/// A flag in a special tail: nothing may be claimed any more.
const CLOSED: u64 = 1 << 62;
/// The most cells a ring may have: what the tail can distinguish while permits are held, by the bits below the sign of
/// a difference. A quarter of a tebibyte at the least.
const MOST_CELLS: u64 = 1 << 35;
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

/// A cell that a writer has claimed, to be filled at once: readers cannot go past it.
#[must_use = "a cell that is never filled ends the ring"]
pub(crate) struct ClaimedCell<'a, T> {
    ends: &'a Observed<RingEnds>,
    cell: &'a Cell<T>,
    stamp: u64,
    tail: u64,
    next: u64,
}

impl<T> ClaimedCell<'_, T> {
    #[inline]
    pub(crate) fn fill(self, message: T) {
        Ring::fill(self.cell, self.stamp, message);
        self.ends.look_now_and_then(self.tail, self.next);
    }

    /// As [`fill_from`](Self::fill_from).
    ///
    /// # Safety
    /// As of [`Lent::leave_to`].
    #[inline(always)]
    pub(crate) unsafe fn fill_leaving(self, place: &mut Option<T>) {
        self.cell.message.with_mut(|message| {
            // SAFETY: as in `Ring::fill`, and by the caller.
            unsafe { place.leave_to(message.cast::<T>()) };
        });
        // ORDERING: as in `Ring::fill`.
        self.cell.stamp.store(self.stamp | FULL, Ordering::Release);
        self.ends.look_now_and_then(self.tail, self.next);
    }

    #[inline(always)]
    pub(crate) fn fill_from(self, place: &mut Option<T>) {
        Ring::fill_from(self.cell, self.stamp, place);
        self.ends.look_now_and_then(self.tail, self.next);
    }
}

/// A message that a reader has claimed, to be taken at once: writers cannot go past its cell.
#[must_use = "a cell that is never emptied ends the ring"]
pub(crate) struct ClaimedMessage<'a, T> {
    cell: &'a Cell<T>,
    free: u64,
}

impl<T> ClaimedMessage<'_, T> {
    #[inline]
    pub(crate) fn take(self) -> T {
        Ring::empty(self.cell, self.free)
    }

    /// Where the message is, to be read once. Then the cell is [emptied](Self::emptied).
    #[inline(always)]
    pub(crate) fn slot(&self) -> &UnsafeCell<MaybeUninit<T>> {
        &self.cell.message
    }

    /// The message has been read.
    #[inline(always)]
    pub(crate) fn emptied(self) {
        // ORDERING: as in `Ring::empty`.
        self.cell.stamp.store(self.free, Ordering::Release);
    }

    /// A function of its own: in an unoptimised program each place where a message is taken has copies of it.
    #[inline]
    pub(crate) fn take_to(self, place: &mut Option<T>) {
        *place = Some(self.take());
    }
}

/// In this order: the fields before the positions hardly change, and are read for every message.
#[repr(C)]
pub(crate) struct Ring<T> {
    cells: Box<[Cell<T>]>,
    /// What one lap adds to a position: a power of two, at least 2 so that no lap contains the bit `FULL`.
    lap: u64,
    /// The number of the tail's bits that hold a position while permits are held.
    position_bits: u32,
    /// The same as `CLOSED` in the tail, in a line that readers may load without disturbing writers.
    closed: AtomicBool,
    apart: Apart,
    pub(crate) ends: Observed<RingEnds>,
}

/// How far the two sides are. Observers load these words directly.
#[repr(C)]
pub(crate) struct RingEnds {
    /// Where the next message is read. Moved by readers.
    head: AtomicU64,
    between: FarApart,
    /// Where the next message is written; or, `SPECIAL`, what [`position`] says. Moved by writers.
    tail: AtomicU64,
    /// Its number is that of the cells.
    tally: QueueTally,
}

// SAFETY: the ring owns its messages, and sending it sends them: `T: Send` is enough.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: messages are handed over, never shared: only the claimant touches a cell's message, and the Release store of
// a stamp against the Acquire load of the next claimant orders the two.
unsafe impl<T: Send> Sync for Ring<T> {}

impl<T> Ring<T> {
    // MUTANT: A size at that limit does not occur, and larger cells fail in the allocation.
    /// # Panics
    /// Where `capacity` is 0, or there is no memory for its cells.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "an mpmc channel needs a capacity of at least 1");
        let cells = capacity.checked_mul(size_of::<Cell<T>>()).is_some_and(|bytes| bytes <= isize::MAX as usize);
        let fits = cells && capacity as u64 <= MOST_CELLS;
        let cell = |_| Cell { stamp: AtomicU64::new(0), message: UnsafeCell::new(MaybeUninit::uninit()) };
        let ends = RingEnds {
            head: AtomicU64::new(0),
            between: FarApart::new(),
            tail: AtomicU64::new(0),
            tally: QueueTally::new(capacity as u64),
        };
        let Some(cells) = (if fits { allocate(capacity, cell) } else { None }) else {
            panic!("an mpmc channel of {capacity} messages does not fit into memory");
        };
        Self {
            cells,
            lap: position::lap(capacity),
            position_bits: position::position_bits(capacity),
            closed: AtomicBool::new(false),
            apart: Apart::new(),
            ends: Observed::new(ends),
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.cells.len()
    }

    // MUTANT: Speed only: where a handle begins its search; back-offs are hints. A special tail is past every stamp.
    /// Claims the next cell, which the caller fills at once. `None`: that cell is not free, or the tail is special, and
    /// [`offer_from`](Self::offer_from) then decides. `hint`: of a handle of this ring.
    #[inline(always)]
    pub(crate) fn claim_next(&self, hint: &Hint) -> Option<ClaimedCell<'_, T>> {
        let (lap, mut tail) = (self.lap, hint.recall());
        loop {
            let spot = Self::spot(lap, tail);
            let cell = self.cell_of(spot);
            // ORDERING: Acquire pairs with the Release store in `empty`: the last message was read before this one is
            // written over it.
            let stamp = cell.stamp.load(Ordering::Acquire);
            let found = if stamp == spot.free {
                let next = self.behind(spot);
                // ORDERING: Release pairs with the Acquire load below, with that of `is_writable` and of `tail`: a
                // thread that finds this place taken sees what this thread has received, or has seen received. Relaxed
                // on failure; a read-modify-write has one winner, and the winner has acquired the cell by its stamp.
                match self.ends.tail.compare_exchange_weak(tail, next, Ordering::Release, Ordering::Relaxed) {
                    Ok(_) => {
                        hint.keep(next);
                        return Some(ClaimedCell { ends: &self.ends, cell, stamp, tail, next });
                    }
                    Err(found) => {
                        if found & SPECIAL == 0 {
                            look_away();
                        }
                        found
                    }
                }
            } else {
                self.tail_past(cell, stamp, spot.free, tail)?
            };
            if found & SPECIAL != 0 {
                return None;
            }
            tail = found;
        }
    }

    /// The cell at `tail` is not free, by its stamp: the tail that other writers have set, which have gone past it. `None`:
    /// no reader has emptied it.
    #[inline(always)]
    fn tail_past(&self, cell: &Cell<T>, stamp: u64, free: u64, tail: u64) -> Option<u64> {
        // ORDERING: Acquire pairs with the Release of claims, above: what the writers had seen received that took the
        // places before this one. The stamp was loaded with Acquire, so this load does not come before it.
        let found = self.ends.tail.load(Ordering::Acquire);
        // A stamp of the previous lap: no reader has emptied the cell, and no writer can have gone past it. The stamp once
        // more: the first load may not have known what those writers knew.
        // ORDERING: Relaxed; the load of the tail has acquired what it needs. A further load implies only that it is worth
        // trying again.
        let is_full = found == tail && stamp < free && cell.stamp.load(Ordering::Relaxed) < free;
        if is_full { None } else { Some(found) }
    }

    /// Claims the oldest message, if it is written. The caller takes it at once. `hint`: of a handle of this ring.
    #[inline(always)]
    pub(crate) fn claim_oldest(&self, hint: &Hint) -> Option<ClaimedMessage<'_, T>> {
        self.pop_by(hint, |cell, free| ClaimedMessage { cell, free })
    }

    // MUTANT: Speed only: where a handle begins its search; back-offs are hints. Killed only by the model
    // `a_choice_that_cannot_wait_finds_what_was_sent_before_the_oldest_was_taken`.
    /// Claims the oldest message, if it is written, and empties its cell by `empty`, which also stamps it: with the
    /// stamp that it is given.
    #[inline(always)]
    fn pop_by<'a, R>(&'a self, hint: &Hint, empty: impl FnOnce(&'a Cell<T>, u64) -> R) -> Option<R> {
        let (lap, mut head) = (self.lap, hint.recall());
        loop {
            let spot = Self::spot(lap, head);
            let (cell, full) = (self.cell_of(spot), spot.free | FULL);
            // ORDERING: Acquire pairs with the Release store of a full stamp in `fill`: the message is visible.
            let stamp = cell.stamp.load(Ordering::Acquire);
            if stamp == full {
                let next = self.behind(spot);
                // ORDERING: Release pairs with the Acquire load below and with that of `is_readable`: a thread that
                // finds this message gone sees what this thread has sent, or has seen sent. Relaxed on failure; a
                // read-modify-write has one winner, and the winner has acquired the cell by its stamp.
                match self.ends.head.compare_exchange_weak(head, next, Ordering::Release, Ordering::Relaxed) {
                    Ok(_) => {
                        hint.keep(next);
                        return Some(empty(cell, spot.next_free));
                    }
                    Err(found) => {
                        look_away();
                        head = found;
                    }
                }
            } else {
                // ORDERING: Acquire pairs with the Release of claims, above: what the readers had seen sent that took
                // the messages before this one. The stamp was loaded with Acquire, so this load does not come before
                // it.
                let found = self.ends.head.load(Ordering::Acquire);
                // The stamp once more: the first load may not have known what those readers knew.
                // ORDERING: Relaxed; the load of the head has acquired what it needs. A further load implies only that
                // it is worth trying again.
                if found == head && stamp < full && cell.stamp.load(Ordering::Relaxed) < full {
                    return None;
                }
                // Otherwise other readers have gone past this cell.
                head = found;
            }
        }
    }

    /// Puts a message into a claimed cell, and stamps the cell as full. `free`: the stamp it has.
    #[inline(always)]
    fn fill(cell: &Cell<T>, free: u64, message: T) {
        // SAFETY: the cell is empty, and this thread has claimed it: no other thread touches it before the stamp is
        // stored below.
        unsafe { put(&cell.message, message) };
        // ORDERING: Release pairs with the Acquire load of the stamp in `pop` and `ready`: the message is written.
        cell.stamp.store(free | FULL, Ordering::Release);
    }

    /// As [`fill`](Self::fill), with the oldest of staged messages, of which there is one.
    fn fill_staged(cell: &Cell<T>, free: u64, messages: &mut Leaving<T>) {
        cell.message.with_mut(|message| {
            // SAFETY: as in `fill`, and by the callers.
            unsafe { messages.move_to(message.cast::<T>(), 1) };
        });
        // ORDERING: Release as in `fill`.
        cell.stamp.store(free | FULL, Ordering::Release);
    }

    /// As [`fill`](Self::fill), with the message that is in `place`.
    #[inline(always)]
    fn fill_from(cell: &Cell<T>, free: u64, place: &mut Option<T>) {
        cell.message.with_mut(|message| {
            // SAFETY: as in `fill`.
            unsafe { place.move_to(message.cast::<T>()) };
        });
        // ORDERING: as in `fill`.
        cell.stamp.store(free | FULL, Ordering::Release);
    }

    /// Takes the message out of a claimed cell, and stamps the cell with the next lap: `free`.
    #[inline(always)]
    fn empty(cell: &Cell<T>, free: u64) -> T {
        let message = cell.message.with(|place| {
            // SAFETY: the cell is full, and this thread has claimed it: it reads the message once, and no other thread
            // touches it before the stamp is stored below.
            unsafe { (*place).assume_init_read() }
        });
        // ORDERING: Release pairs with the Acquire load of the stamp in `push` and `ready`: the next lap's writer must
        // not write before the message was read.
        cell.stamp.store(free, Ordering::Release);
        message
    }

    /// From now on no cell can be claimed by a writer. What has been claimed will still be published. True: it was
    /// open.
    pub(crate) fn close(&self) -> bool {
        // MUTANT: Speed only: a ring that is known to be closed is closed once more, to no effect.
        if self.is_closed() {
            return false;
        }
        // ORDERING: AcqRel; each thread that finds the flag, also another one that closes, sees what came before. Every
        // writer's claim exchanges this word, so none follows.
        let before = self.ends.tail.fetch_or(SPECIAL | CLOSED, Ordering::AcqRel);
        window();
        self.tell_closed();
        before & CLOSED == 0
    }

    /// Sets the flag that says the tail is closed. Each thread that finds the tail closed calls this before it returns,
    /// in case the closer has been preempted: a thread that learns of a writer's error finds the ring closed.
    #[cold]
    fn tell_closed(&self) {
        // MUTANT: Speed only: a flag that is set is stored again. The ring of a rendezvous is closed from the
        // beginning, and its handles come here often: they leave the line alone.
        if !self.is_closed() {
            // ORDERING: Release pairs with the Acquire of `is_closed`: a thread that sees it sees all that this thread
            // has done or seen before, the flag in the tail included.
            self.closed.store(true, Ordering::Release);
        }
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        // ORDERING: Acquire pairs with the Release store in `tell_closed`: the flag in the tail is visible as well.
        self.closed.load(Ordering::Acquire)
    }

    // USER CODE: messages' `Drop`; the message has left the ring; re-entrance: any operation; panic: the others are
    //     dropped; test: tests/suite/mpmc/edges.rs: many_drops_that_panic_are_one_panic_and_no_loss
    /// Drops every message that is written, in its cell: a stack may be too small for it. Where a message's drop
    /// panics, the others are still dropped.
    ///
    /// The cell stays claimed while its message is dropped. Only a thread that sends by force waits for that, and only
    /// one that has claimed this very cell before the ring was closed: see [`force`].
    #[inline(never)]
    pub(crate) fn drain(&self) {
        let mut panics = Panics::none();
        // ORDERING: Relaxed; a hint.
        let hint = Hint::at(self.ends.head.load(Ordering::Relaxed));
        // The message is claimed before it is dropped: a panic in its drop cannot make the ring drop it again.
        while self.pop_by(&hint, |cell, free| Self::drop_in_cell(cell, free, &mut panics)).is_some() {}
    }

    /// Drops the message of a claimed cell in place, and stamps the cell with the next lap: `free`.
    fn drop_in_cell(cell: &Cell<T>, free: u64, panics: &mut Panics) {
        cell.message.with_mut(|place| {
            // SAFETY: the cell is full, and this thread has claimed it: it drops the message once, and no other thread
            // touches it before the stamp is stored below.
            panics.catch(|| unsafe { (*place).assume_init_drop() });
        });
        // ORDERING: Release as in `empty`: the next lap's writer must not write before the message was dropped.
        cell.stamp.store(free, Ordering::Release);
    }
}

// MUTANT: A back-off after a lost race.
/// Waits a little, after a lost race for a position.
#[cold]
fn look_away() {
    (0..AWAY).for_each(|_| spin_loop());
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        if mem::needs_drop::<T>() {
            self.drain();
        }
    }
}

/// By value, for tests.
#[cfg(test)]
impl<T> Ring<T> {
    #[cfg(not(ysuite_loom))]
    pub(crate) fn push(&self, hint: &Hint, message: T) -> Result<(), T> {
        match self.claim_next(hint) {
            Some(claimed) => {
                claimed.fill(message);
                Ok(())
            }
            None => Err(message),
        }
    }

    pub(crate) fn pop(&self, hint: &Hint) -> Option<T> {
        self.claim_oldest(hint).map(ClaimedMessage::take)
    }

    pub(crate) fn offer(&self, message: T) -> Result<(), Rejected<T>> {
        let mut place = Some(message);
        self.offer_from(&mut place).map_err(|rejected| rejected.of(place.take_out()))
    }

    pub(crate) fn push_held(&self, message: T) -> Result<(), Rejected<T>> {
        let mut place = Some(message);
        self.push_held_from(&mut place).map_err(|rejected| rejected.of(place.take_out()))
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::sync::Arc;

    use super::{Hint, Ring};

    #[test]
    fn a_ring_that_goes_takes_its_messages_along() {
        let (ring, hint, message) = (Ring::new(3), Hint::new(), Arc::new(()));
        (0..2).for_each(|_| assert!(ring.push(&hint, message.clone()).is_ok()));
        assert_eq!(Arc::strong_count(&message), 3);
        drop(ring);
        assert_eq!(Arc::strong_count(&message), 1);
    }
}
