//! What the named futures of a pipe consist of: an operation, and the place of its message. Unpinned.
//!
//! A task that always finds room, or a message, runs through nothing else than its first poll.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::operations::{PipeReceive, PipeSend};
use crate::channel::error::{self, RecvError, SendError};
use crate::channel::receive::{ReadingEnd, Receiving};
use crate::channel::send::{SenderLink, Sending};
use crate::foreign::{Foreign, Guarded};
use crate::operation::Polled;

/// A send of one message by a task.
pub(in crate::channel) struct SendTask<'a, T, L: SenderLink<T>> {
    wait: Polled<PipeSend<'a, T, L, Option<T>>>,
    /// Dropped after the wait has ended.
    place: Foreign<Option<T>>,
}

impl<'a, T, L: SenderLink<T>> SendTask<'a, T, L> {
    #[inline(always)]
    pub(in crate::channel) fn new(sending: &'a mut Sending<T, L>, message: T) -> Self {
        Self { wait: Polled::new(PipeSend::new(sending)), place: Foreign::some(message) }
    }

    #[cold]
    #[inline(never)]
    fn poll_slowly(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        let outcome = self.wait.poll_behind(&mut self.place, context);
        outcome.map(|outcome| error::of_send(outcome, &mut self.place))
    }
}

impl<T, L: SenderLink<T>> Future for SendTask<'_, T, L> {
    type Output = Result<(), SendError<T>>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        let this = self.get_mut();
        if let Some(sending) = this.wait.begin().and_then(PipeSend::handle) {
            if let Some(outcome) = sending.send_first(&mut this.place) {
                return Poll::Ready(outcome);
            }
            this.wait.must_wait();
        }
        this.poll_slowly(context)
    }
}

// Nothing is pinned in place.
impl<T, L: SenderLink<T>> Unpin for SendTask<'_, T, L> {}

/// A receive of one message by a task. It has no place for the message, which would make it as large as one.
pub(in crate::channel) struct ReceiveTask<'a, E: ReadingEnd> {
    wait: Polled<PipeReceive<'a, E, Option<E::Message>>>,
}

impl<'a, E: ReadingEnd> ReceiveTask<'a, E> {
    #[inline(always)]
    pub(in crate::channel) fn new(receiving: &'a mut Receiving<E>) -> Self {
        Self { wait: Polled::new(PipeReceive::new(receiving)) }
    }

    #[cold]
    #[inline(never)]
    fn poll_slowly(&mut self, context: &mut Context<'_>) -> Poll<Result<E::Message, RecvError>> {
        let mut place = None;
        let mut place = Guarded(&mut place);
        let outcome = self.wait.poll_behind(&mut place, context);
        outcome.map(|outcome| error::received(outcome, &mut place))
    }
}

impl<E: ReadingEnd> Future for ReceiveTask<'_, E> {
    type Output = Result<E::Message, RecvError>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<E::Message, RecvError>> {
        let this = self.get_mut();
        if let Some(receiving) = this.wait.begin().and_then(PipeReceive::handle) {
            if let Some(message) = receiving.end.take_out() {
                return Poll::Ready(Ok(message));
            }
            this.wait.must_wait();
        }
        this.poll_slowly(context)
    }
}

// Nothing is pinned in place.
impl<E: ReadingEnd> Unpin for ReceiveTask<'_, E> {}
