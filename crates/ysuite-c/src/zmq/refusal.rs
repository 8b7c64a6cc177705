//! What refused a bridge, in words.

use core::ffi::c_char;

use crate::ends::refusal;

/// Why the last call of this thread was refused that has opened a bridge or changed one, or has returned YS_DIED, YS_BROKEN or
/// YS_UNANSWERED, in full. Any thread.
///
/// @return a text, which stays until this thread is refused again, or ends; empty if it was never refused; not to be
///     freed
#[unsafe(no_mangle)]
pub extern "C" fn ys_zmq_refusal() -> *const c_char {
    refusal()
}
