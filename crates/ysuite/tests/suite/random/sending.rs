//! What a sender does, one call each.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use ysuite::{SendError, SendTimeoutError, TrySendError};

use crate::conformance::channel::Sending;
use crate::random::foreign::{Deed, Deeds, Message, Task, fault, perform};
use crate::random::machine::Machine;
use crate::random::operations::Who;
use crate::random::rooms::Room;

/// What has become of a message.
enum Sent {
    Yes,
    Full(Message),
    Disconnected(Message),
}

impl From<Result<(), SendError<Message>>> for Sent {
    fn from(result: Result<(), SendError<Message>>) -> Self {
        result.map_or_else(|SendError(back)| Self::Disconnected(back), |()| Self::Yes)
    }
}

impl From<Result<(), TrySendError<Message>>> for Sent {
    fn from(result: Result<(), TrySendError<Message>>) -> Self {
        match result {
            Ok(()) => Self::Yes,
            Err(TrySendError::Full(back)) => Self::Full(back),
            Err(TrySendError::Disconnected(back)) => Self::Disconnected(back),
        }
    }
}

impl From<Result<(), SendTimeoutError<Message>>> for Sent {
    fn from(result: Result<(), SendTimeoutError<Message>>) -> Self {
        match result {
            Ok(()) => Self::Yes,
            Err(SendTimeoutError::Timeout(back)) => Self::Full(back),
            Err(SendTimeoutError::Disconnected(back)) => Self::Disconnected(back),
        }
    }
}

impl<R: Room> Machine<R> {
    /// Whether there is no receiver any more, and how much room there is.
    pub(crate) fn outlook(&self, lane: usize) -> (bool, usize) {
        let model = self.model.borrow();
        (model.refuses(lane), model.room(lane))
    }

    pub(crate) fn send(&self, by: Who, way: u8, end: Deed) {
        let Some(slot) = self.sender(by) else { return };
        let mut slot = slot.borrow_mut();
        let lane = slot.lane;
        let Some(sender) = slot.end() else { return };
        let (gone, room) = self.outlook(lane);
        // What would wait for ever is not done.
        let way = if way == 0 && room == 0 && !gone { 1 } else { way };
        let message = Message::new(end);
        let number = message.0;
        if !gone && (room > 0 || way >= 2) {
            self.model.borrow_mut().launch(lane, None);
        }
        self.model.borrow_mut().lanes[lane].flying.push_back(number);
        let (sent, disturbed) = self.watched(|| match way {
            0 => Sent::from(sender.send(message)),
            1 => Sent::from(sender.try_send(message)),
            2 => Sent::from(sender.send_timeout(message, Duration::ZERO)),
            _ => Sent::from(sender.send_deadline(message, Instant::now())),
        });
        let back = match sent {
            Sent::Yes => {
                if gone || room == 0 && !disturbed {
                    fault(format!("message {number} was sent, with receivers gone: {gone}, room: {room}"));
                }
                return;
            }
            Sent::Full(back) => {
                if gone || room != 0 {
                    fault(format!("full, with receivers gone: {gone}, room: {room}"));
                }
                back
            }
            Sent::Disconnected(back) => {
                if !gone && !disturbed {
                    fault("disconnected, and there are receivers".into());
                }
                back
            }
        };
        if back.0 != number || !self.model.borrow_mut().came_back(lane, number) {
            fault(format!("message {} came back instead of {number}, or was received as well", back.0));
        }
        drop(back);
    }

    pub(crate) fn send_batch(&self, by: Who, count: u8, end: Deed, deed: Deed) {
        let Some(slot) = self.sender(by) else { return };
        let mut slot = slot.borrow_mut();
        let lane = slot.lane;
        let Some(sender) = slot.end() else { return };
        let (gone, room) = self.outlook(lane);
        let count = if gone { usize::from(count) } else { usize::from(count).min(room) };
        // One that sends could take the room that the batch is to have.
        let deed = if deed == Deed::Send { Deed::Nothing } else { deed };
        if !gone {
            self.model.borrow_mut().launch(lane, None);
        }
        let mut given = Vec::new();
        let mut messages = (0..count).map(|index| {
            if index == count / 2 {
                perform(deed);
            }
            let message = Message::new(end);
            self.model.borrow_mut().lanes[lane].flying.push_back(message.0);
            given.push(message.0);
            message
        });
        self.batching.set(true);
        let (sent, disturbed) = self.watched(|| sender.send_batch(&mut messages));
        self.batching.set(false);
        match sent {
            Ok(sent) if sent == count && (!gone || count == 0) => {}
            Ok(sent) => fault(format!("{sent} of {count} messages were sent, with receivers gone: {gone}")),
            Err(SendError(back)) => {
                let numbers: Vec<_> = back.iter().map(|message| message.0).collect();
                // The last receiver may have gone in the middle.
                let expected = if disturbed { given.ends_with(&numbers) } else { gone && numbers == given };
                if !expected {
                    fault(format!("messages {numbers:?} came back of {given:?}, with receivers gone: {gone}"));
                }
                numbers.iter().for_each(|&number| {
                    self.model.borrow_mut().came_back(lane, number);
                });
                drop(back);
            }
        }
    }

    /// Into the batch, as a sink or not.
    pub(crate) fn write(&self, by: Who, end: Deed, as_sink: bool) {
        let Some(slot) = self.sender(by).filter(|_| !R::SHARED) else { return };
        let mut slot = slot.borrow_mut();
        let lane = slot.lane;
        let Some(sender) = slot.end() else { return };
        let (gone, room) = self.outlook(lane);
        if room == 0 && !gone {
            return;
        }
        let message = Message::new(end);
        let number = message.0;
        let written = if as_sink {
            R::sink(sender).as_mut().start_send(message).map_err(|_| None)
        } else {
            R::hiding(sender).write(message).map_err(|SendError(back)| Some(back))
        };
        match written {
            Ok(()) => self.model.borrow_mut().lanes[lane].hidden.push(number),
            Err(back) => {
                if !gone {
                    fault("disconnected, and there are receivers".into());
                }
                drop(back);
            }
        }
    }

    pub(crate) fn unwrite(&self, by: Who) {
        let Some(slot) = self.sender(by).filter(|_| !R::SHARED) else { return };
        let mut slot = slot.borrow_mut();
        let lane = slot.lane;
        let Some(sender) = slot.end() else { return };
        let expected = self.model.borrow_mut().lanes[lane].hidden.pop();
        let back = R::hiding(sender).unwrite();
        let number = back.as_ref().map(|message| message.0);
        if number != expected {
            fault(format!("unwritten: {number:?} instead of {expected:?}"));
        }
        drop(back);
    }

    pub(crate) fn flush(&self, by: Who) {
        let Some(slot) = self.sender(by).filter(|_| !R::SHARED) else { return };
        let mut slot = slot.borrow_mut();
        let lane = slot.lane;
        let Some(sender) = slot.end() else { return };
        // Without a receiver, it is dropped now.
        self.model.borrow_mut().launch(lane, None);
        R::hiding(sender).flush();
    }

    /// A sink fails only where messages were lost, and always where it has just lost some.
    pub(crate) fn sink_flush(&self, by: Who, closes: bool) {
        let Some(slot) = self.sender(by).filter(|_| !R::SHARED) else { return };
        let mut slot = slot.borrow_mut();
        let lane = slot.lane;
        let Some(sender) = slot.end() else { return };
        let (gone, hidden, lost) = {
            let model = self.model.borrow();
            (model.refuses(lane), model.lanes[lane].hidden.len(), model.lanes[lane].lost)
        };
        // Without a receiver, it is dropped now.
        self.model.borrow_mut().launch(lane, None);
        let task = Task::new(Deeds::default());
        let waker = task.waker();
        let mut context = Context::from_waker(waker.get());
        let mut sink = R::sink(sender);
        let (flushed, disturbed) = self.watched(|| sink.as_mut().poll_flush(&mut context));
        drop(sink);
        match flushed {
            Poll::Ready(_) if disturbed => {}
            Poll::Ready(Ok(())) if !gone || hidden == 0 => {}
            Poll::Ready(Err(_)) if gone && (hidden != 0 || lost) => {}
            _ => fault(format!("flushed: {flushed:?}, with {hidden} hidden, lost: {lost}, receivers gone: {gone}")),
        }
        drop(slot);
        if closes {
            self.close_sender(by);
        }
    }

    pub(crate) fn poll_ready(&self, by: Who, deeds: Deeds, as_sink: bool) {
        let Some(slot) = self.sender(by).filter(|_| !R::SHARED) else { return };
        let mut slot = slot.borrow_mut();
        let lane = slot.lane;
        let Some(sender) = slot.end() else { return };
        let (gone, room) = self.outlook(lane);
        let (visible, hidden) = {
            let model = self.model.borrow();
            (model.lanes[lane].visible.len(), model.lanes[lane].hidden.clone())
        };
        if room == 0 && !gone {
            // What is hidden must be published, or no room would ever be made.
            self.model.borrow_mut().launch(lane, None);
        }
        let task = Task::new(deeds);
        let waker = task.waker();
        let mut context = Context::from_waker(waker.get());
        let (polled, disturbed) = self.watched(|| {
            catch_unwind(AssertUnwindSafe(|| {
                let ready = R::poll_ready(sender, &mut context);
                // A sink that goes takes its own waker with it, and no other.
                match ready.is_ready() && as_sink {
                    true => R::sink(sender).as_mut().poll_ready(&mut context).map(|ready| ready.is_ok()),
                    false => ready.map(|()| !gone),
                }
            }))
        });
        let length = sender.len();
        slot.tasks.push(task.clone());
        slot.pending = None;
        match polled {
            Ok(Poll::Pending) => {
                if gone || room != 0 {
                    fault(format!("not ready, with receivers gone: {gone}, room: {room}"));
                }
                slot.pending = Some(task);
            }
            Ok(Poll::Ready(alive)) => {
                if alive == gone && !disturbed || !gone && room == 0 && !disturbed {
                    fault(format!("ready ({alive}), with receivers gone: {gone}, room: {room}"));
                }
            }
            Err(panic) => {
                // Before or after the flush: both are right.
                let mut model = self.model.borrow_mut();
                let lane = &mut model.lanes[lane];
                if !disturbed && length == visible && !lane.flying.is_empty() {
                    lane.flying.clear();
                    lane.hidden = hidden;
                }
                drop(model);
                resume_unwind(panic);
            }
        }
    }
}
