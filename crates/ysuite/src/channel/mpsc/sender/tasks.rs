//! What tasks do with the sender of an mpsc channel, except for one message without a limit: batches, a limit of any kind,
//! and the named future. One task at a time.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
#[cfg(feature = "tokio")]
use core::time::Duration;

use super::super::SendError;
use super::{Sender, SenderLane};
#[cfg(feature = "tokio")]
use crate::channel::coop::TimeLimit;
use crate::channel::coop::poll_future;
use crate::channel::future::{OwnedFuture, OwnedOperation};
use crate::channel::pipe::{PipeBatch, PipeSend, SendTask};
use crate::channel::task_batch::{SendBatchFuture, SendUntilFuture};

impl<T> Sender<T> {
    /// As [`send_async`](Self::send_async), with a future that owns this sender, and returns it with the result.
    #[doc = cost!(mpsc SEND_TASK)]
    ///
    /// # Errors
    /// As [`send_async`](Self::send_async).
    pub fn send_owned_async(self, message: T) -> OwnedFuture<Self>
    where
        T: 'static,
    {
        OwnedFuture::new(self, message)
    }

    /// Sends the messages of an iterator; the task waits until there is room. The messages that are sent
    /// between two waits are one batch: visible together. Returns the number of messages, after the iterator
    /// has ended, or its `size_hint` has reported that it has no more. Needs no particular runtime.
    ///
    /// A message is taken from the iterator only where there is room for it. So this is cancel-safe: a future
    /// that is dropped before it is ready has sent all that it took, and the iterator has the rest. Without a
    /// bound it never waits, and sends the whole iterator within one poll, which is one step of tokio's
    /// cooperative budget.
    ///
    /// If the iterator panics, the messages that it had returned until then are sent. In a
    /// [rendezvous](crate#rendezvous) the messages are handed over one by one. The message that waits
    /// for the receiver is dropped with the future.
    #[doc = cost!(sender SEND_BATCH_TASK)]
    ///
    /// # Errors
    /// When the receiver has disconnected or has closed the channel. The error holds the messages that were
    /// taken from the iterator and that the receiver certainly does not get.
    pub fn send_batch_async<'a, I>(&'a mut self, messages: &'a mut I) -> SendBatchFuture<'a, Self, I>
    where
        I: Iterator<Item = T>,
    {
        SendBatchFuture(PipeBatch::new(&mut self.inner, messages))
    }

    /// Sends a message; the task waits for room until `stop` is ready: a timer, a shutdown signal, or any other
    /// future. The message comes back then. Needs no particular runtime. `stop` is polled only while there is
    /// no room.
    #[doc = cost!(sender SEND_UNTIL_TASK)]
    ///
    /// # Errors
    /// [`Timeout`](crate::SendTimeoutError::Timeout) when `stop` was ready before there was room, and when the
    /// receiver has disconnected or has closed the channel. Each error holds the message.
    pub fn send_async_until<F: Future>(&mut self, message: T, stop: F) -> SendUntilFuture<'_, Self, F> {
        SendUntilFuture::new(PipeSend::new(&mut self.inner), message, stop)
    }

    /// Sends a message; the task waits for room for at most `timeout`; with zero it does not wait. For a task of tokio.
    #[doc = cost!(sender SEND_UNTIL_TASK)]
    ///
    /// # Errors
    /// When the timeout has passed, and when the receiver has disconnected or has closed the channel. Each
    /// error holds the message.
    ///
    /// # Panics
    /// When there is no room and it is to wait, outside a runtime, or in one without `enable_time`.
    #[cfg(feature = "tokio")]
    pub fn send_timeout_async(&mut self, message: T, timeout: Duration) -> SendUntilFuture<'_, Self, TimeLimit> {
        self.send_async_until(message, TimeLimit::new(timeout))
    }
}

/// A send of a task: see [`send_async`](Sender::send_async).
#[must_use = "futures do nothing unless they are polled"]
pub struct SendFuture<'a, T>(pub(super) SendTask<'a, T, SenderLane<T>>);

impl<T> Future for SendFuture<'_, T> {
    type Output = Result<(), SendError<T>>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        poll_future(&mut self.get_mut().0, context)
    }
}

// No message is ever pinned in place.
impl<T> Unpin for SendFuture<'_, T> {}

impl<T> fmt::Debug for SendFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendFuture").finish_non_exhaustive()
    }
}

impl<T: 'static> OwnedOperation for Sender<T> {
    type Argument = T;
    type Outcome = Result<(), SendError<T>>;
    type Future<'a> = SendFuture<'a, T>;

    fn begin(&mut self, message: T) -> SendFuture<'_, T> {
        self.send_async(message)
    }
}
