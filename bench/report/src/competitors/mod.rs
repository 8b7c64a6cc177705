//! `ybench competitors`: all competitors, grouped by capability, in every case and at every size.
//!
//! | file | contents |
//! |---|---|
//! | `beside` | one figure of one group at every size: each transport's ratio to the best of ours |
//! | `table` | the same as a table, with sentences that say where a competitor is first or near |
//! | `digest` | all cases in one table, with the three competitors nearest to ours |
//! | `features` | the features of ours and of each competitor |

mod beside;
mod digest;
mod features;
mod table;

use std::collections::BTreeSet;

use clap::Args;
use ybench_measure::error::Error;
use ybench_measure::frame::Frame;
use ybench_measure::plan;
use ybench_measure::record::{Parameter, Report};
use ybench_measure::registry;
use ybench_measure::scenario::Entry;
use ybench_measure::scenario::cells::{self, Cell, drivers};
use ybench_measure::stats::listed;

pub use self::digest::digest;
pub use self::table::study;
use crate::measure;
use crate::output::say;
use crate::request::Request;

/// The name of the command in its reports.
const COMMAND: &str = "competitors";

const SECONDS: f64 = 900.0;
/// If the number of messages is fixed, and so the time.
const ROUNDS: u32 = 7;

#[derive(Debug, Default, Args)]
pub struct Asked {
    /// Only this case; repeatable [default: all, see `ybench list`]
    #[arg(long = "cell", value_name = "NAME")]
    pub cells: Vec<String>,
    /// Bytes in a message: 8, 24, 64, 256 or several of them [default: all]
    #[arg(long, value_name = "BYTES", num_args = 1..)]
    pub bytes: Vec<u32>,
    /// Measure nothing: print the features of ours and of each competitor
    #[arg(long)]
    pub features: bool,
}

impl Asked {
    /// The requested cases, in their order.
    ///
    /// # Errors
    ///
    /// Refuses unknown names and sizes.
    pub fn resolved(&self) -> Result<Vec<&'static Cell>, Error> {
        if let Some(name) = self.cells.iter().find(|name| cells::named(name).is_none()) {
            let names: Vec<&str> = cells::all().iter().map(|cell| cell.scenario.name).collect();
            return Err(Error::Refused(format!("There is no case called '{name}'; there are {}.", listed(&names))));
        }
        if let Some(bytes) = self.bytes.iter().find(|bytes| !drivers::BYTES.contains(bytes)) {
            return Err(Error::Refused(format!("A message can have 8, 24, 64 or 256 bytes here, not {bytes}.")));
        }
        let wanted = |cell: &&Cell| self.cells.is_empty() || self.cells.iter().any(|name| name == cell.scenario.name);
        Ok(cells::all().iter().filter(wanted).collect())
    }

    fn sizes(&self, cell: &Cell) -> Vec<Parameter> {
        let wanted = |size: &&Parameter| self.bytes.is_empty() || self.bytes.contains(&(size.value as u32));
        cell.scenario.parameters.iter().filter(wanted).copied().collect()
    }
}

/// `None` if the features were requested, which are printed at once.
pub fn run(request: &Request, asked: &Asked) -> Result<Option<Report>, Error> {
    let cells = asked.resolved()?;
    let without = || {
        let built = "build it with them: cargo run --release -p ybench --features competitors -- competitors";
        Error::Refused(format!("This ybench was built without competitors; {built}."))
    };
    if asked.features {
        say(features::grid().ok_or_else(without)?.terminal());
        return Ok(None);
    }
    if drivers::offered().is_empty() {
        return Err(without());
    }
    let entries = entries(request);
    let usual = measure::Usual { command: COMMAND, seconds: SECONDS, rounds: ROUNDS, nobody: measure::NOBODY };
    let mut report = measure::in_rounds(request, usual, |frame, warnings| {
        // Ours take part without being named.
        let frame = Frame { named: false, ..frame };
        let each = cells.iter().flat_map(|cell| asked.sizes(cell).into_iter().map(|size| (&cell.scenario, size)));
        each.filter_map(|(scenario, size)| plan::of(scenario, Some(size), &entries, frame, warnings)).collect()
    })?;
    group(&mut report);
    Ok(Some(report))
}

/// The requested transports, and always ours: the question is how they compare.
fn entries(request: &Request) -> Vec<&'static Entry> {
    let asked: BTreeSet<&str> = request.entries.iter().map(|entry| entry.traits.name).collect();
    let wanted = |entry: &&Entry| asked.contains(entry.traits.name) || cells::is_ours(entry.traits.name);
    registry::all().iter().filter(wanted).collect()
}

/// Stores the groups in each session.
fn group(report: &mut Report) {
    for session in &mut report.sessions {
        if let Some(cell) = cells::named(&session.scenario) {
            session.groups = cells::grouped_as(cell, session, |name| registry::named(name).map(|entry| entry.traits));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_refused_with_the_known_ones() {
        let asked = Asked { cells: vec!["one-by-one".into(), "ten-to-1".into()], ..Asked::default() };
        let sentence = asked.resolved().err().unwrap().to_string();
        assert!(sentence.starts_with("There is no case called 'ten-to-1'; there are one-by-one, "), "{sentence}");
        let asked = Asked { bytes: vec![8, 32], ..Asked::default() };
        let sentence = asked.resolved().err().unwrap().to_string();
        assert_eq!(sentence, "A message can have 8, 24, 64 or 256 bytes here, not 32.");
    }

    #[test]
    fn nothing_said_is_everything() {
        let all = Asked::default().resolved().unwrap();
        assert_eq!(all.len(), cells::all().len());
        assert!(all.iter().all(|cell| Asked::default().sizes(cell).len() == drivers::BYTES.len()));
        let one = Asked { cells: vec!["burst".into()], bytes: vec![24], ..Asked::default() };
        let cells = one.resolved().unwrap();
        assert_eq!((cells.len(), one.sizes(cells[0]).len()), (1, 1));
    }
}
