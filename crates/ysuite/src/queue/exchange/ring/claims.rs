//! Claims in both forms of the tail, of one cell or several; and permits. Any thread; lock-free; never waits.
//!
//! A *permit* holds room for a message that will be sent later: no other sender can use that room. No cell is claimed
//! for it, which would hide all later messages until it is filled; the tail counts the permit. From the tail on, one
//! cell is free for each permit: a permit is given only where the cell after those is seen free as well, and a cell
//! stays free until the tail passes it. So the holder of a permit finds the next cell free, whichever that is by then,
//! and never waits for a receiver.
//!
//! The exchanges of the tail are AcqRel here: the thread that fills a cell need not be the one that has seen it free.

use super::position::Tail;
use super::{CLOSED, Cell, FULL, Ring, look_away};
use crate::queue::exchange::Staging;
use crate::queue::exchange::counts::CountedEnds;
use crate::sync::Ordering;

/// Why a message, or a request for permits, was refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Rejected<T> {
    /// The cell it would go to is not free.
    Full(T),
    /// The ring is closed.
    Closed(T),
}

impl Rejected<()> {
    /// The same for a message.
    #[cfg(test)]
    pub(crate) fn of<T>(self, message: T) -> Rejected<T> {
        match self {
            Self::Full(()) => Rejected::Full(message),
            Self::Closed(()) => Rejected::Closed(message),
        }
    }
}

/// What entitles a thread to a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Right {
    /// There is room in addition to the permits.
    Room,
    /// It holds a permit, which the claim uses up.
    Held,
}

/// Cells that a thread has claimed.
pub(super) struct Claim {
    pub(super) position: u64,
    cells: usize,
}

impl<T> Ring<T> {
    /// Writes the message that is in `place` into the next cell, also while permits are held. For use after
    /// [`claim_next`](Self::claim_next) has failed.
    #[inline(never)]
    pub(crate) fn offer_from(&self, place: &mut Option<T>) -> Result<(), Rejected<()>> {
        self.send(Right::Room, place)
    }

    /// Writes a message for the holder of a permit, which is used up unless the message is returned. `Full`: a thread
    /// that takes the oldest message's place is in the middle of that; try again.
    #[inline]
    pub(crate) fn push_held_from(&self, place: &mut Option<T>) -> Result<(), Rejected<()>> {
        self.send(Right::Held, place)
    }

    #[inline(always)]
    fn send(&self, right: Right, place: &mut Option<T>) -> Result<(), Rejected<()>> {
        let Claim { position, .. } = self.claim(right, 1)?;
        Self::fill_from(self.cell(position), self.free(position), place);
        Ok(())
    }

    /// Writes those of the staged messages for which there is room, with one claim. Returns how many it has written: 0
    /// where there is no room, `None` where the ring is closed.
    pub(crate) fn push_many(&self, staging: &mut Staging<T>) -> Option<usize> {
        self.send_many(Right::Room, staging)
    }

    /// As [`push_many`](Self::push_many), with a permit for each message: the permits of the written messages are used
    /// up. 0: as `Full` in [`push_held_from`](Self::push_held_from).
    pub(crate) fn push_many_held(&self, staging: &mut Staging<T>) -> Option<usize> {
        self.send_many(Right::Held, staging)
    }

    #[inline]
    fn send_many(&self, right: Right, staging: &mut Staging<T>) -> Option<usize> {
        match self.claim(right, staging.len()) {
            Ok(Claim { position, cells }) => {
                for (free, run) in self.runs(position, cells) {
                    let mut messages = staging.take(run.len());
                    if Staging::<T>::IS_LARGE {
                        run.iter().for_each(|cell| Self::fill_staged(cell, free, &mut messages));
                    } else {
                        // In this order: the run's end requests no message.
                        run.iter().zip(messages).for_each(|(cell, message)| Self::fill(cell, free, message));
                    }
                }
                Some(cells)
            }
            Err(Rejected::Full(())) => Some(0),
            Err(Rejected::Closed(())) => None,
        }
    }

    // MUTANT: Speed only: cells that were free are checked again. In a race: two senders use permits or batches.
    // Killed only by `the_mark_of_an_mpmc_channel_is_too_low_by_64_at_most_however_it_was_filled` and
    // `a_cell_that_a_forced_message_has_not_left_yet_is_nobodys`, and by the model
    // `two_that_send_at_once_beside_a_place_that_is_held`.
    /// Claims the next free cells, at most `most`. Fails if there are none.
    #[inline(always)]
    pub(super) fn claim(&self, right: Right, most: usize) -> Result<Claim, Rejected<()>> {
        loop {
            let tail = self.tail()?;
            let allowed = if right == Right::Held { most.min(tail.held) } else { self.room_behind(&tail, most) };
            let is_known = right == Right::Room && tail.held == 0;
            let cells = if is_known { allowed } else { self.ready(tail.position, 0, allowed) };
            if cells == 0 {
                if self.is_still(&tail) {
                    self.ends.sample();
                    return Err(Rejected::Full(()));
                }
                continue;
            }
            let held = if right == Right::Held { tail.held - cells } else { tail.held };
            let next = self.after(tail.position, cells);
            if self.exchange(&tail, self.write(next, held)) {
                self.ends.look_now_and_then(tail.position, next);
                return Ok(Claim { position: tail.position, cells });
            }
        }
    }

    /// Reserves the permits for which there is room, at most `most`, all at once. `Full`: there are fewer than `least`.
    #[inline]
    pub(crate) fn hold(&self, least: usize, most: usize) -> Result<usize, Rejected<()>> {
        // MUTANT: Speed only: one permit is taken by the code for several. Compiled for the usual case of one permit.
        if (least, most) == (1, 1) { self.hold_between(1, 1) } else { self.hold_between(least, most) }
    }

    // MUTANT: In a race: two threads take permits, or one is given back and taken again. Others need 16 million
    // permits. Killed only by the models `two_that_hold_places_at_once` and
    // `a_place_that_is_given_back_and_held_again_is_had_by_one`.
    #[inline(always)]
    fn hold_between(&self, least: usize, most: usize) -> Result<usize, Rejected<()>> {
        loop {
            let tail = self.tail()?;
            let places = self.room_behind(&tail, most.min(self.most_held() - tail.held));
            if places < least {
                if self.is_still(&tail) {
                    return Err(Rejected::Full(()));
                }
                continue;
            }
            if self.exchange(&tail, self.write(tail.position, tail.held + places)) {
                return Ok(places);
            }
        }
    }

    /// Gives permits back. False: the ring is closed, so no sender can have them.
    pub(crate) fn release(&self, places: usize) -> bool {
        loop {
            let Ok(tail) = self.tail() else { return false };
            debug_assert!(tail.held >= places);
            // MUTANT: In a race: two threads give permits back. Killed only by the model
            // `two_that_give_places_back_at_once`.
            if self.exchange(&tail, self.write(tail.position, tail.held - places)) {
                return true;
            }
        }
    }

    /// The tail, unless the ring is closed.
    #[inline(always)]
    pub(super) fn tail(&self) -> Result<Tail, Rejected<()>> {
        // ORDERING: Acquire pairs with the Release in `exchange`, by which other threads have counted the cells that
        // they have seen free, and keeps the loads of stamps after this one.
        let word = self.ends.tail.load(Ordering::Acquire);
        if word & CLOSED != 0 {
            self.tell_closed();
            return Err(Rejected::Closed(()));
        }
        Ok(self.read(word))
    }

    /// After a check of stamps that has found no room: whether the tail was the right one to start from. A stamp that
    /// is ahead of it has been stored after the tail was moved, so this load finds it moved.
    pub(super) fn is_still(&self, tail: &Tail) -> bool {
        // ORDERING: Relaxed; it only compares. The stamps were loaded with Acquire, so that this does not come before
        // them.
        self.ends.tail.load(Ordering::Relaxed) == tail.word
    }

    // MUTANT: A back-off after a lost race.
    /// Moves the tail, unless another thread has.
    #[inline(always)]
    pub(super) fn exchange(&self, tail: &Tail, next: u64) -> bool {
        // ORDERING: Release pairs with the Acquire in `tail`: the cells that this thread has seen free are free for the
        // thread that fills them. Acquire: the word may have been another meanwhile, and the holder of a permit comes
        // after its last holder. Relaxed on failure: the tail is loaded again.
        let is_moved = self.ends.tail.compare_exchange(tail.word, next, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if !is_moved {
            look_away();
        }
        is_moved
    }

    // MUTANT: The free cells after those of permits belong to the next lap, so the check ends there.
    /// The number of cells that are free after those that permits hold; at most `most`.
    #[inline(always)]
    fn room_behind(&self, tail: &Tail, most: usize) -> usize {
        let behind = self.cells.len() - tail.held;
        self.ready(self.after(tail.position, tail.held), 0, if tail.held == 0 { most } else { most.min(behind) })
    }

    // MUTANT: Speed only: the path for several cells gives the same answer for one or none.
    /// The number of cells from `position` on that are full (`state` is `FULL`) or free (`state` is 0); at most `most`.
    #[inline(always)]
    fn ready(&self, position: u64, state: u64, most: usize) -> usize {
        let is_ready = |cell: &Cell<T>, free| {
            // ORDERING: Acquire pairs with the Release of the stamps that the other side stores in `fill` and `empty`:
            // the cells may be used once they are claimed.
            cell.stamp.load(Ordering::Acquire) == free | state
        };
        if most <= 1 {
            return usize::from(most != 0 && is_ready(self.cell(position), self.free(position)));
        }
        let [(free, run), (next_free, next_run)] = self.runs(position, most.min(self.cells.len()));
        match run.iter().position(|cell| !is_ready(cell, free)) {
            Some(cells) => cells,
            None => run.len() + next_run.iter().take_while(|cell| is_ready(cell, next_free)).count(),
        }
    }

    // MUTANT: In a race: two threads take batches; otherwise only the size of the next attempt. Killed only by the
    // model `two_that_take_batches_at_once`.
    /// Appends the oldest written messages to `to`, at most `most`, which is not 0, with one claim. Returns how many it
    /// has appended.
    pub(crate) fn pop_many(&self, to: &mut Vec<T>, mut most: usize) -> usize {
        debug_assert!(most != 0);
        loop {
            // ORDERING: Acquire pairs with the Release of claims: what the readers had seen sent that took the messages
            // before. After a lost race coherence makes this load return no older position than the failed exchange has
            // seen.
            let head = self.ends.head.load(Ordering::Acquire);
            let cells = self.ready(head, FULL, most);
            if cells == 0 {
                // A stamp beyond this lap means that other readers have gone past this cell.
                // ORDERING: Relaxed; between two loads of the same word, which acquire.
                if self.cell(head).stamp.load(Ordering::Relaxed) <= self.free(head) | FULL
                    && self.ready(head, FULL, 1) == 0
                {
                    return 0;
                }
                continue;
            }
            // Before the claim: once a message is claimed it must be taken out, and an allocation may panic.
            to.reserve(cells);
            let next = self.after(head, cells);
            // ORDERING: Release as in `pop`. Relaxed on failure; a read-modify-write has one winner, and `ready` has
            // acquired the cells by their stamps.
            if self.ends.head.compare_exchange(head, next, Ordering::Release, Ordering::Relaxed).is_err() {
                look_away();
                // Others take messages meanwhile: a scan of many takes longer than a check of one, and would always
                // lose.
                most = (cells / 2).max(1);
                continue;
            }
            let lap = self.lap;
            for (free, run) in self.runs(head, cells) {
                to.extend(run.iter().map(|cell| Self::empty(cell, free + lap)));
            }
            return cells;
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{CLOSED, Rejected, Ring};
    use crate::queue::exchange::Hint;
    use crate::queue::exchange::ring::SPECIAL;
    use crate::sync::Ordering;

    #[test]
    fn who_is_refused_while_another_is_about_to_close_finds_the_ring_closed() {
        let ring = Ring::new(1);
        // What `close` does first.
        ring.ends.tail.fetch_or(SPECIAL | CLOSED, Ordering::SeqCst);
        assert!(!ring.is_closed());
        assert!(matches!(ring.offer(7), Err(Rejected::Closed(7))));
        assert!(ring.is_closed());
    }

    #[test]
    fn a_look_that_another_sender_has_overtaken_says_nothing() {
        let ring = Ring::new(2);
        let Ok(tail) = ring.tail() else { panic!("it is open") };
        assert!(ring.is_still(&tail));
        assert!(ring.push(&Hint::new(), 7).is_ok() && !ring.is_still(&tail));
    }
}
