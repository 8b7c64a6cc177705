//! The traits of C++'s queues in the table of features, tried with the drivers that measure them.
#![cfg(all(target_os = "linux", feature = "cpp"))]

use ybench_measure::place::Place;
use ybench_measure::scenario::claims;
use ybench_native::LIBRARIES;

#[test]
#[ignore = "nothing of ours: ci/steps/competitors-native runs it"]
fn what_a_library_is_said_to_have_it_has() {
    let place = Place::choose(None).unwrap();
    let (entries, drivers) = (ybench_native::entries(), ybench_native::drivers());
    for name in LIBRARIES.iter().flat_map(|(_, transports)| *transports) {
        let entry = entries.iter().find(|entry| entry.traits.name == *name).expect(name);
        claims::waits_as_it_says(entry, place);
        claims::is_bounded_as_it_says(entry, drivers.iter().find(|one| one.name == *name));
        claims::has_the_handles_it_says(entry, place);
        claims::has_the_batches_it_says(entry, place);
    }
}

#[test]
fn every_queue_that_is_no_variant_stands_under_its_library() {
    let named = |name| LIBRARIES.iter().any(|(_, transports)| transports.contains(&name));
    let not: Vec<&str> = ybench_native::entries()
        .iter()
        .filter(|entry| !entry.traits.variant && !entry.traits.apart)
        .map(|entry| entry.traits.name)
        .filter(|name| !named(*name))
        .collect();
    assert!(not.is_empty(), "{not:?}");
}
