//! The articles this project is based on, each in a module of its own: reproduced in its own shape, with its published
//! figures.

mod cases;
mod conclusion;
pub mod linux;
pub mod nanosecond;
pub mod threads;
pub mod y_suite;

use ybench_measure::error::Error;
use ybench_measure::record::Report;
use ybench_measure::scenario::Entry;
use ybench_measure::stats;

use crate::report::Study;
use crate::request::Request;

/// The article's own tables, and its pictures with their file names, if the report is of an article. `beyond` is in
/// nanoseconds.
pub fn of(report: &Report, beyond: f64) -> Option<Study> {
    let (parts, pictures) = match report.command.strip_prefix(COMMAND)? {
        "y-suite" => (y_suite::parts(report), y_suite::pictures(report)),
        "nanosecond" => (nanosecond::parts(report), nanosecond::pictures::all(report)),
        "threads" => (threads::parts(report, beyond), threads::pictures::all(report)),
        "linux" => (linux::parts(report), linux::pictures(report)),
        _ => return None,
    };
    Some(Study { title: "In the shape of the article", parts, pictures, ..Study::default() })
}

/// The default number of rounds: enough for a verdict although half of them may not count.
const ROUNDS: u32 = 2 * stats::LEAST_ROUNDS as u32 + 1;

/// The prefix of the command's name in reports of articles, before the article's name.
const COMMAND: &str = "article ";

/// The requested transports that the article is measured with; it has no others.
///
/// # Errors
///
/// Refuses if none of them was requested.
fn own(request: &Request, known: &[&str]) -> Result<Vec<&'static Entry>, Error> {
    let own: Vec<_> = request.entries.iter().copied().filter(|entry| known.contains(&entry.traits.name)).collect();
    if own.is_empty() {
        let sentence = format!("This article is measured with these transports only: {}.", known.join(", "));
        return Err(Error::Refused(sentence));
    }
    Ok(own)
}
