//! One descriptor that tells of everything: a bell that rings, a process that ends, a socket. An `epoll`.
//!
//! A bell is an eventfd that is watched for edges: nobody reads it, so a sleep costs one call, and a ring one. A ring
//! is reported once, by whichever [`wait`](Poller::wait) comes first; so a thread must look at what it waits for between
//! a `wait` and the sleep that relies on the next ring.

use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::sys::{self, EPOLLERR, EPOLLET, EPOLLHUP, EPOLLIN, EPOLLRDHUP, Errno, Event, Watch};

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The bell has rung.
    Bell = 0,
    /// The peer's process has ended.
    Process = 1,
    /// The socket has a packet, or the peer has hung up.
    Socket = 2,
    /// A listener has a stranger.
    Listener = 3,
}

/// Events of one call.
const EVENTS: usize = 32;

pub(crate) struct Poller {
    epoll: OwnedFd,
}

/// An event: the lane for which it was added, and what has happened; for a socket whether the peer has hung up.
#[derive(Clone, Copy)]
pub(crate) struct News {
    pub(crate) lane: u64,
    pub(crate) source: Source,
    pub(crate) hung_up: bool,
}

impl Poller {
    pub(crate) fn new() -> Result<Self, Errno> {
        Ok(Self { epoll: sys::epoll()? })
    }

    fn event(lane: u64, source: Source, flags: u32) -> Event {
        Event { flags, data: lane << 2 | source as u64 }
    }

    pub(crate) fn add(&self, descriptor: BorrowedFd<'_>, lane: u64, source: Source) -> Result<(), Errno> {
        let flags = match source {
            Source::Bell => EPOLLIN | EPOLLET,
            Source::Process | Source::Listener => EPOLLIN,
            Source::Socket => EPOLLIN | EPOLLRDHUP,
        };
        sys::watch(self.as_fd(), Watch::Add, descriptor, Self::event(lane, source, flags))
    }

    /// Tells of it no more. Needed where the descriptor is not closed for good, or was shared.
    pub(crate) fn remove(&self, descriptor: BorrowedFd<'_>) {
        let _ = sys::watch(self.as_fd(), Watch::Remove, descriptor, Event { flags: 0, data: 0 });
    }

    /// Blocks until something has happened, for at most this long (`None`: for ever), and calls `f` for each event.
    /// False: nothing has. A signal ends the wait as well.
    pub(crate) fn wait(&self, limit: Option<Duration>, mut f: impl FnMut(News)) -> bool {
        let mut events = [const { core::mem::MaybeUninit::<Event>::uninit() }; EVENTS];
        let happened = sys::happened(self.as_fd(), &mut events, limit);
        for &Event { flags, data } in happened {
            let source = match data & 3 {
                0 => Source::Bell,
                1 => Source::Process,
                2 => Source::Socket,
                _ => Source::Listener,
            };
            let hung_up = flags & (EPOLLRDHUP | EPOLLHUP | EPOLLERR) != 0;
            f(News { lane: data >> 2, source, hung_up });
        }
        !happened.is_empty()
    }
}

impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

/// A bell that a peer rings.
pub(crate) fn bell() -> Result<OwnedFd, Errno> {
    sys::eventfd()
}

/// Rings a peer's bell.
pub(crate) fn ring(bell: BorrowedFd<'_>) {
    // It fails where a peer has filled it: its own loss.
    let _ = sys::add_one(bell);
}
