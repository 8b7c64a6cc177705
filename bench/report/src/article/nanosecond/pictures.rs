//! The article's four graphs, for each transport: latency, density at the sender and at the receiver, and the latency
//! that grows with the queue.

use ybench_measure::outcome::Series;
use ybench_measure::record::{Report, Session};
use ybench_measure::scenario::{density, latency, overrun};

use crate::plot::{Growth, Looks, Picture, Rise, Scatter};

const GRAPHS: [(&str, &str, &str, Series); 3] = [
    ("latency", "Latency of each message, one way", latency::SCENARIO.name, Series::Latency),
    ("sender", "Density at the sender: time between two sends", density::SCENARIO.name, Series::SendDensity),
    ("receiver", "Density at the receiver: time between two receipts", density::SCENARIO.name, Series::ReceiveDensity),
];

pub(in crate::article) fn all(report: &Report) -> Vec<(String, Picture)> {
    let looks = Looks::of([report]);
    let mut pictures = Vec::new();
    for (graph, title, scenario, series) in GRAPHS {
        let Some(session) = report.session(scenario) else { continue };
        for one in session.transports() {
            if let Some(picture) = scatter(session, &one.name, title, series, &looks) {
                pictures.push((format!("nanosecond-{graph}-{}", one.name), picture));
            }
        }
    }
    pictures.extend(super::rates::picture(report, &looks, &super::names(report)));
    pictures.extend(report.session(overrun::SCENARIO.name).and_then(|session| growth(session, &looks)));
    pictures
}

fn scatter(session: &Session, name: &str, title: &str, series: Series, looks: &Looks) -> Option<Picture> {
    let median = session.distribution(name, series).map(|times| times.median());
    let trace = session.trace(name, series)?;
    let scatter = Scatter { title: format!("{title}: {name}"), look: looks.look(name), trace, median, range: None };
    Some(scatter.picture())
}

fn growth(session: &Session, looks: &Looks) -> Option<(String, Picture)> {
    let rise = |name| Some(Rise { label: name, look: looks.look(name), trace: session.trace(name, Series::Latency)? });
    let rises: Vec<Rise<'_>> = session.transports().filter_map(|one| rise(one.name.as_str())).collect();
    let title = "Latency while the sender is faster than the receiver".to_owned();
    (!rises.is_empty()).then(|| ("nanosecond-growth".to_owned(), Growth { title, rises }.picture()))
}
