//! "Nanosecond-precision test": what reading the clock costs, and then every single message timed by it.
//!
//! In the article's order: the clocks; the latency of each message and its jitter; the density of each message at the
//! sender and at the receiver, with the batches that can be read from it; the latency that grows while the sender is
//! faster than the receiver; a sender that is slowed, or just as quick; and what the article asks for instead, latency at
//! fixed rates. There ØMQ was measured
//! over TCP; here a TCP socket, a local socket, the ypipe with its ypollset and today's channel stand side by side.

mod conclusions;
pub(super) mod pictures;
mod published;
mod rates;

use std::time::Duration;

use ybench_core::clock::Facts;
use ybench_core::error::Error;
use ybench_core::frame::Frame;
use ybench_core::outcome::Metric;
use ybench_core::plan;
use ybench_core::record::{Report, Session};
use ybench_core::rounds::{Length, Plan};
use ybench_core::scenario::{Scenario, density, latency, overrun, paced};
use ybench_core::transport::registry::Entry;
use ybench_core::warnings::Warning;

use self::published::Stated;
use super::conclusion;
use crate::cli::Request;
use crate::report::files;
use crate::run::say;
use crate::table::{Grid, Tone, align_right, count, figure, new_table, text as plain};
use crate::{clock, run};

pub const ABOUT: &str = "\"Nanosecond-precision test\": the cost of clocks, and the time of every single message";

/// The article's throughput test is a million messages.
const STREAMED: u64 = 1_000_000;
const BOUNCED_FOR: Duration = Duration::from_millis(300);
const PACED_FOR: Duration = Duration::from_millis(50);

/// A million messages through a socket take seconds: fewer rounds, still enough for a verdict.
const DENSITY_ROUNDS: u32 = 9;
const OVERRUN_ROUNDS: u32 = 6;

const TRANSPORTS: [&str; 4] = ["tcp-stream", "unix-stream", "ypipe-ypollset", "spsc"];

pub fn run(request: &Request) -> Result<(), Error> {
    let entries = super::own(request, &TRANSPORTS)?;
    let rounds = request.rounds.unwrap_or(super::ROUNDS);
    let mut report = run::begin("article nanosecond", request, rounds);
    let plans = plans(request, rounds, &entries, &mut report.warnings);
    run::print_heading(&report);
    report.clock = Some(Facts::in_full(request.place));
    run::measure(plans, &mut report)?;
    say(text(&report));
    files::write(&request.out, &pictures::all(&report))?;
    run::finish_with_page(&report, request)
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
pub(super) fn text(report: &Report) -> String {
    let names = names(report);
    let mut parts = Vec::new();
    if let Some(facts) = &report.clock {
        let clocks =
            [clock::table::article(facts, &report.environment), clock::table::distortions(facts, &report.environment)];
        parts.push(format!("CLOCKS\n\n{}", clocks.join("\n")));
    }
    let mut part = |title: &str, rows: &[Stated]| parts.push(format!("{title}\n\n{}\n", stated(report, rows, &names)));
    part("LATENCY TEST: one message at a time", &published::LATENCY);
    part("THROUGHPUT TEST, the sender's side", &published::SENDER);
    part("THROUGHPUT TEST, the receiver's side", &published::RECEIVER);
    let clock = conclusions::cost_of_the_clock(report).map_or(String::new(), |told| format!("\n{told}"));
    parts.push(format!("{}{clock}\n", distortion(report, &names)));
    parts.push(format!(
        "LATENCY AND THROUGHPUT COMBINED: the sender is faster than the receiver\n\n{}\n",
        stated(report, &published::OVERRUN, &names)
    ));
    parts.push(format!(
        "LATENCY WITH A SENDER THAT PAUSES AFTER EACH MESSAGE: median, us, and the rate\n\n{}\n",
        pauses(report, &names)
    ));
    parts.push(format!(
        "LATENCY AT A FIXED RATE: median and 99th percentile, us, from the intended time\n\n{}\n",
        rates::table(report, &names)
    ));
    parts.push(format!("{}\n\n{}", conclusion::HEADING, conclusions::text(report, &names)));
    parts.join("\n")
}

/// Those of the transports that were measured.
fn names(report: &Report) -> Vec<&'static str> {
    let measured = |name: &&str| report.sessions.iter().any(|session| session.contestant(name).is_some());
    TRANSPORTS.into_iter().filter(measured).collect()
}

/// The median over the runs with the least and the most, and what the receiver received.
fn pauses(report: &Report, names: &[&str]) -> String {
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
    grid.terminal()
}

/// The article's figures in its order, each transport beside the published value.
fn stated(report: &Report, rows: &[Stated], names: &[&str]) -> String {
    let mut table = new_table(&[&["", "published"], names].concat());
    for row in rows {
        let mut cells = vec![row.what.to_owned(), row.published.to_owned()];
        cells.extend(names.iter().map(|name| (row.measured)(report, name).unwrap_or_else(|| "-".to_owned())));
        table.add_row(cells);
    }
    align_right(&mut table, &(1..names.len() + 2).collect::<Vec<_>>());
    plain(&table)
}

/// "Adding 33 nanoseconds ... will distort the results by 20 %": by how much here.
fn distortion(report: &Report, names: &[&str]) -> String {
    let shares = names.iter().filter_map(|name| {
        let share = published::distortion(report, name)?;
        Some(format!("{name} {share:.0} %"))
    });
    let shares: Vec<String> = shares.collect();
    if shares.is_empty() {
        return "The distortion by the clock was not measured.".to_owned();
    }
    format!(
        "Timing every message makes the stream longer by: {} (published: 2.1 % to 20 %, by processor and rate). Beyond \
         that, the densities above are those of the clock.",
        shares.join(", ")
    )
}
