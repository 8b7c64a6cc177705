//! pipe(2), as large as `fs.pipe-max-size` allows.
//!
//! ```text
//!   sender threads   write ----> pages of the pipe ----> read   receiver threads
//! ```
//!
//! Both sides wait in the kernel. A write of up to `PIPE_BUF` bytes goes in whole or not at all, and all messages have
//! one length, so every read finds whole messages. Several threads on a side require that. Between two threads any
//! length will do. Cannot: keep longer messages of several threads whole.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use bytemuck::Pod;
use rustix::io::{ioctl_fionread, read, write};
use rustix::pipe::{PipeFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe_with};

use super::ends::{Receiver, Sender};
use super::{Mechanism, allowed, ends, put_in_parts, take_in_parts};
use crate::transport::{Closed, Ends, Message, Shape, Traits, Transport, Waits, ends_by_cloning};

/// The size above which POSIX lets a write be split: up to this number of bytes stay together.
pub(super) const WHOLE: usize = libc::PIPE_BUF;

pub struct Pipe;

pub struct Both {
    reading: OwnedFd,
    writing: OwnedFd,
}

impl Both {
    pub(in crate::transport) fn open() -> io::Result<Self> {
        let (reading, writing) = pipe_with(PipeFlags::CLOEXEC)?;
        if let Some(most) = allowed::PIPE.read() {
            // A user with many pipes gets less. It works all the same.
            let _ = fcntl_setpipe_size(&writing, most as usize);
        }
        Ok(Self { reading, writing })
    }

    /// Where to read, and where to write.
    pub(in crate::transport) fn into_halves(self) -> (OwnedFd, OwnedFd) {
        (self.reading, self.writing)
    }

    pub(super) fn bytes(&self) -> io::Result<u64> {
        Ok(fcntl_getpipe_size(&self.writing)? as u64)
    }
}

/// Closes the file of `gone`, by making that descriptor refer to the file of `kept`.
fn close_in_place(kept: &OwnedFd, gone: &OwnedFd) {
    // SAFETY: both descriptors are open and owned by the lender, and stay so; no memory is involved.
    unsafe { libc::dup3(kept.as_raw_fd(), gone.as_raw_fd(), libc::O_CLOEXEC) };
}

impl AsFd for Both {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reading.as_fd()
    }
}

impl Mechanism for Both {
    const TELLS_THE_END: bool = true;

    #[inline(always)]
    fn put<W: Pod>(&self, wire: &W) -> Result<(), Closed> {
        put_in_parts(wire, |bytes| write(&self.writing, bytes))
    }

    #[inline(always)]
    fn take<W: Pod>(&self) -> Result<W, Closed> {
        // SAFETY: the bytes that `read` reports as initialised are the first bytes of its buffer.
        unsafe { take_in_parts(|room| read(&self.reading, room).map(|(bytes, _)| bytes.len())) }
    }

    /// Reading makes room for a sender that waits, unless only part of its message is in the pipe. Such a message, too
    /// long to be an address, is refused by a pipe without a reader.
    fn leftover<W: Pod>(&self) -> Option<W> {
        if size_of::<W>() > WHOLE {
            close_in_place(&self.writing, &self.reading);
            return None;
        }
        let waiting = ioctl_fionread(&self.reading).ok()?;
        if waiting < size_of::<W>() as u64 { None } else { self.take().ok() }
    }

    fn no_senders(&self) {
        close_in_place(&self.reading, &self.writing);
    }
}

impl Transport for Pipe {
    const TRAITS: Traits = Traits {
        name: "pipe",
        about: "A pipe(2), a message in each write",
        waits: Waits::Sleeps,
        works_with_epoll: true,
        bounded: true,
        senders: Ends::Many,
        receivers: Ends::Many,
        most_bytes: |shape| if shape == Shape::ONE_TO_ONE { usize::MAX } else { WHOLE },
        available: || Both::open().map(drop).map_err(|cause| allowed::missing("pipes", &cause)),
        ..Traits::COMMON
    };
    type Sender<M: Message> = Sender<Both, M>;
    type Receiver<M: Message> = Receiver<Both, M>;

    fn open<M: Message>() -> io::Result<(Self::Sender<M>, Self::Receiver<M>)> {
        Ok(ends(Both::open()?))
    }
}

ends_by_cloning!(both: Pipe);
