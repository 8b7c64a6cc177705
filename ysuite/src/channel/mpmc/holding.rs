//! Places that are held for messages to come: holding and giving back, one or many, and the waits that this brings.
//!
//! Any thread; lock-free. A place is held in the ring, by a count beside the position of the next message. Those that
//! wait for one place are senders as any others. Those that want many *gather* them: one at a time may hold some while
//! it waits for the rest, so that no two wait for each other's. All the rest of this file's waits are rare, so they
//! share one list, and are all told when a place is no longer held, or a gathering is over.
//!
//! Cannot: give many places to a thread that gathers before others get one. They take turns.

use super::shared::MpmcShared;
use crate::foreign::Panics;
use crate::os::PeerWait;
use crate::queue::exchange::{Rejected, Staging};
use crate::sync::{AtomicBool, Ordering};
use crate::wait::WaitList;
use crate::wait::many::{SharedEnd, notify_all};

/// Those that hold places, and those that wait for them.
pub(super) struct Holders {
    /// Those that wait until a thread has gathered its places, or until fewer places are held.
    pub(super) list: WaitList,
    /// Whether some end is gathering places.
    gathering: AtomicBool,
}

impl Holders {
    pub(super) fn new() -> Self {
        Self { list: WaitList::new(), gathering: AtomicBool::new(false) }
    }

    // MUTANT: Speed only: an early exit. The list itself finds, after its fence, that no slot is armed.
    /// Something has changed that those in the list may wait for.
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
    /// Sends the message of one who holds a place. Waits only while a [forced](super::Sender::force_send) message has
    /// yet to leave the cell: see [`PeerWait`].
    #[inline]
    pub(super) fn push_held(&self, mut message: T) -> Result<(), T> {
        let mut wait = PeerWait::default();
        loop {
            match self.ring.push_held(message) {
                Ok(()) => break,
                Err(Rejected::Closed(message)) => return Err(message),
                Err(Rejected::Full(back)) => message = back,
            }
            wait.wait();
        }
        self.used(1);
        Ok(())
    }

    // MUTANT: Speed only: an early exit. Each part of the slow path checks whom it concerns.
    /// Places that were held have messages now: wakes those that wait for either.
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

    /// Sends the staged messages of one who holds as many places. `None`: the channel is closed, and those not sent are
    /// still staged.
    pub(super) fn push_many_held(&self, staging: &mut Staging<T>) -> Option<()> {
        let (mut panics, mut wait) = (Panics::none(), PeerWait::default());
        while staging.len() != 0 {
            match self.ring.push_many_held(staging)? {
                0 => wait.wait(),
                sent => panics.catch(|| self.used(sent)),
            }
        }
        Some(())
    }

    // MUTANT: At worst waiters for room are notified without a reason: they check and wait on.
    /// Places are held no more: others may have them.
    #[inline]
    pub(super) fn release(&self, places: usize) {
        if places != 0 {
            self.give_back(places);
        }
    }

    fn give_back(&self, places: usize) {
        // MUTANT: Nobody waits for room in a closed channel.
        if self.ring.release(places) {
            let mut panics = Panics::none();
            panics.catch(|| self.freed(places));
            panics.catch(|| self.holders.announce());
        }
    }
}

/// Those that wait until no other handle gathers places.
pub(super) struct UntilGathered<'a, T>(pub(super) &'a MpmcShared<T>);

/// Those that wait until there is a message whose place they could have, or room.
pub(super) struct UntilNotAllHeld<'a, T>(pub(super) &'a MpmcShared<T>);

/// Those that wait until so few places are held that one more can be counted.
pub(super) struct UntilCountable<'a, T>(pub(super) &'a MpmcShared<T>);

/// All wait in the same list; each looks for its own.
macro_rules! impl_rare {
    ($rare:ident: |$shared:ident| $is_ready:expr) => {
        impl<T> Clone for $rare<'_, T> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T> Copy for $rare<'_, T> {}

        impl<T> SharedEnd for $rare<'_, T> {
            fn list(&self) -> &WaitList {
                &self.0.holders.list
            }

            fn is_ready(&self) -> bool {
                let $shared = self.0;
                $is_ready || $shared.ring.is_closed()
            }

            fn supply(&self) -> usize {
                // All are told; nobody answers for another.
                0
            }
        }
    };
}

// ORDERING: Relaxed; `Gathering::begin` decides, and the barriers of the wait list see to it that no end is missed.
impl_rare!(UntilGathered: |shared| !shared.holders.gathering.load(Ordering::Relaxed));
impl_rare!(UntilNotAllHeld: |shared| !shared.ring.is_all_held());
impl_rare!(UntilCountable: |shared| !shared.ring.is_counted_out());

/// Places that are held, and not yet a permit's. Given back when dropped.
pub(super) struct HeldPlaces<'a, T> {
    pub(super) shared: &'a MpmcShared<T>,
    pub(super) places: usize,
}

impl<T> HeldPlaces<'_, T> {
    /// Holds some places more, `most` at most.
    pub(super) fn add(&mut self, most: usize) -> Result<(), Rejected<()>> {
        self.places += self.shared.ring.hold(1, most)?;
        Ok(())
    }

    /// Sends the staged messages, which are not more than places are held. `None`: the channel is closed, and those not
    /// sent are still staged.
    pub(super) fn send(&mut self, staging: &mut Staging<T>) -> Option<()> {
        // Before user code can panic. Behind a panic this is called once more, with what a close has left staged: those
        // places have been counted, and a closed channel's are nobody's.
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

/// The right to hold some places while waiting for others. One end has it at a time; it ends when dropped.
pub(super) struct Gathering<'a>(&'a Holders);

impl<'a> Gathering<'a> {
    /// `None`: another end has the right.
    pub(super) fn begin(holders: &'a Holders) -> Option<Self> {
        // Lazily: one that is made and not given out would end the other's right.
        // ORDERING: Relaxed; the right guards no memory, and the places are counted in the ring's own word. Whoever had
        //     it waits for nothing any more.
        (!holders.gathering.swap(true, Ordering::Relaxed)).then(|| Self(holders))
    }
}

impl Drop for Gathering<'_> {
    fn drop(&mut self) {
        // ORDERING: Relaxed, as in `begin`; `announce` looks behind a barrier.
        self.0.gathering.store(false, Ordering::Relaxed);
        self.0.announce();
    }
}
