//! The limit of an operation of a task: any future. Its polls and its drop are user code. The calling task only.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use super::{Attempted, Operation, step};
use crate::foreign::{Foreign, Panics};

/// An operation of a task until another future is ready: what a named future consists of.
pub(crate) struct Limited<O: Operation, F> {
    waiting: Attempted<O>,
    limit: Limit<F>,
    // USER CODE: `Drop` of the message, after the wait and the limit have ended
    place: Foreign<O::Place>,
}

/// The limit of a send. It is dropped before the future that it limits returns. While unwinding, a panic of its own
/// goes no further. `None`: the operation is over.
struct Limit<F>(Option<F>);

impl<F: Future> Limit<F> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(limit) = &mut self.0 else { return Poll::Ready(()) };
        // SAFETY: by the only caller, whose `self` is pinned. It is dropped in its place.
        unsafe { Pin::new_unchecked(limit) }.poll(context).map(drop)
    }
}

// USER CODE: `Drop` of the future that limits the wait; the wait has ended, or ends with it; re-entrance: whatever the
//     future does; panic: while unwinding it is not resumed; test: tests/suite/disposing.rs:
//     limits_end_behind_their_own_panic
impl<F> Drop for Limit<F> {
    fn drop(&mut self) {
        Panics::in_drop(|| self.0 = None);
    }
}

impl<O: Operation, F: Future> Limited<O, F> {
    pub(crate) fn new(operation: O, place: Foreign<O::Place>, limit: F) -> Self {
        Self { waiting: Attempted::new(operation), limit: Limit(Some(limit)), place }
    }

    /// The place of the message.
    pub(crate) fn place(self: Pin<&mut Self>) -> &mut O::Place {
        // SAFETY: only the limit is pinned.
        unsafe { &mut self.get_unchecked_mut().place }
    }

    // USER CODE: `poll` and `Drop` of the limit; the message is here; the task is registered, or its registration is
    //     already withdrawn; re-entrance: none (the handle is borrowed); panic: the wait ends with this future, and the
    //     message is dropped; test: tests/suite/conformance/channel/task_batches.rs:
    //     a_limit_whose_end_panics_takes_the_message_along
    /// Performs the operation, or registers the task. `None`: the limit is reached.
    pub(crate) fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<O::Outcome>> {
        // SAFETY: nothing of it is moved, except for the message, which is not pinned.
        let Self { waiting, limit, place } = unsafe { self.get_unchecked_mut() };
        assert!(limit.0.is_some(), "a future is not polled when it has been ready");
        let first = if waiting.waits { None } else { waiting.operation.attempt(place) };
        let outcome = match first {
            Some(outcome) => Some(outcome),
            None => {
                waiting.waits = true;
                match step(&mut waiting.operation, place, context) {
                    Poll::Ready(outcome) => Some(outcome),
                    Poll::Pending => {
                        ready!(limit.poll(context));
                        waiting.operation.attempt(place).or_else(|| waiting.operation.withdraw(place))
                    }
                }
            }
        };
        // The drops of both are user code. So is the drop of a result that no caller gets, while unwinding.
        let mut panics = Panics::none();
        // MUTANT: Killed only by `a_message_that_comes_back_ends_with_a_waker_whose_drop_panics`.
        panics.catch(|| waiting.end());
        panics.catch(|| limit.0 = None);
        Poll::Ready(panics.answer(outcome))
    }
}

// Only the limit is pinned in its place.
impl<O: Operation, F: Unpin> Unpin for Limited<O, F> {}
