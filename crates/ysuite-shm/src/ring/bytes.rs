//! A ring of records of bytes: a word with the length, and the bytes in whole words, which may go round the end. The
//! writer's page says up to which byte it has published; both ends count bytes, and never wrap the count.

use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::{Look, load_words, store_words};
use crate::sync::{AtomicU64, Ordering, fence, word_at};

/// The word in front of each record.
pub(super) const HEAD: usize = 8;

/// The bytes of a ring: whole words. Nothing for one that has no room for a record.
pub(super) fn ring_bytes(capacity: usize) -> Option<usize> {
    (capacity > HEAD && capacity % 8 == 0).then_some(capacity)
}

/// What a record of this length takes in the ring.
#[inline]
pub(crate) fn record_bytes(length: usize) -> u64 {
    (length.next_multiple_of(8) + HEAD) as u64
}

/// What bytes take that begin with a word that says how many they are, if there are at most this number, and there may be one.
pub(crate) fn counted_bytes(largest: usize) -> Option<usize> {
    let size = if largest == 0 { None } else { largest.checked_next_multiple_of(8)?.checked_add(HEAD) };
    size.filter(|size| fits_counted(*size))
}

/// The most bytes in something of such a size.
pub(crate) fn counted_room(size: usize) -> usize {
    size - HEAD
}

/// Whether it can be such a size.
pub(super) fn fits_counted(size: usize) -> bool {
    size > HEAD && size % 8 == 0 && u32::try_from(size).is_ok()
}

/// Writes bytes behind a word that says how many they are.
///
/// # Safety
/// From `to` on, which is aligned to 8, is room for both in whole words, which this thread alone writes.
pub(super) unsafe fn store_counted(to: NonNull<u8>, message: &[u8]) {
    let length = message.len() as u64;
    // SAFETY: by the caller.
    unsafe {
        store_words(to, (&raw const length).cast(), HEAD);
        store_words(to.add(HEAD), message.as_ptr(), message.len());
    }
}

/// Reads them. `None`: there are more than have room.
///
/// # Safety
/// From `from` on, which is aligned to 8, `room` bytes in whole words are mapped, and no less than the word in front; they may
/// change meanwhile.
pub(super) unsafe fn load_counted(from: NonNull<u8>, room: usize) -> Option<Vec<u8>> {
    // SAFETY: by the caller; the word may be read-only, and is only loaded, relaxed.
    let head = unsafe { word_at(from.as_ptr().cast()) };
    // ORDERING: Relaxed; behind the Acquire with which it was found published.
    let length = usize::try_from(head.load(Ordering::Relaxed)).ok()?;
    if length > room - HEAD {
        return None;
    }
    let mut message = Vec::with_capacity(length);
    // SAFETY: within the room, as `length` was checked; all of `length` bytes are written.
    unsafe {
        load_words(from.add(HEAD), message.as_mut_ptr(), length);
        message.set_len(length);
    }
    Some(message)
}

pub(super) struct Ring {
    pub(super) start: NonNull<u8>,
    pub(super) bytes: usize,
}

// SAFETY: an address in a mapping that the owner of the ring owns as well, used by atomics only.
unsafe impl Send for Ring {}

impl Ring {
    /// The place of a byte, and how many follow it before the end of the ring.
    fn place(&self, position: u64) -> (NonNull<u8>, usize) {
        let at = (position % self.bytes as u64) as usize;
        // SAFETY: within the ring.
        (unsafe { self.start.add(at) }, self.bytes - at)
    }

    fn word(&self, position: u64) -> &AtomicU64 {
        // SAFETY: within the ring, and aligned: positions of records are whole words.
        unsafe { word_at(self.place(position).0.as_ptr().cast()) }
    }

    /// The word in front of the record at this position.
    #[inline]
    pub(super) fn head(&self, position: u64) -> u64 {
        // ORDERING: Relaxed; behind the Acquire with which the record was found published.
        self.word(position).load(Ordering::Relaxed)
    }

    /// Writes a record with this word in front at this position, which is of whole words.
    ///
    /// # Safety
    /// The ring has room for it, and is this thread's to write.
    #[inline]
    pub(super) unsafe fn store(&self, position: u64, head: u64, message: &[u8]) {
        // ORDERING: Relaxed; the position that is published next hands it over.
        self.word(position).store(head, Ordering::Relaxed);
        let (place, until_end) = self.place(position + HEAD as u64);
        let (front, back) = message.split_at(message.len().min(until_end));
        // SAFETY: room for whole words up to the end of the ring, and from its start on for the rest.
        unsafe {
            store_words(place, front.as_ptr(), front.len());
            store_words(self.start, back.as_ptr(), back.len());
        }
    }

    /// Loads the bytes of the record at this position, which is of whole words.
    ///
    /// # Safety
    /// The ring has room for a record of this length, and `to` for the bytes.
    #[inline]
    pub(super) unsafe fn load(&self, position: u64, length: usize, to: *mut u8) {
        let (place, until_end) = self.place(position + HEAD as u64);
        let front = length.min(until_end);
        // SAFETY: within the ring, and `to` has the room: the caller's.
        unsafe {
            load_words(place, to, front);
            load_words(self.start, to.add(front), length - front);
        }
    }
}

/// The writer's end. It does not know how much room there is.
pub(crate) struct Writer {
    ring: Ring,
    position: u64,
}

impl Writer {
    /// # Safety
    /// From `start` on, which is aligned to a page, are `bytes` bytes of this process's own, for as long as it is used.
    pub(crate) unsafe fn new(start: NonNull<u8>, bytes: usize) -> Self {
        Self { ring: Ring { start, bytes }, position: 0 }
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Writes a record for which there is room, and publishes it by `published`.
    pub(crate) fn write(&mut self, message: &[u8], published: &AtomicU64) {
        // SAFETY: there is room.
        unsafe { self.ring.store(self.position, message.len() as u64, message) };
        self.position += record_bytes(message.len());
        // ORDERING: Release pairs with the fence in `Reader::look`, which follows its load of this word.
        published.store(self.position, Ordering::Release);
    }

    /// The records from this position on, which is that of a record, and which the reader has not consumed.
    pub(crate) fn unread(&self, from: u64) -> Vec<Vec<u8>> {
        let mut reader = Reader {
            ring: Ring { start: self.ring.start, bytes: self.ring.bytes },
            position: from,
            known: self.position,
        };
        let mut records = Vec::new();
        while reader.position < self.position {
            let mut record = Vec::new();
            reader.copy(&mut record).expect("a record that this end has written");
            records.push(record);
        }
        records
    }
}

/// The reader's end, in memory that may change at any time to anything.
pub(crate) struct Reader {
    ring: Ring,
    position: u64,
    /// Published up to here, as far as is known.
    known: u64,
}

impl Reader {
    /// # Safety
    /// As for [`Writer::new`]; for relaxed loads.
    pub(crate) unsafe fn new(start: NonNull<u8>, bytes: usize) -> Self {
        Self { ring: Ring { start, bytes }, position: 0, known: 0 }
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Whether there is a record.
    pub(crate) fn look(&mut self, published: &AtomicU64) -> Look {
        if self.position == self.known {
            // ORDERING: Relaxed, as the memory is read-only; the fence makes it an Acquire, which pairs with the Release
            // in `Writer::write`.
            let known = published.load(Ordering::Relaxed);
            fence(Ordering::Acquire);
            match known.wrapping_sub(self.position) {
                0 => return Look::Nothing,
                more if more <= self.ring.bytes as u64 && more % 8 == 0 => self.known = known,
                _ => return Look::Broken,
            }
        }
        if self.length().is_some() { Look::Something } else { Look::Broken }
    }

    /// The length of the record here, if it is within what is published.
    fn length(&self) -> Option<usize> {
        let length = usize::try_from(self.ring.head(self.position)).ok()?;
        (length <= self.ring.bytes && record_bytes(length) <= self.known - self.position).then_some(length)
    }

    /// Appends the record here to `to`, and goes past it; how many bytes it has. The length is loaded again, and checked again: a writer
    /// may have changed it since. `None`: it has.
    pub(crate) fn copy(&mut self, to: &mut Vec<u8>) -> Option<usize> {
        let length = self.length()?;
        to.reserve(length);
        // SAFETY: `length` was checked; `to` has the room.
        unsafe {
            self.load(length, to.as_mut_ptr().add(to.len()));
            to.set_len(to.len() + length);
        }
        Some(length)
    }

    /// As [`copy`](Self::copy), to the front of `to`. A record that has more bytes than `to` stays.
    pub(crate) fn copy_to(&mut self, to: &mut [MaybeUninit<u8>]) -> Option<usize> {
        let length = self.length()?;
        if length <= to.len() {
            // SAFETY: `length` was checked; `to` has the room.
            unsafe { self.load(length, to.as_mut_ptr().cast()) };
        }
        Some(length)
    }

    /// Loads the record here, and goes past it.
    ///
    /// # Safety
    /// It is within what is published if it has this length, and `to` has the room.
    unsafe fn load(&mut self, length: usize, to: *mut u8) {
        // SAFETY: by the caller.
        unsafe { self.ring.load(self.position, length, to) };
        self.position += record_bytes(length);
    }
}
