//! [`Outgoing`]: from a channel to a socket, frames of as many messages as there are, up to the pack.

use ysuite::channel::TryRecvError;

use super::source::Source;
use super::tools::Tools;
use super::work::{AT_ONCE, Wanted, Work};
use crate::error::Failure;
use crate::frame::Frame;
use crate::wire::{self, Layout, ToWire, Wire as _};

/// Messages that are taken from the channel at once, though each is a frame.
const HANDFUL: usize = 32;

pub(super) struct Outgoing<S: Source> {
    source: S,
    /// Messages in a frame, at most.
    pack: usize,
    /// Taken from the channel, in reverse order.
    taken: Vec<S::Message>,
    /// What the socket had no room for, with the number of its messages.
    held: Option<(Frame, usize)>,
    /// Nobody can send any more, and all has been taken.
    ended: bool,
}

impl<S: Source<Message: ToWire>> Outgoing<S> {
    pub(super) fn new(source: S, pack: usize) -> Self {
        let pack = if matches!(S::Message::LAYOUT, Layout::Whole) { 1 } else { pack };
        Self { source, pack, taken: Vec::new(), held: None, ended: false }
    }

    /// Whether all has been taken, and nobody can send any more: or need not be able to, because the bridge closes.
    pub(super) fn is_over(&mut self, closing: bool) -> bool {
        (closing || self.source.is_abandoned()) && self.is_done()
    }

    /// What the socket had no room for.
    pub(super) fn hold(&mut self, frame: Frame, messages: usize) {
        self.held = Some((frame, messages));
    }

    /// The next frame, if there is a message, and how many are in it.
    pub(super) fn next(&mut self, tools: &mut Tools) -> Result<Option<(Frame, usize)>, Failure> {
        if let Some(held) = self.held.take() {
            return Ok(Some(held));
        }
        if self.taken.is_empty() {
            self.take(self.pack.max(HANDFUL), tools);
        }
        match self.taken.len().min(self.pack) {
            0 => Ok(None),
            messages => Ok(Some((self.frame(messages, &[], tools)?, messages))),
        }
    }

    /// Takes messages for one frame, at most so many. Answers how many.
    pub(super) fn take_for_one(&mut self, most: usize, tools: &Tools) -> usize {
        if self.taken.is_empty() {
            self.take(self.pack.min(most), tools);
        }
        self.taken.len()
    }

    fn take(&mut self, most: usize, tools: &Tools) {
        if !tools.arms && self.source.is_drained() {
            return;
        }
        match self.source.take(&mut self.taken, most) {
            Ok(_) => self.taken.reverse(),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => self.ended = true,
        }
    }

    /// The frame of so many of those that have been taken, behind a head.
    pub(super) fn frame(&mut self, messages: usize, head: &[u8], tools: &mut Tools) -> Result<Frame, Failure> {
        let from = self.taken.len() - messages;
        wire::pack(head, self.taken.drain(from..).rev(), &mut tools.scratch)
    }
}

impl<S: Source<Message: ToWire>> Work for Outgoing<S> {
    fn step(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        let mut moved = 0;
        while moved < AT_ONCE {
            let Some((frame, messages)) = self.next(tools)? else { break };
            if let Some(frame) = tools.send(frame, false, messages)? {
                self.hold(frame, messages);
                break;
            }
            moved += messages;
        }
        Ok(moved)
    }

    fn wanted(&mut self) -> Wanted {
        let blocked = self.held.is_some();
        Wanted { source: !blocked && !self.ended, send: blocked, ..Wanted::default() }
    }

    fn close(&mut self, _: &mut Tools) -> Result<(), Failure> {
        Ok(())
    }

    /// What comes into the channel while it is closed still leaves, as long as there is time.
    fn is_done(&mut self) -> bool {
        self.held.is_none() && self.taken.is_empty() && self.source.is_drained()
    }

    fn left(&mut self) -> usize {
        let mut left = self.held.take().map_or(0, |(_, messages)| messages) + self.taken.len();
        self.taken.clear();
        while let Ok(messages) = self.source.take(&mut self.taken, AT_ONCE) {
            self.taken.clear();
            left += messages;
        }
        left
    }
}
