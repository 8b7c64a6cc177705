//! What tasks do with the handles of an spsc channel, except for one message without a limit: batches, a limit of any kind,
//! and the named futures. One task at a time.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
#[cfg(feature = "tokio")]
use core::time::Duration;

use super::{Receiver, RecvError, SendError, Sender, SpscReader, SpscShared};
#[cfg(feature = "tokio")]
use crate::channel::coop::TimeLimit;
use crate::channel::coop::poll_future;
use crate::channel::future::{OwnedFuture, OwnedOperation};
use crate::channel::pipe::{IntakeMany, PipeBatch, PipeReceive, PipeSend, ReceiveTask, SendTask};
use crate::channel::task_batch::{RecvBatchFuture, SendBatchFuture, SendUntilFuture};
use crate::sync::Arc;

impl<T> Sender<T> {
    /// As [`send_async`](Self::send_async), with a future that owns this sender, and returns it with the result.
    #[doc = cost!(spsc SEND_TASK)]
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

impl<T> Receiver<T> {
    /// As [`recv_async`](Self::recv_async), with a future that owns this receiver, and returns it with the result.
    #[doc = cost!(spsc RECV_TASK)]
    ///
    /// # Errors
    /// As [`recv_async`](Self::recv_async).
    pub fn recv_owned_async(self) -> OwnedFuture<Self>
    where
        T: 'static,
    {
        OwnedFuture::new(self, ())
    }

    /// Appends messages to `to`: the task waits for the first, then takes the messages that are there, at most
    /// `max`. Returns their number. It is at least 1, except where `max` is 0: then this does not wait. Needs
    /// no particular runtime.
    #[doc = cost!(receiver RECV_BATCH_TASK)]
    ///
    /// # Errors
    /// When the channel is empty and its sender has disconnected, or it is closed; also where `max` is 0.
    pub fn recv_batch_async<'a>(&'a mut self, to: &'a mut Vec<T>, max: usize) -> RecvBatchFuture<'a, Self> {
        if max == 0 {
            return RecvBatchFuture::nothing(self.inner.take_none());
        }
        RecvBatchFuture::new(PipeReceive::new(&mut self.inner), IntakeMany::new(to, max))
    }
}

/// A send of a task: see [`send_async`](Sender::send_async).
#[must_use = "futures do nothing unless they are polled"]
pub struct SendFuture<'a, T>(pub(super) SendTask<'a, T, Arc<SpscShared>>);

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

/// A receive of a task: see [`recv_async`](Receiver::recv_async).
#[must_use = "futures do nothing unless they are polled"]
pub struct RecvFuture<'a, T>(pub(super) ReceiveTask<'a, SpscReader<T>>);

impl<T> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        poll_future(&mut self.get_mut().0, context)
    }
}

// No message is ever pinned in place.
impl<T> Unpin for RecvFuture<'_, T> {}

impl<T> fmt::Debug for RecvFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvFuture").finish_non_exhaustive()
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

impl<T: 'static> OwnedOperation for Receiver<T> {
    type Argument = ();
    type Outcome = Result<T, RecvError>;
    type Future<'a> = RecvFuture<'a, T>;

    fn begin(&mut self, (): ()) -> RecvFuture<'_, T> {
        self.recv_async()
    }
}
