//! What a mechanism keeps in files: named shared memory, and a folder. Removed by the process that measures; what one has
//! left that was killed, the next in its process namespace removes: the numbers of another one say nothing here.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

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
        Self(format!("{MARK}{}-{}-{}-", namespace(), process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
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

/// The number of this process's namespace of processes, or nothing where there is no `/proc`.
fn namespace() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    link.to_string_lossy().chars().filter(char::is_ascii_digit).collect()
}

/// Removes the files of processes that have ended.
fn sweep() {
    let own = namespace();
    remove(|name| {
        let mut words = name.strip_prefix(MARK).unwrap_or_default().split('-');
        let is_near = !own.is_empty() && words.next() == Some(&own);
        let id = words.next().and_then(|id| id.parse().ok()).and_then(Pid::from_raw);
        is_near && id.is_some_and(|id| test_kill_process(id) == Err(Errno::SRCH))
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
        let left = place.join(format!("{MARK}{}-999999999-0-memory", namespace()));
        // But one of another namespace may.
        let far = place.join(format!("{MARK}{}-999999999-0-memory", process::id()));
        fs::create_dir_all(own.join("inner")).unwrap();
        fs::write(&memory, "some").unwrap();
        fs::write(&left, "some").unwrap();
        fs::write(&far, "some").unwrap();
        let other = Files::new();
        let stays = far.exists();
        fs::remove_file(&far).unwrap_or_default();
        assert!(!left.exists() && memory.exists() && stays && other.tag() != files.tag());
        drop(files);
        assert!(!own.exists() && !memory.exists());
    }
}
