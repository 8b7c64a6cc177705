//! The tables: README.md's has a tick where there is a test, and docs/guide/feature-matrix.md a reason where there is
//! none. In addition: how long README.md is, and which versions were tested.

use std::collections::BTreeSet;
use std::fs;

use crate::ROWS;

const COLUMNS: [&str; 7] = ["ysuite", "crossbeam", "std", "tokio", "flume", "kanal", "async-channel"];

fn text(path: &str) -> String {
    fs::read_to_string(format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))).expect(path)
}

/// The cells of all rows after the one that begins with `head`, until the end of the table.
fn table<'a>(text: &'a str, head: &str) -> Vec<Vec<&'a str>> {
    let rows = text.lines().skip_while(|line| !line.starts_with(head)).skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// A library as the table's head names it.
fn column(library: &str) -> String {
    library.replace('_', "-")
}

#[test]
fn every_tick_is_tried_and_whatever_is_tried_has_its_tick() {
    let readme = text("README.md");
    let head = format!("| | {} |", COLUMNS.join(" | "));
    let table = table(&readme, &head);
    let labels: Vec<&str> = table.iter().map(|row| row[0]).collect();
    assert_eq!(labels, ROWS.map(|(about, _)| about), "README.md's rows and those that are tried");
    for (row, (about, libraries)) in table.iter().zip(ROWS) {
        let tried: BTreeSet<String> = libraries.iter().map(|library| column(library)).collect();
        for (name, cell) in COLUMNS.iter().zip(&row[1..]) {
            let expected = if tried.contains(*name) { "✓" } else { "–" };
            assert_eq!(*cell, expected, "README.md: {about}, {name}");
        }
        assert_eq!(row.len(), 1 + COLUMNS.len(), "{about}");
        assert!(tried.iter().all(|name| COLUMNS.contains(&name.as_str())), "{about}: a library without a column");
    }
}

#[test]
fn every_missing_tick_has_its_reason() {
    let family = text("docs/guide/feature-matrix.md");
    let table = table(&family, "| a tick says | ");
    assert_eq!(table.len(), ROWS.len());
    for (row, (about, libraries)) in table.iter().zip(ROWS) {
        let [says, missing] = row[..] else { panic!("{about}: two cells") };
        assert!(says.starts_with(&format!("**{about}**: ")), "docs/guide/feature-matrix.md: {about}");
        for name in COLUMNS {
            let is_tried = libraries.iter().any(|library| column(library) == name);
            let named =
                missing.split(|letter: char| !letter.is_alphanumeric() && letter != '-').any(|word| word == name);
            assert_eq!(named, !is_tried, "docs/guide/feature-matrix.md: {about}, {name}");
        }
    }
}

#[test]
fn the_versions_are_those_that_were_tried() {
    let (family, lock) = (text("docs/guide/feature-matrix.md"), text("Cargo.lock"));
    for name in ["crossbeam-channel", "tokio", "flume", "kanal", "async-channel"] {
        let entry = lock.split_once(&format!("name = \"{name}\"\nversion = \"")).expect(name).1;
        let version = entry.split('"').next().expect("a version");
        assert!(family.contains(&format!("{name} {version}")), "{name} {version} was tried");
    }
}

/// The words that a reader reads. Tables and code are for reference, and do not count.
#[test]
fn the_readme_is_short() {
    const WORDS: usize = 500;
    let readme = text("README.md");
    let outside = readme.split("```").step_by(2).flat_map(str::lines).filter(|line| !line.starts_with('|'));
    let words: usize = outside.map(|line| line.split_whitespace().count()).sum();
    assert!(words <= WORDS, "{words} words");
}
