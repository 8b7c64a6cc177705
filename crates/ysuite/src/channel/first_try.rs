//! A future that tries at its first poll, and becomes another future only where that fails.
//!
//! A task that always finds a message, or room, runs through nothing else. The state of a wait is large. It is made
//! when the task waits, in the operation's place. An `async` block would hold the state of both, and run through it.
//!
//! A message that is sent is in such a future once: the waiting part has it as an `Option` that it captures and lends.
//! An argument of an `async fn` would be there twice, and once more in each function that it is passed on to.

use core::future::Future;
use core::mem::ManuallyDrop;
use core::pin::Pin;
use core::task::{Context, Poll};

/// An operation that may complete without a wait.
pub(super) trait Attempt: Sized {
    type Outcome;

    /// Performs it, or returns it where that needs a wait.
    fn attempt(self) -> Result<Self::Outcome, Self>;
}

/// First the operation is attempted; then it is the future that `slowly` makes of it.
pub(super) struct FirstTry<A, S, F> {
    stage: FirstTryStage,
    place: FirstTryPlace<A, F>,
    slowly: S,
}

/// The content of the place.
#[derive(Clone, Copy)]
enum FirstTryStage {
    Operation,
    Rest,
    /// It has completed, or is about to become the other future.
    Nothing,
}

/// Not an enum: the first poll would have to find the stage in the operation's unused bits, and so would the drop.
union FirstTryPlace<A, F> {
    operation: ManuallyDrop<A>,
    rest: ManuallyDrop<F>,
}

/// A future that attempts an operation at its first poll, and continues slowly.
#[inline(always)]
pub(super) fn first_try<A: Attempt, F: Future<Output = A::Outcome>>(
    operation: A,
    slowly: impl Fn(A) -> F,
) -> impl Future<Output = A::Outcome> {
    let place = FirstTryPlace { operation: ManuallyDrop::new(operation) };
    FirstTry { stage: FirstTryStage::Operation, place, slowly }
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
        // SAFETY: only the rest is treated as pinned here, and it is never moved: it is made, polled and dropped in its
        //     place.
        let this = unsafe { self.get_unchecked_mut() };
        if !matches!(this.stage, FirstTryStage::Operation) {
            return this.poll_rest(context);
        }
        this.stage = FirstTryStage::Nothing;
        // SAFETY: the stage said that the operation is there; it is taken once.
        let operation = unsafe { ManuallyDrop::take(&mut this.place.operation) };
        match operation.attempt() {
            Ok(outcome) => Poll::Ready(outcome),
            Err(operation) => this.poll_slowly(operation, context),
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
        self.place.rest = ManuallyDrop::new((self.slowly)(operation));
        self.stage = FirstTryStage::Rest;
        self.poll_rest(context)
    }

    #[cold]
    #[inline(never)]
    fn poll_rest(&mut self, context: &mut Context<'_>) -> Poll<A::Outcome> {
        assert!(matches!(self.stage, FirstTryStage::Rest), "a future is not polled when it has been ready");
        // SAFETY: the rest is there. `self` was pinned by `poll`, and the rest is never moved.
        unsafe { Pin::new_unchecked(&mut *self.place.rest) }.poll(context)
    }
}

impl<A, S, F> FirstTry<A, S, F> {
    #[cold]
    #[inline(never)]
    fn drop_place(&mut self) {
        // SAFETY: the stage says what is there, and it is dropped once: nothing uses it afterwards.
        unsafe {
            match self.stage {
                FirstTryStage::Operation => ManuallyDrop::drop(&mut self.place.operation),
                FirstTryStage::Rest => ManuallyDrop::drop(&mut self.place.rest),
                FirstTryStage::Nothing => {}
            }
        }
    }
}

// USER CODE: `Drop` of the operation with its message, or of the rest of the future; the stage says which of the two is
//     there; re-entrance and panic: as of what is dropped; test: tests/suite/sizes.rs:
//     futures_that_send_hold_their_message_once, and every test that drops a future
impl<A, S, F> Drop for FirstTry<A, S, F> {
    #[inline(always)]
    fn drop(&mut self) {
        if !matches!(self.stage, FirstTryStage::Nothing) {
            self.drop_place();
        }
    }
}
