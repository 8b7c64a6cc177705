//! Figures over a parameter: a line for each transport over the sessions of one scenario, or over the batch sizes of
//! one session.

use ybench_measure::outcome::{Metric, Series};
use ybench_measure::record::{Contestant, Quantity, Session};
use ybench_measure::stats::Spread;

use crate::plot::{Looks, Picture, Point, Sweep, Swept};
use crate::table::sections::Section;
use crate::table::{self, time};

type Form = fn(f64) -> String;

/// The metrics with a picture of their own, with the label of the axis and the format.
const METRICS: [(Metric, &str, Form); 5] = [
    (Metric::SenderCpu, "CPU time of the sender for each message", time),
    (Metric::ReceiverCpu, "CPU time of the receiver for each message", time),
    (Metric::RateReached, "messages per second reached", table::count),
    (Metric::Drain, "time to drain a message", time),
    (Metric::BytesHeld, "bytes held for each message", table::count),
];

pub fn pictures(section: &Section<'_>, looks: &Looks) -> Vec<Picture> {
    let mut pictures = Vec::new();
    for (quantity, sessions) in section.sweeps() {
        let sessions: Vec<_> =
            sessions.into_iter().map(|(value, session)| (quantity.on_axis(value), session)).collect();
        pictures.extend(over(section.scenario, quantity, &sessions, looks));
    }
    pictures.extend(section.sessions.iter().filter_map(|session| batches(session, looks)));
    pictures
}

fn over(scenario: &str, quantity: Quantity, sessions: &[(f64, &Session)], looks: &Looks) -> Vec<Picture> {
    let sweep = |what: &str, y_label: &str, y_form: Form, lines: Vec<Swept>| {
        let sweep = Sweep {
            title: format!("{scenario}: {what} over {}", quantity.in_words()),
            x_label: quantity.in_words().to_owned(),
            y_label: y_label.to_owned(),
            x_form: form(quantity),
            y_form,
            y_log: true,
            lines,
            band: None,
        };
        sweep.lines.iter().any(|line| line.points.len() > 1).then(|| sweep.picture())
    };
    let mut all = lines(sessions, looks, middle);
    all.extend(limit(sessions));
    let mut pictures: Vec<Picture> = sweep("time", "time of a message", time, all).into_iter().collect();
    for series in [Series::Latency, Series::RoundTrip] {
        let tail = lines(sessions, looks, |session, name| {
            let p99 = session.distribution(name, series)?.tail(0.99)?;
            Some(Spread { median: p99, min: p99, max: p99 })
        });
        pictures.extend(sweep(&format!("p99 of the {}", series.in_words()), "p99", time, tail));
    }
    for (metric, label, form) in METRICS {
        let lines = lines(sessions, looks, |session, name| session.metric(name, metric));
        pictures.extend(sweep(label, label, form, lines));
    }
    pictures
}

/// For single messages: the median of all rounds together, as in the tables, between the medians of the rounds.
fn middle(session: &Session, name: &str) -> Option<Spread> {
    let rounds = session.density(name)?;
    let times = session.distribution(name, Series::Latency).filter(|times| !times.is_empty());
    Some(times.map_or(rounds, |times| Spread { median: times.median(), ..rounds }))
}

/// A line for each transport with at least one figure.
fn lines(sessions: &[(f64, &Session)], looks: &Looks, figure: impl Fn(&Session, &str) -> Option<Spread>) -> Vec<Swept> {
    let mut names: Vec<&str> = Vec::new();
    for one in sessions.iter().flat_map(|(_, session)| session.transports()) {
        if !names.contains(&one.name.as_str()) {
            names.push(&one.name);
        }
    }
    let line = |name: &str| {
        let point = |(x, session): &(f64, &Session)| Some(Point { x: *x, y: figure(session, name)? });
        let points = sessions.iter().filter_map(point).filter(|point| point.x > 0.0 && point.y.min > 0.0);
        Swept { label: name.to_owned(), look: looks.look(name), points: points.collect() }
    };
    names.into_iter().map(line).filter(|line| !line.points.is_empty()).collect()
}

/// The common baseline, if all sessions have the same.
fn limit(sessions: &[(f64, &Session)]) -> Option<Swept> {
    let name = &sessions.first()?.1.limit;
    if sessions.iter().any(|(_, session)| session.limit != *name) {
        return None;
    }
    let point = |(x, session): &(f64, &Session)| Some(Point { x: *x, y: session.density(name)? });
    let points = sessions.iter().filter(|(x, _)| *x > 0.0).filter_map(point).collect();
    Some(Swept { label: name.clone(), look: Looks::default().look(name), points })
}

/// The transports of one session that differ in batch size.
fn batches(session: &Session, looks: &Looks) -> Option<Picture> {
    let transport = |one: &Contestant| {
        let batch = one.batch?;
        Some((one.name.strip_suffix(&format!(" x{batch}"))?.to_owned(), batch))
    };
    let mut lines: Vec<Swept> = Vec::new();
    for one in session.transports() {
        let (Some((name, batch)), Some(y)) = (transport(one), session.density(&one.name)) else { continue };
        let point = Point { x: batch as f64, y };
        match lines.iter_mut().find(|line| line.label == name) {
            Some(line) => line.points.push(point),
            None => {
                let look = looks.look(&one.name);
                lines.push(Swept { label: name, look, points: vec![point] });
            }
        }
    }
    if !lines.iter().any(|line| line.points.len() > 1) {
        return None;
    }
    let sweep = Sweep {
        title: format!("{}: time over the length of a batch", session.title()),
        x_label: "messages in a batch".to_owned(),
        y_label: "time of a message".to_owned(),
        x_form: table::grouped,
        y_form: time,
        y_log: true,
        lines,
        band: None,
    };
    Some(sweep.picture())
}

fn form(quantity: Quantity) -> Form {
    match quantity {
        Quantity::Rate => |value| Quantity::Rate.short(value),
        Quantity::BytesByValue | Quantity::BytesByPointer | Quantity::BytesByPool => {
            |value| Quantity::BytesByValue.short(value)
        }
        Quantity::Load => |value| Quantity::Load.short(value),
        Quantity::Backlog => |value| Quantity::Backlog.short(value),
        Quantity::Silence => |value| Quantity::Silence.short(value),
        Quantity::Senders | Quantity::IdleSenders | Quantity::Receivers | Quantity::Sources | Quantity::Channels => {
            table::grouped
        }
        Quantity::ThreadsPerCpu | Quantity::KeptThreadsPerCpu | Quantity::Neighbours => {
            |value| Quantity::ThreadsPerCpu.short(value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_measure::distribution::Distribution;
    use ybench_measure::record::{Details, Round};

    #[test]
    fn a_picture_shows_the_median_of_all_messages_as_the_tables_do() {
        let round = |time| Round { nanoseconds: [("one".to_owned(), time)].into(), ..Round::default() };
        let mut session = Session { rounds: vec![round(10.0), round(90.0)], ..Session::default() };
        assert_eq!(middle(&session, "one").map(|spread| spread.median), Some(50.0));
        let times: Distribution = [10.0, 10.0, 90.0].into_iter().collect();
        let median = times.median();
        let details = Details { distributions: [(Series::Latency, times)].into(), ..Details::default() };
        session.details.insert("one".to_owned(), details);
        let shown = middle(&session, "one").unwrap();
        assert_eq!((shown.median, shown.min, shown.max), (median, 10.0, 90.0));
    }
}
