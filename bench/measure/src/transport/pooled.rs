//! A block of a pool, taken by the sender and given back by the receiver, as in a program that allocates no memory while
//! it works.
//!
//! There is one pool for all runs, with blocks of every measured size. While none is free the sender waits. This limits
//! the messages in flight, also for a transport without a bound.

use std::ptr::NonNull;
use std::sync::LazyLock;

use ysuite::pool::{self, Pool};

/// Blocks of each size: one for each message that the bounded transports have room for, and some for the threads at
/// work.
const BLOCKS: usize = 2_048;

/// In bytes.
const SIZES: [usize; 8] = [8, 64, 512, 1_024, 2_048, 4_096, 16_384, 65_536];

static POOL: LazyLock<Pool> = LazyLock::new(|| match Pool::new(&SIZES.map(|bytes| (bytes, BLOCKS))) {
    Ok(pool) => pool,
    Err(cause) => panic!("there is no room for the blocks of pooled messages: {cause}"),
});

/// It owns its block.
pub(super) struct Pooled(pool::Message);

impl Pooled {
    /// All of its words hold the number. Waits while no block is free.
    #[inline]
    pub(super) fn of(words: usize, number: usize) -> Self {
        let mut block = POOL.take(words * size_of::<usize>());
        bytemuck::cast_slice_mut::<u8, usize>(&mut block).fill(number);
        Self(block)
    }

    #[inline]
    pub(super) fn words(&self) -> &[usize] {
        bytemuck::cast_slice(&self.0)
    }

    #[inline]
    pub(super) fn into_raw(self) -> NonNull<usize> {
        self.0.into_raw().cast()
    }

    /// # Safety
    ///
    /// The block came from [`Pooled::into_raw`], and only one message of it is dropped.
    #[inline]
    pub(super) unsafe fn from_raw(block: NonNull<usize>) -> Self {
        // SAFETY: the caller guarantees both.
        Self(unsafe { pool::Message::from_raw(block.cast()) })
    }
}

/// Blocks of this size that are taken.
#[cfg(test)]
pub(super) fn in_use(bytes: usize) -> usize {
    POOL.stats().iter().find(|class| class.block_bytes == bytes).map_or(0, |class| class.in_use)
}

#[cfg(test)]
mod tests {
    use super::super::handed::{Blocks, Run};
    use super::super::message::agreed;
    use super::*;

    #[test]
    fn a_block_whose_words_disagree_has_no_expected_number() {
        let _run = Run::of(Blocks::Pooled(8));
        let mut message = Pooled::of(8, 5);
        message.0[17] = 6;
        assert!(![5, 6].contains(&agreed(message.words())));
    }
}
