//! An array that grows and never moves: segments, each twice as long as the one before, made when they are first
//! needed. An array is one word: the pointers to all segments are in a table of their own, made with the second segment.
//!
//! Any thread may call everything. All operations are lock-free (wait-free except for the allocator). No element is
//! removed before the array is dropped. Where two threads make the same segment at once, one of the two copies is
//! thrown away.

#[cfg(all(test, ysuite_loom))]
mod models;

use core::alloc::Layout;
use core::marker::PhantomData;
use core::mem::needs_drop;
use core::ptr::{self, NonNull};

use crate::os;
use crate::sync::{AtomicPtr, Handed, Ordering};

/// How many segments there may be, unless the array's owner says otherwise.
const USUAL: usize = if cfg!(ysuite_loom) { 2 } else { 12 };

// GROWS: segments; bound: `most(first)` elements; full: callers check before; freed with the array; cost: elements;
//     test: src/queue/segmented_array.rs: an_element_is_found_behind_a_segment_that_is_missing
/// `FIRST`: elements of the first segment. `SEGMENTS`: how many segments there may be.
pub(crate) struct SegmentedArray<E, const FIRST: usize, const SEGMENTS: usize = USUAL> {
    untyped: UntypedArray,
    /// The array owns its elements, and lends them to any thread. It takes no part in subtyping.
    owned: PhantomData<(E, AtomicPtr<E>)>,
}

/// The array without the type of its elements, so that most of it is compiled once. The methods get the array's
/// [`Elementary`] facts, which are always the same.
struct UntypedArray {
    /// Null; or the first segment, as long as there is no other; or the table, with [`TABLE`] added.
    root: AtomicPtr<u8>,
}

/// Added to the address of a table. Elements are at even addresses.
const TABLE: usize = 1;

/// The head of a table of the segments, which follow by their number: each null, or `length(segment)` elements.
#[repr(C)]
struct SegmentTable {
    made: Handed,
    segments: [AtomicPtr<u8>; 0],
}

/// What the array must know of its elements.
struct Elementary {
    element: Layout,
    /// Elements of the first segment.
    first: usize,
    segments: usize,
    /// Drops that number of elements. None where that does nothing.
    drop: Option<unsafe fn(*mut u8, usize)>,
}

/// # Safety
/// There are `length` elements, which nothing uses afterwards.
unsafe fn drop_elements<E>(elements: *mut u8, length: usize) {
    // SAFETY: by the caller.
    unsafe { ptr::slice_from_raw_parts_mut(elements.cast::<E>(), length).drop_in_place() };
}

impl Elementary {
    fn length(&self, segment: usize) -> usize {
        self.first << segment
    }

    fn segment(&self, length: usize) -> Layout {
        let bytes = self.element.size().checked_mul(length);
        let layout = bytes.and_then(|bytes| Layout::from_size_align(bytes, self.element.align()).ok());
        layout.expect("a segment that fits into memory")
    }

    fn table(&self) -> Layout {
        let bytes = size_of::<SegmentTable>() + self.segments * size_of::<AtomicPtr<u8>>();
        // SAFETY: a few words, and a type's alignment.
        unsafe { Layout::from_size_align_unchecked(bytes, align_of::<SegmentTable>()) }
    }
}

/// The segment of an element, and its index there.
#[inline]
const fn place(index: usize, first: usize) -> (usize, usize) {
    let row = index / first + 1;
    let segment = row.ilog2() as usize;
    (segment, (row - (1 << segment)) * first + index % first)
}

impl UntypedArray {
    fn new() -> Self {
        Self { root: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The elements of a segment; null where it does not exist.
    #[inline]
    fn elements(&self, segment: usize) -> *mut u8 {
        // ORDERING: Acquire pairs with the Release in `make` and `make_table`: the elements, or the table, are
        // initialised.
        let root = self.root.load(Ordering::Acquire);
        match Self::table(root) {
            // ORDERING: Acquire pairs with the Release in `make`: the elements are initialised.
            // SAFETY: the table is the array's.
            Some(table) => unsafe { Self::segment(table, segment) }.load(Ordering::Acquire),
            None if segment == 0 => root,
            None => ptr::null_mut(),
        }
    }

    /// The table, if that is what the root points to.
    #[inline]
    fn table(root: *mut u8) -> Option<NonNull<SegmentTable>> {
        if root.addr() & TABLE == 0 { None } else { NonNull::new(root.map_addr(|address| address - TABLE).cast()) }
    }

    /// Where a table has the pointer to a segment.
    ///
    /// # Safety
    /// The table is the array's, which lives as long as the result is used.
    #[inline]
    unsafe fn segment<'a>(table: NonNull<SegmentTable>, segment: usize) -> &'a AtomicPtr<u8> {
        // SAFETY: by the caller; `make_table` has made a place for each segment that there may be.
        unsafe {
            table.as_ref().made.read();
            &*Self::pointers(table).add(segment)
        }
    }

    fn pointers(table: NonNull<SegmentTable>) -> *mut AtomicPtr<u8> {
        // SAFETY: within the allocation, which has the pointers behind the head.
        unsafe { (&raw mut (*table.as_ptr()).segments).cast() }
    }

    /// Makes the table, with the first segment, which may be null.
    #[inline(never)]
    fn make_table(&self, first: *mut u8, of: &Elementary) {
        let table: NonNull<SegmentTable> = os::allocate(of.table()).cast();
        // SAFETY: the memory is this thread's alone, and large enough.
        unsafe {
            table.write(SegmentTable { made: Handed::default(), segments: [] });
            table.as_ref().made.written();
            for at in 0..of.segments {
                let segment = if at == 0 { first } else { ptr::null_mut() };
                Self::pointers(table).add(at).write(AtomicPtr::new(segment));
            }
        }
        let root = table.as_ptr().cast::<u8>().map_addr(|address| address + TABLE);
        // ORDERING: Release pairs with the Acquire in `elements` and `make`: the table is initialised; and so are the
        // elements of the first segment, which this thread has acquired. Relaxed on failure: the caller loads the root
        // again, and acquires.
        if self.root.compare_exchange(first, root, Ordering::Release, Ordering::Relaxed).is_err() {
            // SAFETY: this thread made it above, and the exchange has failed: no other thread has its address.
            unsafe { Self::free_table(table, of) };
        }
    }

    // MUTANT: Models only: atomics are objects only there.
    /// # Safety
    /// No thread uses the table afterwards.
    unsafe fn free_table(table: NonNull<SegmentTable>, of: &Elementary) {
        // SAFETY: by the caller; `make_table` has allocated it with this layout.
        unsafe {
            if cfg!(ysuite_loom) {
                (0..of.segments).for_each(|at| Self::pointers(table).add(at).drop_in_place());
                table.drop_in_place();
            }
            os::deallocate(table.cast(), of.table());
        }
    }

    /// Makes a segment; `make` writes an element there.
    #[cold]
    #[inline(never)]
    fn make(&self, segment: usize, of: &Elementary, make: &mut dyn FnMut(*mut u8)) {
        let length = of.length(segment);
        let elements = os::allocate(of.segment(length)).as_ptr();
        // SAFETY: the memory has room for that many elements.
        (0..length).for_each(|at| make(unsafe { elements.add(at * of.element.size()) }));
        loop {
            // ORDERING: Acquire pairs with the Release in `make_table`: the table is initialised; and with the one
            // below: `make_table` hands the first segment on.
            let root = self.root.load(Ordering::Acquire);
            let place = match Self::table(root) {
                // SAFETY: the table is the array's.
                Some(table) => unsafe { Self::segment(table, segment) },
                None if segment == 0 => &self.root,
                None => {
                    self.make_table(root, of);
                    continue;
                }
            };
            // ORDERING: Release pairs with the Acquire in `elements`. Relaxed on failure: the caller finds the other
            // thread's segment by `elements`, which acquires, and this loop a table that has come instead.
            match place.compare_exchange(ptr::null_mut(), elements, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                // Only the root: by another thread, before there was a first segment.
                Err(found) if Self::table(found).is_some() => {}
                Err(_) => break,
            }
        }
        // SAFETY: this thread made them above, and they were put nowhere: no other thread has their address.
        unsafe { Self::free(segment, elements, of) };
    }

    /// # Safety
    /// The elements are those of a segment, or were made for it, and no thread uses them afterwards.
    #[inline(never)]
    unsafe fn free(segment: usize, elements: *mut u8, of: &Elementary) {
        let length = of.length(segment);
        // SAFETY: by the caller; `make` has allocated and initialised them so, with this layout.
        unsafe {
            if let Some(drop) = of.drop {
                drop(elements, length);
            }
            let bytes = of.element.size() * length;
            let layout = Layout::from_size_align_unchecked(bytes, of.element.align());
            os::deallocate(NonNull::new_unchecked(elements), layout);
        }
    }

    /// The first element that exists, from the one with this index on: its index and its address.
    fn find(&self, from: usize, of: &Elementary) -> Option<(usize, *mut u8)> {
        // MUTANT: Speed only: an array without elements is walked for nothing.
        // ORDERING: Relaxed; nothing is done with what it points to.
        if self.root.load(Ordering::Relaxed).is_null() {
            return None;
        }
        let (mut segment, mut place) = place(from, of.first);
        // A segment may exist while the one in front of it does not: each is made by the first thread that needs it.
        while segment < of.segments {
            let elements = self.elements(segment);
            if !elements.is_null() {
                let before = of.first * ((1 << segment) - 1);
                // SAFETY: a segment that is not null has `length(segment)` elements, of which `place` is one.
                return Some((before + place, unsafe { elements.add(place * of.element.size()) }));
            }
            (segment, place) = (segment + 1, 0);
        }
        None
    }

    /// Frees all.
    #[cold]
    #[inline(never)]
    fn end(&mut self, of: &Elementary) {
        for segment in 0..of.segments {
            let elements = self.elements(segment);
            if !elements.is_null() {
                // SAFETY: `&mut self` excludes all other threads.
                unsafe { Self::free(segment, elements, of) };
            }
        }
        // ORDERING: Relaxed; `&mut self`: the owner that drops this has synchronised with all other threads.
        if let Some(table) = Self::table(self.root.load(Ordering::Relaxed)) {
            // SAFETY: as above.
            unsafe { Self::free_table(table, of) };
        }
    }
}

impl<E, const FIRST: usize, const SEGMENTS: usize> SegmentedArray<E, FIRST, SEGMENTS> {
    const OF: &'static Elementary = &Elementary {
        element: Layout::new::<E>(),
        first: FIRST,
        segments: SEGMENTS,
        drop: if needs_drop::<E>() { Some(drop_elements::<E>) } else { None },
    };

    /// The largest number of elements.
    pub(crate) const MOST: usize = FIRST * ((1 << SEGMENTS) - 1);

    pub(crate) fn new() -> Self {
        const { assert!(size_of::<E>() != 0 && align_of::<E>() > TABLE) };
        Self { untyped: UntypedArray::new(), owned: PhantomData }
    }

    /// An element, if its segment exists. `index` is less than the array's [`MOST`](Self::MOST).
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&E> {
        let (segment, place) = place(index, FIRST);
        let elements = self.untyped.elements(segment).cast::<E>();
        // SAFETY: a segment that is not null has `length(segment)` elements, of which `place` is one, and lives as long
        // as `self`.
        (!elements.is_null()).then(|| unsafe { &*elements.add(place) })
    }

    // USER CODE: the constructor of the elements; nothing is linked yet; re-entrance: another thread may make the same
    //     segment, then one of the two is freed; panic: nothing is linked, and what was made is leaked; test:
    //     src/queue/segmented_array.rs: every_element_has_a_place_of_its_own
    /// An element; makes its segment first where that does not exist.
    pub(crate) fn get_or_make(&self, index: usize, mut make: impl FnMut() -> E) -> &E {
        if self.get(index).is_none() {
            // SAFETY: `make` gives addresses of memory for elements.
            self.untyped.make(place(index, FIRST).0, Self::OF, &mut |at| unsafe { at.cast::<E>().write(make()) });
        }
        self.get(index).expect("made just now")
    }

    /// All elements that exist, in order. Loads each segment only when the iteration gets there.
    pub(crate) fn iter(&self) -> Elements<'_, E, FIRST, SEGMENTS> {
        Elements { array: self, next: 0 }
    }
}

/// The elements of a [`SegmentedArray`]. Written out, because the compiler would make a dozen functions of adapters for
/// each type of elements.
pub(crate) struct Elements<'a, E, const FIRST: usize, const SEGMENTS: usize> {
    array: &'a SegmentedArray<E, FIRST, SEGMENTS>,
    next: usize,
}

impl<'a, E, const FIRST: usize, const SEGMENTS: usize> Iterator for Elements<'a, E, FIRST, SEGMENTS> {
    type Item = (usize, &'a E);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (index, element) = self.array.untyped.find(self.next, SegmentedArray::<E, FIRST, SEGMENTS>::OF)?;
        self.next = index + 1;
        // SAFETY: an element, which lives as long as the array.
        Some((index, unsafe { &*element.cast::<E>() }))
    }
}

impl<E, const FIRST: usize, const SEGMENTS: usize> Drop for SegmentedArray<E, FIRST, SEGMENTS> {
    // MUTANT: Speed only: an array without elements is walked for nothing.
    #[inline]
    fn drop(&mut self) {
        // ORDERING: Relaxed; `&mut self`, as in `end`.
        if !self.untyped.root.load(Ordering::Relaxed).is_null() {
            self.untyped.end(Self::OF);
        }
    }
}

/// A [`SegmentedArray`] whose first element is in place, for owners of which most need no other. `FIRST` and `SEGMENTS`
/// are those of the others.
pub(crate) struct FirstInPlace<E, const FIRST: usize, const SEGMENTS: usize = USUAL> {
    first: E,
    others: SegmentedArray<E, FIRST, SEGMENTS>,
}

impl<E, const FIRST: usize, const SEGMENTS: usize> FirstInPlace<E, FIRST, SEGMENTS> {
    pub(crate) fn new(first: E) -> Self {
        Self { first, others: SegmentedArray::new() }
    }

    #[cfg(any(feature = "mpmc", feature = "broadcast"))]
    pub(crate) fn first(&self) -> &E {
        &self.first
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
    pub(crate) fn iter(&self) -> AllElements<'_, E, FIRST, SEGMENTS> {
        AllElements { first: Some(&self.first), others: self.others.iter() }
    }
}

/// The elements of a [`FirstInPlace`].
pub(crate) struct AllElements<'a, E, const FIRST: usize, const SEGMENTS: usize> {
    first: Option<&'a E>,
    others: Elements<'a, E, FIRST, SEGMENTS>,
}

impl<'a, E, const FIRST: usize, const SEGMENTS: usize> Iterator for AllElements<'a, E, FIRST, SEGMENTS> {
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
        let array = FirstInPlace::<char, 2>::new('a');
        assert!(array.iter().eq([(0, &'a')]) && array.get(1).is_none());
        assert_eq!((array.get_or_make(0, || unreachable!()), array.get_or_make(2, || 'b')), (&'a', &'b'));
        assert!(array.iter().eq([(0, &'a'), (1, &'b'), (2, &'b')]));
    }

    #[test]
    fn every_element_has_a_place_of_its_own() {
        fn is_so<const FIRST: usize>() {
            let array = SegmentedArray::<usize, FIRST>::new();
            let most = SegmentedArray::<usize, FIRST>::MOST.min(20_000);
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
        is_so::<1>();
        is_so::<64>();
    }

    #[test]
    fn an_element_is_found_behind_a_segment_that_is_missing() {
        let array = SegmentedArray::<char, 2>::new();
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
        let array = SegmentedArray::<Arc<()>, 2>::new();
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

    /// As another thread would, between the moment when the first segment is made and the one when it is put in place.
    #[test]
    fn a_first_segment_has_its_place_where_a_table_has_come_before_it() {
        let array = SegmentedArray::<char, 2>::new();
        let found = array.get_or_make(1, || {
            array.get_or_make(2, || 'b');
            'a'
        });
        assert_eq!((*found, array.get(0), array.get(5)), ('a', Some(&'a'), Some(&'b')));
        assert_eq!(array.iter().count(), 6);
    }
}
