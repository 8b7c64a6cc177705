//! The channels between processes, in one process: its two ends do not know the difference.
#![cfg(target_os = "linux")]

mod broadcast;
mod bytes;
mod call;
mod conformance;
mod counted;
mod endings;
mod funnel;
#[cfg(any(feature = "mio", feature = "tokio"))]
mod integrations;
#[allow(dead_code, reason = "shared with the kills")]
#[path = "../support/kinds.rs"]
mod kinds;
mod loan;
mod many;
mod pipe;
mod watch;
mod work;

/// A guard against hanging only.
pub(crate) const LONG: std::time::Duration = std::time::Duration::from_secs(60);
