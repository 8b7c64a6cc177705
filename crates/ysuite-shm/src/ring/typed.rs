//! A ring of messages of one type, in groups of one to sixteen cache lines: a state word and the slots that it describes,
//! so that the reader learns of a small message and gets it with one line.
//!
//! The state is a position: how many messages are published up to here. A reader that stands in the group subtracts the
//! position of the group's first slot: the result is how many slots are published, or else the state is of the lap
//! before. Any other number is a lie. So a state needs no check of its bounds besides this one.
//!
//! A ring has one group more than its capacity needs: a writer never enters the group in which the reader stands.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::bytes::{counted_bytes, load_counted, store_counted};
use super::{Look, load_words, store_words};
use crate::sync::{AtomicU64, Ordering, Step, fence, is_left_out, word_at};
use crate::{Bytes, Message};

const LINE: usize = 64;
/// Bytes of a group of at least four messages that are not small.
const LONG: usize = 8 * LINE;
/// Bytes of a group of at least six messages that are longer.
const VAST: usize = 16 * LINE;

/// Where things are within a group, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// From one slot to the next.
    step: usize,
    /// From the group to its first slot.
    first: usize,
    slots: usize,
    /// From one group to the next.
    stride: usize,
}

impl Places {
    /// For messages of this size and alignment, which is at most a line's.
    pub(crate) const fn of(size: usize, align: usize) -> Self {
        let align = if align > 8 { align } else { 8 };
        let step = if size == 0 { align } else { size.next_multiple_of(align) };
        let first = align;
        let (slots, stride) = group(first, step);
        Self { step, first, slots, stride }
    }

    /// The groups of a ring of this capacity.
    fn groups(&self, capacity: usize) -> Option<usize> {
        if capacity == 0 { None } else { capacity.div_ceil(self.slots).checked_add(1) }
    }

    pub(crate) fn ring_bytes(&self, capacity: usize) -> Option<usize> {
        self.groups(capacity)?.checked_mul(self.stride)
    }
}

/// The number of slots of a group, and its bytes. `first`: where its first slot is; `step`: the bytes of a slot.
///
/// The rule of `ysuite`'s groups, for the same reason: where each message of about a line has a state of its own, every
/// line is that of two messages. A longer message has its state in front.
const fn group(first: usize, step: usize) -> (usize, usize) {
    let one = LINE.saturating_sub(first) / step;
    let two = (2 * LINE).saturating_sub(first) / step;
    let long = LONG.saturating_sub(first) / step;
    let vast = VAST.saturating_sub(first) / step;
    if one > 2 || (one == 2 && two == 4) {
        (one, LINE)
    } else if two > 4 {
        (two, 2 * LINE)
    } else if long > 3 {
        (long, LONG)
    } else if vast > 5 {
        (vast, VAST)
    } else {
        (1, (first + step).next_multiple_of(LINE))
    }
}

/// What a slot holds: a message, or more.
pub(crate) trait Entry: Send + Sized + 'static {
    /// What a slot says, which the writer may lie in.
    type Loaded;
    /// Each has all bytes of its slot.
    const FILLS: bool;

    /// Where things are in a ring whose header says this. Of a message of one type the compiler knows it.
    fn geometry(said: Places) -> Places;

    /// # Safety
    /// From `place` on is a slot of `room` bytes, which may change meanwhile.
    unsafe fn load(place: NonNull<u8>, room: usize) -> Self::Loaded;
}

/// What a slot holds alone, or behind a number.
pub(crate) trait Slotted: Entry {
    /// A message, or the bytes of one.
    type Written: ?Sized;
    const ALIGN: usize;
    /// Each says how many bytes it has, and the owner of the ring how many it may have.
    const IS_BYTES: bool;

    /// The bytes of a slot, for messages of at most `largest` bytes if the type says nothing else. 0: that cannot be.
    fn size(largest: usize) -> usize;

    /// As [`geometry`](Entry::geometry), behind a number.
    fn numbered(said: Places) -> Places;

    /// # Safety
    /// From `place` on is a slot with room for it, which this thread alone writes.
    unsafe fn store(message: &Self::Written, place: NonNull<u8>);

    /// The message, if it is one.
    fn believed(loaded: Self::Loaded) -> Option<Self>;

    fn written(&self) -> &Self::Written;
}

impl<T: Message> Entry for T {
    type Loaded = T;
    const FILLS: bool = true;

    #[inline(always)]
    fn geometry(_: Places) -> Places {
        const {
            assert!(align_of::<T>() <= LINE, "a message is aligned to 64 bytes at most");
            Places::of(size_of::<T>(), align_of::<T>())
        }
    }

    #[inline(always)]
    unsafe fn load(place: NonNull<u8>, _: usize) -> T {
        let mut message = MaybeUninit::<T>::uninit();
        // SAFETY: by the caller.
        unsafe { load_words(place, message.as_mut_ptr().cast(), size_of::<T>()) };
        // SAFETY: all its bytes are written, and any bytes are a `T`: it is `FromBytes`.
        unsafe { message.assume_init() }
    }
}

impl<T: Message> Slotted for T {
    type Written = T;
    const ALIGN: usize = align_of::<T>();
    const IS_BYTES: bool = false;

    #[inline(always)]
    fn size(_: usize) -> usize {
        size_of::<T>()
    }

    #[inline(always)]
    fn numbered(_: Places) -> Places {
        const {
            assert!(align_of::<T>() <= LINE, "a message is aligned to 64 bytes at most");
            numbered(size_of::<T>(), align_of::<T>())
        }
    }

    #[inline(always)]
    unsafe fn store(message: &T, place: NonNull<u8>) {
        // SAFETY: the slot has room for a message, and is aligned to 8.
        unsafe { store_words(place, (&raw const *message).cast(), size_of::<T>()) };
    }

    #[inline(always)]
    fn believed(loaded: T) -> Option<T> {
        Some(loaded)
    }

    #[inline(always)]
    fn written(&self) -> &T {
        self
    }
}

impl Entry for Bytes {
    type Loaded = Option<Self>;
    const FILLS: bool = false;

    fn geometry(said: Places) -> Places {
        said
    }

    unsafe fn load(place: NonNull<u8>, room: usize) -> Option<Self> {
        // SAFETY: by the caller.
        unsafe { load_counted(place, room) }.map(Self)
    }
}

impl Slotted for Bytes {
    type Written = [u8];
    const ALIGN: usize = 8;
    const IS_BYTES: bool = true;

    fn size(largest: usize) -> usize {
        counted_bytes(largest).unwrap_or(0)
    }

    fn numbered(said: Places) -> Places {
        said
    }

    unsafe fn store(message: &[u8], place: NonNull<u8>) {
        // SAFETY: by the caller.
        unsafe { store_counted(place, message) };
    }

    fn believed(loaded: Option<Self>) -> Option<Self> {
        loaded
    }

    fn written(&self) -> &[u8] {
        &self.0
    }
}

/// A message and a number that goes with it.
pub(crate) struct Numbered<T> {
    pub(crate) number: u64,
    pub(crate) message: T,
}

/// From the number to the message.
const fn behind_number(align: usize) -> usize {
    if align > 8 { align } else { 8 }
}

/// For messages of this size and alignment, each with a number.
pub(crate) const fn numbered(size: usize, align: usize) -> Places {
    Places::of(behind_number(align) + size, align)
}

impl<T: Slotted> Entry for Numbered<T> {
    type Loaded = Numbered<T::Loaded>;
    const FILLS: bool = T::FILLS;

    #[inline(always)]
    fn geometry(said: Places) -> Places {
        T::numbered(said)
    }

    #[inline(always)]
    unsafe fn load(place: NonNull<u8>, room: usize) -> Numbered<T::Loaded> {
        let behind = behind_number(T::ALIGN);
        // SAFETY: by the caller: the slot has room for the number and a message behind it.
        unsafe { Numbered { number: u64::load(place, 8), message: T::load(place.add(behind), room - behind) } }
    }
}

/// A place in a ring of messages of type `T`, for its writer or its reader.
struct Cursor<T> {
    start: NonNull<u8>,
    /// The group it is in.
    group: NonNull<u8>,
    /// One past the last group.
    end: NonNull<u8>,
    slot: usize,
    position: u64,
    /// Messages of the whole ring: what a lap adds to a position.
    lap: u64,
    /// As the owner's header says.
    said: Places,
    messages: PhantomData<fn(T) -> T>,
}

// SAFETY: addresses in a mapping that the owner of the ring owns as well, used by atomics only.
unsafe impl<T: Send> Send for Cursor<T> {}

impl<T: Entry> Cursor<T> {
    /// # Safety
    /// From `start` on, which is aligned to a page, are [`Places::ring_bytes`] bytes for this capacity, for as long as
    /// it is used.
    unsafe fn new(start: NonNull<u8>, capacity: usize, said: Places) -> Self {
        let places = T::geometry(said);
        let groups = places.groups(capacity).expect("a capacity that was checked");
        // SAFETY: within the ring, or one past its end.
        let end = unsafe { start.add(groups * places.stride) };
        let lap = (groups * places.slots) as u64;
        Self { start, group: start, end, slot: 0, position: 0, lap, said, messages: PhantomData }
    }

    #[inline(always)]
    fn places(&self) -> Places {
        T::geometry(self.said)
    }

    /// What the slot here says.
    ///
    /// # Safety
    /// It may be read.
    #[inline(always)]
    unsafe fn load(&self) -> T::Loaded {
        // SAFETY: a slot of the ring; by the caller.
        unsafe { T::load(self.place(), self.places().step) }
    }

    /// Goes to this position.
    fn go_to(&mut self, position: u64) {
        let (at, Places { slots, stride, .. }) = ((position % self.lap) as usize, self.places());
        // SAFETY: a group of the ring.
        self.group = unsafe { self.start.add(at / slots * stride) };
        self.slot = at % slots;
        self.position = position;
    }

    #[inline(always)]
    fn state(&self) -> &AtomicU64 {
        // SAFETY: the group is within the ring, and aligned to a line.
        unsafe { word_at(self.group.as_ptr().cast()) }
    }

    #[inline(always)]
    fn place(&self) -> NonNull<u8> {
        let Places { first, step, .. } = self.places();
        // SAFETY: within the group, as `slot` is less than `slots`.
        unsafe { self.group.add(first + self.slot * step) }
    }

    // MUTANT: Speed only: the addresses of a prefetch are hints.
    /// Asks for the lines of a later group, which the writer will write; from the ring's end on for those at its front.
    #[inline(always)]
    fn prefetch_ahead(&self) {
        let Places { step, slots, stride, .. } = self.places();
        let (start, end) = (self.start.as_ptr(), self.end.as_ptr());
        let mut group = self.group.as_ptr().wrapping_add(AHEAD * stride);
        if group >= end {
            group = group.wrapping_sub(end.addr() - start.addr());
        }
        // The processor gets the lines of a long copy by itself: a stream of 4 KiB with a hint for 16 of 65 lines took 4.7
        // times as long as with one for the first. And of a slot for bytes a message may have the first line alone.
        let has_all = step < super::LONG && (T::FILLS || slots > 1);
        let most = if has_all { MOST * LINE } else { LINE };
        let mut line = 0;
        while line < stride && line < most {
            prefetch_for_write(group.wrapping_add(line));
            line += LINE;
        }
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.position = self.position.wrapping_add(1);
        self.slot += 1;
        if self.slot == self.places().slots {
            self.slot = 0;
            // SAFETY: the next group, or one past the last.
            self.group = unsafe { self.group.add(self.places().stride) };
            if self.group == self.end {
                self.group = self.start;
            }
        }
    }
}

/// How many groups ahead the writer asks for lines: its reader still has copies of them.
const AHEAD: usize = 2;
/// For how many lines of a group it asks at most: those of the longest group of more messages than one.
const MOST: usize = VAST / LINE;

/// Asks for a line that will be written. A hint: the address may be anything.
#[inline(always)]
fn prefetch_for_write(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: it reads no memory, and faults on no address.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: a hint: it faults on no address.
    unsafe {
        core::arch::asm!("prfm pstl1keep, [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = at;
}

/// The writer's end. It does not know how much room there is.
pub(crate) struct Writer<T> {
    at: Cursor<T>,
}

impl<T: Entry> Writer<T> {
    /// # Safety
    /// As for [`Cursor::new`]; the memory is this process's own, and zero.
    pub(crate) unsafe fn with(start: NonNull<u8>, capacity: usize, said: Places) -> Self {
        // SAFETY: by the caller.
        Self { at: unsafe { Cursor::new(start, capacity, said) } }
    }

    #[inline(always)]
    pub(crate) fn position(&self) -> u64 {
        self.at.position
    }

    /// Publishes what `store` writes into the next slot. There is room for it.
    #[inline(always)]
    fn write_by(&mut self, store: impl FnOnce(NonNull<u8>)) {
        store(self.at.place());
        // ORDERING: Release pairs with the fence in `Reader::look`, which follows its load of this state.
        self.at.state().store(self.at.position.wrapping_add(1), Ordering::Release);
        if self.at.slot == 0 {
            self.at.prefetch_ahead();
        }
        self.at.advance();
    }

    /// The messages from this position on, which the reader has not consumed.
    pub(crate) fn unread(&self, from: u64) -> Vec<T::Loaded> {
        (from..self.at.position).map(|position| self.written(position)).collect()
    }

    /// The message that was written at this position, and was not written over.
    pub(crate) fn written(&self, position: u64) -> T::Loaded {
        let mut at = Cursor { ..self.at };
        at.go_to(position);
        // SAFETY: the place of a message of the ring, whose memory is this process's own.
        unsafe { at.load() }
    }
}

impl<T: Message> Writer<T> {
    /// # Safety
    /// As for [`with`](Self::with).
    pub(crate) unsafe fn new(start: NonNull<u8>, capacity: usize) -> Self {
        // SAFETY: by the caller.
        unsafe { Self::with(start, capacity, Places::of(size_of::<T>(), align_of::<T>())) }
    }
}

impl<T: Slotted> Writer<T> {
    /// Writes and publishes a message. There is room for it.
    #[inline(always)]
    pub(crate) fn write(&mut self, message: &T::Written) {
        // SAFETY: a slot of the ring.
        self.write_by(|place| unsafe { T::store(message, place) });
    }

    /// As [`write`](Self::write), over what readers may read just now: they find that out.
    #[inline(always)]
    pub(crate) fn write_over(&mut self, message: &T::Written) {
        if self.at.slot == 0 {
            // None of this lap is in the group, and none of the last one either.
            enter(self.at.state(), self.at.position);
        }
        self.write(message);
    }
}

impl<T: Slotted> Writer<Numbered<T>> {
    /// As [`write`](Writer::write), with a number.
    #[inline(always)]
    pub(crate) fn write_numbered(&mut self, number: u64, message: &T::Written) {
        // SAFETY: a slot of the ring, with room for the number and a message behind it.
        self.write_by(|place| unsafe {
            u64::store(&number, place);
            T::store(message, place.add(behind_number(T::ALIGN)));
        });
    }
}

/// Before the first slot of a group is written over. Until then its state is of the lap before.
#[inline(always)]
pub(crate) fn enter(state: &AtomicU64, base: u64) {
    // ORDERING: Release pairs with the fence in `look_at`: who finds this group entered finds what was published before.
    state.store(base, Ordering::Release);
    if is_left_out(Step::FenceAfterMark) {
        return;
    }
    // ORDERING: Release pairs with the fence in `is_whole`: who gets a word of a later message finds the group entered.
    fence(Ordering::Release);
}

/// Behind a copy of a message of the lap with this base: whether it was in the group all the time.
#[inline(always)]
pub(crate) fn is_whole(state: &AtomicU64, base: u64, slots: u64) -> bool {
    if !is_left_out(Step::FenceAfterCopy) {
        // ORDERING: Acquire pairs with the fence in `enter`.
        fence(Ordering::Acquire);
    }
    // ORDERING: Relaxed; after the fence.
    state.load(Ordering::Relaxed).wrapping_sub(base).wrapping_sub(1) < slots
}

/// What a reader that may be overtaken has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    Message,
    Nothing,
    /// The writer has come round to this group, and so far.
    Overtaken,
    Broken,
}

/// Looks at a group in which the reader stands at this slot. `lap`: messages of the ring.
#[inline(always)]
pub(crate) fn look_at(state: &AtomicU64, base: u64, slot: u64, slots: u64, lap: u64) -> Ahead {
    // ORDERING: Relaxed, as the memory is read-only; the fence makes it an Acquire, which pairs with the Release in
    // `Writer::write` and in `enter`.
    let state = state.load(Ordering::Relaxed);
    fence(Ordering::Acquire);
    let published = state.wrapping_sub(base);
    let before = if base >= lap { base - lap + slots } else { 0 };
    if published > slot && published <= slots {
        Ahead::Message
    } else if published == slot || slot == 0 && state == before {
        Ahead::Nothing
    } else if published >= lap && published <= u64::MAX / 2 {
        Ahead::Overtaken
    } else {
        Ahead::Broken
    }
}

/// The reader's end, in memory that may change at any time to anything.
pub(crate) struct Reader<T> {
    at: Cursor<T>,
    /// Published up to here, as far as is known.
    known: u64,
}

impl<T: Message> Reader<T> {
    /// # Safety
    /// As for [`with`](Self::with).
    pub(crate) unsafe fn new(start: NonNull<u8>, capacity: usize) -> Self {
        // SAFETY: by the caller.
        unsafe { Self::with(start, capacity, Places::of(size_of::<T>(), align_of::<T>())) }
    }
}

impl<T: Entry> Reader<T> {
    /// # Safety
    /// As for [`Cursor::new`]; for relaxed loads.
    pub(crate) unsafe fn with(start: NonNull<u8>, capacity: usize, said: Places) -> Self {
        // SAFETY: by the caller.
        Self { at: unsafe { Cursor::new(start, capacity, said) }, known: 0 }
    }

    #[inline(always)]
    pub(crate) fn position(&self) -> u64 {
        self.at.position
    }

    /// Whether there is a message.
    #[inline(always)]
    pub(crate) fn look(&mut self) -> Look {
        if self.at.position != self.known { Look::Something } else { self.refresh() }
    }

    #[inline]
    fn refresh(&mut self) -> Look {
        let (slots, slot) = (self.at.places().slots as u64, self.at.slot as u64);
        let base = self.at.position.wrapping_sub(slot);
        // ORDERING: Relaxed, as the memory is read-only; the fence below makes it an Acquire, which pairs with the Release
        // in `Writer::write`.
        let state = self.at.state().load(Ordering::Relaxed);
        let published = state.wrapping_sub(base);
        if published > slot && published <= slots {
            fence(Ordering::Acquire);
            self.known = state;
            return Look::Something;
        }
        // Nothing new; or of the lap before, or of none yet.
        let before = if base >= self.at.lap { base - self.at.lap + slots } else { 0 };
        if published == slot && slot > 0 || slot == 0 && state == before { Look::Nothing } else { Look::Broken }
    }

    /// Goes to this position, as one that joins or was overtaken.
    pub(crate) fn go_to(&mut self, position: u64) {
        self.at.go_to(position);
        self.known = position;
    }

    /// As [`look`](Self::look), where the writer does not wait.
    #[inline]
    pub(crate) fn look_ahead(&self) -> Ahead {
        let (slots, slot) = (self.at.places().slots as u64, self.at.slot as u64);
        look_at(self.at.state(), self.at.position.wrapping_sub(slot), slot, slots, self.at.lap)
    }

    /// The next message, which stays, unless it was written over meanwhile. [`look_ahead`](Self::look_ahead) has found one.
    #[inline]
    pub(crate) fn peek_whole(&self) -> Option<T::Loaded> {
        let message = self.peek();
        let base = self.at.position.wrapping_sub(self.at.slot as u64);
        is_whole(self.at.state(), base, self.at.places().slots as u64).then_some(message)
    }

    /// The next message, which stays. `look` has found one.
    #[inline(always)]
    pub(crate) fn peek(&self) -> T::Loaded {
        // SAFETY: a slot of the ring.
        unsafe { self.at.load() }
    }

    /// Goes past it.
    #[inline(always)]
    pub(crate) fn advance(&mut self) {
        self.at.advance();
    }

    /// The next message, past which it goes.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> T::Loaded {
        let message = self.peek();
        self.advance();
        message
    }
}

#[cfg(all(test, ysuite_loom))]
mod models;

#[cfg(all(test, not(ysuite_loom)))]
mod tests;
