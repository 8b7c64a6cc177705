//! The headers of declarations are what cbindgen makes of the source.

use std::path::{Path, PathBuf};

/// In the order of the header: cbindgen itself puts types before the functions that use them. No file that has `mod` lines for
/// others of the list: cbindgen follows them, and would declare what is there twice.
const SOURCES: [&str; 15] = [
    "code.rs",
    "about.rs",
    "options.rs",
    "window.rs",
    "spin.rs",
    "stopper.rs",
    "open.rs",
    "tx/mod.rs",
    "rx/mod.rs",
    "shared.rs",
    "timer.rs",
    "set.rs",
    "select.rs",
    "pool.rs",
    "hub.rs",
];

const SHM: [&str; 11] = [
    "shm/options.rs",
    "shm/listener.rs",
    "shm/tx.rs",
    "shm/rx.rs",
    "shm/funnel.rs",
    "shm/broadcast.rs",
    "shm/watch.rs",
    "shm/loan.rs",
    "shm/call.rs",
    "shm/work.rs",
    "shm/refusal.rs",
];

const ZMQ: [&str; 8] = [
    "zmq/options.rs",
    "zmq/bridge.rs",
    "zmq/open.rs",
    "zmq/tx.rs",
    "zmq/rx.rs",
    "zmq/ask.rs",
    "zmq/answer.rs",
    "zmq/refusal.rs",
];

fn generated(root: &Path, config: &str, sources: &[&str]) -> String {
    let config = cbindgen::Config::from_file(root.join(config)).expect("the configuration is read");
    let sources = sources.iter().map(|name| root.join("src").join(name));
    let mut header = Vec::new();
    let builder = sources.fold(cbindgen::Builder::new().with_config(config), cbindgen::Builder::with_src::<PathBuf>);
    builder.generate().expect("the source is read").write(&mut header);
    String::from_utf8(header).expect("a header is text")
}

fn is_that_of_the_source(header: &str, config: &str, sources: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("include").join(header);
    let generated = generated(root, config, sources);
    if std::env::var_os("YSUITE_WRITE").is_some_and(|value| value == "1") {
        std::fs::write(&path, generated).expect("the header is written");
        return;
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    let first = generated.lines().zip(checked_in.lines()).find(|(new, old)| new != old);
    assert!(
        generated == checked_in,
        "include/{header} is not what the source says (first difference: {first:?}). Rewrite it by\n    \
         YSUITE_WRITE=1 cargo test -p ysuite-c --test declarations"
    );
}

#[test]
fn declarations_are_those_of_the_source() {
    is_that_of_the_source("ysuite/declarations.h", "cbindgen.toml", &SOURCES);
}

#[test]
fn declarations_between_processes_are_those_of_the_source() {
    is_that_of_the_source("ysuite/shm.h", "cbindgen-shm.toml", &SHM);
}

#[test]
fn declarations_of_bridges_are_those_of_the_source() {
    is_that_of_the_source("ysuite_zmq.h", "cbindgen-zmq.toml", &ZMQ);
}

/// A compiler takes a second declaration that is the same without a word.
#[test]
fn each_function_is_declared_once() {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    for header in ["ysuite/declarations.h", "ysuite/shm.h", "ysuite_zmq.h"] {
        let text = std::fs::read_to_string(include.join(header)).expect("a header");
        // At the beginning of a line: comments are indented, or have a star there.
        let lines = text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_alphabetic()));
        let mut names: Vec<_> = lines
            .filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next())
            .filter(|name| name.starts_with("ys_"))
            .collect();
        let declared = names.len();
        assert!(declared > 20, "{header} declares {declared}");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), declared, "include/{header} declares a function twice");
    }
}
