//! Windows: sleep and wake by `WaitOnAddress`; and the barrier of `FlushProcessWriteBuffers`.
//!
//! Any thread; blocks in [`wait`]. The barrier needs no registration and cannot be refused. It is used on x86 only: it
//! is documented to make *writes* visible, and the handshakes need a full fence, which an interrupt is there. Under Wine
//! it may do nothing (Wine 8: a stub), so there are fences instead.
//!
//! Sources: the pages of these functions in Microsoft's documentation; .NET's runtime, which relies on the same barrier.
//!
//! Cannot: recognise Wine before version 7.

use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering, fence};
use core::time::Duration;
use std::time::Instant;

use super::{Waited, count_call, sys};
use crate::sync::AtomicU32;

pub(crate) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> Waited {
    count_call();
    let begun = timeout.map(|timeout| (Instant::now(), timeout));
    let is_woken = sys::wait_on_address(word, expected, timeout);
    match begun {
        // The system's clock for sleeps is coarser than this one, and may be early.
        Some((begun, timeout)) if !is_woken && begun.elapsed() >= timeout => Waited::TimedOut,
        _ => Waited::Look,
    }
}

/// Up to this number of threads are woken one by one.
const FEW: u32 = 16;

pub(crate) fn wake(word: &AtomicU32, sleepers: u32) {
    count_call();
    // All where many are meant: a wait may end for no reason.
    if sleepers > FEW {
        return sys::wake_all(word);
    }
    (0..sleepers).for_each(|_| sys::wake_one(word));
}

/// Nobody has asked yet.
const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

/// Whether the barrier is one.
static IS_REAL: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whether [`heavy`] works, as far as it is known. Makes no system call.
#[inline]
pub(crate) fn asymmetric() -> bool {
    // ORDERING: Relaxed; the value guards no other data: nothing was prepared for the barrier.
    IS_REAL.load(Ordering::Relaxed) == YES
}

/// Whether [`heavy`] works. The first call asks the system, which waits for nothing.
#[inline]
pub(crate) fn may_become_asymmetric() -> bool {
    // ORDERING: Relaxed; the value guards no other data.
    match IS_REAL.load(Ordering::Relaxed) {
        UNKNOWN => ask(),
        known => known == YES,
    }
}

/// The barrier costs nothing before it is used.
#[inline]
pub(crate) fn may_give_up_fences(_executed: u32) -> bool {
    may_become_asymmetric()
}

pub(crate) fn prepare() {
    may_become_asymmetric();
}

#[cold]
#[inline(never)]
fn ask() -> bool {
    let is_real = !cfg!(miri) && cfg!(any(target_arch = "x86_64", target_arch = "x86")) && {
        count_call();
        !sys::is_wine()
    };
    // ORDERING: Relaxed; two threads that ask at once have the same answer, which guards no other data.
    IS_REAL.store(if is_real { YES } else { NO }, Ordering::Relaxed);
    is_real
}

/// Makes every running thread of this process pass a full memory barrier.
#[inline(never)]
pub(crate) fn heavy() {
    count_call();
    // ORDERING: SeqCst, twice; the calling thread's own part of the barrier, of which the documentation says nothing. The
    // others' pairs with `light`.
    fence(Ordering::SeqCst);
    sys::flush_process_write_buffers();
    fence(Ordering::SeqCst);
}

/// 0 until the system was asked.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

/// The number of processors of all groups: std counts those of one.
pub(crate) fn cpus() -> usize {
    // ORDERING: Relaxed; the number guards no other data. Two threads that call at once get the same number.
    match ACTIVE.load(Ordering::Relaxed) {
        0 => count(),
        known => known,
    }
}

/// The same, as far as it is known: "many" before the first call of [`cpus`].
pub(crate) fn known_cpus() -> usize {
    // ORDERING: Relaxed; the number guards no other data.
    match ACTIVE.load(Ordering::Relaxed) {
        0 => usize::MAX,
        known => known,
    }
}

#[cold]
fn count() -> usize {
    count_call();
    let counted = match sys::processors() {
        0 => usize::MAX,
        found => found as usize,
    };
    // ORDERING: Relaxed; the number guards no other data.
    ACTIVE.store(counted, Ordering::Relaxed);
    counted
}

#[cfg(all(test, not(miri)))]
mod tests {
    use core::ffi::{CStr, c_void};

    use super::*;
    use crate::os::calls;

    unsafe extern "system" {
        fn GetModuleHandleA(name: *const core::ffi::c_char) -> *mut c_void;
        fn GetProcAddress(module: *mut c_void, name: *const core::ffi::c_char) -> *mut c_void;
    }

    /// By the function that Wine's documentation names.
    fn has_wine() -> bool {
        let (library, function): (&CStr, &CStr) = (c"ntdll.dll", c"wine_get_version");
        // SAFETY: two names; the library is in every process.
        unsafe { !GetProcAddress(GetModuleHandleA(library.as_ptr()), function.as_ptr()).is_null() }
    }

    /// Claim: On Windows the asymmetric barrier is used where it is one: not under Wine, and on x86 only.
    #[test]
    fn the_barrier_is_used_where_it_is_real() {
        assert_eq!(sys::is_wine(), has_wine());
        let is_real = !has_wine() && cfg!(any(target_arch = "x86_64", target_arch = "x86"));
        prepare();
        assert_eq!([asymmetric(), may_become_asymmetric(), may_give_up_fences(1), ask(), asymmetric()], [is_real; 5]);
        let before = calls();
        prepare();
        assert_eq!(calls(), before, "it is known");
        heavy();
        assert_eq!(calls() - before, 1);
    }

    #[test]
    fn as_many_processors_as_std_finds_or_more() {
        let found = std::thread::available_parallelism().unwrap().get();
        assert!(cpus() >= found && cpus() != usize::MAX);
        assert_eq!(known_cpus(), cpus());
    }
}
