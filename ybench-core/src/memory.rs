//! How much memory this process has, and how much of it is in use. Read by any thread, between two measurements: it takes
//! the kernel up to a millisecond to tell.
//!
//! Cannot: tell who uses a page.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// Bytes of this process that are in memory.
///
/// The exact figure where the kernel gives it: the quick one of `statm` may be wrong by hundreds of kilobytes.
pub fn resident() -> io::Result<f64> {
    match fs::read_to_string("/proc/self/smaps_rollup") {
        Ok(text) => {
            in_rollup(&text, "Rss:").ok_or_else(|| io::Error::other("/proc/self/smaps_rollup has no line for Rss"))
        }
        Err(_) => {
            let text = fs::read_to_string("/proc/self/statm")?;
            let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok());
            let pages = pages.ok_or_else(|| io::Error::other("/proc/self/statm has no second number"))?;
            Ok(pages * rustix::param::page_size() as f64)
        }
    }
}

/// Those of them that are of no file: a program's code comes into memory when it is first called, and is nobody's message.
pub fn anonymous() -> io::Result<f64> {
    let text = fs::read_to_string("/proc/self/smaps_rollup");
    match text.ok().and_then(|text| in_rollup(&text, "Anonymous:")) {
        Some(bytes) => Ok(bytes),
        None => resident(),
    }
}

fn in_rollup(text: &str, label: &str) -> Option<f64> {
    let kibibytes = text.lines().find_map(|line| line.strip_prefix(label))?.trim().strip_suffix("kB")?;
    Some(kibibytes.trim().parse::<f64>().ok()? * 1024.0)
}

/// The program that can be asked about memory in a process of its own; set by `main` alone, because what runs tests is
/// another program.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Says that this process is the program `ybench`.
pub fn this_is_the_program() {
    if let Ok(path) = std::env::current_exe() {
        let _ = PROGRAM.set(path);
    }
}

/// Bytes that each of `backlog` messages holds in the transport of that name, told by a fresh process: here allocators
/// keep what earlier queues have given back, and a queue that takes it again would seem to take nothing.
///
/// Takes as long as it takes to start a process and to send the messages. Nothing where no process can be started.
pub fn held_in_a_fresh_process(transport: &str, backlog: u64) -> Option<f64> {
    let program = PROGRAM.get()?;
    let output = Command::new(program).args(["held", transport, &backlog.to_string()]).output().ok()?;
    std::str::from_utf8(&output.stdout).ok()?.trim().parse().ok()
}

/// Bytes for each of `backlog` messages of so many bytes, in the transport of that name: while all are in its queue, and when
/// all have been taken out. Told as the other, and absent where that is.
pub fn taken_in_a_fresh_process(transport: &str, bytes: u64, backlog: u64) -> Option<(f64, f64)> {
    let program = PROGRAM.get()?;
    let output =
        Command::new(program).args(["taken", transport, &bytes.to_string(), &backlog.to_string()]).output().ok()?;
    let (held, left) = std::str::from_utf8(&output.stdout).ok()?.trim().split_once(' ')?;
    Some((held.parse().ok()?, left.parse().ok()?))
}

// What is read is tested in ybench/tests/instrument/memory.rs: here other tests of the same process take and free memory
// meanwhile.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_kernel_is_read() {
        let text = "0-1 ---p 0 00:00 0 [rollup]\nRss:    1760 kB\nPss:  399 kB\nAnonymous:   88 kB\n";
        assert_eq!(in_rollup(text, "Rss:"), Some(1760.0 * 1024.0));
        assert_eq!(in_rollup(text, "Anonymous:"), Some(88.0 * 1024.0));
        assert_eq!(in_rollup("Pss:  399 kB\n", "Rss:"), None);
    }
}
