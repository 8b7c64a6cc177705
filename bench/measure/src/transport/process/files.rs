//! What a mechanism keeps in files: named shared memory, and a folder. Removed by the process that measures; what one has
//! left that was killed, the next removes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

/// Begins the names of all of them.
const MARK: &str = "ybench-files-";
const SHARED_MEMORY: &str = "/dev/shm";

/// All files whose names begin with a tag, removed when this is dropped.
pub struct Files(String);

impl Files {
    /// A tag that no other channel of the machine has.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        sweep();
        // ORDERING: Relaxed: only that no two are the same.
        Self(format!("{MARK}{}-{}-", process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    pub fn tag(&self) -> &str {
        &self.0
    }
}

impl Default for Files {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        remove(|name| name.starts_with(&self.0));
    }
}

/// The folder of a tag. It is there once somebody makes it.
pub fn folder(tag: &str) -> PathBuf {
    env::temp_dir().join(tag)
}

fn remove(chosen: impl Fn(&str) -> bool) {
    for place in [Path::new(SHARED_MEMORY), &env::temp_dir()] {
        for file in fs::read_dir(place).into_iter().flatten().flatten() {
            if file.file_name().to_str().is_some_and(&chosen) {
                // One of the two fails.
                let _ = fs::remove_file(file.path());
                let _ = fs::remove_dir_all(file.path());
            }
        }
    }
}

/// Removes the files of processes that have ended.
fn sweep() {
    remove(|name| {
        let id = name.strip_prefix(MARK).and_then(|rest| rest.split('-').next());
        id.is_some_and(|id| !Path::new(&format!("/proc/{id}")).exists())
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_go_with_their_channel_and_with_a_process_that_was_killed() {
        let files = Files::new();
        let (own, place) = (folder(files.tag()), Path::new(SHARED_MEMORY));
        let memory = place.join(format!("{}memory", files.tag()));
        // No process has a number as large as this.
        let left = place.join(format!("{MARK}999999999-0-memory"));
        fs::create_dir_all(own.join("inner")).unwrap();
        fs::write(&memory, "some").unwrap();
        fs::write(&left, "some").unwrap();
        let other = Files::new();
        assert!(!left.exists() && memory.exists() && other.tag() != files.tag());
        drop(files);
        assert!(!own.exists() && !memory.exists());
    }
}
