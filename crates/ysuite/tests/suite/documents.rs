//! Markers above items of the library (`// USER CODE:` and the like): every test that one names exists, and every file
//! that has a `Drop`, keeps a thread-local or wakes a task has one. And pages: decisions, and links between them.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// How markers begin. Lines that continue one have four more spaces.
const TAGS: [&str; 6] = ["USER CODE: ", "THREAD EXIT: ", "WAITS: ", "GROWS: ", "REUSED: ", "FINAL: "];

/// The markers of a file, each on one line.
fn markers(text: &str) -> Vec<String> {
    let (mut found, mut is_open) = (Vec::<String>::new(), false);
    for line in text.lines().map(|line| line.trim_start().strip_prefix("// ").unwrap_or_default()) {
        if TAGS.iter().any(|tag| line.starts_with(tag)) {
            found.push(line.to_owned());
            is_open = true;
        } else if is_open && line.starts_with("    ") {
            let marker = found.last_mut().expect("it is open");
            marker.push(' ');
            marker.push_str(line.trim_start());
        } else {
            is_open = false;
        }
    }
    found
}

/// All markers of the library.
fn all_markers() -> Vec<String> {
    let mut files = Vec::new();
    sources(&root().join("src"), &mut files);
    files.iter().flat_map(|path| markers(&fs::read_to_string(path).expect("a source"))).collect()
}

/// What is between backticks.
pub(crate) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// All files of the library, by their path below `src`.
pub(crate) fn sources(below: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(below).expect("sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The code of a file that ships, without its comments and tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a source");
    let shipped = text.split("#[cfg(all(test").next().unwrap_or_default();
    shipped.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_test_that_a_marker_names_exists() {
    let (mut named, mut missing) = (0, Vec::new());
    for marker in all_markers() {
        let words: Vec<&str> = marker.split_whitespace().collect();
        let mut of_this_one = 0;
        for pair in words.windows(2) {
            let Some(file) = pair[0].strip_suffix(':') else { continue };
            if !(file.ends_with(".rs") && (file.starts_with("tests/") || file.starts_with("src/"))) {
                continue;
            }
            let test = pair[1].trim_end_matches(',');
            let text = fs::read_to_string(root().join(file)).unwrap_or_default();
            if !text.contains(&format!("fn {test}(")) && !text.contains(&format!("fn {test}<")) {
                missing.push(format!("{file}: {test}"));
            }
            of_this_one += 1;
        }
        if marker.contains("; test: ") && of_this_one == 0 {
            missing.push(marker.clone());
        }
        named += of_this_one;
    }
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
    assert!(named > 100, "only {named} tests are named");
}

/// Claim: Each place that runs user code is in the table of such places, with an existing test.
#[test]
fn every_file_with_a_drop_a_thread_local_or_a_waker_has_a_marker() {
    let mut files = Vec::new();
    sources(&root().join("src"), &mut files);
    assert!(files.len() > 100);
    let signs = [" Drop for ", "thread_local!", ".wake()", "wake_by_ref", "catch_unwind", "resume_unwind"];
    let missing: Vec<String> = files
        .iter()
        .filter(|path| !path.to_string_lossy().contains("models") && !path.ends_with("tests.rs"))
        .filter(|path| signs.iter().any(|sign| code(path).contains(sign)))
        .filter(|path| {
            let markers = markers(&fs::read_to_string(path).expect("a source"));
            !markers.iter().any(|marker| marker.starts_with(TAGS[0]) || marker.starts_with(TAGS[1]))
        })
        .map(|path| path.strip_prefix(root().join("src")).expect("below").to_string_lossy().into_owned())
        .collect();
    assert!(missing.is_empty(), "without a marker: {missing:#?}");
}

#[test]
fn every_file_that_a_marker_refers_to_is_there() {
    let (markers, mut missing) = (all_markers(), Vec::new());
    for marker in &markers {
        for file in quoted(marker).filter(|quote| quote.ends_with(".rs")) {
            if !root().join("src").join(file).exists() {
                missing.push(file.to_owned());
            }
        }
    }
    assert!(missing.is_empty(), "no such files: {missing:#?}");
    assert!(markers.len() > 100, "only {} markers", markers.len());
}

/// All pages for people, by their path.
pub(crate) fn pages(below: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(below).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" {
                pages(&path, found);
            }
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// A decision has a number of its own, a status and a date.
#[test]
fn every_decision_has_a_number_a_status_and_a_date() {
    let mut decisions = Vec::new();
    pages(&root().join("../../docs/decisions"), &mut decisions);
    let mut numbers = Vec::new();
    for page in decisions.iter().filter(|page| !page.ends_with("README.md")) {
        let number = page.file_name().and_then(|name| name.to_str()).and_then(|name| name.get(..3)).expect("a number");
        let text = fs::read_to_string(page).expect("a decision");
        let title = text.strip_prefix("# ").unwrap_or_default();
        assert!(title.starts_with(number), "{} does not begin with its number", page.display());
        let status = text.lines().find(|line| line.starts_with("Status: ")).unwrap_or_default();
        assert!(status.contains("Date: 20"), "{} has no status and date", page.display());
        numbers.push(number.to_owned());
    }
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert!(numbers.len() == count && count > 20, "{count} decisions, {} numbers", numbers.len());
}

/// Links from one page to another lead to a file.
#[test]
fn every_link_between_pages_leads_somewhere() {
    let (mut links, mut missing, mut found) = (0, Vec::new(), Vec::new());
    pages(&root().join("../.."), &mut found);
    for page in found {
        let text = fs::read_to_string(&page).expect("a page");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            if link.is_empty() || link.starts_with("http") {
                continue;
            }
            links += 1;
            if !page.parent().expect("a folder").join(link).exists() {
                missing.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "no such files: {missing:#?}");
    assert!(links > 100, "only {links} links");
}
