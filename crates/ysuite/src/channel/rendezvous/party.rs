//! All operations of a rendezvous endpoint: written once for every kind of channel. Any thread, except for polling.
//! [`Party`] knows the type of the messages, and makes places of it. [`AnyParty`] does the work.
//!
//! `try_send` and `try_recv` take the lock of the rendezvous only where an endpoint of the other side seems to wait.

use core::marker::PhantomData;
use core::task::{Context, Poll};

use super::line_wait::{Closed, Exchanged};
use super::meeting::{Encounter, Meeting, MeetingOf, MeetingSide, woken};
use super::node::LentPlace;
use super::operations::Operations;
use crate::channel::error::{
    self, RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
use crate::foreign::{Foreign, Lent, Panics};
use crate::os::Deadline;
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

    fn operations(&self) -> &'static Operations {
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
        let outcome = (self.operations().try_exchange)(&self.any, &mut self.place(place));
        outcome.map_or(Err(TrySendError::Full(())), |outcome| Ok(outcome?))
    }

    /// Hands the message that is in `place` to a receiver; waits for one until the deadline.
    pub(in crate::channel) fn send(
        &self,
        place: &mut Option<T>,
        deadline: Deadline,
        backoff: &mut Backoff,
    ) -> Result<(), SendTimeoutError<()>> {
        let outcome = (self.operations().block)(&self.any, &mut self.place(place), deadline, backoff);
        outcome.map_or(Err(SendTimeoutError::Timeout(())), |outcome| Ok(outcome.map_err(SendError::from)?))
    }
}

impl<'a, T> Party<'a, T, false> {
    /// Takes the message of a sender that waits to `place`, which is empty; so in all that receives.
    pub(in crate::channel) fn try_recv(&self, place: &mut Option<T>) -> Result<(), TryRecvError> {
        let outcome = (self.operations().try_exchange)(&self.any, &mut self.place(place));
        outcome.map_or(Err(TryRecvError::Empty), |outcome| Ok(outcome?))
    }

    /// Takes the message of a sender; waits for one until the deadline.
    pub(in crate::channel) fn recv(
        &self,
        place: &mut Option<T>,
        deadline: Deadline,
        backoff: &mut Backoff,
    ) -> Result<(), RecvTimeoutError> {
        let outcome = (self.operations().block)(&self.any, &mut self.place(place), deadline, backoff);
        outcome.map_or(Err(RecvTimeoutError::Timeout), |outcome| Ok(outcome.map_err(RecvError::from)?))
    }

    /// Waits for one sender, then takes the messages of waiting senders for which there is room.
    pub(in crate::channel) fn recv_into<P>(&self, to: &mut P, backoff: &mut Backoff) -> Result<(), RecvError>
    where
        P: super::ExchangePlace<T, false>,
    {
        self.recv(to.next(), Deadline::Never, backoff).map_err(|_| RecvError)?;
        to.fetch(self);
        Ok(())
    }

    /// Takes the messages of waiting senders, at most `most`, which is not 0.
    pub(in crate::channel) fn try_recv_batch(&self, to: &mut Vec<T>, most: usize) -> Result<usize, TryRecvError> {
        let mut place = Foreign::none();
        self.try_recv(&mut place)?;
        to.push(place.take_out());
        Ok(1 + self.take_more(to, most - 1))
    }

    /// At most the messages of the senders that wait now: otherwise it might never return.
    pub(in crate::channel) fn take_more(&self, to: &mut Vec<T>, most: usize) -> usize {
        let (there, before) = (self.side().supply().min(most), to.len());
        let mut place = Foreign::none();
        for _ in 0..there {
            let Some(Ok(())) = (self.operations().exchange)(&self.any, &mut self.place(&mut place)) else { break };
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
    pub(in crate::channel) sends: bool,
    /// A sender that has been closed: it finds the rendezvous so.
    pub(super) has_ended: bool,
}

impl<'a> AnyParty<'a> {
    #[inline]
    pub(in crate::channel) fn side(&self) -> MeetingSide<'a> {
        MeetingSide { meeting: self.meeting, sends: self.sends }
    }

    /// Before this endpoint waits as a task: disarms its other slots. A notification that one of them has got is passed on
    /// when the guard is dropped.
    #[cfg(feature = "futures")]
    pub(super) fn disarm(&self) -> Owed<MeetingSide<'a>> {
        Owed { end: self.side(), is_notified: self.disarm_slots() }
    }

    /// Before this endpoint waits: disarms its other slots. True: one of them was notified, and the caller passes that on.
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
    /// As [`exchange`](Self::exchange); an attached endpoint that finds nobody takes its id down.
    pub(super) fn try_exchange(&self, place: &mut LentPlace<'_>) -> Option<Exchanged> {
        let outcome = self.exchange(place);
        if outcome.is_some() {
            return outcome.inspect(|outcome| self.tell(outcome));
        }
        let mut found = false;
        // The waker that this notifies in its place is user code.
        Panics::in_drop(|| found = self.rest());
        if found { self.exchange(place).inspect(|outcome| self.tell(outcome)) } else { None }
    }

    /// An attached endpoint tells that the rendezvous is closed.
    fn tell(&self, outcome: &Exchanged) {
        if let (Err(Closed), Some(subscriptions)) = (outcome, self.subscriptions) {
            subscriptions.with_registration(self.side(), &mut |registration| registration.tell_end());
        }
    }

    // USER CODE: the waker of the peer's task, by `wake` of `channel/rendezvous/ticket.rs`; so also in `poll`, and in
    //     `join` and `look` of `channel/rendezvous/wait.rs`. The message has changed hands, the lock is free;
    //     re-entrance: any operation; panic: propagates; a received message is dropped with the call; test:
    //     tests/suite/rendezvous/foreign.rs: a_waker_that_panics_leaves_the_handover_done,
    //     tests/suite/rendezvous/foreign.rs: a_waker_may_use_the_channel, tests/suite/rendezvous/foreign.rs:
    //     a_receiver_whose_passing_on_panics_leaks_no_message
    // MUTANT: Speed only: an early exit; the line decides under the lock. A sender has no notification left to pass on.
    // Killed only by `one_mpsc_sender_closes_and_the_others_go_on`, `a_receivers_waker_may_send_to_the_next` and
    // `a_receiver_that_was_called_twice_tells_the_next_of_what_it_leaves`.
    /// Hands the message that is in `place` to a receiver that waits, or takes that of a sender to it. `None`: nobody
    /// waits. An attached endpoint keeps its id up. A message that was not handed over is still in its place.
    pub(in crate::channel) fn exchange(&self, place: &mut LentPlace<'_>) -> Option<Exchanged> {
        let meeting = self.meeting;
        if self.has_ended {
            return Some(Err(Closed));
        }
        if meeting.is_deserted(self.sends) {
            return None;
        }
        let mut lines = meeting.lock();
        let found = meeting.exchange(&mut lines, self.sends, place);
        drop(lines);
        match found {
            // There is nothing to pass on: a sender is never notified of more receivers than it can serve.
            Encounter::Peer(met) if self.sends => woken(met),
            Encounter::Peer(met) => {
                // Wakers are user code.
                let mut panics = Panics::none();
                panics.catch(|| woken(met));
                panics.catch(|| self.pass_on());
            }
            Encounter::Nobody => return None,
            Encounter::Closed => return Some(Err(Closed)),
        }
        Some(Ok(()))
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
    let look = &mut || party.exchange(place).map(|outcome| outcome.map_err(RecvError::from));
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
