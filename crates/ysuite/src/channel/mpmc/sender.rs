//! The sender of an mpmc channel. Any thread, any number at a time.

use core::fmt;
use core::time::Duration;
use std::time::Instant;

use super::handle::MpmcHandle;
use super::operations::{MpmcSend, SendRun};
use super::shared::{MpmcShared, Writers};
use super::{SendError, SendTimeoutError, TrySendError};
use crate::channel::Spin;
use crate::channel::error;
use crate::channel::identity::{impl_identity, is_attached, tell_end};
use crate::foreign::{Foreign, Panics};
use crate::operation;
use crate::os::Deadline;
use crate::queue::exchange::{ClaimedCell, ClaimedSlot, Hint, Rejected, StagingSpace};
use crate::signal::{Attach, AttachError, Registration};
use crate::sync::Arc;
use crate::wait::many::Owed;
use crate::wait::{SharedBackoff, Subscriptions, spin_for_a_moment};

/// A sender of the [channel](super). Clones are equal; any number of threads may use one or several. When the last
/// sender is dropped, the receivers get what was sent, and then the disconnection. Senders of the same channel are
/// equal.
pub struct Sender<T> {
    pub(super) shared: Arc<MpmcShared<T>>,
    pub(super) backoff: SharedBackoff,
    /// Where this handle begins to poll for room.
    pub(super) hint: Hint,
    /// Present once this sender has been attached, or waited as a sink.
    pub(super) subscriptions: Option<Box<Subscriptions>>,
}

impl<T> Sender<T> {
    pub(super) fn new(shared: Arc<MpmcShared<T>>) -> Self {
        Self::again(shared, SharedBackoff::new())
    }

    /// A handle that is counted, with these settings.
    pub(super) fn again(shared: Arc<MpmcShared<T>>, backoff: SharedBackoff) -> Self {
        Self { shared, backoff, hint: Hint::new(), subscriptions: None }
    }

    /// What this handle shares with all others of its channel.
    pub(in crate::channel) fn shared(&self) -> &Arc<MpmcShared<T>> {
        &self.shared
    }

    /// Sends a message; blocks the thread, and all its tasks, until there is room. A task uses
    /// [`send_async`](Self::send_async).
    ///
    /// Where there is none it spins for a while (see [`set_spin`](Self::set_spin)) and then sleeps in the kernel.
    #[doc = cost!(mpmc SEND)]
    #[doc = cost!(mpmc SEND_UNBOUNDED)]
    #[doc = cost!(mpmc SEND_WAIT)]
    ///
    /// # Errors
    /// When all receivers have disconnected, or the channel is closed. A message that is sent just before the last
    /// receiver disconnects is dropped with it.
    #[inline]
    #[doc(alias = "blocking_send")]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match self.claim_next() {
            Some(claimed) => {
                claimed.fill(message);
                self.shared.published(1);
                Ok(())
            }
            None => self.send_on(message),
        }
    }

    /// There is no room in the ring, there is no ring, or this sender may have been notified.
    #[inline(never)]
    fn send_on(&self, message: T) -> Result<(), SendError<T>> {
        match self.claim_unbounded() {
            Some(claimed) => {
                claimed.fill(message);
                self.shared.published(1);
                Ok(())
            }
            None => self.send_further(message),
        }
    }

    /// There is no room in the ring, or this sender may have been notified.
    #[cold]
    #[inline(never)]
    fn send_further(&self, message: T) -> Result<(), SendError<T>> {
        let mut place = Foreign::some(message);
        let outcome = operation::perform(MpmcSend::new(self), &mut *place);
        error::of_send(outcome, &mut place)
    }

    /// Sends a message if there is room. Its duration does not depend on when another thread continues. An attached
    /// sender that finds no room takes its id down.
    #[doc = cost!(mpmc TRY_SEND)]
    #[doc = cost!(mpmc SEND_UNBOUNDED)]
    #[doc = cost!(mpmc TRY_SEND_REFUSED)]
    ///
    /// # Errors
    /// When there is no room, and when all receivers have disconnected, or the channel is closed. Also `Full` where the
    /// next cell is [still being emptied](super#preempted-peers): this spins for some microseconds until it is empty,
    /// and yields the CPU a few times.
    #[inline(always)]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.claim_next() {
            Some(claimed) => {
                claimed.fill(message);
                self.shared.published(1);
                Ok(())
            }
            None => self.try_on(message),
        }
    }

    /// There is no room in the ring, there is no ring, or this sender may have been notified.
    #[inline(never)]
    fn try_on(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.claim_unbounded() {
            Some(claimed) => {
                claimed.fill(message);
                self.shared.published(1);
                Ok(())
            }
            None => {
                let mut place = Foreign::some(message);
                if self.put_notified(&mut place) {
                    return Ok(());
                }
                let outcome = self.try_again(&mut place);
                if outcome.is_err_and(|error| error.is_disconnected()) {
                    tell_end(self);
                }
                error::of_try_send(outcome, &mut place)
            }
        }
    }

    // USER CODE: the waker of another sender's task, where this one passes its notification on; so also in the sender's
    //     `Drop` and in `detach`. The sender is armed, or has left its set; re-entrance: any operation; panic:
    //     propagates; a message that was to be sent is dropped as one more piece; by construction: `rest` and
    //     `unregister` pass on last
    // MUTANT: Speed only: one more attempt, or one less; room that is missed is found at the next call. Some mutants
    // change a statistics count only. Killed only by `permits_are_counted_when_they_send`, and by the model
    // `a_receiver_in_the_middle_against_a_sender_that_was_in_a_set`.
    /// The ring is full or closed, room is reserved, or a receiver has not finished emptying the next cell.
    #[cold]
    fn try_again(&self, place: &mut Option<T>) -> Result<(), TrySendError<()>> {
        if let Some(party) = self.parts().party() {
            return party.try_send(place);
        }
        let queue = &self.shared.flavour;
        if queue.is_special() {
            match self.offer(place) {
                Err(Rejected::Full(())) => {}
                sent => return Ok(sent?),
            }
        }
        let mut found = false;
        // The waker of the sender that is notified instead is user code.
        Panics::in_drop(|| {
            found = match self.rest() {
                Some(found) => found,
                None => queue.room() != 0 && spin_for_a_moment(|| queue.is_writable()),
            };
        });
        if !found {
            self.shared.refuse();
            return Err(TrySendError::Full(()));
        }
        self.offer(place).map_err(|rejected| {
            let error = TrySendError::from(rejected);
            if error.is_full() {
                self.shared.refuse();
            }
            error
        })
    }

    /// Sends a message; waits for room for at most `timeout`. `Duration::MAX` means no limit.
    #[doc = cost!(sender LIKE_SEND)]
    ///
    /// # Errors
    /// When the timeout has passed, and when all receivers have disconnected, or the channel is closed.
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        let mut place = Foreign::some(message);
        let outcome = self.send_within(&mut place, Deadline::after(timeout));
        error::of_send_timeout(outcome, &mut place)
    }

    /// Sends a message; waits for room until `deadline` at most. Where there is room the message is sent even after the
    /// deadline.
    #[doc = cost!(sender LIKE_SEND)]
    ///
    /// # Errors
    /// When the deadline has passed, and when all receivers have disconnected, or the channel is closed.
    pub fn send_deadline(&self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        let mut place = Foreign::some(message);
        let outcome = self.send_within(&mut place, Deadline::At(deadline));
        error::of_send_timeout(outcome, &mut place)
    }

    // USER CODE: `Drop` of the iterator, as in `send_batch` of `channel/send.rs`; test: tests/suite/batches.rs:
    //     an_exchange
    /// Sends all the messages of an iterator, a few dozen with one claim; waits until there is room. Returns the number
    /// of messages. They are received in their order, but messages of other senders may come between.
    ///
    /// If the iterator panics, the messages that it had returned until then are sent as far as there is room, and
    /// otherwise dropped.
    #[doc = cost!(sender LIKE_SEND)]
    ///
    /// # Errors
    /// When all receivers have disconnected, or the channel is closed. The error holds the messages that were taken
    /// from the iterator and not sent. The iterator is dropped with the messages that it has not returned.
    pub fn send_batch(&self, messages: impl IntoIterator<Item = T>) -> Result<usize, SendError<Vec<T>>> {
        self.send_batch_by(messages, |run| operation::perform(MpmcSend::new(self), run).is_ok())
    }

    /// As [`send_batch`](Self::send_batch). `send` sends a run, with waits; false: it will not be sent.
    #[inline]
    pub(in crate::channel) fn send_batch_by(
        &self,
        messages: impl IntoIterator<Item = T>,
        mut send: impl FnMut(&mut SendRun<'_, T>) -> bool,
    ) -> Result<usize, SendError<Vec<T>>> {
        // The iterator is not called again after it has ended: it may return messages once more.
        let mut messages = Foreign::new(messages.into_iter().fuse());
        let mut space = StagingSpace::new();
        let mut run = SendRun::new(&mut space, self);
        let outcome = loop {
            run.staging.fill(&mut *messages, usize::MAX);
            if run.staging.len() == 0 {
                break Ok(run.sent);
            }
            if !send(&mut run) {
                break Err(SendError(run.rest()));
            }
        };
        // The iterator's drop is user code. So is the drop of a result that no caller gets, while unwinding.
        Panics::result_behind(outcome, || drop((run, messages)))
    }

    /// Sends the message that is in `place` if there is room. Only polls: an attached sender keeps its id up. After an
    /// error the message is in its place.
    #[inline]
    pub(in crate::channel) fn push(&self, place: &mut Option<T>) -> Result<(), TrySendError<()>> {
        if self.put(place) { Ok(()) } else { Ok(self.offer(place)?) }
    }

    // MUTANT: Speed only: a fast path. The slow path tries again and passes notifications on.
    /// Sends the message that is in `place` if there is room, and none is reserved (true). Otherwise it stays there, for
    /// [`offer`](Self::offer).
    #[inline(always)]
    pub(super) fn put(&self, place: &mut Option<T>) -> bool {
        if self.subscriptions.is_some() {
            self.passing_on(|shared| if shared.push(&self.hint, place) { Ok(()) } else { Err(()) }).is_ok()
        } else {
            self.shared.push(&self.hint, place)
        }
    }

    // MUTANT: Speed only: a fast path. The slow path tries again and passes notifications on.
    /// Claims the next cell, for code that is compiled into every loop; publish the message afterwards. `None` where there
    /// is no room, or no bound, and where this sender may have been notified. Then the slow
    /// paths send the message.
    #[inline(always)]
    fn claim_next(&self) -> Option<ClaimedCell<'_, T>> {
        if self.subscriptions.is_some() { None } else { self.shared.flavour.claim_next(&self.hint) }
    }

    /// As [`claim_next`](Self::claim_next), where there is no bound.
    #[inline(always)]
    fn claim_unbounded(&self) -> Option<ClaimedSlot<'_, T>> {
        if self.subscriptions.is_some() { None } else { self.shared.flavour.claim_unbounded() }
    }

    // MUTANT: Speed only: a fast path. The slow path tries again and passes notifications on.
    /// Sends the message that is in `place`, as a sender that may have been notified.
    #[inline]
    fn put_notified(&self, place: &mut Option<T>) -> bool {
        self.subscriptions.is_some() && self.put(place)
    }

    /// As [`put`](Self::put), for code that is compiled into every poll.
    ///
    /// # Safety
    /// There is a message. If it is sent, nothing but a drop uses the place afterwards.
    #[inline(always)]
    pub(super) unsafe fn put_at_once(&self, place: &mut Option<T>) -> bool {
        if self.subscriptions.is_some() {
            return self.put_notified(place);
        }
        // SAFETY: by the caller.
        let is_sent = unsafe { self.shared.flavour.push_at_once(&self.hint, place) };
        if is_sent {
            self.shared.published(1);
        }
        is_sent
    }

    // MUTANT: Speed only: a fast path. The slow path tries again and passes notifications on.
    /// Sends the message that is in `place` if there is room.
    #[inline]
    pub(super) fn offer(&self, place: &mut Option<T>) -> Result<(), Rejected<()>> {
        if self.subscriptions.is_some() {
            self.passing_on(|shared| shared.offer(place))
        } else {
            self.shared.offer(place)
        }
    }

    // USER CODE: a receiver's waker, then the waker of another sender's task, where this one passes its notification
    //     on; the message is sent, or the room reserved; re-entrance: any operation; panic: propagates; others are
    //     notified of the room that is left, a displaced message is dropped; by construction: `Owed`
    /// Takes room as a sender that may have been notified of it. Notifies other senders of the room that is left, also
    /// if a receiver's waker panics.
    #[inline(never)]
    pub(super) fn passing_on<R, E>(&self, take: impl FnOnce(&MpmcShared<T>) -> Result<R, E>) -> Result<R, E> {
        let mut owed = self.owed();
        let taken = take(&self.shared);
        owed.is_notified &= taken.is_ok();
        // Wakers are user code. So is the drop of a result that no caller gets, while unwinding.
        Panics::answer_behind(taken, || drop(owed))
    }

    /// What this sender passes on when the guard is dropped, if it may have been notified.
    pub(super) fn owed(&self) -> Owed<Writers<'_, T>> {
        Owed { end: self.shared.writers(), is_notified: self.subscriptions.is_some() }
    }

    /// An attached sender has found no room: takes its id down, and checks once more. `None`: it is not attached.
    pub(super) fn rest(&self) -> Option<bool> {
        let attached = self.subscriptions.as_ref().filter(|_| is_attached(self));
        attached.map(|subscriptions| subscriptions.rest(self.shared.writers()))
    }

    fn send_within(&self, place: &mut Option<T>, deadline: Deadline) -> Result<(), SendTimeoutError<()>> {
        error::of_limited(operation::block(MpmcSend::new(self), place, deadline))
    }
}

/// # Settings and queries
///
/// All are wait-free. Their results may be out of date at once, because other handles send and receive meanwhile.
impl<T> Sender<T> {
    /// Sets how this handle spins before it sleeps when there is no room, from the next wait on. The default is
    /// [`Spin::Adaptive`](crate::Spin::Adaptive). Applies to this handle, and to clones made of it later.
    pub fn set_spin(&self, spin: Spin) {
        self.backoff.set(spin);
    }

    /// The number of messages in the channel. It may be out of date while other handles send and receive.
    #[doc = cost!(mpmc LEN)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.flavour.len()
    }

    /// Whether no message is in the channel.
    #[doc = cost!(mpmc LEN)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is no room for another message: the messages in the channel and the room that is
    /// [reserved](Self::reserve) reach the capacity. Without a bound, never.
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

    /// Whether all receivers have disconnected, or the channel is closed. Then no message that is sent will be
    /// received.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.shared.is_disconnected()
    }

    /// The number of senders, including those of [owned permits](super::OwnedPermit).
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

    /// Closes the channel for all its handles. Nothing more can be sent, not even by a [permit](super::Permit), as if
    /// all receivers were dropped. Senders that wait are woken, and get their messages back. Receivers get what was sent
    /// before, and then the disconnection, as if all senders were dropped. True: this call closed it. False: it was
    /// closed before, or all handles of one side have been dropped.
    ///
    /// A message that a sender is [still writing](super#preempted-peers) counts as sent: receivers wait for it.
    ///
    /// Any thread. Wakes every handle that waits.
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

impl_identity!(Sender);

#[cfg(feature = "statistics")]
impl<T> Sender<T> {
    /// An observer of the messages that go through this channel. It works on any thread, also after all handles
    /// are dropped: see [`statistics`](crate::statistics). With the feature `statistics` only.
    #[doc = cost!(statistics OBSERVER)]
    #[must_use]
    pub fn observer(&self) -> crate::statistics::Observer {
        self.shared.meter().observer()
    }
}

impl<T> Sender<T> {
    /// Takes this sender out of its set: its id is down, and free. False: it was in no set. If it had been notified of
    /// room, another waiting sender is notified. It can be attached again, to any set.
    ///
    /// A receiver that was about to raise the id may still do so once. The next owner of the id must treat that as a
    /// spurious signal.
    #[doc = cost!(signal DETACH)]
    pub fn detach(&mut self) -> bool {
        let writers = self.shared.writers();
        self.subscriptions.as_mut().is_some_and(|subscriptions| subscriptions.detach(writers))
    }
}

impl<T> Clone for Sender<T> {
    /// Another sender of the same channel, attached to no set.
    #[doc = cost!(mpmc CLONE)]
    fn clone(&self) -> Self {
        self.shared.writers.add();
        Self::again(self.shared.clone(), self.backoff.again())
    }
}

// USER CODE: wakers of receivers, also in `Drop` of `SendRun`; what was written is in the ring, and the sender is counted
//     out; re-entrance: receivers may be active; panic: all others are woken. While unwinding, Rust's rule holds: a
//     second panic aborts the process; test: tests/suite/mpmc/edges.rs:
//     a_waker_that_panics_when_all_are_woken_keeps_no_thread_asleep
impl<T> Drop for Sender<T> {
    #[inline]
    fn drop(&mut self) {
        match self.subscriptions {
            // It runs each piece of user code by itself.
            None => MpmcShared::remove_writer(&self.shared),
            Some(_) => self.unsubscribe(),
        }
    }
}

impl<T> Sender<T> {
    /// The drop of one that has slots in a list.
    #[cold]
    #[inline(never)]
    fn unsubscribe(&mut self) {
        let mut panics = Panics::none();
        // User code: another sender's waker, woken because this one had been notified of room.
        if let Some(subscriptions) = &mut self.subscriptions {
            panics.catch(|| subscriptions.unregister(self.shared.writers()));
        }
        panics.catch(|| MpmcShared::remove_writer(&self.shared));
    }
}

/// Sends all the messages of an iterator, as [`send_batch`](Self::send_batch) does; waits for room. It reports nothing:
/// messages that nobody receives any more are dropped.
impl<T> Extend<T> for Sender<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, messages: I) {
        drop(self.send_batch(messages));
    }
}

/// The id of an attached sender is up while there may be room, or when the receivers have disconnected. A `try_send`
/// that finds no room takes it down. A notified sender that takes room, or is dropped, notifies the next sender if
/// there is more.
impl<T> Attach for Sender<T> {
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        let writers = self.shared.writers();
        self.subscriptions.get_or_insert_default().attach(writers, registration)
    }

    fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        self.subscriptions
            .as_ref()
            .inspect(|subscriptions| subscriptions.with_registration(self.shared.writers(), look));
    }

    fn detach(&mut self) -> bool {
        Sender::detach(self)
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("len", &self.len()).field("capacity", &self.capacity()).finish()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::future::Future;
    use core::pin::pin;
    use core::task::{Context, Poll, Waker};

    use super::super::bounded;
    use super::{Duration, Hint, Sender};
    use crate::signal::{Wait, YPollset};
    use crate::wait::many::SharedEnd;

    /// One notification stands for room for two messages where the first receiver was late. It stopped between claiming
    /// its message and emptying the cell, and the sender that was notified of the second cell found no room. No test
    /// can stop a receiver there. So this test takes messages out of the ring, and notifies, by itself.
    #[test]
    fn a_notified_sender_notifies_the_next_in_whatever_way_it_sends() {
        let ways: [fn(&Sender<u32>) -> bool; 5] = [
            |sender| sender.send(5).is_ok(),
            |sender| sender.try_send(5).is_ok(),
            |sender| sender.send_timeout(5, Duration::ZERO).is_ok(),
            |sender| sender.push(&mut Some(5)).is_ok(),
            |sender| sender.force_send(5).is_ok(),
        ];
        for (way, send) in ways.into_iter().enumerate() {
            for held in [0, 1] {
                let (mut first, _receiver) = bounded(2 + held);
                assert!(held == 0 || first.shared.flavour.hold(held, held).is_ok());
                assert!((0..2).all(|message| first.send(message).is_ok()));
                let mut set = YPollset::new();
                set.attach(&mut first, 3).unwrap();
                assert!(first.try_send(9).is_err() && set.check().is_empty());
                let (second, mut context) = (first.clone(), Context::from_waker(Waker::noop()));
                let mut waiting = pin!(second.send_async(9));
                assert!(waiting.as_mut().poll(&mut context).is_pending());
                assert!((0..2).all(|_| first.shared.flavour.pop_bounded(&Hint::new()).is_some()));
                first.shared.freed(1);
                assert!(set.check().eq([3]) && first.shared.writers().list().word().is_armed());
                assert!(send(&first));
                let waits = first.shared.writers().list().word().is_armed();
                assert!(!waits, "there is room left, and the next was not notified: way {way}, {held} held");
                assert_eq!(waiting.as_mut().poll(&mut context), Poll::Ready(Ok(())));
            }
        }
    }
}
