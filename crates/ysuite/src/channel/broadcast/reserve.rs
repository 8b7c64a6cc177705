//! Reserving: permits, for one message or several, now or when there is room. Any thread.

use super::operations::BroadcastSend;
use super::permit::{HeldRoom, OwnedPermit, Permit, Permits};
use super::shared::{BroadcastShared, Speaker};
use super::{ReserveError, Sender, TryReserveError, TrySendError};
use crate::channel::future::{OwnedFuture, ReserveFuture, ReserveOwned, Reserves, ReservesOwned};
use crate::channel::reserve::{Reservation, ReservedRoom, Reserver, RoomReserving, Roomy};
use crate::operation;
use crate::queue::exchange::Rejected;
use crate::wait::SharedBackoff;
use crate::wait::many::ManyWait;

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
        let mut held = ReservedRoom::none(&*self.shared);
        let outcome = operation::perform(BroadcastSend::new(self), &mut held);
        outcome.map(|()| Permit::new(held)).map_err(|_| ReserveError::Disconnected)
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
    pub fn reserve_async(&self) -> ReserveFuture<'_, Self, Permit<'_, T>> {
        ReserveFuture(RoomReserving::new(self, 1, Permit::new))
    }

    // WAITS: for the right to gather, then for room for the rest; ends: that, the last receiver has disconnected, the
    //     close; spin: as `wait/many.rs`; fairness: it keeps what it has reserved; others have the rest of the channel,
    //     and take turns with it; test: tests/suite/broadcast/permits.rs: who_gathers_room_gets_it_beside_other_senders
    /// Waits until there is room for `places` messages, and reserves it. One sender at a time gathers room for several
    /// messages: it holds what it has while it waits for the rest. So senders of single messages cannot keep it from
    /// getting enough, and two senders that reserve do not wait for each other.
    #[doc = cost!(broadcast TRY_RESERVE)]
    #[doc = cost!(broadcast RESERVE_WAIT)]
    ///
    /// # Errors
    /// When `places` is more than the capacity; then this does not wait. When there is no receiver, and when the channel
    /// was closed.
    pub fn reserve_many(&self, places: usize) -> Result<Permits<'_, T>, ReserveError> {
        self.hold(places).map(Permits::new)
    }

    /// Waits until there is room for `places` messages, and reserves it, as [`reserve_many`](Self::reserve_many). Needs
    /// no particular runtime.
    #[doc = cost!(broadcast RESERVE_TASK)]
    ///
    /// # Errors
    /// As [`reserve_many`](Self::reserve_many).
    pub fn reserve_many_async(&self, places: usize) -> ReserveFuture<'_, Self, Permits<'_, T>> {
        ReserveFuture(RoomReserving::new(self, places, Permits::new))
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
    pub fn reserve_owned_async(self) -> OwnedFuture<ReserveOwned<Self>>
    where
        T: 'static,
    {
        OwnedFuture::new(ReserveOwned(self), ())
    }

    /// The permit for the room that this sender holds, if it does.
    fn owned(self, reserved: Result<(), TryReserveError>) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        match reserved {
            Ok(()) => Ok(OwnedPermit::new(self)),
            Err(TryReserveError::Disconnected) => Err(TrySendError::Disconnected(self)),
            Err(TryReserveError::Full | TryReserveError::TooMany) => Err(TrySendError::Full(self)),
        }
    }

    fn try_hold(&self, places: usize) -> Result<HeldRoom<'_, T>, TryReserveError> {
        let mut held = ReservedRoom::none(&*self.shared);
        if self.begin(&mut held, places)? { Ok(held) } else { Err(TryReserveError::Full) }
    }

    /// Waits until there is room.
    fn hold(&self, places: usize) -> Result<HeldRoom<'_, T>, ReserveError> {
        let mut held = ReservedRoom::none(&*self.shared);
        operation::perform(Reservation::new(self, places), &mut held)?;
        Ok(held)
    }
}

impl<T> Reserves for Sender<T> {
    type Reserving<'a, P>
        = RoomReserving<'a, Self, P>
    where
        Self: 'a;
}

impl<T> Reserver for Sender<T> {
    type Channel = BroadcastShared<T>;
    type Room<'a>
        = Speaker<'a, T>
    where
        Self: 'a;

    fn channel(&self) -> &BroadcastShared<T> {
        &self.shared
    }

    fn begin(&self, held: &mut HeldRoom<'_, T>, places: usize) -> Result<bool, ReserveError> {
        if places > self.shared.ring.capacity() {
            // A wait for that would never end.
            return Err(if self.is_disconnected() { ReserveError::Disconnected } else { ReserveError::TooMany });
        }
        match self.shared.hold(places, places) {
            Ok(all) => held.places = all,
            Err(Rejected::Closed(())) => return Err(ReserveError::Disconnected),
            Err(Rejected::Full(())) => return Ok(false),
        }
        Ok(true)
    }

    fn wait(&self) -> ManyWait<Speaker<'_, T>> {
        ManyWait::new(self.shared.speaker(), false)
    }

    fn backoff(&self) -> &SharedBackoff {
        &self.backoff
    }
}

impl<T: 'static> ReservesOwned for Sender<T> {
    type OwnedPermit = OwnedPermit<T>;

    fn own(self, reserved: Result<(), ReserveError>) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        self.owned(reserved.map_err(TryReserveError::from))
    }
}
