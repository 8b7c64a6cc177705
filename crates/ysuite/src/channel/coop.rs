//! The cooperative budget of tokio's tasks, under the feature `tokio`. Each message that a task receives or sends, and
//! each value that it is notified of, is a step. Tokio lets a task make a number of steps before other tasks run. So a
//! task that always finds a message, or room, starves no other task.
//!
//! A task that has used up its steps gets `Pending` and is polled again soon. Nothing has happened then, and nothing is
//! lost. A batch is one step, however long. Where it is sent in parts with a wait between, it is still one step, except
//! in an mpmc, where each part of 64 is a step. Waiting for a disconnection (`closed`) is no step: it reports nothing
//! new a second time. An operation that has to wait costs no step. Outside a runtime, in `tokio::task::unconstrained`,
//! and without the feature nothing is counted: then these functions do nothing of their own.
//!
//! An executor may block within a task of tokio, and run operations there. It uses up the steps of that task, which are
//! renewed only where the task returns to its scheduler. With tokio's own channels it waits for ever then. Here the
//! waker of a refused operation is called at once, and a thread that returns with no steps left makes one all the same.
//! So such an executor progresses, and each of its operations is polled twice. A task of tokio that polls several
//! futures makes one step too many for each refusal.

use core::future::Future;
use core::task::{Context, Poll};

use crate::operation::{Operation, Polled};

// THREAD EXIT: `IS_REFUSED`: a thread past its thread-locals runs no task of tokio; by construction: `try_with`
#[cfg(feature = "tokio")]
std::thread_local! {
    /// The last poll on this thread was refused.
    static IS_REFUSED: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
}

/// No step is left: whether the poll is refused, and its waker called. Not if the poll before was refused: then no
/// steps have been renewed meanwhile, as a scheduler would have done.
#[cfg(feature = "tokio")]
#[cold]
fn is_refused(context: &mut Context<'_>) -> bool {
    // A thread whose locals are destroyed runs no task of tokio.
    let is_refused = IS_REFUSED.try_with(|refused| !refused.replace(!refused.get())).unwrap_or(false);
    if is_refused {
        context.waker().wake_by_ref();
    }
    is_refused
}

// USER CODE: tokio, which clones the task's waker where the task has used up its budget; the operation has not begun,
//     or still waits; re-entrance: none; panic: propagates out of the poll; test: tests/suite/integrations/budget.rs:
//     to_wait_costs_nothing
/// Polls once, if the task may make another step.
#[cfg(feature = "tokio")]
#[inline]
pub(super) fn poll_within_budget<R>(
    context: &mut Context<'_>,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<R>,
) -> Poll<R> {
    if !tokio::task::coop::has_budget_remaining() {
        return if is_refused(context) { Poll::Pending } else { poll(context) };
    }
    let step = core::task::ready!(tokio::task::coop::poll_proceed(context));
    let _ = IS_REFUSED.try_with(|refused| refused.set(false));
    let outcome = poll(context);
    if outcome.is_ready() {
        step.made_progress();
    }
    outcome
}

/// Polls once.
#[cfg(not(feature = "tokio"))]
#[inline(always)]
pub(super) fn poll_within_budget<R>(
    context: &mut Context<'_>,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<R>,
) -> Poll<R> {
    poll(context)
}

/// As [`poll_within_budget`], without a closure, which might not be compiled into the poll.
#[inline(always)]
pub(super) fn poll_operation<O: Operation>(
    polled: &mut Polled<O>,
    place: &mut O::Place,
    context: &mut Context<'_>,
) -> Poll<O::Outcome> {
    #[cfg(feature = "tokio")]
    return poll_within_budget(context, |context| polled.poll(place, context));
    #[cfg(not(feature = "tokio"))]
    polled.poll(place, context)
}

/// Polls a future once, if the task may make another step. Inlined, as a closure may not be.
#[inline(always)]
pub(super) fn poll_future<F: Future + Unpin>(future: &mut F, context: &mut Context<'_>) -> Poll<F::Output> {
    #[cfg(feature = "tokio")]
    return poll_within_budget(context, |context| core::pin::Pin::new(future).poll(context));
    #[cfg(not(feature = "tokio"))]
    core::pin::Pin::new(future).poll(context)
}

/// The end of a `send_timeout_async`: ready when its time has passed, by tokio's clock. Asks that clock only where it has to
/// wait, and from then on: the clock counts in milliseconds, so that no time at all would be a wait for its next tick.
///
/// # Panics
/// Polled outside a runtime of tokio with `enable_time`, unless its time is zero.
#[cfg(feature = "tokio")]
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct TimeLimit {
    limit: core::time::Duration,
    /// Pinned as this is.
    sleep: Option<tokio::time::Sleep>,
}

#[cfg(feature = "tokio")]
impl TimeLimit {
    pub(crate) fn new(limit: core::time::Duration) -> Self {
        Self { limit, sleep: None }
    }
}

#[cfg(feature = "tokio")]
impl Future for TimeLimit {
    type Output = ();

    // USER CODE: tokio's timer; nothing is changed meanwhile; re-entrance: none; panic: propagates out of the poll; by
    //     construction
    fn poll(self: core::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // SAFETY: the timer is pinned as `self` is: from here on it is not moved, and is dropped with this.
        let Self { limit, sleep } = unsafe { self.get_unchecked_mut() };
        if limit.is_zero() {
            return Poll::Ready(());
        }
        let sleep = sleep.get_or_insert_with(|| tokio::time::sleep(*limit));
        // SAFETY: as above.
        unsafe { core::pin::Pin::new_unchecked(sleep) }.poll(context)
    }
}

/// An operation whose completion is a step of its task.
#[cfg(feature = "tokio")]
#[inline]
pub(crate) fn within_budget<F: Future>(operation: F) -> impl Future<Output = F::Output> {
    WithinBudget(operation)
}

/// No `async` block, which would hold the operation twice.
#[cfg(feature = "tokio")]
struct WithinBudget<F>(F);

#[cfg(feature = "tokio")]
impl<F: Future> Future for WithinBudget<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: core::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the operation is pinned as this is: it is moved nowhere, dropped in its place, and `Unpin` decides
        //     alike.
        let operation = unsafe { self.map_unchecked_mut(|this| &mut this.0) };
        poll_within_budget(context, |context| operation.poll(context))
    }
}
