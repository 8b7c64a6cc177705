//! The crate's layers against its sources: imports run down, along the arrows of one table, and each type has a name of
//! its own.

mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use self::source::{Found, modules, read};
use crate::documents;

/// A module, and the modules it imports. From the lowest layer up: each imports modules that are before it.
type Table<'a> = &'a [(&'a str, &'a [&'a str])];

/// The table of `docs/internals/README.md`.
const HOUSE: Table<'_> = &[
    ("sync", &[]),
    ("foreign", &[]),
    ("inline_box", &[]),
    ("number_map", &[]),
    ("facts", &[]),
    ("os", &["sync"]),
    ("statistics", &["sync"]),
    ("passive", &["sync", "os"]),
    ("block", &["sync"]),
    ("queue", &["sync", "foreign", "os", "statistics", "passive"]),
    ("signal", &["sync", "foreign", "os", "block"]),
    ("wait", &["sync", "foreign", "os", "statistics", "passive", "block", "signal"]),
    ("operation", &["foreign", "os", "wait"]),
    (
        "channel",
        &[
            "sync",
            "foreign",
            "number_map",
            "os",
            "statistics",
            "passive",
            "block",
            "queue",
            "signal",
            "wait",
            "operation",
        ],
    ),
    ("pool", &["sync", "foreign", "os", "queue", "wait", "operation", "channel"]),
    ("mailbox", &["sync", "foreign", "inline_box", "number_map", "os", "signal", "operation", "channel"]),
    ("hub", &["sync", "foreign", "inline_box", "os", "block", "signal", "wait", "channel"]),
    ("integrations", &["foreign", "signal", "channel"]),
];

/// They see every room, and no room imports them.
const ROOF: [&str; 2] = ["lib", "unwind"];

/// What `lib.rs` shows at the front door, and the room it is of.
const FRONT_DOOR: &[(&str, &str)] = &[
    ("spsc", "channel"),
    ("mpsc", "channel"),
    ("mpmc", "channel"),
    ("oneshot", "channel"),
    ("broadcast", "channel"),
    ("watch", "channel"),
    ("timer", "channel"),
    ("select", "channel"),
];

/// Names that several types have, and why.
const SHARED_NAMES: &[(&str, &str)] = &[
    ("Sender", "the sender of each kind of channel"),
    ("Receiver", "the receiver of each kind of channel"),
    ("Iter", "what `iter` returns; receivers that can be cloned lend themselves otherwise"),
    ("TryIter", "what `try_iter` returns, as above"),
    ("RecvError", "a broadcast's may say how many messages were missed"),
    ("TryRecvError", "as above"),
    ("RecvTimeoutError", "as above"),
    ("WeakSender", "a sender that keeps no channel open, of each kind whose senders are cloned"),
    ("Permit", "an spsc permit borrows its only sender; an mpmc permit reserves room among other senders"),
    ("Permits", "as above"),
    ("OwnedPermit", "a permit that owns its sender, of each kind whose senders are cloned"),
    ("Meter", "of no size without the feature `statistics`"),
    ("Observed", "as above"),
    ("OwnLine", "as above"),
    ("QueueTally", "as above"),
    ("WriterTally", "as above"),
    ("SendFuture", "a send of a task, of each kind that names it"),
    ("RecvFuture", "a receive of a task, as above"),
    ("SendError", "a channel's holds the message; a mailbox's says why, and holds the message"),
];

/// All files of the library and what each holds, without those that are tests or models as a whole.
fn library() -> Vec<(String, Found)> {
    let (root, mut files) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), Vec::new());
    documents::sources(&root, &mut files);
    files.sort();
    let mut found = Vec::new();
    for path in files {
        let file = path.strip_prefix(&root).expect("below").to_string_lossy().replace('\\', "/");
        if modules(&file).iter().any(|module| matches!(*module, "tests" | "models")) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source");
        found.push((file.clone(), read(&modules(&file), &text)));
    }
    assert!(found.len() > 90, "only {} files", found.len());
    found
}

/// All imports that leave a room, each with a file that has it; and all rooms.
fn arrows(files: &[(String, Found)]) -> (BTreeMap<(String, String), String>, BTreeSet<String>) {
    let (mut arrows, mut rooms) = (BTreeMap::new(), BTreeSet::new());
    for (file, found) in files {
        let room = modules(file)[0];
        if ROOF.contains(&room) {
            continue;
        }
        rooms.insert(room.to_owned());
        for import in &found.imports {
            let to = FRONT_DOOR.iter().find(|(name, _)| name == import).map_or(import.as_str(), |(_, room)| room);
            if to != room {
                arrows.entry((room.to_owned(), to.to_owned())).or_insert_with(|| file.clone());
            }
        }
    }
    (arrows, rooms)
}

/// What is wrong with these files, or with this table.
fn complaints(table: Table<'_>, files: &[(String, Found)]) -> Vec<String> {
    let (arrows, rooms) = arrows(files);
    let mut complaints = Vec::new();
    for (at, (room, below)) in table.iter().enumerate() {
        if !rooms.contains(*room) {
            complaints.push(format!("{room}: there is no such room"));
        }
        for to in *below {
            if !table[..at].iter().any(|(room, _)| room == to) {
                complaints.push(format!("{room} -> {to}: the table does not run down"));
            }
            if !arrows.contains_key(&((*room).to_owned(), (*to).to_owned())) {
                complaints.push(format!("{room} -> {to}: no file has this import"));
            }
        }
    }
    for room in &rooms {
        if !table.iter().any(|(known, _)| known == room) {
            complaints.push(format!("{room}: the table has no such room"));
        }
    }
    for ((from, to), file) in &arrows {
        if !table.iter().any(|(room, below)| room == from && below.contains(&to.as_str())) {
            complaints.push(format!("{from} -> {to}: the table has no such arrow, and {file} this import"));
        }
    }
    complaints
}

/// Names that more than one type has. Several in one file, each under a cfg of its own, are one type.
fn shared_names(files: &[(String, Found)]) -> BTreeMap<&str, Vec<&str>> {
    let mut names = BTreeMap::<&str, Vec<&str>>::new();
    for (file, found) in files {
        let mut under_cfg = BTreeSet::new();
        for declared in &found.types {
            if !declared.under_cfg || under_cfg.insert(&declared.name) {
                names.entry(&declared.name).or_default().push(file);
            }
        }
    }
    names.retain(|_, files| files.len() > 1);
    names
}

#[test]
fn imports_run_down_along_the_arrows_of_the_table() {
    let complaints = complaints(HOUSE, &library());
    assert!(complaints.is_empty(), "{complaints:#?}");
}

/// The files of a room, and the files of it that each imports.
fn files_of<'a>(files: &[(&'a str, &str)]) -> BTreeMap<&'a str, Vec<String>> {
    let names: Vec<_> = files.iter().map(|(file, _)| modules(file)[1]).collect();
    let imports = |text| {
        // As if the room were the crate: `super` of a file is the room.
        let is_room = |import: &String| HOUSE.iter().any(|(name, _)| name == import);
        let found = read(&["file"], text).imports.into_iter();
        found.filter(|import| names.contains(&import.as_str()) || !is_room(import)).collect()
    };
    names.iter().zip(files).map(|(name, (_, text))| (*name, imports(text))).collect()
}

/// What is wrong with the imports among the files of a room: a circle, or one that is not by the name of a file.
fn circles(files: &BTreeMap<&str, Vec<String>>) -> Vec<String> {
    let mut complaints = Vec::new();
    for (file, imports) in files {
        complaints.extend(
            imports
                .iter()
                .filter(|import| !files.contains_key(import.as_str()))
                .map(|import| format!("{file} -> {import}: not the name of a file")),
        );
    }
    // What imports nothing that is left goes, until nothing goes any more.
    let mut left = files.clone();
    loop {
        let can_go = |imports: &Vec<String>| !imports.iter().any(|import| left.contains_key(import.as_str()));
        let gone: Vec<_> = left.iter().filter(|(_, imports)| can_go(imports)).map(|(file, _)| *file).collect();
        if gone.is_empty() {
            break;
        }
        gone.iter().for_each(|file| drop(left.remove(file)));
    }
    complaints.extend(left.keys().map(|file| format!("{file}: is in a circle, or imports one")));
    complaints
}

#[test]
fn the_files_of_a_mailbox_import_each_other_one_way() {
    let (root, mut paths) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), Vec::new());
    documents::sources(&root.join("mailbox"), &mut paths);
    let texts: Vec<_> = paths
        .iter()
        .map(|path| {
            let file = path.strip_prefix(&root).expect("below").to_string_lossy().replace('\\', "/");
            (file, fs::read_to_string(path).expect("a source"))
        })
        .filter(|(file, _)| file != "mailbox/mod.rs")
        .collect();
    assert!(texts.len() > 10);
    let texts: Vec<_> = texts.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    let complaints = circles(&files_of(&texts));
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn a_circle_of_files_is_found_and_an_import_that_is_no_file() {
    let of = |one: &str, two: &str| circles(&files_of(&[("top/one.rs", one), ("top/two.rs", two)]));
    assert_eq!(of("use super::two::A; use crate::sync::B;", "use core::fmt;"), [""; 0]);
    let circle = ["one: is in a circle, or imports one", "two: is in a circle, or imports one"];
    assert_eq!(of("use super::two::A;", "fn f() { super::one::g() }"), circle);
    assert_eq!(of("", "use super::Thing;"), ["two -> Thing: not the name of a file"]);
    assert_eq!(of("", "use crate::top::one;"), ["two -> top: not the name of a file"]);
}

#[test]
fn the_page_has_the_same_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/internals/README.md");
    let page = fs::read_to_string(page).expect("the page");
    let rows = page.lines().skip_while(|line| !line.starts_with("| module | imports |")).skip(2);
    let rows: Vec<Vec<&str>> =
        rows.take_while(|line| line.starts_with('|')).map(|row| documents::quoted(row).collect()).collect();
    let house: Vec<Vec<&str>> = HOUSE.iter().map(|(room, below)| [&[*room], *below].concat()).collect();
    assert_eq!(rows, house);
}

#[test]
fn each_type_has_a_name_of_its_own() {
    let files = library();
    let shared = shared_names(&files);
    let unknown: Vec<_> =
        shared.iter().filter(|(name, _)| !SHARED_NAMES.iter().any(|(known, _)| known == *name)).collect();
    assert!(unknown.is_empty(), "several types have one name: {unknown:#?}");
    let stale: Vec<_> = SHARED_NAMES.iter().filter(|(name, _)| !shared.contains_key(name)).collect();
    assert!(stale.is_empty(), "one type alone has this name, which needs no reason: {stale:#?}");
}

/// A crate of three modules, with one file in each.
fn made_up(ground: &str, middle: &str, top: &str) -> Vec<(String, Found)> {
    [("ground.rs", ground), ("middle/mod.rs", middle), ("top/room/file.rs", top)]
        .map(|(file, text)| (file.to_owned(), read(&modules(file), text)))
        .into()
}

const MADE_UP: Table<'_> = &[("ground", &[]), ("middle", &["ground"]), ("top", &["ground", "middle"])];

#[test]
fn a_house_that_is_as_its_table_says_is_let_pass() {
    let files = made_up(
        "// use crate::top;\n/* crate::top /* crate::top */ */ const TEXT: &str = \"crate::top\";",
        "use crate::ground::Thing; #[cfg(test)] mod tests { use crate::top; }",
        "use crate::{ground, middle::{Thing, ground as top}}; use super::super::room; fn f() { crate::shout!() }",
    );
    assert_eq!(complaints(MADE_UP, &files), [""; 0]);
}

#[test]
fn an_import_that_runs_up_is_found_in_every_form() {
    for import in [
        "use crate::top::Thing;",
        "use crate::{middle::Thing, top};",
        "fn f() -> crate::top::Thing { 'a' }",
        "macro_rules! m { () => { $crate::top::f() } }",
        "use super::top;",
        "mod inner { use super::super::top; }",
        "#[cfg(not(test))] use crate::top;",
        "#[cfg(test)] use crate::middle::{a, b}; use crate::top;",
        "#[cfg(all(test, unix))] pub(crate) fn f(a: [u8; 2]) -> u8 { 0 } use crate::top;",
        "const QUOTE: char = '\"'; use crate::top; const OTHER: &str = \"\\\"\";",
        "fn f<'a>(x: &'a str) { r#\"\"\"#; crate::top::g(x) }",
    ] {
        let files = made_up(import, "use crate::ground;", "use crate::{ground, middle};");
        let complaints = complaints(MADE_UP, &files);
        assert!(
            complaints.iter().any(|line| line.starts_with("ground -> top: the table has no such arrow")),
            "{import}"
        );
    }
}

#[test]
fn an_import_of_the_roof_or_of_the_crate_by_another_name_is_found() {
    for (import, complaint) in [
        ("use crate::unwind;", "ground -> unwind: the table has no such arrow"),
        ("use crate::*;", "ground -> *: the table has no such arrow"),
        ("use crate as house;", "ground -> crate as: the table has no such arrow"),
    ] {
        let files = made_up(import, "use crate::ground;", "use crate::{ground, middle};");
        assert!(complaints(MADE_UP, &files).iter().any(|line| line.starts_with(complaint)), "{import}");
    }
}

#[test]
fn a_table_with_a_circle_a_stale_arrow_or_a_room_missing_is_refused() {
    let circle: Table<'_> = &[("ground", &["middle"]), ("middle", &["ground"]), ("top", &["ground", "middle"])];
    let files = made_up("use crate::middle;", "use crate::ground;", "use crate::{ground, middle};");
    assert_eq!(complaints(circle, &files), ["ground -> middle: the table does not run down"]);
    let files = made_up("", "", "use crate::{ground, middle};");
    assert_eq!(complaints(MADE_UP, &files), ["middle -> ground: no file has this import"]);
    let files = made_up("", "use crate::ground;", "use crate::{ground, middle};");
    assert_eq!(complaints(&MADE_UP[..2], &files)[0], "top: the table has no such room");
}

#[test]
fn a_name_that_two_types_have_is_found() {
    let files = made_up(
        "struct Thing; impl Iterator for Thing { type Item = u8; } fn f() -> impl Iterator { struct Inner; }",
        "trait Other { type Item; } type Thing = u8; #[cfg(test)] struct Inner;",
        "#[cfg(unix)] mod unix { pub struct Twin; } #[cfg(not(unix))] mod other { pub struct Twin; } enum E { Thing }",
    );
    assert_eq!(shared_names(&files).into_keys().collect::<Vec<_>>(), ["Thing"]);
    let files = made_up("mod a { struct Twin; } mod b { struct Twin; }", "fn f() { enum E {} }", "union E { a: u8 }");
    assert_eq!(shared_names(&files).into_keys().collect::<Vec<_>>(), ["E", "Twin"]);
}
