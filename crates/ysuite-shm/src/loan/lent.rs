//! A message that its sender fills.

use core::fmt;
use core::ops::{Deref, DerefMut};

use zerocopy::{Immutable, IntoBytes};

use crate::os::Draft;
use crate::{Error, LoanSender};

/// Where it is.
pub(super) enum Place {
    Slot(usize),
    Draft(Draft),
    Sent,
}

/// A message that its sender fills in place, as a slice of bytes. Those of a slot are at first what was there before.
///
/// One that is dropped without being sent is free again. One that is forgotten (`mem::forget`) is lost to the pool.
#[must_use = "a loan that is dropped is not sent"]
pub struct Loan<'a> {
    pub(super) sender: &'a mut LoanSender,
    pub(super) place: Place,
    pub(super) length: usize,
}

impl Loan<'_> {
    /// Writes a value at this many bytes from the start.
    ///
    /// # Panics
    /// If it ends beyond the message.
    pub fn write<T: IntoBytes + Immutable + ?Sized>(&mut self, at: usize, value: &T) {
        let bytes = value.as_bytes();
        self[at..][..bytes.len()].copy_from_slice(bytes);
    }

    /// Makes the message shorter: only this number of bytes is sent. A length that is not less changes nothing.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Lends the message to all receivers that have joined; to nobody, if there are none. Never blocks. Those that
    /// sleep are woken.
    ///
    /// # Errors
    /// Of a [`large`](LoanSender::large) one: the system has [`Refused`](Error::Refused) to pass it on, and nobody has it.
    pub fn send(mut self) -> Result<(), Error> {
        match core::mem::replace(&mut self.place, Place::Sent) {
            Place::Slot(slot) => self.sender.send_slot(slot, self.length),
            Place::Draft(draft) => self.sender.send_draft(draft, self.length)?,
            Place::Sent => {}
        }
        Ok(())
    }
}

impl Deref for Loan<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.place {
            // SAFETY: a slot has as many bytes. No receiver has it, this process alone can write it, and nothing else in it
            // does as long as this loan is borrowed.
            Place::Slot(slot) => unsafe { core::slice::from_raw_parts(self.sender.slot(*slot).as_ptr(), self.length) },
            Place::Draft(draft) => &draft.bytes()[..self.length],
            Place::Sent => &[],
        }
    }
}

impl DerefMut for Loan<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        if let Place::Slot(slot) = self.place {
            // SAFETY: as above.
            return unsafe { core::slice::from_raw_parts_mut(self.sender.slot(slot).as_ptr(), self.length) };
        }
        match &mut self.place {
            Place::Draft(draft) => &mut draft.bytes_mut()[..self.length],
            _ => &mut [],
        }
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        if let Place::Slot(slot) = self.place {
            self.sender.take_back(slot);
        }
    }
}

impl fmt::Debug for Loan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").field("len", &self.length).finish_non_exhaustive()
    }
}
