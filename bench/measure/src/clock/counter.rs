//! The processor's counter on x86-64: the instructions that read it, and the properties that the processor reports. Any
//! thread may call; wait-free. Where reading the counter is forbidden (`prctl(PR_TSC_SIGSEGV)`), the process ends. That
//! is never set by accident.
//!
//! On ordering: Intel, "Software Developer's Manual", volume 2, RDTSC; AMD, "Architecture Programmer's Manual", volume
//! 3, RDTSC and LFENCE (which Linux makes wait for all earlier instructions, as it does on Intel).

use std::arch::x86_64::{__rdtscp, _mm_lfence, _rdtsc};

use raw_cpuid::CpuId;

/// Unordered: the processor may read it before earlier loads are done.
#[inline(always)]
pub(super) fn plain() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { _rdtsc() }
}

/// After everything earlier is done.
#[inline(always)]
pub(super) fn ordered() -> u64 {
    // SAFETY: both instructions are part of x86-64.
    unsafe {
        _mm_lfence();
        _rdtsc()
    }
}

/// After everything earlier is done, and before anything later begins.
#[inline(always)]
pub(super) fn enclosed() -> u64 {
    // SAFETY: both instructions are part of x86-64.
    unsafe {
        _mm_lfence();
        let now = _rdtsc();
        _mm_lfence();
        now
    }
}

/// After everything earlier is done, by the one instruction made for it. Only where [`has_rdtscp`].
#[inline(always)]
pub(super) fn with_processor() -> u64 {
    let mut processor = 0;
    // SAFETY: it is called only where the processor reports the instruction; the number of the CPU is written to a
    // local variable.
    unsafe { __rdtscp(&raw mut processor) }
}

pub(super) fn has_rdtscp() -> bool {
    CpuId::new().get_extended_processor_and_feature_identifiers().is_some_and(|features| features.has_rdtscp())
}

/// Whether the counter runs at a constant rate, no matter how the processor saves power.
pub(super) fn is_invariant() -> Option<bool> {
    CpuId::new().get_advanced_power_mgmt_info().map(|power| power.has_invariant_tsc())
}

/// Whether `read` returns the counter itself: then its result is between two of our readings. Moving to another CPU in
/// the middle may spoil some of the attempts, and a clock of another kind cannot hit the interval twice.
pub(super) fn is_what_is_read_by(read: impl Fn() -> u64) -> bool {
    const TRIES: usize = 16;
    let between = (0..TRIES).filter(|_| {
        let before = enclosed();
        let theirs = read();
        let after = enclosed();
        before <= theirs && theirs <= after
    });
    between.count() * 2 > TRIES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_is_recognised_and_other_clocks_are_not() {
        assert!(is_what_is_read_by(plain));
        assert!(is_what_is_read_by(enclosed));
        let system = std::time::Instant::now();
        assert!(!is_what_is_read_by(|| system.elapsed().as_nanos() as u64));
        assert!(!is_what_is_read_by(|| plain() + (1 << 40)));
    }
}
