//! Simulated results with known truth.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use ybench_measure::outcome::Outcome;
use ybench_measure::place::Place;
use ybench_measure::record::{Contestant, Family, Kind, Quantity, SCHEMA};
use ybench_measure::rounds::{Contender, Course, Length, Plan, Rounds};
use ybench_measure::warnings::Warning;

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
        rounds: Rounds::UntilTight { least: 5, most: 15, budget: Duration::from_secs(3_600) },
        floor: contender(LIMIT, Kind::Limit, 100.0, &machine),
        limit: LIMIT,
        contenders,
    };
    let dice = machine.borrow_mut().dice.fork();
    let mut warnings = Vec::new();
    let stolen = &|_: &[usize]| Some(0.0);
    let mut course = Course {
        progress: &|_| {},
        warnings: &mut warnings,
        dice,
        interrupted: &|| false,
        stolen,
        others: &|_| None,
        warm_up: 0,
        turn: &|| true,
    };
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
    let call = |seed| Comparison::of(&one(old, seed), &one(new, seed + 1_000), &[], Threshold::ANY).rows[0].change;
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
fn without_others_only_more_than_a_factor_of_two_is_called_and_that_every_time() {
    assert_eq!(calls(180.0, 234.0), [Change::Alone; 100]);
    assert_eq!(calls(180.0, 470.0), [Change::Slower; 100]);
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
        let comparison = Comparison::of(&old, &report(vec![session.clone()]), &[], Threshold::ANY);
        assert_eq!((comparison.rows.len(), comparison.only_new, comparison.only_old), (0, 2, 2));
    }
    let comparison = Comparison::of(&old, &report(vec![other_parameter, plain]), &[], Threshold::ANY);
    assert_eq!((comparison.rows.len(), comparison.only_new, comparison.only_old), (2, 2, 0));
    assert!(comparison.rows.iter().all(|row| row.parameter == at(1e3) && row.times.median == 1.0));
}

#[test]
fn a_renamed_transport_is_compared_with_the_one_it_stands_for() {
    let old = report(vec![session(&[("spsc", 180.0)], 2)]);
    let new = report(vec![session(&[("spsc", 180.0), ("spsc-slowed", 470.0)], 3)]);
    assert_eq!(Comparison::of(&old, &new, &[], Threshold::ANY).rows.len(), 1);
    let comparison = Comparison::of(&old, &new, &[("spsc-slowed", "spsc")], Threshold::ANY);
    assert_eq!(comparison.slower(), ["spsc-slowed"]);
    let changes: Vec<_> = comparison.rows.iter().map(|row| (row.old_name.as_deref(), row.change)).collect();
    assert_eq!(changes, [(None, Change::NoneSeen), (Some("spsc"), Change::Slower)]);
    assert_eq!((comparison.only_new, comparison.only_old), (0, 0));
}

#[test]
fn rounds_in_doubt_do_not_add_up_to_a_verdict() {
    let (old, mut new) = (one(180.0, 1), one(400.0, 2));
    new.sessions[0].rounds.iter_mut().skip(4).for_each(|round| round.dropped = Some("the floor moved".into()));
    assert_eq!(Comparison::of(&old, &new, &[], Threshold::ANY).rows[0].change, Change::TooFewRounds);
}

/// How a machine disturbs what runs on it.
#[derive(Clone, Copy)]
struct Weather {
    /// The width of the noise of every figure.
    noise: f64,
    /// The share of figures that another program hits, and how many times as long they may take then.
    hit: f64,
    longer: f64,
    /// How far a transport may be from its speed for a whole run of the program.
    run: f64,
}

const QUIET: Weather = Weather { noise: 0.06, hit: 0.05, longer: 2.0, run: 0.02 };
/// As on a host with a load of 10 on two CPUs, where nobody counts the work of others.
const BUSY: Weather = Weather { noise: 0.5, hit: 0.4, longer: 76.0, run: 0.1 };

const OURS: [&str; 3] = ["spsc", "mpsc", "mpmc"];
const OTHERS: [&str; 8] = ["std", "flume", "kanal", "crossbeam", "pipe", "eventfd", "mutex", "mutex-spin"];

/// One run of the program: two scenarios of all transports, of which `spsc` takes `slower` times as long.
fn a_run(weather: Weather, slower: f64, seed: u64) -> Report {
    let dice = Rc::new(RefCell::new(fastrand::Rng::with_seed(seed)));
    let takes = |name: &str, kind, nanoseconds: f64| {
        let (of_runs, dice) = (Rc::clone(&dice), Rc::clone(&dice));
        let shift = 1.0 + weather.run * (of_runs.borrow_mut().f64() - 0.5);
        let run = move |_| {
            let mut dice = dice.borrow_mut();
            let hit = if dice.f64() < weather.hit { 1.0 + (weather.longer - 1.0) * dice.f64() } else { 1.0 };
            let nanoseconds = nanoseconds * shift * hit * (1.0 + weather.noise * (dice.f64() - 0.5));
            Ok(Outcome { nanoseconds, ..Outcome::default() })
        };
        let family = Some(if OURS.contains(&name) { Family::Ours } else { Family::Crates });
        let contestant = Contestant { family, ..contestant(name, kind) };
        Contender { contestant, length: Length::Units(1), run: Box::new(run) }
    };
    let plan = |scenario: &str| Plan {
        scenario: scenario.into(),
        about: String::new(),
        parameter: None,
        place: Place { first: 0, second: 0 },
        rounds: Rounds::Exactly(25),
        floor: takes(LIMIT, Kind::Limit, 100.0),
        limit: LIMIT,
        contenders: OURS
            .iter()
            .chain(&OTHERS)
            .enumerate()
            .map(|(at, name)| {
                let time = 150.0 + 40.0 * at as f64;
                takes(name, Kind::Transport, if *name == "spsc" { time * slower } else { time })
            })
            .collect(),
    };
    let mut warnings = Vec::new();
    let (dice, stolen) = (fastrand::Rng::with_seed(seed), &|_: &[usize]| Some(0.0));
    let mut course = Course {
        progress: &|_| {},
        warnings: &mut warnings,
        dice,
        interrupted: &|| false,
        stolen,
        others: &|_| None,
        warm_up: 0,
        turn: &|| true,
    };
    let sessions = ["ping-pong", "throughput"].map(|scenario| plan(scenario).measure(&mut course).unwrap().unwrap());
    Report { warnings, ..report(sessions.into()) }
}

fn pair(weather: Weather, slower: f64, number: u64) -> Comparison {
    let (old, new) = (a_run(weather, 1.0, 2 * number), a_run(weather, slower, 2 * number + 1));
    Comparison::of(&old, &new, &[], Threshold::ANY)
}

fn called(comparison: &Comparison) -> Vec<&str> {
    let called = |row: &&Row| matches!(row.change, Change::Slower | Change::Faster);
    comparison.rows.iter().filter(called).map(|row| row.name.as_str()).collect()
}

#[test]
fn thirty_pairs_of_the_same_program_have_no_verdict_on_a_quiet_machine_and_on_a_busy_one() {
    for weather in [QUIET, BUSY] {
        for number in 0..30 {
            let comparison = pair(weather, 1.0, number);
            assert_eq!(comparison.rows.len(), 22);
            assert_eq!(called(&comparison), [""; 0], "{number}: {:?}", comparison.rows);
        }
    }
}

#[test]
fn a_slow_down_of_a_tenth_is_found_in_nine_of_ten_quiet_pairs_and_100_ns_in_all() {
    let (mut found, mut wrong) = (0, 0);
    for number in 100..120 {
        let comparison = pair(QUIET, 1.1, number);
        found += usize::from(comparison.slower() == ["spsc"]);
        wrong += called(&comparison).iter().filter(|name| **name != "spsc").count();
    }
    assert!(found >= 18 && wrong == 0, "{found} of 20, {wrong} wrong");
    for number in 200..210 {
        assert_eq!(called(&pair(QUIET, 250.0 / 150.0, number)), ["spsc"; 2], "{number}");
    }
}

#[test]
fn a_busy_machine_decides_nothing_and_one_result_is_the_same_as_itself() {
    let (old, mut new) = (a_run(QUIET, 1.0, 1), a_run(QUIET, 3.0, 2));
    assert_eq!(called(&Comparison::of(&old, &new, &[], Threshold::ANY)), ["spsc"; 2]);
    new.warnings.push(Warning::Loaded { load: 1.5, cpus: 2 });
    for (one, other) in [(&old, &new), (&new, &old)] {
        let comparison = Comparison::of(one, other, &[], Threshold::ANY);
        assert_eq!((comparison.undecided(), comparison.count(Change::Busy)), (22, 22));
    }
    let comparison = Comparison::of(&new, &new, &[], Threshold::ANY);
    assert_eq!((comparison.count(Change::Same), comparison.undecided()), (22, 0));
}
