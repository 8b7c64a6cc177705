//! How an endpoint of a rendezvous waits for its counterpart: one [operation](crate::operation) for both sides, for
//! threads and tasks. [`LineWait`] does the work, without the type of the messages. [`Lining`] knows the type, and calls
//! it by the table of the rendezvous. The endpoint's own thread or task.
//!
//! Its first attempt looks at the other line. After the first [`block`](LineWait::block) or [`poll`](LineWait::wait) the
//! next attempt registers in line, with the message or for one. Later attempts find how that has ended.

use core::marker::PhantomData;
use core::task::{Context, Poll, ready};

use super::meeting::MeetingOf;
use super::node::LentPlace;
use super::outlined::Outlined;
use super::party::{AnyParty, Party};
use super::ticket::Ticket;
use super::wait::LineSlot;
use crate::channel::error::{RecvError, SendError, TryRecvError, TrySendError};
use crate::foreign::Panics;
use crate::operation::{self, Operation};
use crate::os::Deadline;
use crate::sync::Arc;
use crate::wait::Backoff;
use crate::wait::many::Owed;

/// The other side is disconnected, or the rendezvous is closed.
pub(in crate::channel) struct Closed;

/// How a send or a receive has ended.
pub(in crate::channel) type Exchanged = Result<(), Closed>;

impl From<Closed> for SendError<()> {
    fn from(_: Closed) -> Self {
        Self(())
    }
}

impl From<Closed> for RecvError {
    fn from(_: Closed) -> Self {
        Self
    }
}

impl From<Closed> for TrySendError<()> {
    fn from(_: Closed) -> Self {
        Self::Disconnected(())
    }
}

impl From<Closed> for TryRecvError {
    fn from(_: Closed) -> Self {
        Self::Disconnected
    }
}

/// A wait of an endpoint. When it ends, it leaves its line, its task is forgotten, and a notification of another slot is
/// passed on, in this order.
pub(super) struct LineWait<'a> {
    pub(super) party: AnyParty<'a>,
    slot: Option<LineSlot>,
    /// Once it is to register in line: its claim.
    ticket: Option<Arc<Ticket>>,
    is_notified: bool,
}

impl<'a> LineWait<'a> {
    #[inline]
    fn new(party: AnyParty<'a>) -> Self {
        Self { party, slot: None, ticket: None, is_notified: false }
    }

    pub(super) fn attempt(&mut self, place: &mut LentPlace<'_>) -> Option<Exchanged> {
        match (&self.slot, &self.ticket) {
            (Some(slot), _) if !slot.is_met() => None,
            (Some(_), _) => self.withdraw(place),
            (None, None) => self.party.exchange(place),
            (None, Some(ticket)) => match self.party.stand(ticket, 0, place, true) {
                Ok(Some(slot)) => {
                    self.slot = Some(slot);
                    None
                }
                Ok(None) => Some(Ok(())),
                Err(closed) => Some(Err(closed)),
            },
        }
    }

    /// Leaves the line. `None`: no message has changed hands, and the rendezvous is not closed. A message that was to be
    /// sent is in `place`, unless it was.
    pub(super) fn withdraw(&mut self, place: &mut LentPlace<'_>) -> Option<Exchanged> {
        let met = self.slot.take()?.leave_to(self.party.side(), place);
        if place.is_some() == self.party.sends { met.map(|_| Err(Closed)) } else { Some(Ok(())) }
    }

    /// As [`Operation::block`].
    pub(super) fn block(&mut self, deadline: Deadline, backoff: &mut Backoff) -> bool {
        match &self.slot {
            Some(slot) => slot.sleep(self.party.side(), backoff, deadline),
            None if deadline.is_over() => false,
            None => {
                self.begin(Ticket::for_thread());
                true
            }
        }
    }

    /// As [`Operation::poll`].
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match &self.slot {
            Some(slot) => slot.poll(self.party.side(), context),
            None => {
                self.begin(Ticket::for_task());
                Poll::Ready(())
            }
        }
    }

    /// As [`Operation::step`].
    pub(super) fn step(&mut self, place: &mut LentPlace<'_>, context: &mut Context<'_>) -> Poll<Exchanged> {
        loop {
            ready!(self.poll(context));
            if let Some(outcome) = self.attempt(place) {
                return Poll::Ready(outcome);
            }
        }
    }

    /// The next attempt registers with this claim.
    fn begin(&mut self, ticket: Ticket) {
        self.is_notified |= self.party.disarm_slots();
        self.ticket = Some(Arc::new(ticket));
    }

    // USER CODE: `Drop` of the waker of a future, whose registration has left its line, then the waker of another
    //     endpoint of this side; re-entrance: any operation; panic: the notification is passed on, then it propagates;
    //     by construction: the notification has a guard of its own
    /// After it has left its line.
    fn end(&mut self) {
        let _owed = Owed { end: self.party.side(), is_notified: core::mem::take(&mut self.is_notified) };
        if let Some(ticket) = self.ticket.take() {
            drop(ticket.forget());
        }
    }

    // USER CODE: as of `LineSlot::leave` and `end`; panic: both are done, then it propagates; by construction
    // MUTANT: Killed only by `a_waker_that_clings_to_a_place_in_line_is_no_second_panic`.
    /// Ends the wait. A message in line that was to be sent is dropped; one that was received goes to another receiver.
    pub(super) fn leave(&mut self) {
        if self.ticket.is_none() {
            return;
        }
        let Some(slot) = self.slot.take() else { return self.end() };
        let mut panics = Panics::none();
        panics.catch(|| slot.leave(self.party.side()));
        panics.catch(|| self.end());
    }
}

// USER CODE: as of `leave`
impl Drop for LineWait<'_> {
    #[inline]
    fn drop(&mut self) {
        self.leave();
    }
}

/// The wait of a thread, with what it has learned about spinning.
struct ThreadWait<'a, 'b, P> {
    wait: LineWait<'a>,
    backoff: &'b mut Backoff,
    place: PhantomData<fn(&mut P)>,
}

impl<'p> Operation for ThreadWait<'_, '_, LentPlace<'p>> {
    type Place = LentPlace<'p>;
    type Outcome = Exchanged;

    fn attempt(&mut self, place: &mut LentPlace<'p>) -> Option<Exchanged> {
        self.wait.attempt(place)
    }

    fn block(&mut self, deadline: Deadline) -> bool {
        self.wait.block(deadline, self.backoff)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.wait.poll(context)
    }

    fn withdraw(&mut self, place: &mut LentPlace<'p>) -> Option<Exchanged> {
        self.wait.withdraw(place)
    }

    fn leave(&mut self) {
        self.wait.leave();
    }
}

impl AnyParty<'_> {
    /// Exchanges a message; blocks the thread until there is a counterpart. `None`: the deadline has passed.
    pub(super) fn block(
        &self,
        place: &mut LentPlace<'_>,
        deadline: Deadline,
        backoff: &mut Backoff,
    ) -> Option<Exchanged> {
        operation::block(ThreadWait { wait: LineWait::new(*self), backoff, place: PhantomData }, place, deadline)
    }

    /// As [`exchange`](Self::exchange) (`None`), or registers in line.
    pub(in crate::channel) fn stand(
        &self,
        ticket: &Arc<Ticket>,
        case: u32,
        place: &mut LentPlace<'_>,
        opens: bool,
    ) -> Result<Option<LineSlot>, Closed> {
        if self.has_ended { Err(Closed) } else { LineSlot::join(self.side(), ticket, case, place, opens) }
    }
}

/// The operation of a sender with `SENDS`, otherwise of a receiver.
pub(in crate::channel) struct Lining<'a, T, const SENDS: bool> {
    wait: Outlined<LineWait<'a>>,
    of: PhantomData<&'a MeetingOf<T>>,
}

impl<'a, T, const SENDS: bool> Lining<'a, T, SENDS> {
    #[inline]
    pub(in crate::channel) fn new(party: &Party<'a, T, SENDS>) -> Self {
        Self { wait: Outlined::new(LineWait::new(party.any())), of: PhantomData }
    }

    pub(in crate::channel) fn party(&self) -> Party<'a, T, SENDS> {
        // SAFETY: it was made of such a party.
        unsafe { Party::of(self.wait.party) }
    }

    /// Whether its message, or the place for one, is in line.
    pub(in crate::channel) fn is_in_line(&self) -> bool {
        self.wait.slot.is_some()
    }

    /// Before it waits: an attempt.
    pub(in crate::channel) fn attempt_first(&mut self, place: &mut Option<T>) -> Option<Exchanged> {
        if self.wait.ticket.is_none() { self.attempt(place) } else { None }
    }

    /// For another message, after one has been exchanged.
    pub(in crate::channel) fn renew(&mut self) {
        *self = Self::new(&self.party());
    }

    /// As [`Operation::block`], with a memory of how to wait.
    pub(in crate::channel) fn block_by(&mut self, deadline: Deadline, backoff: &mut Backoff) -> bool {
        (self.wait.party.meeting.operations.block_wait)(&mut self.wait, deadline, backoff)
    }
}

impl<T, const SENDS: bool> Operation for Lining<'_, T, SENDS> {
    type Place = Option<T>;
    type Outcome = Exchanged;
    const OWNS: bool = false;

    fn attempt(&mut self, place: &mut Option<T>) -> Option<Exchanged> {
        let place = &mut self.party().place(place);
        (self.wait.party.meeting.operations.attempt)(&mut self.wait, place)
    }

    fn block(&mut self, deadline: Deadline) -> bool {
        self.block_by(deadline, &mut Backoff::new())
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        (self.wait.party.meeting.operations.poll_wait)(&mut self.wait, context)
    }

    fn step(&mut self, place: &mut Option<T>, context: &mut Context<'_>) -> Poll<Exchanged> {
        let place = &mut self.party().place(place);
        (self.wait.party.meeting.operations.step)(&mut self.wait, place, context)
    }

    fn withdraw(&mut self, place: &mut Option<T>) -> Option<Exchanged> {
        let place = &mut self.party().place(place);
        (self.wait.party.meeting.operations.withdraw)(&mut self.wait, place)
    }

    fn leave(&mut self) {
        (self.wait.party.meeting.operations.leave_wait)(&mut self.wait);
    }
}
