//! What the tests of misuse have in common.

use std::process::Command;

/// The compiler version of the messages in the `.stderr` files.
const COMPILER: &str = "rustc 1.95.";

/// The twins of a folder.
macro_rules! twins {
    ($folder:literal: $($twin:ident)+) => {
        $(
            mod $twin {
                include!(concat!($folder, "/", stringify!($twin), ".rs"));

                #[test]
                fn runs() {
                    main();
                }
            }
        )+

        const TWINS: &[&str] = &[$(stringify!($twin)),+];
    };
}

pub(crate) use twins;

/// The names of a folder's Rust files.
pub(crate) fn names(folder: &str) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .filter_map(|entry| Some(entry.expect("a file").file_name().to_str()?.strip_suffix(".rs")?.to_owned()))
        .collect();
    names.sort();
    names
}

/// None of these programs compiles, and the compiler says why.
pub(crate) fn refuses(programs: &str) {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().expect("a compiler");
    if String::from_utf8_lossy(&version.stdout).starts_with(COMPILER) {
        trybuild::TestCases::new().compile_fail(programs);
    } else {
        println!("skipped: the messages are those of {COMPILER}x");
    }
}
