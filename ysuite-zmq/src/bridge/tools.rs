//! [`Tools`]: what the thread of a bridge has for every kind of work.

use std::sync::Arc;

use crate::error::Failure;
use crate::event::{Event, Told};
use crate::frame::Frame;
use crate::socket::Socket;
use crate::statistics::Counters;

pub(super) struct Tools {
    pub(super) socket: Socket,
    pub(super) counters: Arc<Counters>,
    pub(super) events: Told,
}

impl Tools {
    /// Never waits: where nobody reads them, the oldest events give way.
    pub(super) fn tell(&self, event: Event) {
        let _ = self.events.force_send(event);
    }

    /// Hands over a frame of so many messages. It comes back where the socket has no room.
    pub(super) fn send(&self, frame: Frame, more: bool, messages: usize) -> Result<Option<Frame>, Failure> {
        let bytes = frame.len();
        match self.socket.send(frame, more) {
            Ok(()) => {
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
