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
        for bank in self.banks() {
            while let Some(held) = bank.adopt_roomy() {
                let top = held.magazine().top();
                if top < self.rounds {
                    return (held, top);
                }
                held.offer(false);
            }
        }
        (self.claim(), 0)
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
