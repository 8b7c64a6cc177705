//! Linux: sleep and wake by `futex(2)`, private to the process; and the barrier of `membarrier(2)`.
//!
//! Any thread; blocks in [`wait`], and where `membarrier` says so.

mod cpus;
mod membarrier;

use core::time::Duration;

use super::sys::{Time, futex_wait, futex_wake};
use super::{Waited, count_call};
use crate::sync::AtomicU32;

pub(crate) use cpus::{cpus, known_cpus};
pub(crate) use membarrier::{asymmetric, heavy, may_become_asymmetric, may_give_up_fences, prepare};

pub(crate) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> Waited {
    // A duration that the kernel's clock cannot represent is no limit.
    let timeout = timeout.and_then(Time::of);
    count_call();
    // EAGAIN: the word had changed. EINTR: a signal handler ran. In both cases the caller polls again.
    if futex_wait(word, expected, timeout.as_ref()) { Waited::Look } else { Waited::TimedOut }
}

pub(crate) fn wake(word: &AtomicU32, sleepers: u32) {
    count_call();
    futex_wake(word, sleepers);
}

#[cfg(all(test, not(ysuite_loom), not(miri)))]
mod tests {
    use super::*;
    use crate::os::calls;

    #[test]
    fn to_sleep_is_one_call_and_to_wake_is_another() {
        let (word, before) = (AtomicU32::new(0), calls());
        // The word has another value already.
        assert_eq!(wait(&word, 1, None), Waited::Look);
        assert_eq!(calls() - before, 1);
        wake(&word, 1);
        assert_eq!(calls() - before, 2);
    }
}
