//! The channels and the spsc queue under the model checker: every interleaving, and every reordering the memory model
//! allows, up to a number of preemptions. Groups have two slots and chunks two groups here, so that a handful of
//! messages crosses all their borders.
//!
//! Run with `ci/steps/loom`. The models of the signalers' own parts are next to them, in the crate.
#![cfg(ysuite_loom)]

mod attached;
mod broadcast;
mod broadcast_permits;
mod closed;
mod cut;
mod detach;
mod empty;
#[cfg(feature = "hub")]
mod ends;
mod exchange;
mod exchange_close;
mod exchange_force;
mod exchange_permits;
mod funnel;
#[cfg(feature = "hub")]
mod hub;
#[cfg(feature = "in-place")]
mod in_place;
mod mailbox;
#[cfg(ysuite_shuttle)]
#[path = "../shuttle/many.rs"]
mod many;
mod oneshot;
mod pipe;
mod pool;
mod refused;
mod rendezvous;
mod runner;
mod segments;
mod select;
mod slow_sender;
mod timer;
mod watch;
mod weak;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use runner::{model, model_up_to};

/// A message that counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
