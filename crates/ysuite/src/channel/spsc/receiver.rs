//! The methods of the receiver of an spsc channel, and what it implements. One thread at a time.

use core::task::{Context, Poll};
use core::time::Duration;
use std::time::Instant;

use super::{Receiver, RecvError, RecvFuture, RecvTimeoutError, TryRecvError};
use crate::channel::coop::poll_within_budget;
use crate::channel::iter::{IntoIter, Iter, Receive, TryIter};
use crate::channel::receive::ReadingEnd as _;
use crate::os::Deadline;
use crate::signal::{Attach, AttachError, Registration};

impl<T> Receiver<T> {
    /// The number of messages in the channel. Takes time in proportion to that number: a load for each cache line.
    #[doc = cost!(spsc LEN)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.end.reader.len()
    }

    /// Whether no message is in the channel.
    #[doc = cost!(spsc LEN)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.end.reader.is_empty()
    }

    /// The maximal number of messages in the channel; `None` without a bound.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.inner.end.reader.capacity()
    }

    /// Whether the channel is full. Hidden messages do not count. Costs the same as [`len`](Self::len).
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.capacity().is_some_and(|capacity| self.inner.end.reader.len_up_to(capacity) >= capacity)
    }

    /// Gives memory back that this channel keeps for later messages: the chunks that have been read. What stays is the
    /// chunk in use, at most 60 KiB, and 1 KiB. A channel with a bound keeps what it has, and gives nothing back. It does
    /// not block, and what it has given back is taken anew where it is needed.
    ///
    /// A channel without a bound does this by itself where the receiver goes to sleep again after less than 4 KiB of messages.
    #[doc = cost!(receiver SHRINK)]
    pub fn shrink_to_fit(&mut self) {
        self.inner.end.reader.shrink();
    }

    /// Whether the channel is closed: the sender has disconnected, or one of the two handles has closed it. There may
    /// still be messages in it.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.inner.is_disconnected()
    }
}

impl<T> Receiver<T> {
    /// Receives a message; waits until there is one.
    ///
    /// Blocks the thread, also that of an async runtime: a task awaits [`recv_async`](Self::recv_async).
    ///
    /// Where there is none it spins for a while (see [`set_spin`](Self::set_spin)) and then sleeps in the
    /// kernel.
    #[doc = cost!(spsc RECV)]
    #[doc = cost!(spsc RECV_BACKLOG)]
    #[doc = cost!(spsc RECV_WAIT)]
    ///
    /// # Errors
    /// When the channel is empty, and the sender has disconnected or it is closed.
    #[inline(always)]
    #[doc(alias = "blocking_recv")]
    pub fn recv(&mut self) -> Result<T, RecvError> {
        self.inner.recv()
    }

    /// Receives a message if there is one. On an unattached receiver it needs no fence. An attached receiver
    /// that finds nothing takes its id down.
    ///
    /// An attempt that finds nothing after 64 messages or more pauses for a fraction of a microsecond, and
    /// polls again; of messages of more than 32 bytes, for two microseconds after 1 KiB of them, or after eight.
    /// The sender gets ahead in that time, which makes a stream faster. Where it does not, the next pause comes later.
    /// There is none with `Spin::None`, nor with a bound of less than 128.
    #[doc = cost!(spsc TRY_RECV)]
    #[doc = cost!(spsc TRY_RECV_EMPTY)]
    ///
    /// # Errors
    /// `Empty` when the channel is empty. `Disconnected` when, in addition, the sender has disconnected or
    /// the channel is closed.
    #[inline(always)]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.inner.try_recv()
    }

    /// Receives a message; waits for at most `timeout`. `Duration::MAX` means no limit.
    #[doc = cost!(receiver LIKE_RECV)]
    ///
    /// # Errors
    /// When the timeout has passed, and when the channel is empty and the sender has disconnected or it is
    /// closed.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.inner.recv_until(|| Deadline::after(timeout))
    }

    /// Receives a message; waits until `deadline` at most. A message that is there is received even after the
    /// deadline.
    #[doc = cost!(receiver LIKE_RECV)]
    ///
    /// # Errors
    /// When the deadline has passed, and when the channel is empty and the sender has disconnected or it is
    /// closed.
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.inner.recv_until(|| Deadline::At(deadline))
    }

    /// Appends messages to `to`: waits for the first, then takes the messages that are there, at most `max`.
    /// Returns their number. It is at least 1, except where `max` is 0: then this does not wait.
    #[doc = cost!(receiver RECV_BATCH)]
    ///
    /// # Errors
    /// When the channel is empty, and the sender has disconnected or it is closed; also where `max` is 0.
    #[inline]
    pub fn recv_batch(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, RecvError> {
        self.inner.recv_batch(to, max)
    }

    /// Appends the messages that are there to `to`, at most `max`, and returns their number. Never blocks.
    #[doc = cost!(receiver TRY_RECV_BATCH)]
    ///
    /// # Errors
    /// `Empty` when the channel is empty; not where `max` is 0. `Disconnected` when, in addition, the sender
    /// has disconnected or the channel is closed.
    pub fn try_recv_batch(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, TryRecvError> {
        self.inner.try_recv_batch(to, max)
    }

    /// The next message, in its slot, if there is one. Never blocks.
    #[doc = cost!(receiver LIKE_TRY_RECV)]
    #[inline]
    pub fn peek(&mut self) -> Option<&T> {
        self.inner.peek()
    }

    /// The next messages, in their slots, as far as these are contiguous: at least one if there is a message.
    /// Never blocks.
    #[doc = cost!(receiver LIKE_TRY_RECV)]
    pub fn peek_run(&mut self) -> &[T] {
        self.inner.peek_run()
    }

    /// Receives and drops the first `messages` messages of those that [`peek_run`](Self::peek_run) returned
    /// last.
    #[doc = cost!(receiver LIKE_TRY_RECV)]
    ///
    /// # Panics
    /// When `messages` is more than `peek_run` would return now without polling for more. Also when the drop of
    /// a message panics: then the messages after it are still in the channel.
    #[inline]
    pub fn consume(&mut self, messages: usize) {
        self.inner.consume(messages);
    }

    /// Receives a message, or registers the task to be woken when there may be one.
    ///
    /// Only the task that polled last is woken. Its waker is kept until it is woken, another task polls, or
    /// this receiver is dropped.
    #[doc = cost!(spsc RECV_TASK)]
    ///
    /// # Errors
    /// When the channel is empty, and the sender has disconnected or it is closed.
    #[inline]
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        poll_within_budget(context, |context| self.inner.poll_recv(context))
    }

    /// Receives a message; the task waits until there is one. Needs no particular runtime.
    #[doc = cost!(spsc RECV_TASK)]
    ///
    /// # Errors
    /// When the channel is empty, and the sender has disconnected or it is closed.
    #[inline]
    pub fn recv_async(&mut self) -> RecvFuture<'_, T> {
        RecvFuture(self.inner.recv_async())
    }

    /// The number of messages that a disconnected rendezvous still has: see [the rendezvous](crate#rendezvous).
    #[cfg(feature = "stream")]
    fn given_back(&self) -> usize {
        self.inner.meeting.given_back()
    }

    /// The messages, one by one. Waits for each, and ends when the sender has disconnected or the channel is
    /// closed.
    pub fn iter(&mut self) -> Iter<'_, Self> {
        Iter(self)
    }

    /// The messages that are there, one by one; never waits.
    pub fn try_iter(&mut self) -> TryIter<'_, Self> {
        TryIter(self)
    }

    /// Sets how this receiver spins before it sleeps, from the next wait on. The default is
    /// [`Spin::Adaptive`](crate::Spin::Adaptive).
    pub fn set_spin(&mut self, spin: crate::channel::Spin) {
        self.inner.backoff.set_spin(spin);
    }

    /// Takes this receiver out of its set: its id is down, and free. False: it was in no set. Its messages
    /// stay, and it can be attached again, to any set.
    ///
    /// A sender that was about to raise the id may still do so once. The next owner of the id must treat that
    /// as a spurious signal.
    #[doc = cost!(signal DETACH)]
    pub fn detach(&mut self) -> bool {
        self.inner.detach()
    }
}

impl<T> Attach for Receiver<T> {
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        self.inner.attach(registration)
    }

    fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        self.inner.with_registration(look);
    }

    fn detach(&mut self) -> bool {
        Receiver::detach(self)
    }
}

impl<T> core::fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Receiver").field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}

crate::channel::receive::impl_receiver_traits!(
    Receiver, &'a mut Receiver<T> => Iter<'a, Receiver<T>>,
    /// At least the messages that are there, and exactly those after the sender has disconnected. Costs the
    /// same as [`len`](Self::len).
    certain: usize::MAX,
    |receiver| look: receiver.inner.take().ok(), has_message: receiver.inner.end.has_last(),
);

impl<T> Receiver<T> {
    /// Closes the channel: from now on sends fail, as if this receiver were dropped. Senders that wait for room
    /// are woken and get their messages back. What was sent before is still received; then receiving returns
    /// `Disconnected`. True: this call has closed it. False: it was closed before, or the sender has
    /// disconnected.
    ///
    /// A message that is being sent at this moment is either received, or its send fails. A batch is received
    /// whole or not at all, as it was published. Messages that come back to their sender in a `flush` are
    /// dropped there.
    #[doc = cost!(spsc CLOSE)]
    ///
    /// # Panics
    /// When a sender's waker panics: the channel is closed then, and the others have been woken.
    pub fn close(&mut self) -> bool {
        self.inner.close()
    }
}

#[cfg(feature = "statistics")]
impl<T> Receiver<T> {
    /// An observer of the messages that go through this channel. It works on any thread, also after all handles
    /// are dropped: see [`statistics`](crate::statistics). With the feature `statistics` only.
    #[doc = cost!(statistics OBSERVER)]
    #[must_use]
    pub fn observer(&self) -> crate::statistics::Observer {
        self.inner.end.shared.receiver.meter().observer()
    }
}
