//! Which blocks of pools callers have. The checked build keeps a list of them, and guard bytes after each block;
//! any other build checks the word that a block has for this.

#[cfg(feature = "checked")]
mod checked;
#[cfg(not(feature = "checked"))]
mod unchecked;

use core::ptr::NonNull;

#[cfg(feature = "checked")]
pub(crate) use self::checked::{GUARD, check, given_back, lent};
#[cfg(not(feature = "checked"))]
pub(crate) use self::unchecked::{GUARD, check, given_back, lent};

/// What a caller has done.
#[cold]
#[inline(never)]
pub(crate) fn refuse(function: &str, first: NonNull<u8>, mistake: &str) -> ! {
    eprintln!("ysuite: {function} was called for {first:p}, {mistake}.");
    std::process::abort();
}
