//! Operations: what a handle can do that may have to wait. Each kind of channel says what its operations are. How one
//! waits is written once: here as a thread with a deadline, as a task, and as a task until another future is ready; in
//! `channel/select` for the first of several.
//!
//! A message stays in its [place](Operation::Place), which the driver lends, so no step passes it on by value. Each step
//! may run user code. The drivers end the wait however the operation ends, also where a step panics.

pub(crate) mod limit;
mod readiness;

use core::future::Future;
use core::mem::ManuallyDrop;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

#[cfg(any(feature = "broadcast", feature = "mpmc", feature = "watch"))]
pub(crate) use self::readiness::Readiness;
use crate::foreign::{Foreign, Panics};
use crate::os::Deadline;

/// What a handle can do, and how to wait until it is possible. Borrows the handle.
pub(crate) trait Operation {
    /// Where the message is that is sent, or where one is received to.
    type Place;
    /// How the operation has ended. Has no drop: messages are in the place.
    type Outcome;
    /// Whether there may be something to drop of an operation that does not wait, or has left.
    const OWNS: bool = true;

    /// Performs the operation, or reports that it will never be possible. `None`: it must wait. A message that is
    /// sent is in its place then, or waits where peers find it until it is [withdrawn](Self::withdraw).
    /// Who attempts it keeps a promise: a place whose message was sent is only dropped, or gets another message. It need
    /// not say that it is empty.
    fn attempt(&mut self, place: &mut Self::Place) -> Option<Self::Outcome>;
    /// Blocks the thread until another attempt is worthwhile (true) or the deadline has passed (false).
    fn block(&mut self, deadline: Deadline) -> bool;
    /// Registers the task to be woken when another attempt is worthwhile, unless it is already.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()>;
    /// Registers the task, and attempts the operation again where that is worthwhile.
    fn step(&mut self, place: &mut Self::Place, context: &mut Context<'_>) -> Poll<Self::Outcome> {
        step(self, place, context)
    }
    /// The limit of the wait is reached: a message that waits elsewhere returns to its place, unless a peer was quicker:
    /// then this is how the operation has ended.
    fn withdraw(&mut self, _place: &mut Self::Place) -> Option<Self::Outcome> {
        None
    }
    /// Ends the wait: nothing is registered any more, and what the handle was notified of is passed on. May be called
    /// again.
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

/// As [`Operation::step`], by the other methods.
#[inline(always)]
pub(crate) fn step<O: Operation + ?Sized>(
    operation: &mut O,
    place: &mut O::Place,
    context: &mut Context<'_>,
) -> Poll<O::Outcome> {
    loop {
        ready!(operation.poll(context));
        if let Some(outcome) = operation.attempt(place) {
            return Poll::Ready(outcome);
        }
    }
}

/// An operation that may wait. However it ends, it leaves.
struct Attempted<O: Operation> {
    operation: O,
    waits: bool,
}

impl<O: Operation> Attempted<O> {
    #[inline]
    fn new(operation: O) -> Self {
        Self { operation, waits: false }
    }

    /// Blocks the thread until the operation is possible, after an attempt in vain.
    #[inline]
    fn block(&mut self, place: &mut O::Place, deadline: Deadline) -> Option<O::Outcome> {
        self.waits = true;
        loop {
            let in_time = self.operation.block(deadline) && is_ahead(deadline);
            let outcome = self.operation.attempt(place);
            if outcome.is_some() {
                return outcome;
            }
            if !in_time {
                return self.operation.withdraw(place);
            }
        }
    }

    /// The operation leaves, if it waits.
    fn end(&mut self) {
        if core::mem::take(&mut self.waits) {
            self.operation.leave();
        }
    }
}

// USER CODE: what `leave` of each operation runs: the waker of a task that waits no longer, and those of peers to whom a
//     notification is passed on; the operation is over; re-entrance and panic: as that operation says
impl<O: Operation> Drop for Attempted<O> {
    #[inline]
    fn drop(&mut self) {
        if self.waits {
            Panics::in_drop(|| self.operation.leave());
        }
    }
}

/// Performs the operation; blocks the thread until it is possible. `None`: the deadline has passed. After the deadline it
/// is attempted once more, and not for as long as others take away what has woken this thread.
pub(crate) fn block<O: Operation>(operation: O, place: &mut O::Place, deadline: Deadline) -> Option<O::Outcome> {
    let mut attempted = Attempted::new(operation);
    let outcome = attempted.operation.attempt(place);
    if outcome.is_some() { outcome } else { attempted.block(place, deadline) }
}

/// As [`block`], after an attempt in vain.
#[inline]
pub(crate) fn block_behind<O: Operation>(operation: O, place: &mut O::Place, deadline: Deadline) -> Option<O::Outcome> {
    Attempted::new(operation).block(place, deadline)
}

/// Whether there is time left. Not inlined, as it would be compiled for each operation.
#[inline(never)]
fn is_ahead(deadline: Deadline) -> bool {
    !deadline.is_over()
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

/// An operation of a task, to whose polls the place of its message is lent: what a named future consists of. Such a
/// future is as small as its wait where it receives.
pub(crate) struct Polled<O: Operation> {
    stage: TaskStage,
    operation: ManuallyDrop<O>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TaskStage {
    /// It has not been attempted.
    New,
    Waiting,
    Over,
}

impl<O: Operation> Polled<O> {
    #[inline(always)]
    pub(crate) fn new(operation: O) -> Self {
        Self { stage: TaskStage::New, operation: ManuallyDrop::new(operation) }
    }

    /// The operation, if it has not been attempted: for an attempt by what the caller knows of it. It is over then,
    /// unless it [must wait](Self::must_wait).
    #[inline(always)]
    pub(crate) fn begin(&mut self) -> Option<&mut O> {
        if self.stage != TaskStage::New {
            return None;
        }
        self.stage = TaskStage::Over;
        Some(&mut self.operation)
    }

    /// The first attempt has changed nothing.
    #[inline(always)]
    pub(crate) fn must_wait(&mut self) {
        self.stage = TaskStage::Waiting;
    }

    /// Performs the operation, or registers the task. The place of a message is the same in all polls, or empty in all.
    #[inline(always)]
    pub(crate) fn poll(&mut self, place: &mut O::Place, context: &mut Context<'_>) -> Poll<O::Outcome> {
        if self.stage != TaskStage::New {
            return self.poll_again(place, context);
        }
        self.stage = TaskStage::Over;
        match self.operation.attempt(place) {
            Some(outcome) => Poll::Ready(outcome),
            None => self.wait(place, context),
        }
    }

    #[cold]
    #[inline(never)]
    fn poll_again(&mut self, place: &mut O::Place, context: &mut Context<'_>) -> Poll<O::Outcome> {
        assert!(self.stage != TaskStage::Over, "a future is not polled when it has been ready");
        match self.operation.attempt(place) {
            Some(outcome) => Poll::Ready(self.end(outcome)),
            None => self.wait(place, context),
        }
    }

    #[cold]
    #[inline(never)]
    fn wait(&mut self, place: &mut O::Place, context: &mut Context<'_>) -> Poll<O::Outcome> {
        self.must_wait();
        self.poll_behind(place, context)
    }

    /// As [`poll`](Self::poll), behind an attempt in vain of the caller's own.
    #[inline(always)]
    pub(crate) fn poll_behind(&mut self, place: &mut O::Place, context: &mut Context<'_>) -> Poll<O::Outcome> {
        assert!(self.stage == TaskStage::Waiting, "a future is not polled when it has been ready");
        let outcome = ready!(self.operation.step(place, context));
        Poll::Ready(self.end(outcome))
    }

    fn end(&mut self, outcome: O::Outcome) -> O::Outcome {
        self.stage = TaskStage::Over;
        self.leave();
        outcome
    }

    fn leave(&mut self) {
        Panics::in_drop(|| self.operation.leave());
    }

    #[inline(never)]
    fn drop_slowly(&mut self) {
        let mut panics = Panics::none();
        if self.stage == TaskStage::Waiting {
            panics.catch(|| self.operation.leave());
        }
        if O::OWNS {
            // SAFETY: once, as it is part of this drop, and nothing uses the operation afterwards.
            panics.catch(|| unsafe { ManuallyDrop::drop(&mut self.operation) });
        }
    }
}

// USER CODE: as of `Attempted`
impl<O: Operation> Drop for Polled<O> {
    #[inline(always)]
    fn drop(&mut self) {
        if O::OWNS || self.stage == TaskStage::Waiting {
            self.drop_slowly();
        }
    }
}

/// An operation of a task, with the place of its message.
pub(crate) struct Task<O: Operation> {
    operation: Polled<O>,
    // USER CODE: `Drop` of the message, after the wait has ended
    place: Foreign<O::Place>,
}

impl<O: Operation> Task<O> {
    #[inline(always)]
    pub(crate) fn new(operation: O, place: Foreign<O::Place>) -> Self {
        Self { operation: Polled::new(operation), place }
    }

    pub(crate) fn place(&mut self) -> &mut O::Place {
        &mut self.place
    }

    /// For a poll by the parts.
    #[inline(always)]
    pub(crate) fn parts(&mut self) -> (&mut Polled<O>, &mut O::Place) {
        (&mut self.operation, &mut self.place)
    }
}

impl<O: Operation> Future for Task<O> {
    type Output = O::Outcome;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<O::Outcome> {
        let this = self.get_mut();
        this.operation.poll(&mut this.place, context)
    }
}

// Nothing is pinned in place.
impl<O: Operation> Unpin for Task<O> {}
