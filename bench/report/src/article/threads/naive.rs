//! The figure that the article warns of, the time of a stream divided by the number of its messages, compared with the
//! times of the messages of the same run.

use ybench_measure::outcome::{Metric, Series};
use ybench_measure::record::{Report, Session};
use ybench_measure::scenario::overrun;

use super::published::DESIGNS;
use crate::article::cases::Cases;
use crate::article::conclusion::Conclusion;
use crate::table::{Grid, Part, Tone, figure};

pub(super) const HEADING: &str = "The naive figure: a stream's time / N, and what its messages took on their way, us";

/// Few enough for a short run, and far more than are under way at once.
pub(super) const MESSAGES: u64 = 100_000;

/// "Does not work", for which the article gives no number: the median is at least this multiple of the naive figure.
const HIDDEN: f64 = 10.0;

pub(super) fn table(report: &Report) -> Part {
    let Some(session) = report.session(overrun::SCENARIO.name) else { return Part::Said("Not measured.".to_owned()) };
    let mut grid = Grid::new(&["design", ">time / N, us", ">median of the messages", ">p99", ">slowest"]);
    for design in &DESIGNS {
        let naive = session.metric(design.transport, Metric::TotalOverCount);
        let times = session.distribution(design.transport, Series::Latency);
        let Some((naive, times)) = naive.zip(times) else { continue };
        let times = [Some(naive.median), Some(times.median()), times.tail(0.99), Some(times.most())];
        let told = |time: Option<f64>| time.map_or(String::new(), |time| figure(time / 1e3));
        let cells = std::iter::once(design.label.to_owned()).chain(times.map(told));
        grid.push(Tone::Plain, Some(design.transport), cells.collect());
    }
    Part::Table(String::new(), grid)
}

pub(super) fn conclusion(report: &Report) -> Conclusion {
    let mut cases = Cases::default();
    if let Some(session) = report.session(overrun::SCENARIO.name) {
        DESIGNS.iter().for_each(|design| cases.above(session, &medians(session, design.transport), HIDDEN));
    }
    Conclusion {
        claim: "Sending N messages and dividing the time by N does not work: each of them takes longer than that.",
        here: format!("the median over time / N in one run, hidden from {HIDDEN:.0} times on: {}", cases.times()),
        verdict: cases.verdict(),
    }
}

/// The time of the median message of each round, as a multiple of the naive figure.
fn medians(session: &Session, name: &str) -> Vec<f64> {
    let of = |metric| session.metrics(name, metric);
    of(Metric::Median).into_iter().zip(of(Metric::TotalOverCount)).map(|(median, naive)| median / naive).collect()
}
