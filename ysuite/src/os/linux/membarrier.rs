//! Linux `membarrier(2)`, the heavy half of the asymmetric pair: the sleeper pays for it, the publisher does not.
//!
//! Decided once for the process: register, then make one real call. If either fails (old kernel, seccomp) the process
//! stays in Fence mode for good. Sources: the membarrier(2) manual page; liburcu; folly's asymmetric barriers; C++
//! P1202.
//!
//! Cannot: be undone. If a filter forbids the call *after* it was tested, the barrier becomes a pause of one
//! millisecond, far longer than any store buffer keeps a store (Morrison and Afek, "Temporally bounding TSO").

use core::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use rustix::thread::{MembarrierCommand, membarrier};

use crate::os::count_call;

/// The kernel has not been asked yet.
const UNKNOWN: u8 = 0;
const YES: u8 = 1;
const NO: u8 = 2;

/// Not a lock: a child that is forked while another thread asks would wait without end for a thread that it does not
/// have.
static AVAILABLE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whether [`heavy`] works in this process: decided once, at the first call.
#[inline]
pub(crate) fn asymmetric() -> bool {
    // ORDERING: Relaxed; the answer guards no other data.
    match AVAILABLE.load(Ordering::Relaxed) {
        UNKNOWN => ask(),
        known => known == YES,
    }
}

/// Two threads may ask at once; the first answer holds for both.
#[cold]
fn ask() -> bool {
    // Fence mode is what race detectors understand.
    let works = !cfg!(miri) && {
        count_call();
        count_call();
        membarrier(MembarrierCommand::RegisterPrivateExpedited)
            .and_then(|()| membarrier(MembarrierCommand::PrivateExpedited))
            .is_ok()
    };
    let answer = if works { YES } else { NO };
    // ORDERING: Relaxed twice; the answer guards no other data, and the exchange makes all threads agree on the first.
    AVAILABLE.compare_exchange(UNKNOWN, answer, Ordering::Relaxed, Ordering::Relaxed).err().unwrap_or(answer) == YES
}

/// Makes every running thread of this process pass a full memory barrier.
pub(crate) fn heavy() {
    count_call();
    if membarrier(MembarrierCommand::PrivateExpedited).is_err() {
        count_call();
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(all(test, not(ysuite_loom), not(miri)))]
mod tests {
    use rustix::thread::{MembarrierQuery, membarrier_query};

    use super::*;
    use crate::os::calls;

    #[test]
    fn where_the_kernel_has_the_barrier_it_is_used_and_is_one_call() {
        let is_there = membarrier_query().contains(MembarrierQuery::PRIVATE_EXPEDITED);
        // Whoever asks is answered alike, the first, those behind, and one who asks the kernel at the same time.
        assert_eq!([asymmetric(), asymmetric(), ask()], [is_there; 3]);
        let before = calls();
        heavy();
        // Where it is refused there is a pause in its place.
        assert_eq!(calls() - before, if is_there { 1 } else { 2 });
    }
}
