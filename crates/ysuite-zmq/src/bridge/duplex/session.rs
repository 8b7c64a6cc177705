//! [`fresh`]: the number by which the other side recognises a bridge.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::process;
use std::time::{Instant, SystemTime};

/// A number that no other bridge has; never 0.
pub(super) fn fresh() -> u64 {
    // The keys of the hasher are random, and others for each of a thread's. But a process that forks hands them on as they are:
    // the children of one thread differ in their numbers as processes, or, where these come again, in their times.
    RandomState::new().hash_one((process::id(), SystemTime::now(), Instant::now())).max(1)
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read, Write};

    use super::*;

    unsafe extern "C" {
        fn fork() -> i32;
        fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(status: i32) -> !;
    }

    /// What a child of this thread makes.
    fn of_a_child() -> u64 {
        let (mut from, mut to) = io::pipe().expect("a pipe");
        // SAFETY: the child does nothing but what a child of many threads may: it hashes, writes 8 bytes, and is gone. It
        // neither allocates nor unwinds.
        let child = unsafe { fork() };
        if child == 0 {
            let written = to.write_all(&fresh().to_ne_bytes());
            // SAFETY: ends the child here and now.
            unsafe { _exit(i32::from(written.is_err())) };
        }
        assert!(child > 0, "{}", io::Error::last_os_error());
        drop(to);
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes).expect("the child's number");
        // SAFETY: our child; its status is not used.
        assert_eq!(unsafe { waitpid(child, core::ptr::null_mut(), 0) }, child);
        u64::from_ne_bytes(bytes)
    }

    /// The thread has its random keys before it forks, as one that has made any bridge or map.
    #[test]
    fn forked_processes_have_sessions_of_their_own() {
        let own = fresh();
        let (one, other) = (of_a_child(), of_a_child());
        assert!(one != other && one != own && other != own && one != fresh());
    }
}
