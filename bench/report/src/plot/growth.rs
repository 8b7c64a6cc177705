//! Latency over the number of the message, both axes linear: the ever-growing latency in a queue whose sender is faster
//! than its receiver. Each point is the median of a stretch, so that single slow messages do not hide the slope.

use ybench_measure::stats::Spread;
use ybench_measure::trace::Trace;

use super::Picture;
use super::axis::short;
use super::colour::Look;
use super::lines::{Axis, Joined, Line, Lines};
use crate::table::{figure, grouped, time};

pub struct Rise<'a> {
    pub label: &'a str,
    pub look: Look,
    pub trace: &'a Trace,
}

pub struct Growth<'a> {
    pub title: String,
    pub rises: Vec<Rise<'a>>,
}

/// Points of a line, and how many of them share one text for hovering.
const STEPS: usize = 80;
const TOLD: usize = 8;

impl<'a> Rise<'a> {
    /// The median of each stretch: the number of its middle message, and nanoseconds.
    fn medians(&self) -> Vec<(f64, f64)> {
        let stretch = self.trace.points.len().div_ceil(STEPS).max(1);
        let middle = |part: &[(u64, f64)]| {
            let times: Vec<f64> = part.iter().map(|(_, time)| *time).collect();
            Spread::of(&times).map(|spread| (part[part.len() / 2].0 as f64, spread.median))
        };
        self.trace.points.chunks(stretch).filter_map(middle).collect()
    }

    fn line(&self) -> Line<'a> {
        let points = self.medians();
        let told = |&(number, median): &(f64, f64)| {
            ((number, median), format!("{}: message {}, {}", self.label, grouped(number), time(median)))
        };
        let told = points.iter().step_by(TOLD).map(told).collect();
        Line { label: self.label, look: self.look, joined: Joined::Line, points, strokes: Vec::new(), told }
    }
}

impl Growth<'_> {
    pub fn picture(&self) -> Picture {
        let lines: Vec<Line<'_>> = self.rises.iter().map(Rise::line).collect();
        let told: Vec<String> = self.rises.iter().zip(&lines).map(|(rise, line)| in_words(rise, line)).collect();
        let most = lines.iter().flat_map(|line| &line.points).map(|(_, time)| *time).fold(0.0, f64::max).max(1.0);
        // Runs differ in length: each is drawn over its own messages, on the axis of the longest.
        let longest = self.rises.iter().map(|rise| rise.trace.of).max().unwrap_or(1).max(1) as f64;
        let alt = format!("Latency over the number of the message, both axes linear. {}.", told.join(". "));
        let x = Axis::linear("number of the message", short, (0.0, longest));
        let y = Axis::linear("latency of a message", time, (0.0, most * 1.05));
        Lines::of(&self.title, alt, x, y, lines).picture()
    }
}

fn in_words(rise: &Rise<'_>, line: &Line<'_>) -> String {
    match (line.points.first(), line.points.last()) {
        (Some(first), Some(last)) => format!(
            "{}: from {} to {} ns over {} messages",
            rise.label,
            figure(first.1),
            figure(last.1),
            grouped(rise.trace.of as f64)
        ),
        _ => format!("{}: no message", rise.label),
    }
}
