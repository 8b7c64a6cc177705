//! [`Outgoing`]: from a channel to a socket, frames of as many messages as there are, up to the pack.

use ysuite::channel::TryRecvError;

use super::source::Source;
use super::tools::Tools;
use super::work::{AT_ONCE, Work};
use crate::error::Failure;
use crate::frame::Frame;
use crate::socket::Ready;
use crate::wire::{self, ToWire};

pub(super) struct Outgoing<S: Source> {
    source: S,
    /// Messages in a frame, at most.
    pack: usize,
    taken: Vec<S::Message>,
    /// What the socket had no room for, with the number of its messages.
    held: Option<(Frame, usize)>,
    /// Nobody can send any more, and all has been taken.
    ended: bool,
}

impl<S: Source<Message: ToWire>> Outgoing<S> {
    pub(super) fn new(source: S, pack: usize) -> Self {
        Self { source, pack, taken: Vec::new(), held: None, ended: false }
    }

    /// The next frame, if there is a message.
    fn next(&mut self) -> Result<Option<(Frame, usize)>, Failure> {
        if let Some(held) = self.held.take() {
            return Ok(Some(held));
        }
        match self.source.take(&mut self.taken, self.pack) {
            Ok(messages) => Ok(Some((wire::pack(&mut self.taken)?, messages))),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => {
                self.ended = true;
                Ok(None)
            }
        }
    }
}

impl<S: Source<Message: ToWire>> Work for Outgoing<S> {
    fn step(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        let mut moved = 0;
        while moved < AT_ONCE {
            let Some((frame, messages)) = self.next()? else { break };
            if let Some(frame) = tools.send(frame, false, messages)? {
                self.held = Some((frame, messages));
                break;
            }
            moved += messages;
        }
        Ok(moved)
    }

    fn waits_for(&self) -> Ready {
        Ready { receive: false, send: self.held.is_some() }
    }

    fn is_over(&self) -> bool {
        self.ended && self.held.is_none()
    }

    fn close(&mut self, _: &mut Tools) -> Result<(), Failure> {
        Ok(())
    }

    fn left(&mut self) -> usize {
        let mut left = self.held.take().map_or(0, |(_, messages)| messages);
        while let Ok(messages) = self.source.take(&mut self.taken, AT_ONCE) {
            self.taken.clear();
            left += messages;
        }
        left
    }
}
