//! Gives the shared library the name by which programs request it when they start, independent of its location.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is_unix = std::env::var_os("CARGO_CFG_UNIX").is_some();
    // A linker of ELF: not Apple's.
    if is_unix && std::env::var("CARGO_CFG_TARGET_VENDOR").as_deref() != Ok("apple") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libysuite.so.0");
    }
}
