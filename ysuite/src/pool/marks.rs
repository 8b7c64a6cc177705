//! Marks: for each group of magazines whether something may be true of it, in a few words that are read in a row.
//!
//! A mark is never missing where the thing is true, at no moment; it may stand for a while where it is true no more. So one
//! that looks for a block passes by thousands of groups that have none, and yet misses no block. Any thread; lock-free, and
//! wait-free but for lost races.
//!
//! Making the thing true comes before [`add`](Marks::add), and whatever is to be found by the mark comes after that. A mark
//! is taken away by one that *doubts* it: it says so in the word, looks whether the thing is true, and takes the mark if
//! nobody has withdrawn the doubt meanwhile. Between the doubt and the look, and between making it true and looking at the
//! word, there is a full fence: either the doubter sees that it is true, or the other sees the doubt, or that the mark is
//! gone. One thread at a time may doubt a mark of a word, so nobody's doubt is taken for another's; one that is preempted
//! meanwhile keeps marks of its word from going, which costs looks, and nothing else.

use crate::sync::{AtomicU64, Ordering, fence};

/// Marks in a word.
const WIDTH: usize = if cfg!(ysuite_loom) { 2 } else { 32 };
const ALL: u64 = (1 << WIDTH) - 1;
/// A mark of the word is being doubted, and nobody has made anything true meanwhile.
const DOUBT: u64 = 1 << 62;
/// Somebody is at it.
const DOUBTING: u64 = 1 << 63;

pub(super) struct Marks(Box<[AtomicU64]>);

impl Marks {
    /// So many marks. All stand, or none does.
    pub(super) fn new(marks: usize, stand: bool) -> Self {
        // The last word may have some that are nobody's.
        let word = |at: usize| if stand { ALL >> (WIDTH - WIDTH.min(marks - at)) } else { 0 };
        Self((0..marks).step_by(WIDTH).map(|at| AtomicU64::new(word(at))).collect())
    }

    /// The thing is true of `at`, since before this call.
    pub(super) fn add(&self, at: usize) {
        let (word, mark) = (&self.0[at / WIDTH], 1 << (at % WIDTH));
        // ORDERING: pairs with the fence in `doubt`.
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed; behind the fence, and the exchange decides.
        let mut now = word.load(Ordering::Relaxed);
        while now & mark == 0 || now & DOUBT != 0 {
            // ORDERING: Release: one that finds the mark finds what it stands for. Acquire as all do who change a word.
            match word.compare_exchange(now, (now | mark) & !DOUBT, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return,
                Err(other) => now = other,
            }
        }
    }

    /// The thing seems not to be true of `at` any more: takes its mark away, unless `is_true` says that it is after all.
    #[cold]
    pub(super) fn doubt(&self, at: usize, is_true: impl FnOnce() -> bool) {
        let (word, mark) = (&self.0[at / WIDTH], 1 << (at % WIDTH));
        // ORDERING: Relaxed; the exchange decides.
        let now = word.load(Ordering::Relaxed);
        if now & mark == 0 || now & DOUBTING != 0 {
            return;
        }
        // ORDERING: Acquire pairs with the Release in `add`. One that loses the race leaves the mark.
        if word.compare_exchange(now, now | DOUBT | DOUBTING, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return;
        }
        // ORDERING: pairs with the fence in `add`.
        fence(Ordering::SeqCst);
        let taken = if is_true() { 0 } else { mark };
        // ORDERING: Relaxed; the exchange decides.
        let mut now = word.load(Ordering::Relaxed);
        loop {
            let left = if now & DOUBT == 0 { now } else { now & !taken };
            // ORDERING: Release hands on the doubt to the next.
            match word.compare_exchange(now, left & !(DOUBT | DOUBTING), Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return,
                Err(other) => now = other,
            }
        }
    }

    /// Where marks stand, in order. Each word is read once, when it is come to.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(row, word)| {
            // ORDERING: Acquire pairs with the Release in `add`.
            let mut left = word.load(Ordering::Acquire) & ALL;
            core::iter::from_fn(move || {
                let at = left.trailing_zeros() as usize;
                (left != 0).then(|| {
                    left &= left - 1;
                    row * WIDTH + at
                })
            })
        })
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{DOUBT, DOUBTING, Marks};
    use crate::sync::Ordering;

    #[test]
    fn a_mark_goes_when_it_is_doubted_in_earnest() {
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

    #[test]
    fn a_mark_that_is_added_while_it_is_doubted_stays() {
        let marks = Marks::new(3, true);
        marks.doubt(1, || {
            // Looked a moment too early: it is true by now.
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
            // A second one may not doubt before the first has finished: it would renew what has been withdrawn.
            marks.doubt(1, || panic!("two doubt at once"));
            false
        });
        assert!(marks.iter().eq(0..3));
        marks.doubt(1, || false);
        assert!(marks.iter().eq([0, 2]));
    }
}
