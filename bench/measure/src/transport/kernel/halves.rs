//! One side of each of the kernel's mechanisms, in a process that has only that side: the peer's death is then reported
//! by the kernel itself, where it can.
//!
//! Queues have no sides. Nothing in them tells of a death: the process that started both notices it.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use bytemuck::Pod;
use rustix::io::{Errno, read, write};
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::{Mechanism, posix_mq, put_in_parts, room, sysv_mq, take_in_parts};
use crate::transport::Closed;

/// The side of a sender or of a receiver; one type has both calls, of which a process makes one.
pub trait Half: Send + 'static {
    /// Sends one message whole; waits while there is no room for it.
    fn put<W: Pod>(&self, wire: &W) -> Result<(), Closed>;

    /// Waits for the next message.
    fn take<W: Pod>(&self) -> Result<W, Closed>;
}

/// The descriptor of a pipe.
pub struct PipeHalf(pub OwnedFd);

impl Half for PipeHalf {
    #[inline(always)]
    fn put<W: Pod>(&self, wire: &W) -> Result<(), Closed> {
        put_in_parts(wire, |bytes| write(&self.0, bytes))
    }

    #[inline(always)]
    fn take<W: Pod>(&self) -> Result<W, Closed> {
        // SAFETY: the bytes that `read` reports as initialised are the first bytes of its buffer.
        unsafe { take_in_parts(|room| read(&self.0, room).map(|(bytes, _)| bytes.len())) }
    }
}

/// A stream socket.
pub struct StreamHalf(pub OwnedFd);

impl Half for StreamHalf {
    #[inline(always)]
    fn put<W: Pod>(&self, wire: &W) -> Result<(), Closed> {
        put_in_parts(wire, |bytes| send(&self.0, bytes, SendFlags::NOSIGNAL))
    }

    #[inline(always)]
    fn take<W: Pod>(&self) -> Result<W, Closed> {
        // SAFETY: without `RecvFlags::TRUNC` the kernel has written the number of bytes that it reports, from the first
        // on.
        unsafe { take_in_parts(|room| recv(&self.0, room, RecvFlags::WAITALL).map(|(_, count)| count)) }
    }
}

/// A socket that keeps packets whole.
pub struct PacketHalf(pub OwnedFd);

impl Half for PacketHalf {
    #[inline(always)]
    fn put<W: Pod>(&self, wire: &W) -> Result<(), Closed> {
        loop {
            match send(&self.0, bytemuck::bytes_of(wire), SendFlags::NOSIGNAL) {
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
            match recv(&self.0, room(&mut wire), RecvFlags::empty()) {
                // SAFETY: the kernel has written every byte, and every pattern of bytes is a `Pod`.
                Ok((_, count)) if count == size_of::<W>() => return Ok(unsafe { wire.assume_init() }),
                Err(Errno::INTR) => {}
                Ok(_) | Err(_) => return Err(Closed),
            }
        }
    }
}

/// Mechanisms whose two sides are one queue.
macro_rules! halves_of_queues {
    ($($queue:ty),+) => { $(
        impl Half for $queue {
            #[inline(always)]
            fn put<W: Pod>(&self, wire: &W) -> Result<(), Closed> {
                Mechanism::put(self, wire)
            }

            #[inline(always)]
            fn take<W: Pod>(&self) -> Result<W, Closed> {
                Mechanism::take(self)
            }
        }
    )+ };
}
halves_of_queues!(posix_mq::Queue, sysv_mq::Queue);
