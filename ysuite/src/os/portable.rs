//! Sleep and wake for systems without a futex: a fixed table of condition variables, chosen by the word's address.
//!
//! Any thread. Waiters that share a bucket wake together and look again. No barrier for others: Fence mode.

use core::time::Duration;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use super::{Platform, Waited, count_call};
use crate::sync::{AtomicU32, Ordering};

pub(crate) struct Portable;

struct Bucket {
    lock: Mutex<()>,
    changed: Condvar,
}

const BUCKETS: usize = 64;
static TABLE: [Bucket; BUCKETS] = [const { Bucket { lock: Mutex::new(()), changed: Condvar::new() } }; BUCKETS];

fn bucket(word: &AtomicU32) -> (&'static Bucket, MutexGuard<'static, ()>) {
    // Words live in cache lines of their own: the low bits say little.
    let address = core::ptr::from_ref(word).addr();
    let bucket = &TABLE[(address >> 7 ^ address >> 13) % BUCKETS];
    // The lock guards no data: a poisoned one is as good as new.
    (bucket, bucket.lock.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Platform for Portable {
    fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> Waited {
        count_call();
        let (bucket, guard) = bucket(word);
        // ORDERING: the lock orders this against `wake`, whose caller changed the word before.
        if word.load(Ordering::Relaxed) != expected {
            return Waited::Look;
        }
        match timeout {
            None => drop(bucket.changed.wait(guard).unwrap_or_else(PoisonError::into_inner)),
            Some(timeout) => {
                let (guard, result) =
                    bucket.changed.wait_timeout(guard, timeout).unwrap_or_else(PoisonError::into_inner);
                drop(guard);
                if result.timed_out() {
                    return Waited::TimedOut;
                }
            }
        }
        Waited::Look
    }

    fn wake(word: &AtomicU32, _sleepers: u32) {
        count_call();
        let (bucket, guard) = bucket(word);
        drop(guard);
        bucket.changed.notify_all();
    }

    fn can_bar_others() -> bool {
        false
    }

    fn bar_others() {
        unreachable!("there is no barrier for others here, and `can_bar_others` says so");
    }

    fn cpus() -> usize {
        static CPUS: OnceLock<usize> = OnceLock::new();
        *CPUS.get_or_init(|| std::thread::available_parallelism().map_or(usize::MAX, core::num::NonZero::get))
    }
}
