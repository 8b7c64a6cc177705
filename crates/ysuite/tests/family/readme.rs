//! The tables: README.md's has a tick where there is a test, and docs/guide/feature-matrix.md a reason where there is
//! none. In addition: how long README.md is, and which versions were tested.

use std::collections::BTreeSet;
use std::fs;

use crate::{Feature, Tick, ends, kinds, room, waiting};

const COLUMNS: [&str; 7] = ["ysuite", "crossbeam", "std", "tokio", "flume", "kanal", "async-channel"];

fn text(path: &str) -> String {
    fs::read_to_string(format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))).expect(path)
}

/// The cells of all rows after the one that begins with `head`, until the end of the table.
fn table<'a>(text: &'a str, head: &str) -> Vec<Vec<&'a str>> {
    let rows = text.lines().skip_while(|line| !line.starts_with(head)).skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// README.md's rows: their names, and for each column whether one of its kinds was tried.
fn rows() -> Vec<(&'static str, [bool; 7])> {
    let rows = Feature::ALL.iter().filter(|feature| !feature.row().is_empty());
    rows.map(|row| (row.row(), COLUMNS.map(|name| row.tried().iter().any(|kind| kind.starts_with(name))))).collect()
}

#[test]
fn whatever_is_listed_is_tried_once_and_nothing_else() {
    let tried: Vec<Tick> = [waiting::TRIED, room::TRIED, kinds::TRIED, ends::TRIED].concat();
    let listed = Feature::ALL.iter().flat_map(|&feature| feature.tried().iter().map(move |&kind| (feature, kind)));
    let listed: BTreeSet<Tick> = listed.collect();
    assert_eq!(tried.iter().copied().collect::<BTreeSet<_>>(), listed);
    assert_eq!(tried.len(), listed.len(), "a tick that is tried twice");
    let stranger = listed.iter().find(|(_, kind)| !COLUMNS.iter().any(|name| kind.starts_with(name)));
    assert_eq!(stranger, None, "a library without a column");
}

#[test]
fn every_tick_is_tried_and_whatever_is_tried_has_its_tick() {
    let readme = text("README.md");
    let head = format!("| | {} |", COLUMNS.join(" | "));
    let table = table(&readme, &head);
    let labels: Vec<&str> = table.iter().map(|row| row[0]).collect();
    assert_eq!(labels, rows().iter().map(|(about, _)| *about).collect::<Vec<_>>(), "README.md's rows");
    for (row, (about, tried)) in table.iter().zip(rows()) {
        assert_eq!(row[1..], tried.map(|tried| if tried { "✓" } else { "–" }), "README.md: {about}");
    }
}

#[test]
fn every_missing_tick_has_its_reason() {
    let matrix = text("docs/guide/feature-matrix.md");
    let table = table(&matrix, "| a tick says | ");
    assert_eq!(table.len(), rows().len());
    for (row, (about, tried)) in table.iter().zip(rows()) {
        let [says, missing] = row[..] else { panic!("{about}: two cells") };
        assert!(says.starts_with(&format!("**{about}**: ")), "docs/guide/feature-matrix.md: {about}");
        for (name, is_tried) in COLUMNS.into_iter().zip(tried) {
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
