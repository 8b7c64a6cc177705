//! A figure over a parameter: a line for each transport with its name at its end, a marker at each value measured, and
//! through it a stroke from the least to the most round.

use ybench_core::stats::Spread;

use super::Picture;
use super::axis::{Form, Scale};
use super::canvas::{Canvas, Rect, SMALL, Side, WIDTH, picture, width_of};
use super::colour::{Colour, Look};
use super::ends::{self, End};
use crate::table::figure;

#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub x: f64,
    pub y: Spread,
}

pub struct Swept {
    pub label: String,
    pub look: Look,
    pub points: Vec<Point>,
}

/// A stretch of the x axis that deserves a remark.
pub struct Band {
    pub label: &'static str,
    pub from: f64,
    pub to: f64,
}

pub struct Sweep {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    /// How a parameter and how a figure is written.
    pub x_form: Form,
    pub y_form: Form,
    pub y_log: bool,
    /// In the order of the legend; a limit may be among them.
    pub lines: Vec<Swept>,
    pub band: Option<Band>,
}

const TOP: f64 = 30.0;
const BELOW: f64 = 46.0;
const LEFT: f64 = 62.0;

impl Sweep {
    pub fn picture(&self) -> Picture {
        let told: Vec<String> = self.lines.iter().map(|line| self.in_words(line)).collect();
        let band = self.band.as_ref().map_or(String::new(), |band| {
            format!(" {}: {} to {}.", band.label, (self.x_form)(band.from), (self.x_form)(band.to))
        });
        let alt = format!("{} over {}. {}.{band}", self.y_label, self.x_label, told.join(". "));
        let height = TOP + BELOW + ends::height(self.lines.len()).max(230.0);
        picture(self.title.clone(), alt, height, |canvas| self.draw(canvas, height))
    }

    fn in_words(&self, line: &Swept) -> String {
        let told = line.points.iter().map(|point| format!("{} at {}", figure(point.y.median), (self.x_form)(point.x)));
        format!("{}: {}", line.label, told.collect::<Vec<_>>().join(", "))
    }

    fn points(&self) -> impl Iterator<Item = &Point> + Clone {
        self.lines.iter().flat_map(|line| &line.points)
    }

    fn draw(&self, canvas: &mut Canvas<'_>, height: f64) {
        let room = ends::room(self.lines.iter().map(|line| line.label.chars().count()));
        let rect = Rect { x: LEFT, y: TOP, width: WIDTH - LEFT - room - 10.0, height: height - TOP - BELOW };
        let (x, y) = self.scales(rect);
        if let Some(band) = &self.band {
            let (from, to) = (x.at(band.from), x.at(band.to));
            canvas.rect(Rect { x: from, width: to - from, ..rect }, Colour::Band, 1.0);
            canvas.text(band.label, ((from + to) / 2.0, rect.y + 8.0), Side::Middle, SMALL, Colour::Faint);
        }
        self.axes(canvas, rect, &x, &y);
        let mut labels = Vec::new();
        for (series, line) in self.lines.iter().enumerate() {
            canvas.series(Some(series));
            let places: Vec<(f64, f64)> =
                line.points.iter().map(|point| (x.at(point.x), y.at(point.y.median))).collect();
            for (point, (at, _)) in line.points.iter().zip(&places) {
                let stroke = [(*at, y.at(point.y.min)), (*at, y.at(point.y.max))];
                canvas.line(&stroke, line.look.colour, 3.0, 0.35);
            }
            canvas.look_line(&places, line.look, ends::stroke(self.lines.len()));
            for at in &places {
                canvas.marker(*at, line.look, 3.5);
            }
            if let Some(at) = places.last() {
                labels.push(End { label: &line.label, look: line.look, series, at: *at });
            }
        }
        ends::draw(canvas, labels, rect.x + rect.width + 14.0, (rect.y, rect.y + rect.height));
        for (series, line) in self.lines.iter().enumerate() {
            canvas.series(Some(series));
            for point in &line.points {
                let Spread { median, min, max } = point.y;
                let told = format!(
                    "{}, {}: {} ({} .. {})",
                    line.label,
                    (self.x_form)(point.x),
                    figure(median),
                    figure(min),
                    figure(max)
                );
                let rect = Rect { x: x.at(point.x) - 8.0, y: y.at(median) - 6.0, width: 16.0, height: 12.0 };
                canvas.hit(rect, &told);
            }
        }
    }

    fn scales(&self, rect: Rect) -> (Scale, Scale) {
        let least = |of: fn(&Point) -> f64| self.points().map(of).fold(f64::INFINITY, f64::min);
        let most = |of: fn(&Point) -> f64| self.points().map(of).fold(0.0, f64::max);
        let (left, right, top, bottom) = (rect.x + 10.0, rect.x + rect.width - 4.0, rect.y, rect.y + rect.height);
        let x = Scale::log((least(|point| point.x), most(|point| point.x)), (left, right));
        let (low, high) = (least(|point| point.y.min), most(|point| point.y.max));
        let y = if self.y_log {
            Scale::log((low / 1.2, high * 1.2), (bottom, top))
        } else {
            Scale::linear((0.0, high * 1.05), (bottom, top))
        };
        (x, y)
    }

    /// The ticks below are the values that were measured, not round figures between them.
    fn axes(&self, canvas: &mut Canvas<'_>, rect: Rect, x: &Scale, y: &Scale) {
        let (left, right, bottom) = (rect.x, rect.x + rect.width, rect.y + rect.height);
        for tick in y.ticks() {
            canvas.line(&[(left, y.at(tick)), (right, y.at(tick))], Colour::Grid, 1.0, 1.0);
            canvas.text(&(self.y_form)(tick), (left - 8.0, y.at(tick)), Side::Right, SMALL, Colour::Faint);
        }
        let mut values: Vec<f64> = self.points().map(|point| point.x).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let mut free_from = f64::MIN;
        for value in values {
            let at = x.at(value);
            canvas.line(&[(at, bottom), (at, bottom + 4.0)], Colour::Faint, 1.0, 1.0);
            let label = (self.x_form)(value);
            let half = width_of(&label, SMALL) / 2.0;
            if at - half >= free_from {
                canvas.text(&label, (at, bottom + 15.0), Side::Middle, SMALL, Colour::Faint);
                free_from = at + half + 6.0;
            }
        }
        canvas.line(&[(left, bottom), (right, bottom)], Colour::Faint, 1.0, 1.0);
        canvas.text(&self.x_label, (right, bottom + 36.0), Side::Right, SMALL, Colour::Faint);
        canvas.text(&self.y_label, (4.0, TOP - 18.0), Side::Left, SMALL, Colour::Faint);
    }
}
