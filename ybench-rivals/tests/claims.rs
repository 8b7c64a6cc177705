//! What transports say of themselves in the table of features, each claim of each of them, tried with the drivers that
//! measure it. One order of all messages is tried in `src/order.rs`.
#![cfg(target_os = "linux")]

use std::sync::Once;
use std::thread;
use std::time::Duration;

use ybench_core::clock;
use ybench_core::outcome::Metric;
use ybench_core::place::Place;
use ybench_core::scenario::carried;
use ybench_core::transport::registry::{self, Entry};
use ybench_core::transport::{Ends, Shape};
use ybench_rivals::drivers::drivers;
use ybench_rivals::features::KINDS;

fn all() -> impl Iterator<Item = &'static Entry> {
    static WELCOME: Once = Once::new();
    WELCOME.call_once(|| registry::welcome(ybench_rivals::entries()).unwrap());
    KINDS.iter().flat_map(|kind| kind.transports).map(|name| registry::named(name).expect(name))
}

/// The share of a CPU that a receiver takes while a message comes every 5 ms.
fn share(entry: &Entry, place: Place) -> f64 {
    const RATE: f64 = 200.0;
    let outcome = (entry.fixed_rate)(place, 20, RATE);
    let outcome = outcome.unwrap_or_else(|fault| panic!("{} {fault}", entry.traits.name));
    outcome.metrics[&Metric::ReceiverCpu] * RATE / 1e9
}

#[test]
fn who_sleeps_leaves_the_cpu_and_who_spins_takes_it() {
    let place = Place::choose(None).unwrap();
    // Where times one way cannot be told, nobody can be asked like this; a spinner would keep a lone CPU from its sender.
    if place.one_cpu() || clock::one_way(place).is_err() {
        return;
    }
    for entry in all().filter(|entry| entry.traits.one_by_one) {
        let name = entry.traits.name;
        match entry.traits.waits.sleeps() {
            true => assert!(share(entry, place) < 0.5, "{name}"),
            // Others may have taken its CPU for a while.
            false => assert!((0..20).any(|_| share(entry, place) > 0.5), "{name}"),
        }
    }
}

/// More than any of them has room for.
const MANY: usize = 200_000;

#[test]
fn without_a_bound_no_sender_waits() {
    for entry in all().filter(|entry| entry.traits.one_by_one && !entry.traits.bounded) {
        // Nobody receives while so many are sent.
        assert!((entry.held)(MANY as u64).is_ok(), "{}", entry.traits.name);
    }
}

#[test]
fn with_a_bound_a_sender_waits_until_somebody_receives() {
    let drivers = drivers();
    for entry in all().filter(|entry| entry.traits.one_by_one && entry.traits.bounded) {
        // What is not in any cell has no such driver.
        let Some(one) = drivers.iter().find(|one| one.name == entry.traits.name) else { continue };
        let (pour, drain) = one.stream(MANY).unwrap();
        let sending = thread::spawn(pour);
        thread::sleep(Duration::from_millis(50));
        assert!(!sending.is_finished(), "{}", one.name);
        drain().unwrap_or_else(|fault| panic!("{} {fault}", one.name));
        sending.join().unwrap();
    }
}

#[test]
fn many_send_and_many_receive() {
    let place = Place::choose(None).unwrap();
    for entry in all() {
        let (name, traits) = (entry.traits.name, &entry.traits);
        for (there, shape) in [(traits.senders, Shape::new(3, 1)), (traits.receivers, Shape::new(1, 3))] {
            if there == Ends::Many {
                let many = entry.many.expect(name);
                let timed = many(place, shape, carried::SMALLEST, 300);
                assert_eq!(timed.unwrap_or_else(|fault| panic!("{name} {shape} {fault}")).units, 300, "{name} {shape}");
            }
        }
    }
}

#[test]
fn batches_arrive_whole() {
    let place = Place::choose(None).unwrap();
    for entry in all().filter(|entry| entry.traits.batches) {
        let timed = (entry.batches)(place, 5_001, 64);
        assert_eq!(timed.unwrap_or_else(|fault| panic!("{} {fault}", entry.traits.name)).units, 5_001);
    }
}
