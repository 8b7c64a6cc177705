//! Marks: a bit for each group of magazines that says whether a condition may hold for it. The words are read in a row.
//!
//! While the condition holds the mark is set, at every moment; it may stay set for a while afterwards. So a search for
//! a block skips thousands of groups without blocks, and misses none. Any thread; lock-free, and wait-free except for
//! lost races.
//!
//! A thread makes the condition true, then calls [`add`](Marks::add), and only then puts in the blocks to which the
//! mark leads. A thread that finds the condition false *doubts* the mark: it sets [`DOUBT`] in the word, checks the
//! condition again, and clears the mark if no `add` has cleared `DOUBT` meanwhile.
//!
//! Both sides execute a full fence: the doubting thread between setting `DOUBT` and its check, the adding thread
//! between making the condition true and reading the word. So either the doubting thread sees that the condition holds,
//! or the adding thread sees the doubt, or the cleared mark. One thread at a time doubts marks of a word, so an `add`
//! never withdraws the wrong doubt. A doubting thread that is preempted keeps the marks of its word set, which only
//! costs searches time.

use crate::sync::{AtomicU64, Ordering, fence};

/// Marks in a word.
const WIDTH: usize = if cfg!(ysuite_loom) { 2 } else { 32 };
const ALL: u64 = (1 << WIDTH) - 1;
/// A mark of the word is being doubted, and no `add` has come since.
const DOUBT: u64 = 1 << 62;
/// A thread is doubting a mark of the word.
const DOUBTING: u64 = 1 << 63;

// GROWS: one mark for each group of a bank, made with the bank (by construction); cleared lazily, by searches that fail
//     there; cost: groups / 32; test: src/pool/depot.rs: a_search_that_fails_does_not_look_at_all_groups_again
pub(super) struct Marks(Box<[AtomicU64]>);

impl Marks {
    /// Makes `marks` marks, all set or all clear.
    pub(super) fn new(marks: usize, set: bool) -> Self {
        // The last word may have bits that belong to no group.
        let word = |at: usize| if set { ALL >> (WIDTH - WIDTH.min(marks - at)) } else { 0 };
        Self((0..marks).step_by(WIDTH).map(|at| AtomicU64::new(word(at))).collect())
    }

    // MUTANT: Speed only: the word is exchanged for itself, or a clear mark is doubted. Killed only by the model
    // `a_mark_that_is_added_against_one_that_doubts_it`.
    /// Sets mark `at`. The condition has held since before this call.
    pub(super) fn add(&self, at: usize) {
        let (word, mark) = (&self.0[at / WIDTH], 1 << (at % WIDTH));
        // ORDERING: SeqCst pairs with the fence in `doubt`: this thread sees the doubt, or the doubting thread the
        // condition.
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed; after the fence. A mark hands nothing over: a search acquires what it finds elsewhere, and
        // all guarantees of a word rest on the fences and on the order of its own changes.
        let _ = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| {
            (now & mark == 0 || now & DOUBT != 0).then_some((now | mark) & !DOUBT)
        });
    }

    // REUSED: a doubt of a mark; held by a thread that is preempted while it doubts; harmless: one thread at a time may
    //     doubt in a word; test: src/pool/marks.rs: one_doubt_is_not_taken_for_another
    // MUTANT: Speed only: the word is exchanged for itself, or a clear mark is doubted. Killed only by the models
    // `a_mark_that_is_added_against_one_that_doubts_it` and
    // `a_mark_that_is_added_while_it_is_doubted_against_two_doubts_of_another`.
    /// The condition seems not to hold for `at` any more: clears its mark, unless `is_true` says that it does.
    #[cold]
    pub(super) fn doubt(&self, at: usize, is_true: impl FnOnce() -> bool) {
        let (word, mark) = (&self.0[at / WIDTH], 1 << (at % WIDTH));
        // ORDERING: Relaxed; the compare-exchange decides.
        let now = word.load(Ordering::Relaxed);
        if now & mark == 0 || now & DOUBTING != 0 {
            return;
        }
        // The thread that loses a race leaves the mark.
        // ORDERING: Relaxed; the fence below is between this and the check.
        if word.compare_exchange(now, now | DOUBT | DOUBTING, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return;
        }
        // ORDERING: SeqCst pairs with the fence in `add`: this thread sees the condition, or the adding thread the
        // doubt.
        fence(Ordering::SeqCst);
        let taken = if is_true() { 0 } else { mark };
        // ORDERING: Relaxed; as in `add`. Whether the doubt was withdrawn is in the word itself.
        let _ = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| {
            let left = if now & DOUBT == 0 { now } else { now & !taken };
            Some(left & !(DOUBT | DOUBTING))
        });
    }

    /// The marks that are set, in order. Reads each word once.
    pub(super) fn iter(&self) -> SetMarks<'_> {
        SetMarks { words: &self.0, row: 0, left: 0 }
    }
}

/// The marks that are set. Written out, because the compiler would make a dozen functions of adapters for each use.
pub(super) struct SetMarks<'a> {
    words: &'a [AtomicU64],
    /// The word after the one in progress.
    row: usize,
    /// What is left of that.
    left: u64,
}

impl Iterator for SetMarks<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.left == 0 {
            let word = self.words.get(self.row)?;
            // ORDERING: Relaxed; the blocks to which a mark leads are acquired there, or the mark is found false and
            // doubted.
            self.left = word.load(Ordering::Relaxed) & ALL;
            self.row += 1;
        }
        let at = self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        Some((self.row - 1) * WIDTH + at)
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{DOUBT, DOUBTING, Marks};
    use crate::sync::Ordering;

    #[test]
    fn a_mark_that_is_doubted_rightly_is_cleared() {
        for len in [1, 31, 32, 33, 64, 70] {
            let marks = Marks::new(len, true);
            assert!(marks.iter().eq(0..len));
            marks.doubt(len - 1, || true);
            assert!(marks.iter().eq(0..len));
            marks.doubt(len - 1, || false);
            assert!(marks.iter().eq(0..len - 1));
            marks.add(len - 1);
            assert!(marks.iter().eq(0..len));
            assert_eq!(Marks::new(len, false).iter().count(), 0);
        }
    }

    /// Claim: A mark of the pool may stay too long but is never missing.
    #[test]
    fn a_mark_that_is_added_while_it_is_doubted_stays() {
        let marks = Marks::new(3, true);
        marks.doubt(1, || {
            // The condition becomes true after the check.
            marks.add(1);
            false
        });
        assert!(marks.iter().eq(0..3));
        assert_eq!(marks.0[0].load(Ordering::Relaxed) & (DOUBT | DOUBTING), 0);
    }

    #[test]
    fn one_doubt_is_not_taken_for_another() {
        let marks = Marks::new(3, true);
        marks.doubt(1, || {
            marks.add(1);
            // A second doubt before the first has finished would renew the one that `add` withdrew.
            marks.doubt(1, || panic!("two threads doubt at once"));
            false
        });
        assert!(marks.iter().eq(0..3));
        marks.doubt(1, || false);
        assert!(marks.iter().eq([0, 2]));
    }
}
