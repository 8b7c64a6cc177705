//! Sending where there is no room, in the oldest message's place. Any thread.

use super::holding::UntilNotAllHeld;
use super::{SendError, Sender, TrySendError};
use crate::os::Deadline;
use crate::queue::exchange::Unforced;
use crate::sync::thread::yield_now;
use crate::wait::many::ManyWait;

impl<T> Sender<T> {
    /// Sends a message; where the channel is full, in the place of the oldest one, which is returned. One operation: the
    /// message comes behind all that are in the channel, one message at most makes way, and only where there is no room. A
    /// receiver that takes the oldest message at that moment may be quicker; then none makes way.
    ///
    /// Does not wait for room. It yields its CPU where a peer has [lost its own](super#preempted-peers) in the very cell
    /// that is needed, until that goes on: a receiver that takes the oldest message, a sender that is still putting it in,
    /// another `force_send`. Where all places are [held](Self::reserve) there is no message to make way: then it sleeps,
    /// until a permit is used or dropped. Otherwise lock-free; one system call at most, to wake a receiver.
    ///
    /// A [rendezvous](crate::channel#rendezvous) has no place: where no receiver waits, the message itself makes way, and comes
    /// back as `Ok(Some(message))`. This never waits for a receiver.
    ///
    /// # Errors
    /// When all receivers are gone, or the channel is closed; then no message has made way.
    pub fn force_send(&self, message: T) -> Result<Option<T>, SendError<T>> {
        let Err(mut message) = self.put(message) else { return Ok(None) };
        if let Some(party) = self.party() {
            return match party.try_send(message) {
                Ok(()) => Ok(None),
                Err(TrySendError::Full(message)) => Ok(Some(message)),
                Err(TrySendError::Disconnected(message)) => Err(SendError(message)),
            };
        }
        loop {
            match self.force(message) {
                Ok(displaced) => return Ok(displaced),
                Err(Unforced::Closed(message)) => return Err(SendError(message)),
                Err(Unforced::Busy(back)) => {
                    message = back;
                    yield_now();
                }
                Err(Unforced::Held(back)) => {
                    message = back;
                    ManyWait::new(UntilNotAllHeld(&self.shared), false).block(&self.backoff, Deadline::Never);
                }
            }
        }
    }

    /// Sends a message, in the oldest one's place where there is no room.
    fn force(&self, message: T) -> Result<Option<T>, Unforced<T>> {
        if self.subscriptions.is_some() {
            self.passing_on(|shared| shared.force(message))
        } else {
            self.shared.force(message)
        }
    }
}
