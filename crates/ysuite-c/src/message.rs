//! Messages: bytes of a class of sizes and alignments, disposed of by the callback of their channel.
//!
//! In a queue with slots they are [`Placed`]: of no size to Rust, so that the code of one type serves all classes, and are
//! moved by their addresses. Where they are moved by value, each [`Message`] type is a type of the library's code: there
//! are few (`for_value!`), and a message is in the smallest that it fits into.

use core::mem::MaybeUninit;
use core::ptr;

use ysuite::in_place::SlotClass;

use crate::disposal;

/// The sizes of the classes that are aligned to 8 and to 16.
const SIZES: [(usize, &[usize]); 2] = [(8, &[8, 16, 24, 32, 48, 64, 96, 128]), (16, &[16, 32, 48, 64, 96, 128])];

/// A class of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    /// What messages are padded to, and how far apart their slots are, in bytes.
    pub(crate) stride: usize,
    pub(crate) align: usize,
}

impl Class {
    /// The class of messages of `size` bytes, with this alignment; 0 is the smallest alignment.
    pub(crate) fn of(size: usize, align: usize) -> Option<Self> {
        let is_known = size > 0 && (align == 0 || align.is_power_of_two());
        let (align, sizes) = SIZES.into_iter().find(|(of, _)| is_known && align <= *of)?;
        let stride = *sizes.iter().find(|stride| size <= **stride)?;
        Some(Self { stride, align })
    }

    /// The slots of a queue of such messages.
    pub(crate) fn slots(self) -> SlotClass {
        SlotClass::of::<Placed>(self.stride, self.align).expect("every class is one of the library's")
    }
}

/// A message in its slot. Rust knows its address alone.
#[repr(align(8))]
pub(crate) struct Placed;

impl Drop for Placed {
    fn drop(&mut self) {
        disposal::dispose(place(ptr::from_mut(self)).cast());
    }
}

/// What is at the address of a message: the bytes of its slot, for its owner.
#[inline(always)]
pub(crate) fn place(message: *const Placed) -> *mut u8 {
    ptr::with_exposed_provenance_mut(message.addr())
}

// MUTANT: Speed only: a copy of a length that the compiler does not know.
/// Copies a message of `size` bytes, aligned or not.
///
/// # Safety
/// They are at `from`, and there is room for them at `to`, elsewhere.
#[inline(always)]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, size: usize) {
    macro_rules! words {
        ($($bytes:literal)*) => {
            match size {
                // SAFETY: by the caller. A size known to the compiler: such a copy is a few instructions.
                $($bytes => unsafe { to.cast::<[MaybeUninit<u8>; $bytes]>().copy_from_nonoverlapping(from.cast(), 1) },)*
                // SAFETY: by the caller.
                _ => unsafe { to.copy_from_nonoverlapping(from, size) },
            }
        };
    }
    words!(8 16 24 32 48 64)
}

/// A message of one class.
pub(crate) trait Message: Sized + Send + Sync + 'static {}

/// Steps by a window know the class: [`steps`](crate::steps) are compiled for each.
macro_rules! for_class {
    ($class:expr, $function:ident($($argument:expr),*)) => {
        match ($class.align, $class.stride) {
            (8, 8) => $function::<At8<8>>($($argument),*),
            (8, 16) => $function::<At8<16>>($($argument),*),
            (8, 24) => $function::<At8<24>>($($argument),*),
            (8, 32) => $function::<At8<32>>($($argument),*),
            (8, 48) => $function::<At8<48>>($($argument),*),
            (8, 64) => $function::<At8<64>>($($argument),*),
            (8, 96) => $function::<At8<96>>($($argument),*),
            (8, 128) => $function::<At8<128>>($($argument),*),
            (16, 16) => $function::<At16<16>>($($argument),*),
            (16, 32) => $function::<At16<32>>($($argument),*),
            (16, 48) => $function::<At16<48>>($($argument),*),
            (16, 64) => $function::<At16<64>>($($argument),*),
            (16, 96) => $function::<At16<96>>($($argument),*),
            (16, 128) => $function::<At16<128>>($($argument),*),
            class => unreachable!("there is no class {class:?}"),
        }
    };
}

pub(crate) use for_class;

/// Defines the messages of one alignment.
macro_rules! message {
    ($name:ident, $align:tt) => {
        #[repr(C, align($align))]
        pub(crate) struct $name<const BYTES: usize>([MaybeUninit<u8>; BYTES]);

        impl<const BYTES: usize> Message for $name<BYTES> {}

        impl<const BYTES: usize> Drop for $name<BYTES> {
            fn drop(&mut self) {
                disposal::dispose(ptr::from_mut(self).cast());
            }
        }
    };
}

message!(At8, 8);
message!(At16, 16);

/// Calls a function for the type of messages that are moved by value. Each is some 80 KB of code in an exchange.
macro_rules! for_value {
    ($class:expr, $function:ident($($argument:expr),*)) => {
        match ($class.align, $class.stride) {
            (8, ..=8) => $function::<At8<8>>($($argument),*),
            (8, ..=16) => $function::<At8<16>>($($argument),*),
            (8, ..=24) => $function::<At8<24>>($($argument),*),
            (_, ..=32) => $function::<At16<32>>($($argument),*),
            (_, ..=64) => $function::<At16<64>>($($argument),*),
            _ => $function::<At16<128>>($($argument),*),
        }
    };
}

pub(crate) use for_value;

/// A message whose receivers get copies.
#[repr(transparent)]
pub(crate) struct Copied<M: Message>(M);

impl<M: Message> Message for Copied<M> {}

impl<M: Message> Clone for Copied<M> {
    fn clone(&self) -> Self {
        let mut copy = MaybeUninit::<Self>::uninit();
        // SAFETY: they are a message, and room for one. All bytes of a message may be anything.
        unsafe {
            disposal::duplicate(ptr::from_ref(self).cast(), copy.as_mut_ptr().cast(), size_of::<Self>());
            copy.assume_init()
        }
    }
}

/// As [`for_value`], for messages that are copied: fewer, as their channels are not for speed alone.
macro_rules! for_copied {
    ($class:expr, $function:ident($($argument:expr),*)) => {
        match ($class.align, $class.stride) {
            (8, ..=8) => $function::<At8<8>>($($argument),*),
            (_, ..=32) => $function::<At16<32>>($($argument),*),
            _ => $function::<At16<128>>($($argument),*),
        }
    };
}

pub(crate) use for_copied;

/// Copies bytes, as [`copy`] or [`copy_nonoverlapping`](ptr::copy_nonoverlapping): the one is longer code, the other a
/// call unless the compiler knows the length.
pub(crate) type CopyBytes = unsafe fn(*const u8, *mut u8, usize);

// MUTANT: Speed only: a copy of a length that the compiler does not know.
/// A message of `size` bytes that lie at `from`, aligned or not.
///
/// # Safety
/// They are there, and are no more than the class has. The caller that gives the message away forgets the bytes
/// there.
#[inline(always)]
pub(crate) unsafe fn copy_in<M: Message>(from: *const u8, size: usize, copy: CopyBytes) -> M {
    // A size known to the compiler if possible: such a copy is a few instructions.
    if size == size_of::<M>() {
        // SAFETY: by the caller. All bytes of a message may be anything.
        return unsafe { from.cast::<M>().read_unaligned() };
    }
    let mut message = MaybeUninit::<M>::uninit();
    // SAFETY: by the caller. All bytes of a message may be anything, those without a value too.
    unsafe {
        copy(from, message.as_mut_ptr().cast(), size);
        message.assume_init()
    }
}

// MUTANT: Speed only: a copy of a length that the compiler does not know.
/// Moves the first `size` bytes of a message to `to`, aligned or not.
///
/// # Safety
/// There is room for them there, and they are no more than the class has.
#[inline(always)]
pub(crate) unsafe fn copy_out<M: Message>(message: M, to: *mut u8, size: usize, copy: CopyBytes) {
    if size == size_of::<M>() {
        // SAFETY: by the caller.
        return unsafe { to.cast::<M>().write_unaligned(message) };
    }
    let message = core::mem::ManuallyDrop::new(message);
    // SAFETY: by the caller.
    unsafe { copy((&raw const *message).cast(), to, size) };
}

#[cfg(test)]
mod tests {
    use super::Class;

    #[test]
    fn every_size_has_the_smallest_class_it_fits_into() {
        let class = |stride, align| Some(Class { stride, align });
        assert_eq!(Class::of(1, 0), class(8, 8));
        assert_eq!(Class::of(8, 1), class(8, 8));
        assert_eq!(Class::of(9, 8), class(16, 8));
        assert_eq!(Class::of(17, 4), class(24, 8));
        assert_eq!(Class::of(17, 16), class(32, 16));
        assert_eq!(Class::of(1, 16), class(16, 16));
        assert_eq!(Class::of(128, 16), class(128, 16));
        for refused in [(0, 8), (129, 8), (8, 3), (8, 32), (0, 0)] {
            assert_eq!(Class::of(refused.0, refused.1), None, "{refused:?}");
        }
    }
}
