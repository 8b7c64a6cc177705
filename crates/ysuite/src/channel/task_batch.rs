//! What tasks do with batches, and until another future is ready: the futures of every kind of channel. Each is an
//! operation of a handle. One task at a time; polls are as those of the operation.
//!
//! Cannot: take a message out of an iterator and return it. So an iterator is asked only where there is room.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::coop::{poll_operation, poll_within_budget};
use super::error::{self, SendError, SendTimeoutError};
use crate::foreign::Foreign;
use crate::operation::limit::Limited;
use crate::operation::{Operation, Task};

/// A sender, by its messages. Not for use elsewhere.
#[doc(hidden)]
pub trait Sends {
    /// The type of the messages.
    type Message;
}

/// What a sender does in tasks.
pub(super) trait SendsInTasks: Sends {
    type Send<'a>: Operation<Place = Option<Self::Message>, Outcome = Result<(), SendError<()>>>
    where
        Self: 'a;
    type Batch<'a, I: Iterator<Item = Self::Message> + 'a>: Future<Output = Result<usize, SendError<Vec<Self::Message>>>>
        + Unpin
    where
        Self: 'a;
}

/// A send of a task until another future is ready. Made by a sender's `send_async_until`. It holds the message, which
/// comes back with the error, and is dropped with the future. Moved while it waits if the other future is `Unpin`.
#[must_use = "futures do nothing unless they are polled"]
#[allow(private_bounds)]
pub struct SendUntilFuture<'a, H: SendsInTasks + 'a, F>(Limited<H::Send<'a>, F>);

#[allow(private_bounds)]
impl<'a, H: SendsInTasks, F: Future> SendUntilFuture<'a, H, F> {
    pub(super) fn new(operation: H::Send<'a>, message: H::Message, stop: F) -> Self {
        Self(Limited::new(operation, Foreign::some(message), stop))
    }
}

#[allow(private_bounds)]
impl<H: SendsInTasks, F: Future> Future for SendUntilFuture<'_, H, F> {
    type Output = Result<(), SendTimeoutError<H::Message>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: pinned as `self` is.
        let mut limited = unsafe { self.map_unchecked_mut(|this| &mut this.0) };
        let outcome = poll_within_budget(context, |context| limited.as_mut().poll(context));
        outcome.map(|outcome| error::of_send_timeout(error::of_limited(outcome), limited.place()))
    }
}

#[allow(private_bounds)]
impl<H: SendsInTasks, F> fmt::Debug for SendUntilFuture<'_, H, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendUntilFuture").finish_non_exhaustive()
    }
}

/// A send of all messages of an iterator by a task. Made by a sender's `send_batch_async`. Borrows the iterator.
#[must_use = "futures do nothing unless they are polled"]
#[allow(private_bounds)]
pub struct SendBatchFuture<'a, H: SendsInTasks + 'a, I: Iterator<Item = H::Message> + 'a>(pub(super) H::Batch<'a, I>);

#[allow(private_bounds)]
impl<H: SendsInTasks, I: Iterator<Item = H::Message>> Future for SendBatchFuture<'_, H, I> {
    type Output = Result<usize, SendError<Vec<H::Message>>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.get_mut().0).poll(context)
    }
}

#[allow(private_bounds)]
impl<H: SendsInTasks, I: Iterator<Item = H::Message>> fmt::Debug for SendBatchFuture<'_, H, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendBatchFuture").finish_non_exhaustive()
    }
}

/// Where a batch is received to.
pub(super) trait BatchPlace {
    /// The number of messages that have been received.
    fn taken(&self) -> usize;
}

/// A receiver, by how its receives fail. Not for use elsewhere.
#[doc(hidden)]
pub trait Receives {
    /// The type of the errors.
    type Error;
}

/// A receiver of batches.
pub(super) trait ReceivesBatches: Receives {
    type Operation<'a>: Operation<Place: BatchPlace, Outcome = Result<(), Self::Error>>
    where
        Self: 'a;
}

/// A receive of a batch by a task. Made by a receiver's `recv_batch_async`. Borrows the vector, which has what was
/// received also where the future is dropped.
#[must_use = "futures do nothing unless they are polled"]
#[allow(private_bounds)]
pub struct RecvBatchFuture<'a, H: ReceivesBatches + 'a>(RecvBatch<H::Operation<'a>, H::Error>);

enum RecvBatch<O: Operation, E> {
    Task(Task<O>),
    /// A batch of no messages does not wait.
    Nothing(Option<Result<usize, E>>),
}

#[allow(private_bounds)]
impl<'a, H: ReceivesBatches> RecvBatchFuture<'a, H> {
    pub(super) fn new(operation: H::Operation<'a>, batch: <H::Operation<'a> as Operation>::Place) -> Self {
        Self(RecvBatch::Task(Task::new(operation, Foreign::new(batch))))
    }

    pub(super) fn nothing(outcome: Result<usize, H::Error>) -> Self {
        Self(RecvBatch::Nothing(Some(outcome)))
    }
}

#[allow(private_bounds)]
impl<H: ReceivesBatches> Future for RecvBatchFuture<'_, H> {
    type Output = Result<usize, H::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.get_mut().0 {
            RecvBatch::Task(task) => {
                let (polled, place) = task.parts();
                poll_operation(polled, place, context).map_ok(|()| task.place().taken())
            }
            RecvBatch::Nothing(outcome) => {
                Poll::Ready(outcome.take().expect("a future is not polled when it has been ready"))
            }
        }
    }
}

// No error is ever pinned in place.
#[allow(private_bounds)]
impl<H: ReceivesBatches> Unpin for RecvBatchFuture<'_, H> {}

#[allow(private_bounds)]
impl<H: ReceivesBatches> fmt::Debug for RecvBatchFuture<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvBatchFuture").finish_non_exhaustive()
    }
}
