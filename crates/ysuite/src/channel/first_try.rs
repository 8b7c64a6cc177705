//! A future that tries at its first poll, and becomes another future only where that fails.
//!
//! A task that always finds a message, or room, runs through nothing else. The state of a wait is large. It is made
//! when the task waits, in the operation's place. An `async` block would hold the state of both, and run through it.
//!
//! A message that is sent is in such a future once: the operation has it as an `Option`, which it lends to the waiting
//! part. An argument of an `async fn` would be there twice, and once more in each function that it is passed on to.

use core::future::Future;
use core::marker::PhantomPinned;
use core::mem::MaybeUninit;
use core::pin::Pin;
use core::task::{Context, Poll};

/// An operation that may complete without a wait.
pub(super) trait Attempt {
    type Outcome;

    /// Performs it. Where that needs a wait it has changed nothing. Called once, before anything else uses this.
    fn attempt(&mut self) -> Poll<Self::Outcome>;
}

/// First the operation is attempted; then it is the future that `slowly` makes of it, which borrows it.
pub(super) struct FirstTry<A, S, F> {
    stage: FirstTryStage,
    slowly: S,
    /// Dropped before the operation.
    rest: MaybeUninit<F>,
    operation: A,
    /// The rest borrows the operation.
    _pinned: PhantomPinned,
}

#[derive(Clone, Copy)]
enum FirstTryStage {
    Operation,
    Rest,
    /// It has completed.
    Nothing,
}

/// A future that attempts an operation at its first poll, and continues slowly.
#[inline(always)]
pub(super) fn first_try<'a, A: Attempt + 'a, F: Future<Output = A::Outcome>>(
    operation: A,
    slowly: impl Fn(&'a mut A) -> F,
) -> impl Future<Output = A::Outcome> {
    FirstTry { stage: FirstTryStage::Operation, slowly, rest: MaybeUninit::uninit(), operation, _pinned: PhantomPinned }
}

impl<'a, A, S, F> Future for FirstTry<A, S, F>
where
    A: Attempt + 'a,
    S: Fn(&'a mut A) -> F,
    F: Future<Output = A::Outcome>,
{
    type Output = A::Outcome;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<A::Outcome> {
        // SAFETY: nothing is moved out of here: the operation is lent, and the rest is made, polled and dropped in its
        //     place.
        let this = unsafe { self.get_unchecked_mut() };
        if !matches!(this.stage, FirstTryStage::Operation) {
            return this.poll_rest(context);
        }
        this.stage = FirstTryStage::Nothing;
        let outcome = this.operation.attempt();
        if outcome.is_ready() {
            return outcome;
        }
        this.poll_slowly(context)
    }
}

impl<'a, A, S, F> FirstTry<A, S, F>
where
    A: Attempt + 'a,
    S: Fn(&'a mut A) -> F,
    F: Future<Output = A::Outcome>,
{
    #[cold]
    #[inline(never)]
    fn poll_slowly(&mut self, context: &mut Context<'_>) -> Poll<A::Outcome> {
        let operation: *mut A = &raw mut self.operation;
        // SAFETY: the future is pinned and borrows the operation until it is dropped, which comes before the drop of the
        //     operation. Nothing else uses the operation from here on. `A` outlives `'a` together with what it borrows.
        let operation: &'a mut A = unsafe { &mut *operation };
        self.rest.write((self.slowly)(operation));
        self.stage = FirstTryStage::Rest;
        self.poll_rest(context)
    }

    #[cold]
    #[inline(never)]
    fn poll_rest(&mut self, context: &mut Context<'_>) -> Poll<A::Outcome> {
        assert!(matches!(self.stage, FirstTryStage::Rest), "a future is not polled when it has been ready");
        // SAFETY: the rest is there. `self` was pinned by `poll`, and the rest is never moved.
        unsafe { Pin::new_unchecked(self.rest.assume_init_mut()) }.poll(context)
    }
}

impl<A, S, F> FirstTry<A, S, F> {
    #[cold]
    #[inline(never)]
    fn drop_rest(&mut self) {
        // SAFETY: the stage said that the rest is there, and it is dropped once: nothing uses it afterwards.
        unsafe { self.rest.assume_init_drop() };
    }
}

// USER CODE: `Drop` of the rest of the future, then of the operation with its message; the stage says whether there is a
//     rest; re-entrance and panic: as of what is dropped; test: tests/suite/sizes.rs:
//     futures_that_send_hold_their_message_once, and every test that drops a future
impl<A, S, F> Drop for FirstTry<A, S, F> {
    #[inline(always)]
    fn drop(&mut self) {
        if matches!(self.stage, FirstTryStage::Rest) {
            self.drop_rest();
        }
    }
}
