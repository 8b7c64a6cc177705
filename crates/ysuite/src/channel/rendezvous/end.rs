//! The endpoint of a rendezvous that belongs to a sender or receiver of one thread: of an `spsc` or `mpsc`.
//!
//! One thread at a time. The drop of the last sender, or of the receiver, closes the rendezvous. An `spsc` counts its
//! senders here, an `mpsc` uses its own count.

use core::task::{Context, Poll};

use super::exchange::ExchangePlace;
use super::meeting::{Meeting, MeetingSide, SharedMeetingOf};
use super::node::LentPlace;
use super::operations::Operations;
use super::outlined::Outlined;
use super::party::{AnyParty, Party, poll, poll_place};
use crate::channel::error::{self, RecvError, TryRecvError};
use crate::foreign::{Foreign, Panics};
use crate::signal::{AttachError, Registration};
use crate::sync::{Arc, MessagesOf};
use crate::wait::Subscriptions;
use crate::wait::many::{SharedEnd, propagate};

/// What a handle has of a rendezvous: its endpoint there, the sender's with `SENDS`. Nothing where it has a queue: then
/// these functions do what they are given for the queue, or nothing.
pub(in crate::channel) struct MeetingEnd<T, const SENDS: bool>(pub(in crate::channel) Option<Box<OfMessages<T>>>);

/// An endpoint of a rendezvous of `T`.
#[repr(transparent)]
pub(in crate::channel) struct OfMessages<T> {
    any: Outlined<AnyEnd>,
    of: MessagesOf<T>,
}

impl<T> OfMessages<T> {
    fn operations(&self) -> &'static Operations {
        self.any.meeting.operations
    }
}

impl<T> MeetingEnd<T, true> {
    /// A sender that is counted here.
    pub(in crate::channel) fn only_sender(meeting: &SharedMeetingOf<T>) -> Self {
        Self::counted(meeting, true)
    }

    /// This sender sends no more: from now on it finds the rendezvous closed. Leaves its set, wakes its task, and
    /// passes on the notifications that either of them had got.
    pub(in crate::channel) fn end(&mut self) {
        if let Some(end) = &mut self.0 {
            (end.operations().end)(&mut end.any);
        }
    }

    /// Ready once a receiver waits, or has disconnected, or this endpoint is closed. `None`: it has a queue.
    pub(in crate::channel) fn poll_ready(&mut self, context: &mut Context<'_>) -> Option<Poll<()>> {
        self.0.as_mut().map(|end| match end.any.is_closed() {
            true => Poll::Ready(()),
            false => (end.operations().poll_ready)(&mut end.any, context),
        })
    }
}

impl<T> MeetingEnd<T, false> {
    /// The number of messages for this endpoint after the rendezvous is closed: those that were given back.
    pub(in crate::channel) fn given_back(&self) -> usize {
        self.0.as_ref().map_or(0, |end| end.any.side().supply())
    }

    /// Whether this is no rendezvous that is open.
    pub(in crate::channel) fn is_over(&self) -> bool {
        self.0.as_ref().map_or(true, |end| end.any.is_closed())
    }

    // USER CODE: `tell`, as its caller says, and wakers of all that wait here; the rendezvous is closed; re-entrance: any
    //     operation; panic: each runs whatever the other does, then it propagates; test: tests/suite/rendezvous/ended.rs:
    //     closed_waits_for_the_receivers_end
    /// Closes the rendezvous, and calls `tell`. True: it was open. `None`: it has a queue.
    pub(in crate::channel) fn close(&self, tell: impl FnOnce()) -> Option<bool> {
        let end = self.0.as_ref()?;
        let (mut panics, mut was_open) = (Panics::none(), false);
        panics.catch(|| was_open = end.any.meeting.close());
        panics.catch(tell);
        Some(was_open)
    }

    /// Takes the messages of waiting senders for which there is room, without a wait.
    pub(in crate::channel) fn try_recv_into(&self, to: &mut impl ExchangePlace<T, false>) -> Result<(), TryRecvError> {
        let Some(party) = self.party() else { return Err(TryRecvError::Disconnected) };
        party.try_recv(to.next())?;
        to.fetch(&party);
        Ok(())
    }

    pub(in crate::channel) fn poll_recv(&mut self, context: &mut Context<'_>) -> Option<Poll<Result<T, RecvError>>> {
        let end = self.0.as_mut()?;
        let mut place = Foreign::none();
        // SAFETY: the endpoint is of a rendezvous of `T`.
        let lent = &mut unsafe { LentPlace::new(&mut place) };
        let polled = (end.operations().poll_end)(&mut end.any, context, lent);
        Some(polled.map(|outcome| error::received(outcome, &mut place)))
    }
}

impl<T, const SENDS: bool> MeetingEnd<T, SENDS> {
    pub(in crate::channel) fn new(meeting: Option<&SharedMeetingOf<T>>) -> Self {
        meeting.map_or(Self(None), |meeting| Self::counted(meeting, false))
    }

    fn counted(meeting: &SharedMeetingOf<T>, is_counted: bool) -> Self {
        let end = (meeting.operations.new_end)(&meeting.any, SENDS, is_counted);
        // SAFETY: that type is transparent.
        Self(Some(unsafe { Box::from_raw(Box::into_raw(end).cast()) }))
    }

    /// The endpoint, for what it does there.
    pub(in crate::channel) fn party(&self) -> Option<Party<'_, T, SENDS>> {
        self.0.as_ref().map(|end| Self::party_of(end))
    }

    /// The endpoint of such a handle.
    pub(in crate::channel) fn party_of(end: &OfMessages<T>) -> Party<'_, T, SENDS> {
        // SAFETY: the endpoint is of a rendezvous of `T`, and on this side.
        unsafe { Party::of(end.any.party()) }
    }

    /// Whether there is a rendezvous, and the other side is disconnected, or it is closed, or this endpoint.
    #[inline]
    pub(in crate::channel) fn is_closed(&self) -> bool {
        self.0.as_ref().is_some_and(|end| end.any.is_closed())
    }

    /// Attaches the endpoint (`Ok`), or gives the registration back for the queue.
    pub(in crate::channel) fn attach(&mut self, given: Registration) -> Result<Result<(), AttachError>, Registration> {
        match &mut self.0 {
            Some(end) => Ok((end.operations().attach)(&mut end.any, given)),
            None => Err(given),
        }
    }

    /// `None`: it has a queue.
    pub(in crate::channel) fn detach(&mut self) -> Option<bool> {
        self.0.as_mut().map(|end| (end.operations().detach)(&mut end.any))
    }

    /// False: it has a queue.
    pub(in crate::channel) fn with_registration(&self, look: &mut dyn FnMut(&Registration)) -> bool {
        let end = self.0.as_ref();
        end.inspect(|end| (end.operations().with_registration)(&end.any, look)).is_some()
    }
}

/// An endpoint, without the type of the messages.
pub(in crate::channel) struct AnyEnd {
    pub(super) meeting: Arc<Meeting>,
    /// Present once this endpoint has been polled or attached.
    subscriptions: Option<Subscriptions>,
    sends: bool,
    /// This endpoint counts itself among the senders; its owner does not.
    is_counted: bool,
    /// A sender that has been closed.
    has_ended: bool,
}

impl AnyEnd {
    pub(super) fn boxed(meeting: &Arc<Meeting>, sends: bool, is_counted: bool) -> Box<Outlined<AnyEnd>> {
        if is_counted {
            meeting.count_sender();
        }
        let end = Self { meeting: meeting.clone(), subscriptions: None, sends, is_counted, has_ended: false };
        Box::new(Outlined::new(end))
    }

    #[inline]
    fn side(&self) -> MeetingSide<'_> {
        MeetingSide { meeting: &self.meeting, sends: self.sends }
    }

    // A select that is not at a rendezvous moves an endpoint that is not there: in parts, nothing of it is moved.
    #[inline]
    fn party(&self) -> AnyParty<'_> {
        AnyParty {
            meeting: &self.meeting,
            subscriptions: self.subscriptions.as_ref(),
            sends: self.sends,
            has_ended: self.has_ended,
        }
    }

    #[inline]
    fn is_closed(&self) -> bool {
        self.has_ended || self.meeting.is_closed()
    }

    // USER CODE: wakers of the other side, where this was the last sender; of another handle of this side, to which
    //     this one passes a notification of its task or set; of this handle's own task (by `wake_task` of
    //     `wait/subscription.rs`). The handle is closed and counted out, its slots are disarmed, its id is lowered and
    //     free; re-entrance: any operation; this handle finds itself closed; panic: each runs whatever the others do,
    //     then the first panic propagates; test: tests/suite/rendezvous/ended.rs:
    //     a_senders_close_ends_a_waiting_receiver, tests/suite/rendezvous/told.rs:
    //     a_closed_sender_that_is_kept_takes_no_turn
    // MUTANT: An extra notification is harmless: the endpoint checks and waits on.
    pub(super) fn end(&mut self) {
        self.has_ended = true;
        let mut panics = Panics::none();
        if core::mem::take(&mut self.is_counted) {
            panics.catch(|| self.meeting.uncount_sender());
        }
        let side = MeetingSide { meeting: &self.meeting, sends: self.sends };
        if let Some(subscriptions) = &mut self.subscriptions {
            // The handle is kept, and never checks again. An armed slot of it would take the notification of an
            // endpoint that does.
            let is_notified = subscriptions.disarm_task(side);
            panics.catch(|| {
                subscriptions.detach(side);
            });
            panics.catch(|| subscriptions.wake_task(side));
            if is_notified {
                panics.catch(|| propagate(side));
            }
        }
    }

    pub(super) fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let side = MeetingSide { meeting: &self.meeting, sends: self.sends };
        let subscriptions = present(&mut self.subscriptions);
        poll(side, subscriptions, false, context, &mut || side.is_ready().then_some(Ok(())))
            .map(|_: Result<_, RecvError>| ())
    }

    pub(super) fn poll_recv(
        &mut self,
        context: &mut Context<'_>,
        place: &mut LentPlace<'_>,
    ) -> Poll<Result<(), RecvError>> {
        poll_place(&self.meeting, present(&mut self.subscriptions), false, context, place)
    }

    pub(super) fn attach(&mut self, registration: Registration) -> Result<(), AttachError> {
        let side = MeetingSide { meeting: &self.meeting, sends: self.sends };
        present(&mut self.subscriptions).attach(side, registration)
    }

    pub(super) fn detach(&mut self) -> bool {
        let side = MeetingSide { meeting: &self.meeting, sends: self.sends };
        self.subscriptions.as_mut().is_some_and(|subscriptions| subscriptions.detach(side))
    }

    pub(super) fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        if let Some(subscriptions) = &self.subscriptions {
            subscriptions.with_registration(self.side(), look);
        }
    }
}

/// The slots, made before if necessary.
fn present(subscriptions: &mut Option<Subscriptions>) -> &mut Subscriptions {
    subscriptions.get_or_insert_default()
}

// USER CODE: `Drop` of the waker, then wakers of the other side; the handle has left its slots; re-entrance: any
//     operation; panic: both are done, then it propagates; test: tests/suite/rendezvous/foreign.rs:
//     one_waker_that_panics_does_not_keep_the_others_asleep
impl Drop for AnyEnd {
    fn drop(&mut self) {
        let mut panics = Panics::none();
        // User code: a waker that is dropped, or woken because this endpoint had been notified.
        if let Some(subscriptions) = &mut self.subscriptions {
            let side = MeetingSide { meeting: &self.meeting, sends: self.sends };
            panics.catch(|| subscriptions.unregister(side));
        }
        if self.is_counted {
            panics.catch(|| self.meeting.uncount_sender());
        }
        if !self.sends {
            panics.catch(|| self.meeting.receivers_are_gone());
        }
    }
}
