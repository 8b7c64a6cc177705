//! Scales and their ticks: linear or logarithmic, of times, of counts, of shares. And the frame of two axes.

use super::canvas::{Canvas, Rect, SMALL, Side};
use super::colour::Colour;
use crate::table::grouped;

/// From figures to positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    from: f64,
    to: f64,
    log: bool,
    start: f64,
    end: f64,
}

impl Scale {
    pub(super) fn linear((from, to): (f64, f64), (start, end): (f64, f64)) -> Self {
        let to = if to > from { to } else { from + 1.0 };
        Self { from, to, log: false, start, end }
    }

    /// Both ends must be above zero; an empty range is widened.
    pub(super) fn log((from, to): (f64, f64), (start, end): (f64, f64)) -> Self {
        let from = if from > 0.0 && from.is_finite() { from } else { 1.0 };
        let (from, to) = if to > from * 1.01 { (from, to) } else { (from / 1.5, from * 1.5) };
        Self { from, to, log: true, start, end }
    }

    /// The position of a figure; a figure outside the range is at the nearer end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.from) / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        self.start + (self.end - self.start) * share.clamp(0.0, 1.0)
    }

    /// Round figures, about six of them.
    fn ticks(&self) -> Vec<f64> {
        if self.log { self.log_ticks() } else { self.linear_ticks() }
    }

    /// The same with their labels.
    pub(super) fn labelled(&self, form: Form) -> Vec<(f64, String)> {
        self.ticks().into_iter().map(|value| (value, form(value))).collect()
    }

    fn log_ticks(&self) -> Vec<f64> {
        let decades = (self.to / self.from).log10();
        let within = |value: &f64| *value >= self.from * 0.999 && *value <= self.to * 1.001;
        let first = self.from.log10().floor() as i32;
        let last = self.to.log10().ceil() as i32;
        let steps: &[f64] = match decades {
            ..0.6 => &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
            0.6..1.3 => &[1.0, 2.0, 3.0, 5.0],
            1.3..2.6 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let every = ((decades / 7.0).ceil() as usize).max(1);
        let powers =
            (first..=last).step_by(every).flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
        powers.filter(within).collect()
    }

    fn linear_ticks(&self) -> Vec<f64> {
        let rough = (self.to - self.from) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|step| *step >= rough * 0.999);
        let step = step.unwrap_or(power * 10.0);
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        (first..=last).map(|number| number as f64 * step).collect()
    }
}

/// An area for figures, with axes on its left and below.
pub(super) struct Frame {
    pub rect: Rect,
    pub x: Scale,
    pub y: Scale,
}

impl Frame {
    /// The labels of the axes, the ticks of the x axis, and the format of the y axis.
    pub(super) fn draw(&self, canvas: &mut Canvas<'_>, x: (&str, Vec<(f64, String)>), y: (&str, Form)) {
        let Rect { x: left, y: top, width, height } = self.rect;
        let (right, bottom) = (left + width, top + height);
        for (tick, label) in self.y.labelled(y.1) {
            let at = self.y.at(tick);
            canvas.line(&[(left, at), (right, at)], Colour::Grid, 1.0, 1.0);
            canvas.text(&label, (left - 8.0, at), Side::Right, SMALL, Colour::Faint);
        }
        x_axis(canvas, &self.x, x.1, bottom, None);
        canvas.line(&[(left, bottom), (right, bottom)], Colour::Faint, 1.0, 1.0);
        canvas.text(x.0, (right, bottom + 36.0), Side::Right, SMALL, Colour::Faint);
        // Above the axis and horizontal, so that it is easy to read.
        canvas.text(y.0, (4.0, top - 18.0), Side::Left, SMALL, Colour::Faint);
    }
}

/// Ticks below `bottom`, with grid lines up to `top` if there is one. A label that would touch its neighbour is left
/// out.
pub(super) fn x_axis(canvas: &mut Canvas<'_>, scale: &Scale, ticks: Vec<(f64, String)>, bottom: f64, top: Option<f64>) {
    let mut free_from = f64::MIN;
    for (value, label) in ticks {
        let x = scale.at(value);
        match top {
            Some(top) => canvas.line(&[(x, top), (x, bottom)], Colour::Grid, 1.0, 1.0),
            None => canvas.line(&[(x, bottom), (x, bottom + 4.0)], Colour::Faint, 1.0, 1.0),
        }
        let half = super::canvas::width_of(&label, SMALL) / 2.0;
        if x - half >= free_from {
            canvas.text(&label, (x, bottom + 15.0), Side::Middle, SMALL, Colour::Faint);
            free_from = x + half + 6.0;
        }
    }
}

/// The format of an axis's figures.
pub(super) type Form = fn(f64) -> String;

/// 1,500,000 as "1.5M", for axes with little space.
pub(super) fn short(value: f64) -> String {
    let part = |value: f64, letter: &str| format!("{}{letter}", trimmed(value));
    match value.abs() {
        size if size >= 1e9 => part(value / 1e9, "G"),
        size if size >= 1e6 => part(value / 1e6, "M"),
        size if size >= 1e4 => part(value / 1e3, "k"),
        size if size >= 1e3 => grouped(value),
        _ => trimmed(value),
    }
}

/// Up to two decimals, and none that are zero.
pub(super) fn trimmed(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
