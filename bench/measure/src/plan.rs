//! The competitors of each scenario, and the baselines alongside them.

use std::time::Duration;

use crate::frame::Frame;
use crate::limits;
use crate::record::Parameter;
use crate::registry;
use crate::rounds::{Contender, Length, Plan, Rounds};
use crate::scenario::Entry;
use crate::scenario::{Scenario, carried, many, size};
use crate::transport::{Shape, Traits, Waits};
use crate::warnings::Warning;

/// The plan of a scenario at one of its parameters, or nothing if no transport can take part.
pub fn of(
    scenario: &Scenario,
    parameter: Option<Parameter>,
    entries: &[&'static Entry],
    frame: Frame,
    warnings: &mut Vec<Warning>,
) -> Option<Plan> {
    let contender: &dyn Fn(&'static Entry, Frame) -> Contender =
        &|entry, frame| (scenario.contender)(entry, parameter, frame);
    in_shape(scenario, (scenario.shape)(parameter), parameter, contender, entries, frame, warnings)
}

/// A stream between the threads of `shape`, of messages of one size.
pub fn between(
    shape: Shape,
    message: Parameter,
    entries: &[&'static Entry],
    frame: Frame,
    warnings: &mut Vec<Warning>,
) -> Option<Plan> {
    if shape == Shape::ONE_TO_ONE {
        return of(&size::SCENARIO, Some(message), entries, frame, warnings);
    }
    let contender: &dyn Fn(&'static Entry, Frame) -> Contender =
        &|entry, frame| many::contender(entry, shape, Some(message), frame);
    let mut plan = in_shape(&many::ANY, shape, Some(message), contender, entries, frame, warnings)?;
    plan.scenario = format!("many-{shape}");
    Some(plan)
}

fn in_shape(
    scenario: &Scenario,
    shape: Shape,
    parameter: Option<Parameter>,
    contender: &dyn Fn(&'static Entry, Frame) -> Contender,
    entries: &[&'static Entry],
    frame: Frame,
    warnings: &mut Vec<Warning>,
) -> Option<Plan> {
    let able = |traits: &Traits| {
        let enough = shape.fits(traits.senders, traits.receivers) && carried::fits(traits, shape, parameter);
        enough && (scenario.able)(traits)
    };
    let (able, others): (Vec<&'static Entry>, Vec<_>) = entries.iter().copied().partition(|entry| able(&entry.traits));
    if frame.named && !others.is_empty() {
        let left_out = Warning::TakesNoPart { scenario: scenario.name.to_owned(), names: names(&others) };
        Warning::add_once(warnings, Some(left_out));
    }
    let able: Vec<&'static Entry> = able.into_iter().filter(|entry| is_here(entry, warnings)).collect();
    // With one CPU some scenarios are the same as others.
    if able.is_empty() || (scenario.needs_two_cpus && frame.place.one_cpu()) {
        return None;
    }
    let frame = if scenario.one_cpu { frame.together() } else { frame };
    let able = without_spinners(scenario, able, frame, warnings);
    let limit = (scenario.limit)(&frame, parameter);
    let mut beside = scenario.beside.to_vec();
    if !beside.iter().any(|probe| probe.name == limit.name) {
        beside.push(limit);
    }
    let transports: Vec<Contender> = able.iter().map(|entry| contender(entry, frame)).collect();
    let guard = guard(&transports, frame);
    let mut contenders = frame.those_that_fit(&beside, guard.name);
    contenders.extend(transports);
    Some(Plan { floor: frame.limit(guard), ..plan(scenario.name, scenario.about, parameter, frame, limit, contenders) })
}

/// The baseline at both ends of a round: of the kind of most of its transports. Those that spin before they sleep do one
/// on a quiet machine and the other on a busy one, so they have no say where others spin or sleep.
fn guard(transports: &[Contender], frame: Frame) -> &'static limits::Probe {
    let own = |one: &Contender| {
        let guard = one.contestant.limit.as_deref().map(limits::guard)?;
        let either = one.contestant.waits == Some(Waits::LooksThenSleeps) && guard.name == frame.floor().name;
        (!either && guard.fits(frame.place)).then_some(guard)
    };
    let fitting: Vec<&'static limits::Probe> = transports.iter().filter_map(own).collect();
    let votes = |guard: &limits::Probe| fitting.iter().filter(|one| one.name == guard.name).count();
    let most = fitting.iter().copied().max_by_key(|guard| (votes(guard), guard.name == frame.floor().name));
    most.unwrap_or_else(|| frame.floor())
}

/// The plans of a scenario at each of its parameters.
pub fn every(scenario: &Scenario, entries: &[&'static Entry], frame: Frame, warnings: &mut Vec<Warning>) -> Vec<Plan> {
    let parameters = scenario.parameters.iter().copied().map(Some);
    let parameters: Vec<_> = if scenario.parameters.is_empty() { vec![None] } else { parameters.collect() };
    parameters.into_iter().filter_map(|at| of(scenario, at, entries, frame, warnings)).collect()
}

/// A plan with the usual baseline.
pub fn plan(
    scenario: &str,
    about: &str,
    parameter: Option<Parameter>,
    frame: Frame,
    limit: &limits::Probe,
    contenders: Vec<Contender>,
) -> Plan {
    Plan {
        scenario: scenario.to_owned(),
        about: about.to_owned(),
        parameter,
        place: frame.place,
        rounds: Rounds::Exactly(frame.rounds),
        floor: frame.limit(frame.floor()),
        limit: limit.name,
        contenders,
    }
}

/// A transport that this machine does not have is reported once, not for each scenario.
fn is_here(entry: &Entry, warnings: &mut Vec<Warning>) -> bool {
    let unavailable = registry::unavailable(entry);
    let is_here = unavailable.is_none();
    Warning::add_once(warnings, unavailable);
    is_here
}

fn without_spinners(
    scenario: &Scenario,
    able: Vec<&'static Entry>,
    frame: Frame,
    warnings: &mut Vec<Warning>,
) -> Vec<&'static Entry> {
    // A scenario that is about one CPU has its own limit for the length of its runs.
    if !frame.place.one_cpu() || scenario.one_cpu {
        return able;
    }
    let (spinners, sleepers): (Vec<&Entry>, Vec<&Entry>) =
        able.into_iter().partition(|entry| entry.traits.waits == Waits::Spins);
    if !spinners.is_empty() {
        warnings.push(Warning::SpinnersLeftOut { scenario: scenario.name.to_owned(), names: names(&spinners) });
    }
    sleepers
}

fn names(entries: &[&Entry]) -> Vec<String> {
    entries.iter().map(|entry| entry.traits.name.to_owned()).collect()
}

/// Every baseline that makes sense at this place, and nothing else.
pub fn of_limits(frame: Frame) -> Plan {
    let floor = frame.floor();
    let others = limits::all().iter().filter(|probe| probe.fits(frame.place) && probe.name != floor.name);
    let contenders = others.map(|probe| frame.limit(probe)).collect();
    plan("limits", "What the machine itself cannot do faster", None, frame, floor, contenders)
}

/// The length of one run of each of these plans that makes all of them together take `seconds`.
pub fn shared_length(seconds: f64, rounds: u32, plans: &[Plan]) -> Length {
    let runs = plans.iter().map(|plan| plan.contenders.len() as u64 + 2).sum();
    // More rounds give more evidence than longer runs, once a run is much longer than the start of its threads.
    const LONG_ENOUGH: Duration = Duration::from_millis(30);
    Length::Time(run_length(seconds, rounds, runs).min(LONG_ENOUGH))
}

/// The length of one run that makes `runs` of them in each of `rounds` rounds take `seconds`.
pub fn run_length(seconds: f64, rounds: u32, runs: u64) -> Duration {
    // Calibrating the numbers of messages takes about as long as a round and a half.
    let slices = (f64::from(rounds) + 1.5) * runs.max(1) as f64;
    Duration::from_secs_f64((seconds / slices).clamp(0.000_5, 0.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_shared_among_the_runs() {
        assert_eq!(run_length(10.0, 8, 100), Duration::from_secs_f64(10.0 / 950.0));
        assert_eq!(run_length(1e9, 7, 1), Duration::from_millis(100));
    }
}
