//! The articles this project descends from, each in a room of its own: reproduced in its own shape, beside its
//! published figures.

mod cases;
mod conclusion;
pub mod linux;
pub mod nanosecond;
pub mod threads;
pub mod y_suite;

use ybench_core::error::Error;
use ybench_core::record::Report;
use ybench_core::stats;
use ybench_core::transport::registry::Entry;

use crate::cli::Request;
use crate::plot::Picture;

/// The article's own tables, if the report is of one. `beyond` is in nanoseconds.
pub fn text(report: &Report, beyond: f64) -> Option<String> {
    match report.command.strip_prefix(COMMAND)? {
        "y-suite" => Some(y_suite::text(report)),
        "nanosecond" => Some(nanosecond::text(report)),
        "threads" => Some(threads::text(report, beyond)),
        "linux" => Some(linux::text(report)),
        _ => None,
    }
}

/// The article's own pictures with the names of their files, if the report is of one.
pub fn pictures(report: &Report) -> Vec<(String, Picture)> {
    match report.command.strip_prefix(COMMAND) {
        Some("y-suite") => y_suite::pictures(report),
        Some("nanosecond") => nanosecond::pictures::all(report),
        Some("threads") => threads::pictures::all(report),
        Some("linux") => linux::pictures(report),
        _ => Vec::new(),
    }
}

/// Rounds by default, whatever an article had itself: as many as a verdict needs though half of them are in doubt.
const ROUNDS: u32 = 2 * stats::LEAST_ROUNDS as u32 + 1;

/// What reports of articles call their command, before the article's name.
const COMMAND: &str = "article ";

/// Those of the requested transports that an article is measured with: it knows these only.
///
/// # Errors
///
/// Refuses where none of them was requested.
fn own(request: &Request, known: &[&str]) -> Result<Vec<&'static Entry>, Error> {
    let own: Vec<_> = request.entries.iter().copied().filter(|entry| known.contains(&entry.traits.name)).collect();
    if own.is_empty() {
        let sentence = format!("This article is measured with these transports only: {}.", known.join(", "));
        return Err(Error::Refused(sentence));
    }
    Ok(own)
}
