//! Cases as tables: a table for each group and figure, with all transports and their ratio to the best of ours.
//! Sentences below it say where a competitor is first, and where one is near. Made from the result alone.

use ybench_measure::figures::figure;
use ybench_measure::record::{Quantity, Report, Session};
use ybench_measure::scenario::cells::{self, Cell, Figure};
use ybench_measure::stats::{DIFFERENCE, LEAST_ROUNDS, Spread};
use ybench_measure::warnings::Warning;

use super::COMMAND;
use super::beside::{Beside, FAR, Member};
use crate::report::Study;
use crate::table::Part;
use crate::table::sections::{Section, sections};
use crate::table::{Grid, Tone};

/// The whole analysis, if the report is of `ybench competitors`.
pub fn study(report: &Report) -> Option<Study> {
    let part = |cell: CellPart| {
        let tables = cell.grids.into_iter().map(|(title, grid)| Part::Table(title, grid));
        let out = cell.out.into_iter().map(Part::Said);
        std::iter::once(Part::Heading(cell.title)).chain(tables).chain(out).collect::<Vec<_>>()
    };
    let mut parts: Vec<Part> = cell_parts(report)?.into_iter().flat_map(part).collect();
    parts.push(Part::Said(LEGEND.to_owned()));
    Some(Study { title: "Side by side", parts, ..Study::default() })
}

const LEGEND: &str = "\"Ours\" is the best of this project's forms in each table. After each figure: its multiple \
of ours, the median of the ratios within the rounds, with the minimum and the maximum.";

/// One case.
struct CellPart {
    title: String,
    grids: Vec<(String, Grid)>,
    /// The excluded transports, and why.
    out: Vec<String>,
}

fn cell_parts(report: &Report) -> Option<Vec<CellPart>> {
    if report.command != COMMAND {
        return None;
    }
    let part = |section: &Section<'_>| Some(part(section, cells::named(section.scenario)?, report));
    Some(sections(report).iter().filter_map(part).collect())
}

fn part(section: &Section<'_>, cell: &Cell, report: &Report) -> CellPart {
    let mut groups: Vec<&str> = Vec::new();
    for group in section.sessions.iter().flat_map(|session| &session.groups) {
        if !groups.contains(&group.name.as_str()) {
            groups.push(&group.name);
        }
    }
    let mut grids = Vec::new();
    for name in groups {
        for figure in cell.figures {
            let beside = |session: &&Session| {
                let group = session.groups.iter().find(|group| group.name == name)?;
                Some(Beside::of(session, group, figure))
            };
            let sizes: Vec<Beside> = section.sessions.iter().filter_map(beside).collect();
            if sizes.iter().any(|size| !size.members.is_empty()) {
                grids.push((format!("Transports that {name}: {}", figure.name), grid(&sizes, figure)));
            }
        }
    }
    CellPart {
        title: format!("{}: {}", section.scenario, section.about),
        grids,
        out: taken_out(section.scenario, report),
    }
}

/// A transport that failed validation in this case has no figures at that size.
pub(super) fn taken_out(cell: &str, report: &Report) -> Vec<String> {
    let sentence = |warning: &Warning| match warning {
        Warning::TakenOut { scenario, name, sentence } if scenario == cell => {
            Some(format!("{name} was taken out: it {sentence}."))
        }
        _ => None,
    };
    let mut out: Vec<String> = report.warnings.iter().filter_map(sentence).collect();
    out.dedup();
    out
}

/// A row for each transport, by the mean of the ratios; two columns for each size.
fn grid(sizes: &[Beside], figure: &Figure) -> Grid {
    let mut heads = vec!["transport".to_owned()];
    for size in sizes {
        heads.push(format!(">{}", bytes(size.bytes)));
        if figure.judged {
            heads.push(">times ours".to_owned());
        }
    }
    let mut grid = Grid::new(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    for (name, competitor) in names(sizes) {
        let mut cells = vec![if competitor { name.to_owned() } else { format!("{name} (ours)") }];
        for size in sizes {
            let member = size.member(name);
            cells.push(member.map_or(String::new(), |member| (figure.form)(member.value.median)));
            if figure.judged {
                cells.push(match member.and_then(|member| member.ratio) {
                    _ if size.best.as_deref() == Some(name) => "ours".to_owned(),
                    Some(ratio) => times(ratio),
                    None => String::new(),
                });
            }
        }
        let tone = if competitor { Tone::Plain } else { Tone::Limit };
        grid.push(tone, Some(name), cells);
    }
    grid.notes = if figure.judged { sentences(sizes) } else { Vec::new() };
    grid
}

/// All transports, and whether each is a competitor; by the mean of the ratios, those without one last.
fn names(sizes: &[Beside]) -> Vec<(&str, bool)> {
    let mut names: Vec<(&str, bool)> = Vec::new();
    for member in sizes.iter().flat_map(|size| &size.members) {
        if !names.iter().any(|(name, _)| *name == member.name) {
            names.push((&member.name, member.competitor));
        }
    }
    let rank = |name: &str| {
        let members: Vec<f64> = sizes
            .iter()
            .filter_map(|size| size.member(name))
            .map(|member| member.ratio.map_or(member.value.median, |ratio| ratio.median))
            .collect();
        members.iter().sum::<f64>() / members.len().max(1) as f64
    };
    names.sort_by(|one, other| rank(one.0).total_cmp(&rank(other.0)));
    names
}

pub(super) fn bytes(bytes: f64) -> String {
    Quantity::BytesByValue.short(bytes)
}

/// "1.27 (1.20..1.31)".
fn times(ratio: Spread) -> String {
    // Three decimals for very small ratios, so that they can be compared with very large ones.
    let one = |value: f64| if value < 0.01 { format!("{value:.3}") } else { figure(value) };
    format!("{} ({}..{})", one(ratio.median), one(ratio.min), one(ratio.max))
}

/// Where a competitor is first, and where one is near; or that none is.
fn sentences(sizes: &[Beside]) -> Vec<String> {
    if sizes.iter().any(|size| size.rounds < LEAST_ROUNDS) {
        return vec!["Too few rounds to name the first.".to_owned()];
    }
    let mut said: Vec<String> = sizes.iter().flat_map(told).collect();
    let nearest = || {
        let each = sizes.iter().filter_map(|size| Some((size.bytes, *size.competitors().first()?)));
        each.min_by(|one, other| one.1.1.median.total_cmp(&other.1.1.median))
    };
    if let (true, Some((at, (competitor, ratio)))) = (said.is_empty(), nearest()) {
        let name = &competitor.name;
        said.push(format!("Ours is first throughout; the nearest is {name}, {} at {}.", times(ratio), bytes(at)));
    }
    said
}

/// Ratios from here on read as 1.00, and nothing is ahead by that.
pub(super) const LEVEL: f64 = 0.995;

/// A competitor that is faster because it polls for longer is named with its CPU time.
fn at_the_cost_of(competitor: &Member) -> String {
    match competitor.cpu {
        Some(cpu) if cpu >= FAR => format!(" (with {} times the CPU time)", figure(cpu)),
        _ => String::new(),
    }
}

/// At one size.
fn told(size: &Beside) -> Vec<String> {
    let Some(ours) = &size.best else { return Vec::new() };
    let at = bytes(size.bytes);
    let (ahead, behind): (Vec<_>, Vec<_>) =
        size.competitors().into_iter().partition(|(_, ratio)| ratio.max * (1.0 + DIFFERENCE) < 1.0);
    let (mostly, behind): (Vec<_>, Vec<_>) = behind.into_iter().partition(|(_, ratio)| ratio.median < LEVEL);
    let near: Vec<_> = behind.into_iter().filter(|(_, ratio)| ratio.median < FAR).collect();
    let listed = |those: &[(&Member, Spread)]| {
        let one = |(competitor, ratio): &(&Member, Spread)| {
            format!("{} {}{}", competitor.name, times(*ratio), at_the_cost_of(competitor))
        };
        those.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let mut told = Vec::new();
    if let [(first, ratio), others @ ..] = ahead.as_slice() {
        let also =
            if others.is_empty() { String::new() } else { format!("; ahead of ours as well: {}", listed(others)) };
        let (name, cost) = (&first.name, at_the_cost_of(first));
        told.push(format!("{name} is first here at {at}: {} times {ours}{cost}{also}.", times(*ratio)));
    }
    if !mostly.is_empty() {
        told.push(format!(
            "Ahead of {ours} at {at} by the median, but not by a tenth in every round: {}.",
            listed(&mostly)
        ));
    }
    if !near.is_empty() {
        told.push(format!("Less than {FAR} times {ours} at {at}: {}.", listed(&near)));
    }
    told
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ybench_measure::outcome::Metric;
    use ybench_measure::record::{Group, Parameter, Round};

    use super::*;
    use crate::table::part;

    /// Of one case and size, in rounds in which the machine becomes slower.
    fn session(scenario: &str, bytes: f64, times: &[(&str, f64)]) -> Session {
        let round = |slower: f64| Round {
            nanoseconds: times.iter().map(|(name, time)| ((*name).to_owned(), time * slower)).collect(),
            metrics: BTreeMap::new(),
            ..Round::default()
        };
        let (ours, competitors): (Vec<&str>, Vec<&str>) =
            times.iter().map(|(name, _)| *name).partition(|name| *name != "kanal" && *name != "flume");
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        Session {
            scenario: scenario.to_owned(),
            about: "A question".to_owned(),
            parameter: Some(Parameter { quantity: Quantity::BytesByValue, value: bytes }),
            groups: vec![Group { name: "can sleep".to_owned(), ours: owned(ours), competitors: owned(competitors) }],
            rounds: [1.0, 2.0, 4.0, 2.0, 1.0].map(round).into(),
            ..Session::default()
        }
    }

    /// As on a terminal, each sentence on one line.
    fn told(report: &Report) -> String {
        part::terminal(&study(report).unwrap().parts).replace("\n  ", " ")
    }

    fn report(sessions: Vec<Session>) -> Report {
        Report { command: COMMAND.to_owned(), sessions, ..Report::default() }
    }

    #[test]
    fn a_competitor_that_is_first_is_reported() {
        let eight =
            session("2-to-2", 8.0, &[("mpmc", 10.0), ("mpmc-unbounded", 20.0), ("kanal", 8.0), ("flume", 14.0)]);
        let more =
            session("2-to-2", 64.0, &[("mpmc", 20.0), ("mpmc-unbounded", 10.0), ("kanal", 30.0), ("flume", 17.5)]);
        let text = told(&report(vec![eight, more]));
        assert!(text.contains("kanal is first here at 8 B: 0.80 (0.80..0.80) times mpmc."), "{text}");
        assert!(text.contains("Less than 1.5 times mpmc at 8 B: flume 1.40 (1.40..1.40)."), "{text}");
        // Another one of ours is the best there; a competitor above 1.5 is far.
        assert!(!text.contains("at 64 B:"), "{text}");
        let row = |name: &str| text.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        let words = |name: &str| row(name).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words("kanal"), "kanal 16.0 0.80 (0.80..0.80) 60.0 3.00 (3.00..3.00)");
        assert_eq!(words("mpmc (ours)"), "mpmc (ours) 20.0 ours 40.0 2.00 (2.00..2.00)");
    }

    #[test]
    fn ahead_in_most_rounds_only_is_not_first() {
        let mut one = session("2-to-2", 8.0, &[("mpmc", 10.0), ("kanal", 9.0), ("flume", 12.0)]);
        one.rounds[2].nanoseconds.insert("kanal".to_owned(), 48.0);
        let text = told(&report(vec![one]));
        let due = "Ahead of mpmc at 8 B by the median, but not by a tenth in every round: kanal 0.90 (0.90..1.20).";
        assert!(text.contains(due) && !text.contains("first"), "{text}");
        assert!(text.contains("Less than 1.5 times mpmc at 8 B: flume 1.20 (1.20..1.20)."), "{text}");
    }

    #[test]
    fn a_small_difference_or_few_rounds_have_no_first() {
        let close = session("2-to-2", 8.0, &[("mpmc", 10.0), ("kanal", 9.5)]);
        let text = told(&report(vec![close]));
        assert!(text.contains("not by a tenth in every round: kanal 0.95 (0.95..0.95)."), "{text}");
        assert!(!text.contains("first"), "{text}");
        let mut few = session("2-to-2", 8.0, &[("mpmc", 10.0), ("kanal", 5.0)]);
        few.rounds.truncate(LEAST_ROUNDS - 1);
        let text = told(&report(vec![few]));
        assert!(text.contains("Too few rounds to name the first.") && !text.contains("kanal is"), "{text}");
    }

    #[test]
    fn a_competitor_with_more_cpu_time_is_reported_with_it() {
        let mut one = session("fixed-rate", 8.0, &[("spsc", 10.0), ("kanal", 1.0), ("flume", 12.0)]);
        for round in &mut one.rounds {
            for (name, time, cpu) in [("spsc", 10.0, 100.0), ("kanal", 1.0, 1_400.0), ("flume", 12.0, 120.0)] {
                let metrics = [(Metric::Median, time), (Metric::P99, time), (Metric::ReceiverCpu, cpu)];
                round.metrics.insert(name.to_owned(), metrics.into());
            }
        }
        let text = told(&report(vec![one]));
        let due = "kanal is first here at 8 B: 0.10 (0.10..0.10) times spsc (with 14.0 times the CPU time).";
        assert!(text.contains(due), "{text}");
        assert!(text.contains("Less than 1.5 times spsc at 8 B: flume 1.20 (1.20..1.20).\n"), "{text}");
    }

    #[test]
    fn without_a_near_competitor_the_nearest_is_named() {
        let eight = session("2-to-2", 8.0, &[("mpmc", 10.0), ("kanal", 21.0), ("flume", 40.0)]);
        let more = session("2-to-2", 64.0, &[("mpmc", 10.0), ("kanal", 16.0)]);
        let text = part::markdown(&study(&report(vec![eight, more])).unwrap().parts);
        let due = "Ours is first throughout; the nearest is kanal, 1.60 (1.60..1.60) at 64 B.";
        assert!(text.contains(due), "{text}");
        assert!(text.contains("| flume | 80.0 | 4.00 (4.00..4.00) |  |  |"), "{text}");
    }

    #[test]
    fn an_excluded_competitor_is_named_with_the_reason() {
        let taken = |scenario: &str| Warning::TakenOut {
            scenario: scenario.to_owned(),
            name: "flume".to_owned(),
            sentence: "lost a message".to_owned(),
        };
        let mut report = report(vec![session("2-to-2", 8.0, &[("mpmc", 10.0), ("kanal", 21.0)])]);
        report.warnings = vec![taken("3-to-3")];
        assert!(!told(&report).contains("taken out"));
        report.warnings.push(taken("2-to-2"));
        assert!(told(&report).contains("flume was taken out: it lost a message.\n"));
    }

    #[test]
    fn other_reports_have_no_such_tables() {
        assert!(study(&Report { command: "run".to_owned(), ..Report::default() }).is_none());
    }
}
