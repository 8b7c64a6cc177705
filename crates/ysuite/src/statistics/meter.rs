//! [`Meter`]: counts the events on the slow paths of a channel's handles. Any thread; wait-free.

// It only keeps memory alive, so not `crate::sync`'s: a model need not explore it.
use std::sync::Arc;

use super::ledger::Ledger;
use super::observer::Observer;

/// Counts for one channel, or for none: the default. Clones count for the same channel.
#[derive(Clone, Default)]
pub(crate) struct Meter {
    ledger: Option<Arc<Ledger>>,
    /// The waiters that use this meter wait for room.
    is_for_room: bool,
}

impl Meter {
    /// One that counts for no channel.
    #[cfg(all(feature = "mpsc", not(ysuite_loom)))]
    pub(crate) const fn none() -> Self {
        Self { ledger: None, is_for_room: false }
    }

    /// The meter of a new channel.
    pub(crate) fn new() -> Self {
        Self { ledger: Some(Arc::new(Ledger::new())), is_for_room: false }
    }

    /// The meter for waiters that wait for room: each of their waits is a time when the channel was full.
    pub(crate) fn for_room(&self) -> Self {
        Self { ledger: self.ledger.clone(), is_for_room: true }
    }

    /// A handle has begun to wait: it has found no message, or no room.
    #[inline(always)]
    pub(crate) fn waits(&self) {
        if self.is_for_room {
            self.refused();
        }
    }

    /// A sender has found no room, and does not wait.
    #[inline(always)]
    pub(crate) fn refused(&self) {
        if let Some(ledger) = &self.ledger {
            Ledger::add_one(&ledger.full);
        }
    }

    /// A handle has armed, has found nothing, and goes to sleep in its way.
    #[inline(always)]
    pub(crate) fn sleeps(&self) {
        if let Some(ledger) = &self.ledger {
            Ledger::add_one(&ledger.sleeps);
        }
    }

    /// An armed handle is woken.
    #[inline(always)]
    pub(crate) fn wakes(&self) {
        if let Some(ledger) = &self.ledger {
            Ledger::add_one(&ledger.wakes);
        }
    }

    /// A message has been passed from hand to hand, to or from a registered operation.
    #[inline(always)]
    pub(crate) fn meets(&self) {
        if let Some(ledger) = &self.ledger {
            Ledger::add_one(&ledger.met);
        }
    }

    pub(super) fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.ledger.as_ref()
    }

    /// An observer, which may read the counts now and later.
    pub(crate) fn observer(&self) -> Observer {
        Observer::new(self.ledger.clone().unwrap_or_else(|| Arc::new(Ledger::new())))
    }
}
