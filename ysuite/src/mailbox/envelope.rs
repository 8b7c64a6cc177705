//! A message of any type, with the means to find out which. One owner at a time; nothing here blocks.
//!
//! A value of up to three words that needs no larger alignment than a word lies in the envelope itself; a larger one in a
//! box of its own. Asking for its type compares two addresses, and two type ids where those differ. Neither allocates.
//!
//! Cannot: be looked into for anything but its exact type, as with `std::any::Any`.

use core::any::{Any, TypeId, type_name};
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;

use crate::inline_box::InlineBox;

/// A message of a type that is not known yet: what a catch-all receives. It is sent on as it is by
/// [`send_envelope`](super::Address::send_envelope).
pub struct Envelope {
    vtable: &'static VTable,
    value: InlineBox,
    /// Not `Sync`, since the value need not be.
    unshared: PhantomData<*const ()>,
}

/// What is the same for all envelopes of a type.
struct VTable {
    type_id: fn() -> TypeId,
    type_name: fn() -> &'static str,
    /// Drops the value where it lies: it may be larger than the stack of the thread that drops it.
    ///
    /// # Safety
    /// It is there, and not used afterwards.
    drop: unsafe fn(&mut InlineBox),
    /// Of a notice: the table of the same value as an ordinary message.
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

// SAFETY: only values that are `Send` are put into one.
unsafe impl Send for Envelope {}

impl Envelope {
    /// Puts a value into an envelope. Allocates where it is larger than three words, or over-aligned.
    #[inline(always)]
    #[must_use]
    pub fn new<T: Any + Send>(value: T) -> Self {
        Self::with_vtable(Of::<T>::MESSAGE, value)
    }

    /// An envelope that tells of another mailbox's end, and must not be passed over.
    pub(super) fn notice<T: Any + Send>(value: T) -> Self {
        Self::with_vtable(Of::<T>::NOTICE, value)
    }

    #[inline(always)]
    fn with_vtable<T: Any + Send>(vtable: &'static VTable, value: T) -> Self {
        Self { vtable, value: InlineBox::new(value), unshared: PhantomData }
    }

    /// Whether the value is of this type.
    #[inline(always)]
    #[must_use]
    pub fn is<T: Any + Send>(&self) -> bool {
        // There may be several copies of one table, so only equality proves anything.
        core::ptr::eq(self.vtable, Of::<T>::MESSAGE) || (self.vtable.type_id)() == TypeId::of::<T>()
    }

    /// Whether this tells of another mailbox's end.
    #[inline(always)]
    pub(super) fn is_notice(&self) -> bool {
        self.vtable.notice_of.is_some()
    }

    /// A notice that has found its handler is a message like others, also if it is sent on.
    pub(super) fn noticed(mut self) -> Self {
        self.vtable = self.vtable.notice_of.unwrap_or(self.vtable);
        self
    }

    /// The value where it lies, if it is of this type.
    #[inline(always)]
    #[must_use]
    pub fn downcast_ref<T: Any + Send>(&self) -> Option<&T> {
        if !self.is::<T>() {
            return None;
        }
        // SAFETY: the value is of this type; only `downcast` and `drop` take it, and they use up the envelope.
        Some(unsafe { self.value.get() })
    }

    /// The value, if it is of this type.
    ///
    /// # Errors
    /// The envelope itself, if it is not.
    #[inline(always)]
    pub fn downcast<T: Any + Send>(self) -> Result<T, Self> {
        if self.is::<T>() {
            let mut sealed = ManuallyDrop::new(self);
            // SAFETY: the value is of this type, and the envelope is never used or dropped again.
            Ok(unsafe { sealed.value.take() })
        } else {
            Err(self)
        }
    }

    /// The value, if it is of this type for certain at the first glance, and no notice.
    #[inline(always)]
    pub(super) fn open<T: Any + Send>(self) -> Result<T, Self> {
        if core::ptr::eq(self.vtable, Of::<T>::MESSAGE) { self.downcast() } else { Err(self) }
    }

    /// The name of the value's type, as `std::any::type_name` gives it.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        (self.vtable.type_name)()
    }
}

impl Drop for Envelope {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the value is there: only `downcast` takes it out, and then this does not run.
        unsafe { (self.vtable.drop)(&mut self.value) };
    }
}

impl fmt::Debug for Envelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Envelope({})", self.type_name())
    }
}
