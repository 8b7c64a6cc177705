//! Everything the library promises, in one binary: a module for each public concept, and the suites they share. Tests
//! that need a process or an allocator of their own have binaries of their own. For another platform, which is a matter
//! of how a thread sleeps and of where memory comes from, a part of it is enough for every change (`ysuite_few`).
#![cfg(not(ysuite_loom))]
// The suites of every channel are compiled, and no channel wears them.
#![cfg_attr(ysuite_few, allow(dead_code))]

#[cfg(not(any(miri, ysuite_few)))]
mod architecture;
mod asynchronous;
#[cfg(not(ysuite_few))]
mod attached;
#[cfg(not(ysuite_few))]
mod auto_traits;
#[cfg(not(ysuite_few))]
mod batches;
#[cfg(not(ysuite_few))]
mod broadcast;
mod conformance;
#[cfg(not(ysuite_few))]
mod contract;
#[cfg(not(ysuite_few))]
mod disposing;
#[cfg(not(any(miri, ysuite_few)))]
mod documents;
#[cfg(windows)]
mod events;
#[cfg(not(ysuite_few))]
mod futures;
#[cfg(all(feature = "hub", unix))]
mod hub;
#[cfg(all(feature = "in-place", not(any(feature = "statistics", ysuite_few))))]
mod in_place;
mod integrations;
#[cfg(not(ysuite_few))]
mod iterators;
#[cfg(not(ysuite_few))]
mod late;
#[cfg(not(ysuite_few))]
mod mailbox;
#[cfg(not(ysuite_few))]
mod mpmc;
#[cfg(not(ysuite_few))]
mod mpsc;
mod oneshot;
#[cfg(not(ysuite_few))]
mod pool;
#[cfg(all(unix, feature = "futures", not(any(miri, ysuite_few))))]
mod random;
#[cfg(not(ysuite_few))]
mod rendezvous;
#[cfg(not(ysuite_few))]
mod select;
#[cfg(not(ysuite_few))]
mod sharing;
mod signal;
#[cfg(all(target_pointer_width = "64", not(ysuite_few)))]
mod sizes;
#[cfg(not(ysuite_few))]
mod spsc;
// It looks at what is below a frame in use.
#[cfg(not(any(miri, ysuite_few)))]
mod stack;
#[cfg(feature = "statistics")]
mod statistics;
#[path = "../support/mod.rs"]
mod support;
#[cfg(not(any(miri, ysuite_few)))]
mod switching;
mod timer;
mod watch;
#[cfg(not(any(miri, ysuite_few)))]
mod wording;
#[cfg(not(ysuite_few))]
mod ypipe;
