//! The set of raised signals: bits in words, words summarised by bits of the level above, up to one root word.
//!
//! `raise`, `lower`, `is_up`: any thread. `take`, `arm`, `disarm`, `claim`: the owner of the set. Everything is
//! wait-free: at most one read-modify-write per level for a raise (three levels below the root at most), and one per
//! word that holds something for a take.
//!
//! Up to 31 ids live in the root itself, as in the article the design comes from; its last bit says that the owner
//! sleeps, which makes it the word to sleep on. The rule that keeps summaries honest: a bit is set from the bottom up,
//! and cleared from the top down or, where it is cleared behind an emptied word, that word is looked at once more.
//! So a summary bit may be up above an empty word (the owner looks and cleans up), never down above a full one for
//! longer than the operation that is putting it right.
//!
//! Cannot: count. A signal raised twice before it is taken is one signal.

use crossbeam_utils::CachePadded;

use super::signals::Signals;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Ids in the root word. The widths are tiny in a model: what is explored is levels, not width.
const ROOT: usize = if cfg!(ysuite_loom) { 2 } else { 31 };
/// Ids, or words, under one word.
const WORD: usize = if cfg!(ysuite_loom) { 2 } else { 64 };
/// Levels below the root.
const LEVELS: u32 = if cfg!(ysuite_loom) { 5 } else { 3 };

/// The largest capacity of a [`YPollset`](super::YPollset) or a `YSocketpair`: 8,126,464 ids (31 times 64 times 64
/// times 64), which take 2 MiB.
pub const MAX_CAPACITY: usize = ROOT * WORD.pow(LEVELS);

/// The bit of the root that says: the owner sleeps. Set by the owner alone, and only into an otherwise empty root.
pub(crate) const SLEEPING: u32 = 1 << 31;

/// 64 ids, or the summaries of 64 words.
struct SignalWord {
    /// Which are up.
    up: AtomicU64,
    /// Ids: claimed by attached receivers, which alone take them down. Summaries: words that have ever had one, whose
    /// bit is therefore cleared only once they are seen empty. Set by the owner.
    held: AtomicU64,
}

/// What clearing a bit has led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lowered {
    /// Other ids are up, or others are clearing them: nothing to do.
    Rest,
    /// This was the last bit of the root.
    Empty,
    /// Somebody raised an id meanwhile and its summary had to be put back; the root held this before.
    RaisedAgain(u32),
}

pub(crate) struct Bits {
    /// Raised by any thread, so it has a line of its own.
    root: CachePadded<AtomicU32>,
    /// As [`SignalWord::held`], for the root.
    held: AtomicU32,
    /// From just under the root down to the ids. Empty if the root holds the ids.
    levels: Box<[Box<[SignalWord]>]>,
    capacity: usize,
}

impl Bits {
    /// `capacity` has been checked: from 1 to [`MAX_CAPACITY`].
    pub(crate) fn new(capacity: usize) -> Self {
        debug_assert!((1..=MAX_CAPACITY).contains(&capacity));
        let mut levels = Vec::new();
        let mut words = capacity;
        while words > ROOT {
            words = words.div_ceil(WORD);
            levels.push((0..words).map(|_| SignalWord { up: AtomicU64::new(0), held: AtomicU64::new(0) }).collect());
        }
        levels.reverse();
        Self { root: CachePadded::new(AtomicU32::new(0)), held: AtomicU32::new(0), levels: levels.into(), capacity }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// The word the owner sleeps on while it equals [`SLEEPING`].
    pub(crate) fn root(&self) -> &AtomicU32 {
        &self.root
    }

    /// Whether anything seems to be up: false only if nothing was, true also for a summary of nothing.
    pub(crate) fn any(&self) -> bool {
        // ORDERING: callers that decide anything by it have an RMW before it that acquires what they must see, or
        // follow it with the RMW of `arm`. Acquire so that the words below are seen no older than their summary.
        self.root.load(Ordering::Acquire) & !SLEEPING != 0
    }

    /// Puts `id` up. Returns what the root held before: exactly [`SLEEPING`] means that the caller must wake.
    #[must_use]
    pub(crate) fn raise(&self, id: usize) -> u32 {
        self.raise_above(self.levels.len(), id)
    }

    /// Sets the bit of item `index` at `depth` in the word above it, and so on up to the root.
    ///
    /// Never skips a level because its bit is seen up: that sight may be older than the change below, made by a thread
    /// that is just clearing it.
    fn raise_above(&self, mut depth: usize, mut index: usize) -> u32 {
        while depth > 0 {
            depth -= 1;
            // ORDERING: Release pairs with the Acquire of `take_word` and `clear`: whoever finds this bit sees the
            // words below it and all that happened before the signal. RMWs continue each other's release sequences,
            // so every raiser is seen, not only the last.
            self.levels[depth][index / WORD].up.fetch_or(1 << (index % WORD), Ordering::Release);
            index /= WORD;
        }
        // ORDERING: Release as above, pairs with `take`, `clear`, `arm` and `any`. No fence is needed between raising
        // and learning that the owner sleeps: both are this one operation on one word.
        self.root.fetch_or(1 << index, Ordering::Release)
    }

    /// Clears the bit of item `index` at `depth` in the word above it. True if that was the last bit there.
    fn clear(&self, depth: usize, index: usize) -> bool {
        // ORDERING: Acquire pairs with the Release of `raise_above`. A raiser whose RMW on this word came first is
        // acquired, so what it did below is seen by the look the caller takes next; one that comes later leaves its
        // bit up. RMWs of one word are totally ordered: there is no third case, hence no fence.
        if depth == 0 {
            let bit = 1 << index;
            self.root.fetch_and(!bit, Ordering::Acquire) & !bit & !SLEEPING == 0
        } else {
            let bit = 1 << (index % WORD);
            // ORDERING: as above.
            self.levels[depth - 1][index / WORD].up.fetch_and(!bit, Ordering::Acquire) & !bit == 0
        }
    }

    /// Takes `id` down. Any thread.
    ///
    /// Everything published before a raise that this undoes is visible to the caller afterwards.
    #[must_use]
    pub(crate) fn lower(&self, id: usize) -> Lowered {
        // A stale "not up" leaves the id up: one more look for the owner, nothing lost.
        if !self.is_up(id) || !self.clear(self.levels.len(), id) {
            return Lowered::Rest;
        }
        if self.levels.is_empty() { Lowered::Empty } else { self.settle(self.levels.len() - 1, id / WORD) }
    }

    /// The word `index` at `depth` was seen empty: clears its summary, looked at once more, and so on up to the root.
    fn settle(&self, mut depth: usize, mut index: usize) -> Lowered {
        loop {
            let last = self.clear(depth, index);
            // ORDERING: Relaxed: `clear` has acquired, so this sees every bit whose summary it has just cleared. Putting
            // the summary back (a Release) makes `take` come to this word after this load, hence to no older state of
            // it, and its RMW here acquires the raiser's past.
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
        // ORDERING: Acquire pairs with the Release of `raise_above`, so that a receiver that sees itself up sees why.
        match self.levels.last() {
            None => self.root.load(Ordering::Acquire) & (1 << id) != 0,
            // ORDERING: as above.
            Some(words) => words[id / WORD].up.load(Ordering::Acquire) & (1 << (id % WORD)) != 0,
        }
    }

    /// Takes down every id that is not held, and reports all that were up. The owner only.
    pub(crate) fn take(&self) -> Signals {
        let mut signals = Signals::none();
        // ORDERING: Relaxed: a signal that happened before this call cannot be missed even so (coherence), and one
        // that races with it may come with the next look; `arm` is an RMW and cannot be deceived.
        if self.root.load(Ordering::Relaxed) & !SLEEPING == 0 {
            return signals;
        }
        // ORDERING: Relaxed: `held` grows in the owner's hands only; a release seen late reports one id once more.
        let held = self.held.load(Ordering::Relaxed);
        // ORDERING: Acquire pairs with the Release of `raise_above`.
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

    /// As [`Bits::take`], for one word. `kept`: its summary is still up and must be cleared behind it.
    fn take_word(&self, depth: usize, index: usize, kept: bool, signals: &mut Signals) {
        let word = &self.levels[depth][index];
        // ORDERING: Relaxed, as for the root.
        let held = word.held.load(Ordering::Relaxed);
        // ORDERING: Acquire pairs with the Release of `raise_above`: the signals taken here are handed to the caller
        // with everything that happened before them. The summary was cleared before: a raiser that comes now sets it.
        let up = word.up.fetch_and(held, Ordering::Acquire);
        if depth + 1 == self.levels.len() {
            signals.push(index * WORD, up);
        } else {
            for child in ones(up) {
                self.take_word(depth + 1, index * WORD + child, held & (1 << child) != 0, signals);
            }
        }
        // ORDERING: Relaxed: it only decides whether to clean up, and `settle` looks again.
        if kept && word.up.load(Ordering::Relaxed) == 0 {
            // The owner is awake, and brings its bell into agreement with the root after every take.
            let _ = self.settle(depth, index);
        }
    }

    /// Says that the owner is about to sleep on the root. False if something is up: then look instead. The owner only.
    #[must_use]
    pub(crate) fn arm(&self) -> bool {
        // ORDERING: Relaxed: an RMW sees the newest root, so either it finds the raiser's bit, or the raiser finds
        // SLEEPING. Nothing is read on the strength of it: the owner takes, which acquires, after it has woken.
        self.root.compare_exchange(0, SLEEPING, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Says that the owner is awake. The owner only.
    pub(crate) fn disarm(&self) {
        // ORDERING: Relaxed: the owner's own bit; as an RMW it keeps the raisers' release sequences whole.
        self.root.fetch_and(!SLEEPING, Ordering::Relaxed);
    }

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
        // ORDERING: as above.
        let before = self.held.fetch_or(bit, Ordering::Acquire);
        !self.levels.is_empty() || before & bit == 0
    }

    /// Gives a claimed id back. Any thread; once per claim.
    pub(crate) fn give_back(&self, id: usize) {
        // ORDERING: Release pairs with the Acquire of `claim`.
        match self.levels.last() {
            None => drop(self.held.fetch_and(!(1 << id), Ordering::Release)),
            // ORDERING: as above.
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

#[cfg(all(test, ysuite_loom))]
mod models {
    use super::Bits;
    use crate::runner::model;
    use crate::sync::{Arc, UnsafeCell};

    /// Both where the root holds the ids and where a level below does.
    #[test]
    fn whoever_claims_an_id_comes_after_all_that_its_last_holder_did() {
        for capacity in [1, 3] {
            model(move || {
                let shared = Arc::new((Bits::new(capacity), UnsafeCell::new(0)));
                let id = capacity - 1;
                assert!(shared.0.claim(id));
                let holder = shared.clone();
                let thread = loom::thread::spawn(move || {
                    // SAFETY: the holder's alone, until it gives the id back.
                    holder.1.with_mut(|held| unsafe { *held += 1 });
                    holder.0.give_back(id);
                });
                if shared.0.claim(id) {
                    // SAFETY: the next holder's, from the claim on.
                    shared.1.with_mut(|held| unsafe { *held += 1 });
                }
                thread.join().unwrap();
            });
        }
    }
}
