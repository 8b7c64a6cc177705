//! Linux `membarrier(2)`, the heavy half of the asymmetric pair: the sleeper pays, the writer does not.
//!
//! Decided once for the process: register, then make one real call. If either fails (old kernel, seccomp) the process
//! stays in Fence mode for good. Sources: the membarrier(2) manual page; liburcu; folly's asymmetric barriers; C++ P1202.
//!
//! Cannot: be undone. Should a filter forbid the call *after* it was tested, the barrier becomes a pause of one
//! millisecond, far longer than any store buffer keeps a store (Morrison and Afek, "Temporally bounding TSO").

use std::sync::OnceLock;
use std::time::Duration;

use rustix::thread::{MembarrierCommand, membarrier};

use super::count_call;

static AVAILABLE: OnceLock<bool> = OnceLock::new();

pub(super) fn available() -> bool {
    *AVAILABLE.get_or_init(|| {
        // Fence mode is what race detectors understand, and what a test can force.
        if cfg!(ysuite_fence) || cfg!(miri) {
            return false;
        }
        count_call();
        count_call();
        membarrier(MembarrierCommand::RegisterPrivateExpedited)
            .and_then(|()| membarrier(MembarrierCommand::PrivateExpedited))
            .is_ok()
    })
}

pub(super) fn everybody() {
    count_call();
    if membarrier(MembarrierCommand::PrivateExpedited).is_err() {
        std::thread::sleep(Duration::from_millis(1));
    }
}
