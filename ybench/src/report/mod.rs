//! `ybench report`: everything that can be printed or drawn, made again from kept results. Nothing is measured here, and
//! several results are shown one after the other: no ratio is ever formed across two of them.

pub mod csv;
pub mod files;
pub mod html;
mod load;
pub mod markdown;
pub mod sections;
pub mod shelf;
pub mod sweeps;
pub mod terminal;
pub mod when;

use std::path::{Path, PathBuf};

use clap::Args;
use ybench_core::error::Error;
use ybench_core::record::Report;

use crate::keep;
use crate::run::say;

pub use self::load::load;

#[derive(Debug, Args)]
pub struct Asked {
    /// Results kept with --json
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

/// A result with the name it is shown under.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    pub name: &'a str,
    pub report: &'a Report,
}

impl Asked {
    fn outputs(&self) -> impl Iterator<Item = &Path> {
        [&self.html, &self.markdown, &self.csv].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Everything that can be wrong is found before anything is written.
    fn check(&self) -> Result<(), Error> {
        let same =
            |a: &Path, b: &Path| a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
        let outputs: Vec<&Path> = self.outputs().collect();
        for (at, path) in outputs.iter().enumerate() {
            let others = outputs[..at].iter().copied().chain(self.files.iter().map(PathBuf::as_path));
            if others.into_iter().any(|other| same(other, path)) {
                return Err(Error::Refused(format!("{} is named twice; it would be overwritten.", path.display())));
            }
            keep::check_file(path)?;
        }
        Ok(())
    }
}

/// `beyond` is in nanoseconds.
pub fn run(asked: &Asked, beyond: f64) -> Result<(), Error> {
    asked.check()?;
    let load = |path: &PathBuf| Ok((path.display().to_string(), load(path)?));
    let loaded = asked.files.iter().map(load).collect::<Result<Vec<(String, Report)>, Error>>()?;
    let shown: Vec<Shown<'_>> = loaded.iter().map(|(name, report)| Shown { name, report }).collect();
    let write = |path: &Option<PathBuf>, text: &dyn Fn() -> String| -> Result<(), Error> {
        let Some(path) = path else { return Ok(()) };
        keep::write_text(path, text().trim_end())?;
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
            say(terminal::text(one.report, beyond));
        }
    }
    Ok(())
}
