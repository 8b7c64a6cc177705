//! A select with the handles that one thread uses: of an `spsc` or `mpsc`.

use core::task::{Context, Poll};

use super::case::Looked;
use super::meet::{MeetingOutlet, MeetingSource};
use super::receive::{Got, RecvSource};
use super::send::{Outlet, Sent};
use super::sleeper::SelectWaiter;
use crate::channel::rendezvous::Party;
use crate::channel::{Receive, RecvError};

/// What a select needs of a receiver that one thread uses.
pub(in crate::channel) trait PipeReceiver: Receive {
    /// The endpoint of a rendezvous.
    #[allow(private_interfaces)]
    fn party(&self) -> Option<Party<'_, Self::Message, false>>;
    fn take_or_end(&mut self, place: &mut Option<Self::Message>) -> Option<Got>;
    /// Registers a task, unless there is something already.
    fn poll_task(&mut self, context: &mut Context<'_>) -> Poll<()>;
    fn forget_task(&mut self);
}

/// What a select needs of a sender that one thread uses.
pub(in crate::channel) trait PipeSender {
    type Message;
    /// The endpoint of a rendezvous.
    #[allow(private_interfaces)]
    fn party(&self) -> Option<Party<'_, Self::Message, true>>;
    fn give(&mut self, place: &mut Option<Self::Message>) -> Option<Sent>;
    /// Registers a task, unless there is room already.
    fn poll_task(&mut self, context: &mut Context<'_>) -> Poll<()>;
    fn forget_task(&mut self);
}

/// A receiver with a queue of its own, or of a rendezvous.
#[doc(hidden)]
#[allow(private_bounds)]
pub enum PipeSource<'a, R: PipeReceiver> {
    /// True: the task is registered.
    Queue(&'a mut R, bool),
    #[allow(private_interfaces)]
    Meeting(MeetingSource<'a, R::Message>),
}

#[allow(private_bounds)]
impl<'a, R: PipeReceiver> PipeSource<'a, R> {
    #[inline]
    pub(in crate::channel) fn new(receiver: &'a mut R) -> Self {
        if receiver.party().is_none() {
            return Self::Queue(receiver, false);
        }
        match receiver.party() {
            Some(party) => Self::Meeting(MeetingSource::new(party)),
            None => unreachable!("looked just now"),
        }
    }
}

impl<R: PipeReceiver> RecvSource for PipeSource<'_, R> {
    type Message = R::Message;
    type Error = RecvError;

    #[inline]
    fn take(&mut self, place: &mut Option<R::Message>) -> Option<Got> {
        match self {
            Self::Queue(receiver, _) => receiver.take_or_end(place),
            Self::Meeting(meeting) => meeting.take(place),
        }
    }

    fn stand(&mut self, waiter: &SelectWaiter, case: usize, place: &mut Option<R::Message>) -> Option<Got> {
        match self {
            Self::Queue(..) => None,
            Self::Meeting(meeting) => meeting.stand(waiter, case, place),
        }
    }

    fn look(&mut self, waiter: &SelectWaiter, place: &mut Option<R::Message>) -> (Looked, Option<Got>) {
        match self {
            Self::Queue(receiver, is_registered) => {
                *is_registered = true;
                let polled = receiver.poll_task(&mut Context::from_waker(&waiter.waker));
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

    fn met(&mut self, place: &mut Option<R::Message>) -> Option<Got> {
        match self {
            Self::Queue(..) => None,
            Self::Meeting(meeting) => meeting.met(place),
        }
    }

    // MUTANT: A select that has not registered has nothing to forget.
    fn leave(&mut self) {
        match self {
            Self::Queue(receiver, is_registered) => {
                if core::mem::take(is_registered) {
                    receiver.forget_task();
                }
            }
            Self::Meeting(meeting) => meeting.leave(),
        }
    }

    fn moves(&self) -> u64 {
        match self {
            // What has become possible stays possible: a message stays until this handle takes it.
            Self::Queue(..) => 0,
            Self::Meeting(meeting) => meeting.moves(),
        }
    }
}

/// A sender with a queue of its own, or of a rendezvous.
#[doc(hidden)]
#[allow(private_bounds)]
pub enum PipeOutlet<'a, S: PipeSender> {
    /// True: the task is registered.
    Queue(&'a mut S, bool),
    #[allow(private_interfaces)]
    Meeting(MeetingOutlet<'a, S::Message>),
}

#[allow(private_bounds)]
impl<'a, S: PipeSender> PipeOutlet<'a, S> {
    #[inline]
    pub(in crate::channel) fn new(sender: &'a mut S) -> Self {
        if sender.party().is_none() {
            return Self::Queue(sender, false);
        }
        match sender.party() {
            Some(party) => Self::Meeting(MeetingOutlet::new(party)),
            None => unreachable!("looked just now"),
        }
    }
}

impl<S: PipeSender> Outlet for PipeOutlet<'_, S> {
    type Message = S::Message;

    #[inline]
    fn give(&mut self, offer: &mut Option<S::Message>) -> Option<Sent> {
        match self {
            Self::Queue(sender, _) => sender.give(offer),
            Self::Meeting(meeting) => meeting.give(offer),
        }
    }

    fn stand(&mut self, waiter: &SelectWaiter, case: usize, offer: &mut Option<S::Message>) -> Option<Sent> {
        match self {
            Self::Queue(..) => None,
            Self::Meeting(meeting) => meeting.stand(waiter, case, offer),
        }
    }

    fn look(&mut self, waiter: &SelectWaiter, place: &mut Option<S::Message>) -> (Looked, Option<Sent>) {
        match self {
            Self::Queue(sender, is_registered) => {
                *is_registered = true;
                let polled = sender.poll_task(&mut Context::from_waker(&waiter.waker));
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

    fn met(&mut self, place: &mut Option<S::Message>) -> Option<Sent> {
        match self {
            Self::Queue(..) => None,
            Self::Meeting(meeting) => meeting.met(place),
        }
    }

    // MUTANT: A select that has not registered has nothing to forget.
    fn leave(&mut self, offer: &mut Option<S::Message>) {
        match self {
            Self::Queue(sender, is_registered) => {
                if core::mem::take(is_registered) {
                    sender.forget_task();
                }
            }
            Self::Meeting(meeting) => meeting.leave(offer),
        }
    }

    fn moves(&self) -> u64 {
        match self {
            // What has become possible stays possible: room stays until this handle fills it.
            Self::Queue(..) => 0,
            Self::Meeting(meeting) => meeting.moves(),
        }
    }
}

/// Lets a select receive from `$receiver`, whose field `inner` is a `Receiving`.
macro_rules! impl_select_recv {
    ($receiver:ident) => {
        #[allow(private_interfaces)]
        impl<T> $crate::channel::select::pipe::PipeReceiver for $receiver<T> {
            #[inline]
            fn party(&self) -> Option<$crate::channel::rendezvous::Party<'_, T, false>> {
                self.inner.meeting.as_ref().map(|meeting| meeting.party())
            }

            #[inline]
            fn take_or_end(&mut self, place: &mut Option<T>) -> Option<Result<(), RecvError>> {
                self.inner.take_or_end(place)
            }

            fn poll_task(&mut self, context: &mut Context<'_>) -> Poll<()> {
                $crate::wait::one::poll(&mut self.inner.end, context)
            }

            fn forget_task(&mut self) {
                $crate::wait::one::forget(&mut self.inner.end);
            }
        }

        impl<'a, T> $crate::channel::select::SelectRecv for &'a mut $receiver<T> {
            type Message = T;
            type Error = $crate::channel::RecvError;
            type Source = $crate::channel::select::pipe::PipeSource<'a, $receiver<T>>;

            #[inline]
            fn into_source(self) -> Self::Source {
                $crate::channel::select::pipe::PipeSource::new(self)
            }
        }
    };
}

/// Lets a select send with `$sender`, whose field `inner` is a `Sending`.
macro_rules! impl_select_send {
    ($sender:ident) => {
        #[allow(private_interfaces)]
        impl<T> $crate::channel::select::pipe::PipeSender for $sender<T> {
            type Message = T;

            #[inline]
            fn party(&self) -> Option<$crate::channel::rendezvous::Party<'_, T, true>> {
                self.inner.end.meeting.as_ref().map(|meeting| meeting.party())
            }

            #[inline]
            fn give(&mut self, place: &mut Option<T>) -> Option<Result<(), SendError<()>>> {
                self.inner.give(place)
            }

            fn poll_task(&mut self, context: &mut Context<'_>) -> Poll<()> {
                self.inner.poll_ready(context)
            }

            fn forget_task(&mut self) {
                $crate::wait::one::forget(&mut *self.inner.end);
            }
        }

        impl<'a, T> $crate::channel::select::SelectSend for &'a mut $sender<T> {
            type Message = T;
            type Outlet = $crate::channel::select::pipe::PipeOutlet<'a, $sender<T>>;

            #[inline]
            fn into_outlet(self) -> Self::Outlet {
                $crate::channel::select::pipe::PipeOutlet::new(self)
            }
        }
    };
}

pub(in crate::channel) use {impl_select_recv, impl_select_send};

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
            assert_eq!(outlet.give(&mut Some(number)), Some(Ok(())));
            assert!(matches!(outlet.look(&waiter, &mut None), (Looked::Nothing, None)));
            assert_eq!(receiver.recv(), Ok(number));
        }
        outlet.leave(&mut None);
    }
}
