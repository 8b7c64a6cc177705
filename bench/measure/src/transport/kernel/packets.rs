//! Unix datagram and seqpacket sockets: a connected pair, each message one packet that the kernel keeps whole.
//!
//! ```text
//!   sender threads   send ----> packets in one queue, one order ----> recv   receiver threads
//! ```
//!
//! Both sides wait in the kernel. The send buffer is as large as `net.core.wmem_max` allows. It bounds both a packet
//! and the number of waiting packets. `net.unix.max_dgram_qlen` does not apply between two sockets connected to each
//! other. Cannot: carry a packet longer than the send buffer, or so long (some megabytes) that the kernel has no memory
//! in one piece for it.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use bytemuck::Pod;
use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_send_buffer_size, socket_send_buffer_size};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType};
use rustix::net::{recv, send, shutdown, socketpair};

use super::ends::{Receiver, Sender};
use super::{Mechanism, allowed, ends, room};
use crate::transport::channels::channels;
use crate::transport::{Closed, Ends, Traits, Waits, ends_by_cloning};

/// Two sockets connected to each other, used from the first to the second.
pub struct Pair {
    first: OwnedFd,
    second: OwnedFd,
}

impl Pair {
    pub(in crate::transport) fn open(kind: SocketType) -> io::Result<Self> {
        let (first, second) = socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
        if let Some(most) = allowed::SEND_BUFFER.read() {
            // The kernel reduces larger values. Without it the pair works with less.
            let _ = set_socket_send_buffer_size(&first, most as usize);
        }
        Ok(Self { first, second })
    }

    /// The one to send by, and its peer.
    pub(in crate::transport) fn into_halves(self) -> (OwnedFd, OwnedFd) {
        (self.first, self.second)
    }

    #[inline(always)]
    pub(super) fn send(&self, packet: &[u8]) -> Result<usize, Errno> {
        send(&self.first, packet, SendFlags::NOSIGNAL)
    }

    /// The requested size: the kernel doubles it, for its own data in addition to the bytes.
    pub(super) fn send_buffer(&self) -> io::Result<u64> {
        Ok(socket_send_buffer_size(&self.first)? as u64 / 2)
    }
}

impl AsFd for Pair {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.second.as_fd()
    }
}

impl Mechanism for Pair {
    const TELLS_THE_END: bool = true;

    #[inline(always)]
    fn put<W: Pod>(&self, wire: &W) -> Result<(), Closed> {
        loop {
            match self.send(bytemuck::bytes_of(wire)) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(_) => return Err(Closed),
            }
        }
    }

    #[inline(always)]
    fn take<W: Pod>(&self) -> Result<W, Closed> {
        let mut wire = MaybeUninit::<W>::uninit();
        loop {
            match recv(&self.second, room(&mut wire), RecvFlags::empty()) {
                // SAFETY: the kernel has written every byte, and every pattern of bytes is a `Pod`.
                Ok((_, count)) if count == size_of::<W>() => return Ok(unsafe { wire.assume_init() }),
                Err(Errno::INTR) => {}
                Ok(_) | Err(_) => return Err(Closed),
            }
        }
    }

    /// After the shutdown nothing more can be sent, and the remaining packets are read without waiting.
    fn leftover<W: Pod>(&self) -> Option<W> {
        self.no_senders();
        self.take().ok()
    }

    /// A datagram socket is not notified that its peer will send no more: it must be shut down itself.
    fn no_senders(&self) {
        let _ = shutdown(&self.first, Shutdown::Write);
        let _ = shutdown(&self.second, Shutdown::Read);
    }
}

const COMMON: Traits = Traits {
    waits: Waits::Sleeps,
    works_with_epoll: true,
    bounded: true,
    senders: Ends::Many,
    receivers: Ends::Many,
    most_bytes: |_| allowed::longest_packet(),
    ..Traits::COMMON
};

channels! {
    Datagrams: "unix-dgram", "A pair of unix datagram sockets, a message in each datagram",
        { available: || available("unix datagram sockets", SocketType::DGRAM), ..COMMON },
        Sender<Pair, M>, Receiver<Pair, M>, ends(Pair::open(SocketType::DGRAM)?);
    Seqpackets: "unix-seqpacket", "A pair of unix seqpacket sockets, a message in each packet",
        { available: || available("unix seqpacket sockets", SocketType::SEQPACKET), ..COMMON },
        Sender<Pair, M>, Receiver<Pair, M>, ends(Pair::open(SocketType::SEQPACKET)?);
}
ends_by_cloning!(both: Datagrams, Seqpackets);

fn available(what: &str, kind: SocketType) -> Result<(), String> {
    Pair::open(kind).map(drop).map_err(|cause| allowed::missing(what, &cause))
}
