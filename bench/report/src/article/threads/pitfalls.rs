//! The article's "incomplete list" of pitfalls: problems of queues in practice, measured if possible.

use ybench_measure::distribution::Distribution;
use ybench_measure::outcome::{Metric, Series};
use ybench_measure::record::{Quantity, Report, Session};
use ybench_measure::scenario::{burst, crowd, neighbours, night_watchman, ping_pong, traffic};

use super::published::DESIGNS;
use crate::table::{Grid, Part, Tone, figure, grouped};

/// The cell of one transport in one session.
type Cell = fn(&Session, &str) -> Option<String>;

pub(super) fn parts(report: &Report) -> Vec<Part> {
    let median: Cell = |session, name| Some(figure(session.density(name)?.median));
    let micros: Cell = |session, name| Some(figure(session.density(name)?.median / 1e3));
    let p99: Cell = |session, name| Some(figure(session.metric(name, Metric::P99)?.median / 1e3));
    let middle: Cell = |session, name| Some(figure(session.distribution(name, Series::Latency)?.median() / 1e3));
    let slowest: Cell = |session, name| Some(figure(session.distribution(name, Series::Latency)?.most() / 1e3));
    let spread: Cell = |session, name| quantiles(session, name, &[0.5, 0.99, 1.0]);
    let tail: Cell = |session, name| quantiles(session, name, &[0.5, 0.9, 0.99, 1.0]);
    let shapes = traffic::SHAPES.each_ref().map(|shape| shape.name);
    let mut parts = Vec::new();
    let mut show = |title: &str, scenarios: &[&str], cell: Cell| {
        parts.push(match rake(report, scenarios, cell) {
            Some(grid) => Part::Table(title.to_owned(), grid),
            None => Part::Said(format!("{title}: not measured.")),
        });
    };
    show(
        "Cumulative slowdown: ns for each message of a burst, put in and taken out, over the length of the burst",
        &[burst::SCENARIO.name],
        median,
    );
    show(
        "Night watchman: us until the message after a silence arrives, median",
        &[night_watchman::SCENARIO.name],
        middle,
    );
    show("Night watchman: us, the slowest seen", &[night_watchman::SCENARIO.name], slowest);
    show(
        "Shapes of traffic, 10,000 messages a second each: us since each was due, median / p99 / slowest",
        &shapes,
        spread,
    );
    show("More threads than CPUs: ns for each message of all pairs together", &[crowd::SCENARIO.name], median);
    show(
        "More threads than CPUs: us one way of a single message, median (readers that sleep)",
        &[crowd::BOUNCED.name],
        micros,
    );
    show(
        "More threads than CPUs: us one way of a single message, p99 (readers that sleep)",
        &[crowd::BOUNCED.name],
        p99,
    );
    show(
        "Dedicated CPUs, and what becomes of them: us one way of a message now and then, median / p90 / p99 / slowest",
        &[neighbours::SCENARIO.name],
        tail,
    );
    show("Both threads on one CPU: ns one way", &[ping_pong::ON_ONE_CPU.name], median);
    parts
}

/// Percentiles of the single messages, in us.
fn quantiles(session: &Session, name: &str, shares: &[f64]) -> Option<String> {
    let times = session.distribution(name, Series::Latency)?;
    let told = |share: &f64| {
        let time = if *share < 1.0 { times.tail(*share) } else { Some(times.most()) };
        time.map_or("-".to_owned(), |time| figure(time / 1e3))
    };
    let figures: Vec<String> = shares.iter().map(told).collect();
    Some(figures.join(" / "))
}

/// The designs as rows, the parameters of one scenario as columns, or several scenarios.
fn rake(report: &Report, scenarios: &[&str], cell: Cell) -> Option<Grid> {
    let asked = |session: &&Session| scenarios.contains(&session.scenario.as_str());
    let sessions: Vec<&Session> = report.sessions.iter().filter(asked).collect();
    if sessions.is_empty() {
        return None;
    }
    let heads: Vec<String> = sessions.iter().map(|session| format!(">{}", head(session))).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut grid = Grid::new(&[&["design"], &heads[..]].concat());
    for design in &DESIGNS {
        let cells: Vec<Option<String>> = sessions.iter().map(|session| cell(session, design.transport)).collect();
        if cells.iter().any(Option::is_some) {
            let shown = cells.into_iter().map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
            let cells = std::iter::once(design.label.to_owned()).chain(shown);
            grid.push(Tone::Plain, Some(design.transport), cells.collect());
        }
    }
    Some(grid)
}

fn head(session: &Session) -> String {
    let Some(parameter) = session.parameter else {
        let shape = traffic::SHAPES.iter().find(|shape| shape.name == session.scenario);
        return shape.map_or("one CPU", |shape| shape.short).to_owned();
    };
    match parameter.quantity {
        Quantity::Silence => format!("{} s ({} messages)", parameter.value, messages(session)),
        Quantity::ThreadsPerCpu => format!("{} threads a CPU", parameter.value),
        Quantity::KeptThreadsPerCpu => format!("{} kept on each", parameter.value),
        Quantity::Neighbours => "a greedy neighbour on each".to_owned(),
        _ => grouped(parameter.value),
    }
}

/// The number of single messages of each figure of a session.
fn messages(session: &Session) -> u64 {
    let times = session.details.values().filter_map(|details| details.distributions.get(&Series::Latency));
    times.map(Distribution::count).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_measure::record::{Details, Parameter};

    #[test]
    fn the_median_after_a_silence_is_that_of_all_messages_and_they_are_counted() {
        let times: Distribution = [1_000.0, 2_000.0, 900_000.0].into_iter().collect();
        let details = Details { distributions: [(Series::Latency, times)].into(), ..Details::default() };
        let session = Session {
            scenario: night_watchman::SCENARIO.name.to_owned(),
            parameter: Some(Parameter { quantity: Quantity::Silence, value: 1.0 }),
            details: [(DESIGNS[0].transport.to_owned(), details)].into(),
            ..Session::default()
        };
        let text = crate::table::part::terminal(&parts(&Report { sessions: vec![session], ..Report::default() }));
        assert!(text.contains("1 s (3 messages)"), "{text}");
        let figures: Vec<_> = text.lines().filter(|line| line.contains(DESIGNS[0].label)).collect();
        assert!(figures[0].contains("2.00") && figures[1].contains("900"), "{figures:?}");
    }

    #[test]
    fn shapes_of_traffic_stand_side_by_side() {
        let session = |shape: &traffic::Traffic| {
            let times: Distribution = [1_000.0, 2_000.0, 900_000.0].into_iter().collect();
            let details = Details { distributions: [(Series::Latency, times)].into(), ..Details::default() };
            let details = [(DESIGNS[0].transport.to_owned(), details)].into();
            Session { scenario: shape.name.to_owned(), details, ..Session::default() }
        };
        let sessions = traffic::SHAPES.iter().map(session).collect();
        let text = crate::table::part::terminal(&parts(&Report { sessions, ..Report::default() }));
        let heads = text.lines().find(|line| line.contains("at random")).unwrap();
        assert!(traffic::SHAPES.iter().all(|shape| heads.contains(shape.short)), "{heads}");
        let row = text.lines().find(|line| line.contains(DESIGNS[0].label)).unwrap();
        assert_eq!(row.matches("2.00 / - / 900").count(), traffic::SHAPES.len(), "{row}");
    }
}
