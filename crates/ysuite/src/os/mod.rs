//! The operating system: what a platform must supply, and one file for each mechanism.
//!
//! This module knows nothing of queues or channels. Errors are returned as `io::Error`. Calls whose errors no caller
//! could use retry or degrade, and their comments say how. Every system call is counted for the calling thread (see
//! [`calls`]), so tests can assert on counts and never on times.
//!
//! | platform | sleep and wake | barrier for others | descriptor | large chunks |
//! |---|---|---|---|---|
//! | Linux | `futex` | `membarrier`, or none (Fence mode) | `eventfd`, or `socketpair` | `pages`, `regions` |
//! | Windows | `WaitOnAddress` | `FlushProcessWriteBuffers`; none on aarch64 and under Wine | event | `VirtualAlloc` |
//! | other Unix | `portable` (condition variables) | none (Fence mode) | `socketpair` | the allocator |
//! | other | `portable` | none (Fence mode) | none | the allocator |
//! | model (`ysuite_loom`) | `model` (loom's condition variable) | a fence | none | the allocator |
//!
//! A platform is a module with these functions, to sleep, to wake, and to order memory across threads. A program has
//! one:
//!
//! * `wait(word, expected, timeout)` sleeps while `word == expected`, at most for `timeout`. It may return early for no
//!   reason.
//! * `wake(word, sleepers)` wakes up to `sleepers` threads waiting on `word`. The word is not read: a late call is
//!   harmless.
//! * `asymmetric()` returns whether `heavy` works in this process by now, so that the asymmetric pair of barriers may
//!   be used. It never waits. The result may become true while the process runs, and then stays true: a light barrier
//!   without a real heavy one would lose wake-ups.
//! * `may_give_up_fences(executed)` returns the same to a publisher that has executed `executed` fences while no waiter
//!   slept. It counts them, and makes `heavy` work, which may take about 10 ms, once they have cost as much.
//!   `may_become_asymmetric()` returns whether it ever can; `prepare()` does it at once.
//! * `heavy()` is the barrier's side that runs before a sleep: afterwards, every other thread of the process has
//!   executed a full fence at some point during the call. Call it only where `asymmetric` has returned true.
//! * `cpus()` returns how many CPUs the machine has in use; `usize::MAX` where the number is unknown. Not the CPUs that
//!   the calling thread may use: the peers of a thread that is pinned to one CPU run on others. The first call makes a
//!   system call; `known_cpus()` never does, and returns `usize::MAX` before that.

use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::NonNull;
use core::time::Duration;
use std::alloc::handle_alloc_error;

use crate::sync::AtomicU32;

mod barrier;
mod deadline;
#[cfg(all(windows, feature = "signal"))]
#[path = "windows/event.rs"]
mod event;
#[cfg(unix)]
mod home;
mod lock;
#[cfg(all(any(unix, windows), feature = "signal"))]
mod notifier;
#[cfg(any(
    all(any(target_os = "linux", target_os = "android"), not(ysuite_loom)),
    all(windows, not(ysuite_loom), not(ysuite_portable))
))]
#[cfg_attr(not(windows), path = "linux/pages.rs")]
#[cfg_attr(windows, path = "windows/pages.rs")]
mod pages;
mod peer;
#[cfg_attr(ysuite_loom, path = "model.rs")]
#[cfg_attr(
    all(not(ysuite_loom), any(ysuite_portable, not(any(target_os = "linux", target_os = "android", windows)))),
    path = "portable.rs"
)]
#[cfg_attr(
    all(not(ysuite_loom), not(ysuite_portable), any(target_os = "linux", target_os = "android")),
    path = "linux/mod.rs"
)]
#[cfg_attr(all(not(ysuite_loom), not(ysuite_portable), windows), path = "windows/mod.rs")]
mod platform;
/// The portable platform where it is not the platform: for its own tests, which then run wherever ours do.
#[cfg(all(test, not(ysuite_loom), not(ysuite_portable), any(target_os = "linux", target_os = "android", windows)))]
#[allow(dead_code)]
mod portable;
mod processor;
#[cfg(all(any(target_os = "linux", target_os = "android"), not(ysuite_loom), not(ysuite_portable)))]
#[path = "linux/regions.rs"]
mod regions;
#[cfg(any(unix, windows))]
#[cfg_attr(not(feature = "signal"), allow(dead_code))] // What is for descriptors.
#[cfg_attr(all(windows, any(ysuite_portable, ysuite_loom)), allow(dead_code))] // And what is for the platform.
#[cfg_attr(windows, path = "windows/sys.rs")]
mod sys;
#[cfg(all(test, not(ysuite_loom), not(miri)))]
mod tests;
#[cfg(all(unix, feature = "signal"))]
mod wakeup_fd;

pub(crate) use barrier::light;
pub(crate) use deadline::Deadline;
#[cfg(all(windows, feature = "signal"))]
pub(crate) use event::WakeupEvent;
#[cfg(unix)]
pub(crate) use home::Home;
pub(crate) use lock::ForkLock;
#[cfg(all(test, unix, not(ysuite_loom), not(miri)))]
pub(crate) use lock::tests::child_can;
#[cfg(all(any(unix, windows), feature = "signal"))]
pub(crate) use notifier::{Descriptor, Notifier};
pub(crate) use peer::PeerWait;
pub(crate) use platform::{asymmetric, cpus, heavy, known_cpus, may_become_asymmetric, may_give_up_fences, wait, wake};
pub(crate) use processor::{marks_lines, may_mark_lines};
#[cfg(all(unix, feature = "signal"))]
pub(crate) use wakeup_fd::WakeupFd;

/// How a wait on a word ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// Woken, or the word had another value already, or for no reason at all: poll again.
    Look,
    /// The time-out has passed.
    TimedOut,
}

/// Memory for a chunk. Aborts where there is none, as allocation does.
pub(crate) fn allocate(layout: Layout) -> NonNull<u8> {
    allocate_by(std::alloc::alloc, layout, false).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Zeroed memory; `None` where there is none. Whole pages are in place already. `layout` is not empty.
pub(crate) fn allocate_zeroed(layout: Layout) -> Option<NonNull<u8>> {
    allocate_by(std::alloc::alloc_zeroed, layout, true)
}

/// Zeroed memory for a long time: where it has many pages, each is put in place when it is first written, and can be
/// given back to the kernel by [`discard`]. Aborts where there is no memory. `layout` is not empty.
pub(crate) fn reserve(layout: Layout) -> NonNull<u8> {
    assert!(layout.size() != 0, "an empty layout cannot be allocated");
    #[cfg(all(any(target_os = "linux", target_os = "android", windows), not(ysuite_loom), not(ysuite_portable)))]
    if pages::is_paged(layout) {
        return pages::reserve(layout).unwrap_or_else(|| handle_alloc_error(layout));
    }
    // SAFETY: the assertion above ensures that the layout is not empty.
    NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Has the pages of the first `bytes` bytes put in place at once. A hint, and for memory from the allocator nothing.
///
/// # Safety
/// `memory` came from [`reserve`] with this layout, which has at least `bytes` bytes.
#[cfg_attr(
    not(all(any(target_os = "linux", target_os = "android", windows), not(ysuite_loom), not(ysuite_portable))),
    expect(unused_variables, reason = "nothing to be done here")
)]
pub(crate) unsafe fn populate(memory: NonNull<u8>, bytes: usize, layout: Layout) {
    #[cfg(all(any(target_os = "linux", target_os = "android", windows), not(ysuite_loom), not(ysuite_portable)))]
    if pages::is_paged(layout) {
        // SAFETY: by the caller it is a mapping of that length.
        unsafe { pages::populate(memory, bytes) };
    }
}

/// Gives the pages of memory from [`reserve`] back to the kernel. Then each byte reads as zero, or, for memory from the
/// allocator, which keeps it, as before.
///
/// # Safety
/// `memory` came from [`reserve`] with this layout. Nothing in it is used any more, and no thread writes to it
/// meanwhile; a thread that loads an atomic finds the old value or zero.
#[cfg_attr(
    not(all(any(target_os = "linux", target_os = "android", windows), not(ysuite_loom), not(ysuite_portable))),
    expect(unused_variables, reason = "nothing to be done here")
)]
pub(crate) unsafe fn discard(memory: NonNull<u8>, layout: Layout) {
    #[cfg(all(any(target_os = "linux", target_os = "android", windows), not(ysuite_loom), not(ysuite_portable)))]
    if pages::is_paged(layout) {
        // SAFETY: by the caller it is a mapping with this layout, and nothing in it is used.
        unsafe { pages::discard(memory, layout) };
    }
}

/// Memory from the kernel, or from this function of the allocator.
#[cfg_attr(
    not(all(any(target_os = "linux", target_os = "android", windows), not(ysuite_loom), not(ysuite_portable))),
    expect(unused_variables, reason = "what the allocator gives is as its function says")
)]
fn allocate_by(allocator: unsafe fn(Layout) -> *mut u8, layout: Layout, is_zeroed: bool) -> Option<NonNull<u8>> {
    assert!(layout.size() != 0, "an empty layout cannot be allocated");
    #[cfg(all(any(target_os = "linux", target_os = "android", windows), not(ysuite_loom), not(ysuite_portable)))]
    if pages::is_paged(layout) {
        return pages::take(layout, is_zeroed);
    }
    // SAFETY: the assertion above ensures that the layout is not empty.
    NonNull::new(unsafe { allocator(layout) })
}

/// Gives memory back.
///
/// # Safety
/// `memory` came from [`allocate`], [`allocate_zeroed`] or [`reserve`] with this layout, and no thread uses it any
/// more.
pub(crate) unsafe fn deallocate(memory: NonNull<u8>, layout: Layout) {
    // SAFETY: by the caller the memory came from one of the three functions with this layout, which decides between the
    // kernel and the allocator there as it does here; and no thread uses it.
    unsafe {
        #[cfg(all(any(target_os = "linux", target_os = "android", windows), not(ysuite_loom), not(ysuite_portable)))]
        if pages::is_paged(layout) {
            return pages::give(memory, layout);
        }
        std::alloc::dealloc(memory.as_ptr(), layout);
    }
}

/// Gives the kernel what memory is kept for a backlog that goes on: one is over, or its receiver is even about to sleep.
#[cfg_attr(
    not(all(any(target_os = "linux", target_os = "android"), not(ysuite_loom), not(ysuite_portable))),
    expect(unused_variables, reason = "nothing is kept")
)]
pub(crate) fn settle(sleeps: bool) {
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(ysuite_loom), not(ysuite_portable)))]
    regions::settle(sleeps);
}

/// Sleeps while `word == expected`, until the deadline at most. May return early for no reason. Makes no system call
/// once the deadline has passed.
#[inline(never)]
pub(crate) fn sleep_on(word: &AtomicU32, expected: u32, deadline: Deadline) -> Waited {
    match deadline.left() {
        Some(Duration::ZERO) => Waited::TimedOut,
        left => wait(word, expected, left),
    }
}

// THREAD EXIT: `CALLS`: `count_call` does not count, nor a hub's calls (the hub has no thread-local of its own); by
//     construction: `try_with`
std::thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// System calls this crate has made on the calling thread so far.
#[doc(hidden)]
#[must_use]
pub fn calls() -> u64 {
    CALLS.with(Cell::get)
}

/// Counts one system call. The cost is negligible compared with the call itself.
pub(crate) fn count_call() {
    // A thread whose thread-locals are dropped may still drop channel handles.
    let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
}

/// What the first uses would do otherwise: the barrier for others, and the number of CPUs.
pub(crate) fn prepare() {
    platform::prepare();
    let _ = cpus();
}

/// Lets another thread that is ready to run have this CPU, if there is one.
pub(crate) fn yield_now() {
    count_call();
    // MUTANT: Speed only: a waiting thread keeps its CPU until the scheduler takes it.
    std::thread::yield_now();
}
