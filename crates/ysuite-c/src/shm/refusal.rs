//! What refused an end, in words.

use core::ffi::c_char;

use crate::ends::refusal;

/// Why the last call of this thread was refused that has returned YS_REFUSED or one of the codes behind it, in full: after
/// YS_REFUSED_BY_PEER with what the peer has said, after YS_REFUSED_USER with the number of the user. Any thread.
///
/// @return a text, which stays until this thread is refused again, or ends; empty if it was never refused; not to be
///     freed
#[unsafe(no_mangle)]
pub extern "C" fn ys_shm_refusal() -> *const c_char {
    refusal()
}
