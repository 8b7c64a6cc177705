//! The article's diagram: the bandwidth of each mechanism between three writers and three readers, compared with how
//! fast one thread clears and copies memory. A picture for each way of carrying messages, so that the lines are
//! readable.

use ybench_measure::limits;
use ybench_measure::record::{Quantity, Report};
use ybench_measure::stats::{LEAST_ROUNDS, Spread, listed};

use super::designs::{CLEARED, DESIGNS};
use super::matrix::{Matrix, bytes, rate, way};
use crate::plot::{Colour, Look, Picture, Point, Shape, Sweep, Swept};
use crate::table::{figure, interval};

/// The session of the two baselines.
pub(super) const SCENARIO: &str = "memory";
pub(super) const ABOUT: &str = "How fast one thread clears and copies memory";

const KIBIBYTE: f64 = 1_024.0;

/// Converts nanoseconds per KiB to GB/s.
pub(super) fn of(nanoseconds: f64) -> f64 {
    KIBIBYTE / nanoseconds
}

/// In GB/s.
pub(super) fn limit(report: &Report, name: &str) -> Option<Spread> {
    Some(rate(KIBIBYTE, report.session(SCENARIO)?.density(name)?))
}

/// The diagram shows the largest measured number of threads.
fn drawn(report: &Report) -> Option<Matrix<'_>> {
    Matrix::all(report).pop()
}

/// A picture for each way, with the file names.
pub(super) fn pictures(report: &Report) -> Vec<(String, Picture)> {
    let Some(matrix) = drawn(report) else { return Vec::new() };
    let picture = |way: Quantity| {
        let mut lines = mechanisms(&matrix, way);
        if lines.is_empty() {
            return None;
        }
        lines.extend(levels(report, &matrix));
        let name = self::way(way);
        let sweep = Sweep {
            title: format!("Bandwidth between {} threads, {name}", matrix.shape),
            x_label: format!("bytes in a message, {name}"),
            y_label: "bandwidth; above memset: through a cache".to_owned(),
            x_form: bytes,
            y_form: a_second,
            y_log: true,
            lines,
            band: None,
        };
        Some((format!("linux-bandwidth-{}", name.replace(' ', "-")), sweep.picture()))
    };
    matrix.ways().into_iter().filter_map(picture).collect()
}

/// "30 GB/s", "300 kB/s": the ticks of an axis, of GB/s.
fn a_second(gigabytes: f64) -> String {
    let (value, unit) = match gigabytes {
        large if large >= 0.999 => (large, "GB/s"),
        middle if middle >= 0.999e-3 => (middle * 1e3, "MB/s"),
        small => (small * 1e6, "kB/s"),
    };
    format!("{value:.0} {unit}")
}

fn mechanisms(matrix: &Matrix<'_>, way: Quantity) -> Vec<Swept> {
    let line = |design: &super::designs::Design| {
        let point = |size: f64| {
            let taken = matrix.at(way, size)?.density(design.transport)?;
            Some(Point { x: size, y: rate(size, taken) })
        };
        let points: Vec<Point> = matrix.sizes().into_iter().filter_map(point).collect();
        (!points.is_empty()).then(|| Swept { label: design.label.to_owned(), look: design.look, points })
    };
    DESIGNS.iter().filter_map(line).collect()
}

/// From the smallest size to the largest.
fn levels(report: &Report, matrix: &Matrix<'_>) -> Vec<Swept> {
    let sizes = matrix.sizes();
    let level = |(name, shape): (&str, Shape)| {
        let y = limit(report, name)?;
        let points = [sizes.first()?, sizes.last()?].map(|x| Point { x: *x, y }).to_vec();
        Some(Swept { label: name.to_owned(), look: Look { colour: Colour::Ink, shape }, points })
    };
    [(limits::MEMSET.name, Shape::Square), (limits::MEMCPY.name, Shape::Triangle)]
        .into_iter()
        .filter_map(level)
        .collect()
}

/// The same in words.
pub(super) fn text(report: &Report) -> String {
    let Some(matrix) = drawn(report) else { return String::new() };
    let told =
        |name| limit(report, name).map(|speed| format!("{name} {} GB/s ({})", figure(speed.median), interval(speed)));
    let limits: Vec<String> = [limits::MEMSET.name, limits::MEMCPY.name].into_iter().filter_map(told).collect();
    if limits.is_empty() {
        return "Neither clearing nor copying of memory was measured.\n".to_owned();
    }
    let (from, to) = CLEARED;
    let mut text = format!("{}; the article's machine cleared {from:.0} to {to:.0} GB/s.\n", limits.join(", "));
    let Some(cleared) = limit(report, limits::MEMSET.name) else { return text };
    let few = report.session(SCENARIO).is_none_or(|session| session.sound() < LEAST_ROUNDS);
    for way in matrix.ways() {
        let above = those(&matrix, way, |speed| speed.min > cleared.max);
        let unsure = those(&matrix, way, |speed| speed.min <= cleared.max && speed.max > cleared.min);
        let names = match (above.is_empty(), unsure.is_empty()) {
            _ if few => "too few rounds to say".to_owned(),
            (true, true) => "none".to_owned(),
            (false, true) => above.join("; "),
            (true, false) => format!("unknown, too close for {}", unsure.join("; ")),
            (false, false) => format!("{}; unknown, too close for {}", above.join("; "), unsure.join("; ")),
        };
        text += &format!("Faster than memset, {}, {}: {names}.\n", matrix.shape, self::way(way));
    }
    text + "What is faster than memset goes through a cache: memory itself is not that fast.\n"
}

/// The mechanisms with such a speed, and at which sizes.
fn those(matrix: &Matrix<'_>, way: Quantity, kind: impl Fn(Spread) -> bool) -> Vec<String> {
    let one = |line: Swept| {
        let sizes: Vec<String> = line.points.iter().filter(|point| kind(point.y)).map(|point| bytes(point.x)).collect();
        let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
        (!sizes.is_empty()).then(|| format!("{} at {}", line.label, listed(&sizes)))
    };
    mechanisms(matrix, way).into_iter().filter_map(one).collect()
}
