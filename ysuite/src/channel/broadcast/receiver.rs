//! The receiving end of a broadcast channel. One thread at a time.

use core::fmt;
use core::task::{Context, Poll};
use core::time::Duration;
use std::time::Instant;

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::shared::{BroadcastShared, Listener};
use crate::channel::Spin;
use crate::channel::coop::{poll_within_budget, within_budget};
use crate::channel::error;
use crate::channel::identity::is_attached;
use crate::channel::iter::{IntoIter, Iter, Receive, TryIter};
use crate::foreign::Panics;
use crate::os::Deadline;
use crate::queue::broadcast::{Found, Seat};
use crate::signal::{Attach, AttachError, Registration};
use crate::sync::{Arc, spin_loop};
use crate::wait::many::{ManyWait, SharedEnd};
use crate::wait::{SharedBackoff, Subscriptions, spin_for_a_moment};

/// This many messages without a wait are a stream.
const STREAM: u64 = 16;
/// How long a receiver looks away after a stream, in pauses.
const PAUSES: u32 = if cfg!(any(ysuite_loom, miri)) { 0 } else { 32 };
/// How often one who passes over what it has missed looks in one call that does not wait: writers that are quicker each
/// time do not keep it for ever.
const LOOKS: u32 = if cfg!(ysuite_loom) { 2 } else { 16 };

/// A receiving end of the [channel](super). Every receiver gets every message that is sent while it is there, in one
/// order. A clone goes on where its original is. A receiver that goes holds up nobody any more.
pub struct Receiver<T> {
    seat: Seat,
    shared: Arc<BroadcastShared<T>>,
    backoff: SharedBackoff,
    /// How many messages it has missed.
    missed: u64,
    /// Where it was when it last waited.
    waited_at: u64,
    /// Present once this receiver has been polled or attached.
    subscriptions: Option<Box<Subscriptions>>,
    /// As a stream it has returned `None`.
    #[cfg(feature = "stream")]
    has_ended: bool,
}

/// How far one receiver of a [channel](super) is behind its senders. Told by [`Sender::lags`](super::Sender::lags).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ReceiverLag {
    /// The receiver's [`id`](Receiver::id).
    pub id: u64,
    /// How many messages it can get, those that are still being put in included: at most as many as the channel keeps.
    /// A receiver that has as many holds the senders of a bounded channel up.
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
    //     a_receiver_that_is_not_returned_for_a_panic_holds_up_nobody
    /// A receiver of all that is sent from now on.
    pub(super) fn sit_down(shared: &Arc<BroadcastShared<T>>) -> Self {
        let receiver = Self::new(shared.clone(), shared.ring.sit_down());
        // For a moment its cursor may have held senders up. They are user code: where one panics, the receiver, which
        // is a local, leaves its seat.
        shared.announce_room();
        receiver
    }

    /// A new receiver, of all messages that are sent from now on. Lock-free; linear in the receivers that there are,
    /// and were with the oldest of those.
    ///
    /// # Panics
    /// Where there are 32,760 receivers already.
    #[must_use]
    pub fn resubscribe(&self) -> Self {
        Self::sit_down(&self.shared)
    }

    /// Ends the channel for all: nothing can be sent any more. The receivers get what was sent, and then learn that
    /// nothing more will come. False: it was closed before, or all senders have disconnected. Lock-free; a system call
    /// for each end that waits. To leave the channel by itself, a receiver is dropped.
    pub fn close(&mut self) -> bool {
        self.shared.close()
    }

    /// Whether a sender has [evicted](super::Sender::evict) this receiver: it gets no message any more. Its next
    /// receive says how many it misses by that, if any, and those behind it `Disconnected`. Wait-free.
    #[must_use]
    pub fn is_evicted(&self) -> bool {
        self.shared.ring.is_evicted(&self.seat)
    }

    /// Whether all senders have disconnected, or the channel was closed. Messages that were sent may still be here.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.shared.ring.is_closed()
    }

    /// How many messages this receiver can get, those that are still being put in included. While others send it may be
    /// out of date. Wait-free.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.ring.len(self.seat.position())
    }

    /// Whether this receiver has had all messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether this receiver has not had any of the last `capacity` messages: in a bounded channel it holds the senders
    /// up, in a lossy one it misses a message if another is sent.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() == self.shared.ring.capacity()
    }

    /// How many messages are kept for a slow receiver. Never `None`, which channels without a bound return.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        Some(self.shared.ring.capacity())
    }

    /// The number of this receiver, from 1 on: no other of this channel has it or ever had it, a clone neither. A
    /// sender names receivers by it: [`Sender::lags`](super::Sender::lags). Wait-free.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.seat.id()
    }

    /// How many messages this receiver has missed so far, because it was too slow for a lossy channel, or was evicted.
    /// Those of its original do not count.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// How many senders there are. It may be out of date at once.
    #[must_use]
    pub fn sender_count(&self) -> usize {
        self.shared.sender_count()
    }

    /// How many receivers there are. It may be out of date at once.
    #[must_use]
    pub fn receiver_count(&self) -> usize {
        self.shared.ring.readers()
    }

    /// Whether both are receivers of one channel.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// What to do before sleeping, from the next wait on. The default is
    /// [`Spin::Adaptive`](crate::channel::Spin::Adaptive). Concerns this end, and clones made of it later.
    pub fn set_spin(&mut self, spin: Spin) {
        self.backoff.set(spin);
    }

    /// Takes this receiver out of the set it is attached to: its id is down, and free. False: it was in none. Its
    /// messages stay, and it can be attached again, to any set. Lock-free; a system call at most, for the descriptor of
    /// the set.
    ///
    /// A sender that was about to raise the id may still do so once: its next owner must take that for a spurious
    /// signal.
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

    fn is_over(&self) -> bool {
        self.shared.ring.is_over(self.shared.ring.place(&self.seat))
    }
}

impl<T: Clone> Receiver<T> {
    /// Receives the next message; waits for one as long as it takes.
    ///
    /// Lock-free while messages are there, and then without a system call unless a sender waits. Otherwise spins for a
    /// while (see [`set_spin`](Self::set_spin)) and sleeps in the kernel. The message is a clone, unless this receiver
    /// is the only one.
    ///
    /// # Errors
    /// When the receiver was too slow for a lossy channel (once for each time), and when it has had all messages and
    /// nothing more will come.
    ///
    /// # Panics
    /// Where the message's `Clone` panics. The receiver has had this message then.
    #[inline]
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
    /// Receives the next message if it is there. Lock-free; the time it takes does not depend on when another thread
    /// goes on, nor on the number of receivers. On an unattached receiver without a system call but to wake a sender
    /// that waits and to yield its CPU as said below. An attached receiver that finds nothing takes its id down (at
    /// most two system calls, then none until it is raised again).
    ///
    /// # Errors
    /// As [`recv`](Self::recv), and when there is no message. Also `Empty` where the next message is [still being put
    /// in](super#preempted-peers): an unattached receiver then spins for some microseconds for it to come, and yields
    /// its CPU a few times.
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

    /// Receives the next message; waits no longer than `timeout`. `Duration::MAX` is no limit.
    ///
    /// # Errors
    /// As [`recv`](Self::recv), and when the time is up.
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

    /// Receives the next message; waits no longer than until `deadline`. A message that is there is received even after
    /// the deadline.
    ///
    /// # Errors
    /// As [`recv`](Self::recv), and when the time is up.
    ///
    /// # Panics
    /// As [`recv`](Self::recv).
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_slowly(Deadline::At(deadline))
    }

    /// Appends messages to `to`: waits for the first, then takes what is there, `max` at most. Returns how many (at
    /// least 1, unless `max` is 0: then it does not wait). Allocates only in `to`. Senders get the room of all of them
    /// at the end.
    ///
    /// # Errors
    /// As [`recv`](Self::recv). Where `max` is 0, only when it has had all messages and nothing more will come.
    ///
    /// # Panics
    /// Where a message's `Clone` panics. Those before it are in `to` then, and those behind it are still to come.
    pub fn recv_batch(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, RecvError> {
        if max == 0 {
            return if self.is_over() { Err(RecvError::Disconnected) } else { Ok(0) };
        }
        self.receive(Deadline::Never, |receiver| receiver.take_many(to, max)).map_err(RecvError::from)
    }

    // MUTANT: Speed only: the id is down, or a later message has raised it again. One more poll finds the message or
    // nothing.
    /// Appends the messages that are there to `to`, `max` at most, and returns how many. Never blocks.
    ///
    /// # Errors
    /// As [`try_recv`](Self::try_recv). Where `max` is 0, only when it has had all messages and nothing more will come.
    ///
    /// # Panics
    /// As [`recv_batch`](Self::recv_batch).
    pub fn try_recv_batch(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, TryRecvError> {
        if max == 0 {
            return if self.is_over() { Err(TryRecvError::Disconnected) } else { Ok(0) };
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
    /// Receives the next message, or has the task woken when it comes. Lock-free; allocates the first time. Only the
    /// task that polled this receiver last is woken. Where this receiver then waits in another way, such as
    /// [`recv_timeout`](Self::recv_timeout), that wait alone is told, and the task is not woken until it polls again.
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
                Found::Nothing if self.is_over() => return Poll::Ready(Err(RecvError::Disconnected)),
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

    /// Receives the next message; the task waits for one as long as it takes. Needs no particular runtime.
    ///
    /// Cancel-safe: a future dropped before it is ready has taken nothing.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    ///
    /// # Panics
    /// As [`recv`](Self::recv).
    pub async fn recv_async(&mut self) -> Result<T, RecvError> {
        within_budget(self.message_received()).await
    }

    // MUTANT: Whatever ended the earlier wait has disarmed its slot; a set whose id stays down is notified of the next
    // message anyway.
    async fn message_received(&mut self) -> Result<T, RecvError> {
        self.disarm_all();
        let Self { seat, shared, missed, .. } = self;
        let mut wait: Option<ManyWait<Listener<'_, T>>> = None;
        let outcome = loop {
            match shared.take(seat, missed) {
                Found::Message(message) => break Ok(message),
                Found::Missed(more) => break Err(RecvError::Lagged(more)),
                Found::Nothing if shared.ring.is_over(shared.ring.place(seat)) => break Err(RecvError::Disconnected),
                Found::Nothing => {}
            }
            // The place stays what it is until there is a message.
            let wait = wait.get_or_insert_with(|| {
                shared.ring.move_up(seat);
                ManyWait::new(shared.listener(seat), false)
            });
            core::future::poll_fn(|context| wait.poll(context)).await;
        };
        // The wait is user code at its end; so is the drop of an answer that nobody gets, while unwinding.
        Panics::answer_behind(outcome, || drop(wait))
    }

    /// The messages, one by one; waits for each, and ends when nothing more will come. Messages missed are passed over;
    /// see [`missed`](Self::missed).
    pub fn iter(&mut self) -> Iter<'_, Self> {
        Iter(self)
    }

    /// The messages that are there, one by one; never waits. Messages missed are passed over; see
    /// [`missed`](Self::missed).
    pub fn try_iter(&mut self) -> TryIter<'_, Self> {
        TryIter(self)
    }

    #[inline(always)]
    fn take(&mut self) -> Found<T> {
        self.shared.take(&mut self.seat, &mut self.missed)
    }

    /// After missing some, for whoever has no use for being told so: the oldest message that is there. `None`: there is
    /// none, or senders were quicker each time.
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
    /// After finding nothing: true if a message may have come in the meantime.
    fn rest(&self) -> bool {
        let listener = self.listener();
        // One that was polled, or was in a set once, has subscriptions too, and is as any other.
        match self.subscriptions.as_ref().filter(|_| is_attached(self)) {
            Some(subscriptions) => subscriptions.rest(listener),
            None => !self.is_empty() && spin_for_a_moment(|| self.shared.ring.has_news(self.seat.position())),
        }
    }

    /// Why there is nothing.
    fn nothing(&self) -> TryRecvError {
        if self.is_over() { TryRecvError::Disconnected } else { TryRecvError::Empty }
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

    #[cold]
    #[inline(never)]
    fn recv_slowly(&mut self, deadline: Deadline) -> Result<T, RecvTimeoutError> {
        self.receive(deadline, Self::take)
    }

    // MUTANT: Speed only: when a receiver pauses before it waits.
    /// Blocks until there is a message, or none will come (true), or the deadline has passed (false).
    fn wait_for_message(&mut self, deadline: Deadline) -> bool {
        let is_crowded = self.shared.is_crowded();
        // After a stream, lets the senders get ahead: this receiver has caught up with them in the very line where they
        // write.
        if !is_crowded && self.seat.position() - self.waited_at >= STREAM && self.backoff.recall().may_spin() {
            (0..PAUSES).for_each(|_| spin_loop());
        }
        self.waited_at = self.seat.position();
        self.shared.ring.move_up(&mut self.seat);
        let listener = self.listener();
        ManyWait::new(listener, false).block_behind(&self.backoff, deadline, is_crowded, || listener.is_ready())
    }

    // WAITS: for a message, also in `recv_async` and `poll_recv`; ends: that, the last sender has disconnected, the
    //     deadline; spin: `None` parks at once, `Adaptive` polls, yields, parks, `Forever` polls for ever; each message
    //     notifies all waiters; test: tests/suite/broadcast/waiting.rs: one_message_wakes_every_receiver_that_sleeps
    /// Waits until `take` finds something.
    fn receive<R>(
        &mut self,
        deadline: Deadline,
        mut take: impl FnMut(&mut Self) -> Found<R>,
    ) -> Result<R, RecvTimeoutError> {
        self.disarm_all();
        let mut in_time = true;
        loop {
            match take(self) {
                Found::Message(taken) => return Ok(taken),
                Found::Missed(missed) => return Err(RecvTimeoutError::Lagged(missed)),
                Found::Nothing if self.is_over() => return Err(RecvTimeoutError::Disconnected),
                Found::Nothing if !in_time => return Err(RecvTimeoutError::Timeout),
                Found::Nothing => {}
            }
            in_time = self.wait_for_message(deadline);
        }
    }
}

impl_same_channel!(Receiver);

impl<T> Clone for Receiver<T> {
    /// Another receiver, which goes on where this one is: it will get the messages that this one has not had. Attached
    /// to no set. Linear in the receivers that there are, and were with the oldest of those.
    ///
    /// # Panics
    /// Where there are 32,760 receivers already.
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
//     a_receiver_whose_wakers_drop_panics_holds_up_nobody
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

/// Messages missed are passed over; see [`Receiver::missed`].
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
                    // There is a message, and other tasks have their turn first.
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

/// Terminated once this stream has returned `None`, and not before: `futures::select!` passes over a stream that is
/// terminated, and whoever waits there for the end must be told of it. An error of another method is not that `None`.
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
