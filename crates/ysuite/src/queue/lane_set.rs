//! The set of lanes: which of many lanes are ready, and which ids are claimed. Levels of 64: a root word, 64 words below
//! it, and words of ids, made as the number of lanes grows.
//!
//! `claim`, `release`, `raise`: any thread; `take`: one thread at a time, the owner. `raise` is wait-free, three
//! read-modify-writes; `take` is wait-free and touches only the words that hold something; `claim` is lock-free. No
//! operation sleeps. A set of up to `WORD` ids takes no memory but its own.
//!
//! As in the signalers' sets, bits are set from the bottom up, even where they are seen set already, and cleared from
//! the top down: a raised id is always found. This set is simpler: only the owner clears bits, and it clears all it
//! finds.
//!
//! Cannot: count. An id raised twice before it is taken is taken once.

use super::segmented_array::{FirstInPlace, SegmentedArray};
use crate::sync::{AtomicU64, AtomicUsize, Ordering, window};

/// Ids, or words, under one word. Tiny in a model: what is explored is levels, not width.
pub(crate) const WORD: usize = if cfg!(ysuite_loom) { 2 } else { 64 };
/// Ids in all.
pub(crate) const MOST: usize = WORD * WORDS;
/// Words of ids.
const WORDS: usize = SegmentedArray::<ReadyWord, 1>::MOST;

/// The state of `WORD` ids.
#[derive(Default)]
struct ReadyWord {
    /// Which are raised.
    up: AtomicU64,
    /// Which belong to a lane.
    claimed: AtomicU64,
}

// REUSED: the id of a lane; held by a sender that is closing, between its wake mode and its raise; harmless: an id
//     raised for a lane that is armed, or was never written to, is polled and left; test: tests/loom/funnel.rs:
//     a_closing_lane_against_harvest_and_the_next_owner_of_its_id
pub(crate) struct LaneSet {
    /// Which of `middle` have something. The owner loads it whenever it has nothing else to do, so a raising thread
    /// writes it last.
    root: AtomicU64,
    /// Which of `words` have something.
    middle: FirstInPlace<AtomicU64, { WORD - 1 }, 1>,
    words: FirstInPlace<ReadyWord, 1>,
    /// A hint: no word before this one is known to have a free id.
    hint: AtomicUsize,
}

impl LaneSet {
    pub(crate) fn new() -> Self {
        Self {
            root: AtomicU64::new(0),
            middle: FirstInPlace::new(AtomicU64::new(0)),
            words: FirstInPlace::new(ReadyWord::default()),
            hint: AtomicUsize::new(0),
        }
    }

    /// A set in which id 0 is claimed.
    pub(crate) fn with_first_claimed() -> Self {
        let first = ReadyWord { up: AtomicU64::new(0), claimed: AtomicU64::new(1) };
        Self { words: FirstInPlace::new(first), ..Self::new() }
    }

    /// Claims a free id, the least where possible. `None` where all are claimed.
    pub(crate) fn claim(&self) -> Option<usize> {
        // ORDERING: Relaxed; a hint, which guards no data.
        let hint = self.hint.load(Ordering::Relaxed);
        // The words before the hint come before new words are made: the hint may have skipped a free id.
        let there = self.claim_among(hint, hint..WORDS, false).or_else(|| self.claim_among(hint, 0..hint, false));
        there.or_else(|| self.claim_among(hint, hint..WORDS, true))
    }

    // MUTANT: Speed only: where the search for a free id begins. In a race: two threads find the same free id. Killed
    // only by the model `two_new_lanes_at_once_have_an_id_each`.
    /// Claims a free id of some words. `grow`: makes the words that do not exist yet.
    fn claim_among(&self, hint: usize, words: core::ops::Range<usize>, grow: bool) -> Option<usize> {
        for index in words {
            let word = if grow { self.words.get_or_make(index, ReadyWord::default) } else { self.words.get(index)? };
            // Before an id of the word is claimed, so that its owner can raise it: words are made several at once.
            self.middle.get_or_make(index / WORD, || AtomicU64::new(0));
            // ORDERING: Relaxed; the read-modify-write below decides, and acquires.
            let mut claimed = word.claimed.load(Ordering::Relaxed);
            while (claimed.trailing_ones() as usize) < WORD {
                let bit = 1 << claimed.trailing_ones();
                // ORDERING: Acquire pairs with the Release in `release`: the last owner of this id has finished with
                // it.
                claimed = word.claimed.fetch_or(bit, Ordering::Acquire);
                if claimed & bit == 0 {
                    if index != hint {
                        // ORDERING: Relaxed; a hint, which guards no data. Fails where a `release` has lowered it
                        // meanwhile.
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
            // ORDERING: Release pairs with the Acquire in `claim_among`: the next owner comes after all that this one
            // did.
            word.claimed.fetch_and(!(1 << (id % WORD)), Ordering::Release);
        }
        // ORDERING: Relaxed; a hint, which guards no data.
        self.hint.fetch_min(id / WORD, Ordering::Relaxed);
    }

    /// Raises a claimed id.
    pub(crate) fn raise(&self, id: usize) {
        let word = id / WORD;
        let Some(leaf) = self.words.get(word) else { return };
        // No level is skipped because its bit is seen set: the value seen may be older than a `take` in progress.
        // ORDERING: Release pairs with the Acquire swap of this word in `take`: the owner that finds the bit sees what
        // happened before it was raised. Read-modify-writes continue each other's release sequences, so the owner sees
        // what every raising thread did before.
        leaf.up.fetch_or(1 << (id % WORD), Ordering::Release);
        window();
        // ORDERING: Release pairs with the Acquire swap of this word in `take`: the owner that finds the bit finds the
        // leaf's bit as well.
        if let Some(middle) = self.middle.get(word / WORD) {
            middle.fetch_or(1 << (word % WORD), Ordering::Release);
        }
        window();
        // ORDERING: Release pairs with the Acquire swap of the root in `take`: the owner that finds the bit finds the
        // bits of both levels below.
        self.root.fetch_or(1 << (word / WORD), Ordering::Release);
    }

    /// Whether an id seems to be raised. False only if none was.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        // ORDERING: Relaxed; `take` acquires what this has found, and an owner that is about to sleep has a barrier
        // before this load.
        self.root.load(Ordering::Relaxed) != 0
    }

    /// Calls `each` with the raised ids, ascending, until it returns false. They stay raised. The owner only: what it has
    /// taken would be missing.
    pub(crate) fn visit(&self, each: &mut dyn FnMut(usize) -> bool) {
        // ORDERING: Acquire pairs with the Release on the same word in `raise`: the bits below are visible, and what
        // happened before an id was raised.
        self.walk(|word| word.load(Ordering::Acquire), each);
    }

    /// Takes all raised ids, ascending. The owner only.
    pub(crate) fn take(&self, each: &mut dyn FnMut(usize)) {
        // From the top down: a thread that raises an id after its word was emptied sets the levels above again.
        // ORDERING: Acquire pairs with the Release on the same word in `raise`: the bits below are visible, and what
        // happened before an id was raised.
        self.walk(|word| word.swap(0, Ordering::Acquire), &mut |id| {
            each(id);
            true
        });
    }

    /// Reads each word that has something, from the root down.
    fn walk(&self, read: fn(&AtomicU64) -> u64, each: &mut dyn FnMut(usize) -> bool) {
        let mut middles = read(&self.root);
        while let Some(middle) = take_one(&mut middles) {
            let mut words = self.middle.get(middle).map_or(0, read);
            while let Some(word) = take_one(&mut words) {
                let word = middle * WORD + word;
                let mut ids = self.words.get(word).map_or(0, |leaf| read(&leaf.up));
                while let Some(id) = take_one(&mut ids) {
                    if !each(word * WORD + id) {
                        return;
                    }
                }
            }
        }
    }
}

/// Clears the lowest bit that is set. Returns its position.
fn take_one(bits: &mut u64) -> Option<usize> {
    let lowest = (*bits != 0).then(|| bits.trailing_zeros() as usize);
    *bits &= bits.wrapping_sub(1);
    lowest
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::{LaneSet, MOST, WORD};
    use crate::sync::{AtomicBool, Ordering};

    fn taken(ready: &LaneSet) -> Vec<usize> {
        let mut ids = Vec::new();
        ready.take(&mut |id| ids.push(id));
        ids
    }

    /// The first `most` of the raised ids.
    fn raised(ready: &LaneSet, most: usize) -> Vec<usize> {
        let mut ids = Vec::new();
        ready.visit(&mut |id| {
            ids.push(id);
            ids.len() < most
        });
        ids
    }

    #[test]
    fn ids_are_claimed_from_the_least_and_again() {
        let ready = LaneSet::new();
        assert!((0..1_000).all(|id| ready.claim() == Some(id)));
        for id in [999, 3, 640, 64] {
            ready.release(id);
        }
        assert_eq!([ready.claim(), ready.claim(), ready.claim(), ready.claim()], [3, 64, 640, 999].map(Some));
        assert_eq!(ready.claim(), Some(1_000));
    }

    #[test]
    fn all_ids_can_be_claimed_and_no_more() {
        let ready = LaneSet::new();
        (0..MOST).for_each(|id| assert_eq!(ready.claim(), Some(id)));
        assert_eq!(ready.claim(), None);
        ready.release(MOST - 1);
        ready.release(4_711);
        assert_eq!((ready.claim(), ready.claim(), ready.claim()), (Some(4_711), Some(MOST - 1), None));
    }

    #[test]
    fn an_id_that_two_threads_find_free_is_given_to_one() {
        const ROUNDS: usize = if cfg!(miri) { 100 } else { 100_000 };
        let (ready, begin) = (LaneSet::new(), Barrier::new(2));
        let claimed = [const { AtomicBool::new(false) }; WORD];
        let claim_and_release = || {
            begin.wait();
            for _ in 0..ROUNDS {
                let id = ready.claim().expect("there are many");
                // ORDERING: Relaxed twice; `release` and `claim` order what one owner does before what the next does.
                assert!(!claimed[id].swap(true, Ordering::Relaxed), "{id} has two owners");
                claimed[id].store(false, Ordering::Relaxed);
                ready.release(id);
            }
        };
        thread::scope(|scope| {
            scope.spawn(claim_and_release);
            scope.spawn(claim_and_release);
        });
    }

    /// Claim: The next poll of the ready set finds each raised id, exactly once.
    /// Also: model funnel::two_lanes_raised_at_once_against_a_receiver_going_to_sleep.
    #[test]
    fn what_is_raised_is_taken_once_and_in_order() {
        let ready = LaneSet::new();
        assert!((0..10_000).all(|_| ready.claim().is_some()));
        assert!(!ready.any() && taken(&ready).is_empty());
        let ids = [0, 1, 63, 64, 4_095, 4_096, 9_999];
        for _ in 0..3 {
            ids.iter().rev().chain(&ids).for_each(|&id| ready.raise(id));
            assert!(ready.any());
            assert_eq!(
                (raised(&ready, 3), raised(&ready, 100)),
                (ids[..3].to_vec(), ids.to_vec()),
                "a check takes nothing"
            );
            assert_eq!(taken(&ready), ids);
            assert_eq!(raised(&ready, 100), []);
            assert!(!ready.any() && taken(&ready).is_empty());
        }
    }
}
