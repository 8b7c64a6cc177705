//! [`Sink`]: the channel into which messages come, and those that it has not had yet.

use std::collections::VecDeque;
use std::task::Waker;

use ysuite::TrySendError;

use super::gate::Gate;
use crate::frame::Frame;
use crate::topic::Topic;
use crate::wire::{self, FromWire, Limits, Malformed};

pub(super) struct Sink<T> {
    gate: Gate<T>,
    /// What the messages of a frame may come to.
    limits: Limits,
    /// Unpacked since the last delivery.
    fresh: Vec<T>,
    /// The channel had no room for them.
    waiting: VecDeque<T>,
    /// Dropped, because there is no receiver any more.
    refused: usize,
}

impl<T> Sink<T> {
    pub(super) fn new(gate: Gate<T>) -> Self {
        Self { gate, limits: Limits::default(), fresh: Vec::new(), waiting: VecDeque::new(), refused: 0 }
    }

    /// The messages of a frame may come to so much from now on.
    pub(super) fn limit(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Takes this message.
    pub(super) fn push(&mut self, message: T) {
        self.fresh.push(message);
    }

    // MUTANT: Speed only: one by one instead of in a batch.
    /// Moves into the channel what it has room for. Whether that was all.
    pub(super) fn deliver(&mut self, moved: &mut usize) -> bool {
        if self.waiting.is_empty() && self.room().is_none_or(|room| room >= self.fresh.len()) {
            // Together, and without waiting: there is room for all of them, and no other sender fills it.
            let all = self.fresh.len();
            let sent = self.gate.send_batch(self.fresh.drain(..));
            *moved += sent;
            self.refused += all - sent;
            return !self.has_ended();
        }
        self.waiting.extend(self.fresh.drain(..));
        while let Some(message) = self.waiting.pop_front() {
            match self.gate.try_send(message) {
                Ok(()) => *moved += 1,
                Err(TrySendError::Full(message)) => {
                    self.waiting.push_front(message);
                    return false;
                }
                Err(TrySendError::Disconnected(_)) => self.refused += 1 + self.waiting.drain(..).count(),
            }
        }
        !self.has_ended()
    }

    /// Whether there is no receiver any more.
    pub(super) fn has_ended(&self) -> bool {
        self.gate.is_disconnected()
    }

    /// Sleeps by this function, unless there is no receiver any more; if that happens meanwhile it wakes the waker.
    pub(super) fn asleep(&self, ended: &Waker, sleep: &mut dyn FnMut()) {
        self.gate.asleep(ended, sleep);
    }

    /// Whether messages wait for room.
    pub(super) fn is_blocked(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Messages that have come and are not in the channel, or not yet.
    pub(super) fn held(&self) -> usize {
        self.waiting.len() + self.fresh.len() + self.refused
    }

    /// Whether messages were dropped because there is no receiver any more.
    pub(super) fn has_refused(&self) -> bool {
        self.refused > 0
    }

    /// The room for messages, after those that wait; nothing without a bound.
    pub(super) fn room(&self) -> Option<usize> {
        self.gate.room().map(|room| room.saturating_sub(self.waiting.len()))
    }

    /// Whether there is room for this many, after those that wait. If not, the set that the sender is attached to
    /// reports when there may be.
    pub(super) fn has_room_for(&mut self, messages: usize) -> bool {
        // MUTANT: The set reports the first room anyway, which it does not promise.
        // The set is to tell of the first place that one that waits can have.
        !self.is_blocked() && self.gate.has_room_for(messages)
    }

    /// The number of messages that newer ones have replaced since the last call.
    pub(super) fn take_replaced(&mut self) -> usize {
        self.gate.take_replaced()
    }

    /// Drops what has had no room, and says how many messages that were.
    pub(super) fn left(&mut self) -> usize {
        self.waiting.drain(..).count() + self.fresh.drain(..).count()
    }
}

impl<T: FromWire> Sink<T> {
    /// Takes the messages of a frame after a head of `head` bytes, without the first few. Returns how many there were
    /// with those. Returns nothing if the frame is malformed, or does not have the expected number: then none of them
    /// is taken.
    pub(super) fn take(
        &mut self,
        frame: &mut Frame,
        head: usize,
        without: usize,
        expected: Option<usize>,
    ) -> Result<usize, Malformed> {
        let before = self.fresh.len();
        wire::unpack(frame, head, expected.unwrap_or(usize::MAX), self.limits, &mut self.fresh)?;
        let messages = self.fresh.len() - before;
        if expected.is_some_and(|expected| expected != messages) {
            self.fresh.truncate(before);
            return Err(Malformed::Content);
        }
        self.fresh.drain(before..before + without);
        Ok(messages)
    }

    /// The last `messages` messages are about this.
    pub(super) fn set_topic(&mut self, topic: Option<&Topic>, messages: usize) {
        if let Some(topic) = topic {
            self.fresh.iter_mut().rev().take(messages).for_each(|message| message.set_topic(topic));
        }
    }

    /// Takes the message that has these parts.
    pub(super) fn take_list(&mut self, parts: Vec<Frame>) -> Result<usize, Malformed> {
        self.fresh.push(T::from_parts(parts)?);
        Ok(1)
    }
}

#[cfg(test)]
mod tests {
    use ysuite::signal::{Wait, YSocketpair};
    use ysuite::spsc;

    use super::*;

    #[test]
    fn what_reaches_no_receiver_is_held_for_ever() {
        for (sender, receiver) in [spsc::unbounded::<u64>(), spsc::bounded(8), spsc::bounded(2)] {
            let mut sink = Sink::new(Gate::Waits(sender));
            let mut moved = 0;
            let mut take = |sink: &mut Sink<u64>| {
                assert_eq!(sink.take(&mut Frame::copied(&[0; 32]).expect("memory for 32 bytes"), 0, 0, None), Ok(4));
                sink.deliver(&mut moved);
            };
            take(&mut sink);
            let held = sink.held();
            drop(receiver);
            take(&mut sink);
            assert_eq!((sink.held(), sink.left(), moved), (held + 4, 0, 4 - held));
        }
    }

    fn take(sink: &mut Sink<u64>, numbers: &[u64]) {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let taken = sink.take(&mut Frame::copied(&bytes).expect("memory for some bytes"), 0, 0, None);
        assert_eq!(taken, Ok(numbers.len()));
    }

    #[test]
    fn what_waits_goes_before_what_is_fresh() {
        let (sender, mut receiver) = spsc::bounded(2);
        let (mut sink, mut moved) = (Sink::new(Gate::Waits(sender)), 0);
        take(&mut sink, &[0, 1, 2, 3]);
        assert!(!sink.deliver(&mut moved));
        assert_eq!((moved, sink.held(), sink.is_blocked()), (2, 2, true));
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [0, 1]);
        assert!(sink.deliver(&mut moved));
        assert_eq!((moved, sink.held(), sink.is_blocked()), (4, 0, false));
        take(&mut sink, &[4, 5]);
        assert!(!sink.deliver(&mut moved));
        take(&mut sink, &[6]);
        assert_eq!(sink.left(), 3);
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2, 3]);
        // There is no receiver.
        take(&mut sink, &[7, 8, 9]);
        assert!(!sink.deliver(&mut moved));
        drop(receiver);
        assert!(!sink.deliver(&mut moved) && sink.has_refused());
    }

    /// With room for many a waiting message fits already at the first: the set reports that.
    #[test]
    fn the_first_room_is_reported_if_something_waits() {
        const ROOM: usize = 1_024;
        let (mut sender, mut receiver) = spsc::bounded(ROOM);
        let mut set = YSocketpair::with_capacity(1).expect("a descriptor");
        assert!(set.attach(&mut sender, 0).is_ok());
        let (mut sink, mut moved) = (Sink::new(Gate::Waits(sender)), 0);
        assert!(sink.has_room_for(ROOM));
        take(&mut sink, &[7; ROOM]);
        assert!(sink.deliver(&mut moved));
        take(&mut sink, &[7]);
        assert!(!sink.deliver(&mut moved) && set.check().next().is_none());
        assert!(!sink.has_room_for(ROOM / 2));
        receiver.try_recv().expect("it is full");
        assert!(set.check().next().is_some());
        // Where nothing waits, there is room for this many.
        assert!(sink.deliver(&mut moved));
        assert!(!sink.has_room_for(ROOM / 2));
        assert_eq!(receiver.try_iter().take(ROOM / 2).count(), ROOM / 2);
        assert!(set.check().next().is_some() && sink.has_room_for(ROOM / 2));
    }

    #[test]
    fn one_that_has_ended_does_not_sleep() {
        let (sender, receiver) = spsc::bounded(1);
        let sink = Sink::<u64>::new(Gate::Waits(sender));
        let mut slept = 0;
        sink.asleep(Waker::noop(), &mut || slept += 1);
        drop(receiver);
        sink.asleep(Waker::noop(), &mut || slept += 1);
        assert_eq!(slept, 1);
    }
}
