//! What only the build of this program knows, left in it by `build.rs`; and what only its transports know of the kernel.

use ybench_core::env::Built;
use ybench_core::transport::kernel;

pub fn built() -> Built {
    Built {
        compiler: option_env!("YBENCH_COMPILER"),
        commit: option_env!("YBENCH_COMMIT"),
        crates: option_env!("YBENCH_CRATES"),
        kernel_limits: kernel::limits(),
    }
}

/// The build's own reading of the lock file, here for its tests.
#[cfg(test)]
#[path = "../build/lock.rs"]
mod lock;
