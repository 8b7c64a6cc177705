//! Local sockets, the article's baseline: a pair of unix stream sockets, a message of the size of a pointer.
//!
//! ```text
//!   sender thread   send ----> kernel buffer ----> (poll, then) recv with MSG_WAITALL   receiver thread
//! ```
//!
//! The article waited with `MSG_WAITALL` and expected a real `poll` before each read to be worse: both are here.

use std::io;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::bytes::{Receiver, Sender, ends};
use super::{Message, Traits, Transport, Waits};

pub struct Waitall;
pub struct Polled;

const COMMON: Traits = Traits {
    name: "unix-stream",
    about: "Local sockets as in the article: a blocking read of each message with MSG_WAITALL",
    waits: Waits::Sleeps,
    works_with_epoll: true,
    bounded: true,
    ..Traits::COMMON
};

fn pair<M: Message, const POLL: bool>() -> io::Result<(Sender<M>, Receiver<M, POLL>)> {
    let (one, other) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    Ok(ends(one, other))
}

impl Transport for Waitall {
    const TRAITS: Traits = COMMON;
    type Sender<M: Message> = Sender<M>;
    type Receiver<M: Message> = Receiver<M, false>;

    fn open<M: Message>() -> io::Result<(Sender<M>, Receiver<M, false>)> {
        pair()
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
        pair()
    }
}
