//! The sending end of a broadcast channel. Any thread, any number at a time.

use core::fmt;
use core::time::Duration;
use std::time::Instant;

use super::receiver::{Receiver, ReceiverLag};
use super::shared::{BroadcastShared, Speaker};
use super::{SendError, SendTimeoutError, TrySendError};
use crate::channel::Spin;
use crate::channel::coop::within_budget;
use crate::foreign::{Foreign, Panics};
use crate::os::Deadline;
use crate::queue::exchange::{Rejected, Staging, StagingSpace};
use crate::sync::Arc;
use crate::wait::many::ManyWait;
use crate::wait::{SharedBackoff, spin_for_a_moment};

/// A thread that spins for room looks at the receivers' cursors each so many pauses.
const LOOK_EVERY: u64 = if cfg!(any(ysuite_loom, miri)) { 1 } else { 16 };
/// After so many pauses it is content with room for one message.
const PATIENCE: u64 = if cfg!(any(ysuite_loom, miri)) { 1 } else { 1024 };

/// A sending end of the [channel](super). Clones are equal; any number of threads may use one or several. When the last
/// sender is dropped the receivers get what was sent, and then learn that nothing more will come.
pub struct Sender<T> {
    shared: Arc<BroadcastShared<T>>,
    backoff: SharedBackoff,
}

impl<T> Sender<T> {
    pub(super) fn new(shared: Arc<BroadcastShared<T>>) -> Self {
        Self { shared, backoff: SharedBackoff::new() }
    }

    /// Sends a message to every receiver there is; waits for room as long as it takes.
    ///
    /// Lock-free while there is room, and then without a system call unless receivers wait: each of those costs one. In a
    /// lossy channel there is always room, but for what is said of [preempted peers](super#preempted-peers). Otherwise spins
    /// for a while (see [`set_spin`](Self::set_spin)) and sleeps in the kernel.
    ///
    /// # Errors
    /// When there is no receiver, and when the channel was closed.
    ///
    /// # Panics
    /// Where the drop of an old message panics whose place this one takes, or a task's waker. This message was sent then.
    #[inline]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match self.shared.push(message) {
            Ok(()) => Ok(()),
            Err(Rejected::Closed(message)) => Err(SendError(message)),
            Err(Rejected::Full(message)) => {
                self.send_slowly(message, Deadline::Never).map_err(|error| SendError(error.into_inner()))
            }
        }
    }

    /// Sends a message if there is room. Lock-free; the time it takes does not depend on when another thread goes on.
    ///
    /// # Errors
    /// When there is no room, when there is no receiver, and when the channel was closed. Also `Full` where the next cell is
    /// [still in use](super#preempted-peers): this spins for some microseconds for it, and yields its CPU a few times.
    ///
    /// # Panics
    /// As [`send`](Self::send).
    #[inline]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.shared.push(message) {
            Ok(()) => Ok(()),
            Err(Rejected::Closed(message)) => Err(TrySendError::Disconnected(message)),
            Err(Rejected::Full(message)) => self.try_again(message),
        }
    }

    /// The ring is full, or a peer has not finished with the next cell.
    #[cold]
    fn try_again(&self, message: T) -> Result<(), TrySendError<T>> {
        let ring = &self.shared.ring;
        if ring.is_full() || !spin_for_a_moment(|| ring.is_writable()) {
            return Err(TrySendError::Full(message));
        }
        self.shared.push(message).map_err(|rejected| match rejected {
            Rejected::Full(message) => TrySendError::Full(message),
            Rejected::Closed(message) => TrySendError::Disconnected(message),
        })
    }

    /// Sends a message; waits for room no longer than `timeout`. `Duration::MAX` is no limit.
    ///
    /// # Errors
    /// When the time is up, when there is no receiver, and when the channel was closed.
    ///
    /// # Panics
    /// As [`send`](Self::send).
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        match self.shared.push(message) {
            Ok(()) => Ok(()),
            Err(Rejected::Closed(message)) => Err(SendTimeoutError::Disconnected(message)),
            Err(Rejected::Full(message)) => self.send_slowly(message, Deadline::after(timeout)),
        }
    }

    /// Sends a message; waits for room no longer than until `deadline`. Where there is room the message is sent even after
    /// the deadline.
    ///
    /// # Errors
    /// When the time is up, when there is no receiver, and when the channel was closed.
    ///
    /// # Panics
    /// As [`send`](Self::send).
    pub fn send_deadline(&self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_slowly(message, Deadline::At(deadline))
    }

    #[cold]
    #[inline(never)]
    fn send_slowly(&self, mut message: T, deadline: Deadline) -> Result<(), SendTimeoutError<T>> {
        let mut wait = ManyWait::new(self.shared.speaker(), false);
        let mut in_time = true;
        let outcome = loop {
            match self.shared.push(message) {
                Ok(()) => break Ok(()),
                Err(Rejected::Closed(message)) => break Err(SendTimeoutError::Disconnected(message)),
                Err(Rejected::Full(message)) if !in_time => break Err(SendTimeoutError::Timeout(message)),
                Err(Rejected::Full(back)) => message = back,
            }
            // Behind the deadline it tries once more, and not for as long as others take the room that has woken it.
            in_time = self.wait_for_room(&mut wait, deadline) && !deadline.is_over();
        };
        // The wait is foreign code at its end; so is the drop of an answer that nobody gets, behind a panic.
        Panics::answer_behind(outcome, || drop(wait))
    }

    /// Blocks until there is room (true) or the deadline has passed (false). As long as it spins it waits for room for
    /// several messages, and looks seldom: each look takes the lines of the receivers' cursors from them.
    #[cold]
    #[inline(never)]
    fn wait_for_room(&self, wait: &mut ManyWait<Speaker<'_, T>>, deadline: Deadline) -> bool {
        let ring = &self.shared.ring;
        let enough = ring.capacity().div_ceil(4);
        let is_crowded = self.shared.is_crowded();
        let every = if is_crowded { 1 } else { LOOK_EVERY };
        let mut calls = 0_u64;
        wait.block_behind(&self.backoff, deadline, is_crowded, || {
            calls += 1;
            calls % every == 0 && if calls < PATIENCE { ring.has_room_for(enough) } else { ring.is_writable() }
        })
    }

    /// Sends a message; the task waits for room as long as it takes. Needs no particular runtime.
    ///
    /// Cancel-safe in that a future dropped before it is ready has sent nothing; the message is dropped with it. If the task
    /// had been woken for room, the next sender that waits is woken.
    ///
    /// # Errors
    /// When there is no receiver, and when the channel was closed.
    pub fn send_async(&self, message: T) -> impl Future<Output = Result<(), SendError<T>>> {
        // Captured, and only lent: so the future has it once. Its drop is foreign code, as the wait is, and may come behind a panic.
        let mut place = Foreign::new(Some(message));
        within_budget(async move { self.sent_from(&mut place).await })
    }

    /// Sends the message that is in `place`; the task waits for room.
    async fn sent_from(&self, place: &mut Option<T>) -> Result<(), SendError<T>> {
        let mut wait = ManyWait::new(self.shared.speaker(), false);
        loop {
            if let Some(outcome) = self.push_from(place) {
                return Panics::answer_behind(outcome, || drop(wait));
            }
            core::future::poll_fn(|context| wait.poll(context)).await;
        }
    }

    /// Sends the message that is in `place`, or learns that nothing can be sent any more. `None`: there is no room, and it stays there.
    fn push_from(&self, place: &mut Option<T>) -> Option<Result<(), SendError<T>>> {
        match self.shared.push(place.take()?) {
            Ok(()) => Some(Ok(())),
            Err(Rejected::Closed(message)) => Some(Err(SendError(message))),
            Err(Rejected::Full(message)) => {
                *place = Some(message);
                None
            }
        }
    }

    /// Sends all the messages of an iterator, a few dozen with one claim; waits for room as long as it takes. Returns how
    /// many. Every receiver gets them in their order, but messages of other senders may come between.
    ///
    /// If the iterator panics, the messages it had given until then are sent as far as there is room, and otherwise dropped.
    ///
    /// # Errors
    /// When there is no receiver, and when the channel was closed: the messages that were taken from the iterator and not
    /// sent. The iterator is dropped with the messages that it has not given.
    ///
    /// # Panics
    /// As [`send`](Self::send); then the messages that the iterator has not given are not sent.
    pub fn send_batch(&self, messages: impl IntoIterator<Item = T>) -> Result<usize, SendError<Vec<T>>> {
        // It is not asked again behind its end, where it may have messages once more.
        let mut messages = Foreign::new(messages.into_iter().fuse());
        let mut space = StagingSpace::new();
        let mut run = StagedRun { staging: Staging::new(&mut space), shared: &self.shared };
        let mut sent = 0;
        let outcome = loop {
            run.staging.fill(&mut *messages, usize::MAX);
            if run.staging.len() == 0 {
                break Ok(sent);
            }
            match self.send_staging(&mut run.staging) {
                Ok(some) => sent += some,
                Err(back) => break Err(back),
            }
        };
        // The iterator is foreign code at its end; so is the drop of an answer that nobody gets, behind a panic.
        Panics::result_behind(outcome, || drop((run, messages)))
    }

    /// Sends the staged messages; waits for room as long as it takes.
    fn send_staging(&self, staging: &mut Staging<T>) -> Result<usize, SendError<Vec<T>>> {
        let mut wait: Option<ManyWait<Speaker<'_, T>>> = None;
        let mut sent = 0;
        while staging.len() != 0 {
            match self.shared.push_many(staging) {
                None => {
                    drop(wait);
                    return Err(SendError(staging.take(usize::MAX).collect()));
                }
                Some(0) => {
                    let wait = wait.get_or_insert_with(|| ManyWait::new(self.shared.speaker(), false));
                    self.wait_for_room(wait, Deadline::Never);
                }
                Some(some) => sent += some,
            }
        }
        Ok(sent)
    }

    /// A new receiver, of all messages that are sent from now on. Lock-free; linear in the most receivers there have been.
    ///
    /// # Panics
    /// Where there are 32,760 receivers already.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver::sit_down(&self.shared)
    }

    /// Ends the channel: nothing can be sent any more, by any sender. The receivers get what was sent, and then learn that
    /// nothing more will come; senders that wait for room get their messages back. False: it was closed before. Lock-free; a
    /// system call for each end that waits.
    #[allow(clippy::must_use_candidate)]
    pub fn close(&self) -> bool {
        self.shared.close()
    }

    /// Waits until there is no receiver, or the channel is closed. The task may miss a moment without receivers where one
    /// [subscribes](Self::subscribe) at once. Cancel-safe.
    pub async fn closed(&self) {
        let mut wait = ManyWait::new(self.shared.leaver(), false);
        while !self.shared.is_deserted() {
            core::future::poll_fn(|context| wait.poll(context)).await;
        }
    }

    /// Blocks until there is no receiver, or the channel is closed, as [`closed`](Self::closed).
    pub fn wait_closed(&self) {
        self.wait_deserted(Deadline::Never);
    }

    /// Blocks until there is no receiver, or the channel is closed, but no longer than `timeout`. False: the time is up.
    /// `Duration::MAX` is no limit.
    #[must_use]
    pub fn wait_closed_timeout(&self, timeout: Duration) -> bool {
        self.wait_deserted(Deadline::after(timeout))
    }

    fn wait_deserted(&self, deadline: Deadline) -> bool {
        let mut wait = ManyWait::new(self.shared.leaver(), false);
        while !self.shared.is_deserted() {
            if !wait.block(&self.backoff, deadline) {
                return false;
            }
        }
        true
    }

    /// Whether there is no receiver, or the channel is closed: nothing can be sent now. Without a receiver that changes when
    /// one [subscribes](Self::subscribe).
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.shared.is_deserted()
    }

    /// Whether the channel was closed, by [`close`](Self::close) of any end.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.ring.is_closed()
    }

    /// How many messages the slowest receiver has not had. While others send and receive it may be out of date. Linear in
    /// the most receivers there have been.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.ring.longest()
    }

    /// Whether every receiver has had all messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the slowest receiver has not had any of the last `capacity` messages: in a bounded channel there is no room, in
    /// a lossy one that receiver misses a message if another is sent.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() == self.shared.ring.capacity()
    }

    /// How many messages are kept for a slow receiver. Never `None`, which channels without a bound return.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        Some(self.shared.ring.capacity())
    }

    /// How many senders there are. It may be out of date at once.
    #[must_use]
    pub fn sender_count(&self) -> usize {
        self.shared.sender_count()
    }

    /// How far each receiver is behind, the slowest first. While others send and receive it may be out of date at once.
    /// Lock-free; allocates; linear in the receivers. For people, and for who watches over them: it takes the lines of all receivers
    /// from them.
    #[must_use]
    pub fn lags(&self) -> Vec<ReceiverLag> {
        self.shared.ring.behind().into_iter().map(|(id, messages)| ReceiverLag { id, messages }).collect()
    }

    /// The receiver that is the furthest behind: in a bounded channel that is full, the one that holds the senders up. `None`
    /// where there is no receiver. Costs what [`lags`](Self::lags) costs.
    #[must_use]
    pub fn slowest(&self) -> Option<ReceiverLag> {
        self.lags().first().copied()
    }

    /// Ends the receiver with that [id](Receiver::id), wherever it is: senders do not wait for it any more. It misses what it has not
    /// had: its next receive says how many messages that is, and each behind it [`Disconnected`](super::RecvError::Disconnected);
    /// where it waits it is woken. Its clones are not touched, nor those who [subscribe](Self::subscribe) later. False: there is no such
    /// receiver, or it had been evicted before.
    ///
    /// For a receiver that is kept and never asked, or whose thread hangs, which holds up the senders of a [bounded](super::bounded)
    /// channel: [`slowest`](Self::slowest) names it.
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
    /// A receiver that is in the middle of copying a message when it is evicted holds senders up until its `Clone` has returned, and
    /// may count in [`receiver_count`](Self::receiver_count) until it is dropped.
    ///
    /// Never waits for another thread. One or two system calls, and one for each end that waits. The first in a process takes two more,
    /// and may block for some 10 ms, as [`prepare`](crate::prepare). Where a filter forbids the kernel's barrier after the channel was made, it
    /// evicts nobody, and returns false.
    #[allow(clippy::must_use_candidate)]
    pub fn evict(&self, id: u64) -> bool {
        self.shared.evict(id)
    }

    /// How many receivers there are. It may be out of date at once.
    #[must_use]
    pub fn receiver_count(&self) -> usize {
        self.shared.ring.readers()
    }

    /// Whether both are senders of one channel.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// What to do before sleeping when there is no room, from the next wait on. The default is
    /// [`Spin::Adaptive`](crate::channel::Spin::Adaptive). Concerns this end, and clones made of it later.
    pub fn set_spin(&self, spin: Spin) {
        self.backoff.set(spin);
    }
}

/// Sends the staged messages, as far as there is room, even if the caller's iterator panics.
struct StagedRun<'a, T> {
    staging: Staging<'a, T>,
    shared: &'a BroadcastShared<T>,
}

impl<T> Drop for StagedRun<'_, T> {
    fn drop(&mut self) {
        while self.staging.len() != 0 && self.shared.push_many(&mut self.staging).is_some_and(|sent| sent != 0) {}
    }
}

impl_same_channel!(Sender);

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.add_sender();
        Self { shared: self.shared.clone(), backoff: self.backoff.again() }
    }
}

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
    use crate::os::Deadline;
    use crate::tests::Woken;
    use crate::wait::many::{ManyWait, SharedEnd};

    #[test]
    fn a_wait_that_ends_for_want_of_time_has_found_no_room() {
        let (sender, _receiver) = bounded(1);
        sender.set_spin(Spin::Forever);
        sender.send(1).unwrap();
        let mut wait = ManyWait::new(sender.shared.speaker(), false);
        assert!(!sender.wait_for_room(&mut wait, Deadline::after(Duration::from_millis(2))));
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

    /// A sender loses its CPU in its cell, and another comes to that cell a lap later: it is told by the message.
    #[test]
    fn a_message_tells_a_sender_that_waits_for_its_cell() {
        let (sender, mut receiver) = bounded(2);
        // So many that senders promise no fences to receivers any more, and do not look for them behind each message.
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
        // Whoever sends next does behind its message what that sender does.
        assert_eq!(sender.shared.ring.fill_claimed(claimed, 0), None);
        assert_eq!((task.times(), sender.try_send(3)), (0, Ok(())));
        assert_eq!(task.times(), 1);
        assert_eq!(waiting.as_mut().poll(&mut context), Poll::Ready(Ok(())));
        assert!(late.try_iter().eq([3, 2]));
    }
}
