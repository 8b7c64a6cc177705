//! [`Monitor`]: libzmq's reports on a socket's connections, as events.

use std::collections::HashMap;

use crate::context::Context;
use crate::error::{Error, Failure};
use crate::event::Event;
use crate::ffi::told;
use crate::frame::Frame;
use crate::socket::Socket;

/// In the hands of the thread that has the socket.
pub(crate) struct Monitor {
    socket: Socket,
    frame: Frame,
    /// The connections that are there, by their descriptors.
    connections: HashMap<u32, Connection>,
    /// Established connections that have ended.
    ended: u64,
    /// Reports come in the order in which things happen to a connection.
    is_ordered: bool,
    /// The last report was that a connection could not be established: its end is usually the next.
    failed: bool,
    /// To be reported next.
    next: Option<Seen>,
    turn: Option<Turn>,
}

struct Connection {
    /// The bound or connected address, as libzmq spells it.
    address: String,
    /// This side has connected.
    is_ours: bool,
    /// A handshake has succeeded at its address since it began: its own, for all that libzmq says.
    may_be_established: bool,
}

/// The result of one check.
pub(crate) enum Seen {
    Event(Event),
    /// The socket is gone, and with it all that waited in it.
    Gone,
    /// Something that need not be reported.
    Other,
}

/// What has become of an address that this side connects to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// A connection has ended. Whether this side had made it is not known where `is_ours` is false.
    Ended { address: String, is_ours: bool },
    /// libzmq tries again by itself.
    Retried { address: String },
}

impl Monitor {
    /// To be dropped after the socket.
    pub(crate) fn of(socket: &mut Socket) -> Result<Self, Error> {
        let is_ordered = socket.context().has_one_thread();
        Ok(Self {
            socket: socket.monitor(&Context::fresh_name("monitor"))?,
            frame: Frame::empty(),
            connections: HashMap::new(),
            ended: 0,
            is_ordered,
            failed: false,
            next: None,
            turn: None,
        })
    }

    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Nothing where there is no news.
    pub(crate) fn look(&mut self) -> Result<Option<Seen>, Failure> {
        if let Some(seen) = self.next.take() {
            return Ok(Some(seen));
        }
        if !self.socket.receive(&mut self.frame)? {
            return Ok(None);
        }
        // Two bytes say what, four more are a number that belongs to it.
        let what = self.frame.first_chunk().map(|what| u16::from_ne_bytes(*what));
        let number =
            self.frame.get(2..).and_then(|rest| rest.first_chunk()).map_or(0, |rest| u32::from_ne_bytes(*rest));
        let mut address = String::new();
        while self.frame.more() {
            // The parts of a message come together.
            if !self.socket.receive(&mut self.frame)? {
                // MUTANT: libzmq shows no part before it has all of them.
                break;
            }
            address = String::from_utf8_lossy(&self.frame).into_owned();
        }
        let Some(what) = what else { return Ok(Some(Seen::Other)) };
        let failed = core::mem::replace(
            &mut self.failed,
            matches!(what, told::HANDSHAKE_FAILED | told::PROTOCOL_FAILED | told::REFUSED),
        );
        match what {
            told::ACCEPTED | told::CONNECTED => self.begun(number, &address, what == told::CONNECTED),
            told::HANDSHAKE_SUCCEEDED => {
                let there = self.connections.values_mut().filter(|connection| connection.address == address);
                there.for_each(|connection| connection.may_be_established = true);
            }
            told::RETRIED => self.turn = Some(Turn::Retried { address: address.clone() }),
            told::DISCONNECTED => {
                let established = self.end(number, &address);
                if !established && !failed {
                    // Without a word that it failed: libzmq says none of those that speak another protocol.
                    self.next = Some(Seen::Event(Event::Disconnected(address.clone())));
                    return Ok(Some(Seen::Event(Event::HandshakeFailed(address))));
                }
            }
            _ => {}
        }
        Ok(Some(seen(what, address)))
    }

    fn begun(&mut self, descriptor: u32, address: &str, is_ours: bool) {
        let address = address.to_owned();
        // In place of one that is gone without a word, if there was any.
        self.connections.insert(descriptor, Connection { address, is_ours, may_be_established: false });
    }

    /// A connection has ended. Whether it may have been established.
    fn end(&mut self, descriptor: u32, address: &str) -> bool {
        let connection = self.connections.remove(&descriptor).filter(|connection| connection.address == address);
        let is_ours = connection.as_ref().is_some_and(|connection| connection.is_ours);
        // Of one that has been heard of only now nothing is known.
        let established = !self.is_ordered || connection.is_none_or(|connection| connection.may_be_established);
        self.ended += u64::from(established);
        self.turn = Some(Turn::Ended { address: address.to_owned(), is_ours });
        established
    }

    /// The last result for an address that this side connects to.
    pub(crate) fn take_turn(&mut self) -> Option<Turn> {
        self.turn.take()
    }

    /// The number of connections that have ended after frames may have gone over them, as far as has been checked: an
    /// upper bound. libzmq hands frames to a connection from the end of its handshake on. One that was never
    /// established is counted where another was while its own handshake was under way, at the same address, and if
    /// several of libzmq's threads report them.
    pub(crate) fn ended(&self) -> u64 {
        self.ended
    }
}

fn seen(what: u16, address: String) -> Seen {
    Seen::Event(match what {
        told::LISTENING => Event::Listening(address),
        told::HANDSHAKE_SUCCEEDED => Event::Connected(address),
        told::DISCONNECTED => Event::Disconnected(address),
        told::RETRIED => Event::Retrying(address),
        told::ACCEPT_FAILED => Event::NotAccepted { address, times: 1 },
        told::HANDSHAKE_FAILED | told::PROTOCOL_FAILED => Event::HandshakeFailed(address),
        told::REFUSED => Event::Refused(address),
        told::STOPPED => return Seen::Gone,
        _ => return Seen::Other,
    })
}
