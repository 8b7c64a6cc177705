//! "Nanosecond-precision test": what reading the clock costs, and then every single message timed by it.
//!
//! In the article's order: the clocks; the latency of each message and its jitter; the density of each message at the
//! sender and at the receiver, with the batches that can be read from it; the latency that grows while the sender is
//! faster than the receiver; and what the article asks for instead, latency at a fixed rate. There ØMQ was measured
//! over TCP; here a TCP socket, a local socket, the ypipe with its ypollset and today's channel stand side by side.

pub(super) mod pictures;
mod published;

use std::time::Duration;

use ybench_core::clock::Facts;
use ybench_core::error::Error;
use ybench_core::frame::Frame;
use ybench_core::plan;
use ybench_core::record::{Quantity, Report};
use ybench_core::rounds::{Length, Plan};
use ybench_core::scenario::{Scenario, density, fixed_rate, latency, overrun};
use ybench_core::transport::registry::Entry;
use ybench_core::warnings::Warning;

use self::published::Stated;
use crate::cli::Request;
use crate::report::files;
use crate::run::say;
use crate::table::{align_right, figure, new_table, not_reached, text as plain};
use crate::{clock, run};

pub const ABOUT: &str = "\"Nanosecond-precision test\": the cost of clocks, and the time of every single message";

/// The article's throughput test is a million messages.
const STREAMED: u64 = 1_000_000;
const BOUNCED_FOR: Duration = Duration::from_millis(400);

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
    let streamed = request.frame(rounds, Length::TimeAndUnits(Duration::from_millis(100), STREAMED));
    let mut plans = Vec::new();
    let mut add = |scenario: &Scenario, frame: Frame| {
        plans.extend(plan::every(scenario, entries, frame, warnings));
    };
    add(&latency::SCENARIO, bounced);
    add(&density::SCENARIO, streamed);
    add(&overrun::SCENARIO, streamed);
    add(&fixed_rate::SCENARIO, bounced);
    plans
}

/// The article's tables, for the transports that were measured.
pub(super) fn text(report: &Report) -> String {
    let measured = |name: &&str| report.sessions.iter().any(|session| session.contestant(name).is_some());
    let names: Vec<&str> = TRANSPORTS.into_iter().filter(|name| measured(name)).collect();
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
    parts.push(format!("{}\n", distortion(report, &names)));
    parts.push(format!(
        "LATENCY AND THROUGHPUT COMBINED: the sender is faster than the receiver\n\n{}\n",
        stated(report, &published::OVERRUN, &names)
    ));
    parts.push(format!(
        "LATENCY AT A FIXED RATE: median and 99th percentile, us, from the intended time\n\n{}\n",
        rates(report, &names)
    ));
    parts.join("\n")
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

fn rates(report: &Report, names: &[&str]) -> String {
    let mut table = new_table(&[&["messages a second", "published"], names].concat());
    let of_rates = |session: &&ybench_core::record::Session| session.scenario == fixed_rate::SCENARIO.name;
    for session in report.sessions.iter().filter(of_rates) {
        let Some(rate) = session.parameter.filter(|parameter| parameter.quantity == Quantity::Rate) else { continue };
        let published = if rate.value == 10_000.0 { "50" } else { "-" };
        let mut cells = vec![crate::table::grouped(rate.value), published.to_owned()];
        cells.extend(names.iter().map(|name| at_rate(session, name)));
        table.add_row(cells);
    }
    align_right(&mut table, &(0..names.len() + 2).collect::<Vec<_>>());
    plain(&table)
}

fn at_rate(session: &ybench_core::record::Session, name: &str) -> String {
    let times = session.distribution(name, ybench_core::outcome::Series::Latency);
    times.map_or("-".to_owned(), |times| {
        let reached = not_reached(session, name).map_or(String::new(), |words| format!(" (not reached: {words})"));
        format!("{} / {}{reached}", figure(times.median() / 1e3), figure(times.quantile(0.99) / 1e3))
    })
}
