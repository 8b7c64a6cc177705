//! What the calling thread has taken of the machine: CPU time, and how often it was switched out. Read before and after
//! the part that is timed, never within; a reading of the switches opens a file and takes some ten microseconds.

use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Of one thread, up to a moment.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    cpu: Duration,
    /// Absent where the system does not tell.
    switches: Option<u64>,
}

/// Of one thread, between two moments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    pub cpu: Duration,
    pub switches: Option<u64>,
}

impl Usage {
    /// Up to now.
    pub fn of_this_thread() -> Self {
        // The CPU time last, so that reading the file counts for nobody.
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

/// How often the calling thread has given its CPU away, or lost it.
fn switches() -> Option<u64> {
    counted(&fs::read_to_string("/proc/thread-self/status").ok()?)
}

/// Both kinds together, from the text of a status file.
fn counted(status: &str) -> Option<u64> {
    let value =
        |name: &str| -> Option<u64> { status.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok() };
    Some(value("voluntary_ctxt_switches:")? + value("nonvoluntary_ctxt_switches:")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_switches_are_counted() {
        let status = "Name:\tybench\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(counted(status), Some(15));
        assert_eq!(counted("Name:\tybench\n"), None);
    }

    #[test]
    fn a_thread_that_sleeps_is_switched_out() {
        let before = Usage::of_this_thread();
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(before.until_now().switches.is_none_or(|switches| switches >= 3));
    }
}
