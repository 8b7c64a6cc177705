//! A message by pointer: a block on the heap with its length in front, allocated for this message alone, as in a
//! program without a pool whose messages have many sizes.
//!
//! The length of a run's blocks is set beforehand, for all threads of the process: see [`Length`].

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Message;
use super::message::agreed;

static ONE_RUN_AT_A_TIME: Mutex<()> = Mutex::new(());
static WORDS: AtomicUsize = AtomicUsize::new(1);

/// Blocks have this length as long as it lives. A caller that sets another one waits for that.
pub struct Length(#[expect(dead_code, reason = "held, not read")] MutexGuard<'static, ()>);

impl Length {
    /// # Panics
    ///
    /// If `words` is 0.
    pub fn of(words: usize) -> Self {
        assert!(words > 0, "a message has at least one word");
        let alone = ONE_RUN_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        // ORDERING: Relaxed: the threads that read it are started by the holder of the length.
        WORDS.store(words, Ordering::Relaxed);
        Self(alone)
    }
}

/// The number of words in the messages of this run.
#[inline(always)]
pub(super) fn words() -> usize {
    // ORDERING: Relaxed, as the store.
    WORDS.load(Ordering::Relaxed)
}

/// It points to a word with the number of words that follow.
pub struct Parcel(NonNull<usize>);

// SAFETY: it owns its block, as a box does.
unsafe impl Send for Parcel {}

fn layout(words: usize) -> Layout {
    Layout::array::<usize>(words + 1).unwrap_or_else(|_| unreachable!("the longest message has some thousand words"))
}

impl Parcel {
    /// One of a given length, whatever the run's length is.
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

    fn words(&self) -> &[usize] {
        // SAFETY: the first word was written with the block, and that number of words follow it, all of them written.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().add(1), *self.0.as_ptr()) }
    }
}

impl Message for Parcel {
    type Wire = usize;

    #[inline]
    fn numbered(number: usize) -> Self {
        Self::of(words(), number)
    }

    #[inline]
    fn number(&self) -> usize {
        agreed(self.words())
    }

    #[inline]
    fn into_wire(self) -> usize {
        let block = std::mem::ManuallyDrop::new(self).0;
        block.as_ptr().expose_provenance()
    }

    #[inline]
    unsafe fn from_wire(wire: usize) -> Self {
        // SAFETY: the caller guarantees that it is the address of a parcel from `into_wire`, and that it is used only
        // once.
        Self(unsafe { NonNull::new_unchecked(std::ptr::with_exposed_provenance_mut(wire)) })
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
    use super::*;

    #[test]
    fn a_parcel_has_the_length_of_its_run_and_keeps_it() {
        let length = Length::of(512);
        let parcel = Parcel::numbered(7);
        drop(length);
        let _other = Length::of(3);
        assert_eq!((parcel.words().len(), parcel.number()), (512, 7));
        assert_eq!(Parcel::numbered(8).words(), [8, 8, 8]);
    }

    #[test]
    fn a_parcel_whose_words_disagree_has_no_expected_number() {
        let _length = Length::of(4);
        let parcel = Parcel::numbered(5);
        // SAFETY: the third of its four words.
        unsafe { parcel.0.add(3).write(6) };
        assert!(![5, 6].contains(&parcel.number()));
    }
}
