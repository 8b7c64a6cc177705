//! The modules of both crates have no cycles: a module uses only modules below it, and none of them uses the module.
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The modules that each module uses, without its tests.
type Uses = BTreeMap<String, BTreeSet<String>>;

fn room(path: &Path, source: &Path) -> String {
    let first = path.strip_prefix(source).unwrap().components().next().unwrap();
    first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

fn read(folder: &Path, source: &Path, uses: &mut Uses) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            read(&path, source, uses);
        } else if path.extension().is_some_and(|kind| kind == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            let own = uses.entry(room(&path, source)).or_default();
            for rest in code.split("crate::").skip(1) {
                let group = rest.strip_prefix('{').and_then(|rest| rest.split(';').next());
                let names = |text: &str| {
                    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().map(str::to_owned)
                };
                match group {
                    Some(group) => own.extend(group.split(", ").filter_map(|part| names(part.trim()))),
                    None => own.extend(names(rest)),
                }
            }
        }
    }
}

/// Removes modules that use no other one, again and again: the remaining ones form a cycle.
fn circle(mut uses: Uses) -> BTreeSet<String> {
    for room in ["lib", "main"] {
        uses.remove(room);
    }
    let rooms: BTreeSet<String> = uses.keys().cloned().collect();
    for (room, used) in &mut uses {
        used.retain(|other| other != room && rooms.contains(other));
    }
    loop {
        let done: Vec<String> = uses.iter().filter(|(_, used)| used.is_empty()).map(|(room, _)| room.clone()).collect();
        if done.is_empty() {
            return uses.into_keys().collect();
        }
        for room in done {
            uses.remove(&room);
            uses.values_mut().for_each(|used| used.retain(|other| *other != room));
        }
    }
}

#[test]
fn modules_have_no_cycles() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for source in [own.clone(), own.join("../../measure/src")] {
        let mut uses = Uses::new();
        read(&source, &source, &mut uses);
        assert!(uses.len() > 15, "{}: {} modules", source.display(), uses.len());
        assert_eq!(circle(uses), BTreeSet::new(), "{}", source.display());
    }
}

#[test]
fn a_cycle_is_found() {
    let uses = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(room, used)| ((*room).to_owned(), [(*used).to_owned()].into())).collect::<Uses>()
    };
    assert_eq!(circle(uses(&[("a", "b"), ("b", "a"), ("c", "a")])).len(), 3);
    assert!(circle(uses(&[("a", "b"), ("b", "c"), ("c", "none")])).is_empty());
}
