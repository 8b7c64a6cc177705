//! Prints the public interface of a library, an item a line, from rustdoc's JSON:
//!
//! ```sh
//! cargo run -p api -- target/doc/ysuite.json
//! ```
//!
//! Implementations for every existing type are left out. Of the compiler's own traits, those that a user can name in
//! stable Rust are kept: whether a handle is `Send` is part of the interface too.

use std::process::ExitCode;

use public_api::{Builder, PublicApi};

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("api: the path of rustdoc's JSON is missing");
        return ExitCode::FAILURE;
    };
    match Builder::from_rustdoc_json(path).omit_blanket_impls(true).build() {
        Ok(api) => {
            lines(&api).for_each(|line| println!("{line}"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("api: {error}");
            ExitCode::FAILURE
        }
    }
}

fn lines(api: &PublicApi) -> impl Iterator<Item = String> + '_ {
    api.items().map(ToString::to_string).filter(|line| !INTERNAL.iter().any(|name| line.contains(name)))
}

/// Traits of the compiler's own that no stable program can name.
const INTERNAL: [&str; 3] =
    ["core::marker::Freeze for ", "core::marker::UnsafeUnpin for ", "core::marker::StructuralPartialEq for "];
