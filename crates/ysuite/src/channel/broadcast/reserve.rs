//! Reserving: permits, for one message or several, now or when there is room. Any thread.

use super::operations::BroadcastSend;
use super::permit::{HeldRoom, OwnedPermit, Permit, Permits};
use super::{ReserveError, SendError, Sender, TryReserveError, TrySendError};
use crate::channel::coop::within_budget;
use crate::foreign::Foreign;
use crate::operation::{self, Task};
use crate::queue::exchange::Rejected;

/// # Reserving
///
/// A permit is room for a message that is yet to be made: see [Permits](super#permits).
impl<T> Sender<T> {
    /// Waits until there is room for a message, and reserves it. Blocks as [`send`](Self::send) does.
    #[doc = cost!(broadcast TRY_RESERVE)]
    #[doc = cost!(broadcast RESERVE_WAIT)]
    ///
    /// # Errors
    /// When there is no receiver, and when the channel was closed.
    pub fn reserve(&self) -> Result<Permit<'_, T>, ReserveError> {
        let mut held = self.held();
        reserved(operation::perform(BroadcastSend::new(self), &mut held))?;
        Ok(Permit::new(held))
    }

    /// Reserves room for a message if there is any.
    #[doc = cost!(broadcast TRY_RESERVE)]
    ///
    /// # Errors
    /// When there is no room, when there is no receiver, and when the channel was closed.
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TryReserveError> {
        self.try_hold(1).map(Permit::new)
    }

    /// Waits until there is room for a message, and reserves it. Needs no particular runtime.
    ///
    /// If the task had been woken for room, the next waiting sender is woken.
    #[doc = cost!(broadcast RESERVE_TASK)]
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    pub async fn reserve_async(&self) -> Result<Permit<'_, T>, ReserveError> {
        let mut task = Task::new(BroadcastSend::new(self), Foreign::new(self.held()));
        reserved(within_budget(&mut task).await)?;
        Ok(Permit::new(task.place().take()))
    }

    /// Reserves room for `places` messages, if there is room for all of them.
    #[doc = cost!(broadcast TRY_RESERVE)]
    ///
    /// # Errors
    /// When there is too little room now, when `places` is more than the capacity, when there is no receiver, and when
    /// the channel was closed.
    pub fn try_reserve_many(&self, places: usize) -> Result<Permits<'_, T>, TryReserveError> {
        self.try_hold(places).map(Permits::new)
    }

    /// As [`reserve`](Self::reserve), with a permit that owns this sender. Another sender is a clone.
    #[doc = cost!(broadcast TRY_RESERVE)]
    #[doc = cost!(broadcast RESERVE_WAIT)]
    ///
    /// # Errors
    /// `Disconnected` when there is no receiver, and when the channel was closed. The error holds the sender.
    pub fn reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let reserved = self.reserve().map(Permit::into_owned);
        self.owned(reserved.map_err(TryReserveError::from))
    }

    /// As [`try_reserve`](Self::try_reserve), with a permit that owns this sender.
    #[doc = cost!(broadcast TRY_RESERVE)]
    ///
    /// # Errors
    /// `Full` when there is no room. `Disconnected` when there is no receiver, and when the channel was closed. The error
    /// holds the sender.
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let reserved = self.try_reserve().map(Permit::into_owned);
        self.owned(reserved)
    }

    /// As [`reserve_async`](Self::reserve_async), with a permit that owns this sender.
    ///
    /// A future that is dropped before it is ready drops the sender.
    #[doc = cost!(broadcast RESERVE_TASK)]
    ///
    /// # Errors
    /// As [`reserve_owned`](Self::reserve_owned): the sender.
    pub async fn reserve_owned_async(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let reserved = self.reserve_async().await.map(Permit::into_owned);
        self.owned(reserved.map_err(TryReserveError::from))
    }

    /// The permit for the room that this sender holds, if it does.
    fn owned(self, reserved: Result<(), TryReserveError>) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        match reserved {
            Ok(()) => Ok(OwnedPermit::new(self)),
            Err(TryReserveError::Disconnected) => Err(TrySendError::Disconnected(self)),
            Err(TryReserveError::Full | TryReserveError::TooMany) => Err(TrySendError::Full(self)),
        }
    }

    fn held(&self) -> HeldRoom<'_, T> {
        HeldRoom::none(&self.shared)
    }

    fn try_hold(&self, places: usize) -> Result<HeldRoom<'_, T>, TryReserveError> {
        if places > self.shared.ring.capacity() {
            return Err(if self.is_disconnected() { TryReserveError::Disconnected } else { TryReserveError::TooMany });
        }
        let mut held = self.held();
        held.hold(places).map_err(|rejected| match rejected {
            Rejected::Closed(()) => TryReserveError::Disconnected,
            Rejected::Full(()) => TryReserveError::Full,
        })?;
        Ok(held)
    }
}

fn reserved(outcome: Result<(), SendError<()>>) -> Result<(), ReserveError> {
    outcome.map_err(|SendError(())| ReserveError::Disconnected)
}
