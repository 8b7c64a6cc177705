//! Every queue of C++ passes validation before it is timed, in every scenario that it can take part in, also by a call
//! for each message.
#![cfg(all(target_os = "linux", feature = "cpp"))]

use std::time::{Duration, Instant};

use ybench_measure::place::Place;
use ybench_measure::scenario::Entry;
use ybench_measure::scenario::checks;
use ybench_measure::stage::{Patience, with_patience};

fn check(entry: &Entry, place: Place) -> Result<(), String> {
    // Its only uses are tried in src/d.rs.
    if entry.traits.apart {
        return Ok(());
    }
    checks::in_order(entry, place)?;
    checks::large_messages(entry, place)?;
    checks::on_one_cpu(entry, place.together())?;
    // Without one order it has loops of its own between many, and none for messages by address: src/tests.rs.
    if entry.traits.one_order { checks::between_many(entry, place) } else { Ok(()) }
}

#[test]
#[ignore = "a minute or two, and nothing of ours: ci/steps/competitors-native runs it"]
fn every_queue_of_another_language_delivers_everything_in_order() {
    let place = Place::choose(None).unwrap();
    let patience = Patience { base: Duration::from_secs(5), ..Patience::USUAL };
    let broken: Vec<String> = ybench_native::entries()
        .iter()
        .filter_map(|entry| {
            let start = Instant::now();
            let broken = with_patience(patience, || check(entry, place)).err();
            eprintln!("{} {:.1?} {broken:?}", entry.traits.name, start.elapsed());
            broken
        })
        .collect();
    assert!(broken.is_empty(), "{broken:#?}");
}
