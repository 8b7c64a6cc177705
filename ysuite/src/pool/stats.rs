//! What a pool can tell of itself. Nothing is counted for it on the way of a message but what a thread writes alone.

use super::class::Class;

/// The state of one class of a pool, by [`Pool::stats`](super::Pool::stats).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassStats {
    /// The size of its blocks.
    pub block_bytes: usize,
    /// How many there are.
    pub blocks: usize,
    /// How many are taken now.
    pub in_use: usize,
    /// How many have ever been used: the most that were taken at once, and up to 128 more for each thread that had
    /// taken some. Memory of the others has not been touched since the pool was made.
    pub high_water: usize,
    /// How often a block was given back by another thread than had taken it.
    pub freed_elsewhere: u64,
}

impl ClassStats {
    pub(super) fn of(class: &Class) -> Self {
        let blocks = class.blocks();
        Self {
            block_bytes: class.bytes(),
            blocks,
            in_use: blocks.saturating_sub(class.depot().len()),
            high_water: class.touched(),
            freed_elsewhere: class.depot().elsewhere(),
        }
    }
}
