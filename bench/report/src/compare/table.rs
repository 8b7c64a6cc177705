//! A comparison as a table for a terminal, and its sentence. Plain text out; the caller prints it.

use ybench_measure::record::Report;
use ybench_measure::stats::change::Change;

use super::{Comparison, Row};
use crate::doubts;
use crate::table::{Grid, Tone, figure};

pub(super) fn shown(comparison: &Comparison, old: &Report, new: &Report) -> String {
    let head = "Old and new are medians of the ratio to the baseline of each scenario.";
    let doubts = [("old", old), ("new", new)].map(|(which, report)| cautions(which, report)).concat();
    format!("{}{doubts}", rows(head, comparison))
}

/// The rows below this sentence, and the sum of them.
pub fn rows(head: &str, comparison: &Comparison) -> String {
    let mut grid = Grid::new(&["scenario", "transport", ">old", ">new", ">new / old", ">95 %", ""]);
    for row in &comparison.rows {
        let cells = vec![
            scenario(row),
            row.old_name.as_ref().map_or(row.name.clone(), |was| format!("{} (was {was})", row.name)),
            known(row.old, figure),
            known(row.new, figure),
            known(row.times.median, |times| format!("{times:.2}")),
            known(row.times.low, |low| format!("{low:.2} .. {:.2}", row.times.high)),
            row.change.in_words().to_owned(),
        ];
        grid.push(Tone::Plain, None, cells);
    }
    format!("{head}\n{}\n{}", grid.terminal(), summary(comparison))
}

/// Nothing for a row without a round that counts.
fn known(figure: f64, shown: impl Fn(f64) -> String) -> String {
    if figure.is_nan() { String::new() } else { shown(figure) }
}

fn summary(comparison: &Comparison) -> String {
    let count = |change| comparison.count(change);
    let unclear = comparison.undecided();
    let left_out = match (comparison.only_old, comparison.only_new) {
        (0, 0) => String::new(),
        (old, new) => format!("; not compared: {old} only in the old result, {new} only in the new one"),
    };
    format!(
        "{} compared: {} slower, {} faster (by more than {} %, the whole interval), {} without a called change (less \
         than {} %, or the baseline's alone), {unclear} inconclusive{left_out}.",
        comparison.rows.len(),
        count(Change::Slower),
        count(Change::Faster),
        percent(comparison.threshold.called),
        count(Change::NoneSeen) + count(Change::Same),
        percent(comparison.threshold.unseen),
    )
}

/// A share in percent, without what binary fractions add to it.
pub(super) fn percent(share: f64) -> f64 {
    (share * 1e6).round() / 1e4
}

/// What makes one of the two results doubtful.
fn cautions(which: &str, report: &Report) -> String {
    let debug = report.environment.debug_build.then(|| "It is that of a debug build.".to_owned());
    let cut = report.interrupted.then(|| "It is that of an interrupted run.".to_owned());
    let said: Vec<String> = debug.into_iter().chain(cut).chain(doubts::of_figures(report)).collect();
    if said.is_empty() { String::new() } else { format!("\nThe {which} result: {}", said.join(" ")) }
}

fn scenario(row: &Row) -> String {
    let parameter = row.parameter.map_or(String::new(), |parameter| format!(", {}", parameter.in_words()));
    format!("{}{parameter}", row.scenario)
}
