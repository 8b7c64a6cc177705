//! Asking for a cache line with the intent to write it, before it is needed. A hint: it may do nothing, never faults.

/// Fetches the line at `at` for writing. The address need not be valid.
#[inline(always)]
pub(crate) fn for_write(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri), not(ysuite_loom)))]
    // SAFETY: PREFETCHW reads no memory architecturally, faults on no address, and is a no-op on processors without it.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(all(target_arch = "aarch64", not(miri), not(ysuite_loom)))]
    // SAFETY: PRFM is a hint: it faults on no address.
    unsafe {
        core::arch::asm!("prfm pstl1keep, [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(any(miri, ysuite_loom, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = at;
}
