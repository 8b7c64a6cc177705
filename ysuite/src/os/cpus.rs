//! How many CPUs the machine has in use. Any thread; asks once, then never blocks.

use core::sync::atomic::{AtomicUsize, Ordering};

/// As the kernel lists them: `0-3,6`. Masks of threads say something else: a thread pinned to one CPU is not alone on the
/// machine. A list that cannot be had or read means "many", which is what costs least if it is wrong.
pub(super) fn online() -> usize {
    // No lock, as everything that may be asked in a forked child. Two threads that ask at once find the same.
    static ONLINE: AtomicUsize = AtomicUsize::new(0);
    // ORDERING: Relaxed here and below; the number guards nothing but itself.
    let known = ONLINE.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    super::count_call();
    let list = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let counted = count(list.trim()).unwrap_or(usize::MAX);
    ONLINE.store(counted, Ordering::Relaxed);
    counted
}

fn count(list: &str) -> Option<usize> {
    list.split(',').try_fold(0, |sum, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        Some(sum + last.checked_sub(first)? + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn cpu_lists_with_holes_and_beyond_a_thousand() {
        assert_eq!(count("0"), Some(1));
        assert_eq!(count("0-3,6,8-9"), Some(7));
        assert_eq!(count("0-2047"), Some(2048));
        assert_eq!(count(""), None);
        assert_eq!(count("3-1"), None);
    }
}
