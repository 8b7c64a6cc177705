//! All operations of a rendezvous endpoint: written once for every kind of channel. Any thread, except for polling.
//!
//! `try_send` and `try_recv` take the lock of the rendezvous only where an endpoint of the other side seems to wait.

use core::future::{Future, pending, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll};

use super::meeting::{Encounter, Meeting, MeetingSide};
use super::ticket::Ticket;
use super::wait::{Stand, woken};
use crate::channel::error::{
    self, RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
use crate::channel::limit::{self, Limit};
use crate::foreign::{Foreign, Lent, Panics};
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
    /// Hands the message that is in `place` to a receiver that waits. After an error it is still there; so in all that
    /// sends.
    pub(in crate::channel) fn try_send(&self, place: &mut Option<T>) -> Result<(), TrySendError<()>> {
        match self.give(place) {
            Err(TrySendError::Full(())) => {
                let mut found = false;
                // The waker that this notifies in its place is user code.
                Panics::in_drop(|| found = self.rest());
                if found { self.give(place) } else { Err(TrySendError::Full(())) }
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
    pub(in crate::channel) fn give(&self, place: &mut Option<T>) -> Result<(), TrySendError<()>> {
        let meeting = self.side.0;
        if self.has_ended {
            return Err(TrySendError::Disconnected(()));
        }
        if meeting.is_deserted(true) {
            return Err(TrySendError::Full(()));
        }
        let mut lines = meeting.lock();
        let met = meeting.give(&mut lines, place)?;
        drop(lines);
        // There is nothing to pass on: a sender is never notified of more receivers than it can serve.
        met.wake();
        Ok(())
    }

    // MUTANT: Speed only: the slow path registers, waits for no time and leaves.
    /// Hands the message that is in `place` to a receiver; waits for one until the deadline.
    pub(in crate::channel) fn send(
        &self,
        place: &mut Option<T>,
        deadline: Deadline,
        backoff: &mut Backoff,
    ) -> Result<(), SendTimeoutError<()>> {
        match self.give(place) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Disconnected(())) => return Err(SendTimeoutError::Disconnected(())),
            Err(TrySendError::Full(())) if deadline.is_over() => return Err(SendTimeoutError::Timeout(())),
            Err(TrySendError::Full(())) => {}
        }
        let owed = self.disarm();
        let ticket = Arc::new(Ticket::for_thread());
        let outcome = match Stand::send_from(self.side, &ticket, 0, place, true) {
            Ok(Some(stand)) => {
                stand.sleep(backoff, deadline);
                stand.outcome(place)
            }
            Ok(None) => Ok(()),
            Err(_) => Err(SendTimeoutError::Disconnected(())),
        };
        // Passing a notification on is user code.
        Panics::in_drop(|| drop(owed));
        outcome
    }

    /// Hands the message that is in `place` to a receiver; the task waits for one.
    pub(in crate::channel) async fn send_async(&self, place: &mut Option<T>) -> Result<(), SendError<()>> {
        self.send_async_until(place, pending::<()>()).await.map_err(|_| SendError(()))
    }

    /// Hands the message that is in `place` to a receiver; the task waits for one until `stop` is ready. `stop` is
    /// polled only during the wait.
    pub(in crate::channel) async fn send_async_until(
        &self,
        place: &mut Option<T>,
        stop: impl Future,
    ) -> Result<(), SendTimeoutError<()>> {
        let stop = pin!(Some(stop));
        let mut stop = Limit::new(stop);
        let outcome = match self.give(place) {
            Err(TrySendError::Full(())) => None,
            Ok(()) => Some(Ok(())),
            Err(TrySendError::Disconnected(())) => Some(Err(SendTimeoutError::Disconnected(()))),
        };
        if let Some(outcome) = outcome {
            // The drop of the limit is user code.
            Panics::in_drop(|| drop(stop));
            return outcome;
        }
        let owed = self.disarm();
        let task = TaskTicket(Arc::new(Ticket::for_task()));
        let stand = match Stand::send_from(self.side, &task.0, 0, place, true) {
            Ok(Some(stand)) => stand,
            Ok(None) => return limit::answer_behind(Ok(()), (task, owed), stop),
            Err(_) => return limit::answer_behind(Err(SendTimeoutError::Disconnected(())), (task, owed), stop),
        };
        poll_fn(|context| match stand.poll(context) {
            Poll::Ready(_) => Poll::Ready(()),
            Poll::Pending => Pin::new(&mut stop).poll(context),
        })
        .await;
        limit::answer_behind(stand.outcome(place), (task, owed), stop)
    }

    /// Hands over all messages of an iterator, one by one, as a task. Returns the number of messages.
    pub(in crate::channel) async fn send_batch_async(
        &self,
        messages: &mut impl Iterator<Item = T>,
    ) -> Result<usize, SendError<Vec<T>>> {
        let (mut sent, mut place) = (0, Foreign::none());
        loop {
            *place = messages.next();
            if place.is_none() {
                return Ok(sent);
            }
            self.send_async(&mut place).await.map_err(|_| SendError(vec![place.take_out()]))?;
            sent += 1;
        }
    }

    // USER CODE: the caller's iterator; the message before has changed hands, the lock is free; re-entrance: any
    //     operation; panic: propagates; test: tests/suite/batches.rs: a_rendezvous_of_many
    /// Hands over the message that is in `place` and all of an iterator, one by one; waits until there is a receiver for
    /// each. Returns the number of messages.
    pub(in crate::channel) fn send_batch(
        &self,
        place: &mut Option<T>,
        messages: &mut impl Iterator<Item = T>,
        backoff: &mut Backoff,
    ) -> Result<usize, SendError<Vec<T>>> {
        let mut sent = 0;
        while place.is_some() {
            if self.send(place, Deadline::Never, backoff).is_err() {
                return Err(SendError(vec![place.take_out()]));
            }
            sent += 1;
            *place = messages.next();
        }
        Ok(sent)
    }
}

impl<'a, T> Party<'a, T, false> {
    // MUTANT: Speed only: one more attempt, or one less: an endpoint that came meanwhile has raised the id again.
    /// Takes the message of a sender that waits to `place`, which is empty; so in all that receives.
    pub(in crate::channel) fn try_recv(&self, place: &mut Option<T>) -> Result<(), TryRecvError> {
        match self.take(place) {
            Err(TryRecvError::Empty) if self.rest() => self.take(place),
            outcome => outcome,
        }
    }

    // MUTANT: Speed only: one more attempt, or one less. A sender has no notification left to pass on. Killed only by
    // `a_receiver_that_was_called_twice_tells_the_next_of_what_it_leaves`.
    /// As [`try_recv`](Self::try_recv); an attached endpoint keeps its id up.
    pub(in crate::channel) fn take(&self, place: &mut Option<T>) -> Result<(), TryRecvError> {
        let meeting = self.side.0;
        if meeting.is_deserted(false) {
            return Err(TryRecvError::Empty);
        }
        let mut lines = meeting.lock();
        let found = meeting.take(&mut lines, place);
        drop(lines);
        match found {
            Encounter::Peer(met) => {
                // Wakers are user code.
                let mut panics = Panics::none();
                panics.catch(|| woken(met));
                panics.catch(|| self.pass_on());
                Ok(())
            }
            Encounter::Nobody => Err(TryRecvError::Empty),
            Encounter::Closed => Err(TryRecvError::Disconnected),
        }
    }

    // MUTANT: Speed only: the slow path registers, waits for no time and leaves.
    /// Takes the message of a sender; waits for one until the deadline.
    pub(in crate::channel) fn recv(
        &self,
        place: &mut Option<T>,
        deadline: Deadline,
        backoff: &mut Backoff,
    ) -> Result<(), RecvTimeoutError> {
        match self.take(place) {
            Ok(()) => return Ok(()),
            Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) if deadline.is_over() => return Err(RecvTimeoutError::Timeout),
            Err(TryRecvError::Empty) => {}
        }
        let owed = self.disarm();
        let ticket = Arc::new(Ticket::for_thread());
        let outcome = match Stand::receive_to(self.side, &ticket, 0, place, true) {
            Ok(Some(stand)) => {
                stand.sleep(backoff, deadline);
                match (stand.leave_to(place), place.is_some()) {
                    (_, true) => Ok(()),
                    (Some(_), false) => Err(RecvTimeoutError::Disconnected),
                    (None, false) => Err(RecvTimeoutError::Timeout),
                }
            }
            Ok(None) => Ok(()),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        };
        // Passing a notification on is user code.
        Panics::in_drop(|| drop(owed));
        outcome
    }

    /// Not an `async fn`, with a place for the message: that would make the future as large as one.
    pub(in crate::channel) fn recv_async(&self) -> impl Future<Output = Result<T, RecvError>> {
        let mut line = None;
        poll_fn(move |context| {
            let mut place = Foreign::none();
            match self.poll_in_line(&mut line, context, &mut place) {
                Poll::Ready(outcome) => Poll::Ready(error::received(outcome, &mut place)),
                Poll::Pending => Poll::Pending,
            }
        })
    }

    /// Takes the message of a sender; the task waits for one in `line`.
    #[allow(clippy::type_complexity)] // What is dropped when the wait ends, in this order.
    fn poll_in_line(
        &self,
        line: &mut Option<(Stand<'a, T, false>, TaskTicket, Owed<MeetingSide<'a, T, false>>)>,
        context: &mut Context<'_>,
        place: &mut Option<T>,
    ) -> Poll<Result<(), RecvError>> {
        if line.is_none() {
            match self.take(place) {
                Ok(()) => return Poll::Ready(Ok(())),
                Err(TryRecvError::Disconnected) => return Poll::Ready(Err(RecvError)),
                Err(TryRecvError::Empty) => {}
            }
            let owed = self.disarm();
            let task = TaskTicket(Arc::new(Ticket::for_task()));
            match Stand::receive_to(self.side, &task.0, 0, place, true)? {
                Some(stand) => *line = Some((stand, task, owed)),
                None => {
                    // As below.
                    Panics::in_drop(|| drop((task, owed)));
                    return Poll::Ready(Ok(()));
                }
            }
        }
        if line.as_ref().is_some_and(|(stand, ..)| stand.poll(context).is_pending()) {
            return Poll::Pending;
        }
        if let Some((stand, task, owed)) = line.take() {
            stand.leave_to(place);
            // The drop of the wait is user code.
            Panics::in_drop(|| drop((task, owed)));
        }
        Poll::Ready(if place.is_some() { Ok(()) } else { Err(RecvError) })
    }

    /// Waits for one sender, then takes the messages of waiting senders, at most `most`, which is not 0.
    pub(in crate::channel) fn recv_batch(
        &self,
        to: &mut Vec<T>,
        most: usize,
        backoff: &mut Backoff,
    ) -> Result<usize, RecvError> {
        let mut place = Foreign::none();
        self.recv(&mut place, Deadline::Never, backoff).map_err(|_| RecvError)?;
        to.push(place.take_out());
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
        let mut place = Foreign::none();
        self.try_recv(&mut place)?;
        to.push(place.take_out());
        Ok(1 + self.take_more(to, most - 1))
    }

    /// At most the messages of the senders that wait now: otherwise it might never return.
    fn take_more(&self, to: &mut Vec<T>, most: usize) -> usize {
        let (there, before) = (self.side.supply().min(most), to.len());
        let mut place = Foreign::none();
        to.extend((0..there).map_while(|_| self.take(&mut place).ok().map(|()| place.take_out())));
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

/// Polls a receiver that only wants to be notified.
pub(in crate::channel) fn poll_message<T>(
    side: MeetingSide<'_, T, false>,
    subscriptions: &mut Subscriptions,
    is_notified: bool,
    context: &mut Context<'_>,
) -> Poll<Result<T, RecvError>> {
    let mut place = Foreign::none();
    let look = || match Party::<T, false>::new(side.0, None).take(&mut place) {
        Err(TryRecvError::Empty) => None,
        outcome => Some(outcome.map_err(|_| RecvError)),
    };
    poll(side, subscriptions, is_notified, context, look).map(|outcome| error::received(outcome, &mut place))
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
