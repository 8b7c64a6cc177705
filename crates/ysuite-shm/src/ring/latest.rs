//! The newest of a row of values, for any number of readers, whom the writer does not know: it never waits for one.
//!
//! Values are numbered from 1 on, their *versions*, and go round a few places. The writer first says which version it has
//! begun, then writes, then publishes. A reader copies the newest value, and looks which version was begun meanwhile: if
//! the writer has come round to this place, the copy may be torn, and there is a newer value.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::bytes::{HEAD, counted_room, load_counted, store_counted};
use super::{Look, load_words, store_words};
use crate::sync::{AtomicU64, Ordering, Step, fence, is_left_out};
use crate::{Bytes, Message};

const LINE: usize = 64;

/// A reader that is slower than the writer copies a value while the writer writes this number of others: for short ones
/// many, as their lines come from another processor one by one; for long ones the time is in their bytes on both sides.
const fn places_for(size: usize) -> usize {
    let many = (1 << 16) / stride(size);
    if many > 64 {
        64
    } else if many < 8 {
        8
    } else {
        // A power of two, as `ring_bytes` wants.
        1 << many.ilog2()
    }
}

/// From one place to the next.
const fn stride(size: usize) -> usize {
    if size == 0 { LINE } else { size.next_multiple_of(LINE) }
}

/// The bytes of a ring with this number of places, of values of this size.
pub(super) fn ring_bytes(size: usize, places: usize) -> Option<usize> {
    let stride = if size == 0 { LINE } else { size.checked_next_multiple_of(LINE)? };
    if places >= 2 && places.is_power_of_two() { places.checked_mul(stride) } else { None }
}

/// The same, of values of at most this number of bytes, and at least one.
pub(super) fn bytes_ring(largest: usize) -> Option<usize> {
    let size = if largest == 0 { None } else { largest.checked_next_multiple_of(8)?.checked_add(HEAD) }?;
    size.checked_next_multiple_of(LINE)?;
    ring_bytes(size, places_for(size))
}

/// The places of a ring.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    count: u64,
    stride: usize,
    /// Bytes of a value, with the word in front.
    size: usize,
}

impl Places {
    const fn new(count: usize, size: usize) -> Self {
        Self { count: count as u64, stride: stride(size), size }
    }

    /// The number that a sender's header says.
    pub(crate) const fn count_for<T>() -> usize {
        places_for(size_of::<T>())
    }
}

/// How a place holds a value.
pub(crate) trait Value: Sized {
    /// The places of a ring whose sender's header says this capacity, for which there is a [`ring_bytes`].
    fn places(capacity: usize) -> Places;

    /// The value in a place. `None`: that is none, or it changes at this moment.
    ///
    /// # Safety
    /// From `from` on, which is aligned to a line, `size` bytes in whole words are mapped: those of [`Places`].
    unsafe fn load(from: NonNull<u8>, size: usize) -> Option<Self>;
}

impl<T: Message> Value for T {
    fn places(capacity: usize) -> Places {
        Places::new(capacity, size_of::<T>())
    }

    #[inline(always)]
    unsafe fn load(from: NonNull<u8>, _: usize) -> Option<Self> {
        let mut value = MaybeUninit::<T>::uninit();
        // SAFETY: by the caller. All bytes of `value` are written, and any bytes are a `T`: it is `FromBytes`.
        unsafe {
            load_words(from, value.as_mut_ptr().cast(), size_of::<T>());
            Some(value.assume_init())
        }
    }
}

impl Value for Bytes {
    fn places(capacity: usize) -> Places {
        let size = capacity.next_multiple_of(8) + HEAD;
        Places::new(places_for(size), size)
    }

    unsafe fn load(from: NonNull<u8>, size: usize) -> Option<Self> {
        // SAFETY: by the caller.
        unsafe { load_counted(from, size) }.map(Self)
    }
}

/// The two words by which the ends meet.
#[derive(Clone, Copy)]
pub(crate) struct Versions<'a> {
    pub(crate) begun: &'a AtomicU64,
    pub(crate) published: &'a AtomicU64,
}

/// What came of an attempt to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen<R> {
    /// This value, of this version.
    Whole(R, u64),
    /// The writer was faster: there is a newer one.
    Torn,
    /// There is none yet.
    Nothing,
    /// The writer's memory says what no writer says.
    Broken,
}

impl Versions<'_> {
    /// Publishes the next version behind `last`, which `write` writes into the place with this number; its version.
    pub(crate) fn publish(self, last: u64, places: u64, write: impl FnOnce(u64)) -> u64 {
        let next = last + 1;
        // ORDERING: Release pairs with the fence behind the load in `read`: who finds this version begun finds the one
        // before it published.
        self.begun.store(next, Ordering::Release);
        if !is_left_out(Step::FenceAfterMark) {
            // ORDERING: Release pairs with the fence behind the copy in `read`: who gets a word of this value finds it begun.
            fence(Ordering::Release);
        }
        write(next & (places - 1));
        // ORDERING: Release pairs with the fence in `newest`: who finds this version finds its value.
        self.published.store(next, Ordering::Release);
        next
    }

    /// The newest version. `None`: it is older than `seen`, which no writer does.
    #[inline]
    pub(crate) fn newest(self, seen: u64) -> Option<u64> {
        // ORDERING: Relaxed, as the memory is read-only; the fence makes it an Acquire, which pairs with the Release in
        // `publish`.
        let newest = self.published.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        (newest.wrapping_sub(seen) <= u64::MAX / 2).then_some(newest)
    }

    /// Reads the newest value, by `copy` out of the place with this number, if it is not older than `seen`.
    pub(crate) fn read<R>(self, seen: u64, places: u64, copy: impl FnOnce(u64) -> R) -> Seen<R> {
        let Some(newest) = self.newest(seen) else { return Seen::Broken };
        if newest == 0 {
            return Seen::Nothing;
        }
        let value = copy(newest & (places - 1));
        if !is_left_out(Step::FenceAfterCopy) {
            // ORDERING: Acquire pairs with the fence in `publish`: if a word of the copy is of a later version, the load
            // below finds that one begun.
            fence(Ordering::Acquire);
        }
        // ORDERING: Relaxed; after the fence.
        let begun = self.begun.load(Ordering::Relaxed).wrapping_sub(newest);
        if begun < places {
            return Seen::Whole(value, newest);
        }
        // ORDERING: Acquire pairs with the Release of `begun` in `publish`: all versions before it are published.
        fence(Ordering::Acquire);
        // A writer that only says so would keep this end here.
        match self.newest(newest) {
            Some(later) if begun <= u64::MAX / 2 && later - newest >= places - 1 => Seen::Torn,
            _ => Seen::Broken,
        }
    }
}

/// The writer's end, in memory of this process's own.
pub(crate) struct Writer {
    start: NonNull<u8>,
    places: Places,
    version: u64,
}

// SAFETY: an address in a mapping that the owner of the ring owns as well, used by atomics only.
unsafe impl Send for Writer {}

impl Writer {
    /// # Safety
    /// From `start` on, which is aligned to a page, are the bytes of these places, of this process's own, and zero, for
    /// as long as it is used.
    pub(crate) unsafe fn new(start: NonNull<u8>, places: Places) -> Self {
        Self { start, places, version: 0 }
    }

    /// Writes and publishes a value, which has the size of all values.
    #[inline(always)]
    pub(crate) fn write<T: Message>(&mut self, value: &T, versions: Versions<'_>) {
        // SAFETY: a place has room for a value.
        self.publish(versions, |place| unsafe { store_words(place, (&raw const *value).cast(), size_of::<T>()) });
    }

    /// Writes and publishes bytes, no more than have room.
    pub(crate) fn write_bytes(&mut self, value: &[u8], versions: Versions<'_>) {
        assert!(value.len() <= self.largest(), "a value of more bytes than the watch has");
        // SAFETY: a place has room for the head, and for these bytes in whole words.
        self.publish(versions, |place| unsafe { store_counted(place, value) });
    }

    /// The most bytes of a value.
    pub(crate) fn largest(&self) -> usize {
        counted_room(self.places.size)
    }

    #[inline(always)]
    fn publish(&mut self, versions: Versions<'_>, write: impl FnOnce(NonNull<u8>)) {
        let (start, stride) = (self.start, self.places.stride);
        // SAFETY: one of the places.
        let write = |place: u64| write(unsafe { start.add(place as usize * stride) });
        self.version = versions.publish(self.version, self.places.count, write);
    }
}

/// The reader's end, in memory that may change at any time to anything.
pub(crate) struct Reader<T> {
    start: NonNull<u8>,
    places: Places,
    /// The version that was received last.
    seen: u64,
    values: PhantomData<fn() -> T>,
}

// SAFETY: as for the writer.
unsafe impl<T: Send> Send for Reader<T> {}

impl<T: Value> Reader<T> {
    /// # Safety
    /// As for [`Writer::new`]; for relaxed loads.
    pub(crate) unsafe fn new(start: NonNull<u8>, places: Places) -> Self {
        Self { start, places, seen: 0, values: PhantomData }
    }

    /// Whether there is a version that was not received.
    #[inline]
    pub(crate) fn look(&self, versions: Versions<'_>) -> Look {
        match versions.newest(self.seen) {
            Some(newest) if newest == self.seen => Look::Nothing,
            Some(_) => Look::Something,
            None => Look::Broken,
        }
    }

    /// A copy of the newest value.
    pub(crate) fn read(&self, versions: Versions<'_>) -> Seen<T> {
        let seen = versions.read(self.seen, self.places.count, |place| {
            // SAFETY: one of the places, each of which has the size of a value.
            unsafe { T::load(self.start.add(place as usize * self.places.stride), self.places.size) }
        });
        match seen {
            Seen::Whole(Some(value), version) => Seen::Whole(value, version),
            Seen::Whole(None, _) | Seen::Broken => Seen::Broken,
            Seen::Torn => Seen::Torn,
            Seen::Nothing => Seen::Nothing,
        }
    }

    /// This version was received.
    pub(crate) fn saw(&mut self, version: u64) {
        self.seen = version;
    }
}

#[cfg(all(test, ysuite_loom))]
mod models;
