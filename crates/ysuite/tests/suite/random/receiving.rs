//! What a receiver does, one call each.

use std::time::{Duration, Instant};

use futures_util::Stream;
use ysuite::signal::AttachError;
use ysuite::{RecvTimeoutError, TryRecvError};

use crate::conformance::channel::Receiving;
use crate::random::foreign::{Message, fault};
use crate::random::machine::{Machine, Rx};
use crate::random::operations::Who;
use crate::random::rooms::Room;

/// Why nothing was received.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Nothing {
    Now,
    Ever,
}

impl From<TryRecvError> for Nothing {
    fn from(error: TryRecvError) -> Self {
        if error == TryRecvError::Empty { Self::Now } else { Self::Ever }
    }
}

impl From<RecvTimeoutError> for Nothing {
    fn from(error: RecvTimeoutError) -> Self {
        if error == RecvTimeoutError::Timeout { Self::Now } else { Self::Ever }
    }
}

impl<R: Room> Machine<R> {
    /// How many messages are there, and what it means if none is.
    pub(crate) fn supply(&self) -> (usize, Nothing) {
        let model = self.model.borrow();
        (model.len(), if model.is_over() { Nothing::Ever } else { Nothing::Now })
    }

    /// What has come of a call that was to receive something.
    pub(crate) fn received(
        &self,
        slot: &mut Rx<R>,
        expected: (usize, Nothing),
        disturbed: bool,
        got: Result<Message, Nothing>,
    ) {
        let peeked = slot.peeked.take();
        let (there, nothing) = expected;
        match got {
            Ok(message) => {
                if there == 0 && !disturbed {
                    fault(format!("message {} was received, and none should be there", message.0));
                }
                if peeked.is_some_and(|peeked| peeked != message.0) && !disturbed {
                    fault(format!("message {} was received, and another was shown: {peeked:?}", message.0));
                }
                self.receive(message, disturbed);
            }
            Err(error) => {
                if (there, nothing) != (0, error) && !disturbed {
                    fault(format!("nothing {error:?} of {there} messages, and otherwise nothing {nothing:?}"));
                }
            }
        }
    }

    pub(crate) fn receive_one(&self, by: Who, way: u8) {
        let Some(slot) = self.receiver(by) else { return };
        let mut slot = slot.borrow_mut();
        let expected = self.supply();
        let Some(receiver) = slot.end() else { return };
        let way = if way == 3 && expected == (0, Nothing::Now) { 0 } else { way };
        let (got, disturbed) = self.watched(|| match way {
            1 => receiver.recv_timeout(Duration::ZERO).map_err(Nothing::from),
            2 => receiver.recv_deadline(Instant::now()).map_err(Nothing::from),
            3 => receiver.recv().map_err(|_| Nothing::Ever),
            _ => receiver.try_recv().map_err(Nothing::from),
        });
        if R::SHARED && matches!(way, 1 | 2) && got.is_err() {
            slot.step_back();
        }
        if !matches!(way, 1..=3) && matches!(got, Err(Nothing::Now)) {
            slot.is_quiet = !disturbed;
        }
        self.received(&mut slot, expected, disturbed, got);
    }

    pub(crate) fn receive_batch(&self, by: Who, most: usize, waits: bool) {
        let Some(slot) = self.receiver(by) else { return };
        let mut slot = slot.borrow_mut();
        let (there, nothing) = self.supply();
        let Some(receiver) = slot.end() else { return };
        let waits = waits && (there, nothing) != (0, Nothing::Now);
        let mut to = Vec::new();
        let (got, disturbed) = self.watched(|| {
            if waits {
                receiver.recv_batch(&mut to, most).map_err(|_| Nothing::Ever)
            } else {
                receiver.try_recv_batch(&mut to, most).map_err(Nothing::from)
            }
        });
        // A batch of none only reports whether this is the disconnect.
        let says_end = there == 0 && (most != 0 || nothing == Nothing::Ever);
        let expected = if says_end { Err(nothing) } else { Ok(there.min(most)) };
        if got != expected && !disturbed || got.unwrap_or(0) != to.len() {
            fault(format!("a batch of {got:?} ({}) instead of {expected:?}", to.len()));
        }
        if got == Err(Nothing::Now) {
            slot.is_quiet = !disturbed;
        }
        if let (Some(peeked), Some(first)) = (slot.peeked, to.first()) {
            if first.0 != peeked {
                fault(format!("message {} was received, and another was shown: {peeked}", first.0));
            }
        }
        slot.peeked = slot.peeked.filter(|_| to.is_empty());
        drop(slot);
        for message in &to {
            if !self.model.borrow_mut().received(message.0, disturbed) {
                fault(format!("message {} was received out of turn", message.0));
            }
        }
        drop(to);
    }

    pub(crate) fn iterate(&self, by: Who, most: u8, waits: bool) {
        let Some(slot) = self.receiver(by) else { return };
        let mut slot = slot.borrow_mut();
        let mut ever_disturbed = false;
        for _ in 0..most {
            let expected = self.supply();
            let Some(receiver) = slot.end() else { return };
            if waits && expected == (0, Nothing::Now) {
                return;
            }
            let next = || if waits { receiver.iter().next() } else { receiver.try_iter().next() };
            let (got, disturbed) = self.watched(next);
            if got.is_none() && expected.1 == Nothing::Now {
                slot.is_quiet = !disturbed && !ever_disturbed;
            }
            ever_disturbed |= disturbed;
            let received = || self.received(&mut slot, expected, ever_disturbed, got.ok_or(expected.1));
            ever_disturbed |= self.watched(received).1;
        }
    }

    pub(crate) fn peek(&self, by: Who) {
        let Some(slot) = self.receiver(by).filter(|_| !R::SHARED) else { return };
        let mut slot = slot.borrow_mut();
        let (there, nothing) = self.supply();
        let Some(receiver) = slot.end() else { return };
        let shown = R::peek(receiver);
        let is_front = |number| self.model.borrow().lanes.iter().any(|lane| lane.visible.front() == Some(&number));
        match shown {
            Some(number) if is_front(number) && slot.peeked.is_none_or(|before| before == number) => {}
            None if there == 0 => slot.is_quiet |= nothing == Nothing::Now,
            _ => fault(format!("{shown:?} was shown of {there} messages, after {:?}", slot.peeked)),
        }
        slot.peeked = shown;
    }

    /// A stream says what it knows: no more than what is there is certain, and when no sender is left nothing else comes.
    pub(crate) fn size_hint(&self, by: Who) {
        let Some(slot) = self.receiver(by) else { return };
        let mut slot = slot.borrow_mut();
        let (there, nothing) = self.supply();
        let Some(receiver) = slot.end() else { return };
        let (least, most) = Stream::size_hint(&*receiver);
        let is_known =
            if nothing == Nothing::Ever { most == Some(there) } else { most.is_none_or(|most| most >= there) };
        let certain = if R::SHARED { least <= there } else { least == there };
        if !is_known || !certain {
            fault(format!("the stream hints at {least} to {most:?}, with {there} messages and nothing {nothing:?}"));
        }
    }

    pub(crate) fn attach(&self, by: Who, set: usize) {
        let Some(slot) = self.receiver(by) else { return };
        let taken: Vec<_> = self.receivers.borrow().iter().filter_map(|slot| slot.borrow().set).collect();
        let mut slot = slot.borrow_mut();
        let before = slot.set;
        let id = (0..31).find(|&id| !taken.contains(&(set, id))).expect("some id is free");
        if slot.end().is_some() && before.is_none() {
            slot.set = Some((set, id));
            slot.is_quiet = false;
        }
        let Some(receiver) = slot.end() else { return };
        match R::attach(receiver, &mut self.sets.borrow_mut(), set, id) {
            Ok(()) if before.is_none() => {}
            Err(AttachError::AlreadyAttached) if before.is_some() => {}
            other => fault(format!("attached: {other:?}, before in {before:?}")),
        }
    }

    pub(crate) fn detach(&self, by: Who, way: u8) {
        let Some(slot) = self.receiver(by) else { return };
        let mut slot = slot.borrow_mut();
        if slot.end().is_none() {
            return;
        }
        // Recorded before: user code that is woken may panic, and the receiver has left all the same.
        let before = slot.set.take();
        slot.is_quiet = false;
        let Some(receiver) = slot.end() else { return };
        let (id, expected) = if way == 0 {
            let set = before.map_or(0, |(set, _)| set);
            (R::detach(receiver, &mut self.sets.borrow_mut(), set), before.map(|(_, id)| id))
        } else {
            (R::leave_set(receiver).then_some(0), before.map(|_| 0))
        };
        if id != expected {
            fault(format!("detached from {id:?}, before in {before:?}"));
        }
    }
}
