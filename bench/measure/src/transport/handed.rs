//! A message by pointer: its number fills a block of memory, which the sender makes and the receiver frees.
//!
//! | blocks | made by | as in a program |
//! |---|---|---|
//! | [`Blocks::Allocated`] | the allocator, each for this message alone | without a pool |
//! | [`Blocks::Pooled`] | a pool | that allocates no memory while it works |
//! | [`Blocks::OfALogger`] | the allocator, of several lengths | that writes a log |
//!
//! One type for all of them, so that no transport is compiled for each. The blocks of a run are set beforehand, for all
//! threads of the process: see [`Run`]. Each message knows whether its own block is one of the pool.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Message;
use super::logged;
use super::message::agreed;
use super::parcel::Parcel;
use super::pooled::Pooled;

/// The blocks of a run's messages. The numbers are words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Blocks {
    Allocated(usize),
    Pooled(usize),
    OfALogger,
}

const ALLOCATED: usize = 0;
const POOLED: usize = 1;
const OF_A_LOGGER: usize = 2;

/// The number of words, and after them two bits for the kind.
const KIND_BITS: u32 = 2;

static BLOCKS: AtomicUsize = AtomicUsize::new(1 << KIND_BITS | ALLOCATED);

static ONE_RUN_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Messages have these blocks as long as it lives. A caller that sets others waits for that.
pub struct Run(#[expect(dead_code, reason = "held, not read")] MutexGuard<'static, ()>);

impl Run {
    /// # Panics
    ///
    /// If the blocks have no words.
    pub fn of(blocks: Blocks) -> Self {
        let (words, kind) = match blocks {
            Blocks::Allocated(words) => (words, ALLOCATED),
            Blocks::Pooled(words) => (words, POOLED),
            Blocks::OfALogger => (1, OF_A_LOGGER),
        };
        assert!(words > 0, "a message has at least one word");
        let alone = ONE_RUN_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        // ORDERING: Relaxed: the threads that read it are started by the holder of the run.
        BLOCKS.store(words << KIND_BITS | kind, Ordering::Relaxed);
        Self(alone)
    }
}

/// The address of a block. The lowest bit tells that the block is one of the pool: all blocks are aligned to words.
pub struct Handed(NonNull<usize>);

// SAFETY: it owns its block, as a box does; a block of the pool may be freed by any thread.
unsafe impl Send for Handed {}

const OF_THE_POOL: usize = 1;

/// The block of a message.
enum Block {
    Allocated(Parcel),
    Pooled(Pooled),
}

impl Handed {
    #[inline]
    fn of(block: Block) -> Self {
        match block {
            Block::Allocated(parcel) => Self(parcel.into_raw()),
            Block::Pooled(pooled) => Self(pooled.into_raw().map_addr(|address| address | OF_THE_POOL)),
        }
    }

    /// The same block again.
    ///
    /// # Safety
    ///
    /// Of this message and what this returns, only one may be dropped or used from then on.
    #[inline]
    unsafe fn block(&self) -> Block {
        let address = self.0.addr().get();
        if address & OF_THE_POOL == 0 {
            // SAFETY: `of` has made it of a parcel; the caller uses only one of the two.
            return Block::Allocated(unsafe { Parcel::from_raw(self.0) });
        }
        // SAFETY: the address of a block is not 0, and does not become it.
        let block = unsafe { NonNull::new_unchecked(self.0.as_ptr().map_addr(|address| address & !OF_THE_POOL)) };
        // SAFETY: `of` has made it of a block of the pool; the caller uses only one of the two.
        Block::Pooled(unsafe { Pooled::from_raw(block) })
    }
}

impl Message for Handed {
    type Wire = usize;

    #[inline]
    fn numbered(number: usize) -> Self {
        // ORDERING: Relaxed, as the store.
        let blocks = BLOCKS.load(Ordering::Relaxed);
        let words = blocks >> KIND_BITS;
        Self::of(match blocks & ((1 << KIND_BITS) - 1) {
            POOLED => Block::Pooled(Pooled::of(words, number)),
            OF_A_LOGGER => Block::Allocated(Parcel::of(logged::words(number), number)),
            _ => Block::Allocated(Parcel::of(words, number)),
        })
    }

    #[inline]
    fn number(&self) -> usize {
        // SAFETY: it is not dropped, and not used after this.
        let block = ManuallyDrop::new(unsafe { self.block() });
        match &*block {
            Block::Allocated(parcel) => agreed(parcel.words()),
            Block::Pooled(pooled) => agreed(pooled.words()),
        }
    }

    #[inline]
    fn into_wire(self) -> usize {
        ManuallyDrop::new(self).0.as_ptr().expose_provenance()
    }

    #[inline]
    unsafe fn from_wire(wire: usize) -> Self {
        // SAFETY: the caller guarantees that it is the address of a message from `into_wire`, and that it is used only
        // once.
        Self(unsafe { NonNull::new_unchecked(std::ptr::with_exposed_provenance_mut(wire)) })
    }
}

impl Drop for Handed {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this message is not used any more.
        drop(unsafe { self.block() });
    }
}

#[cfg(test)]
mod tests {
    use super::super::pooled::in_use;
    use super::*;

    /// Of the message, read without changing it.
    fn length(message: &Handed) -> usize {
        // SAFETY: it is not dropped, and not used after this.
        match &*ManuallyDrop::new(unsafe { message.block() }) {
            Block::Allocated(parcel) => parcel.words().len(),
            Block::Pooled(pooled) => pooled.words().len(),
        }
    }

    fn there_and_back(message: Handed) -> Handed {
        let wire = message.into_wire();
        // SAFETY: just made, and used once.
        unsafe { Handed::from_wire(wire) }
    }

    #[test]
    fn a_message_has_the_block_of_its_run_and_keeps_it() {
        let run = Run::of(Blocks::Allocated(512));
        let message = Handed::numbered(7);
        drop(run);
        let _other = Run::of(Blocks::Allocated(3));
        let message = there_and_back(message);
        assert_eq!((length(&message), message.number()), (512, 7));
        assert_eq!(length(&Handed::numbered(8)), 3);
    }

    #[test]
    fn a_block_of_the_pool_goes_back_to_it() {
        // No other run has blocks meanwhile.
        let _run = Run::of(Blocks::Pooled(512));
        let message = Handed::numbered(7);
        assert_eq!((length(&message), message.number(), in_use(4_096)), (512, 7, 1));
        let message = there_and_back(message);
        assert_eq!(in_use(4_096), 1);
        drop(message);
        assert_eq!(in_use(4_096), 0);
    }

    #[test]
    fn the_messages_of_a_logger_have_several_lengths() {
        let _run = Run::of(Blocks::OfALogger);
        for number in 0..logged::BURST {
            let message = there_and_back(Handed::numbered(number));
            assert_eq!((length(&message), message.number()), (logged::words(number), number));
        }
    }
}
