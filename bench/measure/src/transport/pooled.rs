//! A message by pointer: a block of a pool, allocated by the sender and freed by the receiver, as in a program that
//! allocates no memory while it works.
//!
//! There is one pool for all runs, with blocks of every measured size. While none is free the sender waits. This limits
//! the messages in flight, also for a transport without a bound.

use std::ptr::NonNull;
use std::sync::LazyLock;

use ysuite::pool::{self, Pool};

use super::Message;
use super::message::agreed;
use super::parcel::words;

/// Blocks of each size: one for each message that the bounded transports have room for, and some for the threads at
/// work.
const BLOCKS: usize = 2_048;

/// In bytes.
const SIZES: [usize; 8] = [8, 64, 512, 1_024, 2_048, 4_096, 16_384, 65_536];

static POOL: LazyLock<Pool> = LazyLock::new(|| match Pool::new(&SIZES.map(|bytes| (bytes, BLOCKS))) {
    Ok(pool) => pool,
    Err(cause) => panic!("there is no room for the blocks of pooled messages: {cause}"),
});

pub struct Pooled(pool::Message);

impl Message for Pooled {
    type Wire = usize;

    #[inline]
    fn numbered(number: usize) -> Self {
        let mut block = POOL.take(words() * size_of::<usize>());
        bytemuck::cast_slice_mut::<u8, usize>(&mut block).fill(number);
        Self(block)
    }

    #[inline]
    fn number(&self) -> usize {
        agreed(bytemuck::cast_slice(&self.0))
    }

    #[inline]
    fn into_wire(self) -> usize {
        self.0.into_raw().as_ptr().expose_provenance()
    }

    #[inline]
    unsafe fn from_wire(wire: usize) -> Self {
        // SAFETY: the caller guarantees that it is the address of a block from `into_wire`, and that it is used only
        // once.
        Self(unsafe { pool::Message::from_raw(NonNull::new_unchecked(std::ptr::with_exposed_provenance_mut(wire))) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::parcel::Length;

    fn in_use(bytes: usize) -> usize {
        POOL.stats().iter().find(|class| class.block_bytes == bytes).map_or(0, |class| class.in_use)
    }

    #[test]
    fn a_block_has_the_length_of_its_run_and_goes_back_to_the_pool() {
        // No other run has blocks meanwhile: runs with a length come one after the other.
        let _length = Length::of(512);
        let message = Pooled::numbered(7);
        assert_eq!((message.0.len(), message.number(), in_use(4_096)), (4_096, 7, 1));
        let wire = message.into_wire();
        assert_eq!(in_use(4_096), 1);
        // SAFETY: just made, and used once.
        drop(unsafe { Pooled::from_wire(wire) });
        assert_eq!(in_use(4_096), 0);
    }

    #[test]
    fn a_block_whose_words_disagree_has_no_expected_number() {
        let _length = Length::of(8);
        let mut message = Pooled::numbered(5);
        message.0[17] = 6;
        assert!(![5, 6].contains(&message.number()));
    }
}
