//! How many CPUs the machine has in use. Any thread; the first call reads a file, later ones never block.

use core::sync::atomic::{AtomicUsize, Ordering};

/// The number of CPUs in the kernel's list, such as `0-3,6`. A thread's affinity mask would be wrong: a thread pinned
/// to one CPU is not alone on the machine. A list that cannot be read or parsed means "many", the guess that costs
/// least if wrong.
pub(crate) fn cpus() -> usize {
    // No lock: a forked child may call this, and a lock could be held by a thread that the child does not have. Two
    // threads that call at once compute the same number.
    static ONLINE: AtomicUsize = AtomicUsize::new(0);
    // ORDERING: Relaxed; the number guards no other data.
    let known = ONLINE.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    crate::os::count_call();
    let list = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let counted = count(list.trim()).unwrap_or(usize::MAX);
    // ORDERING: Relaxed; the number guards no other data.
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
