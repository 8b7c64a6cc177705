//! Messages as the bytes of a stream socket: the shared part of all such transports, for every kind of socket.
//!
//! ```text
//!   sender threads   send ----> kernel buffer ----> (poll, then) recv with MSG_WAITALL   receiver threads
//! ```
//!
//! Both sides wait in the kernel: the sender while the socket's buffers are full, the receiver while they are empty.
//! Cannot: carry part of a message, or guarantee that the messages of several threads stay whole; see `unix_stream` for
//! those that do.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use bytemuck::Pod;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};

use super::{Mechanism, put_in_parts, take_in_parts};
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
        put_in_parts(wire, |bytes| send(&self.first, bytes, SendFlags::NOSIGNAL))
    }

    #[inline(always)]
    fn take<W: Pod>(&self) -> Result<W, Closed> {
        let read = |room: &mut [MaybeUninit<u8>]| {
            if POLL {
                // Interrupted or not, the read below waits for the rest.
                let _ = poll(&mut [PollFd::new(&self.second, PollFlags::IN)], None);
            }
            recv(&self.second, room, RecvFlags::WAITALL).map(|(_, count)| count)
        };
        // SAFETY: without `RecvFlags::TRUNC` the kernel has written the number of bytes that it reports, from the first
        // on.
        unsafe { take_in_parts(read) }
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
