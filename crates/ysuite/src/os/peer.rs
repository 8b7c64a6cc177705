//! Waiting for a step of another thread that does not notify: one in the middle of an operation, which is over some
//! instructions later unless that thread has been preempted. Any thread; blocks for a millisecond at most at a time.
//!
//! Yields at first: then a thread of the same priority that is ready to run may have the CPU. A thread of lower
//! priority never gets it so. If the waiting thread is a real-time thread (`SCHED_FIFO`), and the other thread had its
//! CPU, a yield returns at once, for ever, or until the kernel throttles all real-time threads for the rest of a
//! second. So a thread that has yielded several times in vain sleeps, and any thread that is ready can use the CPU
//! meanwhile.
//!
//! Cannot: lend the other thread its own priority. It does not know which thread that is, so a thread of a priority
//! between the two keeps both waiting for as long as it runs.

use core::time::Duration;

#[cfg(not(ysuite_loom))]
use super::{platform, yield_now};
#[cfg(not(ysuite_loom))]
use crate::sync::AtomicU32;

/// The number of yields before a thread sleeps.
const YIELDS: u32 = 32;
/// How long it sleeps at first.
const SHORTEST: Duration = Duration::from_micros(50);
/// After this number of sleeps the next ones take twice as long.
const SLEEPS: u32 = 8;
/// The number of times that this is doubled.
const DOUBLINGS: u32 = 4;

/// The waits of one thread for one step of another.
#[derive(Default)]
pub(crate) struct PeerWait {
    waits: u32,
}

impl PeerWait {
    /// As of a thread that has yielded as often as it is to.
    pub(crate) const fn asleep() -> Self {
        Self { waits: YIELDS }
    }

    /// Waits once: one system call. The caller polls before and after it.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait(&mut self) {
        let sleeps = self.waits.checked_sub(YIELDS);
        self.waits = self.waits.saturating_add(1);
        #[cfg(not(ysuite_loom))]
        match sleeps {
            None => yield_now(),
            Some(sleeps) => {
                // No thread wakes this one: the word never changes.
                platform::wait(&AtomicU32::new(0), 0, Some(SHORTEST * (1 << (sleeps / SLEEPS).min(DOUBLINGS))));
            }
        }
        // In a model time does not pass; the other threads run.
        #[cfg(ysuite_loom)]
        {
            let _ = (sleeps, SHORTEST, SLEEPS, DOUBLINGS);
            crate::sync::thread::yield_now();
        }
    }
}

#[cfg(all(test, any(target_os = "linux", target_os = "android"), not(ysuite_loom), not(ysuite_portable), not(miri)))]
mod tests {
    use super::*;
    use crate::os::calls;

    /// How many times this thread has left its CPU voluntarily: a yield without another thread does not count, a sleep
    /// does.
    fn sleeps() -> u64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap();
        line.trim().parse().unwrap()
    }

    #[test]
    fn who_has_yielded_in_vain_sleeps() {
        let (mut wait, before) = (PeerWait::default(), calls());
        (0..YIELDS).for_each(|_| wait.wait());
        assert_eq!(calls() - before, u64::from(YIELDS));
        let asleep = sleeps();
        (0..10).for_each(|_| wait.wait());
        assert_eq!(calls() - before, u64::from(YIELDS) + 10);
        assert!(sleeps() - asleep >= 10, "a thread of less priority has no CPU meanwhile");
    }
}
