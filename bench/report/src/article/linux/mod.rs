//! "Comparing the mechanisms of passing messages in Linux": the kernel's mechanisms and a queue of our own, between 1,
//! 2 and 3 threads on each side, with messages of 8 bytes to 64 KiB, by value or by address.
//!
//! In the article's shape: ten rounds for the own queue's ways of waiting, five for the tables of all mechanisms.
//! Rounds that do not count are repeated. A round has one size, because each size has its own baseline. So all sizes
//! and ways of one shape take turns, a round of each within seconds, and see the same states of the machine. Runs are
//! short, because there are thousands. A mechanism whose transport does not exist yet keeps an empty row.

mod bandwidth;
mod conclusions;
mod designs;
mod epoll;
mod matrix;
mod pays;
mod priorities;
mod processes;
mod tables;

use std::time::Duration;

use ybench_measure::error::Error;
use ybench_measure::frame::Frame;
use ybench_measure::limits;
use ybench_measure::plan;
use ybench_measure::record::{Bound, Kind, Parameter, Report};
use ybench_measure::rounds::{Length, Plan, Rounds};
use ybench_measure::scenario::Entry;
use ybench_measure::scenario::carried;
use ybench_measure::warnings::Warning;

use self::designs::DESIGNS;
use self::matrix::{Matrix, SCENARIOS};
use crate::measure;
use crate::plot::Picture;
use crate::request::Request;
use crate::table::Part;

pub const ABOUT: &str =
    "Message passing in Linux: sockets, message queues and a queue of our own, by shape, size and way of waiting";

/// "All tests were run 10 times": the ways of waiting. And 5 times: the tables of mechanisms.
const WAITING_ROUNDS: u32 = 10;
const ROUNDS: u32 = 5;

/// Long enough for many slices of the scheduler.
const WAITING: Duration = Duration::from_millis(100);
/// For some of the groups.
const CARRIED: Duration = Duration::from_millis(12);
/// The first lap of a ring of large messages uses memory that was never touched; a run has at least one lap more.
const CARRIED_AT_LEAST: u64 = 2_048;
/// Several times around the 64 MiB that are cleared and copied.
const MEMORY: Duration = Duration::from_millis(50);
/// Much longer than it takes to start two processes.
const PROCESSES: Duration = Duration::from_millis(50);
const PRIORITIES: Duration = Duration::from_millis(20);

pub fn run(request: &Request) -> Result<Report, Error> {
    if !carried::ALL_SIZES {
        let (largest, command) = (carried::SMALLEST.value, carried::WITH_ALL_SIZES);
        return Err(Error::Refused(format!(
            "The article moves messages of more than {largest} bytes by value, which needs a feature: `{command} -- article linux`."
        )));
    }
    let known = DESIGNS.iter().map(|design| design.transport).chain(processes::MECHANISMS.map(|one| one.1));
    let known = super::own(request, &known.collect::<Vec<_>>())?;
    let (apart, entries): (Vec<_>, Vec<_>) = known.into_iter().partition(|entry| entry.traits.between_processes);
    let mut report = measure::begin("article linux", request, request.rounds.unwrap_or(ROUNDS));
    report.bounds = bounds(&entries);
    report.epoll = epoll::tried(&entries);
    let mut plans = plans(request, &entries, &mut report.warnings);
    plans.extend(between_processes(request, &apart, &mut report.warnings));
    measure::print_heading(&report);
    measure::measure_together(request, plans, &mut report)?;
    Ok(report)
}

/// The bounds of the transports that have one.
fn bounds(entries: &[&'static Entry]) -> Vec<Bound> {
    let mut bounds = Vec::new();
    for scenario in SCENARIOS {
        let shape = (scenario.shape)(None);
        for traits in entries.iter().map(|entry| &entry.traits) {
            let bytes = (traits.most_bytes)(shape);
            if shape.fits(traits.senders, traits.receivers) && bytes < usize::MAX {
                let (senders, receivers) = (shape.senders, shape.receivers);
                bounds.push(Bound { name: traits.name.to_owned(), senders, receivers, bytes: bytes as u64 });
            }
        }
    }
    bounds
}

/// The plans of one shape form a group.
fn plans(request: &Request, entries: &[&'static Entry], warnings: &mut Vec<Warning>) -> Vec<Vec<Plan>> {
    let frame = |length| request.frame(request.rounds.unwrap_or(ROUNDS), Length::Time(length));
    let mut groups = vec![vec![memory(frame(MEMORY))]];
    if entries.iter().any(|entry| entry.traits.name == "posix-mq" && (entry.traits.available)().is_ok()) {
        groups.push(vec![priorities::plan(frame(PRIORITIES))]);
    }
    for scenario in SCENARIOS {
        let mut plans = Vec::new();
        for parameter in by_size() {
            let (rounds, length) = match parameter {
                carried::SMALLEST => (WAITING_ROUNDS, Length::Time(WAITING)),
                _ => (ROUNDS, Length::TimeAndUnits(CARRIED, CARRIED_AT_LEAST)),
            };
            let frame = request.frame(request.rounds.unwrap_or(rounds), length);
            plans
                .extend(plan::of(scenario, Some(parameter), entries, frame, warnings).map(|plan| as_long(plan, frame)));
        }
        groups.push(plans);
    }
    if request.rounds.is_none() {
        groups.iter_mut().flatten().for_each(beyond_doubt);
    }
    groups
}

/// The same mechanisms between processes.
fn between_processes(request: &Request, entries: &[&'static Entry], warnings: &mut Vec<Warning>) -> Vec<Vec<Plan>> {
    let frame = |length| request.frame(request.rounds.unwrap_or(ROUNDS), length);
    let mut groups = processes::plans(frame, Length::Time(PROCESSES), entries, warnings);
    if request.rounds.is_none() {
        groups.iter_mut().flatten().for_each(beyond_doubt);
    }
    groups
}

/// A round that does not count is repeated: fewer than five have no verdict. If most do not count, repeating stops.
fn beyond_doubt(plan: &mut Plan) {
    let wanted = plan.rounds.likely();
    plan.rounds = Rounds::Sound { wanted, most: wanted * 2 };
}

/// The ways of one size follow each other.
fn by_size() -> Vec<Parameter> {
    let mut parameters = carried::PARAMETERS.to_vec();
    parameters.sort_by(|a, b| a.value.total_cmp(&b.value));
    parameters
}

/// Runs of the requested length, also between many threads. Nearly all of these queues have a bound of about a thousand
/// messages: their threads cannot run one after the other, however short the run.
fn as_long(mut plan: Plan, frame: Frame) -> Plan {
    for contender in plan.contenders.iter_mut().filter(|one| one.contestant.kind == Kind::Transport) {
        contender.length = frame.transports;
    }
    plan
}

fn memory(frame: Frame) -> Plan {
    let contenders = [&limits::MEMSET, &limits::MEMCPY].map(|probe| frame.limit(probe));
    plan::plan(bandwidth::SCENARIO, bandwidth::ABOUT, None, frame, &limits::MEMSET, contenders.into())
}

/// The article's tables, its diagram in words, and its conclusions.
pub(super) fn parts(report: &Report) -> Vec<Part> {
    let matrices = Matrix::all(report);
    if matrices.is_empty() {
        let nothing = Part::Said("Nothing was measured between threads.".to_owned());
        return std::iter::once(nothing).chain(processes::parts(report)).collect();
    }
    let heading = |heading: &str| Part::Heading(heading.to_owned());
    let mut parts =
        vec![heading("The own queue, one word a message, by the way of waiting"), tables::waiting(&matrices)];
    for matrix in &matrices {
        let title = "writers x readers: messages per second, time of one";
        parts.push(Part::Heading(format!("Every mechanism, {} {title}", matrix.shape)));
        parts.extend(tables::mechanisms(matrix, report));
    }
    parts.extend(processes::parts(report));
    if !report.epoll.is_empty() {
        parts.extend([heading("In epoll alongside sockets, tried in this run"), epoll::table(report)]);
    }
    parts.push(heading("From which size on an address is better than the message itself"));
    parts.extend(pays::tables(&matrices));
    parts.extend([heading("Memory bandwidth"), Part::Said(bandwidth::text(report))]);
    parts.extend(conclusions::parts(report, &matrices));
    parts
}

/// The article's diagram.
pub(super) fn pictures(report: &Report) -> Vec<(String, Picture)> {
    bandwidth::pictures(report)
}
