//! A figure over a parameter: a line for each transport with its name at its end, a marker at each measured value, and
//! a stroke through it from the minimum to the maximum of the rounds.

use ybench_measure::stats::Spread;

use super::Picture;
use super::axis::Form;
use super::colour::Look;
use super::lines::{Axis, Band, Joined, Line, Lines};
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

pub struct Sweep {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    /// The format of a parameter and of a figure.
    pub x_form: Form,
    pub y_form: Form,
    pub y_log: bool,
    /// In the order of the legend; a baseline may be among them.
    pub lines: Vec<Swept>,
    pub band: Option<Band>,
}

impl Sweep {
    pub fn picture(&self) -> Picture {
        let told: Vec<String> = self.lines.iter().map(|line| self.in_words(line)).collect();
        let band = self.band.as_ref().map_or(String::new(), |band| {
            format!(" {}: {} to {}.", band.label, (self.x_form)(band.from), (self.x_form)(band.to))
        });
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let least = |of: fn(&Point) -> f64| points().map(of).fold(f64::INFINITY, f64::min);
        let most = |of: fn(&Point) -> f64| points().map(of).fold(0.0, f64::max);
        let (low, high) = (least(|point| point.y.min), most(|point| point.y.max));
        // The ticks are the measured values, not round figures between them.
        let mut measured: Vec<f64> = points().map(|point| point.x).collect();
        measured.sort_by(f64::total_cmp);
        measured.dedup();
        let ticks = measured.into_iter().map(|value| (value, (self.x_form)(value))).collect();
        let ends = (least(|point| point.x), most(|point| point.x));
        let x = Axis::log(&self.x_label, self.x_form, ends).with(ticks);
        let y = match self.y_log {
            true => Axis::log(&self.y_label, self.y_form, (low / 1.2, high * 1.2)),
            false => Axis::linear(&self.y_label, self.y_form, (0.0, high * 1.05)),
        };
        let alt = format!("{} over {}. {}.{band}", self.y_label, self.x_label, told.join(". "));
        let lines = self.lines.iter().map(|line| self.line(line)).collect();
        Lines { band: self.band.as_ref(), ..Lines::of(&self.title, alt, x, y, lines) }.picture()
    }

    fn in_words(&self, line: &Swept) -> String {
        let told = line.points.iter().map(|point| format!("{} at {}", figure(point.y.median), (self.x_form)(point.x)));
        format!("{}: {}", line.label, told.collect::<Vec<_>>().join(", "))
    }

    fn line<'a>(&self, line: &'a Swept) -> Line<'a> {
        let told = |&Point { x, y: Spread { median, min, max } }: &Point| {
            let (at, [median_told, min, max]) = ((self.x_form)(x), [median, min, max].map(figure));
            ((x, median), format!("{}, {at}: {median_told} ({min} .. {max})", line.label))
        };
        Line {
            label: &line.label,
            look: line.look,
            joined: Joined::Marked,
            points: line.points.iter().map(|point| (point.x, point.y.median)).collect(),
            strokes: line.points.iter().map(|point| (point.x, point.y.min, point.y.max)).collect(),
            told: line.points.iter().map(told).collect(),
        }
    }
}
