//! The receiver of an mpmc channel. Any thread, any number at a time.

use core::fmt;
use core::iter::FusedIterator;
use core::task::{Context, Poll};
use core::time::Duration;
use std::time::Instant;

use super::claimed::Claimed;
use super::handle::MpmcHandle;
use super::operations::{MpmcReceive, RecvRun};
use super::shared::MpmcShared;
use super::{RecvError, RecvTimeoutError, TryRecvError};
use crate::channel::Spin;
use crate::channel::coop::poll_within_budget;
use crate::channel::error;
use crate::channel::identity::{impl_identity, is_attached, tell_end};
use crate::channel::iter::{IntoIter, Receive, until_over};
use crate::channel::receive::impl_receiver_traits;
use crate::channel::rendezvous::{self, Party};
use crate::foreign::{Foreign, Guarded, Lent, Panics};
use crate::operation;
use crate::os::Deadline;
use crate::queue::exchange::Hint;
use crate::queue::ypipe::{InSlot, LoosePlace};
use crate::signal::{Attach, AttachError, Registration};
use crate::sync::Arc;
use crate::wait::many::{Owed, SharedEnd};
use crate::wait::{SharedBackoff, Subscriptions};

/// A receiver of the [channel](super). Clones are equal, and each message goes to one of them; any number of threads
/// may use one or several. When the last receiver is dropped, so are the messages in the channel, and sending fails.
/// Receivers of the same channel are equal.
pub struct Receiver<T> {
    pub(super) shared: Arc<MpmcShared<T>>,
    pub(super) backoff: SharedBackoff,
    /// Where this handle begins to poll for messages.
    pub(super) hint: Hint,
    /// Present once this receiver has been polled or attached.
    pub(super) subscriptions: Option<Box<Subscriptions>>,
    /// As a stream it has returned `None`.
    #[cfg(feature = "stream")]
    has_ended: bool,
}

impl<T> Receiver<T> {
    pub(super) fn new(shared: Arc<MpmcShared<T>>) -> Self {
        Self::again(shared, SharedBackoff::new())
    }

    /// A handle that is counted, with these settings.
    pub(super) fn again(shared: Arc<MpmcShared<T>>, backoff: SharedBackoff) -> Self {
        Self {
            shared,
            backoff,
            hint: Hint::new(),
            subscriptions: None,
            #[cfg(feature = "stream")]
            has_ended: false,
        }
    }

    /// Receives a message; waits until there is one.
    ///
    /// Blocks the thread, also that of an async runtime: a task awaits [`recv_async`](Self::recv_async).
    ///
    /// Where there is none it spins for a while (see [`set_spin`](Self::set_spin)) and then sleeps in the kernel.
    #[doc = cost!(mpmc RECV)]
    #[doc = cost!(mpmc RECV_BACKLOG)]
    #[doc = cost!(mpmc RECV_WAIT)]
    ///
    /// # Errors
    /// When the channel is empty and all senders have disconnected, or it is closed.
    #[inline(always)]
    #[doc(alias = "blocking_recv")]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.take_or(Self::recv_further)
    }

    /// The next message as what a receive returns, or what `otherwise` makes where there is none to be claimed at once.
    /// `otherwise` gets a place for a message that comes from elsewhere.
    #[inline(always)]
    fn take_or<R>(&self, otherwise: impl FnOnce(&Self, &mut LoosePlace<T>) -> Result<InSlot<T>, R>) -> Result<T, R> {
        let mut loose = LoosePlace::new();
        let claimed = match self.claim_at_once() {
            Some(claimed) => claimed,
            None => Claimed::Loose(otherwise(self, &mut loose)?),
        };
        Ok(claimed.take())
    }

    /// There is nothing, or this receiver may have been notified.
    #[cold]
    #[inline(never)]
    fn recv_further(&self, loose: &mut LoosePlace<T>) -> Result<InSlot<T>, RecvError> {
        let mut place = Guarded(loose.empty());
        operation::perform(MpmcReceive::new(self), &mut *place)?;
        place.keep();
        // SAFETY: there is a message, which the caller takes before it uses the place again.
        Ok(unsafe { loose.filled() })
    }

    // WAITS: `try_recv` and `try_send`, only while a peer is between two instructions; ends: the peer finishes, or 2 us
    //     and 4 yields (`spin_for_a_moment`), whatever the spin setting; test: tests/suite/mpmc/foreign.rs:
    //     a_wait_without_time_looks_once_and_neither_calls_the_kernel_nor_arms (no operation in progress)
    /// Receives a message if there is one. Its duration does not depend on when another thread continues. On an
    /// unattached receiver it needs no fence. An attached receiver that finds nothing takes its id down.
    #[doc = cost!(mpmc TRY_RECV)]
    #[doc = cost!(mpmc TRY_RECV_EMPTY)]
    ///
    /// # Errors
    /// `Empty` when the channel is empty. `Disconnected` when, in addition, all senders have disconnected or the
    /// channel is closed. Also `Empty` where the oldest message is [still being written](super#preempted-peers). An
    /// unattached receiver then spins for some microseconds until it is there, and yields the CPU a few times. A sender
    /// that does not continue meanwhile hides the messages after its own.
    #[inline(always)]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.take_or(|receiver, loose| {
            if receiver.subscriptions.is_none() {
                receiver.nothing()?;
            }
            receiver.try_further(loose)
        })
    }

    /// A message may have arrived meanwhile, or the disconnection; or this receiver may have been notified.
    #[cold]
    #[inline(never)]
    fn try_further(&self, loose: &mut LoosePlace<T>) -> Result<InSlot<T>, TryRecvError> {
        let mut place = Guarded(loose.empty());
        if !self.take_notified(&mut place) {
            if self.subscriptions.is_some() {
                self.nothing()?;
            }
            self.try_again(&mut place)?;
        }
        place.keep();
        // SAFETY: as in `recv_further`.
        Ok(unsafe { loose.filled() })
    }

    /// A message may have arrived meanwhile, or the disconnection.
    #[cold]
    #[inline(never)]
    fn try_again(&self, place: &mut Option<T>) -> Result<(), TryRecvError> {
        match self.taken_meanwhile(|receiver| receiver.take_to(place).then_some(())) {
            Err(TryRecvError::Disconnected) => self.over(|party| party.try_recv(place)),
            outcome => outcome,
        }
    }

    /// Receives a message; waits for at most `timeout`. `Duration::MAX` means no limit.
    #[doc = cost!(receiver LIKE_RECV)]
    ///
    /// # Errors
    /// When the timeout has passed, and when the channel is empty and all senders have disconnected, or it is closed.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        let mut place = Foreign::none();
        let outcome = self.recv_within(&mut place, Deadline::after(timeout));
        error::received(outcome, &mut place)
    }

    /// Receives a message; waits until `deadline` at most. A message that is there is received even after the deadline.
    #[doc = cost!(receiver LIKE_RECV)]
    ///
    /// # Errors
    /// When the deadline has passed, and when the channel is empty and all senders have disconnected, or it is closed.
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        let mut place = Foreign::none();
        let outcome = self.recv_within(&mut place, Deadline::At(deadline));
        error::received(outcome, &mut place)
    }

    /// Appends messages to `to`: waits for the first, then takes the messages that are there, at most `max`, with one
    /// claim. Returns their number. It is at least 1, except where `max` is 0: then this does not wait.
    #[doc = cost!(receiver RECV_BATCH)]
    ///
    /// # Errors
    /// When the channel is empty and all senders have disconnected, or it is closed; also where `max` is 0.
    pub fn recv_batch(&self, to: &mut Vec<T>, max: usize) -> Result<usize, RecvError> {
        if max == 0 {
            return self.take_none();
        }
        match self.take_many(to, max) {
            Some(taken) => Ok(taken),
            None => self.recv_batch_slowly(RecvRun::new(to, max)),
        }
    }

    /// Appends the messages that are there to `to`, at most `max`, with one claim. Returns their number. Never blocks.
    #[doc = cost!(receiver TRY_RECV_BATCH)]
    ///
    /// # Errors
    /// `Empty` when the channel is empty; not where `max` is 0. `Disconnected` when, in addition, all senders have
    /// disconnected or the channel is closed.
    pub fn try_recv_batch(&self, to: &mut Vec<T>, max: usize) -> Result<usize, TryRecvError> {
        if max == 0 {
            return Ok(self.take_none()?);
        }
        match self.try_receive(|receiver| receiver.take_many(to, max)) {
            Err(TryRecvError::Disconnected) => self.over(|party| party.try_recv_batch(to, max)),
            outcome => outcome,
        }
    }

    // USER CODE: `Clone` of the waker, `Drop` of the one it replaces; not armed, and a notification to pass on is in a
    //     guard; re-entrance: none (`&mut`); panic: the notification is passed on; by construction: `Owed`
    /// Receives a message, or registers the task to be woken when there may be one. Allocates the first time.
    ///
    /// Only the task that polled this receiver last is woken, hence `&mut`; another task needs a clone. Many tasks may
    /// wait in [`recv_async`](Self::recv_async) of one receiver. This receiver may then wait in another way, such as
    /// [`recv_timeout`](Self::recv_timeout). Then only that wait is notified, and the task is not woken until it polls
    /// again. The set that this receiver is attached to is notified whenever the task is.
    #[doc = cost!(mpmc RECV_TASK)]
    ///
    /// # Errors
    /// When the channel is empty and all senders have disconnected, or it is closed.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        poll_within_budget(context, |context| self.poll_message(context))
    }

    fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        let mut is_notified = self.parts().disarm_all();
        loop {
            // `take` notifies the next receiver if there are more messages: this one may have been notified.
            let mut place = Foreign::none();
            if self.take_to(&mut place) {
                return Poll::Ready(Ok(place.take_out()));
            }
            if self.is_over() {
                return self.poll_over(is_notified, context);
            }
            let subscriptions = self.subscriptions.get_or_insert_default();
            let readers = self.shared.readers();
            // The clone of the waker, or the drop of the last one, may panic: then the notification is passed on.
            let mut owed = Owed { end: readers, is_notified };
            subscriptions.arm_task(readers, context.waker());
            // MUTANT: In a race: one waiter more than needed is notified. It checks and waits on.
            owed.is_notified = false;
            if !readers.is_ready() {
                // Another receiver has taken the message that it was notified of, and it is one of the waiters again.
                readers.list().meter().sleeps();
                return Poll::Pending;
            }
            is_notified |= subscriptions.disarm_task(readers);
        }
    }

    /// The number of messages that a disconnected rendezvous still has: those that were given back.
    #[cfg(feature = "stream")]
    fn given_back(&self) -> usize {
        self.shared.flavour.meeting().map_or(0, |meeting| meeting.side::<false>().supply())
    }

    /// The messages, one by one. Waits for each, and ends when all senders have disconnected, or the channel is closed.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self, is_over: false }
    }

    /// The messages that are there, one by one; never waits.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }

    // USER CODE: the waker of another receiver's task, where this one passes its notification on; the receiver has left
    //     the set, its id is lowered and free; re-entrance: may use the channel and the set's signalers; panic:
    //     propagates; the receiver can be attached again; test: tests/suite/mpmc/foreign.rs:
    //     a_receiver_whose_detach_wakes_a_waker_that_panics_has_left_its_set
    /// Takes this receiver out of its set: its id is down, and free. False: it was in no set. If it had been notified
    /// of a message, another waiting receiver is notified. It can be attached again, to any set.
    ///
    /// A sender that was about to raise the id may still do so once. The next owner of the id must treat that as a
    /// spurious signal.
    #[doc = cost!(signal DETACH)]
    pub fn detach(&mut self) -> bool {
        let readers = self.shared.readers();
        self.subscriptions.as_mut().is_some_and(|subscriptions| subscriptions.detach(readers))
    }

    /// The position of the next message in the total order: after the messages that are in the channel or are being
    /// written. Wait-free.
    pub(in crate::channel) fn place(&self) -> u64 {
        self.shared.flavour.place()
    }

    /// Whether all messages before a position have been taken. Wait-free.
    pub(in crate::channel) fn has_reached(&self, position: u64) -> bool {
        self.shared.flavour.has_reached(position)
    }

    /// Takes a message, if there is one.
    #[inline(always)]
    pub(in crate::channel) fn take(&self) -> Option<T> {
        let mut place = Foreign::none();
        if self.take_to(&mut place) { Some(place.take_out()) } else { None }
    }

    // MUTANT: Speed only: a fast path of the same take. A notification without a message is harmless.
    /// Takes a message to `place`, which is empty, if there is one (true).
    #[inline(always)]
    pub(in crate::channel) fn take_to(&self, place: &mut Option<T>) -> bool {
        if self.subscriptions.is_some() {
            self.passing_on(|shared| shared.pop(&self.hint, place).then_some(())).is_some()
        } else {
            self.shared.pop(&self.hint, place)
        }
    }

    // MUTANT: Speed only: a fast path of the same take. A notification without a message is harmless.
    /// Claims the oldest message of a ring, for code that is compiled into every loop. Finds nothing where there is no
    /// bound, nor for a receiver that may have been notified. Then the slow paths poll.
    #[inline(always)]
    fn claim_oldest(&self) -> Option<Claimed<'_, T>> {
        if self.subscriptions.is_some() {
            return None;
        }
        self.shared.flavour.claim_oldest(&self.hint).map(|claimed| Claimed::InRing(claimed, self))
    }

    // MUTANT: Speed only: a fast path of the same take. A notification without a message is harmless.
    /// As [`claim_oldest`](Self::claim_oldest), where there is no bound.
    #[inline(always)]
    fn claim_oldest_unbounded(&self) -> Option<Claimed<'_, T>> {
        if self.subscriptions.is_some() {
            return None;
        }
        self.shared.flavour.claim_oldest_unbounded(&self.hint).map(Claimed::InSegment)
    }

    // MUTANT: Speed only: a notification without a message is harmless.
    /// Takes a message to `place`, which is empty, as a receiver that may have been notified.
    #[inline]
    fn take_notified(&self, place: &mut Option<T>) -> bool {
        self.subscriptions.is_some() && self.take_to(place)
    }

    /// Claims the oldest message, for code that is compiled into every poll.
    #[inline(always)]
    pub(super) fn claim_at_once(&self) -> Option<Claimed<'_, T>> {
        // The ring first: one question for all flavours took three instructions more there.
        self.claim_oldest().or_else(|| self.claim_oldest_unbounded())
    }

    // MUTANT: Speed only: a notification without a message is harmless.
    pub(in crate::channel) fn take_many(&self, to: &mut Vec<T>, most: usize) -> Option<usize> {
        let mut take = |shared: &MpmcShared<T>| shared.pop_many(to, most);
        if self.subscriptions.is_some() { self.passing_on(take) } else { take(&self.shared) }
    }

    // USER CODE: a sender's waker; the message is taken; re-entrance: any operation; panic: the message is dropped with
    //     the call; others are notified of the rest; by construction: `Owed`
    /// Takes something as a receiver that may have been notified of it. Notifies other receivers of what is left, also
    /// if a sender's waker panics.
    #[inline(never)]
    fn passing_on<R>(&self, take: impl FnOnce(&MpmcShared<T>) -> Option<R>) -> Option<R> {
        let mut owed = Owed { end: self.shared.readers(), is_notified: true };
        let taken = take(&self.shared);
        owed.is_notified = taken.is_some();
        // Wakers are user code. So is the drop of a result that no caller gets, while unwinding.
        Panics::answer_behind(taken, || drop(owed))
    }

    /// A batch of 0 messages, where the caller has computed `max`. It never waits, but it reports the disconnection as
    /// any other batch does, so that a loop until the disconnection ends.
    #[cold]
    pub(super) fn take_none(&self) -> Result<usize, RecvError> {
        let is_over = match self.shared.flavour.meeting() {
            Some(meeting) => meeting.is_closed() && meeting.side::<false>().supply() == 0,
            None => self.is_over(),
        };
        if is_over { Err(RecvError) } else { Ok(0) }
    }

    /// Whether no message will arrive any more. Always true in a rendezvous, which is no queue.
    pub(in crate::channel) fn is_over(&self) -> bool {
        self.shared.flavour.is_over()
    }

    // MUTANT: Speed only: the check that follows repeats the last one and makes the result.
    /// After finding nothing: `Ok` if a message may have arrived in the meantime, or if the senders have disconnected.
    #[cold]
    fn nothing(&self) -> Result<(), TryRecvError> {
        let found = match self.subscriptions.as_ref().filter(|_| is_attached(self)) {
            Some(subscriptions) => {
                subscriptions.rest(self.shared.readers()) || self.shared.flavour.is_to_be_asked_again()
            }
            None => self.shared.flavour.is_to_be_asked_soon(),
        };
        if found { Ok(()) } else { Err(TryRecvError::Empty) }
    }

    /// Returns what `take` finds. Calls it again where it has found nothing and a message may have arrived meanwhile.
    #[inline]
    fn try_receive<R>(&self, mut take: impl FnMut(&Self) -> Option<R>) -> Result<R, TryRecvError> {
        if let Some(taken) = take(self) {
            return Ok(taken);
        }
        self.nothing()?;
        self.taken_meanwhile(take)
    }

    /// Checks again, where a message may have arrived meanwhile.
    fn taken_meanwhile<R>(&self, mut take: impl FnMut(&Self) -> Option<R>) -> Result<R, TryRecvError> {
        // Another receiver may have taken the message meanwhile.
        take(self).ok_or_else(|| if self.is_over() { TryRecvError::Disconnected } else { TryRecvError::Empty })
    }

    fn recv_within(&self, place: &mut Option<T>, deadline: Deadline) -> Result<(), RecvTimeoutError> {
        error::of_limited_receive(operation::block(MpmcReceive::new(self), place, deadline))
    }

    #[cold]
    #[inline(never)]
    fn recv_batch_slowly(&self, mut batch: RecvRun<'_, T>) -> Result<usize, RecvError> {
        operation::perform(MpmcReceive::new(self), &mut batch).map(|()| batch.taken)
    }

    /// No queue has a message: it is disconnected, or this is a rendezvous.
    #[cold]
    #[inline(never)]
    fn over<R>(&self, look: impl FnOnce(Party<'_, T, false>) -> Result<R, TryRecvError>) -> Result<R, TryRecvError> {
        self.parts().party().map_or_else(
            || {
                tell_end(self);
                Err(TryRecvError::Disconnected)
            },
            look,
        )
    }

    /// As [`over`](Self::over), for the task that polls.
    #[cold]
    #[inline(never)]
    fn poll_over(&mut self, is_notified: bool, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        let Some(meeting) = self.shared.flavour.meeting() else { return Poll::Ready(Err(RecvError)) };
        let subscriptions = self.subscriptions.get_or_insert_default();
        rendezvous::poll_message(meeting, subscriptions, is_notified, context)
    }

    /// Gives memory back that this channel keeps for later messages: of segments that have been read, and are neither in
    /// use nor needed by the messages that are there. What stays is the segment in use, at most 72 KiB. A channel with a
    /// bound has nothing to give back. Any receiver may call this at any time; it does not block, and what it has given
    /// back is taken anew where it is needed.
    ///
    /// A channel without a bound does this by itself where a receiver waits again after less than 4 KiB of messages.
    #[doc = cost!(mpmc SHRINK)]
    pub fn shrink_to_fit(&self) {
        self.shared.flavour.shrink();
    }
}

/// # Settings and queries
///
/// As those of a [sender](super::Sender).
impl<T> Receiver<T> {
    /// Sets how this handle spins before it sleeps, from the next wait on. The default is
    /// [`Spin::Adaptive`](crate::Spin::Adaptive). Applies to this handle, and to clones made of it later.
    pub fn set_spin(&self, spin: Spin) {
        self.backoff.set(spin);
    }

    /// The number of messages in the channel, including those that are still being written. It may be out of date while
    /// other handles send and receive.
    #[doc = cost!(mpmc LEN)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.flavour.len()
    }

    /// Whether no message is in the channel, nor being written.
    #[doc = cost!(mpmc LEN)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is no room: see [`Sender::is_full`](super::Sender::is_full).
    #[doc = cost!(mpmc LEN)]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.shared.flavour.room() == 0
    }

    /// The maximal number of messages in the channel; `None` without a bound.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.shared.flavour.capacity()
    }

    /// Whether all senders have disconnected, or the channel is closed. Messages sent before may still be in it.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.shared.is_disconnected()
    }

    /// The number of senders: see [`Sender::sender_count`](super::Sender::sender_count).
    #[doc = cost!(mpmc LEN)]
    #[must_use]
    pub fn sender_count(&self) -> usize {
        self.shared.writers.count()
    }

    /// The number of receivers.
    #[must_use]
    pub fn receiver_count(&self) -> usize {
        self.shared.readers.count()
    }

    /// Closes the channel for all its handles: see [`Sender::close`](super::Sender::close).
    #[doc = cost!(mpmc CLOSE)]
    pub fn close(&self) -> bool {
        self.shared.close()
    }

    /// Whether both are handles of the same channel. So does `==`, and the hash is the channel's. Wait-free.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        self == other
    }
}

impl_identity!(Receiver);

#[cfg(feature = "statistics")]
impl<T> Receiver<T> {
    /// An observer of the messages that go through this channel. It works on any thread, also after all handles
    /// are dropped: see [`statistics`](crate::statistics). With the feature `statistics` only.
    #[doc = cost!(statistics OBSERVER)]
    #[must_use]
    pub fn observer(&self) -> crate::statistics::Observer {
        self.shared.meter().observer()
    }
}

impl<T> Clone for Receiver<T> {
    /// Another receiver of the same messages. The clone is attached to no set.
    #[doc = cost!(mpmc CLONE)]
    fn clone(&self) -> Self {
        self.shared.readers.add();
        Self::again(self.shared.clone(), self.backoff.again())
    }
}

impl<T> Drop for Receiver<T> {
    #[inline]
    fn drop(&mut self) {
        match self.subscriptions {
            // It runs each piece of user code by itself.
            None => MpmcShared::remove_reader(&self.shared),
            Some(_) => self.unsubscribe(),
        }
    }
}

impl<T> Receiver<T> {
    /// The drop of one that has slots in a list.
    #[cold]
    #[inline(never)]
    fn unsubscribe(&mut self) {
        let mut panics = Panics::none();
        // User code: a waker that is dropped, or woken because this receiver had been notified of a message.
        if let Some(subscriptions) = &mut self.subscriptions {
            panics.catch(|| subscriptions.unregister(self.shared.readers()));
        }
        panics.catch(|| MpmcShared::remove_reader(&self.shared));
    }
}

impl<T> Attach for Receiver<T> {
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        let readers = self.shared.readers();
        self.subscriptions.get_or_insert_default().attach(readers, registration)
    }

    fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        self.subscriptions
            .as_ref()
            .inspect(|subscriptions| subscriptions.with_registration(self.shared.readers(), look));
    }

    fn detach(&mut self) -> bool {
        Receiver::detach(self)
    }
}

impl_receiver_traits!(
    // Other receivers may take the messages that are there.
    Receiver, &'a Receiver<T> => Iter<'a, T>, certain: 0,
    |receiver| look: receiver.take(), has_message: receiver.shared.flavour.is_readable(),
);

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("len", &self.len()).field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}

/// Waits for each message; ends when all senders have disconnected, or the channel is closed. Made by
/// [`Receiver::iter`].
pub struct Iter<'a, T> {
    receiver: &'a Receiver<T>,
    is_over: bool,
}

/// Takes the messages that are there. Made by [`Receiver::try_iter`].
pub struct TryIter<'a, T>(&'a Receiver<T>);

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        until_over(&mut self.is_over, || self.receiver.recv().ok())
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

impl<T> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Iter { .. }")
    }
}

impl<T> fmt::Debug for TryIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TryIter { .. }")
    }
}

impl<T> FusedIterator for Iter<'_, T> {}

#[cfg(all(test, not(ysuite_loom)))]
mod tests;
