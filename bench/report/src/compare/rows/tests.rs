//! Simulated results with known truth.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use ybench_measure::outcome::Outcome;
use ybench_measure::place::Place;
use ybench_measure::record::{Contestant, Kind, Quantity, SCHEMA};
use ybench_measure::rounds::{Contender, Course, Length, Plan, Rounds};
use ybench_measure::stats::DIFFERENCE;

use super::*;

const LIMIT: &str = "floor";

fn contestant(name: &str, kind: Kind) -> Contestant {
    Contestant { name: name.into(), kind, ..Contestant::default() }
}

/// A machine whose speed drifts, and on which every figure has some noise, and sometimes a lot.
struct Machine {
    dice: fastrand::Rng,
    speed: f64,
}

impl Machine {
    fn takes(&mut self, time: f64) -> f64 {
        self.speed *= 1.0 + 0.01 * (self.dice.f64() - 0.5);
        let slow = if self.dice.f64() < 0.1 { 1.0 + self.dice.f64() } else { 1.0 };
        time * self.speed * slow * (1.0 + 0.1 * (self.dice.f64() - 0.5))
    }
}

fn contender(name: &str, kind: Kind, time: f64, machine: &Rc<RefCell<Machine>>) -> Contender {
    let machine = Rc::clone(machine);
    let run = move |_| Ok(Outcome { nanoseconds: machine.borrow_mut().takes(time), ..Outcome::default() });
    Contender { contestant: contestant(name, kind), length: Length::Units(1), run: Box::new(run) }
}

/// What the runner makes of such a machine, with as many rounds as it wants.
fn measured_on(machine: Machine, those: &[(&str, f64)]) -> Session {
    let machine = Rc::new(RefCell::new(machine));
    let contenders = those.iter().map(|(name, time)| contender(name, Kind::Transport, *time, &machine)).collect();
    let plan = Plan {
        scenario: "ping-pong".into(),
        about: String::new(),
        parameter: None,
        place: Place { first: 0, second: 0 },
        rounds: Rounds::within(Duration::from_secs(3_600)),
        floor: contender(LIMIT, Kind::Limit, 100.0, &machine),
        limit: LIMIT,
        contenders,
    };
    let dice = machine.borrow_mut().dice.fork();
    let mut warnings = Vec::new();
    let stolen = &|_: &[usize]| Some(0.0);
    let mut course = Course { progress: &|_| {}, warnings: &mut warnings, dice, interrupted: &|| false, stolen };
    plan.measure(&mut course).unwrap().unwrap()
}

fn session(those: &[(&str, f64)], seed: u64) -> Session {
    measured_on(Machine { dice: fastrand::Rng::with_seed(seed), speed: 1.0 }, those)
}

fn report(sessions: Vec<Session>) -> Report {
    Report { schema: SCHEMA, sessions, ..Report::default() }
}

fn one(time: f64, seed: u64) -> Report {
    report(vec![session(&[("spsc", time)], seed)])
}

fn calls(old: f64, new: f64) -> Vec<Change> {
    let call = |seed| Comparison::of(&one(old, seed), &one(new, seed + 1_000), &[], DIFFERENCE).rows[0].change;
    (0..100).map(call).collect()
}

#[test]
fn an_unchanged_transport_is_never_called_slower_or_faster() {
    let calls = calls(180.0, 180.0);
    assert!(!calls.iter().any(|call| matches!(call, Change::Slower | Change::Faster)), "{calls:?}");
    // Some rounds scatter more than others.
    assert!(calls.iter().filter(|call| **call == Change::NoneSeen).count() >= 95, "{calls:?}");
}

#[test]
fn a_transport_slower_by_30_percent_is_caught_every_time() {
    assert_eq!(calls(180.0, 234.0), [Change::Slower; 100]);
}

#[test]
fn sessions_match_by_scenario_parameter_and_limit() {
    let mut plain = session(&[("a", 10.0), ("b", 20.0)], 1);
    let at = |value| Some(Parameter { quantity: Quantity::Rate, value });
    plain.parameter = at(1e3);
    let mut other_parameter = plain.clone();
    other_parameter.parameter = at(1e6);
    let mut other_limit = plain.clone();
    other_limit.limit = "a".into();
    let old = report(vec![plain.clone()]);
    for session in [&other_parameter, &other_limit] {
        let comparison = Comparison::of(&old, &report(vec![session.clone()]), &[], DIFFERENCE);
        assert_eq!((comparison.rows.len(), comparison.only_new, comparison.only_old), (0, 2, 2));
    }
    let comparison = Comparison::of(&old, &report(vec![other_parameter, plain]), &[], DIFFERENCE);
    assert_eq!((comparison.rows.len(), comparison.only_new, comparison.only_old), (2, 2, 0));
    assert!(comparison.rows.iter().all(|row| row.parameter == at(1e3) && row.times.median == 1.0));
}

#[test]
fn a_renamed_transport_is_compared_with_the_one_it_stands_for() {
    let old = report(vec![session(&[("spsc", 180.0)], 2)]);
    let new = report(vec![session(&[("spsc", 180.0), ("spsc-slowed", 280.0)], 3)]);
    assert_eq!(Comparison::of(&old, &new, &[], DIFFERENCE).rows.len(), 1);
    let comparison = Comparison::of(&old, &new, &[("spsc-slowed", "spsc")], DIFFERENCE);
    assert_eq!(comparison.slower(), ["spsc-slowed"]);
    let changes: Vec<_> = comparison.rows.iter().map(|row| (row.old_name.as_deref(), row.change)).collect();
    assert_eq!(changes, [(None, Change::NoneSeen), (Some("spsc"), Change::Slower)]);
    assert_eq!((comparison.only_new, comparison.only_old), (0, 0));
}

#[test]
fn rounds_in_doubt_do_not_add_up_to_a_verdict() {
    let (old, mut new) = (one(180.0, 1), one(400.0, 2));
    new.sessions[0].rounds.iter_mut().skip(4).for_each(|round| round.dropped = Some("the floor moved".into()));
    assert_eq!(Comparison::of(&old, &new, &[], DIFFERENCE).rows[0].change, Change::TooFewRounds);
}
