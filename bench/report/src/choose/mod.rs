//! `ybench choose`: the channel for a need, with the lines of code that make it; and the transports that meet the
//! requirements, their speed on this machine, and why the others were excluded.
//!
//! At most four questions are measured: the cost of a channel, if a number of channels is given; messages at a fixed
//! rate, if one is given; the throughput, and single messages. The first of them decides, unless the user names the
//! figure.

mod advice;
mod processes;
mod recipes;
mod wanted;

use std::collections::BTreeMap;

use ybench_measure::error::Error;
use ybench_measure::figures::{figure, grouped, several, time};
use ybench_measure::footprint;
use ybench_measure::frame::Frame;
use ybench_measure::outcome::{Metric, Series};
use ybench_measure::plan;
use ybench_measure::record::{Contestant, Parameter, Quantity, Report, Session};
use ybench_measure::registry;
use ybench_measure::rounds::Plan;
use ybench_measure::scenario::Entry;
use ybench_measure::scenario::{carried, fixed_rate, latency, night_watchman, process};
use ybench_measure::stats::listed;
use ybench_measure::transport::{Shape, Waits};
use ybench_measure::warnings::Warning;

use self::advice::Advice;
pub use self::wanted::{First, Wanted};
use crate::measure;
use crate::report::Study;
use crate::request::Request;
use crate::table::{self, Grid, Part, Standing};

const SECONDS: f64 = 30.0;
/// If the number of messages is fixed, and so the time.
const ROUNDS: u32 = 7;

pub fn run(request: &Request, wanted: &Wanted) -> Result<Report, Error> {
    let advice = advice::of(wanted);
    if !wanted.is_measured() {
        let notes = std::iter::once(wanted.to_string()).chain(advice.lines()).chain(unmeasured(wanted)).collect();
        return Ok(Report { notes, ..measure::begin(COMMAND, request, None) });
    }
    let fitting: Vec<&'static Entry> =
        request.entries.iter().copied().filter(|entry| wanted.against(&entry.traits).is_none()).collect();
    if fitting.is_empty() {
        let nobody = format!("{wanted} No transport meets these requirements.\n{}", others(wanted).join("\n"));
        return Err(Error::Refused(nobody));
    }
    let nobody = "These requirements cannot be measured on the CPUs given.";
    let usual = measure::Usual { command: COMMAND, seconds: SECONDS, rounds: ROUNDS, nobody };
    let mut report = measure::in_rounds(request, usual, |frame, warnings| plans(wanted, &fitting, frame, warnings))?;
    let asked = std::iter::once(wanted.to_string());
    let told = asked.chain(advice.lines()).chain(measured(&report, &advice)).chain(caveats(wanted, &fitting));
    let told = told.chain(answer(&report)).chain(of_channels(&report)).chain(others(wanted));
    report.notes = told.collect();
    Ok(report)
}

/// Where the figures of what is not measured here are.
fn unmeasured(wanted: &Wanted) -> Option<String> {
    let tasks =
        "Not measured here: `ybench competitors tasks-one-worker tasks-two-workers` compares channels between tasks.";
    wanted.tasks.then(|| tasks.to_owned())
}

/// What the figures do not show.
fn caveats(wanted: &Wanted, fitting: &[&Entry]) -> Vec<String> {
    let mut told: Vec<String> = wanted.instead().into_iter().collect();
    if wanted.shape() != Shape::ONE_TO_ONE {
        told.push("Single messages, and messages at a rate, go from one thread to one.".to_owned());
    }
    if wanted.processes && wanted.rate.is_some() {
        told.push(
            "Between processes, a message at a rate is measured as one after a millisecond of silence.".to_owned(),
        );
    } else if wanted.is_rare() {
        told.push(
            "A message this rare is measured as one after 10 ms of silence: a longer one changes little.".to_owned(),
        );
    }
    if wanted.first == Some(First::P99) {
        told.push(BY_TAIL.to_owned());
    }
    let elsewhere: Vec<&str> = fitting
        .iter()
        .filter(|entry| wanted.epoll && entry.traits.waits != Waits::SleepsInPoll)
        .map(|entry| entry.traits.name)
        .collect();
    if !elsewhere.is_empty() {
        told.push(format!("Can wait in epoll, and were measured waiting in their own way: {}.", listed(&elsewhere)));
    }
    told
}

/// Says that the 99th percentile ranks.
const BY_TAIL: &str = "Ranked by the slowest of 100 single messages (p99).";

/// The figures of the channel that is the answer.
fn measured(report: &Report, advice: &Advice) -> Option<String> {
    let name = advice.transport?;
    let mut told = Vec::new();
    for session in &report.sessions {
        let Some(one) = session.density(name) else { continue };
        let tail = session.distribution(name, Series::Latency).and_then(|times| times.tail(0.99));
        let tail = tail.map_or(String::new(), |tail| format!(" (p99 {})", time(tail)));
        told.push(format!("{} {}{tail}", session.title(), time(one.median)));
    }
    (!told.is_empty()).then(|| format!("Here {name} takes: {}.", told.join("; ")))
}

/// The name of the command in its reports.
const COMMAND: &str = "choose";

/// The analysis of a report of this command: all transports that fit, in one table, and why the others do not.
pub fn study(report: &Report) -> Option<Study> {
    (report.command == COMMAND).then(|| {
        let table = (!report.sessions.is_empty()).then(|| Part::Table(String::new(), grid(report)));
        let parts = table.into_iter().chain(report.notes.iter().cloned().map(Part::Said)).collect();
        Study { title: "Which one", parts, ..Study::default() }
    })
}

/// The deciding plan comes first.
fn plans(wanted: &Wanted, fitting: &[&'static Entry], frame: Frame, warnings: &mut Vec<Warning>) -> Vec<Plan> {
    if wanted.processes {
        return plans_between_processes(wanted, fitting, frame, warnings);
    }
    let rate = wanted.rate.map(|value| Parameter { quantity: Quantity::Rate, value });
    let at_rate = match rate {
        Some(_) if wanted.is_rare() => {
            plan::of(&night_watchman::SCENARIO, Some(night_watchman::DEFAULT), fitting, frame, warnings)
        }
        Some(rate) => plan::of(&fixed_rate::SCENARIO, Some(rate), fitting, frame, warnings),
        None => None,
    };
    let stream = plan::between(wanted.shape(), wanted.measured(), fitting, frame, warnings);
    let single = plan::of(&latency::SCENARIO, None, fitting, frame, warnings);
    let many = wanted.channels.map(|channels| {
        let kinds: Vec<_> = fitting.iter().filter_map(|entry| footprint::named(entry.traits.name)).collect();
        footprint::plan(&kinds, channels, None, frame)
    });
    let plans = match wanted.first {
        None => [many, at_rate, stream, single],
        Some(First::Throughput) => [stream, many, at_rate, single],
        Some(First::Latency | First::P99) => [single, many, at_rate, stream],
    };
    plans.into_iter().flatten().collect()
}

/// As [`plans`]: a message at a rate, and the slowest of 100, are measured as one after a silence.
fn plans_between_processes(
    wanted: &Wanted,
    fitting: &[&'static Entry],
    frame: Frame,
    warnings: &mut Vec<Warning>,
) -> Vec<Plan> {
    let mut plan = |scenario, parameter| plan::of(scenario, parameter, fitting, frame, warnings);
    let is_after_a_silence = wanted.rate.is_some() || wanted.first == Some(First::P99);
    let wake = if is_after_a_silence { plan(&process::WAKE, None) } else { None };
    let (stream, single) = (plan(&process::SIZE, Some(wanted.measured())), plan(&process::PING_PONG, None));
    let plans = match wanted.first {
        None | Some(First::P99) => [wake, stream, single],
        Some(First::Throughput) => [stream, wake, single],
        Some(First::Latency) => [single, wake, stream],
    };
    plans.into_iter().flatten().collect()
}

/// The transports of the deciding session, the best first.
fn ranked(report: &Report, deciding: &Session) -> Vec<Standing> {
    let mut all = table::standings(deciding);
    if report.notes.iter().any(|note| note == BY_TAIL) {
        let tail = |one: &Standing| deciding.distribution(&one.name, Series::Latency)?.tail(0.99);
        all.sort_by(|a, b| tail(a).unwrap_or(f64::MAX).total_cmp(&tail(b).unwrap_or(f64::MAX)));
    }
    all
}

/// Whether this transport is the answer.
fn is_answer(report: &Report, name: &str) -> bool {
    let here = format!("Here {name} takes: ");
    report.notes.iter().any(|note| note.starts_with(&here))
}

/// The best of them, for a terminal; and the answer, wherever it is.
const SHORT: usize = 5;

/// The answer on a screen: the lines of code, the figures, and the best few.
pub fn short(report: &Report) -> String {
    let told = |note: &&String| !note.starts_with(EXCLUDED);
    let mut parts: Vec<Part> = report.notes.iter().filter(told).cloned().map(Part::Said).collect();
    if !report.sessions.is_empty() {
        let mut grid = grid(report);
        let all = grid.rows.len();
        let mut place = 0;
        grid.rows.retain(|row| {
            place += 1;
            place <= SHORT || row.name.as_deref().is_some_and(|name| is_answer(report, name))
        });
        let more = all - grid.rows.len();
        parts.push(Part::Table(String::new(), grid));
        let excluded = report.notes.iter().any(|note| note.starts_with(EXCLUDED));
        let reasons = if excluded { ", and why others do not" } else { "" };
        if more > 0 || excluded {
            parts.push(Part::Said(format!("{more} more fit: --verbose shows all of them{reasons}.")));
        }
    }
    table::part::terminal(&parts)
}

/// The beginning of a line about transports that do not meet the requirements.
const EXCLUDED: &str = "Not fit: ";

/// A row for each transport, the best first: the time of a message in each session, and its 99th percentile.
fn grid(report: &Report) -> Grid {
    let mut heads = vec!["transport".to_owned(), "waiting".to_owned()];
    for session in &report.sessions {
        heads.push(format!(">{}", title(session, report)));
        if has_singles(session) {
            heads.push("+>p99".to_owned());
        }
        if has_cpu(session) {
            heads.push("+>receiver's CPU".to_owned());
        }
        if is_of_channels(session) {
            heads.push("+>bytes of one".to_owned());
            heads.push("+>of all".to_owned());
        }
    }
    let mut grid = Grid::new(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    let Some(deciding) = report.sessions.first() else { return grid };
    for standing in ranked(report, deciding) {
        let waits = deciding.contestant(&standing.name).and_then(|one| one.waits).map_or("", |waits| waits.in_words());
        let mut cells = vec![standing.name.clone(), waits.to_owned()];
        for session in &report.sessions {
            cells.push(session.density(&standing.name).map_or(String::new(), |one| time(one.median)));
            if has_singles(session) {
                let times = session.distribution(&standing.name, Series::Latency);
                cells.push(times.and_then(|times| times.tail(0.99)).map_or(String::new(), time));
            }
            if has_cpu(session) {
                let spent = session.metric(&standing.name, Metric::ReceiverCpu);
                cells.push(spent.map_or(String::new(), |spent| time(spent.median)));
            }
            if is_of_channels(session) {
                let bytes = crate::footprint::resident(session, &standing.name);
                let channels = session.parameter.map_or(1.0, |parameter| parameter.value);
                let mebibytes = |bytes: f64| format!("{} MiB", figure(bytes * channels / f64::from(1 << 20)));
                cells.push(bytes.map_or(String::new(), grouped));
                cells.push(bytes.map_or(String::new(), mebibytes));
            }
        }
        grid.push(standing.tone, Some(&standing.name), cells);
    }
    grid
}

/// Adds the size of the messages if those of another session are longer.
fn title(session: &Session, report: &Report) -> String {
    let sized = |session: &Session| session.parameter.is_some_and(|one| one.quantity == Quantity::BytesByValue);
    let longer = |session: &Session| sized(session) && session.parameter != Some(carried::SMALLEST);
    if !sized(session) && report.sessions.iter().any(longer) {
        format!("{}, {}", session.title(), carried::SMALLEST.in_words())
    } else {
        session.title()
    }
}

fn has_singles(session: &Session) -> bool {
    session
        .transports()
        .any(|one| session.distribution(&one.name, Series::Latency).is_some_and(|times| !times.is_empty()))
}

/// Many channels: the bytes are as good a reason as the time.
fn is_of_channels(session: &Session) -> bool {
    session.scenario == footprint::SCENARIO
}

/// The one whose channels have the fewest bytes in memory, and the sizes of bounded ones.
fn of_channels(report: &Report) -> Option<String> {
    let session = report.sessions.iter().find(|session| is_of_channels(session))?;
    let bytes = |one: &Contestant| Some((crate::footprint::resident(session, &one.name)?, one.name.clone()));
    let (bytes, least) = session.transports().filter_map(bytes).min_by(|a, b| a.0.total_cmp(&b.0))?;
    let bytes = several(bytes as usize, "byte");
    Some(format!(
        "{least} takes the least memory: {bytes} a channel after one message. Each of many channels has one sender and one \
         receiver, and those with a bound have room for {} messages.",
        footprint::channel::PLACES
    ))
}

/// The CPU time of the receiver's thread per message: with few messages it is the cost of polling.
fn has_cpu(session: &Session) -> bool {
    session.transports().any(|one| session.metric(&one.name, Metric::ReceiverCpu).is_some())
}

/// The recommended transport for each session.
fn answer(report: &Report) -> impl Iterator<Item = String> {
    report.sessions.iter().map(move |session| format!("{}: {}", title(session, report), table::answer(session)))
}

/// Why the others were excluded: a line for each reason.
fn others(wanted: &Wanted) -> Vec<String> {
    let mut against: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for entry in registry::all().iter().filter(|entry| !entry.traits.hidden) {
        if let Some(why) = wanted.against(&entry.traits) {
            against.entry(why).or_default().push(entry.traits.name);
        }
    }
    against.into_iter().map(|(why, names)| format!("{EXCLUDED}{}: {why}.", listed(&names))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_messages_have_8_bytes_if_streamed_ones_are_longer() {
        let session =
            |scenario: &str, parameter| Session { scenario: scenario.into(), parameter, ..Session::default() };
        let titles = |value| {
            let by_value = Parameter { quantity: Quantity::BytesByValue, value };
            let sessions = vec![session("size", Some(by_value)), session("latency", None)];
            let report = Report { sessions, ..Report::default() };
            report.sessions.iter().map(|session| title(session, &report)).collect::<Vec<_>>()
        };
        assert_eq!(titles(64.0), ["size, 64 B by value", "latency, 8 B by value"]);
        assert_eq!(titles(8.0), ["size, 8 B by value", "latency"]);
    }
}
