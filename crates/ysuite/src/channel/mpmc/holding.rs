//! Room that is reserved for later messages: using and releasing it.
//!
//! Any thread; lock-free. Room is reserved in the ring, by a count next to the position of the next message. How a sender
//! waits for it is in `channel/reserve.rs`.

use super::SendError;
use super::shared::MpmcShared;
use crate::channel::reserve::{Holders, Rare, ReservedRoom, Roomy, announce_rare};
use crate::foreign::Panics;
use crate::os::PeerWait;
use crate::queue::exchange::{Rejected, Staging};
use crate::sync::{Ordering, fence};
use crate::wait::WaitList;
use crate::wait::many::notify_all;

/// Reserved cells that are not yet a permit's.
pub(super) type HeldPlaces<'a, T> = ReservedRoom<'a, MpmcShared<T>>;

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
        if self.published_any() || self.rare.published() {
            self.announce_used(places);
        }
    }

    #[cold]
    #[inline(never)]
    fn announce_used(&self, places: usize) {
        // ORDERING: the fence of `WaitList::attend`, once for both lists.
        fence(Ordering::SeqCst);
        let (receivers, rare) = (self.attended(), self.rare.attended());
        if rare.is_armed() {
            let mut panics = Panics::none();
            panics.catch(|| self.announce(receivers, places));
            panics.catch(|| notify_all(&self.rare));
        } else {
            self.announce(receivers, places);
        }
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
            panics.catch(|| announce_rare(&self.rare));
        }
    }
}

impl<T> Roomy for MpmcShared<T> {
    #[inline(always)]
    fn hold(&self, least: usize, most: usize) -> Result<usize, Rejected<()>> {
        self.flavour.hold(least, most)
    }

    #[inline]
    fn release(&self, places: usize) {
        MpmcShared::release(self, places);
    }

    fn holders(&self) -> &Holders {
        &self.holders
    }

    fn rare(&self) -> &WaitList {
        &self.rare
    }

    fn is_over(&self) -> bool {
        self.flavour.is_closed()
    }

    fn is_counted_out(&self) -> bool {
        self.flavour.is_counted_out()
    }
}

impl<'a, T> Rare<'a, MpmcShared<T>> {
    /// Until there is a message that they could replace, or room.
    pub(super) fn until_not_all_held(shared: &'a MpmcShared<T>) -> Self {
        Self::until(shared, |shared| !shared.flavour.is_all_held())
    }
}

impl<T> HeldPlaces<'_, T> {
    /// Sends the staged messages, which are not more than the reserved cells. `None`: the channel is closed, and the
    /// messages that were not sent are still staged.
    pub(super) fn send(&mut self, staging: &mut Staging<T>) -> Option<()> {
        // Before user code can panic. While unwinding this is called once more, with what a close has left staged.
        // Those cells have been counted, and in a closed channel they have no owner.
        self.places = self.places.saturating_sub(staging.len());
        self.shared.push_many_held(staging)
    }
}
