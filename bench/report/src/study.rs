//! Which analysis belongs to a result: its own tables and pictures, in addition to those of every result.

use ybench_measure::goals;
use ybench_measure::record::Report;

use crate::report::Study;
use crate::{article, choose, competitors, footprint, limits, scale};

/// Made from the result alone. `beyond` is in nanoseconds.
pub fn of(report: &Report, beyond: f64) -> Study {
    let targets = || Study { goals: goals::judged(report), ..Study::default() };
    let scaled = || Study { pictures: scale::pictures(report), ..Study::default() };
    article::of(report, beyond)
        .or_else(|| competitors::study(report))
        .or_else(|| choose::study(report))
        .or_else(|| footprint::study(report))
        .or_else(|| limits::study(report))
        .or_else(|| (report.command == "scale").then(scaled))
        .unwrap_or_else(targets)
}
