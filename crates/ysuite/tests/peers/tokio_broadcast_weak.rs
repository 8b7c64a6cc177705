//! Suite: tokio tests/sync_broadcast_weak.rs; upstream 10, carried over here 0, excluded 10.
//!
//! A broadcast has no weak senders.
