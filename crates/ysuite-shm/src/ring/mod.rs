//! Rings in memory that the sender alone writes: of messages of one type ([`typed`]), of bytes ([`bytes`]), of values
//! of which the newest counts ([`latest`]), and of answers, each with a place of its own ([`answers`]). A ring knows where its messages are; it neither wakes nor sleeps. One thread writes it, one reads it.

pub(crate) mod answers;
pub(crate) mod bytes;
pub(crate) mod latest;
pub(crate) mod records;
pub(crate) mod typed;

use core::ptr::NonNull;

use crate::os::PAGE;
use crate::page::{Kind, RING, Shape};
use crate::sync::{Ordering, word_at};
use crate::{Error, Why, loan};

/// What a reader found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Something,
    Nothing,
    /// The writer's memory says what no writer says.
    Broken,
}

/// The bytes of a sender's region with a ring of this capacity; an error if that cannot be.
pub(crate) fn region_bytes(shape: &Shape, capacity: usize) -> Result<usize, Error> {
    let ring = match shape.kind {
        Kind::WorkBytes | Kind::QuestionBytes | Kind::AnswerBytes if !bytes::fits_counted(shape.size) => None,
        Kind::Typed | Kind::Broadcast | Kind::Lossy | Kind::Work | Kind::Questions => {
            places(shape).ring_bytes(capacity)
        }
        Kind::WorkBytes | Kind::QuestionBytes => places(shape).ring_bytes(capacity),
        Kind::Answers | Kind::AnswerBytes => answers::ring_bytes(shape.size, shape.align, capacity),
        Kind::Bytes => bytes::ring_bytes(capacity),
        Kind::Watch => latest::ring_bytes(shape.size, capacity),
        Kind::WatchBytes => latest::bytes_ring(capacity),
        Kind::BroadcastBytes | Kind::LossyBytes => records::ring_bytes(capacity),
        Kind::Loan => return loan::region_bytes(shape.size, capacity).ok_or(Error::Refused(Why::Capacity)),
    };
    ring.and_then(|ring| ring.checked_next_multiple_of(PAGE))
        .and_then(|ring| ring.checked_add(RING))
        .ok_or(Error::Refused(Why::Capacity))
}

/// Where a ring of this shape, of which there is a [`region_bytes`], has its slots.
pub(crate) fn places(shape: &Shape) -> typed::Places {
    match shape.kind {
        Kind::Questions | Kind::QuestionBytes => typed::numbered(shape.size, shape.align),
        _ => typed::Places::of(shape.size, shape.align),
    }
}

/// From this number of bytes on a copy is one instruction: at 4 KiB it takes 45 ns where word by word takes 105, at 1 MiB 22 µs
/// and 35; at 512 bytes both take 14. That is of memory near the processor: a stream of 4 KiB between two takes the same either
/// way, as both wait for the lines.
const LONG: usize = 1_024;

/// Copies whole words, from or to shared memory, as one instruction; how many bytes. 0: they are few, or this processor has none.
///
/// # Safety
/// `from` is valid for reads of `length` bytes, and `to` for writes; what is shared may change meanwhile.
#[inline(always)]
unsafe fn copy_long(from: *const u8, to: *mut u8, length: usize) -> usize {
    #[cfg(all(target_arch = "x86_64", not(any(miri, ysuite_loom))))]
    if length >= LONG {
        let bytes = length / 8 * 8;
        // ORDERING: as of relaxed words. The processor orders a store that follows, which publishes, behind the whole copy, and
        // a load that follows, which checks a copy, behind it as well; the compiler moves neither across.
        // SAFETY: by the caller; calls leave the direction forward. To the language, what another process does to the memory
        // meanwhile is what this instruction does: there is no load or store of it that could race.
        unsafe {
            core::arch::asm!(
                "rep movsb",
                inout("rcx") bytes => _,
                inout("rsi") from => _,
                inout("rdi") to => _,
                options(nostack, preserves_flags)
            );
        }
        return bytes;
    }
    let _ = (from, to, length, LONG);
    0
}

/// Writes bytes into shared memory, as whole words; the last one is padded with zeros.
///
/// # Safety
/// From `to` on, which is aligned to 8, is room for `length` bytes, rounded up to whole words, that this thread alone
/// writes. `from` is valid for reads of `length` bytes.
#[inline(always)]
pub(crate) unsafe fn store_words(to: NonNull<u8>, from: *const u8, length: usize) {
    // SAFETY: by the caller.
    let copied = unsafe { copy_long(from, to.as_ptr(), length) };
    let (to, words) = (to.as_ptr().cast::<u64>(), length / 8);
    let put = |at: usize, value: u64| {
        // SAFETY: by the caller.
        let word = unsafe { word_at(to.add(at)) };
        // ORDERING: Relaxed; the state of the ring publishes it.
        word.store(value, Ordering::Relaxed);
    };
    for at in copied / 8..words {
        // SAFETY: by the caller.
        put(at, unsafe { from.add(8 * at).cast::<u64>().read_unaligned() });
    }
    let rest = length % 8;
    if rest > 0 {
        let mut last = [0_u8; 8];
        // SAFETY: by the caller; `rest` is less than 8.
        unsafe { core::ptr::copy_nonoverlapping(from.add(8 * words), last.as_mut_ptr(), rest) };
        put(words, u64::from_ne_bytes(last));
    }
}

/// Reads bytes out of shared memory that may change meanwhile: what is read is then any mixture.
///
/// # Safety
/// From `from` on, which is aligned to 8, `length` bytes, rounded up to whole words, are mapped. `to` is valid for
/// writes of `length` bytes.
#[inline(always)]
pub(crate) unsafe fn load_words(from: NonNull<u8>, to: *mut u8, length: usize) {
    // SAFETY: by the caller.
    let copied = unsafe { copy_long(from.as_ptr(), to, length) };
    let (from, words) = (from.as_ptr().cast::<u64>(), length / 8);
    let get = |at: usize| {
        // SAFETY: by the caller; the word may be read-only, and is only loaded, relaxed.
        let word = unsafe { word_at(from.add(at)) };
        // ORDERING: Relaxed; behind the Acquire with which the state was read.
        word.load(Ordering::Relaxed)
    };
    for at in copied / 8..words {
        // SAFETY: by the caller.
        unsafe { to.add(8 * at).cast::<u64>().write_unaligned(get(at)) };
    }
    let rest = length % 8;
    if rest > 0 {
        let last = get(words).to_ne_bytes();
        // SAFETY: by the caller; `rest` is less than 8.
        unsafe { core::ptr::copy_nonoverlapping(last.as_ptr(), to.add(8 * words), rest) };
    }
}

/// As [`load_words`], from any address.
///
/// # Safety
/// All words in which there is one of the `length` bytes from `from` on are mapped. `to` is valid for writes of `length` bytes.
pub(crate) unsafe fn load_bytes(from: NonNull<u8>, to: *mut u8, length: usize) {
    let skew = from.as_ptr().addr() % 8;
    let front = if skew == 0 { 0 } else { length.min(8 - skew) };
    if front > 0 {
        let mut first = [0_u8; 8];
        // SAFETY: by the caller: the word in which the first byte is.
        unsafe { load_words(from.sub(skew), first.as_mut_ptr(), 8) };
        // SAFETY: by the caller; within the word.
        unsafe { core::ptr::copy_nonoverlapping(first.as_ptr().add(skew), to, front) };
    }
    if length > front {
        // SAFETY: by the caller; aligned from here on.
        unsafe { load_words(from.add(front), to.add(front), length - front) };
    }
}
