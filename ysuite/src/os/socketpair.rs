//! A pair of local stream sockets as a bell: one end is written, the other becomes readable. Any Unix.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::Errno;

use super::{Bell, count_call};

pub(crate) struct Socketpair {
    /// Rung by any thread.
    ringing: OwnedFd,
    /// Polled by the owner, read by whoever hushes.
    listening: OwnedFd,
}

impl Socketpair {
    /// # Errors
    /// Those of `socketpair(2)`: no descriptors left (`EMFILE`, `ENFILE`), no memory, forbidden by a filter.
    pub(crate) fn new() -> io::Result<Self> {
        count_call();
        let (ringing, listening) = UnixStream::pair()?;
        ringing.set_nonblocking(true)?;
        listening.set_nonblocking(true)?;
        Ok(Self { ringing: above_stdio(ringing.into())?, listening: above_stdio(listening.into())? })
    }
}

impl AsFd for Socketpair {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listening.as_fd()
    }
}

impl Bell for Socketpair {
    fn ring(&self) {
        loop {
            count_call();
            match rustix::io::write(&self.ringing, &[1]) {
                Err(Errno::INTR) => {}
                // EAGAIN: the buffer is full of rings nobody has taken: the other end is readable.
                _ => return,
            }
        }
    }

    fn hush(&self) -> bool {
        let mut ring = [0u8; 1];
        loop {
            count_call();
            match rustix::io::read(&self.listening, &mut ring[..]) {
                Err(Errno::INTR) => {}
                result => return matches!(result, Ok(1)),
            }
        }
    }
}

/// An application that has closed its standard streams would make us the new standard error, and every message printed
/// there a false ring. Such a number is given up for a higher one.
pub(super) fn above_stdio(fd: OwnedFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() > 2 {
        return Ok(fd);
    }
    count_call();
    Ok(rustix::io::fcntl_dupfd_cloexec(&fd, 3)?)
}
