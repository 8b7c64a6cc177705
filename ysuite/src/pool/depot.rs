//! The depot: all magazines of a class, and in whose hands they are.
//!
//! | a magazine is | bits | who may put blocks in |
//! |---|---|---|
//! | free, and empty | – | nobody |
//! | in hand | `claimed` | the thread that claimed or adopted it |
//! | in the depot | `claimed`, `offered` | nobody, until a thread adopts it |
//!
//! A thread whose magazines are full *offers* one and *claims* an empty one; a thread whose magazines are empty *adopts* a
//! full one and *releases* one of its own. One that gives back a block and has no magazine adopts one that has room, so
//! that threads which come and go, and those past their thread-locals, do not leave a magazine each behind them. Blocks may
//! be taken out of any claimed magazine, in hand or not. Any thread; lock-free. There are no links between magazines:
//! nothing can be mistaken for what it was before (no ABA).
//!
//! Where to look is marked for each group, see [`Marks`](super::marks::Marks): so what a search costs depends on how many
//! groups may have what is looked for, and on how many there are only by a word for 32 of them.
//!
//! The least number is preferred everywhere, and those with the blocks never used have the highest. So the magazines that
//! go to and fro are few, and the memory behind them stays in the caches.

use super::group::{Bank, GROUP, Held};
use super::magazine::{Entry, Magazine, ROUNDS};

/// Of a small class a magazine holds one part in so many, so that several threads have some.
const SHARE: usize = if cfg!(ysuite_loom) { 2 } else { 8 };

pub(super) struct Depot {
    /// Has room for all blocks, and for the first threads. The others follow it.
    first: Box<Bank>,
    /// Slots that are used of each magazine.
    rounds: usize,
}

impl Depot {
    /// A depot with so many blocks, none ever used.
    pub(super) fn new(blocks: usize) -> Self {
        let rounds = (blocks / SHARE).clamp(1, ROUNDS);
        let full = blocks.div_ceil(rounds);
        // The first group is for threads to work with.
        let bank = Bank::new(1 + full.div_ceil(GROUP), true);
        for (first, group) in (0..full).step_by(GROUP).zip(&bank.groups[1..]) {
            for (index, magazine) in group.magazines.iter().enumerate().take(full - first) {
                let blocks = (first + index) * rounds..blocks.min((first + index + 1) * rounds);
                magazine.leave(blocks.len());
                blocks.rev().enumerate().for_each(|(at, block)| magazine.put(at, Entry::fresh(block)));
            }
            group.fill(full - first);
        }
        Self { first: Box::new(bank), rounds }
    }

    /// How many blocks a magazine is filled with.
    #[inline(always)]
    pub(super) fn rounds(&self) -> usize {
        self.rounds
    }

    fn banks(&self) -> impl Iterator<Item = &Bank> {
        core::iter::successors(Some(&*self.first), |bank| bank.next())
    }

    /// Takes an empty magazine, for blocks to be put in. Allocates more of them where all are in use: as many as a group
    /// has, since those in use belong to threads or have blocks in, and there is room for all blocks in the first bank.
    pub(super) fn claim(&self) -> Held {
        let mut bank = &*self.first;
        loop {
            match bank.claim() {
                Some(held) => return held,
                None => bank = bank.extend(),
            }
        }
    }

    /// Takes a magazine that has room, for blocks to be put in, and says from which slot on it is empty.
    pub(super) fn claim_roomy(&self) -> (Held, usize) {
        match self.banks().find_map(Bank::adopt_roomy) {
            Some(held) => (held, held.magazine().left()),
            None => (self.claim(), 0),
        }
    }

    /// Takes a magazine that may have blocks in.
    pub(super) fn adopt(&self) -> Option<Held> {
        self.banks().find_map(Bank::adopt)
    }

    /// Takes one block, wherever it lies.
    pub(super) fn steal(&self) -> Option<Entry> {
        self.banks().find_map(Bank::steal)
    }

    /// Takes all blocks there are, and counts them. To be called only when nobody takes any more. What the depot has goes
    /// out of use with that: the next who is called need not look there again.
    pub(super) fn drain(&self) -> usize {
        let mut blocks = 0;
        while let Some(held) = self.adopt() {
            blocks += held.magazine().drain();
            held.release();
        }
        blocks + self.in_use().map(Magazine::drain).sum::<usize>()
    }

    /// All magazines that may have blocks in.
    fn in_use(&self) -> impl Iterator<Item = &Magazine> {
        self.banks().flat_map(Bank::in_use)
    }

    /// How many blocks are free. While others take and give back it may be out of date.
    pub(super) fn len(&self) -> usize {
        self.in_use().map(Magazine::len).sum()
    }

    /// How many blocks have been given back by another thread than had taken them.
    pub(super) fn elsewhere(&self) -> u64 {
        self.banks().flat_map(|bank| &bank.groups).flat_map(|group| &group.magazines).map(Magazine::elsewhere).sum()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl Depot {
    /// How many magazines are claimed.
    pub(super) fn claimed(&self) -> usize {
        self.in_use().count()
    }

    /// How many are in the depot.
    pub(super) fn offered(&self) -> usize {
        self.banks().map(|bank| bank.tally().1).sum()
    }

    /// How many groups one that looks for a block has to look at.
    pub(super) fn marked(&self) -> usize {
        self.banks().map(|bank| bank.tally().0).sum()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::super::group::{Held, MagazineGroup};
    use super::super::magazine::Entry;
    use super::Depot;

    #[test]
    fn more_threads_than_there_are_magazines_for_get_one_group_more() {
        for blocks in [1, 1 << 20] {
            let depot = Depot::new(blocks);
            while depot.adopt().is_some() {}
            let room = depot.first.groups.len() * 32 - depot.claimed();
            let held: Vec<Held> = (0..room + 33).map(|_| depot.claim()).collect();
            let more: Vec<usize> = depot.banks().skip(1).map(|bank| bank.groups.len()).collect();
            assert_eq!(more, [1, 1], "a group for 32");
            held.into_iter().for_each(Held::release);
            let again: Vec<Held> = (0..room + 33).map(|_| depot.claim()).collect();
            assert_eq!((again.len(), depot.banks().count()), (room + 33, 3), "what was released is claimed again");
        }
        // What the documentation says.
        assert!((10_000..11 * 1_024).contains(&size_of::<MagazineGroup>()), "{}", size_of::<MagazineGroup>());
    }

    #[test]
    fn a_search_that_fails_does_not_look_at_all_groups_again() {
        let depot = Depot::new(1_000_000);
        let all: Vec<Held> = std::iter::from_fn(|| depot.adopt()).collect();
        assert_eq!((all.len(), depot.marked()), (15_625, 490 - 1));
        for held in all {
            held.magazine().drain();
            held.release();
        }
        assert!(depot.adopt().is_none());
        assert_eq!(depot.marked(), 0);
        let one = depot.claim();
        assert_eq!(depot.marked(), 1);
        one.magazine().put(0, Entry::used(3, false));
        assert_eq!(depot.steal(), Some(Entry::used(3, false)));
    }

    #[test]
    fn a_magazine_with_room_is_claimed_before_an_empty_one() {
        let depot = Depot::new(1_000);
        let before = depot.claimed();
        for index in 0..200 {
            let (held, top) = depot.claim_roomy();
            assert_eq!(top, index as usize % 64);
            held.magazine().put(top, Entry::used(index, false));
            held.offer(top + 1, depot.rounds());
        }
        assert_eq!(depot.claimed() - before, 4);
    }

    #[test]
    fn what_the_depot_has_goes_out_of_use_when_it_is_drained() {
        let depot = Depot::new(100_000);
        let in_hand = depot.claim();
        in_hand.magazine().put(0, Entry::used(1, false));
        assert_eq!(depot.drain(), 100_001);
        assert_eq!((depot.claimed(), depot.len(), depot.drain()), (1, 0, 0));
    }
}
