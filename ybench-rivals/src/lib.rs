//! Other people's channels and queues, as transports of the instrument: guests, which a program welcomes with
//! [`registry::welcome`](ybench_core::transport::registry::welcome). Whoever wants a queue of their own measured does the same.
//!
//! One file for each crate. Its head says in our words how the crate waits, what its documentation recommends, and why it is
//! used as it is here. Nothing here is needed by `ysuite`.
#![cfg(target_os = "linux")]

mod drivers;
mod end;
pub mod flume;

use ybench_core::transport::registry::{Entry, shared};

pub use self::drivers::drivers;

/// Everybody there is.
pub fn entries() -> Vec<Entry> {
    vec![shared::<flume::Unbounded>(), shared::<flume::Bounded>()]
}
