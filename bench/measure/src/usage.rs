//! The CPU time and the context switches of the calling thread. Read before and after the timed part, never within it:
//! each of the two is a system call.

use std::mem::MaybeUninit;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The use of one thread, up to a moment.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    cpu: Duration,
    /// Absent where the system does not report it.
    switches: Option<u64>,
}

/// The use of one thread, between two moments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    pub cpu: Duration,
    pub switches: Option<u64>,
}

impl Usage {
    /// Up to now.
    pub fn of_this_thread() -> Self {
        // The CPU time last, so that reading the switches is not counted.
        let switches = switches();
        Self { cpu: cpu_time(), switches }
    }

    /// From then to now, on the same thread.
    pub fn until_now(self) -> Spent {
        let cpu = cpu_time().saturating_sub(self.cpu);
        let switches = self.switches.zip(switches()).map(|(before, after)| after.saturating_sub(before));
        Spent { cpu, switches }
    }
}

/// What the calling thread has used so far.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// How often the calling thread has blocked or yielded, or was preempted.
fn switches() -> Option<u64> {
    let mut usage = MaybeUninit::uninit();
    // SAFETY: the kernel fills all of it, or fails.
    let usage = unsafe {
        let filled = libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) == 0;
        filled.then(|| usage.assume_init())?
    };
    u64::try_from(usage.ru_nvcsw + usage.ru_nivcsw).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_sleeps_is_switched_out() {
        let before = Usage::of_this_thread();
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(before.until_now().switches.unwrap() >= 3);
    }
}
