//! Send and receive at a rendezvous, as [operations](crate::operation) of a thread or of a task. One thread or one task
//! for each operation.
//!
//! An attempt that finds nobody registers in line: what it sends is there then, and not in its place. So an attempt
//! before the wait is over changes nothing, and the last one leaves the line.

use core::task::{Context, Poll};

use super::outlined::Outlined;
use super::party::{LineWait, Party};
use crate::channel::error::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use crate::operation::Operation;
use crate::os::Deadline;
use crate::wait::Backoff;

/// One endpoint, and its wait.
struct Handover<'a, T, const SENDS: bool> {
    party: Party<'a, T, SENDS>,
    backoff: &'a mut Backoff,
    /// None once it has left.
    wait: Option<Outlined<LineWait<'a>>>,
    /// The wait in line is over.
    is_over: bool,
}

impl<'a, T, const SENDS: bool> Handover<'a, T, SENDS> {
    fn new(party: Party<'a, T, SENDS>, backoff: &'a mut Backoff, is_thread: bool) -> Self {
        let wait = Some(Outlined::new(LineWait::of(party.side(), is_thread)));
        Self { party, backoff, wait, is_over: false }
    }

    #[inline]
    fn in_line(&self) -> Option<&LineWait<'a>> {
        self.wait.as_deref().filter(|wait| wait.is_in_line())
    }

    /// At once where it is not in line, and is to be attempted.
    fn block(&mut self, deadline: Deadline) -> bool {
        let block = self.party.operations().block_wait;
        if let Some(wait) = self.wait.as_deref().filter(|wait| wait.is_in_line()) {
            block(wait, self.backoff, deadline);
            self.is_over = true;
        }
        true
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(wait) = self.in_line() {
            self.is_over = (self.party.operations().poll_wait)(wait, context).is_ready();
            if !self.is_over {
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }
}

/// A send of the message that is in its place.
pub(in crate::channel) struct MeetingSend<'a, T>(Handover<'a, T, true>);

impl<'a, T> MeetingSend<'a, T> {
    pub(in crate::channel) fn new(party: Party<'a, T, true>, backoff: &'a mut Backoff, is_thread: bool) -> Self {
        Self(Handover::new(party, backoff, is_thread))
    }

    /// Whether a message waits in line.
    pub(in crate::channel) fn is_in_line(&self) -> bool {
        self.0.in_line().is_some()
    }
}

impl<T> Operation for MeetingSend<'_, T> {
    type Place = Option<T>;
    type Outcome = Result<(), SendError<()>>;

    fn attempt(&mut self, place: &mut Option<T>) -> Option<Result<(), SendError<()>>> {
        let Handover { party, wait: Some(wait), is_over, .. } = &mut self.0 else { return None };
        if !wait.is_in_line() {
            let begun = (party.operations().begin_send)(&party.any(), wait, &mut party.place(place));
            return match begun {
                Poll::Ready(outcome) => Some(outcome.map_err(|_| SendError(()))),
                Poll::Pending => None,
            };
        }
        if !core::mem::take(is_over) {
            return None;
        }
        of_ended((party.operations().end_send)(wait, &mut party.place(place)))
    }

    fn give_up(&mut self, place: &mut Option<T>) -> Option<Result<(), SendError<()>>> {
        let Handover { party, wait, .. } = &mut self.0;
        match wait {
            Some(wait) if wait.is_in_line() => of_ended((party.operations().end_send)(wait, &mut party.place(place))),
            _ => match (party.operations().give)(&party.any(), &mut party.place(place)) {
                Ok(()) => Some(Ok(())),
                Err(TrySendError::Disconnected(())) => Some(Err(SendError(()))),
                Err(TrySendError::Full(())) => None,
            },
        }
    }

    fn block(&mut self, deadline: Deadline) -> bool {
        self.0.block(deadline)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.0.poll(context)
    }

    fn leave(&mut self) {
        self.0.wait = None;
    }
}

/// The outcome of a send that has left its line. `None`: its message has not changed hands, and still could.
fn of_ended(outcome: Result<(), SendTimeoutError<()>>) -> Option<Result<(), SendError<()>>> {
    match outcome {
        Ok(()) => Some(Ok(())),
        Err(SendTimeoutError::Disconnected(())) => Some(Err(SendError(()))),
        Err(SendTimeoutError::Timeout(())) => None,
    }
}

/// A receive of a message into its place.
pub(in crate::channel) struct MeetingReceive<'a, T>(Handover<'a, T, false>);

impl<'a, T> MeetingReceive<'a, T> {
    pub(in crate::channel) fn new(party: Party<'a, T, false>, backoff: &'a mut Backoff, is_thread: bool) -> Self {
        Self(Handover::new(party, backoff, is_thread))
    }
}

impl<T> MeetingReceive<'_, T> {
    /// Takes the messages of waiting senders, at most `most`.
    pub(in crate::channel) fn take_more(&self, to: &mut Vec<T>, most: usize) -> usize {
        self.0.party.take_more(to, most)
    }
}

impl<T> Operation for MeetingReceive<'_, T> {
    type Place = Option<T>;
    type Outcome = Result<(), RecvError>;

    fn attempt(&mut self, place: &mut Option<T>) -> Option<Result<(), RecvError>> {
        let Handover { party, wait: Some(wait), is_over, .. } = &mut self.0 else { return None };
        if !wait.is_in_line() {
            let begun = (party.operations().begin_recv)(&party.any(), wait, &mut party.place(place));
            return match begun {
                Poll::Ready(outcome) => Some(outcome),
                Poll::Pending => None,
            };
        }
        if !core::mem::take(is_over) {
            return None;
        }
        of_received((party.operations().end_recv)(wait, &mut party.place(place)))
    }

    fn give_up(&mut self, place: &mut Option<T>) -> Option<Result<(), RecvError>> {
        let Handover { party, wait, .. } = &mut self.0;
        match wait {
            Some(wait) if wait.is_in_line() => {
                of_received((party.operations().end_recv)(wait, &mut party.place(place)))
            }
            _ => match (party.operations().take)(&party.any(), &mut party.place(place)) {
                Ok(()) => Some(Ok(())),
                Err(TryRecvError::Disconnected) => Some(Err(RecvError)),
                Err(TryRecvError::Empty) => None,
            },
        }
    }

    fn block(&mut self, deadline: Deadline) -> bool {
        self.0.block(deadline)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.0.poll(context)
    }

    fn leave(&mut self) {
        self.0.wait = None;
    }
}

/// The outcome of a receive that has left its line. `None`: there was no message, and there still could be.
fn of_received(outcome: Result<(), RecvTimeoutError>) -> Option<Result<(), RecvError>> {
    match outcome {
        Ok(()) => Some(Ok(())),
        Err(RecvTimeoutError::Disconnected) => Some(Err(RecvError)),
        Err(RecvTimeoutError::Timeout) => None,
    }
}
