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

/// Links from one page to another lead to a file, and a decision begins with its number.
#[test]
fn every_link_between_pages_leads_somewhere() {
    let top = root().join("..");
    let decisions =
        fs::read_dir(top.join("docs/decisions")).expect("decisions").map(|entry| entry.expect("an entry").path());
    let mut pages: Vec<PathBuf> = decisions.collect();
    for page in &pages {
        let number = page.file_name().and_then(|name| name.to_str()).and_then(|name| name.get(..3)).expect("a number");
        let text = fs::read_to_string(page).expect("a decision");
        let title = text.strip_prefix("# ").unwrap_or_default();
        assert!(title.starts_with(number), "{} does not begin with its number", page.display());
        let others = fs::read_dir(page.parent().expect("a folder")).expect("decisions");
        let same = others
            .filter(|other| other.as_ref().is_ok_and(|other| other.file_name().to_string_lossy().starts_with(number)));
        assert_eq!(same.count(), 1, "two decisions have the number {number}");
    }
    assert!(pages.len() > 30, "only {} decisions", pages.len());
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "CHANGELOG.md", "docs/foreign-code.md"] {
        pages.push(top.join(page));
    }
    let (mut links, mut missing) = (0, Vec::new());
    for page in pages {
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
    assert!(links > 40, "only {links} links");
}
