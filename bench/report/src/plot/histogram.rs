//! Histograms of a few series in one picture: step outlines on a logarithmic axis of time, each series as shares of its
//! own messages; a line down from each median, and a dotted one from each p99.

use ybench_measure::distribution::Distribution;

use super::Picture;
use super::axis::{Frame, Scale, trimmed};
use super::canvas::{Canvas, Rect, SMALL, Side, WIDTH, picture, width_of};
use super::colour::{Colour, Look, Shape};
use crate::table::{figure, grouped, percent, time};

/// A named distribution with the look it is drawn in.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    pub label: &'a str,
    pub look: Look,
    pub times: &'a Distribution,
}

pub struct Histogram<'a> {
    pub title: String,
    pub series: Vec<Shown<'a>>,
}

/// Bars for each power of ten.
pub(super) const FINENESS: u32 = 24;

/// More of them if the range is little more than a power of ten.
fn fineness(least: f64, most: f64) -> u32 {
    let decades = (most / least).log10().max(0.1);
    ((60.0 / decades) as u32).clamp(FINENESS, 120)
}

const HEIGHT: f64 = 300.0;
const TOP: f64 = 34.0;
const LEFT: f64 = 52.0;
const LEGEND: f64 = 18.0;

/// From a little below the minimum to a little above the maximum.
pub(super) fn range<'a>(series: impl Iterator<Item = &'a Distribution> + Clone) -> (f64, f64) {
    let filled = series.filter(|times| !times.is_empty());
    let least = filled.clone().map(|times| times.least().max(0.1)).fold(f64::INFINITY, f64::min);
    let most = filled.map(|times| times.most().max(0.1)).fold(0.0, f64::max);
    if most > 0.0 { (least / 1.1, most * 1.1) } else { (1.0, 1_000.0) }
}

/// The drawn range ends at this multiple of the largest p99: later times would compress the rest, and have other
/// pictures.
const DRAWN: f64 = 2.5;

/// The outline of a distribution: corners of time and share, from zero back to zero.
pub(super) fn outline(times: &Distribution, fineness: u32) -> Vec<(f64, f64)> {
    let all = times.count().max(1) as f64;
    let mut corners: Vec<(f64, f64)> = Vec::new();
    for bar in times.bars(fineness) {
        let share = bar.count as f64 / all;
        match corners.last().copied() {
            Some((before, _)) if bar.from <= before * 1.000_001 => {
                corners.pop();
            }
            _ => corners.push((bar.from, 0.0)),
        }
        corners.extend([(bar.from, share), (bar.to, share), (bar.to, 0.0)]);
    }
    corners
}

/// A distribution in one sentence.
pub(super) fn in_words(one: &Shown<'_>) -> String {
    if one.times.is_empty() {
        return format!("{}: no message", one.label);
    }
    let p99 = one.times.tail(0.99).map_or(String::new(), |time| format!("p99 {} ns, ", figure(time)));
    format!(
        "{}: median {} ns, {p99}slowest {} ns of {} messages",
        one.label,
        figure(one.times.median()),
        figure(one.times.most()),
        grouped(one.times.count() as f64),
    )
}

impl Histogram<'_> {
    pub fn picture(&self) -> Picture {
        let told: Vec<String> = self.series.iter().map(in_words).collect();
        let alt = format!("Histogram over a logarithmic axis of time. {}.", told.join(". "));
        let height = HEIGHT + LEGEND * self.legend_rows().len() as f64;
        picture(self.title.clone(), alt, height, |canvas| self.draw(canvas))
    }

    /// The series of each line of the legend: as many as fit.
    fn legend_rows(&self) -> Vec<Vec<&Shown<'_>>> {
        let mut rows: Vec<Vec<&Shown<'_>>> = Vec::new();
        let mut free = 0.0;
        for one in &self.series {
            let needed = entry_width(one);
            if needed > free || rows.is_empty() {
                rows.push(Vec::new());
                free = WIDTH - 8.0;
            }
            free -= needed;
            if let Some(row) = rows.last_mut() {
                row.push(one);
            }
        }
        rows
    }

    fn draw(&self, canvas: &mut Canvas<'_>) {
        let legend = self.legend_rows();
        for (number, row) in legend.iter().enumerate() {
            let mut x = 8.0;
            for one in row {
                let y = 10.0 + LEGEND * number as f64;
                canvas.marker((x, y), one.look, 4.5);
                canvas.text(one.label, (x + 9.0, y), Side::Left, SMALL, Colour::Ink);
                x += entry_width(one);
            }
        }
        let top = TOP + LEGEND * legend.len() as f64;
        let rect = Rect { x: LEFT, y: top, width: WIDTH - LEFT - 22.0, height: HEIGHT - TOP - 50.0 };
        let (least, most) = range(self.series.iter().map(|one| one.times));
        let slow = self.series.iter().map(|one| one.times.quantile(0.99)).fold(0.0, f64::max);
        let most = if slow > 0.0 { most.min(slow * DRAWN) } else { most };
        let outlines: Vec<Vec<(f64, f64)>> =
            self.series.iter().map(|one| outline(one.times, fineness(least, most))).collect();
        let highest = outlines.iter().flatten().map(|(_, share)| *share).fold(0.0, f64::max).max(0.001);
        let frame = Frame {
            rect,
            x: Scale::log((least, most), (rect.x, rect.x + rect.width)),
            y: Scale::linear((0.0, highest * 1.05), (rect.y + rect.height, rect.y)),
        };
        frame.draw(
            canvas,
            ("time of a message", frame.x.labelled(time)),
            ("share of messages", |share| format!("{} %", trimmed(share * 100.0))),
        );
        for (number, (one, outline)) in self.series.iter().zip(&outlines).enumerate() {
            let drawn: Vec<(f64, f64)> = outline.iter().copied().filter(|(time, _)| *time <= most).collect();
            self.one(canvas, &frame, number, one, &drawn);
        }
        let beyond: u64 = self.series.iter().map(|one| one.times.beyond(most)).sum();
        if beyond > 0 {
            let place = (rect.x + rect.width, top - 18.0);
            let told = match beyond {
                1 => "1 slower message is not drawn".to_owned(),
                many => format!("{} slower messages are not drawn", grouped(many as f64)),
            };
            canvas.text(&told, place, Side::Right, SMALL, Colour::Faint);
        }
        self.hits(canvas, &frame, least, most);
    }

    fn one(&self, canvas: &mut Canvas<'_>, frame: &Frame, number: usize, one: &Shown<'_>, outline: &[(f64, f64)]) {
        if one.times.is_empty() {
            return;
        }
        let placed: Vec<(f64, f64)> = outline.iter().map(|(x, y)| (frame.x.at(*x), frame.y.at(*y))).collect();
        canvas.area(&placed, one.look.colour, 0.14);
        canvas.look_line(&placed, one.look, 1.5);
        let (top, bottom) = (frame.rect.y, frame.rect.y + frame.rect.height);
        let median = frame.x.at(one.times.median());
        canvas.line(&[(median, top), (median, bottom)], one.look.colour, 1.0, 0.8);
        let Some(p99) = one.times.tail(0.99).map(|time| frame.x.at(time)) else { return };
        let dotted = Look { shape: Shape::Triangle, ..one.look };
        // Each on a line of its own: those of similar transports are close together.
        let y = top + 8.0 + 14.0 * number as f64;
        canvas.look_line(&[(p99, y - 4.0), (p99, bottom)], dotted, 1.0);
        let room = frame.rect.x + frame.rect.width - p99 > 30.0;
        let (x, side) = if room { (p99 + 4.0, Side::Left) } else { (p99 - 4.0, Side::Right) };
        canvas.text("p99", (x, y), side, SMALL - 1.0, one.look.colour);
    }

    /// A text for each bar of each series; if several are at the same time, the text has all of them.
    fn hits(&self, canvas: &mut Canvas<'_>, frame: &Frame, least: f64, most: f64) {
        let fineness = fineness(least, most);
        let mut told: std::collections::BTreeMap<i64, (f64, f64, Vec<String>)> = std::collections::BTreeMap::new();
        for one in &self.series {
            let all = one.times.count().max(1) as f64;
            for bar in one.times.bars(fineness) {
                let key = (bar.from.log10() * f64::from(fineness)).round() as i64;
                let text = format!("{} {}", one.label, percent(bar.count as f64 / all));
                told.entry(key).or_insert((bar.from, bar.to, Vec::new())).2.push(text);
            }
        }
        for (from, to, texts) in told.into_values().filter(|(from, ..)| *from < most) {
            let (x, end) = (frame.x.at(from), frame.x.at(to));
            let rect = Rect { x, width: end - x, ..frame.rect };
            canvas.hit(rect, &format!("{} to {}: {}", time(from), time(to), texts.join(", ")));
        }
    }
}

fn entry_width(one: &Shown<'_>) -> f64 {
    width_of(one.label, SMALL) + 32.0
}
