//! Compiles the sources in C, C++ and D, each behind its feature. Where something is missing, the build ends with the
//! one line that installs all of it.

#[cfg(any(feature = "cpp", feature = "d", feature = "native", feature = "boost"))]
const INSTALL: &str =
    "apt-get install g++ libboost-dev libtbb-dev libconcurrentqueue-dev libreaderwriterqueue-dev libzmq3-dev ldc";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "cpp")]
    cpp::compile();
    #[cfg(feature = "d")]
    d::compile();
    #[cfg(feature = "native")]
    native::compile();
    #[cfg(feature = "boost")]
    boost::compile();
    #[cfg(all(feature = "cpp", feature = "native"))]
    objects::compile();
}

/// Optimised in every profile: unoptimised code is no competitor. For the compiler's default processors, as the Rust
/// code.
#[cfg(any(feature = "cpp", feature = "native", feature = "boost"))]
fn optimised() -> cc::Build {
    let mut build = cc::Build::new();
    build.opt_level(3).debug(false).pic(true);
    build.flag("-Wall").flag("-Wextra").flag("-Werror").flag("-pthread").define("NDEBUG", None);
    build
}

/// Ends the build.
#[cfg(any(feature = "cpp", feature = "d", feature = "native", feature = "boost"))]
fn missing(what: &str, cause: &dyn std::fmt::Display) -> ! {
    println!(
        "cargo:error={what} ({cause}). On Debian 12 this installs all that the features `cpp`, `d` and `native` need: {INSTALL}"
    );
    std::process::exit(1)
}

#[cfg(feature = "cpp")]
mod cpp {
    /// A file for each library.
    const FILES: [&str; 9] =
        ["ring", "deque", "reader_writer", "concurrent", "lockfree", "semaphore", "asio", "zeromq", "tbb"];
    /// Those that need a library in addition to headers.
    const LIBRARIES: [&str; 2] = ["zmq", "tbb"];

    pub(super) fn compile() {
        println!("cargo:rerun-if-changed=cpp");
        let mut build = super::optimised();
        build.cpp(true).std("c++17");
        build.files(FILES.map(|file| format!("cpp/{file}.cpp")));
        if let Err(cause) = build.try_compile("ybench_native") {
            super::missing("The queues of C++ cannot be compiled", &cause);
        }
        LIBRARIES.iter().for_each(|library| println!("cargo:rustc-link-lib={library}"));
    }
}

#[cfg(feature = "boost")]
mod boost {
    pub(super) fn compile() {
        const SOURCE: &str = "cpp/message_queue.cpp";
        println!("cargo:rerun-if-changed={SOURCE}");
        let mut build = super::optimised();
        build.cpp(true).std("c++17").file(SOURCE);
        if let Err(cause) = build.try_compile("ybench_native_boost") {
            super::missing("The queue of boost::interprocess cannot be compiled", &cause);
        }
    }
}

#[cfg(feature = "native")]
mod native {
    const INCLUDE: &str = "../../crates/ysuite-c/include";
    const C: [&str; 5] = ["spsc", "spsc_by_calls", "mpsc", "mpmc", "binding"];
    const CPP: [&str; 2] = ["ysuite", "binding"];

    /// With the headers in the folder next to this package; the library is linked as any Rust package.
    pub(super) fn compile() {
        ["c", "cpp", INCLUDE].iter().for_each(|path| println!("cargo:rerun-if-changed={path}"));
        let mut build = super::optimised();
        build.std("c11").flag("-Wpedantic").include(INCLUDE).files(C.map(|file| format!("c/{file}.c")));
        compiled(&build, "ybench_native_native_c");
        let mut build = super::optimised();
        build.cpp(true).std("c++17").include(INCLUDE).files(CPP.map(|file| format!("cpp/{file}.cpp")));
        compiled(&build, "ybench_native_native_cpp");
    }

    fn compiled(build: &cc::Build, name: &str) {
        if let Err(cause) = build.try_compile(name) {
            super::missing("Our channels from C and C++ cannot be compiled", &cause);
        }
    }
}

#[cfg(all(feature = "cpp", feature = "native"))]
mod objects {
    pub(super) fn compile() {
        let mut build = super::optimised();
        build.cpp(true).std("c++17").include("../../crates/ysuite-c/include").file("cpp/objects.cpp");
        if let Err(cause) = build.try_compile("ybench_native_objects") {
            super::missing("The queues of C++ beside ours cannot be compiled", &cause);
        }
    }
}

#[cfg(feature = "d")]
mod d {
    use std::path::PathBuf;
    use std::process::Command;

    pub(super) fn compile() {
        const SOURCE: &str = "d/concurrency.d";
        println!("cargo:rerun-if-changed={SOURCE}");
        let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
        let mut compiler = Command::new("ldc2");
        // As for C++.
        compiler.args(["-O3", "-release", "-w", "-link-defaultlib-shared=true", SOURCE]);
        compiler.arg(format!("-of={}", out.join("concurrency").display()));
        compiler.arg(format!("-od={}", out.display()));
        match compiler.status() {
            Ok(status) if status.success() => {}
            Ok(status) => super::missing("The program in D cannot be compiled", &status),
            Err(cause) => super::missing("There is no ldc2", &cause),
        }
    }
}
