//! Sending and receiving as a task. Any executor; any number of tasks for each handle.
//!
//! A dropped future has sent or received nothing that its caller does not know of. It passes on the notification that
//! had woken it.

use core::fmt;
use core::future::Future;
use core::iter::Fuse;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use super::claimed::Claimed;
use super::handle::MpmcHandle;
use super::holding::HeldPlaces;
use super::operations::{MpmcReceive, MpmcSend, RecvRun};
use super::{Receiver, RecvError, SendError, Sender};
use crate::channel::coop::{poll_future, poll_operation};
use crate::channel::error;
use crate::channel::future::{OwnedFuture, OwnedOperation};
use crate::channel::pipe::OneByOne;
use crate::channel::rendezvous::Exchange;
use crate::channel::reserve::Reservation;
use crate::channel::task_batch::{
    Receives, ReceivesBatches, RecvBatchFuture, SendBatchFuture, SendUntilFuture, Sends, SendsInTasks,
};
use crate::foreign::{Foreign, Guarded, Panics};
use crate::operation::{Polled, Task};
use crate::queue::exchange::{Staging, StagingSpace};
use crate::queue::ypipe::{InSlot, LoosePlace};

/// The number of cells that a batch reserves at a time.
const MOST: usize = 64;

impl<T> Sender<T> {
    /// Sends a message; the task waits until there is room. Needs no particular runtime.
    ///
    /// If the task had been woken for room, the next waiting sender is woken.
    #[doc = cost!(mpmc SEND_TASK)]
    ///
    /// # Errors
    /// When all receivers have disconnected, or the channel is closed.
    #[inline(always)]
    pub fn send_async(&self, message: T) -> SendFuture<'_, T> {
        SendFuture(Task::new(MpmcSend::new(self), Foreign::some(message)))
    }

    /// As [`send_async`](Self::send_async), with a future that owns this sender, and returns it with the result.
    #[doc = cost!(mpmc SEND_TASK)]
    ///
    /// ```
    /// # use std::task::{Context, Waker};
    /// use ysuite::mpmc;
    ///
    /// let (sender, receiver) = mpmc::bounded(1);
    /// // On any thread, in any task.
    /// let mut sending = Box::pin(sender.send_owned_async(1));
    /// # let task = async {
    /// let (sent, sender) = sending.await;
    /// # assert!(sent.is_ok() && sender.same_channel(&sender));
    /// # };
    /// # assert!(std::pin::pin!(task).poll(&mut Context::from_waker(Waker::noop())).is_ready());
    /// assert_eq!(receiver.recv(), Ok(1));
    /// ```
    ///
    /// # Errors
    /// As [`send_async`](Self::send_async).
    pub fn send_owned_async(self, message: T) -> OwnedFuture<Self>
    where
        T: 'static,
    {
        OwnedFuture::new(self, message)
    }

    // USER CODE: `poll` and `Drop` of another future; no cell is claimed, the wait is armed and passes its
    //     notifications on; re-entrance: any operation; panic: the message is dropped, the notification is passed on;
    //     test: tests/suite/mpmc/tasks.rs:
    //     a_send_that_is_stopped_passes_on_what_it_was_told_and_a_stop_that_panics_too, tests/suite/mpmc/tasks.rs:
    //     a_message_that_comes_back_ends_with_a_stop_whose_drop_panics
    /// Sends a message; the task waits for room until `stop` is ready: a timer of any runtime, or any other future.
    /// Then the message comes back. `stop` is polled only where there is no room, and dropped before this returns.
    #[doc = cost!(mpmc SEND_UNTIL_TASK)]
    ///
    /// ```
    /// # use std::future::ready;
    /// # use std::task::{Context, Waker};
    /// use ysuite::mpmc;
    /// use ysuite::SendTimeoutError;
    ///
    /// let (sender, _receiver) = mpmc::bounded(1);
    /// # let task = async {
    /// assert_eq!(sender.send_async_until(1, ready(())).await, Ok(()));
    /// assert_eq!(sender.send_async_until(2, ready(())).await, Err(SendTimeoutError::Timeout(2)));
    /// # };
    /// # assert!(std::pin::pin!(task).poll(&mut Context::from_waker(Waker::noop())).is_ready());
    /// ```
    ///
    /// # Errors
    /// `Timeout` when `stop` is ready first, and when all receivers have disconnected, or the channel is closed.
    pub fn send_async_until<F: Future>(&self, message: T, stop: F) -> SendUntilFuture<'_, Self, F> {
        SendUntilFuture::new(MpmcSend::new(self), message, stop)
    }

    /// Sends all the messages of an iterator; the task waits until there is room. Returns the number of messages. They
    /// are received in their order, but messages of other senders may come between.
    ///
    /// A message is taken from the iterator only when room is reserved for it. So this is cancel-safe: a future that is
    /// dropped before it is ready has sent all the messages that it has taken. The rest stay in the iterator. For the
    /// same reason the iterator is asked for its next message only when there is room, unless its
    /// [`size_hint`](Iterator::size_hint) says that it has ended.
    ///
    /// If the iterator panics, the messages that it had returned until then are sent. In a
    /// [rendezvous](crate#rendezvous) the messages are handed over one by one. The message that waits for its
    /// receiver is dropped with the future.
    #[doc = cost!(mpmc SEND_BATCH_TASK)]
    ///
    /// # Errors
    /// When all receivers have disconnected, or the channel is closed. The error holds the messages that were taken
    /// from the iterator and not sent.
    pub fn send_batch_async<'a, I>(&'a self, messages: &'a mut I) -> SendBatchFuture<'a, Self, I>
    where
        I: Iterator<Item = T>,
    {
        SendBatchFuture(match self.parts().party() {
            Some(party) => MpmcBatch::OneByOne(Task::new(Exchange::new(&party), Foreign::new(OneByOne::new(messages)))),
            None => MpmcBatch::Parts { sender: self, messages: messages.fuse(), sent: 0, room: None },
        })
    }
}

/// A batch of a task.
pub(in crate::channel) enum MpmcBatch<'a, T, I: Iterator<Item = T>> {
    /// At a rendezvous.
    OneByOne(Task<Exchange<'a, T, OneByOne<'a, T, I>, SendError<()>, true>>),
    /// Each has as many messages as there is room for.
    Parts {
        sender: &'a Sender<T>,
        /// The iterator is not called again after it has ended: it may return messages once more.
        messages: Fuse<&'a mut I>,
        sent: usize,
        /// For the next part: at most this much room, of which it waits for the first cell.
        room: Option<(usize, Task<Reservation<'a, Sender<T>>>)>,
    },
}

impl<T, I: Iterator<Item = T>> Future for MpmcBatch<'_, T, I> {
    type Output = Result<usize, SendError<Vec<T>>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (sender, messages, sent, room) = match self.get_mut() {
            Self::OneByOne(task) => {
                let closed = ready!(Pin::new(&mut *task).poll(context));
                closed.map_err(|_| SendError(task.place().take_back()))?;
                return Poll::Ready(Ok(task.place().sent));
            }
            Self::Parts { sender, messages, sent, room } => (*sender, messages, sent, room),
        };
        loop {
            let most = messages.size_hint().1.unwrap_or(MOST).min(MOST);
            if room.is_none() && most == 0 {
                return Poll::Ready(Ok(*sent));
            }
            let (most, task) =
                room.get_or_insert_with(|| (most, Task::new(Reservation::new(sender, 1), Foreign::new(sender.held()))));
            // Each part is a step: an iterator may be endless.
            ready!(poll_future(task, context)).map_err(|_| SendError(Vec::new()))?;
            let mut held = task.place().take();
            // Also the cells that are free now. None is fine.
            let _ = held.add(*most - 1);
            *room = None;
            let mut space = StagingSpace::new();
            let (some, is_end) = HeldBatch { staging: Staging::new(&mut space), held }.send(messages)?;
            *sent += some;
            if is_end {
                return Poll::Ready(Ok(*sent));
            }
        }
    }
}

// Nothing is pinned in place.
impl<T, I: Iterator<Item = T>> Unpin for MpmcBatch<'_, T, I> {}

impl<T> Sends for Sender<T> {
    type Message = T;
}

impl<T> SendsInTasks for Sender<T> {
    type Send<'a>
        = MpmcSend<'a, T, Option<T>>
    where
        Self: 'a;
    type Batch<'a, I: Iterator<Item = T> + 'a>
        = MpmcBatch<'a, T, I>
    where
        Self: 'a;
}

/// Messages on the way from a caller's iterator into reserved cells. Sends those that it has, even if the iterator
/// panics.
struct HeldBatch<'a, T> {
    staging: Staging<'a, T>,
    held: HeldPlaces<'a, T>,
}

impl<T> HeldBatch<'_, T> {
    // USER CODE: the iterator, and wakers of receivers, also in `Drop`; each message has reserved room, and no cell is
    //     claimed; re-entrance: the channel may be used, and closed; panic: the items it has returned are sent, the
    //     other room is released; test: tests/suite/mpmc/tasks.rs:
    //     an_iterator_that_panics_leaves_what_it_gave_sent_and_no_place_held, tests/suite/mpmc/tasks.rs:
    //     a_batch_gives_back_what_it_had_taken_when_the_channel_ends
    /// Takes a message from the iterator for each reserved cell, and sends them. Returns their number, and whether the
    /// iterator has ended.
    fn send(mut self, messages: &mut impl Iterator<Item = T>) -> Result<(usize, bool), SendError<Vec<T>>> {
        let mut sent = 0;
        while self.held.places != 0 {
            self.staging.fill(messages, self.held.places);
            let staged = self.staging.len();
            if staged == 0 {
                return Ok((sent, true));
            }
            if self.held.send(&mut self.staging).is_none() {
                return Err(SendError(self.staging.take(usize::MAX).collect()));
            }
            sent += staged;
        }
        Ok((sent, false))
    }
}

impl<T> Drop for HeldBatch<'_, T> {
    // MUTANT: Speed only: nothing staged means that nothing is sent.
    fn drop(&mut self) {
        if self.staging.len() != 0 {
            // User code, and a queue that can hold no more.
            Panics::in_drop(|| _ = self.held.send(&mut self.staging));
        }
    }
}

impl<T> Receiver<T> {
    /// Receives a message; the task waits until there is one. Needs no particular runtime.
    ///
    /// If the task had been woken for a message, the next waiting receiver is woken.
    #[doc = cost!(mpmc RECV_TASK)]
    ///
    /// # Errors
    /// When the channel is empty and all senders have disconnected, or it is closed.
    #[inline(always)]
    pub fn recv_async(&self) -> RecvFuture<'_, T> {
        RecvFuture(MpmcReceiveTask(Polled::new(MpmcReceive::new(self))))
    }

    /// As [`recv_async`](Self::recv_async), with a future that owns this receiver, and returns it with the result.
    #[doc = cost!(mpmc RECV_TASK)]
    ///
    /// # Errors
    /// As [`recv_async`](Self::recv_async).
    pub fn recv_owned_async(self) -> OwnedFuture<Self>
    where
        T: 'static,
    {
        OwnedFuture::new(self, ())
    }

    /// Appends messages to `to`: the task waits for the first, then takes the messages that are there, at most `max`,
    /// with one claim. Returns their number. It is at least 1, except where `max` is 0: then this does not wait. Needs
    /// no particular runtime.
    #[doc = cost!(receiver RECV_BATCH_TASK)]
    ///
    /// # Errors
    /// When the channel is empty and all senders have disconnected, or it is closed; also where `max` is 0.
    pub fn recv_batch_async<'a>(&'a self, to: &'a mut Vec<T>, max: usize) -> RecvBatchFuture<'a, Self> {
        if max == 0 {
            return RecvBatchFuture::nothing(self.take_none());
        }
        RecvBatchFuture::new(MpmcReceive::new(self), RecvRun::new(to, max))
    }
}

impl<T> Receives for Receiver<T> {
    type Error = RecvError;
}

impl<T> ReceivesBatches for Receiver<T> {
    type Operation<'a>
        = MpmcReceive<'a, T, RecvRun<'a, T>>
    where
        Self: 'a;
}

// USER CODE: as `send_slowly` of `channel/send.rs`; test: tests/suite/disposing.rs:
//     by_an_mpmc_channel_after_a_waker_that_panics
/// A send of a task: see [`send_async`](Sender::send_async).
#[must_use = "futures do nothing unless they are polled"]
pub struct SendFuture<'a, T>(Task<MpmcSend<'a, T, Option<T>>>);

impl<T> Future for SendFuture<'_, T> {
    type Output = Result<(), SendError<T>>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        let Self(task) = self.get_mut();
        let (polled, place) = task.parts();
        let outcome = poll_operation(polled, place, context);
        outcome.map(|outcome| error::of_send(outcome, task.place()))
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

impl<T: 'static> OwnedOperation for Receiver<T> {
    type Argument = ();
    type Outcome = Result<T, RecvError>;
    type Future<'a> = RecvFuture<'a, T>;

    fn begin(&mut self, (): ()) -> RecvFuture<'_, T> {
        self.recv_async()
    }
}

/// A receive of a task: see [`recv_async`](Receiver::recv_async).
#[must_use = "futures do nothing unless they are polled"]
pub struct RecvFuture<'a, T>(MpmcReceiveTask<'a, T>);

impl<T> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        poll_future(&mut self.get_mut().0, context)
    }
}

/// It has no place for the message, which would make it as large as one.
struct MpmcReceiveTask<'a, T>(Polled<MpmcReceive<'a, T, Option<T>>>);

impl<T> MpmcReceiveTask<'_, T> {
    #[cold]
    #[inline(never)]
    fn poll_slowly(
        &mut self,
        loose: &mut LoosePlace<T>,
        context: &mut Context<'_>,
    ) -> Poll<Result<InSlot<T>, RecvError>> {
        let mut place = Guarded(loose.empty());
        ready!(self.0.poll(&mut place, context))?;
        place.keep();
        // SAFETY: there is a message, which the caller takes before it uses the place again.
        Poll::Ready(Ok(unsafe { loose.filled() }))
    }
}

impl<'a, T> MpmcReceiveTask<'a, T> {
    /// The message of the first attempt, if there is one.
    #[inline(always)]
    fn claim_first(&mut self) -> Option<Claimed<'a, T>> {
        let claimed = self.0.begin()?.handle().claim_at_once();
        if claimed.is_none() {
            self.0.must_wait();
        }
        claimed
    }
}

impl<T> Future for MpmcReceiveTask<'_, T> {
    type Output = Result<T, RecvError>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        let this = self.get_mut();
        let mut loose = LoosePlace::new();
        let claimed = match this.claim_first() {
            Some(claimed) => claimed,
            None => Claimed::Loose(ready!(this.poll_slowly(&mut loose, context))?),
        };
        Poll::Ready(Ok(claimed.take()))
    }
}

// No message is ever in it.
impl<T> Unpin for RecvFuture<'_, T> {}

impl<T> fmt::Debug for RecvFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvFuture").finish_non_exhaustive()
    }
}
