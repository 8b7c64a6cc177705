//! How this processor hands lines of memory from one core to another, as far as it decides what a thread does.
//!
//! Any thread. The first call queries the processor, which takes some microseconds in a guest; the others are a load.

use core::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

static MARKS: AtomicU8 = AtomicU8::new(UNKNOWN);

// MUTANT: Speed only: how fast cache lines move between cores. Miri and the models always see the mark.
/// Whether a reader should write to a line that it has read, before the line's writer writes it again.
///
/// A line that was only read is shared by two caches. On processors of AMD each store to it then waits until the other
/// copy is gone, and a prefetch for writing does nothing for a line that is here already; a line that the reader has
/// written to comes over in one piece, in about a third of the time. Elsewhere that has not been measured, and nothing
/// is written. A model writes, so that it sees the access.
pub(crate) fn marks_lines() -> bool {
    if cfg!(any(ysuite_loom, miri)) {
        return true;
    }
    // ORDERING: Relaxed twice; the value guards no other data, and is the same for all callers.
    match MARKS.load(Ordering::Relaxed) {
        UNKNOWN => {
            let marks = is_amd();
            MARKS.store(if marks { YES } else { NO }, Ordering::Relaxed);
            marks
        }
        known => known == YES,
    }
}

// MUTANT: Speed only: how fast cache lines move between cores.
/// As [`marks_lines`], as far as somebody has asked: false otherwise.
#[inline(always)]
pub(crate) fn may_mark_lines() -> bool {
    // ORDERING: Relaxed, as above.
    cfg!(any(ysuite_loom, miri)) || MARKS.load(Ordering::Relaxed) == YES
}

// MUTANT: Speed only: how fast cache lines move between cores.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn is_amd() -> bool {
    // SAFETY: every processor of this architecture has the instruction. Newer compilers know that, and ask for no such
    // block.
    #[allow(unused_unsafe)]
    let vendor = unsafe { core::arch::x86_64::__cpuid(0) };
    let name = (vendor.ebx, vendor.edx, vendor.ecx);
    // Hygon's are of the same design.
    name == const { registers(b"AuthenticAMD") } || name == const { registers(b"HygonGenuine") }
}

/// A vendor's name as the processor returns it.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const fn registers(name: &[u8; 12]) -> (u32, u32, u32) {
    let &[a, b, c, d, e, f, g, h, i, j, k, l] = name;
    (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]), u32::from_le_bytes([i, j, k, l]))
}

// MUTANT: Speed only: how fast cache lines move between cores.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn is_amd() -> bool {
    false
}
