//! Descriptors that any thread can notify: a Linux `eventfd(2)`, or a pair of local stream sockets on any Unix.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use super::notifier::{Descriptor, Notifier};
use super::sys::ENOBUFS;
use super::{PeerWait, count_call};

/// An eventfd, or a pair of sockets.
pub(crate) struct WakeupFd {
    /// The owner polls it, and clears by reading here.
    reading: File,
    /// The other descriptor of a pair, to which any thread writes to notify. An eventfd itself is written to.
    writing: Option<File>,
    /// What is written, and read back: for an eventfd the number that is added to its counter.
    notification: &'static [u8],
}

impl WakeupFd {
    /// # Errors
    /// Those of `eventfd(2)`: no descriptors left (`EMFILE`, `ENFILE`), no memory, forbidden by a filter.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn eventfd() -> io::Result<Self> {
        count_call();
        let fd = super::sys::eventfd()?;
        Ok(Self { reading: above_stdio(fd)?, writing: None, notification: &const { 1u64.to_ne_bytes() } })
    }

    /// # Errors
    /// Those of `socketpair(2)`: no descriptors left (`EMFILE`, `ENFILE`), no memory, forbidden by a filter.
    pub(crate) fn socketpair() -> io::Result<Self> {
        count_call();
        let (writing, reading) = UnixStream::pair()?;
        writing.set_nonblocking(true)?;
        reading.set_nonblocking(true)?;
        let (writing, reading) = (above_stdio(writing.into())?, above_stdio(reading.into())?);
        Ok(Self { reading, writing: Some(writing), notification: &[1] })
    }
}

impl Notifier for WakeupFd {
    fn descriptor(&self) -> Descriptor<'_> {
        self.reading.as_fd()
    }

    fn notify(&self) {
        let mut file = self.writing.as_ref().unwrap_or(&self.reading);
        // EAGAIN: the counter, or the buffer, is full of notifications that have not been cleared: readable already.
        // Where the system has no memory for one more byte, no other call would write this notification.
        let mut wait = PeerWait::default();
        while let Err(error) = uninterrupted(|| file.write(self.notification)) {
            if error.kind() != ErrorKind::OutOfMemory && error.raw_os_error() != Some(ENOBUFS) {
                break;
            }
            wait.wait();
        }
    }

    fn clear(&self) -> bool {
        let length = self.notification.len();
        uninterrupted(|| (&self.reading).read(&mut [0; 8][..length])).is_ok_and(|read| read == length)
    }
}

// MUTANT: Closed standard streams only, and one system call. Killed only by
// `closed_standard_streams_are_not_inherited` and
// `a_set_is_made_by_one_system_call_and_goes_without_a_read_where_nothing_is_up`.
/// In an application that has closed its standard streams, a new descriptor may become the standard error, and every
/// message printed there a false notification. Such a descriptor is exchanged for one with a higher number.
fn above_stdio(fd: OwnedFd) -> io::Result<File> {
    if fd.as_raw_fd() > 2 {
        return Ok(fd.into());
    }
    count_call();
    // std asks for a number above those of the standard streams.
    Ok(fd.try_clone()?.into())
}

/// Makes a system call, again each time that a signal handler has ended it.
fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        count_call();
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}
