//! How much memory this process has, and how much of it is in use. Read by any thread, between two measurements: it takes
//! the kernel up to a millisecond to tell.
//!
//! Cannot: tell who uses a page, or see what an allocator other than that of the GNU C library keeps of freed memory. One
//! large buffer that was grown by copying may seem half as large: of what it left behind the allocator counts as kept
//! even the pages that are not resident.

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

/// Memory in use: what is resident and not kept by the allocator for whoever asks next.
#[derive(Clone, Copy, Debug)]
pub struct InUse {
    resident: f64,
    /// Bytes, of which the C library tells no more than 32 bits.
    kept: i32,
}

impl InUse {
    pub fn read() -> io::Result<Self> {
        Ok(Self { resident: resident()?, kept: kept_by_the_allocator() })
    }

    /// Bytes that came into use since `earlier`; in use and resident are the same for memory that was never freed.
    pub fn since(self, earlier: Self) -> f64 {
        self.resident - earlier.resident - f64::from(self.kept.wrapping_sub(earlier.kept))
    }
}

#[cfg(not(target_env = "gnu"))]
fn kept_by_the_allocator() -> i32 {
    0
}

/// Free memory of all arenas. Without it a queue that takes what an earlier one has given back would seem to take none.
#[cfg(target_env = "gnu")]
fn kept_by_the_allocator() -> i32 {
    use core::ffi::c_int;

    /// As in malloc.h; the fields in between are other counts.
    #[repr(C)]
    struct Mallinfo {
        others: [c_int; 8],
        fordblks: c_int,
        keepcost: c_int,
    }
    unsafe extern "C" {
        // Its successor counts in 64 bits, but older systems do not have it.
        fn mallinfo() -> Mallinfo;
    }
    // SAFETY: declared as in malloc.h; takes the allocator's own locks, and may be called by any thread at any time.
    unsafe { mallinfo() }.fordblks
}

// What is read is tested in tests/memory.rs: here other tests of the same process take and free memory meanwhile.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_may_pass_the_largest_number_of_32_bits() {
        let reading = |resident, kept| InUse { resident, kept };
        assert_eq!(reading(5e9, i32::MIN + 9).since(reading(5e9 - 100.0, i32::MAX)), 90.0);
    }

    #[test]
    fn the_line_of_the_kernel_is_read() {
        assert_eq!(in_rollup("0-1 ---p 0 00:00 0 [rollup]\nRss:    1760 kB\nPss:  399 kB\n"), Some(1760.0 * 1024.0));
        assert_eq!(in_rollup("Pss:  399 kB\n"), None);
    }
}
