//! The number of this process, without a system call but the first: what belongs to one process is dropped for each message,
//! and its copy in a forked child must not be. Any thread.

use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::sys;

/// The address of a word that a forked child finds to be 0.
#[derive(Clone, Copy)]
struct Word(NonNull<u64>);

// SAFETY: the address of an atomic that is never unmapped.
unsafe impl Send for Word {}
// SAFETY: as above.
unsafe impl Sync for Word {}

/// The number of this process.
pub(crate) fn process() -> u32 {
    static WORD: OnceLock<Option<Word>> = OnceLock::new();
    let Some(Word(word)) = *WORD.get_or_init(|| sys::word_of_process().ok().map(Word)) else {
        return std::process::id();
    };
    // SAFETY: mapped for ever, and used by atomics only.
    let word = unsafe { AtomicU64::from_ptr(word.as_ptr()) };
    // ORDERING: Relaxed; a number that all threads find to be the same.
    match word.load(Ordering::Relaxed) {
        0 => {
            let process = std::process::id();
            // ORDERING: Relaxed; as above.
            word.store(u64::from(process), Ordering::Relaxed);
            process
        }
        process => process as u32,
    }
}
