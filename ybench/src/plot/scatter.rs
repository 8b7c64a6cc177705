//! The times of single messages over their number, on a logarithmic axis, with a line at the median: the jitter and the
//! density graphs of the articles. What a trace has thinned out is fast; its slowest messages are all there.

use ybench_core::trace::Trace;

use super::Picture;
use super::axis::{Frame, Scale, short};
use super::canvas::{Canvas, Rect, SMALL, Side, WIDTH, picture, width_of};
use super::colour::{Colour, Look};
use crate::table::{figure, grouped, time};

pub struct Scatter<'a> {
    pub title: String,
    pub look: Look,
    pub trace: &'a Trace,
    /// Of all messages, not of those drawn. Nanoseconds.
    pub median: Option<f64>,
    /// The same ends for pictures that are to be compared, in nanoseconds.
    pub range: Option<(f64, f64)>,
}

const HEIGHT: f64 = 250.0;
const TOP: f64 = 30.0;
const LEFT: f64 = 62.0;

/// So many of the slowest answer when they are pointed at.
const NAMED: usize = 12;

/// The least and the most of the points, in nanoseconds.
pub(super) fn range(trace: &Trace) -> Option<(f64, f64)> {
    let times = || trace.points.iter().map(|(_, time)| time.max(0.1));
    (!trace.points.is_empty()).then(|| (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max)))
}

impl Scatter<'_> {
    /// Ends that hold all points of several traces.
    pub fn common_range<'a>(traces: impl Iterator<Item = &'a Trace>) -> Option<(f64, f64)> {
        traces.filter_map(range).reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
    }

    pub fn picture(&self) -> Picture {
        picture(self.title.clone(), self.alt(), HEIGHT, |canvas| self.draw(canvas))
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

    fn draw(&self, canvas: &mut Canvas<'_>) {
        let rect = Rect { x: LEFT, y: TOP, width: WIDTH - LEFT - 22.0, height: HEIGHT - TOP - 46.0 };
        let (least, most) = self.range.or_else(|| range(self.trace)).unwrap_or((1.0, 1_000.0));
        let frame = Frame {
            rect,
            x: Scale::linear((0.0, self.trace.of.max(1) as f64), (rect.x, rect.x + rect.width)),
            y: Scale::log((least.max(0.1) / 1.3, most * 1.3), (rect.y + rect.height, rect.y)),
        };
        frame.draw(canvas, ("number of the message", short), ("time of a message", time));
        if self.trace.points.is_empty() {
            let middle = (rect.x + rect.width / 2.0, rect.y + rect.height / 2.0);
            canvas.text("no single message was recorded", middle, Side::Middle, SMALL, Colour::Faint);
            return;
        }
        let place = |(number, time): &(u64, f64)| (frame.x.at(*number as f64), frame.y.at(time.max(0.1)));
        let points: Vec<(f64, f64)> = self.trace.points.iter().map(place).collect();
        canvas.dots(&points, self.look.colour, 2.0);
        if let Some(median) = self.median {
            let y = frame.y.at(median);
            canvas.over_line((rect.x, y), (rect.x + rect.width, y), Colour::Ink);
            let label = format!("median {}", time(median));
            let width = width_of(&label, SMALL) + 4.0;
            let right = rect.x + rect.width;
            canvas.over_label(&label, (right - width, y - 17.0), width);
            canvas.hit(
                Rect { x: rect.x, y: y - 4.0, width: rect.width, height: 8.0 },
                &format!("median {} ns", figure(median)),
            );
        }
        self.hits(canvas, place);
    }

    fn hits(&self, canvas: &mut Canvas<'_>, place: impl Fn(&(u64, f64)) -> (f64, f64)) {
        let mut slowest: Vec<&(u64, f64)> = self.trace.points.iter().collect();
        slowest.sort_by(|a, b| b.1.total_cmp(&a.1));
        for point in slowest.into_iter().take(NAMED) {
            let (x, y) = place(point);
            let told = format!("message {}: {} ns", grouped(point.0 as f64), figure(point.1));
            canvas.hit(Rect { x: x - 5.0, y: y - 5.0, width: 10.0, height: 10.0 }, &told);
        }
    }
}
