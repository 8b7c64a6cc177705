//! "Messaging between threads": four designs, each message timed before the next one is sent; and the pitfalls that the
//! article lists without measuring them.
//!
//! The picture is the article's own: times on the x axis, messages on the y axis, a colour for each design. Its two
//! favourites are mailboxes and the event loop. Here this library's own are measured, asleep at once as in the article.
//! The table also has the same with a little spinning, and what they are made of in the article: a queue with a mutex.
//! The other two designs are measured by adapters written here, because the design itself is the subject: such a queue
//! with a reader that never sleeps, and with a condition variable.

mod conclusions;
mod naive;
pub(super) mod pictures;
mod pitfalls;
mod published;

use std::time::Duration;

use ybench_measure::distribution::Distribution;
use ybench_measure::error::Error;
use ybench_measure::frame::Frame;
use ybench_measure::outcome::Series;
use ybench_measure::plan;
use ybench_measure::record::{Details, Report, Session};
use ybench_measure::rounds::{Length, Plan, Rounds};
use ybench_measure::scenario::Entry;
use ybench_measure::scenario::{
    Scenario, burst, crowd, latency, neighbours, night_watchman, overrun, ping_pong, traffic,
};
use ybench_measure::stats;
use ybench_measure::warnings::Warning;

use self::published::{DESIGNS, Design, PUBLISHED_OUTLIERS, USLEEPS, YIELDS};
use crate::measure;
use crate::request::Request;
use crate::table::{Grid, Part, Tone, figure};

pub const ABOUT: &str =
    "\"Messaging between threads\": four designs by histogram, and bursts, silences, crowds and greedy neighbours";

/// Most pitfalls are figures without a verdict, and inherently slow to measure.
const RAKES_ROUNDS: u32 = 3;
/// For the others: as many as a verdict needs.
const JUDGED: Rounds = judged(super::ROUNDS);
/// A few more for the figures of most claims, because many rounds do not count there.
const FIRST: Rounds = judged(super::ROUNDS + 3);
const BOUNCED_FOR: Duration = Duration::from_millis(100);
const REST: Duration = Duration::from_millis(80);
/// Messages of a run, however long the silence before each.
const AFTER_A_SILENCE: u64 = 2;
/// Ten times as many would take as long as all the others together.
const LONGEST_BACKLOG: f64 = 1e6;

const fn judged(most: u32) -> Rounds {
    Rounds::Sound { wanted: stats::LEAST_ROUNDS as u32, most }
}

pub fn run(request: &Request) -> Result<Report, Error> {
    let entries = super::own(request, &DESIGNS.each_ref().map(|design| design.transport))?;
    let rounds = request.rounds.unwrap_or(super::ROUNDS);
    let mut report = measure::begin("article threads", request, rounds);
    let plans = plans(request, rounds, &entries, &mut report.warnings);
    measure::print_heading(&report);
    measure::measure(request, plans, &mut report)?;
    Ok(report)
}

fn plans(request: &Request, rounds: u32, entries: &[&'static Entry], warnings: &mut Vec<Warning>) -> Vec<Plan> {
    let bounced = request.frame(rounds, Length::Time(BOUNCED_FOR));
    let rakes = |length| request.frame(request.rounds.unwrap_or(RAKES_ROUNDS), length);
    let (rest, silent) = (rakes(Length::Time(REST)), rakes(Length::TimeAndUnits(REST, AFTER_A_SILENCE)));
    let few: Vec<_> =
        entries.iter().copied().filter(|entry| request.named || published::is_one_of_few(entry.traits.name)).collect();
    let backlogs = burst::SCENARIO.parameters.partition_point(|backlog| backlog.value <= LONGEST_BACKLOG);
    let bursts = Scenario { parameters: &burst::SCENARIO.parameters[..backlogs], ..burst::SCENARIO };
    let mut plans = Vec::new();
    let mut add = |scenario: &Scenario, entries: &[&'static Entry], frame: Frame| {
        plans.extend(plan::every(scenario, entries, frame, warnings));
    };
    // In a burst no receiver waits: another way of waiting would be the same queue again.
    let queues = |entry: &&&'static Entry| ![YIELDS, USLEEPS].contains(&entry.traits.name);
    let queues: Vec<_> = entries.iter().filter(queues).copied().collect();
    add(&bursts, &queues, rest);
    add(&night_watchman::SCENARIO, &few, silent);
    traffic::SCENARIOS.iter().for_each(|shape| add(shape, &few, rest));
    add(&crowd::SCENARIO, entries, rest);
    add(&crowd::BOUNCED, &few, rest);
    let stream = Frame { transports: Length::Units(request.messages.unwrap_or(naive::MESSAGES)), ..rest };
    let rounds = request.rounds.map_or(JUDGED, Rounds::Exactly);
    for (scenario, frame) in
        [(&overrun::SCENARIO, stream), (&neighbours::SCENARIO, rest), (&ping_pong::ON_ONE_CPU, rest)]
    {
        let judged = plan::every(scenario, entries, frame, warnings).into_iter();
        plans.extend(judged.map(|plan| Plan { rounds, ..plan }));
    }
    // The article begins with it, and most of its claims are about it.
    let first = plan::every(&latency::SCENARIO, entries, bounced, warnings).into_iter();
    let rounds = request.rounds.map_or(FIRST, Rounds::Exactly);
    plans.splice(..0, first.map(|plan| Plan { rounds, ..plan }));
    plans
}

/// The article's tables. `beyond`: the limit, in nanoseconds, that a message should not exceed.
pub(super) fn parts(report: &Report, beyond: f64) -> Vec<Part> {
    let heading = |heading: &str| Part::Heading(heading.to_owned());
    let mut parts = vec![heading("One message at a time"), Part::Table(String::new(), colours(report, beyond))];
    parts.extend([heading(naive::HEADING), naive::table(report)]);
    parts.extend(conclusions::parts(report));
    parts.push(heading("The pitfalls"));
    parts.extend(pitfalls::parts(report));
    parts
}

/// The article's four designs and today's channels, by the two figures of interest in the article, and the tail.
fn colours(report: &Report, beyond: f64) -> Grid {
    let head_beyond = format!(">beyond {} us, %", figure(beyond / 1e3));
    let head = [
        "colour",
        "design",
        ">published, us",
        ">median, us",
        ">mean",
        ">p99",
        ">p99.9",
        ">max",
        &head_beyond,
        ">slow of 1,000",
    ];
    let mut grid = Grid::new(&head);
    let session = report.session(latency::SCENARIO.name);
    for design in &DESIGNS {
        let mut cells = vec![
            design.colour.unwrap_or("").to_owned(),
            design.label.to_owned(),
            design.published.map_or(String::new(), figure),
        ];
        match session.and_then(|session| times(session, design)) {
            Some(times) => cells.extend(measured(times, beyond)),
            None => cells.push("not measured".to_owned()),
        }
        grid.push(Tone::Plain, Some(design.transport), cells);
    }
    let ways = match session.is_some_and(|session| session.details.values().any(one_way)) {
        true => "Times are one way, the published ones too.",
        false => {
            "Times are there and back, as the clocks of the two CPUs are not in step; the published ones are one way."
        }
    };
    grid.notes.push(format!("{ways} Slow: more than ten times the median; published: {PUBLISHED_OUTLIERS} of 1,000."));
    grid
}

fn measured(times: &Distribution, beyond: f64) -> Vec<String> {
    let figures = [Some(times.median()), Some(times.mean()), times.tail(0.99), times.tail(0.999), Some(times.most())];
    let mut cells: Vec<String> = figures.map(|time| time.map_or(String::new(), |time| figure(time / 1e3))).to_vec();
    cells.push(figure(times.beyond(beyond) as f64 / times.count().max(1) as f64 * 100.0));
    cells.push(figure(times.slow_of_thousand()));
    cells
}

fn one_way(details: &Details) -> bool {
    details.distributions.contains_key(&Series::Latency)
}

/// One way if the clocks are in step, otherwise there and back.
fn times<'a>(session: &'a Session, design: &Design) -> Option<&'a Distribution> {
    let of = |series| session.distribution(design.transport, series);
    of(Series::Latency).or_else(|| of(Series::RoundTrip))
}
