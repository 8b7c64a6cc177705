//! What binds a receiver to one id of a set: the id is up exactly while the receiver may hold a message. A sender is
//! bound likewise: its id is up while it may have room. Statements here about receivers and messages hold for senders
//! and room.
//!
//! The set's owner attaches and detaches. In between, any thread may call [`Registration::raise`]: the thread that
//! publishes a message and finds that the receiver waits. The receiver's thread calls [`Registration::lower`]. Both are
//! lock-free and make at most one pair of system calls.
//!
//! The receiver's contract, each time it finds itself empty while its id is up: lower, arm, check again, and raise if a
//! message has come. Between a raise and the next lower, no signal is raised and nothing is written.
//!
//! Level-triggered, as users of epoll expect (and as `ZMQ_FD` is not): polling does not take the id down.

use core::fmt;
use std::io;

use super::SETS;
use super::set::SetCore;
use crate::sync::{Arc, AtomicU8, Ordering};

/// A receiver or sender that can be attached to a set of signals, to one at a time. The handles of this crate's
/// channels implement it, and its mailboxes. A receiver's id is up while it may hold a message, and a sender's while it
/// may have room. Both are up once the other side is gone; in a [`ReadySet`](super::ReadySet), until they have told so.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be attached to a set of signals",
    note = "handles of channels, and mailboxes, are attached by `&mut`; a timer is added by `ReadySet::add_timer`, and a \
            handle of an mpmc that is shared, by `ReadySet::add_shared`"
)]
pub trait Attach {
    /// Takes the registration over, raises it at once (there may be messages already), and keeps the module's contract
    /// from then on. Refuses with [`AttachError::AlreadyAttached`] while it has another registration, which stays as it
    /// was. Dropping the registration gives the id back.
    #[doc(hidden)]
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError>;

    /// Borrows the registration that binds it to a set, if it is in one.
    #[doc(hidden)]
    fn with_registration(&self, look: &mut dyn FnMut(&Registration));

    /// Drops the registration that binds it to a set. False: there was none.
    #[doc(hidden)]
    fn detach(&mut self) -> bool;
}

/// One claimed id of a set, held by the receiver attached to it. Given back when dropped.
#[doc(hidden)]
pub struct Registration {
    core: Arc<SetCore>,
    id: usize,
    /// [`RAISED`] and [`RELEASED`]. Read by any thread.
    state: AtomicU8,
}

/// This registration has raised its id. A registration that a receiver has refused never does: if its id is up, it was
/// raised by hand.
const RAISED: u8 = 1;
/// Set by the first caller that releases.
const RELEASED: u8 = 2;

impl Registration {
    #[cfg(feature = "signal")]
    fn new(core: &Arc<SetCore>, id: usize) -> Self {
        Self { core: Arc::clone(core), id, state: AtomicU8::new(0) }
    }

    fn is_released(&self) -> bool {
        // ORDERING: Relaxed: a release that happened before this call is seen; one that races may be missed, see
        // `raise`.
        self.state.load(Ordering::Relaxed) & RELEASED != 0
    }

    /// Puts the id up and wakes the owner of the set if it sleeps. Any thread. Without effect after a release; one that
    /// races with a release may put the id up once more, which its next owner must take for a spurious signal.
    #[inline(never)]
    pub fn raise(&self) {
        if !SETS {
            return;
        }
        // ORDERING: Relaxed: a release that happened before this call is seen; one that races may be missed, see above.
        let mut state = self.state.load(Ordering::Relaxed);
        // MUTANT: Speed only: a read-modify-write at each raise.
        if state & RAISED == 0 {
            // The first time, as a rule by the receiver that takes the registration over.
            // ORDERING: Relaxed: `release` changes the same word, so one of the two sees the other: either this finds
            // the registration released, or the release finds that the id may be up.
            state = self.state.fetch_or(RAISED, Ordering::Relaxed);
        }
        if state & RELEASED == 0 {
            self.core.raise(self.id);
        }
    }

    /// Takes the id down. Any thread, one at a time. Everything published before a raise that this undoes is visible to
    /// the caller afterwards, so a receiver that checks again cannot miss it.
    pub fn lower(&self) {
        // After a release the id belongs to another holder.
        if SETS && !self.is_released() {
            self.core.lower(self.id);
        }
    }

    /// The handle has told that its other side is gone, which is final. A [`ReadySet`](super::ReadySet) has named it for
    /// that, and names it no more: the id goes down, and nobody raises it, except a thread of the other side that was
    /// about to. In other sets the id stays up, as a descriptor does whose peer has hung up. Any thread; several may take
    /// the id down at once, as there is nothing left to miss.
    #[cold]
    pub fn tell_end(&self) {
        if SETS && self.core.names_ends_once() {
            self.lower();
        }
    }

    /// Whether the id is up. Any thread.
    pub fn is_up(&self) -> bool {
        SETS && !self.is_released() && self.core.is_up(self.id)
    }

    /// The id.
    pub fn id(&self) -> usize {
        self.id
    }

    /// Returns the signaler that raises the id from elsewhere. Any thread.
    #[cfg(feature = "in-place")]
    pub fn signaler(&self) -> super::Signaler {
        super::Signaler { core: Arc::clone(&self.core) }
    }

    /// Takes the id down for good, unless this registration has never raised it, and gives it back to the set. Any
    /// thread; a second call has no effect.
    #[inline(never)]
    pub fn release(&self) {
        if !SETS {
            return;
        }
        // ORDERING: Relaxed: exactly one caller sees that it is the first, and a raise that happened before is seen.
        // `give_back` orders what follows against the next claim.
        let before = self.state.fetch_or(RELEASED, Ordering::Relaxed);
        if before & RELEASED != 0 {
            return;
        }
        if before & RAISED != 0 {
            self.core.lower(self.id);
        }
        self.core.give_back(self.id);
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
        /// The id in the call.
        id: usize,
        /// The number of ids of the set, from 0.
        capacity: usize,
    },
    /// Another receiver is attached to this id.
    IdTaken {
        /// The id in the call.
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
#[cfg(feature = "signal")]
pub(super) fn attach(core: &Arc<SetCore>, receiver: &mut dyn Attach, id: usize) -> Result<(), AttachError> {
    let capacity = core.bits.capacity;
    if id >= capacity {
        return Err(AttachError::IdOutOfRange { id, capacity });
    }
    if !core.bits.claim(id) {
        return Err(AttachError::IdTaken { id });
    }
    // A receiver that refuses drops it. That gives the claim back, and leaves a signal that was raised by hand up.
    receiver.attach_registration(Registration::new(core, id))
}

/// Takes `receiver` out of `core`. Returns the id it had; `None`, and no change, if it is not in this set.
#[cfg(feature = "signal")]
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
