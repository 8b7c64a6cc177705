//! What the named futures of a pipe consist of: an operation, and the place of its message. Unpinned.
//!
//! A task that always finds room, or a message, runs through nothing else than its first poll.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use super::operations::{IntakeMany, OneByOne, PipeReceive, PipeReserve, PipeSend};
use crate::channel::coop::{poll_future, poll_within_budget};
use crate::channel::error::{self, RecvError, ReserveError, SendError};
use crate::channel::future::Reserves;
use crate::channel::receive::{PipeReceiver, ReadingEnd, Receiving};
use crate::channel::send::{PipeSender, SenderLink, Sending};
use crate::channel::task_batch::{Receives, ReceivesBatches, SendsInTasks};
use crate::foreign::{Foreign, Guarded, Panics};
use crate::operation::{Operation, Polled, Task};
use crate::queue::ypipe::{InSlot, LoosePlace};

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
            match sending.send_first(&mut this.place) {
                // By itself: a result that is handed on is copied, with the room for a message in its error.
                Some(Ok(())) => return Poll::Ready(Ok(())),
                Some(Err(error)) => return Poll::Ready(Err(error)),
                None => this.wait.must_wait(),
            }
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

    // MUTANT: Speed only: the slow path finds the message.
    /// The message of the first attempt, if there is one.
    #[inline(always)]
    fn take_first(&mut self) -> Option<InSlot<E::Message>> {
        let receiving = self.wait.begin().and_then(PipeReceive::handle)?;
        let found = receiving.end.take();
        if found.is_none() {
            self.wait.must_wait();
        }
        found
    }

    #[cold]
    #[inline(never)]
    fn poll_slowly(
        &mut self,
        loose: &mut LoosePlace<E::Message>,
        context: &mut Context<'_>,
    ) -> Poll<Result<InSlot<E::Message>, RecvError>> {
        let mut place = Guarded(loose.empty());
        ready!(self.wait.poll_behind(&mut place, context))?;
        place.keep();
        // SAFETY: there is a message, which the caller takes before it uses the place again.
        Poll::Ready(Ok(unsafe { loose.filled() }))
    }
}

impl<E: ReadingEnd> Future for ReceiveTask<'_, E> {
    type Output = Result<E::Message, RecvError>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<E::Message, RecvError>> {
        let this = self.get_mut();
        // The message is read at one point: see `Receiving::take_or`.
        let mut loose = LoosePlace::new();
        let found = match this.take_first() {
            Some(message) => message,
            None => ready!(this.poll_slowly(&mut loose, context))?,
        };
        Poll::Ready(Ok(found.take()))
    }
}

// Nothing is pinned in place.
impl<E: ReadingEnd> Unpin for ReceiveTask<'_, E> {}

/// A batch of a task.
pub(in crate::channel) struct PipeBatch<'a, T, L: SenderLink<T>, I: Iterator<Item = T>>(
    Task<PipeSend<'a, T, L, OneByOne<'a, T, I>>>,
);

impl<'a, T, L: SenderLink<T>, I: Iterator<Item = T>> PipeBatch<'a, T, L, I> {
    pub(in crate::channel) fn new(sending: &'a mut Sending<T, L>, messages: &'a mut I) -> Self {
        Self(Task::new(PipeSend::new(sending), Foreign::new(OneByOne::new(messages))))
    }
}

impl<T, L: SenderLink<T>, I: Iterator<Item = T>> Future for PipeBatch<'_, T, L, I> {
    type Output = Result<usize, SendError<Vec<T>>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self(task) = self.get_mut();
        ready!(poll_future(task, context)).map_err(|_| SendError(task.place().take_back()))?;
        Poll::Ready(Ok(task.place().sent))
    }
}

// Nothing is pinned in place.
impl<T, L: SenderLink<T>, I: Iterator<Item = T>> Unpin for PipeBatch<'_, T, L, I> {}

impl<S: PipeSender> SendsInTasks for S {
    type Send<'a>
        = PipeSend<'a, S::Message, S::Link, Option<S::Message>>
    where
        S: 'a;
    type Batch<'a, I: Iterator<Item = S::Message> + 'a>
        = PipeBatch<'a, S::Message, S::Link, I>
    where
        S: 'a;
}

impl<R: PipeReceiver> Receives for R {
    type Error = RecvError;
}

impl<R: PipeReceiver> ReceivesBatches for R {
    type Operation<'a>
        = PipeReceive<'a, R::End, IntakeMany<'a, R::Message>>
    where
        R: 'a;
}

/// A reservation of a task. The operation is made anew in each poll: the sender is the permit's in the end.
pub(in crate::channel) struct PipeReserving<'a, S: PipeSender, P> {
    /// `None` once it is over.
    sender: Option<&'a mut S>,
    places: usize,
    /// The task may be registered.
    waits: bool,
    make: fn(&'a mut S, usize) -> P,
}

impl<'a, S: PipeSender, P> PipeReserving<'a, S, P> {
    pub(in crate::channel) fn new(sender: &'a mut S, places: usize, make: fn(&'a mut S, usize) -> P) -> Self {
        Self { sender: Some(sender), places, waits: false, make }
    }

    /// The wait is over: the waker of its task is dropped, which is user code.
    fn leave(&mut self) {
        if let (Some(sender), true) = (&mut self.sender, core::mem::take(&mut self.waits)) {
            Panics::in_drop(|| PipeReserve::again(sender.sending(), self.places).leave());
        }
    }
}

impl<S: PipeSender, P> Future for PipeReserving<'_, S, P> {
    type Output = Result<P, ReserveError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let sender = this.sender.as_mut().expect("a future is not polled when it has been ready");
        let (waits, mut operation) = (&mut this.waits, PipeReserve::again(sender.sending(), this.places));
        let reserved = poll_within_budget(context, |context| match operation.attempt(&mut ()) {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                *waits = true;
                operation.step(&mut (), context)
            }
        });
        let outcome = ready!(reserved);
        this.leave();
        let sender = this.sender.take().expect("it has just been there");
        Poll::Ready(outcome.map(|()| (this.make)(sender, this.places)))
    }
}

// Nothing is pinned in place.
impl<S: PipeSender, P> Unpin for PipeReserving<'_, S, P> {}

// USER CODE: `Drop` of the waker of the task; the sender no longer waits; re-entrance: any operation of others; panic:
//     propagates; by construction: `Panics`
impl<S: PipeSender, P> Drop for PipeReserving<'_, S, P> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl<S: PipeSender> Reserves for S {
    type Reserving<'a, P>
        = PipeReserving<'a, S, P>
    where
        S: 'a;
}
