//! An array that grows and never moves: segments, each twice as long as the one before, made when they are first
//! needed. An empty array is three words: the pointers to all segments after the first are in a table of their own, made
//! with the second segment.
//!
//! Any thread may call everything. All operations are lock-free (wait-free except for the allocator). No element is
//! removed before the array is dropped. Where two threads make the same segment at once, one of the two copies is
//! thrown away.

#[cfg(all(test, ysuite_loom))]
mod models;

use core::marker::PhantomData;
use core::ptr;

use crate::sync::{AtomicPtr, Handed, Ordering};

/// How many segments there may be, unless the array's owner says otherwise.
const USUAL: usize = if cfg!(ysuite_loom) { 2 } else { 12 };

// GROWS: segments; bound: `most(first)` elements; full: callers check before; freed with the array; cost: elements;
//     test: src/queue/segmented_array.rs: an_element_is_found_behind_a_segment_that_is_missing
/// `SEGMENTS`: how many segments there may be.
pub(crate) struct SegmentedArray<E, const SEGMENTS: usize = USUAL> {
    /// The first segment: null, or `length(0)` elements.
    begin: AtomicPtr<E>,
    /// The other segments: null, or a table.
    further: AtomicPtr<FurtherSegments<E, SEGMENTS>>,
    /// Elements of the first segment.
    first: usize,
    /// The array owns its elements, and lends them to any thread.
    owned: PhantomData<E>,
}

/// The segments after the first, by their number: each null, or `length(segment)` elements. The place of the first is
/// not used.
struct FurtherSegments<E, const SEGMENTS: usize> {
    segments: [AtomicPtr<E>; SEGMENTS],
    made: Handed,
}

impl<E, const SEGMENTS: usize> SegmentedArray<E, SEGMENTS> {
    /// An empty array whose first segment will have `first` elements.
    pub(crate) fn new(first: usize) -> Self {
        let (begin, further) = (AtomicPtr::new(ptr::null_mut()), AtomicPtr::new(ptr::null_mut()));
        Self { begin, further, first, owned: PhantomData }
    }

    /// The largest number of elements of an array whose first segment has `first`.
    pub(crate) const fn most(first: usize) -> usize {
        first * ((1 << SEGMENTS) - 1)
    }

    fn length(&self, segment: usize) -> usize {
        self.first << segment
    }

    /// The segment of an element, and its index there.
    fn place(&self, index: usize) -> (usize, usize) {
        let row = index / self.first + 1;
        let segment = row.ilog2() as usize;
        (segment, (row - (1 << segment)) * self.first + index % self.first)
    }

    /// An element, if its segment exists. `index` is less than the array's [`most`](Self::most).
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&E> {
        let (segment, place) = self.place(index);
        // ORDERING: Acquire pairs with the Release in `make`: the elements are initialised.
        let elements = self.segment(segment)?.load(Ordering::Acquire);
        // SAFETY: a segment that is not null has `length(segment)` elements, of which `place` is one, and lives as long
        // as `self`.
        (!elements.is_null()).then(|| unsafe { &*elements.add(place) })
    }

    /// Where the pointer to a segment is, if there is a place for it.
    #[inline]
    fn segment(&self, segment: usize) -> Option<&AtomicPtr<E>> {
        if segment == 0 { Some(&self.begin) } else { Some(&self.further()?.segments[segment]) }
    }

    fn further(&self) -> Option<&FurtherSegments<E, SEGMENTS>> {
        // ORDERING: Acquire pairs with the Release in `segment_or_make`: the table is initialised.
        // SAFETY: null, or a box's that was stored once, and lives as long as `self`.
        let further = unsafe { self.further.load(Ordering::Acquire).as_ref() }?;
        further.made.read();
        Some(further)
    }

    /// Where the pointer to a segment is. Makes the table for it.
    fn segment_or_make(&self, segment: usize) -> &AtomicPtr<E> {
        if let Some(segment) = self.segment(segment) {
            return segment;
        }
        let null = || AtomicPtr::new(ptr::null_mut());
        let made = FurtherSegments { segments: core::array::from_fn(|_| null()), made: Handed::default() };
        made.made.written();
        let made = Box::into_raw(Box::new(made));
        // ORDERING: Release pairs with the Acquire in `further`: the table is initialised. Relaxed on failure: the
        // caller finds the other thread's table by `segment`, which acquires.
        let put = self.further.compare_exchange(ptr::null_mut(), made, Ordering::Release, Ordering::Relaxed);
        if put.is_err() {
            // SAFETY: this thread made the box above, and the exchange has failed: no other thread has its address.
            drop(unsafe { Box::from_raw(made) });
        }
        self.segment(segment).expect("made just now")
    }

    /// An element; makes its segment first where that does not exist.
    pub(crate) fn get_or_make(&self, index: usize, make: impl FnMut() -> E) -> &E {
        if self.get(index).is_none() {
            self.make(self.place(index).0, make);
        }
        self.get(index).expect("made just now")
    }

    // USER CODE: the allocator, and the constructor of the elements; nothing is linked yet; re-entrance: another thread
    //     may make the same segment, then one of the two is freed; panic: nothing is linked; test:
    //     src/queue/segmented_array.rs: every_element_has_a_place_of_its_own
    #[cold]
    fn make(&self, segment: usize, mut make: impl FnMut() -> E) {
        let mut elements = Vec::with_capacity(self.length(segment));
        while elements.len() < self.length(segment) {
            elements.push(make());
        }
        let elements = Box::into_raw(elements.into_boxed_slice());
        let null = ptr::null_mut();
        // ORDERING: Release pairs with the Acquire in `get`. Relaxed on failure: the caller finds the other
        // thread's segment by `get`, which acquires.
        let place = self.segment_or_make(segment);
        let made = place.compare_exchange(null, elements.cast(), Ordering::Release, Ordering::Relaxed);
        if made.is_err() {
            // SAFETY: this thread made the box above, and the exchange has failed: no other thread has its address.
            drop(unsafe { Box::from_raw(elements) });
        }
    }

    /// All elements that exist, in order. Loads each segment only when the iteration gets there.
    pub(crate) fn iter(&self) -> Elements<'_, E, SEGMENTS> {
        Elements { array: self, next: 0 }
    }
}

/// The elements of a [`SegmentedArray`]. Written out, because the compiler would make a dozen functions of adapters for
/// each type of elements.
pub(crate) struct Elements<'a, E, const SEGMENTS: usize> {
    array: &'a SegmentedArray<E, SEGMENTS>,
    next: usize,
}

impl<'a, E, const SEGMENTS: usize> Iterator for Elements<'a, E, SEGMENTS> {
    type Item = (usize, &'a E);

    fn next(&mut self) -> Option<Self::Item> {
        while self.next < SegmentedArray::<E, SEGMENTS>::most(self.array.first) {
            let index = self.next;
            if let Some(element) = self.array.get(index) {
                self.next += 1;
                return Some((index, element));
            }
            // A segment may exist while the one in front of it does not: each is made by the first thread that needs
            // it.
            let (segment, place) = self.array.place(index);
            self.next += self.array.length(segment) - place;
        }
        None
    }
}

impl<E, const SEGMENTS: usize> Drop for SegmentedArray<E, SEGMENTS> {
    fn drop(&mut self) {
        for segment in 0..SEGMENTS {
            let Some(place) = self.segment(segment) else { break };
            // ORDERING: Relaxed; `&mut self`: the owner that drops this has synchronised with all other threads.
            let elements = place.load(Ordering::Relaxed);
            if !elements.is_null() {
                // SAFETY: `make` boxed the segment with this length, and `&mut self` excludes all other threads.
                drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(elements, self.length(segment))) });
            }
        }
        // ORDERING: Relaxed, as above.
        let further = self.further.load(Ordering::Relaxed);
        if !further.is_null() {
            // SAFETY: `segment_or_make` boxed it, and `&mut self` excludes all other threads.
            drop(unsafe { Box::from_raw(further) });
        }
    }
}

/// A [`SegmentedArray`] whose first element is in place, for owners of which most need no other. `SEGMENTS` are those of
/// the others.
pub(crate) struct FirstInPlace<E, const SEGMENTS: usize = USUAL> {
    first: E,
    others: SegmentedArray<E, SEGMENTS>,
}

impl<E, const SEGMENTS: usize> FirstInPlace<E, SEGMENTS> {
    /// The first segment of the other elements will have `length` elements.
    pub(crate) fn new(first: E, length: usize) -> Self {
        Self { first, others: SegmentedArray::new(length) }
    }

    /// As [`SegmentedArray::get`].
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&E> {
        match index.checked_sub(1) {
            None => Some(&self.first),
            Some(index) => self.others.get(index),
        }
    }

    /// As [`SegmentedArray::get_or_make`].
    pub(crate) fn get_or_make(&self, index: usize, make: impl FnMut() -> E) -> &E {
        match index.checked_sub(1) {
            None => &self.first,
            Some(index) => self.others.get_or_make(index, make),
        }
    }

    /// As [`SegmentedArray::iter`].
    pub(crate) fn iter(&self) -> AllElements<'_, E, SEGMENTS> {
        AllElements { first: Some(&self.first), others: self.others.iter() }
    }
}

/// The elements of a [`FirstInPlace`].
pub(crate) struct AllElements<'a, E, const SEGMENTS: usize> {
    first: Option<&'a E>,
    others: Elements<'a, E, SEGMENTS>,
}

impl<'a, E, const SEGMENTS: usize> Iterator for AllElements<'a, E, SEGMENTS> {
    type Item = (usize, &'a E);

    fn next(&mut self) -> Option<Self::Item> {
        match self.first.take() {
            Some(first) => Some((0, first)),
            None => self.others.next().map(|(index, element)| (index + 1, element)),
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::sync::Arc;

    use super::{FirstInPlace, SegmentedArray};

    #[test]
    fn an_element_in_place_is_the_first_of_all() {
        let array = FirstInPlace::<char>::new('a', 2);
        assert!(array.iter().eq([(0, &'a')]) && array.get(1).is_none());
        assert_eq!((array.get_or_make(0, || unreachable!()), array.get_or_make(2, || 'b')), (&'a', &'b'));
        assert!(array.iter().eq([(0, &'a'), (1, &'b'), (2, &'b')]));
    }

    #[test]
    fn every_element_has_a_place_of_its_own() {
        for first in [1, 64] {
            let array = SegmentedArray::<usize>::new(first);
            let most = SegmentedArray::<usize>::most(first).min(20_000);
            assert!(array.get(0).is_none() && array.iter().next().is_none());
            let mut next = 0;
            for index in 0..most {
                array.get_or_make(index, || {
                    next += 1;
                    next - 1
                });
            }
            assert!((0..most).all(|index| array.get(index) == Some(&index)));
            assert!(array.iter().take(most).all(|(index, element)| index == *element));
        }
    }

    #[test]
    fn an_element_is_found_behind_a_segment_that_is_missing() {
        let array = SegmentedArray::<char>::new(2);
        array.get_or_make(7, || 'c');
        array.get_or_make(0, || 'a');
        // The segment of elements 2 to 5 has not been made.
        let indices: Vec<usize> = array.iter().map(|(index, _)| index).collect();
        assert_eq!(indices, [0, 1, 6, 7, 8, 9, 10, 11, 12, 13]);
        assert!(array.iter().all(|(index, element)| *element == if index < 2 { 'a' } else { 'c' }));
    }

    #[test]
    fn a_segment_that_another_was_quicker_to_make_is_thrown_away() {
        let (quick, slow) = (Arc::new(()), Arc::new(()));
        let array = SegmentedArray::<Arc<()>>::new(2);
        let found = array.get_or_make(1, || {
            // As another thread would meanwhile.
            array.get_or_make(0, || quick.clone());
            slow.clone()
        });
        assert!(Arc::ptr_eq(found, &quick));
        assert_eq!((Arc::strong_count(&quick), Arc::strong_count(&slow)), (3, 1));
        drop(array);
        assert_eq!(Arc::strong_count(&quick), 1);
    }
}
