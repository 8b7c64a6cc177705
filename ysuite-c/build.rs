//! Gives the shared library the name by which programs ask for it when they start, wherever it is installed.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is_set = |name: &str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    // A linker of ELF: not Apple's, not Windows'.
    if is_set("CARGO_CFG_UNIX") && !std::env::var("CARGO_CFG_TARGET_VENDOR").is_ok_and(|vendor| vendor == "apple") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libysuite.so.0");
    }
}
