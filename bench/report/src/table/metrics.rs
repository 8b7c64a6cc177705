//! All other metrics of a session: CPU time, context switches, rates reached, batches, bursts.

use ybench_measure::figures::{count, figure, grouped, percent, time};
use ybench_measure::outcome::Metric;
use ybench_measure::record::{Contestant, Session};
use ybench_measure::stats::{Spread, listed};

use super::grid::{Grid, Tone};

/// A lower share of the wanted rate counts as not reached.
const REACHED: f64 = 0.95;

type Form = fn(f64) -> String;

/// Head, metric, format. Metrics that only repeat the distributions are left out.
const COLUMNS: [(&str, Metric, Form); 33] = [
    (">sender CPU ns/msg", Metric::SenderCpu, figure),
    (">receiver CPU ns/msg", Metric::ReceiverCpu, figure),
    (">sender switches/msg", Metric::SenderSwitches, figure),
    (">receiver switches/msg", Metric::ReceiverSwitches, figure),
    (">rate wanted", Metric::RateWanted, count),
    (">rate reached", Metric::RateReached, count),
    (">batches", Metric::Batches, grouped),
    (">mean batch", Metric::MeanBatch, figure),
    (">mean ready", Metric::MeanReady, figure),
    (">most under way", Metric::MostUnderWay, grouped),
    (">time / N, ns", Metric::TotalOverCount, figure),
    (">fill ns/msg", Metric::Fill, figure),
    (">drain ns/msg", Metric::Drain, figure),
    (">bytes held/msg", Metric::BytesHeld, figure),
    (">bytes left/msg", Metric::BytesLeft, figure),
    (">calls/msg", Metric::Calls, figure),
    (">switches/msg", Metric::Switches, figure),
    (">clock's share", Metric::Distortion, percent),
    (">make, ns", Metric::Make, figure),
    (">first message, ns", Metric::FirstMessage, figure),
    (">drop, ns", Metric::Drop, figure),
    (">bytes allocated idle", Metric::AllocatedIdle, figure),
    (">bytes allocated after one message", Metric::AllocatedAfter, figure),
    (">bytes allocated when dropped", Metric::AllocatedLeft, figure),
    (">bytes resident idle", Metric::ResidentIdle, figure),
    (">bytes resident after one message", Metric::ResidentAfter, figure),
    (">bytes resident when dropped", Metric::ResidentLeft, figure),
    (">bytes allocated after a burst", Metric::AllocatedKept, grouped),
    (">bytes resident after a burst", Metric::ResidentKept, grouped),
    (">bytes of stack", Metric::StackBytes, grouped),
    (">time of a build", Metric::BuildTime, time),
    (">bytes of the program", Metric::ProgramBytes, grouped),
    (">packages", Metric::Packages, grouped),
];

/// The medians over the rounds that count; `None` if no metric was counted.
pub fn metrics_grid(session: &Session) -> Option<Grid> {
    let value = |name: &str, metric: Metric| session.metric(name, metric).map(|spread| spread.median);
    let there = |metric: Metric| session.contenders.iter().any(|one| value(&one.name, metric).is_some());
    let columns: Vec<_> = COLUMNS.into_iter().filter(|(_, metric, _)| there(*metric)).collect();
    if columns.is_empty() && !there(Metric::Halved) {
        return None;
    }
    let mut heads = vec!["transport"];
    heads.extend(columns.iter().map(|(head, ..)| *head));
    let mut grid = Grid::new(&heads);
    for one in session.transports() {
        let shown = |(_, metric, form): &(&str, Metric, Form)| value(&one.name, *metric).map_or(String::new(), form);
        let mut cells = vec![one.name.clone()];
        cells.extend(columns.iter().map(shown));
        if cells.iter().skip(1).any(|cell| !cell.is_empty()) {
            grid.push(Tone::Plain, Some(&one.name), cells);
        }
    }
    let halved = |one: &&Contestant| value(&one.name, Metric::Halved).is_some();
    let halved: Vec<&str> = session.transports().filter(halved).map(|one| one.name.as_str()).collect();
    if !halved.is_empty() {
        grid.notes.push(format!("Half of a round trip, not a one-way time: {}.", listed(&halved)));
    }
    let missed: Vec<String> = session.transports().filter_map(|one| not_reached(session, &one.name)).collect();
    if !missed.is_empty() {
        grid.notes.push(format!("Rate not reached: {}.", missed.join(", ")));
    }
    Some(grid)
}

/// "spsc 412k of 1M" if a transport did not reach the wanted rate.
pub fn not_reached(session: &Session, name: &str) -> Option<String> {
    let rate = |metric| session.metric(name, metric).map(|Spread { median, .. }| median);
    let (wanted, reached) = (rate(Metric::RateWanted)?, rate(Metric::RateReached)?);
    (reached < REACHED * wanted).then(|| format!("{name} {} of {}", count(reached), count(wanted)))
}
