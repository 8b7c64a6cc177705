//! How many CPUs the machine has in use. Any thread; the first call of [`cpus`] reads a file, later ones never block.
//! Nothing is allocated.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::io::Read;

/// 0 until the file has been read.
static ONLINE: AtomicUsize = AtomicUsize::new(0);

/// The number of CPUs in the kernel's list, such as `0-3,6`. A thread's affinity mask would be wrong: a thread pinned
/// to one CPU is not alone on the machine. A list that cannot be read or parsed means "many", the guess that costs
/// least if wrong.
pub(crate) fn cpus() -> usize {
    // No lock: a forked child may call this, and a lock could be held by a thread that the child does not have. Two
    // threads that call at once compute the same number.
    // ORDERING: Relaxed; the number guards no other data.
    match ONLINE.load(Ordering::Relaxed) {
        0 => read(),
        known => known,
    }
}

/// The same, as far as it is known: "many" before the first call of [`cpus`]. For what must make no system call.
pub(crate) fn known_cpus() -> usize {
    // ORDERING: Relaxed; the number guards no other data.
    match ONLINE.load(Ordering::Relaxed) {
        0 => usize::MAX,
        known => known,
    }
}

#[cold]
fn read() -> usize {
    // A list that does not fit has many CPUs.
    let mut list = [0; 256];
    // Opened, read and closed.
    (0..3).for_each(|_| crate::os::count_call());
    let read = std::fs::File::open("/sys/devices/system/cpu/online").and_then(|mut file| file.read(&mut list));
    let list =
        read.ok().filter(|&length| length < list.len()).and_then(|length| core::str::from_utf8(&list[..length]).ok());
    let counted = list.and_then(|list| count(list.trim())).unwrap_or(usize::MAX);
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

    /// Claim: CPU lists with holes and with more than a thousand CPUs are counted correctly.
    #[test]
    fn cpu_lists_with_holes_and_beyond_a_thousand() {
        assert_eq!(count("0"), Some(1));
        assert_eq!(count("0-3,6,8-9"), Some(7));
        assert_eq!(count("0-2047"), Some(2048));
        assert_eq!(count(""), None);
        assert_eq!(count("3-1"), None);
    }
}
