//! A select with the handles that several threads use: of an `mpmc`.

use core::task::Context;

use super::case::Looked;
use super::meet::{MeetingOutlet, MeetingSource};
use super::receive::{Got, RecvSource, SelectRecv};
use super::send::{Outlet, SelectSend, Sent};
use super::sleeper::SelectWaiter;
use crate::channel::mpmc::{Readers, Receiver, Sender, Writers};
use crate::channel::{RecvError, SendError, TrySendError};
use crate::wait::many::ManyWait;

/// A receiver with a ring, or of a rendezvous.
#[doc(hidden)]
pub enum ExchangeSource<'a, T> {
    /// With its slot in the wait list, once it has one.
    #[doc(hidden)]
    #[allow(private_interfaces)]
    Ring(&'a Receiver<T>, Option<ManyWait<Readers<'a, T>>>),
    #[doc(hidden)]
    #[allow(private_interfaces)]
    Meeting(MeetingSource<'a, T>),
}

impl<T> RecvSource for ExchangeSource<'_, T> {
    type Message = T;
    type Error = RecvError;

    #[inline]
    fn take(&mut self, place: &mut Option<T>) -> Option<Got> {
        match self {
            Self::Ring(receiver, _) if receiver.take_to(place) => Some(Ok(())),
            Self::Ring(receiver, _) => receiver.is_over().then_some(Err(RecvError)),
            Self::Meeting(meeting) => meeting.take(place),
        }
    }

    fn stand(&mut self, waiter: &SelectWaiter, case: usize, place: &mut Option<T>) -> Option<Got> {
        match self {
            Self::Ring(..) => None,
            Self::Meeting(meeting) => meeting.stand(waiter, case, place),
        }
    }

    fn look(&mut self, waiter: &SelectWaiter, place: &mut Option<T>) -> (Looked, Option<Got>) {
        match self {
            Self::Ring(receiver, wait) => {
                let wait = wait.get_or_insert_with(|| receiver.wait());
                let polled = wait.poll(&mut Context::from_waker(&waiter.waker));
                (if polled.is_ready() { Looked::Ready } else { Looked::Nothing }, None)
            }
            Self::Meeting(meeting) => meeting.look(waiter, place),
        }
    }

    fn announce(&self) {
        if let Self::Meeting(meeting) = self {
            meeting.announce();
        }
    }

    fn met(&mut self, place: &mut Option<T>) -> Option<Got> {
        match self {
            Self::Ring(..) => None,
            Self::Meeting(meeting) => meeting.met(place),
        }
    }

    fn leave(&mut self) {
        match self {
            Self::Ring(_, wait) => drop(wait.take()),
            Self::Meeting(meeting) => meeting.leave(),
        }
    }

    fn moves(&self) -> u64 {
        match self {
            Self::Ring(receiver, _) => receiver.moves(),
            Self::Meeting(meeting) => meeting.moves(),
        }
    }
}

/// A sender with a ring, or of a rendezvous.
#[doc(hidden)]
pub enum ExchangeOutlet<'a, T> {
    /// With its slot in the wait list, once it has one.
    #[doc(hidden)]
    #[allow(private_interfaces)]
    Ring(&'a Sender<T>, Option<ManyWait<Writers<'a, T>>>),
    #[doc(hidden)]
    #[allow(private_interfaces)]
    Meeting(MeetingOutlet<'a, T>),
}

impl<T> Outlet for ExchangeOutlet<'_, T> {
    type Message = T;

    #[inline]
    fn give(&mut self, offer: &mut Option<T>) -> Option<Sent> {
        match self {
            Self::Ring(sender, _) => match sender.push(offer) {
                Ok(()) => Some(Ok(())),
                Err(TrySendError::Disconnected(())) => Some(Err(SendError(()))),
                Err(TrySendError::Full(())) => None,
            },
            Self::Meeting(meeting) => meeting.give(offer),
        }
    }

    fn stand(&mut self, waiter: &SelectWaiter, case: usize, offer: &mut Option<T>) -> Option<Sent> {
        match self {
            Self::Ring(..) => None,
            Self::Meeting(meeting) => meeting.stand(waiter, case, offer),
        }
    }

    fn look(&mut self, waiter: &SelectWaiter, place: &mut Option<T>) -> (Looked, Option<Sent>) {
        match self {
            Self::Ring(sender, wait) => {
                let wait = wait.get_or_insert_with(|| sender.wait());
                let polled = wait.poll(&mut Context::from_waker(&waiter.waker));
                (if polled.is_ready() { Looked::Ready } else { Looked::Nothing }, None)
            }
            Self::Meeting(meeting) => meeting.look(waiter, place),
        }
    }

    fn announce(&self) {
        if let Self::Meeting(meeting) = self {
            meeting.announce();
        }
    }

    fn met(&mut self, place: &mut Option<T>) -> Option<Sent> {
        match self {
            Self::Ring(..) => None,
            Self::Meeting(meeting) => meeting.met(place),
        }
    }

    fn leave(&mut self, offer: &mut Option<T>) {
        match self {
            Self::Ring(_, wait) => drop(wait.take()),
            Self::Meeting(meeting) => meeting.leave(offer),
        }
    }

    fn moves(&self) -> u64 {
        match self {
            Self::Ring(sender, _) => sender.moves(),
            Self::Meeting(meeting) => meeting.moves(),
        }
    }
}

impl<'a, T> SelectRecv for &'a Receiver<T> {
    type Message = T;
    type Error = RecvError;
    type Source = ExchangeSource<'a, T>;

    #[inline]
    fn into_source(self) -> Self::Source {
        match self.party() {
            None => ExchangeSource::Ring(self, None),
            Some(party) => ExchangeSource::Meeting(MeetingSource::new(party)),
        }
    }
}

impl<'a, T> SelectRecv for &'a mut Receiver<T> {
    type Message = T;
    type Error = RecvError;
    type Source = ExchangeSource<'a, T>;

    #[inline]
    fn into_source(self) -> Self::Source {
        (&*self).into_source()
    }
}

impl<'a, T> SelectSend for &'a Sender<T> {
    type Message = T;
    type Outlet = ExchangeOutlet<'a, T>;

    #[inline]
    fn into_outlet(self) -> Self::Outlet {
        match self.party() {
            None => ExchangeOutlet::Ring(self, None),
            Some(party) => ExchangeOutlet::Meeting(MeetingOutlet::new(party)),
        }
    }
}

impl<'a, T> SelectSend for &'a mut Sender<T> {
    type Message = T;
    type Outlet = ExchangeOutlet<'a, T>;

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
        source.leave();
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
        source.leave();
        sender.send(7).unwrap();
        assert_eq!((waiter.sleeper.is_woken(), woken.times()), (false, 1));
    }
}
