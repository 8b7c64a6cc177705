//! Processes that are forked, stepped and killed.

use std::sync::atomic::{AtomicU64, Ordering};

/// Ends this program, and with it the test, if it hangs.
pub(crate) fn guard() {
    // SAFETY: an alarm whose signal kills the program.
    unsafe { libc::alarm(if std::env::var_os("YSUITE_KILLS").is_some() { 36_000 } else { 300 }) };
}

/// A child, which is killed when this is dropped.
pub(crate) struct Child(libc::pid_t);

impl Child {
    /// Runs `body` in a child, which ends with it.
    pub(crate) fn run(body: impl FnOnce()) -> Self {
        // SAFETY: no other thread of this program runs now; those of a case have been joined.
        let id = unsafe { libc::fork() };
        assert!(id >= 0);
        if id == 0 {
            // SAFETY: it dies with its parent.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            // SAFETY: ends here, without what belongs to the parent.
            unsafe { libc::_exit(i32::from(outcome.is_err())) };
        }
        Self(id)
    }

    /// As [`run`](Self::run), but it stops where it calls [`here`].
    pub(crate) fn traced(body: impl FnOnce()) -> Self {
        Self::run(|| {
            // SAFETY: asks to be traced by the parent.
            unsafe { libc::ptrace(libc::PTRACE_TRACEME) };
            body();
        })
    }

    /// Waits until it is at its first place.
    pub(crate) fn stopped(self) -> Self {
        assert!(libc::WIFSTOPPED(self.wait()), "it has reached the place");
        self
    }

    fn wait(&self) -> i32 {
        let mut status = 0;
        // SAFETY: waits for this child.
        assert_eq!(unsafe { libc::waitpid(self.0, &mut status, 0) }, self.0);
        status
    }

    /// Runs this number of instructions. False: it has ended before, or reached the next place.
    pub(crate) fn step(&self, instructions: u64) -> bool {
        for _ in 0..instructions {
            // SAFETY: the child is stopped.
            assert_eq!(unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, self.0, 0, 0) }, 0);
            let status = self.wait();
            if !libc::WIFSTOPPED(status) || libc::WSTOPSIG(status) != libc::SIGTRAP {
                assert!(libc::WIFSTOPPED(status) || status == 0, "it has failed: {status:#x}");
                return false;
            }
        }
        true
    }

    /// Runs to its end, or to the next place; how many system calls it makes.
    pub(crate) fn count_calls(&self) -> u64 {
        let mut stops = 0;
        loop {
            // SAFETY: the child is stopped.
            assert_eq!(unsafe { libc::ptrace(libc::PTRACE_SYSCALL, self.0, 0, 0) }, 0);
            let status = self.wait();
            assert!(libc::WIFSTOPPED(status), "it has failed: {status:#x}");
            if libc::WSTOPSIG(status) != libc::SIGTRAP {
                // Each call stops it twice.
                return stops / 2;
            }
            stops += 1;
        }
    }

    /// Does something with it, and kills it.
    pub(crate) fn tap_kill<R>(self, f: impl FnOnce(&Self) -> R) -> R {
        f(&self)
    }

    pub(crate) fn kill(self) {
        drop(self);
    }

    /// Waits for an orderly end.
    pub(crate) fn join(self) {
        assert_eq!(self.wait(), 0);
        core::mem::forget(self);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: kills this child, which has not been waited for, or is no more.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, core::ptr::null_mut(), 0);
        }
    }
}

/// A place from which on a child is stepped.
pub(crate) fn here() {
    // SAFETY: stops this process, which is traced.
    unsafe { libc::raise(libc::SIGSTOP) };
}

/// A word that a child and its parent share, besides any channel.
pub(crate) struct Shared(*mut AtomicU64);

// SAFETY: an atomic in a mapping that lives as long as this.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    pub(crate) fn new() -> Self {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping.
        let word = unsafe { libc::mmap(core::ptr::null_mut(), 4096, access, flags, -1, 0) };
        assert_ne!(word, libc::MAP_FAILED);
        Self(word.cast())
    }

    pub(crate) fn set(&self, value: u64) {
        // SAFETY: mapped, see above.
        // ORDERING: SeqCst; a test.
        unsafe { (*self.0).store(value, Ordering::SeqCst) };
    }

    pub(crate) fn get(&self) -> u64 {
        // SAFETY: mapped, see above.
        // ORDERING: SeqCst; a test.
        unsafe { (*self.0).load(Ordering::SeqCst) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: what `new` has mapped.
        unsafe { libc::munmap(self.0.cast(), 4096) };
    }
}
