//! The depot: all magazines of a class, and their owners.
//!
//! | a magazine is | bits | may put blocks in |
//! |---|---|---|
//! | free, and empty | – | no thread |
//! | held | `claimed` | the thread that claimed or adopted it |
//! | in the depot | `claimed`, `offered` | no thread, until one adopts it |
//!
//! A thread whose magazines are full *offers* one and *claims* an empty one. A thread whose magazines are empty
//! *adopts* a full one and *releases* one of its own. A thread that frees a block and has no magazine adopts one that
//! has room. So short-lived threads, and threads past their thread-locals, do not leave one magazine each. Any thread
//! may take blocks out of any claimed magazine. Lock-free. There are no links between magazines, and so no ABA.
//!
//! [`Marks`](super::marks::Marks) say which groups to search: a search reads one word for 32 groups, and then only the
//! groups that may have a suitable magazine.
//!
//! Every search prefers the lowest number, and the magazines with blocks that were never used have the highest. So few
//! magazines circulate, and their memory stays in the caches.

use super::group::{Bank, GROUP, Held, InUse};
use super::magazine::{Entry, ROUNDS};

/// A magazine holds at most this fraction of a small class, so that several threads have blocks.
const SHARE: usize = if cfg!(ysuite_loom) { 2 } else { 8 };

pub(super) struct Depot {
    /// Has room for all blocks, and magazines for the first threads. The other banks are linked after it.
    first: Box<Bank>,
    /// The number of slots used in each magazine: the number of blocks in a full one.
    pub(super) rounds: usize,
}

impl Depot {
    // MUTANT: Speed only: how many blocks of a small class one thread keeps. An empty range of blocks is harmless.
    /// A depot with `blocks` blocks, none ever used.
    pub(super) fn new(blocks: usize) -> Self {
        let rounds = (blocks / SHARE).clamp(1, ROUNDS);
        let full = blocks.div_ceil(rounds);
        // The first group is for the magazines of threads.
        let bank = Bank::new(1 + full.div_ceil(GROUP), true);
        for (first, group) in (0..full).step_by(GROUP).zip(&bank.groups[1..]) {
            // After the last full one there are no full ones.
            for (index, magazine) in group.magazines.iter().enumerate() {
                let blocks = (first + index) * rounds..blocks.min((first + index + 1) * rounds);
                magazine.leave(blocks.len());
                blocks.rev().enumerate().for_each(|(at, block)| magazine.put(at, Entry::fresh(block)));
            }
            group.fill(full - first);
        }
        Self { first: Box::new(bank), rounds }
    }

    fn banks(&self) -> impl Iterator<Item = &Bank> {
        core::iter::successors(Some(&*self.first), |bank| bank.next())
    }

    /// Claims an empty magazine. If all are in use, allocates one more group: the first bank has room for all blocks,
    /// so the magazines in use belong to threads.
    pub(super) fn claim(&self) -> Held {
        let mut bank = &*self.first;
        loop {
            match bank.claim() {
                Some(held) => return held,
                None => bank = bank.extend(),
            }
        }
    }

    /// Claims a magazine with room; returns it with the first slot of its empty ones.
    pub(super) fn claim_roomy(&self) -> (Held, usize) {
        match self.find(Bank::adopt_roomy) {
            Some(held) => (held, held.magazine().left()),
            None => (self.claim(), 0),
        }
    }

    /// Adopts a magazine that may have blocks.
    pub(super) fn adopt(&self) -> Option<Held> {
        self.find(Bank::adopt)
    }

    fn find(&self, adopt: fn(&Bank) -> Option<Held>) -> Option<Held> {
        for bank in self.banks() {
            if let Some(held) = adopt(bank) {
                return Some(held);
            }
        }
        None
    }

    /// Takes one block out of any magazine.
    pub(super) fn steal(&self) -> Option<Entry> {
        for magazine in self.in_use() {
            if let Some(entry) = magazine.steal() {
                return Some(entry);
            }
        }
        None
    }

    /// Takes all blocks and counts them. For a closed class, where no thread takes blocks. Releases the depot's
    /// magazines, so that the next call does not search them again.
    #[inline(never)]
    pub(super) fn drain(&self) -> usize {
        let mut blocks = 0;
        while let Some(held) = self.adopt() {
            blocks += held.magazine().drain();
            held.release();
        }
        for magazine in self.in_use() {
            blocks += magazine.drain();
        }
        blocks
    }

    /// All magazines that may have blocks.
    fn in_use(&self) -> InUse<'_> {
        self.first.in_use()
    }

    /// The number of free blocks. May be out of date while other threads take and free.
    pub(super) fn len(&self) -> usize {
        let mut blocks = 0;
        for magazine in self.in_use() {
            blocks += magazine.len();
        }
        blocks
    }

    /// The number of blocks freed by a thread other than the one that took them.
    pub(super) fn elsewhere(&self) -> u64 {
        let mut blocks = 0;
        for bank in self.banks() {
            for group in &bank.groups {
                for magazine in &group.magazines {
                    blocks += magazine.elsewhere();
                }
            }
        }
        blocks
    }
}

#[cfg(all(test, not(ysuite_loom)))]
impl Depot {
    /// The number of claimed magazines.
    pub(super) fn claimed(&self) -> usize {
        self.in_use().count()
    }

    /// The number of magazines in the depot.
    pub(super) fn offered(&self) -> usize {
        self.banks().map(|bank| bank.tally().1).sum()
    }

    /// The number of groups that a search for a block has to check.
    pub(super) fn marked(&self) -> usize {
        self.banks().map(|bank| bank.tally().0).sum()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::super::group::{Held, MagazineGroup};
    use super::super::magazine::Entry;
    use super::Depot;

    /// Claim: More threads than existing magazines create one more group.
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
        // The number in the documentation.
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
        let before = (depot.claimed(), depot.offered());
        for index in 0..200 {
            let (held, top) = depot.claim_roomy();
            assert_eq!(top, index as usize % 64);
            held.magazine().put(top, Entry::used(index, false));
            held.offer(top + 1, depot.rounds);
        }
        assert_eq!((depot.claimed() - before.0, depot.offered() - before.1), (4, 4));
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
