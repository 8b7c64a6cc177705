//! What only the build of this program knows, left in it by `build.rs`.

use ybench_core::env::Built;

pub const BUILT: Built = Built {
    compiler: option_env!("YBENCH_COMPILER"),
    commit: option_env!("YBENCH_COMMIT"),
    crates: option_env!("YBENCH_CRATES"),
};

/// The build's own reading of the lock file, here for its tests.
#[cfg(test)]
#[path = "../build/lock.rs"]
mod lock;
