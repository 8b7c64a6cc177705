//! Whether a transport has the properties of its [`Traits`](super::Traits), tried with the drivers that measure it: for
//! the tests of third-party competitors and their feature tables. Each function panics with the transport's name if it
//! has not.

use std::thread;
use std::time::Duration;

use super::Entry;
use crate::clock;
use crate::outcome::Metric;
use crate::place::Place;
use crate::scenario::carried;
use crate::scenario::cells::drivers::Drivers;
use crate::transport::{Ends, Shape};

/// The share of a CPU that a receiver uses while a message comes every 5 ms.
fn share(entry: &Entry, place: Place) -> f64 {
    const RATE: f64 = 200.0;
    let outcome = (entry.fixed_rate)(place, 20, RATE);
    let outcome = outcome.unwrap_or_else(|fault| panic!("{} {fault}", entry.traits.name));
    outcome.metrics[&Metric::ReceiverCpu] * RATE / 1e9
}

/// A transport that sleeps leaves the CPU free, and one that spins uses it.
///
/// # Panics
/// If it does not.
pub fn waits_as_it_says(entry: &Entry, place: Place) {
    // Without times one way this cannot be measured. A spinner would keep a single CPU from its sender.
    if !entry.traits.one_by_one || place.one_cpu() || clock::one_way(place).is_err() {
        return;
    }
    let name = entry.traits.name;
    match entry.traits.waits.sleeps() {
        true => assert!(share(entry, place) < 0.5, "{name}"),
        // Other threads may have used its CPU for a while.
        false => assert!((0..20).any(|_| share(entry, place) > 0.15), "{name}"),
    }
}

/// More than any of them has room for.
const MANY: usize = 200_000;

/// Without a bound no sender waits. With one a sender waits until a receiver takes a message. `drivers` are its own,
/// where it has any.
///
/// # Panics
/// If it does otherwise.
pub fn is_bounded_as_it_says(entry: &Entry, drivers: Option<&Drivers>) {
    let name = entry.traits.name;
    if !entry.traits.one_by_one {
        return;
    }
    if !entry.traits.bounded {
        // No thread receives during these sends.
        assert!((entry.held)(MANY as u64).is_ok(), "{name}");
    } else if let Some(drivers) = drivers {
        let (pour, drain) = drivers.stream(MANY).unwrap_or_else(|fault| panic!("{name} {fault}"));
        let sending = thread::spawn(pour);
        thread::sleep(Duration::from_millis(50));
        assert!(!sending.is_finished(), "{name}");
        drain().unwrap_or_else(|fault| panic!("{name} {fault}"));
        sending.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
}

/// Several threads send, or receive.
///
/// # Panics
/// If not every sent message arrives.
pub fn has_the_handles_it_says(entry: &Entry, place: Place) {
    let (name, traits) = (entry.traits.name, &entry.traits);
    for (there, shape) in [(traits.senders, Shape::new(3, 1)), (traits.receivers, Shape::new(1, 3))] {
        if there == Ends::Many {
            let many = entry.many.unwrap_or_else(|| panic!("{name} has no driver between many"));
            let timed = many(place, shape, carried::SMALLEST, 300);
            assert_eq!(timed.unwrap_or_else(|fault| panic!("{name} {shape} {fault}")).units, 300, "{name} {shape}");
        }
    }
}

/// Batches arrive whole.
///
/// # Panics
/// If they do not.
pub fn has_the_batches_it_says(entry: &Entry, place: Place) {
    if entry.traits.batches {
        let timed = (entry.batches)(place, 5_001, 64);
        assert_eq!(timed.unwrap_or_else(|fault| panic!("{} {fault}", entry.traits.name)).units, 5_001);
    }
}
