//! The operation of a rendezvous that hands over, or takes, what is in a place: one message, or several one by one. One
//! thread or task at a time.

use core::marker::PhantomData;
use core::task::{Context, Poll, ready};

use super::line_wait::{Closed, Lining};
use super::party::Party;
use crate::operation::Operation;
use crate::os::Deadline;

/// What a sender hands over, with `SENDS`, or where a receiver puts what it takes.
pub(in crate::channel) trait ExchangePlace<T, const SENDS: bool> {
    /// The place of the message that changes hands next: before that it is empty where it is a receiver's, and empty
    /// behind it where it is a sender's.
    fn next(&mut self) -> &mut Option<T>;
    /// No message is to change hands, or one has: takes in what there is, or puts the next one there. False: there is no
    /// more.
    fn fetch(&mut self, _: &Party<'_, T, SENDS>) -> bool {
        false
    }
}

/// One message.
impl<T, const SENDS: bool> ExchangePlace<T, SENDS> for Option<T> {
    fn next(&mut self) -> &mut Option<T> {
        self
    }
}

/// An exchange of all that is in a place, which ends with `E` where the rendezvous is closed.
pub(in crate::channel) struct Exchange<'a, T, P, E, const SENDS: bool> {
    line: Lining<'a, T, SENDS>,
    of: PhantomData<fn(&mut P) -> E>,
}

impl<'a, T, P: ExchangePlace<T, SENDS>, E, const SENDS: bool> Exchange<'a, T, P, E, SENDS> {
    #[inline]
    pub(in crate::channel) fn new(party: &Party<'a, T, SENDS>) -> Self {
        Self { line: Lining::new(party), of: PhantomData }
    }

    /// Whether a message is in line, or is to change hands. One is put into its place now if there is any left.
    fn has_more(&mut self, place: &mut P) -> bool {
        if self.line.is_in_line() || place.next().is_some() == SENDS {
            return true;
        }
        let has_more = place.fetch(&self.line.party());
        if has_more {
            self.line.renew();
        }
        has_more
    }
}

// USER CODE: as of a rendezvous, and of the caller's iterator
impl<T, P: ExchangePlace<T, SENDS>, E: From<Closed>, const SENDS: bool> Operation for Exchange<'_, T, P, E, SENDS> {
    type Place = P;
    type Outcome = Result<(), E>;
    const OWNS: bool = false;

    fn attempt(&mut self, place: &mut P) -> Option<Result<(), E>> {
        while self.has_more(place) {
            if let Err(closed) = self.line.attempt(place.next())? {
                return Some(Err(closed.into()));
            }
        }
        Some(Ok(()))
    }

    fn block(&mut self, deadline: Deadline) -> bool {
        self.line.block(deadline)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.line.poll(context)
    }

    fn step(&mut self, place: &mut P, context: &mut Context<'_>) -> Poll<Result<(), E>> {
        while self.has_more(place) {
            let exchanged = match self.line.attempt_first(place.next()) {
                Some(exchanged) => exchanged,
                None => ready!(self.line.step(place.next(), context)),
            };
            if let Err(closed) = exchanged {
                return Poll::Ready(Err(closed.into()));
            }
        }
        Poll::Ready(Ok(()))
    }

    fn withdraw(&mut self, place: &mut P) -> Option<Result<(), E>> {
        let outcome = self.line.withdraw(place.next())?;
        if outcome.is_ok() && !SENDS {
            place.fetch(&self.line.party());
        }
        Some(outcome.map_err(E::from))
    }

    #[inline(always)]
    fn leave(&mut self) {
        self.line.leave();
    }
}
