//! Stores facts of the build in the program: the compiler, the commit, and the versions of the dependencies. Without a
//! repository, a lock file or git the fact is absent; that is no error.

#[path = "build/lock.rs"]
mod lock;

use std::path::Path;
use std::process::Command;

/// The lock file of the workspace, or of a copy of this crate alone.
const LOCK_FILES: [&str; 2] = ["../../Cargo.lock", "Cargo.lock"];

/// This crate, the one that measures, and those of the competitors.
const PARTS: [&str; 4] = [".", "../measure", "../competitors", "../competitors-native"];

/// The sources that may be compiled into it.
const MADE_OF: [&str; 5] = [
    "../measure/src",
    "../competitors/src",
    "../competitors-native/src",
    "../../crates/ysuite/src",
    "../../crates/ysuite-zmq/src",
];

fn main() {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    note("YBENCH_COMPILER", first_line(&compiler, &["--version"]));

    let commit = first_line("git", &["rev-parse", "--short=12", "HEAD"]);
    let status = [&["status", "--porcelain", "--untracked-files=no"], &PARTS[..]].concat();
    let changed = first_line("git", &status).is_some();
    note("YBENCH_COMMIT", commit.map(|commit| if changed { format!("{commit} with changes") } else { commit }));

    let locked = LOCK_FILES.iter().find_map(|path| std::fs::read_to_string(path).ok());
    let mut parts = vec!["ybench", "ybench-measure"];
    if std::env::var_os("CARGO_FEATURE_COMPETITORS").is_some() {
        parts.push("ybench-competitors");
    }
    note("YBENCH_CRATES", locked.and_then(|text| lock::versions(&text, &parts)));

    // A commit appends to this log, so cargo then runs this again.
    for path in ["../../.git/HEAD", "../../.git/logs/HEAD"].iter().chain(&LOCK_FILES) {
        if Path::new(path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    for path in ["build.rs", "build", "src"].iter().chain(&MADE_OF) {
        println!("cargo:rerun-if-changed={path}");
    }
}

fn note(name: &str, value: Option<String>) {
    if let Some(value) = value {
        println!("cargo:rustc-env={name}={value}");
    }
}

/// The first line of a command's output; `None` if it cannot run, fails, or prints nothing.
fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}
