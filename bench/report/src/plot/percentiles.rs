//! The tail of several distributions: the 50th, 90th, 99th, 99.9th and 99.99th percentiles of the messages' times. Each
//! step to the right is ten times rarer; a line ends where fewer than two messages are left beyond.

use super::Picture;
use super::histogram::{Shown, range};
use super::lines::{Axis, Joined, Line, Lines};
use crate::table::{figure, time};

pub struct Percentiles<'a> {
    pub title: String,
    pub series: Vec<Shown<'a>>,
}

const TICKS: [(f64, &str); 6] =
    [(0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %"), (0.9999, "99.99 %"), (0.99999, "99.999 %")];

/// How many times rarer than one half.
fn rarity(of: f64) -> f64 {
    (0.5 / (1.0 - of)).log10()
}

/// Whether enough messages are beyond.
fn known(one: &Shown<'_>, of: f64) -> bool {
    one.times.tail(of).is_some()
}

fn line<'a>(one: &Shown<'a>) -> Line<'a> {
    let at = |of: f64| (rarity(of), one.times.quantile(of).max(0.1));
    let steps = (0..=50).map(|step| 1.0 - 0.5 / 10f64.powf(f64::from(step) / 10.0));
    let told = |(of, label): (f64, &str)| {
        (at(of), format!("{}: {label} took at most {} ns", one.label, figure(one.times.quantile(of))))
    };
    Line {
        label: one.label,
        look: one.look,
        joined: Joined::Line,
        points: steps.filter(|of| known(one, *of)).map(at).collect(),
        strokes: Vec::new(),
        told: TICKS.into_iter().filter(|(of, _)| known(one, *of)).map(told).collect(),
    }
}

impl Percentiles<'_> {
    pub fn picture(&self) -> Picture {
        let lines: Vec<Line<'_>> = self.series.iter().map(line).collect();
        let told: Vec<String> = self.series.iter().map(in_words).collect();
        let last = lines.iter().flat_map(|line| &line.points).map(|(rarity, _)| *rarity).fold(1.0, f64::max);
        let lowest = self.series.iter().filter(|one| !one.times.is_empty()).map(|one| one.times.median());
        let (_, most) = range(self.series.iter().map(|one| one.times));
        let ticks = TICKS.into_iter().map(|(of, label)| (rarity(of), label.to_owned()));
        let alt = format!("Percentiles over a logarithmic axis of time. {}.", told.join(". "));
        let ticks = ticks.filter(|(rarity, _)| *rarity <= last + 1e-9).collect();
        let x = Axis::linear("of the messages took no longer than", figure, (0.0, last)).with(ticks);
        let y = Axis::log("time of a message", time, (lowest.fold(most, f64::min) / 1.3, most));
        Lines::of(&self.title, alt, x, y, lines).picture()
    }
}

fn in_words(one: &Shown<'_>) -> String {
    let reached = TICKS.into_iter().filter(|(of, _)| known(one, *of));
    let told: Vec<String> =
        reached.map(|(of, label)| format!("{label} {} ns", figure(one.times.quantile(of)))).collect();
    if told.is_empty() {
        format!("{}: too few messages", one.label)
    } else {
        format!("{}: {}", one.label, told.join(", "))
    }
}
