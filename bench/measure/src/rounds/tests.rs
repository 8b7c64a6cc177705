//! The runner, with competitors whose figures are known.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use super::*;
use crate::record::{Contestant, Kind};
use crate::stage::Timed;

fn contestant(name: &str, kind: Kind) -> Contestant {
    Contestant { name: name.into(), kind, ..Contestant::default() }
}

fn steady(name: &str, nanoseconds: u64) -> Contender {
    let run = move |units| Ok(Timed { elapsed: Duration::from_nanos(nanoseconds * units), units }.into());
    Contender { contestant: contestant(name, Kind::Transport), length: Length::Units(10), run: Box::new(run) }
}

fn plan(rounds: u32, floor: Contender, contenders: Vec<Contender>) -> Plan {
    adaptive(Rounds::Exactly(rounds), floor, contenders)
}

fn adaptive(rounds: Rounds, floor: Contender, contenders: Vec<Contender>) -> Plan {
    let place = Place::choose(None).unwrap();
    Plan {
        scenario: "test".into(),
        about: String::new(),
        parameter: None,
        place,
        rounds,
        floor,
        limit: "baseline",
        contenders,
    }
}

fn measure(plan: Plan) -> (Result<Session, Error>, Vec<Warning>) {
    let (session, warnings) = measure_until(plan, 1, &|| false);
    (session.map(|session| session.expect("it was not interrupted")), warnings)
}

type Measured = (Result<Option<Session>, Error>, Vec<Warning>);

fn measure_until(plan: Plan, seed: u64, interrupted: &dyn Fn() -> bool) -> Measured {
    let mut warnings = Vec::new();
    let dice = fastrand::Rng::with_seed(seed);
    let mut course = Course {
        progress: &|_| {},
        warnings: &mut warnings,
        dice,
        interrupted,
        stolen: &|_| Some(0.0),
        others: &|_| None,
        warm_up: 0,
        turn: &|| true,
    };
    let session = plan.measure(&mut course);
    (session, warnings)
}

fn orders(session: &Session) -> Vec<String> {
    session.rounds.iter().map(|round| round.order.join(" ")).collect()
}

#[test]
fn plans_together_take_turns_until_each_has_its_rounds() {
    let named = |scenario: &str, rounds| Plan {
        scenario: scenario.to_owned(),
        ..plan(rounds, steady("baseline", 10), vec![steady(&format!("of {scenario}"), 20)])
    };
    let (turns, mut warnings) = (std::cell::RefCell::new(Vec::new()), Vec::new());
    let told = |name: &str| {
        if name.starts_with("of") {
            turns.borrow_mut().push(name.to_owned());
        }
    };
    let dice = fastrand::Rng::with_seed(1);
    let stolen = &|_: &[usize]| Some(0.0);
    let mut course = Course {
        progress: &told,
        warnings: &mut warnings,
        dice,
        interrupted: &|| false,
        stolen,
        others: &|_| None,
        warm_up: 0,
        turn: &|| true,
    };
    let sessions = together(vec![named("a", 1), named("b", 3)], &mut course).unwrap();
    let rounds: Vec<_> = sessions.iter().map(|one| (one.scenario.as_str(), one.rounds.len())).collect();
    assert_eq!(rounds, [("a", 1), ("b", 3)]);
    // Both warm up before the first round.
    assert_eq!(*turns.borrow(), ["of a", "of b", "of a", "of b", "of b", "of b"]);
}

#[test]
fn every_round_has_all_competitors_in_an_order_of_its_own() {
    let all = || ["a", "b", "c", "d"].map(|name| steady(name, 20)).into();
    let shuffled = |seed| {
        let (session, _) = measure_until(plan(20, steady("baseline", 10), all()), seed, &|| false);
        let session = session.unwrap().unwrap();
        assert_eq!(session.series("b"), [Some(20.0); 20]);
        assert_eq!(session.series("baseline"), [Some(10.0); 20]);
        assert_eq!(session.ratio("b", "baseline").unwrap().median, 2.0);
        assert_eq!(session.stopped, Some(Stopped::Rounds));
        orders(&session)
    };
    let first = shuffled(1);
    for order in &first {
        let mut names: Vec<_> = order.split(' ').collect();
        names.sort_unstable();
        assert_eq!(names, ["a", "b", "c", "d"]);
    }
    assert_eq!(first, shuffled(1), "the seed in the result fixes the order");
    assert_ne!(first, shuffled(2));
    for name in ["a", "b", "c", "d"] {
        assert!(first.iter().any(|order| order.starts_with(name)), "{name} is never the first: {first:?}");
    }
}

/// A baseline whose runs, after the one that warms up, take these nanoseconds per message: three at each end of a
/// round. Runs beyond the list take 10.
fn baseline_of(times: &'static [u64]) -> Contender {
    let runs = Rc::new(Cell::new(0usize));
    let run = move |units| {
        let nanoseconds = runs.get().checked_sub(1).and_then(|at| times.get(at)).copied().unwrap_or(10);
        runs.set(runs.get() + 1);
        Ok(Timed { elapsed: Duration::from_nanos(nanoseconds * units), units }.into())
    };
    Contender { contestant: contestant("baseline", Kind::Limit), length: Length::Units(10), run: Box::new(run) }
}

/// A baseline that doubles between the ends of the second round only.
fn baseline_that_moves_once() -> Contender {
    baseline_of(&[10, 10, 10, 10, 10, 10, 10, 10, 10, 20, 20, 20])
}

#[test]
fn a_baseline_is_the_least_of_three_short_runs() {
    let (session, _) = measure(plan(1, baseline_of(&[40, 10, 30, 11, 90, 70]), vec![steady("a", 20)]));
    let session = session.unwrap();
    assert_eq!((session.rounds[0].floor_before, session.rounds[0].floor_after), (10.0, 11.0));
    assert_eq!((session.rounds[0].dropped.as_deref(), session.series("baseline")), (None, vec![Some(10.5)]));
    assert_eq!(session.contestant("baseline").unwrap().units_per_run, 4, "a third of ten, rounded up");
}

#[test]
fn a_round_whose_baseline_moved_does_not_count_and_is_reported() {
    let (session, warnings) = measure(plan(3, baseline_that_moves_once(), vec![steady("a", 20)]));
    let session = session.unwrap();
    assert_eq!(session.counted().count(), 2);
    assert!(session.rounds[1].dropped.is_some());
    let said = warnings.iter().any(|warning| matches!(warning, Warning::RoundsDropped { dropped: 1, of: 3, .. }));
    assert!(said, "{warnings:?}");
}

#[test]
fn a_round_from_which_time_was_stolen_does_not_count_and_is_said() {
    let (asked, mut warnings) = (Cell::new(0), Vec::new());
    // At both ends of each of three rounds; a second is gone at the end of the second one.
    let stolen = |_: &[usize]| {
        asked.set(asked.get() + 1);
        Some(if asked.get() < 4 { 7.0 } else { 8.0 })
    };
    let dice = fastrand::Rng::with_seed(1);
    let mut course = Course {
        progress: &|_| {},
        warnings: &mut warnings,
        dice,
        interrupted: &|| false,
        stolen: &stolen,
        others: &|_| None,
        warm_up: 0,
        turn: &|| true,
    };
    let session = plan(3, steady("baseline", 10), vec![steady("a", 20)]).measure(&mut course).unwrap().unwrap();
    let counts: Vec<_> = session.rounds.iter().map(|round| (round.stolen_seconds, round.dropped.is_none())).collect();
    assert_eq!(counts, [(Some(0.0), true), (Some(1.0), false), (Some(0.0), true)]);
    assert!(matches!(&warnings[..], [Warning::RoundsDropped { dropped: 1, of: 3, .. }]), "{warnings:?}");
}

#[test]
fn a_round_knows_on_how_many_cpus_it_was() {
    let place = Place::choose(None).unwrap().cpus();
    let of = |more: &[usize]| {
        let mut many = steady("a", 20);
        many.contestant.cpus = [&place[..], more].concat();
        let session = measure(plan(1, steady("baseline", 10), vec![many])).0.unwrap();
        session.rounds[0].cpus
    };
    assert_eq!([of(&[]), of(&[9_998, 9_999])], [Some(place.len()), Some(place.len() + 2)]);
}

#[test]
fn if_no_round_is_good_all_are_kept_and_it_is_said() {
    let calls = Rc::new(Cell::new(0u64));
    let run = move |units| {
        calls.set(calls.get() + 1);
        Ok(Timed { elapsed: Duration::from_nanos(units << calls.get()), units }.into())
    };
    let floor =
        Contender { contestant: contestant("baseline", Kind::Limit), length: Length::Units(10), run: Box::new(run) };
    let (session, warnings) = measure(plan(2, floor, vec![steady("a", 20)]));
    assert_eq!(session.unwrap().counted().count(), 2);
    assert!(warnings.iter().any(|warning| matches!(warning, Warning::AllRoundsDoubtful { of: 2, .. })), "{warnings:?}");
}

#[test]
fn a_competitor_that_cannot_run_here_is_left_out() {
    let run = |_| Err(Fault::System(std::io::Error::from_raw_os_error(1)));
    let unable =
        Contender { contestant: contestant("unable", Kind::Limit), length: Length::Units(1), run: Box::new(run) };
    let (session, warnings) = measure(plan(1, steady("baseline", 10), vec![unable, steady("a", 20)]));
    assert!(session.unwrap().contestant("unable").is_none());
    assert!(matches!(&warnings[..], [Warning::Unavailable { name, .. }, ..] if name == "unable"), "{warnings:?}");
}

#[test]
fn a_competitor_that_fails_validation_ends_the_run_by_name() {
    let run = |_| Err(Fault::Lost { expected: 7 });
    let liar =
        Contender { contestant: contestant("liar", Kind::Transport), length: Length::Units(1), run: Box::new(run) };
    let (session, _) = measure(plan(1, steady("baseline", 10), vec![liar]));
    let error = session.unwrap_err();
    assert_eq!(error.exit_status(), 1);
    assert_eq!(error.to_string(), "liar ended its stream before message 7 had arrived.");
}

#[test]
fn a_machine_that_changes_its_state_between_rounds_is_said() {
    let (session, warnings) = measure(plan(2, baseline_of(&[10, 10, 10, 10, 10, 10, 14, 14, 14, 14, 14, 14]), vec![]));
    assert_eq!(session.unwrap().sound(), 2);
    let expected = Warning::SeveralStates { scenario: "test".into(), least: 10.0, most: 14.0 };
    assert_eq!(warnings, [expected]);
    let (_, warnings) = measure(plan(2, baseline_of(&[10, 10, 10, 10, 10, 10, 12, 12, 12, 12, 12, 12]), vec![]));
    assert_eq!(warnings, []);
}

const LONG: Duration = Duration::from_secs(3_600);

fn until_tight(most: u32, budget: Duration) -> Rounds {
    Rounds::UntilTight { least: 5, most, budget }
}

#[test]
fn steady_figures_need_the_least_number_of_rounds() {
    let (session, _) = measure(adaptive(until_tight(100, LONG), steady("baseline", 10), vec![steady("a", 20)]));
    let session = session.unwrap();
    assert_eq!((session.rounds.len(), session.stopped), (5, Some(Stopped::Tight)));
}

#[test]
fn dropped_rounds_are_repeated() {
    let (session, _) = measure(adaptive(until_tight(100, LONG), baseline_that_moves_once(), vec![steady("a", 20)]));
    let session = session.unwrap();
    assert_eq!((session.rounds.len(), session.sound(), session.stopped), (6, 5, Some(Stopped::Tight)));
}

/// Figures that are spread over 40 % without end.
#[test]
fn rounds_with_warnings_are_replaced_up_to_the_maximum() {
    let sound = |floor, most| {
        let (session, _) = measure(adaptive(Rounds::Sound { wanted: 3, most }, floor, vec![steady("a", 20)]));
        let session = session.unwrap();
        assert_eq!(session.stopped, Some(Stopped::Rounds));
        (session.sound(), session.rounds.len())
    };
    assert_eq!(sound(steady("baseline", 10), 6), (3, 3));
    assert_eq!(sound(baseline_that_moves_once(), 6), (3, 4));
    assert_eq!(sound(baseline_that_moves_once(), 3), (2, 3));
}

fn unsteady(name: &str) -> Contender {
    let dice = Rc::new(std::cell::RefCell::new(fastrand::Rng::with_seed(1)));
    let run = move |units| {
        let nanoseconds = dice.borrow_mut().u64(100..140);
        Ok(Timed { elapsed: Duration::from_nanos(nanoseconds * units), units }.into())
    };
    Contender { contestant: contestant(name, Kind::Transport), length: Length::Units(10), run: Box::new(run) }
}

#[test]
fn unsteady_figures_have_more_rounds_until_the_interval_is_tight() {
    let (session, _) = measure(adaptive(until_tight(1_000, LONG), steady("baseline", 10), vec![unsteady("a")]));
    let session = session.unwrap();
    assert_eq!(session.stopped, Some(Stopped::Tight));
    assert!(session.rounds.len() > 5, "{}", session.rounds.len());
    assert!(session.interval("a", "baseline").unwrap().half_width() <= TIGHT);
}

#[test]
fn the_rounds_and_the_time_are_limited() {
    let ends = |rounds| {
        let (session, _) = measure(adaptive(rounds, steady("baseline", 10), vec![unsteady("a")]));
        let session = session.unwrap();
        (session.rounds.len(), session.stopped)
    };
    assert_eq!(ends(until_tight(6, LONG)), (6, Some(Stopped::Rounds)));
    // Even after the time is used up, there are enough rounds for a verdict.
    assert_eq!(ends(until_tight(100, Duration::ZERO)), (5, Some(Stopped::Time)));
}

#[test]
fn the_time_is_shared_by_the_number_of_runs() {
    let mut plans = vec![
        plan(1, steady("baseline", 10), vec![steady("a", 20)]),
        plan(1, steady("baseline", 10), ["a", "b", "c", "d"].map(|name| steady(name, 20)).into()),
    ];
    share(&mut plans, crate::stats::LEAST_ROUNDS as u32, 9.0);
    let rounds: Vec<Rounds> = plans.iter().map(|plan| plan.rounds).collect();
    assert_eq!(rounds, [3, 6].map(|seconds| Rounds::within(Duration::from_secs(seconds))));
}

/// Interrupted from inside the run of this number.
fn interrupted_in_run(number: u32) -> Measured {
    let runs = Rc::new(Cell::new(0));
    let counted = Rc::clone(&runs);
    let run = move |units| {
        counted.set(counted.get() + 1);
        Ok(Timed { elapsed: Duration::from_nanos(20 * units), units }.into())
    };
    let a = Contender { contestant: contestant("a", Kind::Transport), length: Length::Units(10), run: Box::new(run) };
    measure_until(plan(7, steady("baseline", 10), vec![a]), 1, &|| runs.get() >= number)
}

#[test]
fn an_interrupted_session_ends_with_the_rounds_it_has() {
    // The first run is the warm-up, and each round has one: the fourth is in the third round.
    let (session, _) = interrupted_in_run(4);
    let session = session.unwrap().unwrap();
    assert_eq!((session.rounds.len(), session.stopped), (2, Some(Stopped::Interrupted)));
    assert_eq!(session.series("a"), [Some(20.0); 2]);
}

#[test]
fn a_session_without_a_complete_round_is_left_out() {
    for run in [0, 1, 2] {
        let (session, warnings) = interrupted_in_run(run);
        assert!(session.unwrap().is_none(), "{run}");
        assert_eq!(warnings, []);
    }
}

#[test]
fn a_length_grows_to_what_is_needed_and_no_further() {
    let (short, long) = (Duration::from_millis(1), Duration::from_secs(1));
    assert_eq!(Length::Units(3).at_least(long, 5), Length::Units(5));
    assert_eq!(Length::Units(8).at_least(long, 5), Length::Units(8));
    assert_eq!(Length::Time(short).at_least(long, 5), Length::TimeAndUnits(long, 5));
    assert_eq!(Length::TimeAndUnits(long, 8).at_least(short, 5), Length::TimeAndUnits(long, 8));
    assert_eq!(Length::TimeAndUnits(short, 5).at_least(short, 8), Length::TimeAndUnits(short, 8));
}

/// A third-party competitor whose `bad` run, counted from the one that warms up, ends in this way.
fn guest(name: &str, bad: usize, ends: fn() -> Result<Timed, Fault>) -> Contender {
    let runs = Cell::new(0);
    let run = move |units| {
        runs.set(runs.get() + 1);
        let timed = Timed { elapsed: Duration::from_nanos(20 * units), units };
        if runs.get() > bad { ends().map(Into::into) } else { Ok(timed.into()) }
    };
    Contender { run: guests::watched(Box::new(run)), ..steady(name, 20) }
}

#[test]
fn a_third_party_that_fails_validation_is_taken_out_and_the_others_go_on() {
    let all = vec![
        steady("a", 20),
        guest("loses at first", 0, || Err(Fault::Lost { expected: 7 })),
        guest("loses later", 2, || Err(Fault::Lost { expected: 8 })),
        guest("panics", 3, || panic!("at {}", 9)),
        guest("is sound", 99, || Err(Fault::Lost { expected: 9 })),
    ];
    let (session, warnings) = measure(plan(5, steady("baseline", 10), all));
    let session = session.unwrap();
    let names: Vec<_> = session.contenders.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["baseline", "a", "is sound"]);
    assert_eq!((session.rounds.len(), session.series("is sound")), (5, vec![Some(20.0); 5]));
    for round in &session.rounds {
        assert_eq!((round.order.len(), round.nanoseconds.len()), (2, 3), "{round:?}");
    }
    let mut said: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    said.sort_unstable();
    assert_eq!(
        said,
        [
            "test: loses at first was taken out: it ended its stream before message 7 had arrived.",
            "test: loses later was taken out: it ended its stream before message 8 had arrived.",
            "test: panics was taken out: it panicked: at 9.",
        ]
    );
}

#[test]
fn a_third_party_that_broke_its_word_takes_no_part_in_later_sessions() {
    let runs = Rc::new(Cell::new(0));
    let counted = Rc::clone(&runs);
    let count = move |units| {
        counted.set(counted.get() + 1);
        Ok(Timed { elapsed: Duration::from_nanos(20 * units), units }.into())
    };
    let mut warnings = Vec::new();
    let mut course = Course {
        progress: &|_| {},
        warnings: &mut warnings,
        dice: fastrand::Rng::with_seed(1),
        interrupted: &|| false,
        stolen: &|_| None,
        others: &|_| None,
        warm_up: 0,
        turn: &|| true,
    };
    let liar = guest("liar", 0, || Err(Fault::Lost { expected: 7 }));
    plan(1, steady("baseline", 10), vec![liar, steady("a", 20)]).measure(&mut course).unwrap().unwrap();
    let later = plan(
        1,
        steady("baseline", 10),
        vec![Contender { run: Box::new(count), ..steady("liar", 20) }, steady("a", 20)],
    );
    let session = later.measure(&mut course).unwrap().unwrap();
    assert_eq!((runs.get(), session.contenders.len()), (0, 2));
}

#[test]
fn rounds_of_a_warm_up_do_not_count() {
    let mut warnings = Vec::new();
    let mut course = Course {
        progress: &|_| {},
        warnings: &mut warnings,
        dice: fastrand::Rng::with_seed(1),
        interrupted: &|| false,
        stolen: &|_| Some(0.0),
        others: &|_| None,
        warm_up: 1,
        turn: &|| true,
    };
    // It moves in its second round, which is the first that counts.
    let plan = plan(2, baseline_that_moves_once(), vec![steady("a", 20)]);
    let session = plan.measure(&mut course).unwrap().unwrap();
    let counts: Vec<bool> = session.rounds.iter().map(|round| round.dropped.is_none()).collect();
    assert_eq!(counts, [false, true]);
}

#[test]
fn a_round_beside_other_programs_does_not_count() {
    let (asked, mut warnings) = (Cell::new(0), Vec::new());
    let others = |_: &[usize]| {
        asked.set(asked.get() + 1);
        Some(if asked.get() < 4 { 7.0 } else { 8.0 })
    };
    let mut course = Course {
        progress: &|_| {},
        warnings: &mut warnings,
        dice: fastrand::Rng::with_seed(1),
        interrupted: &|| false,
        stolen: &|_| Some(0.0),
        others: &others,
        warm_up: 0,
        turn: &|| true,
    };
    let session = plan(3, steady("baseline", 10), vec![steady("a", 20)]).measure(&mut course).unwrap().unwrap();
    let counts: Vec<_> =
        session.rounds.iter().map(|round| (round.seconds_of_others, round.dropped.is_none())).collect();
    assert_eq!(counts, [(Some(0.0), true), (Some(1.0), false), (Some(0.0), true)]);
}

#[test]
fn a_third_party_that_hangs_is_waited_for_some_seconds_only() {
    fn stuck() -> Result<Timed, Fault> {
        let place = Place::choose(None).unwrap();
        // One that spins would use the CPUs of all other tests until the last of them has ended.
        let sleep = || -> () {
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        };
        crate::stage::duet_from_the_gate(place, 1, sleep, sleep).map(|_| unreachable!())
    }
    let start = Instant::now();
    let (session, warnings) = measure(plan(2, steady("baseline", 10), vec![steady("a", 20), guest("hangs", 2, stuck)]));
    assert_eq!(session.unwrap().contenders.len(), 2);
    assert!(start.elapsed() < Duration::from_secs(30));
    let told = |sentence: &str| sentence.starts_with("did not end within 10");
    assert!(
        matches!(&warnings[..], [Warning::TakenOut { name, sentence, .. }] if name == "hangs" && told(sentence)),
        "{warnings:?}"
    );
}
