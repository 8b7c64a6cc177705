//! How much memory this process has, and how much of it is in use. Read by any thread, between two measurements: it takes
//! the kernel up to a millisecond to tell.
//!
//! Cannot: tell who uses a page.

use std::fs;
use std::io;

/// Bytes of this process that are in memory.
///
/// The exact figure where the kernel gives it: the quick one of `statm` may be wrong by hundreds of kilobytes.
pub fn resident() -> io::Result<f64> {
    match fs::read_to_string("/proc/self/smaps_rollup") {
        Ok(text) => in_rollup(&text).ok_or_else(|| io::Error::other("/proc/self/smaps_rollup has no line for Rss")),
        Err(_) => {
            let text = fs::read_to_string("/proc/self/statm")?;
            let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok());
            let pages = pages.ok_or_else(|| io::Error::other("/proc/self/statm has no second number"))?;
            Ok(pages * rustix::param::page_size() as f64)
        }
    }
}

fn in_rollup(text: &str) -> Option<f64> {
    let kibibytes = text.lines().find_map(|line| line.strip_prefix("Rss:"))?.trim().strip_suffix("kB")?;
    Some(kibibytes.trim().parse::<f64>().ok()? * 1024.0)
}

/// The same after the allocator has given back every page that nobody uses: what comes into use later then shows, also
/// where it takes what an earlier queue has freed.
///
/// Takes up to milliseconds. Another allocator than that of the GNU C library keeps what it has.
pub fn resident_and_used() -> io::Result<f64> {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes the allocator's own locks, and may be called by any thread at any time.
    unsafe {
        libc::malloc_trim(0);
    }
    resident()
}

// What is read is tested in tests/memory.rs: here other tests of the same process take and free memory meanwhile.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_kernel_is_read() {
        assert_eq!(in_rollup("0-1 ---p 0 00:00 0 [rollup]\nRss:    1760 kB\nPss:  399 kB\n"), Some(1760.0 * 1024.0));
        assert_eq!(in_rollup("Pss:  399 kB\n"), None);
    }
}
