//! All operations of a rendezvous endpoint: written once for every kind of channel. Any thread, except for polling.
//! [`Party`] knows the type of the messages, and makes places of it. [`AnyParty`] does the work.
//!
//! `try_send` and `try_recv` take the lock of the rendezvous only where an endpoint of the other side seems to wait.

use core::future::{Future, poll_fn};
use core::marker::PhantomData;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};

use super::meeting::{Encounter, Meeting, MeetingOf, MeetingSide, MessageFrom};
use super::node::LentPlace;
use super::operations::Operations;
use super::outlined::Outlined;
use super::ticket::Ticket;
use super::wait::{LineSlot, Stand, woken};
use crate::channel::error::{
    self, RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
use crate::foreign::{Foreign, Lent, Panics};
use crate::operation::limit::{self, Limit};
use crate::os::Deadline;
use crate::sync::Arc;
use crate::wait::many::{Owed, SharedEnd, propagate};
use crate::wait::{Backoff, Subscriptions};

/// One endpoint, as it is borrowed for an operation: a sender with `SENDS`, otherwise a receiver.
pub(in crate::channel) struct Party<'a, T, const SENDS: bool> {
    any: AnyParty<'a>,
    of: PhantomData<&'a MeetingOf<T>>,
}

impl<'a, T, const SENDS: bool> Party<'a, T, SENDS> {
    pub(in crate::channel) fn new(meeting: &'a MeetingOf<T>, subscriptions: Option<&'a Subscriptions>) -> Self {
        // SAFETY: the rendezvous is one of `T`.
        unsafe { Self::of(AnyParty { meeting, subscriptions, sends: SENDS, has_ended: false }) }
    }

    /// # Safety
    /// The endpoint is of a rendezvous of `T`, and on this side of it.
    #[inline]
    pub(super) unsafe fn of(any: AnyParty<'a>) -> Self {
        Self { any, of: PhantomData }
    }

    #[inline]
    pub(in crate::channel) fn any(&self) -> AnyParty<'a> {
        self.any
    }

    pub(super) fn operations(&self) -> &'static Operations {
        self.any.meeting.operations
    }

    /// For this endpoint alone.
    pub(super) fn place<'p>(&self, place: &'p mut Option<T>) -> LentPlace<'p> {
        // SAFETY: the endpoint is of a rendezvous of `T`.
        unsafe { LentPlace::new(place) }
    }

    pub(in crate::channel) fn side(&self) -> MeetingSide<'a> {
        self.any.side()
    }
}

impl<T> Party<'_, T, true> {
    /// Hands the message that is in `place` to a receiver that waits. After an error it is still there; so in all that
    /// sends.
    pub(in crate::channel) fn try_send(&self, place: &mut Option<T>) -> Result<(), TrySendError<()>> {
        (self.operations().try_send)(&self.any, &mut self.place(place))
    }

    /// Hands the message that is in `place` to a receiver; waits for one until the deadline.
    pub(in crate::channel) fn send(
        &self,
        place: &mut Option<T>,
        deadline: Deadline,
        backoff: &mut Backoff,
    ) -> Result<(), SendTimeoutError<()>> {
        (self.operations().send)(&self.any, &mut self.place(place), deadline, backoff)
    }

    /// Hands the message that is in `place` to a receiver; the task waits for one.
    pub(in crate::channel) fn send_async(
        &self,
        place: &mut Option<T>,
    ) -> impl Future<Output = Result<(), SendError<()>>> {
        let mut wait = Outlined::new(LineWait::new(self.side()));
        poll_fn(move |context| (self.operations().poll_send)(&self.any, &mut wait, context, &mut self.place(place)))
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
        let mut wait = Outlined::new(LineWait::new(self.side()));
        let begun = (self.operations().begin_send)(&self.any, &mut wait, &mut self.place(place));
        let outcome = match begun {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => {
                poll_fn(|context| match (self.operations().poll_wait)(&wait, context) {
                    Poll::Ready(()) => Poll::Ready(()),
                    Poll::Pending => Pin::new(&mut stop).poll(context),
                })
                .await;
                (self.operations().end_send)(&mut wait, &mut self.place(place))
            }
        };
        limit::answer_behind(outcome, wait, stop)
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
}

impl<'a, T> Party<'a, T, false> {
    /// Takes the message of a sender that waits to `place`, which is empty; so in all that receives.
    pub(in crate::channel) fn try_recv(&self, place: &mut Option<T>) -> Result<(), TryRecvError> {
        (self.operations().try_recv)(&self.any, &mut self.place(place))
    }

    /// Takes the message of a sender; waits for one until the deadline.
    pub(in crate::channel) fn recv(
        &self,
        place: &mut Option<T>,
        deadline: Deadline,
        backoff: &mut Backoff,
    ) -> Result<(), RecvTimeoutError> {
        (self.operations().recv)(&self.any, &mut self.place(place), deadline, backoff)
    }

    /// Not an `async fn`, with a place for the message: that would make the future as large as one.
    pub(in crate::channel) fn recv_async(&self) -> impl Future<Output = Result<T, RecvError>> {
        let mut wait = Outlined::new(LineWait::new(self.side()));
        poll_fn(move |context| {
            let mut place = Foreign::none();
            match (self.operations().poll_recv)(&self.any, &mut wait, context, &mut self.place(&mut place)) {
                Poll::Ready(outcome) => Poll::Ready(error::received(outcome, &mut place)),
                Poll::Pending => Poll::Pending,
            }
        })
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
    pub(super) fn take_more(&self, to: &mut Vec<T>, most: usize) -> usize {
        let (there, before) = (self.side().supply().min(most), to.len());
        let mut place = Foreign::none();
        for _ in 0..there {
            if (self.operations().take)(&self.any, &mut self.place(&mut place)).is_err() {
                break;
            }
            to.push(place.take_out());
        }
        to.len() - before
    }
}

/// One endpoint, as [`Party`], without the type of the messages.
#[derive(Clone, Copy)]
pub(in crate::channel) struct AnyParty<'a> {
    pub(super) meeting: &'a Meeting,
    /// The endpoint's slots, if it has any: in its set, and for the task that polled it.
    pub(super) subscriptions: Option<&'a Subscriptions>,
    pub(super) sends: bool,
    /// A sender that has been closed: it finds the rendezvous so.
    pub(super) has_ended: bool,
}

impl<'a> AnyParty<'a> {
    #[inline]
    pub(in crate::channel) fn side(&self) -> MeetingSide<'a> {
        MeetingSide { meeting: self.meeting, sends: self.sends }
    }

    /// Before this endpoint waits as a thread or a future: disarms its other slots. A notification that one of them has
    /// got is passed on when the guard is dropped.
    pub(super) fn disarm(&self) -> Owed<MeetingSide<'a>> {
        Owed { end: self.side(), is_notified: self.disarm_slots() }
    }

    /// As [`disarm`](Self::disarm). True: the caller passes a notification on.
    pub(in crate::channel) fn disarm_slots(&self) -> bool {
        self.subscriptions.is_some_and(|subscriptions| subscriptions.disarm_all(self.side()))
    }

    /// An attached endpoint has found no match: takes its id down, and checks once more.
    fn rest(&self) -> bool {
        self.subscriptions.is_some_and(|subscriptions| subscriptions.rest(self.side()))
    }

    // MUTANT: An extra notification is harmless. Killed only by
    // `a_receiver_that_was_called_twice_tells_the_next_of_what_it_leaves`.
    /// An endpoint that may have been notified has found its match: notifies the next, if there is more.
    fn pass_on(&self) {
        if self.subscriptions.is_some() {
            propagate(self.side());
        }
    }

    // MUTANT: Speed only: one more attempt, or one less: an endpoint that came meanwhile has raised the id again.
    /// Hands the message that is in `place` to a receiver that waits. After an error it is still there; so in all that
    /// sends.
    pub(super) fn try_send(&self, place: &mut LentPlace<'_>) -> Result<(), TrySendError<()>> {
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
    pub(in crate::channel) fn give(&self, place: &mut LentPlace<'_>) -> Result<(), TrySendError<()>> {
        let meeting = self.meeting;
        if self.has_ended {
            return Err(TrySendError::Disconnected(()));
        }
        if meeting.is_deserted(true) {
            return Err(TrySendError::Full(()));
        }
        let mut lines = meeting.lock();
        let met = meeting.give(&mut lines, MessageFrom::Place(place))?;
        drop(lines);
        // There is nothing to pass on: a sender is never notified of more receivers than it can serve.
        met.wake();
        Ok(())
    }

    // MUTANT: Speed only: the slow path registers, waits for no time and leaves.
    /// Hands the message that is in `place` to a receiver; waits for one until the deadline.
    pub(super) fn send(
        &self,
        place: &mut LentPlace<'_>,
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
        let outcome = match LineSlot::send_from(self.side(), &ticket, 0, place, true) {
            Ok(Some(slot)) => match Stand::new(self.side(), slot).sleep(backoff, deadline) {
                Some(slot) => slot.outcome(self.side(), place),
                None => Ok(()),
            },
            Ok(None) => Ok(()),
            Err(_) => Err(SendTimeoutError::Disconnected(())),
        };
        // Passing a notification on is user code.
        Panics::in_drop(|| drop(owed));
        outcome
    }

    /// Hands the message that is in `place` to a receiver, or registers the task's wait for one.
    pub(super) fn begin_send(
        &self,
        wait: &mut LineWait<'a>,
        place: &mut LentPlace<'_>,
    ) -> Poll<Result<(), SendTimeoutError<()>>> {
        match self.give(place) {
            Ok(()) => return Poll::Ready(Ok(())),
            Err(TrySendError::Disconnected(())) => return Poll::Ready(Err(SendTimeoutError::Disconnected(()))),
            Err(TrySendError::Full(())) => {}
        }
        match LineSlot::send_from(self.side(), wait.begin(self), 0, place, true) {
            Ok(Some(slot)) => wait.slot = Some(slot),
            Ok(None) => return Poll::Ready(Ok(())),
            Err(_) => return Poll::Ready(Err(SendTimeoutError::Disconnected(()))),
        }
        Poll::Pending
    }

    // MUTANT: Speed only: one more attempt, or one less: an endpoint that came meanwhile has raised the id again.
    /// Takes the message of a sender that waits to `place`, which is empty; so in all that receives.
    pub(super) fn try_recv(&self, place: &mut LentPlace<'_>) -> Result<(), TryRecvError> {
        match self.take(place) {
            Err(TryRecvError::Empty) if self.rest() => self.take(place),
            outcome => outcome,
        }
    }

    // MUTANT: Speed only: one more attempt, or one less. A sender has no notification left to pass on. Killed only by
    // `a_receiver_that_was_called_twice_tells_the_next_of_what_it_leaves`.
    /// As [`try_recv`](Self::try_recv); an attached endpoint keeps its id up.
    pub(in crate::channel) fn take(&self, place: &mut LentPlace<'_>) -> Result<(), TryRecvError> {
        let meeting = self.meeting;
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
    pub(super) fn recv(
        &self,
        place: &mut LentPlace<'_>,
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
        let outcome = match LineSlot::receive_to(self.side(), &ticket, 0, place, true) {
            Ok(Some(slot)) => {
                let slot = Stand::new(self.side(), slot).sleep(backoff, deadline);
                match (slot.and_then(|slot| slot.leave_to(self.side(), place)), place.is_some()) {
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

    /// Hands the message that is in `place` to a receiver; the task waits for one.
    pub(super) fn poll_send(
        &self,
        wait: &mut LineWait<'a>,
        context: &mut Context<'_>,
        place: &mut LentPlace<'_>,
    ) -> Poll<Result<(), SendError<()>>> {
        let begun = if wait.slot.is_none() { self.begin_send(wait, place) } else { Poll::Pending };
        let outcome = match begun {
            Poll::Ready(outcome) => outcome,
            Poll::Pending if wait.poll(context).is_pending() => return Poll::Pending,
            Poll::Pending => wait.end_send(place),
        };
        // The drop of the wait is user code.
        Panics::in_drop(|| wait.end());
        Poll::Ready(outcome.map_err(|_| SendError(())))
    }

    /// Takes the message of a sender; the task waits for one.
    pub(super) fn poll_recv(
        &self,
        wait: &mut LineWait<'a>,
        context: &mut Context<'_>,
        place: &mut LentPlace<'_>,
    ) -> Poll<Result<(), RecvError>> {
        let begun = if wait.slot.is_none() { self.begin_recv(wait, place) } else { Poll::Pending };
        let outcome = match begun {
            Poll::Ready(outcome) => outcome,
            Poll::Pending if wait.poll(context).is_pending() => return Poll::Pending,
            Poll::Pending => wait.end_recv(place).map_err(|_| RecvError),
        };
        // The drop of the wait is user code.
        Panics::in_drop(|| wait.end());
        Poll::Ready(outcome)
    }

    /// Takes the message of a sender to `place`, or registers in line for one.
    pub(super) fn begin_recv(&self, wait: &mut LineWait<'a>, place: &mut LentPlace<'_>) -> Poll<Result<(), RecvError>> {
        match self.take(place) {
            Ok(()) => return Poll::Ready(Ok(())),
            Err(TryRecvError::Disconnected) => return Poll::Ready(Err(RecvError)),
            Err(TryRecvError::Empty) => {}
        }
        match LineSlot::receive_to(self.side(), wait.begin(self), 0, place, true) {
            Ok(Some(slot)) => wait.slot = Some(slot),
            ended => return Poll::Ready(ended.map(drop)),
        }
        Poll::Pending
    }
}

/// A wait of a task. When it ends, it leaves its line, its task is forgotten, and a notification of another slot is
/// passed on, in this order.
pub(super) struct LineWait<'a> {
    pub(super) side: MeetingSide<'a>,
    slot: Option<LineSlot>,
    task: Option<Arc<Ticket>>,
    is_notified: bool,
    /// Of a thread that sleeps.
    is_thread: bool,
}

impl<'a> LineWait<'a> {
    pub(super) fn new(side: MeetingSide<'a>) -> Self {
        Self::of(side, false)
    }

    pub(super) fn of(side: MeetingSide<'a>, is_thread: bool) -> Self {
        Self { side, slot: None, task: None, is_notified: false, is_thread }
    }

    #[inline]
    pub(super) fn is_in_line(&self) -> bool {
        self.slot.is_some()
    }

    /// The claim, for a registration in line.
    fn begin(&mut self, party: &AnyParty<'a>) -> &Arc<Ticket> {
        self.is_notified |= party.disarm_slots();
        self.task.insert(Arc::new(if self.is_thread { Ticket::for_thread() } else { Ticket::for_task() }))
    }

    /// Blocks the thread until its registration is over, or the deadline has passed.
    pub(super) fn block(&self, backoff: &mut Backoff, deadline: Deadline) {
        if let Some(slot) = &self.slot {
            slot.sleep(self.side, backoff, deadline);
        }
    }

    pub(super) fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        match &self.slot {
            Some(slot) => slot.poll(self.side, context),
            None => Poll::Ready(()),
        }
    }

    /// Of a sender: see [`LineSlot::outcome`].
    pub(super) fn end_send(&mut self, place: &mut LentPlace<'_>) -> Result<(), SendTimeoutError<()>> {
        self.slot.take().map_or(Ok(()), |slot| slot.outcome(self.side, place))
    }

    /// Of a receiver: leaves its line. `place`, which is empty, gets the message that it was handed.
    pub(super) fn end_recv(&mut self, place: &mut LentPlace<'_>) -> Result<(), RecvTimeoutError> {
        let met = self.slot.take().and_then(|slot| slot.leave_to(self.side, place));
        match (met, place.is_some()) {
            (_, true) => Ok(()),
            (Some(_), false) => Err(RecvTimeoutError::Disconnected),
            (None, false) => Err(RecvTimeoutError::Timeout),
        }
    }

    // USER CODE: `Drop` of the waker of a future, whose registration has left its line, then the waker of another
    //     endpoint of this side; re-entrance: any operation; panic: the notification is passed on, then it propagates;
    //     by construction: the notification has a guard of its own
    /// After it has left its line.
    fn end(&mut self) {
        let _owed = Owed { end: self.side, is_notified: core::mem::take(&mut self.is_notified) };
        if let Some(task) = self.task.take() {
            drop(task.forget());
        }
    }
}

// USER CODE: as of `LineSlot::leave` and `end`; panic: both are done, then it propagates; by construction
impl Drop for LineWait<'_> {
    // MUTANT: Killed only by `a_waker_that_clings_to_a_place_in_line_is_no_second_panic`.
    #[inline]
    fn drop(&mut self) {
        if self.task.is_none() {
            return;
        }
        let mut panics = Panics::none();
        if let Some(slot) = self.slot.take() {
            panics.catch(|| slot.leave(self.side));
        }
        panics.catch(|| self.end());
    }
}

/// Polls a receiver that only wants to be notified.
pub(in crate::channel) fn poll_message<T>(
    meeting: &MeetingOf<T>,
    subscriptions: &mut Subscriptions,
    is_notified: bool,
    context: &mut Context<'_>,
) -> Poll<Result<T, RecvError>> {
    let mut place = Foreign::none();
    // SAFETY: the rendezvous is one of `T`.
    let place_lent = &mut unsafe { LentPlace::new(&mut place) };
    let polled = (meeting.operations.poll_place)(meeting, subscriptions, is_notified, context, place_lent);
    polled.map(|outcome| error::received(outcome, &mut place))
}

/// As [`poll_message`], of any type of messages.
pub(super) fn poll_place(
    meeting: &Meeting,
    subscriptions: &mut Subscriptions,
    is_notified: bool,
    context: &mut Context<'_>,
    place: &mut LentPlace<'_>,
) -> Poll<Result<(), RecvError>> {
    let party = AnyParty { meeting, subscriptions: None, sends: false, has_ended: false };
    let look = &mut || match party.take(place) {
        Err(TryRecvError::Empty) => None,
        outcome => Some(outcome.map_err(|_| RecvError)),
    };
    poll(party.side(), subscriptions, is_notified, context, look)
}

// MUTANT: Speed only: one more attempt, or one less: an endpoint that came meanwhile has raised the id again.
/// Polls an endpoint that only wants to be notified: ready once `look` finds something. `is_notified`: one of its slots
/// has been notified before.
pub(in crate::channel) fn poll<R>(
    side: impl SharedEnd,
    subscriptions: &mut Subscriptions,
    is_notified: bool,
    context: &mut Context<'_>,
    look: &mut dyn FnMut() -> Option<R>,
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
