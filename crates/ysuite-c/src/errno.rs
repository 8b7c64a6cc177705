//! The `errno` of the calling thread.

#[cfg(windows)]
unsafe extern "C" {
    // The C library's place for the calling thread.
    safe fn _errno() -> *mut core::ffi::c_int;
}

/// Sets it.
#[cold]
pub(crate) fn set(code: i32) {
    #[cfg(not(windows))]
    errno::set_errno(errno::Errno(code));
    // What that crate sets there is what `GetLastError` returns.
    #[cfg(windows)]
    // SAFETY: the place is there as long as the thread, which alone uses it.
    unsafe {
        _errno().write(code);
    }
}

/// Sets it to the cause of an error of the system. Windows' own errors are not those of C: there it is EIO, and
/// `GetLastError` returns the cause.
#[cold]
pub(crate) fn set_from(error: &std::io::Error) {
    let cause = error.raw_os_error();
    #[cfg(windows)]
    let cause = cause.and_then(|cause| {
        errno::set_errno(errno::Errno(cause));
        None
    });
    set(cause.unwrap_or(libc::EIO));
}
