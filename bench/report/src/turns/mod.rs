//! Two builds of ybench by turns: `ybench ab OLD NEW SCENARIO...`.
//!
//! From one run of a program to the next a virtual machine changes by more than most regressions, and no interval from within
//! a run shows it. So both programs are started together, several times, and take turns: a round of the one, then
//! one of the other, and the next time the other way round. A pair of such rounds is measured within moments, and gives
//! one factor for each transport. The factors of one start have a median, and the medians of all starts have an interval:
//! what differs from one start of the same program to the next, as the place of its memory does, is in it.

mod rows;
mod side;

use std::path::{Path, PathBuf};

use clap::Args;
use ybench_measure::error::Error;
use ybench_measure::interrupt;
use ybench_measure::stats::LEAST_ROUNDS;
use ybench_measure::stats::change::Threshold;

use self::side::{Program, Side};
use crate::commands::run::Selection;
use crate::compare::{self, Comparison};
use crate::output::say;
use crate::request::Request;

/// Starts of both programs, and pairs of rounds in each. Many starts with few rounds: what differs between two starts is
/// not seen in any number of rounds.
const STARTS: u32 = 20;
const PAIRS: u32 = 3;
const SECONDS: f64 = 120.0;

#[derive(Debug, Args)]
pub struct Asked {
    /// The older ybench
    pub old: PathBuf,
    /// The newer ybench
    pub new: PathBuf,
    #[command(flatten)]
    pub selection: Selection,
    /// Exit with status 1 if a transport is slower by more than this share, with its whole interval. Exit with 3 if
    /// none is, but a row is inconclusive [for example: 10%]
    #[arg(long, value_name = "PERCENT")]
    pub fail_on_regression: Option<String>,
    /// Starts of each program [default: 20]
    #[arg(long, value_name = "N")]
    pub starts: Option<u32>,
}

impl Asked {
    /// Refuses what neither program needs to be asked about.
    pub fn check(&self) -> Result<(), Error> {
        self.threshold()?;
        match self.starts {
            Some(starts) if !(LEAST_ROUNDS as u32..=1_000).contains(&starts) => {
                Err(Error::Refused(format!("--starts takes {LEAST_ROUNDS} to 1,000 starts: fewer give no verdict.")))
            }
            _ => Ok(()),
        }
    }

    fn threshold(&self) -> Result<Option<f64>, Error> {
        self.fail_on_regression.as_deref().map(compare::share).transpose()
    }
}

/// Starts both programs again and again, prints what is slower and what is faster, and keeps all results.
///
/// # Errors
///
/// If a program cannot be started, refuses the request or fails; if a regression is to fail, and there is one.
pub fn run(request: &Request, asked: &Asked) -> Result<(), Error> {
    let threshold = asked.threshold()?;
    let starts = asked.starts.unwrap_or(STARTS);
    let seconds = request.seconds.unwrap_or(SECONDS) / f64::from(2 * starts);
    let arguments = arguments(request, &asked.selection, seconds);
    let programs = [("OLD", &asked.old), ("NEW", &asked.new)].map(|(which, path)| Program { which, path });
    let mut measured = Vec::new();
    for start in 1..=starts {
        if !request.quiet {
            eprintln!("ybench: start {start} of {starts}");
        }
        let results = by_turns(programs, &arguments, &request.out, start)?;
        if interrupt::asked() {
            break;
        }
        measured.push(results);
    }
    let comparison = rows::comparison(&measured, threshold.map_or(Threshold::ANY, Threshold::beyond));
    if comparison.rows.is_empty() {
        return Err(match measured.is_empty() {
            true => Error::Interrupted { sessions: 0 },
            false => Error::Refused("The two programs have no transport in common in these scenarios.".to_owned()),
        });
    }
    told(&comparison, &request.out);
    measured.iter().flatten().try_for_each(|report| report.honest())?;
    if interrupt::asked() {
        return Err(Error::Interrupted { sessions: measured.len() });
    }
    if threshold.is_some() { compare::gate(&comparison) } else { Ok(()) }
}

fn told(comparison: &Comparison, folder: &Path) {
    let head = "Nanoseconds, medians of all rounds; the factor is that of pairs of rounds, one of each program.";
    say(compare::table::rows(head, comparison));
    say(format_args!("All results are in {}.", folder.display()));
}

/// One start of both. The order of a pair alternates: a drift of the machine makes each slower as often.
fn by_turns(
    programs: [Program<'_>; 2],
    arguments: &[String],
    folder: &Path,
    start: u32,
) -> Result<[ybench_measure::record::Report; 2], Error> {
    let [old, new] = programs;
    // One after the other, each up to its first question: beside the other one each would find the machine busy.
    let mut old = Side::start(old, arguments, folder, start)?;
    let mut new = Side::start(new, arguments, folder, start)?;
    let mut old_first = start.is_multiple_of(2);
    while old.asks && new.asks && !interrupt::asked() {
        let mut pair = [&mut old, &mut new];
        if !old_first {
            pair.reverse();
        }
        pair.into_iter().for_each(Side::turn);
        old_first = !old_first;
    }
    Ok([old.ended()?, new.ended()?])
}

/// What both programs are asked to do.
fn arguments(request: &Request, selection: &Selection, seconds: f64) -> Vec<String> {
    let mut arguments = vec!["run".to_owned()];
    arguments.extend(selection.scenarios.iter().cloned());
    let mut add = |option: &str, value: String| arguments.extend([option.to_owned(), value]);
    let numbers = [
        ("--rate", &selection.rates),
        ("--size", &selection.sizes),
        ("--backlog", &selection.backlogs),
        ("--silence", &selection.silences),
    ];
    for (option, values) in numbers {
        values.iter().for_each(|value| add(option, value.to_string()));
    }
    let named = request.entries.iter().filter(|_| request.named);
    named.for_each(|entry| add("--transport", entry.traits.name.to_owned()));
    request.cpus.iter().for_each(|cpus| add("--cpus", cpus.clone()));
    match request.messages {
        Some(messages) => add("--messages", messages.to_string()),
        None => add("--time", seconds.to_string()),
    }
    add("--warm-up", request.warm_up.to_string());
    add("--rounds", request.rounds.unwrap_or(PAIRS).to_string());
    arguments
}
