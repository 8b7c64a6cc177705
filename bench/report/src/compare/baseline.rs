//! Results stored under a name, to compare later runs with. Every error is found before a run.

use std::path::{Path, PathBuf};

use ybench_measure::env::Environment;
use ybench_measure::error::Error;
use ybench_measure::place::Place;
use ybench_measure::record::Report;
use ybench_measure::stats::change::Threshold;

use super::{Comparison, machine, table};
use crate::built::built;
use crate::output::say;
use crate::storage;

/// A result stored under a name.
#[derive(Debug)]
pub struct Baseline {
    name: String,
    report: Report,
}

impl Baseline {
    /// Refuses an unknown name, and a baseline of another machine or of other CPUs.
    pub fn open(folder: &Path, name: &str, place: Place) -> Result<Self, Error> {
        let path = path(folder, name)?;
        if !path.exists() {
            let sentence = format!("There is no baseline '{name}' in {}: --save-baseline makes one.", folder.display());
            return Err(Error::Refused(sentence));
        }
        let report = storage::read_report(&path)?;
        let here = Environment::capture(built());
        machine::same((&report.environment, report.cpus), (&here, [place.first, place.second]))?;
        Ok(Self { name: name.to_owned(), report })
    }

    /// The file of a baseline with this name. Makes the folder, and refuses one that cannot be written to.
    pub fn to_be(folder: &Path, name: &str) -> Result<PathBuf, Error> {
        let path = path(folder, name)?;
        storage::check_folder(folder)?;
        storage::check_file(&path)?;
        Ok(path)
    }

    /// Prints what is slower or faster than the baseline.
    pub fn compare(&self, report: &Report) {
        let comparison = Comparison::of(&self.report, report, &[], Threshold::ANY);
        say(format_args!("\nCompared with the baseline '{}':", self.name));
        say(table::shown(&comparison, &self.report, report));
    }
}

/// A name is one file on every file system: letters, digits, and `-`, `_` and `.` after the first character.
fn path(folder: &Path, name: &str) -> Result<PathBuf, Error> {
    let fine = |(at, letter): (usize, char)| letter.is_alphanumeric() || (at > 0 && "-_.".contains(letter));
    if name.is_empty() || name.len() > 100 || !name.char_indices().all(fine) {
        let sentence = "The name of a baseline is made of letters and digits, with '-', '_' and '.' between them";
        return Err(Error::Refused(format!("{sentence}, not '{}'.", name.escape_debug())));
    }
    Ok(folder.join(format!("{name}.json")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_file_in_the_folder() {
        let folder = Path::new("kept");
        for name in ["main", "v1.2", "2026-01-01", "a_b"] {
            assert_eq!(path(folder, name).unwrap(), folder.join(format!("{name}.json")));
        }
        let long = "a".repeat(101);
        for name in ["", ".", "..", "../main", "a/b", "/main", "a\\b", "a\nb", "a\0", "-x", ".hidden", &long] {
            assert_eq!(path(folder, name).unwrap_err().exit_status(), 2, "{name:?}");
        }
    }
}
