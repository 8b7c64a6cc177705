//! The loans of a build that keeps no list. A word in front of each block says whether it is lent: a second free is found as long as
//! the block was not taken anew, and so is, as a rule, what is no block.
//!
//! Any thread; wait-free.

use core::ptr::NonNull;

use ysuite::pool::Message;

use super::refuse;

/// The number of guard bytes after each block.
pub(crate) const GUARD: usize = 0;

const MISTAKE: &str = "which is no message of a pool, or was freed before";

/// A block goes to a caller.
#[inline(always)]
pub(crate) fn lent(message: Message, _: usize) -> NonNull<u8> {
    message.lend()
}

/// The caller must have it. The process ends if it does not.
///
/// # Safety
/// A message of a pool whose memory is there; or memory that can be read in front of it.
#[inline(always)]
pub(crate) unsafe fn check(function: &str, first: NonNull<u8>) {
    // SAFETY: by the caller.
    if !first.cast::<u64>().is_aligned() || !unsafe { Message::is_lent(first) } {
        refuse(function, first, MISTAKE);
    }
}

/// It comes back from a caller. The process ends if it cannot.
///
/// # Safety
/// As of [`check`].
#[inline(always)]
pub(crate) unsafe fn given_back(function: &str, first: NonNull<u8>) -> Message {
    if !first.cast::<u64>().is_aligned() {
        refuse(function, first, MISTAKE);
    }
    // SAFETY: by the caller.
    unsafe { Message::take_back(first) }.unwrap_or_else(|| refuse(function, first, MISTAKE))
}
