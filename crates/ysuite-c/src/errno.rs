//! The `errno` of the calling thread.

/// Sets it.
#[cold]
pub(crate) fn set(code: i32) {
    errno::set_errno(errno::Errno(code));
}

/// Sets it to the cause of an error of the system.
#[cold]
pub(crate) fn set_from(error: &std::io::Error) {
    set(error.raw_os_error().unwrap_or(libc::EIO));
}
