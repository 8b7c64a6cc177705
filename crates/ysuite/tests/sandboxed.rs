//! Runs a program, with its arguments, where the kernel refuses the calls that `YSUITE_FORBID` names: `membarrier`,
//! `eventfd2`. As cargo's runner it does so with whole test binaries, and they take the paths that a new Linux never takes.
//! Without that variable it does nothing, which is what happens among the other tests.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
#[path = "support/sandbox.rs"]
mod sandbox;

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
fn main() {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    let (Ok(forbidden), Some(program)) = (std::env::var("YSUITE_FORBID"), std::env::args_os().nth(1)) else { return };
    let calls: Vec<u32> = forbidden.split(',').map(number).collect();
    sandbox::forbid(&calls);
    let error = Command::new(&program).args(std::env::args_os().skip(2)).exec();
    panic!("{program:?} does not run: {error}");
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
fn number(call: &str) -> u32 {
    match call {
        "membarrier" => sandbox::MEMBARRIER,
        "eventfd2" => sandbox::EVENTFD2,
        "madvise" => sandbox::MADVISE,
        other => panic!("{other} cannot be forbidden here"),
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
fn main() {}
