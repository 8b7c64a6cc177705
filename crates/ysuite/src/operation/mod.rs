//! Operations: what a handle can do that may have to wait. Each kind of channel says what its operations are. How one
//! waits is written once: here as a thread with a deadline, as a task, and as a task until another future is ready; in
//! `channel/select` for the first of several.
//!
//! A message stays in its [place](Operation::Place), which the driver lends, so no step passes it on by value. Each step
//! may run user code. The drivers end the wait however the operation ends, also where a step panics.

pub(crate) mod limit;
mod readiness;

use core::future::{Future, poll_fn};
use core::mem::ManuallyDrop;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::thread;

use self::limit::Limit;
#[cfg(any(feature = "broadcast", feature = "watch"))]
pub(crate) use self::readiness::Readiness;
use crate::foreign::{Foreign, Panics};
use crate::os::Deadline;

/// What a handle can do, and how to wait until it is possible. Borrows the handle.
pub(crate) trait Operation {
    /// Where the message is that is sent, or where one is received to.
    type Place;
    /// How the operation has ended. Has no drop: messages are in the place.
    type Outcome;

    /// Performs the operation, or reports that it will never be possible. `None`: it must wait, and has changed nothing
    /// but its place.
    fn attempt(&mut self, place: &mut Self::Place) -> Option<Self::Outcome>;
    /// The last attempt: the deadline has passed, or another limit is reached. `None`: nothing has happened, and the
    /// message is in its place.
    fn give_up(&mut self, place: &mut Self::Place) -> Option<Self::Outcome> {
        self.attempt(place)
    }
    /// Blocks the thread until another attempt is worthwhile (true) or the deadline has passed (false).
    fn block(&mut self, deadline: Deadline) -> bool;
    /// Registers the task to be woken when another attempt is worthwhile, unless it is already.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()>;
    /// Ends the wait: nothing is registered any more, and what the handle was notified of is passed on. Then nothing is
    /// left that needs a drop, as before the first wait.
    fn leave(&mut self);
    /// When the operation becomes possible by itself. No task is woken then: who waits by `poll` attempts it again.
    fn due(&self) -> Deadline {
        Deadline::Never
    }
    /// A number that has grown wherever the operation has become possible since the last call, and is no longer
    /// possible. Where nobody else can take the possibility away, it is always the same.
    fn moves(&self) -> u64 {
        0
    }
}

/// An operation that may wait. However it ends, it leaves.
struct Attempted<O: Operation>(O);

// USER CODE: what `leave` of each operation runs: the waker of a task that waits no longer, and those of peers to whom a
//     notification is passed on; the operation is over; re-entrance and panic: as that operation says
impl<O: Operation> Drop for Attempted<O> {
    fn drop(&mut self) {
        Panics::in_drop(|| self.0.leave());
    }
}

/// Performs the operation; blocks the thread until it is possible. `None`: the deadline has passed. After the deadline it
/// is attempted once more, and not for as long as others take away what has woken this thread.
pub(crate) fn block<O: Operation>(mut operation: O, place: &mut O::Place, deadline: Deadline) -> Option<O::Outcome> {
    let outcome = operation.attempt(place);
    if outcome.is_some() { outcome } else { block_behind(operation, place, deadline) }
}

/// As [`block`], after an attempt in vain.
#[inline]
pub(crate) fn block_behind<O: Operation>(operation: O, place: &mut O::Place, deadline: Deadline) -> Option<O::Outcome> {
    let mut waiting = Attempted(operation);
    loop {
        // What the wait wakes is user code.
        let in_time =
            if thread::panicking() { block_unwinding(&mut waiting.0, deadline) } else { waiting.0.block(deadline) };
        if !in_time || deadline.is_over() {
            return waiting.0.give_up(place);
        }
        let outcome = waiting.0.attempt(place);
        if outcome.is_some() {
            return outcome;
        }
    }
}

/// Blocks, where a panic goes no further. Then another attempt finds what there is.
#[cold]
#[inline(never)]
fn block_unwinding<O: Operation>(operation: &mut O, deadline: Deadline) -> bool {
    let mut in_time = true;
    Panics::in_drop(|| in_time = operation.block(deadline));
    in_time
}

/// As [`block`], without a deadline.
pub(crate) fn perform<O: Operation>(operation: O, place: &mut O::Place) -> O::Outcome {
    block(operation, place, Deadline::Never).expect(NEVER)
}

/// As [`block_behind`], without a deadline.
pub(crate) fn perform_behind<O: Operation>(operation: O, place: &mut O::Place) -> O::Outcome {
    block_behind(operation, place, Deadline::Never).expect(NEVER)
}

const NEVER: &str = "without a deadline only an outcome ends it";

/// Performs the operation; the task waits until it is possible, or until `limit` is ready (`None`).
pub(crate) async fn until<O: Operation>(
    operation: O,
    place: &mut O::Place,
    mut limit: Limit<'_, impl Future>,
) -> Option<O::Outcome> {
    let mut waiting = Attempted(operation);
    let outcome = loop {
        let outcome = waiting.0.attempt(place);
        if outcome.is_some() {
            break outcome;
        }
        let is_over = poll_fn(|context| match waiting.0.poll(context) {
            Poll::Ready(()) => Poll::Ready(false),
            Poll::Pending => Pin::new(&mut limit).poll(context).map(|()| true),
        });
        if is_over.await {
            break waiting.0.give_up(place);
        }
    };
    limit::answer_behind(outcome, waiting, limit)
}

/// The wait of a task for an operation, whose place it is lent at each poll.
pub(crate) struct Polled<O: Operation> {
    stage: PollStage,
    /// Not dropped: what it has to give up, it gives up as it [leaves](Operation::leave).
    operation: ManuallyDrop<O>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PollStage {
    /// It has not been attempted.
    New,
    Waiting,
    Over,
}

impl<O: Operation> Polled<O> {
    #[inline]
    pub(crate) fn new(operation: O) -> Self {
        Self { stage: PollStage::New, operation: ManuallyDrop::new(operation) }
    }

    /// The operation, if it has not been attempted: for an attempt by what the caller knows of it. It is over then,
    /// unless it [must wait](Self::must_wait).
    #[inline(always)]
    pub(crate) fn begin(&mut self) -> Option<&mut O> {
        if self.stage != PollStage::New {
            return None;
        }
        self.stage = PollStage::Over;
        Some(&mut self.operation)
    }

    /// The first attempt has changed nothing.
    #[inline(always)]
    pub(crate) fn must_wait(&mut self) {
        self.stage = PollStage::Waiting;
    }

    /// Registers the task; attempts the operation as often as that may be worthwhile.
    #[inline(always)]
    pub(crate) fn poll(&mut self, place: &mut O::Place, context: &mut Context<'_>) -> Poll<O::Outcome> {
        assert!(self.stage != PollStage::Over, "a future is not polled when it has been ready");
        self.stage = PollStage::Waiting;
        loop {
            ready!(self.operation.poll(context));
            if let Some(outcome) = self.operation.attempt(place) {
                return Poll::Ready(self.end(outcome));
            }
        }
    }

    #[inline]
    fn end(&mut self, outcome: O::Outcome) -> O::Outcome {
        let has_waited = self.stage == PollStage::Waiting;
        self.stage = PollStage::Over;
        if has_waited {
            Panics::in_drop(|| self.operation.leave());
        }
        outcome
    }

    #[cold]
    #[inline(never)]
    fn leave(&mut self) {
        Panics::in_drop(|| self.operation.leave());
    }
}

// Nothing is pinned in place.
impl<O: Operation> Unpin for Polled<O> {}

// USER CODE: as of `Attempted`
impl<O: Operation> Drop for Polled<O> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.stage == PollStage::Waiting {
            self.leave();
        }
    }
}

/// An operation of a task, with the place of its message: what a named future consists of.
pub(crate) struct Task<O: Operation> {
    wait: Polled<O>,
    /// Dropped after the wait has ended.
    place: Foreign<O::Place>,
}

impl<O: Operation> Task<O> {
    #[inline]
    pub(crate) fn new(operation: O, place: Foreign<O::Place>) -> Self {
        Self { wait: Polled::new(operation), place }
    }

    pub(crate) fn place(&mut self) -> &mut O::Place {
        &mut self.place
    }

    #[cold]
    #[inline(never)]
    fn wait(&mut self, context: &mut Context<'_>) -> Poll<O::Outcome> {
        self.wait.poll(&mut self.place, context)
    }
}

impl<O: Operation> Future for Task<O> {
    type Output = O::Outcome;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<O::Outcome> {
        let this = self.get_mut();
        assert!(this.wait.stage != PollStage::Over, "a future is not polled when it has been ready");
        match this.wait.operation.attempt(&mut this.place) {
            Some(outcome) => Poll::Ready(this.wait.end(outcome)),
            None => this.wait(context),
        }
    }
}

// Nothing is pinned in place.
impl<O: Operation> Unpin for Task<O> {}
