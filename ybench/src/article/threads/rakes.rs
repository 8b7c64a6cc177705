//! The article's "incomplete list of rakes": what may hit a queue in practice, measured where it can be.

use ybench_core::distribution::Distribution;
use ybench_core::outcome::{Metric, Series};
use ybench_core::record::{Quantity, Report, Session};
use ybench_core::scenario::{burst, crowd, neighbours, night_watchman, ping_pong};

use super::published::DESIGNS;
use crate::table::{align_right, figure, grouped, new_table, text as plain};

type Cell = fn(&Session, &str) -> Option<f64>;

pub(super) fn text(report: &Report) -> String {
    let median = |session: &Session, name: &str| Some(session.density(name)?.median);
    let slowest = |session: &Session, name: &str| Some(session.distribution(name, Series::Latency)?.most() / 1e3);
    let middle = |session: &Session, name: &str| Some(session.distribution(name, Series::Latency)?.median() / 1e3);
    let micros = |session: &Session, name: &str| Some(session.density(name)?.median / 1e3);
    let p99 = |session: &Session, name: &str| Some(session.metric(name, Metric::P99)?.median / 1e3);
    let mut text = String::new();
    let mut show = |title: &str, table: Option<String>| {
        text += &format!("{title}\n\n{}\n\n", table.unwrap_or_else(|| "Not measured.".to_owned()));
    };
    show(
        "Cumulative slowdown: ns for each message of a burst, put in and taken out, over the length of the burst",
        rake(report, burst::SCENARIO.name, median),
    );
    show(
        "Night watchman: us until the message after a silence arrives, median",
        rake(report, night_watchman::SCENARIO.name, middle),
    );
    show("Night watchman: us, the slowest seen", rake(report, night_watchman::SCENARIO.name, slowest));
    show(
        "More threads than CPUs: ns for each message of all pairs together",
        rake(report, crowd::SCENARIO.name, median),
    );
    show("More threads than CPUs: us one way of a single message, median", rake(report, crowd::BOUNCED.name, micros));
    show("More threads than CPUs: us one way of a single message, p99", rake(report, crowd::BOUNCED.name, p99));
    show(
        "Dedicated CPUs, and what becomes of them: us one way with a greedy neighbour on each",
        rake(report, neighbours::SCENARIO.name, micros),
    );
    show("Both threads on one CPU: ns one way", rake(report, ping_pong::ON_ONE_CPU.name, median));
    text
}

/// The designs down, the parameters of one scenario across.
fn rake(report: &Report, scenario: &str, cell: Cell) -> Option<String> {
    let sessions: Vec<&Session> = report.sessions.iter().filter(|session| session.scenario == scenario).collect();
    if sessions.is_empty() {
        return None;
    }
    let heads: Vec<String> = sessions.iter().map(|session| head(session)).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut table = new_table(&[&["design"], &heads[..]].concat());
    for design in &DESIGNS {
        let figures: Vec<Option<f64>> = sessions.iter().map(|session| cell(session, design.transport)).collect();
        if figures.iter().all(Option::is_none) {
            continue;
        }
        let shown = figures.into_iter().map(|value| value.map_or("-".to_owned(), figure));
        table.add_row(std::iter::once(design.label.to_owned()).chain(shown));
    }
    align_right(&mut table, &(1..=heads.len()).collect::<Vec<_>>());
    Some(plain(&table))
}

fn head(session: &Session) -> String {
    let Some(parameter) = session.parameter else { return "one CPU".to_owned() };
    match parameter.quantity {
        Quantity::Silence => format!("{} s ({} messages)", parameter.value, messages(session)),
        Quantity::ThreadsPerCpu => format!("{} threads a CPU", parameter.value),
        Quantity::KeptThreadsPerCpu => format!("{} kept on each", parameter.value),
        Quantity::Neighbours => "greedy neighbours".to_owned(),
        _ => grouped(parameter.value),
    }
}

/// How many single messages each figure of a session is made from.
fn messages(session: &Session) -> u64 {
    let times = session.details.values().filter_map(|details| details.distributions.get(&Series::Latency));
    times.map(Distribution::count).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_core::record::{Details, Parameter};

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
        let text = text(&Report { sessions: vec![session], ..Report::default() });
        assert!(text.contains("1 s (3 messages)"), "{text}");
        let figures: Vec<_> = text.lines().filter(|line| line.contains(DESIGNS[0].label)).collect();
        assert!(figures[0].contains("2.00") && figures[1].contains("900"), "{figures:?}");
    }
}
