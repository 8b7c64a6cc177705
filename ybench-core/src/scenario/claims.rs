//! Whether a transport has what its [`Traits`](super::Traits) say, tried with the drivers that measure it: for the tests of
//! those that bring guests and show a table of what these have. Each panics with the transport's name where it has not.

use std::thread;
use std::time::Duration;

use super::Entry;
use crate::clock;
use crate::outcome::Metric;
use crate::place::Place;
use crate::scenario::carried;
use crate::scenario::cells::drivers::Drivers;
use crate::transport::{Ends, Shape};

/// The share of a CPU that a receiver takes while a message comes every 5 ms.
fn share(entry: &Entry, place: Place) -> f64 {
    const RATE: f64 = 200.0;
    let outcome = (entry.fixed_rate)(place, 20, RATE);
    let outcome = outcome.unwrap_or_else(|fault| panic!("{} {fault}", entry.traits.name));
    outcome.metrics[&Metric::ReceiverCpu] * RATE / 1e9
}

/// Who sleeps leaves the CPU, and who spins takes it.
///
/// # Panics
/// If it does not.
pub fn waits_as_it_says(entry: &Entry, place: Place) {
    // Where times one way cannot be told, nobody can be asked like this; a spinner would keep a lone CPU from its sender.
    if !entry.traits.one_by_one || place.one_cpu() || clock::one_way(place).is_err() {
        return;
    }
    let name = entry.traits.name;
    match entry.traits.waits.sleeps() {
        true => assert!(share(entry, place) < 0.5, "{name}"),
        // Others may have taken its CPU for a while.
        false => assert!((0..20).any(|_| share(entry, place) > 0.5), "{name}"),
    }
}

/// More than any of them has room for.
const MANY: usize = 200_000;

/// Without a bound no sender waits; with one a sender waits until somebody receives. `drivers` are its own, where it has any.
///
/// # Panics
/// If that is otherwise.
pub fn is_bounded_as_it_says(entry: &Entry, drivers: Option<&Drivers>) {
    let name = entry.traits.name;
    if !entry.traits.one_by_one {
        return;
    }
    if !entry.traits.bounded {
        // Nobody receives while so many are sent.
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

/// Several send, or receive.
///
/// # Panics
/// If not all that was sent arrives.
pub fn has_the_ends_it_says(entry: &Entry, place: Place) {
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
