//! Places for those who wait, in blocks: who has one, and which of them may be called. Any thread; lock-free.
//!
//! A place is used by its owner, and by at most one caller for each time it was armed. The last of them gives it back, so
//! nobody rings a bell that is another's by now, and nobody waits for anybody.

use core::ops::Deref;
use core::ptr;
// Handed over with a bit: not the façade's, a model need not explore it.
use core::sync::atomic::AtomicBool as HandedBool;

use super::vacant::Vacant;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Places in a block.
const PLACES: usize = if cfg!(ysuite_loom) { 3 } else { 64 };
/// All of them.
const ALL: u64 = u64::MAX >> (64 - PLACES);
/// In [`Seat::users`]: the owner has left, whoever is last gives the place back.
const LEFT: u32 = 1 << 31;

/// How one that waits is woken.
pub(crate) trait Payload: Default {
    /// The place is given back: whatever the payload holds is to be thrown away. Nobody else looks at it.
    fn vacate(&self);
}

/// Places that are made together. They live as long as their roster.
pub(super) struct Block<P> {
    /// Places that somebody has.
    taken: AtomicU64,
    /// Places whose owners wait to be called. The truth; the count in the word is never less.
    pub(super) armed: AtomicU64,
    /// The block made after this one.
    pub(super) next: AtomicPtr<Block<P>>,
    /// While it has room, the block below it; see [`Vacant`].
    pub(super) below: AtomicPtr<Block<P>>,
    /// Whether it is among those with room.
    pub(super) listed: AtomicBool,
    seats: [Seat<P>; PLACES],
}

struct Seat<P> {
    /// One for each arming not yet disarmed or called to its end, and `LEFT`.
    users: AtomicU32,
    /// Whether its owner, once called, certainly comes at once.
    certain: HandedBool,
    payload: P,
}

/// A place of one's own in a roster. Left by [`Roster::leave`](super::Roster::leave).
pub(crate) struct Place<P> {
    pub(super) block: *const Block<P>,
    pub(super) index: usize,
}

// SAFETY: a place is a name for a part of the roster, which is shared between threads anyway.
unsafe impl<P: Sync> Send for Place<P> {}
// SAFETY: as above.
unsafe impl<P: Sync> Sync for Place<P> {}

/// One that has been called: its payload is to be rung, before this is dropped.
pub(crate) struct Called<'a, P: Payload> {
    vacant: &'a Vacant<P>,
    block: &'a Block<P>,
    index: usize,
}

impl<P: Payload> Deref for Called<'_, P> {
    type Target = P;

    fn deref(&self) -> &P {
        self.block.payload(self.index)
    }
}

impl<'a, P: Payload> Called<'a, P> {
    /// The caller that has taken the bit.
    pub(super) fn new(vacant: &'a Vacant<P>, block: &'a Block<P>, index: usize) -> Self {
        Self { vacant, block, index }
    }

    /// Whether this one certainly comes: then it sees to it that others are called if there is more.
    pub(crate) fn is_certain(&self) -> bool {
        // ORDERING: Relaxed; written before the arming, which was acquired with the bit.
        self.block.seats[self.index].certain.load(Ordering::Relaxed)
    }
}

impl<P: Payload> Drop for Called<'_, P> {
    fn drop(&mut self) {
        self.block.unuse(self.index, self.vacant);
    }
}

impl<P: Payload> Block<P> {
    /// One user less: the last one behind the owner gives the place back.
    pub(super) fn unuse(&self, index: usize, vacant: &Vacant<P>) {
        // ORDERING: AcqRel: whoever is last comes after all that the others have done with the payload.
        if self.seats[index].users.fetch_sub(1, Ordering::AcqRel) == LEFT + 1 {
            self.give_back(index, vacant);
        }
    }

    fn give_back(&self, index: usize, vacant: &Vacant<P>) {
        self.seats[index].payload.vacate();
        // ORDERING: Relaxed; published by the Release below.
        self.seats[index].users.store(0, Ordering::Relaxed);
        // ORDERING: Release pairs with the Acquire in `sit`.
        if self.taken.fetch_and(!(1 << index), Ordering::Release) == ALL {
            vacant.put(self);
        }
    }

    /// Whether it has no place to give.
    pub(super) fn is_full(&self) -> bool {
        // ORDERING: Relaxed; who gives a place back later finds out by itself that the block was full.
        self.taken.load(Ordering::Relaxed) == ALL
    }

    /// Takes a free place.
    pub(super) fn sit(&self) -> Option<usize> {
        // ORDERING: Relaxed; the read-modify-write below decides.
        let mut taken = self.taken.load(Ordering::Relaxed);
        loop {
            let index = taken.trailing_ones() as usize;
            if index >= PLACES {
                return None;
            }
            // ORDERING: Acquire pairs with the Release in `give_back`.
            taken = self.taken.fetch_or(1 << index, Ordering::Acquire);
            if taken & (1 << index) == 0 {
                return Some(index);
            }
        }
    }

    /// Takes the bit of an armed place, among those of `mask`.
    pub(super) fn call(&self, mask: u64) -> Option<usize> {
        // ORDERING: Relaxed; behind the fence of `attend`, which pairs with that of `arm`.
        let mut armed = self.armed.load(Ordering::Relaxed) & mask;
        while armed != 0 {
            let index = armed.trailing_zeros() as usize;
            // ORDERING: Acquire pairs with the Release in `arm`: the payload is as its owner left it.
            let before = self.armed.fetch_and(!(1 << index), Ordering::AcqRel);
            if before & (1 << index) != 0 {
                return Some(index);
            }
            armed = before & mask;
        }
        None
    }

    /// The owner is about to arm. `certain`: it comes at once when it is called.
    pub(super) fn enlist(&self, index: usize, certain: bool) {
        let seat = &self.seats[index];
        // ORDERING: Relaxed; the owner's, and released with the bit.
        seat.certain.store(certain, Ordering::Relaxed);
        // ORDERING: Relaxed; the owner itself is still there, and the bit is released after it.
        seat.users.fetch_add(1, Ordering::Relaxed);
    }

    /// The owner leaves.
    pub(super) fn leave(&self, index: usize, vacant: &Vacant<P>) {
        // ORDERING: AcqRel, as in `unuse`.
        if self.seats[index].users.fetch_or(LEFT, Ordering::AcqRel) == 0 {
            self.give_back(index, vacant);
        }
    }

    pub(super) fn payload(&self, index: usize) -> &P {
        &self.seats[index].payload
    }

    /// Makes a block at the end of the list, whose first place is the caller's, or finds the one that another thread has
    /// made. True: made.
    #[cold]
    pub(super) fn extend(link: &AtomicPtr<Self>) -> (&Self, bool) {
        let seat = |_| Seat { users: AtomicU32::new(0), certain: HandedBool::new(false), payload: P::default() };
        let fresh = Box::into_raw(Box::new(Self {
            taken: AtomicU64::new(1),
            armed: AtomicU64::new(0),
            next: AtomicPtr::new(ptr::null_mut()),
            below: AtomicPtr::new(ptr::null_mut()),
            listed: AtomicBool::new(false),
            seats: core::array::from_fn(seat),
        }));
        // ORDERING: Release hands the block to whoever finds it; Acquire for the one that came first.
        match link.compare_exchange(ptr::null_mut(), fresh, Ordering::Release, Ordering::Acquire) {
            // SAFETY: just made, and freed only with the roster.
            Ok(_) => (unsafe { &*fresh }, true),
            Err(first) => {
                // SAFETY: made above, and seen by nobody; the other one lives as long as the roster.
                unsafe {
                    drop(Box::from_raw(fresh));
                    (&*first, false)
                }
            }
        }
    }
}
