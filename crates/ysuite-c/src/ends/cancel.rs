//! No call is a cancellation point of its thread, as none of those within a process is. The system calls of a channel between
//! processes are some, and from there a cancelled thread would be unwound through this library, which ends the process.

use core::ffi::c_int;
use core::ptr;

/// What `PTHREAD_CANCEL_DISABLE` is on Linux.
const DISABLE: c_int = 1;

unsafe extern "C" {
    /// Not in `libc`.
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
}

/// As long as it lives, a cancellation of this thread is put off.
pub(crate) struct Uncancelled(c_int);

impl Uncancelled {
    // MUTANT: Killed only by `a_wait_is_no_cancellation_point`: AddressSanitizer and a cancelled thread do not agree.
    pub(crate) fn begin() -> Self {
        let mut old = DISABLE;
        // SAFETY: a place for the state; no other thread is concerned.
        unsafe { pthread_setcancelstate(DISABLE, &raw mut old) };
        Self(old)
    }
}

impl Drop for Uncancelled {
    // MUTANT: As above.
    fn drop(&mut self) {
        // SAFETY: the state that it had. Even where the thread was cancelled meanwhile this is no cancellation point.
        unsafe { pthread_setcancelstate(self.0, ptr::null_mut()) };
    }
}
