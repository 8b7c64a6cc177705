//! The broadcast: every receiver gets every message in one order, and what becomes of a slow one.

mod attached;
mod bounds;
mod endings;
mod evicted;
mod foreign;
mod order;
mod permits;
mod random;
mod selected;
mod tasks;
mod waiting;

use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

use ysuite::broadcast::{Receiver, Sender};

/// How many messages and copies of messages there are, and how many copies were made.
#[derive(Clone, Default)]
struct Census(Arc<Counts>);

#[derive(Default)]
struct Counts {
    alive: AtomicIsize,
    copies: AtomicUsize,
}

/// A message that is counted for as long as it is there, and so is each of its copies.
#[derive(Debug)]
struct Citizen {
    number: u64,
    census: Census,
}

impl std::fmt::Debug for Census {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} alive", self.alive())
    }
}

impl Census {
    fn message(&self, number: u64) -> Citizen {
        self.0.alive.fetch_add(1, Ordering::Relaxed);
        Citizen { number, census: self.clone() }
    }

    fn alive(&self) -> isize {
        self.0.alive.load(Ordering::Relaxed)
    }

    fn copies(&self) -> usize {
        self.0.copies.load(Ordering::Relaxed)
    }
}

impl Clone for Citizen {
    fn clone(&self) -> Self {
        self.census.0.copies.fetch_add(1, Ordering::Relaxed);
        self.census.message(self.number)
    }
}

impl Drop for Citizen {
    fn drop(&mut self) {
        assert!(self.census.0.alive.fetch_sub(1, Ordering::Relaxed) > 0, "dropped twice");
    }
}

/// A channel that is bounded, or lossy.
fn pair<T>(is_lossy: bool, capacity: usize) -> (Sender<T>, Receiver<T>) {
    if is_lossy { ysuite::broadcast::lossy(capacity) } else { ysuite::broadcast::bounded(capacity) }
}
