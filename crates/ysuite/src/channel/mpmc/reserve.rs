//! Reserving: permits, for one message or several, now or when there is room. Any thread.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::handle::MpmcHandle;
use super::holding::{Gathering, HeldPlaces, Rare};
use super::permit::{OwnedPermit, Permit, Permits};
use super::shared::Writers;
use super::{ReserveError, Sender, TryReserveError, TrySendError};
use crate::channel::coop::{poll_within_budget, within_budget};
use crate::foreign::{Foreign, Panics};
use crate::operation::{self, Operation, Task};
use crate::os::Deadline;
use crate::queue::exchange::Rejected;
use crate::wait::many::ManyWait;
use crate::wait::spin_for_a_moment;

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
        if !self.begin_to_reserve(&mut held, 1)? {
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
    pub fn reserve_async(&self) -> ReserveFuture<'_, T> {
        ReserveFuture(Task::new(MpmcReserve::new(self, 1), Foreign::new(self.held())))
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
        if !self.begin_to_reserve(&mut held, places)? {
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
    pub async fn reserve_many_async(&self, places: usize) -> Result<Permits<'_, T>, ReserveError> {
        within_budget(self.hold_async(places)).await.map(Permits::new)
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
    pub async fn reserve_owned_async(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let reserved = self.reserve_async().await.map(core::mem::forget);
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

    fn held(&self) -> HeldPlaces<'_, T> {
        HeldPlaces { shared: &self.shared, places: 0 }
    }

    // USER CODE: the waker of another sender's task, where this one passes its notification on; so also in
    //     `begin_to_reserve` and `stand_aside`. The room is reserved, and not yet a permit's; or the sender has
    //     disarmed its slots, and does not wait yet; re-entrance: any operation; panic: propagates, and the room is
    //     released; by construction: `HeldPlaces`, `Owed`
    // MUTANT: One more attempt, or one less. Room that is missed here is found at the next call.
    /// Reserves `places` cells if all can be had now.
    fn try_hold(&self, places: usize) -> Result<HeldPlaces<'_, T>, TryReserveError> {
        if !self.are_in_the_ring(places)? {
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
            Rejected::Closed(()) => TryReserveError::Disconnected,
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

    /// Reserves `places` cells if all can be had now (true).
    #[inline(always)]
    fn begin_to_reserve(&self, held: &mut HeldPlaces<'_, T>, places: usize) -> Result<bool, ReserveError> {
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

    /// A permit, if there is room now. Only polls: an attached sender keeps its id up.
    #[cfg(feature = "select")]
    pub(in crate::channel) fn reserve_now(&self) -> Result<Option<Permit<'_, T>>, ReserveError> {
        let mut held = self.held();
        Ok(self.begin_to_reserve(&mut held, 1)?.then(|| one(held)))
    }

    /// Waits until `places` cells are reserved.
    #[cold]
    #[inline(never)]
    fn hold<'a>(&'a self, held: &mut HeldPlaces<'a, T>, places: usize) -> Result<(), ReserveError> {
        operation::perform(MpmcReserve::new(self, places), held)
    }

    /// As [`hold`](Self::hold), as a task.
    async fn hold_async(&self, places: usize) -> Result<HeldPlaces<'_, T>, ReserveError> {
        let mut task = Task::new(MpmcReserve::new(self, places), Foreign::new(self.held()));
        (&mut task).await?;
        Ok(task.place().take())
    }

    /// Waits until some cells are reserved, at most `most`. An error where the channel is closed.
    pub(super) async fn hold_some_async(&self, most: usize) -> Result<HeldPlaces<'_, T>, ReserveError> {
        let mut held = self.hold_async(1).await?;
        // Also the cells that are free now. None is fine.
        let _ = held.add(most - 1);
        Ok(held)
    }
}

/// A reservation of one cell, or of several. One sender at a time gathers several: it holds some while it waits for more.
pub(super) struct MpmcReserve<'a, T> {
    sender: &'a Sender<T>,
    places: usize,
    /// The right to hold some.
    gathering: Option<Gathering<'a>>,
    stage: ReserveStage,
    wait: ReserveWait<'a, T>,
}

/// What is to be done next.
#[derive(Clone, Copy)]
enum ReserveStage {
    /// Reserve all at once.
    Begin,
    /// Get the right to hold some.
    Gather,
    /// Reserve what is missing.
    Add,
}

/// What it waits for.
enum ReserveWait<'a, T> {
    Nothing,
    Right(ManyWait<Rare<'a, T>>),
    Room(ManyWait<Writers<'a, T>>),
    /// One reserved cell less: more could not be counted, though there is room.
    Count(ManyWait<Rare<'a, T>>),
}

impl<'a, T> MpmcReserve<'a, T> {
    pub(super) fn new(sender: &'a Sender<T>, places: usize) -> Self {
        Self { sender, places, gathering: None, stage: ReserveStage::Begin, wait: ReserveWait::Nothing }
    }

    // USER CODE: `Drop` of the task's waker, as the wait for the right to gather ends; the right is this operation's;
    //     re-entrance: any operation; panic: the right is given back, and the next that waits for it is notified; test:
    //     tests/suite/mpmc/permits.rs: the_right_to_gather_ends_where_a_wakers_drop_panics
    /// Gets the right to hold some cells while waiting for more (true).
    fn gather(&mut self) -> Result<bool, ReserveError> {
        self.gathering = Gathering::begin(&self.sender.shared.holders);
        if self.gathering.is_some() {
            self.wait = ReserveWait::Nothing;
            self.stage = ReserveStage::Add;
            Ok(true)
        } else if self.sender.shared.flavour.is_closed() {
            Err(ReserveError::Disconnected)
        } else {
            Ok(false)
        }
    }

    /// Reserves what is missing, as far as there is room (true: all of it).
    fn add(&self, held: &mut HeldPlaces<'a, T>) -> Result<bool, ReserveError> {
        while held.places < self.places {
            match held.add(self.places - held.places) {
                Ok(()) => {}
                Err(Rejected::Closed(())) => return Err(ReserveError::Disconnected),
                Err(Rejected::Full(())) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Performs what can be done now (true: all of it).
    fn go_on(&mut self, held: &mut HeldPlaces<'a, T>) -> Result<bool, ReserveError> {
        if let ReserveStage::Begin = self.stage {
            if self.sender.begin_to_reserve(held, self.places)? {
                return Ok(true);
            }
            self.stage = if self.places == 1 { ReserveStage::Add } else { ReserveStage::Gather };
        }
        if let ReserveStage::Gather = self.stage {
            if !self.gather()? {
                return Ok(false);
            }
        }
        self.add(held)
    }

    /// After an attempt: the wait for what is missing.
    fn wait(&mut self) -> &mut ReserveWait<'a, T> {
        let sender = self.sender;
        match (self.stage, &self.wait) {
            (ReserveStage::Gather, ReserveWait::Nothing) => {
                // A notification that one of the sender's slots had got is passed on. While it waits all room is for
                // other senders, and first for the one that gathers.
                drop(sender.parts().wait());
                self.wait = ReserveWait::Right(ManyWait::new(Rare::until_gathered(&sender.shared), false));
            }
            (ReserveStage::Gather, _) => {}
            (_, ReserveWait::Count(_)) if sender.shared.flavour.is_counted_out() => {}
            (_, _) if sender.shared.flavour.is_counted_out() => {
                // Other senders get room, and a notification that this sender has got is passed on.
                self.wait = ReserveWait::Room(sender.parts().wait());
                self.wait = ReserveWait::Count(ManyWait::new(Rare::until_countable(&sender.shared), false));
            }
            (_, ReserveWait::Room(_)) => {}
            (_, _) => self.wait = ReserveWait::Room(sender.parts().wait()),
        }
        &mut self.wait
    }
}

impl<'a, T> Operation for MpmcReserve<'a, T> {
    type Place = HeldPlaces<'a, T>;
    type Outcome = Result<(), ReserveError>;
    const OWNS: bool = false;

    fn attempt(&mut self, held: &mut HeldPlaces<'a, T>) -> Option<Result<(), ReserveError>> {
        match self.go_on(held) {
            Ok(true) => {
                // User code, as it wakes the next sender that waits to gather.
                self.gathering = None;
                Some(Ok(()))
            }
            Ok(false) => None,
            Err(error) => {
                self.gathering = None;
                Some(Err(error))
            }
        }
    }

    fn block(&mut self, deadline: Deadline) -> bool {
        let backoff = &self.sender.backoff;
        match self.wait() {
            ReserveWait::Nothing => true,
            ReserveWait::Right(wait) => wait.block(backoff, deadline),
            ReserveWait::Room(wait) => wait.block(backoff, deadline),
            ReserveWait::Count(wait) => wait.block(backoff, deadline),
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match self.wait() {
            ReserveWait::Nothing => Poll::Ready(()),
            ReserveWait::Right(wait) => wait.poll(context),
            ReserveWait::Room(wait) => wait.poll(context),
            ReserveWait::Count(wait) => wait.poll(context),
        }
    }

    // USER CODE: wakers, where the wait passes a notification on, and of the next sender that waits to gather;
    //     re-entrance: any operation; panic: both are done; the room that is held is returned; by construction
    fn leave(&mut self) {
        let mut panics = Panics::none();
        panics.catch(|| self.wait = ReserveWait::Nothing);
        panics.catch(|| self.gathering = None);
    }
}

/// A reservation of a task: see [`reserve_async`](Sender::reserve_async).
#[must_use = "futures do nothing unless they are polled"]
pub struct ReserveFuture<'a, T>(Task<MpmcReserve<'a, T>>);

impl<'a, T> Future for ReserveFuture<'a, T> {
    type Output = Result<Permit<'a, T>, ReserveError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Permit<'a, T>, ReserveError>> {
        let Self(task) = self.get_mut();
        let outcome = poll_within_budget(context, |context| Pin::new(&mut *task).poll(context));
        outcome.map_ok(|()| one(task.place().take()))
    }
}

impl<T> Unpin for ReserveFuture<'_, T> {}

impl<T> fmt::Debug for ReserveFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReserveFuture").finish_non_exhaustive()
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

    use super::{Gathering, MpmcReserve, Operation, ReserveStage, ReserveWait};
    use crate::channel::mpmc::{Sender, bounded};
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
        let mut reserving = MpmcReserve::new(&sender, 2);
        reserving.stage = ReserveStage::Gather;
        assert_eq!((reserving.attempt(&mut held), held.places), (Some(Ok(())), 2));
        assert!(Gathering::begin(&sender.shared.holders).is_some());
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
        let mut reserving = MpmcReserve::new(&sender, 1);
        reserving.stage = ReserveStage::Add;
        reserving.wait = ReserveWait::Room(ManyWait::new(sender.shared.writers(), true));
        assert!(matches!(reserving.wait(), ReserveWait::Count(_)));
        assert_eq!(task.times(), 1, "there is room, and the sender that waits for it was not notified");
        assert!(sending.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
        drop(permits);
    }
}
