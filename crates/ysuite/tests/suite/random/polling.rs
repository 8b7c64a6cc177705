//! Tasks: polls, and futures that are kept, polled again, dropped half way, or forgotten.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures_util::Stream;
use ysuite::{RecvError, SendError};

use crate::conformance::channel::{Receiving, Sending};
use crate::random::foreign::{Deed, Deeds, Message, Task, fault, has_ended};
use crate::random::machine::{Machine, Rx, Slot, Tx};
use crate::random::operations::Who;
use crate::random::receiving::Nothing;
use crate::random::rooms::Room;

type Panicked = Box<dyn std::any::Any + Send>;

/// Polls the future that is kept in a slot. One that panics, or is ready, is gone.
fn poll_kept<E, O>(slot: &mut Slot<E, O>, task: &Task) -> Result<Poll<O>, Panicked> {
    let waker = task.waker();
    let Some(future) = &mut slot.future else { return Ok(Poll::Pending) };
    let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(waker.get()))));
    if !matches!(polled, Ok(Poll::Pending)) {
        let gone = slot.future.take();
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(gone)));
        // What has become ready may still hold a waker: its handle's, as after any poll.
        let tasks: Vec<_> = slot.future_tasks.drain(..).collect();
        slot.tasks.extend(tasks);
        if let (Ok(_), Err(panic)) = (&polled, dropped) {
            return Err(panic);
        }
    }
    polled
}

/// The task that polls next: the same as before, or another.
fn next_task<E, O>(slot: &mut Slot<E, O>, waker: Option<Deeds>) -> Rc<Task> {
    let task = match (waker, slot.future_tasks.last()) {
        (None, Some(task)) => task.clone(),
        (deeds, _) => {
            let task = Task::new(deeds.unwrap_or_default());
            slot.future_tasks.push(task.clone());
            task
        }
    };
    task.forget_wakes();
    task
}

impl<R: Room> Machine<R> {
    pub(crate) fn poll_recv(&self, by: Who, as_stream: bool, deeds: Deeds) {
        let Some(slot) = self.receiver(by) else { return };
        let mut slot = slot.borrow_mut();
        let expected = self.supply();
        let Some(receiver) = slot.end() else { return };
        let task = Task::new(deeds);
        let waker = task.waker();
        let mut context = Context::from_waker(waker.get());
        let (polled, disturbed) = self.watched(|| {
            catch_unwind(AssertUnwindSafe(|| {
                if as_stream {
                    Pin::new(receiver).poll_next(&mut context).map(|message| message.ok_or(RecvError))
                } else {
                    receiver.poll_recv(&mut context)
                }
            }))
        });
        slot.tasks.push(task.clone());
        slot.pending = None;
        if R::SHARED {
            slot.step_back();
        }
        self.polled(&mut slot, polled, task, expected, disturbed);
    }

    pub(crate) fn recv_async(&self, by: Who, deeds: Deeds) {
        let Some(slot) = self.receiver(by) else { return };
        let mut slot = slot.borrow_mut();
        if slot.end().is_none() {
            return;
        }
        let end = slot.end_for_future();
        slot.future = Some(end.recv_async());
        let waits = self.supply().0 == 0;
        let before = slot.pending.take();
        if R::SHARED && waits {
            slot.step_back();
        }
        let slot = &mut *slot;
        let polled = catch_unwind(AssertUnwindSafe(|| self.poll_receiving(slot, Some(deeds))));
        if R::SHARED && !waits {
            // It has not had to wait: the task that polled the receiver itself is woken as before.
            slot.pending = before;
        }
        polled.unwrap_or_else(|panic| resume_unwind(panic));
    }

    pub(crate) fn recv_again(&self, by: Who, waker: Option<Deeds>) {
        let Some(slot) = self.receiver(by) else { return };
        let mut slot = slot.borrow_mut();
        if slot.future.is_some() {
            self.poll_receiving(&mut slot, waker);
        }
    }

    fn poll_receiving(&self, slot: &mut Rx<R>, waker: Option<Deeds>) {
        let expected = self.supply();
        let task = next_task(slot, waker);
        slot.pending = None;
        let (polled, disturbed) = self.watched(|| poll_kept(slot, &task));
        self.polled(slot, polled, task, expected, disturbed);
    }

    fn polled(
        &self,
        slot: &mut Rx<R>,
        polled: Result<Poll<Result<Message, RecvError>>, Panicked>,
        task: Rc<Task>,
        expected: (usize, Nothing),
        disturbed: bool,
    ) {
        match polled {
            Ok(Poll::Ready(got)) => self.received(slot, expected, disturbed, got.map_err(|_| Nothing::Ever)),
            Ok(Poll::Pending) => {
                if expected != (0, Nothing::Now) {
                    fault(format!("pending, with {} messages and otherwise nothing {:?}", expected.0, expected.1));
                }
                slot.pending = Some(task);
            }
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Drops a receiving future half way, or forgets it.
    pub(crate) fn end_recv(&self, by: Who, forgets: bool) {
        let Some(slot) = self.receiver(by) else { return };
        self.end_future(&mut slot.borrow_mut(), forgets);
    }

    /// As `end_recv`. The message goes with the future, or is never seen again.
    pub(crate) fn end_send(&self, by: Who, forgets: bool) {
        let Some(slot) = self.sender(by) else { return };
        let mut slot = slot.borrow_mut();
        if slot.future.is_some() {
            let inside = slot.inside.take();
            if R::SHARED || !forgets {
                self.model.borrow_mut().held -= usize::from(inside.is_some());
            }
        }
        self.end_future(&mut slot, forgets);
    }

    fn end_future<E, O>(&self, slot: &mut Slot<E, O>, forgets: bool) {
        let Some(future) = slot.future.take() else { return };
        slot.pending = None;
        if forgets && !R::SHARED {
            // The handle may keep the waker now, for as long as it lives.
            let tasks: Vec<_> = slot.future_tasks.drain(..).collect();
            slot.tasks.extend(tasks);
            std::mem::forget(future);
        } else {
            // In an mpmc channel it would keep its slot, and a wake-up that others need.
            self.graves.borrow_mut().append(&mut slot.future_tasks);
            drop(future);
        }
    }

    pub(crate) fn send_async(&self, by: Who, end: Deed, deeds: Deeds) {
        let Some(slot) = self.sender(by) else { return };
        let mut slot = slot.borrow_mut();
        if slot.end().is_none() {
            return;
        }
        let message = Message::new(end);
        slot.inside = Some(message.0);
        self.model.borrow_mut().held += 1;
        let end = slot.end_for_future();
        slot.future = Some(end.send_async(message));
        if !R::SHARED {
            slot.pending = None;
        }
        self.poll_sending(&mut slot, Some(deeds));
    }

    pub(crate) fn send_again(&self, by: Who, waker: Option<Deeds>) {
        let Some(slot) = self.sender(by) else { return };
        let mut slot = slot.borrow_mut();
        if slot.future.is_some() {
            self.poll_sending(&mut slot, waker);
        }
    }

    fn poll_sending(&self, slot: &mut Tx<R>, waker: Option<Deeds>) {
        let lane = slot.lane;
        let Some(number) = slot.inside else { return };
        let (gone, room) = self.outlook(lane);
        {
            let mut model = self.model.borrow_mut();
            if gone || room > 0 {
                model.held -= 1;
                slot.inside = None;
            }
            if !gone {
                // With the message, or because the future has to wait.
                model.launch(lane, None);
            }
            if slot.inside.is_none() {
                model.lanes[lane].flying.push_back(number);
            }
        }
        let task = next_task(slot, waker);
        slot.pending = None;
        self.model.borrow_mut().polled = slot.inside;
        let (polled, disturbed) = self.watched(|| poll_kept(slot, &task));
        // Otherwise it has been sent, and received by user code.
        let is_inside = self.model.borrow_mut().polled.take().is_some();
        match polled {
            Ok(Poll::Pending) => {
                if slot.inside.is_none() {
                    fault(format!("pending, with receivers gone: {gone}, room: {room}"));
                }
                slot.pending = Some(task);
            }
            Ok(Poll::Ready(Ok(()))) => {
                if slot.inside.take().is_some() && is_inside {
                    // User code has made room.
                    let mut model = self.model.borrow_mut();
                    model.held -= 1;
                    model.lanes[lane].flying.push_back(number);
                }
                if gone || room == 0 && !disturbed {
                    fault(format!("message {number} was sent, with receivers gone: {gone}, room: {room}"));
                }
            }
            Ok(Poll::Ready(Err(SendError(back)))) => {
                let came_back = if slot.inside.take().is_some() && is_inside {
                    self.model.borrow_mut().held -= 1;
                    true
                } else {
                    self.model.borrow_mut().came_back(lane, number)
                };
                if !gone && !disturbed || back.0 != number || !came_back {
                    fault(format!("message {} came back instead of {number}; receivers gone: {gone}", back.0));
                }
                drop(back);
            }
            Err(panic) => {
                if slot.inside.take().is_some() && is_inside {
                    let mut model = self.model.borrow_mut();
                    model.held -= 1;
                    if !has_ended(number) {
                        model.lanes[lane].flying.push_back(number);
                    }
                }
                resume_unwind(panic);
            }
        }
    }
}
