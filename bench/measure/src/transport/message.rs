//! The messages: a counter, alone or at the head of a block, by value or by pointer.
//!
//! | message | by | size |
//! |---|---|---|
//! | `usize` | value | 8 bytes, the message of most scenarios |
//! | [`Block`] | value | any number of words, all written by the sender |
//! | [`Handed`] | pointer | a block of any length, made by the sender and freed by the receiver |
//!
//! Transports that carry bytes send a message's [`Wire`](Message::Wire) form: the block itself, or the address.

use bytemuck::{Pod, Zeroable};

pub use super::handed::Handed;

/// A message that knows its number.
pub trait Message: Send + Unpin + Sized + 'static {
    /// The form that a transport of bytes carries.
    type Wire: Pod + Send + Sync;

    fn numbered(number: usize) -> Self;

    fn number(&self) -> usize;

    fn into_wire(self) -> Self::Wire;

    /// # Safety
    ///
    /// `wire` came from [`Message::into_wire`] of the same type, in this process, and is used for no second message.
    unsafe fn from_wire(wire: Self::Wire) -> Self;
}

impl Message for usize {
    type Wire = usize;

    #[inline(always)]
    fn numbered(number: usize) -> Self {
        number
    }

    #[inline(always)]
    fn number(&self) -> usize {
        *self
    }

    #[inline(always)]
    fn into_wire(self) -> usize {
        self
    }

    #[inline(always)]
    unsafe fn from_wire(wire: usize) -> Self {
        wire
    }
}

/// Words that all hold the number: all of them are written on creation.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Block<const WORDS: usize>([usize; WORDS]);

// SAFETY: a transparent array of integers: all zeros are a value of it.
unsafe impl<const WORDS: usize> Zeroable for Block<WORDS> {}
// SAFETY: a transparent array of integers: no padding, every pattern of bits is a value, no pointers inside.
unsafe impl<const WORDS: usize> Pod for Block<WORDS> {}

/// The value of all words, or an invalid number if any word disagrees.
#[inline]
pub(super) fn agreed(words: &[usize]) -> usize {
    let first = words[0];
    // Without an early return, so that it runs at the speed of the loads.
    let wrong = words.iter().fold(0, |wrong, word| wrong | (word ^ first));
    if wrong == 0 { first } else { first ^ wrong ^ usize::MAX >> 1 }
}

impl<const WORDS: usize> Message for Block<WORDS> {
    type Wire = Self;

    #[inline]
    fn numbered(number: usize) -> Self {
        Self([number; WORDS])
    }

    /// The check of a message reads all of it.
    #[inline]
    fn number(&self) -> usize {
        agreed(&self.0)
    }

    #[inline(always)]
    fn into_wire(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn from_wire(wire: Self) -> Self {
        wire
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back<M: Message>() {
        let wire = M::numbered(77).into_wire();
        // SAFETY: just made, and used once.
        assert_eq!(unsafe { M::from_wire(wire) }.number(), 77);
    }

    #[test]
    fn every_kind_keeps_its_number_on_the_wire() {
        there_and_back::<usize>();
        there_and_back::<Block<1>>();
        there_and_back::<Block<512>>();
        there_and_back::<Handed>();
    }

    #[test]
    fn a_block_whose_words_disagree_has_no_expected_number() {
        for at in 0..4 {
            let mut block = Block::<4>::numbered(5);
            block.0[at] = 6;
            assert!(block.number() != 5 && block.number() != 6, "{at}");
        }
    }
}
