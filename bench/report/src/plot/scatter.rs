//! The times of single messages over their number, on a logarithmic axis, with a line at the median: the jitter and the
//! density graphs of the articles. A trace omits only fast messages; it has all of the slowest.

use ybench_measure::trace::Trace;

use super::Picture;
use super::axis::short;
use super::colour::Look;
use super::lines::{Axis, Joined, Line, Lines};
use crate::table::{figure, grouped, time};

pub struct Scatter<'a> {
    pub title: String,
    pub look: Look,
    pub trace: &'a Trace,
    /// Of all messages, not of those drawn. Nanoseconds.
    pub median: Option<f64>,
    /// The common range of pictures that are compared, in nanoseconds.
    pub range: Option<(f64, f64)>,
}

/// The number of the slowest messages with a text for hovering.
const NAMED: usize = 12;

/// The range of the points, in nanoseconds.
fn range(trace: &Trace) -> Option<(f64, f64)> {
    let times = || trace.points.iter().map(|(_, time)| time.max(0.1));
    (!trace.points.is_empty()).then(|| (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max)))
}

impl Scatter<'_> {
    /// The common range of several traces.
    pub fn common_range<'a>(traces: impl Iterator<Item = &'a Trace>) -> Option<(f64, f64)> {
        traces.filter_map(range).reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
    }

    pub fn picture(&self) -> Picture {
        let (least, most) = self.range.or_else(|| range(self.trace)).unwrap_or((1.0, 1_000.0));
        let all = self.trace.of.max(1) as f64;
        let x = Axis::linear("number of the message", short, (0.0, all));
        let y = Axis::log("time of a message", time, (least / 1.3, most * 1.3));
        let level = self.median.map(|median| (median, format!("median {}", time(median))));
        Lines { level, ..Lines::of(&self.title, self.alt(), x, y, vec![self.cloud()]) }.picture()
    }

    fn cloud(&self) -> Line<'static> {
        let place = |&(number, time): &(u64, f64)| (number as f64, time.max(0.1));
        let mut slowest: Vec<&(u64, f64)> = self.trace.points.iter().collect();
        slowest.sort_by(|a, b| b.1.total_cmp(&a.1));
        let told = |point: &(u64, f64)| format!("message {}: {} ns", grouped(point.0 as f64), figure(point.1));
        Line {
            label: "",
            look: self.look,
            joined: Joined::Dots,
            points: self.trace.points.iter().map(place).collect(),
            strokes: Vec::new(),
            told: slowest.into_iter().take(NAMED).map(|point| (place(point), told(point))).collect(),
        }
    }

    fn alt(&self) -> String {
        let Some((least, most)) = range(self.trace) else {
            return "No single message was recorded.".to_owned();
        };
        let median = self.median.map_or(String::new(), |median| format!(", median {} ns", figure(median)));
        format!(
            "Times of single messages over their number, {} of {} drawn: from {} to {} ns{median}.",
            grouped(self.trace.points.len() as f64),
            grouped(self.trace.of as f64),
            figure(least),
            figure(most),
        )
    }
}
