//! **exchange**: a queue for many writers and many readers, in one total order, with passive synchronisation for many
//! sleepers on both sides.
//!
//! Two parts that know nothing of each other: the [`Queue`] holds the messages, in a [`Ring`] with a bound or in
//! [`Segments`] without; a [`WaitList`](crate::wait::WaitList) for each side holds the waiters. Any thread may call everything. All operations are lock-free, no thread waits for a
//! thread that has been preempted, and only the sleeper's heavy barrier is a system call. The exchange never sleeps and
//! never wakes a thread: it reports which waiter is to be woken.
//!
//! Cannot: give out a message that lies behind one that is still being written. For a reader this is the same as an
//! empty queue: no message yet ([`Queue::is_empty`] tells the two apart). The writer that finishes the message looks at
//! the wait list.
//!
//! Sources: the ring is Dmitry Vyukov's bounded MPMC queue, with claims of several cells at once; for the segments see
//! there; the wait list's word is the pipe's passive word, for many publishers.

#[cfg(all(test, ysuite_loom))]
mod models;
mod queue;
mod ring;
mod segments;
mod staging;

pub(crate) use self::queue::Queue;
pub(crate) use self::ring::{Forced, Hint, Rejected, Ring, Unforced};
pub(crate) use self::segments::Segments;
pub(crate) use self::staging::{Staging, StagingSpace};
