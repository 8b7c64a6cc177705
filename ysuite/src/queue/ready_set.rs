//! The ready set: which of many lanes have news, and which ids are taken. Levels of 64: a root word, 64 words below it,
//! and words of ids that grow with the number of lanes.
//!
//! `claim`, `release`, `raise`: any thread; `take`: one thread at a time, the owner. Raising is wait-free, three
//! read-modify-writes; taking is wait-free and touches the words that hold something; claiming is lock-free. Nobody
//! sleeps here.
//!
//! As in the signalers' sets a bit is set from the bottom up, whatever is seen there, and cleared from the top down: a
//! raised id is always found. Simpler than those, since here only the owner takes anything down, and everything it finds.
//!
//! Cannot: count. An id raised twice before it is taken is raised once.

use super::segmented_array::SegmentedArray;
use crate::sync::{AtomicU64, AtomicUsize, Ordering, window};

/// Ids, or words, under one word. Tiny in a model: what is explored is levels, not width.
pub(crate) const WORD: usize = if cfg!(ysuite_loom) { 2 } else { 64 };
/// Ids in all.
pub(crate) const MOST: usize = WORD * WORDS;
/// Words of ids.
const WORDS: usize = SegmentedArray::<ReadyWord>::most(1);

/// 64 ids.
struct ReadyWord {
    /// Which are raised.
    up: AtomicU64,
    /// Which are taken by a lane.
    claimed: AtomicU64,
}

impl ReadyWord {
    fn new() -> Self {
        Self { up: AtomicU64::new(0), claimed: AtomicU64::new(0) }
    }
}

pub(crate) struct ReadySet {
    /// Which of `middle` have something. Looked at whenever the owner has nothing else, so whoever raises writes it last.
    root: AtomicU64,
    /// Which of `words` have something.
    middle: [AtomicU64; WORD],
    words: SegmentedArray<ReadyWord>,
    /// No word before this one has a free id, as far as anybody has seen.
    hint: AtomicUsize,
}

impl ReadySet {
    pub(crate) fn new() -> Self {
        Self {
            root: AtomicU64::new(0),
            middle: core::array::from_fn(|_| AtomicU64::new(0)),
            words: SegmentedArray::new(1),
            hint: AtomicUsize::new(0),
        }
    }

    /// Takes a free id, the least where possible. `None` where all are taken.
    pub(crate) fn claim(&self) -> Option<usize> {
        // ORDERING: Relaxed; a hint.
        let hint = self.hint.load(Ordering::Relaxed);
        // Where the hint has skipped one there is no need to grow for that.
        let there = self.claim_among(hint, hint..WORDS, false).or_else(|| self.claim_among(hint, 0..hint, false));
        there.or_else(|| self.claim_among(hint, hint..WORDS, true))
    }

    /// As [`claim`](Self::claim), among some words. `grow`: makes those that are not there yet.
    fn claim_among(&self, hint: usize, words: core::ops::Range<usize>, grow: bool) -> Option<usize> {
        for index in words {
            let word = if grow { self.words.get_or_make(index, ReadyWord::new) } else { self.words.get(index)? };
            // ORDERING: Relaxed; what counts is the read-modify-write below.
            let mut claimed = word.claimed.load(Ordering::Relaxed);
            while (claimed.trailing_ones() as usize) < WORD {
                let bit = 1 << claimed.trailing_ones();
                // ORDERING: Acquire pairs with the Release in `release`: the last owner of this id is done with it.
                claimed = word.claimed.fetch_or(bit, Ordering::Acquire);
                if claimed & bit == 0 {
                    if index != hint {
                        // ORDERING: Relaxed; a hint, which fails where a release has put it lower meanwhile.
                        let _ = self.hint.compare_exchange(hint, index, Ordering::Relaxed, Ordering::Relaxed);
                    }
                    return Some(index * WORD + bit.trailing_zeros() as usize);
                }
            }
        }
        None
    }

    /// Gives an id back.
    pub(crate) fn release(&self, id: usize) {
        if let Some(word) = self.words.get(id / WORD) {
            // ORDERING: Release pairs with the Acquire in `claim_among`.
            word.claimed.fetch_and(!(1 << (id % WORD)), Ordering::Release);
        }
        // ORDERING: Relaxed; a hint.
        self.hint.fetch_min(id / WORD, Ordering::Relaxed);
    }

    /// Puts a claimed id up.
    pub(crate) fn raise(&self, id: usize) {
        let word = id / WORD;
        let Some(leaf) = self.words.get(word) else { return };
        // ORDERING: Release three times pairs with the Acquire in `take`: whoever finds this bit sees what happened before
        // it was raised. Read-modify-writes continue each other's release sequences, so every raiser is seen. No level is
        // skipped because its bit is seen up: that sight may be older than a `take` at work.
        leaf.up.fetch_or(1 << (id % WORD), Ordering::Release);
        window();
        // ORDERING: as above.
        self.middle[word / WORD].fetch_or(1 << (word % WORD), Ordering::Release);
        window();
        // ORDERING: as above.
        self.root.fetch_or(1 << (word / WORD), Ordering::Release);
    }

    /// Whether anything seems to be up: false only if nothing was.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        // ORDERING: Relaxed: what is found is acquired by `take`; whoever is about to sleep has a barrier before this.
        self.root.load(Ordering::Relaxed) != 0
    }

    /// Takes all ids down that are up, ascending. The owner only.
    pub(crate) fn take(&self, mut each: impl FnMut(usize)) {
        // ORDERING: Acquire three times pairs with `raise`. From the top down: whoever raises after its word was emptied
        // puts the levels above up again.
        for middle in ones(self.root.swap(0, Ordering::Acquire)) {
            // ORDERING: as above.
            for word in ones(self.middle[middle].swap(0, Ordering::Acquire)) {
                let word = middle * WORD + word;
                let Some(leaf) = self.words.get(word) else { continue };
                // ORDERING: as above.
                ones(leaf.up.swap(0, Ordering::Acquire)).for_each(|id| each(word * WORD + id));
            }
        }
    }
}

/// The positions of the bits that are set, ascending.
fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let next = (bits != 0).then(|| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        next
    })
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{MOST, ReadySet};

    fn taken(ready: &ReadySet) -> Vec<usize> {
        let mut ids = Vec::new();
        ready.take(|id| ids.push(id));
        ids
    }

    #[test]
    fn ids_are_claimed_from_the_least_and_again() {
        let ready = ReadySet::new();
        assert!((0..1_000).all(|id| ready.claim() == Some(id)));
        for id in [999, 3, 640, 64] {
            ready.release(id);
        }
        assert_eq!([ready.claim(), ready.claim(), ready.claim(), ready.claim()], [3, 64, 640, 999].map(Some));
        assert_eq!(ready.claim(), Some(1_000));
    }

    #[test]
    fn all_ids_can_be_claimed_and_no_more() {
        let ready = ReadySet::new();
        (0..MOST).for_each(|id| assert_eq!(ready.claim(), Some(id)));
        assert_eq!(ready.claim(), None);
        ready.release(MOST - 1);
        ready.release(4_711);
        assert_eq!((ready.claim(), ready.claim(), ready.claim()), (Some(4_711), Some(MOST - 1), None));
    }

    #[test]
    fn what_is_raised_is_taken_once_and_in_order() {
        let ready = ReadySet::new();
        assert!((0..10_000).all(|_| ready.claim().is_some()));
        assert!(!ready.any() && taken(&ready).is_empty());
        let ids = [0, 1, 63, 64, 4_095, 4_096, 9_999];
        for _ in 0..3 {
            ids.iter().rev().chain(&ids).for_each(|&id| ready.raise(id));
            assert!(ready.any());
            assert_eq!(taken(&ready), ids);
            assert!(!ready.any() && taken(&ready).is_empty());
        }
    }
}
