//! What is written down: a line for each sample, and a picture of them.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

/// Times of a kind, in classes of a sixteenth of their power of two: as many bytes for a million as for one.
pub(super) struct Times {
    classes: Vec<u64>,
    count: u64,
    largest: u64,
}

impl Times {
    pub(super) fn new() -> Self {
        Self { classes: vec![0; 64 * 16], count: 0, largest: 0 }
    }

    pub(super) fn add(&mut self, nanoseconds: u64) {
        let power = 63 - u64::from((nanoseconds | 16).leading_zeros());
        let class = (power * 16 + (nanoseconds >> (power - 4) & 15)) as usize;
        self.classes[class] += 1;
        self.count += 1;
        self.largest = self.largest.max(nanoseconds);
    }

    /// In milliseconds: what this share of them has not exceeded.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        let wanted = (share * self.count as f64).ceil() as u64;
        let mut seen = 0;
        let class = self.classes.iter().position(|count| {
            seen += count;
            seen >= wanted.max(1)
        });
        let upper = class.map_or(0, |class| (16 + class as u64 % 16 + 1) << (class / 16 - 4));
        upper.min(self.largest) as f64 / 1e6
    }

    pub(super) fn largest(&self) -> f64 {
        self.largest as f64 / 1e6
    }
}

/// A line: what is in force, or has come since the last one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    pub(super) seconds: f64,
    pub(super) answered: u64,
    pub(super) per_second: f64,
    pub(super) resident_mib: f64,
    pub(super) descriptors: f64,
    pub(super) processes: u64,
    /// 100: one processor.
    pub(super) cpu: f64,
    /// In milliseconds.
    pub(super) p50: f64,
    pub(super) p99: f64,
    pub(super) largest: f64,
    pub(super) open: u64,
    /// Since the beginning.
    pub(super) workers_ended: u64,
    pub(super) submitters_killed: u64,
    pub(super) retried: u64,
}

pub(super) const HEAD: &str = "seconds,answered,per_second,mib,fds,processes,cpu,p50_ms,p99_ms,max_ms,open,workers_ended,submitters_killed,retried";

impl Sample {
    pub(super) fn line(&self) -> String {
        format!(
            "{:.1},{},{:.0},{:.1},{:.0},{},{:.0},{:.2},{:.2},{:.2},{},{},{},{}",
            self.seconds,
            self.answered,
            self.per_second,
            self.resident_mib,
            self.descriptors,
            self.processes,
            self.cpu,
            self.p50,
            self.p99,
            self.largest,
            self.open,
            self.workers_ended,
            self.submitters_killed,
            self.retried,
        )
    }
}

pub(super) fn write_csv(samples: &[Sample], to: &Path) -> io::Result<()> {
    let lines: Vec<_> = samples.iter().map(Sample::line).collect();
    fs::write(to, format!("{HEAD}\n{}\n", lines.join("\n")))
}

/// A panel: its title, and its curves.
type Panel<'a> = (&'a str, Vec<(&'a str, Vec<f64>)>);

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 150.0;
const LEFT: f64 = 70.0;
const COLOURS: [&str; 3] = ["#1f77b4", "#d62728", "#2ca02c"];

pub(super) fn write_svg(samples: &[Sample], to: &Path) -> io::Result<()> {
    let curve = |of: fn(&Sample) -> f64| samples.iter().map(of).collect::<Vec<_>>();
    let panels: [Panel<'_>; 6] = [
        ("resident memory of all processes, MiB", vec![("", curve(|sample| sample.resident_mib))]),
        ("open descriptors of all processes", vec![("", curve(|sample| sample.descriptors))]),
        ("CPU, per cent of one", vec![("", curve(|sample| sample.cpu))]),
        ("jobs answered a second", vec![("", curve(|sample| sample.per_second))]),
        (
            "time of a job, ms, decimal logarithm",
            vec![
                ("half", curve(|sample| sample.p50.max(1.0).log10())),
                ("99 of 100", curve(|sample| sample.p99.max(1.0).log10())),
                ("all", curve(|sample| sample.largest.max(1.0).log10())),
            ],
        ),
        (
            "since the beginning",
            vec![
                ("workers ended", curve(|sample| sample.workers_ended as f64)),
                ("submitters killed", curve(|sample| sample.submitters_killed as f64)),
                ("attempts repeated", curve(|sample| sample.retried as f64)),
            ],
        ),
    ];
    let height = panels.len() as f64 * (HEIGHT + 50.0);
    let mut svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{}' height='{height}' font-family='sans-serif' font-size='12'>\n\
         <rect width='100%' height='100%' fill='white'/>\n",
        LEFT + WIDTH + 20.0
    );
    let end = samples.last().map_or(1.0, |sample| sample.seconds.max(0.1));
    let across: Vec<_> = samples.iter().map(|sample| LEFT + sample.seconds / end * WIDTH).collect();
    for (at, panel) in panels.iter().enumerate() {
        draw(&mut svg, panel, &across, end, at as f64 * (HEIGHT + 50.0) + 25.0);
    }
    fs::write(to, svg + "</svg>\n")
}

fn draw(svg: &mut String, (title, curves): &Panel<'_>, across: &[f64], end: f64, top: f64) {
    let values = || curves.iter().flat_map(|(_, values)| values.iter().copied());
    let (low, high) = (values().fold(0.0, f64::min), values().fold(1.0, f64::max));
    let down = |value: f64| top + HEIGHT - (value - low) / (high - low) * HEIGHT;
    // Writing into a string does not fail.
    let _ = writeln!(svg, "<text x='{LEFT}' y='{}' font-weight='bold'>{title}</text>", top - 6.0);
    for part in 0..=4 {
        let value = low + (high - low) * f64::from(part) / 4.0;
        let (y, right) = (down(value), LEFT + WIDTH);
        let _ = writeln!(svg, "<path d='M{LEFT} {y:.1}H{right}' stroke='#ddd'/>");
        let _ = writeln!(svg, "<text x='{}' y='{:.1}' text-anchor='end'>{value:.1}</text>", LEFT - 6.0, y + 4.0);
    }
    let _ = writeln!(svg, "<text x='{}' y='{}' text-anchor='end'>{end:.0} s</text>", LEFT + WIDTH, top + HEIGHT + 15.0);
    for (at, ((name, values), colour)) in curves.iter().zip(COLOURS).enumerate() {
        let points: Vec<_> =
            across.iter().zip(values).map(|(x, value)| format!("{x:.1},{:.1}", down(*value))).collect();
        let _ = writeln!(svg, "<polyline fill='none' stroke='{colour}' points='{}'/>", points.join(" "));
        let (x, y) = (LEFT + 350.0 + 150.0 * at as f64, top - 6.0);
        let _ = writeln!(svg, "<text x='{x}' y='{y}' fill='{colour}'>{name}</text>");
    }
}
