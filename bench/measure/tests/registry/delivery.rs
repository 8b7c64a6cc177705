//! Every transport delivers every message: in every scenario it can take part in, between as many threads as it has
//! handles for.

use ybench_measure::place::Place;
use ybench_measure::registry;
use ybench_measure::scenario::sources::ONE_AT_A_TIME;
use ybench_measure::scenario::{Entry, carried, checks, idle_senders};
use ybench_measure::transport::Shape;

use crate::place;

fn all_transports(check: fn(&Entry, Place) -> Result<(), String>, place: Place) {
    registry::here().for_each(|entry| check(entry, place).unwrap());
}

#[test]
fn every_transport_delivers_everything_in_order() {
    all_transports(checks::in_order, place());
}

#[test]
fn every_transport_carries_64_kib_by_value_and_by_pointer() {
    all_transports(checks::large_messages, place());
}

#[test]
fn all_transports_deliver_on_one_cpu() {
    all_transports(checks::on_one_cpu, place().together());
}

#[test]
fn all_that_can_deliver_everything_between_many() {
    all_transports(checks::between_many, place());
}

#[test]
fn one_thread_serves_any_number_of_sources() {
    let place = place();
    for entry in registry::here().filter(|entry| (ONE_AT_A_TIME.able)(&entry.traits)) {
        let name = entry.traits.name;
        for (place, sources) in [(place, 1), (place, 40), (place, 130), (place.together(), 5)] {
            let timed = entry.sources.unwrap()(place, sources, 99);
            assert_eq!(timed.unwrap_or_else(|fault| panic!("{name} {fault}")).units, 100);
            let timed = entry.busy_sources.unwrap()(place, sources, 1_000);
            let due = 1_000_u64.div_ceil(sources as u64) * sources as u64;
            assert_eq!(timed.unwrap_or_else(|fault| panic!("{name} {fault}")).units, due);
        }
    }
}

#[test]
fn everything_is_delivered_with_any_number_of_idle_senders() {
    let place = place();
    for entry in registry::here() {
        let Some(driver) = entry.idle_senders.filter(|_| (idle_senders::SCENARIO.able)(&entry.traits)) else {
            continue;
        };
        for (place, idle) in [(place, 0), (place, 200), (place.together(), 3)] {
            let timed = driver(place, idle, 1_000);
            let timed = timed.unwrap_or_else(|fault| panic!("{} {fault}", entry.traits.name));
            assert_eq!(timed.units, 1_000);
        }
    }
}

#[test]
fn two_hundred_threads_send_and_one_receives_everything() {
    let place = place();
    for place in [place, place.together()] {
        for name in ["mpsc", "mpsc-bounded", "mpmc", "std-channel", "mutex-condvar-asleep"] {
            let many = registry::named(name).unwrap().many.unwrap();
            let timed = many(place, Shape::new(200, 1), carried::SMALLEST, 2_000).unwrap();
            assert_eq!(timed.units, 2_000, "{name}");
        }
    }
}
