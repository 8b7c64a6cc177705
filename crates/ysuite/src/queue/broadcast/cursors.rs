//! The cursors: how far each reader is. Any thread; lock-free.
//!
//! A cursor is a word in a cache line of its own: the reader's position, and [`BUSY`]. Its reader writes it, and in a
//! lossy ring any writer may push it. Later readers reuse cursors: a reader that joins takes the first free one. No
//! cursor is freed before the ring is.
//!
//! A scan goes through the cursors up to the last one in use. When the reader of that cursor leaves, it shortens the
//! scan; and a reader may move to an earlier cursor. So the cost of a scan depends on the present readers, not on
//! earlier ones. The memory remains that of the largest number of readers at once.
//!
//! A scan of all cursors misses no reader that joins meanwhile. A reader first writes its cursor and then counts itself
//! in `extent`. Before it relies on its cursor, it does a read-modify-write of the word that a writer must modify, or
//! have read, to get past it (the tail, or the cursor it was cloned from). So a scan that has missed a cursor, and
//! would have let a writer past it, finds `extent` changed afterwards, and scans again.
//!
//! A reader that leaves takes no other reader's cursor out of the scans: one word holds the number of readers that have
//! joined and the extent of the cursors in use. The reader that leaves checks the extent, then exchanges that word,
//! which fails where a reader has joined since. A reader that has taken a cursor and has not counted itself yet stores
//! the extent when it does.
//!
//! How to evict a reader that may be about to copy a message: next to its cursor is a word with its owner's id and the
//! state of the eviction. A reader marks its cursor as busy before it copies. It then checks the owner's state, after a
//! barrier that costs it nothing where the kernel has one. The evicting thread sets the state to [`ASKED`] and runs the
//! other half of that barrier. From then on ([`PASSED`]) a cursor that is not busy stays so: at its next message the
//! reader finds that it was asked to go. So writers pass over it, and it no longer counts as a reader ([`GONE`]). The
//! state only grows: any number of threads may evict one reader.

use core::ops::Deref;
use core::ptr;
use std::collections::BinaryHeap;

use crate::queue::SegmentedArray;
use crate::sync::{AtomicU64, AtomicUsize, CachePadded, Ordering};

/// The reader is copying the message at its position: a lossy ring's writers leave the cursor alone, and no thread
/// evicts it.
pub(super) const BUSY: u64 = 1;
/// No reader has this cursor.
const FREE: u64 = u64::MAX;

/// The number of cursors that are made at first, and how often more are made: each time twice as many.
const FIRST: usize = if cfg!(ysuite_loom) { 2 } else { 1 };
const SEGMENTS: usize = if cfg!(ysuite_loom) { 2 } else { 15 };
/// Up to this number, a scan goes through all cursors that exist, and no reader moves to shorten it.
const FEW: usize = if cfg!(ysuite_loom) { 0 } else { 8 };
/// The most readers at once.
const MOST: usize = if cfg!(ysuite_loom) { 6 } else { 32_760 };
const _: () = assert!(MOST <= SegmentedArray::<Cursor, FIRST, SEGMENTS>::MOST);

/// In the extent: one more reader has joined. It has 48 bits, so no value comes twice during one scan.
const JOINED: u64 = 1 << 16;
const _: () = assert!(MOST < JOINED as usize);

/// In an owner: how far its eviction has got. This reader has not been evicted.
const SEATED: u64 = 0;
/// It has been asked to go. Its next message is one that it does not read.
const ASKED: u64 = 1;
/// Whatever the reader does from now on, it finds that it was asked. It may still be at a message, if its cursor is
/// busy.
const PASSED: u64 = 2;
/// It is at no message, and counted as a reader no more.
const GONE: u64 = 3;
/// Where the state is in an owner; above it is the reader's id.
const STATE: u64 = 3;

/// From where on no cursor is in use.
fn used(extent: u64) -> usize {
    (extent % JOINED) as usize
}

/// One reader's line. Used as its word.
pub(super) struct CursorLine {
    word: AtomicU64,
    /// Which reader it is, and how far its eviction has got; 0 where there is none.
    owner: AtomicU64,
}

pub(super) type Cursor = CachePadded<CursorLine>;

impl CursorLine {
    fn free() -> Cursor {
        CachePadded::new(Self { word: AtomicU64::new(FREE), owner: AtomicU64::new(0) })
    }

    /// Which reader it is.
    pub(super) fn id(&self) -> u64 {
        // ORDERING: Relaxed; a number for display.
        self.owner.load(Ordering::Relaxed) >> 2
    }

    /// Whether its reader has been asked to go. To be asked by the reader before it reads a message: when it has marked
    /// its cursor as busy, and has passed its half of the barrier.
    #[inline(always)]
    pub(super) fn is_evicted(&self) -> bool {
        // ORDERING: Relaxed; a state that is never taken back. After the barrier either this load finds it, or the
        // evicting thread finds the mark. A thread that waits for a message is notified after the barrier.
        self.owner.load(Ordering::Relaxed) & STATE != SEATED
    }

    /// Whether writers may pass over the reader, whatever its cursor says. Call before the cursor is loaded.
    fn is_passed_over(&self) -> Option<u64> {
        // ORDERING: Acquire pairs with the Release in `advance`: what is loaded of the cursor after it is not older
        // than what the thread that has evicted the reader has found there.
        Some(self.owner.load(Ordering::Acquire)).filter(|owner| owner & STATE >= PASSED)
    }

    /// One step of the eviction of the owner with that id. False: it was another's, or another thread's.
    fn advance(&self, id: u64, from: u64, to: u64) -> bool {
        // ORDERING: Release pairs with the Acquire in `is_passed_over`, and in this exchange: what this thread did
        // before, its barrier above all. Relaxed on failure: the state is checked again.
        let (from, to) = (id << 2 | from, id << 2 | to);
        self.owner.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

impl Deref for CursorLine {
    type Target = AtomicU64;

    fn deref(&self) -> &AtomicU64 {
        &self.word
    }
}

// GROWS: cursors of a broadcast; bound: 32,760, in segments, each twice the last; full: a panic; freed with the
//     channel, cursors are reused; cost: most receivers at once, to subscribe and for a sender's scan of all; test:
//     tests/suite/broadcast/bounds.rs: more_receivers_than_there_were_cursors_come_and_go
// REUSED: a cursor; held by a writer that reads all cursors; harmless: it finds the new reader's position, which counts
//     as well; a push is an exchange of the exact position it has seen, and right for whichever reader has it; test:
//     tests/suite/broadcast/random.rs: receivers_come_and_go_in_several_threads
pub(super) struct Cursors {
    cursors: SegmentedArray<Cursor, FIRST, SEGMENTS>,
    /// The number of readers that have ever joined, in steps of [`JOINED`], and below that from where on no cursor is
    /// in use.
    extent: AtomicU64,
    /// The number of readers.
    count: AtomicUsize,
    /// The number of the last reader that was given one.
    ids: AtomicU64,
}

impl Cursors {
    pub(super) fn new() -> Self {
        Self {
            cursors: SegmentedArray::new(),
            extent: AtomicU64::new(0),
            count: AtomicUsize::new(0),
            ids: AtomicU64::new(0),
        }
    }

    /// The number of readers.
    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        // ORDERING: Acquire pairs with the Release in `leave`: what readers that are gone have read, they have read.
        self.count.load(Ordering::Acquire)
    }

    /// The number of readers that have ever joined.
    pub(super) fn joined(&self) -> u64 {
        // ORDERING: Relaxed; the caller has passed a fence where it compares two of these.
        self.extent.load(Ordering::Relaxed) / JOINED
    }

    /// Takes a cursor for a new reader, at a position that is not ahead of the reader's start. Every scan of all
    /// cursors that ends after the return finds it.
    ///
    /// # Panics
    /// If there are 32,760 readers already.
    pub(super) fn join(&self, position: u64) -> &Cursor {
        self.take(position, MOST, None).expect("too many receivers of one broadcast channel")
    }

    /// As [`join`](Self::join), for a reader that has a cursor already and moves: takes an earlier cursor if one is
    /// free and scans go through far more cursors than there are readers.
    pub(super) fn join_before(&self, own: &Cursor, position: u64) -> Option<&Cursor> {
        // ORDERING: Relaxed; a hint.
        let used = used(self.extent.load(Ordering::Relaxed));
        if used <= FEW + 2 * self.count() { None } else { self.take(position, used, Some(own)) }
    }

    // MUTANT: In a race: two readers find the same free cursor. Killed only by
    // `the_last_reader_to_go_is_told_so_and_none_is_the_slowest_then`, and by the model
    // `two_readers_that_join_at_once`.
    /// Takes the first free cursor among the first `most`, for a new reader. Or for the reader that has the cursor
    /// `own`, among those before that one.
    fn take(&self, position: u64, most: usize, own: Option<&Cursor>) -> Option<&Cursor> {
        let mut index = 0;
        let cursor = loop {
            if index == most {
                return None;
            }
            let cursor = self.cursors.get_or_make(index, CursorLine::free);
            if own.is_some_and(|own| ptr::eq(cursor, own)) {
                return None;
            }
            // ORDERING: Acquire pairs with the Release in `leave`, so that the last owner's reads come before all that
            // is stored here later. Release pairs with the Acquire loads in `least` and `push`: the position implies
            // messages, and hands on which readers had joined before those, which the caller has acquired with it.
            // Relaxed for the check before it and on failure: the cursor is another reader's.
            if cursor.load(Ordering::Relaxed) == FREE
                && cursor.compare_exchange(FREE, position << 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            {
                break cursor;
            }
            index += 1;
        };
        let id = match own {
            Some(own) => own.id(),
            // MUTANT: The number only has to change.
            // ORDERING: Relaxed; only a number, which no other has.
            None => self.ids.fetch_add(1, Ordering::Relaxed) + 1,
        };
        // ORDERING: Relaxed twice; the exchange below releases both. Each thread that scans the cursors has acquired
        // that before, or finds the extent changed.
        cursor.owner.store(id << 2 | SEATED, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
        let joined = |extent| Some(extent - used(extent) as u64 + JOINED + used(extent).max(index + 1) as u64);
        // ORDERING: Release pairs with the first Acquire load of the extent in `look`: a scan that finds this reader
        // counted finds its cursor. And with the Acquire load in `draw_in`. The reader's next read-modify-write
        // releases this one in turn. Relaxed on failure: the exchange alone decides.
        let _ = self.extent.fetch_update(Ordering::Release, Ordering::Relaxed, joined);
        Some(cursor)
    }

    /// A reader gives its cursor up. True: it was the last reader.
    pub(super) fn leave(&self, cursor: &Cursor) -> bool {
        // ORDERING: Relaxed; released below. A read-modify-write: either the reader is counted out here, or its
        // eviction has done it.
        let was_counted = cursor.owner.swap(0, Ordering::Relaxed) & STATE != GONE;
        // Before the cursor is free: a writer that gets room because the last reader leaves finds that there is no
        // reader.
        let is_last = was_counted && self.count_out();
        // ORDERING: Release pairs with the Acquire loads in `least` and `push`: the reader's last read comes before
        // what is written over it, and before the next owner. A writer that acquires it finds the reader counted out.
        cursor.swap(FREE, Ordering::Release);
        self.draw_in();
        is_last
    }

    /// There is one reader less. True: it was the last.
    fn count_out(&self) -> bool {
        // ORDERING: Release pairs with the Acquire in `count`: what this reader has read, it has read.
        // Read-modify-writes continue each other's release sequences, so a thread that finds none sees what all of them
        // did.
        self.count.fetch_sub(1, Ordering::Release) == 1
    }

    /// Asks the reader with that id to go, and makes sure that it finds this at its next message. False: there is no
    /// such reader, or it has been evicted before. `barrier` is the other half of the barrier that readers pass after
    /// their mark. Another thread may do the same at the same time.
    pub(super) fn ask(&self, id: u64, barrier: impl Fn()) -> bool {
        // ORDERING: Acquire pairs with the Release in `advance`: a state that another thread has brought about, and
        // what it did before.
        let state = |cursor: &Cursor| {
            let owner = cursor.owner.load(Ordering::Acquire);
            (owner >> 2 == id).then_some(owner & STATE)
        };
        let mut is_there = false;
        // A reader that moves has two cursors for a moment, and stays at the first where it finds that it was asked
        // there.
        while let Some(cursor) = self.find(&|cursor| state(cursor).is_some_and(|state| state < PASSED)) {
            is_there = true;
            cursor.advance(id, SEATED, ASKED);
            // After this, any turn of the reader finds `ASKED`, which is never taken back.
            barrier();
            cursor.advance(id, ASKED, PASSED);
        }
        is_there || self.find(&|cursor| state(cursor) == Some(PASSED)).is_some()
    }

    /// Counts a reader out that has been asked to go, unless it is at a message still. True: that is done, by any
    /// thread.
    pub(super) fn is_out(&self, id: u64) -> bool {
        loop {
            let passed = self.find(&|cursor| cursor.is_passed_over() == Some(id << 2 | PASSED));
            let Some(cursor) = passed else { return true };
            // ORDERING: Acquire pairs with the Release that ends a reader's turn: what it has read, it has read. It is
            // counted out after that. The cursor is its own, or free, if the exchange below succeeds.
            if cursor.load(Ordering::Acquire) & BUSY != 0 && cursor.id() == id {
                return false;
            }
            self.count_out_from(cursor, id, PASSED);
        }
    }

    /// Ends a reader that has found that it was asked to go, or that was cloned from such a reader. It is at no
    /// message.
    pub(super) fn go(&self, cursor: &Cursor) {
        for state in [SEATED, ASKED, PASSED] {
            self.count_out_from(cursor, cursor.id(), state);
        }
    }

    fn count_out_from(&self, cursor: &Cursor, id: u64, state: u64) {
        if cursor.advance(id, state, GONE) {
            self.count_out();
        }
    }

    /// The first cursor in use for which `is_it` returns true.
    fn find(&self, is_it: &dyn Fn(&Cursor) -> bool) -> Option<&Cursor> {
        self.look(None, |found, cursor| found.or_else(|| is_it(cursor).then_some(cursor)))
    }

    /// Takes a free cursor, and free ones directly before it, out of the scans, where no later one is in use.
    fn draw_in(&self) {
        // ORDERING: Acquire pairs with the Release in `take`: the cursors of readers that are counted are seen.
        let mut extent = self.extent.load(Ordering::Acquire);
        loop {
            let is_free = |index: usize| {
                // MUTANT: Speed only: an early exit before the exchange, which decides.
                // ORDERING: Acquire pairs with the Release in `leave`: a scan that does not find this cursor any more
                // has acquired from the exchange below that its reader's reads come before.
                self.cursors.get(index).is_none_or(|cursor| cursor.load(Ordering::Acquire) == FREE)
            };
            let mut still = used(extent);
            while still != 0 && is_free(still - 1) {
                still -= 1;
            }
            if still == used(extent) {
                return;
            }
            let drawn = extent - (used(extent) - still) as u64;
            // ORDERING: Release pairs with the Acquire load of the extent in `look`, and hands on what was acquired of
            // the cursors that are no longer scanned. It continues the release sequence of the readers that have
            // joined. Acquire on failure, as above.
            match self.extent.compare_exchange(extent, drawn, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(found) => extent = found,
            }
        }
    }

    /// What `add` makes of `none` and every cursor, in order; anew where a reader has joined meanwhile.
    fn look<'a, R: Clone>(&'a self, none: R, mut add: impl FnMut(R, &'a Cursor) -> R) -> R {
        loop {
            // ORDERING: Acquire pairs with the Release in `take`: the cursors of readers that are counted are seen. And
            // with that in `draw_in`: the reads of readers whose cursors are no longer scanned have happened before.
            let extent = self.extent.load(Ordering::Acquire);
            let mut seen = none.clone();
            for index in 0..used(extent) {
                if let Some(cursor) = self.cursors.get(index) {
                    seen = add(seen, cursor);
                }
            }
            // ORDERING: Relaxed; after the Acquire loads of the cursors: where one of those, or the tail, shows
            // anything that came after a reader had joined, that reader is counted here. A cursor's position comes from
            // a tail or a message that its reader has acquired, or a writer has pushed it there: then it is so far back
            // that the floor of this scan bounds it.
            if self.extent.load(Ordering::Relaxed) / JOINED == extent / JOINED {
                return seen;
            }
        }
    }

    /// The position of the slowest reader; `None` where there is no reader. The caller has loaded the tail with Acquire
    /// before, and no reader that it does not see will ever read a message before that tail.
    pub(super) fn least(&self) -> Option<u64> {
        // No position is as large.
        let least = self.look(u64::MAX, |least, cursor| {
            let owner = cursor.is_passed_over();
            // ORDERING: Acquire pairs with the Release stores of cursors in the ring, and with `leave`: the readers
            // have read what comes before.
            let word = cursor.load(Ordering::Acquire);
            // Busy: the reader may be at its last message. Where the cursor is another's by now, that one has joined
            // meanwhile.
            let is_out = owner.is_some_and(|owner| owner & STATE == GONE || word & BUSY == 0);
            if word == FREE || is_out { least } else { least.min(word >> 1) }
        });
        (least != u64::MAX).then_some(least)
    }

    /// Which readers there are, and where each is.
    pub(super) fn positions(&self) -> Vec<(u64, u64)> {
        let found = self.look(Vec::new(), |mut found, cursor| {
            if !cursor.is_evicted() {
                // ORDERING: Acquire, as in `least`: a cursor that was free before has no old id.
                let (word, id) = (cursor.load(Ordering::Acquire), cursor.id());
                // One that is about to join has no id yet.
                if word != FREE && id != 0 {
                    found.push((id, word >> 1));
                }
            }
            found
        });
        let mut found = sorted(found);
        // One that moves has two cursors for a moment.
        found.dedup_by_key(|(id, _)| *id);
        found
    }

    /// Pushes all readers that are before `floor` to `floor`, except busy ones. Returns the position of the slowest
    /// reader, at most `floor`. The caller has loaded the tail with Acquire before.
    pub(super) fn push(&self, floor: u64) -> u64 {
        self.look(floor, |least, cursor| least.min(push_one(cursor, floor)))
    }
}

/// By a heap: each of the standard library's sorts is 3,000 lines for the code generator.
pub(super) fn sorted(pairs: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    BinaryHeap::from(pairs).into_sorted_vec()
}

/// Where a reader is, when it has been pushed.
fn push_one(cursor: &Cursor, floor: u64) -> u64 {
    // ORDERING: Acquire pairs with the Release stores of cursors in the ring, and with `leave`: the readers have read
    // what comes before.
    let mut word = cursor.load(Ordering::Acquire);
    // MUTANT: A cursor that has that position is exchanged for itself. A cursor without a reader is the largest of all.
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

    impl Cursors {
        /// The number of cursors that a scan goes through.
        fn in_use(&self) -> usize {
            self.look(0, |cursors, _| cursors + 1)
        }
    }

    /// A scan counts the present readers, whatever the number of earlier ones.
    ///
    /// Claim: A scan of all reader cursors costs as much as the present receivers, however many there were before.
    #[test]
    fn a_look_costs_what_the_readers_that_are_there_cost() {
        const CROWD: usize = 2_000;
        let cursors = Cursors::new();
        let first = cursors.join(1);
        for position in 0..100_000 {
            cursors.leave(cursors.join(position));
        }
        assert_eq!((cursors.in_use(), cursors.count()), (1, 1));
        // All at once, which go in any order.
        let crowd: Vec<_> = (1..CROWD as u64).map(|position| cursors.join(position + 1)).collect();
        assert_eq!((cursors.in_use(), cursors.least()), (CROWD, Some(1)));
        let last = crowd.len() - 1;
        for step in 0..last {
            // 7 has no divisor in common with how many there are but the last.
            cursors.leave(crowd[step * 7 % last]);
        }
        assert_eq!((cursors.count(), cursors.in_use(), cursors.least()), (2, CROWD, Some(1)));
        // The remaining one is after all the free ones, and moves.
        let moved = cursors.join_before(crowd[last], CROWD as u64).expect("there are free ones");
        cursors.leave(crowd[last]);
        assert_eq!((cursors.count(), cursors.in_use(), cursors.least()), (2, 2, Some(1)));
        assert!(cursors.join_before(moved, 0).is_none() && cursors.join_before(first, 0).is_none());
        assert!(!cursors.leave(first));
        assert_eq!((cursors.in_use(), cursors.least()), (2, Some(CROWD as u64)));
        assert!(cursors.leave(moved));
        assert_eq!((cursors.in_use(), cursors.least()), (0, None));
    }

    /// The test itself takes the cursors of the other readers, because each reader that joins scans all of them.
    ///
    /// Claim: A receiver beyond the 32,760th panics, and the broadcast continues.
    /// Also: faults crowds::a_broadcast_of_too_many_receivers.
    #[test]
    fn one_reader_too_many_panics_and_leaves_the_others_alone() {
        let cursors = Cursors::new();
        let last = cursors.join(7);
        for index in 1..MOST - 1 {
            let cursor = cursors.cursors.get_or_make(index, CursorLine::free);
            // ORDERING: Relaxed; one thread.
            cursor.store(9 << 1, Ordering::Relaxed);
        }
        cursors.join(8);
        assert_eq!((MOST, cursors.in_use(), cursors.count()), (32_760, MOST, 2));
        for _ in 0..2 {
            let panic = catch_unwind(AssertUnwindSafe(|| cursors.join(1))).map(drop).expect_err("none is left");
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
        assert_eq!((cursors.in_use(), cursors.least()), (2, Some(3)));
        assert!(!cursors.leave(first));
        assert_eq!(cursors.least(), Some(4));
        assert!(cursors.leave(last));
        assert_eq!(cursors.least(), None);
    }

    #[test]
    fn a_look_at_all_cursors_looks_again_where_a_reader_has_joined_meanwhile() {
        let (cursors, mut looks) = (Cursors::new(), 0);
        cursors.join(5);
        let least = cursors.look(u64::MAX, |least, cursor| {
            looks += 1;
            if looks == 1 {
                cursors.join(3);
            }
            // ORDERING: Relaxed; one thread.
            least.min(cursor.load(Ordering::Relaxed) >> 1)
        });
        // One cursor at first, then both.
        assert_eq!((least, looks), (3, 3));
    }
}
