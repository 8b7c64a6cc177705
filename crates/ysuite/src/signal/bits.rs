//! The set of raised signals: bits in words, words summarised by bits of the level above, up to one root word.
//!
//! `raise`, `lower`, `is_up`: any thread. `take`, `arm`, `disarm`, `claim`: the owner of the set. Everything is
//! wait-free: at most one read-modify-write per level for a raise (three levels below the root at most), and one per
//! word that holds something for a take.
//!
//! Up to 31 ids are in the root itself, as in the article from which the design comes. The last bit of the root says
//! that the owner sleeps, so the root is the word to sleep on. One rule keeps summaries right: bits are set from the
//! bottom up, and cleared from the top down. Where a summary is cleared after its word was found empty, that word is
//! checked once more. So a summary bit may be up above an empty word (the owner checks and cleans up). It is down above
//! a word with bits only while the operation that will set it is under way.
//!
//! Cannot: count. A signal raised twice before it is taken is one signal.

use super::signals::Signals;
use crate::sync::{AtomicU32, AtomicU64, CachePadded, Ordering};

/// Ids in the root word. The widths are tiny in a model: it explores levels, not width.
const ROOT: usize = if cfg!(ysuite_loom) { 2 } else { 31 };
/// Ids, or words, under one word.
const WORD: usize = if cfg!(ysuite_loom) { 2 } else { 64 };
/// Levels below the root.
const LEVELS: u32 = if cfg!(ysuite_loom) { 5 } else { 3 };

/// The largest capacity of a [`YPollset`](super::YPollset) or a `YSocketpair`: 8,126,464 ids (31 times 64 times 64
/// times 64), which take 2 MiB.
pub const MAX_CAPACITY: usize = ROOT * WORD.pow(LEVELS);

/// The bit of the root that says that the owner sleeps. Set by the owner alone, and only into an otherwise empty root.
pub(crate) const SLEEPING: u32 = 1 << 31;

/// 64 ids, or the summaries of 64 words.
struct SignalWord {
    /// The bits that are up.
    up: AtomicU64,
    /// In a word of ids: those claimed by attached receivers, which alone take them down. In a word of summaries: those
    /// of words that have ever had a claimed id; such a summary is cleared only after its word was seen empty. Set by
    /// the owner.
    held: AtomicU64,
}

/// What clearing a bit has led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lowered {
    /// Other ids are up, or other threads are clearing them: nothing to do.
    Rest,
    /// This was the last bit of the root.
    Empty,
    /// Another thread raised an id meanwhile and its summary had to be put back; the root held this before.
    RaisedAgain(u32),
}

// GROWS: `levels`; bound: `MAX_CAPACITY`, allocated at once; full: `IdOutOfRange`, `IdTaken`; freed with the set; cost:
//     the capacity asked for; test: tests/suite/signal.rs: every_capacity_has_its_last_id
pub(crate) struct Bits {
    /// The word the owner sleeps on while it equals [`SLEEPING`]. Raised by any thread, so it has a cache line of its
    /// own.
    pub(super) root: CachePadded<AtomicU32>,
    /// What [`SignalWord::held`] is, for the bits of the root.
    held: AtomicU32,
    /// From just under the root down to the ids. Empty if the root holds the ids.
    levels: Box<[Box<[SignalWord]>]>,
    /// How many ids there are. Never changes.
    pub(super) capacity: usize,
}

impl Bits {
    /// `capacity` has been checked: from 1 to [`MAX_CAPACITY`].
    pub(crate) fn new(capacity: usize) -> Self {
        debug_assert!((1..=MAX_CAPACITY).contains(&capacity));
        let mut levels = Vec::new();
        let mut words = capacity;
        // MUTANT: Speed only: one level of words more than needed.
        while words > ROOT {
            words = words.div_ceil(WORD);
            levels.push((0..words).map(|_| SignalWord { up: AtomicU64::new(0), held: AtomicU64::new(0) }).collect());
        }
        levels.reverse();
        Self { root: CachePadded::new(AtomicU32::new(0)), held: AtomicU32::new(0), levels: levels.into(), capacity }
    }

    /// Whether any id seems to be up: false only if none was, true also for a summary of an empty word.
    pub(crate) fn any(&self) -> bool {
        // ORDERING: a caller that bases a decision on this has acquired what it must see with a read-modify-write
        // before, or executes the one of `arm` afterwards. Acquire so that the words below are seen no older than their
        // summary.
        self.root.load(Ordering::Acquire) & !SLEEPING != 0
    }

    /// Puts `id` up. Returns what the root held before: exactly [`SLEEPING`] means that the caller must wake.
    #[must_use]
    pub(crate) fn raise(&self, id: usize) -> u32 {
        self.raise_above(self.levels.len(), id)
    }

    /// Sets the bit of item `index` at `depth` in the word above it, and so on up to the root.
    ///
    /// Never skips a level because its bit is seen up: another thread may be clearing that bit, having found the word
    /// below empty before the change made here.
    fn raise_above(&self, mut depth: usize, mut index: usize) -> u32 {
        while depth > 0 {
            depth -= 1;
            // ORDERING: Release pairs with the Acquire of `take_word` and `clear`: the thread that finds this bit sees
            // the words below it and all that happened before the signal. Read-modify-writes continue each other's
            // release sequences, so every raiser is seen, not only the last.
            self.levels[depth][index / WORD].up.fetch_or(1 << (index % WORD), Ordering::Release);
            index /= WORD;
        }
        // ORDERING: Release pairs with the Acquire of `take`, `clear` and `any`: the thread that finds this bit sees
        // the words below it and all that happened before the signal. With `arm` it is in the one order of
        // read-modify-writes of this word: it both raises and learns that the owner sleeps, so no fence is needed
        // between the two.
        self.root.fetch_or(1 << index, Ordering::Release)
    }

    /// Clears the bit of item `index` at `depth` in the word above it. True if that was the last bit there.
    fn clear(&self, depth: usize, index: usize) -> bool {
        // If a raiser's read-modify-write of this word came first, the caller's next check sees what the raiser did
        // below. If it comes later, the raiser's bit stays up. Read-modify-writes of one word are totally ordered, so
        // no fence is needed.
        if depth == 0 {
            let bit = 1 << index;
            // ORDERING: Acquire pairs with the Release of `raise_above`: what earlier raisers did below is visible.
            self.root.fetch_and(!bit, Ordering::Acquire) & !bit & !SLEEPING == 0
        } else {
            let bit = 1 << (index % WORD);
            // ORDERING: Acquire pairs with the Release of `raise_above`: what earlier raisers did below is visible.
            self.levels[depth - 1][index / WORD].up.fetch_and(!bit, Ordering::Acquire) & !bit == 0
        }
    }

    // MUTANT: Speed only: a read-modify-write although the id is down.
    /// Takes `id` down. Any thread.
    ///
    /// Everything published before a raise that this undoes is visible to the caller afterwards.
    #[must_use]
    pub(crate) fn lower(&self, id: usize) -> Lowered {
        // If `is_up` is out of date the id stays up: the owner checks once more without result, and loses nothing.
        if !self.is_up(id) || !self.clear(self.levels.len(), id) {
            return Lowered::Rest;
        }
        if self.levels.is_empty() { Lowered::Empty } else { self.clear_up(self.levels.len() - 1, id / WORD) }
    }

    /// The word `index` at `depth` was seen empty: clears its summary and checks the word once more, and so on up to
    /// the root.
    fn clear_up(&self, mut depth: usize, mut index: usize) -> Lowered {
        loop {
            let last = self.clear(depth, index);
            // ORDERING: Relaxed: `clear` has acquired, so this sees every bit whose summary it has just cleared.
            // Putting the summary back (a Release) makes `take` come to this word after this load, hence to no older
            // state of it; the Acquire read-modify-write of `take_word` here then brings the raiser's past.
            if self.levels[depth][index].up.load(Ordering::Relaxed) != 0 {
                return Lowered::RaisedAgain(self.raise_above(depth, index));
            }
            if !last {
                return Lowered::Rest;
            }
            if depth == 0 {
                return Lowered::Empty;
            }
            depth -= 1;
            index /= WORD;
        }
    }

    /// Whether `id` is up. Any thread.
    pub(crate) fn is_up(&self, id: usize) -> bool {
        match self.levels.last() {
            // ORDERING: Acquire pairs with the Release of `raise_above`: a receiver that finds its id up sees the
            // message for which it was raised.
            None => self.root.load(Ordering::Acquire) & (1 << id) != 0,
            // ORDERING: Acquire pairs with the Release of `raise_above`: a receiver that finds its id up sees the
            // message for which it was raised.
            Some(words) => words[id / WORD].up.load(Ordering::Acquire) & (1 << (id % WORD)) != 0,
        }
    }

    // MUTANT: Its argument is at most the capacity, and the masks leave nothing there.
    /// The lowest id from `from` on that is up and held. Loads only; an id raised meanwhile may be missed. An id that
    /// it finds was raised before: what happened before that is visible.
    #[inline]
    pub(crate) fn first_held(&self, from: usize) -> Option<usize> {
        if from >= self.capacity {
            return None;
        }
        // ORDERING: Acquire pairs with the Release of `raise_above`: what happened before the id was raised is visible,
        // and the words below are seen no older than their summary.
        let up = u64::from(self.root.load(Ordering::Acquire) & !SLEEPING);
        if self.levels.is_empty() {
            // ORDERING: Relaxed: only the owner sets bits of `held`; where another thread's `give_back` is seen late,
            // an id is reported once more.
            let held = u64::from(self.held.load(Ordering::Relaxed));
            return ones(up & held & (u64::MAX << from)).next();
        }
        let first = from / WORD.pow(self.levels.len() as u32);
        ones(up & (u64::MAX << first)).find_map(|word| self.first_held_below(0, word, from))
    }

    /// What [`Bits::first_held`] does, below word `index` at `depth`.
    fn first_held_below(&self, depth: usize, index: usize, from: usize) -> Option<usize> {
        let word = &self.levels[depth][index];
        // ORDERING: Acquire pairs with the Release of `raise_above`, as in `first_held`.
        let up = word.up.load(Ordering::Acquire);
        let below = self.levels.len() - 1 - depth;
        // The item of this level that is `from`, or contains it.
        let first = (from / WORD.pow(below as u32)).saturating_sub(index * WORD);
        debug_assert!(first < WORD, "words before that of `from` are not read");
        let up = up & (u64::MAX << first);
        if below == 0 {
            // ORDERING: Relaxed, as in `first_held`.
            return ones(up & word.held.load(Ordering::Relaxed)).next().map(|bit| index * WORD + bit);
        }
        ones(up).find_map(|bit| self.first_held_below(depth + 1, index * WORD + bit, from))
    }

    // MUTANT: Speed only: a read-modify-write of an empty root finds nothing.
    /// Takes down every id that is not held, and reports all that were up. The owner only.
    #[inline]
    pub(crate) fn take(&self) -> Signals {
        let mut signals = Signals::default();
        // ORDERING: Relaxed: a signal that happened before this call is seen all the same, by coherence. A signal that
        // races with this call may be found by the next check; before the owner sleeps, the read-modify-write of `arm`
        // finds it.
        if self.root.load(Ordering::Relaxed) & !SLEEPING == 0 {
            return signals;
        }
        // ORDERING: Relaxed: only the owner sets bits of `held`; where another thread's `give_back` is seen late, an id
        // is reported once more.
        let held = self.held.load(Ordering::Relaxed);
        // ORDERING: Acquire pairs with the Release of `raise_above`: the owner sees the words below the bits it takes,
        // and what happened before each signal.
        let up = self.root.fetch_and(held, Ordering::Acquire) & !SLEEPING;
        if self.levels.is_empty() {
            signals.push(0, up.into());
        } else {
            for index in ones(up.into()) {
                self.take_word(0, index, held & (1 << index) != 0, &mut signals);
            }
        }
        signals
    }

    // MUTANT: Speed only: the summary is cleared once more, and `clear_up` checks the word again.
    /// What [`Bits::take`] does, for one word. `kept`: its summary is still up, and must be cleared if the word is
    /// empty afterwards.
    fn take_word(&self, depth: usize, index: usize, kept: bool, signals: &mut Signals) {
        let word = &self.levels[depth][index];
        // ORDERING: Relaxed: only the owner sets bits of `held`; where another thread's `give_back` is seen late, an id
        // is reported once more.
        let held = word.held.load(Ordering::Relaxed);
        // ORDERING: Acquire pairs with the Release of `raise_above`: the signals taken here are handed to the caller
        // with everything that happened before them. The summary was cleared before this, so a raiser that comes later
        // sets it again.
        let up = word.up.fetch_and(held, Ordering::Acquire);
        if depth + 1 == self.levels.len() {
            signals.push(index * WORD, up);
        } else {
            for child in ones(up) {
                self.take_word(depth + 1, index * WORD + child, held & (1 << child) != 0, signals);
            }
        }
        // ORDERING: Relaxed: it only decides whether to clean up, and `clear_up` checks again.
        if kept && word.up.load(Ordering::Relaxed) == 0 {
            // The result is not needed: the owner is awake, and brings its doorbell into agreement with the root after
            // every take.
            let _ = self.clear_up(depth, index);
        }
    }

    /// Records that the owner is about to sleep on the root. False if something is up: then check instead. The owner
    /// only.
    #[must_use]
    pub(crate) fn arm(&self) -> bool {
        // ORDERING: Relaxed: a read-modify-write sees the newest root, so either it finds the raiser's bit, or the
        // raiser finds SLEEPING. It makes no other read valid: after it has woken the owner calls `take`, which
        // acquires.
        self.root.compare_exchange(0, SLEEPING, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Records that the owner is awake. The owner only.
    pub(crate) fn disarm(&self) {
        // ORDERING: Relaxed: the bit is the owner's own; a read-modify-write keeps the raisers' release sequences
        // whole.
        self.root.fetch_and(!SLEEPING, Ordering::Relaxed);
    }

    // REUSED: an id of a set; held by a sender that has taken the wake mode of a receiver that has left; harmless: it
    //     checks whether that was released; one that races raises once, spuriously; the next claim comes after all
    //     uses of the last holder; test: tests/suite/conformance/attached/moving.rs:
    //     a_dropped_receiver_gives_its_id_back, src/signal/models/bits.rs:
    //     the_next_holder_of_an_id_comes_after_all_that_the_last_one_did
    /// Claims `id` for an attached receiver: from now on it is reported, not taken. False if it is claimed already.
    /// The owner only.
    #[must_use]
    pub(crate) fn claim(&self, id: usize) -> bool {
        let (mut depth, mut index) = (self.levels.len(), id);
        while depth > 0 {
            depth -= 1;
            let bit = 1 << (index % WORD);
            // ORDERING: Acquire pairs with the Release of `give_back`: what the last holder did to this id is over.
            let before = self.levels[depth][index / WORD].held.fetch_or(bit, Ordering::Acquire);
            if depth + 1 == self.levels.len() && before & bit != 0 {
                return false;
            }
            index /= WORD;
        }
        let bit = 1 << index;
        // ORDERING: Acquire pairs with the Release of `give_back`: what the last holder did to this id is over.
        let before = self.held.fetch_or(bit, Ordering::Acquire);
        !self.levels.is_empty() || before & bit == 0
    }

    /// Gives a claimed id back. Any thread; once per claim.
    pub(crate) fn give_back(&self, id: usize) {
        match self.levels.last() {
            // ORDERING: Release pairs with the Acquire of `claim`: what this holder did to the id comes before the
            // next.
            None => drop(self.held.fetch_and(!(1 << id), Ordering::Release)),
            // ORDERING: Release pairs with the Acquire of `claim`: what this holder did to the id comes before the
            // next.
            Some(words) => drop(words[id / WORD].held.fetch_and(!(1 << (id % WORD)), Ordering::Release)),
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
    use super::*;

    #[test]
    fn what_is_lowered_beside_others_leaves_the_root_alone() {
        let bits = Bits::new(65);
        let _ = (bits.raise(0), bits.raise(64));
        assert_eq!(bits.lower(64), Lowered::Rest);
        assert_eq!(bits.lower(0), Lowered::Empty);
    }

    #[test]
    fn what_is_lowered_beside_others_of_its_word_leaves_what_is_above_alone() {
        // In the root, and in a word below it.
        for capacity in [2, 65] {
            let bits = Bits::new(capacity);
            let _ = (bits.raise(0), bits.raise(1));
            assert_eq!(bits.lower(1), Lowered::Rest);
            assert!(bits.is_up(0) && !bits.is_up(1));
            assert_eq!(bits.lower(0), Lowered::Empty);
        }
    }

    #[test]
    fn what_is_raised_in_a_word_that_was_seen_empty_is_put_back() {
        let bits = Bits::new(65);
        // After that check, by another thread.
        let _ = bits.raise(64);
        assert_eq!(bits.clear_up(0, 1), Lowered::RaisedAgain(0));
        assert!(bits.any() && bits.take().eq([64]));
    }
}
