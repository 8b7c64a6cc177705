//! What a mailbox and its addresses share. Any thread; lock-free, but for what a bound makes wait, and for relations.
//!
//! An address is counted, because a mailbox that nobody has the address of must not wait for ever. Who keeps the post of
//! another (to see its end, or to send to it) does not keep that open.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::envelope::Envelope;
use super::error::SendError;
use super::outbox::{self, Rank};
use super::relations::Watchers;
use crate::channel::{Doors, TrySendError};
use crate::sync::thread;

/// What becomes of a message for which a bounded mailbox has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Crowding {
    /// Its sender waits until there is room. A thread never waits for a mailbox that it receives from itself: to it a
    /// full one is an error.
    Block,
    /// Its sender gets it back, in [`SendError::Full`].
    Error,
    /// It is dropped, and its sender is not told.
    DropNewest,
    /// It is sent, and the oldest is dropped that has not been looked at.
    DropOldest,
}

/// Bounds of a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) capacity: usize,
    pub(super) crowding: Crowding,
}

pub(crate) struct Post {
    id: u64,
    name: Option<Box<str>>,
    pub(super) doors: Doors<Envelope>,
    pub(super) bound: Option<Bound>,
    pub(super) watchers: Watchers,
    /// The number of the thread that has received last. Of interest where that thread might wait for itself.
    reader: AtomicU64,
    /// It has ended, and has no name any more. Guarded by the registry's lock.
    forgotten: AtomicBool,
}

impl Post {
    pub(super) fn new(name: Option<Box<str>>, bound: Option<Bound>, doors: Doors<Envelope>) -> Self {
        // Not the façade's: a number that guards nothing.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // ORDERING: Relaxed; numbers only have to differ.
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            id,
            name,
            doors,
            bound,
            watchers: Watchers::new(),
            reader: AtomicU64::new(0),
            forgotten: AtomicBool::new(false),
        }
    }

    /// Never given again in this process.
    #[inline(always)]
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Under the registry's lock: whether the mailbox has ended.
    pub(super) fn is_forgotten(&self) -> bool {
        // ORDERING: Relaxed; the lock orders it.
        self.forgotten.load(Ordering::Relaxed)
    }

    /// Under the registry's lock: the mailbox has ended.
    pub(super) fn forget(&self) {
        // ORDERING: Relaxed; the lock orders it.
        self.forgotten.store(true, Ordering::Relaxed);
    }

    /// The calling thread receives from the mailbox.
    #[inline(always)]
    pub(super) fn is_read_here(&self) {
        if self.bound.is_some() {
            // ORDERING: Relaxed; a thread need only recognise itself.
            self.reader.store(outbox::this_thread(), Ordering::Relaxed);
        }
    }

    #[inline(always)]
    pub(super) fn send(&self, envelope: Envelope, rank: Rank) -> Result<(), SendError<Envelope>> {
        match &self.bound {
            Some(bound) if rank == Rank::Ordinary => self.send_bounded(bound.crowding, envelope),
            _ => outbox::send(self, rank, envelope),
        }
    }

    /// Tells the mailbox something that no bound may hold up. If it has ended, nothing.
    pub(super) fn tell(&self, notice: Envelope) {
        drop(outbox::send(self, Rank::Ordinary, notice));
    }

    fn send_bounded(&self, crowding: Crowding, envelope: Envelope) -> Result<(), SendError<Envelope>> {
        let mut back = match self.doors.try_send(envelope) {
            Err(TrySendError::Full(back)) => back,
            sent => return Ok(sent?),
        };
        match crowding {
            Crowding::Error => Err(SendError::Full(back)),
            Crowding::DropNewest => Ok(()),
            // ORDERING: Relaxed, as in `is_read_here`.
            Crowding::Block if self.reader.load(Ordering::Relaxed) == outbox::this_thread() => {
                Err(SendError::Full(back))
            }
            Crowding::Block => Ok(self.doors.send(back)?),
            Crowding::DropOldest => loop {
                let oldest = self.doors.displace();
                match self.doors.try_send(back) {
                    Err(TrySendError::Full(again)) => back = again,
                    sent => return Ok(sent?),
                }
                if oldest.is_none() {
                    // The oldest is being put in, or taken out, by a thread that has lost its CPU.
                    thread::yield_now();
                }
            },
        }
    }
}
