//! Writes the public interface of a library, an item a line, from rustdoc's JSON, into a file for each module, or two for a long one:
//!
//! ```sh
//! cargo run -p api -- target/doc/ysuite.json docs/api/ysuite
//! ```
//!
//! A type, trait or module that has several public paths is an error. Left out is what the compiler adds: implementations for every
//! existing type, auto traits (`tests/suite/auto_traits.rs` of the library has those) and what is derived.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::ExitCode;
use std::{fs, io};

use public_api::{Builder, PublicApi, PublicItem};

/// The most bytes of a file, unless it is the half of a module.
const LARGEST: usize = 60 * 1024;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(json), Some(folder), None) = (arguments.next(), arguments.next(), arguments.next()) else {
        eprintln!("usage: api RUSTDOC_JSON FOLDER");
        return ExitCode::FAILURE;
    };
    let built = Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build();
    match built.map_err(|error| error.to_string()).and_then(|api| {
        let doubled = doubled(&api);
        if !doubled.is_empty() {
            return Err(format!("several public paths of one item:\n{}", doubled.join("\n")));
        }
        write(&modules(&api), Path::new(&folder)).map_err(|error| format!("{}: {error}", folder.display()))
    }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("api: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What orders the paths of one item: how many names the line has, and the line.
fn rank(line: &str) -> (usize, &str) {
    (line.matches("::").count(), line)
}

/// The shortest line of each item.
fn shortest<'a>(items: impl Iterator<Item = &'a PublicItem>) -> HashMap<u32, String> {
    let mut shortest = HashMap::<_, String>::new();
    for item in items {
        let line = item.to_string();
        let kept = shortest.entry(item.id().0).or_insert_with(|| line.clone());
        if rank(&line) < rank(kept) {
            *kept = line;
        }
    }
    shortest
}

/// The types, traits and modules that have several public paths, a line for each.
fn doubled(api: &PublicApi) -> Vec<String> {
    let mut paths = BTreeMap::<u32, BTreeSet<String>>::new();
    for item in api.items() {
        let line = item.to_string();
        if ["pub mod ", "pub struct ", "pub enum ", "pub union ", "pub trait "]
            .iter()
            .any(|kind| line.starts_with(kind))
        {
            paths.entry(item.id().0).or_default().insert(line);
        }
    }
    paths.into_values().filter(|lines| lines.len() > 1).map(|lines| Vec::from_iter(lines).join(" = ")).collect()
}

/// Each longer path of a module that has several, and its shortest.
fn renamed(api: &PublicApi) -> Vec<(String, String)> {
    let module = |line: &str| line.strip_prefix("pub mod ").map(|path| format!("{path}::"));
    let is_module = |item: &&PublicItem| module(&item.to_string()).is_some();
    let shortest = shortest(api.items().filter(is_module));
    let pairs = api.items().filter(is_module).filter_map(|item| {
        let (long, short) = (module(&item.to_string())?, module(&shortest[&item.id().0])?);
        (long != short).then_some((long, short))
    });
    pairs.collect()
}

/// The lines of each module of the library, in the order in which they are listed.
fn modules(api: &PublicApi) -> BTreeMap<String, Vec<String>> {
    let (mut shortest, renamed) = (shortest(api.items()), renamed(api));
    let mut modules = BTreeMap::<_, Vec<_>>::new();
    for item in api.items() {
        // Once: a second item of that line has an identity of its own.
        if shortest.get(&item.id().0).is_some_and(|kept| *kept == item.to_string()) {
            let line = shortest.remove(&item.id().0).unwrap_or_default();
            let line = renamed.iter().fold(line, |line, (long, short)| line.replace(long, short));
            modules.entry(module(&line)).or_default().push(line);
        }
    }
    modules
}

/// The path of a line's item. The item of an implementation is its type.
fn path(line: &str) -> &str {
    line.split_once(" for ")
        .map_or(line, |(_, of)| of)
        .split(|character: char| !(character.is_alphanumeric() || character == '_' || character == ':'))
        .find(|word| word.starts_with("ysuite"))
        .unwrap_or("ysuite")
}

/// Whether a line's item is of the first half of the alphabet, by the name behind the library's.
fn is_early(line: &str) -> bool {
    path(line).split("::").nth(1).is_none_or(|name| name < "M")
}

/// The module of the library that a line's item is in, or the library's name for what is in none.
fn module(line: &str) -> String {
    let mut names = path(line).split("::");
    let library = names.next().unwrap_or("ysuite");
    let module = names.next().filter(|name| name.starts_with(char::is_lowercase));
    module.filter(|_| names.next().is_some() || line.starts_with("pub mod ")).unwrap_or(library).to_owned()
}

/// Replaces what is in the folder.
fn write(modules: &BTreeMap<String, Vec<String>>, folder: &Path) -> io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let put = |name: &str, lines: &[&str]| fs::write(folder.join(name), lines.join("\n") + "\n");
    for (module, lines) in modules {
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        if lines.iter().map(|line| line.len() + 1).sum::<usize>() <= LARGEST {
            put(&format!("{module}.txt"), &lines)?;
        } else {
            let (early, late): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| is_early(line));
            put(&format!("{module}-a-to-l.txt"), &early)?;
            put(&format!("{module}-m-to-z.txt"), &late)?;
        }
    }
    Ok(())
}
