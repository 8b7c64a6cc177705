//! [`Envelope`]: a message of any type, and its type. One owner at a time; nothing here blocks.
//!
//! A value of up to three words that needs no larger alignment than a word is in the envelope itself, and a larger one
//! in a box. Checking the type compares two addresses, and two type ids if those differ.
//!
//! Cannot: be downcast to any type except the exact one, as with `std::any::Any`.

use core::any::{Any, TypeId, type_name};
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use crate::inline_box::InlineBox;

/// A message of a type that is not known yet: a catch-all receives it. [`send_envelope`](super::Address::send_envelope)
/// forwards it unchanged.
pub struct Envelope {
    vtable: &'static VTable,
    value: InlineBox,
    /// Makes the envelope not `Sync`, as the value need not be.
    unshared: PhantomData<*const ()>,
}

/// The part that is the same for all envelopes of a type.
struct VTable {
    type_id: fn() -> TypeId,
    type_name: fn() -> &'static str,
    /// Drops the value in place: it may be larger than the stack of the thread that drops it.
    ///
    /// # Safety
    /// A value of the table's type is stored, and not used afterwards.
    drop: unsafe fn(&mut InlineBox),
    /// For a notice: the table of the same value as an ordinary message.
    notice_of: Option<&'static VTable>,
}

struct Of<T>(PhantomData<T>);

impl<T: Any + Send> Of<T> {
    const MESSAGE: &'static VTable = &VTable {
        type_id: TypeId::of::<T>,
        type_name: type_name::<T>,
        drop: InlineBox::drop_in_place::<T>,
        notice_of: None,
    };
    const NOTICE: &'static VTable = &VTable { notice_of: Some(Self::MESSAGE), ..*Self::MESSAGE };
}

// SAFETY: `new` and `notice` take only values that are `Send`.
unsafe impl Send for Envelope {}

impl Envelope {
    // USER CODE: the allocator, also in `find` of `channel/lane_table.rs`; nothing has been changed yet; re-entrance:
    //     none (an allocator that sends would have to send to allocate); panic: aborts the process, as everywhere; by
    //     construction: no state is half written before the box, the lane or the entry of the table is there
    /// Puts a value into an envelope. Allocates if it is larger than three words, or over-aligned.
    #[inline(always)]
    #[must_use]
    pub fn new<T: Any + Send>(value: T) -> Self {
        Self::with_vtable(Of::<T>::MESSAGE, value)
    }

    /// Makes a notice of another mailbox's termination: a search must not pass it over.
    pub(super) fn notice<T: Any + Send>(value: T) -> Self {
        Self::with_vtable(Of::<T>::NOTICE, value)
    }

    #[inline(always)]
    fn with_vtable<T: Any + Send>(vtable: &'static VTable, value: T) -> Self {
        Self { vtable, value: InlineBox::new(value), unshared: PhantomData }
    }

    // MUTANT: Speed only: the other half of the condition compares the types themselves.
    /// Whether the value is of this type.
    #[inline(always)]
    #[must_use]
    pub fn is<T: Any + Send>(&self) -> bool {
        // A type may have several copies of its table, so tables that differ prove nothing.
        core::ptr::eq(self.vtable, Of::<T>::MESSAGE) || (self.vtable.type_id)() == TypeId::of::<T>()
    }

    /// Whether this is a notice of another mailbox's termination.
    #[inline(always)]
    pub(super) fn is_notice(&self) -> bool {
        self.vtable.notice_of.is_some()
    }

    /// A notice that has found its handler becomes an ordinary message.
    pub(super) fn noticed(mut self) -> Self {
        self.vtable = self.vtable.notice_of.unwrap_or(self.vtable);
        self
    }

    /// Borrows the value in place, if it is of this type.
    #[inline(always)]
    #[must_use]
    pub fn downcast_ref<T: Any + Send>(&self) -> Option<&T> {
        if !self.is::<T>() {
            return None;
        }
        // SAFETY: the value is of this type; only `downcast` and `drop` take it, and they consume the envelope.
        Some(unsafe { self.value.get() })
    }

    /// Returns the value, if it is of this type.
    ///
    /// # Errors
    /// The envelope itself, if it is not.
    #[inline(always)]
    pub fn downcast<T: Any + Send>(self) -> Result<T, Self> {
        if self.is::<T>() { Ok(self.opened()) } else { Err(self) }
    }

    // MUTANT: Speed only: the message is offered and found by its type.
    /// Whether the address of its table alone proves that the value is of this type, and no notice.
    #[inline(always)]
    pub(super) fn is_plainly<T: Any + Send>(&self) -> bool {
        core::ptr::eq(self.vtable, Of::<T>::MESSAGE)
    }

    /// The value, which is of this type: the caller has checked that.
    ///
    /// # Panics
    /// If it is of another type.
    #[inline(always)]
    pub(super) fn opened<T: Any + Send>(self) -> T {
        assert!(self.is::<T>(), "it was checked before");
        let mut sealed = ManuallyDrop::new(self);
        // SAFETY: the value is of this type; `sealed` is not dropped, so the value is not used again.
        unsafe { sealed.value.take() }
    }

    /// Moves the value out of an envelope in place: the envelope as a whole is never moved.
    ///
    /// # Safety
    /// The envelope belongs to the caller, its value is of this type, and it is neither used nor dropped afterwards.
    #[inline(always)]
    pub(super) unsafe fn take_at<T: Any + Send>(mut place: NonNull<Self>) -> T {
        // SAFETY: by the caller.
        unsafe { place.as_mut().value.take() }
    }

    /// Returns the name of the value's type, as `std::any::type_name` gives it.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        (self.vtable.type_name)()
    }
}

// USER CODE: the value's `Drop`; the envelope is the only owner, the value is where it was put, and a box is freed
//     after it, also in a panic; re-entrance: may send, receive elsewhere, link: the envelope borrows nothing of the
//     mailbox; panic: propagates to the caller that drops the envelope; test: tests/suite/mailbox/large.rs:
//     a_large_unreceived_message_is_dropped_in_place
impl Drop for Envelope {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the table is the value's. Only `downcast` takes the value, and prevents this drop.
        unsafe { (self.vtable.drop)(&mut self.value) };
    }
}

impl fmt::Debug for Envelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Envelope({})", self.type_name())
    }
}

/// Urgent messages overtake ordinary ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rank {
    Urgent,
    Ordinary,
}
