//! Waiting: which handles wait, how each of them is woken, how long to spin before sleeping, and the waits themselves.
//!
//! A handle that one thread uses has a word of its own and waits in [`one`]. Handles that several threads use, those of
//! an mpmc channel or a pool, wait for the same thing in [`many`], on a [list](WaitList). This module knows nothing of
//! messages.

mod backoff;
mod list;
pub(crate) mod many;
#[cfg(all(test, ysuite_loom))]
mod models;
pub(crate) mod one;
mod regions;
mod slots;
mod subscription;
mod target;
mod vacancies;
mod waiter_target;
mod yields;

pub use self::backoff::Spin;
pub(crate) use self::backoff::{Backoff, SMALL, SharedBackoff, spin_for_a_moment};
#[cfg(feature = "mpmc")]
pub(crate) use self::list::ListState;
pub(crate) use self::list::WaitList;
pub(crate) use self::subscription::Subscriptions;
pub(crate) use self::target::{Parker, WakeTarget};
