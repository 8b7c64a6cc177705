//! [`Incoming`]: from a socket to a channel. While the channel is full nothing is taken from the socket: its mark fills, then the
//! sender's, then the sender waits.

use ysuite::spsc;

use super::sink::Sink;
use super::tools::Tools;
use super::work::{AT_ONCE, Wanted, Work};
use crate::error::Failure;
use crate::wire::{FromWire, Malformed};

pub(super) struct Incoming<T> {
    sink: Sink<T>,
    /// What stands before the messages: nothing, or the topic.
    heads: usize,
    closing: bool,
}

impl<T: FromWire> Incoming<T> {
    pub(super) fn new(sender: spsc::Sender<T>, with_topic: bool) -> Self {
        Self { sink: Sink::new(sender), heads: usize::from(with_topic), closing: false }
    }

    /// Takes a message of the socket apart. False: there was none.
    fn received(&mut self, tools: &mut Tools) -> Result<bool, Failure> {
        let parts = tools.receive(|_| {})?;
        if parts == 0 {
            return Ok(false);
        }
        let bytes = tools.frame.len();
        let taken = match parts == self.heads + 1 {
            true => self.sink.take(&mut tools.frame, 0, 0, None),
            false => Err(Malformed::Parts),
        };
        match taken {
            Ok(messages) => tools.received(bytes, messages),
            Err(malformed) => tools.refuse(malformed),
        }
        tools.frame.release();
        Ok(true)
    }
}

impl<T: FromWire> Work for Incoming<T> {
    fn step(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        // The first frame is delivered at once, those behind it more and more together.
        let (mut moved, mut together) = (0, 1);
        while self.sink.deliver(&mut moved) && moved < AT_ONCE && !self.closing {
            let (mut frames, room) = (0, self.sink.room().unwrap_or(usize::MAX));
            // One at least: where the channel is full its first message waits here, and asks for room. Beyond the room no more than
            // that frame is taken.
            while frames < together && (frames == 0 || self.sink.held() < room) && self.received(tools)? {
                frames += 1;
            }
            if frames == 0 {
                break;
            }
            // Also of a frame with nothing of ours in it: whoever sends such ones without end does not keep the bridge from
            // everything else.
            moved += frames;
            together *= 2;
        }
        Ok(moved)
    }

    fn wanted(&mut self) -> Wanted {
        let (full, ended) = (self.sink.is_blocked(), self.sink.has_ended());
        Wanted { sink: full && !ended, receive: !full && !ended, ..Wanted::default() }
    }

    fn close(&mut self, _: &mut Tools) -> Result<(), Failure> {
        self.closing = true;
        Ok(())
    }

    fn is_done(&mut self) -> bool {
        !self.sink.is_blocked()
    }

    fn left(&mut self) -> usize {
        self.sink.left()
    }

    /// A subscription, which libzmq would keep for a publisher that is gone.
    fn lingers(&self) -> bool {
        false
    }
}
