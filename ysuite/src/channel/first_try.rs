//! A future that tries at its first poll, and becomes another only where that was in vain.
//!
//! A task that always finds a message, or room, goes through nothing else: what it takes to wait, which is large, is made
//! where it waits. An `async` block would hold the state of both, and go through it.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

/// An operation that may be over without a wait.
pub(super) trait Attempt: Sized {
    type Outcome;

    /// Does it, or gives it back where that needs a wait.
    fn attempt(self) -> Result<Self::Outcome, Self>;
}

/// First the operation is attempted; then it is what `slowly` makes of it.
pub(super) struct FirstTry<A, S, F> {
    operation: Option<A>,
    slowly: S,
    rest: Option<F>,
}

/// A future that attempts an operation at its first poll, and goes on slowly.
#[inline(always)]
pub(super) fn first_try<A: Attempt, F: Future<Output = A::Outcome>>(
    operation: A,
    slowly: impl Fn(A) -> F,
) -> impl Future<Output = A::Outcome> {
    FirstTry { operation: Some(operation), slowly, rest: None }
}

impl<A, S, F> Future for FirstTry<A, S, F>
where
    A: Attempt,
    S: Fn(A) -> F,
    F: Future<Output = A::Outcome>,
{
    type Output = A::Outcome;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<A::Outcome> {
        // SAFETY: of all fields only `rest` is treated as pinned, and that is moved nowhere: it is made, polled and dropped in
        // its place.
        let this = unsafe { self.get_unchecked_mut() };
        match this.operation.take() {
            Some(operation) => match operation.attempt() {
                Ok(outcome) => Poll::Ready(outcome),
                Err(operation) => this.poll_slowly(operation, context),
            },
            None => this.poll_rest(context),
        }
    }
}

impl<A, S, F> FirstTry<A, S, F>
where
    A: Attempt,
    S: Fn(A) -> F,
    F: Future<Output = A::Outcome>,
{
    #[cold]
    #[inline(never)]
    fn poll_slowly(&mut self, operation: A, context: &mut Context<'_>) -> Poll<A::Outcome> {
        self.rest = Some((self.slowly)(operation));
        self.poll_rest(context)
    }

    #[cold]
    #[inline(never)]
    fn poll_rest(&mut self, context: &mut Context<'_>) -> Poll<A::Outcome> {
        let rest = self.rest.as_mut().expect("a future is not polled when it has been ready");
        // SAFETY: `self` was pinned by `poll`, and `rest` is moved nowhere.
        unsafe { Pin::new_unchecked(rest) }.poll(context)
    }
}
