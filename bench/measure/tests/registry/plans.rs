//! The competitors of each plan, and the baselines alongside.

use ybench_measure::frame::Frame;
use ybench_measure::limits;
use ybench_measure::place::Place;
use ybench_measure::plan::{every, of};
use ybench_measure::registry;
use ybench_measure::rounds::Length;
use ybench_measure::scenario::{self, Scenario};
use ybench_measure::warnings::Warning;

fn frame(place: Place) -> Frame {
    crate::frame(place, Length::Units(1))
}

fn planned(scenario: &Scenario, place: Place) -> (Vec<String>, Vec<Warning>) {
    let entries: Vec<_> = registry::here().collect();
    let mut warnings = Vec::new();
    let plan = of(scenario, scenario.parameters.first().copied(), &entries, frame(place), &mut warnings);
    let contenders =
        plan.map_or(Vec::new(), |plan| [vec![plan.floor], plan.contenders].into_iter().flatten().collect());
    (contenders.into_iter().map(|contender| contender.contestant.name).collect(), warnings)
}

#[test]
fn two_cpus_have_all_that_can() {
    let (names, warnings) = planned(&scenario::throughput::SCENARIO, Place { first: 0, second: 1 });
    assert!(warnings.is_empty());
    for entry in registry::here().filter(|entry| entry.traits.one_by_one) {
        assert!(names.iter().any(|name| name == entry.traits.name), "{}", entry.traits.name);
    }
    assert!(names.iter().any(|name| name == limits::HAND_OVER.name));
}

#[test]
fn each_scenario_is_guarded_by_a_baseline_of_its_own_kind() {
    let guard = |scenario: &Scenario, place: Place| {
        let entries: Vec<_> = registry::here().collect();
        let plan = of(scenario, scenario.parameters.first().copied(), &entries, frame(place), &mut Vec::new()).unwrap();
        let guard = plan.floor.contestant.name;
        // It is measured once, also where it ranks.
        assert!(!plan.contenders.iter().any(|one| one.contestant.name == guard), "{}", scenario.name);
        assert!(plan.limit == guard || plan.contenders.iter().any(|one| one.contestant.name == plan.limit));
        guard
    };
    let two = Place { first: 0, second: 1 };
    assert_eq!(guard(&scenario::night_watchman::SCENARIO, two), limits::IDLE_WAKE.name);
    assert_eq!(guard(&scenario::fixed_rate::SCENARIO, two), limits::IDLE_WAKE.name);
    assert_eq!(guard(&scenario::latency::SCENARIO, two), limits::IDLE_WAKE.name);
    assert_eq!(guard(&scenario::throughput::SCENARIO, two), limits::HAND_OVER.name);
    assert_eq!(guard(&scenario::ping_pong::ON_ONE_CPU, two), limits::FUTEX_ONE_CPU.name);
    assert_eq!(guard(&scenario::latency::SCENARIO, two.together()), limits::FUTEX_ONE_CPU.name);
}

#[test]
fn one_cpu_leaves_out_whatever_spins_and_says_so() {
    let (names, warnings) = planned(&scenario::throughput::SCENARIO, Place { first: 0, second: 0 });
    assert!(!names.iter().any(|name| name.starts_with("rtrb") || name == limits::HAND_OVER.name), "{names:?}");
    assert!(matches!(&warnings[..], [Warning::SpinnersLeftOut { .. }]));
}

#[test]
fn a_transport_that_never_sleeps_takes_part_where_others_want_its_cpu() {
    let (two, one) = (Place { first: 0, second: 1 }, Place { first: 0, second: 0 });
    let spinners = ["spsc-forever", "mutex-spin", "rtrb-64k"].map(str::to_owned);
    for (scenario, place) in [
        (&scenario::neighbours::SCENARIO, two),
        (&scenario::ping_pong::ON_ONE_CPU, two),
        (&scenario::ping_pong::ON_ONE_CPU, one),
    ] {
        let (names, warnings) = planned(scenario, place);
        assert!(spinners.iter().all(|name| names.contains(name)), "{}: {names:?}", scenario.name);
        assert!(warnings.is_empty(), "{}", scenario.name);
    }
    // There both threads and both neighbours would share the one CPU.
    let (names, warnings) = planned(&scenario::neighbours::SCENARIO, one);
    assert!(!spinners.iter().any(|name| names.contains(name)));
    assert!(matches!(&warnings[..], [Warning::SpinnersLeftOut { .. }]));
}

#[test]
fn a_named_transport_that_takes_no_part_is_reported_once_for_a_scenario() {
    let entries: Vec<_> = ["spsc", "spsc-bounded"].iter().filter_map(|name| registry::named(name)).collect();
    let told = |named| {
        let frame = Frame { named, ..frame(Place { first: 0, second: 1 }) };
        let mut warnings = Vec::new();
        let plans = every(&scenario::burst::SCENARIO, &entries, frame, &mut warnings);
        assert!(plans.len() > 1);
        warnings
    };
    let names = vec!["spsc-bounded".to_owned()];
    assert_eq!(told(true), [Warning::TakesNoPart { scenario: "burst".to_owned(), names }]);
    assert_eq!(told(false), []);
}

#[test]
fn no_limit_is_there_twice() {
    for scenario in scenario::all() {
        for place in [Place { first: 0, second: 1 }, Place { first: 0, second: 0 }] {
            let entries: Vec<_> = registry::here().collect();
            let parameter = scenario.parameters.first().copied();
            let Some(plan) = of(scenario, parameter, &entries, frame(place), &mut Vec::new()) else { continue };
            let mut names: Vec<_> = plan.contenders.iter().map(|one| one.contestant.name.as_str()).collect();
            names.push(&plan.floor.contestant.name);
            assert!(names.contains(&plan.limit), "{}", scenario.name);
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{}", scenario.name);
        }
    }
}
