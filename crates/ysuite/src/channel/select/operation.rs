//! A select with any [operation](crate::operation) that receives or sends one message.

use core::task::Context;

use super::case::Looked;
use super::receive::{Got, RecvSource};
use super::send::{Outlet, Sent};
use super::sleeper::SelectWaiter;
use crate::operation::Operation;
use crate::os::Deadline;

/// A receive that waits by the waker of the select.
#[doc(hidden)]
pub struct OperationSource<O>(pub(crate) O);

/// A send that waits by the waker of the select.
#[doc(hidden)]
pub struct OperationOutlet<O>(pub(in crate::channel) O);

/// The waker is registered, and the operation is attempted once more where that may be worthwhile.
fn look(operation: &mut impl Operation, waiter: &SelectWaiter) -> Looked {
    let polled = operation.poll(&mut Context::from_waker(&waiter.waker));
    if polled.is_ready() { Looked::Ready } else { Looked::Nothing }
}

impl<T, E, O: Operation<Place = Option<T>, Outcome = Got<E>>> RecvSource for OperationSource<O> {
    type Message = T;
    type Error = E;

    #[inline]
    fn take(&mut self, place: &mut Option<T>) -> Option<Got<E>> {
        self.0.attempt(place)
    }

    fn stand(&mut self, _: &SelectWaiter, _: usize, _: &mut Option<T>) -> Option<Got<E>> {
        None
    }

    fn look(&mut self, waiter: &SelectWaiter, _: &mut Option<T>) -> (Looked, Option<Got<E>>) {
        (look(&mut self.0, waiter), None)
    }

    fn announce(&self) {}

    fn met(&mut self, _: &mut Option<T>) -> Option<Got<E>> {
        None
    }

    fn leave(&mut self) {
        self.0.leave();
    }

    fn moves(&self) -> u64 {
        self.0.moves()
    }

    fn due(&self) -> Deadline {
        self.0.due()
    }
}

impl<T, O: Operation<Place = Option<T>, Outcome = Sent>> Outlet for OperationOutlet<O> {
    type Message = T;

    #[inline]
    fn give(&mut self, offer: &mut Option<T>) -> Option<Sent> {
        self.0.attempt(offer)
    }

    fn stand(&mut self, _: &SelectWaiter, _: usize, _: &mut Option<T>) -> Option<Sent> {
        None
    }

    fn look(&mut self, waiter: &SelectWaiter, _: &mut Option<T>) -> (Looked, Option<Sent>) {
        (look(&mut self.0, waiter), None)
    }

    fn announce(&self) {}

    fn met(&mut self, _: &mut Option<T>) -> Option<Sent> {
        None
    }

    fn leave(&mut self, _: &mut Option<T>) {
        self.0.leave();
    }

    fn moves(&self) -> u64 {
        self.0.moves()
    }
}
