//! **exchange**: a bounded queue for many writers and many readers, in one total order, with passive synchronisation for
//! many sleepers on both sides.
//!
//! Two parts that know nothing of each other: the [`Ring`] holds the messages, a [`Roster`] for each side holds those who
//! wait. Any thread may do anything; everything is lock-free, nothing waits for a thread that has been preempted, and
//! nothing makes a system call but the sleeper's heavy barrier. The exchange never sleeps and never wakes anybody: it
//! reports who is to be woken.
//!
//! What it cannot do: give out what lies behind a message that is still being written. That is "nothing to be had yet", as
//! is an empty ring ([`Ring::is_empty`] tells them apart); whoever finishes that message looks at the roster.
//!
//! Sources: the ring is Dmitry Vyukov's bounded MPMC queue, with claims of several cells at once; the roster's word is the
//! pipe's passive word, for many publishers.

mod ring;
mod staging;

pub(crate) use self::ring::{Rejected, Ring};
pub(crate) use self::staging::Staging;
