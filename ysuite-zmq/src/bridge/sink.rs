//! [`Sink`]: the channel into which messages come, and those of the last frame that it had no room for yet.

use ysuite::channel::TrySendError;
use ysuite::spsc;

use crate::frame::Frame;
use crate::wire::{self, FromWire, Malformed};

pub(super) struct Sink<T> {
    sender: spsc::Sender<T>,
    /// In reverse order.
    unpacked: Vec<T>,
}

impl<T: FromWire> Sink<T> {
    pub(super) fn new(sender: spsc::Sender<T>) -> Self {
        Self { sender, unpacked: Vec::new() }
    }

    /// Takes the messages of a frame behind a head of so many bytes, without the first few. Says how many there were with those; nothing where the frame is
    /// malformed, or has not so many as it should: then none of them is taken.
    pub(super) fn take(
        &mut self,
        frame: Frame,
        head: usize,
        without: usize,
        expected: Option<usize>,
    ) -> Result<usize, Malformed> {
        wire::unpack(frame, head, &mut self.unpacked)?;
        let messages = self.unpacked.len();
        if expected.is_some_and(|expected| expected != messages) {
            self.unpacked.clear();
            return Err(Malformed::Content);
        }
        self.unpacked.drain(..without);
        self.unpacked.reverse();
        Ok(messages)
    }

    /// Moves into the channel what it has room for. Whether that was all.
    pub(super) fn deliver(&mut self, moved: &mut usize) -> bool {
        while let Some(message) = self.unpacked.pop() {
            match self.sender.try_send(message) {
                Ok(()) => *moved += 1,
                Err(TrySendError::Full(message)) => {
                    self.unpacked.push(message);
                    return false;
                }
                Err(TrySendError::Disconnected(_)) => {
                    self.unpacked.clear();
                }
            }
        }
        !self.has_ended()
    }

    /// Whether nobody receives any more.
    pub(super) fn has_ended(&self) -> bool {
        self.sender.is_disconnected()
    }

    /// Whether messages wait for room.
    pub(super) fn is_blocked(&self) -> bool {
        !self.unpacked.is_empty()
    }

    /// Messages that there is room for; nothing without a bound.
    pub(super) fn room(&self) -> Option<usize> {
        self.sender.capacity().map(|capacity| capacity - self.sender.len())
    }

    /// Whether there is room for so many. Where there is not, the set that the sender stands in tells when there may be.
    pub(super) fn has_room_for(&mut self, messages: usize) -> bool {
        self.sender.try_reserve_many(messages).is_ok()
    }

    /// Drops what has had no room, and says how many messages that were.
    pub(super) fn left(&mut self) -> usize {
        self.unpacked.drain(..).count()
    }
}
