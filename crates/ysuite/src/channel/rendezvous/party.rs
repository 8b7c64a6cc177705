//! All operations of a rendezvous endpoint: written once for every kind of channel. Any thread, except for polling.
//!
//! `try_send` and `try_recv` take the lock of the rendezvous only where an endpoint of the other side seems to wait.

use core::future::{Future, pending, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll};

use super::meeting::{Encounter, Meeting, MeetingSide};
use super::ticket::Ticket;
use super::wait::Stand;
use crate::channel::error::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use crate::channel::limit::{self, Limit};
use crate::foreign::{Foreign, Panics};
use crate::os::Deadline;
use crate::sync::Arc;
use crate::wait::many::{Owed, SharedEnd, propagate};
use crate::wait::{Backoff, Subscriptions};

/// One endpoint, as it is borrowed for an operation: a sender with `SENDS`, otherwise a receiver.
pub(in crate::channel) struct Party<'a, T, const SENDS: bool> {
    pub(super) side: MeetingSide<'a, T, SENDS>,
    /// The endpoint's slots, if it has any: in its set, and for the task that polled it.
    pub(super) subscriptions: Option<&'a Subscriptions>,
    /// A sender that has been closed: it finds the rendezvous so.
    pub(super) has_ended: bool,
}

impl<'a, T, const SENDS: bool> Party<'a, T, SENDS> {
    pub(in crate::channel) fn new(meeting: &'a Meeting<T>, subscriptions: Option<&'a Subscriptions>) -> Self {
        Self { side: MeetingSide(meeting), subscriptions, has_ended: false }
    }

    pub(in crate::channel) fn side(&self) -> MeetingSide<'a, T, SENDS> {
        self.side
    }

    /// Before this endpoint waits as a thread or a future: disarms its other slots. A notification that one of them has
    /// got is passed on when the guard is dropped.
    pub(in crate::channel) fn disarm(&self) -> Owed<MeetingSide<'a, T, SENDS>> {
        let is_notified = self.subscriptions.is_some_and(|subscriptions| subscriptions.disarm_all(self.side));
        Owed { end: self.side, is_notified }
    }

    /// An attached endpoint has found no match: takes its id down, and checks once more.
    fn rest(&self) -> bool {
        self.subscriptions.is_some_and(|subscriptions| subscriptions.rest(self.side))
    }

    // MUTANT: An extra notification is harmless. Killed only by
    // `a_receiver_that_was_called_twice_tells_the_next_of_what_it_leaves`.
    /// An endpoint that may have been notified has found its match: notifies the next, if there is more.
    fn pass_on(&self) {
        if self.subscriptions.is_some() {
            propagate(self.side);
        }
    }
}

impl<'a, T> Party<'a, T, true> {
    // MUTANT: Speed only: one more attempt, or one less: an endpoint that came meanwhile has raised the id again.
    /// Hands the message to a receiver that waits.
    pub(in crate::channel) fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.give(message) {
            Err(TrySendError::Full(message)) => {
                let mut found = false;
                // The waker that this notifies in its place is user code. So is the drop of a message that no caller
                // gets, while unwinding.
                let message = Panics::answer_behind(message, || found = self.rest());
                if found { self.give(message) } else { Err(TrySendError::Full(message)) }
            }
            outcome => outcome,
        }
    }

    // USER CODE: the waker of the peer's task, by `wake` of `channel/rendezvous/ticket.rs`; so also in `take` and
    //     `poll`, and in `send`, `receive` and `look` of `channel/rendezvous/wait.rs`. The message has changed hands,
    //     the lock is free; re-entrance: any operation; panic: propagates; a received message is dropped with the call;
    //     test: tests/suite/rendezvous/foreign.rs: a_waker_that_panics_leaves_the_handover_done,
    //     tests/suite/rendezvous/foreign.rs: a_waker_may_use_the_channel, tests/suite/rendezvous/foreign.rs:
    //     a_receiver_whose_passing_on_panics_leaks_no_message
    // MUTANT: Speed only: an early exit; the line decides under the lock. Killed only by
    // `one_mpsc_sender_closes_and_the_others_go_on` and `a_receivers_waker_may_send_to_the_next`.
    /// As [`try_send`](Self::try_send); an attached endpoint keeps its id up.
    pub(in crate::channel) fn give(&self, message: T) -> Result<(), TrySendError<T>> {
        let meeting = self.side.0;
        if self.has_ended {
            return Err(TrySendError::Disconnected(message));
        }
        if meeting.is_deserted(true) {
            return Err(TrySendError::Full(message));
        }
        let mut lines = meeting.lock();
        let met = meeting.give(&mut lines, message)?;
        drop(lines);
        // There is nothing to pass on: a sender is never notified of more receivers than it can serve.
        met.wake();
        Ok(())
    }

    // MUTANT: Speed only: the slow path registers, waits for no time and leaves.
    /// Hands the message to a receiver; waits for one until the deadline.
    pub(in crate::channel) fn send(
        &self,
        message: T,
        deadline: Deadline,
        backoff: &mut Backoff,
    ) -> Result<(), SendTimeoutError<T>> {
        let message = match self.give(message) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Disconnected(message)) => return Err(SendTimeoutError::Disconnected(message)),
            Err(TrySendError::Full(message)) if deadline.is_over() => return Err(SendTimeoutError::Timeout(message)),
            Err(TrySendError::Full(message)) => message,
        };
        let owed = self.disarm();
        let ticket = Arc::new(Ticket::for_thread());
        let outcome = match Stand::send(self.side, &ticket, 0, message, true) {
            Ok(Some(stand)) => {
                stand.sleep(backoff, deadline);
                stand.outcome()
            }
            Ok(None) => Ok(()),
            Err(message) => Err(SendTimeoutError::Disconnected(message)),
        };
        // Passing a notification on is user code. So is the drop of a message that no caller gets, while unwinding.
        Panics::answer_behind(outcome, || drop(owed))
    }

    /// Hands the message that is in `place` to a receiver; the task waits for one.
    pub(in crate::channel) async fn send_async(&self, place: &mut Option<T>) -> Result<(), SendError<T>> {
        self.send_async_until(place, pending::<()>()).await.map_err(|error| SendError(error.into_inner()))
    }

    /// Hands the message that is in `place` to a receiver; the task waits for one until `stop` is ready. `stop` is
    /// polled only during the wait.
    pub(in crate::channel) async fn send_async_until(
        &self,
        place: &mut Option<T>,
        stop: impl Future,
    ) -> Result<(), SendTimeoutError<T>> {
        let stop = pin!(Some(stop));
        let mut stop = Limit::new(stop);
        if let Some(outcome) = self.give_from(place) {
            // The drop of the limit is user code.
            return Panics::answer_behind(outcome, || drop(stop));
        }
        let owed = self.disarm();
        let task = TaskTicket(Arc::new(Ticket::for_task()));
        let stand = match self.stand_from(place, &task) {
            Ok(stand) => stand,
            Err(outcome) => return limit::answer_behind(outcome, (task, owed), stop),
        };
        poll_fn(|context| match stand.poll(context) {
            Poll::Ready(_) => Poll::Ready(()),
            Poll::Pending => Pin::new(&mut stop).poll(context),
        })
        .await;
        limit::answer_behind(stand.outcome(), (task, owed), stop)
    }

    /// Hands the message that is in `place` to a receiver that waits. `None`: there is none, and the message stays
    /// there.
    fn give_from(&self, place: &mut Option<T>) -> Option<Result<(), SendTimeoutError<T>>> {
        match self.give(place.take()?) {
            Ok(()) => Some(Ok(())),
            Err(TrySendError::Disconnected(message)) => Some(Err(SendTimeoutError::Disconnected(message))),
            Err(TrySendError::Full(message)) => {
                *place = Some(message);
                None
            }
        }
    }

    /// Registers in line with the message that was in `place`, unless a receiver has come or there will be none.
    fn stand_from(
        &self,
        place: &mut Option<T>,
        task: &TaskTicket,
    ) -> Result<Stand<'a, T, true>, Result<(), SendTimeoutError<T>>> {
        let Some(message) = place.take() else { return Err(Ok(())) };
        match Stand::send(self.side, &task.0, 0, message, true) {
            Ok(stand) => stand.ok_or(Ok(())),
            Err(message) => Err(Err(SendTimeoutError::Disconnected(message))),
        }
    }

    /// Hands over all messages of an iterator, one by one, as a task. Returns the number of messages.
    pub(in crate::channel) async fn send_batch_async(
        &self,
        messages: &mut impl Iterator<Item = T>,
    ) -> Result<usize, SendError<Vec<T>>> {
        let (mut sent, mut place) = (0, Foreign::new(None));
        loop {
            *place = messages.next();
            if place.is_none() {
                return Ok(sent);
            }
            self.send_async(&mut place).await.map_err(|error| SendError(vec![error.0]))?;
            sent += 1;
        }
    }

    // USER CODE: `Drop` of the iterator, as in `send_batch` of `channel/send.rs`; test: tests/suite/batches.rs:
    //     a_rendezvous_of_many
    /// Hands over all messages of an iterator, one by one; waits until there is a receiver for each. Returns the number
    /// of messages.
    pub(in crate::channel) fn send_batch(
        &self,
        messages: impl IntoIterator<Item = T>,
        backoff: &mut Backoff,
    ) -> Result<usize, SendError<Vec<T>>> {
        let mut messages = messages.into_iter();
        let mut sent = 0;
        let outcome = loop {
            let Some(message) = messages.next() else { break Ok(sent) };
            match self.send(message, Deadline::Never, backoff) {
                Ok(()) => sent += 1,
                Err(error) => break Err(SendError(vec![error.into_inner()])),
            }
        };
        // The iterator's drop is user code. So is the drop of a result that no caller gets, while unwinding.
        Panics::result_behind(outcome, || drop(messages))
    }
}

impl<'a, T> Party<'a, T, false> {
    // MUTANT: Speed only: one more attempt, or one less: an endpoint that came meanwhile has raised the id again.
    /// Takes the message of a sender that waits.
    pub(in crate::channel) fn try_recv(&self) -> Result<T, TryRecvError> {
        match self.take() {
            Err(TryRecvError::Empty) if self.rest() => self.take(),
            outcome => outcome,
        }
    }

    // MUTANT: Speed only: one more attempt, or one less. A sender has no notification left to pass on. Killed only by
    // `a_receiver_that_was_called_twice_tells_the_next_of_what_it_leaves`.
    /// As [`try_recv`](Self::try_recv); an attached endpoint keeps its id up.
    pub(in crate::channel) fn take(&self) -> Result<T, TryRecvError> {
        let meeting = self.side.0;
        if meeting.is_deserted(false) {
            return Err(TryRecvError::Empty);
        }
        let mut lines = meeting.lock();
        let found = meeting.take(&mut lines);
        drop(lines);
        match found {
            Encounter::Peer((message, met)) => {
                // Wakers are user code. So is the drop of a message that no caller gets, while unwinding.
                let mut panics = Panics::none();
                panics.catch(|| {
                    met.inspect(|met| met.wake());
                });
                panics.catch(|| self.pass_on());
                Ok(panics.answer(message))
            }
            Encounter::Nobody => Err(TryRecvError::Empty),
            Encounter::Closed => Err(TryRecvError::Disconnected),
        }
    }

    // MUTANT: Speed only: the slow path registers, waits for no time and leaves.
    /// Takes the message of a sender; waits for one until the deadline.
    pub(in crate::channel) fn recv(&self, deadline: Deadline, backoff: &mut Backoff) -> Result<T, RecvTimeoutError> {
        match self.take() {
            Ok(message) => return Ok(message),
            Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) if deadline.is_over() => return Err(RecvTimeoutError::Timeout),
            Err(TryRecvError::Empty) => {}
        }
        let owed = self.disarm();
        let ticket = Arc::new(Ticket::for_thread());
        let outcome = match Stand::receive(self.side, &ticket, 0, true) {
            Ok(Err(stand)) => {
                stand.sleep(backoff, deadline);
                match stand.leave() {
                    (_, Some(message)) => Ok(message),
                    (Some(_), None) => Err(RecvTimeoutError::Disconnected),
                    (None, None) => Err(RecvTimeoutError::Timeout),
                }
            }
            Ok(Ok(message)) => Ok(message),
            Err(()) => Err(RecvTimeoutError::Disconnected),
        };
        // Passing a notification on is user code. So is the drop of a message that no caller gets, while unwinding.
        Panics::answer_behind(outcome, || drop(owed))
    }

    pub(in crate::channel) async fn recv_async(&self) -> Result<T, RecvError> {
        match self.take() {
            Ok(message) => return Ok(message),
            Err(TryRecvError::Disconnected) => return Err(RecvError),
            Err(TryRecvError::Empty) => {}
        }
        let owed = self.disarm();
        let task = TaskTicket(Arc::new(Ticket::for_task()));
        let stand = match Stand::receive(self.side, &task.0, 0, true) {
            Ok(Err(stand)) => stand,
            Ok(Ok(message)) => {
                // As below.
                return Ok(Panics::answer_behind(message, || drop((task, owed))));
            }
            Err(()) => return Err(RecvError),
        };
        poll_fn(|context| stand.poll(context)).await;
        let outcome = stand.leave().1.ok_or(RecvError);
        // The drop of the wait is user code. So is the drop of a result that no caller gets, while unwinding.
        Panics::answer_behind(outcome, || drop((task, owed)))
    }

    /// Waits for one sender, then takes the messages of waiting senders, at most `most`, which is not 0.
    pub(in crate::channel) fn recv_batch(
        &self,
        to: &mut Vec<T>,
        most: usize,
        backoff: &mut Backoff,
    ) -> Result<usize, RecvError> {
        let first = self.recv(Deadline::Never, backoff).map_err(|_| RecvError)?;
        to.push(first);
        Ok(1 + self.take_more(to, most - 1))
    }

    /// As [`recv_batch`](Self::recv_batch), as a task.
    pub(in crate::channel) async fn recv_batch_async(&self, to: &mut Vec<T>, most: usize) -> Result<usize, RecvError> {
        let first = self.recv_async().await?;
        to.push(first);
        Ok(1 + self.take_more(to, most - 1))
    }

    /// Takes the messages of waiting senders, at most `most`, which is not 0.
    pub(in crate::channel) fn try_recv_batch(&self, to: &mut Vec<T>, most: usize) -> Result<usize, TryRecvError> {
        let first = self.try_recv()?;
        to.push(first);
        Ok(1 + self.take_more(to, most - 1))
    }

    /// At most the messages of the senders that wait now: otherwise it might never return.
    fn take_more(&self, to: &mut Vec<T>, most: usize) -> usize {
        let (there, before) = (self.side.supply().min(most), to.len());
        to.extend((0..there).map_while(|_| self.take().ok()));
        to.len() - before
    }
}

/// The claim of a task. However the wait ends, the task's waker is dropped then: user code, so it comes last.
struct TaskTicket(Arc<Ticket>);

// USER CODE: `Drop` of the waker of a future; the registration has left its line, the notification is passed on;
//     re-entrance: any operation; panic: propagates out of the future's drop, last; by construction: the registration
//     and the notification have guards of their own
impl Drop for TaskTicket {
    // MUTANT: Killed only by `a_waker_that_clings_to_a_place_in_line_is_no_second_panic`.
    fn drop(&mut self) {
        Panics::in_drop(|| drop(self.0.forget()));
    }
}

// MUTANT: Speed only: one more attempt, or one less: an endpoint that came meanwhile has raised the id again.
/// Polls an endpoint that only wants to be notified: ready once `look` finds something. `is_notified`: one of its slots
/// has been notified before.
pub(in crate::channel) fn poll<R>(
    side: impl SharedEnd,
    subscriptions: &mut Subscriptions,
    is_notified: bool,
    context: &mut Context<'_>,
    mut look: impl FnMut() -> Option<R>,
) -> Poll<R> {
    let mut is_notified = subscriptions.disarm_all(side) | is_notified;
    loop {
        // Passed on, also where the check, or the waker's clone, panics.
        let mut owed = Owed { end: side, is_notified };
        if let Some(found) = look() {
            // It has taken one; there may be more. User code. So is the drop of a result that no caller gets, while
            // unwinding.
            return Poll::Ready(Panics::answer_behind(found, || drop(owed)));
        }
        subscriptions.arm_task(side, context.waker());
        owed.is_notified = false;
        if !side.is_ready() {
            return Poll::Pending;
        }
        is_notified |= subscriptions.disarm_task(side);
    }
}
