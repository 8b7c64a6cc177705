//! The hub: what is posted, what is watched, what rings, and what happens when they meet. Counts and orders; no times but
//! those that nothing may come before.
#![cfg(all(feature = "hub", unix, not(ysuite_loom)))]

#[path = "hub/bad_input.rs"]
mod bad_input;
#[path = "hub/descriptors.rs"]
mod descriptors;
#[path = "hub/forever.rs"]
mod forever;
#[path = "hub/hosting.rs"]
mod hosting;
#[path = "hub/idle.rs"]
mod idle;
#[path = "hub/nested.rs"]
mod nested;
#[path = "hub/numbers.rs"]
mod numbers;
#[path = "hub/panics.rs"]
mod panics;
#[path = "hub/posting.rs"]
mod posting;
#[path = "hub/random.rs"]
mod random;
#[path = "hub/receivers.rs"]
mod receivers;
mod support;
#[path = "hub/timers.rs"]
mod timers;

use std::sync::{Arc, Mutex};

/// What handlers have noted, in their order.
#[derive(Clone, Default)]
struct Notes<T>(Arc<Mutex<Vec<T>>>);

impl<T> Notes<T> {
    fn new() -> Self {
        Self(Arc::default())
    }

    fn note(&self, what: T) {
        self.0.lock().unwrap().push(what);
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    fn taken(&self) -> Vec<T> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}
