//! A batch that is being written: messages on the way from a caller's iterator into the ring. One thread.
//!
//! The iterator is user code: it may be slow, or panic. So no cell is claimed before the iterator has returned. The
//! messages it has returned are here meanwhile, in a fixed amount of space, and those not taken are dropped with the
//! staging.

use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, needs_drop};
use core::ptr;

use crate::foreign::{Lent, Panics};

/// How many bytes of messages are gathered for one claim.
const BYTES: usize = 2048;
/// How many messages are gathered for one claim, however small they are.
const MOST: usize = 64;

/// Space for a few messages, first in, first out.
pub(crate) struct Staging<'a, T> {
    space: &'a mut StagingSpace,
    /// Space for one message that does not fit there, or needs more alignment.
    large: MaybeUninit<T>,
    /// The staging owns `len` messages, from index `first` on.
    first: usize,
    len: usize,
}

/// The place of the messages of a [`Staging`]. Separate from it: in one value with its counts all these bytes would be
/// set to 0 at each beginning, which took more than a batch.
#[repr(C, align(64))]
pub(crate) struct StagingSpace(MaybeUninit<[u8; BYTES]>);

impl StagingSpace {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self(MaybeUninit::uninit())
    }
}

impl<'a, T> Staging<'a, T> {
    /// How many messages the space holds; 0 where messages are held one by one in `large`.
    const SMALL: usize = match BYTES.checked_div(size_of::<T>()) {
        _ if align_of::<T>() > align_of::<StagingSpace>() => 0,
        Some(fit) if fit < MOST => fit,
        _ => MOST,
    };
    /// Whether messages are held one by one, and are moved by address: a program that is not optimised copies a message
    /// for each function through which it passes by value.
    pub(super) const IS_LARGE: bool = Self::SMALL == 0;
    /// How many messages there can be.
    const ROOM: usize = if Self::SMALL == 0 { 1 } else { Self::SMALL };

    pub(crate) const fn new(space: &'a mut StagingSpace) -> Self {
        Self { space, large: MaybeUninit::uninit(), first: 0, len: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The place with index 0, of `ROOM` adjacent ones.
    #[inline(always)]
    fn places(&mut self) -> *mut T {
        if Self::SMALL == 0 { self.large.as_mut_ptr() } else { self.space.0.as_mut_ptr().cast() }
    }

    // USER CODE: the iterator; an item is counted before the next is requested, and nothing is claimed; re-entrance:
    //     the channel may be used; panic: the items it has returned are sent as far as there is room; test:
    //     tests/suite/mpmc/edges.rs: an_iterator_that_panics_beyond_the_room_drops_what_does_not_fit
    /// Fills the staging from an iterator, with `most` messages at most, which is not 0. Call only when it is empty.
    #[inline]
    pub(crate) fn fill(&mut self, messages: &mut impl Iterator<Item = T>, most: usize) {
        debug_assert!(self.len == 0 && most != 0);
        self.first = 0;
        if Self::IS_LARGE { self.fill_one(messages) } else { self.fill_many(messages, most) }
    }

    // USER CODE: as of `fill`
    fn fill_one(&mut self, messages: &mut impl Iterator<Item = T>) {
        let mut message = messages.next();
        if message.is_some() {
            // SAFETY: the place is empty, and there is a message, which this function only drops afterwards.
            unsafe { message.leave_to(self.large.as_mut_ptr()) };
            self.len = 1;
        }
    }

    // USER CODE: as of `fill`
    #[inline]
    fn fill_many(&mut self, messages: &mut impl Iterator<Item = T>, most: usize) {
        let (places, room) = (self.places(), Self::ROOM.min(most));
        let mut filled = Filled { messages: 0, len: &mut self.len };
        while filled.messages < room {
            let Some(message) = messages.next() else { return };
            // SAFETY: `places` are `ROOM`, aligned for `T`: either `large`, or in the space, where `SMALL` messages
            // fit. No message of this staging is at this index.
            unsafe { places.add(filled.messages).write(message) };
            filled.messages += 1;
        }
    }

    /// The oldest message.
    pub(crate) fn next(&mut self) -> Option<T> {
        self.take(1).next()
    }

    /// The oldest messages, at most `messages` of them. They leave the staging at once: those that the
    /// iterator has not returned are dropped with it.
    #[inline]
    pub(crate) fn take(&mut self, messages: usize) -> Leaving<'_, T> {
        let left = messages.min(self.len);
        // SAFETY: `first` is at most `ROOM`.
        let next = unsafe { self.places().add(self.first) };
        self.first += left;
        self.len -= left;
        Leaving { next, left, staging: PhantomData }
    }
}

// USER CODE: messages' `Drop`; the message has left the staging space; re-entrance: any operation; panic: the others
//     are dropped; while unwinding it is not resumed; test: tests/suite/mpmc/edges.rs:
//     an_iterator_that_panics_beyond_the_room_drops_what_does_not_fit
impl<T> Drop for Staging<'_, T> {
    fn drop(&mut self) {
        drop(self.take(usize::MAX));
    }
}

/// The number of messages of a staging while it is filled. They are counted when this is dropped, also where the
/// iterator panics.
struct Filled<'a> {
    messages: usize,
    len: &'a mut usize,
}

impl Drop for Filled<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        *self.len = self.messages;
    }
}

/// Messages that leave a staging, oldest first.
pub(crate) struct Leaving<'a, T> {
    /// The next of `left` messages, which are this iterator's.
    next: *const T,
    left: usize,
    staging: PhantomData<&'a mut T>,
}

impl<T> Leaving<'_, T> {
    /// Moves the oldest messages to another place.
    ///
    /// # Safety
    /// There are that many left, and the place is valid for a write of them and holds no messages.
    #[inline(always)]
    pub(super) unsafe fn move_to(&mut self, to: *mut T, messages: usize) {
        debug_assert!(self.left >= messages);
        self.left -= messages;
        // SAFETY: by the caller; and as in `next`.
        unsafe {
            to.copy_from_nonoverlapping(self.next, messages);
            self.next = self.next.add(messages);
        }
    }
}

impl<T> Iterator for Leaving<'_, T> {
    type Item = T;

    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: `next` is the oldest of the messages that are this iterator's, and no longer counted: it is read
        // once. The address after it is at most one past the staging's places.
        unsafe {
            let message = ptr::read(self.next);
            self.next = self.next.add(1);
            Some(message)
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for Leaving<'_, T> {}

impl<T> FusedIterator for Leaving<'_, T> {}

impl<T> Drop for Leaving<'_, T> {
    // MUTANT: Speed only: messages without a drop are visited, or no message at all.
    #[inline]
    fn drop(&mut self) {
        if needs_drop::<T>() && self.left != 0 {
            let mut panics = Panics::none();
            while let Some(left) = self.left.checked_sub(1) {
                let message = self.next.cast_mut();
                self.left = left;
                // SAFETY: as in `next`. No thread reads the message any more: it is dropped once, in place.
                unsafe {
                    self.next = self.next.add(1);
                    // A message that panics as it is dropped keeps no other from it.
                    panics.catch(|| ptr::drop_in_place(message));
                }
            }
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    use super::{MOST, Staging, StagingSpace};

    #[repr(align(128))]
    #[derive(Clone, Debug, PartialEq)]
    struct Aligned(u64);

    fn first_in_first_out<T: Clone + PartialEq + core::fmt::Debug>(message: impl Fn(usize) -> T, room: usize) {
        let mut space = StagingSpace::new();
        let mut staging = Staging::new(&mut space);
        let mut all = (0..200).map(&message);
        let mut next = 0;
        while next < 200 {
            staging.fill(&mut all, usize::MAX);
            assert_eq!(staging.len(), room.min(200 - next));
            while staging.len() != 0 {
                assert_eq!(staging.next(), Some(message(next)));
                next += 1;
                for taken in staging.take(5) {
                    assert_eq!(taken, message(next));
                    next += 1;
                }
            }
        }
        assert!(staging.next().is_none());
    }

    #[test]
    fn messages_of_every_size_leave_in_their_order() {
        first_in_first_out(|_| (), MOST);
        first_in_first_out(|number| number as u8, MOST);
        first_in_first_out(|number| [number as u64; 4], MOST);
        first_in_first_out(|number| [number as u64; 100], 2);
        first_in_first_out(|number| [number as u64; 300], 1);
        first_in_first_out(|number| Aligned(number as u64), 1);
    }

    fn lies_in_the_space<T>() -> bool {
        let mut space = StagingSpace::new();
        let from = (&raw const space).addr();
        let mut staging = Staging::<T>::new(&mut space);
        let at = staging.places().addr();
        // Both are there until here: otherwise the one that is gone may leave its place to the other.
        core::hint::black_box(&mut staging);
        (from..from + size_of::<StagingSpace>()).contains(&at)
    }

    #[test]
    fn a_message_that_is_too_large_for_the_space_or_needs_more_alignment_lies_apart() {
        assert!(lies_in_the_space::<u8>() && lies_in_the_space::<[u64; 100]>());
        assert!(!lies_in_the_space::<[u64; 300]>() && !lies_in_the_space::<Aligned>());
    }

    #[test]
    fn what_an_iterator_gave_before_it_panicked_is_staged_and_dropped() {
        let message = Arc::new(());
        let mut space = StagingSpace::new();
        let mut staging = Staging::new(&mut space);
        let mut given = (0..9).map(|number| {
            assert!(number < 5);
            message.clone()
        });
        assert!(catch_unwind(AssertUnwindSafe(|| staging.fill(&mut given, usize::MAX))).is_err());
        assert_eq!((staging.len(), Arc::strong_count(&message)), (5, 6));
        drop(staging.take(2).next());
        assert_eq!((staging.len(), Arc::strong_count(&message)), (3, 4));
        drop(staging);
        assert_eq!(Arc::strong_count(&message), 1);
    }

    #[test]
    fn a_message_that_panics_keeps_no_other_from_being_dropped() {
        struct Bomb {
            is_live: bool,
            _held: Arc<()>,
        }
        impl Drop for Bomb {
            fn drop(&mut self) {
                assert!(!self.is_live, "boom");
            }
        }
        let message = Arc::new(());
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let mut space = StagingSpace::new();
            let mut staging = Staging::new(&mut space);
            staging
                .fill(&mut (0..6).map(|number| Bomb { is_live: number % 2 == 0, _held: message.clone() }), usize::MAX);
        }));
        assert!(caught.is_err());
        assert_eq!(Arc::strong_count(&message), 1);
    }
}
