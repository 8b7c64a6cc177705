//! Results in files: checked before the measurement that they can be written, and written atomically.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use ybench_measure::error::Error;
use ybench_measure::record::{Report, SCHEMA};

use crate::output;

/// Refuses a path that cannot be written to. Tries it by a temporary file in the same folder.
pub fn check_file(path: &Path) -> Result<(), Error> {
    if path == Path::new(STANDARD_OUTPUT) {
        return Ok(());
    }
    let refuse = |cause: &dyn std::fmt::Display| {
        Err(Error::Refused(format!("The result cannot be written to {}: {cause}.", path.display())))
    };
    if path.is_dir() || path.file_name().is_none() {
        return refuse(&"it is a folder");
    }
    if fs::metadata(path).is_ok_and(|metadata| metadata.permissions().readonly()) {
        return refuse(&"it is read-only");
    }
    let beside = beside(path);
    match File::create(&beside).and_then(|_| fs::remove_file(&beside)) {
        Ok(()) => Ok(()),
        Err(cause) => refuse(&cause),
    }
}

/// Makes the folder if it does not exist, and refuses one that cannot be written to.
pub fn check_folder(path: &Path) -> Result<(), Error> {
    let made = fs::create_dir_all(path);
    made.map_err(|cause| Error::Refused(format!("The folder {} cannot be made: {cause}.", path.display())))?;
    check_file(&path.join("report.json"))
}

/// The name of a file that means standard output.
pub const STANDARD_OUTPUT: &str = "-";

/// Writes the result to a file or to standard output, and reports the path.
pub fn write_result(path: &Path, report: &Report) -> Result<(), Error> {
    if path != Path::new(STANDARD_OUTPUT) {
        let replaced = replaced(path);
        write_report(path, report)?;
        output::say(format_args!("Stored in {}{replaced}.", path.display()));
        return Ok(());
    }
    let text = serde_json::to_string_pretty(report).map_err(io::Error::from);
    let written = text.and_then(|text| writeln!(io::stdout(), "{text}"));
    written.map_err(|cause| Error::Unwritten { path: "standard output".to_owned(), cause })
}

pub fn write_report(path: &Path, report: &Report) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(report).map_err(io::Error::from);
    text.and_then(|text| write(path, &text)).map_err(|cause| unwritten(path, cause))
}

/// Reads a stored result of this ybench or an older one. Refuses a file that cannot be read, or in which nothing was
/// measured.
pub fn read_report(path: &Path) -> Result<Report, Error> {
    let report = read_result(path)?;
    if report.sessions.iter().all(|session| session.rounds.is_empty()) {
        return Err(nothing_measured(path));
    }
    Ok(report)
}

pub fn nothing_measured(path: &Path) -> Error {
    Error::Refused(format!("{} is the result of a run in which nothing was measured.", path.display()))
}

/// As [`read_report`], but also accepts a result without rounds: that of the clock.
pub fn read_result(path: &Path) -> Result<Report, Error> {
    let shown = path.display();
    let refuse = |sentence: String| Err(Error::Refused(sentence));
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(cause) => return refuse(format!("The result in {shown} cannot be read: {cause}.")),
    };
    let value: Value = match serde_json::from_slice(&bytes) {
        Ok(value) => value,
        Err(_) if bytes.is_empty() => return refuse(format!("{shown} is empty.")),
        Err(cause) if cause.is_eof() => return refuse(format!("{shown} is truncated: it ends in the middle.")),
        Err(cause) => {
            let (line, column) = (cause.line(), cause.column());
            return refuse(format!("{shown} is damaged: no JSON from line {line}, column {column} on."));
        }
    };
    let schema = value.get("schema").and_then(Value::as_u64);
    match schema.filter(|_| value.get("environment").is_some()) {
        None | Some(0) => return refuse(format!("{shown} is not a result of ybench.")),
        Some(newer) if newer > SCHEMA.into() => {
            return refuse(format!(
                "{shown} was written by a newer ybench (schema {newer}; this one reads up to {SCHEMA})."
            ));
        }
        Some(_) => {}
    }
    let report: Report = match serde_json::from_value(value) {
        Ok(report) => report,
        Err(cause) => return refuse(format!("{shown} is damaged: {cause}.")),
    };
    let mut rounds = report.sessions.iter().flat_map(|session| &session.rounds);
    // No run can have written this, and no ratio can be formed with it.
    let no_time = |figure: &f64| !(figure.is_finite() && *figure > 0.0);
    if rounds.any(|round| round.nanoseconds.values().any(no_time)) {
        return refuse(format!("{shown} is damaged: one of its figures is not a valid time."));
    }
    Ok(report)
}

/// Writes a text, and reports the path.
pub fn write_told(path: &Path, text: &str) -> Result<(), Error> {
    let replaced = replaced(path);
    write_text(path, text)?;
    output::say(format_args!("Written to {}{replaced}.", path.display()));
    Ok(())
}

/// What to say about a file that is there already.
pub fn replaced(path: &Path) -> &'static str {
    if path.is_file() { ", in place of an earlier one" } else { "" }
}

/// Gives an earlier result another name, which no file has: "report.1.json".
///
/// # Errors
///
/// If it cannot be renamed.
pub fn set_aside(path: &Path) -> Result<Option<PathBuf>, Error> {
    if !path.is_file() {
        return Ok(None);
    }
    let numbered = (1u32..).map(|number| path.with_extension(format!("{number}.json")));
    let free = numbered.into_iter().find(|name| !name.exists()).unwrap_or_else(|| path.with_extension("earlier.json"));
    fs::rename(path, &free).map_err(|cause| unwritten(&free, cause))?;
    Ok(Some(free))
}

pub fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    write(path, text).map_err(|cause| unwritten(path, cause))
}

fn unwritten(path: &Path, cause: io::Error) -> Error {
    Error::Unwritten { path: path.display().to_string(), cause }
}

/// Writes the file atomically: first under a temporary name, which is then renamed.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let beside = beside(path);
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&beside, path));
    if renamed.is_err() {
        let _ = fs::remove_file(&beside);
    }
    renamed
}

/// A name in the same folder, so that the rename stays within one file system.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("ybench-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left() {
        let folder = folder("whole");
        let path = folder.join("a.json");
        check_file(&path).unwrap();
        assert!(!path.exists());
        write_text(&path, "one").unwrap();
        write_text(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two\n");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_earlier_result_keeps_another_name() {
        let folder = folder("aside");
        let path = folder.join("report.json");
        assert_eq!(set_aside(&path).unwrap(), None);
        for number in [1, 2] {
            write_text(&path, &format!("result {number}")).unwrap();
            let kept = set_aside(&path).unwrap().unwrap();
            assert_eq!(kept, folder.join(format!("report.{number}.json")));
            assert_eq!(fs::read_to_string(kept).unwrap(), format!("result {number}\n"));
        }
        assert_eq!((replaced(&path), replaced(&folder.join("report.1.json"))), ("", ", in place of an earlier one"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_or_a_missing_folder_is_refused() {
        let folder = folder("refused");
        assert_eq!(check_file(&folder).unwrap_err().exit_status(), 2);
        assert_eq!(check_file(&folder.join("no/such/a.json")).unwrap_err().exit_status(), 2);
        fs::remove_dir_all(folder).unwrap();
    }
}
