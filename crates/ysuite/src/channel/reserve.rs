//! Reserving room for messages that are yet to be made, for one or several, where several senders share the room.
//! Written once for mpmc and broadcast.
//!
//! Any thread; lock-free. Senders that wait for room for one message are senders as any others. Senders that want room
//! for several *gather* it: one at a time may hold some while it waits for the rest, so that no two wait for each other.
//! All waits that are not for room are rare. They share one list, which is notified when a gathering has ended.
//!
//! Cannot: give much room to a thread that gathers before other senders get some. They take turns.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::coop::poll_within_budget;
use super::error::ReserveError;
use crate::foreign::{Foreign, Panics};
use crate::operation::{Operation, Task};
use crate::os::Deadline;
use crate::queue::exchange::Rejected;
use crate::sync::{AtomicBool, Ordering};
use crate::wait::many::{ManyWait, SharedEnd, notify_all};
use crate::wait::{SharedBackoff, WaitList};

/// What all handles of a channel share, where room can be reserved.
pub(super) trait Roomy: Sized {
    /// Reserves room for `most` messages, or for fewer, but not for fewer than `least`. Returns for how many.
    fn hold(&self, least: usize, most: usize) -> Result<usize, Rejected<()>>;
    /// Room is no longer reserved: other senders may use it, and are notified. While unwinding, a panic of theirs ends here.
    fn release(&self, places: usize);
    fn holders(&self) -> &Holders;
    /// The senders that wait for something rare.
    fn rare(&self) -> &WaitList;
    /// Whether nothing can be sent.
    fn is_over(&self) -> bool;
    /// Whether no more room can be reserved, though there may be some: no more can be counted.
    fn is_counted_out(&self) -> bool {
        false
    }
}

/// A sender that can reserve room.
pub(super) trait Reserver {
    type Channel: Roomy;
    /// The senders that wait for room.
    type Room<'a>: SharedEnd
    where
        Self: 'a;

    fn channel(&self) -> &Self::Channel;
    /// Reserves room for `places` messages if all can be had now (true).
    fn begin(&self, held: &mut ReservedRoom<'_, Self::Channel>, places: usize) -> Result<bool, ReserveError>;
    /// A wait for room. Other waits of the sender are over, and what they were notified of is this wait's.
    fn wait(&self) -> ManyWait<Self::Room<'_>>;
    fn backoff(&self) -> &SharedBackoff;
}

/// The senders that hold room.
pub(super) struct Holders {
    /// Whether some sender is gathering room.
    gathering: AtomicBool,
}

impl Holders {
    pub(super) fn new() -> Self {
        Self { gathering: AtomicBool::new(false) }
    }
}

// MUTANT: Speed only: an early exit. The list itself finds, after its fence, that no slot is armed.
/// Something has changed that a sender in a list of rare waits may wait for.
pub(super) fn announce_rare(list: &WaitList) {
    if list.published() && list.attend().is_armed() {
        notify_all(list);
    }
}

/// Senders that wait for something rare. All wait in the same list, and each checks for itself.
pub(super) struct Rare<'a, C> {
    shared: &'a C,
    has_come: fn(&C) -> bool,
}

impl<'a, C: Roomy> Rare<'a, C> {
    /// Until something is so.
    pub(super) fn until(shared: &'a C, has_come: fn(&C) -> bool) -> Self {
        Self { shared, has_come }
    }

    /// Until no other handle gathers room.
    fn until_gathered(shared: &'a C) -> Self {
        // ORDERING: Relaxed; `Gathering::begin` decides, and the barriers of the wait list ensure that no end of a
        //     gathering is missed.
        Self::until(shared, |shared| !shared.holders().gathering.load(Ordering::Relaxed))
    }
}

impl<C> Clone for Rare<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C> Copy for Rare<'_, C> {}

impl<C: Roomy> SharedEnd for Rare<'_, C> {
    fn list(&self) -> &WaitList {
        self.shared.rare()
    }

    fn is_ready(&self) -> bool {
        (self.has_come)(self.shared) || self.shared.is_over()
    }

    fn supply(&self) -> usize {
        // All are notified; none passes a notification on.
        0
    }
}

/// Reserved room that is not yet a permit's. The drop releases it.
pub(super) struct ReservedRoom<'a, C: Roomy> {
    pub(super) shared: &'a C,
    /// For how many messages.
    pub(super) places: usize,
}

impl<'a, C: Roomy> ReservedRoom<'a, C> {
    /// No room yet.
    pub(super) fn none(shared: &'a C) -> Self {
        Self { shared, places: 0 }
    }

    /// Moves the room out.
    pub(super) fn take(&mut self) -> Self {
        Self { shared: self.shared, places: core::mem::take(&mut self.places) }
    }

    /// Reserves some more room, for at most `most` messages.
    pub(super) fn add(&mut self, most: usize) -> Result<(), Rejected<()>> {
        self.places += self.shared.hold(1, most)?;
        Ok(())
    }

    /// The room is another's from now on.
    pub(super) fn forget(mut self) {
        self.places = 0;
    }
}

// USER CODE: wakers of senders; so also in `Drop` of `Gathering`. Room and right are given back; re-entrance: any
//     operation; panic: all others are woken; while unwinding it is not resumed; test: tests/suite/mpmc/permits.rs:
//     wakers_that_panic_lose_no_place, tests/suite/broadcast/permits.rs: wakers_that_panic_lose_no_room
impl<C: Roomy> Drop for ReservedRoom<'_, C> {
    fn drop(&mut self) {
        if self.places != 0 {
            self.shared.release(self.places);
        }
    }
}

/// The right to hold some room while waiting for more. One sender has it at a time; the drop ends it.
pub(super) struct Gathering<'a, C: Roomy>(&'a C);

impl<'a, C: Roomy> Gathering<'a, C> {
    /// `None`: another sender has the right.
    pub(super) fn begin(shared: &'a C) -> Option<Self> {
        // Lazily: a value that is made and not returned would end the other's right.
        // ORDERING: Relaxed; the right guards no memory, and the room is counted in the queue's own words. Its last
        //     owner no longer waits for anything.
        (!shared.holders().gathering.swap(true, Ordering::Relaxed)).then(|| Self(shared))
    }
}

impl<C: Roomy> Drop for Gathering<'_, C> {
    fn drop(&mut self) {
        // ORDERING: Relaxed, as in `begin`; `announce_rare` checks after a barrier.
        self.0.holders().gathering.store(false, Ordering::Relaxed);
        announce_rare(self.0.rare());
    }
}

/// A reservation of room for one message, or for several. One sender at a time gathers room for several: it holds some
/// while it waits for more.
pub(super) struct Reservation<'a, H: Reserver> {
    sender: &'a H,
    places: usize,
    /// The right to hold some.
    gathering: Option<Gathering<'a, H::Channel>>,
    pub(super) stage: ReserveStage,
    pub(super) wait: ReserveWait<'a, H>,
}

/// What is to be done next.
#[derive(Clone, Copy)]
pub(super) enum ReserveStage {
    /// Reserve all at once.
    Begin,
    /// Get the right to hold some.
    Gather,
    /// Reserve what is missing.
    Add,
}

/// What it waits for.
pub(super) enum ReserveWait<'a, H: Reserver + 'a> {
    Nothing,
    Right(ManyWait<Rare<'a, H::Channel>>),
    Room(ManyWait<H::Room<'a>>),
    /// Less room that is reserved: more could not be counted, though there is some.
    Count(ManyWait<Rare<'a, H::Channel>>),
}

impl<'a, H: Reserver> Reservation<'a, H> {
    pub(super) fn new(sender: &'a H, places: usize) -> Self {
        Self { sender, places, gathering: None, stage: ReserveStage::Begin, wait: ReserveWait::Nothing }
    }

    // USER CODE: `Drop` of the task's waker, as the wait for the right to gather ends; the right is this operation's;
    //     re-entrance: any operation; panic: the right is given back, and the next that waits for it is notified; test:
    //     tests/suite/mpmc/permits.rs: the_right_to_gather_ends_where_a_wakers_drop_panics
    /// Gets the right to hold some room while waiting for more (true).
    fn gather(&mut self) -> Result<bool, ReserveError> {
        let shared = self.sender.channel();
        self.gathering = Gathering::begin(shared);
        if self.gathering.is_some() {
            self.wait = ReserveWait::Nothing;
            self.stage = ReserveStage::Add;
            Ok(true)
        } else if shared.is_over() {
            Err(ReserveError::Disconnected)
        } else {
            Ok(false)
        }
    }

    /// Reserves what is missing, as far as there is room (true: all of it).
    fn add(&self, held: &mut ReservedRoom<'a, H::Channel>) -> Result<bool, ReserveError> {
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
    fn go_on(&mut self, held: &mut ReservedRoom<'a, H::Channel>) -> Result<bool, ReserveError> {
        if let ReserveStage::Begin = self.stage {
            if self.sender.begin(held, self.places)? {
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
    pub(super) fn wait(&mut self) -> &mut ReserveWait<'a, H> {
        let (sender, shared) = (self.sender, self.sender.channel());
        match (self.stage, &self.wait) {
            (ReserveStage::Gather, ReserveWait::Nothing) => {
                // A notification that one of the sender's slots had got is passed on. While it waits all room is for
                // other senders, and first for the one that gathers.
                drop(sender.wait());
                self.wait = ReserveWait::Right(ManyWait::new(Rare::until_gathered(shared), false));
            }
            (ReserveStage::Gather, _) => {}
            (_, ReserveWait::Count(_)) if shared.is_counted_out() => {}
            (_, _) if shared.is_counted_out() => {
                // Other senders get room, and a notification that this sender has got is passed on.
                self.wait = ReserveWait::Room(sender.wait());
                let countable = Rare::until(shared, |shared: &H::Channel| !shared.is_counted_out());
                self.wait = ReserveWait::Count(ManyWait::new(countable, false));
            }
            (_, ReserveWait::Room(_)) => {}
            (_, _) => self.wait = ReserveWait::Room(sender.wait()),
        }
        &mut self.wait
    }
}

impl<'a, H: Reserver> Operation for Reservation<'a, H> {
    type Place = ReservedRoom<'a, H::Channel>;
    type Outcome = Result<(), ReserveError>;
    const OWNS: bool = false;

    fn attempt(&mut self, held: &mut ReservedRoom<'a, H::Channel>) -> Option<Result<(), ReserveError>> {
        let outcome = match self.go_on(held) {
            Ok(false) => return None,
            Ok(true) => Ok(()),
            Err(error) => Err(error),
        };
        // User code, as it wakes the next sender that waits to gather.
        self.gathering = None;
        Some(outcome)
    }

    fn block(&mut self, deadline: Deadline) -> bool {
        let backoff = self.sender.backoff();
        match self.wait() {
            ReserveWait::Nothing => true,
            ReserveWait::Right(wait) | ReserveWait::Count(wait) => wait.block(backoff, deadline),
            ReserveWait::Room(wait) => wait.block(backoff, deadline),
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match self.wait() {
            ReserveWait::Nothing => Poll::Ready(()),
            ReserveWait::Right(wait) | ReserveWait::Count(wait) => wait.poll(context),
            ReserveWait::Room(wait) => wait.poll(context),
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

/// A reservation of a task.
pub(super) struct RoomReserving<'a, H: Reserver, P> {
    task: Task<Reservation<'a, H>>,
    make: fn(ReservedRoom<'a, H::Channel>) -> P,
}

impl<'a, H: Reserver, P> RoomReserving<'a, H, P> {
    /// `make`: of the room that is reserved.
    pub(super) fn new(sender: &'a H, places: usize, make: fn(ReservedRoom<'a, H::Channel>) -> P) -> Self {
        let held = Foreign::new(ReservedRoom::none(sender.channel()));
        Self { task: Task::new(Reservation::new(sender, places), held), make }
    }
}

impl<H: Reserver, P> Future for RoomReserving<'_, H, P> {
    type Output = Result<P, ReserveError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<P, ReserveError>> {
        let Self { task, make } = self.get_mut();
        let outcome = poll_within_budget(context, |context| Pin::new(&mut *task).poll(context));
        outcome.map_ok(|()| make(task.place().take()))
    }
}

// Nothing is pinned in place.
impl<H: Reserver, P> Unpin for RoomReserving<'_, H, P> {}
