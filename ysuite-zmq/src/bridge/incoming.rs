//! [`Incoming`]: from a socket to a channel. While the channel is full nothing is taken from the socket: its mark fills, then the
//! sender's, then the sender waits.

use ysuite::spsc;

use super::tools::Tools;
use super::work::{AT_ONCE, Wanted, Work};
use crate::error::Failure;
use crate::event::Event;
use crate::frame::Frame;
use crate::wire::{self, FromWire, Malformed};

pub(super) struct Incoming<T> {
    sender: spsc::Sender<T>,
    frame: Frame,
    /// Of the frame that was received last, in reverse order: those that had no room yet.
    unpacked: Vec<T>,
    /// The first part of each message is the topic.
    with_topic: bool,
    /// Nobody receives any more.
    ended: bool,
    closing: bool,
}

impl<T: FromWire> Incoming<T> {
    pub(super) fn new(sender: spsc::Sender<T>, with_topic: bool) -> Self {
        Self { sender, frame: Frame::empty(), unpacked: Vec::new(), with_topic, ended: false, closing: false }
    }

    /// Whether all that was unpacked is in the channel.
    fn delivered(&mut self, moved: &mut usize) -> bool {
        while let Some(message) = self.unpacked.pop() {
            match self.sender.try_send(message) {
                Ok(()) => *moved += 1,
                Err(ysuite::channel::TrySendError::Full(message)) => {
                    self.unpacked.push(message);
                    return false;
                }
                Err(ysuite::channel::TrySendError::Disconnected(_)) => {
                    self.ended = true;
                    self.unpacked.clear();
                    return false;
                }
            }
        }
        true
    }

    /// Takes a message of the socket apart. False: there was none.
    fn received(&mut self, tools: &mut Tools) -> Result<bool, Failure> {
        if !tools.socket.receive(&mut self.frame)? {
            return Ok(false);
        }
        let mut parts = 1;
        while self.frame.more() && tools.socket.receive(&mut self.frame)? {
            parts += 1;
        }
        let frame = core::mem::replace(&mut self.frame, Frame::empty());
        let bytes = frame.len();
        let unpacked = match parts == 1 + usize::from(self.with_topic) {
            true => wire::unpack(frame, &mut self.unpacked),
            false => Err(Malformed::Parts),
        };
        match unpacked {
            Ok(()) => {
                tools.counters.frames_in.add(1);
                tools.counters.bytes_in.add(bytes);
                tools.counters.messages_in.add(self.unpacked.len());
                self.unpacked.reverse();
            }
            Err(malformed) => {
                tools.counters.malformed.add(1);
                tools.tell(Event::Malformed(malformed));
            }
        }
        Ok(true)
    }
}

impl<T: FromWire> Work for Incoming<T> {
    fn step(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        let mut moved = 0;
        while self.delivered(&mut moved) && moved < AT_ONCE && !self.closing {
            if !self.received(tools)? {
                break;
            }
        }
        Ok(moved)
    }

    fn wanted(&self) -> Wanted {
        let full = !self.unpacked.is_empty();
        Wanted { channel: full && !self.ended, receive: !full && !self.ended, ..Wanted::default() }
    }

    fn close(&mut self, _: &mut Tools) -> Result<(), Failure> {
        self.closing = true;
        Ok(())
    }

    fn is_done(&mut self) -> bool {
        self.unpacked.is_empty()
    }

    fn left(&mut self) -> usize {
        self.unpacked.drain(..).count()
    }
}
