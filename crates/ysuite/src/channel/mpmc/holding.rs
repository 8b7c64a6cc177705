//! Room that is reserved for later messages: reserving and releasing it, for one message or several, and the waits that
//! this brings.
//!
//! Any thread; lock-free. Room is reserved in the ring, by a count next to the position of the next message. Senders
//! that wait for one cell are senders as any others. Senders that want several *gather* them: one at a time may hold
//! some while it waits for the rest, so that no two wait for each other. All other waits of this file are rare. They
//! share one list, which is notified when room is no longer reserved, or a gathering has ended.
//!
//! Cannot: give many cells to a thread that gathers before other senders get one. They take turns.

use super::SendError;
use super::shared::MpmcShared;
use crate::foreign::Panics;
use crate::os::PeerWait;
use crate::queue::exchange::{Rejected, Staging};
use crate::sync::{AtomicBool, Ordering};
use crate::wait::WaitList;
use crate::wait::many::{SharedEnd, notify_all};

/// The senders that hold room, and those that wait for it.
pub(super) struct Holders {
    /// The senders that wait until a thread has gathered its cells, or until fewer cells are reserved.
    pub(super) list: WaitList,
    /// Whether some sender is gathering cells.
    gathering: AtomicBool,
}

impl Holders {
    pub(super) fn new() -> Self {
        Self { list: WaitList::new(), gathering: AtomicBool::new(false) }
    }

    // MUTANT: Speed only: an early exit. The list itself finds, after its fence, that no slot is armed.
    /// Something has changed that a sender in the list may wait for.
    fn announce(&self) {
        if self.list.published() && self.list.attend().is_armed() {
            notify_all(&self.list);
        }
    }
}

impl<T> MpmcShared<T> {
    // WAITS: a permit's `send`, for a `force_send` in the middle of the very cell: yields, then sleeps for less than a
    //     millisecond at a time, whatever the spin setting; test: tests/loom/exchange_force.rs:
    //     a_force_beside_a_permit_and_a_receiver
    /// Sends the message that is in `place`, of a sender that has reserved room. Waits only while a [forced](super::Sender::force_send)
    /// message has yet to leave the cell: see [`PeerWait`].
    #[inline]
    pub(super) fn push_held(&self, place: &mut Option<T>) -> Result<(), SendError<()>> {
        let mut wait = PeerWait::default();
        loop {
            match self.flavour.push_held_from(place) {
                Ok(()) => break,
                Err(Rejected::Closed(())) => return Err(SendError(())),
                Err(Rejected::Full(())) => {}
            }
            wait.wait();
        }
        self.used(1);
        Ok(())
    }

    // MUTANT: Speed only: an early exit. Each part of the slow path checks for itself.
    /// Reserved cells have messages now: wakes all that wait for either.
    #[inline]
    fn used(&self, places: usize) {
        if self.published_any() || self.holders.list.published() {
            self.announce_used(places);
        }
    }

    #[cold]
    #[inline(never)]
    fn announce_used(&self, places: usize) {
        let mut panics = Panics::none();
        panics.catch(|| self.published(places));
        panics.catch(|| self.holders.announce());
    }

    /// Sends the staged messages of a sender that has reserved a cell for each. `None`: the channel is closed, and the
    /// messages that were not sent are still staged.
    pub(super) fn push_many_held(&self, staging: &mut Staging<T>) -> Option<()> {
        let (mut panics, mut wait) = (Panics::none(), PeerWait::default());
        while staging.len() != 0 {
            match self.flavour.push_many_held(staging)? {
                0 => wait.wait(),
                sent => panics.catch(|| self.used(sent)),
            }
        }
        Some(())
    }

    // MUTANT: At worst waiters for room are notified without a reason: they check and wait on.
    /// Cells are no longer reserved: other senders may use them.
    #[inline]
    pub(super) fn release(&self, places: usize) {
        if places != 0 {
            self.give_back(places);
        }
    }

    fn give_back(&self, places: usize) {
        // MUTANT: No sender waits for room in a closed channel.
        if self.flavour.release(places) {
            let mut panics = Panics::none();
            panics.catch(|| self.freed(places));
            panics.catch(|| self.holders.announce());
        }
    }
}

/// Senders that wait for something rare. All wait in the same list, and each checks for itself.
pub(super) struct Rare<'a, T> {
    shared: &'a MpmcShared<T>,
    has_come: fn(&MpmcShared<T>) -> bool,
}

impl<'a, T> Rare<'a, T> {
    /// Until no other handle gathers cells.
    pub(super) fn until_gathered(shared: &'a MpmcShared<T>) -> Self {
        // ORDERING: Relaxed; `Gathering::begin` decides, and the barriers of the wait list ensure that no end of a
        //     gathering is missed.
        Self { shared, has_come: |shared| !shared.holders.gathering.load(Ordering::Relaxed) }
    }

    /// Until there is a message that they could replace, or room.
    pub(super) fn until_not_all_held(shared: &'a MpmcShared<T>) -> Self {
        Self { shared, has_come: |shared| !shared.flavour.is_all_held() }
    }

    /// Until one more reserved cell can be counted.
    pub(super) fn until_countable(shared: &'a MpmcShared<T>) -> Self {
        Self { shared, has_come: |shared| !shared.flavour.is_counted_out() }
    }
}

impl<T> Clone for Rare<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Rare<'_, T> {}

impl<T> SharedEnd for Rare<'_, T> {
    fn list(&self) -> &WaitList {
        &self.shared.holders.list
    }

    fn is_ready(&self) -> bool {
        (self.has_come)(self.shared) || self.shared.flavour.is_closed()
    }

    fn supply(&self) -> usize {
        // All are notified; none passes a notification on.
        0
    }
}

/// Reserved cells that are not yet a permit's. The drop releases them.
pub(super) struct HeldPlaces<'a, T> {
    pub(super) shared: &'a MpmcShared<T>,
    pub(super) places: usize,
}

impl<T> HeldPlaces<'_, T> {
    /// Moves the cells out.
    pub(super) fn take(&mut self) -> Self {
        Self { shared: self.shared, places: core::mem::take(&mut self.places) }
    }

    /// Reserves some more cells, at most `most`.
    pub(super) fn add(&mut self, most: usize) -> Result<(), Rejected<()>> {
        self.places += self.shared.flavour.hold(1, most)?;
        Ok(())
    }

    /// Sends the staged messages, which are not more than the reserved cells. `None`: the channel is closed, and the
    /// messages that were not sent are still staged.
    pub(super) fn send(&mut self, staging: &mut Staging<T>) -> Option<()> {
        // Before user code can panic. While unwinding this is called once more, with what a close has left staged.
        // Those cells have been counted, and in a closed channel they have no owner.
        self.places = self.places.saturating_sub(staging.len());
        self.shared.push_many_held(staging)
    }
}

// USER CODE: wakers of senders; so also in `Drop` of `Gathering`. Room and right are given back; re-entrance: any
//     operation; panic: all others are woken; while unwinding it is not resumed; test: tests/suite/mpmc/permits.rs:
//     wakers_that_panic_lose_no_place
impl<T> Drop for HeldPlaces<'_, T> {
    fn drop(&mut self) {
        self.shared.release(self.places);
    }
}

/// The right to hold some cells while waiting for more. One sender has it at a time; the drop ends it.
pub(super) struct Gathering<'a>(&'a Holders);

impl<'a> Gathering<'a> {
    /// `None`: another sender has the right.
    pub(super) fn begin(holders: &'a Holders) -> Option<Self> {
        // Lazily: a value that is made and not returned would end the other's right.
        // ORDERING: Relaxed; the right guards no memory, and the cells are counted in the ring's own word. Its last
        //     owner no longer waits for anything.
        (!holders.gathering.swap(true, Ordering::Relaxed)).then(|| Self(holders))
    }
}

impl Drop for Gathering<'_> {
    fn drop(&mut self) {
        // ORDERING: Relaxed, as in `begin`; `announce` checks after a barrier.
        self.0.gathering.store(false, Ordering::Relaxed);
        self.0.announce();
    }
}
