//! "Y-suite": local sockets against the ypipe, one message at a time, many messages, and in batches.
//!
//! In the article's shape: a message bounced, averages; throughput; batches of 1, 2, 4 .. 1,024. The article bounced it
//! 1,000,000 times in three runs, which takes minutes if each needs a wake-up; here are more runs of a second each. The
//! article does not say whether a bounce counts as one message or as two; here a density is the time one way.
//! Transports run in turn with baselines between them, so that each ratio is formed within a round. Two statements of
//! the article have no figure there and are measured here: a signal by itself, and the latency of batches at the
//! sender.

mod conclusions;
mod delay;
mod published;
mod signals;
mod sweep;
mod tables;

use std::time::Duration;

use ybench_measure::error::Error;
use ybench_measure::frame::Frame;
use ybench_measure::limits;
use ybench_measure::plan;
use ybench_measure::record::{Report, Session};
use ybench_measure::rounds::{Contender, Length, Plan, Rounds};
use ybench_measure::scenario::Entry;
use ybench_measure::scenario::{ping_pong, throughput};
use ybench_measure::stats;

use self::published::Row;
use crate::measure;
use crate::plot::Picture;
use crate::request::Request;
use crate::table::Grid;
use crate::table::Part;

pub const ABOUT: &str =
    "\"Y-suite\": local sockets and the ypipe, with and without polling, and batches of 1 to 1,024 messages";

const BOUNCED_FOR: Duration = Duration::from_secs(1);
/// The article gives no number of messages for throughput; a run is at least that many and about so long.
const STREAMED: u64 = 1_000_000;
const STREAMED_FOR: Duration = Duration::from_millis(100);
/// Signals alone, and messages at a fixed rate: many short runs.
const SIGNALLED_FOR: Duration = Duration::from_millis(5);
const DELAYED_FOR: Duration = Duration::from_millis(40);

pub fn run(request: &Request) -> Result<Report, Error> {
    let rounds = request.rounds.unwrap_or(super::ROUNDS);
    let plans = plans(request, rounds)?;
    let mut report = measure::begin("article y-suite", request, rounds);
    measure::print_heading(&report);
    measure::measure(request, plans, &mut report)?;
    Ok(report)
}

fn plans(request: &Request, rounds: u32) -> Result<Vec<Plan>, Error> {
    // The requested messages are bounces, of two messages each.
    let bounced =
        request.messages.map_or(Length::Time(BOUNCED_FOR), |bounces| Length::Units(bounces.saturating_mul(2)));
    let bouncing = Frame { transports: bounced, ..request.frame(rounds, Length::Time(STREAMED_FOR)) };
    let streaming = request.frame(rounds, Length::TimeAndUnits(STREAMED_FOR, STREAMED));
    let those = |names: &[&str]| -> Vec<&'static Entry> {
        let all = request.entries.iter().copied();
        all.filter(|entry| names.contains(&entry.traits.name)).collect()
    };
    let compared = those(&published::TRANSPORTS);
    let swept = those(&sweep::TRANSPORTS);

    let mut plans = Vec::new();
    if !compared.is_empty() {
        let bounced = compared.iter().map(|entry| ping_pong::contender(entry, None, bouncing)).collect();
        plans.push(article_plan("ping-pong", "The worst case: one message bounced", bouncing, bounced));
        let streamed = compared.iter().map(|entry| throughput::contender(entry, None, streaming)).collect();
        plans.push(article_plan("throughput", "Messages pushed one by one", streaming, streamed));
    }
    if !swept.is_empty() {
        let batches = swept.iter().flat_map(|entry| sweep::contenders(entry, streaming)).collect();
        plans.push(article_plan(sweep::SCENARIO, "Messages sent in batches of 1 to 1,024", streaming, batches));
    }
    if compared.iter().any(|entry| entry.traits.name == published::WITH_POLLING) {
        let plan = signals::plan(request.frame(rounds, Length::Time(SIGNALLED_FOR)));
        plans.insert(0, beyond_doubt(plan, request, 2 * rounds));
    }
    if let Some(entry) = swept.iter().find(|entry| entry.traits.name == published::WITH_POLLING) {
        let plan = delay::plan(entry, request.frame(rounds, Length::Time(DELAYED_FOR)));
        plans.push(beyond_doubt(plan, request, rounds));
    }
    if plans.is_empty() {
        let sentence = format!("The article knows only these transports: {}.", published::TRANSPORTS.join(", "));
        return Err(Error::Refused(sentence));
    }
    Ok(plans)
}

/// Short runs are dropped more often than others: as many rounds as a verdict needs, and some more.
fn beyond_doubt(plan: Plan, request: &Request, most: u32) -> Plan {
    match request.rounds {
        Some(_) => plan,
        None => Plan { rounds: Rounds::Sound { wanted: stats::LEAST_ROUNDS as u32 + 2, most }, ..plan },
    }
}

fn article_plan(scenario: &str, about: &str, frame: Frame, mut contenders: Vec<Contender>) -> Plan {
    let limit = if scenario == "ping-pong" { &limits::FUTEX } else { frame.stream_limit() };
    contenders.push(frame.limit(limit));
    plan::plan(scenario, about, None, frame, limit, contenders)
}

/// The article's tables.
pub(super) fn parts(report: &Report) -> Vec<Part> {
    let mut parts = Vec::new();
    if let (Some(worst), Some(streamed)) = (report.session("ping-pong"), report.session("throughput")) {
        let heading = |heading: &str| Part::Heading(heading.to_owned());
        let table = |title: &str, session: &Session, rows: &[Row]| {
            Part::Table(title.to_owned(), tables::article(session, rows))
        };
        parts.extend([
            heading("Performance with polling"),
            Part::Said(WORST.to_owned()),
            table("The worst case: one message bounced between two threads", worst, &published::WORST_WITH_POLLING),
            table("Maximal throughput: messages pushed as fast as possible", streamed, &published::STREAM_WITH_POLLING),
            heading("Performance without polling"),
            table("Worst-case scenario", worst, &published::WORST_WITHOUT_POLLING),
            table("Maximal throughput scenario", streamed, &published::STREAM_WITHOUT_POLLING),
            heading("Not in the article"),
            table("Worst-case scenario", worst, &published::BESIDE),
            table("Maximal throughput scenario", streamed, &published::BESIDE),
        ]);
    }
    let mut section = |heading: &str, grid: Option<Grid>| {
        let table = |grid| [Part::Heading(heading.to_owned()), Part::Table(String::new(), grid)];
        parts.extend(grid.map(table).into_iter().flatten());
    };
    section("The signal alone", signals::table(report));
    section("Batches", report.session(sweep::SCENARIO).map(sweep::table));
    section("What batches at the sender cost", delay::table(report));
    parts.extend(conclusions::parts(report));
    parts
}

const WORST: &str = "Density: from the send of a message to its receipt, one way, including the wake-up of the reader \
    if it is bounced. Switches: how often either thread was switched out; one per message means \
    that each reader slept.";

/// The article's graphs, and the latency of its batches.
pub(super) fn pictures(report: &Report) -> Vec<(String, Picture)> {
    let mut all = sweep::pictures(report);
    all.extend(delay::picture(report));
    all
}
