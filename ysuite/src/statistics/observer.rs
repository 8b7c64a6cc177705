//! What users see: [`Observer`], and its answer.

use core::fmt;
// It only keeps memory alive, so not `crate::sync`'s: a model need not explore it.
use std::sync::Arc;

use super::ledger::Ledger;

/// What has gone through a channel, from its beginning to the look. See [what is exact](super#what-is-exact).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Statistics {
    /// Messages that have been sent. Those that are hidden (`write`) are not, until they are flushed; nor are those that an
    /// error has given back, or that were taken back because the receiver had closed. Those that were dropped with the
    /// receiver are.
    pub sent: u64,
    /// Messages that have been taken out: by receivers, or in an `mpmc` by
    /// [`force_send`](crate::mpmc::Sender::force_send). Those that were dropped in the channel are not; one that a `force_send`
    /// displaces while the last receiver goes may be taken for such. In a [rendezvous](crate::channel#rendezvous) whatever was
    /// handed to a receiver that waited, also where that went without it.
    pub received: u64,
    /// The high-water mark: the most messages that were in the channel at once, those that are hidden and take up room
    /// included; in an `mpsc` the most of one sender, whose own the bound is.
    ///
    /// A lower bound, by looks of the senders. It is exact where the channel was found full. Else the mark of an `spsc` and
    /// of an `mpsc` is too low by 64 at most, however long ago that was; that of an `mpmc` as a rule, as a thread that looks
    /// there may lose its CPU before it does. In a [rendezvous](crate::channel#rendezvous) 0.
    pub high_water: u64,
    /// How often an end went to sleep: a thread in the kernel, a task that was left pending by a poll, an end of a set that
    /// took its id down.
    pub sleeps: u64,
    /// How often an end was woken, by a message, by room, or by an end: it slept, or was about to. A sleep that ends by its
    /// deadline, or in another way, has no wake-up. In a rendezvous: how often an end that stood in line was met, asleep or
    /// not.
    pub wakes: u64,
    /// How often the channel was full: `try_send` or another such call was refused, or a sender began to wait for room, or
    /// began again because another was quicker (a task: each poll that found none). What a [`select`](crate::select()) tries
    /// before it waits is not counted, nor a rendezvous, which is always full.
    pub full: u64,
}

/// One who looks at what goes through a channel. Any end gives one; any thread may use it, and clone it.
///
/// It is no end of the channel: it keeps nothing open, and no message alive. It may be asked when all ends are gone.
#[derive(Clone)]
pub struct Observer {
    ledger: Arc<Ledger>,
}

impl Observer {
    pub(super) fn new(ledger: Arc<Ledger>) -> Self {
        Self { ledger }
    }

    /// What has gone through the channel so far. None of the counts is less than in any look before.
    ///
    /// Takes a lock that is held for some instructions (and for as many more as an `mpsc` has senders), by observers, and where
    /// a sender of an `mpsc` is made or gone; by no end that sends, receives or waits. Does not allocate. Touches lines that
    /// the channel's ends write for their messages, so it slows them down for a moment.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.ledger.statistics()
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observer").field(&self.statistics()).finish()
    }
}
