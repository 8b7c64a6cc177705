//! Sending where there is no room, by replacing the oldest message. Any thread.

use super::handle::MpmcHandle;
use super::{SendError, Sender, TrySendError};
use crate::channel::reserve::Rare;
use crate::foreign::{Foreign, Lent};
use crate::operation::{self, Readiness};
use crate::os::PeerWait;
use crate::queue::exchange::Unforced;

impl<T> Sender<T> {
    // WAITS: for a peer in the middle of the very cell: yields, then sleeps for less than a millisecond at a time,
    //     whatever the spin setting; where all room is reserved, for a permit's drop or the close, as `wait/many.rs`;
    //     test: tests/suite/mpmc/force.rs: where_all_places_are_held_it_waits_for_a_permits_end
    /// Sends a message; where the channel is full, it replaces the oldest message, which is returned. This is one
    /// operation: the message comes after all that are in the channel, at most one message is replaced, and only where
    /// there is no room. A receiver that takes the oldest message at that moment may be faster; then none is replaced.
    ///
    /// Does not wait for room. It yields where a peer has been [preempted](super#preempted-peers) in the very cell that
    /// is needed, until that peer continues. The peer is a receiver that takes the oldest message, a sender that is
    /// still writing it, or another `force_send`. It yields some times, and then sleeps, for less than a millisecond at
    /// a time. So the peer gets the CPU even if this is a real-time thread that has preempted it. The duration has no
    /// bound: the peer's priority is not raised. A thread that must finish in bounded time uses
    /// [`try_send`](Self::try_send), and on `Full` drops its message or keeps it.
    ///
    /// Where all room is [reserved](Self::reserve) there is no message to replace: then this sleeps, until a permit is
    /// used or dropped.
    ///
    /// A [rendezvous](crate#rendezvous) never has room: where no receiver waits, the new message itself is
    /// given up, and comes back as `Ok(Some(message))`. This never waits for a receiver.
    #[doc = cost!(mpmc FORCE_SEND)]
    ///
    /// # Errors
    /// When all receivers have disconnected, or the channel is closed; then no message has been replaced.
    pub fn force_send(&self, message: T) -> Result<Option<T>, SendError<T>> {
        let mut place = Foreign::some(message);
        let outcome = self.force_from(&mut place);
        forced(outcome, &mut place)
    }

    /// As [`force_send`](Self::force_send). A message that comes back is in `place`.
    fn force_from(&self, place: &mut Option<T>) -> Result<(), SendError<()>> {
        if self.put(place) {
            return Ok(());
        }
        if let Some(party) = self.parts().party() {
            return match party.try_send(place) {
                Ok(()) | Err(TrySendError::Full(())) => Ok(()),
                Err(TrySendError::Disconnected(())) => Err(SendError(())),
            };
        }
        let mut wait = PeerWait::default();
        loop {
            match self.force(place) {
                Ok(()) => return Ok(()),
                Err(Unforced::Closed) => return Err(SendError(())),
                Err(Unforced::Busy) => wait.wait(),
                Err(Unforced::Held) => {
                    operation::perform(Readiness::new(Rare::until_not_all_held(&self.shared), &self.backoff), &mut ());
                }
            }
        }
    }

    /// Sends a message; where there is no room it replaces the oldest message.
    fn force(&self, place: &mut Option<T>) -> Result<(), Unforced> {
        // MUTANT: The guard of a sender without slots owes no notification.
        if self.subscriptions.is_some() {
            self.passing_on(|shared| shared.force(place))
        } else {
            self.shared.force(place)
        }
    }
}

/// The result of a send by force.
fn forced<T>(outcome: Result<(), SendError<()>>, place: &mut Option<T>) -> Result<Option<T>, SendError<T>> {
    match outcome {
        Ok(()) => Ok(place.take()),
        Err(_) => Err(SendError(place.take_out())),
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::task::Context;
    use std::sync::Arc;

    use super::Rare;
    use crate::channel::mpmc::bounded;
    use crate::queue::exchange::Hint;
    use crate::signal::{Wait, YPollset};
    use crate::tests::Woken;
    use crate::wait::many::{ManyWait, SharedEnd, notify};

    /// One notification stands for two cells where a receiver has emptied the first of them late. No test can stop a
    /// receiver there. So this test takes the messages out, and notifies, by itself. A cell is reserved, so `put` sends
    /// nothing.
    #[test]
    fn a_notified_sender_that_forces_notifies_the_next() {
        let (mut first, receiver) = bounded(3);
        let (mut second, third, mut set) = (first.clone(), first.clone(), YPollset::new());
        let permit = third.try_reserve().unwrap();
        (0..2).for_each(|number| first.send(number).unwrap());
        set.attach(&mut first, 1).unwrap();
        set.attach(&mut second, 2).unwrap();
        assert!(first.try_send(2).is_err() && second.try_send(2).is_err());
        assert!(set.check().next().is_none());
        (0..2).for_each(|number| assert_eq!(third.shared.flavour.pop_bounded(&Hint::new()), Some(number)));
        notify(third.shared.writers().list(), 1);
        assert!(set.check().eq([1]));
        assert_eq!(first.force_send(2), Ok(None));
        assert!(set.check().eq([1, 2]), "there is room left, and the next sender was not notified");
        drop(permit);
        assert_eq!(receiver.recv(), Ok(2));
    }

    /// After many messages for which no receiver has waited, senders no longer check whether one does.
    #[test]
    fn who_waits_for_a_permits_end_is_told_behind_many_messages_that_woke_nobody() {
        let (sender, receiver) = bounded(1);
        for number in 0..200 {
            sender.send(number).unwrap();
            assert_eq!(receiver.recv(), Ok(number));
        }
        let permit = sender.reserve().unwrap();
        let task = Arc::new(Woken::default());
        let waker = task.clone().into();
        let mut wait = ManyWait::new(Rare::until_not_all_held(&sender.shared), false);
        assert!(wait.poll(&mut Context::from_waker(&waker)).is_pending());
        permit.send(200).unwrap();
        assert_eq!(task.times(), 1);
        assert!(wait.poll(&mut Context::from_waker(&waker)).is_ready());
    }
}
