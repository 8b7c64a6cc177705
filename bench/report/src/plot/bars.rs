//! Transports ranked by their ratio to the baseline. The bars begin at the baseline, on a logarithmic axis, so a bar of
//! twice the length is as many times slower again. The time itself is printed at each bar. A stroke at the end of the
//! bar spans the interval.

use ybench_measure::stats::{Spread, listed};

use super::Picture;
use super::axis::{self, Scale};
use super::canvas::{Canvas, LETTERS, Rect, SMALL, Side, WIDTH, picture, width_of};
use super::colour::{Colour, Look};
use crate::table::{Tone, figure};

pub struct Bar {
    pub name: String,
    pub look: Look,
    pub ratio: Spread,
    /// The figure itself, with its unit.
    pub time: String,
    pub tone: Tone,
}

/// From the fastest to the slowest.
pub struct Bars {
    pub title: String,
    /// The baseline, with the ratio 1.
    pub reference: String,
    pub rows: Vec<Bar>,
}

const ROW: f64 = 21.0;
const TOP: f64 = 26.0;
const BELOW: f64 = 46.0;
const FIGURES: f64 = 62.0;

impl Bars {
    pub fn picture(&self) -> Picture {
        let height = TOP + ROW * self.rows.len().max(1) as f64 + BELOW;
        picture(self.title.clone(), self.alt(), height, |canvas| self.draw(canvas))
    }

    fn alt(&self) -> String {
        let rows = self.rows.iter().filter(|row| row.tone != Tone::Limit);
        let told: Vec<String> = rows.map(|row| format!("{} {}", row.name, row.time)).collect();
        let told: Vec<&str> = told.iter().map(String::as_str).collect();
        let told = if told.is_empty() { "nothing was measured".to_owned() } else { listed(&told) };
        format!("Bars of the times, with the baseline {}, from the fastest: {told}.", self.reference)
    }

    fn draw(&self, canvas: &mut Canvas<'_>) {
        let longest = self.rows.iter().map(|row| width_of(&row.name, LETTERS)).fold(60.0, f64::max).min(200.0);
        let left = longest + 34.0;
        let right = WIDTH - FIGURES - 6.0;
        let bottom = TOP + ROW * self.rows.len().max(1) as f64;
        let least = self.rows.iter().map(|row| row.ratio.min).fold(1.0, f64::min);
        let most = self.rows.iter().map(|row| row.ratio.max).fold(1.2, f64::max);
        let scale = Scale::log((least / 1.06, most * 1.06), (left, right));
        self.band(canvas, left);
        axis::x_axis(canvas, &scale, scale.labelled(axis::trimmed), bottom, Some(TOP - 6.0));
        let reference = scale.at(1.0);
        for (number, row) in self.rows.iter().enumerate() {
            self.row(canvas, row, &scale, TOP + ROW * (number as f64 + 0.5));
        }
        canvas.line(&[(reference, TOP - 6.0), (reference, bottom)], Colour::Ink, 1.25, 1.0);
        let side = if reference < left + 30.0 { Side::Left } else { Side::Middle };
        canvas.text("baseline", (reference, TOP - 15.0), side, SMALL, Colour::Ink);
        canvas.text("median", (WIDTH - 6.0, TOP - 15.0), Side::Right, SMALL, Colour::Faint);
        canvas.text(
            &format!("times the baseline: {}", self.reference),
            (right, bottom + 34.0),
            Side::Right,
            SMALL,
            Colour::Faint,
        );
    }

    /// The background of the transports tied with the leader.
    fn band(&self, canvas: &mut Canvas<'_>, left: f64) {
        let close = |row: &Bar| matches!(row.tone, Tone::Leader | Tone::Tied);
        if !self.rows.iter().any(|row| row.tone == Tone::Tied) {
            return;
        }
        let first = self.rows.iter().position(close).unwrap_or(0);
        let last = self.rows.iter().rposition(close).unwrap_or(0);
        let rect = Rect { x: 0.0, y: TOP + ROW * first as f64, width: WIDTH, height: ROW * (last + 1 - first) as f64 };
        canvas.rect(rect, Colour::Band, 1.0);
        let place = (left + (WIDTH - FIGURES - left) - 8.0, rect.y + rect.height - ROW / 2.0);
        canvas.text("tied", place, Side::Right, SMALL, Colour::Faint);
    }

    fn row(&self, canvas: &mut Canvas<'_>, row: &Bar, scale: &Scale, y: f64) {
        let limit = row.tone == Tone::Limit;
        let (from, to) = (scale.at(1.0), scale.at(row.ratio.median));
        let rect = Rect { x: from.min(to), y: y - 5.5, width: (from - to).abs().max(1.5), height: 11.0 };
        canvas.rect(rect, row.look.colour, if limit { 0.35 } else { 0.85 });
        let (low, high) = (scale.at(row.ratio.min), scale.at(row.ratio.max));
        for end in [low, high] {
            canvas.line(&[(end, y - 3.5), (end, y + 3.5)], Colour::Ink, 1.25, 1.0);
        }
        canvas.line(&[(low, y), (high, y)], Colour::Ink, 1.25, 1.0);
        let ink = if limit { Colour::Faint } else { Colour::Ink };
        if !limit {
            canvas.marker((8.0, y), row.look, 4.0);
        }
        let (name, time) = ((18.0, y), (WIDTH - 6.0, y));
        if row.tone == Tone::Leader {
            canvas.bold(&row.name, name, Side::Left, LETTERS, ink);
            canvas.bold(&row.time, time, Side::Right, LETTERS, ink);
        } else {
            canvas.text(&row.name, name, Side::Left, LETTERS, ink);
            canvas.text(&row.time, time, Side::Right, LETTERS, ink);
        }
        let Spread { median, min, max } = row.ratio;
        let told = format!(
            "{}: {}; {} times the baseline ({} .. {})",
            row.name,
            row.time,
            figure(median),
            figure(min),
            figure(max),
        );
        canvas.hit(Rect { x: 0.0, y: y - ROW / 2.0, width: WIDTH, height: ROW }, &told);
    }
}
