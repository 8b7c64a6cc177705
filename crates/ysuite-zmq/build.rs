//! Finds the system's libzmq. If it is missing, the build fails with one sentence that says what to install.

/// The oldest that does what is asked of it, and whose known faults the bridges go round.
const OLDEST: &str = "4.3.3";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if let Err(cause) = pkg_config::Config::new().atleast_version(OLDEST).probe("libzmq") {
        let what = match cause {
            pkg_config::Error::ProbeFailure { .. } | pkg_config::Error::Failure { .. } => "pkg-config does not find it",
            pkg_config::Error::Command { .. } => "pkg-config itself is missing",
            _ => "pkg-config says nothing of it",
        };
        println!(
            "cargo:error=libzmq {OLDEST} or later is needed, and {what}: install libzmq3-dev and pkg-config (Debian, \
             Ubuntu), zeromq-devel (Fedora), zeromq (Arch, Homebrew)."
        );
        std::process::exit(1);
    }
}
