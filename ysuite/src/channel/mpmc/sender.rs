//! The sending end of an mpmc channel. Any thread, any number at a time.

use core::fmt;
use core::time::Duration;
use std::time::Instant;

use super::shared::{MpmcShared, Writers};
use super::{SendError, SendTimeoutError, TrySendError, impl_mpmc_api, impl_same_channel};
use crate::os::Deadline;
use crate::queue::exchange::{Rejected, Staging};
use crate::sync::Arc;
use crate::wait::many::ManyWait;
use crate::wait::{SharedBackoff, spin_for_a_moment};

/// A sending end of the [channel](super). Clones are equal; any number of threads may use one or several. When the last
/// sender is dropped the receivers get what was sent, and then learn that nothing more will come. Senders of the same channel
/// are equal.
pub struct Sender<T> {
    pub(super) shared: Arc<MpmcShared<T>>,
    pub(super) backoff: SharedBackoff,
}

impl<T> Sender<T> {
    pub(super) fn new(shared: Arc<MpmcShared<T>>) -> Self {
        Self { shared, backoff: SharedBackoff::new() }
    }

    /// Sends a message; waits for room as long as it takes.
    ///
    /// Lock-free while there is room, and then without a system call unless a receiver waits. Otherwise spins for a while
    /// (see [`set_spin`](Self::set_spin)) and sleeps in the kernel.
    ///
    /// # Errors
    /// When all receivers are gone, or the channel is closed. Messages sent just before the last receiver went are dropped
    /// with it.
    #[inline]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match self.shared.push(message) {
            Ok(()) => Ok(()),
            Err(message) => self.send_slowly(message, Deadline::Never).map_err(|error| SendError(error.into_inner())),
        }
    }

    /// Sends a message if there is room. Lock-free; the time it takes does not depend on when another thread goes on.
    ///
    /// # Errors
    /// When there is no room, and when all receivers are gone, or the channel is closed. Also `Full` where the next cell is
    /// [still being emptied](super#preempted-peers): this spins for some microseconds for it to become empty, and yields its
    /// CPU a few times.
    #[inline]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.shared.push(message) {
            Ok(()) => Ok(()),
            Err(message) => self.try_again(message),
        }
    }

    /// The ring is full or closed, places are held, or a receiver has not finished emptying the next cell.
    #[cold]
    #[inline(never)]
    fn try_again(&self, message: T) -> Result<(), TrySendError<T>> {
        let (ring, mut message) = (&self.shared.ring, message);
        if ring.is_special() {
            match self.shared.offer(message) {
                Err(Rejected::Full(back)) => message = back,
                sent => return Ok(sent?),
            }
        }
        if ring.room() == 0 || !spin_for_a_moment(|| ring.is_writable()) {
            return Err(TrySendError::Full(message));
        }
        Ok(self.shared.offer(message)?)
    }

    /// Sends a message; waits for room no longer than `timeout`. `Duration::MAX` is no limit.
    ///
    /// # Errors
    /// When the time is up, and when all receivers are gone, or the channel is closed.
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        match self.shared.push(message) {
            Ok(()) => Ok(()),
            Err(message) => self.send_slowly(message, Deadline::after(timeout)),
        }
    }

    /// Sends a message; waits for room no longer than until `deadline`. Where there is room the message is sent even after
    /// the deadline.
    ///
    /// # Errors
    /// When the time is up, and when all receivers are gone, or the channel is closed.
    pub fn send_deadline(&self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_slowly(message, Deadline::At(deadline))
    }

    /// Sends all the messages of an iterator, a few dozen with one claim; waits for room as long as it takes. Returns how
    /// many. They are received in their order, but messages of other senders may come between.
    ///
    /// If the iterator panics, the messages it had given until then are sent as far as there is room, and otherwise dropped.
    ///
    /// # Errors
    /// When all receivers are gone, or the channel is closed: the messages that were taken from the iterator and not sent.
    /// The iterator is dropped with the messages that it has not given.
    pub fn send_batch(&self, messages: impl IntoIterator<Item = T>) -> Result<usize, SendError<Vec<T>>> {
        let mut messages = messages.into_iter();
        let mut batch = Batch { staging: Staging::new(), shared: &self.shared };
        let mut sent = 0;
        loop {
            batch.staging.fill(&mut messages, usize::MAX);
            if batch.staging.len() == 0 {
                return Ok(sent);
            }
            sent += self.send_staging(&mut batch.staging)?;
        }
    }

    /// Sends the staged messages; waits for room as long as it takes.
    fn send_staging(&self, staging: &mut Staging<T>) -> Result<usize, SendError<Vec<T>>> {
        let mut wait: Option<ManyWait<Writers<'_, T>>> = None;
        let mut sent = 0;
        while staging.len() != 0 {
            match self.shared.push_many(staging) {
                None => {
                    drop(wait);
                    return Err(SendError(staging.take(usize::MAX).collect()));
                }
                Some(0) => {
                    let wait = wait.get_or_insert_with(|| ManyWait::new(self.shared.writers(), false));
                    wait.block(&self.backoff, Deadline::Never);
                }
                Some(some) => sent += some,
            }
        }
        Ok(sent)
    }

    #[cold]
    #[inline(never)]
    fn send_slowly(&self, mut message: T, deadline: Deadline) -> Result<(), SendTimeoutError<T>> {
        let mut wait = ManyWait::new(self.shared.writers(), false);
        let mut in_time = true;
        let outcome = loop {
            match self.shared.offer(message) {
                Ok(()) => break Ok(()),
                Err(Rejected::Closed(message)) => break Err(SendTimeoutError::Disconnected(message)),
                Err(Rejected::Full(message)) if !in_time => break Err(SendTimeoutError::Timeout(message)),
                Err(Rejected::Full(back)) => message = back,
            }
            in_time = wait.block(&self.backoff, deadline);
        };
        // The wait ends before the answer is returned: a value being returned would leak if foreign code panicked then.
        drop(wait);
        outcome
    }
}

impl_mpmc_api!(Sender:
    /// What to do before sleeping when there is no room, from the next wait on. The default is
    /// [`Spin::Adaptive`](crate::channel::Spin::Adaptive). Concerns this end, and clones made of it later.
    set_spin,
    /// How many messages are in the channel. While others send and receive it may be out of date.
    len,
    /// Whether all receivers are gone, or the channel is closed: nothing sent will be received.
    is_disconnected,
);

impl_same_channel!(Sender);

impl<T> From<Rejected<T>> for TrySendError<T> {
    fn from(rejected: Rejected<T>) -> Self {
        match rejected {
            Rejected::Full(message) => Self::Full(message),
            Rejected::Closed(message) => Self::Disconnected(message),
        }
    }
}

/// Sends the staged messages, as far as there is room, even if the caller's iterator panics.
struct Batch<'a, T> {
    staging: Staging<T>,
    shared: &'a MpmcShared<T>,
}

impl<T> Drop for Batch<'_, T> {
    fn drop(&mut self) {
        while self.staging.len() != 0 && self.shared.push_many(&mut self.staging).is_some_and(|sent| sent != 0) {}
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.writers.add();
        Self { shared: self.shared.clone(), backoff: self.backoff.again() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.remove_writer();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("len", &self.len()).field("capacity", &self.capacity()).finish()
    }
}
