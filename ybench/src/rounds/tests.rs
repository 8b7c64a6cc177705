//! The runner, with contenders whose figures are known.

use std::cell::Cell;
use std::rc::Rc;

use super::*;
use crate::record::Unit;
use crate::stage::Timed;

fn contestant(name: &str, kind: Kind) -> Contestant {
    Contestant { name: name.into(), kind, unit: Unit::Message, units_per_run: 0, limit: None, waits: None, batch: None }
}

fn steady(name: &str, nanoseconds: u64) -> Contender {
    let run = move |units| Ok(Timed { elapsed: Duration::from_nanos(nanoseconds * units), units }.into());
    Contender { contestant: contestant(name, Kind::Transport), length: Length::Units(10), run: Box::new(run) }
}

fn plan(rounds: u32, floor: Contender, contenders: Vec<Contender>) -> Plan {
    let place = Place::choose(None).unwrap();
    Plan {
        scenario: "test".into(),
        about: String::new(),
        parameter: None,
        place,
        rounds,
        floor,
        limit: "floor",
        contenders,
    }
}

fn measure(plan: Plan) -> (Result<Session, Error>, Vec<Warning>) {
    let mut warnings = Vec::new();
    let session = plan.measure(&Progress::new(None), &mut warnings);
    (session, warnings)
}

#[test]
fn every_round_has_everybody_and_the_order_rotates() {
    let (session, _) = measure(plan(3, steady("floor", 10), vec![steady("a", 20), steady("b", 30)]));
    let session = session.unwrap();
    let orders: Vec<_> = session.rounds.iter().map(|round| round.order.join(" ")).collect();
    assert_eq!(orders, ["a b", "b a", "a b"]);
    assert_eq!(session.series("b"), [Some(30.0); 3]);
    assert_eq!(session.series("floor"), [Some(10.0); 3]);
    assert_eq!(session.ratio("b", "floor").unwrap().median, 3.0);
}

/// A floor that doubles between the ends of the second round only.
fn floor_that_moves_once() -> Contender {
    let runs = Rc::new(Cell::new(0));
    let run = move |units| {
        runs.set(runs.get() + 1);
        // Run 1 is the warm-up; rounds have runs 2 and 3, 4 and 5, 6 and 7.
        let nanoseconds = if runs.get() == 5 { 20 } else { 10 };
        Ok(Timed { elapsed: Duration::from_nanos(nanoseconds * units), units }.into())
    };
    Contender { contestant: contestant("floor", Kind::Limit), length: Length::Units(10), run: Box::new(run) }
}

#[test]
fn a_round_whose_floor_moved_does_not_count_and_is_said() {
    let (session, warnings) = measure(plan(3, floor_that_moves_once(), vec![steady("a", 20)]));
    let session = session.unwrap();
    assert_eq!(session.counted().count(), 2);
    assert!(session.rounds[1].dropped.is_some());
    let said = warnings.iter().any(|warning| matches!(warning, Warning::RoundsDropped { dropped: 1, of: 3, .. }));
    assert!(said, "{warnings:?}");
}

#[test]
fn if_no_round_is_good_all_are_kept_and_it_is_said() {
    let calls = Rc::new(Cell::new(0u64));
    let run = move |units| {
        calls.set(calls.get() + 1);
        Ok(Timed { elapsed: Duration::from_nanos(units << calls.get()), units }.into())
    };
    let floor =
        Contender { contestant: contestant("floor", Kind::Limit), length: Length::Units(10), run: Box::new(run) };
    let (session, warnings) = measure(plan(2, floor, vec![steady("a", 20)]));
    assert_eq!(session.unwrap().counted().count(), 2);
    assert!(warnings.iter().any(|warning| matches!(warning, Warning::AllRoundsDoubtful { of: 2, .. })), "{warnings:?}");
}

#[test]
fn whoever_cannot_run_here_is_left_out() {
    let run = |_| Err(Fault::System(std::io::Error::from_raw_os_error(1)));
    let unable =
        Contender { contestant: contestant("unable", Kind::Limit), length: Length::Units(1), run: Box::new(run) };
    let (session, warnings) = measure(plan(1, steady("floor", 10), vec![unable, steady("a", 20)]));
    assert!(session.unwrap().contestant("unable").is_none());
    assert!(matches!(&warnings[..], [Warning::Unavailable { name, .. }, ..] if name == "unable"), "{warnings:?}");
}

#[test]
fn whoever_breaks_its_word_ends_the_run_by_name() {
    let run = |_| Err(Fault::Lost { expected: 7 });
    let liar =
        Contender { contestant: contestant("liar", Kind::Transport), length: Length::Units(1), run: Box::new(run) };
    let (session, _) = measure(plan(1, steady("floor", 10), vec![liar]));
    let error = session.unwrap_err();
    assert_eq!(error.exit_status(), 1);
    assert_eq!(error.to_string(), "liar ended its stream before message 7 had arrived.");
}

#[test]
fn calibration_finds_a_run_of_the_wanted_length() {
    let run = |units: u64| {
        let start = Instant::now();
        let end = start + Duration::from_micros(units);
        while Instant::now() < end {}
        Ok(Timed { elapsed: start.elapsed(), units }.into())
    };
    let length = Length::Time(Duration::from_millis(4));
    let mut contender = Contender { contestant: contestant("busy", Kind::Limit), length, run: Box::new(run) };
    contender.calibrate().unwrap();
    // A microsecond for each unit, at the very least: no run can have been quicker than that.
    assert!((1..=4_000).contains(&contender.contestant.units_per_run), "{}", contender.contestant.units_per_run);
}
