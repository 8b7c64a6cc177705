//! A block on the heap with its length in front, allocated for one message alone, as in a program without a pool whose
//! messages have many sizes.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// It points to a word with the number of words that follow.
pub(super) struct Parcel(NonNull<usize>);

fn layout(words: usize) -> Layout {
    Layout::array::<usize>(words + 1).unwrap_or_else(|_| unreachable!("the longest message has some thousand words"))
}

impl Parcel {
    /// All of its words hold the number.
    #[inline]
    pub(super) fn of(words: usize, number: usize) -> Self {
        let layout = layout(words);
        // SAFETY: the layout has one word at least.
        let Some(block) = NonNull::new(unsafe { alloc(layout) }.cast::<usize>()) else { handle_alloc_error(layout) };
        // SAFETY: the block has room for the length and `words` words after it, and no other code has its address.
        unsafe {
            block.write(words);
            for at in 1..=words {
                block.add(at).write(number);
            }
        }
        Self(block)
    }

    #[inline]
    pub(super) fn words(&self) -> &[usize] {
        // SAFETY: the first word was written with the block, and that number of words follow it, all of them written.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().add(1), *self.0.as_ptr()) }
    }

    #[inline]
    pub(super) fn into_raw(self) -> NonNull<usize> {
        ManuallyDrop::new(self).0
    }

    /// # Safety
    ///
    /// The block came from [`Parcel::into_raw`], and only one parcel of it is dropped.
    #[inline]
    pub(super) unsafe fn from_raw(block: NonNull<usize>) -> Self {
        Self(block)
    }
}

impl Drop for Parcel {
    #[inline]
    fn drop(&mut self) {
        let layout = layout(self.words().len());
        // SAFETY: allocated with this layout, and not used any more.
        unsafe { dealloc(self.0.as_ptr().cast(), layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::agreed;
    use super::*;

    #[test]
    fn a_parcel_has_its_length_and_all_its_words_hold_the_number() {
        let parcel = Parcel::of(3, 8);
        assert_eq!(parcel.words(), [8, 8, 8]);
        // SAFETY: just taken, and used once.
        let again = unsafe { Parcel::from_raw(parcel.into_raw()) };
        assert_eq!(again.words(), [8, 8, 8]);
    }

    #[test]
    fn a_parcel_whose_words_disagree_has_no_expected_number() {
        let parcel = Parcel::of(4, 5);
        // SAFETY: the third of its four words.
        unsafe { parcel.0.add(3).write(6) };
        assert!(![5, 6].contains(&agreed(parcel.words())));
    }
}
