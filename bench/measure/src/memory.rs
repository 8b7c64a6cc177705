//! The memory of this process, and the part of it in use. Any thread may read it between two measurements. The kernel
//! takes up to a millisecond to report it.
//!
//! Cannot: report which code uses a page.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Bytes of this process that are in memory.
///
/// The exact figure where the kernel has it: the quick one of `statm` may be wrong by hundreds of kilobytes.
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

/// The bytes among them that belong to no file. A program's code comes into memory at its first call, and is no
/// message.
///
/// Allocates nothing where the kernel has the exact figure: a block that the allocator keeps at the end of its heap would
/// keep all that is below it.
pub fn anonymous() -> io::Result<f64> {
    let mut buffer = [0; 4_096];
    match rollup(&mut buffer).and_then(|text| in_rollup(text, "Anonymous:")) {
        Some(bytes) => Ok(bytes),
        None => resident(),
    }
}

fn rollup(buffer: &mut [u8]) -> Option<&str> {
    let mut file = fs::File::open("/proc/self/smaps_rollup").ok()?;
    let mut read = 0;
    while read < buffer.len() {
        match file.read(&mut buffer[read..]).ok()? {
            0 => break,
            more => read += more,
        }
    }
    std::str::from_utf8(&buffer[..read]).ok()
}

fn in_rollup(text: &str, label: &str) -> Option<f64> {
    let kibibytes = text.lines().find_map(|line| line.strip_prefix(label))?.trim().strip_suffix("kB")?;
    Some(kibibytes.trim().parse::<f64>().ok()? * 1024.0)
}

/// The program that reports memory from a process of its own. Only `main` sets it, because the program that runs tests
/// is another one.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Says that this process is the program `ybench`.
pub fn this_is_the_program() {
    if let Ok(path) = std::env::current_exe() {
        let _ = PROGRAM.set(path);
    }
}

/// Says which program is: for tests, which are programs of their own.
pub fn this_is_the_program_at(path: PathBuf) {
    let _ = PROGRAM.set(path);
}

/// The program `ybench`, if this process is one.
pub(crate) fn program() -> Option<&'static Path> {
    PROGRAM.get().map(PathBuf::as_path)
}

/// Bytes that each of `backlog` messages holds in the transport of that name, measured by a new process. In this one,
/// allocators keep what earlier queues have freed, and a queue that reuses it would seem to take nothing.
///
/// Takes the time to start a process and to send the messages. `None` if no process can be started.
pub fn held_in_a_fresh_process(transport: &str, backlog: u64) -> Option<f64> {
    let program = PROGRAM.get()?;
    let output = Command::new(program).args(["held", transport, &backlog.to_string()]).output().ok()?;
    std::str::from_utf8(&output.stdout).ok()?.trim().parse().ok()
}

/// Bytes for each of `backlog` messages of `bytes` bytes, in the transport of that name: while all are in its queue,
/// and after all have been received. Measured by a new process too, and absent if none can be started.
pub fn taken_in_a_fresh_process(transport: &str, bytes: u64, backlog: u64) -> Option<(f64, f64)> {
    let program = PROGRAM.get()?;
    let output =
        Command::new(program).args(["taken", transport, &bytes.to_string(), &backlog.to_string()]).output().ok()?;
    let (held, left) = std::str::from_utf8(&output.stdout).ok()?.trim().split_once(' ')?;
    Some((held.parse().ok()?, left.parse().ok()?))
}

// The measurement is tested in bench/report/tests/instrument/memory.rs: here other tests of the same process allocate and
// free memory meanwhile.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_the_anonymous_bytes_allocates_nothing() {
        let before = crate::allocations::allocations();
        let bytes = anonymous().unwrap();
        // A kernel without the exact figure has none of the lines.
        let exact = fs::metadata("/proc/self/smaps_rollup").is_ok();
        assert!(bytes > 0.0 && (!exact || crate::allocations::allocations() == before));
    }

    #[test]
    fn the_line_of_the_kernel_is_read() {
        let text = "0-1 ---p 0 00:00 0 [rollup]\nRss:    1760 kB\nPss:  399 kB\nAnonymous:   88 kB\n";
        assert_eq!(in_rollup(text, "Rss:"), Some(1760.0 * 1024.0));
        assert_eq!(in_rollup(text, "Anonymous:"), Some(88.0 * 1024.0));
        assert_eq!(in_rollup("Pss:  399 kB\n", "Rss:"), None);
    }
}
