//! The public types: [`Observer`], and [`Statistics`], which it returns.

use core::fmt;
// It only keeps memory alive, so not `crate::sync`'s: a model need not explore it.
use std::sync::Arc;

use super::ledger::Ledger;

/// Counts of a channel's messages and waits, from its creation to the read. See [what is exact](super#what-is-exact).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Statistics {
    /// Messages that have been sent. Messages dropped with the receiver count. Hidden messages (`write`) count once
    /// they are flushed. Messages that an error has returned, or that were taken back because the receiver had closed,
    /// do not count.
    pub sent: u64,
    /// Messages that have been taken out: by receivers, or in an `mpmc` by
    /// [`force_send`](crate::mpmc::Sender::force_send). Messages dropped in the channel do not count. A message that a
    /// `force_send` displaces while the last receiver is dropped may be counted as dropped. In a
    /// [rendezvous](crate#rendezvous): messages passed to a waiting receiver, also if that was dropped without
    /// receiving its message.
    pub received: u64,
    /// The high-water mark: the largest number of messages in the channel at once, with hidden messages that take up
    /// room. In an `mpsc` it is the largest number of one sender, as the bound is for each sender.
    ///
    /// A lower bound, sampled by the senders. It is exact if the channel was found full. Otherwise the mark of an
    /// `spsc` and of an `mpsc` is too low by at most 64, however long ago that was. The same usually holds for an
    /// `mpmc`, but there a thread may be preempted before it samples. In a [rendezvous](crate#rendezvous) 0.
    pub high_water: u64,
    /// The number of times a handle went to sleep: a thread in the kernel, a task that a poll left pending, or a handle
    /// in a set that took its id down.
    pub sleeps: u64,
    /// The number of times a handle was woken, by a message, by room, or by the drop of a handle, while it slept or was
    /// about to. A sleep that ends by its deadline, or in another way, has no wake-up. In a rendezvous: the number of
    /// times a registered operation was completed by the other side, asleep or not.
    pub wakes: u64,
    /// The number of times the channel was full: `try_send` or a similar call was refused, or a sender began to wait
    /// for room, or began again because another sender was faster (a task: each poll that found no room). The attempts
    /// of a [`select`](crate::select()) before it waits are not counted. Nor is a rendezvous, which is always full.
    pub full: u64,
}

/// Reads the counts of a channel. Any handle of the channel creates an observer; any thread may use it, and clone it.
///
/// An observer is no handle of the channel: it keeps no channel open, and no message alive. It works also when all
/// handles are gone.
#[derive(Clone)]
pub struct Observer {
    ledger: Arc<Ledger>,
}

impl Observer {
    pub(super) fn new(ledger: Arc<Ledger>) -> Self {
        Self { ledger }
    }

    /// Returns the counts of the channel so far. No count is less than in any read before.
    ///
    /// Takes a lock that is held for some instructions (for an `mpsc`, as many again for each sender). Observers take
    /// it, and threads that make or drop a sender of an `mpsc`. No handle takes it to send, receive or wait. Does not
    /// allocate. Reads cache lines that the channel's handles write for their messages, so it slows them down for a
    /// moment.
    #[doc = cost!(statistics READ)]
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
