//! One descriptor that tells of everything: a bell that rings, a process that ends, a socket. An `epoll`.
//!
//! A bell is an eventfd that is watched for edges: nobody reads it, so a sleep costs one call, and a ring one. A ring
//! is reported once, by whichever [`wait`](Poller::wait) comes first; so a thread must look at what it waits for between
//! a `wait` and the sleep that relies on the next ring.

use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec};
use rustix::io::Errno;

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
        Ok(Self { epoll: epoll::create(CreateFlags::CLOEXEC)? })
    }

    fn data(lane: u64, source: Source) -> EventData {
        EventData::new_u64(lane << 2 | source as u64)
    }

    pub(crate) fn add(&self, descriptor: BorrowedFd<'_>, lane: u64, source: Source) -> Result<(), Errno> {
        let flags = match source {
            Source::Bell => EventFlags::IN | EventFlags::ET,
            Source::Process | Source::Listener => EventFlags::IN,
            Source::Socket => EventFlags::IN | EventFlags::RDHUP,
        };
        epoll::add(&self.epoll, descriptor, Self::data(lane, source), flags)
    }

    /// From now on a socket tells only of a peer that has hung up: packets in it are of no interest.
    pub(crate) fn only_hang_up(&self, socket: BorrowedFd<'_>, lane: u64) -> Result<(), Errno> {
        epoll::modify(&self.epoll, socket, Self::data(lane, Source::Socket), EventFlags::RDHUP)
    }

    /// Tells of it no more. Needed where the descriptor is not closed for good, or was shared.
    pub(crate) fn remove(&self, descriptor: BorrowedFd<'_>) {
        let _ = epoll::delete(&self.epoll, descriptor);
    }

    /// Blocks until something has happened, for at most this long (`None`: for ever), and calls `f` for each event.
    /// False: nothing has. A signal ends the wait as well.
    pub(crate) fn wait(&self, limit: Option<Duration>, mut f: impl FnMut(News)) -> bool {
        let mut events = [const { core::mem::MaybeUninit::<Event>::uninit() }; EVENTS];
        // In whole milliseconds, rounded up: an older kernel takes no others, and a wait must not end early.
        let limit = limit.map(|limit| {
            let millis = limit.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128) as i64;
            Timespec { tv_sec: millis / 1000, tv_nsec: millis % 1000 * 1_000_000 }
        });
        let Ok((happened, _)) = epoll::wait(&self.epoll, &mut events, limit.as_ref()) else { return false };
        for event in &*happened {
            let (data, flags) = (event.data.u64(), event.flags);
            let source = match data & 3 {
                0 => Source::Bell,
                1 => Source::Process,
                2 => Source::Socket,
                _ => Source::Listener,
            };
            let hung_up = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
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
    rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
}

/// Rings a peer's bell.
pub(crate) fn ring(bell: BorrowedFd<'_>) {
    let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
}

/// Blocks until a descriptor is readable, or a signal comes.
pub(crate) fn wait_readable(descriptor: BorrowedFd<'_>) {
    use rustix::event::{PollFd, PollFlags, poll};
    let _ = poll(&mut [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)], None);
}
