//! Memory: what takes some and what takes none, what is given back, and what ends although it grows. In a binary of its own,
//! whose allocator counts; pages that come from the kernel directly are counted as system calls.
#![cfg(not(any(ysuite_loom, miri)))]

mod batches;
mod counting;
#[cfg(unix)]
mod facts;
#[cfg(all(feature = "hub", unix))]
mod hubs;
mod idle;
mod lanes;
mod mailboxes;
mod oneshots;
mod pools;
mod signals;
mod streams;
#[path = "../support/mod.rs"]
mod support;
mod watches;

use support::calls;

/// Allocations of this thread, and requests it made of the kernel.
fn requests() -> (u64, u64) {
    // First: the first time it allocates.
    let calls = calls();
    (counting::allocations(), calls)
}
