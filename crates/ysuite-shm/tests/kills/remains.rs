//! What could stay behind.

use std::fs;

/// Descriptors and mappings of this process, memfds that it holds, names of this crate in the kernel, and files where
/// others leave some.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Remains {
    descriptors: usize,
    mappings: usize,
    names: usize,
    files: usize,
}

pub(crate) fn count() -> Remains {
    let lines = |path: &str, part: &str| {
        fs::read_to_string(path).unwrap_or_default().lines().filter(|line| line.contains(part)).count()
    };
    let files = |path: &str| {
        let mine = |name: &str| name.contains("ysuite-shm") || name.contains("ysshm");
        fs::read_dir(path)
            .map_or(0, |folder| folder.flatten().filter(|entry| entry.file_name().to_str().is_some_and(mine)).count())
    };
    Remains {
        descriptors: fs::read_dir("/proc/self/fd").unwrap().count(),
        mappings: lines("/proc/self/maps", "ysuite-shm"),
        names: lines("/proc/net/unix", &format!("@ysuite/kills-{}", std::process::id())),
        files: files("/dev/shm") + files("/tmp"),
    }
}

pub(crate) fn assert_same(before: &Remains, name: &str) {
    assert_eq!(*before, count(), "{name}: something has stayed behind");
}
