//! The article's statements in its order, and the part of a result for each.
//!
//! Measured there with ØMQ 0.1 over TCP; the processors are named in its table of clocks.

use ybench_measure::distribution::Distribution;
use ybench_measure::outcome::{Metric, Series};
use ybench_measure::record::Report;
use ybench_measure::scenario::density::BATCH_GAP;
use ybench_measure::scenario::{density, latency, overrun};

use crate::table::{figure, grouped, significant};

/// One figure of the article.
pub(super) struct Stated {
    pub(super) what: &'static str,
    pub(super) published: &'static str,
    /// The same figure of a transport, in words; `None` if it was not measured.
    pub(super) measured: fn(&Report, &str) -> Option<String>,
}

pub(super) const LATENCY: [Stated; 3] = [
    Stated {
        what: "latency, median, us",
        published: "50",
        measured: |report, name| Some(figure(latency(report, name)?.median() / 1e3)),
    },
    Stated {
        what: "average jitter to the median, us",
        published: "0.225",
        measured: |report, name| Some(figure(latency(report, name)?.jitter() / 1e3)),
    },
    Stated {
        what: "standard deviation, us",
        published: "0.676",
        measured: |report, name| Some(figure(latency(report, name)?.standard_deviation() / 1e3)),
    },
];

pub(super) const SENDER: [Stated; 5] = [
    Stated {
        what: "density in most cases (median), ns",
        published: "140",
        measured: |report, name| Some(figure(sent(report, name)?.median())),
    },
    Stated {
        what: "the same less one reading of the clock, ns",
        published: "-",
        measured: |report, name| without_the_clock(report, sent(report, name)?.median()),
    },
    Stated {
        what: "mean without stamps, ns",
        published: "-",
        measured: |report, name| Some(figure(plain(report, name)?)),
    },
    Stated {
        what: "mean density, ns",
        published: "208",
        measured: |report, name| Some(figure(sent(report, name)?.mean())),
    },
    Stated {
        what: "throughput, msgs/s",
        published: "4,800,000",
        measured: |report, name| Some(significant(1e9 / sent(report, name)?.mean())),
    },
];

pub(super) const RECEIVER: [Stated; 8] = [
    Stated {
        what: "density inside a batch (median), ns",
        published: "300",
        measured: |report, name| Some(figure(part(received(report, name)?, |time| time <= BATCH_GAP)?.median())),
    },
    Stated {
        what: "the same less one reading of the clock, ns",
        published: "-",
        measured: |report, name| {
            let inside = part(received(report, name)?, |time| time <= BATCH_GAP)?;
            without_the_clock(report, inside.median())
        },
    },
    Stated {
        what: "to retrieve a batch (median), us",
        published: "3 to 6",
        measured: |report, name| Some(figure(part(received(report, name)?, |time| time > BATCH_GAP)?.median() / 1e3)),
    },
    Stated {
        what: "densities above 1 us, of a million",
        published: "10,768",
        measured: |report, name| {
            let received = received(report, name)?;
            Some(grouped(received.beyond(BATCH_GAP) as f64 / received.count() as f64 * 1e6))
        },
    },
    Stated {
        what: "messages in a batch, from those",
        published: "100",
        measured: |report, name| {
            let received = received(report, name)?;
            let batches = received.beyond(BATCH_GAP).max(1);
            Some(grouped(received.count() as f64 / batches as f64))
        },
    },
    Stated {
        what: "messages in a batch, by the stamps of both sides",
        published: "-",
        measured: |report, name| Some(grouped(density_metric(report, name, Metric::MeanReady)?)),
    },
    Stated {
        what: "mean density, ns",
        published: "367",
        measured: |report, name| Some(figure(received(report, name)?.mean())),
    },
    Stated {
        what: "throughput, msgs/s",
        published: "2,700,000",
        measured: |report, name| Some(significant(1e9 / received(report, name)?.mean())),
    },
];

pub(super) const OVERRUN: [Stated; 3] = [
    Stated {
        what: "latency of the first message, us",
        published: "-",
        measured: |report, name| Some(figure(overrun(report, name)?.first()?.1 / 1e3)),
    },
    Stated {
        what: "latency of the last message, ms",
        published: "160 (the millionth)",
        measured: |report, name| {
            let points = overrun(report, name)?;
            Some(format!("{} (number {})", figure(points.last()?.1 / 1e6), grouped(points.last()?.0 as f64 + 1.0)))
        },
    },
    Stated {
        what: "most messages under way at once",
        published: "-",
        measured: |report, name| {
            let most = report.session(overrun::SCENARIO.name)?.metric(name, Metric::MostUnderWay)?;
            Some(grouped(most.median))
        },
    },
];

fn density_metric(report: &Report, name: &str, metric: Metric) -> Option<f64> {
    Some(report.session(density::SCENARIO.name)?.metric(name, metric)?.median)
}

/// A density holds one reading of the clock; a density below that is hidden by the clock.
fn without_the_clock(report: &Report, density: f64) -> Option<String> {
    let cost = report.clock.as_ref()?.cost_ns;
    Some(if density > cost { figure(density - cost) } else { "hidden".to_owned() })
}

/// Nanoseconds per message of the same stream without stamps.
fn plain(report: &Report, name: &str) -> Option<f64> {
    let stamped = report.session(density::SCENARIO.name)?.density(name)?.median;
    Some(stamped / (1.0 + density_metric(report, name, Metric::Distortion)?))
}

/// One way; `None` if the clocks are not in step.
fn latency<'a>(report: &'a Report, name: &str) -> Option<&'a Distribution> {
    report.session(latency::SCENARIO.name)?.distribution(name, Series::Latency)
}

fn sent<'a>(report: &'a Report, name: &str) -> Option<&'a Distribution> {
    report.session(density::SCENARIO.name)?.distribution(name, Series::SendDensity)
}

fn received<'a>(report: &'a Report, name: &str) -> Option<&'a Distribution> {
    report.session(density::SCENARIO.name)?.distribution(name, Series::ReceiveDensity)
}

fn overrun<'a>(report: &'a Report, name: &str) -> Option<&'a [(u64, f64)]> {
    Some(&report.session(overrun::SCENARIO.name)?.trace(name, Series::Latency)?.points)
}

/// The times of the part; `None` if there are none.
fn part(times: &Distribution, belongs: impl Fn(f64) -> bool) -> Option<Distribution> {
    let mut part = Distribution::default();
    times.values().filter(|(time, _)| belongs(*time)).for_each(|(time, count)| part.record(time, count));
    if part.is_empty() { None } else { Some(part) }
}

/// By how much the timing of every message lengthens the run, in percent.
pub(super) fn distortion(report: &Report, name: &str) -> Option<f64> {
    Some(density_metric(report, name, Metric::Distortion)? * 100.0)
}
