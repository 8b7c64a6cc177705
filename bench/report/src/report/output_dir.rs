//! The default output folder: each result has a folder of its own, named by date and command, and a common page lists
//! all of them. No result overwrites another.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use askama::Template;
use ybench_measure::error::Error;

use super::when;
use crate::{plot, storage};

const SHELF: &str = "target/ybench";

/// The folder of each result has this file.
const PAGE: &str = "report.html";

/// The path of a folder that does not exist yet.
pub fn folder(command: &str) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let named = format!("{}-{command}", when::stamp(now));
    let others = (2..).map(|number| format!("{named}-{number}"));
    let free = std::iter::once(named.clone()).chain(others).find(|name| !Path::new(SHELF).join(name).exists());
    Path::new(SHELF).join(free.unwrap_or(named))
}

#[derive(Template)]
#[template(path = "index.html")]
struct Index {
    title: &'static str,
    light: String,
    dark: String,
    /// The latest first.
    results: Vec<String>,
}

/// Lists all results next to this one, if it is in the default output folder.
pub fn index_beside(folder: &Path) -> Result<(), Error> {
    let Some(shelf) = folder.parent().filter(|shelf| *shelf == Path::new(SHELF)) else { return Ok(()) };
    let entries = fs::read_dir(shelf).into_iter().flatten().flatten();
    let mut results: Vec<String> = entries
        .filter(|entry| entry.path().join(PAGE).exists())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    results.sort_unstable_by(|a, b| b.cmp(a));
    let [light, dark] = [false, true].map(plot::colour_variables);
    let index = Index { title: "ybench, all results", light, dark, results };
    storage::write_text(&shelf.join("index.html"), &index.to_string())
}
