//! Two results side by side: `ybench compare OLD NEW`, and `--baseline NAME` after a run.
//!
//! Sessions are matched by scenario and parameter, transports by name, and only if both runs rank by the same machine
//! baseline. The ratio to it is compared, because the speed of a machine drifts between two runs. Results of different
//! machines are refused, unless the user insists. What makes a result doubtful is printed with the comparison: a result
//! of a busy machine decides nothing.

mod baseline;
mod machine;
mod rows;
pub mod table;

use std::path::PathBuf;

use clap::Args;
use ybench_measure::error::Error;
use ybench_measure::record::Report;
use ybench_measure::stats::change::Threshold;
use ybench_measure::stats::listed;

pub use self::baseline::Baseline;
pub use self::rows::{Comparison, Row, comparable};
use crate::output::say;
use crate::storage;

#[derive(Debug, Args)]
pub struct Asked {
    /// The older result
    pub old: PathBuf,
    /// The newer result
    pub new: PathBuf,
    /// Exit with status 1 if a transport is slower by more than this share, with its whole interval. Exit with 3 if
    /// none is, but a row is inconclusive or only in OLD [for example: 10%]
    #[arg(long, value_name = "PERCENT")]
    pub fail_on_regression: Option<String>,
    /// Compare results of different machines or CPUs as well
    #[arg(long)]
    pub any_machine: bool,
    /// Compare this transport of NEW with that one of OLD; repeatable
    #[arg(long = "rename", value_name = "NEWNAME=OLDNAME")]
    pub renames: Vec<String>,
}

/// A transport of the new result, and its counterpart in the old result.
pub type Rename<'a> = (&'a str, &'a str);

pub fn run(asked: &Asked) -> Result<(), Error> {
    let threshold = asked.fail_on_regression.as_deref().map(share).transpose()?;
    let renames = asked.renames.iter().map(|text| rename(text)).collect::<Result<Vec<_>, _>>()?;
    let (mut old, mut new) = (storage::read_report(&asked.old)?, storage::read_report(&asked.new)?);
    [&mut old, &mut new].into_iter().for_each(Report::leave_out_the_broken);
    if !asked.any_machine {
        machine::same((&old.environment, old.cpus), (&new.environment, new.cpus))?;
    }
    for (later, earlier) in &renames {
        known(&new, later, "NEW")?;
        known(&old, earlier, "OLD")?;
    }
    let comparison = Comparison::of(&old, &new, &renames, threshold.map_or(Threshold::ANY, Threshold::beyond));
    if comparison.rows.is_empty() {
        let sentence =
            "The two results have nothing in common: no transport in the same scenario with the same machine baseline.";
        return Err(Error::Refused(sentence.to_owned()));
    }
    say(table::shown(&comparison, &old, &new));
    new.honest().and_then(|()| if threshold.is_some() { gate(&comparison) } else { Ok(()) })
}

/// Passes only if nothing is slower: an inconclusive or missing row is no evidence of that.
pub fn gate(comparison: &Comparison) -> Result<(), Error> {
    let percent = table::percent(comparison.threshold.called);
    let slower = comparison.slower();
    if !slower.is_empty() {
        return Err(Error::Regressed(format!("Slower by more than {percent} %: {}.", listed(&slower))));
    }
    match (comparison.undecided(), comparison.only_old) {
        (0, 0) => Ok(()),
        (undecided, gone) => Err(Error::Undecided(format!(
            "Nothing is called slower by more than {percent} %, but of {} compared {undecided} are inconclusive, and \
             {gone} of the old result are not in the new one.",
            comparison.rows.len()
        ))),
    }
}

/// "10%", "10 %" or "10" as 0.1.
pub fn share(text: &str) -> Result<f64, Error> {
    let number = text.trim().trim_end_matches('%').trim_end().parse::<f64>();
    match number {
        Ok(percent) if (0.0..=1_000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(Error::Refused(format!("--fail-on-regression takes 0% to 1000%, not '{text}'."))),
    }
}

fn rename(text: &str) -> Result<Rename<'_>, Error> {
    let halves = text.split_once('=').filter(|(new, old)| !new.is_empty() && !old.is_empty());
    halves.ok_or_else(|| Error::Refused(format!("--rename takes NEWNAME=OLDNAME, not '{text}'.")))
}

fn known(report: &Report, name: &str, which: &str) -> Result<(), Error> {
    let mut transports = report.sessions.iter().flat_map(|session| session.transports());
    match transports.any(|one| one.name == name) {
        true => Ok(()),
        false => Err(Error::Refused(format!("There is no transport '{name}' in {which}."))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_written_in_percent() {
        for text in ["10%", "10 %", "10", " 10.0% "] {
            assert_eq!(share(text).unwrap(), 0.1, "{text}");
        }
        for text in ["", "%", "ten", "-1%", "NaN", "inf", "2000%"] {
            let sentence = share(text).unwrap_err().to_string();
            assert!(sentence.starts_with("--fail-on-regression takes"), "{sentence}");
        }
    }

    #[test]
    fn a_rename_has_two_names() {
        assert_eq!(rename("slowed=spsc").unwrap(), ("slowed", "spsc"));
        for text in ["", "=", "a=", "=b", "a"] {
            assert_eq!(rename(text).unwrap_err().exit_status(), 2, "{text}");
        }
    }
}
