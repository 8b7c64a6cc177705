//! What a receiver was lent.

use core::fmt;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use zerocopy::FromBytes;

use super::table;
use crate::end::End;
use crate::link::Ringer;
use crate::os::{self, Own, Peer, Sealed};
use crate::page::ASLEEP;
use crate::ring::load_bytes;

/// What a receiver and all that was lent to it have in common. The end of a receiver that is dropped stays here, until
/// nothing is lent to it.
pub(super) struct Keep {
    pub(super) pool: Peer,
    pub(super) table: Arc<Own>,
    pub(super) sender: Ringer,
    /// From the start of the pool to its first slot, and from one to the next.
    pub(super) layout: (usize, usize),
    /// The process that has the memory: a forked child does not.
    pub(super) process: u32,
    pub(super) parked: Mutex<Option<End>>,
}

impl Keep {
    /// The receiver is dropped.
    pub(super) fn park(&self, end: End) {
        *self.parked.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
    }

    /// Wakes the sender, if it waits for what has just been said.
    pub(super) fn wake(&self) {
        if table::is_awaited(self.pool.word(ASLEEP)) {
            self.sender.ring();
        }
    }

    fn give_back(&self, slot: usize) {
        if self.process != os::process() {
            return;
        }
        let (at, bit) = table::place(slot);
        table::give_back(self.table.word(at), bit);
        self.wake();
    }
}

/// Where it is.
pub(super) enum Place {
    Slot(Arc<Keep>, usize),
    Sealed(Sealed),
}

/// A message that a [`LoanSender`](crate::LoanSender) has lent to this process, in the memory where the sender has filled it.
/// Dropping it gives the slot back: the sender, if it waits for one, is woken. Never blocks.
///
/// It may outlive its receiver, and the sender: what is in it stays. Any thread may have it. One that is forgotten
/// (`mem::forget`) is held until the process ends.
///
/// # Trust
///
/// A sender keeps off what it has lent, but could write it all the same, at any time, if it is hostile. So there is no
/// reference to it: [`copy_to`](Self::copy_to), [`read`](Self::read) and [`reader`](Self::reader) copy out of it, within its
/// bounds, whatever the sender does meanwhile. What a program checks must be its copy. A
/// [`large`](crate::LoanSender::large) message cannot change any more, and is there as a [slice](Self::as_slice) too.
pub struct Borrowed {
    pub(super) place: Place,
    pub(super) length: usize,
}

impl Borrowed {
    /// Returns how many bytes the message has.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns whether the message has no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the address of its first byte, which is aligned to 64: for code that trusts the sender. The bytes are
    /// there for as long as this lives, for reading only; but for a [slice](Self::as_slice) they must be read as memory
    /// that another process may write.
    pub fn as_ptr(&self) -> *const u8 {
        self.start().as_ptr()
    }

    /// Returns the bytes themselves, if nobody can change them: those of a [`large`](crate::LoanSender::large) message.
    pub fn as_slice(&self) -> Option<&[u8]> {
        match &self.place {
            Place::Slot(..) => None,
            Place::Sealed(sealed) => sealed.bytes().get(..self.length),
        }
    }

    /// Copies the bytes from `at` on to the front of `to`, as many as there are and have room; returns how many.
    pub fn copy_to(&self, at: usize, to: &mut [u8]) -> usize {
        // SAFETY: the same bytes, and none of them becomes uninitialized: `copy_to_uninit` writes copies.
        self.copy_to_uninit(at, unsafe { core::slice::from_raw_parts_mut(to.as_mut_ptr().cast(), to.len()) })
    }

    /// As [`copy_to`](Self::copy_to), to memory that need not be initialized: of that, as many bytes as this says are.
    pub fn copy_to_uninit(&self, at: usize, to: &mut [MaybeUninit<u8>]) -> usize {
        let length = to.len().min(self.length.saturating_sub(at));
        if length > 0 {
            // SAFETY: within the message, and `to` has the room.
            unsafe { self.load(at, to.as_mut_ptr().cast(), length) };
        }
        length
    }

    /// Returns a copy of all its bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.length);
        // SAFETY: the whole message, for which there is room; then this number of bytes is written.
        unsafe {
            self.load(0, bytes.as_mut_ptr(), self.length);
            bytes.set_len(self.length);
        }
        bytes
    }

    /// A copy of the value at this many bytes from the start, of a type of which any bytes are a value. `None`: it ends
    /// before. `at` need not be aligned.
    pub fn read<T: FromBytes>(&self, at: usize) -> Option<T> {
        if size_of::<T>() > self.length.checked_sub(at)? {
            return None;
        }
        let mut value = MaybeUninit::<T>::uninit();
        // SAFETY: within the message; all bytes of `value` are written, and any bytes are a `T`: it is `FromBytes`.
        unsafe {
            self.load(at, value.as_mut_ptr().cast(), size_of::<T>());
            Some(value.assume_init())
        }
    }

    /// Returns a reader of its bytes from the front on.
    pub fn reader(&self) -> BorrowedReader<'_> {
        BorrowedReader { borrowed: self, at: 0 }
    }

    fn start(&self) -> NonNull<u8> {
        match &self.place {
            Place::Slot(keep, slot) => {
                let (first, stride) = keep.layout;
                // SAFETY: one of the slots of the pool, as the receiver has checked.
                unsafe { keep.pool.start().add(first + slot * stride) }
            }
            Place::Sealed(sealed) => NonNull::from(sealed.bytes()).cast(),
        }
    }

    /// # Safety
    /// `at` and `length` are within the message; `to` is valid for writes of `length` bytes.
    unsafe fn load(&self, at: usize, to: *mut u8, length: usize) {
        match &self.place {
            // SAFETY: by the caller; a slot begins and ends at whole words.
            Place::Slot(..) => unsafe { load_bytes(self.start().add(at), to, length) },
            // SAFETY: by the caller; nobody writes it.
            Place::Sealed(_) => unsafe { core::ptr::copy_nonoverlapping(self.as_ptr().add(at), to, length) },
        }
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        if let Place::Slot(keep, slot) = &self.place {
            keep.give_back(*slot);
        }
    }
}

impl fmt::Debug for Borrowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Borrowed").field("len", &self.length).finish_non_exhaustive()
    }
}

/// Reads what was [borrowed](Borrowed) from the front on. Never blocks, and never fails but for want of bytes.
#[derive(Clone)]
pub struct BorrowedReader<'a> {
    borrowed: &'a Borrowed,
    at: usize,
}

impl BorrowedReader<'_> {
    /// Returns a copy of the next value; see [`Borrowed::read`]. `None`: there are fewer bytes, which stay.
    pub fn value<T: FromBytes>(&mut self) -> Option<T> {
        let value = self.borrowed.read(self.at)?;
        self.at += size_of::<T>();
        Some(value)
    }

    /// Returns how many bytes are left.
    pub fn remaining(&self) -> usize {
        self.borrowed.length - self.at
    }

    /// Passes over this number of bytes, or all that are left; returns how many.
    pub fn skip(&mut self, bytes: usize) -> usize {
        let skipped = bytes.min(self.remaining());
        self.at += skipped;
        skipped
    }
}

impl io::Read for BorrowedReader<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let copied = self.borrowed.copy_to(self.at, to);
        self.at += copied;
        Ok(copied)
    }
}

impl fmt::Debug for BorrowedReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BorrowedReader").field("remaining", &self.remaining()).finish_non_exhaustive()
    }
}
