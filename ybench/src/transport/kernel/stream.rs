//! Messages as the bytes of a stream socket: what the transports over them share, whatever kind of socket it is.
//!
//! ```text
//!   sender threads   send ----> kernel buffer ----> (poll, then) recv with MSG_WAITALL   receiver threads
//! ```
//!
//! Both ends wait in the kernel: the sender while the socket's buffers are full, the receiver while they are empty.
//! Cannot: carry part of a message, or promise that the messages of several threads stay whole; see `unix_stream` for
//! those that do.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use bytemuck::Pod;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};

use super::{Mechanism, room};
use crate::transport::Closed;

/// Two connected sockets that carry nothing else, from the first to the second.
pub struct Stream<const POLL: bool> {
    first: OwnedFd,
    second: OwnedFd,
}

impl<const POLL: bool> Stream<POLL> {
    pub fn over(first: OwnedFd, second: OwnedFd) -> Self {
        Self { first, second }
    }
}

impl<const POLL: bool> AsFd for Stream<POLL> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.second.as_fd()
    }
}

impl<const POLL: bool> Mechanism for Stream<POLL> {
    const TELLS_THE_END: bool = true;

    #[inline(always)]
    fn put<W: Pod>(&self, wire: &W) -> Result<(), Closed> {
        let bytes = bytemuck::bytes_of(wire);
        let mut sent = 0;
        while sent < bytes.len() {
            match send(&self.first, &bytes[sent..], SendFlags::NOSIGNAL) {
                Ok(count) => sent += count,
                Err(Errno::INTR) => {}
                Err(_) => return Err(Closed),
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn take<W: Pod>(&self) -> Result<W, Closed> {
        let mut wire = MaybeUninit::<W>::uninit();
        let mut received = 0;
        while received < size_of::<W>() {
            if POLL {
                // Interrupted or not, the read below waits for what is missing.
                let _ = poll(&mut [PollFd::new(&self.second, PollFlags::IN)], None);
            }
            match recv(&self.second, &mut room(&mut wire)[received..], RecvFlags::WAITALL) {
                Ok((_, 0)) => return Err(Closed),
                Ok((_, count)) => received += count,
                Err(Errno::INTR) => {}
                Err(_) => return Err(Closed),
            }
        }
        // SAFETY: the kernel has written every byte, and every pattern of bytes is a `Pod`.
        Ok(unsafe { wire.assume_init() })
    }

    /// After the shutdown nothing more can be sent, so the stream has an end and a read up to it never waits for long.
    fn leftover<W: Pod>(&self) -> Option<W> {
        self.no_senders();
        self.take().ok()
    }

    fn no_senders(&self) {
        let _ = shutdown(&self.first, Shutdown::Write);
    }
}
