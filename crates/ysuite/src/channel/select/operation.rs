//! What a case does with its handle, and how a select waits for that. Any [operation](crate::operation) of one message is
//! such a thing; a handle of a queue that may be a rendezvous is a [`QueueOrMeeting`].

use core::task::{Context, Poll};

use super::case::Looked;
use super::meet::{LineCase, MeetingCase};
use super::sleeper::SelectWaiter;
use crate::channel::rendezvous::{Closed, Exchanged};
use crate::operation::Operation;
use crate::os::Deadline;

/// What one case does, and how to wait for it. See [`CaseList`](super::case::CaseList) for what is not said here. A message is in
/// `place`, unless it is in line.
pub(in crate::channel) trait SelectOperation {
    type Message;
    type Error;

    /// Sends the message, or receives one to `place`, which is empty; or returns the error that this will never be
    /// possible. `None`: neither yet.
    fn attempt(&mut self, place: &mut Option<Self::Message>) -> Option<Result<(), Self::Error>>;
    fn stand(
        &mut self,
        _: &SelectWaiter,
        _case: usize,
        _place: &mut Option<Self::Message>,
    ) -> Option<Result<(), Self::Error>> {
        None
    }
    /// With the result of the operation, where it is [`Looked::Done`].
    fn look(
        &mut self,
        waiter: &SelectWaiter,
        place: &mut Option<Self::Message>,
    ) -> (Looked, Option<Result<(), Self::Error>>);
    fn announce(&self) {}
    fn met(&mut self, _place: &mut Option<Self::Message>) -> Option<Result<(), Self::Error>> {
        None
    }
    /// Leaves, and puts the message back if it was in line to be sent.
    fn leave(&mut self, place: &mut Option<Self::Message>);
    fn moves(&self) -> u64;
    /// When the operation becomes possible by itself.
    fn due(&self) -> Deadline {
        Deadline::Never
    }
}

/// What a check has found where the waker of the select is registered, and nothing is in line.
pub(super) fn looked<R>(polled: Poll<()>) -> (Looked, Option<R>) {
    (if polled.is_ready() { Looked::Ready } else { Looked::Nothing }, None)
}

/// An operation that waits by the waker of the select.
#[doc(hidden)]
pub struct OperationSource<O>(pub(crate) O);

impl<T, E, O: Operation<Place = Option<T>, Outcome = Result<(), E>>> SelectOperation for OperationSource<O> {
    type Message = T;
    type Error = E;

    #[inline]
    fn attempt(&mut self, place: &mut Option<T>) -> Option<Result<(), E>> {
        self.0.attempt(place)
    }

    fn look(&mut self, waiter: &SelectWaiter, _: &mut Option<T>) -> (Looked, Option<Result<(), E>>) {
        looked(self.0.poll(&mut Context::from_waker(&waiter.waker)))
    }

    fn leave(&mut self, _: &mut Option<T>) {
        self.0.leave();
    }

    fn moves(&self) -> u64 {
        self.0.moves()
    }

    fn due(&self) -> Deadline {
        self.0.due()
    }
}

/// The operation of a queue, or what it is in a rendezvous.
#[doc(hidden)]
#[allow(private_bounds)]
pub enum QueueOrMeeting<'a, Q: SelectOperation> {
    Queue(Q),
    #[allow(private_interfaces)]
    Meeting(MeetingCase<'a, Q::Message>),
}

impl<Q: SelectOperation<Error: From<Closed>>> SelectOperation for QueueOrMeeting<'_, Q> {
    type Message = Q::Message;
    type Error = Q::Error;

    #[inline]
    fn attempt(&mut self, place: &mut Option<Q::Message>) -> Option<Result<(), Q::Error>> {
        match self {
            Self::Queue(queue) => queue.attempt(place),
            Self::Meeting(meeting) => meeting.with(place, LineCase::attempt).map(of_line),
        }
    }

    fn stand(
        &mut self,
        waiter: &SelectWaiter,
        case: usize,
        place: &mut Option<Q::Message>,
    ) -> Option<Result<(), Q::Error>> {
        match self {
            Self::Queue(_) => None,
            Self::Meeting(meeting) => meeting.with(place, |line, place| line.stand(waiter, case, place)).map(of_line),
        }
    }

    fn look(
        &mut self,
        waiter: &SelectWaiter,
        place: &mut Option<Q::Message>,
    ) -> (Looked, Option<Result<(), Q::Error>>) {
        match self {
            Self::Queue(queue) => queue.look(waiter, place),
            Self::Meeting(meeting) => {
                let (looked, outcome) = meeting.with(place, LineCase::look);
                (looked, outcome.map(of_line))
            }
        }
    }

    fn announce(&self) {
        if let Self::Meeting(meeting) = self {
            meeting.line().announce();
        }
    }

    fn met(&mut self, place: &mut Option<Q::Message>) -> Option<Result<(), Q::Error>> {
        match self {
            Self::Queue(_) => None,
            Self::Meeting(meeting) => meeting.with(place, LineCase::met).map(of_line),
        }
    }

    fn leave(&mut self, place: &mut Option<Q::Message>) {
        match self {
            Self::Queue(queue) => queue.leave(place),
            Self::Meeting(meeting) => meeting.with(place, LineCase::leave),
        }
    }

    fn moves(&self) -> u64 {
        match self {
            Self::Queue(queue) => queue.moves(),
            Self::Meeting(meeting) => meeting.line().moves(),
        }
    }
}

/// The result of an operation that a rendezvous has ended so.
fn of_line<E: From<Closed>>(outcome: Exchanged) -> Result<(), E> {
    outcome.map_err(E::from)
}
