//! Local sockets, the article's baseline: a pair of unix stream sockets, a message of the size of a pointer.
//!
//! ```text
//!   sender thread   send ----> kernel buffer ----> (poll, then) recv with MSG_WAITALL   receiver thread
//! ```
//!
//! The article waited with `MSG_WAITALL` and expected a real `poll` before each read to be worse: both are here.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair};

use super::{Closed, Traits, Transport, Waits};

const MESSAGE: usize = size_of::<usize>();

pub struct Waitall;
pub struct Polled;

pub struct Sender(OwnedFd);
pub struct Receiver<const POLL: bool>(OwnedFd);

const COMMON: Traits = Traits {
    name: "unix-stream",
    about: "Local sockets as in the article: a blocking read of each message with MSG_WAITALL",
    waits: Waits::Sleeps,
    one_by_one: true,
    batches: false,
    works_with_epoll: true,
};

fn ends<const POLL: bool>() -> io::Result<(Sender, Receiver<POLL>)> {
    let (one, other) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    Ok((Sender(one), Receiver(other)))
}

impl Transport for Waitall {
    const TRAITS: Traits = COMMON;
    type Sender = Sender;
    type Receiver = Receiver<false>;

    fn open() -> io::Result<(Sender, Receiver<false>)> {
        ends()
    }
}

impl Transport for Polled {
    const TRAITS: Traits = Traits {
        name: "unix-stream-poll",
        about: "Local sockets with a real poll(2) before each read",
        waits: Waits::SleepsInPoll,
        ..COMMON
    };
    type Sender = Sender;
    type Receiver = Receiver<true>;

    fn open() -> io::Result<(Sender, Receiver<true>)> {
        ends()
    }
}

impl super::Sender for Sender {
    #[inline(always)]
    fn send(&mut self, message: usize) -> Result<(), Closed> {
        let bytes = message.to_ne_bytes();
        let mut sent = 0;
        while sent < MESSAGE {
            match send(&self.0, &bytes[sent..], SendFlags::NOSIGNAL) {
                Ok(count) => sent += count,
                Err(Errno::INTR) => {}
                Err(_) => return Err(Closed),
            }
        }
        Ok(())
    }
}

impl<const POLL: bool> super::Receiver for Receiver<POLL> {
    #[inline(always)]
    fn recv(&mut self) -> Result<usize, Closed> {
        let mut bytes = [0; MESSAGE];
        let mut received = 0;
        while received < MESSAGE {
            if POLL {
                // Interrupted or not, the read below waits for what is missing.
                let _ = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], None);
            }
            match recv(&self.0, &mut bytes[received..], RecvFlags::WAITALL) {
                Ok((0, _)) => return Err(Closed),
                Ok((count, _)) => received += count,
                Err(Errno::INTR) => {}
                Err(_) => return Err(Closed),
            }
        }
        Ok(usize::from_ne_bytes(bytes))
    }
}
