//! A report for a terminal: the tables of each session, and the one-screen result last, where it stays visible.

use std::fmt::Write;

use ybench_measure::figures::several;
use ybench_measure::outcome::Series;
use ybench_measure::record::{Report, Session};

use crate::clock::table as clocks;
use crate::report::Study;
use crate::table::part::{self, Part};
use crate::table::{self, Beside};

/// The whole report. `beyond` is in nanoseconds.
pub fn text(report: &Report, study: &Study, beyond: f64) -> String {
    let mut text = format!("{}\n", table::heading(report));
    text.extend(crate::doubts::broken(report).map(|line| line + "\n"));
    text += &clock(report);
    text += &results(report, study, beyond);
    for (at, warning) in report.warnings.iter().enumerate() {
        let head = if at == 0 { "\nWarnings:\n" } else { "" };
        let _ = writeln!(text, "{head}  {warning} {}", warning.advice());
    }
    text
}

/// The figures, without the machine and the warnings. `beyond` is in nanoseconds.
pub fn results(report: &Report, study: &Study, beyond: f64) -> String {
    let mut text = part::terminal(&study.parts);
    text += &table::growths(report);
    for session in &report.sessions {
        text += &self::session(session, Beside::of(report, beyond));
        text.push('\n');
    }
    if !study.goals.is_empty() {
        let _ = writeln!(text, "{}", table::goals(&study.goals));
    }
    if report.sessions.iter().any(|session| session.transports().next().is_some()) {
        text += &table::matrix(report);
    }
    text
}

/// The result on one screen: each transport's ratio to the baseline, and a verdict for each scenario.
pub fn screen(report: &Report) -> String {
    let mut text = table::matrix(report);
    text.push('\n');
    for session in &report.sessions {
        let (kept, of) = (session.counted().count(), session.rounds.len());
        let said = format!("{} ({kept} of {}): {}", session.title(), several(of, "round"), table::answer(session));
        let _ = writeln!(text, "{}", part::wrapped(&said, "  "));
    }
    text
}

/// The tables of the command's subject, otherwise those of what was timed in addition.
pub fn clock(report: &Report) -> String {
    let Some(facts) = &report.clock else { return String::new() };
    if facts.table.is_empty() {
        return format!("{}\n", clocks::sentences(facts));
    }
    let environment = &report.environment;
    let sentences = Part::Said(clocks::sentences(facts));
    part::terminal(&[
        clocks::article(facts, environment),
        clocks::costs(facts),
        sentences,
        clocks::distortions(facts, environment),
    ])
}

/// The tables of one session.
fn session(session: &Session, beside: Beside) -> String {
    if session.transports().next().is_none() {
        return format!("{}\n", table::limits_grid(session).terminal());
    }
    let mut text = table::ranking(session);
    for series in Series::ALL {
        if let Some(latencies) = table::latencies(session, series, beside) {
            let _ = write!(text, "\n{latencies}");
        }
    }
    if let Some(metrics) = table::metrics_grid(session) {
        let _ = writeln!(text, "\n{}", metrics.terminal());
    }
    text
}
