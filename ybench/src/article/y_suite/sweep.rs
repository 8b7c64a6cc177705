//! The batch sweep: the article's two graphs, density and throughput over the length of a batch.

use std::path::{Path, PathBuf};

use ybench_core::error::Error;
use ybench_core::frame::Frame;
use ybench_core::record::{Report, Session};
use ybench_core::rounds::Contender;
use ybench_core::scenario::throughput;
use ybench_core::stats::Spread;
use ybench_core::transport::registry::Entry;

use super::published;
use crate::article::cases::Cases;
use crate::article::conclusion::Conclusion;
use crate::keep;
use crate::plot::{self, Band, Graph, Level, Line};
use crate::table::{align_right, figure, grouped, interval, new_table, text};

pub(super) const SCENARIO: &str = "batch sweep";

const BATCHES: [usize; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// The article's own composition, and today's channel with its batch calls.
pub(super) const TRANSPORTS: [&str; 2] = [published::WITH_POLLING, "spsc-batch"];

const LABELS: [&str; 2] = ["y-suite: ypipe + ypollset", "spsc: send_batch, recv_batch"];

/// Batches of up to 8 messages are "not worth of doing", says the article.
const NOT_WORTH_IT_UP_TO: usize = 8;

fn name(transport: &str, batch: usize) -> String {
    format!("{transport} x{batch}")
}

pub(super) fn contenders(entry: &'static Entry, frame: Frame) -> impl Iterator<Item = Contender> {
    let one_by_one = (entry.traits.name == published::WITH_POLLING).then(|| throughput::contender(entry, None, frame));
    let batches = BATCHES.into_iter().map(move |batch| {
        let mut contender = throughput::batches(entry, batch, frame);
        contender.contestant.name = name(entry.traits.name, batch);
        contender
    });
    one_by_one.into_iter().chain(batches)
}

/// The transports of the sweep that were measured, with their labels and figures.
fn lines(session: &Session) -> Vec<Line> {
    let line = |(transport, label): (&str, &str)| {
        let point = |batch| Some((batch, session.density(&name(transport, batch))?));
        Line { label: label.to_owned(), points: BATCHES.into_iter().filter_map(point).collect() }
    };
    let lines = TRANSPORTS.into_iter().zip(LABELS).map(line);
    lines.filter(|line: &Line| !line.points.is_empty()).collect()
}

pub(super) fn table(session: &Session) -> String {
    let mut head = vec!["batch".to_owned()];
    let lines = lines(session);
    for line in &lines {
        head.extend([format!("{}, ns/msg", line.label), "min .. max".to_owned(), "msgs/sec".to_owned()]);
    }
    let mut table = new_table(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for batch in BATCHES {
        let mut row = vec![grouped(batch as f64)];
        for line in &lines {
            let spread = line.points.iter().find(|(at, _)| *at == batch).map(|(_, spread)| *spread);
            row.push(spread.map_or(String::new(), |spread| figure(spread.median)));
            row.push(spread.map_or(String::new(), interval));
            row.push(spread.map_or(String::new(), |spread| grouped(1e9 / spread.median)));
        }
        table.add_row(row);
    }
    align_right(&mut table, &[0, 1, 2, 3, 4, 5, 6]);
    text(&table)
}

/// The article's "about 30", and what is best here.
pub(super) fn best(session: &Session) -> String {
    let median = |batch: usize| Some((batch, session.density(&name(published::WITH_POLLING, batch))?.median));
    match BATCHES.into_iter().filter_map(median).min_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((best, _)) => format!("Best here: {} messages in a batch. The article: about 30.", grouped(best as f64)),
        None => "The article's composition was not measured in batches.".to_owned(),
    }
}

/// "Inefficient up to 8 messages a batch": even slower than one by one.
pub(super) fn short_batches(session: &Session) -> Conclusion {
    let mut cases = Cases::default();
    for batch in BATCHES.into_iter().filter(|&batch| batch > 1 && batch <= NOT_WORTH_IT_UP_TO) {
        cases.at_least(session, &name(published::WITH_POLLING, batch), published::WITH_POLLING, 1.0);
    }
    Conclusion {
        claim: "Batches of up to 8 messages are slower than messages one by one.",
        here: format!("batches of 2, 4 and 8 over one by one: {}", cases.times()),
        verdict: cases.verdict(),
    }
}

/// Writes both graphs and returns where they are.
pub(super) fn write_graphs(session: &Session, report: &Report, folder: &Path) -> Result<[PathBuf; 2], Error> {
    let limit = session.density(&session.limit).map(|limit| limit.median);
    let density = Graph {
        title: "Density: nanoseconds per message over the length of a batch".to_owned(),
        y_label: "ns per message".to_owned(),
        level: limit.map(|value| Level { label: format!("limit: {}", session.limit), value }),
        ..graph(session, report)
    };
    let mut throughput = Graph {
        title: "Throughput: messages per second over the length of a batch".to_owned(),
        y_label: "million messages per second".to_owned(),
        level: limit.map(|value| Level { label: format!("limit: {}", session.limit), value: millions(value) }),
        ..graph(session, report)
    };
    for (_, spread) in throughput.lines.iter_mut().flat_map(|line| &mut line.points) {
        let turned = Spread { median: millions(spread.median), min: millions(spread.max), max: millions(spread.min) };
        *spread = turned;
    }
    let paths = ["y-suite-density.svg", "y-suite-throughput.svg"].map(|name| folder.join(name));
    for (path, graph) in paths.iter().zip([density, throughput]) {
        let drawn = plot::svg(&graph).map_err(|cause| Error::Unwritten {
            path: path.display().to_string(),
            cause: std::io::Error::other(cause),
        })?;
        keep::write_text(path, &drawn)?;
    }
    Ok(paths)
}

fn millions(nanoseconds: f64) -> f64 {
    1e3 / nanoseconds
}

fn graph(session: &Session, report: &Report) -> Graph {
    let environment = &report.environment;
    let processor = environment.cpu_model.as_deref().unwrap_or("unknown processor");
    let virtual_machine = if environment.hypervisor.is_some() { ", virtual" } else { "" };
    let (from, to) = published::BEST_BATCHES;
    Graph {
        title: String::new(),
        subtitle: format!(
            "8-byte messages between two threads; median of {} rounds, strokes from the least to the most; {processor}{virtual_machine}",
            session.counted().count()
        ),
        x_label: "messages in a batch".to_owned(),
        y_label: String::new(),
        lines: lines(session),
        level: None,
        band: Some(Band { label: "the article's best, 30 to 60".to_owned(), from, to }),
    }
}
