//! The distributions of many series with one axis of time: a row for each, scaled to its own highest bar. Each row has
//! a thin line from the minimum to the maximum, a stroke at the median, a dot at p99 and a small one at the slowest.

use super::Picture;
use super::axis::{self, Scale};
use super::canvas::{Canvas, LETTERS, Rect, SMALL, Side, WIDTH, picture, width_of};
use super::colour::Colour;
use super::histogram::{FINENESS, Shown, in_words, outline, range};
use crate::table::time;

pub struct Ridges<'a> {
    pub title: String,
    pub series: Vec<Shown<'a>>,
}

const ROW: f64 = 34.0;
const TOP: f64 = 8.0;
const BELOW: f64 = 46.0;

impl Ridges<'_> {
    pub fn picture(&self) -> Picture {
        let told: Vec<String> = self.series.iter().map(in_words).collect();
        let alt = format!("Histograms over one logarithmic axis of time. {}.", told.join(". "));
        let height = TOP + ROW * self.series.len().max(1) as f64 + BELOW;
        picture(self.title.clone(), alt, height, |canvas| self.draw(canvas))
    }

    fn draw(&self, canvas: &mut Canvas<'_>) {
        let longest = self.series.iter().map(|one| width_of(one.label, LETTERS)).fold(60.0, f64::max).min(200.0);
        let (left, right) = (longest + 34.0, WIDTH - 24.0);
        let bottom = TOP + ROW * self.series.len().max(1) as f64;
        let scale = Scale::log(range(self.series.iter().map(|one| one.times)), (left, right));
        axis::x_axis(canvas, &scale, scale.labelled(time), bottom, Some(TOP));
        canvas.text(
            "time of a message; stroke: median, dot: p99, ring: slowest",
            (right, bottom + 34.0),
            Side::Right,
            SMALL,
            Colour::Faint,
        );
        for (number, one) in self.series.iter().enumerate() {
            self.row(canvas, one, &scale, TOP + ROW * (number as f64 + 1.0) - 5.0);
        }
    }

    fn row(&self, canvas: &mut Canvas<'_>, one: &Shown<'_>, scale: &Scale, base: f64) {
        canvas.marker((8.0, base - 8.0), one.look, 4.0);
        canvas.text(one.label, (18.0, base - 8.0), Side::Left, LETTERS, Colour::Ink);
        if one.times.is_empty() {
            return;
        }
        let outline = outline(one.times, FINENESS);
        let highest = outline.iter().map(|(_, share)| *share).fold(0.0, f64::max).max(1e-9);
        let placed: Vec<(f64, f64)> =
            outline.iter().map(|(x, share)| (scale.at(*x), base - share / highest * (ROW - 9.0))).collect();
        canvas.area(&placed, one.look.colour, 0.55);
        let median = scale.at(one.times.median());
        let (least, most) = (scale.at(one.times.least()), scale.at(one.times.most()));
        canvas.line(&[(least, base), (most, base)], one.look.colour, 1.0, 1.0);
        canvas.line(&[(median, base - ROW + 9.0), (median, base + 3.0)], Colour::Ink, 1.5, 1.0);
        if let Some(p99) = one.times.tail(0.99) {
            canvas.dots(&[(scale.at(p99), base)], one.look.colour, 6.0);
        }
        canvas.ring((most, base), 2.75, one.look.colour);
        canvas.hit(Rect { x: 0.0, y: base - ROW + 5.0, width: WIDTH, height: ROW }, &in_words(one));
    }
}
