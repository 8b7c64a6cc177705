//! Time that others have taken from this program: the hypervisor, and other programs on the same CPUs.

use std::fs;
use std::mem::MaybeUninit;
use std::thread;
use std::time::{Duration, Instant};

/// Seconds that the hypervisor has taken from each of `cpus` so far, together.
pub fn stolen_seconds(cpus: &[usize]) -> Option<f64> {
    seconds(&[STOLEN], cpus)
}

/// Seconds in which other programs have been on these `cpus` so far, together, from a moment that is not known: only a
/// difference means anything. Threads of this program must be on no other CPUs. A child counts as another program until
/// it has ended and was waited for.
pub fn seconds_of_others(cpus: &[usize]) -> Option<f64> {
    let own = own_seconds(libc::RUSAGE_SELF)? + own_seconds(libc::RUSAGE_CHILDREN)?;
    Some(seconds(&WORK, cpus)? - own)
}

/// The CPUs among these that other programs keep busy on average, from a look at them while this one sleeps.
pub(super) fn busy(cpus: &[usize]) -> Option<f64> {
    const LOOK: Duration = Duration::from_millis(200);
    let (start, before) = (Instant::now(), seconds_of_others(cpus)?);
    thread::sleep(LOOK);
    let busy = (seconds_of_others(cpus)? - before) / start.elapsed().as_secs_f64();
    Some(busy.clamp(0.0, cpus.len() as f64))
}

/// The columns of a CPU in /proc/stat: user, nice, system, irq, softirq. A guest's time is in the first two.
const WORK: [usize; 5] = [0, 1, 2, 5, 6];
const STOLEN: usize = 7;

fn seconds(columns: &[usize], cpus: &[usize]) -> Option<f64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    ticks(&text, columns, cpus).map(|ticks| ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// CPU time of this process, or of its children that were waited for.
fn own_seconds(whose: libc::c_int) -> Option<f64> {
    let mut usage = MaybeUninit::uninit();
    // SAFETY: the kernel fills all of it, or fails.
    let usage: libc::rusage = unsafe {
        let filled = libc::getrusage(whose, usage.as_mut_ptr()) == 0;
        filled.then(|| usage.assume_init())?
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Some(seconds(usage.ru_utime) + seconds(usage.ru_stime))
}

fn ticks(stat: &str, columns: &[usize], cpus: &[usize]) -> Option<u64> {
    let mut sum = 0;
    for cpu in cpus {
        let name = format!("cpu{cpu}");
        let fields: Vec<&str> = stat.lines().map(str::split_whitespace).find_map(|mut fields| {
            let found = fields.next() == Some(name.as_str());
            found.then(|| fields.collect())
        })?;
        for column in columns {
            sum += fields.get(*column)?.parse::<u64>().ok()?;
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 1 2 3 4 5 6 7 20 0 0\nintr 5\n";

    #[test]
    fn ticks_are_those_of_the_cpus_in_use() {
        assert_eq!(ticks(STAT, &[STOLEN], &[0]), Some(8));
        assert_eq!(ticks(STAT, &[STOLEN], &[0, 1]), Some(28));
        assert_eq!(ticks(STAT, &[STOLEN], &[2]), None);
        assert_eq!(ticks(STAT, &WORK, &[0, 1]), Some(2 * (1 + 2 + 3 + 6 + 7)));
    }

    #[test]
    fn the_work_of_this_program_is_not_that_of_others() {
        let all: Vec<usize> = crate::place::allowed();
        let own = || own_seconds(libc::RUSAGE_SELF).unwrap();
        let before = own();
        while own() - before < 0.05 {
            std::hint::black_box(own());
        }
        assert!(busy(&all).is_some_and(|busy| (0.0..=all.len() as f64).contains(&busy)));
        assert!(seconds_of_others(&[9_999]).is_none());
    }
}
