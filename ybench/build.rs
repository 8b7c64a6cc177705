//! Leaves two facts in the program that only the build knows: the compiler and the commit. A copy of the sources
//! without a repository, or a machine without git, is no error: the fact is then absent.

use std::path::Path;
use std::process::Command;

fn main() {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    note("YBENCH_COMPILER", first_line(&compiler, &["--version"]));

    let commit = first_line("git", &["rev-parse", "--short=12", "HEAD"]);
    let changed = first_line("git", &["status", "--porcelain", "--untracked-files=no", "."]).is_some();
    note("YBENCH_COMMIT", commit.map(|commit| if changed { format!("{commit} with changes") } else { commit }));

    // A commit appends to this log, so it is what tells cargo to ask git again.
    for path in ["../.git/HEAD", "../.git/logs/HEAD"] {
        if Path::new(path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    for path in ["build.rs", "src", "../ysuite/src"] {
        println!("cargo:rerun-if-changed={path}");
    }
}

fn note(name: &str, value: Option<String>) {
    if let Some(value) = value {
        println!("cargo:rustc-env={name}={value}");
    }
}

/// The first line a command prints, or nothing where it cannot run, fails, or is silent.
fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}
