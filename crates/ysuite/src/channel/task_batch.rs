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
