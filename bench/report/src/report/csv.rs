//! A report as comma-separated values (RFC 4180): a line for each scenario, parameter and transport. Times are in
//! nanoseconds, with all their digits; what was not measured is empty.

use std::collections::BTreeSet;

use serde::Serialize;
use ybench_measure::distribution::Distribution;
use ybench_measure::outcome::{Metric, Series};
use ybench_measure::record::{Contestant, Report, Session};
use ybench_measure::stats::Spread;

use super::Shown;

const FIXED: [&str; 17] = [
    "file",
    "scenario",
    "quantity",
    "value",
    "contender",
    "kind",
    "unit",
    "rounds",
    "median_ns",
    "min_ns",
    "max_ns",
    "limit",
    "ratio_median",
    "ratio_min",
    "ratio_max",
    "ratio_low",
    "ratio_high",
];

const OF_SERIES: [&str; 10] = ["count", "mean", "jitter", "deviation", "p50", "p90", "p99", "p99.9", "p99.99", "max"];

pub fn text(loaded: &[Shown<'_>]) -> String {
    let sessions = || loaded.iter().flat_map(|one| &one.report.sessions);
    let metrics: BTreeSet<Metric> = sessions()
        .flat_map(|session| &session.rounds)
        .flat_map(|round| round.metrics.values())
        .flat_map(|metrics| metrics.keys().copied())
        .collect();
    let series: BTreeSet<Series> = sessions()
        .flat_map(|session| session.details.values())
        .flat_map(|details| details.distributions.keys().copied())
        .collect();
    let mut head: Vec<String> = FIXED.map(str::to_owned).to_vec();
    head.extend(series.iter().flat_map(|one| OF_SERIES.map(|figure| format!("{} {figure}", name(one)))));
    head.extend(metrics.iter().map(name));
    let mut lines = vec![head];
    for Shown { name: file, report, .. } in loaded {
        for (session, one) in contestants(report) {
            let mut cells = fixed(file, session, one);
            for series in &series {
                let times = session.distribution(&one.name, *series);
                cells.extend(times.map_or(OF_SERIES.map(|_| String::new()), of_series));
            }
            let metric = |metric: &Metric| shown(session.metric(&one.name, *metric).map(|spread| spread.median));
            cells.extend(metrics.iter().map(metric));
            lines.push(cells);
        }
    }
    written(&lines)
}

fn written(lines: &[Vec<String>]) -> String {
    const IN_MEMORY: &str = "lines of one length are written to memory";
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    lines.iter().for_each(|cells| writer.write_record(cells).expect(IN_MEMORY));
    String::from_utf8(writer.into_inner().expect(IN_MEMORY)).expect("texts are UTF-8")
}

fn contestants(report: &Report) -> impl Iterator<Item = (&Session, &Contestant)> {
    report.sessions.iter().flat_map(|session| session.contenders.iter().map(move |one| (session, one)))
}

fn fixed(file: &str, session: &Session, one: &Contestant) -> Vec<String> {
    let three = |spread: Option<Spread>| {
        [spread.map(|spread| spread.median), spread.map(|spread| spread.min), spread.map(|spread| spread.max)]
            .map(shown)
    };
    let mut cells = vec![
        file.to_owned(),
        session.scenario.clone(),
        session.parameter.map_or(String::new(), |parameter| name(&parameter.quantity)),
        shown(session.parameter.map(|parameter| parameter.value)),
        one.name.clone(),
        name(&one.kind),
        name(&one.unit),
        session.series(&one.name).iter().flatten().count().to_string(),
    ];
    cells.extend(three(session.density(&one.name)));
    cells.push(session.limit.clone());
    cells.extend(three(session.ratio(&one.name, &session.limit)));
    let interval = session.interval(&one.name, &session.limit);
    cells.extend([interval.map(|interval| interval.low), interval.map(|interval| interval.high)].map(shown));
    cells
}

fn of_series(times: &Distribution) -> [String; 10] {
    let of = |share| shown(times.tail(share));
    [
        times.count().to_string(),
        shown(Some(times.mean())),
        shown(Some(times.jitter())),
        shown(Some(times.standard_deviation())),
        of(0.5),
        of(0.9),
        of(0.99),
        of(0.999),
        of(0.9999),
        shown(Some(times.most())),
    ]
}

fn shown(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// As in the JSON file.
fn name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}
