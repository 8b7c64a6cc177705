//! Waiting: who waits, how each of them is woken, how long to look before sleeping, and the waits themselves.
//!
//! One end of its own word waits in [`one`]; several that wait for the same thing, of an exchange or a pool, wait in [`many`],
//! on a [list](WaitList). Nothing here knows of messages.

mod backoff;
mod list;
pub(crate) mod many;
pub(crate) mod one;
mod slots;
mod subscription;
mod target;
mod vacancies;
mod waiter_target;

pub use self::backoff::Spin;
pub(crate) use self::backoff::{Backoff, SharedBackoff, look_for_a_moment};
pub(crate) use self::list::WaitList;
pub(crate) use self::subscription::Subscriptions;
pub(crate) use self::target::{Parker, WakeTarget};
