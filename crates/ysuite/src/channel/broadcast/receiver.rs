//! The receiver of a broadcast channel. One thread at a time.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::time::Instant;

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::operations::{BroadcastReceive, IntakeBatch};
use super::shared::{BroadcastShared, Listener};
use crate::channel::Spin;
use crate::channel::coop::poll_within_budget;
use crate::channel::error;
use crate::channel::future::{OwnedFuture, OwnedOperation};
use crate::channel::identity::{impl_identity, is_attached, tell_end};
use crate::channel::iter::{IntoIter, Iter, Receive, TryIter};
use crate::channel::task_batch::{Receives, ReceivesBatches, RecvBatchFuture};
use crate::foreign::{Foreign, Panics};
use crate::operation::{self, Task};
use crate::os::Deadline;
use crate::queue::broadcast::{Found, Seat};
use crate::signal::{Attach, AttachError, Registration};
use crate::sync::Arc;
use crate::wait::many::SharedEnd;
use crate::wait::{SharedBackoff, Subscriptions, spin_for_a_moment};

/// How often a receiver that skips missed messages polls in one call that does not wait. So senders that are faster
/// each time do not keep it for ever.
const LOOKS: u32 = if cfg!(ysuite_loom) { 2 } else { 16 };

/// A receiver of the [channel](super). Every receiver gets every message that is sent during its lifetime, in one
/// order. A clone continues at its original's position. A dropped receiver delays no sender any more.
#[doc = cost!(broadcast DROP)]
pub struct Receiver<T> {
    pub(super) seat: Seat,
    pub(super) shared: Arc<BroadcastShared<T>>,
    pub(super) backoff: SharedBackoff,
    /// The number of messages that it has missed.
    pub(super) missed: u64,
    /// Its position when it last waited.
    pub(super) waited_at: u64,
    /// Present once this receiver has been polled or attached.
    pub(super) subscriptions: Option<Box<Subscriptions>>,
    /// As a stream it has returned `None`.
    #[cfg(feature = "stream")]
    has_ended: bool,
}

/// How far one receiver of a [channel](super) lags its senders. Returned by [`Sender::lags`](super::Sender::lags).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ReceiverLag {
    /// The receiver's [`id`](Receiver::id).
    pub id: u64,
    /// The number of messages that it can get, including those that are still being written: at most as many as the
    /// channel keeps. A receiver that has reached this maximum delays the senders of a bounded channel.
    pub messages: usize,
}

impl<T> Receiver<T> {
    pub(super) fn new(shared: Arc<BroadcastShared<T>>, seat: Seat) -> Self {
        let waited_at = seat.position();
        Self {
            seat,
            shared,
            backoff: SharedBackoff::new(),
            missed: 0,
            waited_at,
            subscriptions: None,
            #[cfg(feature = "stream")]
            has_ended: false,
        }
    }

    // USER CODE: wakers of senders, which the new cursor may have held up for a moment; the new receiver is complete,
    //     and a local; re-entrance: any operation; panic: the receiver gives its cursor back, then it propagates out of
    //     `subscribe` or `resubscribe`; test: tests/suite/broadcast/foreign.rs:
    //     a_receiver_that_is_not_returned_for_a_panic_holds_up_no_other
    /// A receiver of all messages that are sent from now on.
    pub(super) fn sit_down(shared: &Arc<BroadcastShared<T>>) -> Self {
        let receiver = Self::new(shared.clone(), shared.ring.sit_down());
        // For a moment its cursor may have delayed senders. Their wakers are user code. Where one panics, the receiver,
        // which is a local, releases its cursor.
        shared.announce_room();
        receiver
    }

    /// Makes a new receiver, of all messages that are sent from now on. Linear in the number of receivers that exist,
    /// and of those that existed with the oldest of them.
    #[doc = cost!(broadcast SUBSCRIBE)]
    ///
    /// # Panics
    /// When there are 32,760 receivers already.
    #[must_use]
    pub fn resubscribe(&self) -> Self {
        Self::sit_down(&self.shared)
    }

    /// Closes the channel for all handles: nothing can be sent any more. The receivers get what was sent, and then the
    /// disconnection. False: it was closed before, or all senders have disconnected. Lock-free; a system call for each
    /// handle that waits. To leave the channel by itself, drop the receiver.
    pub fn close(&mut self) -> bool {
        self.shared.close()
    }

    /// Whether a sender has [evicted](super::Sender::evict) this receiver: it gets no message any more. Its next
    /// receive returns the number of messages that it misses by that, if any, and later ones return `Disconnected`.
    /// Wait-free.
    #[must_use]
    pub fn is_evicted(&self) -> bool {
        self.shared.ring.is_evicted(&self.seat)
    }

    /// Whether all senders have disconnected, or the channel was closed. Messages that were sent before may still be in
    /// it.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.shared.ring.is_closed()
    }

    /// The number of messages that this receiver can get, including those that are still being written. It may be out
    /// of date while senders send. Wait-free.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.ring.len(self.seat.position())
    }

    /// Whether this receiver has got all messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether this receiver has not had any of the last `capacity` messages. Then it delays the senders of a bounded
    /// channel; in a lossy channel it misses a message if another is sent.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() == self.shared.ring.capacity()
    }

    /// The number of messages that are kept for a slow receiver. Never `None`, which channels without a bound return.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        Some(self.shared.ring.capacity())
    }

    /// The number of this receiver, from 1 on. It is unique in this channel for ever, also among clones. A sender names
    /// receivers by it: [`Sender::lags`](super::Sender::lags). Wait-free.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.seat.id()
    }

    /// The number of messages that this receiver has missed so far, because it was too slow for a lossy channel, or was
    /// evicted. Those that its original missed do not count.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// The number of senders. It may be out of date at once.
    #[must_use]
    pub fn sender_count(&self) -> usize {
        self.shared.sender_count()
    }

    /// The number of receivers. It may be out of date at once.
    #[must_use]
    pub fn receiver_count(&self) -> usize {
        self.shared.ring.readers()
    }

    /// Sets how this handle spins before it sleeps, from the next wait on. The default is
    /// [`Spin::Adaptive`](crate::Spin::Adaptive). Applies to this handle, and to clones made of it later.
    pub fn set_spin(&mut self, spin: Spin) {
        self.backoff.set(spin);
    }

    /// Takes this receiver out of its set: its id is down, and free. False: it was in no set. Its messages stay, and it
    /// can be attached again, to any set.
    ///
    /// A sender that was about to raise the id may still do so once. The next owner of the id must treat that as a
    /// spurious signal.
    #[doc = cost!(signal DETACH)]
    pub fn detach(&mut self) -> bool {
        let listener = self.shared.listener(&self.seat);
        self.subscriptions.as_mut().is_some_and(|subscriptions| subscriptions.detach(listener))
    }

    fn listener(&self) -> Listener<'_, T> {
        self.shared.listener(&self.seat)
    }

    /// Before this receiver waits as a thread or a future: disarms the slots of its polling task and its set.
    fn disarm_all(&self) {
        if let Some(subscriptions) = &self.subscriptions {
            subscriptions.disarm_all(self.listener());
        }
    }

    /// After finding nothing: whether there will be no more messages.
    fn is_at_end(&mut self) -> bool {
        self.shared.ring.is_at_end(&mut self.seat)
    }

    /// Whether both are handles of the same channel. So does `==`, and the hash is the channel's. Wait-free.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        self == other
    }
}

impl<T: Clone> Receiver<T> {
    /// Receives the next message; waits until there is one.
    ///
    /// Blocks the thread, also that of an async runtime: a task awaits [`recv_async`](Self::recv_async).
    ///
    /// Where there is none it spins for a while (see [`set_spin`](Self::set_spin)) and then sleeps in the kernel. The
    /// message is a clone, unless this receiver is the only one.
    #[doc = cost!(broadcast RECV)]
    #[doc = cost!(broadcast RECV_WAIT)]
    ///
    /// # Errors
    /// `Lagged` when the receiver was too slow for a lossy channel (once for each time). `Disconnected` when it has got
    /// all messages and there will be no more.
    ///
    /// # Panics
    /// When the message's `Clone` panics. The receiver has had this message then.
    #[inline]
    #[doc(alias = "blocking_recv")]
    pub fn recv(&mut self) -> Result<T, RecvError> {
        match self.take() {
            Found::Message(message) => Ok(message),
            Found::Missed(missed) => Err(RecvError::Lagged(missed)),
            Found::Nothing => self.recv_slowly(Deadline::Never).map_err(RecvError::from),
        }
    }

    // WAITS: `try_recv` and `try_send`, only while a peer is in the middle of an operation; ends: the peer finishes, or
    //     2 us and 4 yields, whatever the spin setting; test: tests/suite/broadcast/waiting.rs:
    //     a_wait_without_time_looks_once_and_does_not_call_the_kernel (no operation in progress)
    /// Receives the next message if it is there. Its duration does not depend on when another thread continues, nor on
    /// the number of receivers. An attached receiver that finds nothing takes its id down.
    #[doc = cost!(broadcast TRY_RECV)]
    #[doc = cost!(broadcast TRY_RECV_EMPTY)]
    ///
    /// # Errors
    /// As [`recv`](Self::recv), and when there is no message. Also `Empty` where the next message is [still being
    /// written](super#preempted-peers): an unattached receiver then spins for some microseconds until it is there, and
    /// yields the CPU a few times.
    ///
    /// # Panics
    /// As [`recv`](Self::recv).
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        match self.take() {
            Found::Message(message) => Ok(message),
            Found::Missed(missed) => Err(TryRecvError::Lagged(missed)),
            Found::Nothing => self.try_again(),
        }
    }

    /// Receives the next message; waits for at most `timeout`. `Duration::MAX` means no limit.
    #[doc = cost!(receiver LIKE_RECV)]
    ///
    /// # Errors
    /// As [`recv`](Self::recv), and when the timeout has passed.
    ///
    /// # Panics
    /// As [`recv`](Self::recv).
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match self.take() {
            Found::Message(message) => Ok(message),
            Found::Missed(missed) => Err(RecvTimeoutError::Lagged(missed)),
            Found::Nothing => self.recv_slowly(Deadline::after(timeout)),
        }
    }

    /// Receives the next message; waits until `deadline` at most. A message that is there is received even after the
    /// deadline.
    #[doc = cost!(receiver LIKE_RECV)]
    ///
    /// # Errors
    /// As [`recv`](Self::recv), and when the deadline has passed.
    ///
    /// # Panics
    /// As [`recv`](Self::recv).
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_slowly(Deadline::At(deadline))
    }

    /// Appends messages to `to`: waits for the first, then takes the messages that are there, at most `max`. Returns
    /// their number. It is at least 1, except where `max` is 0: then this does not wait. Senders get the room of all of
    /// them when this returns.
    #[doc = cost!(receiver RECV_BATCH)]
    ///
    /// # Errors
    /// As [`recv`](Self::recv). Where `max` is 0, only when it has got all messages and there will be no more.
    ///
    /// # Panics
    /// When a message's `Clone` panics. The messages before it are in `to` then, and those after it are still to be
    /// received.
    pub fn recv_batch(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, RecvError> {
        if max == 0 {
            return self.take_none();
        }
        let mut batch = IntakeBatch { to, most: max, taken: 0 };
        operation::perform(BroadcastReceive::new(self), &mut batch).map(|()| batch.taken)
    }

    // MUTANT: Speed only: the id is down, or a later message has raised it again. One more poll finds the message or
    // nothing.
    /// Appends the messages that are there to `to`, at most `max`, and returns their number. Never blocks.
    #[doc = cost!(receiver TRY_RECV_BATCH)]
    ///
    /// # Errors
    /// As [`try_recv`](Self::try_recv). Where `max` is 0, only when it has got all messages and there will be no more.
    ///
    /// # Panics
    /// As [`recv_batch`](Self::recv_batch).
    pub fn try_recv_batch(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, TryRecvError> {
        if max == 0 {
            return if self.is_at_end() { Err(TryRecvError::Disconnected) } else { Ok(0) };
        }
        for look_again in [true, false] {
            match self.take_many(to, max) {
                Found::Message(taken) => return Ok(taken),
                Found::Missed(missed) => return Err(TryRecvError::Lagged(missed)),
                Found::Nothing if look_again && self.rest() => {}
                Found::Nothing => break,
            }
        }
        Err(self.nothing())
    }

    // USER CODE: `Clone` of the waker, `Drop` of the one it replaces; not armed; re-entrance: none (`&mut`); panic:
    //     propagates; by construction: no other receiver waits for a notification of this one
    /// Receives the next message, or registers the task to be woken when there is one. Allocates the first time. Only
    /// the task that polled this receiver last is woken. This receiver may then wait in another way, such as
    /// [`recv_timeout`](Self::recv_timeout). Then only that wait is notified, and the task is not woken until it polls
    /// again.
    #[doc = cost!(broadcast RECV_TASK)]
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    ///
    /// # Panics
    /// As [`recv`](Self::recv).
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        poll_within_budget(context, |context| self.poll_message(context))
    }

    fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        self.disarm_all();
        loop {
            match self.take() {
                Found::Message(message) => return Poll::Ready(Ok(message)),
                Found::Missed(missed) => return Poll::Ready(Err(RecvError::Lagged(missed))),
                Found::Nothing if self.is_at_end() => return Poll::Ready(Err(RecvError::Disconnected)),
                Found::Nothing => {}
            }
            self.shared.ring.move_up(&mut self.seat);
            let listener = self.shared.listener(&self.seat);
            let subscriptions = self.subscriptions.get_or_insert_default();
            subscriptions.arm_task(listener, context.waker());
            if !listener.is_ready() {
                return Poll::Pending;
            }
            subscriptions.disarm_task(listener);
        }
    }

    /// Receives the next message; the task waits until there is one. Needs no particular runtime.
    #[doc = cost!(broadcast RECV_TASK)]
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    ///
    /// # Panics
    /// As [`recv`](Self::recv).
    pub fn recv_async(&mut self) -> RecvFuture<'_, T> {
        RecvFuture(Task::new(BroadcastReceive::new(self), Foreign::none()))
    }

    /// As [`recv_async`](Self::recv_async), with a future that owns this receiver, and returns it with the result.
    #[doc = cost!(broadcast RECV_TASK)]
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    ///
    /// # Panics
    /// As [`recv`](Self::recv).
    pub fn recv_owned_async(self) -> OwnedFuture<Self>
    where
        T: 'static,
    {
        OwnedFuture::new(self, ())
    }

    /// Appends messages to `to`: the task waits for the first, then takes the messages that are there, at most `max`.
    /// Returns their number. It is at least 1, except where `max` is 0: then this does not wait. Needs no particular
    /// runtime.
    #[doc = cost!(receiver RECV_BATCH_TASK)]
    ///
    /// # Errors
    /// As [`recv_batch`](Self::recv_batch).
    ///
    /// # Panics
    /// As [`recv_batch`](Self::recv_batch).
    pub fn recv_batch_async<'a>(&'a mut self, to: &'a mut Vec<T>, max: usize) -> RecvBatchFuture<'a, Self> {
        if max == 0 {
            return RecvBatchFuture::nothing(self.take_none());
        }
        RecvBatchFuture::new(BroadcastReceive::new(self), IntakeBatch { to, most: max, taken: 0 })
    }

    /// The messages, one by one. Waits for each, and ends when there will be no more. Skips missed messages; see
    /// [`missed`](Self::missed).
    pub fn iter(&mut self) -> Iter<'_, Self> {
        Iter(self)
    }

    /// The messages that are there, one by one; never waits. Skips missed messages; see [`missed`](Self::missed).
    pub fn try_iter(&mut self) -> TryIter<'_, Self> {
        TryIter(self)
    }

    #[inline(always)]
    fn take(&mut self) -> Found<T> {
        self.shared.take(&mut self.seat, &mut self.missed)
    }

    /// After missing some messages, for a caller that does not need their number: the oldest message that is there.
    /// `None`: there is none, or senders were faster each time.
    #[cold]
    #[inline(never)]
    fn look_on(&mut self) -> Option<T> {
        for _ in 0..LOOKS {
            match self.shared.take_overdue(&mut self.seat, &mut self.missed) {
                Found::Message(message) => return Some(message),
                Found::Missed(_) => {}
                Found::Nothing => break,
            }
        }
        None
    }

    fn take_many(&mut self, to: &mut Vec<T>, max: usize) -> Found<usize> {
        self.shared.take_many(&mut self.seat, &mut self.missed, to, max)
    }

    // MUTANT: Speed only: how long to poll for a message that a sender is still writing. The next call finds it.
    // Killed only by the model `a_sender_in_the_middle_against_a_receiver_that_was_polled`.
    /// After finding nothing: true if a message may have arrived in the meantime.
    fn rest(&self) -> bool {
        let listener = self.listener();
        // A receiver that was polled, or was in a set once, has subscriptions too, and is as any other.
        match self.subscriptions.as_ref().filter(|_| is_attached(self)) {
            Some(subscriptions) => subscriptions.rest(listener),
            None => !self.is_empty() && spin_for_a_moment(|| self.shared.ring.has_news(self.seat.position())),
        }
    }

    /// The reason why there is nothing.
    fn nothing(&mut self) -> TryRecvError {
        if !self.is_at_end() {
            return TryRecvError::Empty;
        }
        tell_end(self);
        TryRecvError::Disconnected
    }

    // MUTANT: Speed only: the id is down, or raised again by a later message. One more poll finds the message or
    // nothing.
    #[cold]
    #[inline(never)]
    fn try_again(&mut self) -> Result<T, TryRecvError> {
        if self.rest() {
            match self.take() {
                Found::Message(message) => return Ok(message),
                Found::Missed(missed) => return Err(TryRecvError::Lagged(missed)),
                Found::Nothing => {}
            }
        }
        Err(self.nothing())
    }

    /// A batch of no messages. Never waits.
    fn take_none(&mut self) -> Result<usize, RecvError> {
        if self.is_at_end() { Err(RecvError::Disconnected) } else { Ok(0) }
    }

    #[cold]
    #[inline(never)]
    fn recv_slowly(&mut self, deadline: Deadline) -> Result<T, RecvTimeoutError> {
        let mut place = Foreign::none();
        match operation::block(BroadcastReceive::new(self), &mut *place, deadline) {
            Some(outcome) => Ok(error::received(outcome, &mut place)?),
            None => Err(RecvTimeoutError::Timeout),
        }
    }
}

impl<T: Clone> Receives for Receiver<T> {
    type Error = RecvError;
}

impl<T: Clone> ReceivesBatches for Receiver<T> {
    type Operation<'a>
        = BroadcastReceive<'a, T, IntakeBatch<'a, T>>
    where
        Self: 'a;
}

/// A receive of a task: see [`recv_async`](Receiver::recv_async).
#[must_use = "futures do nothing unless they are polled"]
pub struct RecvFuture<'a, T: Clone>(Task<BroadcastReceive<'a, T, Option<T>>>);

impl<T: Clone> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        let Self(task) = self.get_mut();
        let outcome = poll_within_budget(context, |context| Pin::new(&mut *task).poll(context));
        outcome.map(|outcome| error::received(outcome, task.place()))
    }
}

// No message is ever pinned in place.
impl<T: Clone> Unpin for RecvFuture<'_, T> {}

impl<T: Clone> fmt::Debug for RecvFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvFuture").finish_non_exhaustive()
    }
}

impl<T: Clone + 'static> OwnedOperation for Receiver<T> {
    type Argument = ();
    type Outcome = Result<T, RecvError>;
    type Future<'a> = RecvFuture<'a, T>;

    fn begin(&mut self, (): ()) -> RecvFuture<'_, T> {
        self.recv_async()
    }
}

impl_identity!(Receiver);

impl<T> Clone for Receiver<T> {
    /// Another receiver, which continues at this one's position: it will get the messages that this one has not had.
    /// Attached to no set. Linear in the number of receivers that exist, and of those that existed with the oldest of
    /// them.
    #[doc = cost!(broadcast SUBSCRIBE)]
    ///
    /// # Panics
    /// When there are 32,760 receivers already.
    fn clone(&self) -> Self {
        Self {
            seat: self.shared.ring.sit_beside(&self.seat),
            shared: self.shared.clone(),
            backoff: self.backoff.again(),
            missed: 0,
            waited_at: self.seat.position(),
            subscriptions: None,
            #[cfg(feature = "stream")]
            has_ended: false,
        }
    }
}

// USER CODE: the waker of its task, and wakers of senders; its slots are given back, then its cursor; re-entrance: any
//     operation; panic: the receiver has disconnected all the same; test: tests/suite/broadcast/foreign.rs:
//     a_receiver_whose_wakers_drop_panics_holds_up_no_other
impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut panics = Panics::none();
        let listener = self.shared.listener(&self.seat);
        // User code: a waker that is dropped.
        if let Some(subscriptions) = &mut self.subscriptions {
            panics.catch(|| subscriptions.unregister(listener));
        }
        panics.catch(|| self.shared.leave(&self.seat));
    }
}

impl<T> Attach for Receiver<T> {
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        let listener = self.shared.listener(&self.seat);
        self.subscriptions.get_or_insert_default().attach(listener, registration)
    }

    fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        self.subscriptions.as_ref().inspect(|subscriptions| subscriptions.with_registration(self.listener(), look));
    }

    fn detach(&mut self) -> bool {
        Receiver::detach(self)
    }
}

impl<T: Clone> Receive for Receiver<T> {
    type Message = T;

    #[inline]
    fn next_waiting(&mut self) -> Option<T> {
        loop {
            match self.recv() {
                Ok(message) => return Some(message),
                Err(RecvError::Lagged(_)) => {
                    if let Some(message) = self.look_on() {
                        return Some(message);
                    }
                }
                Err(RecvError::Disconnected) => return None,
            }
        }
    }

    #[inline]
    fn look(&mut self) -> Option<T> {
        match self.take() {
            Found::Message(message) => Some(message),
            Found::Missed(_) => self.look_on(),
            Found::Nothing => None,
        }
    }

    // MUTANT: Speed only: how long a hub spins. The hub checks the ring before it parks.
    fn has_message(&mut self) -> bool {
        self.shared.ring.has_news(self.seat.position())
    }

    #[inline]
    fn try_next(&mut self) -> Result<T, error::TryRecvError> {
        match self.try_recv() {
            Ok(message) => Ok(message),
            Err(TryRecvError::Lagged(_)) => self.look_on().ok_or(error::TryRecvError::Empty),
            Err(TryRecvError::Empty) => Err(error::TryRecvError::Empty),
            Err(TryRecvError::Disconnected) => Err(error::TryRecvError::Disconnected),
        }
    }
}

impl<T: Clone> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<Self>;

    fn into_iter(self) -> IntoIter<Self> {
        IntoIter::new(self)
    }
}

impl<'a, T: Clone> IntoIterator for &'a mut Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, Receiver<T>>;

    fn into_iter(self) -> Iter<'a, Receiver<T>> {
        self.iter()
    }
}

/// Skips missed messages; see [`Receiver::missed`].
#[cfg(feature = "stream")]
impl<T: Clone> futures_core::Stream for Receiver<T> {
    type Item = T;

    fn poll_next(self: core::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let receiver = self.get_mut();
        match receiver.poll_recv(context) {
            Poll::Ready(Ok(message)) => Poll::Ready(Some(message)),
            Poll::Ready(Err(RecvError::Lagged(_))) => match receiver.look_on() {
                Some(message) => Poll::Ready(Some(message)),
                None => {
                    // There is a message, and the task yields first.
                    context.waker().wake_by_ref();
                    Poll::Pending
                }
            },
            Poll::Ready(Err(RecvError::Disconnected)) => {
                receiver.has_ended = true;
                Poll::Ready(None)
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Terminated after this stream has returned `None`, and not before. `futures::select!` skips a terminated stream, so a
/// task that waits there for the end must first get the `None`. An error of another method is not that `None`.
#[cfg(feature = "stream")]
impl<T: Clone> futures_core::stream::FusedStream for Receiver<T> {
    fn is_terminated(&self) -> bool {
        self.has_ended
    }
}

// No message is ever pinned in place.
impl<T> Unpin for Receiver<T> {}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("len", &self.len()).field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "stream", not(ysuite_loom)))]
mod tests {
    use core::pin::Pin;
    use core::task::{Context, Poll};
    use std::sync::Arc;
    use std::task::Waker;

    use futures_core::Stream;

    use crate::channel::broadcast::lossy;
    use crate::tests::Woken;

    /// A sender has been preempted in the cell of the oldest message that is left.
    #[test]
    fn a_stream_that_finds_nothing_behind_what_it_has_missed_is_polled_again() {
        let (sender, mut receiver) = lossy(1);
        let task = Arc::new(Woken::default());
        let waker = Waker::from(task.clone());
        let mut context = Context::from_waker(&waker);
        sender.send(0).unwrap();
        sender.send(1).unwrap();
        let claimed = receiver.shared.ring.claim();
        assert!(Pin::new(&mut receiver).poll_next(&mut context).is_pending());
        assert_eq!((receiver.missed(), task.times()), (2, 1));
        assert_eq!(receiver.shared.ring.fill_claimed(claimed, 2), None);
        assert_eq!(Pin::new(&mut receiver).poll_next(&mut context), Poll::Ready(Some(2)));
    }
}
