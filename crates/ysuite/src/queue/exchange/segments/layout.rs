//! Where things are in the memory of one segment, and that memory. Any thread; only the kernel can make it wait.
//!
//! ```text
//!  │ flag flag … slot slot … │ flag flag … slot slot … │ …          │ mark mark mark …
//!  └──────── group ──────────┘                                      └ own pages
//! ```
//!
//! The queue begins in the last groups of its first segment, and the memory of that segment begins there too: a queue of
//! few messages is a small allocation. It has marks for these groups only.
//!
//! A slot's *flag* is in the line of the slot, or near it, so that a reader learns of a message and gets it with one
//! line. Its *mark*, by which a reader says that it has finished, is elsewhere: readers write no line that a writer
//! needs, and the marks of segments that no reader has used yet take no memory.

use core::alloc::Layout;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use crate::os;
use crate::queue::{prefetch_for_write, prefetch_lines_for_write};
use crate::sync::{AtomicU8, UnsafeCell};

/// A flag or a mark: the lap in which the slot was last written, or last emptied.
pub(super) type Flag = AtomicU8;
/// Space for one message.
pub(super) type MessageSlot<T> = UnsafeCell<MaybeUninit<T>>;

const LINE: usize = 64;
/// How far ahead a writer prefetches: groups of one line, or messages.
const AHEAD: usize = 2;
const PAGE: usize = 4096;
/// How many bytes of groups a segment has, at most, unless a single group has more. What a burst leaves is a segment and
/// its marks. Tests that widen windows have small segments, so that their boundaries are reached often.
const TARGET: usize = if cfg!(ysuite_delay) { 256 } else { 32 * 1024 };
/// The bytes of groups of the first segment, unless a single group has more.
const FIRST_TARGET: usize = if cfg!(ysuite_delay) { 64 } else { 256 };
/// The most slots of a group whose messages are too large to share lines with others, and the most bytes, unless a single
/// message has more.
const LARGE: usize = 8;
const LARGE_TARGET: usize = 2 * TARGET;
const FLAG: usize = size_of::<Flag>();

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

const fn round_up(value: usize, align: usize) -> usize {
    value.div_ceil(align) * align
}

/// The layout of a segment of messages of type `T`. All in bytes unless said otherwise. In a model a segment has two
/// slots: the models explore its boundaries.
pub(super) struct SegmentLayout<T>(PhantomData<T>);

impl<T> SegmentLayout<T> {
    /// Slots of a group.
    pub(super) const SLOTS: usize = Self::SHAPE.0;
    /// From one group to the next.
    const STRIDE: usize = Self::SHAPE.1;
    /// From a group to its first slot.
    const FIRST: usize = Self::first(Self::SLOTS);
    /// From one slot to the next.
    const STEP: usize = size_of::<MessageSlot<T>>();
    /// The number of groups of a segment. A power of two, so that a segment's number is a shift away.
    const GROUPS: usize = if cfg!(ysuite_loom) {
        1
    } else {
        match (TARGET / Self::STRIDE).checked_ilog2() {
            Some(exponent) => 1 << exponent,
            None => 1,
        }
    };
    /// The number of slots of a segment.
    pub(super) const ALL: usize = Self::GROUPS * Self::SLOTS;
    /// The slot, counted from the first, whose writer ensures that the next segment exists in time.
    pub(super) const HALF: usize = Self::GROUPS / 2 * Self::SLOTS;

    /// The number of groups that the first segment does not have.
    const MISSING: usize = match FIRST_TARGET.checked_div(Self::STRIDE) {
        Some(groups) => Self::GROUPS.saturating_sub(max(groups, 1)),
        None => 0,
    };
    /// The position where a queue begins: the first slot that its first segment has.
    pub(super) const START: u64 = (Self::MISSING * Self::SLOTS) as u64;

    /// All groups: what a segment takes, except its marks.
    pub(super) const BODY: usize = Self::GROUPS * Self::STRIDE;
    /// From the segment to its first mark: on pages of its own, except for marks that are few.
    const MARKS: usize = if Self::ALL * FLAG <= LINE { Self::BODY } else { round_up(Self::BODY, PAGE) };
    const ALIGN: usize = max(Self::LEAST_ALIGN, LINE);
    /// Of the first segment, whose few groups need not be lines.
    const LEAST_ALIGN: usize = max(align_of::<MessageSlot<T>>(), align_of::<Flag>());

    /// From a group of `slots` slots to its first slot.
    const fn first(slots: usize) -> usize {
        round_up(slots * FLAG, align_of::<MessageSlot<T>>())
    }

    /// The number of slots that fit, with their flags, into `bytes` bytes.
    const fn fit(bytes: usize) -> usize {
        let mut slots = bytes / (FLAG + Self::STEP);
        while slots > 0 && Self::first(slots) + slots * Self::STEP > bytes {
            slots -= 1;
        }
        slots
    }

    /// Slots of a group, and its stride: as few lines as are used up except for an eighth, or a few large messages.
    const SHAPE: (usize, usize) = {
        let mut lines = if cfg!(ysuite_loom) { usize::MAX } else { 1 };
        let mut shape = (0, 0);
        while lines <= 8 {
            let slots = Self::fit(lines * LINE);
            if slots > 0 && (lines * LINE - slots * (FLAG + Self::STEP)) * 8 <= lines * LINE {
                shape = (slots, lines * LINE);
                break;
            }
            lines *= 2;
        }
        if shape.0 == 0 {
            let many = match LARGE_TARGET.checked_div(Self::STEP) {
                Some(many) => many,
                None => LARGE,
            };
            let most = if cfg!(ysuite_loom) { 2 } else { LARGE };
            let slots = if many > most { most } else { max(many, 1) };
            let slots = if cfg!(ysuite_loom) { most } else { slots };
            let align = max(align_of::<MessageSlot<T>>(), align_of::<Flag>());
            shape = (slots, round_up(Self::first(slots) + slots * Self::STEP, align));
        }
        shape
    };

    /// # Panics
    /// Where such a segment does not fit into the address space.
    pub(super) fn layout(extent: Extent) -> Layout {
        let missing = extent.missing::<T>();
        let align = if missing == 0 { Self::ALIGN } else { Self::LEAST_ALIGN };
        // MUTANT: Memory only: one byte more is allocated and freed by the same layout.
        let bytes = (Self::MARKS - missing * Self::STRIDE).checked_add((Self::ALL - missing * Self::SLOTS) * FLAG);
        bytes
            .and_then(|bytes| Layout::from_size_align(bytes, align).ok())
            .expect("a message too large for the address space")
    }
}

/// How much of a segment exists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// From [`START`](SegmentLayout::START) on: the first segment.
    Begun,
    Whole,
}

impl Extent {
    /// The extent of the segment with this index in the directory.
    pub(super) const fn of<T>(index: usize) -> Self {
        if index == 0 && SegmentLayout::<T>::MISSING != 0 { Self::Begun } else { Self::Whole }
    }

    /// The number of groups that do not exist.
    const fn missing<T>(self) -> usize {
        match self {
            Self::Begun => SegmentLayout::<T>::MISSING,
            Self::Whole => 0,
        }
    }
}

/// A position taken apart.
pub(super) struct Place<T> {
    /// The number of the segment.
    pub(super) number: u64,
    /// Which group of the segment, and which slot of the group.
    group: usize,
    slot: usize,
    /// Which slot of the segment. It follows from the two above; to compute it takes five instructions per message.
    index: usize,
    kind: PhantomData<SegmentLayout<T>>,
}

impl<T> Clone for Place<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Place<T> {}

impl<T> Place<T> {
    #[inline(always)]
    pub(super) fn of(position: u64) -> Self {
        let group = position / SegmentLayout::<T>::SLOTS as u64;
        let number = group / SegmentLayout::<T>::GROUPS as u64;
        Self {
            number,
            group: (group % SegmentLayout::<T>::GROUPS as u64) as usize,
            slot: (position % SegmentLayout::<T>::SLOTS as u64) as usize,
            index: (position - number * SegmentLayout::<T>::ALL as u64) as usize,
            kind: PhantomData,
        }
    }

    /// The first place of a segment.
    #[inline(always)]
    pub(super) fn first(number: u64) -> Self {
        Self { number, group: 0, slot: 0, index: 0, kind: PhantomData }
    }

    /// The place `slots` slots further on, in the same group or the first of the next; after the last place of the segment,
    /// one that it does not have.
    #[inline(always)]
    pub(super) fn behind(self, slots: usize) -> Self {
        let (index, slot) = (self.index + slots, self.slot + slots);
        if slot < SegmentLayout::<T>::SLOTS {
            Self { slot, index, ..self }
        } else {
            Self { group: self.group + 1, slot: 0, index, ..self }
        }
    }

    /// How many of the next `most` slots are in this one's group.
    #[inline(always)]
    pub(super) fn run(self, most: usize) -> usize {
        most.min(SegmentLayout::<T>::SLOTS - self.slot)
    }

    /// The number of slots of the segment that are before this one.
    #[inline(always)]
    pub(super) fn index(self) -> usize {
        self.index
    }

    /// How many slots of the segment there are from this one on, itself among them.
    #[inline(always)]
    pub(super) fn left(self) -> usize {
        SegmentLayout::<T>::ALL - self.index()
    }

    // MUTANT: Speed only: when the next segment is made.
    /// Whether this is the first slot of a segment's first half or of its second half.
    #[inline(always)]
    pub(super) fn begins_half(self) -> bool {
        const { assert!(SegmentLayout::<T>::GROUPS.is_power_of_two()) };
        self.slot == 0 && self.group & (SegmentLayout::<T>::GROUPS / 2).saturating_sub(1) == 0
    }

    /// Whether this is the first slot of the segment.
    #[inline(always)]
    pub(super) fn is_first(self) -> bool {
        self.slot == 0 && self.group == 0
    }

    // MUTANT: Speed only: how often lines are prefetched. The next segment is made at the start of a group anyway.
    /// Whether this is the first slot of a group.
    #[inline(always)]
    pub(super) fn begins_group(self) -> bool {
        self.slot == 0
    }
}

/// The memory of a segment, by address. The positions of the queue decide which thread may touch which slot.
pub(super) struct SegmentMemory<T>(NonNull<u8>, PhantomData<SegmentLayout<T>>);

impl<T> Clone for SegmentMemory<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SegmentMemory<T> {}

impl<T> SegmentMemory<T> {
    // MUTANT: Models only: atomics and cells are objects only there.
    /// Fresh memory: all flags and marks are 0. No pages are in place yet. Aborts where there is no memory, as
    /// allocation does.
    pub(super) fn allocate(extent: Extent) -> Self {
        let memory = os::reserve(SegmentLayout::<T>::layout(extent));
        // The missing groups would be before the allocated memory.
        let memory = memory.as_ptr().wrapping_sub(extent.missing::<T>() * SegmentLayout::<T>::STRIDE);
        let memory = Self(NonNull::new(memory).expect("an allocation in the first pages"), PhantomData);
        if cfg!(ysuite_loom) {
            // In a model atomics and cells are objects. Elsewhere zeros are atomics, and slots are not initialised.
            for place in Self::places(extent) {
                // SAFETY: this thread has just allocated the memory, and the addresses are in it, aligned, by `layout`.
                unsafe {
                    memory.flag_at(place).write(Flag::new(0));
                    memory.marks(extent).at(place).write(Flag::new(0));
                    memory.slot_at(place).write(MessageSlot::new(MaybeUninit::uninit()));
                }
            }
        }
        memory
    }

    // MUTANT: Models only: atomics and cells are objects only there.
    /// Gives the memory back. Messages still in it are forgotten.
    ///
    /// # Safety
    /// It came from [`allocate`](Self::allocate) with this extent, and no thread uses it any more.
    pub(super) unsafe fn free(self, extent: Extent) {
        if cfg!(ysuite_loom) {
            for place in Self::places(extent) {
                // SAFETY: `allocate` has written these, and by the caller no other thread uses them.
                unsafe {
                    self.flag_at(place).drop_in_place();
                    self.marks(extent).at(place).drop_in_place();
                    self.slot_at(place).drop_in_place();
                }
            }
        }
        let memory = self.group_at(extent.missing::<T>());
        // SAFETY: by the caller the memory came from `reserve` with exactly this layout, and no thread uses it.
        unsafe { os::deallocate(NonNull::new_unchecked(memory), SegmentLayout::<T>::layout(extent)) };
    }

    // MUTANT: Speed only: populating pages is a hint.
    /// Has the pages of the groups of a whole segment put in place at once. A hint.
    ///
    /// # Safety
    /// It came from [`allocate`](Self::allocate), whole.
    pub(super) unsafe fn populate(self) {
        // SAFETY: the memory is alive as long as its queue, and by the caller it came from `reserve` with this layout.
        unsafe { os::populate(self.0, SegmentLayout::<T>::BODY, SegmentLayout::<T>::layout(Extent::Whole)) };
    }

    /// Gives the pages of a whole segment back to the kernel. From then on flags and marks read as 0, or as before.
    ///
    /// # Safety
    /// It came from [`allocate`](Self::allocate), whole; no message is in it, and no thread writes to it before this
    /// returns.
    pub(super) unsafe fn discard(self) {
        // SAFETY: by the caller; the memory came from `reserve` with this layout. A thread that loads a flag meanwhile
        // finds zero or the flag of an earlier lap, both of which differ from its own.
        unsafe { os::discard(self.0, SegmentLayout::<T>::layout(Extent::Whole)) };
    }

    pub(super) fn from_raw(memory: *mut u8) -> Option<Self> {
        NonNull::new(memory).map(|memory| Self(memory, PhantomData))
    }

    /// # Safety
    /// `memory` came from [`as_raw`](Self::as_raw).
    #[inline(always)]
    pub(super) unsafe fn from_raw_unchecked(memory: *mut u8) -> Self {
        // SAFETY: by the caller it is not null.
        Self(unsafe { NonNull::new_unchecked(memory) }, PhantomData)
    }

    pub(super) fn as_raw(self) -> *mut u8 {
        self.0.as_ptr()
    }

    fn places(extent: Extent) -> impl Iterator<Item = Place<T>> {
        let first = extent.missing::<T>() * SegmentLayout::<T>::SLOTS;
        (first as u64..SegmentLayout::<T>::ALL as u64).map(Place::of)
    }

    #[inline(always)]
    fn group_at(self, group: usize) -> *mut u8 {
        // Wrapping, because a prefetch may name a group beyond the last, and the base of the first segment is before its
        // allocation.
        self.0.as_ptr().wrapping_add(group * SegmentLayout::<T>::STRIDE)
    }

    #[inline(always)]
    fn flag_at(self, place: Place<T>) -> *mut Flag {
        self.group_at(place.group).wrapping_add(place.slot * FLAG).cast()
    }

    #[inline(always)]
    fn slot_at(self, place: Place<T>) -> *mut MessageSlot<T> {
        let offset = SegmentLayout::<T>::FIRST + place.slot * SegmentLayout::<T>::STEP;
        self.group_at(place.group).wrapping_add(offset).cast()
    }

    /// The lap in which the slot was last written.
    #[inline(always)]
    pub(super) fn flag<'a>(self, place: Place<T>) -> &'a Flag {
        // SAFETY: the address is that of a flag of this segment, whose memory lives as long as its queue; flags are
        // only ever borrowed shared.
        unsafe { &*self.flag_at(place) }
    }

    #[inline(always)]
    pub(super) fn slot<'a>(self, place: Place<T>) -> &'a MessageSlot<T> {
        // SAFETY: the address is that of a slot of this segment, whose memory lives as long as its queue; slots are
        // only ever borrowed shared.
        unsafe { &*self.slot_at(place) }
    }

    /// The flags of the next slots, at most `most`, as far as they are in one group.
    #[inline(always)]
    pub(super) fn flags<'a>(self, place: Place<T>, most: usize) -> &'a [Flag] {
        // SAFETY: as in `flag`; those of a group are contiguous.
        unsafe { core::slice::from_raw_parts(self.flag_at(place), place.run(most)) }
    }

    /// As [`flags`](Self::flags), the slots.
    #[inline(always)]
    pub(super) fn slots<'a>(self, place: Place<T>, most: usize) -> &'a [MessageSlot<T>] {
        // SAFETY: as in `slot`; those of a group are contiguous.
        unsafe { core::slice::from_raw_parts(self.slot_at(place), place.run(most)) }
    }

    /// The marks of a segment's memory.
    pub(super) fn marks(self, extent: Extent) -> SegmentMarks<T> {
        // As for the groups, the missing marks would be before the existing ones.
        let missing = extent.missing::<T>() * SegmentLayout::<T>::SLOTS;
        let first = self.0.as_ptr().wrapping_add(SegmentLayout::<T>::MARKS).wrapping_sub(missing * FLAG);
        SegmentMarks(first.cast(), PhantomData)
    }

    // MUTANT: A prefetch, which is a hint.
    /// A writer fills this slot: asks for lines further on, with the intent to write them. A hint.
    #[inline(always)]
    pub(super) fn prefetch(self, place: Place<T>) {
        if SegmentLayout::<T>::STRIDE == LINE {
            if place.begins_group() {
                prefetch_for_write(self.group_at(place.group + AHEAD));
            }
            return;
        }
        let ahead = self.slot_at(place).cast::<u8>().wrapping_add(max(SegmentLayout::<T>::STEP, LINE) * AHEAD);
        prefetch_lines_for_write(ahead, SegmentLayout::<T>::STEP);
    }

    // MUTANT: Speed only: which lines go back to a writer as written ones.
    /// A reader has taken the messages out of these slots of a group: writes a byte without a meaning to each line that
    /// ends in them, so that it goes back to a writer as one that was written, see
    /// [`marks_lines`](crate::os::marks_lines). Not to a line where a writer is at work: the first one has the flags of
    /// the group. With the last slot goes what is left.
    ///
    /// # Safety
    /// The slots are empty, and this thread alone uses them.
    #[inline(always)]
    pub(super) unsafe fn mark_lines(self, place: Place<T>, slots: usize) {
        if cfg!(ysuite_loom) {
            let mark = |slot: &MessageSlot<T>| {
                // SAFETY: by the caller; in a model a slot is an object.
                slot.with_mut(|slot| unsafe { slot.cast::<u8>().write_volatile(0) });
            };
            return self.slots(place, slots).iter().for_each(mark);
        }
        let (slot, bytes) = (self.slot_at(place), slots * SegmentLayout::<T>::STEP);
        let (slot, mut at) = (slot.cast::<u8>(), 0);
        let flags = self.group_at(place.group).addr() / LINE;
        let is_last = place.slot + slots == SegmentLayout::<T>::SLOTS;
        while at < bytes {
            let line = (slot.addr() + at) / LINE;
            let next = (line + 1) * LINE - slot.addr();
            if is_last || line != flags && next <= bytes {
                // SAFETY: by the caller; the byte is in one of the slots.
                unsafe { slot.add(at).write_volatile(0) };
            }
            at = next;
        }
    }
}

/// The marks of a segment: the address of the mark of its first slot, even if that one does not exist.
pub(super) struct SegmentMarks<T>(*mut Flag, PhantomData<SegmentLayout<T>>);

impl<T> Clone for SegmentMarks<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SegmentMarks<T> {}

impl<T> SegmentMarks<T> {
    /// # Safety
    /// `marks` came from [`as_raw`](Self::as_raw).
    #[inline(always)]
    pub(super) unsafe fn from_raw(marks: *mut Flag) -> Self {
        Self(marks, PhantomData)
    }

    pub(super) fn as_raw(self) -> *mut Flag {
        self.0
    }

    #[inline(always)]
    fn at(self, place: Place<T>) -> *mut Flag {
        self.0.wrapping_add(place.index())
    }

    /// The lap in which the slot was last emptied.
    #[inline(always)]
    pub(super) fn get<'a>(self, place: Place<T>) -> &'a Flag {
        // SAFETY: the address is that of a mark of a segment, whose memory lives as long as its queue: the first segment
        // has no place before the queue's first. Marks are only ever borrowed shared.
        unsafe { &*self.at(place) }
    }

    /// The marks of `slots` slots.
    #[inline(always)]
    pub(super) fn run<'a>(self, place: Place<T>, slots: usize) -> &'a [Flag] {
        // SAFETY: as in `get`; marks are contiguous.
        unsafe { core::slice::from_raw_parts(self.at(place), slots) }
    }

    /// All marks of a segment of this extent.
    pub(super) fn all<'a>(self, extent: Extent) -> &'a [Flag] {
        let missing = extent.missing::<T>() * SegmentLayout::<T>::SLOTS;
        // SAFETY: as in `get`; marks are contiguous.
        unsafe { core::slice::from_raw_parts(self.0.wrapping_add(missing), SegmentLayout::<T>::ALL - missing) }
    }
}

#[cfg(all(test, not(ysuite_loom), not(ysuite_delay)))]
mod tests {
    use super::{Extent, LINE, Place, SegmentLayout, SegmentMemory};

    fn nothing_overlaps<T>() {
        [Extent::Begun, Extent::Whole].into_iter().for_each(nothing_overlaps_in::<T>);
    }

    fn nothing_overlaps_in<T>(extent: Extent) {
        let memory = SegmentMemory::<T>::allocate(extent);
        let layout = SegmentLayout::<T>::layout(extent);
        let begin = memory.group_at(extent.missing::<T>()).addr();
        let end = begin + layout.size();
        assert_eq!(begin % layout.align(), 0);
        let places = || SegmentMemory::<T>::places(extent);
        let marks = memory.marks(extent).all(extent).iter().map(core::ptr::from_ref);
        assert!(marks.eq(places().map(|place| memory.marks(extent).at(place).cast_const())));
        let mut ranges = Vec::new();
        for place in places() {
            for (at, size, align) in [
                (memory.flag_at(place).addr(), 1, 1),
                (memory.marks(extent).at(place).addr(), 1, 1),
                (memory.slot_at(place).addr(), size_of::<T>(), align_of::<T>()),
            ] {
                assert!(at >= begin && at + size <= end && at % align == 0);
                ranges.push((at, at + size));
            }
        }
        ranges.retain(|(from, to)| from != to);
        ranges.sort_unstable();
        assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0));
        // SAFETY: allocated above, and used by this thread alone.
        unsafe { memory.free(extent) };
    }

    #[repr(align(256))]
    struct Aligned<const N: usize>([u8; N]);
    #[repr(align(8192))]
    struct Page;

    #[test]
    fn flags_slots_and_marks_have_places_of_their_own() {
        nothing_overlaps::<()>();
        nothing_overlaps::<u8>();
        nothing_overlaps::<u16>();
        nothing_overlaps::<u32>();
        nothing_overlaps::<u64>();
        nothing_overlaps::<u128>();
        nothing_overlaps::<[u8; 3]>();
        nothing_overlaps::<[u64; 3]>();
        nothing_overlaps::<[u64; 4]>();
        nothing_overlaps::<[u8; 29]>();
        nothing_overlaps::<[u64; 8]>();
        nothing_overlaps::<[u8; 100]>();
        nothing_overlaps::<[u64; 125]>();
        nothing_overlaps::<[u8; 40_000]>();
        nothing_overlaps::<[u8; 1 << 20]>();
        nothing_overlaps::<Aligned<1>>();
        nothing_overlaps::<Aligned<0>>();
        nothing_overlaps::<Aligned<3000>>();
        nothing_overlaps::<Page>();
    }

    /// Those of the first two groups whose lines are marked behind a slot; all other bytes stay as they are.
    fn marks_in_order<T>() -> usize {
        let memory = SegmentMemory::<T>::allocate(Extent::Whole);
        let groups = 2.min(SegmentLayout::<T>::GROUPS);
        let (start, bytes) = (memory.group_at(0), groups * SegmentLayout::<T>::STRIDE);
        let mut marked = 0;
        for place in SegmentMemory::<T>::places(Extent::Whole).take(groups * SegmentLayout::<T>::SLOTS) {
            let slot = memory.slot_at(place).addr() - start.addr();
            // SAFETY: the groups are there, their bytes have no padding in a test, and this thread alone uses them.
            let found: Vec<_> = unsafe {
                start.write_bytes(7, bytes);
                memory.mark_lines(place, 1);
                (0..bytes).filter(|at| start.add(*at).read() != 7).collect()
            };
            assert!(found.iter().all(|at| (slot..slot + SegmentLayout::<T>::STEP).contains(at)), "{found:?}");
            let lines = found.iter().map(|at| (start.addr() + at) / LINE);
            assert!(lines.clone().is_sorted_by(|one, other| one < other));
            // A line of flags while a writer may be at work in the group.
            let is_last = place.slot + 1 == SegmentLayout::<T>::SLOTS;
            let flags = memory.group_at(place.group).addr() / LINE;
            assert!(is_last || lines.clone().all(|line| line != flags));
            marked += found.len();
        }
        // SAFETY: allocated above, and used by this thread alone.
        unsafe { memory.free(Extent::Whole) };
        marked
    }

    #[test]
    fn of_each_group_all_lines_are_marked_but_for_one_of_flags_and_in_slots_alone() {
        // Groups of one line, and of eight lines with seven messages, the first of which ends in the second line.
        assert_eq!([marks_in_order::<u64>(), marks_in_order::<[u64; 3]>(), marks_in_order::<[u64; 8]>()], [2, 2, 14]);
        assert!(marks_in_order::<[u8; 100]>() >= 2 && marks_in_order::<[u8; 1]>() >= 2);
        // Of its four lines and a piece, as the next message has the rest.
        assert!(marks_in_order::<[u64; 32]>() >= 2 * 4);
    }

    /// How many bytes are marked behind all slots of a group at once.
    fn marks_of_a_group<T>() -> usize {
        let memory = SegmentMemory::<T>::allocate(Extent::Whole);
        let place = Place::of(0);
        let (start, bytes) = (memory.group_at(0), SegmentLayout::<T>::STRIDE);
        let slots = memory.slot_at(place).addr() - start.addr();
        // SAFETY: as in `marks_in_order`.
        let found: Vec<_> = unsafe {
            start.write_bytes(7, bytes);
            memory.mark_lines(place, SegmentLayout::<T>::SLOTS);
            (0..bytes).filter(|at| start.add(*at).read() != 7).collect()
        };
        let all = slots..slots + SegmentLayout::<T>::SLOTS * SegmentLayout::<T>::STEP;
        assert!(found.iter().all(|at| all.contains(at)), "{found:?}");
        let lines: Vec<_> = found.iter().map(|at| (start.addr() + at) / LINE).collect();
        assert!(lines.is_sorted_by(|one, other| one < other));
        // SAFETY: allocated above, and used by this thread alone.
        unsafe { memory.free(Extent::Whole) };
        found.len()
    }

    #[test]
    fn each_line_of_a_group_that_was_read_at_once_is_marked_once() {
        assert_eq!(
            [marks_of_a_group::<u64>(), marks_of_a_group::<[u64; 3]>(), marks_of_a_group::<[u64; 8]>()],
            [1, 2, 8]
        );
        assert_eq!(marks_of_a_group::<u8>(), 1);
    }

    #[cfg(all(target_os = "linux", not(miri), not(ysuite_portable)))]
    #[test]
    fn what_a_segment_has_written_goes_back_to_the_kernel_by_one_call() {
        use crate::os::calls;
        use crate::sync::Ordering::Relaxed;

        let memory = SegmentMemory::<u64>::from_raw(SegmentMemory::<u64>::allocate(Extent::Whole).as_raw())
            .expect("it is there");
        let (flag, mark) = (memory.flag(Place::of(0)), memory.marks(Extent::Whole).get(Place::of(0)));
        flag.store(1, Relaxed);
        mark.store(1, Relaxed);
        let before = calls();
        // SAFETY: no message is in it, and this thread alone has it.
        unsafe { memory.discard() };
        assert_eq!((flag.load(Relaxed), mark.load(Relaxed), calls() - before), (0, 0, 1));
        // SAFETY: allocated above, and used no more.
        unsafe { memory.free(Extent::Whole) };
    }

    fn bytes_each<T>() -> f64 {
        SegmentLayout::<T>::BODY as f64 / SegmentLayout::<T>::ALL as f64
    }

    #[test]
    fn messages_lie_close_together() {
        assert!(bytes_each::<u64>() < 9.2);
        assert!(bytes_each::<u32>() < 5.5);
        assert!(bytes_each::<u8>() <= 2.0);
        assert!(bytes_each::<u128>() < 19.0);
        assert!(bytes_each::<[u64; 4]>() < 40.0);
        assert!(bytes_each::<[u64; 32]>() < 260.0);
        assert_eq!(SegmentLayout::<u64>::ALL, 7 * 512);
    }

    /// The memory of a queue that never had many messages.
    #[test]
    fn the_first_segment_is_small() {
        fn messages_and_bytes<T>() -> (u64, usize) {
            (
                SegmentLayout::<T>::ALL as u64 - SegmentLayout::<T>::START,
                SegmentLayout::<T>::layout(Extent::Begun).size(),
            )
        }
        assert_eq!(messages_and_bytes::<u64>(), (28, 256 + 28));
        assert_eq!(messages_and_bytes::<u8>(), (128, 256 + 128));
        assert_eq!(messages_and_bytes::<[u64; 4]>().0, 7);
        assert_eq!(messages_and_bytes::<[u64; 32]>().0, 8);
        assert_eq!(messages_and_bytes::<[u64; 512]>().0, 8);
        assert_eq!(SegmentLayout::<[u8; 1 << 20]>::START, 0);
    }

    #[test]
    fn a_position_is_a_segment_and_a_place_there() {
        let all = SegmentLayout::<u64>::ALL as u64;
        for position in (0..3 * all).chain((1 << 62)..(1 << 62) + all) {
            let place = Place::<u64>::of(position);
            assert_eq!((place.number, place.index() as u64), (position / all, position % all));
            let next = Place::<u64>::of(position + 1);
            if next.number == place.number {
                assert_eq!((place.behind(1).group, place.behind(1).slot), (next.group, next.slot));
            }
        }
    }
}
