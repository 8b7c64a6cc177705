//! The sender of a broadcast channel. Any thread, any number at a time.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::time::Instant;

use super::operations::{BatchParts, BroadcastSend, StagedRun};
use super::receiver::{Receiver, ReceiverLag};
use super::shared::{BroadcastShared, Leaver};
use super::{SendError, SendTimeoutError, TrySendError};
use crate::channel::Spin;
use crate::channel::coop::{poll_operation, poll_within_budget};
use crate::channel::error;
use crate::channel::future::{Closable, ClosedFuture, OwnedFuture, OwnedOperation, UntilReady};
use crate::channel::identity::impl_identity;
use crate::channel::task_batch::{SendBatchFuture, SendUntilFuture, Sends, SendsInTasks};
use crate::foreign::{Foreign, Panics};
use crate::operation::{self, Polled, Readiness, Task};
use crate::os::Deadline;
use crate::queue::exchange::{Rejected, StagingSpace};
use crate::sync::Arc;
use crate::wait::{SharedBackoff, spin_for_a_moment};

/// A sender of the [channel](super). Clones are equal; any number of threads may use one or several. When the last
/// sender is dropped the receivers get what was sent, and then the disconnection.
pub struct Sender<T> {
    pub(super) shared: Arc<BroadcastShared<T>>,
    pub(super) backoff: SharedBackoff,
}

impl<T> Sender<T> {
    pub(super) fn new(shared: Arc<BroadcastShared<T>>) -> Self {
        Self { shared, backoff: SharedBackoff::new() }
    }

    /// Sends a message to every present receiver; blocks until there is room.
    ///
    /// Blocks the thread, also that of an async runtime: a task awaits [`send_async`](Self::send_async).
    ///
    /// In a lossy channel there is always room, except as described under [preempted peers](super#preempted-peers).
    /// Otherwise it spins for a while (see [`set_spin`](Self::set_spin)) and then sleeps in the kernel.
    #[doc = cost!(broadcast SEND)]
    #[doc = cost!(broadcast SEND_WAIT)]
    ///
    /// # Errors
    /// When there is no receiver, and when the channel was closed.
    ///
    /// # Panics
    /// When the drop of the old message that this one replaces panics, or a task's waker. This message was sent then.
    #[inline]
    #[doc(alias = "blocking_send")]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match self.shared.ring.claim_next() {
            Ok(claimed) => {
                self.shared.sent(claimed.fill(message));
                Ok(())
            }
            Err(rejected) => self.send_on(message, rejected),
        }
    }

    /// There is no room, or nothing can be sent any more.
    #[cold]
    #[inline(never)]
    fn send_on(&self, message: T, rejected: Rejected<()>) -> Result<(), SendError<T>> {
        let mut place = Foreign::some(message);
        let outcome = match rejected {
            Rejected::Closed(()) => Err(SendError(())),
            Rejected::Full(()) => self.send_slowly(&mut place, Deadline::Never).map_err(|_| SendError(())),
        };
        error::of_send(outcome, &mut place)
    }

    /// Sends a message if there is room. Its duration does not depend on when another thread continues.
    #[doc = cost!(broadcast SEND)]
    ///
    /// # Errors
    /// When there is no room, when there is no receiver, and when the channel was closed. Also `Full` where the next
    /// cell is [still in use](super#preempted-peers): this spins for it for some microseconds, and yields the CPU a few
    /// times.
    ///
    /// # Panics
    /// As [`send`](Self::send).
    #[inline]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.shared.ring.claim_next() {
            Ok(claimed) => {
                self.shared.sent(claimed.fill(message));
                Ok(())
            }
            Err(rejected) => self.try_on(message, rejected),
        }
    }

    /// There is no room, or nothing can be sent any more.
    #[cold]
    #[inline(never)]
    fn try_on(&self, message: T, rejected: Rejected<()>) -> Result<(), TrySendError<T>> {
        let mut place = Foreign::some(message);
        let outcome = match rejected {
            Rejected::Closed(()) => Err(TrySendError::Disconnected(())),
            Rejected::Full(()) => self.try_again(&mut place),
        };
        error::of_try_send(outcome, &mut place)
    }

    // MUTANT: Speed only: the push that follows checks the cell itself. A refusal is at most some microseconds late.
    /// The ring is full, or a peer has not finished with the next cell.
    #[cold]
    fn try_again(&self, place: &mut Option<T>) -> Result<(), TrySendError<()>> {
        let ring = &self.shared.ring;
        if ring.is_full() || !spin_for_a_moment(|| ring.is_writable()) {
            // User code: the waker of another sender.
            self.shared.refused();
            return Err(TrySendError::Full(()));
        }
        Ok(self.shared.push(place)?)
    }

    /// Sends a message; waits for room for at most `timeout`. `Duration::MAX` means no limit.
    #[doc = cost!(sender LIKE_SEND)]
    ///
    /// # Errors
    /// When the timeout has passed, when there is no receiver, and when the channel was closed.
    ///
    /// # Panics
    /// As [`send`](Self::send).
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        let mut place = Foreign::some(message);
        let outcome = match self.shared.push(&mut place) {
            Ok(()) => Ok(()),
            Err(Rejected::Closed(())) => Err(SendTimeoutError::Disconnected(())),
            Err(Rejected::Full(())) => self.send_slowly(&mut place, Deadline::after(timeout)),
        };
        error::of_send_timeout(outcome, &mut place)
    }

    /// Sends a message; waits for room until `deadline` at most. Where there is room the message is sent even after the
    /// deadline.
    #[doc = cost!(sender LIKE_SEND)]
    ///
    /// # Errors
    /// When the deadline has passed, when there is no receiver, and when the channel was closed.
    ///
    /// # Panics
    /// As [`send`](Self::send).
    pub fn send_deadline(&self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        let mut place = Foreign::some(message);
        let outcome = self.send_slowly(&mut place, Deadline::At(deadline));
        error::of_send_timeout(outcome, &mut place)
    }

    #[cold]
    #[inline(never)]
    fn send_slowly(&self, place: &mut Option<T>, deadline: Deadline) -> Result<(), SendTimeoutError<()>> {
        error::of_limited(operation::block(BroadcastSend::new(self), place, deadline))
    }

    // USER CODE: as `send_slowly` of `channel/send.rs`; test: tests/suite/disposing.rs:
    //     by_a_broadcast_behind_a_waker_that_panics
    /// Sends a message; the task waits until there is room. Needs no particular runtime.
    ///
    /// If the task had been woken for room, the next waiting sender is woken.
    #[doc = cost!(broadcast SEND_TASK)]
    ///
    /// # Errors
    /// When there is no receiver, and when the channel was closed.
    pub fn send_async(&self, message: T) -> SendFuture<'_, T> {
        SendFuture(Task::new(BroadcastSend::new(self), Foreign::some(message)))
    }

    /// As [`send_async`](Self::send_async), with a future that owns this sender, and returns it with the result.
    #[doc = cost!(broadcast SEND_TASK)]
    ///
    /// # Errors
    /// As [`send_async`](Self::send_async).
    pub fn send_owned_async(self, message: T) -> OwnedFuture<Self>
    where
        T: 'static,
    {
        OwnedFuture::new(self, message)
    }

    // USER CODE: `poll` and `Drop` of another future; no cell is claimed, the wait is armed and passes its notifications
    //     on; re-entrance: any operation; panic: the message is dropped, the notification is passed on; test:
    //     tests/suite/broadcast/tasks.rs: a_send_that_is_stopped_gives_its_message_back
    /// Sends a message; the task waits for room until `stop` is ready: a timer of any runtime, or any other future.
    /// Then the message comes back. `stop` is polled only where there is no room, and dropped before this returns.
    #[doc = cost!(broadcast SEND_UNTIL_TASK)]
    ///
    /// # Errors
    /// `Timeout` when `stop` is ready first, when there is no receiver, and when the channel was closed.
    pub fn send_async_until<F: Future>(&self, message: T, stop: F) -> SendUntilFuture<'_, Self, F> {
        SendUntilFuture::new(BroadcastSend::new(self), message, stop)
    }

    // USER CODE: `Drop` of the iterator, as in `send_batch` of `channel/send.rs`; test: tests/suite/batches.rs:
    //     a_broadcast
    /// Sends all the messages of an iterator, a few dozen with one claim; waits until there is room. Returns the number
    /// of messages. Every receiver gets them in their order, but messages of other senders may come between.
    ///
    /// If the iterator panics, the messages that it had returned until then are sent as far as there is room, and
    /// otherwise dropped.
    #[doc = cost!(sender LIKE_SEND)]
    ///
    /// # Errors
    /// When there is no receiver, and when the channel was closed. The error holds the messages that were taken from
    /// the iterator and not sent. The iterator is dropped with the messages that it has not returned.
    ///
    /// # Panics
    /// As [`send`](Self::send); then the messages that the iterator has not returned are not sent.
    pub fn send_batch(&self, messages: impl IntoIterator<Item = T>) -> Result<usize, SendError<Vec<T>>> {
        // The iterator is not called again after it has ended: it may return messages once more.
        let mut messages = Foreign::new(messages.into_iter().fuse());
        let mut space = StagingSpace::new();
        let mut run = StagedRun::new(&mut space, &self.shared);
        let outcome = loop {
            run.staging.fill(&mut *messages, usize::MAX);
            if run.staging.len() == 0 {
                break Ok(run.sent);
            }
            if operation::perform(BroadcastSend::new(self), &mut run).is_err() {
                break Err(SendError(run.staging.take(usize::MAX).collect()));
            }
        };
        // The iterator's drop is user code. So is the drop of a result that no caller gets, while unwinding.
        Panics::result_behind(outcome, || drop((run, messages)))
    }

    /// Sends all the messages of an iterator; the task waits until there is room. Returns the number of messages. Every
    /// receiver gets them in their order, but messages of other senders may come between.
    ///
    /// The iterator is asked for messages only when there is room for them, unless its
    /// [`size_hint`](Iterator::size_hint) says that it has ended. Where other senders take that room meanwhile, the
    /// messages that it has returned wait for room, and are dropped with the future.
    #[doc = cost!(broadcast SEND_BATCH_TASK)]
    ///
    /// # Errors
    /// When there is no receiver, and when the channel was closed. The error holds the messages that were taken from
    /// the iterator and not sent.
    ///
    /// # Panics
    /// As [`send`](Self::send); then the messages that the iterator has not returned are not sent.
    pub fn send_batch_async<'a, I>(&'a self, messages: &'a mut I) -> SendBatchFuture<'a, Self, I>
    where
        I: Iterator<Item = T>,
    {
        let parts = Foreign::new(BatchParts::new(messages));
        SendBatchFuture(BroadcastBatch { sender: self, part: Task::new(BroadcastSend::new(self), parts) })
    }

    /// Makes a new receiver, of all messages that are sent from now on.
    #[doc = cost!(broadcast SUBSCRIBE)]
    ///
    /// # Panics
    /// When there are 32,760 receivers already.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver::sit_down(&self.shared)
    }

    /// Closes the channel: nothing can be sent any more, by any sender. The receivers get what was sent, and then the
    /// disconnection. Senders that wait for room get their messages back. False: it was closed before. Lock-free; a
    /// system call for each handle that waits.
    #[allow(clippy::must_use_candidate)]
    pub fn close(&self) -> bool {
        self.shared.close()
    }

    /// Waits until there is no receiver, or the channel is closed. The task may miss a moment without receivers where a
    /// new one [subscribes](Self::subscribe) at once.
    #[doc = cost!(broadcast CLOSED)]
    pub fn closed(&self) -> ClosedFuture<'_, Self> {
        ClosedFuture::new(UntilReady::new(self.shared.leaver()))
    }

    /// Blocks until there is no receiver, or the channel is closed, as [`closed`](Self::closed).
    pub fn wait_closed(&self) {
        operation::perform(self.deserted(), &mut ());
    }

    /// Blocks until there is no receiver, or the channel is closed, for at most `timeout`. False: the timeout has
    /// passed. `Duration::MAX` means no limit.
    #[must_use]
    pub fn wait_closed_timeout(&self, timeout: Duration) -> bool {
        operation::block(self.deserted(), &mut (), Deadline::after(timeout)).is_some()
    }

    // WAITS: until there is no receiver; ends: the last receiver has disconnected, a close, the deadline; spin: as a
    //     receiver; all waiters are notified; test: tests/suite/broadcast/waiting.rs: a_sender_waits_for_the_disconnect
    fn deserted(&self) -> Readiness<'_, Leaver<'_, T>> {
        Readiness::new(self.shared.leaver(), &self.backoff)
    }

    /// Whether there is no receiver, or the channel is closed: nothing can be sent now. A missing receiver is not
    /// final: a new one may [subscribe](Self::subscribe).
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.shared.is_deserted()
    }

    /// Whether the channel was closed, by [`close`](Self::close) of any handle.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.ring.is_closed()
    }

    /// The number of messages that the slowest receiver has not had. It may be out of date while other handles send and
    /// receive. Linear in the maximal number of receivers so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.ring.longest()
    }

    /// Whether every receiver has got all messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the slowest receiver has not had any of the last `capacity` messages. Then a bounded channel has no
    /// room, and in a lossy channel that receiver misses a message if another is sent.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() == self.shared.ring.capacity()
    }

    /// The number of messages that are kept for a slow receiver. Never `None`, which channels without a bound return.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        Some(self.shared.ring.capacity())
    }

    /// The number of senders. It may be out of date at once.
    #[must_use]
    pub fn sender_count(&self) -> usize {
        self.shared.sender_count()
    }

    /// How far each receiver lags, the slowest first. It may be out of date at once while other handles send and
    /// receive. Lock-free; allocates; linear in the number of receivers. For monitoring: it takes the cache lines of
    /// all receivers from them.
    #[must_use]
    pub fn lags(&self) -> Vec<ReceiverLag> {
        self.shared.ring.behind().into_iter().map(|(id, messages)| ReceiverLag { id, messages }).collect()
    }

    /// The receiver that lags most: in a bounded channel that is full, the receiver that delays the senders. `None`
    /// where there is no receiver. Costs the same as [`lags`](Self::lags).
    #[must_use]
    pub fn slowest(&self) -> Option<ReceiverLag> {
        self.lags().first().copied()
    }

    /// Disconnects the receiver with that [id](Receiver::id), wherever it is: senders do not wait for it any more. It
    /// misses the messages that it has not had. Its next receive returns their number, and each later one returns
    /// [`Disconnected`](super::RecvError::Disconnected). Where it waits it is woken. Its clones are not affected, nor
    /// are receivers that [subscribe](Self::subscribe) later. False: there is no such receiver, or it had been evicted
    /// before.
    ///
    /// For a receiver that is kept but never polled, or whose thread hangs, and which so delays the senders of a
    /// [bounded](super::bounded) channel: [`slowest`](Self::slowest) names it.
    ///
    /// ```
    /// use ysuite::broadcast;
    ///
    /// let (sender, mut stuck) = broadcast::bounded(1);
    /// let mut quick = sender.subscribe();
    /// sender.send(1).unwrap();
    /// assert_eq!(quick.recv(), Ok(1));
    /// assert!(sender.try_send(2).is_err());
    /// let slowest = sender.slowest().unwrap();
    /// assert!(slowest.id == stuck.id() && sender.evict(slowest.id));
    /// sender.send(2).unwrap();
    /// assert_eq!(quick.recv(), Ok(2));
    /// assert_eq!(stuck.recv(), Err(broadcast::RecvError::Lagged(2)));
    /// assert_eq!(stuck.recv(), Err(broadcast::RecvError::Disconnected));
    /// ```
    ///
    /// A receiver that is evicted in the middle of copying a message delays senders until its `Clone` has returned. It
    /// may count in [`receiver_count`](Self::receiver_count) until it is dropped.
    ///
    /// Never waits for another thread. One or two system calls, and one for each handle that waits. The first in a
    /// process takes two more, and may block for some 10 ms, as [`prepare`](crate::prepare). Where a filter forbids the
    /// kernel's barrier after the channel was made, it evicts no receiver, and returns false.
    #[allow(clippy::must_use_candidate)]
    pub fn evict(&self, id: u64) -> bool {
        self.shared.evict(id)
    }

    /// The number of receivers. It may be out of date at once.
    #[must_use]
    pub fn receiver_count(&self) -> usize {
        self.shared.ring.readers()
    }

    /// Sets how this handle spins before it sleeps when there is no room, from the next wait on. The default is
    /// [`Spin::Adaptive`](crate::Spin::Adaptive). Applies to this handle, and to clones made of it later.
    pub fn set_spin(&self, spin: Spin) {
        self.backoff.set(spin);
    }

    /// Whether both are handles of the same channel. So does `==`, and the hash is the channel's. Wait-free.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        self == other
    }
}

/// A send of a task: see [`send_async`](Sender::send_async).
#[must_use = "futures do nothing unless they are polled"]
pub struct SendFuture<'a, T>(Task<BroadcastSend<'a, T, Option<T>>>);

impl<T> Future for SendFuture<'_, T> {
    type Output = Result<(), SendError<T>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        let Self(task) = self.get_mut();
        let outcome = poll_within_budget(context, |context| Pin::new(&mut *task).poll(context));
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

impl<T> Closable for Sender<T> {
    type Wait<'a>
        = UntilReady<Leaver<'a, T>>
    where
        Self: 'a;
}

impl<T: 'static> OwnedOperation for Sender<T> {
    type Argument = T;
    type Outcome = Result<(), SendError<T>>;
    type Future<'a> = SendFuture<'a, T>;

    fn begin(&mut self, message: T) -> SendFuture<'_, T> {
        self.send_async(message)
    }
}

/// Sends all the messages of an iterator, as [`send_batch`](Self::send_batch) does; waits for room. It reports nothing:
/// messages that nobody receives any more are dropped.
impl<T> Extend<T> for Sender<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, messages: I) {
        drop(self.send_batch(messages));
    }
}

impl_identity!(Sender);

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.add_sender();
        Self { shared: self.shared.clone(), backoff: self.backoff.again() }
    }
}

// USER CODE: wakers of receivers; the sender is counted out; re-entrance: receivers may be active; panic: all others
//     are woken; test: tests/suite/broadcast/foreign.rs: wakers_that_panic_on_disconnect_keep_no_thread_asleep
impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.remove_sender();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("len", &self.len()).field("capacity", &self.capacity()).finish()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::pin::pin;
    use core::task::{Context, Poll};
    use core::time::Duration;
    use std::sync::Arc;
    use std::task::Waker;
    use std::thread;

    use crate::channel::Spin;
    use crate::channel::broadcast::bounded;
    use crate::channel::broadcast::operations::BroadcastSend;
    use crate::operation::Operation;
    use crate::os::Deadline;
    use crate::tests::Woken;
    use crate::wait::many::SharedEnd;

    #[test]
    fn a_wait_that_ends_for_want_of_time_has_found_no_room() {
        let (sender, _receiver) = bounded(1);
        sender.set_spin(Spin::Forever);
        sender.send(1).unwrap();
        let mut sending = BroadcastSend::<_, Option<i32>>::new(&sender);
        assert!(!sending.block(Deadline::after(Duration::from_millis(2))));
    }

    #[test]
    fn who_sleeps_until_nobody_listens_says_that_it_is_so() {
        let (sender, receiver) = bounded::<u8>(1);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| sender.wait_closed_timeout(Duration::MAX));
            while !sender.shared.leaver().list().word().is_armed() {
                thread::yield_now();
            }
            drop(receiver);
            assert!(waiting.join().unwrap());
        });
    }

    /// A sender is preempted in its cell, and another comes to that cell a lap later: the message shows it which sender
    /// it meets.
    #[test]
    fn a_message_tells_a_sender_that_waits_for_its_cell() {
        let (sender, mut receiver) = bounded(2);
        // Enough that senders promise no fences to receivers any more, and do not check for them after each message.
        for number in 0..200 {
            sender.send(number).unwrap();
            assert_eq!(receiver.recv(), Ok(number));
        }
        let claimed = sender.shared.ring.claim();
        sender.send(1).unwrap();
        let mut late = sender.subscribe();
        drop(receiver);
        let task = Arc::new(Woken::default());
        let waker = Waker::from(task.clone());
        let mut context = Context::from_waker(&waker);
        let mut waiting = pin!(sender.send_async(2));
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        // The next sender does this after its message.
        assert_eq!(sender.shared.ring.fill_claimed(claimed, 0), None);
        assert_eq!((task.times(), sender.try_send(3)), (0, Ok(())));
        assert_eq!(task.times(), 1);
        assert_eq!(waiting.as_mut().poll(&mut context), Poll::Ready(Ok(())));
        assert!(late.try_iter().eq([3, 2]));
    }
}

/// A batch of a task, part by part.
pub(in crate::channel) struct BroadcastBatch<'a, T, I: Iterator<Item = T>> {
    sender: &'a Sender<T>,
    part: Task<BroadcastSend<'a, T, BatchParts<'a, T, I>>>,
}

impl<T, I: Iterator<Item = T>> Future for BroadcastBatch<'_, T, I> {
    type Output = Result<usize, SendError<Vec<T>>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { sender, part } = self.get_mut();
        loop {
            // Each part is a step: an iterator may be endless.
            let (polled, parts) = part.parts();
            ready!(poll_operation(polled, parts, context)).map_err(|_| SendError(parts.take_back()))?;
            if parts.is_over {
                return Poll::Ready(Ok(parts.sent));
            }
            *polled = Polled::new(BroadcastSend::new(sender));
        }
    }
}

// Nothing is pinned in place.
impl<T, I: Iterator<Item = T>> Unpin for BroadcastBatch<'_, T, I> {}

impl<T> Sends for Sender<T> {
    type Message = T;
}

impl<T> SendsInTasks for Sender<T> {
    type Send<'a>
        = BroadcastSend<'a, T, Option<T>>
    where
        Self: 'a;
    type Batch<'a, I: Iterator<Item = T> + 'a>
        = BroadcastBatch<'a, T, I>
    where
        Self: 'a;
}
