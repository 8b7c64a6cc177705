//! Latency over the number of the message, both axes linear: the ever-growing wait in a queue that is written faster
//! than it is read. Each point of a line is the median of a stretch, so that single slow messages do not hide the slope.

use ybench_core::stats::Spread;
use ybench_core::trace::Trace;

use super::Picture;
use super::axis::{Frame, Scale, short};
use super::canvas::{Canvas, Rect, WIDTH, picture};
use super::colour::Look;
use super::ends::{self, End};
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

const TOP: f64 = 30.0;
const BELOW: f64 = 46.0;
const LEFT: f64 = 62.0;

/// Points of a line.
const STEPS: usize = 80;

impl Rise<'_> {
    /// The median of each stretch, as share of the run and nanoseconds.
    fn line(&self) -> Vec<(f64, f64)> {
        let of = self.trace.of.max(1) as f64;
        let stretch = self.trace.points.len().div_ceil(STEPS).max(1);
        let middle = |part: &[(u64, f64)]| {
            let times: Vec<f64> = part.iter().map(|(_, time)| *time).collect();
            let number = part[part.len() / 2].0 as f64;
            Spread::of(&times).map(|spread| (number / of, spread.median))
        };
        self.trace.points.chunks(stretch).filter_map(middle).collect()
    }
}

impl Growth<'_> {
    pub fn picture(&self) -> Picture {
        let told: Vec<String> = self.rises.iter().map(in_words).collect();
        let alt = format!("Latency over the number of the message, both axes linear. {}.", told.join(". "));
        let height = TOP + BELOW + ends::height(self.rises.len()).max(230.0);
        picture(self.title.clone(), alt, height, |canvas| self.draw(canvas, height))
    }

    fn draw(&self, canvas: &mut Canvas<'_>, height: f64) {
        let room = ends::room(self.rises.iter().map(|rise| rise.label.chars().count()));
        let rect = Rect { x: LEFT, y: TOP, width: WIDTH - LEFT - room - 10.0, height: height - TOP - BELOW };
        let lines: Vec<Vec<(f64, f64)>> = self.rises.iter().map(Rise::line).collect();
        let most = lines.iter().flatten().map(|(_, time)| *time).fold(0.0, f64::max).max(1.0);
        // Runs differ in their lengths: each is drawn over its own messages, on the axis of the longest.
        let longest = self.rises.iter().map(|rise| rise.trace.of).max().unwrap_or(1).max(1) as f64;
        let frame = Frame {
            rect,
            x: Scale::linear((0.0, longest), (rect.x, rect.x + rect.width)),
            y: Scale::linear((0.0, most * 1.05), (rect.y + rect.height, rect.y)),
        };
        frame.draw(canvas, ("number of the message", short), ("latency of a message", time));
        let mut labels = Vec::new();
        for (series, (rise, line)) in self.rises.iter().zip(&lines).enumerate() {
            canvas.series(Some(series));
            let of = rise.trace.of as f64;
            let place = |(share, time): &(f64, f64)| (frame.x.at(share * of), frame.y.at(*time));
            let points: Vec<(f64, f64)> = line.iter().map(place).collect();
            canvas.look_line(&points, rise.look, ends::stroke(self.rises.len()));
            for (at, (share, value)) in points.iter().zip(line).step_by(8) {
                let told = format!("{}: message {}, {}", rise.label, grouped(share * of), time(*value));
                canvas.hit(Rect { x: at.0 - 6.0, y: at.1 - 6.0, width: 12.0, height: 12.0 }, &told);
            }
            if let Some(at) = points.last() {
                labels.push(End { label: rise.label, look: rise.look, series, at: *at });
            }
        }
        ends::draw(canvas, labels, rect.x + rect.width + 14.0, (rect.y, rect.y + rect.height));
    }
}

fn in_words(rise: &Rise<'_>) -> String {
    let line = rise.line();
    match (line.first(), line.last()) {
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
