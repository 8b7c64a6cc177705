//! Local sockets, the article's baseline: a pair of unix stream sockets, a message of the size of a pointer.
//!
//! ```text
//!   sender thread   send ----> kernel buffer ----> (poll, then) recv with MSG_WAITALL   receiver thread
//! ```
//!
//! The article waited with `MSG_WAITALL` and expected a real `poll` before each read to be worse: both are here.

use std::io;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;

use bytemuck::Zeroable;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair};

use super::{Closed, Message, Traits, Transport, Waits};

pub struct Waitall;
pub struct Polled;

pub struct Sender<M>(OwnedFd, PhantomData<M>);
pub struct Receiver<M, const POLL: bool>(OwnedFd, PhantomData<M>);

const COMMON: Traits = Traits {
    name: "unix-stream",
    about: "Local sockets as in the article: a blocking read of each message with MSG_WAITALL",
    waits: Waits::Sleeps,
    works_with_epoll: true,
    bounded: true,
    ..Traits::COMMON
};

fn ends<M: Message, const POLL: bool>() -> io::Result<(Sender<M>, Receiver<M, POLL>)> {
    let (one, other) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    Ok((Sender(one, PhantomData), Receiver(other, PhantomData)))
}

impl Transport for Waitall {
    const TRAITS: Traits = COMMON;
    type Sender<M: Message> = Sender<M>;
    type Receiver<M: Message> = Receiver<M, false>;

    fn open<M: Message>() -> io::Result<(Sender<M>, Receiver<M, false>)> {
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
    type Sender<M: Message> = Sender<M>;
    type Receiver<M: Message> = Receiver<M, true>;

    fn open<M: Message>() -> io::Result<(Sender<M>, Receiver<M, true>)> {
        ends()
    }
}

impl<M: Message> super::Sender<M> for Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        let wire = message.into_wire();
        let bytes = bytemuck::bytes_of(&wire);
        let mut sent = 0;
        while sent < bytes.len() {
            match send(&self.0, &bytes[sent..], SendFlags::NOSIGNAL) {
                Ok(count) => sent += count,
                Err(Errno::INTR) => {}
                Err(_) => return Err(Closed),
            }
        }
        Ok(())
    }
}

impl<M: Message, const POLL: bool> super::Receiver<M> for Receiver<M, POLL> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        let mut wire = M::Wire::zeroed();
        let bytes = bytemuck::bytes_of_mut(&mut wire);
        let mut received = 0;
        while received < bytes.len() {
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
        // SAFETY: the socket carries nothing but what `send` of the same type wrote, each byte once and in order.
        Ok(unsafe { M::from_wire(wire) })
    }
}
