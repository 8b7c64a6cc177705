//! What has gone through a channel, and how its ends have fared: a feature, `statistics`.
//!
//! Any end of an [`spsc`](crate::spsc), [`mpsc`](crate::mpsc) or [`mpmc`](crate::mpmc) channel gives an [`Observer`], which
//! any thread may ask at any time, also when all ends are gone. An observer is no end: it keeps no channel open and no
//! message alive.
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
//! Without the feature nothing: no instruction and no byte. With it no line that threads share is written for a message.
//! The sender of a pipe stores how many it has sent, in a line that only this thread writes; the receiver of a pipe, and the
//! ends of an exchange, count anyway, and an observer reads their very counts. Once for every 64 messages at most a sender
//! looks how far the receivers are, for the high-water mark. What happens on slow paths is counted there, by
//! read-modify-writes: next to a system call, or where there is no room.
//!
//! A channel takes an allocation or two more, each sender of an `mpsc` some 300 bytes; to clone one takes a lock that is held for
//! some instructions, by others that do the same, by observers, and now and then for as many more as there are senders. Of
//! senders that have gone, as many as there are may keep their bytes until more are made, or an observer looks.
//!
//! # What is exact
//!
//! Each count only grows, also between looks by several threads, and is exact for all that happened before the look (in the
//! threads that look, send and receive: after a join, or when the message that says so has been received). For what goes on
//! meanwhile it may lag behind a little; `sent` is never less than `received`. The counts are read one after the other, not
//! at one moment. On platforms with 32-bit pointers those of each pipe begin again after 2 to the power of 32 messages.
//!
//! # What is not counted
//!
//! Channels of a `oneshot`, which pass one message, of a `watch`, which pass none, of `broadcast`, whose messages are received
//! many times, and timers, pools and mailboxes have no observers.

mod counted;
#[cfg(feature = "statistics")]
mod ledger;
mod meter;
#[cfg(feature = "statistics")]
mod observer;

#[cfg(feature = "statistics")]
pub(crate) use self::counted::QueueTally;
pub(crate) use self::counted::{Counted, Observed};
#[cfg(feature = "statistics")]
pub(crate) use self::ledger::Totals;
pub(crate) use self::meter::Meter;
#[cfg(feature = "statistics")]
pub use self::observer::{Observer, Statistics};

/// Once for how many messages a sender looks how far the receivers are. A power of two.
pub(crate) const SAMPLED: usize = 64;
/// Whether anything is counted.
pub(crate) const COUNTING: bool = cfg!(feature = "statistics");

// MUTANT: Statistics only: how often the high-water mark is updated. Killed only by
// `a_batch_that_ends_where_a_look_is_due_is_seen_by_the_mark_of_an_exchange` and
// `a_mark_that_nobody_looked_at_is_too_low_by_64_at_most`.
/// Whether a sender that goes from one position to a later one has to look.
#[inline(always)]
pub(crate) fn is_due(from: u64, to: u64) -> bool {
    COUNTING && (from ^ to) >= SAMPLED as u64
}
