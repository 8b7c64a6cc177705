//! The case that receives from one receiver.

use super::case::{Case, Looked};
use super::sleeper::SelectWaiter;
use crate::channel::RecvError;
use crate::foreign::Foreign;

/// A receiver that [`select`](super::select) can receive from: `&mut` of an `spsc` or `mpsc`, `&` of an `mpmc`.
pub trait SelectRecv {
    /// The type of the messages.
    type Message;

    /// The way of receiving.
    #[doc(hidden)]
    #[allow(private_bounds)]
    type Source: RecvSource<Message = Self::Message>;

    #[doc(hidden)]
    fn into_source(self) -> Self::Source;
}

/// What a receiver's channel provides, and how to wait for it. See [`Case`] for what is not said here.
pub(in crate::channel) trait RecvSource {
    type Message;

    /// A message, or the error that there will be none. `None`: neither yet.
    fn take(&mut self) -> Option<Result<Self::Message, RecvError>>;
    fn stand(&mut self, waiter: &SelectWaiter, case: usize) -> Option<Result<Self::Message, RecvError>>;
    /// With the received message, where it is [`Looked::Done`].
    fn look(&mut self, waiter: &SelectWaiter) -> (Looked, Option<Result<Self::Message, RecvError>>);
    fn announce(&self);
    fn met(&mut self) -> Option<Result<Self::Message, RecvError>>;
    fn leave(&mut self);
    fn moves(&self) -> u64;
}

#[doc(hidden)]
#[allow(private_bounds)]
pub struct RecvCase<S: RecvSource, F> {
    source: S,
    outcome: Option<Result<S::Message, RecvError>>,
    /// Its captures are dropped after a message that may panic.
    then: Foreign<F>,
}

#[allow(private_bounds)]
impl<S: RecvSource, F> RecvCase<S, F> {
    #[inline]
    pub(super) fn new(source: S, then: F) -> Self {
        Self { source, outcome: None, then: Foreign::new(then) }
    }
}

impl<R, S: RecvSource, F: FnOnce(Result<S::Message, RecvError>) -> R> Case<R> for RecvCase<S, F> {
    #[inline]
    fn len(&self) -> usize {
        1
    }

    #[inline]
    fn try_at(&mut self, _: usize) -> bool {
        self.outcome = self.source.take();
        self.outcome.is_some()
    }

    fn stand(&mut self, _: usize, waiter: &SelectWaiter, number: usize) -> bool {
        self.outcome = self.source.stand(waiter, number);
        self.outcome.is_some()
    }

    fn look(&mut self, _: usize, waiter: &SelectWaiter) -> Looked {
        let (looked, outcome) = self.source.look(waiter);
        self.outcome = outcome;
        looked
    }

    fn announce(&self) {
        self.source.announce();
    }

    fn met(&mut self, _: usize) {
        self.outcome = self.source.met();
    }

    fn leave(&mut self) {
        self.source.leave();
    }

    fn moves(&mut self) -> u64 {
        self.source.moves()
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.outcome.is_some()
    }

    #[inline]
    fn finish(self) -> Option<R> {
        self.outcome.map(self.then.into_inner())
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::future::Future;
    use core::pin::pin;
    use core::task::{Context, Waker};

    use super::*;
    use crate::channel::mpmc;

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
        assert_eq!(case.finish(), Some(Ok(7)));
    }
}
