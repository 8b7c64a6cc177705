//! `ybench report`: everything that can be printed or drawn, made again from kept results. Nothing is measured here, and
//! several results are shown one after the other: no ratio is ever formed across two of them.

pub mod csv;
pub mod html;
mod load;
pub mod markdown;
pub mod sections;
pub mod terminal;
mod when;

use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::Error;
use crate::keep;
use crate::record::Report;
use crate::run::say;
use crate::table;

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
    /// Count the messages that took longer than so many microseconds [default: 10]
    #[arg(long, value_name = "US")]
    pub beyond: Option<f64>,
}

/// A result with the name it is shown under.
#[derive(Debug)]
pub struct Loaded {
    pub name: String,
    pub report: Report,
}

impl Asked {
    /// Nanoseconds.
    fn beyond(&self) -> f64 {
        self.beyond.map_or(table::BEYOND, |microseconds| microseconds * 1e3)
    }

    fn outputs(&self) -> impl Iterator<Item = &Path> {
        [&self.html, &self.markdown, &self.csv].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Everything that can be wrong is found before anything is written.
    fn check(&self) -> Result<(), Error> {
        if self.beyond.is_some_and(|limit| !(limit > 0.0 && limit.is_finite())) {
            return Err(Error::Refused("--beyond takes a number of microseconds above 0.".to_owned()));
        }
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

pub fn run(asked: &Asked) -> Result<(), Error> {
    asked.check()?;
    let load = |path: &PathBuf| Ok(Loaded { name: path.display().to_string(), report: load(path)? });
    let loaded = asked.files.iter().map(load).collect::<Result<Vec<Loaded>, Error>>()?;
    let beyond = asked.beyond();
    let write = |path: &Option<PathBuf>, text: &dyn Fn() -> String| -> Result<(), Error> {
        let Some(path) = path else { return Ok(()) };
        keep::write_text(path, text().trim_end())?;
        say(format_args!("Written to {}.", path.display()));
        Ok(())
    };
    write(&asked.html, &|| html::page(&loaded, beyond))?;
    write(&asked.markdown, &|| markdown::text(&loaded, beyond))?;
    write(&asked.csv, &|| csv::text(&loaded))?;
    if asked.outputs().next().is_none() {
        for one in &loaded {
            if loaded.len() > 1 {
                say(format_args!("=== {}\n", one.name));
            }
            say(terminal::text(&one.report, beyond));
        }
    }
    Ok(())
}
