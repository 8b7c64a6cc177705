//! Reserving: permits, for one message or several, now or when there is room. Any thread.

use super::handle::MpmcHandle;
use super::holding::HeldPlaces;
use super::permit::{OwnedPermit, Permit, Permits};
use super::shared::{MpmcShared, Writers};
use super::{ReserveError, Sender, TryReserveError, TrySendError};
use crate::channel::future::{OwnedFuture, ReserveFuture, ReserveOwned, Reserves, ReservesOwned};
use crate::channel::identity::tell_end;
use crate::channel::reserve::{Reservation, ReservedRoom, Reserver, RoomReserving};
use crate::operation;
use crate::queue::exchange::Rejected;
use crate::wait::many::ManyWait;
use crate::wait::{SharedBackoff, spin_for_a_moment};

/// # Reserving
///
/// A permit is room for a message that is yet to be made. While there are permits, every send counts them, which takes
/// some instructions more.
///
/// A [rendezvous](crate#rendezvous) never has room: there even room for one message is too many.
impl<T> Sender<T> {
    /// Waits until there is room for a message, and reserves it. Blocks as [`send`](Self::send) does.
    #[doc = cost!(mpmc TRY_RESERVE)]
    #[doc = cost!(mpmc RESERVE_WAIT)]
    ///
    /// # Errors
    /// When all receivers have disconnected, or the channel is closed. `TooMany` in a
    /// [rendezvous](crate#rendezvous), which never has room.
    pub fn reserve(&self) -> Result<Permit<'_, T>, ReserveError> {
        let mut held = self.held();
        // MUTANT: The wait that follows finds the permit and ends before it begins.
        if !self.begin(&mut held, 1)? {
            self.hold(&mut held, 1)?;
        }
        Ok(one(held))
    }

    /// Reserves room for a message if there is any. An attached sender that finds no room takes its id down, until
    /// there is room. Where 16,777,215 permits exist already, and there is more room, this may fail with the id up.
    #[doc = cost!(mpmc TRY_RESERVE)]
    ///
    /// # Errors
    /// When there is no room, and when all receivers have disconnected, or the channel is closed. `TooMany` in a
    /// [rendezvous](crate#rendezvous), which never has room.
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TryReserveError> {
        self.try_hold(1).map(one)
    }

    /// Waits until there is room for a message, and reserves it. Needs no particular runtime.
    ///
    /// If the task had been woken for room, the next waiting sender is woken.
    #[doc = cost!(mpmc RESERVE_TASK)]
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    pub fn reserve_async(&self) -> ReserveFuture<'_, Self, Permit<'_, T>> {
        ReserveFuture(RoomReserving::new(self, 1, one))
    }

    // WAITS: for the right to gather, then for room for the rest; ends: that, the close; spin: as `wait/many.rs`;
    //     fairness: it keeps what it has reserved; others have the rest of the channel, and take turns with it; test:
    //     tests/suite/mpmc/permits.rs: two_that_gather_do_not_wait_for_each_other
    /// Waits until there is room for `places` messages, and reserves it. One sender at a time gathers room for several
    /// messages: it holds what it has while it waits for the rest. So senders of single messages cannot keep it from
    /// getting enough, and two senders that reserve do not wait for each other.
    #[doc = cost!(mpmc TRY_RESERVE)]
    #[doc = cost!(mpmc RESERVE_WAIT)]
    ///
    /// # Errors
    /// With a bound, when `places` is more than the capacity, or more than 16,777,215, the maximal number of permits;
    /// then this does not wait. When all receivers have disconnected, or the channel is closed.
    pub fn reserve_many(&self, places: usize) -> Result<Permits<'_, T>, ReserveError> {
        let mut held = self.held();
        if !self.begin(&mut held, places)? {
            self.hold(&mut held, places)?;
        }
        Ok(Permits::new(held))
    }

    /// Reserves room for `places` messages, if there is room for all of them.
    ///
    /// The id of an attached sender says whether there is room for *one* message. Where this finds some room, but too
    /// little, the id stays up. A loop that waits for the id and then calls this again does not sleep, and occupies a
    /// CPU until there is enough room. The id cannot say more. Receivers wake one sender for each free cell, in turn,
    /// and a sender that stayed asleep at a free cell would keep it from the others. To wait for several use
    /// [`reserve_many`](Self::reserve_many) or [`reserve_many_async`](Self::reserve_many_async). Or keep the permits of
    /// [`try_reserve`](Self::try_reserve), one by one, until there are enough: its last attempt finds none, and takes
    /// the id down.
    #[doc = cost!(mpmc TRY_RESERVE)]
    ///
    /// # Errors
    /// When there is too little room now, when there can never be that much, and when all receivers have disconnected,
    /// or the channel is closed.
    pub fn try_reserve_many(&self, places: usize) -> Result<Permits<'_, T>, TryReserveError> {
        self.try_hold(places).map(Permits::new)
    }

    /// Waits until there is room for `places` messages, and reserves it, as [`reserve_many`](Self::reserve_many). Needs
    /// no particular runtime.
    #[doc = cost!(mpmc RESERVE_TASK)]
    ///
    /// # Errors
    /// As [`reserve_many`](Self::reserve_many).
    pub fn reserve_many_async(&self, places: usize) -> ReserveFuture<'_, Self, Permits<'_, T>> {
        ReserveFuture(RoomReserving::new(self, places, Permits::new))
    }

    /// As [`reserve`](Self::reserve), with a permit that owns this sender. Another sender is a clone.
    #[doc = cost!(mpmc TRY_RESERVE)]
    #[doc = cost!(mpmc RESERVE_WAIT)]
    ///
    /// # Errors
    /// The error holds the sender. `Disconnected` when all receivers have disconnected, or the channel is closed.
    /// `Full` only in a [rendezvous](crate#rendezvous), which never has room.
    pub fn reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let reserved = self.reserve().map(core::mem::forget);
        self.owned(reserved.map_err(TryReserveError::from))
    }

    /// As [`try_reserve`](Self::try_reserve), with a permit that owns this sender.
    #[doc = cost!(mpmc TRY_RESERVE)]
    ///
    /// # Errors
    /// The error holds the sender. `Full` when there is no room, and always in a
    /// [rendezvous](crate#rendezvous). `Disconnected` when all receivers have disconnected, or the channel is
    /// closed.
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let reserved = self.try_reserve().map(core::mem::forget);
        self.owned(reserved)
    }

    /// As [`reserve_async`](Self::reserve_async), with a permit that owns this sender.
    ///
    /// A future that is dropped before it is ready drops the sender.
    #[doc = cost!(mpmc RESERVE_TASK)]
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

    /// Whether `places` cells are to be reserved in the ring. False: no room is wanted. In a rendezvous there is none.
    fn are_in_the_ring(&self, places: usize) -> Result<bool, ReserveError> {
        let most = self.shared.flavour.most_held();
        if most != 0 && places <= most {
            Ok(true)
        } else if self.shared.is_disconnected() {
            Err(ReserveError::Disconnected)
        } else if places > most {
            // A wait for that would never end.
            Err(ReserveError::TooMany)
        } else {
            Ok(false)
        }
    }

    pub(super) fn held(&self) -> HeldPlaces<'_, T> {
        ReservedRoom::none(&self.shared)
    }

    // USER CODE: the waker of another sender's task, where this one passes its notification on; so also in
    //     `begin` and `stand_aside`. The room is reserved, and not yet a permit's; or the sender has
    //     disarmed its slots, and does not wait yet; re-entrance: any operation; panic: propagates, and the room is
    //     released; by construction: `HeldPlaces`, `Owed`
    // MUTANT: One more attempt, or one less. Room that is missed here is found at the next call.
    /// Reserves `places` cells if all can be had now.
    fn try_hold(&self, places: usize) -> Result<HeldPlaces<'_, T>, TryReserveError> {
        let are_wanted = self.are_in_the_ring(places).inspect_err(|&error| {
            if error == ReserveError::Disconnected {
                tell_end(self);
            }
        });
        if !are_wanted? {
            return Ok(self.held());
        }
        let (queue, mut held) = (&self.shared.flavour, self.held());
        // Also where it fails: passes on the notification of the one cell, when it wants several. This comes before the
        // room is given away, which is returned where user code panics.
        let owed = self.owed();
        let found = match queue.hold(places, places) {
            Err(Rejected::Full(())) if self.has_come_meanwhile(places) => queue.hold(places, places),
            found => found,
        };
        held.places = found.map_err(|rejected| match rejected {
            Rejected::Full(()) => {
                self.shared.refuse();
                TryReserveError::Full
            }
            Rejected::Closed(()) => {
                tell_end(self);
                TryReserveError::Disconnected
            }
        })?;
        drop(owed);
        Ok(held)
    }

    // MUTANT: Speed only: how long to poll for cells that a receiver is still emptying. The next call finds the room.
    /// After finding no room: whether there may be some now. An attached sender takes its id down. Otherwise a receiver
    /// may be in the middle of emptying a cell.
    #[cold]
    fn has_come_meanwhile(&self, places: usize) -> bool {
        let queue = &self.shared.flavour;
        match self.rest() {
            Some(found) => found,
            None => queue.room() >= places && spin_for_a_moment(|| queue.is_writable()),
        }
    }

    /// A permit, if there is room now. Only polls: an attached sender keeps its id up.
    #[cfg(feature = "select")]
    pub(in crate::channel) fn reserve_now(&self) -> Result<Option<Permit<'_, T>>, ReserveError> {
        let mut held = self.held();
        Ok(self.begin(&mut held, 1)?.then(|| one(held)))
    }

    /// Waits until `places` cells are reserved.
    #[cold]
    #[inline(never)]
    fn hold<'a>(&'a self, held: &mut HeldPlaces<'a, T>, places: usize) -> Result<(), ReserveError> {
        operation::perform(Reservation::new(self, places), held)
    }
}

impl<T> Reserves for Sender<T> {
    type Reserving<'a, P>
        = RoomReserving<'a, Self, P>
    where
        Self: 'a;
}

impl<T> Reserver for Sender<T> {
    type Channel = MpmcShared<T>;
    type Room<'a>
        = Writers<'a, T>
    where
        Self: 'a;

    fn channel(&self) -> &MpmcShared<T> {
        &self.shared
    }

    #[inline(always)]
    fn begin(&self, held: &mut HeldPlaces<'_, T>, places: usize) -> Result<bool, ReserveError> {
        if !self.are_in_the_ring(places)? {
            return Ok(true);
        }
        match self.shared.flavour.hold(places, places) {
            Ok(all) => held.places = all,
            Err(Rejected::Closed(())) => return Err(ReserveError::Disconnected),
            Err(Rejected::Full(())) => return Ok(false),
        }
        drop(self.owed());
        Ok(true)
    }

    fn wait(&self) -> ManyWait<Writers<'_, T>> {
        self.parts().wait()
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

/// The permit for the one reserved cell.
fn one<T>(held: HeldPlaces<'_, T>) -> Permit<'_, T> {
    let Some(permit) = Permits::new(held).next() else { unreachable!("room is reserved") };
    permit
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::mem::forget;
    use core::pin::pin;
    use core::task::Context;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    use crate::channel::mpmc::{Sender, bounded};
    use crate::channel::reserve::{Gathering, Reservation, ReserveStage, ReserveWait};
    use crate::operation::Operation;
    use crate::queue::exchange::Hint;
    use crate::signal::YPollset;
    use crate::tests::{Explosive, Woken};
    use crate::wait::many::ManyWait;

    /// As a sender that gathers, and finds more room at once than it wants.
    #[test]
    fn who_holds_a_place_gets_as_many_more_as_are_missing() {
        let (sender, _receiver) = bounded::<u8>(4);
        let mut held = sender.held();
        assert!(held.add(1).is_ok());
        let mut reserving = Reservation::new(&sender, 2);
        reserving.stage = ReserveStage::Gather;
        assert_eq!((reserving.attempt(&mut held), held.places), (Some(Ok(())), 2));
        assert!(Gathering::begin(&*sender.shared).is_some());
    }

    /// One notification may stand for two cells, as in `force`. This test takes the messages out by itself, and
    /// notifies no sender.
    #[test]
    fn one_that_holds_a_place_passes_on_what_is_left_and_gives_it_back_where_that_panics() {
        let ways: [fn(&Sender<u32>) -> bool; 4] = [
            |sender| sender.try_reserve().map(forget).is_ok(),
            |sender| sender.try_reserve_many(1).map(forget).is_ok(),
            |sender| sender.reserve().map(forget).is_ok(),
            |sender| sender.reserve_many(1).map(forget).is_ok(),
        ];
        for (way, reserve) in ways.into_iter().enumerate() {
            let (mut attached, _receiver) = bounded(2);
            let (other, mut set) = (attached.clone(), YPollset::new());
            (0..2).for_each(|number| attached.send(number).unwrap());
            set.attach(&mut attached, 1).unwrap();
            let waker = Arc::new(Explosive).into();
            let mut waiting = pin!(other.send_async(2));
            assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            let ring = &attached.shared.flavour;
            (0..2).for_each(|number| assert_eq!(ring.pop_bounded(&Hint::new()), Some(number)));
            let reserved = catch_unwind(AssertUnwindSafe(|| reserve(&attached)));
            assert!(reserved.is_err(), "way {way}: there is room left, and the next sender was not notified");
            assert_eq!(ring.room(), 2, "way {way}: room is lost");
        }
    }

    /// The maximal number of permits exist, and there is room for another message.
    #[test]
    #[cfg_attr(miri, ignore = "16 million cells")]
    fn who_waits_for_one_place_less_that_is_held_leaves_room_to_others() {
        const MOST: usize = 16_777_215;
        let (sender, _receiver) = bounded(MOST + 1);
        let permits = sender.try_reserve_many(MOST).unwrap();
        sender.try_send(()).unwrap();
        let task = Arc::new(Woken::default());
        let waker = task.clone().into();
        let mut sending = pin!(sender.send_async(()));
        assert!(sending.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        // As above.
        assert_eq!(sender.shared.flavour.pop_bounded(&Hint::new()), Some(()));
        let mut reserving = Reservation::new(&sender, 1);
        reserving.stage = ReserveStage::Add;
        reserving.wait = ReserveWait::Room(ManyWait::new(sender.shared.writers(), true));
        assert!(matches!(reserving.wait(), ReserveWait::Count(_)));
        assert_eq!(task.times(), 1, "there is room, and the sender that waits for it was not notified");
        assert!(sending.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
        drop(permits);
    }
}
