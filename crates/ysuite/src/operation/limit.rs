//! The limit of an operation of a task: any future. Its polls and its drop are user code. The calling task only.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use crate::foreign::Panics;

/// The limit of a send, where it has been pinned. It is dropped before the future that it limits returns. While
/// unwinding, a panic of its own goes no further.
pub(crate) struct Limit<'a, F>(Pin<&'a mut Option<F>>);

impl<'a, F: Future> Limit<'a, F> {
    pub(crate) fn new(place: Pin<&'a mut Option<F>>) -> Self {
        Self(place)
    }
}

impl<F: Future> Future for Limit<'_, F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().as_pin_mut().map_or(Poll::Ready(()), |limit| limit.poll(context).map(drop))
    }
}

// USER CODE: `Drop` of the future that limits the wait; the wait has ended, or ends with it; re-entrance: whatever the
//     future does; panic: while unwinding it is not resumed; test: tests/suite/disposing.rs:
//     limits_end_behind_their_own_panic
impl<F> Drop for Limit<'_, F> {
    fn drop(&mut self) {
        Panics::in_drop(|| self.0.set(None));
    }
}

/// The result, when the wait and its limit have ended. The drops of both are user code. So is the drop of a result that
/// no caller gets, while unwinding.
pub(crate) fn answer_behind<A, W, F>(answer: A, wait: W, limit: Limit<'_, F>) -> A {
    let mut panics = Panics::none();
    // MUTANT: Killed only by `a_message_that_comes_back_ends_with_a_waker_whose_drop_panics`.
    panics.catch(|| drop(wait));
    panics.catch(|| drop(limit));
    panics.answer(answer)
}
