//! Batches, and a limit of any kind, for tasks. Written once for spsc and mpsc. One task at a time; wait-free polls.
//!
//! Cannot: take a message out of an iterator and return it. So an iterator is asked only where there is room.

use core::future::Future;
use core::pin::pin;

use super::error::{self, RecvError, SendError, SendTimeoutError};
use super::pipe::{IntakeMany, OneByOne, PipeReceive, PipeSend};
use super::receive::{ReadingEnd, Receiving};
use super::send::{SenderLink, Sending};
use crate::foreign::Foreign;
use crate::operation::limit::Limit;
use crate::operation::{self, Task};

impl<T, L: SenderLink<T>> Sending<T, L> {
    pub(super) async fn send_batch_async(
        &mut self,
        messages: &mut impl Iterator<Item = T>,
    ) -> Result<usize, SendError<Vec<T>>> {
        let mut task = Task::new(PipeSend::new(self), Foreign::new(OneByOne::new(messages)));
        match (&mut task).await {
            Ok(()) => Ok(task.place().sent),
            Err(SendError(())) => Err(SendError(task.place().take_back())),
        }
    }

    // USER CODE: `poll` and `Drop` of the future that limits the send; the message is in this future; the task is
    //     registered, or its registration is already withdrawn; re-entrance: none (the sender is borrowed); panic:
    //     the driver withdraws the registration, and the message is dropped; test:
    //     tests/suite/conformance/channel/task_batches.rs: a_limit_whose_end_panics_takes_the_message_along
    pub(super) fn send_async_until(
        &mut self,
        message: T,
        stop: impl Future,
    ) -> impl Future<Output = Result<(), SendTimeoutError<T>>> {
        // The future captures this and only lends it, so it holds the message once. Its drop is user code, and may run
        // while unwinding.
        let mut place = Foreign::some(message);
        async move {
            let stop = pin!(Some(stop));
            let outcome = operation::until(PipeSend::new(self), &mut *place, Limit::new(stop)).await;
            error::of_send_timeout(error::of_limited(outcome), &mut place)
        }
    }
}

impl<E: ReadingEnd> Receiving<E> {
    pub(super) async fn recv_batch_async(&mut self, to: &mut Vec<E::Message>, most: usize) -> Result<usize, RecvError> {
        if most == 0 {
            return self.take_none();
        }
        let mut task = Task::new(PipeReceive::new(self), Foreign::new(IntakeMany::new(to, most)));
        (&mut task).await?;
        Ok(task.place().taken)
    }
}

/// Gives a channel's sender the methods that send batches, and with a limit, as a task.
macro_rules! impl_sender_tasks {
    ($sender:ident) => {
        impl<T> $sender<T> {
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
            /// [rendezvous](crate::channel#rendezvous) the messages are handed over one by one. The message that waits
            /// for the receiver is dropped with the future.
            #[doc = cost!(sender SEND_BATCH_TASK)]
            ///
            /// # Errors
            /// When the receiver has disconnected or has closed the channel. The error holds the messages that were
            /// taken from the iterator and that the receiver certainly does not get.
            pub async fn send_batch_async(
                &mut self,
                messages: &mut impl Iterator<Item = T>,
            ) -> Result<usize, SendError<Vec<T>>> {
                $crate::channel::coop::within_budget(self.inner.send_batch_async(messages)).await
            }

            /// Sends a message; the task waits for room until `stop` is ready: a timer, a shutdown signal, or any other
            /// future. The message comes back then. Needs no particular runtime. `stop` is polled only while there is
            /// no room.
            #[doc = cost!(sender SEND_UNTIL_TASK)]
            ///
            /// # Errors
            /// [`Timeout`](SendTimeoutError::Timeout) when `stop` was ready before there was room, and when the
            /// receiver has disconnected or has closed the channel. Each error holds the message.
            pub fn send_async_until(
                &mut self,
                message: T,
                stop: impl core::future::Future,
            ) -> impl core::future::Future<Output = Result<(), SendTimeoutError<T>>> {
                $crate::channel::coop::within_budget(self.inner.send_async_until(message, stop))
            }

            /// Sends a message; the task waits for room for at most `timeout`. For a task of tokio.
            #[doc = cost!(sender SEND_UNTIL_TASK)]
            ///
            /// # Errors
            /// When the timeout has passed, and when the receiver has disconnected or has closed the channel. Each
            /// error holds the message.
            ///
            /// # Panics
            /// When there is no room, outside a runtime, or in one without `enable_time`.
            #[cfg(all(feature = "tokio", unix))]
            pub fn send_timeout_async(
                &mut self,
                message: T,
                timeout: Duration,
            ) -> impl core::future::Future<Output = Result<(), SendTimeoutError<T>>> {
                // The timer is made only where it is needed.
                let stop = async move { tokio::time::sleep(timeout).await };
                $crate::channel::coop::within_budget(self.inner.send_async_until(message, stop))
            }
        }
    };
}

/// Gives a channel's receiver the methods that receive batches as a task.
macro_rules! impl_receiver_tasks {
    ($receiver:ident) => {
        impl<T> $receiver<T> {
            /// Appends messages to `to`: the task waits for the first, then takes the messages that are there, at most
            /// `max`. Returns their number. It is at least 1, except where `max` is 0: then this does not wait. Needs
            /// no particular runtime.
            #[doc = cost!(receiver RECV_BATCH_TASK)]
            ///
            /// # Errors
            /// When the channel is empty and its sender has disconnected, or it is closed; also where `max` is 0.
            pub async fn recv_batch_async(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, RecvError> {
                $crate::channel::coop::within_budget(self.inner.recv_batch_async(to, max)).await
            }
        }
    };
}

pub(super) use {impl_receiver_tasks, impl_sender_tasks};
