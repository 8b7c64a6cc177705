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
    for _ in 0..3 {
        crate::os::count_call();
    }
    let counted = match read_to(&mut list) {
        Some(length) if length < list.len() => count(list[..length].trim_ascii_end()).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    // ORDERING: Relaxed; the number guards no other data.
    ONLINE.store(counted, Ordering::Relaxed);
    counted
}

/// Reads the kernel's list of the CPUs that are in use; returns its length.
fn read_to(list: &mut [u8]) -> Option<usize> {
    // An error is forgotten: it has nothing to free, and its drop is a thousand lines for the code generator.
    let mut file = match std::fs::File::open("/sys/devices/system/cpu/online") {
        Ok(file) => file,
        Err(error) => return forget(error),
    };
    match file.read(list) {
        Ok(length) => Some(length),
        Err(error) => forget(error),
    }
}

fn forget(error: std::io::Error) -> Option<usize> {
    core::mem::forget(error);
    None
}

/// The number of CPUs in a list of numbers and of ranges, such as `0-3,6`.
fn count(list: &[u8]) -> Option<usize> {
    // Of those so far; the first one of the range; the number that is being read.
    let (mut sum, mut first, mut number) = (0, None, None::<usize>);
    for at in 0..=list.len() {
        match list.get(at) {
            Some(&digit @ b'0'..=b'9') => {
                number = Some(number.unwrap_or(0).checked_mul(10)?.checked_add((digit - b'0').into())?);
            }
            Some(b'-') if first.is_none() => first = Some(number.take()?),
            Some(b',') | None => {
                let last = number.take()?;
                sum += last.checked_sub(first.take().unwrap_or(last))? + 1;
            }
            Some(_) => return None,
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::count;

    /// Claim: CPU lists with holes and with more than a thousand CPUs are counted correctly.
    #[test]
    fn cpu_lists_with_holes_and_beyond_a_thousand() {
        assert_eq!(count(b"0"), Some(1));
        assert_eq!(count(b"0-3,6,8-9"), Some(7));
        assert_eq!(count(b"0-2047"), Some(2048));
        for list in ["", ",", "0,", "3-1", "-", "1-", "-1", "1-2-3", "0 1", "99999999999999999999"] {
            assert_eq!(count(list.as_bytes()), None, "{list}");
        }
    }
}
