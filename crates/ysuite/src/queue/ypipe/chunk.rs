//! A chunk: a piece of the queue, many *groups* long. A group is one to sixteen cache lines that hold a state word and the
//! slots that it describes, so that a reader learns of a small message and gets it with one line.
//!
//! ```text
//!  header │ state slot slot … slot │ state slot slot … slot │ …
//!         └────── group ───────────┘
//! ```
//!
//! The state word says up to which slot the group is published: `address of the newest published slot + lap`. Each time
//! a chunk goes round, its lap is higher by more than a group's length, so a state of an earlier lap reads as "nothing
//! published", and the reader never writes a state. Memory only; no thread waits here. The callers keep the bounds.
//!
//! Laps wrap, on 32 bits after some hundred thousand chunks. A lap counts as earlier if the difference is less than
//! half of all numbers. So a fresh chunk is marked for the lap it is made for, and a chunk that has been away for
//! longer is marked again.
//!
//! Where things are in a group depends on the type of the messages, and is all that does. [`Geometry`] knows it when the
//! program is compiled: for what is done for each message or group. [`Shape`] has the same when it runs: for all else,
//! which is compiled once for all types. A type without a size may be of any [`SlotClass`]: its places are known only
//! when the program runs.

use core::alloc::Layout;
use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, needs_drop};
use core::ptr::{self, NonNull};

use crate::os;
use crate::queue::prefetch_lines_for_write;
use crate::sync::{AtomicPtr, AtomicUsize, Handed, Ordering, UnsafeCell};

// REUSED: positions of messages, which wrap; held by nothing beyond the queue's length; compared by difference; by
//     construction
/// Published extent of a group; written by the writer only.
pub(super) type GroupState = AtomicUsize;
/// Space for one message; written by the writer before the state says so, moved out by the reader afterwards.
pub(super) type Slot<T> = UnsafeCell<MaybeUninit<T>>;

const LINE: usize = 64;
/// The number of groups ahead for which the writer prefetches lines.
const AHEAD: usize = 2;
/// Bytes of a group of at least four messages that are not small.
const LONG: usize = 8 * LINE;
/// Bytes of a group of at least six messages that are longer.
const VAST: usize = 16 * LINE;
/// Size of a chunk of a queue that streams, in bytes. It stays when a burst is over, with what else a channel has in less
/// than 64 KiB.
const CHUNK_BYTES: usize = 60 * 1024;
/// Size of a great chunk of a lane, in bytes. See [`Geometry::GREAT`].
const GREAT_BYTES: usize = 31 * 1024;

/// Chunks of at most this many bytes of groups are made with room to be aligned, and not by an aligned allocation. The
/// pieces that an allocator cuts off for an alignment are used by nobody: a chunk of three lines took five.
const SHIFTED_BYTES: usize = 1024;
/// What the system's allocator aligns everything to.
const ALLOCATED: usize = 16;

/// A lap that is lower by less than this is recognised as earlier: laps are compared by the sign of their difference,
/// to which less than a group's length is added, and no group takes up a quarter of the address space.
const AGE: usize = usize::MAX / 4;

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

const fn round_up(value: usize, align: usize) -> usize {
    value.div_ceil(align) * align
}

/// Where things are within a group. All in bytes unless said otherwise.
pub(super) trait Places: Copy {
    /// Those of a queue of this shape. Where they are constants the argument is not used.
    fn of(shape: &'static Shape) -> Self;
    /// From one slot to the next.
    fn step(self) -> usize;
    /// From the group to its first slot.
    fn first(self) -> usize;
    /// The number of slots of a group.
    fn slots(self) -> usize;
    /// From one group to the next.
    fn stride(self) -> usize;
    /// From one lap to the next: more than any distance within a group.
    fn lap(self) -> usize;
    /// Whether a group is found from a slot's address by a mask: groups of one line or two.
    fn by_mask(self) -> bool;

    /// The reader leaves a group: writes to each of its lines, a byte without a meaning into a slot, so that they go back to
    /// the writer as lines that were written: see [`marks_lines`](crate::os::marks_lines). Or does nothing, where that is
    /// for a seldom case.
    ///
    /// # Safety
    /// The group is one of a live chunk that the reader has not given away, and no thread holds a message in it any more.
    unsafe fn mark(self, group: NonNull<u8>);

    // MUTANT: Speed only: the address of a prefetch is a hint.
    /// The writer enters this group: prefetches the lines of a later one, so that the reader's copies of them are gone when
    /// the writer gets there.
    #[inline(always)]
    fn prefetch_behind(self, group: NonNull<u8>) {
        prefetch_lines_for_write(group.as_ptr().wrapping_add(AHEAD * self.stride()), self.stride());
    }

    /// From the group to one past its last slot.
    fn end(self) -> usize;

    // A compiler that knows the divisor does better than a multiplication; one that does not would divide.
    /// How many slots these bytes of a group are.
    #[inline(always)]
    fn slots_in(self, bytes: usize) -> usize {
        bytes / self.step()
    }

    /// How many groups these bytes of a chunk are.
    #[inline(always)]
    fn groups_in(self, bytes: usize) -> usize {
        bytes / self.stride()
    }

    /// How many groups this number of messages fills, and no more than `most`, which a chunk has.
    #[inline(always)]
    fn groups_of(self, messages: usize, most: usize) -> usize {
        most.min(messages / self.slots())
    }
}

/// The places in groups for messages of type `T`. In a model groups and chunks are tiny: the models explore their
/// boundaries.
pub(super) struct Geometry<T>(&'static Shape, PhantomData<T>);

impl<T> Clone for Geometry<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Geometry<T> {}

impl<T> Places for Geometry<T> {
    #[inline(always)]
    fn of(shape: &'static Shape) -> Self {
        Self(if Self::VARIES { shape } else { Self::SHAPE }, PhantomData)
    }

    #[inline(always)]
    fn step(self) -> usize {
        if Self::VARIES { self.0.step } else { Self::STEP }
    }

    #[inline(always)]
    fn first(self) -> usize {
        if Self::VARIES { self.0.first } else { Self::FIRST }
    }

    #[inline(always)]
    fn slots(self) -> usize {
        if Self::VARIES { self.0.slots } else { Self::SLOTS }
    }

    #[inline(always)]
    fn stride(self) -> usize {
        if Self::VARIES { self.0.stride } else { Self::STRIDE }
    }

    #[inline(always)]
    fn end(self) -> usize {
        if Self::VARIES { self.0.end } else { Self::END }
    }

    #[inline(always)]
    fn lap(self) -> usize {
        if Self::VARIES { self.0.lap } else { Self::LAP }
    }

    #[inline(always)]
    fn by_mask(self) -> bool {
        Self::BY_MASK
    }

    // MUTANT: Speed only: which lines go back to the sender as written ones.
    #[inline(always)]
    unsafe fn mark(self, group: NonNull<u8>) {
        // In a model slots are objects, of which one is enough.
        #[cfg(ysuite_loom)]
        if size_of::<T>() != 0 {
            // SAFETY: by the caller; the group has a last slot.
            unsafe {
                let last = group.add(self.end() - self.step());
                slot::<T>(last).with_mut(|slot| slot.cast::<u8>().write_volatile(0));
            }
        }
        #[cfg(not(ysuite_loom))]
        {
            let mut at = self.first();
            while at < self.end() {
                // SAFETY: by the caller; the byte is in a slot.
                unsafe { group.add(at).write_volatile(0) };
                at += LINE;
            }
        }
    }

    #[inline(always)]
    fn slots_in(self, bytes: usize) -> usize {
        if Self::VARIES { self.0.by_step.divide(bytes) } else { bytes / Self::STEP }
    }

    #[inline(always)]
    fn groups_in(self, bytes: usize) -> usize {
        if Self::VARIES { self.0.by_stride.divide(bytes) } else { bytes / Self::STRIDE }
    }

    #[inline(always)]
    fn groups_of(self, messages: usize, most: usize) -> usize {
        if !Self::VARIES {
            return most.min(messages / Self::SLOTS);
        }
        if messages >= most * self.0.slots { most } else { self.0.by_slots.divide(messages) }
    }
}

impl<T> Geometry<T> {
    /// Whether queues differ in their [`SlotClass`]: of messages that have no size here, and are aligned as words are.
    const VARIES: bool =
        cfg!(not(ysuite_loom)) && size_of::<Slot<T>>() == 0 && align_of::<Slot<T>>() == SlotClass::UNIT;

    // As the type says.
    pub(super) const STEP: usize = Self::OWN.step;
    const FIRST: usize = Self::OWN.first;
    pub(super) const SLOTS: usize = Self::OWN.slots;
    const STRIDE: usize = Self::OWN.stride;
    const END: usize = Self::OWN.end;
    pub(super) const LAP: usize = Self::OWN.lap;
    const BY_MASK: bool = Self::OWN.by_mask;

    const OWN: Shape = Self::shape(size_of::<Slot<T>>(), align_of::<Slot<T>>());

    /// The same at run time.
    pub(super) const SHAPE: &'static Shape =
        &Shape { classes: if Self::VARIES { Self::classes() } else { &[] }, ..Self::OWN };

    /// A function, so that types that have no classes do without the table.
    const fn classes() -> &'static [Shape] {
        Self::CLASSES
    }

    const CLASSES: &'static [Shape] = &{
        let mut shapes = [const { Self::OWN }; CLASSES.len()];
        let mut at = 0;
        while at < CLASSES.len() {
            shapes[at] = Self::shape(CLASSES[at].0, CLASSES[at].1);
            at += 1;
        }
        shapes
    };

    /// Of slots of this size, with this alignment.
    const fn shape(size: usize, slot_align: usize) -> Shape {
        // A zero-sized message still needs distinct slots.
        let step = max(size, slot_align);
        let first = round_up(size_of::<GroupState>(), slot_align);
        let align = max(align_of::<ChunkHeader>(), max(align_of::<GroupState>(), slot_align));
        let (slots, stride) = group(first, step, align);
        let end = first + slots * step;
        // Those of a class are all found by a mask by other languages.
        let is_masked = !cfg!(ysuite_loom)
            && (stride == LINE || stride == 2 * LINE || Self::VARIES && (stride == LONG || stride == VAST));
        let align = max(if is_masked { stride } else { LINE }, align);
        // From an aligned allocation to the first group.
        let room = round_up(HEAD, align);
        Shape {
            step,
            first,
            slots,
            stride,
            end,
            lap: (end + 1).next_power_of_two(),
            groups: if cfg!(ysuite_loom) { 2 } else { max(CHUNK_BYTES.saturating_sub(room) / stride, 1) },
            great: if cfg!(ysuite_loom) { 0 } else { GREAT_BYTES.saturating_sub(room) / stride },
            by_mask: is_masked && !Self::VARIES,
            is_exposed: Self::VARIES,
            align,
            room,
            by_step: Inverse::of(step),
            by_stride: Inverse::of(stride),
            by_slots: Inverse::of(slots),
            classes: &[],
            drop_message: if needs_drop::<T>() { Some(drop_message::<T>) } else { None },
            // SAFETY: by its callers, the slot's memory is there.
            #[cfg(ysuite_loom)]
            make_slot: |at| unsafe { at.cast::<Slot<T>>().write(Slot::new(MaybeUninit::uninit())) },
            // SAFETY: by its callers, the slot was made.
            #[cfg(ysuite_loom)]
            end_slot: |at| unsafe { at.cast::<Slot<T>>().drop_in_place() },
        }
    }
}

/// The number of slots of a group, and its bytes. `first`: where its first slot is; `step`: the bytes of a slot; `align`:
/// the alignment of the group.
///
/// Small messages share a line with their state, or two lines where those have more than twice as many. Of messages that
/// are not much longer than a line, many are in a group of [`LONG`] or [`VAST`] bytes: where each had a state of its own,
/// every line was that of two messages, and a stream took 1.3 to 2 times as long. A longer message has its state in front.
/// `ysuite-shm` has a copy of this rule.
const fn group(first: usize, step: usize, align: usize) -> (usize, usize) {
    let one = LINE.saturating_sub(first) / step;
    let two = (2 * LINE).saturating_sub(first) / step;
    let long = LONG.saturating_sub(first) / step;
    let vast = VAST.saturating_sub(first) / step;
    if cfg!(ysuite_loom) {
        (2, round_up(first + 2 * step, align))
    } else if one > 2 || (one == 2 && two == 4) {
        (one, LINE)
    } else if two > 4 {
        (two, 2 * LINE)
    } else if long > 3 {
        (long, LONG)
    } else if vast > 5 {
        (vast, VAST)
    } else {
        (1, round_up(first + step, align))
    }
}

/// A divisor, as the number by which to multiply instead: 2^32 through it, rounded up. Exact for numbers of less than 2^32
/// through the divisor.
struct Inverse(u64);

impl Inverse {
    const fn of(divisor: usize) -> Self {
        Self((1_u64 << 32).div_ceil(divisor as u64))
    }

    #[inline(always)]
    fn divide(&self, number: usize) -> usize {
        ((number as u64 * self.0) >> 32) as usize
    }
}

/// The size and alignment of slots, as the program that opens a queue says them: for messages whose type has no size.
/// Such messages are moved as nothing, and what their slots hold is for the opener alone to write, read and copy. Where
/// the type of a queue's messages has a size there is one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotClass(u8);

/// Sizes and alignments. The first is what a type without a size has by itself.
const CLASSES: [(usize, usize); 14] = [
    (8, 8),
    (16, 8),
    (24, 8),
    (32, 8),
    (48, 8),
    (64, 8),
    (96, 8),
    (128, 8),
    (16, 16),
    (32, 16),
    (48, 16),
    (64, 16),
    (96, 16),
    (128, 16),
];

impl SlotClass {
    /// What a type is aligned to whose messages may be of any class.
    const UNIT: usize = CLASSES[0].1;

    /// The class of exactly this size and alignment, for messages of type `T`, if there is one.
    #[cfg(feature = "in-place")]
    #[must_use]
    pub fn of<T>(size: usize, align: usize) -> Option<Self> {
        let class = CLASSES.iter().position(|class| *class == (size, align))?;
        Geometry::<T>::VARIES.then_some(Self(class as u8))
    }

    /// How many slots a group has, and how many bytes there are from one group to the next, for slots of this size and
    /// alignment. Groups of a class begin at multiples of those bytes, with a word of state; the first slot follows it as
    /// soon as it is aligned.
    ///
    /// # Panics
    /// If `size` or `align` is 0.
    #[cfg(feature = "in-place")]
    #[must_use]
    pub const fn group(size: usize, align: usize) -> (usize, usize) {
        let first = round_up(size_of::<GroupState>(), align);
        group(first, size, max(align_of::<ChunkHeader>(), align))
    }
}

/// The places in the groups of a queue, and the rest that a queue must know of its type of messages.
pub(crate) struct Shape {
    step: usize,
    first: usize,
    slots: usize,
    stride: usize,
    end: usize,
    lap: usize,
    /// Groups in a chunk of a queue that streams.
    pub(super) groups: usize,
    /// Groups in a great chunk, of a queue of small chunks that has become long: as many as the system's allocator
    /// gives without a call to the kernel, which would clear the pages each time.
    pub(super) great: usize,
    by_mask: bool,
    /// To Rust a message is nothing: code that uses what is in its slot has the address alone.
    is_exposed: bool,
    by_step: Inverse,
    by_stride: Inverse,
    by_slots: Inverse,
    /// Those of the [`SlotClass`]es, where there are any.
    classes: &'static [Shape],
    /// Of a chunk that is not made with room to be aligned.
    align: usize,
    /// From such a chunk to its first group.
    room: usize,
    /// Drops the message in a slot. None where that does nothing.
    pub(super) drop_message: Option<unsafe fn(NonNull<u8>)>,
    /// Of a model, where slots are objects.
    #[cfg(ysuite_loom)]
    make_slot: unsafe fn(NonNull<u8>),
    #[cfg(ysuite_loom)]
    end_slot: unsafe fn(NonNull<u8>),
}

impl Places for &'static Shape {
    fn of(shape: &'static Shape) -> Self {
        shape
    }

    fn step(self) -> usize {
        self.step
    }

    fn first(self) -> usize {
        self.first
    }

    fn slots(self) -> usize {
        self.slots
    }

    fn stride(self) -> usize {
        self.stride
    }

    fn end(self) -> usize {
        self.end
    }

    fn lap(self) -> usize {
        self.lap
    }

    fn by_mask(self) -> bool {
        self.by_mask
    }

    unsafe fn mark(self, _group: NonNull<u8>) {}
}

impl Shape {
    /// That of the same messages in slots of a class.
    #[inline]
    pub(crate) fn of_class(&'static self, class: SlotClass) -> &'static Self {
        self.classes.get(usize::from(class.0)).unwrap_or(self)
    }

    /// Whether a chunk of this number of groups is aligned within a larger allocation.
    fn is_shifted(&self, groups: usize) -> bool {
        self.align == LINE && !cfg!(ysuite_loom) && groups <= SHIFTED_BYTES && groups * self.stride <= SHIFTED_BYTES
    }

    /// Of a chunk of `groups` groups.
    fn layout(&self, groups: usize) -> Layout {
        let (room, align) =
            if self.is_shifted(groups) { (HEAD + LINE - ALLOCATED, ALLOCATED) } else { (self.room, self.align) };
        let bytes = self.stride.checked_mul(groups).and_then(|bytes| bytes.checked_add(room));
        bytes
            .and_then(|bytes| Layout::from_size_align(bytes, align).ok())
            .expect("a message too large for the address space")
    }

    /// The slots of a group.
    #[cfg(ysuite_loom)]
    fn slots_of(&self, group: NonNull<u8>) -> impl Iterator<Item = NonNull<u8>> {
        // SAFETY: within the group.
        (0..self.slots).map(move |slot| unsafe { group.add(self.first + slot * self.step) })
    }
}

/// # Safety
/// The slot holds a message, which belongs to the caller.
unsafe fn drop_message<T>(at: NonNull<u8>) {
    // SAFETY: by the caller.
    unsafe { slot::<T>(at).with_mut(|message| (*message).assume_init_drop()) };
}

/// From the chunk, which is its header, to its first group.
const HEAD: usize = round_up(size_of::<ChunkHeader>(), max(align_of::<ChunkHeader>(), ALLOCATED));

/// The head of a chunk.
pub(super) struct ChunkHeader {
    /// The chunk after this one; linked by the writer, followed by the reader.
    pub(super) next: AtomicPtr<ChunkHeader>,
    /// The chunk before this one; written and read by the writer only, and only while that chunk holds messages that
    /// are hidden, or beyond a cut. While the chunk is spent: see [`ChunkCache`](super::chunk_cache::ChunkCache).
    pub(super) previous: Cell<*mut ChunkHeader>,
    /// The lap the chunk was last linked for. Used by the writer; in the very first chunk the reader starts from it as
    /// well.
    lap: Cell<usize>,
    /// The number of groups that follow; never changes.
    groups: u32,
    /// From the allocation to the first group; never changes.
    room: u32,
    /// The rest of the chunk as it was made.
    made: Handed,
}

/// A chunk by address. Copied freely between the cursors of writer and reader, which decide what each may do with it.
#[derive(Clone, Copy)]
pub(super) struct Chunk(NonNull<ChunkHeader>);

impl Chunk {
    // MUTANT: Models only: a slot is an object only there.
    /// A fresh chunk of `groups` groups, nothing published in `lap` or in those that come soon after. Aborts where
    /// memory runs out.
    pub(super) fn allocate(shape: &'static Shape, groups: usize, lap: usize) -> Self {
        let allocated = os::allocate(shape.layout(groups));
        if shape.is_exposed {
            allocated.as_ptr().expose_provenance();
        }
        let room = if shape.is_shifted(groups) {
            let head = allocated.as_ptr().addr() + HEAD;
            head.next_multiple_of(LINE) - allocated.as_ptr().addr()
        } else {
            shape.room
        };
        // SAFETY: by `layout` the room is at least a head, and within the allocation.
        let chunk = Self(unsafe { allocated.add(room - HEAD) }.cast());
        let null = ptr::null_mut();
        let header = ChunkHeader {
            next: AtomicPtr::new(null),
            previous: Cell::new(null),
            lap: Cell::new(lap),
            groups: groups as u32,
            room: room as u32,
            made: Handed::default(),
        };
        // SAFETY: no other thread knows the memory. By `layout` it is aligned for a header, and large enough for the
        // header, the groups and their slots.
        unsafe {
            chunk.0.write(header);
            chunk.header().made.written();
            for group in chunk.all_groups(shape) {
                group.cast::<GroupState>().write(GroupState::new(nothing(group, lap)));
                // Any memory is a slot without a message. A model has an object there.
                #[cfg(ysuite_loom)]
                shape.slots_of(group).for_each(|slot| (shape.make_slot)(slot));
            }
        }
        chunk
    }

    // MUTANT: Models only: slots and atomics are objects only there. Killed only by
    // `chunks_whose_messages_are_taken_back_are_used_again_and_given_back`.
    /// Gives the memory back. Messages still in it are forgotten.
    ///
    /// # Safety
    /// No other thread uses this chunk, and no thread will follow a link to it.
    pub(super) unsafe fn free(self, shape: &'static Shape) {
        let (groups, room) = (self.groups(), self.header().room as usize);
        // All readers of the chunk have finished, and are ordered before this: else a model reports a race.
        self.header().made.written();
        // SAFETY: by the caller no other thread uses the chunk; it was allocated with this very layout. The loops below
        // only drop the states and slots that `allocate` wrote (which has an effect only in a model, where atomics are
        // objects).
        unsafe {
            #[cfg(ysuite_loom)]
            for group in self.all_groups(shape) {
                group.cast::<GroupState>().drop_in_place();
                shape.slots_of(group).for_each(|slot| (shape.end_slot)(slot));
            }
            let allocated = self.first().sub(room);
            self.0.drop_in_place();
            os::deallocate(allocated, shape.layout(groups));
        }
    }

    /// Represents no chunk: may be held, and never dereferenced.
    pub(super) fn nowhere() -> Self {
        Self(NonNull::dangling())
    }

    pub(super) fn from_raw(header: *mut ChunkHeader) -> Option<Self> {
        NonNull::new(header).map(Self)
    }

    pub(super) fn as_raw(self) -> *mut ChunkHeader {
        self.0.as_ptr()
    }

    pub(super) fn header(&self) -> &ChunkHeader {
        // SAFETY: cursors and the cache hold only live chunks: they forget a chunk before they hand it over or free it.
        // The header is never borrowed mutably.
        let header = unsafe { self.0.as_ref() };
        header.made.read();
        header
    }

    // MUTANT: Models only: it reports an access to the model checker.
    /// For a caller that comes to this chunk by a link, to check its groups: a model reports it where the chunk may be
    /// freed, or is not initialised.
    #[inline(always)]
    pub(super) fn come(self) {
        if cfg!(ysuite_loom) {
            self.header();
        }
    }

    // MUTANT: Killed only by `chunks_of_a_bare_pipe_whose_messages_are_taken_back_are_used_again_and_given_back`.
    /// The chunk this one is linked to. Only for the thread that has set the link, or the last owner of the queue.
    pub(super) fn next(self) -> Option<Self> {
        // ORDERING: Relaxed; the caller's thread has set the link itself, or has synchronised with the writer that did.
        Self::from_raw(self.header().next.load(Ordering::Relaxed))
    }

    pub(super) fn groups(self) -> usize {
        self.header().groups as usize
    }

    /// The lap the chunk was last linked for. Call as the writer, or before the writer can link the chunk again.
    pub(super) fn lap(self) -> usize {
        self.header().lap.get()
    }

    // REUSED: the lap of a chunk; held by the chunk's own states; harmless: they are marked for the lap for which the
    //     chunk is linked, and marked again after half of all laps; test: src/queue/ypipe/wrapping.rs:
    //     chunks_that_were_away_for_half_the_laps_are_empty
    // MUTANT: Speed only: states that read as nothing are reset earlier than needed.
    /// For the writer, which is about to link a spent chunk for `lap`. Clears states so old that they might read as
    /// published.
    pub(super) fn renew(self, shape: &'static Shape, lap: usize) {
        let before = self.header().lap.replace(lap);
        // Less 1, so that a whole round of all laps counts as long ago, too.
        if lap.wrapping_sub(before).wrapping_sub(1) >= AGE {
            self.clear(shape, lap);
        }
    }

    /// Marks all groups as empty in `lap`.
    #[cold]
    fn clear(self, shape: &'static Shape, lap: usize) {
        for group in self.all_groups(shape) {
            // ORDERING: Relaxed; the writer publishes it with the chunk's link, a Release store in
            // `WriteCursor::next_chunk`, which pairs with the Acquire in `ReadCursor::next_chunk`.
            // SAFETY: one of the chunk's groups, and the chunk is alive: the writer owns it.
            unsafe { state(group) }.store(nothing(group, lap), Ordering::Relaxed);
        }
    }

    fn all_groups(self, shape: &'static Shape) -> impl Iterator<Item = NonNull<u8>> {
        // SAFETY: `index` is below the number of groups, so the address is that of one of the chunk's groups.
        (0..self.groups()).map(move |index| unsafe { self.first().add(index * shape.stride) })
    }

    /// The first group.
    pub(super) fn first(self) -> NonNull<u8> {
        // SAFETY: by `layout` the allocation is at least as long as the head.
        unsafe { self.0.cast::<u8>().add(HEAD) }
    }

    /// One past the last group.
    pub(super) fn end(self, shape: impl Places) -> NonNull<u8> {
        // SAFETY: by `layout` the allocation ends with the last group: the address is one past it.
        unsafe { self.first().add(self.groups() * shape.stride()) }
    }
}

/// The state of a group in which nothing is published in `lap`: below the state of any of its slots.
pub(super) fn nothing(group: NonNull<u8>, lap: usize) -> usize {
    // MUTANT: Any number below the state of the first slot means that nothing is published.
    lap.wrapping_add(group.as_ptr().addr())
}

/// The state word of a group.
///
/// # Safety
/// `group` is a group of a live chunk, for as long as the result is used.
#[inline(always)]
pub(super) unsafe fn state<'a>(group: NonNull<u8>) -> &'a GroupState {
    // SAFETY: by the caller the group is alive. It begins with its state, which `allocate` has written and which is
    // only ever borrowed shared.
    unsafe { group.cast::<GroupState>().as_ref() }
}

/// The slot at an address.
///
/// # Safety
/// `at` is the address of a slot of a live chunk, for as long as the result is used.
#[inline(always)]
pub(super) unsafe fn slot<'a, T>(at: NonNull<u8>) -> &'a Slot<T> {
    // SAFETY: by the caller the slot is alive; `allocate` has written it, and it is only ever borrowed shared.
    unsafe { at.cast::<Slot<T>>().as_ref() }
}

/// The group of an address after its first byte, such as a slot's. `known` is that group, returned where it cannot be
/// found by a mask.
///
/// # Safety
/// `at` is such an address, in the group `known`, or in any group where groups are found by a mask.
#[inline(always)]
pub(super) unsafe fn group_of(shape: impl Places, at: NonNull<u8>, known: NonNull<u8>) -> NonNull<u8> {
    if shape.by_mask() {
        // A mask is cheaper than a load of the cursor's `group`. Such strides are powers of two.
        let within = at.as_ptr().addr() & (shape.stride() - 1);
        // SAFETY: the first group is at a multiple of the stride of such groups, so the group begins at the multiple
        // below, within the same chunk.
        return unsafe { at.sub(within) };
    }
    known
}

#[cfg(all(test, feature = "in-place", not(ysuite_loom)))]
mod tests {
    use super::{CHUNK_BYTES, CLASSES, Chunk, GREAT_BYTES, Geometry, LINE, Places, SlotClass};

    /// Marks each group of a chunk in turn: each of its lines that has a byte of a slot, and nothing else.
    fn marks_slots_alone<T>() {
        let (shape, own) = (Geometry::<T>::of(Geometry::<T>::SHAPE), Geometry::<T>::SHAPE);
        let chunk = Chunk::allocate(own, 3, own.lap);
        let bytes = 3 * own.stride;
        for at in 0..3 {
            // SAFETY: the groups are there, and this thread alone uses them.
            let found: Vec<_> = unsafe {
                let first = chunk.first();
                first.write_bytes(7, bytes);
                shape.mark(first.add(at * own.stride));
                (0..bytes).filter(|at| first.add(*at).read() != 7).collect()
            };
            let slots = at * own.stride + own.first..at * own.stride + own.end;
            assert!(found.iter().all(|at| slots.contains(at)), "{found:?}");
            assert!(found.windows(2).all(|pair| pair[1] - pair[0] == LINE));
            assert!(found[0] == slots.start && found[found.len() - 1] + LINE >= slots.end);
        }
        // SAFETY: this thread alone has the chunk, in which there are no messages.
        unsafe { chunk.free(own) };
    }

    #[test]
    fn of_a_group_that_was_left_all_lines_are_marked_and_no_state() {
        marks_slots_alone::<u8>();
        marks_slots_alone::<u64>();
        marks_slots_alone::<[u64; 3]>();
        marks_slots_alone::<[u64; 4]>();
        marks_slots_alone::<[u64; 5]>();
        marks_slots_alone::<[u64; 8]>();
        marks_slots_alone::<[u8; 100]>();
        marks_slots_alone::<[u64; 32]>();
        marks_slots_alone::<[u64; 600]>();
        marks_slots_alone::<Placed>();
    }

    #[repr(align(8))]
    struct Placed;

    #[repr(C, align(16))]
    struct Aligned<const BYTES: usize>([u8; BYTES]);

    #[repr(C, align(8))]
    struct Words<const BYTES: usize>([u8; BYTES]);

    #[test]
    fn a_class_has_the_shape_of_a_type_of_its_size_and_alignment() {
        fn is_so<T>() {
            let class = SlotClass::of::<Placed>(size_of::<T>(), align_of::<T>()).expect("there is a class");
            let (of, own) = (Geometry::<Placed>::SHAPE.of_class(class), Geometry::<T>::SHAPE);
            assert_eq!((of.step, of.first, of.slots, of.stride), (own.step, own.first, own.slots, own.stride));
            assert_eq!((of.end, of.lap, of.by_mask, own.of_class(class).step), (own.end, own.lap, false, own.step));
            // Other languages find all groups by a mask: those of more than two lines are aligned for that.
            let (align, room) = if own.stride > 2 * LINE { (own.stride, own.stride) } else { (own.align, own.room) };
            assert_eq!((of.align, of.room), (align, room));
            let groups_in = |bytes| (bytes - room) / own.stride;
            assert_eq!((of.groups, of.great), (groups_in(CHUNK_BYTES), groups_in(GREAT_BYTES)));
        }
        let words: [fn(); 8] = [
            is_so::<Words<8>>,
            is_so::<Words<16>>,
            is_so::<Words<24>>,
            is_so::<Words<32>>,
            is_so::<Words<48>>,
            is_so::<Words<64>>,
            is_so::<Words<96>>,
            is_so::<Words<128>>,
        ];
        let aligned: [fn(); 6] = [
            is_so::<Aligned<16>>,
            is_so::<Aligned<32>>,
            is_so::<Aligned<48>>,
            is_so::<Aligned<64>>,
            is_so::<Aligned<96>>,
            is_so::<Aligned<128>>,
        ];
        words.into_iter().chain(aligned).for_each(|is_so| is_so());
        const { assert!(Geometry::<Placed>::VARIES && !Geometry::<()>::VARIES && !Geometry::<u64>::VARIES) };
        assert_eq!(Geometry::<Placed>::SHAPE.step, CLASSES[0].0);
    }

    #[test]
    fn a_product_is_the_quotient_of_every_number_of_bytes_that_a_chunk_may_have() {
        for shape in Geometry::<Placed>::SHAPE.classes {
            let places = Geometry::<Placed>::of(shape);
            for number in 0..=CHUNK_BYTES {
                assert_eq!(places.slots_in(number), number / shape.step);
                assert_eq!(places.groups_in(number), number / shape.stride);
                assert_eq!(places.groups_of(number, shape.groups), (number / shape.slots).min(shape.groups));
            }
            assert_eq!(places.groups_of(isize::MAX as usize, 3), 3);
        }
    }
}
