//! The case that sends to one sender.

use super::case::{CaseList, ChosenList, Looked};
use super::operation::SelectOperation;
use super::sleeper::SelectWaiter;
use crate::channel::{SendError, error};
use crate::foreign::{Foreign, Lent};

/// A sender that [`select`](crate::select()) can send with: `&mut` of an `spsc` or `mpsc`, `&` of an `mpmc`.
#[diagnostic::on_unimplemented(
    message = "`select()` cannot send by `{Self}`",
    label = "no sender, or not borrowed as a select borrows it",
    note = "a sender of spsc or mpsc is lent by `&mut`; one of mpmc or broadcast, by `&`"
)]
pub trait SelectSend {
    /// The type of the messages.
    type Message;

    /// The way of sending.
    #[doc(hidden)]
    #[allow(private_bounds)]
    type Outlet: SelectOperation<Message = Self::Message, Error = SendError<()>>;

    #[doc(hidden)]
    fn into_outlet(self) -> Self::Outlet;
}

/// The message, or the caller's place for it.
pub(super) enum Offer<'a, T> {
    Owned(Option<T>),
    Lent(&'a mut Option<T>),
}

impl<T> Offer<'_, T> {
    #[inline]
    fn place(&mut self) -> &mut Option<T> {
        match self {
            Self::Owned(place) => place,
            Self::Lent(place) => place,
        }
    }
}

#[doc(hidden)]
#[allow(private_bounds)]
pub struct SendCase<'a, O, T, F> {
    outlet: O,
    offer: Offer<'a, T>,
    /// There is a message to send. It may be in line.
    has_message: bool,
    outcome: Option<Result<(), SendError<()>>>,
    /// Its captures are dropped after a message that may panic.
    then: Foreign<Option<F>>,
}

impl<'a, O, T, F> SendCase<'a, O, T, F> {
    #[inline]
    pub(super) fn new(outlet: O, mut offer: Offer<'a, T>, then: F) -> Self {
        let has_message = offer.place().is_some();
        Self { outlet, offer, has_message, outcome: None, then: Foreign::some(then) }
    }

    /// The message, if it was not sent.
    pub(super) fn take_message(&mut self) -> Option<T> {
        self.has_message = false;
        self.offer.place().take()
    }

    /// The result of the send, if it was performed; once.
    #[inline]
    pub(super) fn take_result(&mut self) -> Option<Result<(), SendError<T>>> {
        let outcome = self.outcome.take()?;
        self.has_message = false;
        Some(error::of_send(outcome, self.offer.place()))
    }
}

#[allow(private_interfaces)]
impl<T, O: SelectOperation<Message = T, Error = SendError<()>>, F> CaseList for SendCase<'_, O, T, F> {
    #[inline]
    fn len(&self) -> usize {
        1
    }

    // MUTANT: The handle takes the message itself and does nothing without one. At worst a set is notified without a
    // reason.
    #[inline]
    fn try_at(&mut self, _: usize) -> bool {
        let place = self.offer.place();
        if place.is_some() {
            self.outcome = self.outlet.attempt(place);
        }
        self.outcome.is_some()
    }

    // MUTANT: The handle takes the message itself and does nothing without one. At worst a set is notified without a
    // reason.
    fn stand(&mut self, _: usize, waiter: &SelectWaiter, number: usize) -> bool {
        let place = self.offer.place();
        if place.is_some() {
            self.outcome = self.outlet.stand(waiter, number, place);
        }
        self.outcome.is_some()
    }

    fn look(&mut self, _: usize, waiter: &SelectWaiter) -> Looked {
        if !self.has_message {
            return Looked::Nothing;
        }
        let (looked, outcome) = self.outlet.look(waiter, self.offer.place());
        self.outcome = outcome;
        looked
    }

    fn announce(&self) {
        self.outlet.announce();
    }

    fn met(&mut self, _: usize) {
        self.outcome = self.outlet.met(self.offer.place());
    }

    fn leave(&mut self) {
        self.outlet.leave(self.offer.place());
    }

    fn moves(&mut self) -> u64 {
        self.outlet.moves()
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.outcome.is_some()
    }
}

impl<R, T, O: SelectOperation<Message = T, Error = SendError<()>>, F: FnOnce(Result<(), SendError<T>>) -> R>
    ChosenList<R> for SendCase<'_, O, T, F>
{
    #[inline]
    fn finish(&mut self, result: &mut Option<R>) {
        if let Some(sent) = self.take_result() {
            *result = Some(self.then.take_out()(sent));
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::future::Future;
    use core::pin::pin;
    use core::task::{Context, Poll, Waker};

    use super::*;
    use crate::channel::mpmc;

    /// The receiver comes while the select is at work, and registers in line.
    #[test]
    fn what_a_look_sends_is_the_outcome() {
        let (sender, receiver) = mpmc::bounded::<i32>(0);
        let mut waiter = SelectWaiter::borrow();
        waiter.begin();
        let mut case =
            SendCase::new(sender.into_outlet(), Offer::Owned(Some(7)), |sent: Result<(), SendError<i32>>| sent);
        assert!(!case.stand(0, &waiter, 0));
        let mut context = Context::from_waker(Waker::noop());
        let mut receiving = pin!(receiver.recv_async());
        assert!(receiving.as_mut().poll(&mut context).is_pending());
        waiter.ticket.open();
        assert!(matches!(case.look(0, &waiter), Looked::Done));
        let mut result = None;
        case.finish(&mut result);
        assert_eq!(result, Some(Ok(())));
        assert_eq!(receiving.poll(&mut context), Poll::Ready(Ok(7)));
    }

    /// Otherwise it would check there again and again, and nowhere else.
    #[test]
    fn without_a_message_room_is_nothing() {
        let (sender, _receiver) = mpmc::bounded::<i32>(1);
        let (waiter, mut place) = (SelectWaiter::borrow(), None::<i32>);
        let mut case =
            SendCase::new(sender.into_outlet(), Offer::Lent(&mut place), |sent: Result<(), SendError<i32>>| sent);
        assert!(matches!(case.look(0, &waiter), Looked::Nothing));
    }
}
