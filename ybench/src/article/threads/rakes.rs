//! The article's "incomplete list of rakes": what may hit a queue in practice, measured where it can be.

use ybench_core::outcome::Series;
use ybench_core::record::{Parameter, Quantity, Report, Session};
use ybench_core::scenario::{burst, crowd, neighbours, night_watchman, ping_pong};

use super::published::DESIGNS;
use crate::report::part::Part;
use crate::table::{Grid, Tone, figure, grouped};

type Cell = fn(&Session, &str) -> Option<f64>;

pub(super) fn parts(report: &Report) -> Vec<Part> {
    let median = |session: &Session, name: &str| Some(session.density(name)?.median);
    let slowest = |session: &Session, name: &str| Some(session.distribution(name, Series::Latency)?.most() / 1e3);
    let micros = |session: &Session, name: &str| Some(session.density(name)?.median / 1e3);
    let mut parts = Vec::new();
    let mut show = |title: &str, table: Option<Grid>| {
        parts.push(match table {
            Some(grid) => Part::Table(title.to_owned(), grid),
            None => Part::Said(format!("{title}: not measured.")),
        });
    };
    show(
        "Cumulative slowdown: ns for each message of a burst, put in and taken out, over the length of the burst",
        rake(report, burst::SCENARIO.name, median),
    );
    show(
        "Night watchman: us until the message after a silence arrives, median",
        rake(report, night_watchman::SCENARIO.name, micros),
    );
    show("Night watchman: us, the slowest seen", rake(report, night_watchman::SCENARIO.name, slowest));
    show(
        "More threads than CPUs: ns for each message of all pairs together",
        rake(report, crowd::SCENARIO.name, median),
    );
    show(
        "Dedicated CPUs, and what becomes of them: us one way with a greedy neighbour on each",
        rake(report, neighbours::SCENARIO.name, micros),
    );
    show("Both threads on one CPU: ns one way", rake(report, ping_pong::ON_ONE_CPU.name, median));
    parts
}

/// The designs down, the parameters of one scenario across.
fn rake(report: &Report, scenario: &str, cell: Cell) -> Option<Grid> {
    let sessions: Vec<&Session> = report.sessions.iter().filter(|session| session.scenario == scenario).collect();
    if sessions.is_empty() {
        return None;
    }
    let heads: Vec<String> = sessions
        .iter()
        .map(|session| session.parameter.map_or(">one CPU".to_owned(), |at| format!(">{}", head(at))))
        .collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut grid = Grid::new(&[&["design"], &heads[..]].concat());
    for design in &DESIGNS {
        let figures: Vec<Option<f64>> = sessions.iter().map(|session| cell(session, design.transport)).collect();
        if figures.iter().all(Option::is_none) {
            continue;
        }
        let shown = figures.into_iter().map(|value| value.map_or("-".to_owned(), figure));
        grid.push(Tone::Plain, Some(design.transport), std::iter::once(design.label.to_owned()).chain(shown).collect());
    }
    Some(grid)
}

fn head(parameter: Parameter) -> String {
    match parameter.quantity {
        Quantity::Silence => format!("{} s", parameter.value),
        Quantity::ThreadsPerCpu => format!("{} threads a CPU", parameter.value),
        Quantity::Neighbours => "greedy neighbours".to_owned(),
        _ => grouped(parameter.value),
    }
}
