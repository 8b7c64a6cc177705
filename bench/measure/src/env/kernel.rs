//! The kernel's limits for its own mechanisms, as a result keeps them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One limit: the system's value, and the part of it that the transports use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowed {
    pub allowed: u64,
    /// Absent where it bounds requests and nothing is set to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
}

/// By the kernel's own names. A limit that this system does not have is absent.
pub type KernelLimits = BTreeMap<String, Allowed>;
