//! `ybench measurements`: writes `docs/benchmarks/measurements.md` from stored results and a template, so that no
//! figure in it is copied by hand. It measures nothing; `ci/bench` measures, and then runs this command.
//!
//! The template is Markdown with `{{...}}` for each inserted value. A line `{{mark ¹ WORDS}}` puts the mark after the
//! verdict of every target whose name begins with the words. An unknown word is refused: a document with a gap would be
//! worse than none.

use std::path::{Path, PathBuf};

use clap::Args;
use ybench_measure::error::Error;
use ybench_measure::goals::judged;
use ybench_measure::limits;
use ybench_measure::record::{Goal, Report, Session};
use ybench_measure::scenario::{burst, latency, throughput};
use ybench_measure::stats::Spread;

use crate::competitors;
use crate::output::say;
use crate::report::when;
use crate::storage;
use crate::table;

#[derive(Debug, Args)]
pub struct Asked {
    /// The result of `ybench`, stored with --json
    #[arg(long, value_name = "FILE")]
    run: PathBuf,
    /// The result of `ybench goals`
    #[arg(long, value_name = "FILE")]
    targets: PathBuf,
    /// The result of `ybench article threads`
    #[arg(long, value_name = "FILE")]
    threads: PathBuf,
    /// The result of `ybench competitors`
    #[arg(long, value_name = "FILE")]
    competitors: PathBuf,
    #[arg(long, value_name = "FILE")]
    template: PathBuf,
    /// The output document
    #[arg(long, value_name = "FILE")]
    document: PathBuf,
    /// A document in which the rows between `<!-- measured -->` and `<!-- /measured -->` are replaced; without it they
    /// are printed
    #[arg(long, value_name = "FILE")]
    short: Option<PathBuf>,
}

/// A transport with its name in the documents, and whether its receiver sleeps.
struct Row {
    transport: &'static str,
    label: &'static str,
    /// Ours, in bold.
    ours: bool,
    sleeps: &'static str,
    /// Whether it is in the short table.
    short: bool,
}

const fn row(transport: &'static str, label: &'static str, sleeps: &'static str) -> Row {
    Row { transport, label, ours: false, sleeps, short: false }
}

const fn ours(transport: &'static str, label: &'static str) -> Row {
    Row { ours: true, ..row(transport, label, "yes") }
}

const fn short(row: Row) -> Row {
    Row { short: true, ..row }
}

static ROWS: [Row; 19] = [
    short(ours("spsc", "`ysuite::spsc`, no bound")),
    short(row("spsc-bounded", "`ysuite::spsc`, `bounded(1024)`", "yes")),
    row("spsc-forever", "`ysuite::spsc`, `Spin::Forever`", "never"),
    row("spsc-none", "`ysuite::spsc`, `Spin::None`", "at once"),
    short(ours("mpsc", "`ysuite::mpsc`, no bound")),
    short(ours("mpmc", "`ysuite::mpmc`, 1,024 places")),
    ours("mailbox", "`ysuite::mailbox`"),
    ours("hub", "`ysuite::hub`, posted functions"),
    short(row("rtrb-64k", "rtrb, 65,536 slots", "never")),
    row("std-sync-channel", "std `sync_channel(1024)`", "yes"),
    row("std-channel", "std `channel`", "yes"),
    short(row("crossbeam-unbounded", "crossbeam `unbounded`", "yes")),
    short(row("crossbeam-bounded", "crossbeam `bounded(1024)`", "yes")),
    row("tokio-mpsc", "tokio `mpsc`, unbounded, between threads", "yes"),
    row("mutex-spin", "mutex, a reader that never sleeps", "never"),
    row("mutex-condvar-asleep", "mutex and condition variable, notified when asleep", "yes"),
    row("mutex-condvar", "mutex and condition variable, always notified", "yes"),
    short(row("unix-stream", "unix stream socket", "yes")),
    row("tcp-stream", "TCP over loopback", "yes"),
];

pub fn run(asked: &Asked) -> Result<(), Error> {
    let [run, targets, threads, competitors] =
        [&asked.run, &asked.targets, &asked.threads, &asked.competitors].map(|path| storage::read_report(path));
    let results = Results { run: run?, targets: targets?, threads: threads?, competitors: competitors? };
    let document = filled(&read(&asked.template)?, &results)?;
    let rows = short_rows(&results.run);
    let short = asked.short.as_ref().map(|path| Ok((path, between_marks(&read(path)?, &rows)?))).transpose()?;
    storage::write_text(&asked.document, document.trim_end())?;
    say(format_args!("Written to {}.", asked.document.display()));
    match short {
        Some((path, text)) => {
            storage::write_text(path, text.trim_end())?;
            say(format_args!("Written to {}.", path.display()));
        }
        None => say(rows),
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|cause| refused(format!("{} cannot be read: {cause}.", path.display())))
}

fn refused(sentence: String) -> Error {
    Error::Refused(sentence)
}

struct Results {
    run: Report,
    targets: Report,
    threads: Report,
    competitors: Report,
}

const OPENS: &str = "{{";
const CLOSES: &str = "}}";
const MARK: &str = "{{mark ";

/// The filled template.
fn filled(template: &str, results: &Results) -> Result<String, Error> {
    let (marks, text): (Vec<&str>, Vec<&str>) = template.lines().partition(|line| line.starts_with(MARK));
    let marks: Vec<(&str, &str)> =
        marks.iter().filter_map(|line| line.strip_prefix(MARK)?.strip_suffix(CLOSES)?.split_once(' ')).collect();
    let mut filled = String::new();
    let text = text.join("\n");
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once(OPENS) {
        let (words, behind) =
            after.split_once(CLOSES).ok_or_else(|| refused(format!("The template has {OPENS} without {CLOSES}.")))?;
        filled += before;
        filled += &put_in(words, results, &marks)
            .ok_or_else(|| refused(format!("The template asks for '{words}', which does not exist.")))?;
        rest = behind;
    }
    Ok(filled + rest)
}

/// The value of these words; `None` if they are unknown or name something that was not measured.
fn put_in(words: &str, results: &Results, marks: &[(&str, &str)]) -> Option<String> {
    let run = &results.run;
    let mut parts = words.splitn(2, ' ');
    match (parts.next()?, parts.next()) {
        ("machine", None) => Some(machine(run)),
        ("commit", None) => Some(commit(run)),
        ("seconds", None) => Some(format!("{:.0}", seconds(run))),
        ("rounds", None) => rounds(run),
        ("transports", None) => Some(transports(run)),
        ("targets", None) => Some(targets(&judged(&results.targets), marks)),
        ("met", None) => Some(met(&judged(&results.targets))),
        ("targets-commit", None) => Some(commit(&results.targets)),
        ("threads-commit", None) => Some(commit(&results.threads)),
        ("competitors", None) => competitors::digest(&results.competitors),
        ("competitors-commit", None) => Some(commit(&results.competitors)),
        ("competitors-seconds", None) => Some(format!("{:.0}", seconds(&results.competitors))),
        ("date", None) => Some(when::date(run.started)),
        // Baselines by their names, and the median of a transport's single messages, in a short unit.
        ("handed-over", None) => {
            run.session(throughput::SCENARIO.name)?.density(HAND_OVER).map(|one| short_figure(one.median))
        }
        ("one-way", Some(name)) => one_way(run, name).map(table::time),
        ("threads", Some(name)) => one_way(&results.threads, name).map(table::time),
        _ => None,
    }
}

const HAND_OVER: &str = limits::HAND_OVER.name;

fn one_way(report: &Report, name: &str) -> Option<f64> {
    report.session(latency::SCENARIO.name)?.density(name).map(|spread| spread.median)
}

fn machine(report: &Report) -> String {
    let environment = &report.environment;
    let known = |fact: &Option<String>| fact.clone().unwrap_or_else(|| "unknown".to_owned());
    let family = environment.cpu_family.map_or(String::new(), |family| format!(" (family {family})"));
    let virtual_ones = if environment.hypervisor.is_some() { "virtual " } else { "" };
    let cpus = environment.allowed_cpus.len();
    let version = |text: &str| text.split(['.', '-']).take(2).collect::<Vec<_>>().join(".");
    let kernel = environment.kernel.as_deref().map_or("unknown".to_owned(), version);
    let compiler = known(&environment.compiler);
    let compiler = compiler.split(' ').nth(1).map_or(compiler.clone(), |number| format!("rustc {}", version(number)));
    format!("{}{family}, {cpus} {virtual_ones}CPUs, Linux {kernel}, {compiler}", known(&environment.cpu_model))
}

fn commit(report: &Report) -> String {
    let commit = report.environment.commit.as_deref().unwrap_or("unknown");
    let (number, changed) = commit.split_at(commit.find(' ').unwrap_or(commit.len()));
    format!("{}{changed}", &number[..number.len().min(7)])
}

/// How long all measurements in the tables took, without the time before each first round.
fn seconds(report: &Report) -> f64 {
    report.sessions.iter().flat_map(|session| &session.rounds).map(|round| round.seconds).sum()
}

/// How many rounds of the sessions of the columns count, of how many.
fn rounds(report: &Report) -> Option<String> {
    let columns = [throughput::SCENARIO.name, latency::SCENARIO.name, burst::SCENARIO.name];
    let counted = columns.map(|name| {
        let session = report.session(name)?;
        Some(format!("{} of {}", session.counted().count(), session.rounds.len()))
    });
    Some(counted.into_iter().collect::<Option<Vec<_>>>()?.join(", "))
}

fn digits(value: f64, count: i32) -> f64 {
    let scale = 10f64.powi(count - 1 - value.abs().max(1e-9).log10().floor() as i32);
    (value * scale).round() / scale
}

/// Two digits below a hundred and three above: further digits change from run to run.
fn short_figure(value: f64) -> String {
    match digits(value, if value.abs() < 99.5 { 2 } else { 3 }) {
        zero if zero.abs() < 0.005 => "0".to_owned(),
        value if value.abs() >= 9.95 => table::grouped(value),
        value if value.abs() >= 0.995 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

fn spread(spread: Spread, figure: fn(f64) -> String) -> String {
    let [median, least, most] = [spread.median, spread.min, spread.max].map(figure);
    if least == most { median } else { format!("{median} ({least} .. {most})") }
}

fn cell(session: Option<&Session>, name: &str) -> String {
    session.and_then(|session| session.density(name)).map_or(String::new(), |one| short_figure(one.median))
}

fn bold(text: &str, ours: bool) -> String {
    if ours && !text.is_empty() { format!("**{text}**") } else { text.to_owned() }
}

/// The rows of all transports, and of the baselines.
fn transports(report: &Report) -> String {
    let [streamed, bounced, bursts] =
        [throughput::SCENARIO.name, latency::SCENARIO.name, burst::SCENARIO.name].map(|name| report.session(name));
    let mut lines: Vec<String> = Vec::new();
    for row in &ROWS {
        let ratio = streamed
            .and_then(|session| session.ratio(row.transport, HAND_OVER))
            .map_or(String::new(), |one| spread(one, short_figure));
        lines.push(format!(
            "| {} | {} | {ratio} | {} | {} | {} |",
            labelled(row),
            bold(&cell(streamed, row.transport), row.ours),
            bold(&cell(bounced, row.transport), row.ours),
            cell(bursts, row.transport),
            row.sleeps
        ));
    }
    lines.push(format!(
        "| baseline: memory handed over; a value bounced between two lines; one thread | {} | 1 | {} | {} | |",
        cell(streamed, HAND_OVER),
        cell(bounced, limits::TWO_LINE_FLOOR.name),
        cell(bursts, limits::ONE_THREAD.name)
    ));
    lines.join("\n")
}

/// The name in bold, without the text after it.
fn labelled(row: &Row) -> String {
    match row.label.split_once(", ") {
        Some((name, more)) => format!("{}, {more}", bold(name, row.ours)),
        None => bold(row.label, row.ours),
    }
}

/// The short table, with the machine it was measured on.
fn short_rows(report: &Report) -> String {
    let [streamed, bounced] = [throughput::SCENARIO.name, latency::SCENARIO.name].map(|name| report.session(name));
    let mut lines = vec![
        format!(
            "8-byte messages between two threads, nanoseconds each, on {}, on {}, at commit {}. Only ratios within one column mean \
             anything.",
            when::date(report.started),
            machine(report),
            commit(report)
        ),
        String::new(),
        "| | streaming | one at a time, one way | sleeps |".to_owned(),
        "|---|---|---|---|".to_owned(),
    ];
    for row in ROWS.iter().filter(|row| row.short) {
        lines.push(format!(
            "| {} | {} | {} | {} |",
            labelled(row),
            bold(&cell(streamed, row.transport), row.ours),
            bold(&cell(bounced, row.transport), row.ours),
            row.sleeps
        ));
    }
    lines.join("\n")
}

fn met(goals: &[Goal]) -> String {
    format!("{} of {}", goals.iter().filter(|goal| goal.met == Some(true)).count(), goals.len())
}

fn targets(goals: &[Goal], marks: &[(&str, &str)]) -> String {
    let line = |goal: &Goal| {
        let side = if goal.at_least { "at least" } else { "at most" };
        // Three digits: two could look like the target itself.
        let measured = goal.measured.map_or("not measured".to_owned(), |one| spread(one, table::significant));
        let verdict = match goal.met {
            Some(true) => "met",
            Some(false) => "missed",
            None if goal.measured.is_some() => "inconclusive",
            None => "",
        };
        let marks = marks.iter().filter(|(_, name)| goal.name.starts_with(name)).map(|(mark, _)| *mark);
        let marks: String = marks.collect();
        format!("| {} | {side} {} | {measured} | {verdict}{marks} |", goal.name, bound(goal.target))
    };
    goals.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A target in the words of its definition.
fn bound(value: f64) -> String {
    if value.fract() == 0.0 { table::grouped(value) } else { value.to_string() }
}

const BEGIN: &str = "<!-- measured -->";
const END: &str = "<!-- /measured -->";

fn between_marks(text: &str, rows: &str) -> Result<String, Error> {
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| refused(format!("There is no {BEGIN} and {END} to write between.")))?;
    Ok(format!("{before}{BEGIN}\n{rows}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use ybench_measure::env::Environment;
    use ybench_measure::record::Round;
    use ybench_measure::registry;

    fn session(name: &str, figures: &[(&str, f64)]) -> Session {
        let nanoseconds: BTreeMap<String, f64> =
            figures.iter().map(|(name, time)| ((*name).to_owned(), *time)).collect();
        let rounds = [Round { nanoseconds: nanoseconds.clone(), seconds: 1.5, ..Round::default() }];
        Session { scenario: name.to_owned(), rounds: rounds.into(), ..Session::default() }
    }

    fn results() -> Results {
        let report = || Report {
            environment: Environment {
                cpu_model: Some("Abacus 9".into()),
                cpu_family: Some(26),
                allowed_cpus: vec![0, 1],
                kernel: Some("6.18.44-x".into()),
                hypervisor: Some("KVM".into()),
                compiler: Some("rustc 1.95.0 (59807616e)".into()),
                commit: Some("0123456789ab with changes".into()),
                ..Environment::default()
            },
            sessions: vec![
                session("throughput", &[("spsc", 3.04), ("unix-stream", 1_172.0), (HAND_OVER, 1.0)]),
                session("latency", &[("spsc", 70.4), (limits::TWO_LINE_FLOOR.name, 51.0)]),
                session("burst", &[("spsc", 6.24)]),
            ],
            ..Report::default()
        };
        let goal = |name: &str, median, met| Goal {
            name: name.to_owned(),
            measured: Some(Spread { median, min: median, max: median + 1.0 }),
            target: 1.2,
            at_least: true,
            met: Some(met),
        };
        let targets = Report { goals: vec![goal("one: a", 1.99, true), goal("two: b", 0.5, false)], ..report() };
        Results { run: report(), targets, threads: report(), competitors: report() }
    }

    #[test]
    fn a_template_is_filled_with_what_was_measured() {
        let template = "{{machine}}; {{commit}}; {{seconds}} s; {{rounds}}\n{{mark ² two}}\n{{targets}}\n{{met}} {{threads spsc}}\n";
        let due = "Abacus 9 (family 26), 2 virtual CPUs, Linux 6.18, rustc 1.95; 0123456 with changes; 4 s; 1 of 1, 1 of 1, 1 of 1\n\
                   | one: a | at least 1.2 | 1.99 (1.99 .. 2.99) | met |\n\
                   | two: b | at least 1.2 | 0.50 (0.50 .. 1.50) | missed² |\n1 of 2 70.4 ns";
        assert_eq!(filled(template, &results()).unwrap(), due);
        assert!(
            transports(&results().run)
                .starts_with("| **`ysuite::spsc`**, no bound | **3.0** | 3.0 | **70** | 6.2 | yes |\n")
        );
    }

    #[test]
    fn what_was_not_measured_is_no_figure() {
        for hole in ["{{nothing}}", "{{one-way nobody}}", "{{threads nobody}}", "{{machine"] {
            assert!(matches!(filled(hole, &results()), Err(Error::Refused(_))), "{hole}");
        }
        assert!(transports(&results().run).contains("| std `channel` |  |  |  |  | yes |"));
    }

    #[test]
    fn the_short_rows_replace_the_old_ones() {
        let rows = short_rows(&results().run);
        assert!(rows.contains("| unix stream socket | 1,170 |  | yes |"), "{rows}");
        assert!(rows.contains("on Abacus 9 (family 26)") && rows.contains("at commit 0123456"), "{rows}");
        assert_eq!(rows.lines().count(), 4 + 8);
        let text = format!("before\n{BEGIN}\n| old |\n{END}\nafter");
        assert_eq!(between_marks(&text, &rows).unwrap(), format!("before\n{BEGIN}\n{rows}\n{END}\nafter"));
        assert!(between_marks("no marks", &rows).is_err());
    }

    #[test]
    fn every_row_is_a_transport_that_is_compared_without_a_command() {
        for row in &ROWS {
            assert!(registry::named(row.transport).is_some_and(|entry| !entry.traits.variant), "{}", row.transport);
        }
    }

    #[test]
    fn figures_keep_two_digits_or_three() {
        let shown = [0.0, 0.034, 0.92, 1.24, 9.97, 19.4, 98.6, 117.4, 1_172.0, 18_849.0].map(short_figure);
        assert_eq!(shown, ["0", "0.03", "0.92", "1.2", "10", "19", "99", "117", "1,170", "18,800"]);
    }
}
