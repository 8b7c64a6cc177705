//! Sessions as tables. A table is built once, as a grid, and printed on a terminal, in Markdown or on a page. These
//! functions return text; the caller prints it.

mod against;
mod grid;
mod growth;
mod latency;
mod limits;
mod matrix;
mod metrics;
pub mod part;
mod ranking;
pub mod sections;
mod spoken;
mod standing;

pub use self::against::against;
pub use self::grid::{Column, Grid, Row, Tone};
pub use self::growth::{Growth, growths};
pub use self::latency::{BEYOND, Beside, blocks, distributions, latencies, latency_grid, tail, what};
pub use self::limits::{goals, goals_grid, limits_grid, pairs};
pub use self::matrix::{Cell, Heading, Kin, Line, Matrix, SPINS, matrix};
pub use self::metrics::{metrics_grid, not_reached};
pub use self::part::{Claim, Part};
pub use self::ranking::{comparable, ranking, ranking_grid};
pub use self::spoken::spoken;
pub use self::standing::{Standing, answer, judgement, judgements, standings, sureness};
pub use ybench_measure::figures::{count, figure, grouped, interval, percent, significant, time};

use ybench_measure::record::Report;

/// The head of every output: the machine and the CPUs.
pub fn heading(report: &Report) -> String {
    format!("{}\n{}\n", report.environment.in_words(), threads(report))
}

pub fn threads(report: &Report) -> String {
    let [first, second] = report.cpus;
    let cpus = if first == second { format!("CPU {first}") } else { format!("CPUs {first} and {second}") };
    format!("Threads on {cpus}.")
}
