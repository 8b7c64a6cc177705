//! `ybench`: see `ybench --help`, or the library of the same name for its structure.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    #[cfg_attr(not(any(feature = "competitors", feature = "zeromq", feature = "boost")), allow(unused_mut))]
    let (mut entries, mut drivers) = (Vec::new(), Vec::new());
    #[cfg(feature = "competitors")]
    {
        entries.extend(ybench_competitors::entries());
        drivers.extend(ybench_competitors::drivers::drivers());
        ybench::footprint::offer(ybench_competitors::footprint::kinds());
    }
    #[cfg(any(feature = "cpp", feature = "d", feature = "native", feature = "zeromq", feature = "boost"))]
    {
        entries.extend(ybench_native::entries());
        drivers.extend(ybench_native::drivers());
    }
    ybench::program::run(entries, drivers)
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    eprintln!("ybench uses baselines of Linux (futex, eventfd, epoll, membarrier) and runs on Linux only.");
    std::process::ExitCode::from(2)
}
