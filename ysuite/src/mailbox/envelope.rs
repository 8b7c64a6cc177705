//! A message of any type, with the means to find out which. One owner at a time; nothing here blocks.
//!
//! A value of up to three words that needs no larger alignment than a word lies in the envelope itself; a larger one in a
//! box of its own. Asking for its type compares two addresses, and two type ids where those differ. Neither allocates.
//!
//! Cannot: be looked into for anything but its exact type, as with `std::any::Any`.

use core::any::{Any, TypeId, type_name};
use core::fmt;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit};

/// Room for a value that is not boxed.
type Room = MaybeUninit<[usize; 3]>;

/// A message of a type that is not known yet: what a catch-all receives. It is sent on as it is by
/// [`send_envelope`](super::Address::send_envelope).
pub struct Envelope {
    kind: &'static Kind,
    /// The value, or its box.
    room: Room,
    /// Not `Sync`, since the value need not be.
    unshared: PhantomData<*const ()>,
}

/// What is the same for all envelopes of a type.
struct Kind {
    type_id: fn() -> TypeId,
    type_name: fn() -> &'static str,
    /// Drops the value in a room.
    ///
    /// # Safety
    /// It is there, and not used afterwards.
    drop: unsafe fn(&mut Room),
    /// Of a notice: the kind of the same value as an ordinary message.
    notice_of: Option<&'static Kind>,
}

struct Of<T>(PhantomData<T>);

impl<T: Any + Send> Of<T> {
    const INLINE: bool = size_of::<T>() <= size_of::<Room>() && align_of::<T>() <= align_of::<Room>();
    const MESSAGE: &'static Kind =
        &Kind { type_id: TypeId::of::<T>, type_name: type_name::<T>, drop: Self::drop, notice_of: None };
    const NOTICE: &'static Kind = &Kind { notice_of: Some(Self::MESSAGE), ..*Self::MESSAGE };

    /// Where it lies: it may be larger than the stack of the thread that drops it.
    ///
    /// # Safety
    /// A value of this type is in the room, and not used afterwards.
    unsafe fn drop(room: &mut Room) {
        if Self::INLINE {
            // SAFETY: `new` has put it there; size and alignment fit.
            unsafe { room.as_mut_ptr().cast::<T>().drop_in_place() };
        } else {
            // SAFETY: `new` has put the box's pointer there.
            drop(unsafe { Box::from_raw(room.as_mut_ptr().cast::<*mut T>().read()) });
        }
    }

    /// Takes the value out, and frees its box.
    ///
    /// # Safety
    /// A value of this type is in the room, and not used afterwards.
    #[inline(always)]
    unsafe fn take(room: &mut Room) -> T {
        if Self::INLINE {
            // SAFETY: `new` has put it there; size and alignment fit.
            unsafe { room.as_mut_ptr().cast::<T>().read() }
        } else {
            // SAFETY: `new` has put the box's pointer there.
            *unsafe { Box::from_raw(room.as_mut_ptr().cast::<*mut T>().read()) }
        }
    }
}

// SAFETY: only values that are `Send` are put into one.
unsafe impl Send for Envelope {}

impl Envelope {
    /// Puts a value into an envelope. Allocates where it is larger than three words, or over-aligned.
    #[inline(always)]
    #[must_use]
    pub fn new<T: Any + Send>(value: T) -> Self {
        Self::of_kind(Of::<T>::MESSAGE, value)
    }

    /// An envelope that tells of another mailbox's end, and must not be passed over.
    pub(super) fn notice<T: Any + Send>(value: T) -> Self {
        Self::of_kind(Of::<T>::NOTICE, value)
    }

    #[inline(always)]
    fn of_kind<T: Any + Send>(kind: &'static Kind, value: T) -> Self {
        let mut room = Room::uninit();
        if Of::<T>::INLINE {
            // SAFETY: size and alignment fit.
            unsafe { room.as_mut_ptr().cast::<T>().write(value) };
        } else {
            // SAFETY: a pointer is one word.
            unsafe { room.as_mut_ptr().cast::<*mut T>().write(Box::into_raw(Box::new(value))) };
        }
        Self { kind, room, unshared: PhantomData }
    }

    /// Whether the value is of this type.
    #[inline(always)]
    #[must_use]
    pub fn is<T: Any + Send>(&self) -> bool {
        // There may be several copies of one kind, so only equality proves anything.
        core::ptr::eq(self.kind, Of::<T>::MESSAGE) || (self.kind.type_id)() == TypeId::of::<T>()
    }

    /// Whether this tells of another mailbox's end.
    #[inline(always)]
    pub(super) fn is_notice(&self) -> bool {
        self.kind.notice_of.is_some()
    }

    /// A notice that has found its handler is a message like others, also if it is sent on.
    pub(super) fn noticed(mut self) -> Self {
        self.kind = self.kind.notice_of.unwrap_or(self.kind);
        self
    }

    /// The value where it lies, if it is of this type.
    #[inline(always)]
    #[must_use]
    pub fn downcast_ref<T: Any + Send>(&self) -> Option<&T> {
        if !self.is::<T>() {
            return None;
        }
        let place = self.room.as_ptr();
        // SAFETY: the value is of this type, and lies in the room or in the box whose pointer does.
        Some(unsafe { if Of::<T>::INLINE { &*place.cast::<T>() } else { &**place.cast::<*const T>() } })
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
            Ok(unsafe { Of::<T>::take(&mut sealed.room) })
        } else {
            Err(self)
        }
    }

    /// The value, if it is of this type for certain at the first glance, and no notice.
    #[inline(always)]
    pub(super) fn open<T: Any + Send>(self) -> Result<T, Self> {
        if core::ptr::eq(self.kind, Of::<T>::MESSAGE) { self.downcast() } else { Err(self) }
    }

    /// The name of the value's type, as `std::any::type_name` gives it.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        (self.kind.type_name)()
    }
}

impl Drop for Envelope {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the value is there: only `downcast` takes it out, and then this does not run.
        unsafe { (self.kind.drop)(&mut self.room) };
    }
}

impl fmt::Debug for Envelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Envelope({})", self.type_name())
    }
}
