//! The methods of the sender of an spsc channel, and what it implements. One thread at a time.

use core::task::{Context, Poll};
use core::time::Duration;
use std::time::Instant;

use super::{SendError, SendFuture, SendTimeoutError, Sender, SpscShared, TrySendError};
use crate::channel::closed::AwaitedEnd;
use crate::channel::coop::poll_within_budget;
use crate::channel::future::{Closable, ClosedFuture, UntilReady};
use crate::os::Deadline;
use crate::signal::{Attach, AttachError, Registration};
use crate::sync::Arc;

impl<T> Sender<T> {
    /// Sends a message. It is visible at once, together with the hidden messages. Without a bound this never
    /// waits. With a bound it blocks the thread, and all its tasks, until there is room. A task uses
    /// [`send_async`](Self::send_async).
    #[doc = cost!(spsc SEND)]
    #[doc = cost!(spsc SEND_ROOM)]
    #[doc = cost!(spsc SEND_WAIT)]
    ///
    /// # Errors
    /// When the receiver has disconnected or has closed the channel, and when this sender is closed. A message
    /// that is sent just before the receiver disconnects is dropped with it.
    #[inline(always)]
    #[doc(alias = "blocking_send")]
    pub fn send(&mut self, message: T) -> Result<(), SendError<T>> {
        self.inner.send(message)
    }

    /// Sends a message if there is room. An attached sender that finds no room flushes the hidden messages and
    /// takes its id down.
    #[doc = cost!(spsc SEND)]
    #[doc = cost!(spsc SEND_ROOM)]
    #[doc = cost!(spsc TRY_SEND_REFUSED)]
    ///
    /// # Errors
    /// When there is no room, and as [`send`](Self::send).
    #[inline(always)]
    pub fn try_send(&mut self, message: T) -> Result<(), TrySendError<T>> {
        self.inner.try_send(message)
    }

    /// Sends a message; waits for room for at most `timeout`. `Duration::MAX` means no limit.
    #[doc = cost!(sender LIKE_SEND)]
    ///
    /// # Errors
    /// When the timeout has passed, and as [`send`](Self::send).
    pub fn send_timeout(&mut self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.inner.send_until(message, || Deadline::after(timeout))
    }

    /// Sends a message; waits for room until `deadline` at most. Where there is room the message is sent even
    /// after the deadline.
    #[doc = cost!(sender LIKE_SEND)]
    ///
    /// # Errors
    /// When the deadline has passed, and as [`send`](Self::send).
    pub fn send_deadline(&mut self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.inner.send_until(message, || Deadline::At(deadline))
    }

    /// Sends a message; the task waits until there is room. Needs no particular runtime.
    #[doc = cost!(spsc SEND_TASK)]
    ///
    /// # Errors
    /// As [`send`](Self::send).
    #[inline]
    pub fn send_async(&mut self, message: T) -> SendFuture<'_, T> {
        SendFuture(self.inner.send_async(message))
    }

    /// Ready when there is room for a message, or when the receiver has disconnected. Otherwise registers the
    /// task to be woken then. Where there is no room, hidden messages are flushed. Only the task that polled
    /// last is woken. Its waker is kept until it is woken, another task polls, or this sender is dropped.
    #[doc = cost!(sender READY)]
    pub fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        poll_within_budget(context, |context| self.inner.poll_ready(context))
    }

    /// Adds a message to the batch. It is hidden until [`flush`](Self::flush), [`send`](Self::send) or the drop
    /// of the sender. Where a bound leaves no room, this flushes the batch and waits for room.
    #[doc = cost!(sender LIKE_SEND)]
    ///
    /// # Errors
    /// When there is no room and the receiver has disconnected. Where there is room, only
    /// [`is_disconnected`](Self::is_disconnected) and the next send report a disconnected receiver.
    #[inline(always)]
    pub fn write(&mut self, message: T) -> Result<(), SendError<T>> {
        self.inner.write(message)
    }

    /// Takes back the newest hidden message of the batch, if there is one.
    #[doc = cost!(sender UNWRITE)]
    pub fn unwrite(&mut self) -> Option<T> {
        self.inner.end.writer.unwrite()
    }

    /// Makes the whole batch visible at once. False: the receiver was asleep and has been woken. Where the
    /// receiver has disconnected or has closed the channel, the batch is dropped.
    #[doc = cost!(sender FLUSH)]
    ///
    /// # Panics
    /// When the drop of a message panics. All other messages are dropped before the panic continues.
    #[inline]
    pub fn flush(&mut self) -> bool {
        self.inner.flush()
    }

    /// Sends all the messages of an iterator as one batch. They become visible together. Where a bound leaves
    /// no room, they are sent in several parts, with a wait in between. Returns the number of messages.
    ///
    /// If the iterator panics, the messages that it had returned until then are sent.
    #[doc = cost!(sender LIKE_SEND)]
    ///
    /// # Errors
    /// As [`send`](Self::send). The error holds the messages that were taken from the iterator and that the
    /// receiver certainly does not get. The iterator is dropped with the messages that it has not returned.
    #[inline]
    pub fn send_batch(&mut self, messages: impl IntoIterator<Item = T>) -> Result<usize, SendError<Vec<T>>> {
        self.inner.send_batch(messages)
    }

    /// Sets how this sender spins before it sleeps when there is no room, from the next wait on. The default is
    /// [`Spin::Adaptive`](crate::Spin::Adaptive).
    pub fn set_spin(&mut self, spin: crate::channel::Spin) {
        self.inner.backoff.spin = spin
    }

    /// The number of this sender's messages that are in the channel. Hidden messages do not count.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.end.writer.len()
    }

    /// Whether no message of this sender is in the channel.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.end.writer.is_empty()
    }

    /// Whether there is no room for another message.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.capacity().is_some_and(|capacity| self.inner.end.writer.occupied() >= capacity)
    }

    /// The maximal number of this sender's messages in the channel; `None` without a bound.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.inner.end.writer.capacity()
    }

    /// Whether the receiver has disconnected or has closed the channel, or this sender has been closed. Then no
    /// message that is sent will be received.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.inner.is_over()
    }

    /// Takes this sender out of its set: its id is down, and free. False: it was in no set. It can be attached
    /// again, to any set.
    #[doc = cost!(signal DETACH)]
    ///
    /// A receiver that was about to raise the id may still do so once. The next owner of the id must treat that
    /// as a spurious signal.
    pub fn detach(&mut self) -> bool {
        self.inner.detach()
    }
}

/// Sends all the messages of an iterator, as [`send_batch`](Self::send_batch) does; waits for room. It reports nothing:
/// messages that nobody receives any more are dropped.
impl<T> Extend<T> for Sender<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, messages: I) {
        drop(self.send_batch(messages));
    }
}

/// The id of an attached sender is up while there may be room, or when the receiver has disconnected. A
/// `try_send` that finds no room takes it down. Without a bound it is always up.
impl<T> Attach for Sender<T> {
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        self.inner.attach(registration)
    }

    fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        self.inner.with_registration(look);
    }

    fn detach(&mut self) -> bool {
        Sender::detach(self)
    }
}

impl<T> core::fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Sender").field("len", &self.len()).field("capacity", &self.capacity()).finish()
    }
}

impl<T> Sender<T> {
    /// Closes the channel, as the drop of this sender does. Publishes the hidden messages. The receiver gets all that
    /// was sent, and then the disconnection. Afterwards sending fails. True: this call has closed the channel. False:
    /// it was closed before, or the receiver has disconnected.
    ///
    /// A sender that is attached to a set leaves it, as when it is dropped.
    ///
    #[doc = cost!(sender CLOSE)]
    ///
    /// # Panics
    /// When the receiver's waker panics, or, after the receiver has disconnected, the drop of a hidden message. The
    /// channel is closed then.
    pub fn close(&mut self) -> bool {
        self.inner.close()
    }

    /// Waits as a task until the receiver has disconnected or has closed the channel: until nothing can be sent
    /// any more. Returns at once where this sender is [closed](Self::close) itself. Needs no particular
    /// runtime.
    ///
    /// Any number of tasks and threads may wait, each by a borrowed sender. The receiver's work is not slowed
    /// by them.
    #[doc = cost!(sender CLOSED)]
    pub fn closed(&self) -> ClosedFuture<'_, Self> {
        ClosedFuture::new(self.inner.closed())
    }

    /// As [`closed`](Self::closed), for a thread: blocks, and sleeps in the kernel at once.
    #[doc = cost!(sender WAIT_CLOSED)]
    pub fn wait_closed(&self) {
        self.inner.wait_closed(|| Deadline::Never);
    }

    /// As [`wait_closed`](Self::wait_closed), for at most `timeout`. False: the timeout has passed.
    /// `Duration::MAX` means no limit.
    #[doc = cost!(sender WAIT_CLOSED)]
    pub fn wait_closed_timeout(&self, timeout: Duration) -> bool {
        self.inner.wait_closed(|| Deadline::after(timeout))
    }
}

impl<T> Closable for Sender<T> {
    type Wait<'a>
        = UntilReady<AwaitedEnd<'a, T, Arc<SpscShared>>>
    where
        Self: 'a;
}

#[cfg(feature = "statistics")]
impl<T> Sender<T> {
    /// An observer of the messages that go through this channel. It works on any thread, also after all handles
    /// are dropped: see [`statistics`](crate::statistics). With the feature `statistics` only.
    #[doc = cost!(statistics OBSERVER)]
    #[must_use]
    pub fn observer(&self) -> crate::statistics::Observer {
        self.inner.end.link.receiver.meter().observer()
    }
}

#[cfg(feature = "futures")]
impl<T> crate::channel::Feed for Sender<T> {
    type Message = T;

    fn poll_room(
        &mut self,
        fed: &mut crate::channel::Fed<T>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<()>>> {
        poll_within_budget(context, |context| self.inner.poll_room(fed, context))
    }

    fn feed(&mut self, fed: &mut crate::channel::Fed<T>, message: T) -> Result<(), SendError<()>> {
        self.inner.feed(fed, message)
    }

    fn poll_shown(
        &mut self,
        fed: &mut crate::channel::Fed<T>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<()>>> {
        self.inner.poll_shown(fed, context)
    }

    fn finish(&mut self) {
        self.close();
    }

    fn give_up(&mut self, fed: &mut crate::channel::Fed<T>) {
        self.inner.give_up(fed);
    }
}
