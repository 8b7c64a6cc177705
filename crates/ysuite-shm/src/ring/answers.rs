//! Answers to questions, each in the place of its question, in any order. A call's number says its place, and is never used
//! again. A place has one call at a time, so the writer needs no room, and never waits.

use core::marker::PhantomData;
use core::ptr::NonNull;

use super::typed::Slotted;
use crate::sync::{AtomicU64, Ordering, fence, word_at};

const LINE: usize = 64;

/// From the state of a place to its answer.
const fn first(align: usize) -> usize {
    if align > 8 { align } else { 8 }
}

/// From one place to the next, for answers of this size and alignment.
fn stride(size: usize, align: usize) -> Option<usize> {
    first(align).checked_add(size)?.checked_next_multiple_of(LINE)
}

/// The bytes of this number of places.
pub(super) fn ring_bytes(size: usize, align: usize, places: usize) -> Option<usize> {
    if places == 0 { None } else { places.checked_mul(stride(size, align)?) }
}

/// What a look at a place has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Answer,
    /// The question was dropped.
    Dropped,
    Nothing,
    /// The writer's memory says what no writer says.
    Broken,
}

/// The state of a place whose call has ended.
pub(crate) fn ended(number: u64, is_answered: bool) -> u64 {
    number << 1 | u64::from(!is_answered)
}

/// Says that the call with this number has ended. What was written of an answer is published by it.
pub(crate) fn end(state: &AtomicU64, number: u64, is_answered: bool) {
    // ORDERING: Release pairs with the fence in `look_at`.
    state.store(ended(number, is_answered), Ordering::Release);
}

/// Looks for the end of the call with this number. `before`: the state that its place had when the call began.
#[inline(always)]
pub(crate) fn look_at(state: &AtomicU64, number: u64, before: u64) -> Found {
    // ORDERING: Relaxed, as the memory is read-only; the fence makes it an Acquire, which pairs with the Release in `end`.
    let state = state.load(Ordering::Relaxed);
    fence(Ordering::Acquire);
    if state == ended(number, true) {
        Found::Answer
    } else if state == before {
        Found::Nothing
    } else if state == ended(number, false) {
        Found::Dropped
    } else {
        Found::Broken
    }
}

/// The places, for their writer or their reader.
pub(crate) struct Places<A> {
    start: NonNull<u8>,
    places: u64,
    /// Bytes of an answer.
    size: usize,
    stride: usize,
    answers: PhantomData<fn(A) -> A>,
}

// SAFETY: an address in a mapping that the owner of the places owns as well, used by atomics only.
unsafe impl<A: Send> Send for Places<A> {}

impl<A: Slotted> Places<A> {
    /// # Safety
    /// From `start` on, which is aligned to a page, are [`ring_bytes`] bytes for this number of places or more, of answers of
    /// this size, for as long as it is used.
    pub(crate) unsafe fn new(start: NonNull<u8>, places: usize, size: usize) -> Self {
        const { assert!(A::ALIGN <= LINE, "a message is aligned to 64 bytes at most") };
        let stride = stride(size, A::ALIGN).expect("a size that was checked");
        Self { start, places: places as u64, size, stride, answers: PhantomData }
    }

    /// The place of a call, whatever its number.
    fn place(&self, number: u64) -> NonNull<u8> {
        // SAFETY: within the places.
        unsafe { self.start.add((number % self.places) as usize * self.stride) }
    }

    fn state(&self, number: u64) -> &AtomicU64 {
        // SAFETY: within the places, and aligned to a line.
        unsafe { word_at(self.place(number).as_ptr().cast()) }
    }

    /// The writer's: ends a call. `None`: without an answer.
    pub(crate) fn put(&self, number: u64, answer: Option<&A::Written>) {
        if let Some(answer) = answer {
            // SAFETY: the place has room for an answer behind its state.
            unsafe { A::store(answer, self.place(number).add(first(A::ALIGN))) };
        }
        end(self.state(number), number, answer.is_some());
    }

    /// The reader's.
    #[inline]
    pub(crate) fn look(&self, number: u64, before: u64) -> Found {
        look_at(self.state(number), number, before)
    }

    /// The reader's: the answer that a look has found. `None`: it is none.
    #[inline]
    pub(crate) fn get(&self, number: u64) -> Option<A> {
        // SAFETY: as in `put`.
        A::believed(unsafe { A::load(self.place(number).add(first(A::ALIGN)), self.size) })
    }
}
