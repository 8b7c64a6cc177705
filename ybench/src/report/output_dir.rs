//! Where results are put if nobody says where: each in a folder of its own, named by date and command, and beside them a page
//! that names them all. Nothing overwrites another result.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use askama::Template;
use ybench_core::error::Error;

use super::when;
use crate::{plot, storage};

const SHELF: &str = "target/ybench";

/// Whatever is a result has this in its folder.
const PAGE: &str = "report.html";

/// A folder that there is not yet.
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

/// Names all results that stand beside this one, if it is on the shelf.
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
