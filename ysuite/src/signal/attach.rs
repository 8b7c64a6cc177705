//! What binds a receiver to one id of a set: the id is up exactly while the receiver may hold a message. A sender is bound
//! likewise: its id is up while it may have room. What is said of receivers and messages here is true of senders and room.
//!
//! The set's owner attaches, and detaches what it has attached. In between [`Registration::raise`] may come from any
//! thread (whoever publishes a message and finds that the receiver waits), [`Registration::lower`] from wherever the
//! receiver lives. Both are lock-free and make at most one pair of system calls.
//!
//! The receiver's side of the bargain, each time it finds itself empty while up: lower, arm, look again, and raise if
//! there was something after all. Between a raise and the next lower, nothing is signalled and nothing is written.
//!
//! Level-triggered, as users of epoll expect (and as `ZMQ_FD` is not): polling does not take the id down.

use core::fmt;
use std::io;

use super::set::SetCore;
use crate::sync::{Arc, AtomicU8, Ordering};

/// A receiver or sender that can be attached to a set of signals, to one at a time. Implemented by the ends of this crate's
/// channels, and by its mailboxes. A receiver's id is up while it may hold a message, a sender's while it may have room, and
/// both once the other side is gone.
pub trait Attach {
    /// Takes the registration over, raises it at once (there may be messages already) and keeps to the bargain from
    /// then on. Refuses with [`AttachError::AlreadyAttached`] while it has another registration, which stays as it was.
    /// Dropping the registration gives the id back.
    #[doc(hidden)]
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError>;

    /// Looks at what binds it to a set, if it is in one.
    #[doc(hidden)]
    fn with_registration(&self, look: &mut dyn FnMut(&Registration));

    /// Lets go of what binds it to a set. False: nothing did.
    #[doc(hidden)]
    fn detach(&mut self) -> bool;
}

/// One claimed id of a set, in the hands of the receiver attached to it. Given back when dropped.
#[doc(hidden)]
pub struct Registration {
    core: Arc<SetCore>,
    id: usize,
    /// [`RAISED`] and [`RELEASED`]. Read by any thread.
    state: AtomicU8,
}

/// This registration has raised its id. One that a receiver has refused never does: if the id is up then, it was raised by
/// hand.
const RAISED: u8 = 1;
/// Set by whoever releases first.
const RELEASED: u8 = 2;

impl Registration {
    fn new(core: &Arc<SetCore>, id: usize) -> Self {
        Self { core: Arc::clone(core), id, state: AtomicU8::new(0) }
    }

    fn is_released(&self) -> bool {
        // ORDERING: Relaxed: a release that happened before this call is seen; one that races may be missed, see `raise`.
        self.state.load(Ordering::Relaxed) & RELEASED != 0
    }

    /// Puts the id up and wakes the owner of the set if it sleeps. Any thread. Without effect after a release; one that
    /// races with a release may put the id up once more, which its next owner must take for a spurious signal.
    pub fn raise(&self) {
        // ORDERING: Relaxed: a release that happened before this call is seen; one that races may be missed, see above.
        let mut state = self.state.load(Ordering::Relaxed);
        // MUTANT: Speed only: a read-modify-write at each raise.
        if state & RAISED == 0 {
            // The first time, as a rule by the receiver that takes the registration over.
            // ORDERING: Relaxed: `release` changes the same word, so one of the two sees the other: either this finds the
            // registration released, or the release finds that the id may be up.
            state = self.state.fetch_or(RAISED, Ordering::Relaxed);
        }
        if state & RELEASED == 0 {
            self.core.raise(self.id);
        }
    }

    /// Takes the id down. Any thread, one at a time. Whatever was published before a raise that this undoes is visible
    /// to the caller afterwards, so a receiver that looks again cannot miss it.
    pub fn lower(&self) {
        // After a release the id belongs to somebody else.
        if !self.is_released() {
            self.core.lower(self.id);
        }
    }

    /// Whether the id is up. Any thread.
    pub fn is_up(&self) -> bool {
        !self.is_released() && self.core.bits.is_up(self.id)
    }

    /// The id.
    pub fn id(&self) -> usize {
        self.id
    }

    /// What raises the id from elsewhere. Any thread.
    #[cfg(feature = "in-place")]
    pub fn signaler(&self) -> super::Signaler {
        super::Signaler { core: Arc::clone(&self.core) }
    }

    /// Takes the id down for good, unless this registration has never raised it, and gives it back to the set. Any thread;
    /// again is without effect.
    pub fn release(&self) {
        // ORDERING: Relaxed: exactly one caller sees that it is the first, and a raise that happened before is seen.
        // `give_back` orders what follows against the next claim.
        let before = self.state.fetch_or(RELEASED, Ordering::Relaxed);
        if before & RELEASED != 0 {
            return;
        }
        if before & RAISED != 0 {
            self.core.lower(self.id);
        }
        self.core.bits.give_back(self.id);
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.release();
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").field("id", &self.id).field("up", &self.is_up()).finish_non_exhaustive()
    }
}

/// Why a receiver could not be attached. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachError {
    /// The receiver is attached to a set already. It stays there until it is detached.
    AlreadyAttached,
    /// The set does not have this id.
    IdOutOfRange {
        /// The id asked for.
        id: usize,
        /// How many ids the set has, from 0.
        capacity: usize,
    },
    /// Another receiver is attached to this id.
    IdTaken {
        /// The id asked for.
        id: usize,
    },
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::AlreadyAttached => f.write_str("this receiver is attached already"),
            Self::IdOutOfRange { id, capacity } => super::IdOutOfRange { id, capacity }.fmt(f),
            Self::IdTaken { id } => write!(f, "another receiver is attached to signal id {id}"),
        }
    }
}

impl std::error::Error for AttachError {}

impl From<AttachError> for io::Error {
    fn from(error: AttachError) -> Self {
        let kind = match error {
            AttachError::AlreadyAttached | AttachError::IdTaken { .. } => io::ErrorKind::AlreadyExists,
            AttachError::IdOutOfRange { .. } => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}

// USER CODE: the `Attach` implementation of a user's receiver, in `detach` too; the id is claimed, or untouched;
//     re-entrance: may use the set's signalers; panic: the registration is dropped, which gives the id back and leaves
//     up what was raised by hand; test: tests/suite/conformance/attached/moving.rs: a_refusal_gives_the_claim_back,
//     tests/suite/conformance/attached/moving.rs: a_refusal_takes_no_signal_down
/// Claims `id` of `core` for `receiver` and hands the registration over. The owner of the set only.
pub(super) fn attach(core: &Arc<SetCore>, receiver: &mut dyn Attach, id: usize) -> Result<(), AttachError> {
    let capacity = core.bits.capacity;
    if id >= capacity {
        return Err(AttachError::IdOutOfRange { id, capacity });
    }
    if !core.bits.claim(id) {
        return Err(AttachError::IdTaken { id });
    }
    // A receiver that refuses drops it, which gives the claim back, and leaves a signal that was raised by hand up.
    receiver.attach_registration(Registration::new(core, id))
}

/// Takes `receiver` out of `core`. The id it had; `None`, and nothing has changed, where it is not in this set.
pub(super) fn detach(core: &Arc<SetCore>, receiver: &mut dyn Attach) -> Option<usize> {
    let mut id = None;
    receiver.with_registration(&mut |registration| {
        id = Arc::ptr_eq(&registration.core, core).then_some(registration.id);
    });
    if id.is_some() {
        receiver.detach();
    }
    id
}
