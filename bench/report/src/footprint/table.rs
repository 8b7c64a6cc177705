//! The result as tables: a row for each kind of channel, in the order of the libraries, and a row for each library that was
//! compiled.

use ybench_measure::figures::{figure, grouped, interval, time};
use ybench_measure::footprint::channel::LARGE;
use ybench_measure::footprint::{SCENARIO, compile};
use ybench_measure::outcome::Metric;
use ybench_measure::record::{Kind, Report, Session};
use ybench_measure::stats::Spread;

use crate::table::{Grid, Part, Tone};

/// What the columns about channels are.
const SAID: &str = "Bytes in memory are the kernel's count, allocated bytes are those asked of the allocator; both are with the \
                    two handles. Kept is what a channel has after a burst was sent and received. The stack is that of one \
                    message of 32 KiB, in such messages, in this build; only builds with `--features sizes` have it.";

const OF_BUILDS: &str = "CPU is the user time of cargo and of all that it started. Programs are stripped. Packages are those \
                         that were compiled below the program.";

/// All tables of the report, with a sentence on what the columns are.
pub(super) fn parts(report: &Report) -> Vec<Part> {
    let mut parts = Vec::new();
    for session in report.sessions.iter().filter(|session| session.scenario == SCENARIO) {
        let parameter = session.parameter.map_or(String::new(), |parameter| parameter.in_words());
        parts.push(Part::Table(format!("{parameter}: times, and bytes in memory, of each"), channels(session)));
        parts.push(Part::Table("Bytes allocated, a burst, and one large message".to_owned(), beside(session)));
        parts.push(Part::Said(SAID.to_owned()));
    }
    let builds = compile::SCENARIOS.map(|scenario| report.session(scenario));
    if builds.iter().any(Option::is_some) {
        parts.push(Part::Table("A program of one line, built from nothing".to_owned(), builds_grid(&builds)));
        parts.push(Part::Said(OF_BUILDS.to_owned()));
    }
    parts
}

/// The median of a metric.
fn median(session: &Session, name: &str, metric: Metric) -> Option<f64> {
    session.metric(name, metric).map(|spread| spread.median)
}

/// Resident bytes of a channel after its first message.
pub fn resident(session: &Session, name: &str) -> Option<f64> {
    median(session, name, Metric::ResidentAfter)
}

fn shown(value: Option<f64>, form: fn(f64) -> String) -> String {
    value.map_or(String::new(), form)
}

/// The kinds in the order of the session, the baseline last.
fn names(session: &Session) -> impl Iterator<Item = (&str, Tone)> {
    let of = move |kind: Kind| session.contenders.iter().filter(move |one| one.kind == kind);
    let limit = of(Kind::Limit).filter(|one| one.name == session.limit);
    let tone = |kind| if kind == Kind::Limit { Tone::Limit } else { Tone::Plain };
    of(Kind::Transport).chain(limit).map(move |one| (one.name.as_str(), tone(one.kind)))
}

/// Times, and resident bytes.
pub fn channels(session: &Session) -> Grid {
    let heads = [
        "kind",
        ">make, ns",
        ">first message",
        ">drop",
        ">all three",
        "+>min .. max",
        ">bytes idle",
        ">after one message",
        ">when dropped",
    ];
    let mut grid = Grid::new(&heads);
    for (name, tone) in names(session) {
        let get = |metric, form| shown(median(session, name, metric), form);
        let all: Option<Spread> = session.density(name);
        let cells = vec![
            name.to_owned(),
            get(Metric::Make, figure),
            get(Metric::FirstMessage, figure),
            get(Metric::Drop, figure),
            shown(all.map(|spread| spread.median), figure),
            all.map_or(String::new(), interval),
            get(Metric::ResidentIdle, grouped),
            get(Metric::ResidentAfter, grouped),
            get(Metric::ResidentLeft, grouped),
        ];
        grid.push(tone, Some(name), cells);
    }
    grid
}

fn beside(session: &Session) -> Grid {
    let heads = [
        "kind",
        ">allocated idle",
        ">after one message",
        ">when dropped",
        ">KiB kept, allocated",
        ">resident",
        ">stack, messages",
    ];
    let kibibytes = |bytes: f64| figure(bytes / 1_024.0);
    let messages = |bytes: f64| figure(bytes / LARGE as f64);
    let mut grid = Grid::new(&heads);
    for (name, tone) in names(session) {
        let get = |metric, form| shown(median(session, name, metric), form);
        let cells = vec![
            name.to_owned(),
            get(Metric::AllocatedIdle, grouped),
            get(Metric::AllocatedAfter, grouped),
            get(Metric::AllocatedLeft, grouped),
            get(Metric::AllocatedKept, kibibytes),
            get(Metric::ResidentKept, kibibytes),
            get(Metric::StackBytes, messages),
        ];
        grid.push(tone, Some(name), cells);
    }
    grid
}

/// Release and debug side by side.
fn builds_grid(builds: &[Option<&Session>; 2]) -> Grid {
    let heads = [
        "library",
        ">packages",
        ">release, CPU",
        "+>min .. max, s",
        "+>until built",
        "+>bytes",
        ">debug, CPU",
        "+>min .. max, s",
        "+>until built",
        "+>bytes",
    ];
    let mut grid = Grid::new(&heads);
    let Some(first) = builds.iter().flatten().next() else { return grid };
    for (name, tone) in names(first) {
        let mut cells = vec![name.to_owned(), shown(median(first, name, Metric::Packages), grouped)];
        for build in builds {
            let get = |metric, form| shown(build.and_then(|build| median(build, name, metric)), form);
            let spread = build.and_then(|build| build.density(name));
            let seconds = |spread: Spread| {
                let [min, max] = [spread.min, spread.max].map(|nanoseconds| nanoseconds / 1e9);
                interval(Spread { median: spread.median / 1e9, min, max })
            };
            cells.extend([
                shown(spread.map(|spread| spread.median), time),
                spread.map_or(String::new(), seconds),
                get(Metric::BuildTime, time),
                get(Metric::ProgramBytes, grouped),
            ]);
        }
        grid.push(tone, Some(name), cells);
    }
    grid
}
