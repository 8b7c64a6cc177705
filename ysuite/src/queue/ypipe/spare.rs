//! The way back of spent chunks, from reader to writer: a tiny ring of pointers. Wait-free on both sides.
//!
//! A steady stream never allocates, because its chunks come back this way; a burst's chunks find the ring full and are
//! freed. A queue with a bound has room here for all its chunks, so once they exist it never allocates again.

use core::ptr;

use super::chunk::{Chunk, Header};
use crate::sync::{AtomicPtr, Ordering};

/// Null where there is room; filled by the reader, emptied by the writer, both going round in the same order.
pub(super) struct Spare<T>(Box<[AtomicPtr<Header<T>>]>);

impl<T> Spare<T> {
    pub(super) fn new(room: usize) -> Self {
        Self((0..room).map(|_| AtomicPtr::new(ptr::null_mut())).collect())
    }

    /// Reader: hands a spent chunk over, or gets it back where there is no room. `at` is the reader's own place.
    pub(super) fn give(&self, at: &mut usize, chunk: Chunk<T>) -> Result<(), Chunk<T>> {
        let place = &self.0[*at];
        // ORDERING: Acquire pairs with the Release in `take`, which emptied this place before the reader came round.
        if !place.load(Ordering::Acquire).is_null() {
            return Err(chunk);
        }
        // ORDERING: Release pairs with the Acquire in `take`: the writer reuses what the reader has read.
        place.store(chunk.as_raw(), Ordering::Release);
        *at = (*at + 1) % self.0.len();
        Ok(())
    }

    /// Writer: takes a spent chunk if there is one. `at` is the writer's own place.
    pub(super) fn take(&self, at: &mut usize) -> Option<Chunk<T>> {
        let place = &self.0[*at];
        // ORDERING: Acquire pairs with the Release in `give`.
        let chunk = Chunk::from_raw(place.load(Ordering::Acquire))?;
        // ORDERING: Release pairs with the Acquire in `give`.
        place.store(ptr::null_mut(), Ordering::Release);
        *at = (*at + 1) % self.0.len();
        Some(chunk)
    }

    /// Frees what is left; both sides are gone.
    pub(super) fn clear(&mut self) {
        for place in &self.0 {
            // ORDERING: Relaxed; whoever holds this mutably has synchronised with both sides.
            if let Some(chunk) = Chunk::from_raw(place.swap(ptr::null_mut(), Ordering::Relaxed)) {
                // SAFETY: a chunk in the ring belongs to nobody else.
                unsafe { chunk.free() };
            }
        }
    }
}
