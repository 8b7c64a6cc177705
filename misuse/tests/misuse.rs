//! Misuse that must not compile, each case beside a twin that must: without the twin, a case might fail for another
//! reason than the one meant.
//!
//! The compiler's words are compared where they are known: with the version they were written for, and for types whose
//! insides it does not spell out. A crate by itself, since each case is compiled with all that its crate depends on.

use std::process::Command;

/// The compiler whose words the `.stderr` files hold.
const COMPILER: &str = "rustc 1.95.";

#[test]
fn misuse_does_not_compile_and_its_twin_does() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().expect("a compiler");
    let cases = trybuild::TestCases::new();
    cases.pass("tests/compile_pass/*.rs");
    if String::from_utf8_lossy(&version.stdout).starts_with(COMPILER) {
        cases.compile_fail("tests/compile_fail/*.rs");
    } else {
        println!("skipped the failing half: its words are those of {COMPILER}x");
    }
}
