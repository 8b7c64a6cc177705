//! What could stay behind.

use std::fs;

/// Descriptors and mappings of this process, memfds that it holds, names of this crate in the kernel, and files where
/// others leave some.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Remains {
    descriptors: usize,
    mappings: usize,
    names: usize,
    /// Sockets of packets that anybody holds, where this program is alone.
    sockets: usize,
    files: usize,
}

static ALONE: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// Puts this program into a network namespace of its own, if it may: then every local socket is one of its own.
pub(crate) fn alone() {
    // SAFETY: changes this process alone, which has one thread.
    let is_alone = unsafe { libc::unshare(libc::CLONE_NEWNET) } == 0;
    // ORDERING: Relaxed; one thread.
    ALONE.store(is_alone, std::sync::atomic::Ordering::Relaxed);
}

pub(crate) fn count() -> Remains {
    let lines = |path: &str, part: &str| {
        fs::read_to_string(path).unwrap_or_default().lines().filter(|line| line.contains(part)).count()
    };
    // Other runs of these tests have folders of their own numbers.
    let files = |path: &str, part: &str| {
        let mine = |name: &str| name.contains(part);
        fs::read_dir(path)
            .map_or(0, |folder| folder.flatten().filter(|entry| entry.file_name().to_str().is_some_and(mine)).count())
    };
    Remains {
        descriptors: fs::read_dir("/proc/self/fd").unwrap().count(),
        mappings: lines("/proc/self/maps", "ysuite-shm"),
        names: lines("/proc/net/unix", &format!("@ysuite/kills-{}", std::process::id())),
        // ORDERING: Relaxed; one thread.
        sockets: if ALONE.load(std::sync::atomic::Ordering::Relaxed) { lines("/proc/net/unix", " 0005 ") } else { 0 },
        files: files("/dev/shm", "ysuite-shm") + files("/tmp", &format!("ysuite-shm-{}", std::process::id())),
    }
}

pub(crate) fn assert_same(before: &Remains, name: &str) {
    assert_eq!(*before, count(), "{name}: something has stayed behind");
}
