//! Every scenario of the peers is carried over, excluded with a reason, or of a suite that runs as it is against a facade:
//! the counts that say so are right.
//!
//! Read from the texts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The packages whose own tests `ci/steps/drop-in suites` runs. What they prove is not proved again here.
const RUN_AS_THEY_ARE: [&str; 3] = ["async-channel ", "crossbeam-channel ", "flume "];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers")
}

/// What the first line of a file says of its suite.
#[derive(Debug, Default, PartialEq)]
struct Said {
    suite: String,
    upstream: usize,
    here: usize,
    excluded: usize,
}

/// `//! Suite: <suite>; upstream <n>, carried over here <n>, excluded <n>.`
fn said(text: &str) -> Option<Said> {
    let (suite, counts) = text.lines().next()?.strip_prefix("//! Suite: ")?.split_once("; upstream ")?;
    let numbers: Vec<usize> = counts
        .split(|c: char| !c.is_ascii_digit())
        .filter(|number| !number.is_empty())
        .map(|number| number.parse().unwrap())
        .collect();
    let [upstream, here, excluded] = numbers[..] else { panic!("three numbers in: {counts}") };
    Some(Said { suite: suite.to_owned(), upstream, here, excluded })
}

/// The names upstream of what a file carries over.
fn carried(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line {
            "carried! {" => inside = true,
            "}" => inside = false,
            _ if inside => names.extend(line.trim().split_once(" => ").map(|(name, _)| name)),
            _ => {}
        }
    }
    names
}

/// The rows of one of the two tables of `EXCLUDED.md`.
fn rows(excluded: bool) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder().join("EXCLUDED.md")).expect("the tables");
    let (carried, reasons) = text.split_once("## Excluded").expect("two tables");
    let table = if excluded { reasons } else { carried };
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| suite |")).map(cells).collect()
}

/// All that the files say and carry, by suite: what was said, and the names.
fn suites() -> BTreeMap<String, (Vec<Said>, Vec<String>)> {
    let mut suites: BTreeMap<String, (Vec<Said>, Vec<String>)> = BTreeMap::new();
    for entry in fs::read_dir(folder()).expect("the folder") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).unwrap_or_default();
        let Some(said) = said(&text) else { continue };
        let names = carried(&text);
        assert_eq!(said.here, names.len(), "{}: scenarios carried over", path.display());
        let suite = suites.entry(said.suite.clone()).or_default();
        suite.1.extend(names.iter().map(|&name| name.to_owned()));
        suite.0.push(said);
    }
    suites
}

#[test]
fn every_scenario_is_carried_over_or_excluded() {
    let mut excluded: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in rows(true) {
        assert!(row.len() == 4 && row.iter().all(|cell| !cell.is_empty()), "a reason for {row:?}");
        assert!(excluded.entry(row[0].clone()).or_default().insert(row[1].clone()), "{row:?} twice");
    }
    for (suite, (said, names)) in suites() {
        let excluded = excluded.remove(&suite).unwrap_or_default();
        let unique: BTreeSet<_> = names.iter().cloned().collect();
        assert_eq!(unique.len(), names.len(), "{suite}: a scenario is carried over twice");
        assert!(unique.is_disjoint(&excluded), "{suite}: carried over and excluded");
        for said in &said {
            let left = said.upstream - names.len() - said.excluded;
            assert!(
                left == 0 || RUN_AS_THEY_ARE.iter().any(|peer| suite.starts_with(peer)),
                "{suite}: {left} are missing"
            );
            assert_eq!(said.excluded, excluded.len(), "{suite}");
        }
    }
    assert!(excluded.is_empty(), "suites that are not carried over: {excluded:?}");
}

#[test]
fn the_summary_is_right() {
    let found: Vec<Vec<String>> = suites()
        .into_iter()
        .map(|(suite, (said, names))| {
            let [upstream, carried] = [said[0].upstream, names.len()].map(|count| count.to_string());
            vec![suite, upstream, carried, said[0].excluded.to_string()]
        })
        .collect();
    let text: String = found.iter().map(|row| format!("| {} |\n", row.join(" | "))).collect();
    assert_eq!(rows(false), found, "the table in EXCLUDED.md should be:\n{text}");
}
