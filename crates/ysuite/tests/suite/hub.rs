//! The hub: what is posted, what is watched, what rings, and what happens when they meet. Counts and orders; no times but
//! those that nothing may come before.

mod bad_input;
mod descriptors;
mod forever;
mod forked;
mod hosting;
mod idle;
mod nested;
mod numbers;
mod panics;
mod posting;
mod random;
mod receivers;
mod replaced;
mod stopping;
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
