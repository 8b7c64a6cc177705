//! "The most interesting metric": latency over the rate, up to the rate that a transport no longer keeps up with.

use std::time::Duration;

use ybench_measure::frame::Frame;
use ybench_measure::outcome::{Metric, Series};
use ybench_measure::plan;
use ybench_measure::record::{Parameter, Quantity, Report, Session};
use ybench_measure::rounds::{Length, Plan};
use ybench_measure::scenario::Entry;
use ybench_measure::scenario::fixed_rate::{self, rate};
use ybench_measure::stats::change::{Change, within_a_run};
use ybench_measure::stats::{DIFFERENCE, LEAST_ROUNDS};
use ybench_measure::warnings::Warning;

use crate::article::cases::{Cases, Said};
use crate::article::conclusion::Conclusion;
use crate::plot::{Looks, Picture, Point, Sweep, Swept};
use crate::request::Request;
use crate::table::{Grid, Tone, count, figure, not_reached, time};

/// The article's own rate with its latency, and the rates it warns of; with the rounds and the length of a run of each.
/// At one message a second each run has one message.
const RATES: [(f64, u32, Duration); 7] = [
    (1.0, 3, Duration::from_millis(20)),
    (100.0, 5, Duration::from_millis(100)),
    (1e3, 7, Duration::from_millis(100)),
    (PUBLISHED, super::super::ROUNDS, Duration::from_millis(300)),
    (1e5, 7, Duration::from_millis(100)),
    (1e6, 7, Duration::from_millis(50)),
    (1e7, 7, Duration::from_millis(20)),
];

/// "50 microseconds of latency at a fixed rate of 10,000 messages a second."
const PUBLISHED: f64 = 1e4;

pub(super) fn plans(request: &Request, entries: &[&'static Entry], warnings: &mut Vec<Warning>) -> Vec<Plan> {
    let plan = |(value, rounds, length): (f64, u32, Duration)| {
        let frame: Frame = request.frame(request.rounds.unwrap_or(rounds), Length::Time(length));
        plan::of(&fixed_rate::SCENARIO, Some(rate(value)), entries, frame, warnings)
    };
    RATES.into_iter().filter_map(plan).collect()
}

fn sessions(report: &Report) -> impl Iterator<Item = (Parameter, &Session)> {
    let at = |session: &Session| session.parameter.filter(|parameter| parameter.quantity == Quantity::Rate);
    let of_rates = report.sessions.iter().filter(|session| session.scenario == fixed_rate::SCENARIO.name);
    of_rates.filter_map(move |session| Some((at(session)?, session)))
}

pub(super) fn table(report: &Report, names: &[&str]) -> Grid {
    let heads: Vec<String> = names.iter().map(|name| format!(">{name}")).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut grid = Grid::new(&[&[">messages a second", ">published"], &heads[..], &[">timed of each"]].concat());
    for (parameter, session) in sessions(report) {
        let published = if parameter.value == PUBLISHED { "50" } else { "-" };
        let mut cells = vec![crate::table::grouped(parameter.value), published.to_owned()];
        cells.extend(names.iter().map(|name| told(session, name)));
        let timed = names.iter().filter_map(|name| Some(session.distribution(name, Series::Latency)?.count())).max();
        cells.push(timed.map_or("-".to_owned(), |timed| count(timed as f64)));
        grid.push(Tone::Plain, None, cells);
    }
    grid.notes.extend(names.iter().filter_map(|name| knee(report, name)));
    grid
}

/// In microseconds, or a dash if too few messages were timed.
fn micros(nanoseconds: Option<f64>) -> String {
    nanoseconds.map_or("-".to_owned(), |time| figure(time / 1e3))
}

fn told(session: &Session, name: &str) -> String {
    session.distribution(name, Series::Latency).map_or("-".to_owned(), |times| {
        let late = if not_reached(session, name).is_some() { " (late)" } else { "" };
        format!("{} / {}{late}", figure(times.median() / 1e3), micros(times.tail(0.99)))
    })
}

/// Up to which rate a transport keeps up, and the first at which it does not. Nothing is said if it is late at a rate and
/// not at a higher one, or if too few rounds count: the machine was late, not the transport.
fn knee(report: &Report, name: &str) -> Option<String> {
    let measured: Vec<(Parameter, &Session)> =
        sessions(report).filter(|(_, session)| session.density(name).is_some()).collect();
    let late = |session: &Session| not_reached(session, name).is_some();
    let last = measured.last()?.0.value;
    let Some(first_late) = measured.iter().position(|(_, session)| late(session)) else {
        return Some(format!("{name} keeps up with all rates to {} a second.", count(last)));
    };
    let (parameter, session) = measured[first_late];
    let at = count(parameter.value);
    if measured[first_late..].iter().any(|(_, session)| !late(session)) {
        let sentence = "late at one rate and not at a higher one, it shows no rate that it keeps up with";
        return Some(format!("{name}: {sentence} (late at {at} a second)."));
    }
    let reached = session.metric(name, Metric::RateReached).map_or(0.0, |reached| reached.median);
    let before = match first_late {
        0 => "with none of these rates".to_owned(),
        _ => format!("with {} a second", count(measured[first_late - 1].0.value)),
    };
    if session.sound() < LEAST_ROUNDS {
        return Some(format!("{name} keeps up {before}; at {at} it was late, in too few rounds to tell."));
    }
    Some(format!("{name} keeps up {before}, and no longer at {at}, of which {} are received.", count(reached)))
}

/// Latency over the rate, both axes logarithmic; at the knee a line turns upwards.
pub(super) fn picture(report: &Report, looks: &Looks, names: &[&str]) -> Option<(String, Picture)> {
    let line = |name: &&str| {
        let point =
            |(parameter, session): (Parameter, &Session)| Some(Point { x: parameter.value, y: session.density(name)? });
        let points: Vec<Point> = sessions(report).filter_map(point).collect();
        (points.len() > 1).then(|| Swept { label: (*name).to_owned(), look: looks.look(name), points })
    };
    let lines: Vec<Swept> = names.iter().filter_map(line).collect();
    let sweep = Sweep {
        title: "Latency over the rate of messages".to_owned(),
        x_label: "messages a second".to_owned(),
        y_label: "from due to received, median".to_owned(),
        x_form: count,
        y_form: time,
        y_log: true,
        lines,
        band: None,
    };
    (!sweep.lines.is_empty()).then(|| ("nanosecond-rates".to_owned(), sweep.picture()))
}

/// Between each rate and the next one that is kept up with.
pub(super) fn conclusion(report: &Report, names: &[&str]) -> Conclusion {
    let mut cases = Cases::default();
    for name in names {
        let kept: Vec<&Session> =
            sessions(report).map(|(_, session)| session).filter(|one| not_reached(one, name).is_none()).collect();
        for pair in kept.windows(2) {
            let measured = pair[0].measured(name).zip(pair[1].measured(name));
            let Some((change, times)) = measured.and_then(|(old, new)| within_a_run(&old, &new, DIFFERENCE)) else {
                continue;
            };
            let few = pair[0].sound().min(pair[1].sound()) < LEAST_ROUNDS;
            let said = match change {
                _ if few => Said::TooFewRounds,
                Change::Faster | Change::Slower => Said::Yes,
                Change::NoneSeen
                | Change::Unclear
                | Change::OtherState
                | Change::Alone
                | Change::Same
                | Change::Busy => Said::TooClose,
                Change::TooFewRounds => Said::TooFewRounds,
            };
            cases.push(said, times);
        }
    }
    Conclusion {
        claim: "A latency at one rate says nothing about the latency at another.",
        here: format!("each rate that is kept up with over the one before, where they differ: {}", cases.times()),
        verdict: cases.verdict(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_measure::record::Round;

    /// Sessions at these rates, with the received rates.
    fn report(rates: &[(f64, f64)]) -> Report {
        let session = |&(wanted, reached): &(f64, f64)| {
            let metrics = [(Metric::RateWanted, wanted), (Metric::RateReached, reached)].into();
            let round = Round {
                nanoseconds: [("a".to_owned(), wanted), ("floor".to_owned(), 50.0)].into(),
                metrics: [("a".to_owned(), metrics)].into(),
                ..Round::default()
            };
            Session {
                scenario: fixed_rate::SCENARIO.name.to_owned(),
                parameter: Some(rate(wanted)),
                floor: "floor".to_owned(),
                rounds: vec![round; 5],
                ..Session::default()
            }
        };
        Report { sessions: rates.iter().map(session).collect(), ..Report::default() }
    }

    #[test]
    fn the_knee_is_the_first_rate_that_is_not_kept_up_with() {
        let knee = |rates: &[(f64, f64)]| knee(&report(rates), "a");
        assert_eq!(knee(&[(1e3, 1e3), (1e6, 1e6)]).unwrap(), "a keeps up with all rates to 1M a second.");
        assert_eq!(
            knee(&[(1e3, 1e3), (1e5, 1e5), (1e6, 2e5)]).unwrap(),
            "a keeps up with 100k a second, and no longer at 1M, of which 200k are received."
        );
        assert!(knee(&[(1e6, 2e5)]).unwrap().starts_with("a keeps up with none of these rates"));
        assert_eq!(knee(&[]), None);
        // A machine that was late once is no transport that is.
        let said = knee(&[(1e3, 1e3), (1e4, 7e3), (1e5, 1e5)]).unwrap();
        assert!(said.ends_with("no rate that it keeps up with (late at 10k a second)."), "{said}");
        let mut few = report(&[(1e3, 1e3), (1e4, 7e3)]);
        few.sessions.iter_mut().for_each(|session| session.rounds.truncate(2));
        let said = super::knee(&few, "a").unwrap();
        assert_eq!(said, "a keeps up with 1k a second; at 10k it was late, in too few rounds to tell.");
    }

    #[test]
    fn only_rates_that_are_kept_up_with_are_compared() {
        let told = conclusion(&report(&[(1e3, 1e3), (1e6, 2e5)]), &["a"]);
        assert_eq!(told.verdict, "not measured");
        assert_eq!(conclusion(&report(&[(1e3, 1e3), (1e5, 1e5)]), &["a"]).verdict, "holds");
    }
}
