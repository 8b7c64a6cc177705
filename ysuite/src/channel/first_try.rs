//! A future that tries at its first poll, and becomes another only where that was in vain.
//!
//! A task that always finds a message, or room, goes through nothing else: what it takes to wait, which is large, is made
//! where it waits, in the operation's place. An `async` block would hold the state of both, and go through it.
//!
//! A message that is sent is in such a future once: what waits has it as an `Option` that it captures and lends. An argument of an
//! `async fn` would be there twice, and once more in each function that it is handed on to.

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
    stage: FirstTryStage<A, F>,
    slowly: S,
}

enum FirstTryStage<A, F> {
    Operation(A),
    Rest(F),
    /// Over, or about to be another stage.
    Over,
}

impl<A, F> FirstTryStage<A, F> {
    /// The operation, if it has not been attempted yet.
    #[inline(always)]
    fn take(&mut self) -> Option<A> {
        // Nothing is moved that may be pinned.
        if !matches!(self, Self::Operation(_)) {
            return None;
        }
        match core::mem::replace(self, Self::Over) {
            Self::Operation(operation) => Some(operation),
            Self::Rest(_) | Self::Over => None,
        }
    }
}

/// A future that attempts an operation at its first poll, and goes on slowly.
#[inline(always)]
pub(super) fn first_try<A: Attempt, F: Future<Output = A::Outcome>>(
    operation: A,
    slowly: impl Fn(A) -> F,
) -> impl Future<Output = A::Outcome> {
    FirstTry { stage: FirstTryStage::Operation(operation), slowly }
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
        // SAFETY: of all that is in here only the rest is treated as pinned, and that is moved nowhere: it is made, polled and dropped
        // in its place.
        let this = unsafe { self.get_unchecked_mut() };
        match this.stage.take() {
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
        self.stage = FirstTryStage::Rest((self.slowly)(operation));
        self.poll_rest(context)
    }

    #[cold]
    #[inline(never)]
    fn poll_rest(&mut self, context: &mut Context<'_>) -> Poll<A::Outcome> {
        let FirstTryStage::Rest(rest) = &mut self.stage else {
            panic!("a future is not polled when it has been ready")
        };
        // SAFETY: `self` was pinned by `poll`, and `rest` is moved nowhere.
        unsafe { Pin::new_unchecked(rest) }.poll(context)
    }
}
