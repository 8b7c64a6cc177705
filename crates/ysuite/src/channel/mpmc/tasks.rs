//! Sending and receiving as a task. Any executor; any number of tasks for each handle.
//!
//! A dropped future has sent or received nothing that its caller does not know of. It passes on the notification that
//! had woken it.

use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::Poll;

use super::holding::HeldPlaces;
use super::{Receiver, RecvError, SendError, SendTimeoutError, Sender};
use crate::channel::coop::within_budget;
use crate::channel::error;
use crate::channel::first_try::{Attempt, first_try};
use crate::foreign::{Foreign, Panics};
use crate::operation::limit::{self, Limit};
use crate::queue::exchange::{Rejected, Staging, StagingSpace};
use crate::wait::many::ManyWait;

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
    #[inline]
    pub fn send_async(&self, message: T) -> impl Future<Output = Result<(), SendError<T>>> {
        // The future has the message once, and lends it. Both the drop of the message and the wait are user code, and
        // may run while unwinding.
        within_budget(first_try((self, Foreign::some(message)), |(sender, place)| sender.sent_from(place)))
    }

    // USER CODE: as `send_slowly` of `channel/send.rs`; test: tests/suite/disposing.rs:
    //     by_an_mpmc_channel_after_a_waker_that_panics
    /// Sends the message that is in `place`; the task waits for room.
    async fn sent_from(&self, place: &mut Option<T>) -> Result<(), SendError<T>> {
        let outcome = self.place_sent(place).await;
        error::of_send(outcome, place)
    }

    async fn place_sent(&self, place: &mut Option<T>) -> Result<(), SendError<()>> {
        if let Some(party) = self.party() {
            return party.send_async(place).await;
        }
        let mut wait = self.wait();
        loop {
            if let Some(outcome) = self.offer_from(place) {
                Panics::in_drop(|| drop(wait));
                return outcome;
            }
            poll_fn(|context| wait.poll(context)).await;
        }
    }

    /// Sends the message that is in `place`, or reports that nothing can be sent any more. `None`: there is no room.
    /// Unless it was sent, the message stays in its place.
    fn offer_from(&self, place: &mut Option<T>) -> Option<Result<(), SendError<()>>> {
        match self.shared.offer(place) {
            Ok(()) => Some(Ok(())),
            Err(Rejected::Closed(())) => Some(Err(SendError(()))),
            Err(Rejected::Full(())) => None,
        }
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
    /// use ysuite::mpmc::{self, SendTimeoutError};
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
    pub fn send_async_until(
        &self,
        message: T,
        stop: impl Future,
    ) -> impl Future<Output = Result<(), SendTimeoutError<T>>> {
        // As in `send_async`. The future captures this and only lends it, so it holds the message once.
        let mut place = Foreign::some(message);
        within_budget(async move {
            let stop = pin!(Some(stop));
            let outcome = self.sent_from_until(&mut place, Limit::new(stop)).await;
            error::of_send_timeout(outcome, &mut place)
        })
    }

    async fn sent_from_until(
        &self,
        place: &mut Option<T>,
        mut stop: Limit<'_, impl Future>,
    ) -> Result<(), SendTimeoutError<()>> {
        if self.put(place) {
            return Ok(());
        }
        if let Some(party) = self.party() {
            return party.send_async_until(place, stop).await;
        }
        // The wait and the limit are user code.
        let mut wait = self.wait();
        loop {
            if let Some(outcome) = self.offer_from(place) {
                let outcome = outcome.map_err(|_| SendTimeoutError::Disconnected(()));
                return limit::answer_behind(outcome, wait, stop);
            }
            let is_stopped = poll_fn(|context| match wait.poll(context) {
                Poll::Ready(()) => Poll::Ready(false),
                Poll::Pending => Pin::new(&mut stop).poll(context).map(|()| true),
            });
            if is_stopped.await {
                return limit::answer_behind(Err(SendTimeoutError::Timeout(())), wait, stop);
            }
        }
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
    /// [rendezvous](crate::channel#rendezvous) the messages are handed over one by one. The message that waits for its
    /// receiver is dropped with the future.
    #[doc = cost!(mpmc SEND_BATCH_TASK)]
    ///
    /// # Errors
    /// When all receivers have disconnected, or the channel is closed. The error holds the messages that were taken
    /// from the iterator and not sent.
    pub async fn send_batch_async(&self, messages: &mut impl Iterator<Item = T>) -> Result<usize, SendError<Vec<T>>> {
        if let Some(party) = self.party() {
            return party.send_batch_async(messages).await;
        }
        // The iterator is not called again after it has ended: it may return messages once more.
        let mut messages = messages.fuse();
        let mut sent = 0;
        loop {
            let most = messages.size_hint().1.unwrap_or(MOST).min(MOST);
            if most == 0 {
                return Ok(sent);
            }
            // Each part is a step: an iterator may be endless.
            let held = within_budget(self.hold_some_async(most)).await.map_err(|_| SendError(Vec::new()))?;
            let mut space = StagingSpace::new();
            let (some, is_end) = HeldBatch { staging: Staging::new(&mut space), held }.send(&mut messages)?;
            sent += some;
            if is_end {
                return Ok(sent);
            }
        }
    }
}

/// A message that is sent.
impl<T> Attempt for (&Sender<T>, Foreign<Option<T>>) {
    type Outcome = Result<(), SendError<T>>;

    #[inline(always)]
    fn attempt(&mut self) -> Poll<Self::Outcome> {
        let (sender, place) = self;
        // SAFETY: an operation is attempted once, so its message is there; and it is over when it has completed.
        if unsafe { sender.put_at_once(place) } { Poll::Ready(Ok(())) } else { Poll::Pending }
    }
}

/// A message that is received.
impl<T> Attempt for &Receiver<T> {
    type Outcome = Result<T, RecvError>;

    #[inline(always)]
    fn attempt(&mut self) -> Poll<Self::Outcome> {
        match self.take_at_once() {
            Some(message) => Poll::Ready(Ok(message)),
            None => Poll::Pending,
        }
    }
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
    #[inline]
    pub fn recv_async(&self) -> impl Future<Output = Result<T, RecvError>> {
        within_budget(first_try(self, |receiver| receiver.message_received()))
    }

    async fn message_received(&self) -> Result<T, RecvError> {
        match self.party() {
            Some(party) => party.recv_async().await,
            None => self.receive_async(Self::take).await,
        }
    }

    /// Appends messages to `to`: the task waits for the first, then takes the messages that are there, at most `max`,
    /// with one claim. Returns their number. It is at least 1, except where `max` is 0: then this does not wait. Needs
    /// no particular runtime.
    #[doc = cost!(receiver RECV_BATCH_TASK)]
    ///
    /// # Errors
    /// When the channel is empty and all senders have disconnected, or it is closed; also where `max` is 0.
    pub async fn recv_batch_async(&self, to: &mut Vec<T>, max: usize) -> Result<usize, RecvError> {
        if max == 0 {
            return self.take_none();
        }
        let received = async {
            match self.party() {
                Some(party) => party.recv_batch_async(to, max).await,
                None => self.receive_async(|receiver| receiver.take_many(to, max)).await,
            }
        };
        within_budget(received).await
    }

    /// Waits until `take` takes something.
    async fn receive_async<R>(&self, mut take: impl FnMut(&Self) -> Option<R>) -> Result<R, RecvError> {
        if let Some(taken) = take(self) {
            return Ok(taken);
        }
        let mut wait = ManyWait::new(self.shared.readers(), self.disarm_all());
        let outcome = loop {
            if let Some(taken) = take(self) {
                break Ok(taken);
            }
            if self.is_over() {
                break Err(RecvError);
            }
            poll_fn(|context| wait.poll(context)).await;
        };
        // The drop of the wait is user code. So is the drop of a result that no caller gets, while unwinding.
        Panics::answer_behind(outcome, || drop(wait))
    }
}
