//! The common picture of lines: a figure over another, a line or a cloud of points for each series, with its name at
//! the end. The callers supply the points and texts: sweeps, percentiles, growth, single messages.

use super::Picture;
use super::axis::{Form, Frame, Scale};
use super::canvas::{Canvas, Rect, SMALL, Side, WIDTH, picture, width_of};
use super::colour::{Colour, Look};
use super::ends::{self, End};

pub(super) struct Axis<'a> {
    label: &'a str,
    form: Form,
    log: bool,
    ends: (f64, f64),
    /// Positions and labels of the ticks; `None` for round ones.
    ticks: Option<Vec<(f64, String)>>,
}

impl<'a> Axis<'a> {
    /// The range.
    pub(super) fn linear(label: &'a str, form: Form, ends: (f64, f64)) -> Self {
        Self { label, form, log: false, ends, ticks: None }
    }

    pub(super) fn log(label: &'a str, form: Form, ends: (f64, f64)) -> Self {
        Self { label, form, log: true, ends, ticks: None }
    }

    /// With these ticks instead of round ones.
    pub(super) fn with(self, ticks: Vec<(f64, String)>) -> Self {
        Self { ticks: Some(ticks), ..self }
    }

    fn scale(&self, places: (f64, f64)) -> Scale {
        if self.log { Scale::log(self.ends, places) } else { Scale::linear(self.ends, places) }
    }
}

/// How the points of a series are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Joined {
    /// One line through all of them.
    Line,
    /// The same with a marker at each.
    Marked,
    /// Separate small dots.
    Dots,
}

pub(super) struct Line<'a> {
    /// The name at its end; empty for none.
    pub label: &'a str,
    pub look: Look,
    pub joined: Joined,
    pub points: Vec<(f64, f64)>,
    /// Strokes: x, from, to.
    pub strokes: Vec<(f64, f64, f64)>,
    /// Points with a text for hovering.
    pub told: Vec<((f64, f64), String)>,
}

/// A marked stretch of the x axis.
pub struct Band {
    pub label: &'static str,
    pub from: f64,
    pub to: f64,
}

pub(super) struct Lines<'a> {
    pub title: &'a str,
    pub alt: String,
    pub x: Axis<'a>,
    pub y: Axis<'a>,
    pub lines: Vec<Line<'a>>,
    pub band: Option<&'a Band>,
    /// A horizontal hairline with its label.
    pub level: Option<(f64, String)>,
}

const TOP: f64 = 30.0;
const BELOW: f64 = 46.0;
const LEFT: f64 = 62.0;

/// Without names at the ends of lines, and with few lines.
const LEAST_HEIGHT: (f64, f64) = (174.0, 230.0);

impl<'a> Lines<'a> {
    pub(super) fn of(title: &'a str, alt: String, x: Axis<'a>, y: Axis<'a>, lines: Vec<Line<'a>>) -> Self {
        Self { title, alt, x, y, lines, band: None, level: None }
    }

    pub(super) fn picture(self) -> Picture {
        let drawn = match self.named().count() {
            0 => LEAST_HEIGHT.0,
            named => ends::height(named).max(LEAST_HEIGHT.1),
        };
        let height = TOP + BELOW + drawn;
        picture(self.title.to_owned(), self.alt.clone(), height, |canvas| self.draw(canvas, height))
    }

    fn named(&self) -> impl Iterator<Item = &Line<'_>> {
        self.lines.iter().filter(|line| !line.label.is_empty())
    }

    fn draw(&self, canvas: &mut Canvas<'_>, height: f64) {
        let labels = self.named().map(|line| line.label.chars().count());
        let room = if self.named().next().is_some() { ends::room(labels) } else { 12.0 };
        let rect = Rect { x: LEFT, y: TOP, width: WIDTH - LEFT - room - 10.0, height: height - TOP - BELOW };
        let (right, bottom) = (rect.x + rect.width, rect.y + rect.height);
        // A marker at the edge needs room for its other half.
        let marked = self.lines.iter().any(|line| line.joined == Joined::Marked);
        let x = self.x.scale(if marked { (rect.x + 10.0, right - 4.0) } else { (rect.x, right) });
        let y = self.y.scale((bottom, rect.y));
        if let Some(band) = self.band {
            let (from, to) = (x.at(band.from), x.at(band.to));
            canvas.rect(Rect { x: from, width: to - from, ..rect }, Colour::Band, 1.0);
            canvas.text(band.label, ((from + to) / 2.0, rect.y + 8.0), Side::Middle, SMALL, Colour::Faint);
        }
        let ticks = self.x.ticks.clone().unwrap_or_else(|| x.labelled(self.x.form));
        Frame { rect, x, y }.draw(canvas, (self.x.label, ticks), (self.y.label, self.y.form));
        let place = |&(at, value): &(f64, f64)| (x.at(at), y.at(value));
        let mut labels = Vec::new();
        for (series, line) in self.lines.iter().enumerate() {
            canvas.series((!line.label.is_empty()).then_some(series));
            let places: Vec<(f64, f64)> = line.points.iter().map(place).collect();
            for &(at, from, to) in &line.strokes {
                canvas.line(&[(x.at(at), y.at(from)), (x.at(at), y.at(to))], line.look.colour, 3.0, 0.35);
            }
            match line.joined {
                Joined::Dots => canvas.dots(&places, line.look.colour, 2.0),
                _ => canvas.look_line(&places, line.look, ends::stroke(self.lines.len())),
            }
            if line.joined == Joined::Marked {
                places.iter().for_each(|at| canvas.marker(*at, line.look, 3.5));
            }
            if let Some(at) = places.last().filter(|_| !line.label.is_empty()) {
                labels.push(End { label: line.label, look: line.look, series, at: *at });
            }
        }
        if self.lines.iter().all(|line| line.points.is_empty()) {
            let middle = (rect.x + rect.width / 2.0, rect.y + rect.height / 2.0);
            canvas.text("nothing was recorded", middle, Side::Middle, SMALL, Colour::Faint);
        }
        ends::draw(canvas, labels, right + 14.0, (rect.y, bottom));
        self.level(canvas, rect, &y);
        for (series, line) in self.lines.iter().enumerate() {
            canvas.series((!line.label.is_empty()).then_some(series));
            for (at, told) in &line.told {
                let (x, y) = place(at);
                canvas.hit(Rect { x: x - 7.0, y: y - 6.0, width: 14.0, height: 12.0 }, told);
            }
        }
    }

    fn level(&self, canvas: &mut Canvas<'_>, rect: Rect, y: &Scale) {
        let Some((value, label)) = &self.level else { return };
        let (at, right) = (y.at(*value), rect.x + rect.width);
        canvas.over_line((rect.x, at), (right, at), Colour::Ink);
        let width = width_of(label, SMALL) + 4.0;
        canvas.over_label(label, (right - width, at - 17.0), width);
        canvas.hit(Rect { x: rect.x, y: at - 4.0, width: rect.width, height: 8.0 }, label);
    }
}
