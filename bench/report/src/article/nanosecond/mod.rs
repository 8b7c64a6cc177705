//! "Nanosecond-precision test": the cost of reading the clock, and then every single message timed by it.
//!
//! In the article's order: the clocks; the latency of each message and its jitter; the density of each message at the
//! sender and at the receiver, with the batches computed from it; the latency that grows while the sender is faster
//! than the receiver; a sender that is slowed, or as fast as the receiver; and latency at fixed rates, which the
//! article recommends. The article measured ØMQ over TCP. Here a TCP socket, a local socket, the ypipe with its
//! ypollset and today's channel are compared.

mod conclusions;
pub(super) mod pictures;
mod published;
mod rates;

use std::time::Duration;

use ybench_measure::clock::Facts;
use ybench_measure::error::Error;
use ybench_measure::frame::Frame;
use ybench_measure::outcome::Metric;
use ybench_measure::plan;
use ybench_measure::record::{Report, Session};
use ybench_measure::rounds::{Length, Plan};
use ybench_measure::scenario::Entry;
use ybench_measure::scenario::{Scenario, density, latency, overrun, paced};
use ybench_measure::warnings::Warning;

use self::published::Stated;
use crate::request::Request;
use crate::table::{Grid, Part, Tone, count, figure};
use crate::{clock, measure};

pub const ABOUT: &str = "\"Nanosecond-precision test\": the cost of clocks, and the time of every single message";

/// The article's throughput test is a million messages.
const STREAMED: u64 = 1_000_000;
const BOUNCED_FOR: Duration = Duration::from_millis(300);
const PACED_FOR: Duration = Duration::from_millis(50);

/// A million messages through a socket take seconds: fewer rounds, but enough for a verdict.
const DENSITY_ROUNDS: u32 = 9;
const OVERRUN_ROUNDS: u32 = 6;

const TRANSPORTS: [&str; 4] = ["tcp-stream", "unix-stream", "ypipe-ypollset", "spsc"];

pub fn run(request: &Request) -> Result<Report, Error> {
    let entries = super::own(request, &TRANSPORTS)?;
    let rounds = request.rounds.unwrap_or(super::ROUNDS);
    let mut report = measure::begin("article nanosecond", request, rounds);
    let plans = plans(request, rounds, &entries, &mut report.warnings);
    measure::print_heading(&report);
    report.clock = Some(Facts::in_full(request.place));
    measure::measure(request, plans, &mut report)?;
    Ok(report)
}

fn plans(request: &Request, rounds: u32, entries: &[&'static Entry], warnings: &mut Vec<Warning>) -> Vec<Plan> {
    let bounced = request.frame(rounds, Length::Time(BOUNCED_FOR));
    let streamed = |rounds| {
        let length = Length::TimeAndUnits(Duration::from_millis(100), STREAMED);
        request.frame(request.rounds.unwrap_or(rounds), length)
    };
    let mut plans = Vec::new();
    let mut add = |scenario: &Scenario, frame: Frame| {
        plans.extend(plan::every(scenario, entries, frame, warnings));
    };
    add(&latency::SCENARIO, bounced);
    add(&density::SCENARIO, streamed(DENSITY_ROUNDS));
    add(&overrun::WITH_BOUNDS, streamed(OVERRUN_ROUNDS));
    add(&paced::SCENARIO, request.frame(rounds, Length::Time(PACED_FOR)));
    plans.extend(rates::plans(request, entries, warnings));
    plans
}

/// The article's tables, for the transports that were measured.
pub(super) fn parts(report: &Report) -> Vec<Part> {
    let names = names(report);
    let mut parts = Vec::new();
    if let Some(facts) = &report.clock {
        parts.push(Part::Heading("Clocks".to_owned()));
        parts.push(clock::table::article(facts, &report.environment));
        parts.push(clock::table::distortions(facts, &report.environment));
    }
    let mut part = |heading: &str, grid: Grid| {
        parts.extend([Part::Heading(heading.to_owned()), Part::Table(String::new(), grid)]);
    };
    part("Latency test: one message at a time", stated(report, &published::LATENCY, &names));
    part("Throughput test, the sender's side", stated(report, &published::SENDER, &names));
    part("Throughput test, the receiver's side", stated(report, &published::RECEIVER, &names));
    parts.push(Part::Said(distortion(report, &names)));
    parts.extend(conclusions::cost_of_the_clock(report).map(Part::Said));
    let mut part = |heading: &str, grid: Grid| {
        parts.extend([Part::Heading(heading.to_owned()), Part::Table(String::new(), grid)]);
    };
    part(
        "Latency and throughput combined: the sender is faster than the receiver",
        stated(report, &published::OVERRUN, &names),
    );
    part("Latency with a sender that pauses after each message: median, us, and the rate", pauses(report, &names));
    part(
        "Latency at a fixed rate: median and 99th percentile, us, from the intended time",
        rates::table(report, &names),
    );
    parts.extend(conclusions::parts(report, &names));
    parts
}

/// The measured transports.
fn names(report: &Report) -> Vec<&'static str> {
    let measured = |name: &&str| report.sessions.iter().any(|session| session.contestant(name).is_some());
    TRANSPORTS.into_iter().filter(measured).collect()
}

/// The median over the runs with the minimum and the maximum, and the rate received.
fn pauses(report: &Report, names: &[&str]) -> Grid {
    let mut grid = Grid::new(&["sender", "transport", ">latency, us", ">least", ">most", ">sent/s", ">received/s"]);
    for (who, load) in [("half as quick as the receiver", paced::SLOWED), ("as quick as the receiver", paced::MATCHED)]
    {
        let session = |one: &&Session| one.scenario == paced::SCENARIO.name && one.parameter == Some(load);
        let Some(session) = report.sessions.iter().find(session) else { continue };
        for name in names {
            let Some(runs) = session.density(name) else { continue };
            let rate = |metric| session.metric(name, metric).map_or("-".to_owned(), |rate| count(rate.median));
            let mut cells = vec![who.to_owned(), (*name).to_owned()];
            cells.extend([runs.median, runs.min, runs.max].map(|time| figure(time / 1e3)));
            cells.extend([Metric::RateWanted, Metric::RateReached].map(rate));
            grid.push(Tone::Plain, None, cells);
        }
    }
    grid
}

/// The article's figures in its order, each transport with the published value.
fn stated(report: &Report, rows: &[Stated], names: &[&str]) -> Grid {
    let heads: Vec<String> = names.iter().map(|name| format!(">{name}")).collect();
    let heads: Vec<&str> = ["", ">published"].into_iter().chain(heads.iter().map(String::as_str)).collect();
    let mut grid = Grid::new(&heads);
    for row in rows {
        let mut cells = vec![row.what.to_owned(), row.published.to_owned()];
        cells.extend(names.iter().map(|name| (row.measured)(report, name).unwrap_or_else(|| "-".to_owned())));
        grid.push(Tone::Plain, None, cells);
    }
    grid
}

/// By how much the clock lengthens a stream of each transport.
fn distortions(report: &Report, names: &[&str]) -> Vec<String> {
    let shares = names.iter().filter_map(|name| {
        let share = published::distortion(report, name)?;
        // A negative share is the difference between two runs.
        Some(if share > 0.0 { format!("{name} {share:.0} %") } else { format!("{name} not measurable") })
    });
    shares.collect()
}

/// "Adding 33 nanoseconds ... will distort the results by 20 %": by how much on this machine.
fn distortion(report: &Report, names: &[&str]) -> String {
    let shares = distortions(report, names);
    if shares.is_empty() {
        return "The distortion by the clock was not measured.".to_owned();
    }
    format!(
        "Timing every message makes the stream longer by: {} (published: 2.1 % to 20 %, by processor and rate). Beyond \
         that, the densities above are those of the clock.",
        shares.join(", ")
    )
}
