//! Counts of a channel's messages, and of the sleeps and wake-ups of its handles: a feature, `statistics`.
//!
//! Any handle of an [`spsc`](crate::spsc), [`mpsc`](crate::mpsc) or [`mpmc`](crate::mpmc) channel creates an
//! [`Observer`]. Any thread may read it at any time, also when all handles are gone. An observer is no handle: it keeps
//! no channel open and no message alive.
//!
//! ```
//! # #[cfg(feature = "statistics")] {
//! let (mut sender, mut receiver) = ysuite::spsc::bounded(2);
//! let observer = receiver.observer();
//! sender.send('a').unwrap();
//! sender.send('b').unwrap();
//! assert!(sender.try_send('c').is_err());
//! receiver.recv().unwrap();
//! let seen = observer.statistics();
//! assert_eq!((seen.sent, seen.received, seen.high_water, seen.full), (2, 1, 2, 1));
//! # }
//! ```
//!
//! # What it costs
//!
//! Without the feature, counting costs no instruction and no byte. With it, no cache line that threads share is
//! written for a message. The sender of an `spsc` stores the number of messages it has sent, in a line that only this
//! thread writes. The receiver of an `spsc`, and the handles of an `mpmc`, count anyway, and an observer reads these
//! counts. At most once for every 64 messages a sender checks the positions of the receivers, for the high-water mark.
//! Events on slow paths are counted there, by read-modify-writes: next to a system call, or where there is no room.
//!
//! A channel makes one or two more allocations, and each sender of an `mpsc` takes some 300 bytes. Cloning a sender
//! takes a lock that is held for some instructions. Other clones take it too, and observers; now and then it is held
//! for a time that is linear in the number of senders. Dropped senders may keep their bytes until more are made, or an
//! observer reads: at most as many as there are senders.
//!
//! # What is exact
//!
//! Each count only grows, also between reads by several threads. It is exact for all events before the read, in the
//! threads that read, send and receive: after a join, or when a message that says so has been received. For concurrent
//! events it may lag a little; `sent` is never less than `received`. The counts are read one after the other, not at
//! one moment. On platforms with 32-bit pointers the counts of each `spsc` begin again after 2 to the power of 32
//! messages.
//!
//! # What is not counted
//!
//! These have no observers: `oneshot` channels, which pass one message; `watch` channels, which pass none; `broadcast`
//! channels, whose messages are received many times; timers, pools and mailboxes.

#[cfg(feature = "statistics")]
mod counted;
#[cfg(feature = "statistics")]
mod ledger;
#[cfg(feature = "statistics")]
mod meter;
#[cfg(feature = "statistics")]
mod observer;
#[cfg(not(feature = "statistics"))]
mod uncounted;
#[cfg(feature = "statistics")]
mod writer;

#[cfg(feature = "statistics")]
pub(crate) use self::counted::{COUNTING, Observed, QueueTally};
#[cfg(feature = "statistics")]
pub(crate) use self::meter::Meter;
#[cfg(feature = "statistics")]
pub use self::observer::{Observer, Statistics};
#[cfg(not(feature = "statistics"))]
pub(crate) use self::uncounted::{COUNTING, Meter, Observed, OwnLine, QueueTally, WriterTally};
#[cfg(feature = "statistics")]
pub(crate) use self::writer::{OwnLine, WriterTally};

/// Words from which the counts of a queue can be read.
pub(crate) trait Counted: Send + Sync + 'static {
    /// Returns the numbers sent and received so far. No number is ever less than in an earlier read.
    #[allow(dead_code, reason = "called only by observers")]
    fn totals(&self) -> Totals;
}

/// The numbers of messages that have passed through a queue.
#[derive(Clone, Copy, Default)]
#[allow(dead_code, reason = "read only by observers")]
pub(crate) struct Totals {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// The largest number of messages in the queue at once, as far as checks have found.
    pub(crate) high_water: u64,
}

/// The number of messages after which a sender checks the positions of the receivers. A power of two.
pub(crate) const SAMPLED: usize = 64;

// MUTANT: Statistics only: how often the high-water mark is updated. Killed only by
// `a_batch_that_ends_where_a_check_is_due_is_seen_by_the_mark_of_an_mpmc_channel` and
// `a_mark_that_was_not_read_is_too_low_by_64_at_most`.
/// Whether a sender that moves from one position to a later one has to check.
#[inline(always)]
pub(crate) fn is_due(from: u64, to: u64) -> bool {
    COUNTING && (from ^ to) >= SAMPLED as u64
}
