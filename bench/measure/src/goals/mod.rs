//! The measurements for the project's own targets, and the figures required. Each figure of speed and size is measured
//! in rounds together with what it is compared to.
//!
//! A target of speed is the median of the ratios formed inside the rounds. It is met or missed if the whole interval of
//! that median is on one side, from enough rounds, and is undecided otherwise. Counts and sizes are measured several
//! times and judged by their median. A miss is a result, not an error.

pub mod asynchronous;
pub mod counts;
pub mod first_of;
pub mod functions;
mod idle;
mod many;
mod memory;
pub mod news;
pub mod once;
pub mod pool;
mod posted;
mod streaming;
mod targets;
mod timers;

use self::targets::{BATCHES, BOUNCED, ONE_CPU, RATIOS, Ratio, STREAMS};
use crate::error::Fault;
use crate::frame::Frame;
use crate::limits;
use crate::place::Place;
use crate::plan;
use crate::record::{Contestant, Goal, Report};
use crate::registry;
use crate::rounds::{Contender, Plan};
use crate::scenario::Entry;
use crate::scenario::{ping_pong, throughput};
use crate::stage::Timed;
use crate::stats::{Interval, LEAST_ROUNDS, Spread};

/// The command whose results these targets are judged from.
pub const COMMAND: &str = "goals";

/// Every target, judged from the result alone: speed from the rounds of the sessions, the steadiness of those rounds,
/// and sizes and counts. Empty for a result of another command. An older result contains its verdicts.
pub fn judged(report: &Report) -> Vec<Goal> {
    if report.command != COMMAND || !report.goals.is_empty() {
        return report.goals.clone();
    }
    let mut goals: Vec<Goal> = ratios().map(|ratio| of_speed(ratio, report)).collect();
    let mpmc = report.session(many::MPMC);
    let spread = |(title, name): &(&str, &str)| {
        let measured = mpmc.and_then(|session| many::spread(session, name));
        let goal = goal((*title).to_owned(), measured, many::SPREAD, false);
        // More rounds can only be farther apart: a miss is certain from any number of rounds.
        let enough = mpmc.is_some_and(|session| session.sound() >= LEAST_ROUNDS);
        Goal { met: goal.met.filter(|met| enough || !met), ..goal }
    };
    goals.extend(many::STEADY.iter().map(spread));
    goals.extend(counts::judged(report));
    goals
}

/// Every target of speed.
fn ratios() -> impl Iterator<Item = &'static Ratio> {
    let later = many::RATIOS
        .iter()
        .chain(&pool::RATIOS)
        .chain(&posted::RATIOS)
        .chain(&functions::RATIOS)
        .chain(&asynchronous::RATIOS)
        .chain(&once::RATIOS)
        .chain(&news::RATIOS)
        .chain(&first_of::RATIOS);
    RATIOS.iter().chain(later)
}

/// All names that a target of speed needs a figure of, with the session that measures it.
pub fn named() -> impl Iterator<Item = (&'static str, &'static str)> {
    ratios().flat_map(|ratio| ratio.names().map(|name| (ratio.session, name)))
}

/// All names that are required to be steady, with their session.
pub fn steady() -> impl Iterator<Item = (&'static str, &'static str)> {
    many::STEADY.iter().map(|(_, name)| (many::MPMC, *name))
}

/// The transports of these names.
fn those<'a>(names: &'a [&'a str]) -> impl Iterator<Item = &'static Entry> + 'a {
    names.iter().filter_map(|name| registry::named(name))
}

/// Runs a number of messages at a place, in a way that is no transport.
pub type Run = fn(Place, u64) -> Result<Timed, Fault>;

/// Runs that are no transports, in rounds with the memory hand-over.
fn beside_the_hand_over(session: &str, about: &str, runs: &[(&str, Run)], frame: Frame) -> Plan {
    let mut contenders: Vec<Contender> = runs.iter().map(|&(name, run)| contender(name, run, frame)).collect();
    contenders.push(frame.limit(&limits::HAND_OVER));
    plan::plan(session, about, None, frame, &limits::HAND_OVER, contenders)
}

/// A run that is no transport.
fn contender(name: &str, run: Run, frame: Frame) -> Contender {
    let contestant = Contestant { name: name.to_owned(), ..Contestant::default() };
    let place = frame.place;
    Contender { contestant, length: frame.transports, run: Box::new(move |units| run(place, units).map(Into::into)) }
}

/// All names in the targets of speed.
pub fn plans(frame: Frame) -> Vec<Plan> {
    let together = frame.together();
    let mut streams: Vec<Contender> = those(&STREAMS).map(|entry| throughput::contender(entry, None, frame)).collect();
    streams.push(frame.limit(&limits::HAND_OVER));
    for entry in those(&["spsc-batch"]) {
        streams.extend(BATCHES.map(|batch| {
            let mut contender = throughput::batches(entry, batch, frame);
            contender.contestant.name = targets::batch_name(batch);
            contender
        }));
    }
    let mut bounces: Vec<Contender> = those(&BOUNCED).map(|entry| ping_pong::contender(entry, None, frame)).collect();
    bounces.extend([frame.limit(&limits::FUTEX), frame.limit(&limits::EPOLL)]);
    let shared = those(&ONE_CPU).map(|entry| ping_pong::contender(entry, None, together)).collect();

    let plan = |scenario: &str, about: &str, frame, limit, contenders| {
        plan::plan(scenario, about, None, frame, limit, contenders)
    };
    let mut plans = vec![
        plan(targets::STREAMING, "Streams, one by one and in batches", frame, &limits::HAND_OVER, streams),
        plan(targets::BOUNCING, "One message bounced", frame, &limits::TWO_LINE_FLOOR, bounces),
        plan(targets::SHARING, "One message bounced on one CPU", together, &limits::FUTEX_ONE_CPU, shared),
    ];
    plans.extend(many::plans(frame));
    plans.push(pool::plan(frame));
    plans.extend(posted::plans(frame));
    plans.push(functions::plan(frame));
    plans.push(asynchronous::plan(frame));
    plans.push(once::plan(frame));
    plans.push(news::plan(frame));
    plans.push(first_of::plan(frame));
    plans
}

/// One target of speed, from the rounds of its session.
fn of_speed(ratio: &Ratio, report: &Report) -> Goal {
    let session = report.session(ratio.session);
    let ratios = session.map_or(Vec::new(), |session| ratio.ratios(session));
    let enough = session.is_some_and(|session| session.sound().min(ratios.len()) >= LEAST_ROUNDS);
    let interval = Interval::of(&ratios).filter(|_| enough);
    let met = interval.and_then(|interval| met(interval, ratio.target, ratio.at_least));
    let (name, target, at_least) = (ratio.name.to_owned(), ratio.target, ratio.at_least);
    Goal { name, measured: Spread::of(&ratios), target, at_least, met }
}

/// Nothing if the target is within the interval.
fn met(interval: Interval, target: f64, at_least: bool) -> Option<bool> {
    let reaches = |end: f64| if at_least { end >= target } else { end <= target };
    let ends = [interval.low, interval.high].map(reaches);
    (ends[0] == ends[1]).then_some(ends[0])
}

fn goal(name: String, measured: Option<Spread>, target: f64, at_least: bool) -> Goal {
    let met = measured.map(|spread| if at_least { spread.median >= target } else { spread.median <= target });
    Goal { name, measured, target, at_least, met }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_within_the_interval_is_neither_met_nor_missed() {
        let interval = |low, high| Interval { low, median: (low + high) / 2.0, high };
        let judged =
            |at_least| [(1.0, 1.9), (1.0, 3.0), (2.0, 3.0)].map(|(low, high)| met(interval(low, high), 2.0, at_least));
        assert_eq!(judged(true), [Some(false), None, Some(true)]);
        assert_eq!(judged(false), [Some(true), None, None]);
    }

    #[test]
    fn few_rounds_judge_no_target_of_speed() {
        let ratio = ratios().find(|ratio| ratio.at_least && ratio.names().count() == 2).unwrap();
        let judged = |times: &[f64]| {
            let round = |times: &f64| {
                let names: Vec<&str> = ratio.names().collect();
                let nanoseconds = [(names[0].to_owned(), ratio.target * times), (names[1].to_owned(), 1.0)];
                crate::record::Round { nanoseconds: nanoseconds.into(), ..Default::default() }
            };
            let rounds = times.iter().map(round).collect();
            let session = crate::record::Session { scenario: ratio.session.into(), rounds, ..Default::default() };
            let goal = of_speed(ratio, &Report { sessions: vec![session], ..Report::default() });
            (goal.measured.is_some(), goal.met)
        };
        assert_eq!(judged(&[2.0; 4]), (true, None));
        assert_eq!(judged(&[2.0; 5]), (true, Some(true)));
        assert_eq!(judged(&[0.5; 5]), (true, Some(false)));
        // Their median is above the target.
        assert_eq!(judged(&[0.5, 0.6, 1.1, 1.2, 1.3]), (true, None));
        assert_eq!(judged(&[]), (false, None));
    }

    #[test]
    fn a_goal_is_met_on_its_own_side_of_the_target() {
        let spread = Spread::of(&[1.0, 2.0, 3.0]);
        assert_eq!(goal("a".into(), spread, 2.0, true).met, Some(true));
        assert_eq!(goal("a".into(), spread, 2.1, true).met, Some(false));
        assert_eq!(goal("a".into(), spread, 2.0, false).met, Some(true));
        assert_eq!(goal("a".into(), spread, 1.9, false).met, Some(false));
        assert_eq!(goal("a".into(), None, 1.0, false).met, None);
    }
}
