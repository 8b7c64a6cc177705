//! Doing a task, in small steps: after each the worker may be told that nobody wants it any more.

use std::thread;
use std::time::{Duration, Instant};

use crate::protocol::{Said, Task, Work};

const NAP: Duration = Duration::from_millis(5);
/// Divisors between two looks: a fraction of a millisecond.
const STEP: u32 = 50_000;

/// Does it. `is_wanted` is asked now and then.
pub(crate) fn run(task: &Task<'_>, attempt: u32, mut is_wanted: impl FnMut() -> bool) -> Said {
    let until = Instant::now() + Duration::from_millis(task.pause.into());
    loop {
        if !is_wanted() {
            return Said::Withdrawn;
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        thread::sleep(left.min(NAP));
    }
    if attempt < task.fails.into() {
        return Said::Failed;
    }
    match task.work {
        Work::Factor(number) => smallest_factor(number, is_wanted).map_or(Said::Withdrawn, Said::Done),
        Work::Sum(payload) => Said::Done(checksum(payload)),
        // Not an abort, which could leave a core dump behind.
        Work::Crash => std::process::exit(70),
    }
}

fn smallest_factor(number: u64, mut is_wanted: impl FnMut() -> bool) -> Option<u64> {
    if number.is_multiple_of(2) {
        return Some(2);
    }
    let mut divisor = 3;
    while is_wanted() {
        for _ in 0..STEP {
            if divisor > number / divisor {
                return Some(number);
            }
            if number.is_multiple_of(divisor) {
                return Some(divisor);
            }
            divisor += 2;
        }
    }
    None
}

/// FNV-1a.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
