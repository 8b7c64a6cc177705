//! A select with the handles that several threads use: of an `mpmc`.

use core::task::Context;

use super::case::Looked;
use super::meet::MeetingCase;
use super::operation::{QueueOrMeeting, SelectOperation, looked};
use super::receive::SelectRecv;
use super::send::SelectSend;
use super::sleeper::SelectWaiter;
use crate::channel::mpmc::{MpmcHandle, Readers, Receiver, Sender, Writers};
use crate::channel::{RecvError, SendError, TrySendError};
use crate::wait::many::{ManyWait, SharedEnd};

/// What a case does with a handle, and what it waits for.
pub(in crate::channel) trait Awaited {
    type Side: SharedEnd;
    type Message;
    type Error;

    fn attempt(&self, place: &mut Option<Self::Message>) -> Option<Result<(), Self::Error>>;
    fn wait(&self) -> ManyWait<Self::Side>;
    fn moves(&self) -> u64;
}

/// That, and its wait.
#[doc(hidden)]
#[allow(private_bounds)]
pub struct ManyCase<E: Awaited> {
    end: E,
    /// With its slot in the wait list, once it has one.
    wait: Option<ManyWait<E::Side>>,
}

#[allow(private_bounds)]
impl<E: Awaited> ManyCase<E> {
    #[inline]
    pub(super) fn new(end: E) -> Self {
        Self { end, wait: None }
    }
}

impl<E: Awaited> SelectOperation for ManyCase<E> {
    type Message = E::Message;
    type Error = E::Error;

    #[inline]
    fn attempt(&mut self, place: &mut Option<E::Message>) -> Option<Result<(), E::Error>> {
        self.end.attempt(place)
    }

    fn look(&mut self, waiter: &SelectWaiter, _: &mut Option<E::Message>) -> (Looked, Option<Result<(), E::Error>>) {
        let wait = self.wait.get_or_insert_with(|| self.end.wait());
        looked(wait.poll(&mut Context::from_waker(&waiter.waker)))
    }

    fn leave(&mut self, _: &mut Option<E::Message>) {
        drop(self.wait.take());
    }

    fn moves(&self) -> u64 {
        self.end.moves()
    }
}

impl<'a, T> Awaited for &'a Receiver<T> {
    type Side = Readers<'a, T>;
    type Message = T;
    type Error = RecvError;

    #[inline]
    fn attempt(&self, place: &mut Option<T>) -> Option<Result<(), RecvError>> {
        if self.take_to(place) { Some(Ok(())) } else { self.is_over().then_some(Err(RecvError)) }
    }

    fn wait(&self) -> ManyWait<Readers<'a, T>> {
        self.parts().wait()
    }

    fn moves(&self) -> u64 {
        self.parts().moves()
    }
}

impl<'a, T> Awaited for &'a Sender<T> {
    type Side = Writers<'a, T>;
    type Message = T;
    type Error = SendError<()>;

    #[inline]
    fn attempt(&self, place: &mut Option<T>) -> Option<Result<(), SendError<()>>> {
        match self.push(place) {
            Ok(()) => Some(Ok(())),
            Err(TrySendError::Disconnected(())) => Some(Err(SendError(()))),
            Err(TrySendError::Full(())) => None,
        }
    }

    fn wait(&self) -> ManyWait<Writers<'a, T>> {
        self.parts().wait()
    }

    fn moves(&self) -> u64 {
        self.parts().moves()
    }
}

impl<'a, T> SelectRecv for &'a Receiver<T> {
    type Message = T;
    type Error = RecvError;
    type Source = QueueOrMeeting<'a, ManyCase<&'a Receiver<T>>>;

    #[inline]
    fn into_source(self) -> Self::Source {
        match self.parts().party() {
            None => QueueOrMeeting::Queue(ManyCase::new(self)),
            Some(party) => QueueOrMeeting::Meeting(MeetingCase::new(&party)),
        }
    }
}

impl<'a, T> SelectRecv for &'a mut Receiver<T> {
    type Message = T;
    type Error = RecvError;
    type Source = <&'a Receiver<T> as SelectRecv>::Source;

    #[inline]
    fn into_source(self) -> Self::Source {
        (&*self).into_source()
    }
}

impl<'a, T> SelectSend for &'a Sender<T> {
    type Message = T;
    type Outlet = QueueOrMeeting<'a, ManyCase<&'a Sender<T>>>;

    #[inline]
    fn into_outlet(self) -> Self::Outlet {
        match self.parts().party() {
            None => QueueOrMeeting::Queue(ManyCase::new(self)),
            Some(party) => QueueOrMeeting::Meeting(MeetingCase::new(&party)),
        }
    }
}

impl<'a, T> SelectSend for &'a mut Sender<T> {
    type Message = T;
    type Outlet = <&'a Sender<T> as SelectSend>::Outlet;

    #[inline]
    fn into_outlet(self) -> Self::Outlet {
        (&*self).into_outlet()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::future::Future;
    use core::pin::pin;
    use core::task::Waker;
    use std::sync::Arc;

    use super::*;
    use crate::channel::mpmc;
    use crate::tests::Woken;

    /// Also what has arrived after a select's attempt, before its check.
    #[test]
    fn a_look_says_whether_there_is_a_message_and_whether_there_is_room() {
        let (sender, receiver) = mpmc::bounded(1);
        let waiter = SelectWaiter::borrow();
        let (mut source, mut outlet) = (receiver.into_source(), sender.into_outlet());
        assert!(matches!(source.look(&waiter, &mut None), (Looked::Nothing, None)));
        assert!(matches!(outlet.look(&waiter, &mut None), (Looked::Ready, None)));
        sender.send(7).unwrap();
        assert!(matches!(source.look(&waiter, &mut None), (Looked::Ready, None)));
        assert!(matches!(outlet.look(&waiter, &mut None), (Looked::Nothing, None)));
        source.leave(&mut None);
        outlet.leave(&mut None);
    }

    #[test]
    fn a_receiver_that_has_left_is_told_of_no_message_in_anothers_place() {
        let (sender, receiver) = mpmc::bounded(1);
        let waiter = SelectWaiter::borrow();
        waiter.sleeper.reset();
        let mut source = receiver.into_source();
        assert!(matches!(source.look(&waiter, &mut None), (Looked::Nothing, None)));
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(woken.clone());
        let mut behind = pin!(receiver.recv_async());
        assert!(behind.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        source.leave(&mut None);
        sender.send(7).unwrap();
        assert_eq!((waiter.sleeper.is_woken(), woken.times()), (false, 1));
    }
}
