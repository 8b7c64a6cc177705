//! A ring of records of bytes for any number of readers, whom the writer may overtake: each record is a word with its length
//! and its number, and the bytes in whole words, which may go round the end. All ends count bytes, and never wrap the count.
//!
//! The writer first says up to where it has begun to write, and where that record is, then writes, then publishes. A reader
//! copies a record, and looks how far the writer has begun meanwhile: if that is a whole ring further, the copy may be torn,
//! and the reader goes on with the newest record. The numbers say how many it has lost.

use core::ptr::NonNull;

use super::bytes::{Ring, record_bytes};
use crate::sync::{AtomicU64, Ordering, Step, fence, is_left_out};

/// The bytes of a ring: whole words, and no more than a length can say.
pub(super) fn ring_bytes(capacity: usize) -> Option<usize> {
    super::bytes::ring_bytes(capacity).filter(|bytes| u32::try_from(*bytes).is_ok())
}

/// The words of the writer's memory by which the ends meet.
#[derive(Clone, Copy)]
pub(crate) struct Marks<'a> {
    /// Up to here is published.
    pub(crate) published: &'a AtomicU64,
    /// Up to here the writer may have written.
    pub(crate) begun: &'a AtomicU64,
    /// Where the record is that was begun last.
    pub(crate) newest: &'a AtomicU64,
}

/// What a reader finds, or what its copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen<R> {
    Whole(R),
    Nothing,
    /// The writer has come round.
    Overtaken,
    /// The writer's memory says what no writer says.
    Broken,
}

impl<R> Seen<R> {
    /// The same, of what `f` makes of what is whole.
    fn map<S>(self, f: impl FnOnce(R) -> S) -> Seen<S> {
        match self {
            Self::Whole(found) => Seen::Whole(f(found)),
            Self::Nothing => Seen::Nothing,
            Self::Overtaken => Seen::Overtaken,
            Self::Broken => Seen::Broken,
        }
    }
}

impl Marks<'_> {
    /// Publishes the record from `from` to `to`, which `write` writes.
    pub(crate) fn publish(self, from: u64, to: u64, write: impl FnOnce()) {
        // ORDERING: Release pairs with the second fence in `go_on`: who finds this place finds all before it published.
        self.newest.store(from, Ordering::Release);
        // ORDERING: Release pairs with the first fence in `go_on`: who finds this begun finds its place.
        self.begun.store(to, Ordering::Release);
        if !is_left_out(Step::FenceAfterMark) {
            // ORDERING: Release pairs with the fence behind the copy in `read`: who gets a word of this record finds it begun.
            fence(Ordering::Release);
        }
        write();
        // ORDERING: Release pairs with the fence in `ahead`: who finds this position finds the records before it.
        self.published.store(to, Ordering::Release);
    }

    /// How many bytes are published behind `position`, in a ring of this size.
    #[inline]
    pub(crate) fn ahead(self, position: u64, bytes: u64) -> Seen<u64> {
        // ORDERING: Relaxed, as the memory is read-only; the fence makes it an Acquire, which pairs with the Release in
        // `publish`.
        let ahead = self.published.load(Ordering::Relaxed).wrapping_sub(position);
        fence(Ordering::Acquire);
        match ahead {
            0 => Seen::Nothing,
            _ if ahead % 8 != 0 || ahead > u64::MAX / 2 => Seen::Broken,
            _ if ahead > bytes => Seen::Overtaken,
            _ => Seen::Whole(ahead),
        }
    }

    /// What `copy` copies of the record at `position`, which is published. `copy` has `None` for what is no record.
    pub(crate) fn read<R>(self, position: u64, bytes: u64, copy: impl FnOnce() -> Option<R>) -> Seen<R> {
        let copied = copy();
        if !is_left_out(Step::FenceAfterCopy) {
            // ORDERING: Acquire pairs with the fence in `publish`: if a word of the copy is of a later lap, the load below
            // finds that one begun.
            fence(Ordering::Acquire);
        }
        // ORDERING: Relaxed; after the fence.
        let begun = self.begun.load(Ordering::Relaxed).wrapping_sub(position);
        match copied {
            _ if begun > u64::MAX / 2 => Seen::Broken,
            _ if begun > bytes => Seen::Overtaken,
            Some(copied) => Seen::Whole(copied),
            None => Seen::Broken,
        }
    }

    /// Where a reader goes on that was overtaken at `position`. `None`: it was not.
    #[cold]
    pub(crate) fn go_on(self, position: u64) -> Option<u64> {
        // ORDERING: Acquire pairs with the Release of `begun` in `publish`, which the caller has loaded, or with that of
        // `published`, which follows it.
        fence(Ordering::Acquire);
        // ORDERING: Relaxed, as the memory is read-only. Behind the fence above it is at least the place of the record that was
        // found begun; the fence below pairs with its Release in `publish`: it may be a later one.
        let newest = self.newest.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let further = newest.wrapping_sub(position);
        (further != 0 && further <= u64::MAX / 2 && further % 8 == 0).then_some(newest)
    }
}

/// The word in front of a record.
fn head(length: usize, number: u32) -> u64 {
    u64::from(number) << 32 | length as u64
}

/// The writer's end. It does not know how much room there is.
pub(crate) struct Writer {
    ring: Ring,
    position: u64,
    number: u32,
}

impl Writer {
    /// # Safety
    /// From `start` on, which is aligned to a page, are `bytes` bytes of this process's own, for as long as it is used.
    pub(crate) unsafe fn new(start: NonNull<u8>, bytes: usize) -> Self {
        Self { ring: Ring { start, bytes }, position: 0, number: 0 }
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The number of the next record.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Writes and publishes a record, over the oldest ones.
    pub(crate) fn write(&mut self, message: &[u8], marks: Marks<'_>) {
        let (from, to) = (self.position, self.position + record_bytes(message.len()));
        // SAFETY: room for the record, in whole words.
        marks.publish(from, to, || unsafe { self.ring.store(from, head(message.len(), self.number), message) });
        self.position = to;
        self.number = self.number.wrapping_add(1);
    }
}

/// A reader's end, in memory that may change at any time to anything.
pub(crate) struct Reader {
    ring: Ring,
    position: u64,
    /// Published behind the position, as far as is known.
    ahead: u64,
    /// The number of the next record, if none is lost.
    number: u32,
}

impl Reader {
    /// # Safety
    /// As for [`Writer::new`]; for relaxed loads. `position` is of whole words.
    pub(crate) unsafe fn new(start: NonNull<u8>, bytes: usize, position: u64, number: u32) -> Self {
        Self { ring: Ring { start, bytes }, position: position & !7, ahead: 0, number }
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Whether the last look has found more than was taken.
    pub(crate) fn has_more(&self) -> bool {
        self.ahead > 0
    }

    /// Whether there is a record.
    #[inline]
    pub(crate) fn look(&mut self, marks: Marks<'_>) -> Seen<()> {
        if self.ahead > 0 {
            return Seen::Whole(());
        }
        marks.ahead(self.position, self.ring.bytes as u64).map(|ahead| self.ahead = ahead)
    }

    /// Goes on with the newest record. False: the writer lies.
    #[cold]
    pub(crate) fn catch_up(&mut self, marks: Marks<'_>) -> bool {
        self.ahead = 0;
        let Some(newest) = marks.go_on(self.position) else { return false };
        self.position = newest;
        true
    }

    /// Takes the record that a look has found. `Err`: the number of those that were lost before it, and it stays.
    pub(crate) fn take(&mut self, marks: Marks<'_>) -> Seen<Result<Vec<u8>, u32>> {
        let (position, ahead) = (self.position, self.ahead);
        let seen = marks.read(position, self.ring.bytes as u64, || {
            let head = self.ring.head(position);
            let (length, number) = (head as u32 as usize, (head >> 32) as u32);
            if record_bytes(length) > ahead {
                return None;
            }
            let lost = number.wrapping_sub(self.number);
            if lost > 0 {
                return Some((Err(lost), number));
            }
            let mut message = Vec::with_capacity(length);
            // SAFETY: within the ring, as `length` was checked; all of `length` bytes are written.
            unsafe {
                self.ring.load(position, length, message.as_mut_ptr());
                message.set_len(length);
            }
            Some((Ok(message), number))
        });
        seen.map(|(taken, number)| {
            self.number = number;
            if let Ok(message) = &taken {
                let passed = record_bytes(message.len());
                self.number = number.wrapping_add(1);
                self.position = self.position.wrapping_add(passed);
                self.ahead -= passed;
            }
            taken
        })
    }
}

#[cfg(all(test, ysuite_loom))]
mod models;
