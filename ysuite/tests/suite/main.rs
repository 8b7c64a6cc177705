//! Everything the library promises, in one binary: a module for each public concept, and the suites they share. What needs
//! a process or an allocator of its own has a binary of its own beside this one.
#![cfg(not(ysuite_loom))]

#[cfg(not(miri))]
mod architecture;
mod asynchronous;
mod attached;
mod auto_traits;
mod batches;
mod broadcast;
mod conformance;
mod contract;
mod disposing;
#[cfg(not(miri))]
mod documents;
#[cfg(all(feature = "hub", unix))]
mod hub;
#[cfg(all(feature = "in-place", not(feature = "statistics")))]
mod in_place;
mod integrations;
mod iterators;
mod late;
mod mailbox;
mod mpmc;
mod mpsc;
mod oneshot;
mod pool;
#[cfg(all(unix, feature = "futures", not(miri)))]
#[cfg(not(ysuite_few))]
mod random;
mod rendezvous;
mod select;
mod sharing;
mod signal;
#[cfg(target_pointer_width = "64")]
mod sizes;
mod spsc;
#[cfg(feature = "statistics")]
mod statistics;
#[path = "../support/mod.rs"]
mod support;
mod timer;
mod watch;
mod ypipe;
