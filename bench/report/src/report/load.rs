//! Reads a stored result, to show it.

use std::path::Path;

use ybench_measure::error::Error;
use ybench_measure::record::Report;

use crate::storage;

/// Refuses a file that cannot be read, and one with nothing to show: neither a round nor the cost of a clock.
pub fn load(path: &Path) -> Result<Report, Error> {
    let mut report = storage::read_result(path)?;
    report.leave_out_the_broken();
    let rounds = report.sessions.iter().any(|session| !session.rounds.is_empty());
    let clocks = report.clock.as_ref().is_some_and(|facts| !facts.table.is_empty());
    if rounds || clocks { Ok(report) } else { Err(storage::nothing_measured(path)) }
}
