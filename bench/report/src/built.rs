//! Facts from the build of this program, stored by `build.rs`, and the kernel limits that the transports know.

use ybench_measure::env::Built;
use ybench_measure::transport::kernel;

pub fn built() -> Built {
    Built {
        compiler: option_env!("YBENCH_COMPILER"),
        commit: option_env!("YBENCH_COMMIT"),
        crates: option_env!("YBENCH_CRATES"),
        kernel_limits: kernel::limits(),
    }
}

/// The parser of the lock file, which the build uses; here for its tests.
#[cfg(test)]
#[path = "../build/lock.rs"]
mod lock;
