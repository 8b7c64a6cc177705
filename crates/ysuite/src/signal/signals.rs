//! [`Signals`]: the ids that one poll of a set has found, as an owned iterator.
//!
//! Belongs to the thread that holds it; wait-free, except that a result spread over more than four words of 64 ids
//! allocates. Sets of 256 ids and fewer never allocate.
//!
//! Cannot: change after it was made. An id raised later is in the result of the next poll.

use core::fmt;
use core::iter::FusedIterator;

/// Words kept inside the iterator: enough for every set of 256 ids.
const NEAR: usize = 4;

/// One word of the set: the ids `base`, `base + 1`, .. of the bits that are up.
#[derive(Clone, Copy, Default)]
struct Group {
    base: usize,
    bits: u64,
}

// GROWS: `far`; bound: the words of the set; freed with the result; cost: words with a signal up, beyond four; test:
//     tests/suite/signal.rs: spread_out_signals_spill_and_stay_in_order
/// The signals found up by one [`poll`](super::Wait::wait), [`check`](super::Wait::check) or
/// [`wait_timeout`](super::Wait::wait_timeout): an iterator over their ids, ascending, each once.
///
/// It owns its ids: the set may be used, or dropped, while the iterator is read. Dropping it unread loses the signals
/// in it that were raised by hand. Those of attached receivers are reported again, see
/// [`YPollset::attach`](super::YPollset::attach).
#[derive(Clone, Default)]
pub struct Signals {
    near: [Group; NEAR],
    far: Vec<Group>,
    /// The number of groups, and which one is read now.
    groups: usize,
    at: usize,
    /// Ids not yet returned.
    left: usize,
}

impl Signals {
    /// Adds the ids `base + n` for every bit `n` of `bits`. Groups come in ascending order.
    pub(crate) fn push(&mut self, base: usize, bits: u64) {
        // MUTANT: The iterator passes over an empty group.
        if bits == 0 {
            return;
        }
        match self.near.get_mut(self.groups) {
            Some(group) => *group = Group { base, bits },
            None => self.far.push(Group { base, bits }),
        }
        self.groups += 1;
        self.left += bits.count_ones() as usize;
    }

    /// Whether no id is left. Wait-free.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Returns the number of ids left. Wait-free.
    #[must_use]
    pub fn len(&self) -> usize {
        self.left
    }
}

impl Iterator for Signals {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.at < self.groups {
            let group = match self.near.get_mut(self.at) {
                Some(group) => group,
                None => &mut self.far[self.at - NEAR],
            };
            if group.bits != 0 {
                let bit = group.bits.trailing_zeros() as usize;
                group.bits &= group.bits - 1;
                self.left -= 1;
                return Some(group.base + bit);
            }
            self.at += 1;
        }
        None
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Signals {}
impl FusedIterator for Signals {}

/// Shows the ids that are left, as a set.
impl fmt::Debug for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signals ")?;
        f.debug_set().entries(self.clone()).finish()
    }
}
