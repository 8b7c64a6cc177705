//! [`Line`]: between a duplex and its one other side.
//!
//! The connecting side has a DEALER, with one connection. The binding side has a ROUTER, which names each connection:
//! it can receive from a third peer, but sends nothing there that is meant for the second. A DEALER would send to them
//! in turn.

use super::super::tools::Tools;
use crate::error::Failure;
use crate::event::Event;
use crate::frame::Frame;
use crate::wire::Malformed;

pub(in super::super) enum Line {
    Connected {
        /// Those that are there now: one, or none.
        connections: usize,
        /// Whether libzmq reports them: not those inside the process.
        tells: bool,
    },
    Bound {
        /// What the ROUTER calls the connection of the other side.
        other: Option<Box<[u8]>>,
        /// What it calls the one over which the last frame came.
        last: Box<[u8]>,
        /// A connection has ended since hello was said there: it may have been this one, which only a send would show.
        doubted: bool,
    },
}

impl Line {
    pub(in super::super) fn bound() -> Self {
        Self::Bound { other: None, last: Box::default(), doubted: false }
    }

    pub(in super::super) fn connected(tells: bool) -> Self {
        Self::Connected { connections: 0, tells }
    }

    /// Whether the other side may be reached.
    pub(super) fn is_there(&self) -> bool {
        match self {
            Self::Connected { connections, tells } => *connections > 0 || !tells,
            Self::Bound { other, .. } => other.is_some(),
        }
    }

    /// Whether the socket reports when it has room again. A ROUTER reports room while any connection has some.
    pub(super) fn tells_of_room(&self) -> bool {
        matches!(self, Self::Connected { .. })
    }

    /// Whether the other side may have gone since hello was said: what was said since then may have gone with it.
    pub(super) fn is_doubted(&self) -> bool {
        matches!(self, Self::Bound { doubted: true, .. })
    }

    /// Hello has been sent: a peer that answers it is there.
    pub(super) fn trust(&mut self) {
        if let Self::Bound { doubted, .. } = self {
            *doubted = false;
        }
    }

    /// What has happened to the connections. Whether a conversation must be taken up again.
    pub(super) fn notice(&mut self, event: &Event) -> bool {
        match (self, event) {
            (Self::Connected { connections, .. }, Event::Connected(_)) => *connections += 1,
            (Self::Connected { connections, .. }, Event::Disconnected(_)) => {
                *connections = connections.saturating_sub(1);
            }
            // libzmq does not report whose it was. A ROUTER drops the name a little later.
            (Self::Bound { doubted, .. }, Event::Disconnected(_)) => {
                *doubted = true;
                return false;
            }
            _ => return false,
        }
        true
    }

    // MUTANT: The same routing id once more.
    /// The last frame came from the other side. Whether that has another connection now.
    pub(super) fn take_up(&mut self) -> bool {
        let Self::Bound { other, last, .. } = self else { return false };
        let is_new = other.as_ref() != Some(last);
        if is_new {
            *other = Some(last.clone());
        }
        is_new
    }

    /// The next frame; nothing where there is none. The other side sends its frames in one part.
    pub(super) fn receive(&mut self, tools: &mut Tools) -> Result<Option<Result<Frame, Malformed>>, Failure> {
        let (parts, expected) = match self {
            Self::Connected { .. } => (tools.receive(|_| {})?, 1),
            Self::Bound { last, .. } => {
                // This is the first part of a message of two; no other messages are checked.
                let named = |name: &mut Frame| {
                    // MUTANT: The same routing id once more.
                    if **last != **name {
                        *last = (**name).into();
                    }
                };
                (tools.receive(named)?, 2)
            }
        };
        Ok(match parts {
            0 => None,
            _ if parts == expected => Some(Ok(core::mem::take(&mut tools.frame))),
            _ => Some(Err(Malformed::Parts)),
        })
    }

    /// Hands over the contents of a frame with `n` messages. False: there is no room, or no peer, and the frame still
    /// holds them.
    pub(super) fn send(&mut self, frame: &mut Frame, messages: usize, tools: &Tools) -> Result<bool, Failure> {
        if let Self::Bound { other, .. } = self {
            let Some(name) = other else { return Ok(false) };
            match tools.socket.send(&mut Frame::copied(name)?, true) {
                // A name that is taken means that the frame will be.
                Ok(_) => {}
                Err(cause) if cause.would_wait() => return Ok(false),
                // MUTANT: libzmq gives no other error here.
                Err(cause) if cause.is(rustix::io::Errno::HOSTUNREACH) => {
                    *other = None;
                    return Ok(false);
                }
                Err(cause) => return Err(cause),
            }
        }
        tools.send(frame, false, messages)
    }
}
