//! Shared by all commands that measure: a report that is filled, and its warnings.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ybench_measure::clock;
use ybench_measure::env::{Environment, seconds_of_others, stolen_seconds};
use ybench_measure::error::Error;
use ybench_measure::frame::Frame;
use ybench_measure::interrupt;
use ybench_measure::plan;
use ybench_measure::record::{Report, SCHEMA, Stopped};
use ybench_measure::rounds::{self, Course, Length, Plan};
use ybench_measure::warnings::Warning;

use crate::built::built;
use crate::output::say;
use crate::progress::Progress;
use crate::request::Request;
use crate::{table, turn};

/// The error if no transport can be measured.
pub const NOBODY: &str = "None of these transports can be measured in these scenarios on the CPUs given.";

/// A report before anything has been measured.
/// `rounds` is the number of rounds, if it is known.
pub fn begin(command: &str, request: &Request, rounds: impl Into<Option<u32>>) -> Report {
    let environment = Environment::capture(built());
    let clock = clock::Facts::of(request.place);
    let mut warnings = Warning::beforehand(&environment, request.place, rounds.into());
    warnings.extend(Warning::of_clock(&clock));
    Report {
        schema: SCHEMA,
        command: command.to_owned(),
        started: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        environment,
        cpus: [request.place.first, request.place.second],
        clock: Some(clock),
        // No more bits than every JSON reader keeps.
        seed: fastrand::u64(..1 << 53),
        interrupted: false,
        sessions: Vec::new(),
        counts: Vec::new(),
        goals: Vec::new(),
        bounds: Vec::new(),
        epoll: Vec::new(),
        pairs: Vec::new(),
        notes: Vec::new(),
        warnings,
    }
}

/// The defaults of a command.
#[derive(Clone, Copy)]
pub struct Usual {
    pub command: &'static str,
    pub seconds: f64,
    /// If the number of messages is fixed, and so the time.
    pub rounds: u32,
    /// The error if no transport can take part.
    pub nobody: &'static str,
}

/// Measures plans that share the available time. The plans are made twice, because the number of runs decides the
/// length of each.
pub fn in_rounds(
    request: &Request,
    usual: Usual,
    plans: impl Fn(Frame, &mut Vec<Warning>) -> Vec<Plan>,
) -> Result<Report, Error> {
    let plans = |frame: Frame, warnings: &mut Vec<Warning>| {
        let mut plans = plans(frame, warnings);
        if turn::asks() {
            plans.iter_mut().for_each(Plan::keep_one_baseline);
        }
        plans
    };
    let rounds = request.likely_rounds(usual.rounds);
    let seconds = request.seconds.unwrap_or(usual.seconds);
    let mut report = begin(usual.command, request, request.known_rounds(usual.rounds));
    let units = request.frame(rounds, Length::Units(1));
    let length = plan::shared_length(seconds, rounds, &plans(units, &mut Vec::new()));
    let mut plans = plans(request.frame(rounds, length), &mut report.warnings);
    request.adapt(&mut plans, seconds);
    if plans.is_empty() {
        return Err(Error::Refused(usual.nobody.to_owned()));
    }
    print_heading(&report);
    measure(request, plans, &mut report)?;
    Ok(report)
}

/// Measures the plans one after the other. On Ctrl-C the complete sessions remain.
pub fn measure(request: &Request, plans: Vec<Plan>, report: &mut Report) -> Result<(), Error> {
    measure_together(request, plans.into_iter().map(|plan| vec![plan]).collect(), report)
}

/// As [`measure`], but the plans of each group take turns.
pub fn measure_together(request: &Request, groups: Vec<Vec<Plan>>, report: &mut Report) -> Result<(), Error> {
    let planned = groups.iter().map(Vec::len).sum();
    let steps = |group: &[Plan]| -> u64 { group.iter().map(Plan::steps).sum() };
    let budgets: Option<Vec<Duration>> = groups.iter().flatten().map(|plan| plan.rounds.budget()).collect();
    let progress = Progress::new(groups.iter().map(|group| steps(group)).sum(), budgets.map(|all| all.iter().sum()));
    let mut course = Course {
        progress: &|name| progress.step(name),
        warnings: &mut report.warnings,
        dice: fastrand::Rng::with_seed(report.seed),
        interrupted: &interrupt::asked,
        stolen: &stolen_seconds,
        others: &seconds_of_others,
        warm_up: request.warm_up,
        turn: &turn::next,
    };
    for group in groups {
        if interrupt::asked() {
            break;
        }
        progress.session(steps(&group));
        report.sessions.extend(rounds::together(group, &mut course)?);
    }
    // An interrupt during the last run changes nothing.
    let cut = report.sessions.iter().any(|session| session.stopped == Some(Stopped::Interrupted));
    if cut || (interrupt::asked() && report.sessions.len() < planned) {
        report.interrupted = true;
        report.warnings.push(Warning::Interrupted { complete: report.sessions.len(), planned });
    }
    report.warnings.retain(|warning| !matches!(warning, Warning::TimeStolen { .. } | Warning::WorkOfOthers { .. }));
    report.warnings.extend(report.stolen_time());
    report.warnings.extend(report.work_of_others());
    report.leave_out_the_broken();
    Ok(())
}

pub fn print_heading(report: &Report) {
    say(table::heading(report));
}
