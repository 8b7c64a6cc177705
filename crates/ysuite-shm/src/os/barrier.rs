//! The asymmetric pair of barriers across processes: [`light`], which runs for every message and costs no instruction,
//! and [`heavy`], one system call of the side that is about to sleep.
//!
//! `membarrier(GLOBAL_EXPEDITED)` interrupts every running thread of every process that has registered. So the process
//! whose thread calls `light` registers first, and the process that calls `heavy` needs no registration. Where the
//! kernel or a filter refuses either, the two sides use fences instead. Any thread; `heavy` does not wait for others to
//! act.

use core::ffi::c_long;
use std::sync::OnceLock;

use super::sys::{MEMBARRIER_GLOBAL_EXPEDITED, MEMBARRIER_QUERY, MEMBARRIER_REGISTER_GLOBAL_EXPEDITED, membarrier};

/// The side that runs for every message: keeps the compiler from reordering. Valid only against [`heavy`].
#[inline(always)]
pub(crate) fn light() {
    // ORDERING: SeqCst for the compiler; for the processor `heavy` on the other side runs the fence.
    #[cfg(not(ysuite_loom))]
    core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
    #[cfg(ysuite_loom)]
    crate::sync::model::light();
}

/// Runs a fence in every thread of every registered process, and in this one. False: the kernel has refused.
pub(crate) fn heavy() -> bool {
    #[cfg(not(ysuite_loom))]
    return membarrier(MEMBARRIER_GLOBAL_EXPEDITED).is_some();
    #[cfg(ysuite_loom)]
    {
        crate::sync::model::heavy();
        true
    }
}

/// Registers this process for [`heavy`] of others. False: refused, so its publishers keep their fences.
pub(crate) fn register() -> bool {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    *REGISTERED.get_or_init(|| membarrier(MEMBARRIER_REGISTER_GLOBAL_EXPEDITED).is_some())
}

/// Whether this process may call [`heavy`]. Where not, its peers keep their fences.
pub(crate) fn can_interrupt() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    let is_known =
        || membarrier(MEMBARRIER_QUERY).is_some_and(|known| known & MEMBARRIER_GLOBAL_EXPEDITED as c_long != 0);
    *CAN.get_or_init(|| is_known() && heavy())
}
