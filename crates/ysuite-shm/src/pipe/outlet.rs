//! What all senders share: how much room there is.

use std::collections::VecDeque;
use std::time::Instant;

use crate::Error;
use crate::end::{End, Half, StandOff, Unfulfilled, wait};
use crate::link::Link;
use crate::page::{CONSUMED, RING};
use crate::ring::bytes::record_bytes;
use crate::sync::{Ordering, fence};

pub(crate) struct Outlet {
    pub(crate) end: End,
    capacity: u64,
    /// The reader has consumed up to here, as far as is known.
    consumed: u64,
    /// So far there is room: `consumed + capacity`; or nowhere, as long as it has not begun, or after its end.
    pub(crate) limit: u64,
    stand_off: StandOff,
    /// Positions are those of records, in a ring of bytes: what the reader says to have consumed must be one.
    has_records: bool,
    // GROWS: to nine at most, as the ring has no more eighths.
    /// Some of these positions, in order: behind what the reader has consumed, and an eighth of the ring apart or more. From
    /// the last one in front of a place it is not far to that.
    marks: VecDeque<u64>,
    next_mark: u64,
}

impl Half for Outlet {
    fn end(&mut self) -> &mut End {
        &mut self.end
    }
}

impl Outlet {
    pub(crate) fn new(link: Link, capacity: usize) -> Result<Self, Error> {
        Ok(Self::of(End::new(link)?, capacity))
    }

    /// Of a ring of bytes.
    pub(crate) fn of_records(link: Link, capacity: usize) -> Result<Self, Error> {
        Ok(Self { has_records: true, ..Self::new(link, capacity)? })
    }

    pub(crate) fn of(end: End, capacity: usize) -> Self {
        let (stand_off, marks) = (StandOff::new(capacity), VecDeque::new());
        let (consumed, limit, next_mark) = (0, 0, 0);
        Self { end, capacity: capacity as u64, consumed, limit, stand_off, has_records: false, marks, next_mark }
    }

    /// A record ends here, and the next one will begin.
    #[inline(always)]
    pub(crate) fn wrote_to(&mut self, position: u64) {
        if position >= self.next_mark {
            self.mark(position);
        }
    }

    #[cold]
    #[inline(never)]
    fn mark(&mut self, position: u64) {
        self.next_mark = position + self.capacity / 8;
        self.marks.push_back(position);
    }

    /// Whether the reader can have consumed up to here: never less than before, never more than there was, and whole
    /// records. Within one its bytes would be taken for lengths where it comes back, and for more than the ring has.
    fn can_be(&self, consumed: u64, position: u64) -> bool {
        if consumed.wrapping_sub(self.consumed) > position - self.consumed {
            return false;
        }
        if !self.has_records {
            return true;
        }
        let mark = self.marks.iter().rev().find(|mark| **mark <= consumed);
        let mut at = mark.map_or(self.consumed, |mark| self.consumed.max(*mark));
        while at < consumed {
            let head = self.end.link.own.word(RING + (at % self.capacity) as usize);
            // ORDERING: Relaxed; this thread has written it, and nobody else can.
            at += record_bytes(head.load(Ordering::Relaxed) as usize);
        }
        at == consumed
    }

    /// The reader has consumed up to here.
    fn believe(&mut self, consumed: u64) {
        self.consumed = consumed;
        while self.marks.front().is_some_and(|mark| *mark < consumed) {
            self.marks.pop_front();
        }
    }

    /// Reads how much the reader has consumed; the room behind `position`. A look, so it does not meet the reader: a
    /// reader that is met behind the arming does not know that this end sleeps, and the hello that would wake it is read.
    #[cold]
    #[inline(never)]
    pub(crate) fn refresh(&mut self, position: u64) -> u64 {
        if self.end.fate().is_some() {
            self.limit = position;
            return 0;
        }
        if let Some(met) = &self.end.link.met {
            // ORDERING: Relaxed, as the memory is read-only, and the fence: pairs with the Release in `Inlet::consumed`.
            // What the reader has read of these slots happens before they are written again.
            let consumed = met.region.word(CONSUMED).load(Ordering::Relaxed);
            fence(Ordering::Acquire);
            if !self.can_be(consumed, position) {
                self.end.fail(Error::Broken);
                self.limit = position;
                return 0;
            }
            self.believe(consumed);
        }
        self.limit = self.consumed + self.capacity;
        self.limit - position
    }

    /// Room for `wanted` behind `position`, without waiting. `Err(None)`: not now.
    pub(crate) fn try_room(&mut self, position: u64, wanted: u64) -> Result<(), Option<Error>> {
        self.end.meet(None);
        if self.refresh(position) >= wanted {
            return Ok(());
        }
        if let Some(error) = self.end.fate() {
            return Err(Some(self.end.fail(error)));
        }
        self.end.check_at_times();
        match self.end.fate() {
            Some(error) => Err(Some(self.end.fail(error))),
            None => Err(None),
        }
    }

    /// Room for `wanted` behind `position`, for which it waits.
    pub(crate) fn room(&mut self, position: u64, wanted: u64, deadline: Option<Instant>) -> Result<(), Unfulfilled> {
        self.end.meet(None);
        if self.refresh(position) >= wanted {
            return Ok(());
        }
        self.stand_off.caught_up(position);
        wait(self, deadline, |outlet| (outlet.refresh(position) >= wanted).then_some(()))
    }

    /// For an event loop: says that this end sleeps until there is room for `wanted` behind `position`. False: there is
    /// something to be done now.
    pub(crate) fn arm(&mut self, position: u64, wanted: u64) -> bool {
        let is_armed = self.end.arm_for_loop();
        self.refresh(position) < wanted && self.end.fate().is_none() && is_armed
    }

    /// Whether the channel has ended: then there is no room any more.
    pub(crate) fn is_over(&mut self, position: u64) -> bool {
        let is_over = self.end.is_over();
        if is_over {
            self.limit = position;
        }
        is_over
    }

    /// From where on the reader has not consumed, if the channel has ended and nobody will read on.
    pub(crate) fn unread_from(&mut self, position: u64) -> Option<u64> {
        if !self.is_over(position) {
            return None;
        }
        // Once more: what it had consumed before it died, unless that is a lie.
        if let Some(met) = &self.end.link.met {
            // ORDERING: Relaxed; the reader is gone.
            let consumed = met.region.word(CONSUMED).load(Ordering::Relaxed);
            if self.can_be(consumed, position) {
                self.believe(consumed);
            }
        }
        Some(self.consumed)
    }

    /// As far as is known.
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity as usize
    }
}
