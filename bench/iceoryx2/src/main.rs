//! `ybench` with iceoryx2 as one more competitor between processes:
//!
//! ```sh
//! cargo run --release --manifest-path bench/iceoryx2/Cargo.toml -- run process-ping-pong process-stream
//! ```
//!
//! Publish-subscribe with one publisher and one subscriber, no overflow and a publisher that waits for room, which its
//! documentation recommends where nothing may be lost. The subscriber polls, as in its examples; or it sleeps in a
//! listener, and the publisher notifies after each message. A message is copied in and out, as with the other
//! transports; a program that works on the memory that iceoryx2 lends has no such copies.
//!
//! A death is not reported by iceoryx2 to a side that polls or sleeps: the process that measures notices it.

#[cfg(target_os = "linux")]
mod handles;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    use ybench_measure::scenario::process::between_processes;

    use self::handles::Iceoryx2;

    #[cfg_attr(not(any(feature = "zeromq", feature = "boost")), allow(unused_mut))]
    let mut entries = vec![between_processes::<Iceoryx2<false>>(), between_processes::<Iceoryx2<true>>()];
    #[cfg(any(feature = "zeromq", feature = "boost"))]
    entries.extend(ybench_native::entries());
    ybench::program::run(entries, Vec::new())
}

#[cfg(not(target_os = "linux"))]
fn main() {}
