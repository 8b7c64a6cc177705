//! `ybench report`: makes all text and pictures again from stored results. Measures nothing.

use std::path::{Path, PathBuf};

use clap::Args;
use ybench_measure::error::Error;
use ybench_measure::record::Report;

use crate::output::say;
use crate::report::{Shown, csv, html, load, markdown, terminal};
use crate::{storage, study, table};

#[derive(Debug, Args)]
pub struct Asked {
    /// Results stored with --json
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Write one self-contained page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// The options that other commands have as well.
#[derive(Debug)]
pub struct Wanted<'a> {
    pub markdown: Option<&'a Path>,
    pub csv: Option<&'a Path>,
    pub against: &'a [String],
    /// In nanoseconds.
    pub beyond: f64,
}

impl Asked {
    fn outputs<'a>(&'a self, options: &Wanted<'a>) -> impl Iterator<Item = &'a Path> {
        [self.html.as_deref(), options.markdown, options.csv].into_iter().flatten()
    }

    /// Finds every error before anything is written.
    fn check(&self, options: &Wanted<'_>) -> Result<(), Error> {
        let same =
            |a: &Path, b: &Path| a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
        let outputs: Vec<&Path> = self.outputs(options).collect();
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

pub fn run(asked: &Asked, options: &Wanted<'_>) -> Result<(), Error> {
    let beyond = options.beyond;
    asked.check(options)?;
    let load = |path: &PathBuf| Ok((path.display().to_string(), load(path)?));
    let loaded = asked.files.iter().map(load).collect::<Result<Vec<(String, Report)>, Error>>()?;
    let mut shown: Vec<Shown<'_>> = Vec::new();
    for (name, report) in &loaded {
        shown.push(Shown { name, report, study: study::of(report, beyond) });
    }
    let write = |path: Option<&Path>, text: &dyn Fn() -> String| -> Result<(), Error> {
        let Some(path) = path else { return Ok(()) };
        storage::write_text(path, text().trim_end())?;
        say(format_args!("Written to {}.", path.display()));
        Ok(())
    };
    write(asked.html.as_deref(), &|| html::page(&shown, beyond))?;
    write(options.markdown, &|| markdown::text(&shown, beyond))?;
    write(options.csv, &|| csv::text(&shown))?;
    if asked.outputs(options).next().is_none() {
        for one in &shown {
            if shown.len() > 1 {
                say(format_args!("=== {}\n", one.name));
            }
            say(terminal::text(one.report, &one.study, beyond));
            say(table::against(one.report, options.against));
        }
    }
    Ok(())
}
