//! `ybench report`: makes all text and pictures again from stored results. Measures nothing.

use std::path::{Path, PathBuf};

use clap::Args;
use ybench_measure::error::Error;
use ybench_measure::record::Report;

use crate::output::say;
use crate::report::{Shown, csv, html, load, markdown, terminal};
use crate::{storage, study};

#[derive(Debug, Args)]
pub struct Asked {
    /// Results stored with --json
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Write one self-contained page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the tables as Markdown
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write a line for each scenario, parameter and transport
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

impl Asked {
    fn outputs(&self) -> impl Iterator<Item = &Path> {
        [&self.html, &self.markdown, &self.csv].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Finds every error before anything is written.
    fn check(&self) -> Result<(), Error> {
        let same =
            |a: &Path, b: &Path| a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
        let outputs: Vec<&Path> = self.outputs().collect();
        for (at, path) in outputs.iter().enumerate() {
            let others = outputs[..at].iter().copied().chain(self.files.iter().map(PathBuf::as_path));
            if others.into_iter().any(|other| same(other, path)) {
                return Err(Error::Refused(format!("{} is named twice; it would be overwritten.", path.display())));
            }
            storage::check_file(path)?;
        }
        Ok(())
    }
}

/// `beyond` is in nanoseconds.
pub fn run(asked: &Asked, beyond: f64) -> Result<(), Error> {
    asked.check()?;
    let load = |path: &PathBuf| Ok((path.display().to_string(), load(path)?));
    let loaded = asked.files.iter().map(load).collect::<Result<Vec<(String, Report)>, Error>>()?;
    let mut shown: Vec<Shown<'_>> = Vec::new();
    for (name, report) in &loaded {
        shown.push(Shown { name, report, study: study::of(report, beyond) });
    }
    let write = |path: &Option<PathBuf>, text: &dyn Fn() -> String| -> Result<(), Error> {
        let Some(path) = path else { return Ok(()) };
        storage::write_text(path, text().trim_end())?;
        say(format_args!("Written to {}.", path.display()));
        Ok(())
    };
    write(&asked.html, &|| html::page(&shown, beyond))?;
    write(&asked.markdown, &|| markdown::text(&shown, beyond))?;
    write(&asked.csv, &|| csv::text(&shown))?;
    if asked.outputs().next().is_none() {
        for one in &shown {
            if shown.len() > 1 {
                say(format_args!("=== {}\n", one.name));
            }
            say(terminal::text(one.report, &one.study, beyond));
        }
    }
    Ok(())
}
