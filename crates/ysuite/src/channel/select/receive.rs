//! The case that receives from one receiver.

use super::case::{CaseList, ChosenList, Looked};
use super::operation::SelectOperation;
use super::sleeper::SelectWaiter;
use crate::channel::error;
use crate::foreign::{Foreign, Lent};
use crate::os::Deadline;

/// A receiver that [`select`](crate::select()) can receive from: `&mut` of an `spsc`, `mpsc`, `oneshot` or `broadcast`, and
/// of a `watch`, whose message says that there is a new value; `&` of an `mpmc` or a [`Timer`](crate::signal::Timer);
/// what `receiving` of a mailbox and `taking` of a pool return.
#[diagnostic::on_unimplemented(
    message = "`select()` cannot receive from `{Self}`",
    label = "no receiver, or not borrowed as a select borrows it",
    note = "a receiver of spsc, mpsc, oneshot, broadcast or watch is lent by `&mut`; one of mpmc, and a timer, by `&`; \
            of a mailbox it is `receiving`, of a pool `taking`"
)]
pub trait SelectRecv {
    /// The type of the messages.
    type Message;

    /// Why there is no message: as of the receiver's `recv`.
    type Error;

    /// The way of receiving.
    #[doc(hidden)]
    #[allow(private_bounds)]
    type Source: SelectOperation<Message = Self::Message, Error = Self::Error>;

    #[doc(hidden)]
    fn into_source(self) -> Self::Source;
}

#[doc(hidden)]
#[allow(private_bounds)]
pub struct RecvCase<S: SelectOperation, F> {
    source: S,
    place: Option<S::Message>,
    outcome: Option<Result<(), S::Error>>,
    /// Its captures are dropped after a message that may panic.
    then: Foreign<Option<F>>,
}

#[allow(private_bounds)]
impl<S: SelectOperation, F> RecvCase<S, F> {
    #[inline]
    pub(super) fn new(source: S, then: F) -> Self {
        Self { source, place: None, outcome: None, then: Foreign::some(then) }
    }

    /// The result of the receive, if it was performed; once.
    #[inline]
    pub(super) fn take_result(&mut self) -> Option<Result<S::Message, S::Error>> {
        self.outcome.take().map(|outcome| error::received(outcome, &mut self.place))
    }
}

#[allow(private_interfaces)]
impl<S: SelectOperation, F> CaseList for RecvCase<S, F> {
    #[inline]
    fn len(&self) -> usize {
        1
    }

    #[inline]
    fn try_at(&mut self, _: usize) -> bool {
        self.outcome = self.source.attempt(&mut self.place);
        self.outcome.is_some()
    }

    fn stand(&mut self, _: usize, waiter: &SelectWaiter, number: usize) -> bool {
        self.outcome = self.source.stand(waiter, number, &mut self.place);
        self.outcome.is_some()
    }

    fn look(&mut self, _: usize, waiter: &SelectWaiter) -> Looked {
        let (looked, outcome) = self.source.look(waiter, &mut self.place);
        self.outcome = outcome;
        looked
    }

    fn announce(&self) {
        self.source.announce();
    }

    fn met(&mut self, _: usize) {
        self.outcome = self.source.met(&mut self.place);
    }

    fn leave(&mut self) {
        self.source.leave(&mut self.place);
    }

    fn moves(&mut self) -> u64 {
        self.source.moves()
    }

    fn deadline(&self, limit: Deadline) -> Deadline {
        limit.or_sooner(self.source.due())
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.outcome.is_some()
    }
}

impl<R, S: SelectOperation, F: FnOnce(Result<S::Message, S::Error>) -> R> ChosenList<R> for RecvCase<S, F> {
    #[inline]
    fn finish(&mut self, result: &mut Option<R>) {
        if let Some(received) = self.take_result() {
            *result = Some(self.then.take_out()(received));
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::future::Future;
    use core::pin::pin;
    use core::task::{Context, Waker};

    use super::*;
    use crate::channel::{RecvError, mpmc};

    /// The sender comes while the select is at work, and registers in line.
    #[test]
    fn what_a_look_receives_is_the_outcome() {
        let (sender, receiver) = mpmc::bounded::<i32>(0);
        let mut waiter = SelectWaiter::borrow();
        waiter.begin();
        let mut case = RecvCase::new(receiver.into_source(), |got: Result<i32, RecvError>| got);
        assert!(!case.stand(0, &waiter, 0));
        let mut sending = pin!(sender.send_async(7));
        assert!(sending.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        waiter.ticket.open();
        assert!(matches!(case.look(0, &waiter), Looked::Done));
        let mut result = None;
        case.finish(&mut result);
        assert_eq!(result, Some(Ok(7)));
    }
}
