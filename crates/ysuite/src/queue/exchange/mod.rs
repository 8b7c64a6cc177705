//! **mpmc** (`exchange` in the code): a queue for many writers and many readers, in one total order, with passive
//! synchronisation for many sleepers on both sides.
//!
//! It has two independent parts. The queue holds the messages: a [`Ring`] with a bound, or [`Segments`] without. A [`WaitList`](crate::wait::WaitList) for each side holds the waiters. Any thread may call everything. All
//! operations are lock-free. No thread waits for a preempted thread, and only the sleeper's heavy barrier is a system
//! call. The queue never sleeps and never wakes a thread: it reports which waiter to wake.
//!
//! Cannot: deliver a message before an earlier one that is still being written. A reader sees this as an empty queue:
//! no message yet ([`Ring::is_empty`] distinguishes the two). The writer that finishes the message checks the wait
//! list.
//!
//! Sources: the ring is Dmitry Vyukov's bounded MPMC queue, with claims of several cells at once. The segments name
//! their own sources. The wait list's word is the passive word of [`ypipe`](super::ypipe), for many publishers.

mod counts;
#[cfg(all(test, ysuite_loom))]
mod models;
mod ring;
mod segments;
mod staging;

pub(crate) use self::counts::CountedEnds;
pub(crate) use self::ring::{ClaimedCell, ClaimedMessage, Forced, Hint, Rejected, Ring, Unforced};
pub(crate) use self::segments::{ClaimedSlot, Segments};
use self::staging::Leaving;
pub(crate) use self::staging::{Staging, StagingSpace};
