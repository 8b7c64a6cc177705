//! A select with the handles that one thread uses: of an `spsc` or `mpsc`.

use core::task::Context;

use super::case::Looked;
use super::meet::MeetingCase;
use super::operation::{QueueOrMeeting, SelectOperation, looked};
use super::sleeper::SelectWaiter;
use crate::channel::receive::{PipeReceiver, Receiving};
use crate::channel::send::{PipeSender, Sending};
use crate::channel::{RecvError, SendError};
use crate::wait::one;

/// A receive by a handle with a queue of its own, or of a rendezvous.
pub(in crate::channel) type PipeSource<'a, R> = QueueOrMeeting<'a, PipeTake<'a, R>>;

/// A send by such a handle.
pub(in crate::channel) type PipeOutlet<'a, S> = QueueOrMeeting<'a, PipeGive<'a, S>>;

#[inline]
pub(in crate::channel) fn source<R: PipeReceiver>(receiver: &mut R) -> PipeSource<'_, R> {
    match receiver.receiving().flavour() {
        Ok(party) => QueueOrMeeting::Meeting(MeetingCase::new(&party)),
        Err(receiving) => QueueOrMeeting::Queue(PipeTake { receiving, is_registered: false }),
    }
}

#[inline]
pub(in crate::channel) fn outlet<S: PipeSender>(sender: &mut S) -> PipeOutlet<'_, S> {
    match sender.sending().flavour() {
        Ok(party) => QueueOrMeeting::Meeting(MeetingCase::new(&party)),
        Err(sending) => QueueOrMeeting::Queue(PipeGive { sending, is_registered: false }),
    }
}

/// A receive from a queue.
#[doc(hidden)]
#[allow(private_bounds)]
pub struct PipeTake<'a, R: PipeReceiver> {
    receiving: &'a mut Receiving<R::End>,
    /// The task is.
    is_registered: bool,
}

impl<R: PipeReceiver> SelectOperation for PipeTake<'_, R> {
    type Message = R::Message;
    type Error = RecvError;

    #[inline]
    fn attempt(&mut self, place: &mut Option<R::Message>) -> Option<Result<(), RecvError>> {
        self.receiving.take_or_end(place)
    }

    fn look(&mut self, waiter: &SelectWaiter, _: &mut Option<R::Message>) -> (Looked, Option<Result<(), RecvError>>) {
        self.is_registered = true;
        looked(one::poll(&mut self.receiving.end, &mut Context::from_waker(&waiter.waker)))
    }

    // MUTANT: A select that has not registered has nothing to forget.
    fn leave(&mut self, _: &mut Option<R::Message>) {
        if core::mem::take(&mut self.is_registered) {
            one::forget(&mut self.receiving.end);
        }
    }

    /// What has become possible stays possible: a message stays until this handle takes it.
    fn moves(&self) -> u64 {
        0
    }
}

/// A send into a queue.
#[doc(hidden)]
#[allow(private_bounds)]
pub struct PipeGive<'a, S: PipeSender> {
    sending: &'a mut Sending<S::Message, S::Link>,
    /// The task is.
    is_registered: bool,
}

impl<S: PipeSender> SelectOperation for PipeGive<'_, S> {
    type Message = S::Message;
    type Error = SendError<()>;

    #[inline]
    fn attempt(&mut self, place: &mut Option<S::Message>) -> Option<Result<(), SendError<()>>> {
        self.sending.give(place)
    }

    fn look(
        &mut self,
        waiter: &SelectWaiter,
        _: &mut Option<S::Message>,
    ) -> (Looked, Option<Result<(), SendError<()>>>) {
        self.is_registered = true;
        looked(self.sending.poll_ready(&mut Context::from_waker(&waiter.waker)))
    }

    // MUTANT: A select that has not registered has nothing to forget.
    fn leave(&mut self, _: &mut Option<S::Message>) {
        if core::mem::take(&mut self.is_registered) {
            one::forget(&mut *self.sending.end);
        }
    }

    /// What has become possible stays possible: room stays until this handle fills it.
    fn moves(&self) -> u64 {
        0
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::*;
    use crate::channel::{select::SelectSend, spsc};

    /// Also what has arrived after a select's attempt, before its check.
    #[test]
    fn a_look_says_whether_there_is_room() {
        let (mut sender, mut receiver) = spsc::bounded(1);
        let waiter = SelectWaiter::borrow();
        let mut outlet = sender.into_outlet();
        for number in 0..2 {
            assert!(matches!(outlet.look(&waiter, &mut None), (Looked::Ready, None)));
            assert_eq!(outlet.attempt(&mut Some(number)), Some(Ok(())));
            assert!(matches!(outlet.look(&waiter, &mut None), (Looked::Nothing, None)));
            assert_eq!(receiver.recv(), Ok(number));
        }
        outlet.leave(&mut None);
    }
}
