//! The tail of several distributions: the time that 50, 90, 99, 99.9 and 99.99 % of the messages did not exceed. Each
//! step to the right is ten times rarer; a line ends where fewer than one message is left beyond.

use super::Picture;
use super::axis::Scale;
use super::canvas::{Canvas, Rect, SMALL, Side, WIDTH, picture};
use super::colour::Colour;
use super::ends::{self, End};
use super::histogram::{Shown, range};
use crate::table::{figure, time};

pub struct Percentiles<'a> {
    pub title: String,
    pub series: Vec<Shown<'a>>,
}

const TICKS: [(f64, &str); 6] =
    [(0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %"), (0.9999, "99.99 %"), (0.99999, "99.999 %")];
const TOP: f64 = 30.0;
const BELOW: f64 = 46.0;
const LEFT: f64 = 62.0;

/// How many times rarer than one half.
fn rarity(of: f64) -> f64 {
    (0.5 / (1.0 - of)).log10()
}

/// The quantiles that at least one message lies beyond.
fn known(one: &Shown<'_>) -> impl Iterator<Item = (f64, f64)> {
    let (count, times) = (one.times.count() as f64, one.times);
    let steps = (0..=50).map(|step| 1.0 - 0.5 / 10f64.powf(f64::from(step) / 10.0));
    steps.filter(move |of| (1.0 - of) * count >= 0.999).map(|of| (of, times.quantile(of).max(0.1)))
}

impl Percentiles<'_> {
    pub fn picture(&self) -> Picture {
        let told: Vec<String> = self.series.iter().map(in_words).collect();
        let alt = format!("Percentiles over a logarithmic axis of time. {}.", told.join(". "));
        let height = TOP + BELOW + ends::height(self.series.len()).max(230.0);
        picture(self.title.clone(), alt, height, |canvas| self.draw(canvas, height))
    }

    fn draw(&self, canvas: &mut Canvas<'_>, height: f64) {
        let room = ends::room(self.series.iter().map(|one| one.label.chars().count()));
        let rect = Rect { x: LEFT, y: TOP, width: WIDTH - LEFT - room - 10.0, height: height - TOP - BELOW };
        let last = self.series.iter().flat_map(known).map(|(of, _)| rarity(of)).fold(1.0, f64::max);
        let x = Scale::linear((0.0, last), (rect.x, rect.x + rect.width));
        let lowest = self.series.iter().filter(|one| !one.times.is_empty()).map(|one| one.times.median());
        let (_, most) = range(self.series.iter().map(|one| one.times));
        let y = Scale::log((lowest.fold(most, f64::min) / 1.3, most), (rect.y + rect.height, rect.y));
        for tick in y.ticks() {
            let at = y.at(tick);
            canvas.line(&[(rect.x, at), (rect.x + rect.width, at)], Colour::Grid, 1.0, 1.0);
            canvas.text(&time(tick), (rect.x - 8.0, at), Side::Right, SMALL, Colour::Faint);
        }
        let bottom = rect.y + rect.height;
        for (of, label) in TICKS.into_iter().filter(|(of, _)| rarity(*of) <= last + 1e-9) {
            let at = x.at(rarity(of));
            canvas.line(&[(at, rect.y), (at, bottom)], Colour::Grid, 1.0, 1.0);
            canvas.text(label, (at, bottom + 15.0), Side::Middle, SMALL, Colour::Faint);
        }
        canvas.line(&[(rect.x, bottom), (rect.x + rect.width, bottom)], Colour::Faint, 1.0, 1.0);
        let name = "of the messages took no longer than";
        canvas.text(name, (rect.x + rect.width, bottom + 36.0), Side::Right, SMALL, Colour::Faint);
        canvas.text("time of a message", (4.0, TOP - 18.0), Side::Left, SMALL, Colour::Faint);
        let mut labels = Vec::new();
        for (series, one) in self.series.iter().enumerate() {
            canvas.series(Some(series));
            let points: Vec<(f64, f64)> = known(one).map(|(of, value)| (x.at(rarity(of)), y.at(value))).collect();
            canvas.look_line(&points, one.look, ends::stroke(self.series.len()));
            if let Some(at) = points.last() {
                labels.push(End { label: one.label, look: one.look, series, at: *at });
            }
        }
        ends::draw(canvas, labels, rect.x + rect.width + 14.0, (rect.y, bottom));
        self.hits(canvas, &x, &y);
    }

    fn hits(&self, canvas: &mut Canvas<'_>, x: &Scale, y: &Scale) {
        for (series, one) in self.series.iter().enumerate() {
            canvas.series(Some(series));
            for (of, label) in TICKS {
                if (1.0 - of) * (one.times.count() as f64) < 0.999 {
                    continue;
                }
                let value = one.times.quantile(of);
                let (cx, cy) = (x.at(rarity(of)), y.at(value));
                let told = format!("{}: {label} took at most {} ns", one.label, figure(value));
                canvas.hit(Rect { x: cx - 9.0, y: cy - 7.0, width: 18.0, height: 14.0 }, &told);
            }
        }
    }
}

fn in_words(one: &Shown<'_>) -> String {
    let reached = TICKS.into_iter().filter(|(of, _)| (1.0 - of) * one.times.count() as f64 >= 0.999);
    let told: Vec<String> =
        reached.map(|(of, label)| format!("{label} {} ns", figure(one.times.quantile(of)))).collect();
    if told.is_empty() {
        format!("{}: too few messages", one.label)
    } else {
        format!("{}: {}", one.label, told.join(", "))
    }
}
