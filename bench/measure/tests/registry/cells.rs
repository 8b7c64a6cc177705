//! The cases: their competitors and groups, and that every message arrives there. Their loops are compiled here, for
//! ours and for some competitors, as they are in the packages that offer them.

use std::sync::Once;

use ybench_measure::frame::Frame;
use ybench_measure::plan;
use ybench_measure::record::{Kind, Round, Session};
use ybench_measure::registry;
use ybench_measure::rounds::{Length, Plan};
use ybench_measure::scenario::cells::drivers::{BYTES, Drivers, between_many, between_two, offer, own_between_tasks};
use ybench_measure::scenario::cells::{Cell, all, grouped_as, named};
use ybench_measure::transport::spinning::Spinning;
use ybench_measure::transport::{Traits, Waits, crossbeam, mpmc, mpsc, rtrb, spsc, tokio_mpsc};

use crate::place;

/// Ours, and one competitor at least for every group.
fn offered() {
    static OFFERED: Once = Once::new();
    OFFERED.call_once(|| offer(some()).unwrap());
}

fn some() -> Vec<Drivers> {
    let mut some = vec![
        between_two::<spsc::Adaptive>(),
        between_two::<spsc::Sleeping>(),
        between_two::<spsc::Spinning>(),
        between_two::<spsc::Bounded>(),
        between_two::<spsc::SpinningBounded>(),
        between_two::<spsc::Roomy>(),
        between_two::<spsc::SpinningRoomy>(),
        between_two::<spsc::Batched>(),
        between_two::<spsc::BatchedBounded>(),
        between_two::<spsc::BatchedRoomy>(),
        between_many::<mpsc::Adaptive>(),
        between_many::<mpsc::Spinning>(),
        between_many::<mpsc::Bounded>(),
        between_many::<mpsc::SpinningBounded>(),
        between_many::<mpmc::Adaptive>(),
        between_many::<mpmc::Roomy>(),
        between_many::<mpmc::Spinning>(),
        between_many::<mpmc::Unbounded>(),
        between_many::<mpmc::SpinningUnbounded>(),
        between_many::<crossbeam::Unbounded>(),
        between_many::<crossbeam::Bounded>(),
        between_many::<tokio_mpsc::Unbounded>(),
        between_two::<Spinning<rtrb::Ring<65_536>, true>>(),
    ];
    some.extend(own_between_tasks());
    some
}

fn frame() -> Frame {
    Frame { limits: Length::Units(1), ..crate::frame(place(), Length::Units(200)) }
}

fn plans(cell: &Cell) -> Vec<Plan> {
    offered();
    let entries: Vec<_> = registry::here().collect();
    plan::every(&cell.scenario, &entries, frame(), &mut Vec::new())
}

fn names(plan: &Plan) -> Vec<&str> {
    let transports = plan.contenders.iter().filter(|one| one.contestant.kind == Kind::Transport);
    transports.map(|one| one.contestant.name.as_str()).collect()
}

fn traits(name: &str) -> Option<Traits> {
    registry::named(name).map(|entry| entry.traits)
}

#[test]
fn no_cell_is_there_twice() {
    for cell in all() {
        let same = all().iter().filter(|other| other.scenario.name == cell.scenario.name).count();
        assert_eq!(same, 1, "{}", cell.scenario.name);
        assert!(!cell.figures.is_empty() && !cell.groups.is_empty(), "{}", cell.scenario.name);
    }
}

#[test]
fn every_case_has_competitors_at_every_size_and_none_twice() {
    for cell in all() {
        let plans = plans(cell);
        if cell.scenario.needs_two_cpus && frame().place.one_cpu() {
            continue;
        }
        assert_eq!(plans.len(), BYTES.len(), "{}", cell.scenario.name);
        for plan in &plans {
            let names = names(plan);
            let once = |name: &&str| names.iter().filter(|other| other == &name).count() == 1;
            assert!(names.len() > 1 && names.iter().all(once), "{}: {names:?}", cell.scenario.name);
            let there = match cell.scenario.name {
                name if name.starts_with("tasks") => names.contains(&"tokio-mpsc-tasks"),
                name => names.contains(&"crossbeam-unbounded") || name.starts_with("batches"),
            };
            assert!(there, "{}: {names:?}", cell.scenario.name);
        }
    }
}

/// Variants of ours are in the groups where they belong. In batches one that can sleep is compared with those that
/// cannot, because there is no other.
#[test]
fn every_group_has_one_of_ours_that_is_measured_there() {
    for cell in all() {
        let plans = plans(cell);
        for (group, plan) in cell.groups.iter().flat_map(|group| plans.iter().map(move |plan| (group, plan))) {
            assert!(!group.ours.is_empty(), "{}: {}", cell.scenario.name, group.name);
            for ours in group.ours {
                let place = format!("{}: {}: {ours}", cell.scenario.name, group.name);
                let traits = &registry::named(ours).unwrap().traits;
                assert!(names(plan).contains(ours) || frame().place.one_cpu(), "{place}");
                let batch = traits.batches && !traits.one_by_one;
                assert!((group.has)(traits) || batch, "{place}");
            }
        }
    }
}

#[test]
fn all_transports_deliver_everything_in_every_case() {
    for cell in all() {
        for plan in plans(cell) {
            for contender in plan.contenders.iter().filter(|one| one.contestant.kind == Kind::Transport) {
                let outcome = (contender.run)(20);
                let place = format!("{} {:?} {}", cell.scenario.name, plan.parameter, contender.contestant.name);
                let outcome = outcome.unwrap_or_else(|fault| panic!("{place} {fault}"));
                assert!(outcome.nanoseconds > 0.0, "{place}");
            }
        }
    }
}

#[test]
fn a_competitor_is_compared_with_those_it_is_like() {
    offered();
    let cell = named("4-to-1").unwrap();
    let plan = plans(cell).remove(0);
    let contenders = plan.contenders.iter().map(|one| one.contestant.clone()).collect();
    let session = Session { contenders, rounds: vec![Round::default()], ..Session::default() };
    let groups = grouped_as(cell, &session, traits);
    let of = |name: &str| groups.iter().find(|group| group.name == name);
    assert!(of("never sleep").is_none(), "a group without a competitor");
    let all = of("can sleep").unwrap();
    assert_eq!(all.ours, ["mpsc", "mpsc-bounded"]);
    assert_eq!(all.competitors, ["crossbeam-unbounded", "crossbeam-bounded", "tokio-mpsc"]);
    assert_eq!(of("can sleep, with a bound").unwrap().competitors, ["crossbeam-bounded"]);
    assert_eq!(of("can sleep, one order of all messages").unwrap().ours, ["mpmc", "mpmc-unbounded"]);
}

#[test]
fn groups_of_the_same_members_are_reported_once() {
    offered();
    let cell = named("2-to-2").unwrap();
    let keep = ["mpmc", "crossbeam-bounded"];
    let plan = plans(cell).remove(0);
    let contenders = plan.contenders.iter().map(|one| one.contestant.clone());
    let contenders = contenders.filter(|one| keep.contains(&one.name.as_str())).collect();
    let groups = grouped_as(cell, &Session { contenders, ..Session::default() }, traits);
    assert_eq!(
        groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(),
        ["can sleep, one order of all messages"]
    );
}

#[test]
fn what_never_sleeps_says_so() {
    for group in all().iter().flat_map(|cell| cell.groups).filter(|group| group.name == "never sleep") {
        for name in group.ours.iter().filter(|name| !name.starts_with("spsc-batch")) {
            assert_eq!(registry::named(name).unwrap().traits.waits, Waits::Spins, "{name}");
        }
    }
}
