//! [`Tools`]: what the thread of a bridge has for every kind of work.

use std::sync::Arc;

use crate::error::{Error, Failure};
use crate::event::{Event, Told};
use crate::frame::Frame;
use crate::monitor::{Monitor, Seen};
use crate::socket::Socket;
use crate::statistics::Counters;
use crate::wire::Malformed;

pub(super) struct Tools {
    pub(super) socket: Socket,
    /// Dropped after the socket.
    pub(super) monitor: Monitor,
    pub(super) counters: Arc<Counters>,
    pub(super) events: Told,
    /// The bridge is about to sleep: an end that finds nothing takes its id down, and its other side pays for raising it.
    pub(super) arms: bool,
    /// What is received into.
    frame: Frame,
    /// Where frames are written before they are copied into libzmq's memory. Empty between two of them.
    pub(super) scratch: Vec<u8>,
}

impl Tools {
    pub(super) fn new(mut socket: Socket, counters: Arc<Counters>, events: Told) -> Result<Self, Error> {
        let monitor = Monitor::of(&mut socket)?;
        Ok(Self { socket, monitor, counters, events, arms: false, frame: Frame::empty(), scratch: Vec::new() })
    }

    /// Never waits: where nobody reads them, the oldest events give way.
    pub(super) fn tell(&self, event: Event) {
        let _ = self.events.force_send(event);
    }

    /// What has happened to a connection since the last look.
    pub(super) fn hear(&mut self) -> Result<Option<Event>, Failure> {
        while let Some(seen) = self.monitor.look()? {
            if let Seen::Event(event) = seen {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Counts a frame that is none of ours, and tells of it.
    pub(super) fn refuse(&self, malformed: Malformed) {
        self.counters.malformed.add(1);
        self.tell(Event::Malformed(malformed));
    }

    /// Counts a frame that has come, and the messages in it that are new.
    pub(super) fn received(&self, bytes: usize, messages: usize) {
        self.counters.frames_in.add(1);
        self.counters.bytes_in.add(bytes);
        self.counters.messages_in.add(messages);
    }

    /// Receives all parts of what comes next; nothing where nothing is there.
    pub(super) fn receive(&mut self) -> Result<Option<Parts>, Failure> {
        if !self.socket.receive(&mut self.frame)? {
            return Ok(None);
        }
        let mut parts = Parts { first: core::mem::take(&mut self.frame), last: None, number: 1 };
        let mut more = parts.first.more();
        // They come together: libzmq shows none before it has all.
        while more && self.socket.receive(&mut self.frame)? {
            more = self.frame.more();
            parts.last = Some(core::mem::take(&mut self.frame));
            parts.number += 1;
        }
        Ok(Some(parts))
    }

    /// Hands over a frame of so many messages. It comes back where the socket has no room.
    pub(super) fn send(&self, frame: Frame, more: bool, messages: usize) -> Result<Option<Frame>, Failure> {
        match self.socket.send(frame, more) {
            Ok(bytes) => {
                self.counters.bytes_out.add(bytes);
                if !more {
                    self.counters.frames_out.add(1);
                    self.counters.messages_out.add(messages);
                }
                Ok(None)
            }
            Err((frame, cause)) if cause.would_wait() => Ok(Some(frame)),
            Err((_, cause)) => Err(cause),
        }
    }
}

/// Of one message of libzmq.
pub(super) struct Parts {
    pub(super) first: Frame,
    /// Of several.
    pub(super) last: Option<Frame>,
    pub(super) number: usize,
}
