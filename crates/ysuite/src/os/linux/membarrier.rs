//! Linux `membarrier(2)`, the heavy half of the asymmetric pair: the sleeper pays for it, the publisher does not.
//!
//! A process registers for it first. In a process with several threads that takes about 10 ms, because the kernel waits
//! until each CPU has gone through its scheduler (an RCU grace period). So no process registers for a first message.
//! Publishers count the fences that they execute while no waiter sleeps. The publisher that brings the count of the
//! process to [`PAYS`] registers, and makes one real call. By then fences have cost about as much as that does; so the
//! total cost is at most about twice the least, however many messages follow. If either call fails (old kernel,
//! seccomp) the process stays in Fence mode for good. [`prepare`] registers at once.
//!
//! Any thread. Only [`prepare`], and a call of [`may_give_up_fences`] that brings the count to a multiple of [`PAYS`],
//! can block. Nothing is locked, and no state says that a thread is registering: a forked child has the result of its
//! parent, and its registration, which belongs to the memory map and is copied with it; or it continues to count.
//!
//! Sources: the membarrier(2) manual page; liburcu; folly's asymmetric barriers; C++ P1202; Karlin, Manasse, Rudolph
//! and Sleator 1988, for paying once where it would have cost as much to continue.
//!
//! Cannot: be undone. If a filter forbids the call *after* it was tested, the barrier becomes a pause of one
//! millisecond, far longer than any store buffer keeps a store (Morrison and Afek, "Temporally bounding TSO").

use core::ffi::c_long;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

use crate::os::count_call;
use crate::os::sys::{Membarrier, membarrier};

/// The process has not tried it yet.
const UNKNOWN: u8 = 0;
/// The kernel says that it has the barrier. The process is not registered.
const OFFERED: u8 = 1;
const YES: u8 = 2;
const NO: u8 = 3;

/// Fences of a process that cost about as much as it does to register: a fence costs a stream 20 to 40 ns, and to
/// register takes 9 to 12 ms (docs/decisions/003). A power of two, so that the count may wrap.
const PAYS: u32 = 1 << 18;

/// Not a lock: a child that is forked while another thread registers would wait without end for a thread that it does
/// not have.
static AVAILABLE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Fences that publishers of this process have executed while no waiter slept.
static FENCES: AtomicU32 = AtomicU32::new(0);

/// Whether [`heavy`] works in this process by now. Makes no system call.
#[inline]
pub(crate) fn asymmetric() -> bool {
    // ORDERING: Acquire pairs with the Release in `answer`: the process is registered.
    AVAILABLE.load(Ordering::Acquire) == YES
}

/// Whether [`heavy`] works in this process, or may do so later. The first call may ask the kernel what it has, which
/// waits for nothing.
pub(crate) fn may_become_asymmetric() -> bool {
    // ORDERING: Relaxed; the value guards no other data here.
    match AVAILABLE.load(Ordering::Relaxed) {
        UNKNOWN => query(),
        known => known != NO,
    }
}

/// For a publisher that has executed `executed` fences while no waiter slept: whether [`heavy`] works, so that it need
/// not go on with them. Registers the process, and blocks for that, once fences have cost as much.
#[inline]
pub(crate) fn may_give_up_fences(executed: u32) -> bool {
    // ORDERING: Acquire pairs with the Release in `answer`: the process is registered.
    match AVAILABLE.load(Ordering::Acquire) {
        YES => true,
        NO => false,
        _ => count(executed),
    }
}

#[cold]
#[inline(never)]
fn count(executed: u32) -> bool {
    // ORDERING: Relaxed; a count. The read-modify-write lets one thread pass each multiple.
    let before = FENCES.fetch_add(executed, Ordering::Relaxed);
    before % PAYS + executed >= PAYS && ask()
}

/// Registers now, unless that has been tried: see [`crate::prepare`].
pub(crate) fn prepare() {
    // ORDERING: Relaxed; the value guards no other data here.
    if matches!(AVAILABLE.load(Ordering::Relaxed), UNKNOWN | OFFERED) {
        ask();
    }
}

// WAITS: for the kernel, some 10 ms in a process with several threads; once in a process: by the publisher whose fence
//     brings those of the process to 262,144, or by `prepare`; what was published before is visible to all; test:
//     tests/forbidden.rs: a_process_registers_for_membarrier_once_when_fences_have_cost_as_much,
//     tests/faults/refused.rs: registering_for_membarrier
// MUTANT: Kernels that refuse the barrier only, and a count of system calls for tests. Killed only by
// `membarrier_forbidden_by_a_filter_means_fences`.
/// Two threads may call this at once; the first result holds for both.
#[cold]
#[inline(never)]
fn ask() -> bool {
    // Fence mode is what race detectors understand.
    let works = !cfg!(miri) && {
        count_call();
        count_call();
        membarrier(Membarrier::RegisterPrivateExpedited).is_some() && membarrier(Membarrier::PrivateExpedited).is_some()
    };
    answer(if works { YES } else { NO }) == YES
}

#[cold]
fn query() -> bool {
    let has = !cfg!(miri) && {
        count_call();
        is_offered()
    };
    answer(if has { OFFERED } else { NO }) != NO
}

/// Asks the kernel.
fn is_offered() -> bool {
    // The commands are bits of the answer.
    membarrier(Membarrier::Query).is_some_and(|commands| commands & Membarrier::PrivateExpedited as c_long != 0)
}

/// Stores the result for all threads: `this`, unless another thread was first. A result that is merely offered may
/// still be replaced.
#[inline(never)]
fn answer(this: u8) -> u8 {
    // ORDERING: Relaxed, and on failure below; the value guards no other data.
    let mut known = AVAILABLE.load(Ordering::Relaxed);
    while known < YES.min(this) {
        // ORDERING: Release pairs with the Acquire loads above: a thread that finds YES finds the process registered.
        match AVAILABLE.compare_exchange(known, this, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return this,
            Err(first) => known = first,
        }
    }
    known
}

// WAITS: for the kernel; 1 ms where it refuses; test: tests/forbidden.rs:
//     each_barrier_that_is_refused_is_made_up_for_by_a_pause
// MUTANT: Kernels that refuse a promised barrier only. Killed only by
// `each_barrier_that_is_refused_is_made_up_for_by_a_pause`.
/// Makes every running thread of this process pass a full memory barrier.
#[inline(never)]
pub(crate) fn heavy() {
    count_call();
    if membarrier(Membarrier::PrivateExpedited).is_none() {
        count_call();
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(all(test, not(ysuite_loom), not(miri)))]
mod tests {
    use super::*;
    use crate::os::calls;

    /// Claim: If the kernel has `membarrier(2)`, the library uses it, with one call per heavy barrier.
    #[test]
    fn where_the_kernel_has_the_barrier_it_is_used_and_is_one_call() {
        let is_there = is_offered();
        // Every caller gets the same result: the first, the later ones, and one that makes the system call at the same
        // time.
        prepare();
        let answers = [asymmetric(), may_become_asymmetric(), may_give_up_fences(1), ask(), query(), asymmetric()];
        assert_eq!(answers, [is_there; 6]);
        let before = calls();
        heavy();
        // Where it is refused there is a pause instead.
        assert_eq!(calls() - before, if is_there { 1 } else { 2 });
        let before = calls();
        prepare();
        assert_eq!(calls(), before, "it is known");
    }
}
