//! How far the kernel lets a process use its own mechanisms, as it is kept.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One limit: what the system says, and what the transports here have of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowed {
    pub allowed: u64,
    /// Absent where it bounds what can be asked for and nothing is set to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
}

/// By the kernel's own names. What this system does not have is absent.
pub type KernelLimits = BTreeMap<String, Allowed>;
