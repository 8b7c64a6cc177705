//! What this library is. Any thread; wait-free.

use core::ffi::{c_char, c_int};

use crate::watch::IS_CHECKED;
use crate::window::{YS_WINDOW_VERSION, may_open};

/// The version of the library, as "0.1.0". Static, so never to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn ys_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// 1: this is the checked build, which finds misuse of handles and has no inline path. 0: it is not.
#[unsafe(no_mangle)]
pub extern "C" fn ys_is_checked() -> c_int {
    IS_CHECKED.into()
}

/// The version of the windows that this library opens: `YS_WINDOW_VERSION` of its own header. 0: it opens none,
/// because this is the checked build, or the environment variable YSUITE_WINDOW was 0 when the library first read
/// it.
#[unsafe(no_mangle)]
pub extern "C" fn ys_window_version() -> u32 {
    // MUTANT: Checked builds only. Killed only by `no_window_is_open`.
    if may_open() { YS_WINDOW_VERSION } else { 0 }
}
