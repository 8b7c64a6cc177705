//! A pair of local stream sockets as a notifier: one end is written, the other becomes readable. Any Unix.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use super::{Notifier, count_call, uninterrupted};

pub(crate) struct Socketpair {
    /// Any thread notifies by writing here.
    writing: OwnedFd,
    /// The owner polls it, and clears by reading here.
    reading: OwnedFd,
}

impl Socketpair {
    /// # Errors
    /// Those of `socketpair(2)`: no descriptors left (`EMFILE`, `ENFILE`), no memory, forbidden by a filter.
    pub(crate) fn new() -> io::Result<Self> {
        count_call();
        let (writing, reading) = UnixStream::pair()?;
        writing.set_nonblocking(true)?;
        reading.set_nonblocking(true)?;
        Ok(Self { writing: above_stdio(writing.into())?, reading: above_stdio(reading.into())? })
    }
}

impl AsFd for Socketpair {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reading.as_fd()
    }
}

impl Notifier for Socketpair {
    fn notify(&self) {
        // EAGAIN: the buffer is full of notifications that have not been cleared: the other end is readable already.
        let _ = uninterrupted(|| rustix::io::write(&self.writing, &[1]));
    }

    fn clear(&self) -> bool {
        uninterrupted(|| rustix::io::read(&self.reading, &mut [0u8; 1])) == Ok(1)
    }
}

/// In an application that has closed its standard streams, a new descriptor may become the standard error, and every
/// message printed there a false notification. Such a descriptor is exchanged for one with a higher number.
pub(super) fn above_stdio(fd: OwnedFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() > 2 {
        return Ok(fd);
    }
    count_call();
    Ok(rustix::io::fcntl_dupfd_cloexec(&fd, 3)?)
}
