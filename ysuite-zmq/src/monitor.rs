//! [`Monitor`]: what libzmq tells of a socket's connections, as events.

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
    /// Established connections that have ended.
    ended: u64,
    /// The last word was that a connection could not be established: its end is the next.
    failed: bool,
}

/// What one look found.
pub(crate) enum Seen {
    Event(Event),
    /// The socket is gone, and with it all that waited in it.
    Gone,
    /// Something that nobody need know.
    Other,
}

impl Monitor {
    /// To be dropped after the socket.
    pub(crate) fn of(socket: &mut Socket) -> Result<Self, Error> {
        Ok(Self {
            socket: socket.monitor(&Context::fresh_name("monitor"))?,
            frame: Frame::empty(),
            ended: 0,
            failed: false,
        })
    }

    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Nothing where there is no news.
    pub(crate) fn look(&mut self) -> Result<Option<Seen>, Failure> {
        if !self.socket.receive(&mut self.frame)? {
            return Ok(None);
        }
        // Two bytes say what, four more are a number that belongs to it.
        let what = self.frame.first_chunk().map(|what| u16::from_ne_bytes(*what));
        let mut address = String::new();
        while self.frame.more() {
            // The parts of a message come together.
            if !self.socket.receive(&mut self.frame)? {
                break;
            }
            address = String::from_utf8_lossy(&self.frame).into_owned();
        }
        let seen = what.map_or(Seen::Other, |what| seen(what, address));
        let failed = core::mem::take(&mut self.failed);
        match &seen {
            Seen::Event(Event::HandshakeFailed(_) | Event::Refused(_)) => self.failed = true,
            Seen::Event(Event::Disconnected(_)) if !failed => self.ended += 1,
            _ => {}
        }
        Ok(Some(seen))
    }

    /// So many connections have ended over which frames may have gone, as far as has been looked. At the most: of one that was never
    /// established the end may be counted where others come between.
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
        told::ACCEPT_FAILED => Event::NotAccepted(address),
        told::HANDSHAKE_FAILED | told::PROTOCOL_FAILED => Event::HandshakeFailed(address),
        told::REFUSED => Event::Refused(address),
        told::STOPPED => return Seen::Gone,
        _ => return Seen::Other,
    })
}
