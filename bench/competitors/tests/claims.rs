//! The transports' own traits in the table of features, each of them tried with the drivers that measure it. One order
//! of all messages is tried in `src/order.rs`.
#![cfg(target_os = "linux")]

use std::sync::Once;

use ybench_competitors::drivers::drivers;
use ybench_competitors::features::KINDS;
use ybench_measure::place::Place;
use ybench_measure::registry;
use ybench_measure::scenario::Entry;
use ybench_measure::scenario::claims;

fn all() -> impl Iterator<Item = &'static Entry> {
    static WELCOME: Once = Once::new();
    WELCOME.call_once(|| registry::welcome(ybench_competitors::entries()).unwrap());
    let names = KINDS.iter().flat_map(|kind| kind.transports);
    // They have the features of an mpmc, and so no column.
    #[cfg(feature = "facades")]
    let names = names.chain(&ybench_competitors::facades::NAMES);
    names.map(|name| registry::named(name).expect(name))
}

#[test]
fn sleeping_leaves_the_cpu_and_spinning_uses_it() {
    let place = Place::choose(None).unwrap();
    all().for_each(|entry| claims::waits_as_it_says(entry, place));
}

#[test]
fn a_sender_waits_where_there_is_a_bound_and_nowhere_else() {
    let drivers = drivers();
    // A transport that is in no case has no drivers.
    all().for_each(|entry| {
        claims::is_bounded_as_it_says(entry, drivers.iter().find(|one| one.name == entry.traits.name));
    });
}

#[test]
fn many_send_and_many_receive() {
    let place = Place::choose(None).unwrap();
    all().for_each(|entry| claims::has_the_handles_it_says(entry, place));
}

#[test]
fn batches_arrive_whole() {
    let place = Place::choose(None).unwrap();
    all().for_each(|entry| claims::has_the_batches_it_says(entry, place));
}
