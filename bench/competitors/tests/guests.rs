//! Every competitor passes validation before it is timed, and can be added to the registry.
#![cfg(target_os = "linux")]

use std::time::{Duration, Instant};

use ybench_competitors::drivers::drivers;
use ybench_measure::place::Place;
use ybench_measure::registry;
use ybench_measure::scenario::Entry;
use ybench_measure::scenario::checks;
use ybench_measure::stage::{Patience, with_patience};
use ybench_measure::transport::Shape;

#[test]
#[ignore = "minutes, and nothing of ours: ci/steps/competitors runs it"]
fn every_competitor_delivers_everything_in_order() {
    let place = Place::choose(None).unwrap();
    let patience = Patience { base: Duration::from_secs(5), ..Patience::USUAL };
    let check = |entry: &Entry| {
        let start = Instant::now();
        let broken = with_patience(patience, || checks::all(entry, place)).err();
        // The slow transport and its position when the time limit of all of them was reached.
        eprintln!("{} {:.1?} {broken:?}", entry.traits.name, start.elapsed());
        broken
    };
    let mut broken: Vec<String> = ybench_competitors::entries().iter().filter_map(check).collect();
    // Loses wake-ups now and then: the head of its file has the reason. The watchdog detects this.
    broken.retain(|sentence| !(sentence.starts_with("nexus-channel") && sentence.contains("did not end within ")));
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
#[ignore = "nothing of ours: ci/steps/competitors runs it"]
fn every_competitor_between_tasks_delivers_everything_in_order() {
    let place = Place::choose(None).unwrap();
    let patience = Patience { base: Duration::from_secs(5), ..Patience::USUAL };
    let entries = ybench_competitors::entries();
    let mut tried = 0;
    for driver in drivers() {
        let Some(entry) = entries.iter().find(|entry| entry.traits.name == driver.name) else { continue };
        for (workers, senders) in [(1, 1), (1, 3), (2, 1), (2, 4)] {
            if !Shape::new(senders, 1).fits(entry.traits.senders, entry.traits.receivers) {
                continue;
            }
            let ran = with_patience(patience, || driver.in_tasks(place, workers, senders, 30_000));
            let Some(ran) = ran else { continue };
            let timed = ran.unwrap_or_else(|fault| panic!("{}, {workers}, {senders}: {fault}", driver.name));
            assert_eq!(timed.units, 30_000, "{}, {workers}, {senders}", driver.name);
            tried += 1;
        }
    }
    assert!(tried > 60, "{tried}");
}

#[test]
fn third_party_transports_are_found_like_all_others_and_only_once() {
    let competitors = ybench_competitors::entries();
    registry::welcome(competitors.clone()).unwrap();
    for competitor in &competitors {
        let name = competitor.traits.name;
        assert_eq!(registry::all().iter().filter(|entry| entry.traits.name == name).count(), 1, "{name}");
        let chosen = registry::chosen(&[name.to_owned()]).unwrap();
        assert_eq!((chosen.len(), chosen[0].traits.name), (1, name));
    }
    assert!(registry::named("spsc").is_some());
    let taken = registry::welcome(competitors[..1].to_vec().repeat(2)).unwrap_err();
    assert_eq!(taken.to_string(), "There is a transport called 'flume-unbounded' already.");
    let late = registry::welcome(competitors).unwrap_err();
    assert_eq!(late.to_string(), "Transports can be added only once, and before the first is looked up.");
}
