//! The table of foreign code, `docs/foreign-code.md`, against the sources: every test it names exists, and every file
//! that ends something, keeps a thread-local or wakes a task is named there.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn table() -> String {
    fs::read_to_string(root().join("../docs/foreign-code.md")).expect("the table")
}

/// What stands between backticks.
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
fn every_test_that_the_table_names_exists() {
    let (mut named, mut missing) = (0, Vec::new());
    for quote in quoted(&table()) {
        let Some((file, test)) = quote.split_once(": ") else { continue };
        if !(file.starts_with("tests/") || file.starts_with("src/")) {
            continue;
        }
        let text = fs::read_to_string(root().join(file)).unwrap_or_default();
        if !text.contains(&format!("fn {test}(")) && !text.contains(&format!("fn {test}<")) {
            missing.push(quote.to_owned());
        }
        named += 1;
    }
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
    assert!(named > 100, "only {named} tests are named");
}

/// Claim: Each place that runs user code is in the table of such places, with an existing test.
#[test]
fn every_file_with_an_end_a_thread_local_or_a_waker_is_in_the_table() {
    let (table, mut files) = (table(), Vec::new());
    sources(&root().join("src"), &mut files);
    assert!(files.len() > 100);
    let signs = [" Drop for ", "thread_local!", ".wake()", "wake_by_ref", "catch_unwind", "resume_unwind"];
    let missing: Vec<String> = files
        .iter()
        .filter(|path| !path.to_string_lossy().contains("models") && !path.ends_with("tests.rs"))
        .filter(|path| signs.iter().any(|sign| code(path).contains(sign)))
        .map(|path| path.strip_prefix(root().join("src")).expect("below").to_string_lossy().into_owned())
        .filter(|file| !quoted(&table).any(|quote| quote == file || quote.starts_with(&format!("{file} "))))
        .collect();
    assert!(missing.is_empty(), "not in the table: {missing:#?}");
}

/// A row begins with the file, and names its functions and types behind it until the next file. In parentheses are those
/// that call them.
#[test]
fn every_place_in_the_table_is_where_it_says() {
    let (table, mut places, mut missing) = (table(), 0, Vec::new());
    for row in table.lines().filter_map(|line| line.strip_prefix("| ")) {
        let place = row.split(" | ").next().and_then(|place| place.split(" (").next()).unwrap_or_default();
        let mut source = None;
        for quote in quoted(place) {
            if quote.ends_with(".rs") {
                source = Some(fs::read_to_string(root().join("src").join(quote)).unwrap_or_default());
            } else if let Some(source) = &source {
                places += 1;
                if !quote.split("::").all(|name| source.contains(name)) {
                    missing.push(place);
                }
            }
        }
    }
    assert!(missing.is_empty(), "not there: {missing:#?}");
    assert!(places > 100, "only {places} places are named");
}

/// All pages for people, by their path.
fn pages(below: &Path, found: &mut Vec<PathBuf>) {
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
    pages(&root().join("../docs/decisions"), &mut decisions);
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
    pages(&root().join(".."), &mut found);
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
