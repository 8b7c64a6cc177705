//! Writes a copy of the library that contains every mutant, each disabled until the environment names it.
//! `ci/steps/mutants` compiles the copy and runs the tests.
//!
//! * `mutation write FROM TO MUTANTS MARKERS EXCLUDED [PART...]`: copies the sources under FROM with their mutants to
//!   TO. Only files whose path has one of the parts have mutants.
//!   MUTANTS gets a line for each mutant: number, file, line, column, kind, text without orderings, first and last
//!   byte in the copy, and the line of the marker that accepts it, or 0. Mutants whose numbers are in EXCLUDED are left
//!   out. MARKERS gets a line for each marker: file, line, reason.
//! * `mutation blame TO MUTANTS`: reads the compiler's short messages and prints the numbers of the mutants that
//!   caused them.

mod markers;
mod places;

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::{env, fs};

use syn::visit::Visit;

use markers::Markers;
use places::{Place, Places};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["write", from, to, mutants, markers, excluded, ref parts @ ..] => {
            write(from, to, mutants, markers, excluded, parts);
        }
        ["blame", to, mutants] => blame(to, mutants),
        _ => panic!("mutation write FROM TO MUTANTS MARKERS EXCLUDED [PART...] | mutation blame TO MUTANTS"),
    }
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn write(from: &str, to: &str, mutants: &str, markers: &str, excluded: &str, parts: &[&str]) {
    let excluded: HashSet<u32> =
        fs::read_to_string(excluded).unwrap_or_default().lines().map(|line| line.parse().expect("a number")).collect();
    let mut files = Vec::new();
    sources(Path::new(from), &mut files);
    files.sort();
    let (mut listed, mut marked, mut next) = (String::new(), String::new(), 1);
    for path in files {
        let name = path.strip_prefix(from).expect("below").to_str().expect("a name").to_owned();
        let text = fs::read_to_string(&path).expect("a source");
        let is_part = parts.is_empty() || parts.iter().any(|part| name.contains(part));
        let is_test =
            ["tests.rs", "tests/", "models.rs", "models/", "wrapping.rs"].iter().any(|part| name.contains(part));
        // Only models use the replacements for atomics and for the system; `ci/steps/orderings` weakens the atomics.
        let is_models = name.starts_with("sync") || name == "os/model.rs";
        let mut written = if is_part && !is_test && !is_models {
            let mut places = Places::default();
            places.visit_file(&syn::parse_file(&text).unwrap_or_else(|error| panic!("{name}: {error}")));
            for (line, reason) in Markers::of(&text).all() {
                writeln!(marked, "{name}\t{line}\t{reason}").expect("a string takes everything");
            }
            with_mutants(&name, &text, &places.found, &mut next, &excluded, &mut listed)
        } else {
            text
        };
        if name == "lib.rs" {
            written.push_str("\nmod mutant;\n");
        }
        save(&Path::new(to).join(&name), &written);
    }
    save(&Path::new(to).join("mutant.rs"), include_str!("mutant.rs"));
    save(Path::new(mutants), &listed);
    save(Path::new(markers), &marked);
}

/// Does not touch a file that has this text, so that nothing is compiled again for it.
fn save(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return;
    }
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(path, text).expect("a file");
}

struct Edit {
    at: usize,
    /// At the same byte, ends come before starts; the innermost end and the outermost start come first.
    order: (bool, isize),
    until: usize,
    text: String,
    mutant: Option<(usize, bool)>,
}

fn with_mutants(
    name: &str,
    text: &str,
    places: &[Place],
    next: &mut u32,
    excluded: &HashSet<u32>,
    listed: &mut String,
) -> String {
    let mut edits = Vec::new();
    let mut numbers = Vec::new();
    for (index, place) in places.iter().enumerate() {
        let number = *next;
        *next += 1;
        numbers.push(number);
        if excluded.contains(&number) {
            continue;
        }
        let numbered = |text: &str| text.replace('#', &number.to_string());
        let step = index.cast_signed();
        if let Some(operator) = &place.operator {
            edits.push(Edit {
                at: operator.start,
                order: (false, 0),
                until: operator.end,
                text: ",".to_owned(),
                mutant: None,
            });
        }
        let (start, end) = (place.range.start, place.range.end);
        let begin = Some((index, false));
        edits.push(Edit { at: start, order: (true, step), until: start, text: numbered(&place.before), mutant: begin });
        if !place.after.is_empty() {
            let text = numbered(place.after);
            edits.push(Edit { at: end, order: (false, -step), until: end, text, mutant: Some((index, true)) });
        }
    }
    edits.sort_by_key(|edit| (edit.at, edit.order));
    let mut bytes: Vec<Option<(usize, usize)>> = vec![None; places.len()];
    let (mut written, mut done) = (String::new(), 0);
    for edit in edits {
        written.push_str(&text[done..edit.at]);
        let before = written.len();
        written.push_str(&edit.text);
        match edit.mutant {
            Some((index, false)) => bytes[index] = Some((before, written.len())),
            Some((index, true)) => bytes[index].as_mut().expect("begun").1 = written.len(),
            None => {}
        }
        done = edit.until;
    }
    written.push_str(&text[done..]);
    let markers = Markers::of(text);
    let line_of = |at: usize| text[..at].matches('\n').count() + 1;
    for ((place, number), bytes) in places.iter().zip(numbers).zip(bytes) {
        let Some((first, last)) = bytes else { continue };
        let before = &text[..place.range.start];
        let line = line_of(place.range.start);
        let start_of_line = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before[start_of_line..].chars().count() + 1;
        let mutated = if place.range.is_empty() {
            text[start_of_line..].lines().next().unwrap_or_default()
        } else {
            &text[place.range.clone()]
        };
        let mutated: String = mutated.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(160).collect();
        let mutated = without_orderings(&mutated);
        let items: Vec<_> = place.items.iter().map(|head| line_of(head.start)..=line_of(head.end)).collect();
        let marker = markers.covering(line, place.statement.map(line_of), &items).unwrap_or(0);
        writeln!(listed, "{number}\t{name}\t{line}\t{column}\t{}\t{mutated}\t{first}\t{last}\t{marker}", place.kind)
            .expect("a string takes everything");
    }
    written
}

/// Memory orderings are checked by `ci/steps/orderings`: a mutant stays the same with another ordering.
fn without_orderings(text: &str) -> String {
    const NAME: &str = "Ordering::";
    let mut parts = text.split(NAME);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + NAME + "_" + part.trim_start_matches(char::is_alphabetic))
}

/// Finds the mutants that contain the compiler's errors; of nested mutants the innermost. An error outside of all
/// mutants is blamed on the mutants of its line, else on those of the lines around it.
fn blame(to: &str, mutants: &str) {
    let mutants = fs::read_to_string(mutants).expect("the mutants");
    let mutants: Vec<Vec<&str>> = mutants.lines().map(|line| line.split('\t').collect()).collect();
    let number = |mutant: &[&str], field: usize| -> usize { mutant[field].parse().expect("a number") };
    let mut blamed = BTreeSet::new();
    for message in io::stdin().lock().lines() {
        let message = message.expect("a line");
        let Some((place, rest)) = message.split_once(": ") else { continue };
        if !rest.starts_with("error") {
            continue;
        }
        let mut fields = place.rsplitn(3, ':');
        let (Some(column), Some(line), Some(path)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let (Ok(column), Ok(line)) = (column.parse::<usize>(), line.parse::<usize>()) else { continue };
        let Some((_, name)) = path.split_once("src/") else { continue };
        let text = fs::read_to_string(Path::new(to).join(name)).expect("what was written");
        let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let in_line: usize = text[start..].chars().take(column - 1).map(char::len_utf8).sum();
        let at = start + in_line;
        let here: Vec<_> = mutants.iter().filter(|mutant| mutant[1] == name).collect();
        let inside = here.iter().filter(|mutant| (number(mutant, 6)..number(mutant, 7)).contains(&at));
        if let Some(innermost) = inside.min_by_key(|mutant| number(mutant, 7) - number(mutant, 6)) {
            blamed.insert(number(innermost, 0));
            continue;
        }
        for around in [0, 15, 60] {
            let near: Vec<_> = here.iter().filter(|mutant| number(mutant, 2).abs_diff(line) <= around).collect();
            blamed.extend(near.iter().map(|mutant| number(mutant, 0)));
            if !near.is_empty() {
                break;
            }
        }
    }
    for mutant in blamed {
        println!("{mutant}");
    }
}
