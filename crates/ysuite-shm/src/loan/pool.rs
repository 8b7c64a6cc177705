//! What a sender knows of its pool, and how it learns from a receiver what that has.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use super::table;
use crate::end::{End, Half};
use crate::home::Party;
use crate::link::{Link, Shared};
use crate::page::CONSUMED;
use crate::{Error, Options};

/// From this size of a slot on it pays to look which slots were given back, so that one is filled anew that is in the caches;
/// if they are so few that a word has a bit for each.
const WARM: usize = 64 << 10;

/// What all lanes have in common: what the sender alone knows of its pool.
pub(super) struct Pool {
    pub(super) shared: Shared,
    /// The most bytes of a slot.
    pub(super) slot: usize,
    pub(super) layout: (usize, usize),
    /// Tickets that were published.
    pub(super) position: u64,
    /// Of each slot: the position behind its ticket; 0: it is free, or being filled.
    pub(super) published: Vec<u64>,
    /// A bit for each slot: nobody has it.
    pub(super) free: Vec<u64>,
    /// A bit for each slot: a receiver had it when the tables were read.
    pub(super) held: Vec<u64>,
    /// The positions behind the tickets of memory of its own, which some have not consumed.
    pub(super) large: VecDeque<u64>,
}

impl Pool {
    pub(super) fn new(shared: Shared, slot: usize, slots: usize, layout: (usize, usize)) -> Self {
        let words = slots.div_ceil(64);
        let mut free = vec![u64::MAX; words];
        if slots % 64 > 0 {
            free[words - 1] = (1 << (slots % 64)) - 1;
        }
        let (published, held, large) = (vec![0; slots], vec![0; words], VecDeque::new());
        Self { shared, slot, layout, position: 0, published, free, held, large }
    }

    /// The sender looks what was given back before it takes a slot, and not only if none is free: the first is taken again, and
    /// not all in turn.
    pub(super) fn is_warm(&self) -> bool {
        self.slot >= WARM && self.published.len() <= 64
    }

    pub(super) fn first_free(&self) -> Option<usize> {
        let at = self.free.iter().position(|word| *word != 0)?;
        Some(at * 64 + self.free[at].trailing_zeros() as usize)
    }

    pub(super) fn set_free(&mut self, slot: usize, is_free: bool) {
        let bit = 1 << (slot % 64);
        if is_free { self.free[slot / 64] |= bit } else { self.free[slot / 64] &= !bit }
    }

    /// A receiver that has joined at `from` may hold the slots with these bits, of the word at `at`.
    fn may_be_held(&self, at: usize, mut bits: u64, from: u64) -> bool {
        while bits != 0 {
            let slot = at * 64 + bits.trailing_zeros() as usize;
            if self.published.get(slot).is_none_or(|published| *published <= from) {
                return false;
            }
            bits &= bits - 1;
        }
        true
    }

    /// All receivers have consumed the tickets before this position, and hold the slots in `held`.
    pub(super) fn settle(&mut self, consumed: u64) {
        for slot in 0..self.published.len() {
            let is_held = self.held[slot / 64] >> (slot % 64) & 1 == 1;
            if self.published[slot] != 0 && self.published[slot] <= consumed && !is_held {
                self.published[slot] = 0;
                self.set_free(slot, true);
            }
        }
        while self.large.front().is_some_and(|published| *published <= consumed) {
            self.large.pop_front();
        }
    }
}

/// The sender's end of a lane.
pub(super) struct Outbound {
    pub(super) end: End,
    /// The position at which the receiver has joined.
    from: u64,
    /// What it has consumed since, as far as is known.
    consumed: u64,
    /// Messages that it had not received, and slots that it held, when that was read.
    pub(super) kept: usize,
}

impl Half for Outbound {
    #[inline]
    fn end(&mut self) -> &mut End {
        &mut self.end
    }
}

impl Party for Outbound {
    type Common = Pool;

    fn link(socket: OwnedFd, pool: &Pool, options: &Options) -> Result<Link, Error> {
        Link::sharing(socket, &pool.shared, options)
    }

    fn new(end: End, _: &Pool) -> Self {
        Self { end, from: 0, consumed: 0, kept: 0 }
    }

    /// It joins here.
    fn met(&mut self, pool: &Pool) {
        self.from = pool.position;
        self.end.link.say_joined(self.from);
        self.end.published();
    }
}

impl Outbound {
    /// Up to where the receiver has consumed; all, if it is gone, or has lied. Adds what it holds to the pool's.
    pub(super) fn look(&mut self, pool: &mut Pool) -> u64 {
        self.kept = 0;
        if self.end.fate().is_some() {
            return pool.position;
        }
        let Some(met) = &self.end.link.met else { return pool.position };
        let Some(held_by_it) = &met.shared else { return pool.position };
        let consumed = table::consumed(met.region.word(CONSUMED));
        let most = pool.position - self.from;
        // Dropped: it will consume no more.
        let consumed = if consumed == u64::MAX { most } else { consumed };
        // Never less than before, and never more than there was.
        let mut is_true = consumed.wrapping_sub(self.consumed) <= most - self.consumed;
        let mut kept = most.saturating_sub(consumed) as usize;
        for at in 0..pool.held.len() {
            let bits = table::held(held_by_it.word(8 * at));
            is_true &= pool.may_be_held(at, bits, self.from);
            kept += bits.count_ones() as usize;
            if is_true {
                pool.held[at] |= bits;
            }
        }
        if !is_true {
            self.end.fail(Error::Broken);
            return pool.position;
        }
        (self.consumed, self.kept) = (consumed, kept);
        self.from + consumed
    }
}
