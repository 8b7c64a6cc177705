//! The cursors: how far each reader is. Any thread; lock-free.
//!
//! A cursor is a word in a cache line of its own: the reader's position, and [`BUSY`]. Its reader writes it, and in a lossy
//! ring any writer may push it. Cursors are used again by later readers; they are never freed before the ring is.
//!
//! How a look at all cursors misses no reader that joins meanwhile: a reader writes its cursor first and counts itself in
//! `joined` then; and before it relies on its cursor it does a read-modify-write of the word that a writer must modify, or
//! have read, to get past it (the tail, or the cursor it was cloned from). So a look that has missed a cursor, and would
//! have let a writer past it, finds `joined` changed behind itself, and looks again.

use crossbeam_utils::CachePadded;

use crate::queue::SegmentedArray;
use crate::sync::{AtomicU64, AtomicUsize, Ordering};

/// The reader is copying the message at its position: a lossy ring's writers leave the cursor where it is.
pub(super) const BUSY: u64 = 1;
/// No reader has this cursor.
const FREE: u64 = u64::MAX;

/// How many cursors are made at once, at first.
const FIRST: usize = if cfg!(ysuite_loom) { 2 } else { 8 };
/// The most readers at once.
const MOST: usize = SegmentedArray::<Cursor>::most(FIRST);

pub(super) type Cursor = CachePadded<AtomicU64>;

pub(super) struct Cursors {
    cursors: SegmentedArray<Cursor>,
    /// Cursors from here on have never been used.
    used: AtomicUsize,
    /// How many readers have ever joined.
    joined: AtomicU64,
    /// How many readers there are.
    count: AtomicUsize,
}

impl Cursors {
    pub(super) fn new() -> Self {
        Self {
            cursors: SegmentedArray::new(FIRST),
            used: AtomicUsize::new(0),
            joined: AtomicU64::new(0),
            count: AtomicUsize::new(0),
        }
    }

    /// How many readers there are.
    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        // ORDERING: Acquire pairs with the Release in `leave`: what readers that are gone have read, they have read.
        self.count.load(Ordering::Acquire)
    }

    /// Takes a cursor for a new reader, at a position that is not ahead of where the reader will begin. From the return on,
    /// every look at all cursors that ends finds it.
    ///
    /// # Panics
    /// Where there are 32,760 readers already.
    pub(super) fn join(&self, position: u64) -> &Cursor {
        let (index, cursor) = (0..MOST)
            .map(|index| (index, self.cursors.get_or_make(index, || CachePadded::new(AtomicU64::new(FREE)))))
            .find(|(_, cursor)| {
                // ORDERING: Acquire pairs with the Release in `leave`, so that the last owner's reads come before all that
                // is stored here later. Release pairs with the Acquire loads in `least` and `push`: the position tells of
                // messages, and hands on who had joined before those, which the caller has acquired with it. Relaxed for the
                // look before it and on failure: the cursor is another's.
                cursor.load(Ordering::Relaxed) == FREE
                    && cursor.compare_exchange(FREE, position << 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            })
            .expect("too many receivers of one broadcast channel");
        // ORDERING: Relaxed twice: the addition to `joined` below releases both, and whoever looks at the cursors has
        // acquired that before, or finds `joined` changed.
        self.used.fetch_max(index + 1, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
        // ORDERING: Release pairs with the first Acquire load of `joined` in `look`: a look that finds this reader counted
        // finds its cursor. The reader's next read-modify-write releases this one in turn.
        self.joined.fetch_add(1, Ordering::Release);
        cursor
    }

    /// A reader gives its cursor up. True: it was the last reader.
    pub(super) fn leave(&self, cursor: &Cursor) -> bool {
        // First: a writer for whom the last reader's going makes room learns that there is no reader.
        // ORDERING: Release pairs with the Acquire in `count`: what this reader has read, it has read. Read-modify-writes
        // continue each other's release sequences, so who finds none sees what all of them did.
        let is_last = self.count.fetch_sub(1, Ordering::Release) == 1;
        // ORDERING: Release pairs with the Acquire loads in `least` and `push`: the reader's last read comes before what is
        // written over it, and before the next owner. A writer that acquires it finds the reader counted out.
        cursor.swap(FREE, Ordering::Release);
        is_last
    }

    /// Runs `look` on every cursor, and again where a reader has joined meanwhile. Returns what the last run has returned.
    fn look<R>(&self, mut look: impl FnMut(&mut dyn Iterator<Item = &Cursor>) -> R) -> R {
        loop {
            // ORDERING: Acquire pairs with the Release in `join`: the cursors of readers that are counted are seen.
            let joined = self.joined.load(Ordering::Acquire);
            // ORDERING: Relaxed; acquired with `joined`.
            let used = self.used.load(Ordering::Relaxed);
            let seen = look(&mut (0..used).filter_map(|index| self.cursors.get(index)));
            // ORDERING: Relaxed; behind the Acquire loads of the cursors: where one of those, or the tail, tells of anything
            // that came after a reader had joined, that reader is counted here. A cursor's position comes from a tail or a
            // message that its reader has acquired, or is one to which a writer has pushed it: then it lies so far back that the
            // floor of this look bounds it.
            if self.joined.load(Ordering::Relaxed) == joined {
                return seen;
            }
        }
    }

    /// The position of the slowest reader; `None` where there is no reader. The caller has loaded the tail with Acquire
    /// before, and no reader that it does not see will ever read a message before that tail.
    pub(super) fn least(&self) -> Option<u64> {
        self.look(|cursors| {
            // ORDERING: Acquire pairs with the Release stores of cursors in the ring, and with `leave`: the readers have
            // read what lies before.
            cursors
                .map(|cursor| cursor.load(Ordering::Acquire))
                .filter(|&word| word != FREE)
                .map(|word| word >> 1)
                .min()
        })
    }

    /// Pushes all readers that are before `floor` to `floor`, but for busy ones. Returns the position of the slowest reader,
    /// `floor` at most. The caller has loaded the tail with Acquire before.
    pub(super) fn push(&self, floor: u64) -> u64 {
        self.look(|cursors| cursors.map(|cursor| push_one(cursor, floor)).min().unwrap_or(floor).min(floor))
    }
}

/// Where a reader is, when it has been pushed.
fn push_one(cursor: &Cursor, floor: u64) -> u64 {
    // ORDERING: Acquire pairs with the Release stores of cursors in the ring, and with `leave`: the readers have read what
    // lies before.
    let mut word = cursor.load(Ordering::Acquire);
    // A cursor without a reader is the largest of all.
    while word >> 1 < floor && word & BUSY == 0 {
        // ORDERING: Acquire twice, as above. What readers have released in the word stays there, for the next writer.
        match cursor.compare_exchange_weak(word, floor << 1, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => return floor,
            Err(found) => word = found,
        }
    }
    word >> 1
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// The cursors that are taken by others are taken here by hand: each reader that joins looks at all of them.
    #[test]
    fn one_reader_too_many_panics_and_leaves_the_others_alone() {
        let cursors = Cursors::new();
        let last = cursors.join(7);
        for index in 1..MOST - 1 {
            let cursor = cursors.cursors.get_or_make(index, || CachePadded::new(AtomicU64::new(FREE)));
            // ORDERING: Relaxed; one thread.
            cursor.store(9 << 1, Ordering::Relaxed);
        }
        cursors.join(8);
        assert_eq!((MOST, cursors.used.load(Ordering::Relaxed), cursors.count()), (32_760, MOST, 2));
        for _ in 0..2 {
            let panic = catch_unwind(AssertUnwindSafe(|| cursors.join(1))).map(drop).expect_err("there are as many");
            let text =
                panic.downcast_ref::<&str>().copied().map(str::to_owned).or(panic.downcast_ref::<String>().cloned());
            assert!(text.is_some_and(|text| text.contains("too many receivers")));
            assert_eq!((cursors.count(), cursors.least()), (2, Some(7)));
        }
        assert!(!cursors.leave(last));
        assert_eq!(cursors.least(), Some(8));
        // One has gone, and one may come.
        cursors.join(3);
        assert_eq!((cursors.count(), cursors.least()), (2, Some(3)));
    }

    #[test]
    fn the_last_reader_to_go_is_told_so_and_none_is_the_slowest_then() {
        let cursors = Cursors::new();
        assert_eq!(cursors.least(), None);
        let (first, last) = (cursors.join(3), cursors.join(4));
        // ORDERING: Relaxed; one thread.
        assert_eq!((cursors.used.load(Ordering::Relaxed), cursors.least()), (2, Some(3)));
        assert!(!cursors.leave(first));
        assert_eq!(cursors.least(), Some(4));
        assert!(cursors.leave(last));
        assert_eq!(cursors.least(), None);
    }

    #[test]
    fn a_look_at_all_cursors_looks_again_where_a_reader_has_joined_meanwhile() {
        let cursors = Cursors::new();
        let mut looks = 0;
        let least = cursors.look(|all| {
            // ORDERING: Relaxed; one thread.
            let least = all.map(|cursor| cursor.load(Ordering::Relaxed) >> 1).min();
            looks += 1;
            if looks == 1 {
                cursors.join(3);
            }
            least
        });
        assert_eq!((least, looks), (Some(3), 2));
    }
}
